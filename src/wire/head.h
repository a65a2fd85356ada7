/* SPDX-License-Identifier: MIT */
/*
 * head.h -- the head of an HTTP/1.x request, as strictly as RFC 9112 allows.
 *
 * What two readers may take differently is refused: bare LF or CR, folded lines, blanks
 * before a colon, two lengths, a length and chunks, a transfer coding other than chunked,
 * NUL and control characters. So is what cannot be forwarded: a target that is no path, a
 * Host that is none. Pure.
 */
#ifndef WIRE_HEAD_H
#define WIRE_HEAD_H

#include <stdbool.h>

#include "calls/line.h"

enum { WIRE_HEAD_MAX = 64 << 10, WIRE_HEADERS_MAX = 128, WIRE_TARGET_MAX = 16 << 10 };
#define WIRE_LENGTH_MAX (UINT64_C(1) << 62) /* of a body, and of a chunk */

struct wire_head {
    struct view method, target;                    /* as they are written */
    unsigned minor;                                /* HTTP/1.<minor>: 0 or 1 */
    struct calls_header headers[WIRE_HEADERS_MAX]; /* values without blanks around them */
    size_t header_count;
    struct view host;    /* name or address, and port if there is one; empty: none */
    uint64_t length;     /* of the body; 0 where there is none */
    bool is_chunked;     /* its length is not known before */
    bool has_body;       /* a Content-Length (also 0) or chunks were told */
    bool wants_continue; /* Expect: 100-continue; never in HTTP/1.0 */
    bool keeps_alive;    /* the connection may serve another request */
    bool wants_upgrade;  /* Upgrade, and Connection names it; never in HTTP/1.0 */
};

/* Why a head is refused: what is answered, and a sentence for the one who reads it. */
struct wire_refusal {
    unsigned status; /* 400, 405, 413, 414, 417, 431, 501, 505 */
    const char *why;
};

/*
 * > 0: the head is so many bytes, and *ret is filled, which borrows from them. 0: more is
 * needed; call again with the same bytes and those that came since. < 0: it is refused,
 * and so is whatever goes on with these bytes, for the same reason; that is known at the
 * first byte that cannot be made good. Empty lines before it (at most two, CRLF) are part
 * of it.
 */
int wire_head_parse(struct view bytes, struct wire_head *ret, struct wire_refusal *why);
/* Names are compared without case. */
bool wire_head_is(struct view name, const char *what);

#endif
