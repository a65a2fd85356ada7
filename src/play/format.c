/* SPDX-License-Identifier: MIT */
#include "play/format_priv.h"

static const struct play_format *const formats[] = {
    &play_format_md,
    &play_format_json,
    &play_format_csv,
    &play_format_txt,
    &play_format_ansi,
    &play_format_html,
    &play_format_branch_points,
    &play_format_ruled,
    &play_format_events,
};

const struct play_format *
play_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

const char *
play_item_name(enum play_item_kind kind)
{
    static const char *const names[] = {
        [PLAY_ITEM_LINE] = "line",
        [PLAY_ITEM_SNAPSHOT] = "snapshot",
        [PLAY_ITEM_INSTRUCTION] = "instruction",
        [PLAY_ITEM_NOTICE] = "notice",
    };
    return names[kind];
}

uint64_t
play_since_start(const struct play_out *o, uint64_t ts_ns)
{
    return ts_ns > o->about->start_ns ? ts_ns - o->about->start_ns : 0;
}

/* Two or three digits. */
static void
put_padded(struct buf *out, uint64_t v, unsigned digits)
{
    uint8_t *p = buf_grow(out, digits);
    for (unsigned i = digits; p && i-- > 0; v /= 10)
        p[i] = (uint8_t)('0' + v % 10);
}

void
play_put_clock(struct buf *out, uint64_t ns)
{
    uint64_t ms = ns / 1000000;
    buf_put_u64(out, ms / 3600000);
    buf_puts(out, ":");
    put_padded(out, ms / 60000 % 60, 2);
    buf_puts(out, ":");
    put_padded(out, ms / 1000 % 60, 2);
    buf_puts(out, ".");
    put_padded(out, ms % 1000, 3);
}

void
play_put_time_column(struct play_out *o, const struct play_item *item)
{
    if (!o->about->has_times)
        return;
    if (item->ts_ns)
        play_put_clock(o->out, play_since_start(o, item->ts_ns));
    else if (item->text.n)
        buf_puts(o->out, "           ");
    if (item->text.n)
        buf_puts(o->out, "  ");
}

void
play_put_nothing(struct play_out *o)
{
    (void)o;
}

unsigned
play_wrapped_blanks(const struct play_out *o, const struct term_line *line)
{
    unsigned width = line->is_alternate ? line->row_cols : o->about->cols;
    width -= width > line->cols && line->has_pad;
    return width > line->cols ? width - line->cols : 0;
}

void
play_put_notice(struct buf *out, const struct play_item *item)
{
    buf_puts(out, "[ahr: ");
    play_put_view(out, item->text);
    buf_puts(out, "]");
}
