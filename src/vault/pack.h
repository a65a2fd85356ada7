/* SPDX-License-Identifier: MIT */
/*
 * pack.h -- files and folders as one row of bytes, which is what a vault holds
 * (doc/vault.md). Pure.
 *
 * First the session and its project, then each entry with its bytes, a folder behind all
 * that is in it, then the end with its counts. What comes back is checked: paths lead
 * below their root and nowhere else, and nothing is missing or left over.
 */
#ifndef VAULT_PACK_H
#define VAULT_PACK_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    VAULT_PATH_MAX = 1024, /* bytes of a path below its root */
    VAULT_DEPTH_MAX = 16,  /* of its parts */
    VAULT_TEXT_MAX = 4096, /* of the project's path */
    VAULT_ENTRIES_MAX = 1 << 20,
};

/* Where an entry belongs. */
enum vault_root { VAULT_SESSION, VAULT_PROJECT, VAULT_ROOTS };

struct vault_entry {
    enum vault_root root;
    bool is_folder;
    uint32_t mode; /* the lower 12 bits */
    int64_t mtime_s;
    uint32_t mtime_ns;
    uint64_t bytes;   /* of a file */
    const char *path; /* below the root */
};

/* May an entry have that path? */
bool vault_path_is(const char *path);

/* -- into bytes -- */

int vault_pack_begin(struct buf *out, const char *id, const char *project);
/* Its bytes are to follow. */
int vault_pack_entry(struct buf *out, const struct vault_entry *e);
int vault_pack_end(struct buf *out, uint64_t entries, uint64_t bytes);

/* -- out of bytes -- */

/* What is found; each returns 0 or an error, which ends it and is what the feeder
 * returns. */
struct vault_pack_fns {
    int (*begin)(void *ctx, const char *id, const char *project); /* "": of none */
    int (*entry)(void *ctx, const struct vault_entry *e);
    int (*bytes)(void *ctx, struct view bytes); /* some of those of the last entry */
    int (*done)(void *ctx);                     /* all of them were there */
};

/* Zeroed and with its functions it is ready for use. */
struct vault_unpack {
    const struct vault_pack_fns *fns;
    void *ctx;
    struct buf part; /* what is not whole yet */
    uint64_t left;   /* bytes of the entry that is open */
    uint64_t entries, bytes;
    bool has_begun, is_in_file, is_over;
};

void vault_unpack_release(struct vault_unpack *u);
/* Any piece of it. ERR_DAMAGED: ahr has not written this. */
int vault_unpack_feed(struct vault_unpack *u, struct view in, struct err *err);
/* There is no more; ERR_DAMAGED: but there should be. */
int vault_unpack_end(const struct vault_unpack *u, struct err *err);

#endif
