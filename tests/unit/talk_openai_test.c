/* SPDX-License-Identifier: MIT */
/* talk_openai_test.c -- conversations as agents send them to the Chat Completions and the
 * Responses API, and what is new in each request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/talk_kit.h"
#include "support/text_view.h"

#define MODEL           "session model=m\n"
#define SAYS_USER(text) "text user \"" text "\"\n"
#define SAYS(text)      "text \"" text "\"\n"

/* -- chat completions -- */

#define ASK(messages)                                                          \
    "{'model':'m','tools':[{'type':'function'}],'messages':[{'role':'system'," \
    "'content':'Be good.'}," messages "]}"
#define U(text) "{'role':'user','content':'" text "'}"
#define A(text) "{'role':'assistant','content':'" text "'}"
#define CALL(id, arguments)                                                            \
    "{'id':'" id "','type':'function','function':{'name':'sh','arguments':'" arguments \
    "'}}"
#define CALLS(calls)     "{'role':'assistant','content':null,'tool_calls':[" calls "]}"
#define RESULT(id, text) "{'role':'tool','tool_call_id':'" id "','content':'" text "'}"
#define REPLY(message)                                                                  \
    "{'object':'chat.completion','id':'c1','model':'m','choices':[{'index':0,'message'" \
    ":" message ",'finish_reason':'stop'}]}"
#define ID "call_0123456789abcdef"

static void
each_message_of_a_chat_is_told_once(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_CHAT);
    talk_kit_ask(&k, ASK("{'role':'developer','content':'Do.'}," U("Look")),
                 MODEL SAYS_USER("Look"));
    talk_kit_hear(&k, REPLY(CALLS(CALL(ID, "{}"))));
    talk_kit_ask(&k, ASK(U("Look") "," CALLS(CALL(ID, "{}")) "," RESULT(ID, "a")),
                 "tool_result id=" ID " \"a\"\n");
    talk_kit_hear(
        &k, REPLY("{'role':'assistant','content':'Yes.','reasoning_content':'Hm'}"));
    talk_kit_ask(&k,
                 ASK(U("Look") "," CALLS(CALL(ID, "{}")) "," RESULT(
                     ID, "a") ",{'role':'assistant','reasoning_content':'Hm','content':'"
                              "Yes.'}," U("So")),
                 SAYS_USER("So"));
    talk_kit_ask(
        &k,
        ASK("{'role':'user','content':[{'type':'text','text':'Look'}]}," CALLS(
            CALL(ID, "{}")) "," RESULT(ID, "a") ",{'role':'assistant','content':[{'type':"
                                                "'text','text':'Yes.'}]}," U("So")),
        "");
    talk_kit_close(&k);
}

static void
contents_of_a_chat_may_be_parts(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_CHAT);
    talk_kit_ask(
        &k,
        ASK("{'role':'user','content':[{'type':'text','text':'See'},{'type':"
            "'image_url','image_url':{'url':'data:'}}]}," CALLS(
                CALL(ID, "{}")) ","
                                "{'role':'tool','tool_call_id':'" ID
                                "','content':[{'type':'text',"
                                "'text':'out'},{'type':'text','text':'put'}]}"),
        MODEL SAYS_USER("See\n[image_url]") "tool_call id=" ID
                                            " name=sh json={}\ntool_result id=" ID
                                            " \"out\nput\"\n");
    talk_kit_close(&k);
}

/* Of servers that have nine letters, or count, or have none at all. */
static void
calls_with_short_ids_are_told_apart(void **state)
{
    static const char *const ids[] = { "D681PevKs", "call_0", "0", "" };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct talk_kit k;
        AUTO(buf) one = { 0 };
        AUTO(buf) two = { 0 };
        AUTO(buf) result = { 0 };
        talk_kit_open(&k, TURN_API_OPENAI_CHAT);
        talk_kit_ask(&k, ASK(U("Look")), MODEL SAYS_USER("Look"));
        buf_printf(&one, REPLY(CALLS(CALL("%s", "ls"))), ids[i]);
        talk_kit_hear(&k, buf_str(&one));
        buf_clear(&one);
        buf_printf(&one, ASK(U("Look") "," CALLS(CALL("%s", "ls")) "," RESULT("%s", "a")),
                   ids[i], ids[i]);
        buf_printf(&result, "tool_result%s%s \"a\"\n", *ids[i] ? " id=" : "", ids[i]);
        talk_kit_ask(&k, buf_str(&one), buf_str(&result));
        /* The same once more. */
        buf_printf(&two, REPLY(CALLS(CALL("%s", "ls"))), ids[i]);
        talk_kit_hear(&k, buf_str(&two));
        buf_clear(&two);
        buf_printf(&two,
                   ASK(U("Look") "," CALLS(CALL("%s", "ls")) "," RESULT(
                       "%s", "a") "," CALLS(CALL("%s", "ls")) "," RESULT("%s", "a")),
                   ids[i], ids[i], ids[i], ids[i]);
        talk_kit_ask(&k, buf_str(&two), buf_str(&result));
        talk_kit_ask(&k, buf_str(&two), "");
        /* That it had the same arguments does not make it the same. */
        buf_clear(&one);
        buf_printf(
            &one,
            ASK(U("Look") ",{'role':'assistant','tool_calls':[{'id':'%s','function':"
                          "{'name':'rm','arguments':'ls'}}]}"),
            ids[i]);
        buf_clear(&result);
        buf_printf(&result, "tool_call%s%s name=rm json=ls\n", *ids[i] ? " id=" : "",
                   ids[i]);
        talk_kit_ask(&k, buf_str(&one), buf_str(&result));
        talk_kit_close(&k);
    }
}

static void
calls_of_other_kinds_are_told(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_CHAT);
    talk_kit_ask(
        &k,
        ASK(CALLS("{'id':'" ID "','type':'custom','custom':{'name':'edit','input':"
                  "'all of it'}}") ","
                                   "{'role':'assistant','content':'','function_call':{'"
                                   "name':'old','"
                                   "arguments':'{}'}},{'role':'function','name':'old','"
                                   "content':'done'}"),
        MODEL "tool_call id=" ID " name=edit json=all of it\n"
              "tool_call name=old json={}\ntool_result \"done\"\n");
    talk_kit_close(&k);
}

static void
results_of_short_ids_that_are_left_out_cost_no_words(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_CHAT);
    talk_kit_ask(
        &k, ASK(U("One") "," CALLS(CALL("1", "ls")) "," RESULT("1", "a") "," U("Two")),
        MODEL SAYS_USER("One") "tool_call id=1 name=sh json=ls\n"
                               "tool_result id=1 \"a\"\n" SAYS_USER("Two"));
    talk_kit_ask(&k, ASK(U("One") "," U("Two") "," A("Yes.") "," U("Three")),
                 SAYS("Yes.") SAYS_USER("Three"));
    talk_kit_close(&k);
}

/* -- responses -- */

#define INPUT(items) \
    "{'model':'m','instructions':'Be good.','tools':[{}],'input':[" items "]}"
#define AFTER(id, items) \
    "{'model':'m','tools':[{}],'previous_response_id':'" id "','input':[" items "]}"
#define SAY(text) "{'role':'user','content':'" text "'}"
#define SAID(text)                                                                  \
    "{'type':'message','role':'assistant','content':[{'type':'output_text','text':" \
    "'" text "'}]}"
#define RUN(id) "{'type':'function_call','call_id':'" id "','name':'sh','arguments':'{}'}"
#define RAN(id, out) \
    "{'type':'function_call_output','call_id':'" id "','output':'" out "'}"
#define RESPONSE(items)                                                                \
    "{'object':'response','id':'r1','model':'m','status':'completed','output':[" items \
    "]}"

static void
each_item_of_a_response_is_told_once(void **state)
{
    (void)state;
    struct talk_kit k;
#define THOUGHT                                                                        \
    "{'type':'reasoning','id':'rs_1','summary':[{'type':'summary_text','text':'Hm'}]," \
    "'encrypted_content':'AAAA'}"
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    talk_kit_ask(&k,
                 INPUT("{'type':'message','role':'developer','content':[]}," SAY("Look")),
                 MODEL SAYS_USER("Look"));
    talk_kit_hear(&k, RESPONSE(THOUGHT "," RUN(ID)));
    talk_kit_ask(&k,
                 INPUT("{'type':'message','role':'developer','content':[]}," SAY(
                     "Look") "," THOUGHT "," RUN(ID) "," RAN(ID, "a")),
                 "tool_result id=" ID " \"a\"\n");
    talk_kit_hear(&k, RESPONSE(SAID("Yes.")));
    talk_kit_ask(
        &k,
        INPUT(SAY("Look") "," RUN(ID) "," RAN(ID, "[left out]") "," SAID(
            "Yes.") ","
                    "{'type':'item_reference','id':'x'},{'type':'message','role':'user',"
                    "'content':[{'type':'input_text','text':'So'},{'type':'input_image'}]"
                    "}"),
        SAYS_USER("So") SAYS_USER("[input_image]"));
    talk_kit_close(&k);
}

static void
an_input_may_be_one_text(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    talk_kit_ask(&k, "{'model':'m','input':'Hi'}", MODEL SAYS_USER("Hi"));
    talk_kit_ask(&k, "{'model':'m','input':'Hi'}", "");
    talk_kit_hear(&k, RESPONSE(SAID("Ho")));
    talk_kit_ask(&k, INPUT(SAY("Hi") "," SAID("Ho") "," SAY("Hi")), SAYS_USER("Hi"));
    talk_kit_ask(&k, "{'model':'m','input':''}", "");
    talk_kit_close(&k);
}

static void
only_what_is_new_may_be_sent(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    talk_kit_ask(&k, INPUT(SAY("continue")), MODEL SAYS_USER("continue"));
    talk_kit_hear(&k, RESPONSE(RUN(ID)));
    talk_kit_ask(&k, AFTER("resp_1", RAN(ID, "a")), "tool_result id=" ID " \"a\"\n");
    talk_kit_hear(&k, RESPONSE(SAID("1")));
    talk_kit_ask(&k, AFTER("resp_2", SAY("continue")), SAYS_USER("continue"));
    talk_kit_ask(&k, AFTER("resp_2", SAY("continue")), "");
    talk_kit_hear(&k, RESPONSE(SAID("2")));
    talk_kit_ask(&k, AFTER("resp_3", SAY("continue")), SAYS_USER("continue"));
    talk_kit_hear(&k, RESPONSE(SAID("3")));
    talk_kit_ask(&k, AFTER("resp_4", SAY("continue") "," SAY("continue")),
                 SAYS_USER("continue") SAYS_USER("continue"));
    talk_kit_ask(&k, "{'model':'m','previous_response_id':'resp_5','input':'continue'}",
                 SAYS_USER("continue"));
    talk_kit_ask(&k, "{'model':'m','previous_response_id':null,'input':'continue'}",
                 SAYS_USER("continue"));
#define BEFORE(id, items) "{'input':[" items "],'previous_response_id':'" id "'}"
#define THREE             SAY("go") "," SAY("on") "," SAY("now")
    talk_kit_ask(&k, BEFORE("resp_6", THREE),
                 SAYS_USER("go") SAYS_USER("on") SAYS_USER("now"));
    talk_kit_ask(&k, BEFORE("resp_7", THREE),
                 SAYS_USER("go") SAYS_USER("on") SAYS_USER("now"));
    talk_kit_close(&k);
}

/* What the API has called itself comes back with its own id. */
static void
calls_of_all_kinds_come_back(void **state)
{
    static const char *const items[] = {
        "{'type':'web_search_call','id':'ws_0123456789abcdef','status':'completed','"
        "action':{"
        "'query':'x'}}",
        "{'type':'local_shell_call','id':'ls_0123456789abcdef','call_id':'" ID
        "','action':{'command':['ls']},'status':'completed'}",
        "{'type':'custom_tool_call','id':'ct_0123456789abcdef','call_id':'" ID
        "','name':'patch','input':'all of it'}",
        "{'type':'file_search_call','id':'fs_0123456789abcdef','queries':['a'],'status':"
        "'completed'}",
        "{'type':'mcp_call','id':'mcp_0123456789abcdef','server_label':'srv','name':'"
        "echo',"
        "'arguments':'{}','output':'hi'}",
        "{'type':'function_call','call_id':'call_1','name':'sh','arguments':'{}'}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        struct talk_kit k;
        AUTO(buf) body = { 0 };
        AUTO(buf) again = { 0 };
        talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
        talk_kit_ask(&k, INPUT(SAY("Look")), MODEL SAYS_USER("Look"));
        buf_printf(&body, RESPONSE("%s"), items[i]);
        talk_kit_hear(&k, buf_str(&body));
        buf_printf(&again, INPUT(SAY("Look") ",%s," SAY("So")), items[i]);
        talk_kit_ask(&k, buf_str(&again), SAYS_USER("So"));
        talk_kit_close(&k);
    }
}

static void
calls_that_nobody_has_heard_are_told(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    talk_kit_ask(
        &k,
        INPUT(RUN("c1") "," RAN(
            "c1",
            "out") ","
                   "{'type':'local_shell_call','call_id':'c2','action':{'command':['ls']}"
                   "},"
                   "{'type':'local_shell_call_output','id':'c2','output':'a'},"
                   "{'type':'custom_tool_call','call_id':'c3','name':'patch','input':'x'}"
                   ","
                   "{'type':'custom_tool_call_output','call_id':'c3','output':[{'type':"
                   "'input_text','text':'done'}]},{'type':'computer_call_output','call_"
                   "id':'c4',"
                   "'output':{'type':'computer_screenshot'}}"),
        MODEL "tool_call id=c1 name=sh json={}\ntool_result id=c1 \"out\"\n"
              "tool_call id=c2 name=local_shell_call json={\"command\":[\"ls\"]}\n"
              "tool_result id=c2 \"a\"\n"
              "tool_call id=c3 name=patch json=x\ntool_result id=c3 \"done\"\n"
              "tool_result id=c4 \"{\"type\":\"computer_screenshot\"}\"\n");
    talk_kit_close(&k);
}

static void
parts_of_what_was_said_come_back(void **state)
{
    (void)state;
    struct talk_kit k;
#define PARTS                                                                            \
    "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'One." \
    "'},"                                                                                \
    "{'type':'output_text','text':'Two.'},{'type':'refusal','refusal':'No.'}]}"
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    talk_kit_ask(&k, INPUT(SAY("Look")), MODEL SAYS_USER("Look"));
    talk_kit_hear(&k, RESPONSE(PARTS));
    talk_kit_ask(&k, INPUT(SAY("Look") "," PARTS "," SAY("So")), SAYS_USER("So"));
    talk_kit_close(&k);
}

static void
items_that_are_odd_tell_nothing(void **state)
{
    static const char *const bodies[] = {
        "{'input':7}",
        "{'input':{}}",
        "{'input':[7,null,'',[],{}]}",
        "{'input':[{'type':'message'},{'type':'message','role':'user','content':[]}]}",
        "{'input':[{'type':'reasoning','summary':[]},{'type':'later'}]}",
        "{'input':'Hi'",
        "{'messages':[" U("Hi") "]}",
    };
    struct talk_kit k;
    (void)state;
    talk_kit_open(&k, TURN_API_OPENAI_RESPONSES);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        talk_kit_ask(&k, bodies[i], "");
    talk_kit_close(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_of_a_chat_is_told_once),
        cmocka_unit_test(contents_of_a_chat_may_be_parts),
        cmocka_unit_test(calls_with_short_ids_are_told_apart),
        cmocka_unit_test(calls_of_other_kinds_are_told),
        cmocka_unit_test(results_of_short_ids_that_are_left_out_cost_no_words),
        cmocka_unit_test(each_item_of_a_response_is_told_once),
        cmocka_unit_test(an_input_may_be_one_text),
        cmocka_unit_test(only_what_is_new_may_be_sent),
        cmocka_unit_test(calls_of_all_kinds_come_back),
        cmocka_unit_test(calls_that_nobody_has_heard_are_told),
        cmocka_unit_test(parts_of_what_was_said_come_back),
        cmocka_unit_test(items_that_are_odd_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
