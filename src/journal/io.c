/* SPDX-License-Identifier: MIT */
/* io.c -- lines of io.log, written. */
#include "journal/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "gz/pack.h"
#include "gz/read.h"
#include "journal/file_priv.h"
#include "journal/metadata.h"
#include "session/lines.h"

#define IO_LOG "io.log"

static const uint64_t ARCHIVE_WAITS_NS = 20 * UINT64_C(1000000000);

static void
put_content(struct json *j, struct view content)
{
    json_key(j, "content");
    if (utf8_is_text(content.p, content.n)) {
        json_bytes(j, content);
        return;
    }
    buf_puts(j->out, "\"");
    base64_put(content, j->out);
    buf_puts(j->out, "\"");
    j->comma = true;
    json_key(j, "encoding"), json_str(j, "base64");
}

static void
put_said(struct json *j, const struct journal_io_entry *e)
{
    put_content(j, e->content);
    if (e->type)
        json_key(j, "type"), json_str(j, e->type);
    if (e->is_stderr)
        json_key(j, "stream"), json_str(j, "stderr");
    if (e->is_partial)
        json_key(j, "partial"), json_bool(j, true);
}

void
journal_io_line(const struct journal_io_entry *e, struct buf *out)
{
    static const char *const directions[] = { "in", "out", "artifact" };
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "timestamp");
    buf_puts(out, "\""), journal_time(e->ts_ns, out), buf_puts(out, "\"");
    j->comma = true;
    json_key(j, "direction"), json_str(j, directions[e->direction]);
    if (e->direction == JOURNAL_ARTIFACT) {
        json_key(j, "path"), json_bytes(j, e->path);
        json_key(j, "action"), json_bytes(j, e->action);
    } else {
        put_said(j, e);
    }
    if (e->iteration)
        json_key(j, "iteration"), json_u64(j, e->iteration);
    buf_append(out, e->more.p, e->more.n);
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* -- one line, beside whoever archives the run -- */

int
journal_io_restore(int dir_fd, const char *dir, struct err *err)
{
    struct gz_sizes ignored;
    struct stat st;
    int r = gz_stat(dir_fd, IO_LOG, &st);
    if (r <= 0)
        return 0; /* what is no plain file is told by who opens it */
    r = gz_unpack(dir_fd, IO_LOG, NULL, &ignored);
    if (r == ERR_DAMAGED)
        return err_set(err, r,
                       "'%s/" IO_LOG GZ_SUFFIX "' is damaged: 'ahr archive --undo %s' "
                       "keeps what can be read of it",
                       dir, file_name(dir));
    return r < 0 ? err_code(err, r, "cannot unpack '%s/" IO_LOG GZ_SUFFIX "'", dir) : 0;
}

static int
refuse_encrypted(const char *path, struct err *err)
{
    AUTO(buf) dir = { 0 };
    size_t n = file_dir_len(path);
    int r = buf_append(&dir, n ? path : ".", n ? n : 1);
    return r < 0 ? r : journal_refuse_encrypted(buf_str(&dir), err);
}

/* Who archives has the folder's lock; so has a run, which unpacks it before it writes.
 * ERR_BUSY: somebody is at it. */
static int
restore(const char *path, struct err *err)
{
    AUTO(buf) dir = { 0 };
    struct stat st;
    if (gz_stat(AT_FDCWD, path, &st) != 1)
        return 0;
    size_t n = file_dir_len(path);
    buf_append(&dir, n ? path : ".", n ? n : 1);
    int fd = file_open_dir(path);
    int r = fd < 0 ? fd : file_lock(fd, false, 0);
    if (r < 0 && r != ERR_BUSY)
        err_code(err, r, "cannot lock '%s'", buf_str(&dir));
    if (!r)
        r = journal_io_restore(fd, buf_str(&dir), err);
    if (fd >= 0)
        close(fd);
    return r;
}

/* Its descriptor, locked where there are locks. ERR_BUSY: it is being archived or
 * encrypted, or was until now. */
static int
open_locked(const char *path, uint64_t deadline_ns)
{
    struct stat st;
    int fd = journal_file_open(AT_FDCWD, path, O_RDWR | O_APPEND);
    if (fd == -ENOENT && gz_stat(AT_FDCWD, path, &st) == 1)
        return ERR_BUSY;
    if (fd == -ENOENT)
        fd = journal_file_open(AT_FDCWD, path, O_RDWR | O_APPEND | O_CREAT);
    if (fd < 0)
        return fd;
    int r = file_lock(fd, false, deadline_ns);
    r = r == ERR_BUSY || !file_is_at(fd, path) ? ERR_BUSY : 0;
    if (!r && fchmod(fd, 0600) < 0)
        r = -errno;
    if (!r)
        return fd;
    close(fd);
    return r;
}

int
journal_io_append(const char *path, struct view line, struct err *err)
{
    struct session_lines l;
    uint64_t deadline_ns = clock_mono_ns() + ARCHIVE_WAITS_NS;
    unsigned tries = 0;
    int r;
    do {
        r = refuse_encrypted(path, err); /* or it would be made anew there */
        if (!r)
            r = restore(path, err);
        if (r < 0 && r != ERR_BUSY)
            return r;
        r = r < 0 ? r : open_locked(path, deadline_ns);
    } while (r == ERR_BUSY && clock_back_off(tries++, deadline_ns));
    int refused = r < 0 ? 0 : refuse_encrypted(path, err); /* while we waited for it */
    if (refused < 0) {
        close(r);
        return refused;
    }
    if (r >= 0)
        r = session_lines_init_fd(&l, path, r);
    if (!r) {
        r = session_lines_add(&l, line);
        session_lines_release(&l);
    }
    if (r == ERR_BUSY)
        return err_set(err, r, "somebody keeps '%s' locked; try again", path);
    return r < 0 ? err_code(err, r, "cannot write '%s'", path) : 0;
}
