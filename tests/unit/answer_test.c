/* SPDX-License-Identifier: MIT */
/* answer_test.c -- what is told of a call's reply: streams and bodies of each API, errors
 * of all kinds, what is cut off, what is too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "calls/answer.h"
#include "calls/split.h"
#include "support/reply_kit.h"
#include "support/text_view.h"
#include "support/turn_kit.h"

/* -- one reply -- */

struct answer {
    struct calls_answer *answer;
    struct buf told;
    size_t fed;   /* events of a stream, or pieces */
    size_t begun; /* so many were fed when it had begun; 0: it has not */
};

static int
show(void *ctx, const struct turn_event *e)
{
    assert_false(e->is_partial);
    if (e->is_final)
        buf_puts(ctx, "final ");
    return turn_kit_write(ctx, e);
}

static void
begin(struct answer *a, enum turn_api api, unsigned status, bool is_stream)
{
    *a = (struct answer){ 0 };
    assert_int_equal(calls_answer_new(&a->answer, api, status, is_stream), 0);
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static int
feed(void *ctx, struct view bytes)
{
    struct answer *a = ctx;
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    assert_int_equal(
        calls_answer_feed(a->answer, (struct view){ own, bytes.n }, show, &a->told), 0);
    free(own);
    a->fed++;
    if (!a->begun && calls_answer_has_begun(a->answer))
        a->begun = a->fed;
    return 0;
}

static void
put_facts(const struct calls_answer *answer, struct buf *out)
{
    const struct turn_reply_facts f = calls_answer_facts(answer);
    struct turn_usage u = f.usage;
    buf_printf(out, "= %s", turn_api_name(f.api));
    if (f.model.n)
        buf_printf(out, " model=%.*s", (int)f.model.n, (const char *)f.model.p);
    if (f.stop.n)
        buf_printf(out, " stop=%.*s", (int)f.stop.n, (const char *)f.stop.p);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&u, i) != TURN_UNKNOWN)
            buf_printf(out, " %llu", (unsigned long long)*turn_usage_field(&u, i));
    buf_puts(out, f.is_final ? " final\n" : "\n");
}

static void
end(struct answer *a, const char *error, const char *want)
{
    assert_int_equal(calls_answer_end(a->answer, text_view(error), show, &a->told), 0);
    put_facts(a->answer, &a->told);
    assert_string_equal(buf_str(&a->told), want);
    calls_answer_free(a->answer);
    buf_release(&a->told);
}

static int
feed_event(void *ctx, struct view event, enum calls_split_end end)
{
    (void)end;
    return feed(ctx, event);
}

/* Of lines of JSON; whole, byte by byte and event by event. Returns how many events had
 * come when it had begun. */
static size_t
check_stream(enum turn_api api, unsigned status, const char *lines, const char *error,
             const char *want)
{
    struct answer a;
    struct calls_split split = { 0 };
    AUTO(buf) bytes = { 0 };
    reply_kit_events(lines, &bytes);
    begin(&a, api, status, true);
    if (bytes.n)
        feed(&a, (struct view){ bytes.p, bytes.n });
    end(&a, error, want);
    begin(&a, api, status, true);
    for (size_t i = 0; i < bytes.n; i++)
        feed(&a, (struct view){ bytes.p + i, 1 });
    end(&a, error, want);
    begin(&a, api, status, true);
    assert_int_equal(
        calls_split_feed(&split, (struct view){ bytes.p, bytes.n }, feed_event, &a), 0);
    assert_int_equal(calls_split_end(&split, feed_event, &a), 0);
    end(&a, error, want);
    return a.begun;
}

/* With ' for "; in pieces of any size. */
static void
check_body(enum turn_api api, unsigned status, const char *json, const char *error,
           const char *want)
{
    size_t n = strlen(json);
    for (size_t step = n ? n : 1; step; step = step > 7 ? 7 : step - 1) {
        struct answer a;
        AUTO(buf) bytes = { 0 };
        for (size_t i = 0; i < n; i++)
            buf_append(&bytes, json[i] == '\'' ? "\"" : json + i, 1);
        begin(&a, api, status, false);
        for (size_t at = 0; at < n; at += step)
            feed(&a, (struct view){ bytes.p + at, step < n - at ? step : n - at });
        assert_int_equal(a.begun, 0);
        end(&a, error, want);
    }
}

/* -- streams -- */

#define START                                                                      \
    "{'type':'message_start','message':{'id':'msg_1','model':'m','usage':{'input_" \
    "tokens'"                                                                      \
    ":25,'output_tokens':1}}}\n"
#define OPEN                                                                         \
    "{'type':'content_block_start','index':0,'content_block':{'type':'text','text':" \
    "''}}\n{'type':'ping'}\n"
#define SAY(text)                                                                        \
    "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'" text \
    "'}}\n"
#define STOP "{'type':'content_block_stop','index':0}\n"
#define END                                                                        \
    "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_" \
    "tokens'"                                                                      \
    ":12}}\n{'type':'message_stop'}\n"
#define BEGUN "usage id=msg_1 model=m in=25 out=1\n"

static void
a_stream_is_told_in_whole_messages(void **state)
{
    (void)state;
    size_t begun = check_stream(TURN_API_ANTHROPIC, 200,
                                START OPEN SAY("Hel") SAY("lo") STOP END, "",
                                BEGUN "text id=msg_1 \"Hello\"\n"
                                      "final usage id=msg_1 model=m in=25 out=12\n"
                                      "= anthropic model=m stop=end_turn 25 12 final\n");
    assert_int_equal(begun, 4);
}

static void
a_stream_of_chunks_is_told(void **state)
{
    (void)state;
#define CHUNK(delta, more)                                                            \
    "{'object':'chat.completion.chunk','id':'c1','model':'m','choices':[{'index':0,'" \
    "delta':" delta "}]" more "}\n"
    size_t begun = check_stream(
        TURN_API_OPENAI_CHAT, 200,
        CHUNK("{'role':'assistant','content':''}", "") CHUNK("{'content':'Hi'}", "")
            CHUNK("{'tool_calls':[{'index':0,'id':'call_1','function':{'name':'sh','"
                  "arguments':''}}]}",
                  "")
                CHUNK("{'tool_calls':[{'index':0,'function':{'arguments':'{}'}}]}",
                      ",'usage':{'prompt_tokens':3,'completion_tokens':4}") "[DONE]\n",
        "",
        "text id=c1 \"Hi\"\nusage id=c1 model=m out=4\n"
        "tool_call id=call_1 message=c1 name=sh json={}\n"
        "final usage id=c1 model=m in=3 out=4\n"
        "= openai-chat model=m 3 4 final\n");
    assert_int_equal(begun, 2);
}

static void
a_stream_of_a_response_is_told(void **state)
{
    (void)state;
    size_t begun = check_stream(
        TURN_API_OPENAI_RESPONSES, 200,
        "{'type':'response.created','response':{'id':'r1','model':'m'}}\n"
        "{'type':'response.output_item.added','output_index':0,'item':{'type':'message'}}"
        "\n"
        "{'type':'response.output_item.added','output_index':1,'item':{'type':"
        "'function_call','call_id':'call_1','name':'sh'}}\n"
        "{'type':'response.output_text.delta','output_index':0,'content_index':0,'delta':"
        "'Hi'}\n"
        "{'type':'response.output_text.done','output_index':0,'content_index':0,'text':"
        "'Hi'}\n"
        "{'type':'response.function_call_arguments.delta','output_index':1,'delta':'{}'}"
        "\n"
        "{'type':'response.completed','response':{'id':'r1','model':'m','status':"
        "'completed','usage':{'input_tokens':3,'output_tokens':4}}}\n",
        "",
        "text id=r1 \"Hi\"\ntool_call id=call_1 message=r1 name=sh json={}\n"
        "final usage id=r1 model=m in=3 out=4\n"
        "= openai-responses model=m stop=completed 3 4 final\n");
    assert_int_equal(begun, 3);
}

static void
a_stream_that_breaks_off_tells_what_there_was(void **state)
{
    (void)state;
    check_stream(TURN_API_ANTHROPIC, 200, START OPEN SAY("Hel"), "connection reset",
                 BEGUN "text cut off id=msg_1 \"Hel\"\nerror \"connection reset\"\n"
                       "= anthropic model=m 25 1\n");
    check_stream(TURN_API_ANTHROPIC, 200, START OPEN SAY("Hel"), "",
                 BEGUN "text cut off id=msg_1 \"Hel\"\n= anthropic model=m 25 1\n");
    assert_int_equal(check_stream(TURN_API_ANTHROPIC, 200, START, "",
                                  BEGUN "= anthropic model=m 25 1\n"),
                     0);
    check_stream(TURN_API_ANTHROPIC, 200, "", "", "= anthropic\n");
    check_stream(TURN_API_ANTHROPIC, 200, "", "no route to host",
                 "error \"no route to host\"\n= anthropic\n");
}

/* Cut anywhere, it has told the beginning of what it would have. */
static void
a_stream_may_break_off_anywhere(void **state)
{
    AUTO(buf) bytes = { 0 };
    AUTO(buf) all = { 0 };
    struct answer a;
    (void)state;
    reply_kit_events(START OPEN SAY("Hel") SAY("lo") STOP END, &bytes);
    begin(&a, TURN_API_ANTHROPIC, 200, true);
    feed(&a, (struct view){ bytes.p, bytes.n });
    buf_append(&all, a.told.p, a.told.n);
    end(&a, "",
        buf_str(&a.told) ? "" BEGUN "text id=msg_1 \"Hello\"\n"
                           "final usage id=msg_1 model=m in=25 out=12\n"
                           "= anthropic model=m stop=end_turn 25 12 final\n"
                         : "");
    for (size_t n = 0; n <= bytes.n; n++) {
        begin(&a, TURN_API_ANTHROPIC, 200, true);
        feed(&a, (struct view){ bytes.p, n });
        assert_true(a.told.n <= all.n);
        assert_true(!a.told.n || !memcmp(a.told.p, all.p, a.told.n));
        assert_int_equal(calls_answer_end(a.answer, text_view("gone"), show, &a.told), 0);
        assert_non_null(strstr(buf_str(&a.told), "error \"gone\"\n"));
        calls_answer_free(a.answer);
        buf_release(&a.told);
    }
}

static void
an_error_amid_a_stream_is_told_once(void **state)
{
    (void)state;
    check_stream(TURN_API_ANTHROPIC, 200,
                 START OPEN SAY("Hel") "{'type':'error','error':{'type':"
                                       "'overloaded_error','message':'Overloaded'}}\n",
                 "connection reset",
                 BEGUN "error name=overloaded_error \"Overloaded\"\n"
                       "text cut off id=msg_1 \"Hel\"\n= anthropic model=m 25 1\n");
    check_stream(TURN_API_OPENAI_CHAT, 200,
                 "{'error':{'message':'No','type':'server_error','code':500}}\n", "",
                 "error name=server_error \"No\"\n= openai-chat\n");
    check_stream(TURN_API_OPENAI_RESPONSES, 200,
                 "{'type':'response.failed','response':{'id':'r1','model':'m','status':"
                 "'failed','error':{'code':'server_error','message':'No'}}}\n",
                 "",
                 "error name=server_error \"No\"\n"
                 "= openai-responses model=m stop=failed\n");
    check_stream(TURN_API_ANTHROPIC, 529, "", "", "error \"HTTP 529\"\n= anthropic\n");
}

/* -- bodies -- */

#define BODY                                                                             \
    "{'type':'message','id':'msg_1','model':'m','content':[{'type':'text','text':'Hi'}," \
    "{"                                                                                  \
    "'type':'tool_use','id':'t1','name':'Bash','input':{'a':1}}],'stop_reason':'tool_"   \
    "use'"                                                                               \
    ",'usage':{'input_tokens':3,'output_tokens':4}}"

static void
a_body_is_told(void **state)
{
    (void)state;
    check_body(TURN_API_ANTHROPIC, 200, BODY, "",
               "usage id=msg_1 model=m in=3 out=4\ntext id=msg_1 \"Hi\"\n"
               "tool_call id=t1 message=msg_1 name=Bash json={\"a\":1}\n"
               "final usage id=msg_1 model=m in=3 out=4\n"
               "= anthropic model=m stop=tool_use 3 4 final\n");
    check_body(
        TURN_API_OPENAI_CHAT, 200,
        "{'object':'chat.completion','id':'c1','model':'m','choices':[{'index':0,'"
        "message':{'content':'Hi'},'finish_reason':'stop'}],'usage':{'prompt_tokens'"
        ":3,'completion_tokens':4}}",
        "",
        "text id=c1 \"Hi\"\nfinal usage id=c1 model=m in=3 out=4\n"
        "= openai-chat model=m stop=stop 3 4 final\n");
    check_body(
        TURN_API_OPENAI_RESPONSES, 200,
        "{'object':'response','id':'r1','model':'m','status':'completed','output':[{"
        "'type':'message','content':[{'type':'output_text','text':'Hi'}]}],'usage':{"
        "'input_tokens':3,'output_tokens':4}}",
        "",
        "text id=r1 \"Hi\"\nfinal usage id=r1 model=m in=3 out=4\n"
        "= openai-responses model=m stop=completed 3 4 final\n");
}

static void
errors_as_the_apis_have_them_are_told(void **state)
{
    (void)state;
    check_body(TURN_API_ANTHROPIC, 429,
               "{'type':'error','error':{'type':'rate_limit_error','message':'Slowly'}}",
               "", "error name=rate_limit_error \"Slowly\"\n= anthropic\n");
    check_body(
        TURN_API_ANTHROPIC, 529,
        "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}",
        "broken off", "error name=overloaded_error \"Overloaded\"\n= anthropic\n");
    check_body(
        TURN_API_OPENAI_CHAT, 401,
        "{'error':{'message':'Bad key','type':'invalid_request_error','code':'key'}}", "",
        "error name=invalid_request_error \"Bad key\"\n= openai-chat\n");
    check_body(TURN_API_OPENAI_CHAT, 404, "{'error':'model not found'}", "",
               "error \"model not found\"\n= openai-chat\n");
    check_body(TURN_API_OPENAI_RESPONSES, 400,
               "{'error':{'message':'Bad','type':'invalid_request_error'}}", "",
               "error name=invalid_request_error \"Bad\"\n= openai-responses\n");
}

static void
errors_of_what_stands_between_are_told(void **state)
{
    static const enum turn_api apis[] = { TURN_API_ANTHROPIC, TURN_API_OPENAI_CHAT,
                                          TURN_API_OPENAI_RESPONSES };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) page = { 0 };
        AUTO(buf) bare = { 0 };
        AUTO(buf) json = { 0 };
        AUTO(buf) list = { 0 };
        AUTO(buf) gone = { 0 };
        const char *name = turn_api_name(apis[i]);
        buf_printf(&page,
                   "error \"HTTP 502: <html><title>Bad Gateway</title></html>\"\n= %s\n",
                   name);
        check_body(apis[i], 502, "<html><title>Bad Gateway</title></html>\r\n", "",
                   buf_str(&page));
        buf_printf(&bare, "error \"HTTP 502\"\n= %s\n", name);
        check_body(apis[i], 502, "", "", buf_str(&bare));
        check_body(apis[i], 502, "\r\n\r\n", "", buf_str(&bare));
        check_body(apis[i], 502, "", "connection reset", buf_str(&bare));
        buf_printf(&json, "error \"HTTP 404: {\"detail\":\"Not Found\"}\"\n= %s\n", name);
        check_body(apis[i], 404, "{'detail':'Not Found'}", "", buf_str(&json));
        buf_printf(&list, "error \"HTTP 429: [{\"error\":{\"code\":429}}]\"\n= %s\n",
                   name);
        check_body(apis[i], 429, "[{'error':{'code':429}}]", "", buf_str(&list));
        buf_printf(&gone, "error \"cannot connect\"\n= %s\n", name);
        check_body(apis[i], 0, "", "cannot connect", buf_str(&gone));
    }
}

static void
a_long_page_is_cut_between_characters(void **state)
{
    (void)state;
    for (size_t before = 190; before < 202; before++) {
        struct answer a;
        AUTO(buf) page = { 0 };
        AUTO(buf) want = { 0 };
        for (size_t i = 0; i < before; i++)
            buf_puts(&page, "a");
        for (size_t i = 0; i < 20; i++)
            buf_puts(&page, "\xe2\x82\xac");
        size_t n = before < 200 ? before + (200 - before) / 3 * 3 : 200;
        begin(&a, TURN_API_ANTHROPIC, 503, false);
        feed(&a, (struct view){ page.p, page.n });
        buf_printf(&want, "error \"HTTP 503: %.*s\"\n= anthropic\n", (int)n,
                   buf_str(&page));
        end(&a, "", buf_str(&want));
    }
}

static void
a_body_that_is_cut_off_costs_a_warning(void **state)
{
    (void)state;
    check_body(TURN_API_ANTHROPIC, 200, "{'type':'message','content':[", "gone",
               "warning \"malformed JSON: {\"type\":\"message\",\"content\":[\"\n"
               "error \"gone\"\n= anthropic\n");
    check_body(TURN_API_ANTHROPIC, 200, "", "", "= anthropic\n");
    check_body(TURN_API_ANTHROPIC, 200, " \n", "gone", "error \"gone\"\n= anthropic\n");
}

static void
a_body_that_is_too_long_costs_a_warning(void **state)
{
    struct answer a;
    AUTO(buf) piece = { 0 };
    (void)state;
    for (size_t i = 0; i < 1 << 20; i++)
        buf_append(&piece, " ", 1);
    for (size_t fill = CALLS_ANSWER_MAX / piece.n - 1;
         fill < CALLS_ANSWER_MAX / piece.n + 1; fill++) {
        bool is_long = fill * piece.n + strlen(BODY) > CALLS_ANSWER_MAX;
        AUTO(buf) body = { 0 };
        buf_puts(&body, BODY);
        for (size_t i = 0; i < body.n; i++)
            body.p[i] = body.p[i] == '\'' ? '"' : body.p[i];
        begin(&a, TURN_API_ANTHROPIC, 200, false);
        for (size_t i = 0; i < fill; i++)
            feed(&a, (struct view){ piece.p, piece.n });
        feed(&a, (struct view){ body.p, body.n });
        feed(&a, (struct view){ piece.p, 1 });
        end(&a, "",
            is_long ? "warning \"the reply is too long, and lost\"\n= anthropic\n"
                    : "usage id=msg_1 model=m in=3 out=4\ntext id=msg_1 \"Hi\"\n"
                      "tool_call id=t1 message=msg_1 name=Bash json={\"a\":1}\n"
                      "final usage id=msg_1 model=m in=3 out=4\n"
                      "= anthropic model=m stop=tool_use 3 4 final\n");
    }
    begin(&a, TURN_API_ANTHROPIC, 500, false);
    for (size_t i = 0; i < 17; i++)
        feed(&a, (struct view){ piece.p, piece.n });
    end(&a, "", "error \"HTTP 500\"\n= anthropic\n");
}

/* -- calls of no conversation -- */

static void
what_is_no_conversation_says_nothing(void **state)
{
    (void)state;
    check_stream(TURN_API_AUTO, 200, START OPEN SAY("Hello") STOP END, "",
                 "= anthropic model=m stop=end_turn 25 12 final\n");
    check_stream(TURN_API_AUTO, 200, START OPEN SAY("Hello"), "gone",
                 "= anthropic model=m 25 1\n");
    check_body(TURN_API_AUTO, 200, BODY, "",
               "= anthropic model=m stop=tool_use 3 4 final\n");
    check_body(TURN_API_AUTO, 200,
               "{'object':'chat.completion','model':'m','choices':[{'message':{'content':"
               "'x'},'finish_reason':'stop'}],'usage':{'prompt_tokens':3}}",
               "", "= openai-chat model=m stop=stop 3 final\n");
    check_body(TURN_API_AUTO, 404, "<html>", "gone", "= auto\n");
    check_body(TURN_API_AUTO, 500, "{'error':{'message':'No'}}", "", "= auto\n");
    check_body(TURN_API_AUTO, 200, "{'data':[1,2]}", "", "= auto\n");
    check_body(TURN_API_AUTO, 200, "plain text", "", "= auto\n");
}

static int
refuse(void *ctx, const struct turn_event *e)
{
    (void)e;
    return --*(int *)ctx ? 0 : -28;
}

static void
an_error_of_the_one_who_is_told_ends_it(void **state)
{
    AUTO(buf) bytes = { 0 };
    (void)state;
    reply_kit_events(START OPEN SAY("Hel") SAY("lo") STOP OPEN SAY("x"), &bytes);
    for (int at = 1; at <= 4; at++) {
        struct calls_answer *a;
        int left = at;
        assert_int_equal(calls_answer_new(&a, TURN_API_ANTHROPIC, 200, true), 0);
        int r = calls_answer_feed(a, (struct view){ bytes.p, bytes.n }, refuse, &left);
        if (!r)
            r = calls_answer_end(a, text_view("gone"), refuse, &left);
        assert_int_equal(r, -28);
        calls_answer_free(a);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_told_in_whole_messages),
        cmocka_unit_test(a_stream_of_chunks_is_told),
        cmocka_unit_test(a_stream_of_a_response_is_told),
        cmocka_unit_test(a_stream_that_breaks_off_tells_what_there_was),
        cmocka_unit_test(a_stream_may_break_off_anywhere),
        cmocka_unit_test(an_error_amid_a_stream_is_told_once),
        cmocka_unit_test(a_body_is_told),
        cmocka_unit_test(errors_as_the_apis_have_them_are_told),
        cmocka_unit_test(errors_of_what_stands_between_are_told),
        cmocka_unit_test(a_long_page_is_cut_between_characters),
        cmocka_unit_test(a_body_that_is_cut_off_costs_a_warning),
        cmocka_unit_test(a_body_that_is_too_long_costs_a_warning),
        cmocka_unit_test(what_is_no_conversation_says_nothing),
        cmocka_unit_test(an_error_of_the_one_who_is_told_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
