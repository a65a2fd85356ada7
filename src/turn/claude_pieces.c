/* SPDX-License-Identifier: MIT */
/* claude_pieces.c -- what a model says, as it comes: Claude Code's "stream_event". */
#include "turn/claude_priv.h"

static int
begin_message(struct claude_line *l, struct view message)
{
    struct view id = { 0 }, usage = { 0 }, model = { 0 };
    const struct turn_field wanted[] = { { "id", &id },
                                         { "usage", &usage },
                                         { "model", &model } };
    turn_known_fields(message, wanted, 3);
    int r = claude_lane_message(l, id, model);
    return r < 0 ? r : claude_lane_usage(l, usage, (struct view){ 0 });
}

static int
end_message(struct claude_line *l, struct view delta, struct view usage)
{
    struct view stop = { 0 };
    const struct turn_field wanted[] = { { "stop_reason", &stop } };
    turn_known_fields(delta, wanted, 1);
    return claude_lane_usage(l, usage, stop);
}

/* Arguments of a tool, signatures and citations come whole with the message. */
static int
take_delta(struct claude_line *l, struct view delta)
{
    struct view type = { 0 }, text = { 0 }, thinking = { 0 };
    const struct turn_field wanted[] = { { "type", &type },
                                         { "text", &text },
                                         { "thinking", &thinking } };
    turn_known_fields(delta, wanted, 3);
    if (turn_is(type, "text_delta"))
        return claude_lane_piece(l, TURN_TEXT, turn_text(text, &l->s->text[0]));
    if (turn_is(type, "thinking_delta"))
        return claude_lane_piece(l, TURN_THINKING, turn_text(thinking, &l->s->text[0]));
    if (turn_is(type, "input_json_delta") || turn_is(type, "signature_delta") ||
        turn_is(type, "citations_delta"))
        return 0;
    return claude_other(l, "stream_event", type);
}

static int
tell_error(struct claude_line *l, struct view error)
{
    struct view text = { 0 };
    const struct turn_field wanted[] = { { "message", &text } };
    turn_known_fields(error, wanted, 1);
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = turn_text(text, &l->s->text[0]);
    if (!e.text.n)
        e.text = error;
    return claude_tell(l, &e);
}

int
claude_stream_event(struct claude_line *l, struct view event)
{
    struct view type = { 0 }, message = { 0 }, delta = { 0 }, usage = { 0 },
                error = { 0 };
    const struct turn_field wanted[] = {
        { "type", &type },   { "message", &message }, { "delta", &delta },
        { "usage", &usage }, { "error", &error },
    };
    turn_known_fields(event, wanted, sizeof(wanted) / sizeof(wanted[0]));
    if (turn_is(type, "content_block_delta"))
        return take_delta(l, delta);
    if (turn_is(type, "message_start"))
        return begin_message(l, message);
    if (turn_is(type, "message_delta"))
        return end_message(l, delta, usage);
    if (turn_is(type, "content_block_stop") || turn_is(type, "message_stop"))
        return claude_lane_stop(l);
    if (turn_is(type, "content_block_start") || turn_is(type, "ping"))
        return 0;
    if (turn_is(type, "error"))
        return tell_error(l, error);
    return claude_other(l, "stream_event", type);
}
