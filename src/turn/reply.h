/* SPDX-License-Identifier: MIT */
/*
 * reply.h -- from what a model's API replies to events.
 *
 * Pure. A reply is one message of the model's, streamed (SSE) or in one piece of JSON:
 *
 *     turn_reply_new(&r, TURN_API_AUTO);
 *     turn_reply_feed(r, bytes, fn, ctx); // as they come; or turn_reply_body()
 *     turn_reply_end(r, fn, ctx);
 *     … turn_reply_facts(r) …
 *     turn_reply_free(r);
 *
 * Texts and thinking come as pieces (is_partial), and whole where they end. A tool call
 * comes as its beginning (is_partial, id and name), then pieces of its arguments
 * (is_partial, id, json), then whole with all of them; arguments that are no JSON are
 * handed out as they are. A reply in one piece has no pieces. A call that has its
 * TURN_TOOL_RESULT in the reply was made by the API itself.
 *
 * A reply that breaks off has told a prefix of its events. Its end then hands out what
 * was never told whole, was_cut_off; its usage is a lower bound, not is_final, in which
 * what was cached may still count as input. What has said anything has a TURN_USAGE; if
 * the API tells no numbers, one without any.
 *
 * Should a stream of the Messages API hold another message, with another id, that is told
 * too: the one before ends there, and the facts are of the last.
 *
 * Events that are not known are ignored; malformed JSON, and what is over a ceiling,
 * becomes a warning and costs nothing else.
 */
#ifndef TURN_REPLY_H
#define TURN_REPLY_H

#include "turn/event.h"
#include "turn/sse.h"

enum turn_api {
    TURN_API_AUTO,             /* by the first event that tells */
    TURN_API_ANTHROPIC,        /* Messages */
    TURN_API_OPENAI_CHAT,      /* Chat completions, also of other vendors and servers */
    TURN_API_OPENAI_RESPONSES, /* Responses */
};

enum {
    /* Bytes that are being said at the same time; of an event of the stream; of a reply
     * in one piece; more is cut off. All in all a reply may need a few times that. */
    TURN_REPLY_MAX = 64 << 20,
    TURN_REPLY_MAX_LEAST = 64 << 10,
    TURN_REPLY_USAGE = 4096, /* … of raw_usage; a longer one is none */
    TURN_REPLY_USAGE_MEMBERS = 32,
};

/* "anthropic"; "openai-chat"; "openai-responses"; "auto". */
const char *turn_api_name(enum turn_api api);
/* By an event's name (may be empty) and data, or by a reply in one piece (no name);
 * TURN_API_AUTO: they do not tell. */
enum turn_api turn_api_guess(struct view name, struct view data);

/* What the reply is, as far as it has come. Borrowed: good until the next call. */
struct turn_reply_facts {
    enum turn_api api;
    struct view id, model; /* of the message; empty: not told */
    struct view stop;      /* why it has ended, in the API's own word; empty: not told */
    struct turn_usage usage;
    bool is_final; /* that is all; else a lower bound */
    /* What was used in the API's own words, a JSON object; empty: none was told. What
     * came later stands in place of what came before: each member, or with more than
     * TURN_REPLY_USAGE_MEMBERS in either of the two all of it. */
    struct view raw_usage;
    bool is_whole;   /* its end was told (message_stop, [DONE], response.completed) */
    bool has_failed; /* it told an error */
    uint64_t before; /* so many messages stood before it in the stream; of these are no
                        facts */
};

struct turn_reply;

int turn_reply_new(struct turn_reply **ret, enum turn_api api);
void turn_reply_free(struct turn_reply *r);
/* Another ceiling than TURN_REPLY_MAX, before anything comes; less than
 * TURN_REPLY_MAX_LEAST becomes that. */
void turn_reply_set_max(struct turn_reply *r, size_t bytes);
/* Bytes of a stream, however they are cut. */
int turn_reply_feed(struct turn_reply *r, struct view bytes, turn_event_fn fn, void *ctx);
/* An event of a stream that the caller reads himself. */
int turn_reply_event(struct turn_reply *r, const struct turn_sse_event *e,
                     turn_event_fn fn, void *ctx);
/* A reply, or an error, that is one piece of JSON. Nothing at all is nothing; as long as
 * the API is not known, so is what is no object (a page of a gateway, say). */
int turn_reply_body(struct turn_reply *r, struct view json, turn_event_fn fn, void *ctx);
/* Nothing more comes. The facts stay. */
int turn_reply_end(struct turn_reply *r, turn_event_fn fn, void *ctx);
struct turn_reply_facts turn_reply_facts(const struct turn_reply *r);

#endif
