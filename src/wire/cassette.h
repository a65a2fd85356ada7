/* SPDX-License-Identifier: MIT */
/*
 * cassette.h -- a recording in the place of the upstreams.
 *
 * A request is answered as the recorded one was that is the same but for what differs
 * from run to run (calls/match.h): of the same upstream if there is such a one, and of
 * those the one of the same conversation, known by its ids. Where the same was asked
 * several times, its answers come in their order, and the last one from then on.
 */
#ifndef WIRE_CASSETTE_H
#define WIRE_CASSETTE_H

#include "calls/mask.h"
#include "wire/fetch.h"

struct cassette;
struct cassette_play;

/* wire_path: of a session.wire.jsonl. What of it is damaged, and which calls are left out
 * therefore, is appended to `told`, a line each. */
int cassette_open(struct cassette **ret, const char *wire_path, struct redact *redact,
                  struct buf *told, struct err *err);
void cassette_free(struct cassette *c);
/* Told of each request that it has no answer to, and why: "POST /v1/messages: …", a line
 * for people. */
typedef void (*cassette_miss_fn)(void *ctx, const char *text);
void cassette_on_miss(struct cassette *c, cassette_miss_fn fn, void *ctx);
/* How many calls it can answer. */
size_t cassette_count(const struct cassette *c);
/* Appends the upstreams that are in it, "name=URL,…", so that an agent is told of each;
 * the URLs are nobody's. */
int cassette_upstreams(const struct cassette *c, struct buf *out);

struct cassette_asked {
    /* Has learnt from the request's headers; the cassette's scanner and what the URL says
     * come to it. */
    struct calls_mask *mask;
    const char *upstream;          /* its name */
    struct view method, url, body; /* url: without the secret segment */
};

/*
 * Answers by events->head, data and done, which may be before this returns; a miss is a
 * FETCH_MISSING with the nearest recorded request and the first difference. is_original:
 * event by event as they came, else all at once.
 */
void cassette_answer(struct cassette *c, uv_loop_t *loop,
                     const struct cassette_asked *asked, bool is_original,
                     const struct fetch_events *events, void *ctx,
                     struct cassette_play **ret);
void cassette_resume(struct cassette_play *p);
void cassette_cancel(struct cassette_play *p);

#endif
