/* SPDX-License-Identifier: MIT */
/* decoder.c -- from the bytes of an agent's standard output to events. */
#include "turn/decoder.h"

#include <errno.h>
#include <stdlib.h>

#include "turn/fields.h"
#include "turn/format_priv.h"
#include "turn/lines_priv.h"
#include "turn/objects_priv.h"
#include "turn/tell_priv.h"

enum {
    SCRATCH_KEPT = 1 << 20, /* memory that stays behind a long text */
};

struct turn_decoder {
    enum turn_agent asked;
    const struct turn_format *format; /* NULL: plain, or not known yet */
    struct turn_lines lines;
    size_t rested; /* bytes of the held line that were handed out as pieces */
    struct buf scratch;
    struct turn_sink to; /* of the current call */
    struct turn_state s;
};

static const struct turn_format *const formats[] = {
    &turn_format_claude,
    &turn_format_codex,
    &turn_format_gemini,
    &turn_format_opencode,
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *
turn_agent_name(enum turn_agent agent)
{
    static const char *const names[] = {
        [TURN_AUTO] = "auto",     [TURN_CLAUDE] = "claude",     [TURN_CODEX] = "codex",
        [TURN_GEMINI] = "gemini", [TURN_OPENCODE] = "opencode", [TURN_PLAIN] = "text",
    };
    return names[agent];
}

static int
tell(const struct turn_decoder *d, const struct turn_event *e)
{
    return d->to.fn(d->to.ctx, e);
}

/* -- text -- */

static int
tell_text(const struct turn_decoder *d, struct view text, bool is_partial)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_partial = is_partial;
    e.was_cut_off = !is_partial && d->lines.is_cut;
    if (!is_partial && !e.was_cut_off && text.n && text.p[text.n - 1] == '\r')
        text.n--;
    e.text = text;
    return tell(d, &e);
}

/* -- JSON -- */

/* Which format's is it? Only the one that is at hand, once there is one. */
static const struct turn_format *
format_of(struct turn_decoder *d, struct view object)
{
    struct view type = { 0 };
    const struct turn_field wanted[] = { { "type", &type } };
    buf_clear(&d->scratch);
    if (!turn_known_fields(object, wanted, 1) || !turn_str(type, &d->scratch))
        return NULL;
    type = (struct view){ d->scratch.p, d->scratch.n };
    for (size_t i = 0; i < FORMATS; i++)
        if ((!d->format || d->format == formats[i]) && formats[i]->is_mine(type, object))
            return formats[i];
    return NULL;
}

static bool
is_known(void *ctx, struct view object)
{
    return format_of(ctx, object) != NULL;
}

static int
tell_malformed(struct turn_decoder *d, struct view text, size_t lost)
{
    struct turn_event e = turn_event(TURN_WARNING);
    int r = turn_malformed(text, lost, &d->scratch);
    e.text = (struct view){ d->scratch.p, d->scratch.n };
    return r < 0 ? r : tell(d, &e);
}

static int
tell_object(struct turn_decoder *d, struct view object)
{
    struct view other = { 0 };
    for (size_t i = 0; i < sizeof(d->s.text) / sizeof(d->s.text[0]); i++)
        if (d->s.text[i].cap > SCRATCH_KEPT)
            buf_release(&d->s.text[i]);
    int r = d->format->decode(&d->s, object, &d->to, &other);
    if (r < 0 || !other.n)
        return r;
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = other;
    e.json = object;
    return tell(d, &e);
}

static struct view
without_cr(struct view text)
{
    while (text.n && text.p[text.n - 1] == '\r')
        text.n--;
    return text;
}

/* The objects of what is left of a line; what is none is told. */
static int
tell_objects(struct turn_decoder *d, struct turn_objects *o, bool has_object)
{
    struct view before, object;
    for (;;) {
        bool is_more = turn_objects_next(o, &before, &object);
        has_object |= is_more;
        bool is_silent = has_object ? turn_objects_is_between(before)
                                    : turn_objects_is_blank(before);
        int r = is_silent ? 0 : tell_malformed(d, without_cr(before), 0);
        if (r >= 0 && is_more)
            r = tell_object(d, object);
        if (r < 0 || !is_more)
            return r;
    }
}

/* Text, unless there is something in it by which the format is known; then what stands
 * before that is text. */
static int
tell_either(struct turn_decoder *d, struct view line)
{
    struct turn_objects o = { .rest = line, .is_known = is_known, .ctx = d };
    struct view before, object;
    const struct turn_format *found = NULL;
    while (!found && turn_objects_next(&o, &before, &object))
        found = format_of(d, object);
    if (!found)
        return tell_text(d, line, false);
    before = (struct view){ line.p, (size_t)(object.p - line.p) };
    /* Plain text still, of which a piece may have been told. */
    int r = turn_objects_is_between(before) ? 0 : tell_text(d, before, false);
    d->format = found;
    d->lines.mode = TURN_LINES_JSON;
    if (r >= 0)
        r = tell_object(d, object);
    return r < 0 ? r : tell_objects(d, &o, true);
}

static int
on_line(void *ctx, struct view line, size_t lost)
{
    struct turn_decoder *d = ctx;
    d->rested = 0;
    if (d->asked == TURN_PLAIN)
        return tell_text(d, line, false);
    if (lost)
        return tell_malformed(d, line, lost);
    if (!d->format)
        return tell_either(d, line);
    struct turn_objects o = { .rest = line, .is_known = is_known, .ctx = d };
    return tell_objects(d, &o, false);
}

/* -- the decoder -- */

/* Of what was known only the sums of a thread, which the next process goes on with. */
static void
forget(struct turn_decoder *d)
{
    bool is_kept = d->format && d->format->sums_go_on;
    struct turn_usage all = d->s.all;
    struct buf sums = d->s.sums;
    if (is_kept)
        d->s.sums = (struct buf){ 0 };
    turn_state_release(&d->s);
    turn_state_init(&d->s);
    if (!is_kept)
        return;
    d->s.all = all;
    d->s.sums = sums;
}

static void
begin_anew(struct turn_decoder *d)
{
    forget(d);
    d->format = NULL;
    d->rested = 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->agent == d->asked)
            d->format = formats[i];
    d->lines.mode = d->format                ? TURN_LINES_JSON
                    : d->asked == TURN_PLAIN ? TURN_LINES_TEXT
                                             : TURN_LINES_MAYBE;
}

int
turn_decoder_new(struct turn_decoder **ret, enum turn_agent agent)
{
    struct turn_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    d->asked = agent;
    begin_anew(d);
    *ret = d;
    return 0;
}

void
turn_decoder_free(struct turn_decoder *d)
{
    if (!d)
        return;
    turn_state_release(&d->s);
    turn_lines_release(&d->lines);
    buf_release(&d->scratch);
    free(d);
}

int
turn_decoder_feed(struct turn_decoder *d, struct view bytes, turn_event_fn fn, void *ctx)
{
    d->to = (struct turn_sink){ fn, ctx };
    return turn_lines_feed(&d->lines, bytes, on_line, d);
}

int
turn_decoder_rest(struct turn_decoder *d, turn_event_fn fn, void *ctx)
{
    d->to = (struct turn_sink){ fn, ctx };
    struct view text = { d->lines.held.p, d->lines.held.n };
    if (d->format || d->lines.is_long)
        return 0;
    const uint8_t *brace = NULL;
    if (d->asked != TURN_PLAIN && text.n)
        brace = memchr(text.p, '{', text.n);
    if (brace)
        text.n = (size_t)(brace - text.p);
    text.n = turn_lines_whole(text);
    if (text.n <= d->rested || (!d->rested && turn_objects_is_blank(text) && brace))
        return 0;
    struct view piece = { text.p + d->rested, text.n - d->rested };
    d->rested = text.n;
    return tell_text(d, piece, true);
}

int
turn_decoder_end(struct turn_decoder *d, turn_event_fn fn, void *ctx)
{
    d->to = (struct turn_sink){ fn, ctx };
    int r = turn_lines_end(&d->lines, on_line, d);
    if (r >= 0)
        r = turn_state_end(&d->s, &d->to);
    begin_anew(d);
    return r;
}

enum turn_agent
turn_decoder_agent(const struct turn_decoder *d)
{
    return d->format ? d->format->agent : d->asked;
}
