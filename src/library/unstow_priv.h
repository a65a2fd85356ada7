/* SPDX-License-Identifier: MIT */
/*
 * unstow_priv.h -- what is in a vault, on its way back to its two places.
 *
 * Everything is written beside its place first: into the folder that is to be the
 * session's, and into a folder of its own in the run's. Only when the vault was read to
 * its end, and is whole, do the run's files move to where they were; metadata.json, which
 * is what others look at, comes last.
 */
#ifndef LIBRARY_UNSTOW_PRIV_H
#define LIBRARY_UNSTOW_PRIV_H

#include "tape/reader.h"
#include "vault/keys.h"
#include "vault/pack.h"

/* Zeroed, with its roots, it is ready for use. */
struct unstow {
    int root_fd[VAULT_ROOTS]; /* where its files go; -1: nowhere, they are passed over */
    const char *root_path[VAULT_ROOTS];
    const char *id;
    /* Before the first entry: where the project's files are to go, by what the vault
     * says.
     * "": there are none. */
    int (*begin)(void *ctx, const char *project, struct err *err);
    void (*entry)(void *ctx, const struct vault_entry *e); /* each; may be NULL */
    void *ctx;
    const struct tape_progress *progress;
    uint64_t total_bytes; /* of the vault, for that */
    /* what was found */
    uint64_t files, bytes;
    struct buf list; /* struct unstow_item of the project, each with its path */
    /* inside */
    struct vault_entry now; /* without its path, … */
    struct buf path;        /* … which is here */
    int fd;
    uint64_t done_bytes;
    struct err *err;
};

/* Of the list: then comes the path, with its NUL. */
struct unstow_item {
    bool is_folder;
    uint32_t mode, mtime_ns;
    int64_t mtime_s;
};

void unstow_release(struct unstow *u);
/* Reads the vault at fd to its end, and writes what is in it; synced. */
int unstow_read(struct unstow *u, int fd, struct vault_keys *keys, struct err *err);

/* The folder that the path's last part is in; those that are missing are made, each
 * synced, and none is a link. A descriptor or -errno. */
int unstow_parent(int root_fd, const char *path);
int unstow_set(int fd, uint32_t mode, int64_t mtime_s, uint32_t mtime_ns);
/* The next of the list behind *at; false: that was all. */
bool unstow_next(const struct unstow *u, size_t *at, struct unstow_item *ret,
                 const char **ret_path);
/* What was staged in the folder `stage` of the run's folder at fd moves there. Files that
 * are there and differ are named, and nothing moves: -EEXIST. */
int unstow_place(const struct unstow *u, int fd, const char *dir, const char *stage,
                 struct err *err);

#endif
