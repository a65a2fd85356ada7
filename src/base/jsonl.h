/* SPDX-License-Identifier: MIT */
/*
 * jsonl.h -- objects, one a line, out of a file that has been through something.
 *
 * Pure: bytes in, however they are cut. A good object is never lost for what stands
 * beside it: a torn line, two objects on one line, a BOM, a carriage return, what a disk
 * without power has left. A NUL ends a line, too: no line of ours has one, and such a
 * disk leaves runs of them.
 */
#ifndef BASE_JSONL_H
#define BASE_JSONL_H

#include <stdbool.h>

#include "base/buf.h"

/* 1: it is one. 0: it is none, or more than one. An error (< 0) ends the reading and is
 * returned. */
typedef int (*jsonl_fn)(void *ctx, struct view object);
/* A line has something in it that is none; once a line, its number is from 1. */
typedef void (*jsonl_bad_fn)(void *ctx, uint64_t line);

struct jsonl {
    jsonl_fn fn;
    jsonl_bad_fn bad;
    void *ctx;         /* of both */
    const char *begin; /* how an object begins that was written behind a torn one */
    struct buf line;   /* with the caller's ceiling: a longer line is a bad one */
    uint64_t ended;    /* lines before the one at hand */
    uint64_t at;       /* of all bytes that were fed, where that one begins: an object
                          in it lies at `at` + (object.p - line.p) */
    uint64_t fed;
    bool is_bad; /* that one has been told */
};

void jsonl_release(struct jsonl *j);
int jsonl_feed(struct jsonl *j, struct view bytes);
/* What stands last has no newline behind it. */
int jsonl_end(struct jsonl *j);
/* All objects of a line, which has no newline in it. */
int jsonl_take(struct jsonl *j, struct view line);

#endif
