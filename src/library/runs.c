/* SPDX-License-Identifier: MIT */
#include "library/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "library/runs_priv.h"
#include "library/stub_priv.h"
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
bool
library_project_is(const char *path)
{
    static const char *const places[] = { "/.ahr/sessions", "/.claude-man/sessions" };
    const char *name = strrchr(path, '/');
    if (*path != '/' || !name || !session_name_is(name + 1) || strstr(path, "/../"))
        return false;
    size_t n = (size_t)(name - path);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t len = strlen(places[i]);
        if (n >= len && !memcmp(name - len, places[i], len))
            return true;
    }
    return false;
}

bool
library_run_is_encrypted(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_stub = stub_is(fd, NULL);
    if (fd >= 0)
        close(fd);
    return is_stub;
}

/* A journal_io_fn: the first stamp is enough. */
static int
take_first(void *ctx, const struct journal_io_entry *e)
{
    *(uint64_t *)ctx = e->ts_ns;
    return e->ts_ns ? -ECANCELED : 0;
}

/* A name may be used again after its folder was removed: what is there then was all
 * written after the session had ended. */
static bool
is_of_later(const char *path, const char *id, const struct session_told *told)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    AUTO(journal_told) run = { 0 };
    uint64_t first_ns = 0;
    struct err ignored;
    buf_printf(&file, "%s/metadata.json", path);
    if (!told->ended_at_ns || file.failed ||
        journal_metadata_read(buf_str(&file), &run, NULL) < 0 || !run.id ||
        !strcmp(run.id, id))
        return false;
    buf_clear(&file);
    buf_printf(&file, "%s/io.log", path);
    (void)journal_io_each(buf_str(&file), take_first, &first_ns, NULL, &ignored);
    return first_ns > told->ended_at_ns;
}

int
library_project_of(const char *dir, const char *meta_path, struct buf *ret)
{
    AUTO(buf) file = { .ceiling = PATH_MAX };
    AUTO(buf) text = { .ceiling = 128 << 10 };
    AUTO(session_told) told = { 0 };
    bool is_told = session_meta_tell(meta_path, &told, NULL) == 0;
    const char *path = NULL;
    if (buf_printf(&file, "%s/project", dir) == 0 &&
        file_slurp(buf_str(&file), &text) == 0 && text.n < PATH_MAX && is_path(&text) &&
        library_project_is(buf_str(&text)))
        path = buf_str(&text);
    else if (is_told && told.project && *told.project == '/' &&
             library_project_is(told.project))
        path = told.project;
    if (!path || (is_told && is_of_later(path, file_name(dir), &told)))
        return 0;
    return buf_puts(ret, path);
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

int
runs_find(const char *from, struct buf *ret_path)
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

bool
runs_is_free(int runs_fd, const char *name)
{
    int fd = openat(runs_fd, name, folder_flags);
    bool is_free = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return is_free;
}

bool
library_runs_path(const char *from, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int fd = runs_find(from, &path);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && buf_append(ret, path.p, path.n) == 0;
}

/* Does it say that it goes on, and nobody holds it? */
static bool
is_left(int runs_fd, const char *name, const char *dir)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return runs_is_free(runs_fd, name) &&
           buf_printf(&path, "%s/metadata.json", dir) == 0 &&
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
    int fd = runs_find(from, &path), r = 1;
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
