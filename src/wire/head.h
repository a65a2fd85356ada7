/* SPDX-License-Identifier: MIT */
/*
 * head.h -- the head of an HTTP/1.x request, as strictly as RFC 9112 allows.
 *
 * What two readers may take differently is refused: bare LF or CR, folded lines, blanks
 * before a colon, two lengths, a length and chunks, a transfer coding other than chunked,
 * NUL and control characters. Pure.
 */
#ifndef WIRE_HEAD_H
#define WIRE_HEAD_H

#include <stdbool.h>

#include "calls/line.h"

enum { WIRE_HEAD_MAX = 64 << 10, WIRE_HEADERS_MAX = 128, WIRE_TARGET_MAX = 16 << 10 };

struct wire_head {
    struct view method, target;                    /* as they are written */
    unsigned minor;                                /* HTTP/1.<minor>: 0 or 1 */
    struct calls_header headers[WIRE_HEADERS_MAX]; /* values without blanks around them */
    size_t header_count;
    struct view host;    /* empty: none */
    uint64_t length;     /* of the body; 0 where there is none */
    bool is_chunked;     /* its length is not known before */
    bool has_body;       /* a Content-Length (also 0) or chunks were told */
    bool wants_continue; /* Expect: 100-continue */
    bool keeps_alive;    /* the connection may serve another request */
    bool wants_upgrade;
};

/* Why a head is refused: what is answered, and a sentence for the one who reads it. */
struct wire_refusal {
    unsigned status; /* 400, 405, 413, 414, 417, 431, 501, 505 */
    const char *why;
};

/*
 * > 0: the head is so many bytes, and *ret is filled, which borrows from them. 0: more is
 * needed. < 0: it is refused. Empty lines before it (at most two, CRLF) are part of it.
 */
int wire_head_parse(struct view bytes, struct wire_head *ret, struct wire_refusal *why);
/* Names are compared without case. */
bool wire_head_is(struct view name, const char *what);

#endif
