/* SPDX-License-Identifier: MIT */
#include "run/replay_priv.h"

enum {
    ANSWER_MS = 60000,       /* a program that has said nothing is not waited for */
    AGENT_ANSWER_MS = 600000 /* … an agent that rests without a word of its end */
};

void
run_replay_init(struct run_replay *p, const struct run_script *script, uint64_t now_ns)
{
    *p = (struct run_replay){ .script = script, .is_same = true, .at_ns = now_ns };
}

bool
run_replay_holds(const struct run_replay *p)
{
    return p->script && !p->is_over;
}

bool
run_script_counts(enum turn_type type)
{
    return type == TURN_TEXT || type == TURN_THINKING || type == TURN_TOOL_CALL ||
           type == TURN_TOOL_RESULT || type == TURN_ERROR;
}

void
run_replay_hear(struct run_replay *p, enum turn_type type, struct view content,
                uint64_t now_ns)
{
    run_replay_stir(p, now_ns);
    if (!p->script)
        return;
    p->is_done |= type == TURN_DONE;
    if (!run_script_counts(type))
        return;
    p->heard++;
    if (p->script->hear && !p->script->hear(p->script->ctx, type, content))
        p->is_same = false;
}

void
run_replay_stir(struct run_replay *p, uint64_t now_ns)
{
    if (!p->script)
        return;
    p->at_ns = now_ns;
    p->has_answer = true;
}

/* How many messages of the command the recording has before that one. */
static uint64_t
heard_before(const struct run_script *s, size_t i)
{
    return i < s->count ? s->said[i].heard : s->heard;
}

/* The recording has nothing in answer to the last one. */
static bool
has_no_answer(const struct run_replay *p)
{
    const struct run_script *s = p->script;
    uint64_t before = p->sent ? heard_before(s, p->sent - 1) : 0;
    return heard_before(s, p->sent) == before;
}

/* The reply to the last message was cut off with the recording: there may be more. */
static bool
is_answered(const struct run_replay *p)
{
    const struct run_script *s = p->script;
    return p->sent < s->count && p->is_same && p->heard >= heard_before(s, p->sent);
}

static uint64_t
wait_ms(const struct run_replay *p)
{
    if (p->is_agent)
        return !p->sent || p->is_done ? 0 : AGENT_ANSWER_MS;
    if (is_answered(p))
        return 0;
    return p->has_answer || has_no_answer(p) ? p->script->quiet_ms : ANSWER_MS;
}

uint64_t
run_replay_due_ms(const struct run_replay *p, bool has_input, uint64_t now_ns)
{
    if (!run_replay_holds(p))
        return UINT64_MAX;
    if (p->sent == p->script->count && !has_input)
        return 0; /* nothing comes behind it */
    return clock_left_ms(p->at_ns + wait_ms(p) * 1000000, now_ns);
}

const struct run_said *
run_replay_next(struct run_replay *p, uint64_t now_ns)
{
    const struct run_script *s = p->script;
    if (p->sent == s->count) {
        p->is_over = true;
        return NULL;
    }
    p->at_ns = now_ns;
    p->has_answer = p->is_done = false;
    return &s->said[p->sent++];
}
