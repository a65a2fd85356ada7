/* SPDX-License-Identifier: MIT */
/* crowd_http.h -- one HTTP/1.1 message taken apart as it comes, requests and replies. */
#ifndef TESTS_CROWD_HTTP_H
#define TESTS_CROWD_HTTP_H

#include <stdbool.h>

#include "base/buf.h"

enum crowd_part {
    CROWD_HEAD,
    CROWD_LENGTH,
    CROWD_SIZE,
    CROWD_CHUNK,
    CROWD_CRLF,
    CROWD_END
};

/* Zeroed it is before the first byte. */
struct crowd_http {
    enum crowd_part part;
    struct buf head; /* up to its blank line; behind it a chunk's size */
    size_t head_end;
    uint64_t left;
    bool is_last; /* chunk */
};

/* Takes from *rest. 1: *ret_body is a piece of the body, call again. 0: more is needed,
 * or it has ended (part is CROWD_END, and what is left is of the next one). -1: it is
 * none. */
int crowd_http_next(struct crowd_http *h, struct view *rest, struct view *ret_body);
/* The value of a header, as a string that lasts until the next call; NULL: none. */
const char *crowd_http_header(struct crowd_http *h, const char *name);
/* For the next message. */
void crowd_http_clear(struct crowd_http *h);
void crowd_http_release(struct crowd_http *h);

#endif
