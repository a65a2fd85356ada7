/* SPDX-License-Identifier: MIT */
/*
 * cache_priv.h -- what the last snapshot has of which look: the file ahr.cache in the
 * shadow repository, so that the next one reads only what has changed.
 *
 *     ahr-cache 1\n
 *     u64           checksum of all that follows
 *     u64           checksum of what stands beside the files
 *     3 × u8 + text the ref, its commit, the tree of the files (hex)
 *     …             files and links in the order of their paths: varint of the bytes
 *                   that it shares with the one before, varint and bytes of the rest,
 *                   u64 inode, size, mtime, ctime, u32 mode
 *
 * Little-endian. One that is damaged is none. Nobody trusts it but while its ref names
 * its commit.
 */
#ifndef SNAP_CACHE_PRIV_H
#define SNAP_CACHE_PRIV_H

#include <limits.h>

#include "snap/import_priv.h"
#include "snap/walk_priv.h"

enum { SNAP_REF_MAX = 127 };

struct snap_cache_head {
    char ref[SNAP_REF_MAX + 1];
    struct snap_import_ids ids;
    uint64_t beside;
};

struct snap_cache {
    struct snap_cache_head head;
    struct buf bytes; /* of the file */
    struct view rest; /* entries; borrowed */
    char path[PATH_MAX];
};

/* Pure; bytes are borrowed. ERR_DAMAGED. */
int snap_cache_parse(struct snap_cache *ret, struct view bytes);
/* The next entry: its path is in c->path. False at the end; also where it is damaged,
 * which the checksum has ruled out, or where paths are out of order. */
bool snap_cache_next(struct snap_cache *c, struct snap_look *ret);

/* That of a repository: ERR_MISSING when there is none that holds. */
int snap_cache_load(struct snap_cache *ret, const char *repo_path);
void snap_cache_release(struct snap_cache *c);

/* A new one. Paths come in their order, each once: what would be read only in part is
 * no cache, and snap_cache_end() says so. */
struct snap_cache_out {
    struct buf b;
    const char *before; /* borrowed */
    bool is_disordered;
};
void snap_cache_begin(struct snap_cache_out *o, const struct snap_cache_head *h);
void snap_cache_put(struct snap_cache_out *o, const char *path,
                    const struct snap_look *l);
/* The whole file, as bytes. */
int snap_cache_end(struct snap_cache_out *o);
/* Beside the one that is there … */
int snap_cache_write(const struct snap_cache_out *o, const char *repo_path);
/* … and in its place, once its snapshot is there; else it is removed. */
int snap_cache_place(const char *repo_path, bool is_good);
/* The next snapshot reads all files. */
void snap_cache_drop(const char *repo_path);

/* Of any bytes, after others whose sum is `before`. Against disks that lose power, not
 * against people. */
uint64_t snap_checksum(uint64_t before, struct view v);

bool snap_look_is_same(const struct snap_look *a, const struct snap_look *b);

#endif
