/* SPDX-License-Identifier: MIT */
#include "library/turns.h"

#include <errno.h>

#include "play/turns.h"
#include "turn/totals.h"

struct counting {
    library_turn_fn fn;
    void *ctx;
    uint64_t events;
    struct session_unread unread;
};

/* A play_turn_fn. */
static int
count_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct counting *c = ctx;
    return c->fn(c->ctx, e, at, ++c->events);
}

/* A play_turns_bad_fn. */
static void
count_bad(void *ctx, uint64_t line)
{
    struct counting *c = ctx;
    if (!c->unread.lines++)
        c->unread.first = line;
}

int
library_turns_read(const char *path, library_turn_fn fn, void *ctx,
                   struct session_unread *ret)
{
    struct counting c = { .fn = fn, .ctx = ctx };
    const struct play_turns_options opt = { .fn = count_turn,
                                            .bad = count_bad,
                                            .ctx = &c };
    int r = play_turns_read(path, &opt, NULL);
    if (ret)
        *ret = c.unread;
    return r == ERR_MISSING ? 0 : r == -EINVAL ? ERR_DAMAGED : r;
}

/* -- the run as a whole -- */

void
library_run_release(struct library_run *r)
{
    buf_release(&r->agent_session_id);
    buf_release(&r->model);
}

struct summing {
    struct library_run *run;
    struct turn_totals totals;
};

static int
keep(struct buf *kept, struct view told)
{
    if (!told.n)
        return 0;
    buf_clear(kept);
    return buf_append(kept, told.p, told.n);
}

/* A library_turn_fn. */
static int
sum_up(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
       uint64_t number)
{
    struct summing *s = ctx;
    int r = turn_totals_add(&s->totals, e);
    s->run->events = number;
    if (at->iteration > s->run->iterations)
        s->run->iterations = at->iteration;
    if (!r && e->type == TURN_SESSION)
        r = keep(&s->run->agent_session_id, e->id);
    if (!r && e->type == TURN_SESSION)
        r = keep(&s->run->model, e->model);
    return r;
}

int
library_run_read(struct library_run *ret, const char *path)
{
    struct summing s = { .run = ret };
    int r = library_turns_read(path, sum_up, &s, &ret->unread);
    ret->usage = turn_totals_usage(&s.totals);
    ret->calls = s.totals.is_known ? s.totals.calls : TURN_UNKNOWN;
    turn_totals_release(&s.totals);
    return r;
}
