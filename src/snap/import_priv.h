/* SPDX-License-Identifier: MIT */
/*
 * import_priv.h -- a snapshot on its way into a shadow repository: one `git fast-import`.
 *
 * First the blobs, then the commit that names them. Whatever fails is remembered, and
 * told at the end; until snap_import_end() has returned 0 there is no snapshot, and one
 * that is broken off leaves none.
 */
#ifndef SNAP_IMPORT_PRIV_H
#define SNAP_IMPORT_PRIV_H

#include "snap/facts.h"
#include "snap/git_priv.h"

struct snap_import {
    struct snap_git git;
    struct buf out; /* not sent yet */
    uint64_t marks;
    uint64_t wasted; /* bytes that were sent, and that nobody names */
    int failed;
    bool is_running;
    char answers[512]; /* that have come, from at up to end */
    size_t answers_at, answers_end;
};

/* Questions that may be asked before an answer is read: all of their answers fit into the
 * smallest pipe, so that nobody waits for ever. */
enum { SNAP_IMPORT_QUESTIONS = 64 };

/* Hex. files: "" where there are none. */
struct snap_import_ids {
    char commit[SNAP_COMMIT_MAX + 1], files[SNAP_COMMIT_MAX + 1];
};

int snap_import_start(struct snap_import *ret, const char *repo_path, struct err *err);
/* Stops it where it is, if it runs. */
void snap_import_release(struct snap_import *im);

/* Each blob has a number. */
uint64_t snap_import_blob(struct snap_import *im, struct view bytes);
/* One in pieces, which snap_import_put() sends: size_bytes in all. */
uint64_t snap_import_begin_blob(struct snap_import *im, uint64_t size_bytes);
void snap_import_put(struct snap_import *im, const void *p, size_t n);

/* What it is called is asked, and later answered (hex): in the same order, and before the
 * commit begins. */
void snap_import_ask_blob(struct snap_import *im, uint64_t blob);
int snap_import_blob_id(struct snap_import *im, char ret[static SNAP_COMMIT_MAX + 1]);

/* No blob comes behind this. files: the tree to begin with, "" for none. */
void snap_import_begin_commit(struct snap_import *im, const char *ref, uint64_t time_s,
                              struct view message, const char *files);
/* Below `files`; a folder may also be that itself, "". */
void snap_import_remove(struct snap_import *im, const char *path);
void snap_import_name(struct snap_import *im, unsigned git_mode, const char *path,
                      uint64_t blob);
void snap_import_name_folder(struct snap_import *im, const char *path, const char *tree);
/* What the tree of a folder is called by now (hex); "" where there is none. */
int snap_import_folder_id(struct snap_import *im, const char *path,
                          char ret[static SNAP_COMMIT_MAX + 1]);
/* Beside `files`. */
void snap_import_name_beside(struct snap_import *im, const char *name, uint64_t blob);

/* What the commit and its files are called. The commit is complete. */
int snap_import_ask(struct snap_import *im, struct snap_import_ids *ret);
/* The commit that is complete shall not be. */
void snap_import_forget(struct snap_import *im, const char *ref);
/* No more comes: git makes it durable, while we may do something else … */
void snap_import_finish(struct snap_import *im);
/* … until it has. */
int snap_import_end(struct snap_import *im, struct err *err);

#endif
