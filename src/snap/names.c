/* SPDX-License-Identifier: MIT */
#include "snap/names_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LISTED_MAX = 1 << 30, ID_DIGITS = 2 * SNAP_ID_BYTES };

#define DOING "cannot keep the snapshot"

static bool
is_broad(const struct snap_names *n, size_t folder)
{
    return n->changes[folder] > SNAP_NAMES_BROAD;
}

static bool
is_removed(const struct snap_fate *fate)
{
    return fate->is_out && fate->was_there;
}

static unsigned
git_mode(const struct snap_entry *e)
{
    switch (e->kind) {
    case SNAP_FILE:
        return e->look.mode & S_IXUSR ? 0100755 : 0100644;
    case SNAP_LINK:
        return 0120000;
    case SNAP_DIR:
        return 040000;
    }
    return 0;
}

/* -- folders -- */

/* As walks are sorted: a folder as if a slash were the end of its name, so that "a.b"
 * comes before the folder "a". */
static int
compare_to_folder(const struct snap_entry *e, struct view folder)
{
    size_t n = strnlen(e->path, folder.n);
    int order = memcmp(e->path, folder.p, n);
    if (order)
        return order;
    bool is_dir = !e->path[n] && e->kind == SNAP_DIR;
    uint8_t next = is_dir ? '/' : (uint8_t)e->path[n];
    uint8_t other = n < folder.n ? folder.p[n] : '/';
    if (next != other)
        return next < other ? -1 : 1;
    if (n < folder.n)
        return -1; /* a folder above it */
    return is_dir ? 0 : 1;
}

/* Its entry; the root's (0) where there is no such folder. */
static size_t
find_folder(const struct snap_walk *w, const char *path, size_t len)
{
    struct view folder = { (const uint8_t *)path, len };
    size_t low = 1, high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_to_folder(&w->entry[middle], folder);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* How much of that path is gone: where its folder is as well, that one, and so on. Also
 * the entry of the folder that is left. */
static size_t
gone_length(const struct snap_walk *w, const char *path, size_t *ret_folder)
{
    size_t len = strlen(path);
    for (;;) {
        const char *slash = memrchr(path, '/', len);
        *ret_folder = slash ? find_folder(w, path, (size_t)(slash - path)) : 0;
        if (!slash || *ret_folder)
            return len;
        len = (size_t)(slash - path);
    }
}

static int
count_changes(struct snap_names *n)
{
    const struct snap_fates *f = n->fates;
    const char *gone = (const char *)f->gone.p, *end = gone ? gone + f->gone.n : gone;
    n->changes = calloc(f->walk.count, sizeof(*n->changes));
    if (!n->changes)
        return -ENOMEM;
    for (; gone < end; gone += strlen(gone) + 1) {
        size_t folder, len = gone_length(&f->walk, gone, &folder);
        n->changes[folder] += !gone[len];
    }
    for (size_t i = 1; i < f->walk.count; i++)
        n->changes[f->walk.entry[i].parent] += f->fate[i].blob || is_removed(&f->fate[i]);
    return 0;
}

/* -- ids of what is in a broad folder -- */

static int
set_id(struct snap_names *n, size_t entry, const char *hex)
{
    for (size_t i = 0; i < SNAP_ID_BYTES; i++) {
        char digits[3] = { hex[2 * i], hex[2 * i] ? hex[2 * i + 1] : 0 }, *end;
        n->id[entry][i] = (uint8_t)strtoul(digits, &end, 16);
        if (end != digits + 2)
            return ERR_DAMAGED;
    }
    return 0;
}

/* The next one behind i in that folder; the walk's count at its end. */
static size_t
next_in(const struct snap_walk *w, size_t folder, size_t i)
{
    while (++i < w->count && w->entry[i].parent >= folder)
        if (w->entry[i].parent == folder)
            return i;
    return w->count;
}

static const char *
name_in(const struct snap_walk *w, size_t folder, size_t i)
{
    size_t len = strlen(w->entry[folder].path);
    return w->entry[i].path + len + (len > 0);
}

static int
hear(struct snap_names *n, const size_t *asked, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char hex[SNAP_COMMIT_MAX + 1];
        int r = snap_import_blob_id(n->import, hex);
        if (r >= 0)
            r = set_id(n, asked[i], hex);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
ask_blobs(struct snap_names *n)
{
    const struct snap_fates *f = n->fates;
    size_t asked[SNAP_IMPORT_QUESTIONS], count = 0;
    int r = 0;
    for (size_t i = 1; i < f->walk.count && r >= 0; i++) {
        if (!f->fate[i].blob || !is_broad(n, f->walk.entry[i].parent))
            continue;
        snap_import_ask_blob(n->import, f->fate[i].blob);
        asked[count++] = i;
        if (count < SNAP_IMPORT_QUESTIONS)
            continue;
        r = hear(n, asked, count);
        count = 0;
    }
    return r < 0 ? r : hear(n, asked, count);
}

static size_t
next_known(const struct snap_names *n, size_t folder, size_t i)
{
    const struct snap_walk *w = &n->fates->walk;
    do
        i = next_in(w, folder, i);
    while (i < w->count && !n->fates->fate[i].is_known);
    return i;
}

/* Of those that are in the last snapshot: "MODE blob ID\tNAME\0" each, in our order. */
static int
look_up_known(struct snap_names *n, size_t folder, struct err *err)
{
    AUTO(buf) tree = { 0 };
    AUTO(buf) list = { .ceiling = LISTED_MAX };
    const struct snap_walk *w = &n->fates->walk;
    size_t i = next_known(n, folder, folder);
    if (i == w->count)
        return 0;
    buf_printf(&tree, "%s:%s", n->base, w->entry[folder].path);
    const char *const args[] = { "ls-tree", "-z", buf_str(&tree), NULL };
    int r = snap_git_run(n->repo_path, args, (struct view){ 0 }, &list, DOING, err);
    const char *at = r < 0 ? "" : buf_str(&list), *end = at + list.n;
    for (; r >= 0 && at < end && i < w->count; at += strlen(at) + 1) {
        const char *tab = strchr(at, '\t');
        if (!tab || tab - at < ID_DIGITS || strcmp(tab + 1, name_in(w, folder, i)) != 0)
            continue;
        r = set_id(n, i, tab - ID_DIGITS);
        i = next_known(n, folder, i);
    }
    if (r >= 0 && i < w->count)
        return err_set(err, ERR_DAMAGED,
                       DOING ": the last one is not what '%s/ahr.cache' says; remove it",
                       n->repo_path);
    return r;
}

int
snap_names_init(struct snap_names *n, struct err *err)
{
    size_t count = n->fates->walk.count;
    int r = count_changes(n);
    if (r < 0)
        return err_code(err, r, DOING);
    for (size_t i = 0; i < count && r >= 0; i++) {
        if (!is_broad(n, i))
            continue;
        if (!n->id && !(n->id = calloc(count, sizeof(*n->id))))
            return err_code(err, -ENOMEM, DOING);
        r = look_up_known(n, i, err);
    }
    if (r >= 0 && n->id && (r = ask_blobs(n)) < 0 && !n->import->failed)
        err_code(err, r, DOING);
    return n->import->failed ? 0 : r;
}

void
snap_names_release(struct snap_names *n)
{
    free(n->changes);
    free(n->id);
    *n = (struct snap_names){ 0 };
}

/* -- the tree -- */

static void
remove_gone(struct snap_names *n)
{
    const struct snap_fates *f = n->fates;
    const char *gone = (const char *)f->gone.p, *end = gone ? gone + f->gone.n : gone;
    char last[PATH_MAX] = "";
    for (size_t len = 0, folder; gone < end; gone += strlen(gone) + 1) {
        if (len && strncmp(gone, last, len) == 0 && gone[len] == '/')
            continue;
        len = gone_length(&f->walk, gone, &folder);
        snprintf(last, sizeof(last), "%.*s", (int)len, gone);
        if (!is_broad(n, folder))
            snap_import_remove(n->import, last);
    }
}

/* 1: fast-import has failed, and tells of it later. */
static int
make_tree(struct snap_names *n, size_t folder, struct buf *ret)
{
    const struct snap_walk *w = &n->fates->walk;
    for (size_t i = folder; (i = next_in(w, folder, i)) < w->count;) {
        const struct snap_entry *e = &w->entry[i];
        if (n->fates->fate[i].is_out)
            continue;
        if (e->kind == SNAP_DIR) {
            char hex[SNAP_COMMIT_MAX + 1];
            if (snap_import_folder_id(n->import, e->path, hex) < 0)
                return 1;
            if (!*hex)
                continue;
            int r = set_id(n, i, hex);
            if (r < 0)
                return r;
        }
        buf_printf(ret, "%o %s", git_mode(e), name_in(w, folder, i));
        buf_append(ret, "", 1);
        buf_append(ret, n->id[i], SNAP_ID_BYTES);
    }
    return ret->failed;
}

/* All that is below it has its names by now. */
static int
put_broad(struct snap_names *n, size_t folder, struct err *err)
{
    static const char *const args[] = { "hash-object", "-t",          "tree", "-w",
                                        "--stdin",     "--literally", NULL };
    AUTO(buf) tree = { .ceiling = LISTED_MAX };
    AUTO(buf) id = { 0 };
    const char *path = n->fates->walk.entry[folder].path;
    int r = n->import->failed ? 1 : make_tree(n, folder, &tree);
    if (r)
        return r < 0 ? err_code(err, r, DOING) : 0;
    if (!tree.n) {
        snap_import_remove(n->import, path);
        return 0;
    }
    r = snap_git_run(n->repo_path, args, (struct view){ tree.p, tree.n }, &id, DOING,
                     err);
    if (r < 0)
        return r;
    id.n -= id.n && id.p[id.n - 1] == '\n';
    snap_import_name_folder(n->import, path, buf_str(&id));
    return 0;
}

/* Names that are gone first: one of them may be a folder now, or was one. */
int
snap_names_put(struct snap_names *n, struct err *err)
{
    const struct snap_fates *f = n->fates;
    int r = 0;
    remove_gone(n);
    for (size_t i = 1; i < f->walk.count; i++)
        if (is_removed(&f->fate[i]) && !is_broad(n, f->walk.entry[i].parent))
            snap_import_remove(n->import, f->walk.entry[i].path);
    for (size_t i = 1; i < f->walk.count; i++)
        if (f->fate[i].blob && !is_broad(n, f->walk.entry[i].parent))
            snap_import_name(n->import, git_mode(&f->walk.entry[i]),
                             f->walk.entry[i].path, f->fate[i].blob);
    for (size_t i = f->walk.count; i-- > 0 && r >= 0;)
        if (is_broad(n, i))
            r = put_broad(n, i, err);
    return r;
}
