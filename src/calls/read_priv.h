/* SPDX-License-Identifier: MIT */
/* read_priv.h -- where the lines of each call stand. */
#ifndef CALLS_READ_PRIV_H
#define CALLS_READ_PRIV_H

#include "calls/read.h"

/* An object in the file. */
struct place {
    uint64_t at;
    uint32_t n; /* 0: there is none */
};

/* A piece of a body, or an event. One that comes again is in place of the first, but has
 * come when that did. */
struct piece_place {
    struct place place;
    uint64_t number, ts_ns, anchor_byte;
};

struct call {
    struct calls_facts facts;
    struct place request, reply, end;
    struct buf request_body, body, events;      /* struct piece_place, by their numbers */
    bool has_last_of_request, has_last_of_body; /* pieces */
    uint64_t events_told;                       /* by the end; CALLS_NONE */
    struct buf texts;                           /* what `facts` borrows … */
    struct buf end_texts;                       /* … of the end */
};

struct by_number {
    uint64_t number;
    size_t index;
};

enum { READ_KNOWN = 4 };

/* A body that was made. */
struct known_body {
    uint64_t call; /* 0: none */
    uint64_t used;
    bool is_whole;
    uint64_t base; /* 0: it is told by none */
    size_t alike;  /* bytes that it begins with as that does */
    struct buf body;
};

struct calls {
    int fd; /* of plain lines */
    uint64_t bad_lines;
    size_t kept_bytes; /* of all that is kept of lines */
    struct call *all;
    size_t count, room;
    struct by_number *order; /* of all, by their numbers */
    struct known_body known[READ_KNOWN];
    struct buf made; /* the next of them */
    uint64_t uses;
    /* of the call that was asked for last */
    struct buf line, texts, request_texts, reply_texts, reply, events;
    struct calls_header headers[CALLS_HEADERS_MAX]; /* scratch */
    struct calls_header request_headers[CALLS_HEADERS_MAX];
    struct calls_header reply_headers[CALLS_HEADERS_MAX];
};

/* As calls_open(); pace (NULL: none) is called now and then. */
int calls_open_paced(struct calls **ret, const char *path, bool *ret_is_cut,
                     void (*pace)(void *ctx), void *ctx, struct err *err);
/* NULL: there is none of that number. */
struct call *calls_by_number(const struct calls *c, uint64_t number);

/* -- read_call.c: parts of calls_get(), as good for as long -- */

/* A request's body. */
struct calls_request {
    struct view body;
    bool is_whole;
    uint64_t base; /* the call whose body it is told by; 0: none, or not known */
    size_t alike;  /* bytes that it begins with as that does */
};

int calls_get_request(struct calls *c, size_t i, struct calls_request *ret,
                      struct err *err);
int calls_get_headers(struct calls *c, size_t i, const struct calls_header **ret,
                      size_t *ret_count);
/* All but what is of the request. */
int calls_get_reply(struct calls *c, size_t i, struct calls_whole *ret, struct err *err);

#endif
