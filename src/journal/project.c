/* SPDX-License-Identifier: MIT */
/* project.c -- the folder of one run, made and locked. */
#include "journal/project.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "gz/read.h"
#include "journal/file_priv.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/project_priv.h"
#include "session/id.h"

/* A recover that is at it is waited for; a run is not over in that time. */
static const uint64_t HELD_WAITS_NS = UINT64_C(30000000);

/* Its descriptor, locked. The lock of sessions/ is held, so that nobody makes another of
 * that name; who removes folders does not ask. */
static int
take(int runs_fd, const char *name, bool *ret_is_made)
{
    int fd = journal_file_folder(runs_fd, name, ret_is_made);
    if (fd < 0)
        return fd;
    int r = fchmod(fd, 0700) < 0 ? -errno : 0;
    if (!r)
        r = file_lock(fd, false, clock_mono_ns() + HELD_WAITS_NS);
    if (!r)
        return fd;
    close(fd);
    return r;
}

static int
say(struct err *err, int code, const char *dir, const char *name)
{
    if (code == ERR_BUSY)
        return err_set(err, code,
                       "a run called '%s' is going on in this project: 'ahr stop %s' "
                       "ends it, and another --name is free",
                       name, name);
    if (code == -ELOOP)
        return err_set(err, code,
                       "'%s' is a link, and nothing is written through links: remove it",
                       dir);
    return err_code(err, code, "cannot use '%s'", dir);
}

static int
open_in(struct journal_project *p, const struct journal_runs *runs, const char *name,
        const char *role, struct err *err)
{
    AUTO(buf) given = { 0 };
    AUTO(buf) prefix = { 0 };
    AUTO(buf) dir = { 0 };
    bool is_made;
    int r = 0;
    if (!name) {
        journal_role_prefix(role, &prefix);
        r = journal_name_claim(runs->fd, buf_str(&prefix), &given, err);
        if (r < 0)
            return r;
        name = buf_str(&given);
    }
    buf_printf(&dir, "%s/%s/sessions/%s", strcmp(p->root, "/") ? p->root : "", runs->base,
               name);
    p->dir = strdup(buf_str(&dir));
    p->name = strdup(name);
    if (dir.failed || !p->dir || !p->name)
        return err_code(err, -ENOMEM, "cannot open a run in '%s'", p->root);
    p->lock_fd = take(runs->fd, name, &is_made);
    if (p->lock_fd < 0)
        return say(err, p->lock_fd, p->dir, name);
    p->base = runs->base;
    p->is_first = runs->is_first;
    p->has_ignore = runs->has_ignore;
    p->is_again = !is_made && !given.n;
    return 0;
}

/* Its name stays taken: its files come back there. */
static int
refuse_encrypted(const struct journal_project *p, struct err *err)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { 0 };
    if (buf_printf(&path, "%s/metadata.json", p->dir) < 0 ||
        journal_metadata_read(buf_str(&path), &told, NULL) < 0 || !told.status ||
        strcmp(told.status, "encrypted") != 0)
        return 0;
    return err_set(err, ERR_USAGE,
                   "the run '%s' of this project is encrypted: choose another name, or "
                   "bring it back first: 'ahr decrypt %s'",
                   p->name, told.id ? told.id : p->name);
}

int
journal_project_open(struct journal_project *ret, const char *root, const char *name,
                     const char *role, struct err *err)
{
    struct journal_project p = { .lock_fd = -1 };
    struct journal_runs runs;
    if (name && !session_name_is(name))
        return err_set(err, ERR_USAGE,
                       "'%s' is no name for a run: letters, digits, '.', '_' and '-', at "
                       "most 64",
                       name);
    p.root = realpath(root, NULL);
    if (!p.root)
        return err_sys(err, "cannot use the project's folder '%s'", root);
    int r = journal_runs_open(&runs, p.root, err);
    if (!r) {
        r = open_in(&p, &runs, name, role, err);
        journal_runs_release(&runs);
    }
    if (!r && p.is_again)
        r = refuse_encrypted(&p, err);
    if (!r && p.is_again)
        r = journal_project_mend(p.dir, err);
    if (r >= 0 && p.is_again)
        r = journal_io_restore(p.lock_fd, p.dir, err);
    if (r < 0) {
        journal_project_release(&p);
        return r;
    }
    *ret = p;
    return 0;
}

void
journal_project_release(struct journal_project *p)
{
    if (p->lock_fd >= 0)
        close(p->lock_fd);
    free(p->root);
    free(p->dir);
    free(p->name);
    *p = (struct journal_project){ .lock_fd = -1 };
}

int
journal_project_path(const struct journal_project *p, const char *what, struct buf *ret)
{
    return buf_printf(ret, "%s/%s", p->dir, what);
}

/* The number of a log, <n>.log, archived or not; 0: it is none. */
static uint64_t
log_number(const char *name)
{
    size_t packed = gz_name_len(name), n = packed ? packed : strlen(name);
    uint64_t v;
    if (n < 5 || memcmp(name + n - 4, ".log", 4) != 0)
        return 0;
    return num_parse((struct view){ (const uint8_t *)name, n - 4 }, UINT64_MAX - 1, &v)
               ? 0
               : v;
}

static bool
is_there(int fd, uint64_t number)
{
    AUTO(buf) name = { 0 };
    struct stat st;
    buf_put_u64(&name, number);
    buf_puts(&name, ".log");
    return gz_stat(fd, buf_str(&name), &st) != -ENOENT;
}

/* Takes the descriptor. */
static int
find_highest(int fd, uint64_t *ret)
{
    uint64_t most = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int r = -errno;
        close(fd);
        return r;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        uint64_t v = log_number(d->d_name);
        most = v > most ? v : most;
    }
    closedir(dir);
    *ret = most;
    return 0;
}

int
journal_project_next(struct journal_project *p, uint64_t *ret, struct err *err)
{
    uint64_t most = p->last_number;
    bool is_made;
    int r = 0, fd = journal_file_folder(p->lock_fd, "iterations", &is_made);
    if (fd == -ELOOP)
        return err_set(err, fd,
                       "'%s/iterations' is a link, and nothing is written through links: "
                       "remove it",
                       p->dir);
    if (fd < 0)
        return err_code(err, fd, "cannot use '%s/iterations'", p->dir);
    if (most && is_there(fd, most) && !is_there(fd, most + 1))
        close(fd);
    else
        r = find_highest(fd, &most);
    if (r < 0)
        return err_code(err, r, "cannot use '%s/iterations'", p->dir);
    *ret = p->last_number = most + 1;
    return 0;
}
