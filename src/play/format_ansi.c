/* SPDX-License-Identifier: MIT */
/* format_ansi.c -- the final lines as they look, for a terminal. */
#include "play/format_priv.h"
#include "play/line.h"

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_LINE) {
        play_put_time_column(o, item);
        play_line_ansi(o->out, item->line);
    } else {
        play_put_notice(o->out, item);
    }
    buf_puts(o->out, "\n");
}

const struct play_format play_format_ansi = {
    .name = "ansi",
    .begin = play_put_nothing,
    .item = put_item,
    .end = play_put_nothing,
    .wants_spans = true,
    .is_lines = true,
};
