/* SPDX-License-Identifier: MIT */
/*
 * metadata_file.c -- metadata.json on disk: read, changed and replaced.
 *
 * The run writes it from what it knows while `ahr artifact add` and recover change it.
 * Each reads, changes and replaces under metadata.json.lock, so that none loses what
 * another has just added. The run must not stand still for another's sake: when somebody
 * keeps the lock it tries again later, and does without at its end alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "journal/file_priv.h"
#include "journal/metadata.h"

enum { RUN_WAITS_MS = 200, LAST_WAITS_MS = 2000, CHANGE_WAITS_MS = 5000 };

/* A descriptor to close, ERR_BUSY or -errno. */
static int
lock(const char *path, unsigned wait_ms)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
        return -ENAMETOOLONG;
    int fd = journal_file_open(AT_FDCWD, name, O_RDWR | O_CREAT);
    if (fd < 0)
        return fd;
    int r = file_lock(fd, false, clock_mono_ns() + wait_ms * UINT64_C(1000000));
    if (!r)
        return fd;
    close(fd);
    return r;
}

/* A disk that is full still has the blocks that it has. */
static int
overwrite(const char *path, struct view text, bool is_synced)
{
    struct stat st;
    int fd = journal_file_open(AT_FDCWD, path, O_WRONLY);
    if (fd < 0)
        return fd;
    int r = fstat(fd, &st) < 0                                ? -errno
            : (uint64_t)st.st_blocks * 512 < text.n           ? -ENOSPC
            : pwrite(fd, text.p, text.n, 0) < (ssize_t)text.n ? -EIO
            : ftruncate(fd, (off_t)text.n) < 0                ? -errno
                                                              : 0;
    if (!r && is_synced && fsync(fd) < 0)
        r = -errno;
    close(fd);
    return r;
}

int
journal_metadata_write(const char *path, const struct journal_metadata *m, bool is_synced,
                       struct err *err)
{
    AUTO(buf) old = { 0 };
    AUTO(buf) text = { 0 };
    int lock_fd = lock(path, is_synced ? LAST_WAITS_MS : RUN_WAITS_MS);
    if (lock_fd == ERR_BUSY && !is_synced)
        return err_set(err, lock_fd, "somebody else is at '%s'", path);
    if (journal_file_read(AT_FDCWD, path, JOURNAL_METADATA_MAX, &old) < 0)
        buf_clear(&old);
    journal_metadata_format(m, (struct view){ old.p, old.n }, &text);
    int r = text.failed;
    if (r < 0)
        err_code(err, r, "cannot write '%s'", path);
    else
        r = file_replace(path, (struct view){ text.p, text.n }, is_synced, err);
    if ((r == -ENOSPC || r == -EDQUOT) &&
        !overwrite(path, (struct view){ text.p, text.n }, is_synced))
        r = 0;
    if (lock_fd >= 0)
        close(lock_fd);
    return r;
}

static int
change(const char *path, const char *status, uint64_t completed_at_ns,
       const char *artifact, struct err *err)
{
    AUTO(buf) old = { 0 };
    AUTO(buf) text = { .ceiling = JOURNAL_METADATA_MAX };
    int r = journal_file_read(AT_FDCWD, path, JOURNAL_METADATA_MAX, &old);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", path);
    struct view bytes = { old.p, old.n };
    r = journal_metadata_edit(bytes, status, completed_at_ns, artifact, &text);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is no JSON object; it is left as it is", path);
    if (r == ERR_LIMIT)
        return err_set(err, r, "'%s' would have more than %d bytes", path,
                       JOURNAL_METADATA_MAX);
    if (r < 0)
        return err_code(err, r, "cannot change '%s'", path);
    if (text.n == old.n && !memcmp(text.p, old.p, old.n))
        return 0;
    return file_replace(path, (struct view){ text.p, text.n }, true, err);
}

static int
refuse_encrypted(const char *path, struct err *err)
{
    char dir[PATH_MAX];
    size_t n = file_dir_len(path);
    snprintf(dir, sizeof(dir), "%.*s", n ? (int)n : 1, n ? path : ".");
    return journal_refuse_encrypted(dir, err);
}

int
journal_metadata_change(const char *path, const char *status, uint64_t completed_at_ns,
                        const char *artifact, struct err *err)
{
    if (access(path, F_OK) < 0) /* no lock is left where there is nothing to change */
        return err_sys(err, "cannot read '%s'", path);
    int r = refuse_encrypted(path, err);
    if (r < 0)
        return r;
    int fd = lock(path, CHANGE_WAITS_MS);
    if (fd == ERR_BUSY)
        return err_set(err, fd, "somebody else is at '%s'; try again", path);
    if (fd < 0)
        return err_code(err, fd, "cannot lock '%s'", path);
    r = refuse_encrypted(path, err);
    if (!r)
        r = change(path, status, completed_at_ns, artifact, err);
    close(fd);
    return r;
}
