/* SPDX-License-Identifier: MIT */
#include "snap/join_priv.h"

#include "snap/packs_priv.h"
#include "snap/repo.h"
#include "snap/tidy.h"

enum { SMALL = 1 << 20 }; /* bytes that nobody minds to write again */

#define DOING "cannot join what snapshots have made"

/* How many, the smallest first: up to the last that is no larger than those before it
 * together. Each of those that stay is larger than all before it, so they are few. */
static size_t
choose(const struct snap_pack *pack, size_t count)
{
    uint64_t sum = SMALL;
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        if (pack[i].bytes <= sum)
            chosen = i + 1;
        sum += pack[i].bytes;
    }
    return chosen;
}

int
snap_join(const char *repo_path, struct err *err)
{
    AUTO(buf) all = { 0 };
    AUTO(buf) names = { 0 };
    AUTO(buf) made = { 0 };
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    int r = snap_packs(&all, repo_path);
    if (r < 0)
        return err_code(err, r, DOING);
    const struct snap_pack *pack = (const void *)all.p;
    size_t count = choose(pack, all.n / sizeof(*pack));
    if (count < 2)
        return 0;
    for (size_t i = 0; i < count; i++)
        buf_printf(&names, "%s\n", pack[i].file);
    if (names.failed)
        return err_code(err, names.failed, DOING);
    struct view files = { names.p, names.n };
    r = snap_packs_make(&made, repo_path, "--stdin-packs", files, DOING, err);
    if (r < 0 || !made.n)
        return r;
    /* Whatever was taken meanwhile: nothing that it could stand on goes. */
    r = snap_repo_open_at(&repo, repo_path, SNAP_ALONE, SNAP_WAIT_MS, err);
    if (r < 0) {
        snap_packs_undo(repo_path, (struct view){ made.p, made.n }, &all);
        return r;
    }
    r = snap_packs_remove(repo_path, (struct view){ made.p, made.n }, files);
    return r < 0 ? err_code(err, r, DOING) : 0;
}
