/* SPDX-License-Identifier: MIT */
/* fill.c -- a session's text into the library, piece by piece, and out of it again. */
#include "library/fill_priv.h"

#include <errno.h>

#include "library/grams_priv.h"
#include "play/clean.h"

enum {
    REMOVED_MAX = 4 << 20,    /* bytes of pieces that are removed at a time … */
    REMOVED_PIECES_MAX = 256, /* … and how many */
};

/* -- pieces -- */

int
fill_failed(struct fill *f, int r)
{
    return err_code(f->err, r, "cannot keep the session's text");
}

int
fill_begin(struct fill *f, struct store *s, int64_t key, struct redact *redact,
           struct err *err)
{
    *f = (struct fill){ .s = s, .key = key, .redact = redact, .err = err };
    int r = grams_new(&f->grams);
    return r < 0 ? fill_failed(f, r) : 0;
}

void
fill_release(struct fill *f)
{
    grams_free(f->grams);
    piece_release(&f->piece);
    buf_release(&f->packed);
    buf_release(&f->words);
    buf_release(&f->row);
    buf_release(&f->held);
    said_free(f->said);
}

/* The piece at hand ends here. */
static int
end_piece(struct fill *f)
{
    if (!f->piece.rows.n)
        return 0;
    if (f->number == STORE_PIECES_MAX)
        return err_set(f->err, ERR_LIMIT, "the session's text is too long");
    buf_clear(&f->packed);
    buf_clear(&f->words);
    int r = piece_pack(&f->piece, &f->packed);
    if (!r)
        r = piece_words(&f->piece, f->grams, &f->words);
    if (r < 0)
        return fill_failed(f, r);
    struct store_piece piece = { .key = f->key,
                                 .number = f->number++,
                                 .packed = { f->packed.p, f->packed.n } };
    f->done.pieces++;
    piece_clear(&f->piece);
    return store_piece_put(f->s, &piece, (struct view){ f->words.p, f->words.n }, f->err);
}

/* In the piece at hand, or, where that has no room, in a new one. */
static int
number_of(struct fill *f, const struct label *label)
{
    int number = piece_label(&f->piece, label);
    if (number == ERR_LIMIT) {
        int r = end_piece(f);
        if (r < 0)
            return r;
        number = piece_label(&f->piece, label);
    }
    return number < 0 ? fill_failed(f, number) : number;
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
fill_text(struct fill *f, const struct piece_row *row, const struct label *label,
          struct view text, bool is_wrapped)
{
    struct piece_row own = *row;
    do {
        size_t n = part_of(text);
        bool goes_on = n < text.n || is_wrapped;
        int r = label ? number_of(f, label) : 0; /* each piece has its own */
        if (r < 0)
            return r;
        if (label)
            own.label = (uint32_t)r;
        r = piece_add(&f->piece, &own, (struct view){ text.p, n }, goes_on);
        if (r < 0)
            return fill_failed(f, r);
        text = (struct view){ text.p + n, text.n - n };
        if (piece_is_full(&f->piece))
            r = end_piece(f);
        if (r < 0)
            return r;
    } while (text.n);
    return 0;
}

/* -- moments -- */

int
fill_each_line(struct fill *f, const struct piece_row *row, const struct label *label,
               struct view text)
{
    int r = 0;
    while (!r && text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        if (n)
            r = fill_text(f, row, label, (struct view){ text.p, n }, false);
        f->done.lines += label && n;
        f->done.text_bytes += label ? n : 0;
        text = (struct view){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
    }
    return r;
}

/* An instruction's text is found, too. */
static int
put_instruction(struct fill *f, const struct play_event *event, struct buf *text)
{
    const struct piece_row row = { .index = event->id,
                                   .write_byte = event->anchor_byte,
                                   .ts_ns = event->ts_ns,
                                   .label = LABEL_INSTRUCTION };
    for (size_t i = 0; i < text->n; i++)
        if (text->p[i] == '\t')
            text->p[i] = ' '; /* as in lines */
    return fill_each_line(f, &row, NULL, (struct view){ text->p, text->n });
}

int
fill_moments(struct fill *f, const struct play_events *events)
{
    AUTO(buf) text = { 0 };
    int r = 0;
    for (size_t i = 0; !r && i < events->count; i++) {
        struct play_event event = play_events_at(events, i);
        bool is_snapshot = event.kind == PLAY_SNAPSHOT;
        buf_clear(&text);
        r = play_clean_masked(f->redact, event.text, is_snapshot, &text);
        if (r < 0)
            return err_code(f->err, r, "cannot mask a label");
        const struct store_moment moment = {
            .kind = is_snapshot ? STORE_SNAPSHOT : STORE_INSTRUCTION,
            .id = event.id,
            .ts_ns = event.ts_ns,
            .anchor_byte = event.anchor_byte,
            .snapshot_id = event.snapshot_id,
            .text = { text.p, text.n },
            .is_delivered = event.is_delivered,
        };
        r = store_moment_put(f->s, f->key, &moment, f->err);
        if (!r && !is_snapshot)
            r = put_instruction(f, &event, &text);
    }
    return r < 0 ? r : end_piece(f);
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
        r = piece_words(&f->piece, f->grams, &f->words);
    if (r < 0 && r != ERR_DAMAGED)
        return fill_failed(f, r);
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
