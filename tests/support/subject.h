/* SPDX-License-Identifier: MIT */
/* subject.h -- a terminal model that is put under load, and what it has cost so far. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "term/term.h"

struct subject {
    struct term *t;
    uint64_t off;  /* how far it was fed */
    size_t before; /* heap in use when it was not yet there */
};

/* Default options, both ceilings as given. */
struct term_options subject_options(uint32_t most_rows);
/* The test fails when there is no memory. */
void subject_init(struct subject *s, const struct term_options *opt);
void subject_release(struct subject *s);
void subject_feed(struct subject *s, const void *p, size_t n);
void subject_puts(struct subject *s, const char *text);
/* Heap in use since it is there. */
size_t subject_cost(const struct subject *s);
/* The test fails when it is more than that. */
void subject_check_cost(const struct subject *s, size_t most, const char *what);
/* After whatever came: the screen can be cleared and written to as ever. */
void subject_check_alive(struct subject *s);

#endif
