/* SPDX-License-Identifier: MIT */
/*
 * line.h -- a line of session.wire.jsonl (doc/wire.md), written and read. Pure.
 */
#ifndef CALLS_LINE_H
#define CALLS_LINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "turn/event.h"

#define CALLS_NONE UINT64_MAX

enum calls_type {
    CALLS_REQUEST,
    CALLS_REQUEST_BODY,
    CALLS_REPLY,
    CALLS_EVENT,
    CALLS_BODY,
    CALLS_END,
};

enum calls_status { CALLS_OK, CALLS_ABORTED, CALLS_ERROR, CALLS_CUT };
/* "ok" */
const char *calls_status_name(enum calls_status s);

struct calls_header {
    struct view name, value;
};

enum { CALLS_HEADERS_MAX = 256 };

/* All views are borrowed. What a type does not have is zero. */
struct calls_line {
    enum calls_type type;
    uint64_t ts_ns, call;
    uint64_t anchor_byte; /* CALLS_NONE: no terminal */

    /* REQUEST */
    struct view upstream, target, method, url;
    unsigned http_minor;
    uint64_t retry_of; /* 0: of none */
    bool has_turns;    /* what is said in it goes to session.turns.jsonl */
    /* REQUEST, REPLY */
    const struct calls_header *headers;
    size_t header_count;
    /* REPLY: of HTTP */
    unsigned status;

    /* REQUEST_BODY, EVENT, BODY. With a base, `ops` is in place of the bytes: a JSON
     * array, see delta.h. */
    struct view bytes, ops;
    uint64_t base;  /* 0: none */
    uint64_t piece; /* REQUEST_BODY, BODY: its number; CALLS_NONE: that of the next one */
    bool is_last;
    uint64_t size_bytes; /* … of the last one; CALLS_NONE: not known */
    uint64_t event;      /* EVENT: its number */
    bool is_held;

    /* END; times and sizes CALLS_NONE: not known */
    enum calls_status end;
    struct view error, model, stop;
    uint64_t sent, received, events, first_byte_ns, first_token_ns, duration_ns;
    struct turn_usage usage;
};

/* One of which nothing is known but these. */
struct calls_line calls_line(enum calls_type type, uint64_t call, uint64_t ts_ns);

/* Appends it with its newline; start_ns: of the session, from which t_ms counts. */
void calls_line_put(const struct calls_line *l, uint64_t start_ns, struct buf *out);
/*
 * Reads one object, whoever wrote it. Texts lie in `texts`, headers in `headers`
 * (CALLS_HEADERS_MAX of them; more are left out); ops stay where they are in `json`.
 * ERR_DAMAGED: it is no line of this file, or has not what its type is there for: the
 * bytes of a body, the number of an event. Fields of the wrong type count as missing.
 */
int calls_line_get(struct view json, struct buf *texts, struct calls_header *headers,
                   struct calls_line *ret);

#endif
