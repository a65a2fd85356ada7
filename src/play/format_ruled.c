/* SPDX-License-Identifier: MIT */
/* format_ruled.c -- the final lines, with a visible rule where a snapshot stands. */
#include "play/format_priv.h"

#define RULE "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80" /* ──── */

/* Of one line, whatever the text. */
static void
put_rule(struct play_out *o, const struct play_item *item)
{
    buf_puts(o->out, RULE " ");
    buf_puts(o->out, play_item_name(item->kind));
    buf_puts(o->out, " ");
    buf_put_u64(o->out, item->event->id);
    if (item->text.n)
        buf_puts(o->out, ": ");
    for (size_t i = 0; i < item->text.n; i++) {
        uint8_t c = item->text.p[i];
        if (c == '\n')
            buf_puts(o->out, " \xe2\x8f\x8e "); /* ⏎ */
        else
            buf_append(o->out, c == '\t' ? (const void *)" " : &c, 1);
    }
    buf_puts(o->out, " " RULE);
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    switch (item->kind) {
    case PLAY_ITEM_LINE:
        play_put_time_column(o, item);
        play_put_view(o->out, item->text);
        break;
    case PLAY_ITEM_SNAPSHOT:
    case PLAY_ITEM_INSTRUCTION:
        put_rule(o, item);
        break;
    case PLAY_ITEM_NOTICE:
        play_put_notice(o->out, item);
        break;
    }
    buf_puts(o->out, "\n");
}

const struct play_format play_format_ruled = {
    .name = "ruled",
    .begin = play_put_nothing,
    .item = put_item,
    .end = play_put_nothing,
};
