/* SPDX-License-Identifier: MIT */
/* reply_anthropic_test.c -- replies of the Messages API, whole, cut anywhere and broken
 * off anywhere; what all APIs share: ceilings, malformed JSON, guesses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/reply_kit.h"
#include "support/text_view.h"
#include "support/turn_kit.h"
#include "turn/reply_priv.h"

#define START                                                                      \
    "{'type':'message_start','message':{'id':'msg_1','type':'message','role':"     \
    "'assistant','model':'claude-x','content':[],'stop_reason':null,'usage':{"     \
    "'input_tokens':25,'cache_creation_input_tokens':10,'cache_read_input_tokens'" \
    ":7,'output_tokens':1}}}\n"
#define START_SHOWN "usage id=msg_1 model=claude-x in=25 out=1 made=10 read=7\n"
#define BLOCK(index, block) \
    "{'type':'content_block_start','index':" index ",'content_block':" block "}\n"
#define DELTA(index, delta) \
    "{'type':'content_block_delta','index':" index ",'delta':" delta "}\n"
#define TEXT(index, text) DELTA(index, "{'type':'text_delta','text':'" text "'}")
#define JSON(index, text) \
    DELTA(index, "{'type':'input_json_delta','partial_json':'" text "'}")
#define STOP(index) "{'type':'content_block_stop','index':" index "}\n"
#define END(stop, out)                                                           \
    "{'type':'message_delta','delta':{'stop_reason':'" stop "','stop_sequence':" \
    "null},'usage':{'output_tokens':" out "}}\n{'type':'message_stop'}\n"
#define END_SHOWN(out) \
    "final usage id=msg_1 model=claude-x in=25 out=" out " made=10 read=7\n"
#define FACTS(stop, out)                                                                 \
    "= anthropic id=msg_1 model=claude-x stop=" stop " in=25 out=" out " made=10 read=7" \
    " final whole\n"
#define LEAST            "= anthropic id=msg_1 model=claude-x in=25 out=1 made=10 read=7"
#define OPEN_TEXT(index) BLOCK(index, "{'type':'text','text':''}")

static void
check(const char *lines, const char *want)
{
    reply_kit_check(TURN_API_ANTHROPIC, lines, want);
}

/* -- what is said -- */

static void
a_text_comes_in_pieces_and_then_whole(void **state)
{
    (void)state;
    check(START OPEN_TEXT("0") "{'type':'ping'}\n" TEXT("0", "Hel")
              TEXT("0", "lo\\n\\u00e9") STOP("0") END("end_turn", "12"),
          START_SHOWN "text partial id=msg_1 \"Hel\"\n"
                      "text partial id=msg_1 \"lo\n\303\251\"\n"
                      "text id=msg_1 \"Hello\n\303\251\"\n" END_SHOWN("12")
                          FACTS("end_turn", "12"));
}

static void
thinking_comes_with_what_proves_it(void **state)
{
    (void)state;
    check(START BLOCK("0", "{'type':'thinking','thinking':'','signature':''}")
              DELTA("0", "{'type':'thinking_delta','thinking':'Hm.'}")
                  DELTA("0", "{'type':'signature_delta','signature':'Eq/B\\n'}") STOP("0")
                      BLOCK("1", "{'type':'redacted_thinking','data':'xyz'}") STOP("1")
                          END("end_turn", "3"),
          START_SHOWN
          "thinking partial id=msg_1 \"Hm.\"\n"
          "thinking id=msg_1 json={\"signature\":\"Eq/B\\n\"} \"Hm.\"\n"
          "thinking id=msg_1 json={\"data\":\"xyz\"} \"(redacted)\"\n" END_SHOWN("3")
              FACTS("end_turn", "3"));
}

static void
a_call_begins_gets_its_arguments_and_is_whole(void **state)
{
    (void)state;
    check(
        START BLOCK("0", "{'type':'tool_use','id':'t1','name':'Bash','input':{}}")
            JSON("0", "") JSON("0", "{\\\"command") JSON("0", "\\\": \\\"ls\\\"}")
                STOP("0") END("tool_use", "9"),
        START_SHOWN
        "tool_call partial id=t1 name=Bash\n"
        "tool_call partial id=t1 json={\"command\n"
        "tool_call partial id=t1 json=\": \"ls\"}\n"
        "tool_call id=t1 message=msg_1 name=Bash json={\"command\": \"ls\"}\n" END_SHOWN(
            "9") FACTS("tool_use", "9"));
}

static void
a_call_without_arguments_has_an_empty_object(void **state)
{
    (void)state;
    check(START BLOCK("0", "{'type':'tool_use','id':'t1','name':'Now','input':{ }}")
              STOP("0") END("tool_use", "9"),
          START_SHOWN "tool_call partial id=t1 name=Now\n"
                      "tool_call id=t1 message=msg_1 name=Now json={}\n" END_SHOWN("9")
                          FACTS("tool_use", "9"));
    check(START BLOCK("0", "{'type':'tool_use','id':'t1','name':'Now','input':{'a':1}}")
              STOP("0") END("tool_use", "9"),
          START_SHOWN
          "tool_call partial id=t1 name=Now\n"
          "tool_call partial id=t1 json={\"a\":1}\n"
          "tool_call id=t1 message=msg_1 name=Now json={\"a\":1}\n" END_SHOWN("9")
              FACTS("tool_use", "9"));
}

static void
arguments_that_are_no_json_are_handed_out_as_they_are(void **state)
{
    (void)state;
    check(START BLOCK("0", "{'type':'tool_use','id':'t1','name':'Bash','input':{}}")
              JSON("0", "{oops") STOP("0") END("max_tokens", "9"),
          START_SHOWN
          "tool_call partial id=t1 name=Bash\n"
          "tool_call partial id=t1 json={oops\n"
          "tool_call id=t1 message=msg_1 name=Bash json={oops\n" END_SHOWN("9")
              FACTS("max_tokens", "9"));
}

static void
what_the_api_calls_itself_has_its_result(void **state)
{
    (void)state;
    check(START BLOCK("0", "{'type':'server_tool_use','id':'s1','name':'web_search',"
                           "'input':{}}") JSON("0", "{}") STOP("0")
              BLOCK("1", "{'type':'web_search_tool_result','tool_use_id':'s1','content':"
                         "[{'url':'u'}]}") STOP("1")
                  BLOCK("2", "{'type':'mcp_tool_use','id':'m1','name':'echo',"
                             "'server_name':'srv','input':{}}") STOP("2")
                      BLOCK("3", "{'type':'mcp_tool_result','tool_use_id':'m1',"
                                 "'is_error':true,'content':'no'}") STOP("3")
                          END("end_turn", "9"),
          START_SHOWN "tool_call partial id=s1 name=web_search\n"
                      "tool_call partial id=s1 json={}\n"
                      "tool_call id=s1 message=msg_1 name=web_search json={}\n"
                      "tool_result id=s1 \"[{\"url\":\"u\"}]\"\n"
                      "tool_call partial id=m1 name=srv.echo\n"
                      "tool_call id=m1 message=msg_1 name=srv.echo json={}\n"
                      "tool_result failed id=m1 \"no\"\n" END_SHOWN("9")
                          FACTS("end_turn", "9"));
}

static void
pieces_of_no_call_make_none(void **state)
{
    (void)state;
#define STRAY "warning \"pieces of a call that has not begun, or has ended, are lost\"\n"
    check(START BLOCK("0", "{'type':'tool_use','id':'t1','name':'A','input':{}}")
              JSON("0", "{}") STOP("0") JSON("0", "late") JSON("3", "") JSON("3", "stray")
                  END("tool_use", "9"),
          START_SHOWN
          "tool_call partial id=t1 name=A\n"
          "tool_call partial id=t1 json={}\n"
          "tool_call id=t1 message=msg_1 name=A json={}\n" STRAY END_SHOWN("9")
              FACTS("tool_use", "9"));
}

static void
blocks_may_go_on_between_each_other(void **state)
{
    (void)state;
    check(START OPEN_TEXT("0")
              BLOCK("1", "{'type':'tool_use','id':'t1','name':'A','input':{}}")
                  BLOCK("2", "{'type':'tool_use','id':'t2','name':'B','input':{}}")
                      JSON("2", "[2") TEXT("0", "a") JSON("1", "[1") JSON("2", "]")
                          STOP("2") TEXT("0", "b") JSON("1", "]") STOP("0") STOP("1")
                              END("tool_use", "5"),
          START_SHOWN "tool_call partial id=t1 name=A\n"
                      "tool_call partial id=t2 name=B\n"
                      "tool_call partial id=t2 json=[2\n"
                      "text partial id=msg_1 \"a\"\n"
                      "tool_call partial id=t1 json=[1\n"
                      "tool_call partial id=t2 json=]\n"
                      "tool_call id=t2 message=msg_1 name=B json=[2]\n"
                      "text partial id=msg_1 \"b\"\n"
                      "tool_call partial id=t1 json=]\n"
                      "text id=msg_1 \"ab\"\n"
                      "tool_call id=t1 message=msg_1 name=A json=[1]\n" END_SHOWN("5")
                          FACTS("tool_use", "5"));
}

static void
deltas_are_read_however_they_are_written(void **state)
{
    (void)state;
    static const char want[] = "text partial \"a\\\"\n"
                               "text cut off \"a\\\"\nusage\n= anthropic\n";
    static const char *const lines[] = {
        "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'"
        "a\\\\'"
        "}}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'"
        "a\\\\'"
        "}          }",
        "{'type': 'content_block_delta', 'index': 0, 'delta': {'text': 'a\\\\', 'type': "
        "'text_delta'}}",
        "{'delta':{'type':'text_delta','text':'a\\u005c'},'index':0,'type':"
        "'content_block_delta'}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'"
        "a\\\\'"
        "},'more':1}",
        "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'"
        "a\\\\'"
        ",'more':[]}}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check(lines[i], want);
}

static void
what_is_not_known_is_ignored(void **state)
{
    (void)state;
    check(START "{'type':'later','x':1}\n" BLOCK("0", "{'type':'later','text':'no'}")
              DELTA("0", "{'type':'later_delta','text':'no'}") STOP("0") OPEN_TEXT("1")
                  TEXT("1", "a")
                      DELTA("1", "{'type':'citations_delta','citation':{'text':'no'}}")
                          JSON("1", "no") STOP("1") STOP("7") END("end_turn", "2"),
          START_SHOWN "text partial id=msg_1 \"a\"\n"
                      "text id=msg_1 \"a\"\n" END_SHOWN("2") FACTS("end_turn", "2"));
}

static void
nothing_counts_behind_the_end(void **state)
{
    (void)state;
    check(START END("end_turn", "2") TEXT("0", "late") START "{oops\n",
          START_SHOWN END_SHOWN("2") FACTS("end_turn", "2"));
}

#define OTHER                                                               \
    "{'type':'message_start','message':{'id':'msg_2','model':'y','usage':{" \
    "'input_tokens':2,'output_tokens':1}}}\n"
#define OTHER_SHOWN "usage id=msg_2 model=y in=2 out=1\n"

static void
another_message_is_told_too(void **state)
{
    (void)state;
    /* … which has nothing of the first, be that whole or not. */
    check(START OPEN_TEXT("0") TEXT("0", "a") STOP("0") END("end_turn", "100")
              OTHER OPEN_TEXT("0") TEXT("0", "b") STOP("0") END("max_tokens", "10"),
          START_SHOWN "text partial id=msg_1 \"a\"\n"
                      "text id=msg_1 \"a\"\n" END_SHOWN("100") OTHER_SHOWN
          "text partial id=msg_2 \"b\"\n"
          "text id=msg_2 \"b\"\n"
          "final usage id=msg_2 model=y in=2 out=10\n"
          "= anthropic id=msg_2 model=y stop=max_tokens in=2 out=10 final"
          " whole\n");
    check(START "{'type':'error','error':{'message':'No'}}\n" OPEN_TEXT("0")
              TEXT("0", "a") OTHER TEXT("0", "b"),
          START_SHOWN "error \"No\"\n"
                      "text partial id=msg_1 \"a\"\n"
                      "text cut off id=msg_1 \"a\"\n" OTHER_SHOWN
                      "text partial id=msg_2 \"b\"\n"
                      "text cut off id=msg_2 \"b\"\n"
                      "= anthropic id=msg_2 model=y in=2 out=1\n");
    /* The same one, told twice, is one. */
    check(START START, START_SHOWN LEAST "\n");
}

/* -- broken off -- */

static void
what_was_never_whole_is_cut_off(void **state)
{
    (void)state;
    check(START OPEN_TEXT("0") TEXT("0", "Hel")
              BLOCK("1", "{'type':'tool_use','id':'t1','name':'Bash','input':{}}")
                  JSON("1", "{\\\"a"),
          START_SHOWN "text partial id=msg_1 \"Hel\"\n"
                      "tool_call partial id=t1 name=Bash\n"
                      "tool_call partial id=t1 json={\"a\n"
                      "text cut off id=msg_1 \"Hel\"\n"
                      "tool_call cut off id=t1 message=msg_1 name=Bash json={\"a\n" LEAST
                      "\n");
    /* A block that begins where another stands ends that. */
    check(START OPEN_TEXT("0") TEXT("0", "a") OPEN_TEXT("0") TEXT("0", "b") STOP("0"),
          START_SHOWN "text partial id=msg_1 \"a\"\n"
                      "text cut off id=msg_1 \"a\"\n"
                      "text partial id=msg_1 \"b\"\n"
                      "text id=msg_1 \"b\"\n" LEAST "\n");
}

static void
an_error_may_come_in_the_middle(void **state)
{
    (void)state;
    check(START OPEN_TEXT("0")
              TEXT("0", "a") "{'type':'error','error':{'type':'overloaded_error','"
                             "message':'Overloaded'}}",
          START_SHOWN "text partial id=msg_1 \"a\"\n"
                      "error name=overloaded_error \"Overloaded\"\n"
                      "text cut off id=msg_1 \"a\"\n" LEAST " failed\n");
    check("{'type':'error','error':{'type':'api_error'}}",
          "error name=api_error \"{\"type\":\"api_error\"}\"\n= anthropic failed\n");
    /* Of a gateway, which does not say that it is one. */
    check(START "{'error':{'type':'overloaded_error','message':'Overloaded'}}\n"
                "{'type':'later','error':null}\n",
          START_SHOWN "error name=overloaded_error \"Overloaded\"\n" LEAST " failed\n");
}

static void
malformed_json_costs_itself(void **state)
{
    (void)state;
    check(START OPEN_TEXT("0")
              TEXT("0", "a") "{'type':'content_block_delta','index':0\n" TEXT("0", "b")
                  STOP("0") END("end_turn", "2"),
          START_SHOWN "text partial id=msg_1 \"a\"\n"
                      "warning \"malformed JSON: {\"type\":\"content_block_delta\","
                      "\"index\":0\"\n"
                      "text partial id=msg_1 \"b\"\n"
                      "text id=msg_1 \"ab\"\n" END_SHOWN("2") FACTS("end_turn", "2"));
}

/* -- usage -- */

static void
the_larger_value_counts(void **state)
{
    (void)state;
    check(START "{'type':'message_delta','delta':{'stop_reason':null},'usage':{"
                "'output_tokens':5}}\n"
                "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{"
                "'input_tokens':30,'output_tokens':4,'cache_read_input_tokens':0}}\n",
          START_SHOWN
          "usage id=msg_1 model=claude-x in=25 out=5 made=10 read=7\n"
          "final usage id=msg_1 model=claude-x in=30 out=5 made=10 read=7\n"
          "= anthropic id=msg_1 model=claude-x stop=end_turn in=30 out=5 made=10"
          " read=7 final\n");
}

static void
numbers_that_are_none_are_not_known(void **state)
{
    (void)state;
    check("{'type':'message_start','message':{'id':'m','usage':{'input_tokens':-1,"
          "'output_tokens':'7','cache_read_input_tokens':1.5,"
          "'cache_creation_input_tokens':99999999999999999999999}}}\n"
          "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{"
          "'input_tokens':18446744073709551614,'output_tokens':null}}\n",
          "= anthropic id=m stop=end_turn\n");
    check("{'type':'message_start','message':{'id':'m','usage':[]}}\n"
          "{'type':'message_delta','delta':'x','usage':7}\n",
          "= anthropic id=m\n");
}

static void
a_message_without_an_id_tells_its_usage_once(void **state)
{
    (void)state;
    check("{'type':'message_start','message':{'usage':{'input_tokens':3,'output_tokens':"
          "1}}}\n"
          "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{"
          "'output_tokens':4}}\n{'type':'message_stop'}\n",
          "final usage in=3 out=4\n"
          "= anthropic stop=end_turn in=3 out=4 final whole\n");
    check("{'type':'message_start','message':{'usage':{'input_tokens':3,'output_tokens':"
          "1}}}\n",
          "usage in=3 out=1\n= anthropic in=3 out=1\n");
}

static void
raw_usage_is(const char *lines, const char *want)
{
    AUTO(buf) bytes = { 0 };
    AUTO(buf) raw = { 0 };
    AUTO(buf) shown = { 0 };
    struct turn_reply *r;
    assert_int_equal(turn_reply_new(&r, TURN_API_AUTO), 0);
    reply_kit_events(lines, &bytes);
    struct view stream = { bytes.p, bytes.n };
    assert_int_equal(turn_reply_feed(r, stream, turn_kit_write, &shown), 0);
    struct view told = turn_reply_facts(r).raw_usage;
    buf_append(&raw, told.p, told.n);
    assert_string_equal(buf_str(&raw), want);
    turn_reply_free(r);
}

static void
usage_is_there_in_the_words_of_the_api(void **state)
{
    (void)state;
    raw_usage_is("{'type':'message_start','message':{'id':'m'}}\n", "");
    raw_usage_is(
        "{'type':'message_start','message':{'usage':{'input_tokens':3, 'service_tier':"
        "'standard','cache_creation':{'ephemeral_5m_input_tokens':2},'output_tokens':1}}}"
        "\n{'type':'message_delta','delta':{},'usage':{'output_tokens':12,"
        "'service_tier':null,'server_tool_use':{'web_search_requests':1}}}\n",
        "{\"input_tokens\":3,\"service_tier\":\"standard\",\"cache_creation\":{"
        "\"ephemeral_5m_input_tokens\":2},\"output_tokens\":12,\"server_tool_use\":{"
        "\"web_search_requests\":1}}");
    raw_usage_is("{'choices':[],'usage':{}}\n{'choices':[],'usage':{'a':[1,{'b':2}]}}\n"
                 "{'choices':[],'usage':null}\n{'choices':[],'usage':[7]}\n",
                 "{\"a\":[1,{\"b\":2}]}");
    raw_usage_is("{'type':'response.completed','response':{'usage':{'x':1}}}\n",
                 "{\"x\":1}");
}

static void
raw_usage_has_a_ceiling(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    static const char head[] = "{'choices':[],'usage':{'a':1";
    buf_printf(&lines, "%s}}\n%s,'b':'%05000u'}}\n", head, head, 1U);
    raw_usage_is(buf_str(&lines), "{\"a\":1}");
    buf_clear(&lines);
    for (int i = 0; i < 100; i++)
        buf_printf(&lines, "{'choices':[],'usage':{'a%d':1%0499d}}\n", i, 7);
    AUTO(buf) last = { 0 };
    buf_printf(&last, "{\"a%d\":1%0499d", 96, 7);
    for (int i = 97; i < 100; i++)
        buf_printf(&last, ",\"a%d\":1%0499d", i, 7);
    buf_puts(&last, "}");
    raw_usage_is(buf_str(&lines), buf_str(&last));
}

/* Or each event of a stream would cost by the square of them. */
static void
raw_usage_of_many_members_is_not_merged(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    AUTO(buf) all = { 0 };
    buf_puts(&lines, "{'choices':[],'usage':{");
    buf_puts(&all, "{");
    for (int i = 0; i < TURN_REPLY_USAGE_MEMBERS; i++) {
        buf_printf(&lines, "%s'a%d':1", i ? "," : "", i);
        buf_printf(&all, "%s\"a%d\":1", i ? "," : "", i);
    }
    size_t so_far = lines.n;
    buf_puts(&lines, "}}\n{'choices':[],'usage':{'b':2}}\n");
    buf_puts(&all, ",\"b\":2}");
    raw_usage_is(buf_str(&lines), buf_str(&all));
    /* The merged one has too many now. */
    buf_puts(&lines, "{'choices':[],'usage':{'c':3}}\n");
    raw_usage_is(buf_str(&lines), "{\"c\":3}");
    lines.n = so_far;
    buf_puts(&lines, ",'b':2}}\n{'choices':[],'usage':{'c':3}}\n");
    raw_usage_is(buf_str(&lines), "{\"c\":3}");
}

/* -- in one piece -- */

static void
a_message_in_one_piece_has_no_pieces(void **state)
{
    (void)state;
    reply_kit_check_body(
        TURN_API_ANTHROPIC,
        "{'id':'msg_1','type':'message','role':'assistant','model':'m','content':[{'type'"
        ":"
        "'thinking','thinking':'Hm.','signature':'S'},{'type':'text','text':'Hi\\n'},{"
        "'type':'tool_use','id':'t1','name':'Bash','input':{'command':'ls'}},{'type':"
        "'tool_use','id':'t2','name':'Now','input':{}}],'stop_reason':'tool_use','usage':"
        "{'input_tokens':3,'output_tokens':4}}",
        "usage id=msg_1 model=m in=3 out=4\n"
        "thinking id=msg_1 json={\"signature\":\"S\"} \"Hm.\"\n"
        "text id=msg_1 \"Hi\n\"\n"
        "tool_call id=t1 message=msg_1 name=Bash json={\"command\":\"ls\"}\n"
        "tool_call id=t2 message=msg_1 name=Now json={}\n"
        "final usage id=msg_1 model=m in=3 out=4\n"
        "= anthropic id=msg_1 model=m stop=tool_use in=3 out=4 final whole\n");
}

static void
an_error_in_one_piece_is_told(void **state)
{
    (void)state;
    reply_kit_check_body(
        TURN_API_ANTHROPIC,
        "{'type':'error','error':{'type':'rate_limit_error','message':"
        "'Slow down'},'request_id':'r'}",
        "error name=rate_limit_error \"Slow down\"\n= anthropic failed\n");
    AUTO(buf) out = { 0 };
    reply_kit_body(TURN_API_ANTHROPIC,
                   text_view("{\"error\":{\"type\":\"x\",\"message\":\"No\"}}"), &out);
    assert_string_equal(buf_str(&out), "error name=x \"No\"\n= anthropic failed\n");
    buf_clear(&out);
    reply_kit_body(TURN_API_AUTO, text_view("{\"error\":\"no such model\"}"), &out);
    reply_kit_body(TURN_API_ANTHROPIC, text_view("<html>502"), &out);
    reply_kit_body(TURN_API_ANTHROPIC, text_view("{}"), &out);
    assert_string_equal(buf_str(&out), "error \"no such model\"\n= auto failed\n"
                                       "warning \"malformed JSON: <html>502\"\n"
                                       "= anthropic\n= anthropic\n");
}

static void
a_body_that_is_no_reply_is_nothing(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "",
        " \r\n",
        "<html>502",
        "[1]",
        "{\"object\":\"list\",\"data\":[{\"embedding\":[0.1]}],\"usage\":{}}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        AUTO(buf) out = { 0 };
        reply_kit_body(TURN_API_AUTO, text_view(bodies[i]), &out);
        assert_string_equal(buf_str(&out), "= auto\n");
    }
    for (enum turn_api api = TURN_API_ANTHROPIC; api <= TURN_API_OPENAI_RESPONSES;
         api++) {
        AUTO(buf) out = { 0 };
        reply_kit_body(api, text_view(""), &out);
        reply_kit_body(api, text_view("\n"), &out);
        assert_null(strstr(buf_str(&out), "warning"));
    }
}

/* -- what all APIs share -- */

static void
apis_are_guessed_by_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        enum turn_api want;
    } cases[] = {
        { "{\"type\":\"ping\"}", TURN_API_ANTHROPIC },
        { "{\"type\":\"message_start\",\"message\":{}}", TURN_API_ANTHROPIC },
        { "{\"type\":\"message\",\"content\":[]}", TURN_API_ANTHROPIC },
        { "{\"type\":\"error\",\"error\":{}}", TURN_API_ANTHROPIC },
        { "[DONE]", TURN_API_OPENAI_CHAT },
        { "{\"object\":\"chat.completion.chunk\"}", TURN_API_OPENAI_CHAT },
        { "{\"id\":\"x\",\"choices\":[]}", TURN_API_OPENAI_CHAT },
        { "{\"type\":\"response.created\"}", TURN_API_OPENAI_RESPONSES },
        { "{\"object\":\"response\"}", TURN_API_OPENAI_RESPONSES },
        { "{\"type\":\"error\",\"code\":\"x\"}", TURN_API_OPENAI_RESPONSES },
        { "{\"error\":{\"message\":\"x\"}}", TURN_API_AUTO },
        { "{\"type\":\"message_start\"", TURN_API_AUTO },
        { "", TURN_API_AUTO },
        { "[]", TURN_API_AUTO },
        { "{}", TURN_API_AUTO },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(turn_api_guess(text_view(""), text_view(cases[i].data)),
                         cases[i].want);
}

static struct turn_reply *
limited(size_t max)
{
    struct turn_reply *r;
    assert_int_equal(turn_reply_new(&r, TURN_API_ANTHROPIC), 0);
    r->max = max;
    return r;
}

static void
feed(struct turn_reply *r, const char *lines, struct buf *out)
{
    AUTO(buf) bytes = { 0 };
    reply_kit_events(lines, &bytes);
    assert_int_equal(
        turn_reply_feed(r, (struct view){ bytes.p, bytes.n }, turn_kit_write, out), 0);
}

static void
what_is_over_the_ceiling_is_cut_off(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_reply *r = limited(140);
    feed(r, BLOCK("1", "{'type':'tool_use','id':'t','name':'N','input':{}}"), &out);
    feed(r, JSON("1", "[0123456789"), &out);
    for (int i = 0; i < 2; i++)
        feed(r, TEXT("0", "01234567890123456789012345678901234567890123456789"), &out);
    buf_clear(&out);
    feed(r, TEXT("0", "01234567890123456789012345678901234567890123456789"), &out);
    feed(r, JSON("1", "]"), &out);
    feed(r, STOP("1") STOP("0"), &out);
    assert_string_equal(
        buf_str(&out),
        "tool_call cut off id=t name=N json=[0123456789\n"
        "text cut off "
        "\"012345678901234567890123456789012345678901234567890123456789012345678901234567"
        "8901234567890123456789\"\n"
        "text partial \"01234567890123456789012345678901234567890123456789\"\n"
        "text \"01234567890123456789012345678901234567890123456789\"\n");
    turn_reply_free(r);
}

static void
what_proves_thoughts_counts_too(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_reply *r = limited(150);
#define PROOF "01234567890123456789012345678901234567890123456789"
#define PROVEN(index, proof) \
    DELTA(index, "{'type':'signature_delta','signature':'" proof "'}")
    feed(r, DELTA("0", "{'type':'thinking_delta','thinking':'Hm'}") PROVEN("0", PROOF),
         &out);
    feed(r, PROVEN("0", PROOF), &out); /* in place of the other */
    feed(r, DELTA("1", "{'type':'thinking_delta','thinking':'So'}") PROVEN("1", PROOF),
         &out);
    assert_int_equal(r->held, 2 * (2 + 52));
    buf_clear(&out);
    feed(r, DELTA("2", "{'type':'thinking_delta','thinking':'Ah'}") PROVEN("2", PROOF),
         &out);
    assert_int_equal(r->held, 52);
    feed(r, STOP("0") STOP("1") STOP("2"), &out);
    assert_int_equal(r->held, 0);
    assert_string_equal(buf_str(&out),
                        "thinking partial \"Ah\"\n"
                        "thinking cut off json={\"signature\":\"" PROOF "\"} \"Hm\"\n"
                        "thinking cut off json={\"signature\":\"" PROOF "\"} \"So\"\n"
                        "thinking cut off \"Ah\"\n"
                        "thinking json={\"signature\":\"" PROOF "\"}\n");
    turn_reply_free(r);
}

static void
an_event_over_the_ceiling_costs_itself(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_reply *r = limited(110);
    feed(r,
         TEXT("0",
              "0123456789012345678901234567890123456789012345678901234567890123456789")
             TEXT("0", "a") STOP("0"),
         &out);
    assert_string_equal(buf_str(&out),
                        "warning \"an event of the stream is too long, and lost\"\n"
                        "text partial \"a\"\ntext \"a\"\n");
    turn_reply_free(r);
    r = limited(10);
    buf_clear(&out);
    assert_int_equal(
        turn_reply_body(r, text_view("{\"a\":123456}"), turn_kit_write, &out), 0);
    assert_string_equal(buf_str(&out), "warning \"the reply is too long, and lost\"\n");
    turn_reply_free(r);
}

static void
too_many_blocks_are_told_once(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_reply *r = limited(TURN_REPLY_MAX);
    for (int i = 0; i < TURN_REPLY_BLOCKS + 3; i++) {
        char line[128];
        snprintf(line, sizeof(line),
                 "{'type':'content_block_delta','index':%d,'delta':{'type':'text_delta',"
                 "'text':'a'}}\n",
                 i);
        buf_clear(&out);
        feed(r, line, &out);
        assert_string_equal(buf_str(&out),
                            i < TURN_REPLY_BLOCKS ? "text partial \"a\"\n"
                            : i == TURN_REPLY_BLOCKS
                                ? "warning \"too many parts at once, some are lost\"\n"
                                : "");
    }
    turn_reply_free(r);
}

static int
swallow(void *ctx, const struct turn_event *e)
{
    (void)e;
    ++*(int *)ctx;
    return 0;
}

static void
memory_is_bounded_whatever_comes(void **state)
{
    (void)state;
    enum { MAX = 1 << 20 };
    struct turn_reply *r = limited(MAX);
    AUTO(buf) bytes = { 0 };
    int calls = 0;
    for (unsigned i = 0; i < 400; i++)
        buf_printf(
            &bytes,
            "data: {\"type\":\"content_block_delta\",\"index\":%u,\"delta\":{\"type\":"
            "\"%s\":\"%0*u\"}}\n\n",
            i % 7, i % 2 ? "text_delta\",\"text" : "input_json_delta\",\"partial_json",
            40000, i);
    size_t before = measure_heap_bytes();
    for (int round = 0; round < 10; round++)
        assert_int_equal(
            turn_reply_feed(r, (struct view){ bytes.p, bytes.n }, swallow, &calls), 0);
    assert_true(measure_heap_bytes() - before < (size_t)4 * MAX);
    assert_true(calls > 500);
    turn_reply_free(r);
}

static void
a_reply_may_have_another_ceiling(void **state)
{
    (void)state;
    static const size_t maxima[] = { 0, SIZE_MAX, 128 << 10 };
    static const size_t want[] = { TURN_REPLY_MAX_LEAST, SIZE_MAX, 128 << 10 };
    AUTO(buf) text = { 0 };
    buf_printf(&text,
               "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
               "\"type\":\"text_delta\",\"text\":\"\\n%060000u\"}}\n\n",
               7U);
    for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
        AUTO(buf) out = { 0 };
        struct turn_reply *r = limited(TURN_REPLY_MAX);
        turn_reply_set_max(r, maxima[i]);
        for (int n = 0; n < 4; n++)
            assert_int_equal(
                turn_reply_feed(r, (struct view){ text.p, text.n }, turn_kit_write, &out),
                0);
        size_t cuts = 0;
        for (const char *p = buf_str(&out); (p = strstr(p, "cut off")); p++)
            cuts++;
        assert_int_equal(cuts, 3 / (want[i] / 60000));
        assert_true(r->held <= want[i]);
        turn_reply_free(r);
    }
}

static void
signatures_are_bounded_too(void **state)
{
    (void)state;
    enum { MAX = 1 << 20 };
    struct turn_reply *r = limited(MAX);
    AUTO(buf) bytes = { 0 };
    int calls = 0;
    size_t before = measure_heap_bytes();
    for (unsigned i = 0; i < TURN_REPLY_BLOCKS; i++) {
        buf_clear(&bytes);
        buf_printf(&bytes,
                   "data: {\"type\":\"content_block_start\",\"index\":%u,"
                   "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"a\","
                   "\"signature\":\"%0*u\"}}\n\n",
                   i, MAX / 2, i);
        assert_int_equal(
            turn_reply_feed(r, (struct view){ bytes.p, bytes.n }, swallow, &calls), 0);
    }
    assert_true(measure_heap_bytes() - before < (size_t)6 * MAX);
    turn_reply_free(r);
}

static int
refuse(void *ctx, const struct turn_event *e)
{
    (void)ctx;
    (void)e;
    return -EIO;
}

static void
an_error_of_the_reader_ends_the_reading(void **state)
{
    (void)state;
    struct turn_reply *r = limited(TURN_REPLY_MAX);
    AUTO(buf) bytes = { 0 };
    reply_kit_events(TEXT("0", "a") TEXT("0", "b"), &bytes);
    assert_int_equal(turn_reply_feed(r, (struct view){ bytes.p, bytes.n }, refuse, NULL),
                     -EIO);
    turn_reply_free(r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_comes_in_pieces_and_then_whole),
        cmocka_unit_test(thinking_comes_with_what_proves_it),
        cmocka_unit_test(a_call_begins_gets_its_arguments_and_is_whole),
        cmocka_unit_test(a_call_without_arguments_has_an_empty_object),
        cmocka_unit_test(arguments_that_are_no_json_are_handed_out_as_they_are),
        cmocka_unit_test(what_the_api_calls_itself_has_its_result),
        cmocka_unit_test(pieces_of_no_call_make_none),
        cmocka_unit_test(blocks_may_go_on_between_each_other),
        cmocka_unit_test(deltas_are_read_however_they_are_written),
        cmocka_unit_test(what_is_not_known_is_ignored),
        cmocka_unit_test(nothing_counts_behind_the_end),
        cmocka_unit_test(another_message_is_told_too),
        cmocka_unit_test(what_was_never_whole_is_cut_off),
        cmocka_unit_test(an_error_may_come_in_the_middle),
        cmocka_unit_test(malformed_json_costs_itself),
        cmocka_unit_test(the_larger_value_counts),
        cmocka_unit_test(numbers_that_are_none_are_not_known),
        cmocka_unit_test(a_message_without_an_id_tells_its_usage_once),
        cmocka_unit_test(usage_is_there_in_the_words_of_the_api),
        cmocka_unit_test(raw_usage_has_a_ceiling),
        cmocka_unit_test(raw_usage_of_many_members_is_not_merged),
        cmocka_unit_test(a_message_in_one_piece_has_no_pieces),
        cmocka_unit_test(an_error_in_one_piece_is_told),
        cmocka_unit_test(a_body_that_is_no_reply_is_nothing),
        cmocka_unit_test(apis_are_guessed_by_what_they_say),
        cmocka_unit_test(what_is_over_the_ceiling_is_cut_off),
        cmocka_unit_test(what_proves_thoughts_counts_too),
        cmocka_unit_test(an_event_over_the_ceiling_costs_itself),
        cmocka_unit_test(too_many_blocks_are_told_once),
        cmocka_unit_test(memory_is_bounded_whatever_comes),
        cmocka_unit_test(a_reply_may_have_another_ceiling),
        cmocka_unit_test(signatures_are_bounded_too),
        cmocka_unit_test(an_error_of_the_reader_ends_the_reading),
    };
    return cmocka_run_group_tests_name("reply_anthropic", tests, NULL, NULL);
}
