/* SPDX-License-Identifier: MIT */
/* talk_txt.c -- a conversation as plain text: each turn as `ahr run` shows it, whole. */
#include "play/talk_priv.h"

static void
put_lines(struct play_out *o, uint64_t ts_ns, struct view text)
{
    while (text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        const struct play_item line = { .ts_ns = ts_ns, .text = { text.p, n } };
        play_put_time_column(o, &line);
        play_put_view(o->out, line.text);
        buf_puts(o->out, "\n");
        text = (struct view){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
    }
}

static void
put_turn(struct play_out *o, const struct play_turn *turn)
{
    put_lines(o, turn->ts_ns, turn->text);
}

/* As a turn that has a tag: its other lines are indented. */
static void
put_event(struct play_out *o, const struct play_item *item)
{
    AUTO(buf) text = { .ceiling = SIZE_MAX };
    buf_puts(&text, "[");
    talk_put_event(&text, item, true);
    buf_puts(&text, item->text.n ? "] " : "]");
    for (size_t i = 0; i < item->text.n; i++) {
        buf_append(&text, &item->text.p[i], 1);
        if (item->text.p[i] == '\n')
            buf_puts(&text, "  ");
    }
    put_lines(o, item->ts_ns, (struct view){ text.p, text.n });
    if (text.failed && !o->out->failed)
        o->out->failed = text.failed;
}

static void
put_notice(struct play_out *o, struct view text)
{
    const struct play_item item = { .text = text };
    play_put_notice(o->out, &item);
    buf_puts(o->out, "\n");
}

static void
end(struct play_out *o, const struct play_talk_sums *sums)
{
    struct talk_sum all[TALK_SUMS];
    size_t n = talk_sums(sums, all);
    if (!n)
        return;
    buf_puts(o->out, "[ahr:");
    for (size_t i = 0; i < n; i++) {
        buf_puts(o->out, i ? ", " : " ");
        buf_puts(o->out, all[i].key);
        buf_puts(o->out, " ");
        buf_put_u64(o->out, all[i].value);
    }
    buf_puts(o->out, "]\n");
}

const struct play_talk_format play_talk_txt = {
    .name = "txt",
    .is_for_people = true,
    .begin = play_put_nothing,
    .turn = put_turn,
    .event = put_event,
    .notice = put_notice,
    .end = end,
    .is_shown = true,
};
