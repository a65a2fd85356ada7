/* SPDX-License-Identifier: MIT */
/*
 * Whatever is replied, and however it comes: the same is told, of whole messages, and
 * nothing of a call that is no conversation; what has failed has an error; a reply that
 * breaks off has told the beginning of what it would have.
 *
 * The input: a byte (which API; 4: a stream; 8: an error behind it), one of the status,
 * then the bytes.
 */
#include "calls/answer.h"
#include "fuzz/fuzz.h"
#include "support/turn_kit.h"

struct how {
    enum turn_api api;
    unsigned status;
    bool is_stream;
    struct view error;
};

struct told {
    struct buf out;
    size_t events, errors;
};

static int
show(void *ctx, const struct turn_event *e)
{
    struct told *t = ctx;
    CHECK(!e->is_partial);
    t->events++;
    t->errors += e->type == TURN_ERROR;
    buf_puts(&t->out, e->is_final ? "final " : "");
    return turn_kit_write(&t->out, e);
}

static void
feed(struct calls_answer *a, struct view in, size_t step, struct told *told)
{
    bool has_begun = false;
    for (size_t at = 0; at < in.n; at += step) {
        size_t n = step < in.n - at ? step : in.n - at;
        uint8_t *own = malloc(n);
        CHECK(own);
        memcpy(own, in.p + at, n);
        CHECK(!calls_answer_feed(a, (struct view){ own, n }, show, told));
        free(own);
        CHECK(!has_begun || calls_answer_has_begun(a));
        has_begun = calls_answer_has_begun(a);
    }
}

static void
put_facts(const struct calls_answer *a, struct buf *out)
{
    struct turn_reply_facts f = calls_answer_facts(a);
    CHECK(!f.raw_usage.n || f.raw_usage.p);
    buf_printf(out, "= %d %d %d %d\n", (int)f.api, f.is_final, f.is_whole, f.has_failed);
    buf_append(out, f.model.p, f.model.n);
    buf_append(out, f.stop.p, f.stop.n);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        buf_put_u64(out, *turn_usage_field(&f.usage, i));
}

static void
answer(const struct how *how, struct view in, size_t step, struct told *told)
{
    struct calls_answer *a;
    CHECK(!calls_answer_new(&a, how->api, how->status, how->is_stream));
    feed(a, in, step, told);
    CHECK(how->is_stream || !told->events);
    CHECK(!calls_answer_end(a, how->error, show, told));
    bool has_failed = how->status >= 400 || how->error.n;
    CHECK(how->api != TURN_API_AUTO ? told->errors || !has_failed : !told->events);
    put_facts(a, &told->out);
    calls_answer_free(a);
}

static void
check_broken(const struct how *how, struct view in, size_t at)
{
    struct calls_answer *a, *b;
    struct told part = { 0 }, all = { 0 };
    CHECK(!calls_answer_new(&a, how->api, how->status, how->is_stream));
    CHECK(!calls_answer_new(&b, how->api, how->status, how->is_stream));
    feed(a, (struct view){ in.p, at }, at ? at : 1, &part);
    feed(b, in, in.n ? in.n : 1, &all);
    CHECK(part.out.n <= all.out.n);
    CHECK(!part.out.n || !memcmp(part.out.p, all.out.p, part.out.n));
    calls_answer_free(a);
    calls_answer_free(b);
    buf_release(&part.out);
    buf_release(&all.out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned statuses[] = { 200, 201, 0, 301, 400, 404, 429, 500, 502, 529 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    uint8_t flags = fuzz_byte(&in), status = fuzz_byte(&in);
    const struct how how = {
        .api = flags % 4,
        .status = statuses[status % (sizeof(statuses) / sizeof(statuses[0]))],
        .is_stream = flags & 4,
        .error = { (const uint8_t *)"gone", flags & 8 ? 4 : 0 },
    };
    struct told whole = { 0 };
    answer(&how, in, in.n ? in.n : 1, &whole);
    for (size_t step = 1; step <= 7; step += 3) {
        struct told pieces = { 0 };
        answer(&how, in, step, &pieces);
        CHECK(whole.out.n == pieces.out.n &&
              !memcmp(whole.out.p, pieces.out.p, whole.out.n));
        buf_release(&pieces.out);
    }
    check_broken(&how, in, status * in.n / 256);
    buf_release(&whole.out);
    return 0;
}
