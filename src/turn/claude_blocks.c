/* SPDX-License-Identifier: MIT */
/* claude_blocks.c -- the blocks of Claude Code's "assistant" and "user" lines. */
#include "turn/claude_priv.h"
#include "turn/content.h"
#include "turn/tell_priv.h"

/* A block's fields, raw. */
struct block {
    struct view type, text, thinking, id, name, input, call, content, is_error;
};

static bool
next_block(struct view *rest, struct block *b)
{
    *b = (struct block){ 0 };
    const struct turn_field wanted[] = {
        { "type", &b->type },         { "text", &b->text },
        { "thinking", &b->thinking }, { "id", &b->id },
        { "name", &b->name },         { "input", &b->input },
        { "tool_use_id", &b->call },  { "content", &b->content },
        { "is_error", &b->is_error },
    };
    return turn_known_next(rest, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static int
tell_call(struct claude_line *l, const struct block *b)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = turn_text(b->id, &l->s->text[1]);
    e.name = turn_text(b->name, &l->s->text[2]);
    e.message = (struct view){ l->lane->message.p, l->lane->message.n };
    e.json = b->input;
    int r = e.id.n ? turn_call_open(l->s, e.id, e.name) : 0;
    return r < 0 ? r : claude_tell(l, &e);
}

/* -- results -- */

/* A command that failed is told as "Exit code 2\n…". */
static int
exit_code_of(struct view text)
{
    static const char start[] = "Exit code ";
    size_t at = sizeof(start) - 1;
    int code = 0;
    if (text.n <= at || memcmp(text.p, start, at) != 0)
        return -1;
    for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9' && code < 1000; at++)
        code = code * 10 + (text.p[at] - '0');
    return at > sizeof(start) - 1 && (at == text.n || text.p[at] == '\n') ? code : -1;
}

static int
tell_result(struct claude_line *l, const struct block *b)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    struct buf *scratch = l->s->text;
    e.id = turn_text(b->call, &scratch[1]);
    buf_clear(&scratch[2]);
    if (e.id.n)
        (void)turn_call_close(l->s, e.id, &scratch[2]);
    e.name = (struct view){ scratch[2].p, scratch[2].n };
    e.text = turn_content_text(b->content, &scratch[0]);
    e.is_error = turn_is_true(b->is_error);
    e.exit_code = e.is_error ? exit_code_of(e.text) : -1;
    if (scratch[0].failed || scratch[2].failed)
        return scratch[0].failed ? scratch[0].failed : scratch[2].failed;
    return claude_tell(l, &e);
}

/* -- the lines -- */

static int
tell_assistant(struct claude_line *l, const struct block *b)
{
    struct buf *scratch = &l->s->text[0];
    if (turn_is(b->type, "text"))
        return claude_lane_whole(l, TURN_TEXT, turn_text(b->text, scratch));
    if (turn_is(b->type, "thinking"))
        return claude_lane_whole(l, TURN_THINKING, turn_text(b->thinking, scratch));
    if (turn_is(b->type, "redacted_thinking"))
        return claude_lane_whole(l, TURN_THINKING,
                                 (struct view){ (const uint8_t *)"(redacted)", 10 });
    if (turn_ends_in(b->type, "tool_use"))
        return tell_call(l, b);
    if (turn_ends_in(b->type, "tool_result"))
        return tell_result(l, b);
    return claude_other(l, "assistant", b->type);
}

int
claude_assistant(struct claude_line *l, struct view message)
{
    struct view id = { 0 }, content = { 0 }, usage = { 0 }, model = { 0 }, stop = { 0 };
    const struct turn_field wanted[] = {
        { "id", &id },       { "content", &content },  { "usage", &usage },
        { "model", &model }, { "stop_reason", &stop },
    };
    turn_known_fields(message, wanted, 5);
    int r = claude_lane_message(l, id, model);
    struct block b;
    if (r >= 0 && content.n && content.p[0] == '"')
        r = claude_lane_whole(l, TURN_TEXT, turn_text(content, &l->s->text[0]));
    while (r >= 0 && next_block(&content, &b))
        r = tell_assistant(l, &b);
    /* Claude Code's own words ("API Error: …") are no call of the model. */
    return r < 0 || turn_is(model, "<synthetic>") ? r : claude_lane_usage(l, usage, stop);
}

static int
tell_user_text(struct claude_line *l, struct view text)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = true;
    e.text = turn_text(text, &l->s->text[0]);
    return e.text.n ? claude_tell(l, &e) : 0;
}

int
claude_user(struct claude_line *l, struct view message)
{
    struct view content = { 0 };
    const struct turn_field wanted[] = { { "content", &content } };
    turn_known_fields(message, wanted, 1);
    if (content.n && content.p[0] == '"')
        return tell_user_text(l, content);
    struct block b;
    int r = 0;
    while (r >= 0 && next_block(&content, &b)) {
        if (turn_ends_in(b.type, "tool_result"))
            r = tell_result(l, &b);
        else if (turn_is(b.type, "text"))
            r = tell_user_text(l, b.text);
        else
            r = claude_other(l, "user", b.type);
    }
    return r;
}
