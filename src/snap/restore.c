/* SPDX-License-Identifier: MIT */
/*
 * First the folders, then files and links as git gives them, then the folders'
 * permissions, the deepest first: a folder that may not be written to is filled before.
 *
 * Every step goes from a folder that was reached without following links, and names one
 * thing in it. What replaces something replaces what was there when we looked at the
 * beginning: where a file system takes two names for one, the second never takes the
 * place of the first.
 */
#include "snap/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "snap/blobs_priv.h"
#include "snap/choose_priv.h"
#include "snap/parent_priv.h"
#include "snap/put_priv.h"
#include "snap/tree_priv.h"

enum { REFUSED_KEPT = 1000, GITS_MAX = 100 };

/* What was at an entry's place. */
struct place {
    uint64_t ino; /* 0: nothing */
    bool is_dir;
    bool is_ours; /* a folder that we have made, or whose permissions we set */
};

struct job {
    const struct snap_restore *q;
    struct snap_restored *done;
    struct snap_tree tree;
    struct place *place; /* one an entry */
    struct snap_parent parent;
    bool is_new; /* DIR was made for this */
    uint64_t todo;
};

void
snap_restored_release(struct snap_restored *r)
{
    buf_release(&r->refused);
    snap_skips_release(&r->skips);
    *r = (struct snap_restored){ 0 };
}

/* -- what goes wrong -- */

static void
note(struct job *j, const char *path, const struct err *why)
{
    if (!j->done->failed++)
        j->done->why = *why;
    if (j->done->failed <= REFUSED_KEPT)
        (void)buf_append(&j->done->refused, path, strlen(path) + 1);
}

static void
note_text(struct job *j, const char *path, const char *why)
{
    struct err err;
    (void)err_set(&err, -EPERM, "'%.300s' is not restored: %s", path, why);
    note(j, path, &err);
}

/* Where the system's own word would not help. */
static const char *
plain_reason(int code)
{
    switch (code) {
    case -EEXIST:
        return "something else has come to its place, or the file system takes its name "
               "for another's";
    case -ENOTEMPTY:
        return "a folder with something in it is at its place";
    case -ELOOP:
    case -ENOTDIR:
        return "a link or a file is at the place of its folder";
    default:
        return NULL;
    }
}

static void
note_code(struct job *j, const char *path, int code)
{
    struct err err;
    const char *why = plain_reason(code);
    if (why)
        (void)err_set(&err, code, "'%.300s' is not restored: %s", path, why);
    else
        (void)err_code(&err, code, "'%.300s' is not restored", path);
    note(j, path, &err);
}

/* Will the others fail as well? */
static bool
is_hopeless(int code)
{
    return code == -ENOSPC || code == -EDQUOT || code == -EROFS || code == -ENOMEM ||
           code == -EMFILE || code == -ENFILE;
}

/* 0: the next one, else the end. */
static int
give_up(struct job *j, const char *path, int code, struct err *err)
{
    if (!is_hopeless(code)) {
        note_code(j, path, code);
        return 0;
    }
    return err_code(err, code, "cannot restore '%.200s' into '%.200s'", path, j->q->into);
}

/* -- the folder, and what is in it already -- */

static int
open_folder(struct job *j, struct err *err)
{
    struct stat st;
    const char *into = j->q->into;
    j->is_new = stat(into, &st) < 0 && errno == ENOENT;
    int r = j->is_new ? file_make_dirs(into) : 0;
    if (r < 0)
        return err_code(err, r, "cannot make '%.400s'", into);
    j->parent.root_fd = open(into, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (j->parent.root_fd < 0)
        return err_sys(err, "cannot restore into '%.400s'", into);
    return 0;
}

static bool
is_in_the_way(const struct snap_tree_entry *e, const struct place *p)
{
    return p->ino && !(e->kind == SNAP_DIR && p->is_dir);
}

/* What is at its place now; nothing where that cannot be told. */
static struct place
look(struct job *j, const char *path)
{
    struct stat st;
    const char *name;
    int fd = snap_parent_open(&j->parent, path, &name);
    if (fd < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return (struct place){ 0 };
    return (struct place){ .ino = st.st_ino ? st.st_ino : 1,
                           .is_dir = S_ISDIR(st.st_mode) };
}

static int
set_mode(int dir_fd, unsigned mode)
{
    char self[32];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", dir_fd); /* O_PATH: no fchmod() */
    return chmod(self, mode) < 0 ? -errno : 0;
}

static int
open_below(struct job *j, const char *path)
{
    return below_open(j->parent.root_fd, path, O_PATH | O_DIRECTORY);
}

/* One that is there need not be writable, nor may we look into it. */
static void
open_up(struct job *j, const char *path, unsigned mode)
{
    int fd = open_below(j, path);
    if (fd < 0)
        return;
    (void)set_mode(fd, mode | 0700);
    close(fd);
}

static bool
sets_root(const struct job *j)
{
    return j->is_new || (j->q->replaces && !j->tree.is_part);
}

static int
look_at_all(struct job *j, struct err *err)
{
    uint64_t count = 0;
    const char *first = NULL;
    if (!j->is_new && sets_root(j))
        open_up(j, "", j->tree.root_mode);
    for (size_t i = 0; !j->is_new && i < j->tree.count; i++) {
        const struct snap_tree_entry *e = &j->tree.entry[i];
        if (e->why)
            continue;
        j->place[i] = look(j, e->path);
        if (j->q->replaces && e->kind == SNAP_DIR && j->place[i].is_dir && !e->is_above) {
            open_up(j, e->path, e->mode);
            j->place[i].is_ours = true;
        }
        if (!is_in_the_way(e, &j->place[i]))
            continue;
        first = first ? first : e->path;
        count++;
    }
    snap_parent_forget(&j->parent);
    if (!count || j->q->replaces)
        return 0;
    return err_set(err, -EEXIST,
                   count > 1 ? "'%.200s' is in the way in '%.200s', and %llu more: "
                               "nothing is restored; --force replaces them"
                             : "'%.200s' is in the way in '%.200s': nothing is "
                               "restored; --force replaces it",
                   first, j->q->into, (unsigned long long)count - 1);
}

/* May that be taken away, or be replaced? Only what was there from the beginning. */
static bool
is_as_seen(int dir_fd, const char *name, const struct place *p)
{
    struct stat st;
    return p->ino && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (st.st_ino ? st.st_ino : 1) == p->ino && S_ISDIR(st.st_mode) == p->is_dir;
}

/* -- folders -- */

static int
make_folder(struct job *j, const struct snap_tree_entry *e, struct place *p)
{
    const char *name;
    int fd = snap_parent_open(&j->parent, e->path, &name);
    if (fd < 0)
        return fd;
    if (p->is_dir)
        return 0;
    if (p->ino && is_as_seen(fd, name, p) && unlinkat(fd, name, 0) < 0)
        return -errno;
    if (mkdirat(fd, name, 0700) < 0)
        return -errno;
    p->is_ours = true;
    j->done->folders++;
    return 0;
}

static int
make_folders(struct job *j, struct err *err)
{
    int r = 0;
    for (size_t i = 0; !r && i < j->tree.count; i++) {
        const struct snap_tree_entry *e = &j->tree.entry[i];
        if (e->why)
            note_text(j, e->path, e->why);
        if (e->why || e->kind != SNAP_DIR)
            continue;
        r = make_folder(j, e, &j->place[i]);
        if (r < 0)
            r = give_up(j, e->path, r, err);
    }
    snap_parent_forget(&j->parent);
    return r;
}

static void
close_folders(struct job *j)
{
    for (size_t i = j->tree.count; i--;) {
        const struct snap_tree_entry *e = &j->tree.entry[i];
        if (!j->place[i].is_ours)
            continue;
        int fd = open_below(j, e->path);
        int r = fd < 0 ? fd : set_mode(fd, e->mode);
        if (fd >= 0)
            close(fd);
        if (r < 0)
            note_code(j, e->path, r);
    }
    int r = sets_root(j) ? set_mode(j->parent.root_fd, j->tree.root_mode) : 0;
    if (r < 0)
        note_code(j, j->q->into, r);
}

/* -- files and links -- */

/* An empty folder gives way; is there then still something to replace? */
static int
make_room(int dir_fd, const char *name, const struct place *p, bool *ret_replaces)
{
    *ret_replaces = is_as_seen(dir_fd, name, p);
    if (!*ret_replaces || !p->is_dir)
        return 0;
    *ret_replaces = false;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* *ret: what the disk says. Returns what git says. */
static int
copy(struct snap_blobs *b, int fd, int *ret, struct err *err)
{
    struct view bytes;
    int r;
    while (!(r = snap_blobs_read(b, &bytes, err)) && bytes.n) {
        *ret = file_write_all(fd, bytes.p, bytes.n);
        if (*ret < 0)
            break;
    }
    return r;
}

static int
put_file(struct snap_blobs *b, int dir_fd, const char *name,
         const struct snap_tree_entry *e, bool replaces, int *ret, struct err *err)
{
    struct snap_put put;
    *ret = snap_put_begin(&put, dir_fd);
    if (*ret < 0)
        return 0;
    int r = copy(b, put.fd, ret, err);
    if (r < 0 || *ret < 0)
        snap_put_drop(&put);
    else
        *ret = snap_put_end(&put, name, e->mode, replaces);
    return r;
}

static int
put_link(struct snap_blobs *b, int dir_fd, const char *name, bool replaces, int *ret,
         struct err *err)
{
    AUTO(buf) target = { .ceiling = PATH_MAX };
    struct view bytes;
    int r;
    while (!(r = snap_blobs_read(b, &bytes, err)) && bytes.n)
        if (buf_append(&target, bytes.p, bytes.n) < 0)
            break;
    if (r < 0)
        return r;
    if (target.failed || !target.n || memchr(target.p, 0, target.n))
        *ret = -EINVAL;
    else
        *ret = snap_put_link(dir_fd, name, buf_str(&target), replaces);
    return 0;
}

/* One whose bytes come now. *ret: what became of it; returns what git says. */
static int
put(struct job *j, struct snap_blobs *b, const struct snap_tree_entry *e,
    const struct place *p, int *ret, struct err *err)
{
    const char *name;
    bool replaces = false;
    int fd = snap_parent_open(&j->parent, e->path, &name);
    *ret = fd < 0 ? fd : make_room(fd, name, p, &replaces);
    if (*ret < 0)
        return 0;
    return e->kind == SNAP_LINK ? put_link(b, fd, name, replaces, ret, err)
                                : put_file(b, fd, name, e, replaces, ret, err);
}

static bool
has_bytes(const struct snap_tree_entry *e)
{
    return !e->why && e->kind != SNAP_DIR;
}

/* One entry. 0; -EIO: git has ended over it; else it cannot go on. */
static int
restore_one(struct job *j, struct snap_blobs *b, size_t i, struct err *err)
{
    const struct snap_tree_entry *e = &j->tree.entry[i];
    uint64_t size;
    int put_r = 0, r = snap_blobs_next(b, &size, err);
    if (r == ERR_DAMAGED) {
        note_text(j, e->path, err->text);
        return 0;
    }
    if (!r)
        r = put(j, b, e, &j->place[i], &put_r, err);
    if (r < 0)
        return r;
    if (put_r < 0)
        return give_up(j, e->path, put_r, err);
    j->done->files++;
    j->done->bytes += size;
    if (j->q->progress)
        j->q->progress(j->q->ctx, j->done->files, j->todo);
    return 0;
}

/* From entry *at on, as far as one git goes. */
static int
restore_run(struct job *j, struct view ids, size_t *at, struct err *err)
{
    struct snap_blobs b;
    int r = snap_blobs_open(&b, j->q->from->repo.path, ids, err);
    if (r < 0)
        return r;
    for (; !r && *at < j->tree.count; ++*at)
        if (has_bytes(&j->tree.entry[*at]))
            r = restore_one(j, &b, *at, err);
    snap_blobs_close(&b);
    return r;
}

static int
list_ids(struct job *j, size_t from, struct buf *ret)
{
    buf_clear(ret);
    for (size_t i = from; i < j->tree.count; i++)
        if (has_bytes(&j->tree.entry[i])) {
            buf_puts(ret, j->tree.entry[i].id);
            buf_append(ret, "\n", 1);
        }
    return ret->failed;
}

/* A file that git cannot read costs the others nothing. */
static int
restore_files(struct job *j, struct err *err)
{
    AUTO(buf) ids = { .ceiling = SNAP_TREE_BYTES_MAX };
    size_t at = 0;
    for (unsigned gits = 0;; gits++) {
        int r = list_ids(j, at, &ids);
        if (r < 0)
            return err_code(err, r, "cannot restore into '%.400s'", j->q->into);
        if (!ids.n)
            return 0;
        r = restore_run(j, (struct view){ ids.p, ids.n }, &at, err);
        if (r != -EIO || !at || gits == GITS_MAX)
            return r;
        note_text(j, j->tree.entry[at - 1].path, err->text);
    }
}

/* -- all -- */

static int
restore(struct job *j, struct err *err)
{
    for (size_t i = 0; i < j->tree.count; i++)
        j->todo += has_bytes(&j->tree.entry[i]);
    j->place = calloc(j->tree.count + 1, sizeof(*j->place));
    if (!j->place)
        return err_code(err, -ENOMEM, "cannot restore into '%.400s'", j->q->into);
    int r = open_folder(j, err);
    if (r < 0)
        return r;
    r = look_at_all(j, err);
    if (!r) {
        r = make_folders(j, err);
        if (!r)
            r = restore_files(j, err);
        snap_parent_forget(&j->parent);
        close_folders(j);
    }
    close(j->parent.root_fd);
    return r;
}

/* More are counted than are listed, where there are very many of the whole. */
static void
take_skips(struct job *j)
{
    struct snap_skips *skips = &j->done->skips;
    struct snap_skip s;
    skips->list = j->tree.skipped;
    j->tree.skipped = (struct buf){ 0 };
    struct view rest = { skips->list.p, skips->list.n };
    while (snap_skip_next(&rest, &s))
        skips->kept++;
    skips->count = j->tree.is_part ? skips->kept : j->q->from->facts.skipped;
}

int
snap_restore(const struct snap_restore *q, struct snap_restored *ret, struct err *err)
{
    struct snap_restored done = { 0 };
    struct job j = { .q = q, .done = &done };
    int r = snap_tree_read(&j.tree, q->from->repo.path, q->from->facts.commit, err);
    if (!r && q->path_count)
        r = snap_choose(&j.tree, q->paths, q->path_count, err);
    if (!r)
        r = restore(&j, err);
    take_skips(&j);
    snap_parent_forget(&j.parent);
    free(j.place);
    snap_tree_release(&j.tree);
    if (r < 0)
        snap_restored_release(&done);
    else
        *ret = done;
    return r;
}
