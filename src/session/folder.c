/* SPDX-License-Identifier: MIT */
/*
 * folder.c -- the folder of one session.
 *
 * A folder appears in live/, moves to sessions/ and vanishes by rename alone, and its
 * lock goes with it: whoever holds the lock of live/<id> is the only one at it, and
 * whoever finds the folder without a holder finds it as its recorder left it. Under its
 * other name, live/.new-<id>, it does not count.
 */
#include "session/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tree.h"
#include "session/sockets.h"

enum { STALE_S = 60 }; /* a recorder takes its new folder's lock sooner */

#define HIDDEN ".new-"

/* -- paths -- */

__attribute__((format(printf, 1, 2))) static char *
format(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}

int
session_sibling_path(const char *tape_path, const char *what, struct buf *ret)
{
    size_t n = strlen(tape_path), name_len = strlen(file_name(tape_path));
    if (name_len > 4 && !strcmp(tape_path + n - 4, ".ahr"))
        n -= 4;
    buf_append(ret, tape_path, n);
    buf_puts(ret, ".");
    return buf_puts(ret, what);
}

/* The path in dir/out-file: its length, 0 when there is no such file. */
static int
read_out_file(const char *dir, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) text = { .ceiling = PATH_MAX + 65536 }; /* one read of file_slurp */
    if (buf_printf(&path, "%s/out-file", dir) < 0)
        return -ENAMETOOLONG;
    int r = file_slurp(buf_str(&path), &text);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (!text.n || text.n >= PATH_MAX || *text.p != '/' || memchr(text.p, 0, text.n))
        return ERR_DAMAGED;
    r = buf_append(ret, text.p, text.n);
    return r < 0 ? r : (int)text.n;
}

int
session_folder_paths(const char *dir, struct buf *ret_tape, struct buf *ret_meta)
{
    AUTO(buf) tape = { 0 };
    int r = read_out_file(dir, &tape);
    if (!r)
        r = buf_printf(&tape, "%s/session.ahr", dir);
    if (r < 0)
        return r;
    r = buf_append(ret_tape, tape.p, tape.n);
    return r < 0 ? r : session_sibling_path(buf_str(&tape), SESSION_META, ret_meta);
}

/* Sets the paths of a session in <home>/<where><id>. */
static int
set_paths(struct session_folder *f, const char *where, const char *out_file)
{
    AUTO(buf) meta = { 0 };
    char *dir = format("%s/%s%s", f->home, where, f->id);
    char *tape = !dir       ? NULL
                 : out_file ? strdup(out_file)
                            : format("%s/session.ahr", dir);
    if (!tape || session_sibling_path(tape, SESSION_META, &meta) < 0 ||
        buf_append(&meta, "", 1) < 0) {
        free(dir);
        free(tape);
        return -ENOMEM;
    }
    free(f->dir);
    free(f->tape_path);
    free(f->meta_path);
    f->dir = dir;
    f->tape_path = tape;
    f->meta_path = (char *)meta.p;
    meta = (struct buf){ 0 };
    return 0;
}

static int
init(struct session_folder *f, const char *home, const char *id)
{
    *f = (struct session_folder){ .home = strdup(home), .id = strdup(id), .lock_fd = -1 };
    return f->home && f->id ? 0 : -ENOMEM;
}

void
session_folder_release(struct session_folder *f)
{
    if (f->lock_fd >= 0)
        close(f->lock_fd);
    free(f->home);
    free(f->id);
    free(f->dir);
    free(f->tape_path);
    free(f->meta_path);
    *f = (struct session_folder){ .lock_fd = -1 };
}

static char *
hidden_path(const struct session_folder *f)
{
    return format("%s/live/" HIDDEN "%s", f->home, f->id);
}

/* -- making -- */

static int
make_private(const char *path)
{
    return mkdir(path, 0700) < 0 || chmod(path, 0700) < 0 ? -errno : 0;
}

/* Most often live/ is there. */
static int
make_hidden(const struct session_folder *f, const char *hidden)
{
    int r = make_private(hidden);
    if (r != -ENOENT)
        return r;
    char *live = format("%s/live", f->home);
    r = live ? file_make_dirs(live) : -ENOMEM;
    free(live);
    return r < 0 ? r : make_private(hidden);
}

static int
create_private(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (fchmod(fd, 0600) == 0)
        return fd;
    int r = -errno;
    close(fd);
    return r;
}

static int
write_out_file(int dir_fd, const char *out_file)
{
    int fd = create_private(dir_fd, "out-file");
    if (fd < 0)
        return fd;
    int r = file_write_all(fd, out_file, strlen(out_file));
    if (!r)
        r = file_write_all(fd, "\n", 1);
    close(fd);
    return r;
}

static int
furnish(struct session_folder *f, const char *hidden, const char *out_file)
{
    int dir_fd = open(hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return -errno;
    int r = f->lock_fd = create_private(dir_fd, "lock");
    if (r >= 0)
        r = flock(f->lock_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
    if (!r && out_file)
        r = write_out_file(dir_fd, out_file);
    close(dir_fd);
    return r;
}

static void
remove_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        (void)unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    (void)rmdir(path);
}

static int
make_above(const char *path)
{
    char *dir = format("%.*s", (int)file_dir_len(path), path);
    int r = dir ? file_make_dirs(dir) : -ENOMEM;
    free(dir);
    return r;
}

static int
make(struct session_folder *f, const char *hidden, const char *out_file, struct err *err)
{
    int r = out_file ? make_above(out_file) : 0;
    if (r < 0)
        return err_code(err, r, "cannot make the folder of '%s'", out_file);
    r = make_hidden(f, hidden);
    if (r < 0)
        return err_code(err, r, "cannot make a folder in '%s/live' (AHR_HOME says where)",
                        f->home);
    r = furnish(f, hidden, out_file);
    if (!r && strcmp(hidden, f->dir) != 0 && rename(hidden, f->dir) < 0)
        r = -errno;
    if (!r)
        return 0;
    remove_folder(hidden);
    return err_code(err, r, "cannot make '%s'", f->dir);
}

static int
make_at(struct session_folder *ret, const char *home, const char *id, const char *where,
        const char *out_file, struct err *err)
{
    struct session_folder f;
    char *hidden = NULL;
    int r = init(&f, home, id);
    f.is_outside = out_file != NULL;
    if (!r)
        r = set_paths(&f, where, out_file);
    if (!r && !(hidden = hidden_path(&f)))
        r = -ENOMEM;
    if (r < 0)
        err_code(err, r, "cannot make the folder of session '%s'", id);
    else
        r = make(&f, hidden, out_file, err);
    free(hidden);
    if (r < 0)
        session_folder_release(&f);
    else
        *ret = f;
    return r;
}

int
session_folder_make(struct session_folder *ret, const char *home, const char *id,
                    const char *out_file, struct err *err)
{
    return make_at(ret, home, id, "live/", out_file, err);
}

int
session_folder_stage(struct session_folder *ret, const char *home, const char *id,
                     struct err *err)
{
    return make_at(ret, home, id, "live/" HIDDEN, NULL, err);
}

/* -- ending -- */

/* Gone at once for all others, then removed. */
static int
vanish(struct session_folder *f)
{
    char *hidden = hidden_path(f);
    int r = !hidden ? -ENOMEM : rename(f->dir, hidden) < 0 ? -errno : 0;
    if (!r)
        remove_folder(hidden);
    free(hidden);
    return r;
}

static void
let_go(struct session_folder *f)
{
    close(f->lock_fd);
    f->lock_fd = -1;
}

/* From one folder of home to another; what is there already stays. */
static int
move(const char *home, const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return 0;
    if (errno != ENOENT)
        return -errno;
    char *sessions = format("%s/sessions", home);
    int r = sessions ? file_make_dirs(sessions) : -ENOMEM;
    free(sessions);
    return r < 0 ? r : rename(from, to) < 0 ? -errno : 0;
}

static void
remove_own(const char *dir)
{
    static const char *const names[] = { "lock", "reserve" };
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        char *path = format("%s/%s", dir, names[k]);
        if (path)
            unlink(path); /* one that is left in sessions/ means nothing */
        free(path);
    }
}

bool
session_folder_exists(const char *home, const char *kind, const char *id)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    struct stat st;
    return buf_printf(&dir, "%s/%s/%s", home, kind, id) == 0 &&
           lstat(buf_str(&dir), &st) == 0 && S_ISDIR(st.st_mode);
}

bool
session_folder_is_encrypted(const char *home, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return buf_printf(&path, "%s/sessions/%s/" SESSION_VAULT, home, id) == 0 &&
           lstat(buf_str(&path), &st) == 0;
}

void
session_folder_strip(const char *dir)
{
    session_sockets_remove(dir);
    remove_own(dir);
}

static int
move_to_sessions(struct session_folder *f, struct err *err)
{
    char *from = strdup(f->dir);
    char *to = format("%s/sessions/%s", f->home, f->id);
    int r = from && to ? move(f->home, from, to) : -ENOMEM;
    if (!r)
        r = set_paths(f, "sessions/", NULL);
    if (!r) {
        remove_own(f->dir);
        r = f->is_one_of_many ? 0 : file_sync_dir(from);
        r = r < 0 || f->is_one_of_many ? r : file_sync_dir(to);
    }
    free(from);
    free(to);
    if (r == -ENOTEMPTY || r == -EEXIST || r == -ENOTDIR)
        return err_set(err, r, "cannot move '%s': '%s/sessions/%s' is already there",
                       f->dir, f->home, f->id);
    return r < 0 ? err_code(err, r, "cannot move '%s' to '%s/sessions'", f->dir, f->home)
                 : 0;
}

int
session_folder_finish(struct session_folder *f, struct err *err)
{
    int r;
    session_sockets_remove(f->dir);
    if (!f->is_outside)
        r = move_to_sessions(f, err);
    else if ((r = vanish(f)) < 0)
        err_code(err, r, "cannot remove '%s'", f->dir);
    let_go(f);
    return r;
}

void
session_folder_discard(struct session_folder *f)
{
    session_sockets_remove(f->dir);
    (void)vanish(f);
    let_go(f);
}

int
session_folder_remove(struct session_folder *f, struct err *err)
{
    char *hidden = hidden_path(f);
    int r = !hidden ? -ENOMEM : rename(f->dir, hidden) < 0 ? -errno : 0;
    if (r < 0) {
        err_code(err, r, "cannot remove '%s'", f->dir);
    } else {
        session_sockets_remove(hidden);
        r = tree_remove(AT_FDCWD, hidden);
        if (r < 0)
            err_code(err, r, "session '%s' is deleted, but '%s' cannot be removed", f->id,
                     hidden);
    }
    free(hidden);
    let_go(f);
    return r;
}

/* -- somebody else's -- */

/* Does the path still name this folder? Its holder may have moved it before we got the
 * lock. */
static bool
is_at(int dir_fd, const char *path)
{
    struct stat held, named;
    return fstat(dir_fd, &held) == 0 && stat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* The lock of the folder at path: a descriptor, ERR_BUSY, or -errno. Made where it is
 * missing, but not in one that was moved away: there its holder has removed it. */
static int
take_lock(int dir_fd, const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = openat(dir_fd, "lock", flags);
    if (fd < 0 && errno == ENOENT && is_at(dir_fd, path))
        fd = openat(dir_fd, "lock", flags | O_CREAT, 0600);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int r = errno == EWOULDBLOCK ? ERR_BUSY : -errno;
    close(fd);
    return r;
}

static int
take(struct session_folder *f)
{
    int dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return -errno;
    int r = f->lock_fd = take_lock(dir_fd, f->dir);
    if (r >= 0)
        r = is_at(dir_fd, f->dir) ? 0 : -ENOENT;
    close(dir_fd);
    return r;
}

int
session_folder_take(struct session_folder *ret, const char *home, const char *id,
                    struct err *err)
{
    AUTO(buf) out_file = { 0 };
    struct session_folder f;
    int r = init(&f, home, id);
    if (!r)
        r = set_paths(&f, "live/", NULL);
    if (!r)
        r = take(&f);
    if (!r)
        r = read_out_file(f.dir, &out_file);
    f.is_outside = r > 0;
    if (r > 0)
        r = set_paths(&f, "live/", buf_str(&out_file));
    if (!r) {
        *ret = f;
        return 0;
    }
    session_folder_release(&f);
    if (r == ERR_BUSY)
        return err_set(err, r, "session '%s' is being recorded or recovered", id);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s/live/%s/out-file' names no file", home, id);
    if (r == -ENOENT)
        return err_set(err, ERR_MISSING, "no session '%s' in '%s/live'", id, home);
    return err_code(err, r, "cannot lock '%s/live/%s'", home, id);
}

bool
session_folder_is_held(const char *home, const char *id)
{
    char *path = format("%s/live/%s/lock", home, id);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool is_held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    free(path);
    return is_held;
}

/* Left by a recorder that did not get to the rename, or that was killed while it removed
 * its folder. One that is just being made may not have its lock yet: only old ones go. */
static bool
is_stale(int live_fd, const char *name, time_t now)
{
    struct stat st;
    return !strncmp(name, HIDDEN, strlen(HIDDEN)) &&
           fstatat(live_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
           now - st.st_mtime > STALE_S;
}

static void
remove_unheld(const char *path)
{
    int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int lock_fd = dir_fd < 0 ? -1 : take_lock(dir_fd, path);
    if (lock_fd >= 0) {
        remove_folder(path);
        close(lock_fd);
    }
    if (dir_fd >= 0)
        close(dir_fd);
}

void
session_folder_sweep(const char *home)
{
    char *live = format("%s/live", home);
    DIR *d = live ? opendir(live) : NULL;
    time_t now = time(NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = is_stale(dirfd(d), e->d_name, now) ? format("%s/%s", live, e->d_name)
                                                        : NULL;
        if (path)
            remove_unheld(path);
        free(path);
    }
    if (d)
        closedir(d);
    free(live);
}

void
session_folder_unstage(const char *home, const char *id)
{
    char *path = format("%s/live/" HIDDEN "%s", home, id);
    if (path && access(path, F_OK) == 0)
        remove_unheld(path);
    free(path);
}
