/* SPDX-License-Identifier: MIT */
/* entire_priv.h -- the parts of entire.c: the folder, the lines that are there,
 * prompt.txt and context.md. */
#ifndef JOURNAL_ENTIRE_PRIV_H
#define JOURNAL_ENTIRE_PRIV_H

#include "turn/transcript.h"

/* -- entire_folder.c -- */

/* <root>/.entire/metadata/<session>: a descriptor, or -errno; -ELOOP for a link on the
 * way. is_made: what is missing is made. */
int entire_folder_open(const char *root, const char *session, bool is_made);
/* The file in it, whole and synced, or not at all; 1: there is one, which stays. */
int entire_folder_put(int dir_fd, const char *name, struct view bytes);

/* -- entire_known.c -- */

struct entire_known {
    struct buf lines;          /* struct entire_line, by uuid */
    struct buf ids;            /* of their messages */
    struct buf branch;         /* of the last line that has one */
    char last[TURN_UUID_SIZE]; /* of the last line; "": none */
    bool has_holes;            /* a line follows one that is not the one before it */
};

void entire_known_release(struct entire_known *k);
/* The lines of the file, which then ends with a newline: what has none at its end is cut
 * off if it is a torn line of ours, else ended. */
int entire_known_read(struct entire_known *k, int fd);
bool entire_known_find(const struct entire_known *k, const char *uuid,
                       struct turn_transcript_known *ret);

/* -- entire_prompt.c -- */

/* Zeroed it is ready for use; who holds it releases `text`. */
struct entire_prompt {
    enum { ENTIRE_PROMPT_NONE, ENTIRE_PROMPT_WAITS, ENTIRE_PROMPT_DONE } state;
    struct buf text;
    bool is_open;    /* it may go on … */
    bool has_more;   /* … and has, since it was written … */
    bool is_our_own; /* … by us */
    bool is_left; /* a file is there that may be a dead writer's: see when it is over */
};

/* What a dead writer has left: one that it had not put in its place yet goes. */
void entire_prompt_find(struct entire_prompt *p, int dir_fd);

/* What the user says. is_plain: the first is a line of more. */
int entire_prompt_add(struct entire_prompt *p, struct view text, bool is_plain);
/* No more of it comes. */
void entire_prompt_end(struct entire_prompt *p);
/* The file, where it waits for being written; else nothing. */
int entire_prompt_put(struct entire_prompt *p, int dir_fd);

/* -- entire_context.c -- */

/* Key actions. Zeroed it is ready for use. */
struct entire_actions {
    struct buf lines;
    uint64_t count, more; /* those that are listed, and those that are not */
    struct buf open;      /* ids of calls that wait for their results; base/parts.h */
};

/* A call counts, but not once more while it waits for its result; with the end of an
 * iteration none waits any more. */
int entire_actions_see(struct entire_actions *a, const struct turn_event *e);
void entire_actions_release(struct entire_actions *a);
/* Appends context.md. */
int entire_context(const char *session, struct view model, uint64_t start_ns,
                   const struct entire_actions *a, struct buf *out);

#endif
