/* SPDX-License-Identifier: MIT */
/*
 * match.h -- is a request the one that was recorded?
 *
 * Requests are compared by method, path and body; what differs from run to run though the
 * same is asked is left out of account: headers, cache markers (cache_control), who asks
 * (metadata, user, prompt_cache_key and their like), ids of messages and calls, UUIDs,
 * moments of time and dates, how long something took, commits' names, temporary folders'
 * random names, ports of this machine, the order of an object's members, secrets' masks.
 * Pure.
 */
#ifndef CALLS_MATCH_H
#define CALLS_MATCH_H

#include "base/buf.h"

struct calls_asked {
    struct view method, url, body;
};

/*
 * Appends the request in its normal form: two that are the same have the same bytes. A
 * secret is left out by its mask only: what is masked in one is masked in the other. Time
 * is linear. An error (no memory, no room in out) leaves out as it was.
 */
int calls_match_normal(const struct calls_asked *q, struct buf *out);
/*
 * The same, and a hash of each value in whose place a number is (uint32_t, in that order)
 * is appended to `ids`: of two requests that are the same the same ids tell that they are
 * of the same conversation.
 */
int calls_match_normal_ids(const struct calls_asked *q, struct buf *out, struct buf *ids);
/* How much alike two texts are: bytes that they begin and end alike, of 1000. */
unsigned calls_match_likeness(struct view a, struct view b);
/* How near two normal forms are: the likeness of their bodies, and 500 more where method
 * and path are the same. */
unsigned calls_match_nearness(struct view a, struct view b);

/* A normal form at a hundredth of its size, to find the nearest of many. */
struct calls_outline {
    uint32_t head; /* hash of method and path */
    size_t bytes;  /* of the body */
    size_t pieces;
    uint32_t *marks; /* a hash of each from the beginning on, then from the end on */
};

int calls_outline_make(struct view normal, struct calls_outline *ret);
void calls_outline_release(struct calls_outline *o);
/* As of the normal forms, in whole pieces: a few bytes less. */
unsigned calls_outline_nearness(const struct calls_outline *a,
                                const struct calls_outline *b);

/*
 * Appends a line that tells where they first differ, and what stands there in each:
 * "messages[2].content[0].text: recorded "…", asked "…"". Values are cut to some 200
 * bytes around the place, the whole is at most 700 bytes of UTF-8 without control
 * characters. Nothing if they are the same.
 */
int calls_match_difference(const struct calls_asked *recorded,
                           const struct calls_asked *asked, struct buf *out);

#endif
