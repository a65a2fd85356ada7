/* SPDX-License-Identifier: MIT */
/*
 * side_lines.c -- a terminal's final lines, to be compared.
 *
 * They come by a report in a format of its own: masked as every document is, one a line.
 */
#include "play/format_priv.h"
#include "play/side.h"

#include <errno.h>

enum { HAS_SOME, GOES_ON, INDEX, BLANKS }; /* the format's state: of the line before */

static void
put_item(struct play_out *o, const struct play_item *item)
{
    bool is_rest = o->state[GOES_ON] && item->index == o->state[INDEX] + 1;
    if (item->kind != PLAY_ITEM_LINE)
        return;
    for (uint64_t i = 0; is_rest && i < o->state[BLANKS]; i++)
        buf_puts(o->out, " ");
    if (!is_rest && o->state[HAS_SOME])
        buf_puts(o->out, "\n");
    play_put_view(o->out, item->text);
    o->state[HAS_SOME] = true;
    o->state[GOES_ON] = item->line->is_wrapped;
    o->state[INDEX] = item->index;
    o->state[BLANKS] = play_wrapped_blanks(o, item->line);
}

static void
put_end(struct play_out *o)
{
    if (o->state[HAS_SOME])
        buf_puts(o->out, "\n");
}

static const struct play_format joined_lines = {
    .name = "lines",
    .begin = play_put_nothing,
    .item = put_item,
    .end = put_end,
    .is_lines = true,
};

struct taking {
    struct play_side *side;
    struct buf line; /* what there is of it */
};

/* A play_write_fn: pieces end anywhere. */
static int
take_bytes(void *ctx, struct view bytes)
{
    struct taking *t = ctx;
    const uint8_t *end;
    while (bytes.n && (end = memchr(bytes.p, '\n', bytes.n))) {
        size_t n = (size_t)(end - bytes.p);
        int r = buf_append(&t->line, bytes.p, n);
        if (!r)
            r = play_side_add_line(t->side, (struct view){ t->line.p, t->line.n });
        if (r < 0)
            return r;
        buf_clear(&t->line);
        bytes = (struct view){ end + 1, bytes.n - n - 1 };
    }
    return buf_append(&t->line, bytes.p, bytes.n);
}

int
play_side_lines(struct play_side *s, const struct play_loaded *l, struct redact *redact,
                struct err *err)
{
    struct taking t = { .side = s, .line.ceiling = PLAY_SIDE_TEXT_MAX };
    const struct play_about about = {
        .start_ns = l->first_ts_ns,
        .total_bytes = l->total_bytes,
        .cols = term_cols(l->term),
        .rows = term_rows(l->term),
        .is_masked = redact != NULL,
    };
    const struct play_report_options opt = { .redact = redact, .about = &about };
    int r = play_report(l, NULL, &joined_lines, &opt, take_bytes, &t, err);
    buf_release(&t.line);
    s->first_ns = s->first_ns ? s->first_ns : l->first_ts_ns;
    s->last_ns = s->last_ns > l->last_ts_ns ? s->last_ns : l->last_ts_ns;
    if (r == ERR_LIMIT)
        return err_set(err, r, "there is more than 1 GiB of text to compare");
    return r;
}
