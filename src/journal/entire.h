/* SPDX-License-Identifier: MIT */
/*
 * entire.h -- a conversation as Entire keeps it, in its project (seed 002):
 *
 *     <root>/.entire/metadata/<session>/full.jsonl   a line a turn (turn/transcript.h)
 *                                       prompt.txt   what the user said first
 *                                       context.md   facts and key actions, at the end
 *
 * Whoever has the events feeds them; they are masked already. All is made with the first
 * line: folders 0700, files 0600. What else lies in .entire/ is never touched, and no
 * link is followed. A line is in the file, by one write, when its turn is complete or
 * nothing has come for a moment (journal_entire_due_ns() tells when to call tick); it is
 * not synced. prompt.txt and context.md are there whole or not at all, and one that is
 * there is left alone.
 *
 * Trouble with the disk never stops the caller: what cannot be written waits, up to 8
 * MiB; lines that do not fit are counted, and the next one follows the one before them.
 */
#ifndef JOURNAL_ENTIRE_H
#define JOURNAL_ENTIRE_H

#include <sys/types.h>

#include "turn/event.h"

struct journal_entire_options { /* all borrowed until it is freed */
    const char *root;           /* the project's folder, absolute */
    const char *session, *version;
    const char *cwd, *model; /* until an event tells; NULL: not known */
    const char *git_branch;  /* NULL: not known */
    uint64_t start_ns;
    /* What the user says comes line by line: prompt.txt has all that comes before
     * anything else, up to 16 MiB; what there is at first, and once more when that is
     * over. */
    bool is_plain;
};

struct journal_entire;

/* Does the project want it: is there a folder .entire? */
bool journal_entire_is_wanted(const char *root);

/* Makes nothing on disk. */
int journal_entire_open(struct journal_entire **ret,
                        const struct journal_entire_options *opt);
/*
 * The same for what a writer that is dead has left: fed with the same events and times
 * it adds what is missing; an event that is lost by now changes no other one's line. A
 * torn last line is cut off, and a prompt.txt that has but the first lines of what was
 * said is replaced. ERR_MISSING: there is no such folder (any more); none is made.
 * opt->git_branch: where no line has one.
 */
int journal_entire_open_again(struct journal_entire **ret,
                              const struct journal_entire_options *opt, struct err *err);
void journal_entire_free(struct journal_entire *e);

/* Its lines wait for journal_entire_write(), so that the events can be on disk before
 * them. */
int journal_entire_add(struct journal_entire *e, const struct turn_event *event,
                       uint64_t ts_ns);
/* For context.md alone: no line is made of it. */
int journal_entire_note(struct journal_entire *e, const struct turn_event *event);
/* The user has said all, as far as is known. Nothing is written yet. */
void journal_entire_asked(struct journal_entire *e);
/* context.md, appended, of all that was added or noted. */
int journal_entire_context(const struct journal_entire *e, struct buf *out);
/* 0: all that is complete is in the files. Else -errno: it waits. */
int journal_entire_write(struct journal_entire *e);
/* When tick has something to do (clock_mono_ns()); UINT64_MAX: nothing waits. */
uint64_t journal_entire_due_ns(const struct journal_entire *e);
void journal_entire_tick(struct journal_entire *e, uint64_t mono_ns);
/* Nothing follows, all is written and synced. has_ended: nor will anything ever: calls
 * without a result get one, and context.md is made. */
int journal_entire_end(struct journal_entire *e, uint64_t ts_ns, bool has_ended);
/* True once for each new trouble: the disk's -errno; at the end ERR_MISSING when the
 * folder was moved, removed or replaced. */
bool journal_entire_trouble(struct journal_entire *e, struct err *ret);
/* Is its folder there? */
bool journal_entire_is_made(const struct journal_entire *e);
/* Behind the end: has the folder that one of journal_entire_files? It was not asked for
 * where nothing was said. */
bool journal_entire_lacks(const struct journal_entire *e, const char *name);
/* Lines that are lost; and how many were written. */
uint64_t journal_entire_missing(const struct journal_entire *e);
uint64_t journal_entire_count(const struct journal_entire *e);
/* The folder. */
const char *journal_entire_path(struct journal_entire *e);

/* Its folder, where there is one: a descriptor, or -errno; -ELOOP for a link on the way.
 */
int journal_entire_find(const char *root, const char *session);
/* Those files that are ours. */
enum { JOURNAL_ENTIRE_FILES = 3 };
extern const char *const journal_entire_files[JOURNAL_ENTIRE_FILES];
/* The bytes take the place of one of them in its folder, whole and synced, or not at all.
 */
int journal_entire_replace(int dir_fd, const char *name, struct view bytes, mode_t mode);
/* They are removed, and the folder if it holds nothing else. 0, also where there is none,
 * or what stands there is not ours; 1: there is something else in it. */
int journal_entire_remove(const char *root, const char *session, struct err *err);

#endif
