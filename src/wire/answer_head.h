/* SPDX-License-Identifier: MIT */
/*
 * answer_head.h -- the head of an upstream's reply, as lines of it have come.
 *
 * libcurl knows where the body ends; what it goes by is not passed on beside something
 * else: a Content-Length beside chunks goes, and where lengths differ, or are no plain
 * numbers, or where there are more headers than are passed on, the head is refused: the
 * client could read another body than we do. Pure.
 */
#ifndef WIRE_ANSWER_HEAD_H
#define WIRE_ANSWER_HEAD_H

#include "calls/line.h"

struct wire_answer_head {
    struct view reason; /* may be empty */
    struct calls_header headers[CALLS_HEADERS_MAX];
    size_t count;
};

/* bytes: the lines of the head, the first with the status, without the empty one at its
 * end; *ret borrows from them. ERR_DAMAGED: it is refused, and *ret_why says why. */
int wire_answer_head_read(struct view bytes, struct wire_answer_head *ret,
                          const char **ret_why);

#endif
