/* SPDX-License-Identifier: MIT */
/*
 * make.c -- the files of a library: looked at, made, sealed.
 *
 * A new one is made under another name, and takes its place when it is whole: what stands
 * at library.db is never half a library.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/schema_priv.h"
#include "store/store_priv.h"

static const char *const endings[] = { "-wal", "-shm", "-journal" };

/* SQLite would open whatever is there, and wait for ever at a pipe. A folder it cannot
 * open, and says so; nor could we remove it. */
static int
look_beside(const char *path, struct err *err)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        AUTO(buf) name = { 0 };
        struct stat st;
        if (buf_printf(&name, "%s%s", path, endings[i]) < 0)
            return err_code(err, -ENOMEM, "cannot open '%s'", path);
        if (stat(buf_str(&name), &st) == 0 && !S_ISREG(st.st_mode) &&
            !S_ISDIR(st.st_mode))
            return store_damaged(path, "what lies beside it is no file", err);
    }
    return 0;
}

int
store_look(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        return err_sys(err, "cannot open '%s'", path);
    }
    if (!S_ISREG(st.st_mode))
        return store_damaged(path, "it is no file", err);
    int r = look_beside(path, err);
    return r < 0 ? r : st.st_size > 0;
}

int
store_remove_beside(const char *path, struct err *err)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        AUTO(buf) name = { 0 };
        if (buf_printf(&name, "%s%s", path, endings[i]) < 0)
            return err_code(err, -ENOMEM, "cannot use '%s'", path);
        if (unlink(buf_str(&name)) < 0 && errno != ENOENT)
            return err_sys(err, "cannot remove '%s'", buf_str(&name));
    }
    return 0;
}

/* The log and the journal have the mode of the file that they belong to. */
static int
create(const char *path, struct err *err)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(err, "cannot remove '%s'", path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, "cannot make '%s'", path);
    int r = fchmod(fd, 0600) < 0 ? err_sys(err, "cannot make '%s'", path) : 0;
    close(fd);
    return r;
}

/* Nobody else sees it, and if we die it is of no use: nothing is synced on the way. */
int
store_make(struct store *s, struct err *err)
{
    char kind[64];
    snprintf(kind, sizeof(kind), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    int r = store_remove_beside(s->path, err);
    if (!r)
        r = create(s->path, err);
    if (!r)
        r = store_connect(s, "mode=rw", err);
    if (!r)
        r = store_exec(s, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;",
                       err);
    if (!r)
        r = store_exec(s, kind, err);
    return r < 0 ? r : store_migrate(s, store_schema_steps, err);
}

static int
sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r;
}

/* Where there can be no log (a file system without shared memory) the mode stays as it
 * is, and the rollback journal serves. The log that this makes has nothing in it. */
int
store_seal(struct store *s, struct err *err)
{
    store_enter(s);
    int r = store_exec(s, "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL;",
                       err);
    store_disconnect(s);
    if (!r)
        r = store_remove_beside(s->path, err);
    if (r < 0)
        return r;
    r = sync_file(s->path);
    return r < 0 ? err_code(err, r, "cannot write '%s'", s->path) : 0;
}
