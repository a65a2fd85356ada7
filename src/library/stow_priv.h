/* SPDX-License-Identifier: MIT */
/*
 * stow_priv.h -- all that belongs to a session, on its way into a vault: the files of its
 * folder, and of a run those of its folder in its project.
 *
 * Keyframes, the lock and sockets stay out: they are made anew, or mean nothing. A link
 * is refused: what it leads to is not the session's. Folders of a run's folder are locked
 * when they are first looked into, and before them the locks of its io.log and its
 * metadata.json, so that nobody adds an artifact meanwhile; they stay so until the stow
 * is released.
 */
#ifndef LIBRARY_STOW_PRIV_H
#define LIBRARY_STOW_PRIV_H

#include "tape/reader.h"
#include "vault/pack.h"
#include "vault/stream.h"

/* Zeroed and with its roots it is ready for use. */
struct stow {
    int root_fd[VAULT_ROOTS];           /* -1: there is none */
    const char *root_path[VAULT_ROOTS]; /* borrowed */
    const char *id, *project;           /* borrowed; "": of none */
    const struct tape_progress *progress;
    void (*tell)(void *ctx, const char *text); /* what a person should know */
    void *ctx;
    struct buf locks;        /* descriptors of what is locked */
    bool is_known;           /* it was gone through, and is locked */
    uint64_t entries, files; /* all of them, files alone */
    uint64_t bytes;
    uint64_t done_bytes, total_bytes; /* for the progress */
};

void stow_release(struct stow *s);
/* So much more is done. */
void stow_step(struct stow *s, size_t n);

/* What only the first walk does else: the locks of io.log and metadata.json. */
int stow_lock(struct stow *s, struct err *err);
/* dir_fd, name: where it lies. 0 or an error. */
typedef int (*stow_fn)(void *ctx, int dir_fd, const char *name,
                       const struct vault_entry *e, struct err *err);
/* Each entry, a folder behind what is in it; counts them. fn may be NULL. The first walk
 * locks, and tells. */
int stow_walk(struct stow *s, stow_fn fn, void *ctx, struct err *err);
/* All of it into the file at fd. A file that changes meanwhile is an error. */
int stow_write(struct stow *s, int fd, struct vault_keys *keys, struct err *err);

/*
 * What the vault at fd holds of the project, each as a letter, 'f' or 'd', and its path
 * with its NUL, in the order of the vault, in *ret_list. is_again false: all of it is
 * there, byte for byte, or it is an error. True: the session's files are gone; those of
 * the project that are there still are as they were, or it is an error that names the
 * first that is not; a stub in the place of metadata.json is fine.
 */
int stow_check(struct stow *s, int fd, struct vault_keys *keys, bool is_again,
               struct buf *ret_list, struct err *err);

#endif
