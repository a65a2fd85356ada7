/* SPDX-License-Identifier: MIT */
/*
 * read.h -- the calls of a session.wire.jsonl, whole, archived or not.
 *
 * The file is gone through once, and of each line is remembered where it stands; bodies
 * are made when they are asked for. It may still grow while it is read: what is torn at
 * its end, or comes later, is not seen. A bad line costs nothing but itself, and is told
 * apart where it can be: a body of which a piece is missing is not whole.
 */
#ifndef CALLS_READ_H
#define CALLS_READ_H

#include "calls/line.h"

enum {
    CALLS_LINE_MAX = 160 << 20, /* bytes; a longer one counts as bad */
    CALLS_BODY_MAX = 32 << 20,  /* of a request that may be told by ops */
    CALLS_ALL_MAX = 1 << 30,    /* of a body all in all */
};

struct calls;

/* Is there such a file, with something in it? */
bool calls_exist(const char *path);
/* ERR_MISSING: there is no such file. *ret_is_cut (may be NULL): it is archived, and
 * cannot be read to its end. */
int calls_open(struct calls **ret, const char *path, bool *ret_is_cut, struct err *err);
void calls_close(struct calls *c);
/* Lines with something in them that is no line of this file. */
uint64_t calls_bad_lines(const struct calls *c);
size_t calls_count(const struct calls *c);

/* What is known of a call without its bodies. Texts are good until calls_close(). */
struct calls_facts {
    uint64_t number, ts_ns;
    uint64_t anchor_byte;       /* of the request; CALLS_NONE */
    uint64_t reply_anchor_byte; /* of the reply's head; CALLS_NONE */
    uint64_t end_anchor_byte;   /* … of the end */
    struct view upstream, target, method, url;
    uint64_t retry_of; /* 0: of none */
    bool has_turns;    /* what is said in it stands in session.turns.jsonl */
    unsigned http_minor;
    unsigned status; /* of HTTP; 0: no reply */
    bool is_stream;  /* the reply has events */
    size_t events;
    uint64_t last_ns; /* of its last line */
    bool has_end;     /* else it is going on, or was cut off */
    enum calls_status end;
    struct view error, model, stop;
    uint64_t sent, received, first_byte_ns, first_token_ns, duration_ns;
    uint64_t request_size; /* as the client sent it; CALLS_NONE */
    struct turn_usage usage;
};

/* Nobody goes on with them: those without an end are cut off from now on. How many. */
size_t calls_settle(struct calls *c);

/* In the order of their first lines; i < calls_count(). */
const struct calls_facts *calls_facts(const struct calls *c, size_t i);
/* SIZE_MAX: there is none. */
size_t calls_find(const struct calls *c, uint64_t number);

struct calls_event {
    uint64_t ts_ns;
    uint64_t anchor_byte; /* CALLS_NONE */
    struct view bytes;
};

/* One event of a call, as it was told last; good until the next call to any of these.
 * ERR_DAMAGED: it is missing, or cannot be read. */
int calls_event(struct calls *c, size_t i, uint64_t number, struct calls_event *ret);

/* A call whole; good until the next calls_get(). */
struct calls_whole {
    const struct calls_facts *facts;
    const struct calls_header *request_headers, *reply_headers;
    size_t request_header_count, reply_header_count;
    struct view request;   /* its body, as it was recorded */
    bool is_request_whole; /* else lines of it, or of what it is told by, are missing */
    struct view reply;     /* the events' bytes or the body's, all of them */
    /* Else there is none, or pieces, events, or what would tell its end are missing. How
     * it came to its end is in the facts. */
    bool is_reply_whole;
    const struct calls_event *events; /* pieces of `reply`: its events if it is a stream,
                                         else as they came */
    size_t event_count;
};

/* What damage has left of it is handed out; ERR_LIMIT: it is too large. */
int calls_get(struct calls *c, size_t i, struct calls_whole *ret, struct err *err);
/* Has something been lost of it? What never came is not. */
bool calls_is_damaged(const struct calls_whole *w);

#endif
