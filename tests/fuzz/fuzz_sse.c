/* SPDX-License-Identifier: MIT */
/* Whatever comes, and however it is cut, the events of a stream are the same; no event is
 * over the ceiling, and nothing larger is kept. */
#include "fuzz/fuzz.h"
#include "turn/sse.h"

struct shown {
    size_t max;
    struct buf text;
};

static void
put(struct buf *out, struct view v)
{
    buf_printf(out, "%zu:", v.n);
    buf_append(out, v.p, v.n);
}

static int
show(void *ctx, const struct turn_sse_event *e)
{
    struct shown *s = ctx;
    CHECK(e->data.n <= s->max && e->name.n <= s->max && e->id.n <= s->max);
    CHECK(!e->is_too_long || !e->data.n);
    CHECK(e->name.n);
    put(&s->text, e->name);
    put(&s->text, e->data);
    put(&s->text, e->id);
    buf_printf(&s->text, "%d %llu\n", e->is_too_long, (unsigned long long)e->retry_ms);
    return 0;
}

static void
feed(struct turn_sse *sse, struct view bytes, struct shown *s)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    CHECK(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    CHECK(turn_sse_feed(sse, (struct view){ own, bytes.n }, show, s) == 0);
    free(own);
    CHECK(sse->held.n <= s->max && sse->data.n <= s->max && sse->name.n <= s->max);
}

static void
parse(struct view in, struct view cuts, struct shown *s)
{
    struct turn_sse sse = { .max = s->max };
    for (size_t at = 0, i = 0; at < in.n; i++) {
        size_t n = cuts.n ? (size_t)cuts.p[i % cuts.n] + 1 : in.n;
        n = n < in.n - at ? n : in.n - at;
        feed(&sse, (struct view){ in.p + at, n }, s);
        at += n;
    }
    buf_printf(&s->text, "%d\n", turn_sse_end(&sse));
    turn_sse_release(&sse);
}

static void
check_cuts(struct view in, struct view cuts, size_t max)
{
    static const uint8_t one[] = { 0 };
    const struct view ways[] = { { 0 }, { one, 1 }, cuts };
    struct shown all[3] = { 0 };
    for (size_t i = 0; i < 3; i++) {
        all[i].max = max;
        parse(in, ways[i], &all[i]);
        CHECK(all[i].text.n == all[0].text.n &&
              !memcmp(all[i].text.p, all[0].text.p, all[0].text.n));
    }
    for (size_t i = 0; i < 3; i++)
        buf_release(&all[i].text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    check_cuts(in, cuts, 16);
    check_cuts(in, cuts, TURN_SSE_MAX);
    return 0;
}
