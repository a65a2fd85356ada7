/* SPDX-License-Identifier: MIT */
/* veil_priv.h -- where in an event a model's words are. */
#ifndef CALLS_VEIL_PRIV_H
#define CALLS_VEIL_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct veil_text {
    struct view json; /* the event's data, if that is one line of JSON; else empty */
    struct view
        string;    /* in it, a piece of text, with its quotes; empty: there is none */
    uint64_t lane; /* … of which text */
};

/* All views lie in the event. */
struct veil_text veil_text_find(struct view event);

#endif
