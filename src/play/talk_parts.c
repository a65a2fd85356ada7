/* SPDX-License-Identifier: MIT */
/* talk_parts.c -- what formats of conversations have in common. */
#include "play/talk_priv.h"

size_t
talk_sums(const struct play_talk_sums *sums, struct talk_sum ret[TALK_SUMS])
{
    size_t n = 0;
    if (!sums)
        return 0;
    const struct talk_sum all[TALK_SUMS] = {
        { "Turns", "turns", sums->turns },
        { "Messages", "calls", sums->calls },
        { "Input tokens", "input_tokens", sums->usage.input_tokens },
        { "Output tokens", "output_tokens", sums->usage.output_tokens },
        { "Cache creation", "cache_creation_input_tokens",
          sums->usage.cache_creation_tokens },
        { "Cache read", "cache_read_input_tokens", sums->usage.cache_read_tokens },
    };
    for (size_t i = 0; i < TALK_SUMS; i++)
        if (all[i].value != TURN_UNKNOWN)
            ret[n++] = all[i];
    return n;
}

void
talk_put_event(struct buf *out, const struct play_item *item, bool is_tag)
{
    bool is_snapshot = item->kind == PLAY_ITEM_SNAPSHOT;
    const char *title = is_snapshot ? "Snapshot" : "Instruction";
    buf_puts(out, is_tag ? play_item_name(item->kind) : title);
    buf_puts(out, " ");
    buf_put_u64(out, item->event->id);
    if (!is_snapshot)
        buf_puts(out, item->event->is_delivered ? " (delivered)" : " (not delivered)");
}

void
talk_put_fate(struct buf *out, const struct turn_event *e)
{
    if (e->type == TURN_TOOL_RESULT && e->exit_code > 0)
        buf_printf(out, " (exit %d)", e->exit_code);
    else if (e->is_error)
        buf_puts(out, " (failed)");
    else if (e->was_cut_off)
        buf_puts(out, " (interrupted)");
}
