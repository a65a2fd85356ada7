/* SPDX-License-Identifier: MIT */
/* stow.c -- what belongs to a session, entry by entry, and into its vault. */
#include "library/stow_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "session/folder.h"

static const uint64_t HELD_WAITS_NS = UINT64_C(2000000000);

void
stow_release(struct stow *s)
{
    for (size_t at = 0; at + sizeof(int) <= s->locks.n; at += sizeof(int)) {
        int fd;
        memcpy(&fd, s->locks.p + at, sizeof(fd));
        close(fd);
    }
    buf_release(&s->locks);
}

void
stow_step(struct stow *s, size_t n)
{
    s->done_bytes += n;
    if (s->progress)
        s->progress->step(s->progress->ctx, s->done_bytes, s->total_bytes);
}

/* -- what there is -- */

struct walk {
    struct stow *stow;
    enum vault_root root;
    stow_fn fn;
    void *ctx;
    struct buf path; /* below the root */
    struct err *err;
};

/* What is made anew, or of no use to anybody. */
static bool
is_left_out(const struct walk *w, const char *name)
{
    static const char *const names[] = { "keyframes", "keyframes.new", "lock", "reserve",
                                         SESSION_VAULT };
    if (w->root != VAULT_SESSION || w->path.n)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static int
refuse(struct walk *w, int code, const char *what)
{
    return err_set(w->err, code, "'%s/%s' %s", w->stow->root_path[w->root],
                   buf_str(&w->path), what);
}

static void
tell(struct walk *w, const char *what)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "'%s/%s' %s", w->stow->root_path[w->root], buf_str(&w->path), what);
    if (w->stow->tell)
        w->stow->tell(w->stow->ctx, buf_str(&text));
}

static int
hand_over(struct walk *w, int dir_fd, const char *name, const struct stat *st)
{
    const struct vault_entry e = {
        .root = w->root,
        .is_folder = S_ISDIR(st->st_mode),
        .mode = st->st_mode & 07777,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
        .bytes = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
        .path = buf_str(&w->path),
    };
    if (!vault_path_is(e.path) || w->stow->entries >= VAULT_ENTRIES_MAX)
        return refuse(w, ERR_LIMIT, "lies too deep, or its path is too long");
    w->stow->entries++;
    w->stow->files += !e.is_folder;
    w->stow->bytes += e.bytes;
    return w->fn ? w->fn(w->ctx, dir_fd, name, &e, w->err) : 0;
}

static int walk_folder(struct walk *w, int fd);

/* Its descriptor stays: with it goes the lock. */
static int
keep_lock(struct stow *s, int fd)
{
    int r = file_lock(fd, false, clock_mono_ns() + HELD_WAITS_NS);
    return r < 0 ? r : buf_append(&s->locks, &fd, sizeof(fd));
}

static int
walk_below(struct walk *w, int dir_fd, const char *name, const struct stat *st)
{
    bool is_locked = w->root == VAULT_PROJECT && !w->stow->is_known &&
                     !strchr(buf_str(&w->path), '/');
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : is_locked ? keep_lock(w->stow, fd) : 0;
    if (r < 0) {
        if (fd >= 0)
            close(fd);
        return r == ERR_BUSY ? refuse(w, r, "is in use by another ahr; try again")
                             : refuse(w, r, "cannot be looked into");
    }
    r = vault_path_is(buf_str(&w->path))
            ? walk_folder(w, fd)
            : refuse(w, ERR_LIMIT, "lies too deep, or its path is too long");
    if (!is_locked)
        close(fd);
    return r < 0 ? r : hand_over(w, dir_fd, name, st);
}

static int
walk_entry(struct walk *w, int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return refuse(w, -errno, "cannot be looked at");
    if (S_ISLNK(st.st_mode))
        return refuse(w, -EINVAL,
                      "is a link: what it leads to is no part of the session; move it "
                      "away first");
    if (S_ISDIR(st.st_mode))
        return walk_below(w, dir_fd, name, &st);
    if (!S_ISREG(st.st_mode))
        return 0; /* a socket, say */
    if (st.st_nlink > 1 && !w->stow->is_known)
        tell(w, "has another name elsewhere, where it stays as it is");
    return hand_over(w, dir_fd, name, &st);
}

static int
walk_folder(struct walk *w, int fd)
{
    AUTO(tree_names) names = { 0 };
    int r = tree_names(fd, &names);
    if (r < 0)
        return refuse(w, r, "cannot be listed");
    size_t before = w->path.n;
    for (size_t i = 0; !r && i < names.count; i++) {
        if (is_left_out(w, names.name[i]))
            continue;
        buf_printf(&w->path, "%s%s", before ? "/" : "", names.name[i]);
        r = walk_entry(w, fd, names.name[i]);
        w->path.n = before;
    }
    return r;
}

/* What cannot be opened here cannot be read either, and is told by the walk. */
static int
lock_file(struct stow *s, const char *name, struct err *err)
{
    int fd = openat(s->root_fd[VAULT_PROJECT], name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int r = fd < 0 ? 0 : keep_lock(s, fd);
    if (r < 0)
        close(fd);
    if (r == ERR_BUSY)
        return err_set(err, r, "'%s/%s' is in use by another ahr; try again",
                       s->root_path[VAULT_PROJECT], name);
    return r < 0 ? err_code(err, r, "cannot lock '%s/%s'", s->root_path[VAULT_PROJECT],
                            name)
                 : 0;
}

int
stow_lock(struct stow *s, struct err *err)
{
    int r = s->root_fd[VAULT_PROJECT] < 0 ? 0 : lock_file(s, "io.log", err);
    if (!r && s->root_fd[VAULT_PROJECT] >= 0)
        r = lock_file(s, "metadata.json.lock", err);
    return r;
}

int
stow_walk(struct stow *s, stow_fn fn, void *ctx, struct err *err)
{
    int r = s->is_known ? 0 : stow_lock(s, err);
    s->entries = s->files = s->bytes = 0;
    for (enum vault_root root = 0; !r && root < VAULT_ROOTS; root++) {
        struct walk w = { .stow = s, .root = root, .fn = fn, .ctx = ctx, .err = err };
        if (s->root_fd[root] >= 0)
            r = walk_folder(&w, s->root_fd[root]);
        buf_release(&w.path);
    }
    s->is_known |= !r;
    return r;
}

/* -- into the vault -- */

struct writing {
    struct stow *stow;
    struct vault_writer *writer;
    struct buf head; /* of an entry */
};

static int
put_bytes(struct writing *w, int fd, uint64_t bytes)
{
    uint8_t piece[VAULT_CHUNK];
    uint64_t left = bytes;
    ssize_t n;
    while ((n = file_read(fd, piece, sizeof(piece))) > 0 && (uint64_t)n <= left) {
        int r = vault_write(w->writer, piece, (size_t)n);
        if (r < 0)
            return r;
        left -= (uint64_t)n;
        stow_step(w->stow, (size_t)n);
    }
    return n < 0 ? (int)n : left || n ? ERR_BUSY : 0;
}

/* A stow_fn. */
static int
put_entry(void *ctx, int dir_fd, const char *name, const struct vault_entry *e,
          struct err *err)
{
    struct writing *w = ctx;
    const char *root = w->stow->root_path[e->root];
    buf_clear(&w->head);
    int r = vault_pack_entry(&w->head, e);
    if (!r)
        r = vault_write(w->writer, w->head.p, w->head.n);
    if (r < 0 || e->is_folder)
        return r < 0 ? err_code(err, r, "cannot write the vault") : 0;
    int fd = openat(dir_fd, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot read '%s/%s'", root, e->path);
    r = put_bytes(w, fd, e->bytes);
    close(fd);
    if (r == ERR_BUSY)
        return err_set(err, r, "'%s/%s' has changed while it was read; try again", root,
                       e->path);
    return r < 0 ? err_code(err, r, "cannot put '%s/%s' into the vault", root, e->path)
                 : 0;
}

static int
write_all(struct writing *w, struct err *err)
{
    int r = vault_pack_begin(&w->head, w->stow->id, w->stow->project);
    if (!r)
        r = vault_write(w->writer, w->head.p, w->head.n);
    if (r < 0)
        return err_code(err, r, "cannot write the vault");
    r = stow_walk(w->stow, put_entry, w, err);
    if (r < 0)
        return r;
    buf_clear(&w->head);
    r = vault_pack_end(&w->head, w->stow->entries, w->stow->bytes);
    if (!r)
        r = vault_write(w->writer, w->head.p, w->head.n);
    if (!r)
        r = vault_writer_end(w->writer);
    return r < 0 ? err_code(err, r, "cannot write the vault") : 0;
}

int
stow_write(struct stow *s, int fd, struct vault_keys *keys, struct err *err)
{
    struct writing w = { .stow = s };
    int r = vault_writer_open(&w.writer, fd, keys, err);
    if (r < 0)
        return r;
    r = write_all(&w, err);
    vault_writer_free(w.writer);
    buf_release(&w.head);
    return r;
}
