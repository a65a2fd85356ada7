/* SPDX-License-Identifier: MIT */
/*
 * fill.c -- a session's text into the library, piece by piece, and out of it again.
 *
 * A report without words: play_report() masks the lines and hands them to a format of our
 * own, which packs them, with their numbers, into the bytes that it is to write; whoever
 * is to write them makes pieces of them. So nothing is ever kept but the piece at hand.
 */
#include "library/fill_priv.h"

#include <errno.h>

#include "library/grams_priv.h"
#include "play/clean.h"

enum {
    BLANKS_MAX = 1 << 16,     /* behind a row: no terminal is wider */
    REMOVED_MAX = 4 << 20,    /* bytes of pieces that are removed at a time … */
    REMOVED_PIECES_MAX = 256, /* … and how many */
};

/* -- lines to bytes, and back -- */

/* What stands before the text of a line. */
struct head {
    uint64_t index, write_byte, ts_ns;
    uint32_t text_len;
    uint32_t blanks; /* behind the text, up to where the row was written */
    bool is_wrapped, is_alternate;
};

static void
put_nothing(struct play_out *o)
{
    (void)o;
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind != PLAY_ITEM_LINE)
        return;
    const struct term_line *line = item->line;
    unsigned written = line->row_cols - line->has_pad;
    unsigned blanks = written > line->cols ? written - line->cols : 0;
    struct head head = {
        .index = item->index,
        .write_byte = item->position,
        .ts_ns = item->ts_ns,
        .text_len = (uint32_t)item->text.n,
        .blanks = line->is_wrapped && blanks <= BLANKS_MAX ? blanks : 0,
        .is_wrapped = line->is_wrapped,
        .is_alternate = line->is_alternate,
    };
    buf_append(o->out, &head, sizeof(head));
    buf_append(o->out, item->text.p, item->text.n);
}

static const struct play_format packed_lines = {
    .name = "lines",
    .begin = put_nothing,
    .item = put_item,
    .end = put_nothing,
    .is_lines = true,
};

/* -- pieces -- */

static int
out_of_room(struct err *err, int r)
{
    return err_code(err, r, "cannot keep the session's text");
}

int
fill_begin(struct fill *f, struct store *s, int64_t key, struct redact *redact,
           struct err *err)
{
    *f = (struct fill){ .s = s, .key = key, .redact = redact, .err = err };
    int r = grams_new(&f->grams);
    return r < 0 ? out_of_room(err, r) : 0;
}

void
fill_release(struct fill *f)
{
    grams_free(f->grams);
    piece_release(&f->piece);
    buf_release(&f->packed);
    buf_release(&f->words);
    buf_release(&f->row);
}

int
fill_end_piece(struct fill *f)
{
    if (!f->piece.rows.n)
        return 0;
    if (f->number == STORE_PIECES_MAX)
        return err_set(f->err, ERR_LIMIT, "the session's text is too long");
    buf_clear(&f->packed);
    buf_clear(&f->words);
    int r = piece_pack(&f->piece, &f->packed);
    if (!r)
        r = grams_words(f->grams, (struct view){ f->piece.text.p, f->piece.text.n },
                        &f->words);
    if (r < 0)
        return out_of_room(f->err, r);
    struct store_piece piece = { .key = f->key,
                                 .number = f->number++,
                                 .packed = { f->packed.p, f->packed.n } };
    f->done.pieces++;
    piece_clear(&f->piece);
    return store_piece_put(f->s, &piece, (struct view){ f->words.p, f->words.n }, f->err);
}

/* As much as one row of a piece may have, up to the end of a character. */
static size_t
part_of(struct view text)
{
    size_t n = PIECE_LINE_MAX;
    if (text.n <= n)
        return text.n;
    while (n > PIECE_LINE_MAX / 2 && (text.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

int
fill_text(struct fill *f, const struct piece_row *row, struct view text, bool is_wrapped)
{
    do {
        size_t n = part_of(text);
        bool goes_on = n < text.n || is_wrapped;
        int r = piece_add(&f->piece, row, (struct view){ text.p, n }, goes_on);
        if (r < 0)
            return out_of_room(f->err, r);
        text = (struct view){ text.p + n, text.n - n };
        if (piece_is_full(&f->piece))
            r = fill_end_piece(f);
        if (r < 0)
            return r;
    } while (text.n);
    return 0;
}

static int
add_line(struct fill *f, const struct head *head, struct view text)
{
    /* Lines of the two screens stand between each other, but never go on in each other.
     */
    const struct piece_row row = { .index = head->index,
                                   .write_byte = head->write_byte,
                                   .ts_ns = head->ts_ns };
    int r = head->is_alternate != f->is_alternate ? piece_break(&f->piece) : 0;
    f->is_alternate = head->is_alternate;
    f->done.lines++;
    f->done.text_bytes += text.n;
    if (r < 0)
        return out_of_room(f->err, r);
    if (!head->blanks)
        return fill_text(f, &row, text, head->is_wrapped);
    buf_clear(&f->row);
    buf_append(&f->row, text.p, text.n);
    uint8_t *blanks = buf_grow(&f->row, head->blanks);
    if (f->row.failed)
        return out_of_room(f->err, f->row.failed);
    memset(blanks, ' ', head->blanks);
    return fill_text(f, &row, (struct view){ f->row.p, f->row.n }, head->is_wrapped);
}

/* A play_write_fn: whole lines, since a format's items are never cut. */
static int
take_lines(void *ctx, struct view bytes)
{
    struct fill *f = ctx;
    int r = 0;
    while (!r && bytes.n) {
        struct head head;
        memcpy(&head, bytes.p, sizeof(head));
        struct view text = { bytes.p + sizeof(head), head.text_len };
        r = add_line(f, &head, text);
        bytes = (struct view){ text.p + text.n, bytes.n - sizeof(head) - text.n };
    }
    return r;
}

int
fill_lines(struct fill *f, const struct play_loaded *loaded, const char *path)
{
    const struct play_about about = { .is_masked = true };
    const struct play_report_options opt = {
        .has_times = true,
        .redact = f->redact,
        .about = &about,
        .io = tape_io_files(),
        .path = path,
    };
    int r = play_report(loaded, NULL, &packed_lines, &opt, take_lines, f, f->err);
    return r < 0 ? r : fill_end_piece(f);
}

/* -- moments -- */

int
fill_moments(struct store *s, int64_t key, const struct play_events *events,
             struct redact *redact, struct err *err)
{
    AUTO(buf) text = { 0 };
    int r = 0;
    for (size_t i = 0; !r && i < events->count; i++) {
        struct play_event event = play_events_at(events, i);
        bool is_snapshot = event.kind == PLAY_SNAPSHOT;
        buf_clear(&text);
        r = play_clean_masked(redact, event.text, is_snapshot, &text);
        if (r < 0)
            return err_code(err, r, "cannot mask a label");
        const struct store_moment moment = {
            .kind = is_snapshot ? STORE_SNAPSHOT : STORE_INSTRUCTION,
            .id = event.id,
            .ts_ns = event.ts_ns,
            .anchor_byte = event.anchor_byte,
            .snapshot_id = event.snapshot_id,
            .text = { text.p, text.n },
            .is_delivered = event.is_delivered,
        };
        r = store_moment_put(s, key, &moment, err);
    }
    return r;
}

/* -- and out -- */

/* Some of a session's pieces: they cannot be removed while they are read. */
struct some {
    struct buf numbers; /* uint32_t */
    struct buf sizes;   /* size_t: of each, in … */
    struct buf packed;
    int64_t key;
};

static void
some_release(struct some *some)
{
    buf_release(&some->numbers);
    buf_release(&some->sizes);
    buf_release(&some->packed);
}

/* A store_piece_fn. */
static int
take_piece(void *ctx, const struct store_piece *piece)
{
    struct some *some = ctx;
    some->key = piece->key;
    buf_append(&some->numbers, &piece->number, sizeof(piece->number));
    buf_append(&some->sizes, &piece->packed.n, sizeof(piece->packed.n));
    some->packed.ceiling = SIZE_MAX; /* they were in memory already */
    int r = buf_append(&some->packed, piece->packed.p, piece->packed.n);
    r = r < 0 ? r : some->numbers.failed ? some->numbers.failed : some->sizes.failed;
    if (r < 0)
        return r;
    return some->packed.n < REMOVED_MAX &&
           some->numbers.n < REMOVED_PIECES_MAX * sizeof(piece->number);
}

/* What does not unpack has no words that we know. */
static int
remove_piece(struct fill *f, int64_t key, uint32_t number, struct view packed)
{
    buf_clear(&f->words);
    int r = piece_unpack(packed, &f->piece);
    if (!r)
        r = grams_words(f->grams, (struct view){ f->piece.text.p, f->piece.text.n },
                        &f->words);
    if (r < 0 && r != ERR_DAMAGED)
        return out_of_room(f->err, r);
    return store_piece_remove(f->s, key, number, (struct view){ f->words.p, f->words.n },
                              f->err);
}

static int
remove_some(struct fill *f, const struct some *some)
{
    const uint8_t *packed = some->packed.p;
    int r = 0;
    for (size_t i = 0; !r && i < some->numbers.n / sizeof(uint32_t); i++) {
        uint32_t number;
        size_t n;
        memcpy(&number, some->numbers.p + i * sizeof(number), sizeof(number));
        memcpy(&n, some->sizes.p + i * sizeof(n), sizeof(n));
        r = remove_piece(f, some->key, number, (struct view){ packed, n });
        packed += n;
    }
    return r;
}

int
fill_remove(struct store *s, const char *id, struct err *err)
{
    AUTO(fill) f = { 0 };
    AUTO(some) some = { 0 };
    const struct store_search search = { .id = id };
    int r = fill_begin(&f, s, 0, NULL, err);
    if (r < 0)
        return r;
    do {
        buf_clear(&some.numbers);
        buf_clear(&some.sizes);
        buf_clear(&some.packed);
        r = store_pieces(s, &search, take_piece, &some, err);
        if (!r)
            r = remove_some(&f, &some);
    } while (!r && some.numbers.n);
    return r < 0 ? r : store_session_delete(s, id, err);
}
