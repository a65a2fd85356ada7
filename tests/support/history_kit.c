/* SPDX-License-Identifier: MIT */
/* history_kit.c -- lines of an agent's history, read and written down. */
#include "support/history_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "support/turn_kit.h"

static void
must(bool holds)
{
    if (!holds)
        abort();
}

static void
show(struct history_kit *k, struct turn_event e)
{
    e.json = e.type == TURN_OTHER ? (struct view){ 0 } : e.json;
    e.text = e.text.n ? e.text : (struct view){ 0 }; /* none, whatever it points to */
    must(!turn_kit_write(&k->shown, &e));
    k->shown.n--; /* the newline */
    if (e.type == TURN_BRANCH)
        buf_printf(&k->shown, " from=%llu", (unsigned long long)e.from);
    buf_puts(&k->shown, e.is_final ? " final\n" : "\n");
}

static int
take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    struct history_kit *k = ctx;
    must(!k->fails_at || k->events + 1 <= k->fails_at);
    must(e->type != TURN_BRANCH || e->from <= k->events);
    must(ts_ns >= k->last_ns);
    k->last_ns = ts_ns;
    k->events++;
    must(!turn_totals_add(&k->totals, e));
    if (!k->is_quiet)
        show(k, *e);
    return k->events == k->fails_at ? -77 : 0;
}

static void
take_trouble(void *ctx, enum turn_history_trouble what)
{
    struct history_kit *k = ctx;
    k->troubles[what]++;
    if (!k->is_quiet)
        buf_printf(&k->shown, "! %s\n", turn_history_trouble_name(what));
}

static void
make_reader(struct history_kit *k)
{
    const struct turn_history_options opt = {
        .agent = k->agent, .event = take_event, .trouble = take_trouble, .ctx = k
    };
    must(!turn_history_new(&k->h, &opt));
}

void
history_kit_begin(struct history_kit *k, enum turn_agent agent)
{
    *k = (struct history_kit){ .agent = agent };
    make_reader(k);
}

void
history_kit_end(struct history_kit *k)
{
    turn_history_free(k->h);
    turn_totals_release(&k->totals);
    buf_release(&k->shown);
    buf_release(&k->side);
    *k = (struct history_kit){ 0 };
}

bool
history_kit_next(struct view *rest, struct view *ret_line)
{
    if (!rest->n)
        return false;
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *ret_line = (struct view){ rest->p, n };
    n += end != NULL;
    *rest = (struct view){ rest->p + n, rest->n - n };
    return true;
}

int
history_kit_lines(struct history_kit *k, struct view bytes)
{
    struct view line;
    int r = 0;
    while (r >= 0 && history_kit_next(&bytes, &line)) {
        uint8_t *own = malloc(line.n ? line.n : 1); /* a sanitizer sees who reads on */
        must(own);
        if (line.n)
            memcpy(own, line.p, line.n);
        r = turn_history_line(k->h, (struct view){ k->side.p, k->side.n },
                              (struct view){ own, line.n });
        free(own);
    }
    return r;
}

void
history_kit_reload(struct history_kit *k)
{
    AUTO(buf) saved = { 0 };
    AUTO(buf) again = { 0 };
    must(!turn_history_save(k->h, &saved));
    turn_history_free(k->h);
    make_reader(k);
    must(!turn_history_load(k->h, (struct view){ saved.p, saved.n }));
    must(!turn_history_save(k->h, &again));
    must(saved.n == again.n && !memcmp(saved.p, again.p, saved.n));
}

bool
history_kit_fixture(const char *name, struct buf *out)
{
    char path[4096];
    const char *dir = getenv("AHR_FIXTURES");
    snprintf(path, sizeof(path), "%s/agents/%s", dir ? dir : "", name);
    if (dir && file_slurp(path, out) >= 0)
        return true;
    printf("# the shared fixtures are not here\n");
    return false;
}
