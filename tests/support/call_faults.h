/* SPDX-License-Identifier: MIT */
/*
 * call_faults.h -- calls to the file system that fail: one of them, or all from one on.
 *
 * For programs that are linked with --wrap for the calls in call_faults.c.
 */
#ifndef CALL_FAULTS_H
#define CALL_FAULTS_H

#include <stdbool.h>

struct call_faults {
    unsigned fail_at, count; /* from 1; 0: none fails */
    bool is_for_ever;
    bool has_failed;
    unsigned syncs; /* whether they fail or not */
};

extern struct call_faults call_faults;

/* From now on, the n-th. */
void call_faults_begin(unsigned n, bool is_for_ever);
/* No more. Were there as many calls? */
bool call_faults_end(void);

#endif
