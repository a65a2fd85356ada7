/* SPDX-License-Identifier: MIT */
#include "library/keyframes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "play/player.h"
#include "session/hold.h"
#include "session/home.h"

#define NAME "keyframes"

/* -- in the session's folder -- */

/* Does the real path lie in <home>/sessions/<id>, as session.ahr? */
static bool
is_in_library(const char *path)
{
    AUTO(buf) sessions = { .ceiling = PATH_MAX };
    char real[PATH_MAX];
    if (session_home(&sessions, NULL) < 0 || buf_puts(&sessions, "/sessions") < 0 ||
        !realpath(buf_str(&sessions), real) ||
        strcmp(file_name(path), "session.ahr") != 0)
        return false;
    size_t n = strlen(real), dir = file_dir_len(path);
    return dir > n && !strncmp(path, real, n) && path[n] == '/' &&
           !memchr(path + n + 1, '/', dir - n - 1);
}

/* -- in the cache -- */

static int
cache_dir(struct buf *ret)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return buf_printf(ret, "%s/ahr/" NAME, cache);
    if (home && *home == '/')
        return buf_printf(ret, "%s/.cache/ahr/" NAME, home);
    return -ENOENT;
}

enum { NAME_DIGITS = 16 }; /* of a file in the cache */

struct kept {
    char name[NAME_MAX + 1];
    struct timespec used;
    uint64_t bytes;
};

static int
newest_first(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept *)a)->used;
    const struct timespec *y = &((const struct kept *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? 1 : -1;
    return x->tv_nsec == y->tv_nsec ? 0 : x->tv_nsec < y->tv_nsec ? 1 : -1;
}

/* A name that put_in_cache() gives, or that of such a file in the making. The folder may
 * be a link to one with other files, too. */
static bool
is_ours(const char *name)
{
    size_t n = strspn(name, "0123456789abcdef");
    return n == NAME_DIGITS && (!name[n] || !strcmp(name + n, ".new"));
}

static void
list(int fd, DIR *d, struct buf *ret)
{
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct kept kept;
        struct stat st;
        if (!is_ours(e->d_name))
            continue;
        if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
            continue;
        snprintf(kept.name, sizeof(kept.name), "%s", e->d_name);
        kept.used = st.st_mtim;
        kept.bytes = (uint64_t)st.st_size;
        buf_append(ret, &kept, sizeof(kept));
    }
}

/* Removes what was not used for longest, but for the one that is wanted now. */
static void
sweep(const char *dir, const char *wanted)
{
    AUTO(buf) files = { 0 };
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    utimensat(fd, wanted, NULL, AT_SYMLINK_NOFOLLOW);
    list(fd, d, &files);
    struct kept *kept = (struct kept *)(void *)files.p;
    size_t n = files.n / sizeof(*kept), count = 0;
    uint64_t bytes = 0;
    if (n)
        qsort(kept, n, sizeof(*kept), newest_first);
    for (size_t i = 0; i < n; i++) {
        bool is_over = count >= LIBRARY_KEYFRAMES_FILES ||
                       bytes + kept[i].bytes > LIBRARY_KEYFRAMES_BYTES;
        if (is_over && strcmp(kept[i].name, wanted) != 0) {
            unlinkat(fd, kept[i].name, 0);
            continue;
        }
        bytes += kept[i].bytes;
        count++;
    }
    closedir(d);
}

/* A name for any path; two paths with the same one only take turns. */
static uint64_t
hash(const char *path)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *path; path++)
        h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
    return h;
}

/* Of the recording with this real path; at most NAME_DIGITS. */
static void
cache_name(const char *path, char ret[NAME_DIGITS + 1])
{
    snprintf(ret, NAME_DIGITS + 1, "%0*" PRIx64, NAME_DIGITS, hash(path));
}

static int
put_in_cache(const char *path, struct buf *ret)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    char name[NAME_DIGITS + 1];
    int r = cache_dir(&dir);
    if (r >= 0)
        r = file_make_dirs(buf_str(&dir));
    if (r < 0)
        return r;
    cache_name(path, name);
    sweep(buf_str(&dir), name);
    return buf_printf(ret, "%s/%s", buf_str(&dir), name);
}

int
library_keyframes_path(const struct library_found *f, struct buf *ret)
{
    AUTO(buf) tape = { 0 };
    char path[PATH_MAX];
    int r = buf_append(&tape, f->tape_path.p, f->tape_path.n);
    if (r < 0)
        return r;
    if (f->is_live)
        return -EBUSY; /* it still grows, and its folder moves */
    if (!realpath(buf_str(&tape), path))
        return -errno;
    if (is_in_library(path))
        return buf_printf(ret, "%.*s/" NAME, (int)file_dir_len(path), path);
    return put_in_cache(path, ret);
}

/* -- made -- */

static int
walk(const char *tape_path, const char *path, struct err *err)
{
    struct play_player *p;
    int r = play_open(&p, tape_io_files(), tape_path,
                      &(struct play_options){ .keyframes_path = path }, err);
    if (r < 0)
        return r;
    bool is_long = play_extent(p).total_bytes >= LIBRARY_KEYFRAMES_WORTH;
    if (is_long)
        r = play_index(p);
    if (is_long && r >= 0)
        r = play_work_all(p);
    play_close(p);
    if (r < 0)
        return err_code(err, r, "cannot go through '%s'", tape_path);
    return is_long && access(path, F_OK) == 0;
}

int
library_keyframes_make(const char *home, const char *id, struct err *err)
{
    AUTO(buf) tape = { .ceiling = PATH_MAX };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (buf_printf(&tape, "%s/sessions/%s/session.ahr", home, id) < 0 ||
        buf_printf(&path, "%s/sessions/%s/" NAME, home, id) < 0)
        return err_code(err, -ENAMETOOLONG, "cannot read session '%s'", id);
    int hold = session_hold(home, id, 0, err);
    if (hold < 0)
        return hold;
    int r = walk(buf_str(&tape), buf_str(&path), err);
    close(hold);
    return r;
}

/* -- removing -- */

static int
remove_one(const char *path)
{
    bool is_gone = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR;
    return is_gone ? 0 : -errno;
}

/* That file, and what a killed player has left of making it. */
static int
remove_both(struct buf *path)
{
    int r = remove_one(buf_str(path));
    if (!r)
        r = buf_puts(path, ".new");
    return r < 0 ? r : remove_one(buf_str(path));
}

int
library_keyframes_remove(const char *tape_path, struct err *err)
{
    AUTO(buf) beside = { .ceiling = PATH_MAX };
    AUTO(buf) cached = { .ceiling = PATH_MAX };
    char path[PATH_MAX], name[NAME_DIGITS + 1];
    if (!realpath(tape_path, path))
        return errno == ENOENT ? 0 : err_sys(err, "cannot find '%s'", tape_path);
    int r = buf_printf(&beside, "%.*s/" NAME, (int)file_dir_len(path), path);
    if (!r)
        r = remove_both(&beside);
    cache_name(path, name);
    if (!r && cache_dir(&cached) >= 0 && buf_printf(&cached, "/%s", name) >= 0)
        r = remove_both(&cached);
    return r < 0 ? err_code(err, r, "cannot remove the keyframes of '%s'", tape_path) : 0;
}
