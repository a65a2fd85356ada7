/* SPDX-License-Identifier: MIT */
/*
 * talk_md.c -- a conversation as Markdown: a heading for each turn, and its text fenced.
 *
 * What an agent says is often Markdown itself, but it is a guest here: a link, a picture
 * or a piece of HTML of its would be ours. So it is shown, and never rendered; a fence is
 * longer than any run of backticks inside.
 */
#include "play/talk_priv.h"

enum { FENCE = 3 };

static void
put_plain(struct buf *out, const char *text)
{
    play_put_md(out, (struct view){ (const uint8_t *)text, strlen(text) });
}

/* A blank line, but before the first. */
static void
begin_part(struct play_out *o)
{
    if (o->state[0]++)
        buf_puts(o->out, "\n");
}

static void
begin(struct play_out *o)
{
    const char *title = o->about->title, *facts = o->about->facts;
    if (title && *title) {
        begin_part(o);
        buf_puts(o->out, "# ");
        put_plain(o->out, title);
        buf_puts(o->out, "\n");
    }
    if (facts) {
        begin_part(o);
        put_plain(o->out, facts);
        buf_puts(o->out, "\n");
    }
}

static void
put_fence(struct buf *out, size_t n, const char *behind)
{
    for (size_t i = 0; i < n; i++)
        buf_puts(out, "`");
    buf_puts(out, behind);
}

static void
put_fenced(struct buf *out, struct view text)
{
    size_t ticks = play_md_ticks(text);
    size_t n = ticks < FENCE ? FENCE : ticks + 1;
    if (!text.n)
        return;
    buf_puts(out, "\n");
    put_fence(out, n, "text\n");
    play_put_view(out, text);
    buf_puts(out, "\n");
    put_fence(out, n, "\n");
}

static void
put_turn(struct play_out *o, const struct play_turn *turn)
{
    const struct turn_event *e = turn->event;
    begin_part(o);
    buf_puts(o->out, "## ");
    buf_put_u64(o->out, turn->number);
    buf_puts(o->out, " · ");
    buf_puts(o->out, e->parent.n ? "Sub-agent: " : "");
    buf_puts(o->out, turn->title);
    if (turn->name.n) {
        buf_puts(o->out, " ");
        play_put_md(o->out, turn->name);
    }
    talk_put_fate(o->out, e);
    if (o->about->has_times) {
        buf_puts(o->out, " · ");
        play_put_clock(o->out, play_since_start(o, turn->ts_ns));
    }
    buf_puts(o->out, "\n");
    put_fenced(o->out, turn->text);
}

/* A label is a part of the heading, an instruction a text below it. */
static void
put_event(struct play_out *o, const struct play_item *item)
{
    bool is_snapshot = item->kind == PLAY_ITEM_SNAPSHOT;
    begin_part(o);
    buf_puts(o->out, "## ");
    talk_put_event(o->out, item, false);
    if (is_snapshot && item->text.n) {
        buf_puts(o->out, " · ");
        play_put_md(o->out, item->text);
    }
    if (o->about->has_times && item->ts_ns) {
        buf_puts(o->out, " · ");
        play_put_clock(o->out, play_since_start(o, item->ts_ns));
    }
    buf_puts(o->out, "\n");
    if (!is_snapshot)
        put_fenced(o->out, item->text);
}

static void
put_notice(struct play_out *o, struct view text)
{
    begin_part(o);
    buf_puts(o->out, "> \xe2\x9a\xa0\xef\xb8\x8f **notice** "); /* ⚠️ */
    play_put_md(o->out, text);
    buf_puts(o->out, "\n");
}

static void
end(struct play_out *o, const struct play_talk_sums *sums)
{
    struct talk_sum all[TALK_SUMS];
    size_t n = talk_sums(sums, all);
    if (!n)
        return;
    begin_part(o);
    buf_puts(o->out, "## Totals\n\n| | |\n|---|---:|\n");
    for (size_t i = 0; i < n; i++) {
        buf_printf(o->out, "| %s | ", all[i].title);
        buf_put_u64(o->out, all[i].value);
        buf_puts(o->out, " |\n");
    }
}

const struct play_talk_format play_talk_md = {
    .name = "md",
    .is_for_people = true,
    .begin = begin,
    .turn = put_turn,
    .event = put_event,
    .notice = put_notice,
    .end = end,
};
