/* SPDX-License-Identifier: MIT */
/*
 * project_remove.c -- the folder of a run, removed.
 *
 * It is moved to .gone-<id> beside it first, under the lock of all runs: who opens a run
 * of that name then finds none, or has one of its own. What a killed one has left under
 * that name is found again by the id.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "journal/file_priv.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "session/exchange.h"
#include "session/id.h"

static const uint64_t LOCK_WAITS_NS = 20 * UINT64_C(1000000000);

/* The folder of all runs, <root>/<base>/sessions. No link is followed below the root. */
static int
open_runs(const char *dir)
{
    char path[PATH_MAX];
    size_t runs_len = file_dir_len(dir);
    if (!runs_len || runs_len >= sizeof(path))
        return -EINVAL;
    memcpy(path, dir, runs_len);
    path[runs_len] = 0;
    size_t base_len = file_dir_len(path);
    path[base_len] = 0;
    size_t root_len = file_dir_len(path);
    if (!base_len || path[0] != '/')
        return -EINVAL;
    path[root_len] = 0;
    int root = open(root_len ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    int base = journal_file_folder(root, path + root_len + 1, NULL);
    close(root);
    if (base < 0)
        return base;
    int runs = journal_file_folder(base, path + base_len + 1, NULL);
    close(base);
    return runs;
}

/* 0: it may go; 1: it is not that session's. */
static int
check(const char *dir, const char *id, struct err *err)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { 0 };
    struct err why = { 0 };
    buf_printf(&path, "%s/metadata.json", dir);
    int r = journal_metadata_read(buf_str(&path), &told, &why);
    if (r < 0)
        return err_set(err, r, "whose '%s' is cannot be told: %.400s", dir, why.text), 1;
    int alive = journal_told_alive(&told);
    if (alive)
        return err_set(err, ERR_BUSY, "process %d is still at the run in '%s'", alive,
                       dir);
    if (!told.id)
        return err_set(err, ERR_DAMAGED,
                       "whose '%s' is cannot be told: its "
                       "metadata.json has no id",
                       dir),
               1;
    if (strcmp(told.id, id) != 0)
        return err_set(err, ERR_BUSY, "'%s' is of session %.47s by now", dir, told.id), 1;
    return 0;
}

/* The lock of all runs is held. 0: it is at .gone-<id> now, or was not there. */
static int
put_away(int runs_fd, const char *dir, const char *id, const char *gone, struct err *err)
{
    const char *name = file_name(dir);
    int fd = journal_file_folder(runs_fd, name, NULL);
    if (fd == -ENOENT)
        return 0;
    if (fd == -ELOOP || fd == -ENOTDIR)
        return err_set(err, fd, "'%s' is no folder: it is left alone", dir), 1;
    if (fd < 0)
        return err_code(err, fd, "cannot open '%s'", dir);
    int r = file_lock(fd, false, 0);
    if (r == ERR_BUSY)
        err_set(err, r, "the run in '%s' is going on, or somebody is at it", dir);
    else if (r < 0)
        err_code(err, r, "cannot lock '%s'", dir);
    else
        r = check(dir, id, err);
    if (!r && renameat(runs_fd, name, runs_fd, gone) < 0)
        r = err_sys(err, "cannot remove '%s'", dir);
    close(fd);
    return r;
}

static int
sync_folder(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* Once it is away nobody needs the lock any more. */
static int
remove_from(int runs_fd, const char *dir, const char *id, struct err *err)
{
    char gone[sizeof(SESSION_GONE) + SESSION_ID_LEN];
    snprintf(gone, sizeof(gone), SESSION_GONE "%s", id);
    int r = tree_remove(runs_fd, gone); /* what one before us has left */
    if (!r)
        r = file_lock(runs_fd, false, clock_mono_ns() + LOCK_WAITS_NS);
    if (r < 0)
        return err_code(err, r, "cannot remove '%s'", dir);
    r = put_away(runs_fd, dir, id, gone, err);
    if (r)
        return r;
    r = sync_folder(runs_fd);
    (void)flock(runs_fd, LOCK_UN);
    if (!r)
        r = tree_remove(runs_fd, gone);
    if (!r)
        r = sync_folder(runs_fd);
    return r < 0 ? err_code(err, r, "cannot remove all of '%s'", dir) : 0;
}

int
journal_project_remove(const char *dir, const char *id, struct err *err)
{
    if (!session_name_is(file_name(dir)) || !session_id_is(id))
        return err_set(err, ERR_USAGE, "'%s' is no folder of a run", dir);
    int runs = open_runs(dir);
    if (runs == -ENOENT)
        return 0;
    if (runs == -ELOOP || runs == -ENOTDIR)
        return err_set(err, runs, "the way to '%s' is a link: it is left alone", dir), 1;
    if (runs < 0)
        return err_code(err, runs, "cannot open '%s'", dir);
    int r = remove_from(runs, dir, id, err);
    close(runs);
    return r;
}
