/* SPDX-License-Identifier: MIT */
/* format_txt.c -- the final lines, and nothing else but what a reader must know. */
#include "play/format_priv.h"

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_LINE) {
        play_put_time_column(o, item);
        play_put_view(o->out, item->text);
    } else {
        play_put_notice(o->out, item);
    }
    buf_puts(o->out, "\n");
}

const struct play_format play_format_txt = {
    .name = "txt",
    .begin = play_put_nothing,
    .item = put_item,
    .end = play_put_nothing,
    .is_lines = true,
};
