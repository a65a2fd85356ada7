/* SPDX-License-Identifier: MIT */
/* talk_test.c -- conversations as agents send them to the Messages API, and what is new
 * in each request; what holds for all APIs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/talk_kit.h"

#define ASK(messages)                                                            \
    "{'model':'m','max_tokens':9,'system':[{'type':'text','text':'Be good.'}],'" \
    "tools':[{'name':'Bash'}],'messages':[" messages "]}"
#define USER(content)      "{'role':'user','content':" content "}"
#define ASSISTANT(content) "{'role':'assistant','content':" content "}"
#define U(text)            USER("'" text "'")
#define A(text)            ASSISTANT("[{'type':'text','text':'" text "'}]")
#define CACHED             ",'cache_control':{'type':'ephemeral'}"
#define T(text)            "{'type':'text','text':'" text "'}"
#define T_CACHED(text)     "{'type':'text','text':'" text "'" CACHED "}"
#define ID(n)              "toolu_000000000000000" n
#define CALL(n, command)                                                                 \
    "{'type':'tool_use','id':'" ID(n) "','name':'Bash','input':{'command':'" command "'" \
                                      "}"                                                \
                                      "}"
#define RESULT(n, content) \
    "{'type':'tool_result','tool_use_id':'" ID(n) "','content':" content "}"
#define REPLY(content)                                                                  \
    "{'type':'message','id':'msg_1','role':'assistant','model':'m','content':[" content \
    "],'stop_reason':'end_turn','usage':{'input_tokens':1,'output_tokens':2}}"

#define MODEL                "session model=m\n"
#define SAYS_USER(text)      "text user \"" text "\"\n"
#define SAYS(text)           "text \"" text "\"\n"
#define TOLD_RESULT(n, text) "tool_result id=" ID(n) " \"" text "\"\n"
#define TOLD_CALL(n, command) \
    "tool_call id=" ID(n) " name=Bash json={\"command\":\"" command "\"}\n"

static void
each_message_is_told_once(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Look")), MODEL SAYS_USER("Look"));
    talk_kit_hear(&k, REPLY(T("I look.") "," CALL("1", "ls")));
#define ONE U("Look") "," ASSISTANT("[" T("I look.") "," CALL("1", "ls") "]") ","
    talk_kit_ask(&k, ASK(ONE USER("[" RESULT("1", "'a b'") "]")),
                 TOLD_RESULT("1", "a b"));
    talk_kit_hear(&k, REPLY(CALL("2", "cat a") "," CALL("3", "cat b")));
#define TWO                                               \
    ONE USER("[" RESULT("1", "'a b'") "]") "," ASSISTANT( \
        "[" CALL("2", "cat a") "," CALL("3", "cat b") "]") ","
    talk_kit_ask(
        &k, ASK(TWO USER("[" RESULT("2", "'A'") "," RESULT("3", "[" T("B") "]") "]")),
        TOLD_RESULT("2", "A") TOLD_RESULT("3", "B"));
    talk_kit_hear(&k, REPLY(T("Done.")));
    talk_kit_ask(&k,
                 ASK(TWO USER("[" RESULT("2", "'A'") "," RESULT(
                     "3", "[" T("B") "]") "]") "," A("Done.") "," U("And now?")),
                 SAYS_USER("And now?"));
    talk_kit_close(&k);
}

/* Also where most of a request is known from the one before (talk_kit_close()). */
static void
two_requests_are_alike_up_to_where_they_differ(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
#define BEGIN U("a") "," A("b") "," U("c") "," A("d") ","
    talk_kit_ask(&k, ASK(BEGIN U("one") "," A("e") "," U("two")),
                 MODEL SAYS_USER("a") SAYS("b") SAYS_USER("c") SAYS("d") SAYS_USER("one")
                     SAYS("e") SAYS_USER("two"));
    talk_kit_hear(&k, REPLY(T("f")));
    talk_kit_ask(&k, ASK(BEGIN U("uno") "," A("e") "," U("two") "," A("f") "," U("g")),
                 SAYS_USER("uno") SAYS_USER("g"));
    talk_kit_ask(&k, ASK(U("a") "," U("c") "," A("d")), SAYS_USER("c"));
    talk_kit_ask(&k, ASK(BEGIN), "");
    talk_kit_ask(&k, ASK(BEGIN U("h")), SAYS_USER("h"));
    talk_kit_close(&k);
}

static void
markers_that_move_make_nothing_new(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(USER("[" T("Context") "," T_CACHED("Look") "]")),
                 MODEL SAYS_USER("Context") SAYS_USER("Look"));
    talk_kit_hear(&k, REPLY(CALL("1", "ls")));
    talk_kit_ask(
        &k,
        ASK(USER("[" T("Context") "," T_CACHED("Look") "]") "," ASSISTANT(
            "[" CALL("1", "ls") "]") "," USER("[{'type':'tool_result','tool_use_id':"
                                              "'" ID("1") "','content':'a'" CACHED "}]")),
        TOLD_RESULT("1", "a"));
    talk_kit_hear(&k, REPLY(T("Yes.")));
    talk_kit_ask(
        &k,
        ASK(USER("[" T("Context") "," T("Look") "]") "," ASSISTANT("[" CALL("1", "ls") "]") "," USER(
            "[" RESULT("1", "'a'") "]") "," A("Yes.") "," USER("[" T_CACHED("More") "]")),
        SAYS_USER("More"));
    /* With blanks, as other languages write them, and in another place. */
    talk_kit_ask(
        &k,
        ASK("{'role': 'user', 'content': [{'type': 'text', 'text': 'Context'}, {"
            "'cache_control': {'type': 'ephemeral'}, 'type': 'text', 'text': "
            "'Look'}]}, "
            "{'role': 'assistant', 'content': [" CALL(
                "1", "ls") "]}, "
                           "{'role': 'user', 'content': [{'type': 'tool_result', "
                           "'tool_use_id': "
                           "'" ID("1") "', 'content': 'a', 'cache_control': {'type': "
                                       "'ephemeral'}}]}, " A("Yes.") "," U("More")),
        "");
    talk_kit_close(&k);
}

static void
a_string_may_become_a_block(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_ask(&k, ASK(USER("[" T_CACHED("Hi") "]")), "");
    talk_kit_ask(&k, ASK(USER("[" T("Hi") "]") "," ASSISTANT("'Hello'") "," U("So")),
                 SAYS("Hello") SAYS_USER("So"));
    talk_kit_ask(&k, ASK(U("Hi") "," A("Hello") "," USER("[" T_CACHED("So") "]")), "");
    talk_kit_close(&k);
}

static void
messages_of_the_same_one_may_be_joined(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Look")), MODEL SAYS_USER("Look"));
    /* It was interrupted before it could say anything. */
    talk_kit_ask(&k, ASK(USER("[" T("Look") "," T("[interrupted]") "," T("Stop") "]")),
                 SAYS_USER("[interrupted]") SAYS_USER("Stop"));
    talk_kit_ask(&k, ASK(U("Look") "," U("[interrupted]") "," U("Stop") "," U("Stop")),
                 SAYS_USER("Stop"));
    talk_kit_close(&k);
}

static void
the_same_words_twice_are_told_twice(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("continue")), MODEL SAYS_USER("continue"));
    talk_kit_hear(&k, REPLY(T("One.")));
    talk_kit_ask(&k, ASK(U("continue") "," A("One.") "," U("continue")),
                 SAYS_USER("continue"));
    talk_kit_hear(&k, REPLY(T("One.")));
    talk_kit_ask(&k,
                 ASK(U("continue") "," A("One.") "," U("continue") "," A("One.") "," U(
                     "continue")),
                 SAYS_USER("continue"));
    talk_kit_close(&k);
}

static void
the_same_request_again_tells_nothing(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_ask(&k, ASK(U("Hi")), "");
    talk_kit_hear(&k, "{'type':'error','error':{'type':'overloaded_error'}}");
    talk_kit_ask(&k, ASK(U("Hi")), "");
    talk_kit_hear(&k, REPLY(T("Hello")));
    talk_kit_ask(&k, ASK(U("Hi") "," A("Hello") "," U("Hi")), SAYS_USER("Hi"));
    talk_kit_ask(&k, ASK(U("Hi") "," A("Hello") "," U("Hi")), "");
    talk_kit_close(&k);
}

/* Before there is an answer it is tried again; behind it, asked again. */
static void
what_was_answered_and_is_asked_again_is_told_again(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Fix it")), MODEL SAYS_USER("Fix it"));
    talk_kit_hear(&k, "{'type':'error','error':{'type':'overloaded_error'}}");
    talk_kit_ask(&k, ASK(U("Fix it")), "");
    talk_kit_hear(&k, REPLY(T("I did.")));
    talk_kit_ask(&k, ASK(U("Fix it")), SAYS_USER("Fix it"));
    talk_kit_ask(&k, ASK(U("Fix it")), "");
    talk_kit_hear(&k, REPLY(CALL("1", "a")));
#define CALLED U("Fix it") "," ASSISTANT("[" CALL("1", "a") "]") ","
    talk_kit_ask(&k, ASK(CALLED USER("[" RESULT("1", "'r'") "]")), TOLD_RESULT("1", "r"));
    talk_kit_hear(&k, REPLY(T("Done.")));
    talk_kit_ask(&k, ASK(CALLED USER("[" RESULT("1", "'r'") "]")), "");
    talk_kit_close(&k);
}

/* -- several conversations -- */

static void
conversations_beside_each_other_are_told_each(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Set up") "," U("Main")),
                 MODEL SAYS_USER("Set up") SAYS_USER("Main"));
    talk_kit_hear(&k, REPLY(CALL("1", "a") "," CALL("2", "b")));
    talk_kit_ask(&k, ASK(U("Set up") "," U("First task")), SAYS_USER("First task"));
    talk_kit_ask(&k, ASK(U("Set up") "," U("Second task")), SAYS_USER("Second task"));
    talk_kit_hear(&k, REPLY(T("Second?")));
    talk_kit_hear(&k, REPLY(T("First?")));
    talk_kit_ask(&k, ASK(U("Set up") "," U("First task") "," A("First?") "," U("Go on")),
                 SAYS_USER("Go on"));
    talk_kit_ask(&k,
                 ASK(U("Set up") "," U("Second task") "," A("Second?") "," U("Go on")),
                 SAYS_USER("Go on"));
    talk_kit_ask(
        &k,
        ASK(U("Set up") "," U("Main") "," ASSISTANT("[" CALL("1", "a") "," CALL(
            "2", "b") "]") "," USER("[" RESULT("1", "'x'") "," RESULT("2", "'y'") "]")),
        TOLD_RESULT("1", "x") TOLD_RESULT("2", "y"));
    talk_kit_ask(&k, ASK(U("Set up") "," U("First task") "," A("First?") "," U("Go on")),
                 "");
    talk_kit_close(&k);
}

static void
a_conversation_that_begins_with_the_same_words_is_told_from_where_it_differs(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Fix it")), MODEL SAYS_USER("Fix it"));
    talk_kit_hear(&k, REPLY(T("I did.")));
    talk_kit_ask(&k, ASK(U("Fix it") "," A("I did.") "," U("Thanks")),
                 SAYS_USER("Thanks"));
    talk_kit_ask(&k, ASK(U("Fix it")), SAYS_USER("Fix it"));
    talk_kit_hear(&k, REPLY(T("Fixed.")));
    talk_kit_ask(&k, ASK(U("Fix it") "," A("Fixed.") "," U("Thanks")),
                 SAYS_USER("Thanks"));
    talk_kit_ask(&k, ASK(U("Fix it") "," A("I did.") "," U("Thanks") "," U("Bye")),
                 SAYS_USER("Bye"));
    talk_kit_close(&k);
}

static void
what_is_asked_otherwise_is_told(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("One")), MODEL SAYS_USER("One"));
    talk_kit_hear(&k, REPLY(T("1")));
    talk_kit_ask(&k, ASK(U("One") "," A("1") "," U("Two")), SAYS_USER("Two"));
    talk_kit_hear(&k, REPLY(T("2")));
    talk_kit_ask(&k, ASK(U("One") "," A("1") "," U("Two") "," A("2") "," U("continue")),
                 SAYS_USER("continue"));
    talk_kit_hear(&k, REPLY(T("3")));
    talk_kit_ask(&k,
                 ASK(U("One") "," A("1") "," U("Two") "," A("2") "," U("continue") "," A(
                     "3") "," U("Four")),
                 SAYS_USER("Four"));
    /* They go back, and ask something else, which they have asked later on, too. */
    talk_kit_ask(&k, ASK(U("One") "," A("1") "," U("continue")), SAYS_USER("continue"));
    talk_kit_hear(&k, REPLY(T("2b")));
    talk_kit_ask(&k,
                 ASK(U("One") "," A("1") "," U("continue") "," A("2b") "," U("Three")),
                 SAYS_USER("Three"));
    /* … and on with the first. */
    talk_kit_ask(&k,
                 ASK(U("One") "," A("1") "," U("Two") "," A("2") "," U("continue") "," A(
                     "3") "," U("Four") "," A("4") "," U("Five")),
                 SAYS("4") SAYS_USER("Five"));
    talk_kit_close(&k);
}

/* -- what is left out -- */

#define LONG U("One") "," ASSISTANT("[" T("a") "," CALL("1", "ls") "]") ","
#define LONG_END                        \
    ASSISTANT("[" CALL("2", "cat") "]") \
    "," USER("[" RESULT("2", "'B'") "," T("Hm") "]") "," A("b") ","

static void
begin_long(struct talk_kit *k)
{
    talk_kit_open(k, TURN_API_ANTHROPIC);
    talk_kit_ask(k, ASK(U("One")), MODEL SAYS_USER("One"));
    talk_kit_hear(k, REPLY(T("a") "," CALL("1", "ls")));
    talk_kit_ask(k, ASK(LONG USER("[" RESULT("1", "'A'") "," T("Look well") "]")),
                 TOLD_RESULT("1", "A") SAYS_USER("Look well"));
    talk_kit_hear(k, REPLY(CALL("2", "cat")));
    talk_kit_ask(
        k,
        ASK(LONG USER("[" RESULT("1", "'A'") "," T("Look well") "]") "," ASSISTANT(
            "[" CALL("2", "cat") "]") "," USER("[" RESULT("2", "'B'") "," T("Hm") "]")),
        TOLD_RESULT("2", "B") SAYS_USER("Hm"));
    talk_kit_hear(k, REPLY(T("b")));
}

static void
results_that_are_left_out_make_nothing_new(void **state)
{
    (void)state;
    struct talk_kit k;
    begin_long(&k);
    talk_kit_ask(&k,
                 ASK(LONG USER("[" RESULT("1", "'[old result left out]'") "," T(
                     "Look well") "]") "," LONG_END U("Two")),
                 SAYS_USER("Two"));
    talk_kit_ask(
        &k, ASK(LONG USER("[" T("Look well") "]") "," LONG_END U("Two") "," U("Three")),
        SAYS_USER("Three"));
    talk_kit_close(&k);
}

static void
messages_that_are_left_out_make_nothing_new(void **state)
{
    (void)state;
    struct talk_kit k;
    begin_long(&k);
    /* In the middle. */
    talk_kit_ask(&k, ASK(U("One") "," LONG_END U("Two")), SAYS_USER("Two"));
    /* At the beginning, with a note of what it was. */
    talk_kit_ask(&k, ASK(U("It was long.") "," LONG_END U("Two") "," U("Three")),
                 SAYS_USER("It was long.") SAYS_USER("Three"));
    /* At the beginning. */
    talk_kit_ask(
        &k,
        ASK(USER("[" T("Hm") "]") "," A("b") "," U("Two") "," U("Three") "," U("Four")),
        SAYS_USER("Four"));
    talk_kit_close(&k);
}

static void
the_end_of_a_conversation_may_be_all_that_is_left(void **state)
{
    (void)state;
    struct talk_kit k;
    begin_long(&k);
    /* One text in common is chance, two are not. */
    talk_kit_ask(&k, ASK(U("Else") "," U("Hm")), SAYS_USER("Else") SAYS_USER("Hm"));
    talk_kit_ask(&k, ASK(USER("[" RESULT("2", "'B'") "," T("Hm") "]") "," U("Two")),
                 SAYS_USER("Two"));
    talk_kit_close(&k);
}

static void
a_conversation_begins_anew_with_its_summary(void **state)
{
    (void)state;
    struct talk_kit k;
    begin_long(&k);
    talk_kit_ask(&k,
                 ASK(LONG USER("[" RESULT("1", "'A'") "," T(
                     "Look well") "]") "," LONG_END U("Sum up")),
                 SAYS_USER("Sum up"));
    talk_kit_hear(&k, REPLY(T("It was long.")));
    talk_kit_ask(&k, ASK(USER("[" T("Summary: It was long.") "," T("Go on") "]")),
                 SAYS_USER("Summary: It was long.") SAYS_USER("Go on"));
    talk_kit_close(&k);
}

static void
thoughts_may_be_left_out(void **state)
{
    (void)state;
    struct talk_kit k;
#define THOUGHT "{'type':'thinking','thinking':'Hm.','signature':'Eq=='}"
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_hear(&k, REPLY(THOUGHT "," T("Ho.") "," CALL("1", "ls")));
    talk_kit_ask(&k,
                 ASK(U("Hi") "," ASSISTANT("[" THOUGHT "," T("Ho.") "," CALL(
                     "1", "ls") "]") "," USER("[" RESULT("1", "'x'") "]")),
                 TOLD_RESULT("1", "x"));
    talk_kit_ask(
        &k,
        ASK(U("Hi") "," ASSISTANT("[" T("Ho.") "," CALL("1", "ls") "]") "," USER(
            "[" RESULT("1", "'x'") "]") "," ASSISTANT("[{'type':'redacted_thinking','"
                                                      "data':'q'}," THOUGHT
                                                      "]") "," U("So")),
        SAYS_USER("So"));
    talk_kit_close(&k);
}

/* -- what a model has said, or has not -- */

#define START "{'type':'message_start','message':{'id':'msg_1','model':'m'}}\n"
#define DELTA(text)                                                                      \
    "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'" text \
    "'}}\n"

static void
a_part_of_an_aborted_reply_is_known(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_hear_some(&k, START DELTA("I was going to ") DELTA("say more than "));
    talk_kit_ask(&k, ASK(U("Hi") "," A("I was going to say more than") "," U("Stop")),
                 SAYS_USER("Stop"));
    talk_kit_hear_some(&k, START DELTA("All of this ") DELTA("did not arrive"));
    talk_kit_ask(&k,
                 ASK(U("Hi") "," A("I was going to say more than") "," U("Stop") "," A(
                     "All of th") "," U("What?")),
                 SAYS_USER("What?"));
    talk_kit_ask(&k,
                 ASK(U("Hi") "," A("I was going to say more than") "," U("Stop") "," A(
                     "All of th") "," U("What?") "," A("Something else") "," U("Ah")),
                 SAYS("Something else") SAYS_USER("Ah"));
    talk_kit_close(&k);
}

/* In the events of a reply more may have been public than in a body. */
static void
what_was_said_with_a_secret_is_known(void **state)
{
    (void)state;
    struct talk_kit k;
#define MASK "[REDACTED:github-pat]"
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_hear(&k, REPLY(T("Use ghp" MASK MASK ", or x=gh" MASK " now")));
    talk_kit_ask(
        &k,
        ASK(U("Hi") "," A("Use " MASK ", or x=" MASK " now") "," A(
            "Use " MASK ", or y=" MASK " now") "," U("So " MASK) "," U("[REDACTED:")),
        SAYS("Use " MASK ", or y=" MASK " now") SAYS_USER("So " MASK)
            SAYS_USER("[REDACTED:"));
    talk_kit_close(&k);
}

static void
a_piece_of_a_reply_is_no_message(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_hear_some(&k, START DELTA("OK")
                               DELTA(", done") "{'type':'content_block_stop','index':0}");
    talk_kit_ask(&k, ASK(U("Hi") "," A("OK") "," U("So")), SAYS("OK") SAYS_USER("So"));
    talk_kit_close(&k);
}

static void
messages_that_no_reply_has_brought_are_told(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(
        &k,
        ASK(U("One") "," A("OK") "," U("Two") "," A("OK") "," U("Three") "," ASSISTANT(
            "[" CALL("1", "ls") "]") "," USER("[{'type':'tool_result','tool_use_id':"
                                              "'" ID("1") "','is_error':true,"
                                                          "'content':[" T(
                                                              "no") ",{'type':'image'"
                                                                    ",'source':{}}]}"
                                                                    "]")),
        MODEL SAYS_USER("One") SAYS("OK") SAYS_USER("Two") SAYS("OK") SAYS_USER("Three")
            TOLD_CALL("1", "ls") "tool_result failed id=" ID("1") " \"no\n[image]\"\n");
    talk_kit_close(&k);
}

static void
what_a_reply_goes_on_with_is_told_once(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, ASK(U("As JSON") "," A("{ ")),
                 MODEL SAYS_USER("As JSON") SAYS("{ "));
    talk_kit_hear(&k, REPLY(T("a: 1 }")));
    talk_kit_ask(&k, ASK(U("As JSON") "," A("{ a: 1 }") "," U("Thanks")),
                 SAYS_USER("Thanks"));
    talk_kit_close(&k);
}

static void
images_and_other_blocks_are_named(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k,
                 ASK(USER("[{'type':'image','source':{'type':'base64','data':'AAAA'}},{"
                          "'type':'document'},{'a':1},7," T("See") "]")),
                 MODEL SAYS_USER("[image]") SAYS_USER("[document]") SAYS_USER("[?]")
                     SAYS_USER("[?]") SAYS_USER("See"));
    talk_kit_ask(&k, ASK("{'role':'system','content':'Be better.'}," U("Ho")),
                 SAYS_USER("Ho"));
    talk_kit_close(&k);
}

static void
models_are_told_when_they_change(void **state)
{
    (void)state;
    struct talk_kit k;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    talk_kit_ask(&k, "{'model':'small','messages':[" U("quota") "]}",
                 "session model=small\n" SAYS_USER("quota"));
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_ask(&k, "{'model':'small','messages':[" U("Title?") "]}",
                 SAYS_USER("Title?"));
    talk_kit_ask(&k, ASK(U("Hi") "," A("Ho") "," U("So")), SAYS("Ho") SAYS_USER("So"));
    talk_kit_ask(&k,
                 "{'model':'large','tools':[{}],'messages':[" U("Hi") "," U("More") "]}",
                 "session model=large\n" SAYS_USER("More"));
    talk_kit_close(&k);
}

static void
what_is_no_request_tells_nothing(void **state)
{
    static const char *const bodies[] = {
        "",
        "null",
        "[]",
        "{}",
        "{'messages':",
        "{'messages':[" U("Hi") "]",
        "{'messages':[" U("Hi") "]}}",
        "{'messages':[" U("Hi") ",]}",
        "{'messages':{'role':'user','content':'Hi'}}",
        "{'messages':'Hi'}",
        "{'messages':[[],7,'x',null,{},{'role':'user'},{'role':'user','content':7}]}",
        "{'messages':[" USER("[]") "," USER("''") "," USER("null") "," USER("{}") "]}",
        "{'model':7,'messages':null,'tools':true}",
        "<html>no</html>",
        "\x01\x02\xff",
    };
    struct talk_kit k;
    (void)state;
    talk_kit_open(&k, TURN_API_ANTHROPIC);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        talk_kit_ask(&k, bodies[i], "");
    talk_kit_ask(&k, ASK(U("Hi")), MODEL SAYS_USER("Hi"));
    talk_kit_close(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_is_told_once),
        cmocka_unit_test(two_requests_are_alike_up_to_where_they_differ),
        cmocka_unit_test(markers_that_move_make_nothing_new),
        cmocka_unit_test(a_string_may_become_a_block),
        cmocka_unit_test(messages_of_the_same_one_may_be_joined),
        cmocka_unit_test(the_same_words_twice_are_told_twice),
        cmocka_unit_test(the_same_request_again_tells_nothing),
        cmocka_unit_test(what_was_answered_and_is_asked_again_is_told_again),
        cmocka_unit_test(conversations_beside_each_other_are_told_each),
        cmocka_unit_test(
            a_conversation_that_begins_with_the_same_words_is_told_from_where_it_differs),
        cmocka_unit_test(what_is_asked_otherwise_is_told),
        cmocka_unit_test(results_that_are_left_out_make_nothing_new),
        cmocka_unit_test(messages_that_are_left_out_make_nothing_new),
        cmocka_unit_test(the_end_of_a_conversation_may_be_all_that_is_left),
        cmocka_unit_test(a_conversation_begins_anew_with_its_summary),
        cmocka_unit_test(thoughts_may_be_left_out),
        cmocka_unit_test(a_part_of_an_aborted_reply_is_known),
        cmocka_unit_test(what_was_said_with_a_secret_is_known),
        cmocka_unit_test(a_piece_of_a_reply_is_no_message),
        cmocka_unit_test(messages_that_no_reply_has_brought_are_told),
        cmocka_unit_test(what_a_reply_goes_on_with_is_told_once),
        cmocka_unit_test(images_and_other_blocks_are_named),
        cmocka_unit_test(models_are_told_when_they_change),
        cmocka_unit_test(what_is_no_request_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
