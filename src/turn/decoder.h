/* SPDX-License-Identifier: MIT */
/*
 * decoder.h -- from the bytes of an agent's standard output to events.
 *
 * Pure. However the bytes are cut into pieces, the events are the same. What is no JSON
 * where JSON is expected becomes a warning ("malformed JSON: …") and costs nothing else;
 * an object of a type that is not known becomes TURN_OTHER.
 *
 * TURN_AUTO looks at each line until it knows the format by one; lines before that are
 * text, as all of them are with TURN_PLAIN.
 */
#ifndef TURN_DECODER_H
#define TURN_DECODER_H

#include "turn/event.h"

enum turn_agent {
    TURN_AUTO,
    TURN_CLAUDE,
    TURN_CODEX,
    TURN_GEMINI,
    TURN_OPENCODE,
    TURN_PLAIN,
};

enum {
    TURN_LINE_MAX = 64 << 20, /* bytes of a JSON line; a longer one is malformed */
    TURN_PLAIN_MAX = 1 << 20, /* … of a line of text; a longer one comes in pieces, all
                                 but the last was_cut_off */
};

/* "claude"; TURN_PLAIN is "text". */
const char *turn_agent_name(enum turn_agent agent);

struct turn_decoder;

int turn_decoder_new(struct turn_decoder **ret, enum turn_agent agent);
void turn_decoder_free(struct turn_decoder *d);
int turn_decoder_feed(struct turn_decoder *d, struct view bytes, turn_event_fn fn,
                      void *ctx);
/* Nothing has come for a moment: what there is of a line of text (a question, say) is
 * handed out as a piece. Never anything of a line that may be JSON. */
int turn_decoder_rest(struct turn_decoder *d, turn_event_fn fn, void *ctx);
/* The end of the output: a last line without a newline counts; what was said in pieces
 * and never whole is handed out, was_cut_off. Then as new, but for what a session of the
 * agent's has used, where another process goes on with it and tells the sum of all. */
int turn_decoder_end(struct turn_decoder *d, turn_event_fn fn, void *ctx);
/* What it turned out to be; TURN_AUTO: not known yet. */
enum turn_agent turn_decoder_agent(const struct turn_decoder *d);

#endif
