/* SPDX-License-Identifier: MIT */
/*
 * learnt.h -- texts that were learnt, all of them looked for at once.
 *
 * The time is linear in what is searched, however many they are and however they begin
 * alike: whoever is on the wire may say as many as he likes.
 */
#ifndef CALLS_LEARNT_H
#define CALLS_LEARNT_H

#include "base/buf.h"

enum {
    CALLS_LEARNT_TEXT_MAX = 16 << 10, /* bytes of one */
    CALLS_LEARNT_MAX = 128 << 10, /* … of all; what they begin alike with counts once */
};

struct calls_learnt;

/* *l is made when it is NULL. One that is too long, for which there is no room, or that
 * is known is not taken. */
void calls_learnt_add(struct calls_learnt **l, struct view v);
void calls_learnt_free(struct calls_learnt *l);

/* In the order of their beginnings; none lies in another one, but they may overlap. */
typedef void (*calls_learnt_fn)(void *ctx, size_t start, size_t end);

/* Tells where in the text they stand. 0 or -ENOMEM. */
int calls_learnt_find(struct calls_learnt *l, struct view text, calls_learnt_fn fn,
                      void *ctx);
/* How many bytes at its end one may begin with that goes on, and is no longer than `max`
 * bytes. */
size_t calls_learnt_begun(struct calls_learnt *l, struct view text, size_t max);

#endif
