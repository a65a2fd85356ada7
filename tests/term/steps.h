/* SPDX-License-Identifier: MIT */
/* steps.h -- the steps of a terminal case: what they are called and what they do. */
#ifndef STEPS_H
#define STEPS_H

#include "term/case.h"
#include "term/term.h"

/* One run of one case. */
struct steps_run {
    struct term_options opt;
    struct term *t;     /* made by the first step that needs it */
    size_t cut;         /* feed so many bytes at a time; 0: all of them */
    uint64_t byte_off;  /* of the next byte */
    struct buf replies; /* since the last check */
    struct buf why;     /* what was expected and what was found, when a step failed */
};

void steps_run_init(struct steps_run *r, size_t cut);
void steps_run_release(struct steps_run *r);
/* For case_file_read(). */
const char *steps_shape(struct view name);
/* False with the reason in r->why. */
bool steps_do(struct steps_run *r, const struct case_step *s);

#endif
