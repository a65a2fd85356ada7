/* SPDX-License-Identifier: MIT */
/*
 * calls_memory_test.c -- events, requests and replies without memory: whichever
 * allocation fails, once or from then on, the call says so, or does the same; and nothing
 * of a secret is written.
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calls/answer.h"
#include "calls/talk.h"
#include "calls/veil.h"
#include "support/alloc_faults.h"
#include "support/text_view.h"

/* What comes out; no memory of ours is needed for it. */
struct out {
    char text[16384];
    size_t n;
};

static int
put(struct out *out, struct view v)
{
    assert_true(out->n + v.n < sizeof(out->text));
    if (v.n)
        memcpy(out->text + out->n, v.p, v.n);
    out->n += v.n;
    out->text[out->n] = 0;
    return 0;
}

static int
put_event(void *ctx, const struct turn_event *e)
{
    put(ctx, text_view(turn_type_name(e->type)));
    put(ctx, text_view(" "));
    put(ctx, e->id);
    put(ctx, e->model);
    put(ctx, e->text);
    return put(ctx, e->json);
}

/* -- the calls -- */

typedef int (*work_fn)(struct redact *r, struct out *out);

#define DELTA(index, text) \
    "data: {\"index\":" index ",\"delta\":{\"text\":\"" text "\"}}\n\n"

static int
write_event(void *ctx, const struct calls_veiled *v)
{
    return put(ctx, v->bytes);
}

static int
settle(void *ctx, const struct calls_veiled *v)
{
    (void)v;
    return put(ctx, text_view("."));
}

static int
veil_events(struct redact *redact, struct out *out)
{
    static const char *const events[] = {
        DELTA("0", "pass"),
        DELTA("0", "word = \\\"hun"),
        DELTA("1", "see ghp_"),
        "data: {\"choices\":[{\"delta\":{\"content\":\"-----BEGIN RSA PRIVATE KEY-----"
        "\\nMIIEabcdefgh0123\",\"text\":\"password=hunt\"},\"logprobs\":{\"a\":1}}]}\n\n",
        DELTA("0", "ter2x\\\" and"),
        DELTA("1", " x"),
        DELTA("2", "a \\u00e9 password=hunter2x b"),
        DELTA("3", "password=hunter2x"),
        DELTA("4", "password=hunter2x"),
        DELTA("5", "password=hunter2x"),
        DELTA("0", " more"),
        "data: password=hunter2x\n\n",
        DELTA("6", "say sesame-open"),
    };
    const struct calls_veil_to to = { write_event, settle, out };
    const struct calls_header key = { text_view("x-api-key"), text_view("sesame-open") };
    struct calls_mask mask = { .redact = redact };
    struct calls_veil *v;
    int r = calls_veil_new(&v, &mask);
    if (r < 0)
        return r;
    calls_mask_learn(&mask, &key);
    r = mask.learnt ? 0 : -ENOMEM;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !r; i++)
        r = calls_veil_event(v, text_view(events[i]), CALLS_SPLIT_WHOLE, i, &to);
    if (!r)
        r = calls_veil_end(v, &to);
    calls_veil_free(v);
    calls_mask_release(&mask);
    return r;
}

static int
hear(void *ctx, const struct turn_event *e)
{
    return calls_talk_heard(ctx, e);
}

static int
talk(struct redact *redact, struct out *out)
{
#define HI "{\"role\":\"user\",\"content\":\"Hi \\u00e9\"}"
#define CALL                                                                           \
    "{\"type\":\"tool_use\",\"id\":\"toolu_0123456789\\u0041\",\"name\":\"B\\u0061\"," \
    "\"input\":{}}"
    static const char *const bodies[] = {
        "{\"model\":\"m\",\"messages\":[" HI "]}",
        "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"Ho\"}," CALL "]}",
        "{\"messages\":[" HI ",{\"role\":\"assistant\",\"content\":[" CALL
        "]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"toolu_0123456789\\u0041\",\"content\":[{\"type\":\"text\",\"text\":\"out\"},{"
        "\"type\":\"image\"}]},{\"type\":\"image\"}]},{\"role\":\"assistant\","
        "\"content\":"
        "\"{\"}]}",
        "{\"model\":\"m\\u0061\",\"tools\":[{}],\"messages\":[{\"role\":\"user\","
        "\"content\":\"New\"}," HI "]}",
    };
    struct calls_talk *t;
    struct turn_reply *reply;
    (void)redact;
    int r = calls_talk_new(&t);
    if (r < 0)
        return r;
    for (size_t i = 0; i < 4 && !r; i++) {
        if (i != 1) {
            r = calls_talk_request(t, TURN_API_ANTHROPIC, text_view(bodies[i]), put_event,
                                   out);
        } else if (!(r = turn_reply_new(&reply, TURN_API_ANTHROPIC))) {
            r = turn_reply_body(reply, text_view(bodies[i]), hear, t);
            turn_reply_free(reply);
        }
    }
    calls_talk_free(t);
    return r;
}

static int
answer(struct redact *redact, struct out *out)
{
    static const struct {
        const char *bytes;
        unsigned status;
        bool is_stream;
    } replies[] = {
        { "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
          "\"text_delta\",\"text\":\"H\\u00e9\"}}\n\n",
          200, true },
        { "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[{\"type\":\"text\","
          "\"text\":"
          "\"H\\u00e9\"}],\"usage\":{\"input_tokens\":1}}",
          200, false },
        { "<html>no</html>", 502, false },
    };
    int r = 0;
    (void)redact;
    for (size_t i = 0; i < 3 && !r; i++) {
        struct calls_answer *a;
        r = calls_answer_new(&a, TURN_API_ANTHROPIC, replies[i].status,
                             replies[i].is_stream);
        if (r < 0)
            return r;
        r = calls_answer_feed(a, text_view(replies[i].bytes), put_event, out);
        if (!r)
            r = calls_answer_end(a, text_view("gone"), put_event, out);
        calls_answer_free(a);
    }
    return r;
}

/* -- the tests -- */

/* Runs with the n-th allocation failing; 0: none does. */
static int
try(work_fn work, struct redact *r, unsigned n, bool is_for_ever, struct out *out)
{
    static const char *const clear[] = { "hun", "ter2x", "MIIE", "sesame" };
    out->n = 0;
    out->text[0] = 0;
    faults = (struct alloc_faults){ true, is_for_ever, 0, n };
    int e = work(r, out);
    faults.is_on = false;
    for (size_t i = 0; i < sizeof(clear) / sizeof(clear[0]); i++)
        assert_null(strstr(out->text, clear[i]));
    return e;
}

static void
fail_each(work_fn work)
{
    static struct out good, out;
    struct redact *r;
    assert_int_equal(redact_open(&r, NULL, NULL), 0);
    assert_int_equal(try(work, r, 0, false, &good), 0);
    redact_close(r);
    assert_int_equal(redact_open(&r, NULL, NULL), 0);
    assert_int_equal(try(work, r, 0, false, &good), 0);
    unsigned allocations = faults.count;
    assert_in_range(allocations, 10, 5000);
    for (unsigned n = 1; n <= allocations; n++)
        for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
            int e = try(work, r, n, is_for_ever, &out);
            if (e)
                assert_int_equal(e, -ENOMEM);
            else if (!strstr(out.text, "[left out"))
                assert_string_equal(out.text, good.text);
        }
    redact_close(r);
}

static void
events_without_memory_leak_nothing(void **state)
{
    (void)state;
    fail_each(veil_events);
}

static void
requests_without_memory_say_so(void **state)
{
    (void)state;
    fail_each(talk);
}

static void
replies_without_memory_say_so(void **state)
{
    (void)state;
    fail_each(answer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_without_memory_leak_nothing),
        cmocka_unit_test(requests_without_memory_say_so),
        cmocka_unit_test(replies_without_memory_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
