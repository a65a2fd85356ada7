/* SPDX-License-Identifier: MIT */
/* steps.h -- what the mock agent does, step by step, and how long it takes over it. */
#ifndef STEPS_H
#define STEPS_H

#include "base/json.h"
#include "mock/region.h"

struct agent {
    struct page page;
    uint32_t rng;
    double speed;        /* times as fast; 0: without pauses */
    uint64_t rate;       /* bytes a second, whatever the pauses; 0: by the pauses */
    uint64_t started_ns; /* clock_mono_ns() */
    struct region shown;
    struct json steps; /* of each step: its kind, and the byte at which it ended */
    bool takes_snapshots, is_instructed; /* by the recorder that it runs in */
    const char *troubled;                /* by whom, when a step has failed */
    uint64_t next_snapshot_id, last_end_byte;
    unsigned told;                    /* instructions so far */
    struct json snapshots, instructs; /* of each: what is true, and the reply */
};

/* Is there a kind of step of this name? */
bool steps_has(const char *kind);
/* One step, of a kind that the seed chooses unless it is given; 0 or -errno. At its end
 * all is written, and the region stands. */
int steps_run(struct agent *a, const char *kind);

/* Before the first step and behind the last. */
int steps_hello(struct agent *a);
int steps_goodbye(struct agent *a);

#endif
