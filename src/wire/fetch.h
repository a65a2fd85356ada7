/* SPDX-License-Identifier: MIT */
/*
 * fetch.h -- requests to the upstreams: HTTP/1.1 by libcurl, on a libuv loop.
 *
 * What the upstream sends is handed out as it comes, without its framing and otherwise
 * byte for byte; connections are kept for the next request. Nothing is followed, stored
 * or added on the way.
 */
#ifndef WIRE_FETCH_H
#define WIRE_FETCH_H

#include <uv.h>

#include "calls/line.h"

struct fetches;
struct fetch;

struct fetch_request {
    const char *method;
    const char *url;
    const struct calls_header *headers; /* without those of one connection */
    size_t header_count;
    bool has_body;
    uint64_t length; /* of the body; FETCH_CHUNKED: it is not known before */
};

#define FETCH_CHUNKED UINT64_MAX

/* Why there is no reply, or no more of it. */
enum fetch_end {
    FETCH_OK,
    FETCH_UNREACHABLE, /* no address, no connection */
    FETCH_UNTRUSTED,   /* its certificate is refused, or it has none */
    FETCH_BROKEN,      /* the connection broke off */
    FETCH_MISSING,     /* a recording in the upstream's place does not have it */
};

struct fetch_events {
    /* The head of the reply; reason may be empty. Borrowed. */
    void (*head)(void *ctx, unsigned status, struct view reason,
                 const struct calls_header *headers, size_t n);
    /* A piece of the body. False: not now; it comes again after fetch_resume(). */
    bool (*data)(void *ctx, struct view bytes);
    /* More of the request's body, at most n bytes; 0 and *ret_is_end: there is no more; 0
     * alone: not now, fetch_resume() asks again. */
    size_t (*more)(void *ctx, uint8_t *p, size_t n, bool *ret_is_end);
    /* The body is wanted once more from its beginning, as a connection that was kept had
     * gone. False: it is not there any more. */
    bool (*again)(void *ctx);
    /* It has ended; the fetch is no more. why: for people; empty: nothing is wrong. */
    void (*done)(void *ctx, enum fetch_end end, const char *why);
};

/* ca_file: certificates to trust in place of the system's; NULL: those. */
int fetches_new(struct fetches **ret, uv_loop_t *loop, const char *ca_file,
                struct err *err);
/* All that are going on end without a word. The loop has to run once more. */
void fetches_free(struct fetches *f);
int fetch_start(struct fetches *f, const struct fetch_request *r,
                const struct fetch_events *events, void *ctx, struct fetch **ret);
void fetch_resume(struct fetch *f);
/* Without a word; its connection is closed. */
void fetch_cancel(struct fetch *f);
/* Of libcurl, with what it is made of. */
const char *fetch_version(void);

#endif
