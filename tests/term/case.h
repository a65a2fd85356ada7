/* SPDX-License-Identifier: MIT */
/*
 * case.h -- a file of terminal cases as steps: words and strings, checked for their shape
 * before anything runs. The language is described in run_cases.c.
 */
#ifndef CASE_H
#define CASE_H

#include <stdbool.h>

#include "base/buf.h"

enum { CASE_ARGS_MAX = 32 };

struct case_step {
    unsigned line; /* in the file, from 1 */
    size_t n_args; /* the step's name not counted */
    struct view name;
    struct view args[CASE_ARGS_MAX]; /* strings without quotes and escapes */
};

struct case_one {
    struct view name;
    struct case_step *steps;
    size_t n_steps;
};

/* Zeroed it is ready for use. All views point into `text`. */
struct case_file {
    struct buf text;
    struct case_one *cases;
    size_t n_cases;
};

bool case_same(struct view a, struct view b);
bool case_is(struct view a, const char *s);
/* A number; 0 when the word is none. */
uint64_t case_number(struct view word);
/* The same of an argument, 0 also when it is missing. */
unsigned case_number_at(const struct case_step *s, size_t i);
/*
 * Reads the file at path. shape_of() gives the shape of a step's arguments, NULL for a
 * name it does not know: n a number, b yes or no, w a word, s a string, a a word or a
 * string; ? before the last: it may be missing; * before the last: any count of it.
 */
int case_file_read(struct case_file *f, const char *path,
                   const char *(*shape_of)(struct view name), struct err *err);
void case_file_release(struct case_file *f);

#endif
