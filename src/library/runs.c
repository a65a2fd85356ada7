/* SPDX-License-Identifier: MIT */
#include "library/runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "session/folder.h"
#include "session/id.h"
#include "session/meta.h"

/* -- where a run's folder is -- */

/* One absolute path, and nothing else. */
static bool
is_path(struct buf *b)
{
    while (b->n && b->p[b->n - 1] == '\n')
        b->n--;
    return b->n && b->p[0] == '/' && !memchr(b->p, 0, b->n) && !memchr(b->p, '\n', b->n);
}

/* Is it where runs are kept? Else it is a folder of which we know nothing: recover and
 * others would change files in it. */
static bool
is_of_a_run(const char *path)
{
    static const char *const places[] = { "/.ahr/sessions", "/.claude-man/sessions" };
    const char *name = strrchr(path, '/');
    if (!name || !session_name_is(name + 1) || strstr(path, "/../"))
        return false;
    size_t n = (size_t)(name - path);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t len = strlen(places[i]);
        if (n >= len && !memcmp(name - len, places[i], len))
            return true;
    }
    return false;
}

int
library_project_of(const char *dir, const char *meta_path, struct buf *ret)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    AUTO(buf) text = { .ceiling = 128 << 10 };
    AUTO(session_told) told = { 0 };
    if (buf_printf(&file, "%s/project", dir) == 0 &&
        file_slurp(buf_str(&file), &text) == 0 && text.n < PATH_MAX && is_path(&text) &&
        is_of_a_run(buf_str(&text)))
        return buf_append(ret, text.p, text.n);
    if (session_meta_tell(meta_path, &told, NULL) == 0 && told.project &&
        *told.project == '/' && is_of_a_run(told.project))
        return buf_puts(ret, told.project);
    return 0;
}

bool
library_project_find(const char *home, const char *id, struct buf *ret)
{
    static const char *const places[] = { "sessions", "live" };
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) meta = { .ceiling = PATH_MAX };
    struct stat st;
    for (size_t i = 0; !ret->n && i < sizeof(places) / sizeof(places[0]); i++) {
        buf_clear(&dir);
        buf_clear(&meta);
        buf_printf(&dir, "%s/%s/%s", home, places[i], id);
        buf_printf(&meta, "%s/session." SESSION_META, buf_str(&dir));
        if (!meta.failed)
            (void)library_project_of(buf_str(&dir), buf_str(&meta), ret);
    }
    return ret->n && !ret->failed && lstat(buf_str(ret), &st) == 0 && S_ISDIR(st.st_mode);
}

/* -- those of a project -- */

static const int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/* The folder of a project's runs below root: its descriptor, and its path. */
static int
open_runs(const char *root, struct buf *ret_path)
{
    static const char *const bases[] = { ".claude-man", ".ahr" };
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof(bases) / sizeof(bases[0]); i++) {
        buf_clear(ret_path);
        buf_printf(ret_path, "%s/%s", strcmp(root, "/") ? root : "", bases[i]);
        int base = ret_path->failed ? -1 : open(buf_str(ret_path), folder_flags);
        fd = base < 0 ? -1 : openat(base, "sessions", folder_flags);
        if (base >= 0)
            close(base);
    }
    buf_puts(ret_path, "/sessions");
    if (fd >= 0 && ret_path->failed) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* -1: there is none around it. */
static int
find_runs(const char *from, struct buf *ret_path)
{
    char root[PATH_MAX];
    if (!realpath(from, root))
        return -1;
    for (;;) {
        int fd = open_runs(root, ret_path);
        char *slash = strrchr(root, '/');
        if (fd >= 0 || !slash || !slash[1])
            return fd;
        slash[slash == root] = 0;
    }
}

/* Does it say that it goes on, and nobody holds it? */
static bool
is_left(int runs_fd, const char *name, const char *dir)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int fd = openat(runs_fd, name, folder_flags);
    bool is_free = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return is_free && buf_printf(&path, "%s/metadata.json", dir) == 0 &&
           journal_metadata_read(buf_str(&path), &told, NULL) == 0 && told.status &&
           !strcmp(told.status, "active");
}

static int
recover_one(int runs_fd, const char *runs, const char *name, bool is_dry_run,
            library_runs_fn fn, void *ctx)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    struct err why = { 0 };
    if (!session_name_is(name) || buf_printf(&dir, "%s/%s", runs, name) < 0)
        return 1;
    int fd = openat(runs_fd, name, folder_flags);
    if (fd < 0)
        return 1; /* a file, or a link */
    close(fd);
    int r = is_dry_run ? is_left(runs_fd, name, buf_str(&dir))
                       : journal_project_recover(buf_str(&dir), &why);
    return r == 0 || r == ERR_BUSY ? 1 : fn(ctx, buf_str(&dir), r, &why);
}

int
library_runs_recover(const char *from, bool is_dry_run, library_runs_fn fn, void *ctx)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int fd = find_runs(from, &path), r = 1;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *e; r > 0 && (e = readdir(d));)
        if (e->d_name[0] != '.')
            r = recover_one(dirfd(d), buf_str(&path), e->d_name, is_dry_run, fn, ctx);
    closedir(d);
    return r < 0 ? r : 0;
}
