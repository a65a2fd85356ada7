/* SPDX-License-Identifier: MIT */
/*
 * har.h -- calls as an HTTP Archive (HAR 1.2), entry by entry.
 *
 *     calls_har_begin(&h, &out);
 *     calls_har_entry(&h, &whole);
 *     calls_har_end(&h);
 *
 * What stands in it is what was recorded: masked, and replies decoded. Members that begin
 * with "_" are ours: which call it is, when each event came, how it ended. Pure.
 */
#ifndef CALLS_HAR_H
#define CALLS_HAR_H

#include "base/json.h"
#include "calls/read.h"

struct calls_har {
    struct json json; /* its `out` may be emptied between entries */
};

void calls_har_begin(struct calls_har *h, const char *title, struct buf *out);
int calls_har_entry(struct calls_har *h, const struct calls_whole *w);
void calls_har_end(struct calls_har *h);

#endif
