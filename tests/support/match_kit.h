/* SPDX-License-Identifier: MIT */
/* match_kit.h -- requests that are compared; each function fails the test when it does
 * not hold what match.h says. */
#ifndef MATCH_KIT_H
#define MATCH_KIT_H

#include <stdbool.h>

#include "calls/match.h"

struct calls_asked match_post(const char *url, struct view body);
/* To /v1/messages. */
struct calls_asked match_message(const char *body);
void match_normal(struct calls_asked q, struct buf *out);
/* The body of the normal form. */
void match_normal_body(struct calls_asked q, struct buf *out);
void match_difference(struct calls_asked a, struct calls_asked b, struct buf *out);
/* By the normal forms, likeness and difference, which must agree. */
bool match_is_same(struct calls_asked a, struct calls_asked b);

#endif
