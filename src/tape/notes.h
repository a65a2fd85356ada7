/* SPDX-License-Identifier: MIT */
/*
 * notes.h -- a reader's notices, kept.
 *
 * A list with a ceiling: past it only the number counts on, so that a file made of damage
 * cannot fill the memory.
 */
#ifndef TAPE_NOTES_H
#define TAPE_NOTES_H

#include "tape/reader.h"

enum { TAPE_NOTES_MAX = 1000 }; /* of warnings, and of damages */

struct tape_note {
    enum tape_notice_kind kind;
    uint64_t offset, length;
    char *file, *text; /* owned */
};

struct tape_notes {
    struct tape_note *list;
    size_t count;
    size_t warnings; /* in the list */
    size_t left_out; /* notices that are not in the list */
    size_t damages;  /* damaged or torn ones, listed or not */
    bool is_torn;
};

/* A tape_notice_fn whose ctx is a struct tape_notes. */
void tape_notes_add(void *notes, const struct tape_notice *n);
void tape_notes_release(struct tape_notes *notes);

#endif
