/* SPDX-License-Identifier: MIT */
/*
 * alloc_faults.h -- allocations that fail: one of them, or all from one on.
 *
 * For programs that are linked with --wrap for malloc, calloc, realloc and strdup.
 */
#ifndef ALLOC_FAULTS_H
#define ALLOC_FAULTS_H

#include <stdbool.h>

struct alloc_faults {
    bool is_on;
    bool is_for_ever;
    unsigned count, fail_at; /* from 1 */
};

extern struct alloc_faults faults;

#endif
