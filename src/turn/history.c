/* SPDX-License-Identifier: MIT */
/* history.c -- what an agent keeps of its sessions: lines, objects, and what all share.
 */
#include "turn/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iso.h"
#include "base/json_in.h"
#include "turn/fields_priv.h"
#include "turn/history_priv.h"
#include "turn/objects_priv.h"
#include "turn/tell_priv.h"

enum {
    FACT_MAX = 4 << 10,
    SCRATCH_KEPT = 1 << 20, /* memory that stays behind a long text */
    TOLD_MAX = 4096,        /* hashes that are remembered */
    MARKS_MAX = 1 << 16,
};

struct mark {
    uint64_t hash, from;
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

/* A turn_event_fn. */
static int
take_event(void *ctx, const struct turn_event *e)
{
    return history_tell(ctx, e);
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
    return history_learn_text(fact, turn_text(raw, &h->scratch));
}

bool
history_learn_text(struct buf *fact, struct view text)
{
    if (!text.n || text.n > FACT_MAX || memchr(text.p, 0, text.n) ||
        (fact->n == text.n && !memcmp(fact->p, text.p, text.n)))
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

uint64_t
history_hash(uint64_t seed, struct view text)
{
    uint64_t h = seed ^ (text.n * UINT64_C(0x9e3779b97f4a7c15));
    for (; text.n >= 8; text = (struct view){ text.p + 8, text.n - 8 }) {
        uint64_t v;
        memcpy(&v, text.p, 8);
        h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ text.p[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (h ^ h >> 32) | 1; /* never 0 */
}

static size_t
find_told(const struct turn_history *h, uint64_t hash)
{
    size_t at = h->told.n;
    while (at) {
        at -= sizeof(hash);
        if (!memcmp(h->told.p + at, &hash, sizeof(hash)))
            return at;
    }
    return SIZE_MAX;
}

bool
history_was_told(const struct turn_history *h, uint64_t hash)
{
    return find_told(h, hash) != SIZE_MAX;
}

bool
history_take_back(struct turn_history *h, uint64_t hash)
{
    size_t at = find_told(h, hash);
    if (at == SIZE_MAX)
        return false;
    h->told.n -= sizeof(hash);
    memmove(h->told.p + at, h->told.p + at + sizeof(hash), h->told.n - at);
    return true;
}

int
history_remember(struct turn_history *h, uint64_t hash)
{
    if (h->told.n >= TOLD_MAX * sizeof(hash)) {
        h->told.n -= sizeof(hash);
        memmove(h->told.p, h->told.p + sizeof(hash), h->told.n);
    }
    return buf_append(&h->told, &hash, sizeof(hash));
}

int
history_mark(struct turn_history *h, uint64_t hash)
{
    struct mark m = { hash, h->facts.events };
    if (h->marks.n >= MARKS_MAX * sizeof(m)) {
        size_t half = h->marks.n / 2 / sizeof(m) * sizeof(m);
        h->marks.n -= half;
        memmove(h->marks.p, h->marks.p + half, h->marks.n);
    }
    return buf_append(&h->marks, &m, sizeof(m));
}

bool
history_marked(const struct turn_history *h, uint64_t hash, uint64_t *ret_from)
{
    struct mark m;
    for (size_t at = h->marks.n; at; at -= sizeof(m)) {
        memcpy(&m, h->marks.p + at - sizeof(m), sizeof(m));
        if (m.hash == hash) {
            *ret_from = m.from;
            return true;
        }
    }
    return false;
}

bool
history_marked_before(const struct turn_history *h, uint64_t n, uint64_t *ret_from)
{
    struct mark m;
    if (!n || n > h->marks.n / sizeof(m))
        return false;
    memcpy(&m, h->marks.p + h->marks.n - (size_t)n * sizeof(m), sizeof(m));
    *ret_from = m.from;
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

static void
drop_long_scratch(struct turn_history *h)
{
    for (size_t i = 0; i < sizeof(h->s.text) / sizeof(h->s.text[0]); i++)
        if (h->s.text[i].cap > SCRATCH_KEPT)
            buf_release(&h->s.text[i]);
    if (h->scratch.cap > SCRATCH_KEPT)
        buf_release(&h->scratch);
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
        drop_long_scratch(h);
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

enum turn_agent
turn_history_guess(struct view beginning)
{
    struct view rest = beginning;
    while (rest.n) {
        const uint8_t *end = memchr(rest.p, '\n', rest.n);
        struct view line = { rest.p, end ? (size_t)(end - rest.p) : rest.n };
        if (line.n >= 3 && !memcmp(line.p, "\xef\xbb\xbf", 3))
            line = (struct view){ line.p + 3, line.n - 3 };
        bool is_whole = turn_history_is_whole(line);
        enum turn_agent stream = is_whole ? history_stream_agent(line) : TURN_AUTO;
        if (stream != TURN_AUTO)
            return stream;
        for (size_t i = 0; i < FORMATS; i++)
            if (is_whole && formats[i]->is_mine(line))
                return formats[i]->agent;
        rest = (struct view){ line.p + line.n,
                              rest.n - (size_t)(line.p + line.n - rest.p) };
        rest = rest.n ? (struct view){ rest.p + 1, rest.n - 1 } : rest;
    }
    return TURN_AUTO;
}

/* -- all -- */

int
turn_history_new(struct turn_history **ret, const struct turn_history_options *opt)
{
    struct turn_history *h = calloc(1, sizeof(*h));
    if (!h)
        return -ENOMEM;
    h->opt = *opt;
    h->sink = (struct turn_sink){ take_event, h };
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
                                 &h->told,  &h->marks };
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
