/* SPDX-License-Identifier: MIT */
/* reply_openai_test.c -- replies of the Chat Completions and the Responses API, whole,
 * cut anywhere and broken off anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/reply_kit.h"
#include "turn/reply_priv.h"

static void
check(const char *lines, const char *want)
{
    reply_kit_check(TURN_API_OPENAI_CHAT, lines, want);
}

/* -- chat completions -- */

#define CHUNK(delta, stop, usage)                                                   \
    "{'id':'c1','object':'chat.completion.chunk','created':1,'model':'gpt-x',"      \
    "'choices':[{'index':0,'delta':" delta ",'logprobs':null,'finish_reason':" stop \
    "}],'usage':" usage "}\n"
#define DELTA(delta) CHUNK(delta, "null", "null")
#define STOP(why)    CHUNK("{}", "'" why "'", "null")
#define USAGE                                                                          \
    "{'id':'c1','object':'chat.completion.chunk','model':'gpt-x','choices':[],'usage'" \
    ":{'prompt_tokens':100,'completion_tokens':20,'total_tokens':120,"                 \
    "'prompt_tokens_details':{'cached_tokens':64,'audio_tokens':0}}}\n"
#define DONE        "[DONE]\n"
#define USAGE_SHOWN "final usage id=c1 model=gpt-x in=36 out=20 read=64\n"
#define FACTS(stop) \
    "= openai-chat id=c1 model=gpt-x stop=" stop " in=36 out=20 read=64 final whole\n"
#define CALLS(calls) DELTA("{'tool_calls':[" calls "]}")
#define CUT          "= openai-chat id=c1 model=gpt-x\n"
#define NO_COUNT     "usage id=c1 model=gpt-x\n"

static void
a_text_is_whole_when_it_ends(void **state)
{
    (void)state;
    check(DELTA("{'role':'assistant','content':'','refusal':null}")
              DELTA("{'content':'Hel'}") DELTA("{'content':'lo'}") STOP("stop")
                  USAGE DONE,
          "text partial id=c1 \"Hel\"\n"
          "text partial id=c1 \"lo\"\n"
          "text id=c1 \"Hello\"\n" USAGE_SHOWN FACTS("stop"));
}

static void
a_refusal_is_a_text(void **state)
{
    (void)state;
    check(DELTA("{'refusal':'No'}") DELTA("{'refusal':'.','content':null}") STOP("stop")
              USAGE DONE,
          "text partial id=c1 \"No\"\n"
          "text partial id=c1 \".\"\n"
          "text id=c1 \"No.\"\n" USAGE_SHOWN FACTS("stop"));
}

static void
reasoning_ends_where_the_text_begins(void **state)
{
    (void)state;
    check(DELTA("{'reasoning_content':'Hm','content':null}")
              DELTA("{'reasoning':'.','reasoning_content':'.'}")
                  DELTA("{'reasoning':'!','reasoning_content':null}")
                      DELTA("{'content':'Hi'}") STOP("length") USAGE DONE,
          "thinking partial id=c1 \"Hm\"\n"
          "thinking partial id=c1 \".\"\n"
          "thinking partial id=c1 \"!\"\n"
          "thinking id=c1 \"Hm.!\"\n"
          "text partial id=c1 \"Hi\"\n"
          "text id=c1 \"Hi\"\n" USAGE_SHOWN FACTS("length"));
}

static void
calls_are_told_apart_by_their_index(void **state)
{
    (void)state;
    check(DELTA("{'content':'Now'}") CALLS(
              "{'index':0,'id':'t1','type':'function','function':{'name':'A',"
              "'arguments':''}}") CALLS("{'index':0,'function':{'arguments':'{\\'a'}}")
              CALLS("{'index':1,'id':'t2','function':{'name':'B','arguments':'{'}}")
                  CALLS("{'index':0,'function':{'arguments':'\\':1}'}},"
                        "{'index':1,'function':{'arguments':'}'}}") STOP("tool_calls")
                      USAGE DONE,
          "text partial id=c1 \"Now\"\n"
          "text id=c1 \"Now\"\n"
          "tool_call partial id=t1 name=A\n"
          "tool_call partial id=t1 json={\"a\n"
          "tool_call partial id=t2 name=B\n"
          "tool_call partial id=t2 json={\n"
          "tool_call partial id=t1 json=\":1}\n"
          "tool_call partial id=t2 json=}\n"
          "tool_call id=t1 message=c1 name=A json={\"a\":1}\n"
          "tool_call id=t2 message=c1 name=B json={}\n" USAGE_SHOWN FACTS("tool_calls"));
}

static void
calls_of_other_servers_are_understood(void **state)
{
    (void)state;
    /* Each with the same index, or with none; arguments as an object; a late name. */
    check(CALLS("{'index':0,'id':'t1','function':{'name':'A','arguments':'{}'}}")
              CALLS("{'index':0,'id':'t2','function':{'name':'B','arguments':{'b':[1]}}}")
                  STOP("tool_calls") USAGE DONE,
          "tool_call partial id=t1 name=A\n"
          "tool_call partial id=t1 json={}\n"
          "tool_call partial id=t2 name=B\n"
          "tool_call partial id=t2 json={\"b\":[1]}\n"
          "tool_call id=t1 message=c1 name=A json={}\n"
          "tool_call id=t2 message=c1 name=B json={\"b\":[1]}\n" USAGE_SHOWN FACTS(
              "tool_calls"));
    check(CALLS("{'function':{'name':'A','arguments':'['}}")
              CALLS("{'function':{'arguments':']'}}")
                  CALLS("{'function':{'name':'B','arguments':'{}'}}")
                      CALLS("{'id':'t3','function':{'name':'C'}},{'id':'t3','function':{"
                            "'arguments':'3'}}") STOP("stop") USAGE DONE,
          "tool_call partial name=A\n"
          "tool_call partial json=[\n"
          "tool_call partial json=]\n"
          "tool_call partial name=B\n"
          "tool_call partial json={}\n"
          "tool_call partial id=t3 name=C\n"
          "tool_call partial id=t3 json=3\n"
          "tool_call message=c1 name=A json=[]\n"
          "tool_call message=c1 name=B json={}\n"
          "tool_call id=t3 message=c1 name=C json=3\n" USAGE_SHOWN FACTS("stop"));
    check(CALLS("{'index':2,'function':{'arguments':'{'}}")
              CALLS("{'index':2,'id':'t1','function':{'name':'A','arguments':'}'}}")
                  STOP("stop") USAGE DONE,
          "tool_call partial\n"
          "tool_call partial json={\n"
          "tool_call partial id=t1 json=}\n"
          "tool_call id=t1 message=c1 name=A json={}\n" USAGE_SHOWN FACTS("stop"));
}

static void
calls_of_custom_tools_have_a_text(void **state)
{
    (void)state;
    check(CALLS("{'index':0,'id':'t1','type':'custom','custom':{'name':'sh','input':''}}")
              CALLS("{'index':0,'custom':{'input':'ls '}},{'index':0,'custom':{'input':"
                    "'-l'}}") STOP("tool_calls") USAGE DONE,
          "tool_call partial id=t1 name=sh\n"
          "tool_call partial id=t1 json=ls \n"
          "tool_call partial id=t1 json=-l\n"
          "tool_call id=t1 message=c1 name=sh json=ls -l\n" USAGE_SHOWN FACTS(
              "tool_calls"));
}

static void
a_call_of_the_old_way_is_one(void **state)
{
    (void)state;
    check(DELTA("{'content':null,'function_call':{'name':'A','arguments':'{'}}")
              DELTA("{'function_call':{'name':'A','arguments':'}'}}")
                  DELTA("{'function_call':null}") STOP("function_call") USAGE DONE,
          "tool_call partial name=A\n"
          "tool_call partial json={\n"
          "tool_call partial json=}\n"
          "tool_call message=c1 name=A json={}\n" USAGE_SHOWN FACTS("function_call"));
    /* In both ways at once it is still one. */
    check(DELTA("{'tool_calls':[{'index':0,'id':'t1','function':{'name':'A','arguments':"
                "'{}'}}],'function_call':{'name':'A','arguments':'{}'}}")
              STOP("tool_calls") USAGE DONE,
          "tool_call partial id=t1 name=A\n"
          "tool_call partial id=t1 json={}\n"
          "tool_call id=t1 message=c1 name=A json={}\n" USAGE_SHOWN FACTS("tool_calls"));
}

static void
a_content_may_be_of_parts(void **state)
{
    (void)state;
    check(DELTA("{'content':[{'type':'thinking','thinking':[{'type':'text','text':'Hm'}]"
                "}]}")
              DELTA("{'content':[{'type':'text','text':'Hel'},7,{'type':'text','text':"
                    "'lo'},{'type':'refusal','refusal':'No'}]}") DELTA("{'content':[]}")
                  STOP("stop") USAGE DONE,
          "thinking partial id=c1 \"Hm\"\n"
          "thinking id=c1 \"Hm\"\n"
          "text partial id=c1 \"Hel\"\n"
          "text partial id=c1 \"lo\"\n"
          "text partial id=c1 \"No\"\n"
          "text id=c1 \"HelloNo\"\n" USAGE_SHOWN FACTS("stop"));
    reply_kit_check_body(TURN_API_OPENAI_CHAT,
                         "{'id':'c1','choices':[{'message':{'content':[{'type':'text',"
                         "'text':'Hi'}],'function_call':{'name':'A','arguments':'{}'}},"
                         "'finish_reason':'stop'}],'usage':{'completion_tokens':1}}",
                         "text id=c1 \"Hi\"\n"
                         "tool_call message=c1 name=A json={}\n"
                         "final usage id=c1 out=1\n"
                         "= openai-chat id=c1 stop=stop out=1 final whole\n");
}

static void
only_the_first_choice_counts(void **state)
{
    (void)state;
    check("{'id':'c1','model':'gpt-x','choices':[{'index':1,'delta':{'content':'no'},"
          "'finish_reason':'stop'},{'index':0,'delta':{'content':'yes'},'finish_reason':'"
          "'}]"
          "}\n" STOP("stop") USAGE DONE,
          "text partial id=c1 \"yes\"\n"
          "text id=c1 \"yes\"\n" USAGE_SHOWN FACTS("stop"));
}

static void
a_server_may_count_in_each_chunk(void **state)
{
    (void)state;
#define RUNNING(delta, stop, out) \
    CHUNK(delta, stop, "{'prompt_tokens':9,'completion_tokens':" out "}")
    check(RUNNING("{'content':'a'}", "null", "1") RUNNING("{'content':'b'}", "null", "2")
              RUNNING("{}", "'stop'", "3") DONE,
          "text partial id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x out=1\n"
          "text partial id=c1 \"b\"\n"
          "usage id=c1 model=gpt-x out=2\n"
          "text id=c1 \"ab\"\n"
          "final usage id=c1 model=gpt-x in=9 out=3\n"
          "= openai-chat id=c1 model=gpt-x stop=stop in=9 out=3 final whole\n");
    /* Without a reason to stop the end of the stream says that this was all. */
    check(RUNNING("{'content':'a'}", "null", "1") DONE,
          "text partial id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x out=1\n"
          "text id=c1 \"a\"\n"
          "final usage id=c1 model=gpt-x in=9 out=1\n"
          "= openai-chat id=c1 model=gpt-x in=9 out=1 final whole\n");
}

/* By the user, or by a server that sends no [DONE]. */
static void
what_breaks_off_has_its_input(void **state)
{
    (void)state;
    check(CHUNK("{}", "null",
                "{'prompt_tokens':9,'prompt_tokens_details':{'cached_tokens':4}}"),
          "usage id=c1 model=gpt-x read=4\n"
          "usage id=c1 model=gpt-x in=5 read=4\n"
          "= openai-chat id=c1 model=gpt-x in=5 read=4\n");
    check(RUNNING("{'content':'a'}", "null", "1") RUNNING("{}", "'stop'", "3"),
          "text partial id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x out=1\n"
          "text id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x in=9 out=3\n"
          "= openai-chat id=c1 model=gpt-x stop=stop in=9 out=3\n");
    check("{'choices':[{'delta':{'content':'a'}}],'usage':{'prompt_tokens':9}}\n",
          "text partial \"a\"\ntext cut off \"a\"\nusage in=9\n= openai-chat in=9\n");
    check(RUNNING("{'content':'a'}", "null", "1") "{'error':'Boom'}\n" DONE,
          "text partial id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x out=1\n"
          "error \"Boom\"\n"
          "text cut off id=c1 \"a\"\n"
          "usage id=c1 model=gpt-x in=9 out=1\n"
          "= openai-chat id=c1 model=gpt-x in=9 out=1 whole failed\n");
}

/* Else the 80 would count as input, too. */
static void
what_is_cached_may_be_told_late(void **state)
{
    (void)state;
#define CACHED(stop, out, cached)                                                      \
    CHUNK("{}", stop,                                                                  \
          "{'prompt_tokens':100,'completion_tokens':" out ",'prompt_tokens_details':{" \
          "'cached_tokens':" cached "}}")
    check(CACHED("null", "1", "0") CACHED("null", "2", "80") CACHED("'stop'", "3", "0")
              DONE,
          "usage id=c1 model=gpt-x out=1 read=0\n"
          "usage id=c1 model=gpt-x out=2 read=80\n"
          "final usage id=c1 model=gpt-x in=20 out=3 read=80\n"
          "= openai-chat id=c1 model=gpt-x stop=stop in=20 out=3 read=80 final whole\n");
    /* vLLM tells it only in the last chunk, which has no choices. */
    check(CHUNK("{}", "null", "{'prompt_tokens':100,'completion_tokens':1}")
              CHUNK("{}", "'stop'", "{'prompt_tokens':100,'completion_tokens':20}") USAGE,
          "usage id=c1 model=gpt-x out=1\n" USAGE_SHOWN
          "= openai-chat id=c1 model=gpt-x stop=stop in=36 out=20 read=64 final\n");
    /* Others tell the rest of it with the reason to stop. */
    check(CHUNK("{}", "'stop'", "{'prompt_tokens':100,'completion_tokens':20}")
              USAGE DONE,
          USAGE_SHOWN FACTS("stop"));
}

static void
odd_counts_are_not_known(void **state)
{
    (void)state;
    check(CHUNK("{}", "'stop'",
                "{'prompt_tokens':-3,'completion_tokens':'5','prompt_tokens_details':{"
                "'cached_tokens':1e3}}") DONE,
          "= openai-chat id=c1 model=gpt-x stop=stop whole\n");
    check(CHUNK("{}", "'stop'",
                "{'prompt_tokens':3,'prompt_tokens_details':{'cached_tokens':4}}") DONE,
          "final usage id=c1 model=gpt-x in=3 read=4\n"
          "= openai-chat id=c1 model=gpt-x stop=stop in=3 read=4 final whole\n");
    check(CHUNK("{}", "'stop'", "[]") DONE,
          "= openai-chat id=c1 model=gpt-x stop=stop whole\n");
    check(STOP("stop") DONE, "= openai-chat id=c1 model=gpt-x stop=stop whole\n");
}

static void
a_reply_whose_usage_nobody_tells_is_a_call(void **state)
{
    (void)state;
    check(DELTA("{'content':'a'}") STOP("stop") DONE,
          "text partial id=c1 \"a\"\n"
          "text id=c1 \"a\"\n" NO_COUNT
          "= openai-chat id=c1 model=gpt-x stop=stop whole\n");
    reply_kit_check_body(
        TURN_API_OPENAI_CHAT,
        "{'object':'chat.completion','choices':[{'message':{'content':'a'}}]}",
        "text \"a\"\nusage\n= openai-chat whole\n");
}

static void
a_reply_without_an_id_tells_its_usage_once(void **state)
{
    (void)state;
    check(
        "{'choices':[{'delta':{'content':'a'}}],'usage':{'completion_tokens':1}}\n"
        "{'choices':[{'delta':{},'finish_reason':'stop'}],'usage':{'completion_tokens':2,"
        "'prompt_tokens':3}}\n" DONE,
        "text partial \"a\"\n"
        "text \"a\"\n"
        "final usage in=3 out=2\n"
        "= openai-chat stop=stop in=3 out=2 final whole\n");
}

static void
what_breaks_off_is_cut_off(void **state)
{
    (void)state;
    check(DELTA("{'reasoning':'Hm'}")
              CALLS("{'index':0,'id':'t1','function':{'name':'A','arguments':'{'}}"),
          "thinking partial id=c1 \"Hm\"\n"
          "thinking id=c1 \"Hm\"\n"
          "tool_call partial id=t1 name=A\n"
          "tool_call partial id=t1 json={\n"
          "tool_call cut off id=t1 message=c1 name=A json={\n" NO_COUNT CUT);
    check(DELTA("{'content':'a'}"),
          "text partial id=c1 \"a\"\ntext cut off id=c1 \"a\"\n" NO_COUNT CUT);
}

static void
errors_come_in_many_shapes(void **state)
{
    (void)state;
    check(DELTA("{'content':'a'}") "{'error':{'message':'Boom','type':'server_error','"
                                   "code':500}}\n",
          "text partial id=c1 \"a\"\n"
          "error name=server_error \"Boom\"\n"
          "text cut off id=c1 \"a\"\n" NO_COUNT
          "= openai-chat id=c1 model=gpt-x failed\n");
    check(DELTA("{'content':'a'}") "{'error':'out of memory'}\n" STOP("error") DONE,
          "text partial id=c1 \"a\"\n"
          "error \"out of memory\"\n"
          "text cut off id=c1 \"a\"\n" NO_COUNT
          "= openai-chat id=c1 model=gpt-x stop=error whole failed\n");
    check(DELTA("{}") "{'error':{'code':'gone'}}\n",
          "error name=gone \"{\"code\":\"gone\"}\"\n"
          "= openai-chat id=c1 model=gpt-x failed\n");
    check(DELTA("{}") "{'error':null,'choices':[]}\n", CUT);
}

static void
a_completion_in_one_piece_has_no_pieces(void **state)
{
    (void)state;
    reply_kit_check_body(
        TURN_API_OPENAI_CHAT,
        "{'id':'c1','object':'chat.completion','model':'gpt-x','choices':[{'index':0,"
        "'message':{'role':'assistant','content':'Hi','reasoning':'Hm','tool_calls':[{'"
        "id'"
        ":'t1','type':'function','function':{'name':'A','arguments':'{}'}},{'id':'t2',"
        "'function':{'name':'B','arguments':'oops'}}]},'finish_reason':'tool_calls'}],"
        "'usage':{'prompt_tokens':10,'completion_tokens':2,'prompt_tokens_details':null}"
        "}",
        "thinking id=c1 \"Hm\"\n"
        "text id=c1 \"Hi\"\n"
        "tool_call id=t1 message=c1 name=A json={}\n"
        "tool_call id=t2 message=c1 name=B json=oops\n"
        "final usage id=c1 model=gpt-x in=10 out=2\n"
        "= openai-chat id=c1 model=gpt-x stop=tool_calls in=10 out=2 final whole\n");
    AUTO(buf) out = { 0 };
    static const char error[] = "{\"error\":{\"message\":\"No\",\"type\":\"bad\"}}";
    reply_kit_body(TURN_API_OPENAI_CHAT,
                   (struct view){ (const uint8_t *)error, sizeof(error) - 1 }, &out);
    assert_string_equal(buf_str(&out), "error name=bad \"No\"\n= openai-chat failed\n");
}

/* -- responses -- */

static void
check_responses(const char *lines, const char *want)
{
    reply_kit_check(TURN_API_OPENAI_RESPONSES, lines, want);
}

#define BEGUN                                                                        \
    "{'type':'response.created','sequence_number':0,'response':{'id':'r1','object':" \
    "'response','status':'in_progress','model':'gpt-y','usage':null,'error':null}}\n"
#define ITEM(what, index, item)                                                         \
    "{'type':'response.output_item." what "','output_index':" index ",'item':" item "}" \
    "\n"
#define TOLD(type, index, more) \
    "{'type':'response." type "','item_id':'i','output_index':" index "," more "}\n"
#define ENDED(how, more)                                                              \
    "{'type':'response." how "','response':{'id':'r1','model':'gpt-y','status':'" how \
    "','output':[]," more "'usage':{'input_tokens':50,'input_tokens_details':{"       \
    "'cached_tokens':20},'output_tokens':8,'output_tokens_details':{"                 \
    "'reasoning_tokens':3},'total_tokens':58}}}\n"
#define ENDED_SHOWN "final usage id=r1 model=gpt-y in=30 out=8 read=20\n"
#define R_FACTS(stop)                                                               \
    "= openai-responses id=r1 model=gpt-y stop=" stop " in=30 out=8 read=20 final " \
    "whole\n"

static void
a_response_tells_its_texts(void **state)
{
    (void)state;
    check_responses(
        BEGUN ITEM("added", "0", "{'type':'message','id':'i','content':[]}")
            TOLD("content_part.added", "0", "'content_index':0,'part':{'text':''}")
                TOLD("output_text.delta", "0", "'content_index':0,'delta':'Hel'")
                    TOLD("output_text.delta", "0", "'content_index':0,'delta':'lo'") TOLD(
                        "output_text.done", "0", "'content_index':0,'text':'Hello'")
                        TOLD("refusal.delta", "0", "'content_index':1,'delta':'No'")
                            TOLD("refusal.done", "0", "'content_index':1,'refusal':'No'")
                                ITEM("done", "0",
                                     "{'type':'message','content':[{'text':'x'}]}")
                                    ENDED("completed", ""),
        "text partial id=r1 \"Hel\"\n"
        "text partial id=r1 \"lo\"\n"
        "text id=r1 \"Hello\"\n"
        "text partial id=r1 \"No\"\n"
        "text id=r1 \"No\"\n" ENDED_SHOWN R_FACTS("completed"));
}

static void
a_response_tells_its_reasoning(void **state)
{
    (void)state;
    check_responses(
        BEGUN TOLD("reasoning_summary_text.delta", "0", "'summary_index':0,'delta':'a'")
            TOLD("reasoning_summary_text.done", "0", "'summary_index':0,'text':'a'")
                TOLD("reasoning_summary_text.delta", "0", "'summary_index':1,'delta':'b'")
                    TOLD("reasoning_text.delta", "0", "'content_index':0,'delta':'c'")
                        TOLD("reasoning_text.done", "1", "'content_index':0,'text':'d'")
                            ITEM("done", "0", "{'type':'reasoning','id':'i'}")
                                ENDED("completed", ""),
        "thinking partial id=r1 \"a\"\n"
        "thinking id=r1 \"a\"\n"
        "thinking partial id=r1 \"b\"\n"
        "thinking partial id=r1 \"c\"\n"
        "thinking partial id=r1 \"d\"\n"
        "thinking id=r1 \"d\"\n"
        "thinking id=r1 \"b\"\n"
        "thinking id=r1 \"c\"\n" ENDED_SHOWN R_FACTS("completed"));
}

static void
a_response_tells_its_calls(void **state)
{
    (void)state;
    check_responses(
        BEGUN ITEM("added", "0",
                   "{'type':'function_call','id':'fc','call_id':'t1','name':'A',"
                   "'arguments':''}")
            ITEM("added", "1",
                 "{'type':'custom_tool_call','id':'ct','call_id':'t2','name':'B','input':"
                 "''}") TOLD("function_call_arguments.delta", "0", "'delta':'{'")
                TOLD("custom_tool_call_input.delta", "1", "'delta':'ls -l'") TOLD(
                    "function_call_arguments.delta", "0", "'delta':'}'")
                    TOLD("function_call_arguments.done", "0", "'arguments':'{}'") ITEM(
                        "done", "0",
                        "{'type':'function_call','id':'fc','call_id':'t1','name':'A',"
                        "'arguments':'{}'}")
                        ITEM("done", "1",
                             "{'type':'custom_tool_call','id':'ct','call_id':'t2',"
                             "'name':'B','input':'ls -l'}") ENDED("completed", ""),
        "tool_call partial id=t1 name=A\n"
        "tool_call partial id=t2 name=B\n"
        "tool_call partial id=t1 json={\n"
        "tool_call partial id=t2 json=ls -l\n"
        "tool_call partial id=t1 json=}\n"
        "tool_call id=t1 message=r1 name=A json={}\n"
        "tool_call id=t2 message=r1 name=B json=ls -l\n" ENDED_SHOWN R_FACTS(
            "completed"));
}

static void
a_call_may_come_with_its_item_alone(void **state)
{
    (void)state;
    check_responses(
        BEGUN ITEM("done", "0",
                   "{'type':'function_call','id':'fc','call_id':'t1','name':'A',"
                   "'arguments':'{}'}")
            ITEM("added", "1", "{'type':'function_call','call_id':'t2','name':'B'}")
                TOLD("function_call_arguments.done", "1", "'arguments':'[]'")
                    ENDED("completed", ""),
        "tool_call partial id=t1 name=A\n"
        "tool_call partial id=t1 json={}\n"
        "tool_call id=t1 message=r1 name=A json={}\n"
        "tool_call partial id=t2 name=B\n"
        "tool_call partial id=t2 json=[]\n"
        "tool_call id=t2 message=r1 name=B json=[]\n" ENDED_SHOWN R_FACTS("completed"));
}

static void
a_call_whose_beginning_is_lost_comes_with_its_item(void **state)
{
    (void)state;
    check_responses(
        BEGUN TOLD("function_call_arguments.delta", "0", "'delta':'{'")
            ITEM("done", "0",
                 "{'type':'function_call','call_id':'t1','name':'A','arguments':'{}'}")
                ENDED("completed", ""),
        "warning \"pieces of a call that has not begun, or has ended, are lost\"\n"
        "tool_call partial id=t1 name=A\n"
        "tool_call partial id=t1 json={}\n"
        "tool_call id=t1 message=r1 name=A json={}\n" ENDED_SHOWN R_FACTS("completed"));
}

static void
texts_may_come_with_their_item_alone(void **state)
{
    (void)state;
    check_responses(
        BEGUN ITEM("done", "0",
                   "{'type':'reasoning','summary':[{'text':'Hm'},{'text':'So'}],'content'"
                   ":[{'text':'x=1'}]}")
            TOLD("output_text.delta", "1", "'content_index':0,'delta':'a'")
                ITEM("done", "2",
                     "{'type':'message','content':[{'text':'b'},{'refusal':'No'}]}")
                    ITEM("done", "1", "{'type':'message','content':[{'text':'a'}]}")
                        ENDED("completed", ""),
        "thinking partial id=r1 \"Hm\"\n"
        "thinking id=r1 \"Hm\"\n"
        "thinking partial id=r1 \"So\"\n"
        "thinking id=r1 \"So\"\n"
        "thinking partial id=r1 \"x=1\"\n"
        "thinking id=r1 \"x=1\"\n"
        "text partial id=r1 \"a\"\n"
        "text partial id=r1 \"b\"\n"
        "text id=r1 \"b\"\n"
        "text partial id=r1 \"No\"\n"
        "text id=r1 \"No\"\n"
        "text id=r1 \"a\"\n" ENDED_SHOWN R_FACTS("completed"));
}

/* 130 are open at once, of which the first two are no longer known to have told texts. */
static void
items_that_are_told_at_once_have_a_ceiling(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    AUTO(buf) bytes = { 0 };
    AUTO(buf) out = { 0 };
    for (int i = 0; i < TURN_REPLY_ITEMS + 2; i++)
        buf_printf(&lines,
                   "{'type':'response.output_text.done','output_index':%d,'text':'a'}\n",
                   i);
    for (int i = 0; i < TURN_REPLY_ITEMS + 2; i++)
        buf_printf(&lines,
                   "{'type':'response.output_item.done','output_index':%d,'item':{'type':"
                   "'message','content':[{'text':'b'}]}}\n",
                   i);
    reply_kit_events(buf_str(&lines), &bytes);
    reply_kit_stream(TURN_API_AUTO, (struct view){ bytes.p, bytes.n }, bytes.n, bytes.n,
                     &out);
    size_t again = 0;
    for (const char *p = buf_str(&out); (p = strstr(p, "text \"b\"")); p++)
        again++;
    assert_int_equal(again, 2);
}

static void
what_the_api_calls_itself_has_its_result(void **state)
{
    (void)state;
    check_responses(
        BEGUN ITEM("added", "0", "{'type':'web_search_call','id':'w','status':'x'}")
            TOLD("web_search_call.searching", "0", "'x':1") ITEM(
                "done", "0", "{'type':'web_search_call','id':'w','status':'completed'}")
                ITEM("done", "1",
                     "{'type':'mcp_call','id':'m','server_label':'srv','name':'echo',"
                     "'arguments':'{}','output':'hi','error':null}")
                    ENDED("completed", ""),
        "tool_call partial id=w name=web_search_call\n"
        "tool_call partial id=w "
        "json={\"type\":\"web_search_call\",\"id\":\"w\",\"status\":"
        "\"completed\"}\n"
        "tool_call id=w message=r1 name=web_search_call "
        "json={\"type\":\"web_search_call\",\"id\":"
        "\"w\",\"status\":\"completed\"}\n"
        "tool_result id=w \"completed\"\n"
        "tool_call partial id=m name=srv.echo\n"
        "tool_call partial id=m json={}\n"
        "tool_call id=m message=r1 name=srv.echo json={}\n"
        "tool_result id=m \"hi\"\n" ENDED_SHOWN R_FACTS("completed"));
}

static void
a_response_may_end_early(void **state)
{
    (void)state;
    check_responses(
        BEGUN TOLD("output_text.delta", "0", "'content_index':0,'delta':'a'")
            ENDED("incomplete", "'incomplete_details':{'reason':'max_output_tokens'},"),
        "text partial id=r1 \"a\"\n"
        "text id=r1 \"a\"\n" ENDED_SHOWN R_FACTS("max_output_tokens"));
    check_responses(BEGUN TOLD("output_text.delta", "0", "'content_index':0,'delta':'a'"),
                    "text partial id=r1 \"a\"\ntext cut off id=r1 \"a\"\n"
                    "usage id=r1 model=gpt-y\n= openai-responses id=r1 model=gpt-y\n");
}

static void
a_response_may_fail(void **state)
{
    (void)state;
    check_responses(
        BEGUN TOLD(
            "output_text.delta", "0",
            "'content_index':0,'delta':'a'") "{'type':'response.failed','response':{'id':"
                                             "'r1','status':'failed','error':{"
                                             "'code':'server_error','message':'Boom'},'"
                                             "usage':null}}\n",
        "text partial id=r1 \"a\"\n"
        "error name=server_error \"Boom\"\n"
        "text cut off id=r1 \"a\"\n"
        "usage id=r1 model=gpt-y\n"
        "= openai-responses id=r1 model=gpt-y stop=failed failed\n");
    check_responses("{'type':'error','code':'rate_limit_exceeded','message':'Slow down',"
                    "'param':null,'sequence_number':3}\n",
                    "error name=rate_limit_exceeded \"Slow down\"\n"
                    "= openai-responses failed\n");
    check_responses(BEGUN "{'type':'error','error':{'type':'invalid','message':'No'}}\n",
                    "error name=invalid \"No\"\n"
                    "= openai-responses id=r1 model=gpt-y failed\n");
    check_responses(BEGUN "{'error':{'code':502,'message':'No'}}\n",
                    "error \"No\"\n= openai-responses id=r1 model=gpt-y failed\n");
}

static void
a_response_in_one_piece_has_no_pieces(void **state)
{
    (void)state;
    reply_kit_check_body(
        TURN_API_OPENAI_RESPONSES,
        "{'id':'r1','object':'response','status':'completed','error':null,"
        "'incomplete_details':null,'model':'gpt-y','output':[{'type':'reasoning','"
        "summary':"
        "[{'type':'summary_text','text':'Hm'},{'text':'So'}]},{'type':'message','content'"
        ":"
        "[{'type':'output_text','text':'Hi'},{'type':'refusal','refusal':'No'}]},{'type':"
        "'function_call','id':'f','call_id':'t1','name':'A','arguments':'{}'},7],'usage':"
        "{"
        "'input_tokens':9,'output_tokens':4}}",
        "thinking id=r1 \"Hm\"\n"
        "thinking id=r1 \"So\"\n"
        "text id=r1 \"Hi\"\n"
        "text id=r1 \"No\"\n"
        "tool_call id=t1 message=r1 name=A json={}\n"
        "final usage id=r1 model=gpt-y in=9 out=4\n"
        "= openai-responses id=r1 model=gpt-y stop=completed in=9 out=4 final whole\n");
    reply_kit_check_body(
        TURN_API_OPENAI_RESPONSES,
        "{'id':'r1','object':'response','status':'failed','error':{'code':'c','message':"
        "'Boom'},'output':[]}",
        "error name=c \"Boom\"\n= openai-responses id=r1 stop=failed failed\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_whole_when_it_ends),
        cmocka_unit_test(a_refusal_is_a_text),
        cmocka_unit_test(reasoning_ends_where_the_text_begins),
        cmocka_unit_test(calls_are_told_apart_by_their_index),
        cmocka_unit_test(calls_of_other_servers_are_understood),
        cmocka_unit_test(calls_of_custom_tools_have_a_text),
        cmocka_unit_test(a_call_of_the_old_way_is_one),
        cmocka_unit_test(a_content_may_be_of_parts),
        cmocka_unit_test(only_the_first_choice_counts),
        cmocka_unit_test(a_server_may_count_in_each_chunk),
        cmocka_unit_test(what_breaks_off_has_its_input),
        cmocka_unit_test(what_is_cached_may_be_told_late),
        cmocka_unit_test(odd_counts_are_not_known),
        cmocka_unit_test(a_reply_whose_usage_nobody_tells_is_a_call),
        cmocka_unit_test(a_reply_without_an_id_tells_its_usage_once),
        cmocka_unit_test(what_breaks_off_is_cut_off),
        cmocka_unit_test(errors_come_in_many_shapes),
        cmocka_unit_test(a_completion_in_one_piece_has_no_pieces),
        cmocka_unit_test(a_response_tells_its_texts),
        cmocka_unit_test(a_response_tells_its_reasoning),
        cmocka_unit_test(a_response_tells_its_calls),
        cmocka_unit_test(a_call_may_come_with_its_item_alone),
        cmocka_unit_test(a_call_whose_beginning_is_lost_comes_with_its_item),
        cmocka_unit_test(texts_may_come_with_their_item_alone),
        cmocka_unit_test(items_that_are_told_at_once_have_a_ceiling),
        cmocka_unit_test(what_the_api_calls_itself_has_its_result),
        cmocka_unit_test(a_response_may_end_early),
        cmocka_unit_test(a_response_may_fail),
        cmocka_unit_test(a_response_in_one_piece_has_no_pieces),
    };
    return cmocka_run_group_tests_name("reply_openai", tests, NULL, NULL);
}
