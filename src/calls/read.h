/* SPDX-License-Identifier: MIT */
/*
 * read.h -- the calls of a session.wire.jsonl, whole.
 *
 * The file is gone through once, and of each line is remembered where it stands; bodies
 * are made when they are asked for. It may still grow while it is read: what is torn or
 * comes later is not seen. A bad line costs nothing but itself.
 */
#ifndef CALLS_READ_H
#define CALLS_READ_H

#include "calls/line.h"

struct calls;

/* ERR_MISSING: there is no such file. */
int calls_open(struct calls **ret, const char *path, struct err *err);
void calls_close(struct calls *c);
/* Lines with something in them that is no line of this file. */
uint64_t calls_bad_lines(const struct calls *c);
size_t calls_count(const struct calls *c);

/* What is known of a call without its bodies. Strings are good until calls_close(). */
struct calls_facts {
    uint64_t number, ts_ns;
    uint64_t anchor_byte; /* of the request; CALLS_NONE */
    uint64_t reply_anchor_byte,
        end_anchor_byte; /* of the first event or the reply's head */
    struct view upstream, target, method, url;
    uint64_t retry_of; /* 0: of none */
    unsigned http_minor;
    unsigned status; /* of HTTP; 0: no reply */
    bool is_stream;  /* the reply has events */
    size_t events;
    bool has_end; /* else it is going on, or was cut off */
    enum calls_status end;
    struct view error, model, stop;
    uint64_t sent, received, first_byte_ns, first_token_ns, duration_ns;
    struct turn_usage usage;
};

/* In the order of their requests; i < calls_count(). */
const struct calls_facts *calls_facts(const struct calls *c, size_t i);

struct calls_event {
    uint64_t ts_ns;
    struct view bytes;
};

/* A call whole; good until the next calls_get(). */
struct calls_whole {
    const struct calls_facts *facts;
    const struct calls_header *request_headers, *reply_headers;
    size_t request_header_count, reply_header_count;
    struct view request;              /* its body, as it was recorded */
    bool is_request_whole;            /* else lines of it are missing */
    struct view reply;                /* the events' bytes or the body's, all of them */
    const struct calls_event *events; /* pieces of `reply` */
    size_t event_count;
};

int calls_get(struct calls *c, size_t i, struct calls_whole *ret, struct err *err);

#endif
