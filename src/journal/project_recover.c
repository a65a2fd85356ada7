/* SPDX-License-Identifier: MIT */
/* project_recover.c -- a run that was cut off, put in order. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "gz/read.h"
#include "journal/file_priv.h"
#include "journal/io.h"
#include "journal/iteration.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "journal/project_priv.h"
#include "session/lines.h"

static const uint64_t LOCK_WAITS_NS = UINT64_C(2000000000);

static bool
is_entry(struct view line)
{
    AUTO(buf) texts = { 0 };
    struct journal_io_entry e;
    return journal_io_read(line, &texts, &e) != ERR_DAMAGED;
}

static int
mend_io(const char *dir, uint64_t *ret_last_ns, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct stat st;
    buf_printf(&path, "%s/io.log", dir);
    int fd = journal_file_open(AT_FDCWD, buf_str(&path), O_RDWR);
    bool is_told = fd >= 0 ? fstat(fd, &st) == 0
                           : gz_stat(AT_FDCWD, buf_str(&path), &st) == 1;
    if (is_told)
        *ret_last_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
                       (uint64_t)st.st_mtim.tv_nsec;
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return err_code(err, fd, "cannot read '%s'", buf_str(&path));
    int r = file_lock(fd, false, clock_mono_ns() + LOCK_WAITS_NS);
    if (!r)
        r = session_lines_mend(fd, "{\"timestamp\":\"", is_entry);
    close(fd);
    return r < 0 ? err_code(err, r, "cannot mend '%s'", buf_str(&path)) : r;
}

/* Each log; one that cannot be mended does not keep the others from it. */
static int
mend_logs(const char *dir, struct err *err)
{
    AUTO(buf) path = { 0 };
    int result = 0;
    buf_printf(&path, "%s/iterations", dir);
    int fd = journal_file_folder(AT_FDCWD, buf_str(&path), NULL);
    DIR *logs = fd < 0 ? NULL : fdopendir(fd);
    if (!logs)
        return 0;
    size_t n = path.n;
    for (struct dirent *d; (d = readdir(logs));) {
        size_t len = strlen(d->d_name);
        if (d->d_name[0] == '.' || len < 5 || strcmp(d->d_name + len - 4, ".log") != 0)
            continue;
        path.n = n;
        buf_printf(&path, "/%s", d->d_name);
        int r = journal_iteration_recover(buf_str(&path), err);
        result = r < 0 && r != ERR_DAMAGED ? r : result < 0 ? result : result | (r > 0);
    }
    closedir(logs);
    return result;
}

/* Who holds no lock of ours (another tool) may still be at work. */
static bool
is_anothers(const struct journal_told *told)
{
    return told->status && !strcmp(told->status, "active") && !told->pid_start &&
           told->pid && journal_process_start(told->pid);
}

static int
mend_metadata(const char *path, const struct journal_told *told, uint64_t last_ns,
              struct err *err)
{
    struct timespec now;
    if (!told->status || strcmp(told->status, "active") != 0)
        return 0;
    if (!last_ns && clock_gettime(CLOCK_REALTIME, &now) == 0)
        last_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    int r = journal_metadata_change(path, "interrupted", last_ns, NULL, err);
    return r < 0 ? r : 1;
}

int
journal_project_mend(const char *dir, struct err *err)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { 0 };
    uint64_t last_ns = 0;
    buf_printf(&path, "%s/metadata.json", dir);
    /* One that cannot be read says nothing; the logs can be mended all the same. */
    (void)journal_metadata_read(buf_str(&path), &told, NULL);
    if (is_anothers(&told))
        return err_set(err, ERR_BUSY, "process %d is still at the run in '%s'", told.pid,
                       dir);
    int logs = mend_logs(dir, err);
    if (logs < 0)
        return logs;
    int io = mend_io(dir, &last_ns, err);
    if (io < 0)
        return io;
    int meta = mend_metadata(buf_str(&path), &told, last_ns, err);
    return meta < 0 ? meta : logs || io || meta;
}

int
journal_project_recover(const char *dir, struct err *err)
{
    int fd = journal_file_folder(AT_FDCWD, dir, NULL);
    if (fd < 0)
        return err_code(err, fd, "cannot use '%s'", dir);
    int r = file_lock(fd, false, 0);
    if (r == ERR_BUSY)
        r = err_set(err, r, "the run in '%s' is going on", dir);
    else if (r < 0)
        err_code(err, r, "cannot lock '%s'", dir);
    else
        r = journal_project_mend(dir, err);
    close(fd);
    return r;
}
