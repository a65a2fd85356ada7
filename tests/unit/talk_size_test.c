/* SPDX-License-Identifier: MIT */
/* talk_size_test.c -- very many requests, messages and replies; errors; which URL is of
 * which API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "calls/talk.h"
#include "support/measure.h"
#include "support/text_view.h"

/* Events that are told, and whether they are the texts "from", "from + 1", … */
struct counted {
    size_t n, from;
    int error;
};

static int
count(void *ctx, const struct turn_event *e)
{
    struct counted *c = ctx;
    char want[32];
    if (e->type == TURN_SESSION)
        return 0;
    snprintf(want, sizeof(want), "%zu", c->from + c->n++);
    assert_int_equal(e->text.n, strlen(want));
    assert_memory_equal(e->text.p, want, e->text.n);
    return c->error;
}

/* The words of a conversation that begins with a word of its own. */
static void
put_request(struct buf *out, size_t first, size_t from, size_t n)
{
    buf_clear(out);
    buf_puts(out, "{\"model\":\"m\",\"messages\":[");
    if (first)
        buf_printf(out, "{\"role\":\"user\",\"content\":\"%zu\"},", first);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s{\"role\":\"%s\",\"content\":\"%zu\"}", i ? "," : "",
                   i % 2 ? "assistant" : "user", from + i);
    buf_puts(out, "]}");
}

static struct counted
ask(struct calls_talk *t, const struct buf *body, size_t from)
{
    struct counted c = { .from = from };
    assert_int_equal(calls_talk_request(t, TURN_API_ANTHROPIC,
                                        (struct view){ body->p, body->n }, count, &c),
                     0);
    return c;
}

static void
as_many_messages_as_there_are_are_told(void **state)
{
    enum { MESSAGES = 20000 };
    struct calls_talk *t;
    AUTO(buf) body = { 0 };
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    put_request(&body, 0, 100, MESSAGES);
    assert_int_equal(ask(t, &body, 100).n, MESSAGES);
    assert_int_equal(ask(t, &body, 0).n, 0);
    put_request(&body, 0, 100, MESSAGES + 3);
    assert_int_equal(ask(t, &body, 100 + MESSAGES).n, 3);
    /* Half of them, then; and as many others. */
    put_request(&body, 100, 100 + MESSAGES / 2, MESSAGES / 2 + 5);
    assert_int_equal(ask(t, &body, 103 + MESSAGES).n, 2);
    put_request(&body, 100, 50000, MESSAGES);
    assert_int_equal(ask(t, &body, 50000).n, MESSAGES);
    calls_talk_free(t);
}

static void
of_too_many_messages_the_first_are_told(void **state)
{
    enum { MESSAGES = (1 << 17) + 9000 };
    struct calls_talk *t;
    AUTO(buf) body = { 0 };
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    put_request(&body, 0, 1, MESSAGES);
    assert_int_equal(ask(t, &body, 1).n, 1 << 17);
    assert_int_equal(ask(t, &body, 0).n, 0);
    calls_talk_free(t);
}

static void
memory_is_bounded(void **state)
{
    enum { REQUESTS = 10000, MOST = 4 << 20 };
    struct calls_talk *t;
    size_t before = measure_heap_bytes();
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    for (size_t i = 0; i < REQUESTS; i++) {
        AUTO(buf) body = { 0 };
        size_t grown = i % 20;
        put_request(&body, 0, 1000 + i / 20 * 50, 2 * grown + 1);
        size_t n = ask(t, &body, 1000 + i / 20 * 50 + (grown ? 2 * grown - 1 : 0)).n;
        assert_int_equal(n, grown ? 2 : 1);
        if (i % 1000 == 999)
            assert_true(measure_heap_bytes() - body.cap - before < MOST);
    }
    calls_talk_free(t);
}

static void
a_thousand_conversations_at_a_time_are_each_told_once(void **state)
{
    enum { TALKS = 1000, TURNS = 4 };
    struct calls_talk *t;
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    for (size_t turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < TALKS; i++) {
            AUTO(buf) body = { 0 };
            size_t first = 1000 + i * 100, known = turn ? 2 * turn - 1 : 0;
            put_request(&body, 0, first, 2 * turn + 1);
            assert_int_equal(ask(t, &body, first + known).n, 2 * turn + 1 - known);
        }
    calls_talk_free(t);
}

static void
the_latest_of_very_many_replies_are_known(void **state)
{
    enum { REPLIES = 400000, MOST = 8 << 20 };
    struct calls_talk *t;
    size_t before = measure_heap_bytes();
    AUTO(buf) body = { 0 };
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    for (size_t i = 0; i < REPLIES; i++) {
        char text[32];
        struct turn_event e = turn_event(TURN_TEXT);
        snprintf(text, sizeof(text), "%zu", i);
        e.text = text_view(text);
        assert_int_equal(calls_talk_heard(t, &e), 0);
    }
    assert_true(measure_heap_bytes() - before < MOST);
    buf_printf(&body,
               "{\"messages\":[{\"role\":\"user\",\"content\":\"7\"},{\"role\":"
               "\"assistant\",\"content\":\"%d\"},{\"role\":\"assistant\",\"content\":"
               "\"%d\"}]}",
               REPLIES - 1, REPLIES - 100000);
    assert_int_equal(ask(t, &body, 7).n, 1);
    calls_talk_free(t);
}

static void
an_error_of_the_one_who_is_told_ends_it(void **state)
{
    struct calls_talk *t;
    struct counted c = { .from = 1, .error = -5 };
    AUTO(buf) body = { 0 };
    (void)state;
    assert_int_equal(calls_talk_new(&t), 0);
    put_request(&body, 0, 1, 9);
    assert_int_equal(calls_talk_request(t, TURN_API_ANTHROPIC,
                                        (struct view){ body.p, body.n }, count, &c),
                     -5);
    assert_int_equal(c.n, 1);
    calls_talk_free(t);
}

static void
the_url_tells_the_api(void **state)
{
    static const struct {
        const char *method, *url;
        enum turn_api api;
    } urls[] = {
        { "POST", "/v1/messages", TURN_API_ANTHROPIC },
        { "POST", "/v1/messages?beta=true", TURN_API_ANTHROPIC },
        { "POST", "/v1/messages/count_tokens?beta=true", TURN_API_AUTO },
        { "POST", "/v1/messages/batches", TURN_API_AUTO },
        { "GET", "/v1/messages", TURN_API_AUTO },
        { "POST", "/v1/chat/completions", TURN_API_OPENAI_CHAT },
        { "POST", "/openai/deployments/x/chat/completions?api-version=1",
          TURN_API_OPENAI_CHAT },
        { "POST", "/v1/responses", TURN_API_OPENAI_RESPONSES },
        { "POST", "/backend-api/codex/responses", TURN_API_OPENAI_RESPONSES },
        { "GET", "/v1/responses/resp_1", TURN_API_AUTO },
        { "POST", "/v1/responses/resp_1/cancel", TURN_API_AUTO },
        { "POST", "/v1/embeddings?x=/v1/messages", TURN_API_AUTO },
        { "POST", "", TURN_API_AUTO },
        { "", "/v1/messages", TURN_API_AUTO },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        assert_int_equal(
            calls_talk_api(text_view(urls[i].method), text_view(urls[i].url)),
            urls[i].api);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_messages_as_there_are_are_told),
        cmocka_unit_test(of_too_many_messages_the_first_are_told),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_thousand_conversations_at_a_time_are_each_told_once),
        cmocka_unit_test(the_latest_of_very_many_replies_are_known),
        cmocka_unit_test(an_error_of_the_one_who_is_told_ends_it),
        cmocka_unit_test(the_url_tells_the_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
