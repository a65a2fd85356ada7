/* SPDX-License-Identifier: MIT */
#include "calls/complete.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "calls/agent.h"
#include "calls/answer.h"
#include "calls/read_priv.h"
#include "gz/lines.h"
#include "gz/read.h"
#include "session/lines.h"
#include "turn/line.h"

/* A moment of the conversation: a call is asked, or has been answered. */
struct moment {
    uint64_t at; /* in the file */
    size_t call; /* which of them */
    bool is_reply;
};

enum {
    READS = 64,         /* as many conversations may go on at the same time */
    READ_MAX = 1 << 20, /* bytes of one; a longer one is read whole each time */
};

/* A request as it was read, by which one that begins with it is. */
struct past {
    uint64_t call, used; /* 0: none */
    struct calls_talk_read read;
};

struct completing {
    const struct calls_complete_options *opt;
    struct calls *calls;
    struct calls_talk *talk;
    struct session_lines wire, turns;
    struct buf known; /* uint64_t of each call: its lines that are there */
    struct buf asked; /* … as the conversation knows its request */
    struct buf line;
    struct past past[READS];
    uint64_t uses;
    struct calls_completed done;
    uint64_t turns_ns; /* the latest stamp among the turns */
    /* the event at hand */
    size_t call;
    uint64_t ts_ns, anchor_byte;
    bool has_turns;
};

/* -- the end of the file -- */

static bool
is_line(struct view line)
{
    AUTO(buf) texts = { .ceiling = CALLS_LINE_MAX };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l;
    return calls_line_get(line, &texts, headers, &l) == 0;
}

static int
mend(const char *path, bool *ret_is_changed)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = session_lines_mend(fd, "{\"ts_ns\":", is_line);
    close(fd);
    *ret_is_changed |= r > 0;
    return r < 0 ? r : 0;
}

/* -- what there is of turns -- */

static void
pace(const struct completing *c)
{
    if (c->opt->pace)
        c->opt->pace(c->opt->ctx);
}

struct counting {
    struct completing *c;
    struct buf texts;
};

/* A jsonl_fn. */
static int
count_turn(void *ctx, struct view object)
{
    struct counting *x = ctx;
    struct turn_event e;
    struct turn_stamp at;
    int r = turn_line_read(object, &x->texts, &e, &at);
    if (r < 0)
        return r == ERR_DAMAGED ? 0 : r;
    pace(x->c);
    if (at.ts_ns > x->c->turns_ns)
        x->c->turns_ns = at.ts_ns;
    size_t i = at.call ? calls_find(x->c->calls, at.call) : SIZE_MAX;
    uint64_t *known = (void *)x->c->known.p;
    if (i != SIZE_MAX)
        known[i]++;
    return 1;
}

static void
pass_over(void *ctx, uint64_t line)
{
    (void)ctx, (void)line;
}

static int
make_zeros(struct buf *b, size_t count)
{
    uint8_t *p = count ? buf_grow(b, count * sizeof(uint64_t)) : NULL;
    if (p)
        memset(p, 0, count * sizeof(uint64_t));
    return count && !p ? b->failed : 0;
}

static int
count_turns(struct completing *c)
{
    struct counting x = { .c = c };
    struct jsonl lines = { .fn = count_turn,
                           .bad = pass_over,
                           .ctx = &x,
                           .begin = "{\"ts_ns\":",
                           .line.ceiling = CALLS_LINE_MAX };
    int r = make_zeros(&c->known, calls_count(c->calls));
    if (r < 0)
        return r;
    r = gz_lines_read(c->opt->turns_path, &lines, false, NULL);
    jsonl_release(&lines);
    buf_release(&x.texts);
    return r == ERR_MISSING ? 0 : r;
}

/* -- the conversation once more -- */

/* A turn_event_fn. */
static int
take_event(void *ctx, const struct turn_event *e)
{
    struct completing *c = ctx;
    uint64_t *known = (void *)c->known.p;
    int r = c->opt->heard ? c->opt->heard(c->opt->ctx, e) : 0;
    if (r < 0 || !c->has_turns)
        return r;
    if (known[c->call]) {
        known[c->call]--;
        return 0;
    }
    c->turns_ns = c->ts_ns > c->turns_ns ? c->ts_ns
                                         : c->turns_ns; /* it never goes back */
    const struct turn_stamp at = {
        .ts_ns = c->turns_ns,
        .start_ns = c->opt->start_ns,
        .session = c->opt->session,
        .call = calls_facts(c->calls, c->call)->number,
        .has_anchor = c->anchor_byte != CALLS_NONE,
        .anchor_byte = c->anchor_byte,
    };
    buf_clear(&c->line);
    turn_line(e, &at, &c->line);
    c->done.turns++;
    c->done.is_changed = true;
    return c->line.failed
               ? c->line.failed
               : session_lines_add(&c->turns, (struct view){ c->line.p, c->line.n });
}

/* The same; what is said is known from then on. */
static int
take_reply(void *ctx, const struct turn_event *e)
{
    struct completing *c = ctx;
    int r = calls_talk_heard(c->talk, e);
    return r < 0 ? r : take_event(c, e);
}

static int
feed_reply(struct completing *c, const struct calls_whole *w, struct calls_answer *a)
{
    int r = 0;
    for (size_t i = 0; i < w->event_count && r >= 0; i++) {
        c->ts_ns = w->events[i].ts_ns;
        c->anchor_byte = w->events[i].anchor_byte;
        r = calls_answer_feed(a, w->events[i].bytes, take_reply, c);
    }
    c->ts_ns = w->facts->last_ns;
    c->anchor_byte = w->facts->end_anchor_byte;
    return r < 0 ? r : calls_answer_end(a, w->facts->error, take_reply, c);
}

static uint64_t *
asked_of(const struct completing *c)
{
    return (void *)c->asked.p;
}

/* That of a call, or NULL; of none: the one that was not used for the longest time. */
static struct past *
find_past(struct completing *c, uint64_t call)
{
    struct past *oldest = &c->past[0];
    for (size_t i = 0; i < READS; i++) {
        if (call && c->past[i].call == call)
            return &c->past[i];
        if (c->past[i].used < oldest->used)
            oldest = &c->past[i];
    }
    return call ? NULL : oldest;
}

/* What it has in common with the one that it is told by is not read once more. */
static int
take_request(struct completing *c, enum turn_api api, struct err *err)
{
    struct calls_request q;
    int r = calls_get_request(c->calls, c->call, &q, err);
    if (r < 0)
        return r;
    struct past *like = q.base ? find_past(c, q.base) : NULL;
    if (like)
        like->used = ++c->uses;
    struct past *own = find_past(c, 0);
    own->call = 0;
    r = calls_talk_request_like(c->talk, api, q.body, like ? &like->read : NULL, q.alike,
                                &own->read, take_event, c);
    size_t bytes = own->read.ends.cap + own->read.counts.cap + own->read.hashes.cap;
    if (bytes > READ_MAX)
        calls_talk_read_release(&own->read);
    else if (q.is_whole)
        own->call = calls_facts(c->calls, c->call)->number;
    own->used = ++c->uses;
    asked_of(c)[c->call] = calls_talk_asked(c->talk);
    return r;
}

static int
take_answer(struct completing *c, enum turn_api api, struct err *err)
{
    struct calls_whole w;
    struct calls_answer *a = NULL;
    int r = calls_get_reply(c->calls, c->call, &w, err);
    if (!r)
        r = calls_answer_new(&a, api, w.facts->status, w.facts->is_stream);
    if (!r)
        r = feed_reply(c, &w, a);
    if (!r && w.facts->stop.n && w.facts->end == CALLS_OK && !calls_answer_has_failed(a))
        calls_talk_answered(c->talk, asked_of(c)[c->call]);
    calls_answer_free(a);
    return r;
}

static int
take_moment(struct completing *c, const struct moment *m, struct err *err)
{
    const struct calls_facts *f = calls_facts(c->calls, m->call);
    enum turn_api api = calls_talk_api(f->method, f->url);
    if (api == TURN_API_AUTO)
        return 0;
    pace(c);
    c->call = m->call;
    c->has_turns = f->has_turns;
    c->ts_ns = f->ts_ns;
    c->anchor_byte = f->anchor_byte;
    return m->is_reply ? take_answer(c, api, err) : take_request(c, api, err);
}

static int
compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* In the order in which it happened: nobody sends what was replied before all of it has
 * come. */
static int
take_moments(struct completing *c, struct err *err)
{
    AUTO(buf) moments = { .ceiling = 1 << 30 };
    int r = make_zeros(&c->asked, calls_count(c->calls));
    for (size_t i = 0; i < calls_count(c->calls) && !r; i++) {
        const struct call *call = &c->calls->all[i];
        const struct moment two[] = {
            { call->request.at, i, false },
            { call->end.n ? call->end.at : UINT64_MAX, i, true },
        };
        r = buf_append(&moments, two, sizeof(two));
    }
    struct moment *all = (void *)moments.p;
    size_t n = moments.n / sizeof(*all);
    if (n)
        qsort(all, n, sizeof(*all), compare_moments);
    for (size_t i = 0; i < n && !r; i++)
        r = take_moment(c, &all[i], err);
    return r;
}

/* -- who asks -- */

static int
look_for_agent(struct completing *c)
{
    const struct calls_header *headers;
    size_t count;
    int r = 0;
    for (size_t i = 0; i < calls_count(c->calls) && !c->done.agent && !r; i++) {
        r = calls_get_headers(c->calls, i, &headers, &count);
        if (!r)
            c->done.agent = calls_agent(headers, count);
    }
    return r;
}

/* -- ends -- */

static int
nothing(void *ctx, const struct turn_event *e)
{
    (void)ctx, (void)e;
    return 0;
}

/* What is to be known of a call that was cut off. */
static int
end_call(struct completing *c, size_t i, struct err *err)
{
    struct calls_whole w;
    struct calls_answer *a = NULL;
    int r = calls_get_reply(c->calls, i, &w, err);
    if (!r)
        r = calls_answer_new(&a, calls_talk_api(w.facts->method, w.facts->url),
                             w.facts->status, w.facts->is_stream);
    if (r < 0)
        return r;
    const struct calls_facts *f = w.facts;
    struct calls_line l = calls_line(CALLS_END, f->number, f->last_ns);
    (void)calls_answer_feed(a, w.reply, nothing, NULL);
    (void)calls_answer_end(a, (struct view){ 0 }, nothing, NULL);
    struct turn_reply_facts facts = calls_answer_facts(a);
    l.end = CALLS_CUT;
    l.events = f->is_stream ? f->events : CALLS_NONE;
    l.duration_ns = f->last_ns > f->ts_ns ? f->last_ns - f->ts_ns : 0;
    l.model = facts.model;
    l.stop = facts.stop;
    l.usage = facts.usage;
    buf_clear(&c->line);
    calls_line_put(&l, c->opt->start_ns, &c->line);
    r = c->line.failed
            ? c->line.failed
            : session_lines_add(&c->wire, (struct view){ c->line.p, c->line.n });
    calls_answer_free(a);
    c->done.cut++;
    c->done.is_changed = true;
    return r;
}

static int
end_calls(struct completing *c, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < calls_count(c->calls) && !r; i++) {
        const struct calls_facts *f = calls_facts(c->calls, i);
        if (f->number > c->done.last_call)
            c->done.last_call = f->number;
        if (f->last_ns > c->done.last_ns)
            c->done.last_ns = f->last_ns;
        if (!f->has_end)
            r = end_call(c, i, err);
    }
    return r;
}

static int
complete(struct completing *c, struct err *err)
{
    uint64_t lost = 0;
    int r = mend(c->opt->wire_path, &c->done.is_changed);
    if (!r)
        r = calls_open_paced(&c->calls, c->opt->wire_path, NULL, c->opt->pace,
                             c->opt->ctx, err);
    if (!r)
        r = session_lines_init(&c->wire, c->opt->wire_path);
    if (!r)
        r = session_lines_init(&c->turns, c->opt->turns_path);
    if (!r)
        r = count_turns(c);
    if (!r)
        r = take_moments(c, err);
    if (!r)
        r = look_for_agent(c);
    if (!r)
        r = end_calls(c, err);
    if (!r && c->wire.path)
        r = session_lines_finish(&c->wire, NULL, NULL, &lost);
    if (!r && c->turns.path)
        r = session_lines_finish(&c->turns, NULL, NULL, &lost);
    return r;
}

int
calls_complete(const struct calls_complete_options *opt, struct calls_completed *ret,
               struct err *err)
{
    struct completing c = {
        .opt = opt, .talk = opt->talk, .wire.fd = -1, .turns.fd = -1
    };
    struct calls_talk *own = NULL;
    struct stat st;
    struct err why = { 0 };
    *ret = (struct calls_completed){ 0 };
    int r = gz_stat(AT_FDCWD, opt->wire_path, &st);
    if (r < 0 || r == 1)
        return r == 1 || r == -ENOENT
                   ? 0
                   : err_code(err, r, "cannot read '%s'", opt->wire_path);
    r = c.talk ? 0 : calls_talk_new(&own);
    c.talk = c.talk ? c.talk : own;
    c.line.ceiling = CALLS_LINE_MAX;
    if (!r)
        r = complete(&c, &why);
    if (r < 0 && why.code && err)
        *err = why;
    else if (r < 0)
        err_code(err, r, "cannot complete '%s'", opt->wire_path);
    if (!r)
        *ret = c.done;
    if (c.wire.path)
        session_lines_release(&c.wire);
    if (c.turns.path)
        session_lines_release(&c.turns);
    calls_close(c.calls);
    calls_talk_free(own);
    for (size_t i = 0; i < READS; i++)
        calls_talk_read_release(&c.past[i].read);
    buf_release(&c.known);
    buf_release(&c.asked);
    buf_release(&c.line);
    return r;
}
