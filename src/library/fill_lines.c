/* SPDX-License-Identifier: MIT */
/*
 * fill_lines.c -- the final lines of a recording into the library.
 *
 * A report without words: play_report() masks the lines and hands them to a format of our
 * own, which packs them, with their numbers, into the bytes that it is to write; whoever
 * is to write them makes pieces of them. So nothing is ever kept but the piece at hand.
 *
 * Those of a run are held until its turns come, so that a row and the turn that it shows
 * stand in one piece, which has its words once. What says nothing else than a turn is
 * labelled so.
 */
#include "library/fill_priv.h"

enum {
    BLANKS_MAX = 1 << 16, /* behind a row: no terminal is wider */
    HELD_MAX = 64 << 20,  /* bytes of lines that are held */
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

/* -- into pieces -- */

static int
add_line(struct fill *f, const struct head *head, struct view text, uint32_t label)
{
    /* Lines of the two screens stand between each other, but never go on in each other.
     */
    const struct piece_row row = { .index = head->index,
                                   .write_byte = head->write_byte,
                                   .ts_ns = head->ts_ns,
                                   .label = label };
    int r = head->is_alternate != f->is_alternate ? piece_break(&f->piece) : 0;
    f->is_alternate = head->is_alternate;
    if (label != LABEL_SHOWN) {
        f->done.lines++;
        f->done.text_bytes += text.n;
    }
    if (r < 0)
        return fill_failed(f, r);
    if (!head->blanks)
        return fill_text(f, &row, NULL, text, head->is_wrapped);
    buf_clear(&f->row);
    buf_append(&f->row, text.p, text.n);
    uint8_t *blanks = buf_grow(&f->row, head->blanks);
    if (f->row.failed)
        return fill_failed(f, f->row.failed);
    memset(blanks, ' ', head->blanks);
    return fill_text(f, &row, NULL, (struct view){ f->row.p, f->row.n },
                     head->is_wrapped);
}

static struct view
next_line(struct view *bytes, struct head *ret)
{
    memcpy(ret, bytes->p, sizeof(*ret));
    struct view text = { bytes->p + sizeof(*ret), ret->text_len };
    *bytes = (struct view){ text.p + text.n, bytes->n - sizeof(*ret) - text.n };
    return text;
}

/* -- those of a run -- */

/* The rows at the front that are one line; 0: its end has not come yet. */
static size_t
line_size(const struct fill *f, struct said_line *ret)
{
    struct view rest = { f->held.p + f->held_at, f->held.n - f->held_at };
    size_t all = rest.n;
    struct head head = { 0 };
    bool is_alternate = false;
    *ret = said_begin();
    for (bool is_first = true; rest.n; is_first = false) {
        struct view at = rest, text = next_line(&rest, &head);
        if (!is_first && head.is_alternate != is_alternate)
            return all - at.n;
        is_alternate = head.is_alternate;
        said_more(ret, text);
        if (head.blanks)
            said_more(ret, (struct view){ (const uint8_t *)" ", 1 });
        if (!head.is_wrapped)
            return all - rest.n;
    }
    return 0;
}

static int
release_line(struct fill *f, size_t n, const struct said_line *line)
{
    struct view rows = { f->held.p + f->held_at, n };
    uint32_t label = f->said && said_has(f->said, line) ? LABEL_SHOWN : LABEL_LINE;
    int r = 0;
    while (!r && rows.n) {
        struct head head;
        struct view text = next_line(&rows, &head);
        r = add_line(f, &head, text, label);
    }
    f->held_at += n;
    return r;
}

static uint64_t
first_ts_ns(const struct fill *f)
{
    struct head head;
    memcpy(&head, f->held.p + f->held_at, sizeof(head));
    return head.ts_ns;
}

int
fill_held(struct fill *f, uint64_t before_ns)
{
    struct said_line line;
    int r = 0;
    while (!r && f->held_at < f->held.n && first_ts_ns(f) < before_ns) {
        size_t n = line_size(f, &line);
        if (!n && before_ns != UINT64_MAX)
            break;
        r = release_line(f, n ? n : f->held.n - f->held_at, &line);
    }
    if (r < 0)
        return r;
    if (f->held_at == f->held.n) {
        buf_clear(&f->held);
        f->held_at = 0;
    }
    r = piece_break(&f->piece); /* a turn is never the rest of a line */
    return r < 0 ? fill_failed(f, r) : 0;
}

/* -- the way there -- */

/* A play_write_fn: whole lines, since a format's items are never cut. */
static int
take_lines(void *ctx, struct view bytes)
{
    struct fill *f = ctx;
    int r = 0;
    while (!r && bytes.n) {
        struct head head;
        struct view text = next_line(&bytes, &head);
        r = add_line(f, &head, text, LABEL_LINE);
    }
    return r;
}

/* The same for those of a run. */
static int
hold_lines(void *ctx, struct view bytes)
{
    struct fill *f = ctx;
    f->held.ceiling = SIZE_MAX; /* HELD_MAX and what comes at once */
    int r = buf_append(&f->held, bytes.p, bytes.n);
    if (r < 0)
        return fill_failed(f, r);
    return f->held.n > HELD_MAX ? fill_held(f, UINT64_MAX) : 0;
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
    int r = play_report(loaded, NULL, &packed_lines, &opt,
                        f->said ? hold_lines : take_lines, f, f->err);
    if (r >= 0 && (r = piece_break(&f->piece)) < 0)
        return fill_failed(f, r);
    return r;
}
