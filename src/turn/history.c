/* SPDX-License-Identifier: MIT */
/* history.c -- what an agent keeps of its sessions: lines, objects, and what all share.
 */
#include "turn/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iso.h"
#include "base/json_in.h"
#include "turn/fields.h"
#include "turn/history_priv.h"
#include "turn/objects_priv.h"
#include "turn/tell_priv.h"

enum {
    FACT_MAX = 4 << 10,
    SCRATCH_KEPT = 1 << 20, /* memory that stays behind a long text */
};

static const struct turn_history_format *const formats[] = {
    &turn_history_claude,
    &turn_history_codex,
    &turn_history_gemini,
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *
turn_history_trouble_name(enum turn_history_trouble what)
{
    static const char *const names[TURN_HISTORY_TROUBLES] = {
        [TURN_HISTORY_MALFORMED] = "malformed JSON",
        [TURN_HISTORY_ORPHAN] = "goes on behind a line that is not there",
        [TURN_HISTORY_ROOT] = "begins anew",
        [TURN_HISTORY_CYCLE] = "goes on behind itself",
        [TURN_HISTORY_TWICE] = "was there before",
    };
    return names[what];
}

/* -- telling -- */

int
history_tell(struct turn_history *h, const struct turn_event *e)
{
    for (size_t i = 0; i < sizeof(h->s.text) / sizeof(h->s.text[0]); i++)
        if (h->s.text[i].failed)
            return h->s.text[i].failed;
    int more = h->opt.event(h->opt.ctx, e, h->facts.last_ns);
    if (more < 0)
        return more;
    h->facts.events += 1 + (uint64_t)more;
    return 0;
}

int
history_other(struct turn_history *h, struct view type, struct view kind,
              struct view object)
{
    struct turn_event e = turn_event(TURN_OTHER);
    int r = turn_other(&h->s, type, kind, &e.name);
    e.json = object;
    return r < 0 ? r : history_tell(h, &e);
}

void
history_trouble(struct turn_history *h, enum turn_history_trouble what)
{
    if (h->opt.trouble)
        h->opt.trouble(h->opt.ctx, what);
}

static bool
read_stamp(struct view raw, uint64_t *ret)
{
    if (raw.n > 2 && raw.p[0] == '"')
        return iso_time_read((struct view){ raw.p + 1, raw.n - 2 }, ret);
    return false;
}

void
history_set_time(struct turn_history *h, struct view timestamp)
{
    uint64_t ns;
    struct turn_history_facts *f = &h->facts;
    if (!read_stamp(timestamp, &ns) || (h->opt.latest_ns && ns > h->opt.latest_ns))
        return;
    if (!f->start_ns)
        f->start_ns = ns;
    if (ns > f->last_ns)
        f->last_ns = ns;
}

bool
history_learn(struct turn_history *h, struct buf *fact, struct view raw)
{
    return history_learn_text(h, fact, turn_text(raw, &h->scratch));
}

int
history_masked(struct turn_history *h, struct view *text, struct buf *room)
{
    int r = h->opt.mask ? h->opt.mask(h->opt.ctx, *text, room) : 0;
    if (!r && h->opt.mask)
        *text = (struct view){ room->p, room->n };
    return r < 0 ? r : 0;
}

static bool
is_same(const struct buf *fact, struct view text)
{
    return fact->n == text.n && !memcmp(fact->p, text.p, text.n);
}

bool
history_learn_text(struct turn_history *h, struct buf *fact, struct view text)
{
    AUTO(buf) masked = { 0 };
    if (!text.n || text.n > FACT_MAX || memchr(text.p, 0, text.n) || is_same(fact, text))
        return false;
    if (history_masked(h, &text, &masked) < 0 || !text.n || is_same(fact, text))
        return false;
    buf_clear(fact);
    return buf_append(fact, text.p, text.n) == 0;
}

int
history_session(struct turn_history *h)
{
    struct turn_event e = turn_event(TURN_SESSION);
    e.id = (struct view){ h->facts.id.p, h->facts.id.n };
    e.model = (struct view){ h->facts.model.p, h->facts.model.n };
    e.cwd = (struct view){ h->facts.cwd.p, h->facts.cwd.n };
    return history_tell(h, &e);
}

int
history_branch(struct turn_history *h, uint64_t from)
{
    struct turn_event e = turn_event(TURN_BRANCH);
    e.from = from;
    return history_tell(h, &e);
}

/* -- what is remembered -- */

static uint64_t
stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* The seed goes all the way through: "1" of one kind is no "0" of another. */
uint64_t
history_hash(uint64_t seed, struct view text)
{
    uint64_t h = stir(stir(UINT64_C(0x9e3779b97f4a7c15), seed), text.n), word = 0;
    for (; text.n >= 8; text = (struct view){ text.p + 8, text.n - 8 }) {
        memcpy(&word, text.p, 8);
        h = stir(h, word);
    }
    word = 0;
    if (text.n)
        memcpy(&word, text.p, text.n);
    h = stir(h, word) * UINT64_C(0xbf58476d1ce4e5b9);
    return (h ^ h >> 29) | 1; /* never 0 */
}

int
history_remember(struct turn_history *h, uint64_t hash)
{
    if (h->told.n >= HISTORY_TOLD_MAX * sizeof(hash)) {
        h->told.n -= sizeof(hash);
        memmove(h->told.p, h->told.p + sizeof(hash), h->told.n);
    }
    return buf_append(&h->told, &hash, sizeof(hash));
}

bool
history_take_back(struct turn_history *h, uint64_t hash)
{
    for (size_t at = h->told.n; at; at -= sizeof(hash)) {
        uint8_t *p = h->told.p + at - sizeof(hash);
        if (memcmp(p, &hash, sizeof(hash)) != 0)
            continue;
        memmove(p, p + sizeof(hash), h->told.n - at);
        h->told.n -= sizeof(hash);
        return true;
    }
    return false;
}

int
history_mark(struct turn_history *h)
{
    uint64_t from = h->facts.events;
    if (h->marks.n >= HISTORY_MARKS_MAX * sizeof(from)) {
        h->marks.n /= 2;
        memmove(h->marks.p, h->marks.p + h->marks.n, h->marks.n);
    }
    return buf_append(&h->marks, &from, sizeof(from));
}

bool
history_unmark(struct turn_history *h, uint64_t n, uint64_t *ret_from)
{
    size_t count = h->marks.n / sizeof(*ret_from);
    n = n < count ? n : count;
    if (!n)
        return false;
    h->marks.n -= (size_t)n * sizeof(*ret_from);
    memcpy(ret_from, h->marks.p + h->marks.n, sizeof(*ret_from));
    return true;
}

/* -- lines -- */

static bool
is_known(void *ctx, struct view object)
{
    const struct turn_history *h = ctx;
    return history_stream_agent(object) == h->opt.agent ||
           (h->format && h->format->is_mine(object));
}

static int
tell_malformed(struct turn_history *h, struct view text)
{
    struct turn_event e = turn_event(TURN_WARNING);
    AUTO(buf) told = { 0 };
    while (text.n && text.p[text.n - 1] == '\r')
        text.n--;
    int r = turn_malformed(text, 0, &told);
    e.text = (struct view){ told.p, told.n };
    history_trouble(h, TURN_HISTORY_MALFORMED);
    return r < 0 ? r : history_tell(h, &e);
}

/* What one object has left in them, also a failure, is nothing to the next. */
static void
clear_scratch(struct turn_history *h)
{
    struct buf *text = h->s.text;
    struct buf *const all[] = { &text[0], &text[1], &text[2], &text[3], &h->scratch };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i]->cap > SCRATCH_KEPT)
            buf_release(all[i]);
        else
            buf_clear(all[i]);
}

int
turn_history_line(struct turn_history *h, struct view side, struct view line)
{
    struct turn_objects o = { .rest = line, .is_known = is_known, .ctx = h };
    struct view before, object;
    buf_clear(&h->side);
    int r = buf_append(&h->side, side.p, side.n);
    for (bool is_more = true, has_object = false; r >= 0 && is_more;) {
        is_more = turn_objects_next(&o, &before, &object);
        has_object |= is_more;
        bool is_silent = has_object ? turn_objects_is_between(before)
                                    : turn_objects_is_blank(before);
        clear_scratch(h);
        r = is_silent ? 0 : tell_malformed(h, before);
        if (r >= 0 && is_more)
            r = history_stream_line(h, object);
        if (!r && is_more && h->format)
            r = h->format->decode(h, object);
        r = r > 0 ? 0 : r;
    }
    return r;
}

uint64_t
turn_history_stamp(struct view line)
{
    struct view timestamp = { 0 };
    const struct turn_field wanted[] = { { "timestamp", &timestamp } };
    uint64_t ns;
    (void)turn_known_fields(line, wanted, 1);
    return read_stamp(timestamp, &ns) ? ns : 0;
}

bool
turn_history_is_whole(struct view line)
{
    struct json_in in = { .p = line.p, .end = line.p + line.n };
    return json_in_peek(&in) == '{' && json_in_is_one(line);
}

static enum turn_agent
agent_of(struct view line)
{
    if (line.n >= 3 && !memcmp(line.p, "\xef\xbb\xbf", 3))
        line = (struct view){ line.p + 3, line.n - 3 };
    if (!turn_history_is_whole(line))
        return TURN_AUTO;
    enum turn_agent agent = history_stream_agent(line);
    for (size_t i = 0; i < FORMATS && agent == TURN_AUTO; i++)
        if (formats[i]->is_mine(line))
            agent = formats[i]->agent;
    return agent;
}

enum turn_agent
turn_history_guess(struct view beginning)
{
    enum turn_agent agent = TURN_AUTO;
    for (struct view rest = beginning; rest.n && agent == TURN_AUTO;) {
        const uint8_t *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        agent = agent_of((struct view){ rest.p, n });
        n += end != NULL;
        rest = (struct view){ rest.p + n, rest.n - n };
    }
    return agent == TURN_AUTO ? agent_of(beginning) : agent;
}

/* -- all -- */

int
turn_history_new(struct turn_history **ret, const struct turn_history_options *opt)
{
    struct turn_history *h = calloc(1, sizeof(*h));
    if (!h)
        return -ENOMEM;
    h->opt = *opt;
    turn_state_init(&h->s);
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->agent == opt->agent)
            h->format = formats[i];
    if (!h->format && opt->agent != TURN_OPENCODE) {
        free(h);
        return -EINVAL;
    }
    *ret = h;
    return 0;
}

void
turn_history_free(struct turn_history *h)
{
    if (!h)
        return;
    struct turn_history_facts *f = &h->facts;
    struct buf *const bufs[] = { &f->id,    &f->cwd,   &f->version, &f->git_branch,
                                 &f->model, &f->title, &h->side,    &h->scratch,
                                 &h->told,  &h->marks, &h->awaited, &h->summaries,
                                 &h->tasks };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    turn_state_release(&h->s);
    turn_tree_release(&h->tree);
    free(h);
}

const struct turn_history_facts *
turn_history_facts(const struct turn_history *h)
{
    return &h->facts;
}
