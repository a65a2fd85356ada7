/* SPDX-License-Identifier: MIT */
/*
 * format_events.c -- a terminal's recording as the normalised stream (doc/events.md).
 *
 * Lines come by the time of their last write: those of one moment are one text, which is
 * held until another moment's comes.
 */
#include "play/format_priv.h"
#include "turn/line.h"

enum {
    TEXT_MAX = 256 << 10, /* of one event */
    /* The state: */
    LAST_TS = 0,  /* of what was put last */
    TEXT_LINES,   /* of the text that is held; 0: there is none */
    TEXT_TS,      /* when it was written; of its last line: */
    TEXT_INDEX,   /* the index, */
    TEXT_BLANKS,  /* the blanks that were cut from its end, */
    TEXT_GOES_ON, /* whether the next one is the rest of it */
    TEXT_IS_SEEN, /* not all of it is blank */
};

static struct view
text_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, s ? strlen(s) : 0 };
}

static void
put(struct play_out *o, const struct turn_event *e, uint64_t ts_ns)
{
    const struct play_session *s = o->about->session;
    const struct turn_stamp at = {
        .ts_ns = ts_ns ? ts_ns : o->state[LAST_TS],
        .start_ns = o->about->start_ns,
        .session = s && s->id ? s->id : "",
    };
    o->state[LAST_TS] = at.ts_ns;
    turn_line(e, &at, o->out);
}

static void
put_text(struct play_out *o)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.text = (struct view){ o->held.p, o->held.n };
    while (e.text.n && e.text.p[e.text.n - 1] == '\n')
        e.text.n--;
    if (o->state[TEXT_IS_SEEN])
        put(o, &e, o->state[TEXT_TS]);
    buf_clear(&o->held);
    o->state[TEXT_LINES] = o->state[TEXT_IS_SEEN] = 0;
}

static void
begin(struct play_out *o)
{
    const struct play_session *s = o->about->session;
    struct turn_event e = turn_event(TURN_SESSION);
    if (s) {
        e.name = text_of(s->command);
        e.cwd = text_of(s->cwd);
    }
    put(o, &e, o->about->start_ns);
}

/* Is this line the rest of the one that is held, which the width has wrapped? Then the
 * blanks at the end of that one stood between them. */
static bool
joins(struct play_out *o, const struct play_item *item)
{
    if (!o->state[TEXT_LINES] || !o->state[TEXT_GOES_ON] || o->held.n > TEXT_MAX ||
        item->index != o->state[TEXT_INDEX] + 1)
        return false;
    for (uint64_t i = 0; i < o->state[TEXT_BLANKS]; i++)
        buf_puts(&o->held, " ");
    return true;
}

static void
hold_line(struct play_out *o, const struct play_item *item)
{
    const struct term_line *line = item->line;
    uint64_t ts_ns = item->ts_ns ? item->ts_ns : o->state[LAST_TS];
    bool is_rest = joins(o, item);
    if (!is_rest && (ts_ns != o->state[TEXT_TS] || o->held.n > TEXT_MAX))
        put_text(o);
    if (!is_rest && o->state[TEXT_LINES]++)
        buf_puts(&o->held, "\n");
    buf_append(&o->held, item->text.p, item->text.n);
    o->state[TEXT_TS] = ts_ns;
    o->state[TEXT_INDEX] = item->index;
    o->state[TEXT_BLANKS] = play_wrapped_blanks(o, line);
    o->state[TEXT_GOES_ON] = line->is_wrapped;
    o->state[TEXT_IS_SEEN] |= item->text.n > 0;
}

static void
put_snapshot(struct play_out *o, const struct play_item *item)
{
    AUTO(buf) data = { 0 };
    struct json j = { .out = &data };
    json_open(&j, '{');
    json_key(&j, "id");
    json_u64(&j, item->event->id);
    json_key(&j, "label");
    json_bytes(&j, item->text);
    json_key(&j, "anchor_byte");
    json_u64(&j, item->position);
    json_close(&j, '}');
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = text_of("snapshot");
    e.json = (struct view){ data.p, data.n };
    put(o, &e, item->ts_ns);
}

static void
put_said(struct play_out *o, const struct play_item *item, enum turn_type type)
{
    struct turn_event e = turn_event(type);
    e.is_user = type == TURN_TEXT;
    e.text = item->text;
    put(o, &e, item->ts_ns);
}

static void
item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_LINE) {
        hold_line(o, item);
        return;
    }
    put_text(o);
    if (item->kind == PLAY_ITEM_SNAPSHOT)
        put_snapshot(o, item);
    else
        put_said(o, item, item->kind == PLAY_ITEM_INSTRUCTION ? TURN_TEXT : TURN_WARNING);
}

static void
end(struct play_out *o)
{
    const struct play_session *s = o->about->session;
    put_text(o);
    if (!s || !s->status || !strcmp(s->status, "active"))
        return;
    struct turn_event e = turn_event(TURN_EXIT);
    e.name = text_of(s->status);
    e.signal = text_of(s->signal);
    e.exit_code = s->exit_code;
    e.duration_ms = play_since_start(o, s->ended_ns) / 1000000;
    put(o, &e, s->ended_ns);
}

const struct play_format play_format_events = {
    .name = "events",
    .begin = begin,
    .item = item,
    .end = end,
    .is_by_time = true,
};
