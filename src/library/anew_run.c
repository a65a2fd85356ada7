/* SPDX-License-Identifier: MIT */
/* anew_run.c -- a run's folder in its project, file by file. */
#include "library/anew_run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "gz/read.h"
#include "journal/iteration.h"
#include "library/archive_priv.h"

enum { DEPTH_MAX = 8 }; /* of folders; ours are two deep */

#define TEMP ".ahr-redact-"

void
anew_run_release(struct anew_run *r)
{
    scrub_free(r->scrub);
    buf_release(&r->path);
}

/* -- one that is ours first -- */

int
anew_run_hold(const char *dir, struct err *err)
{
    char real[PATH_MAX];
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return -1;
    if (fd < 0)
        return err_sys(err, "cannot use the run's folder '%s'", dir);
    int r = file_lock(fd, false, 0);
    if (r == ERR_BUSY)
        err_set(err, r, "a run is going on in '%s'; wait for its end, or 'ahr stop' it",
                dir);
    else if (r < 0)
        err_code(err, r, "cannot lock '%s'", dir);
    else if (!realpath(dir, real) || strcmp(real, dir) != 0)
        r = err_set(err, -ELOOP,
                    "'%s' is reached through a link, and what it leads to may be "
                    "anybody's: put the folder in its place first",
                    dir);
    if (!r)
        return fd;
    close(fd);
    return r;
}

/* -- what cannot be masked -- */

void
anew_run_leave(struct anew_run *r, const char *why)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "'%s' was not masked: %s", buf_str(&r->path), why);
    if (r->rw->tell)
        r->rw->tell(r->rw->ctx, buf_str(&text));
    r->left++;
}

void
anew_run_leave_code(struct anew_run *r, int code)
{
    struct err why;
    if (code == ERR_LIMIT)
        anew_run_leave(r, "it is too large, or the mask itself is what is to be masked");
    else
        err_code(&why, code, "it cannot be replaced"), anew_run_leave(r, why.text);
}

/* -- one file -- */

static bool
ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* Its head keeps its length: it is rewritten in place by those who mend it. */
static int
mask_log(struct anew_run *r, struct view in, struct buf *out, struct scrub_count *count)
{
    struct journal_head head;
    struct view first = { in.p, in.n < JOURNAL_HEAD_MAX ? in.n : JOURNAL_HEAD_MAX };
    if (journal_head_read(first, &head) < 0 || head.size > in.n)
        head.size = 0;
    int e = scrub_stars(r->scrub, (struct view){ in.p, head.size }, out, count);
    in = (struct view){ in.p + head.size, in.n - head.size };
    return e ? e : scrub_text(r->scrub, in, out, count);
}

static int
mask_whole(struct anew_run *r, int from_fd, const char *name, int to_fd,
           struct scrub_count *count)
{
    AUTO(buf) in = { .ceiling = ANEW_TEXT_MAX };
    AUTO(buf) out = { .ceiling = SIZE_MAX };
    int e = file_read_all(from_fd, &in);
    if (e < 0)
        return e;
    struct view text = { in.p, in.n };
    if (!strcmp(name, "io.log"))
        e = scrub_io(r->scrub, text, &out, count);
    else if (ends_with(name, ".json"))
        e = scrub_json(r->scrub, text, &out, count);
    else
        e = mask_log(r, text, &out, count);
    return e < 0 ? e : file_write_all(to_fd, out.p, out.n);
}

/* A copy keeps its length: links.json tells it. */
static int
mask_into(struct anew_run *r, int from_fd, const char *name, bool is_copy, int to_fd,
          struct scrub_count *count)
{
    bool is_ours = ends_with(name, ".log") || ends_with(name, ".json");
    struct stat st;
    if (fstat(from_fd, &st) < 0)
        return -errno;
    int e = !is_ours || is_copy ? scrub_bytes(r->scrub, from_fd, to_fd, count)
                                : mask_whole(r, from_fd, name, to_fd, count);
    if (!e && fchmod(to_fd, st.st_mode & 0777) < 0)
        e = -errno;
    if (!e && count->places && fsync(to_fd) < 0)
        e = -errno;
    return e;
}

/* The name without what is to be masked, as links.json has it then. */
static int
mask_name(struct anew_run *r, const char *name, struct buf *ret,
          struct scrub_count *count)
{
    struct view text = { (const uint8_t *)name, strlen(name) };
    return scrub_text(r->scrub, text, ret, count);
}

static int
put_in_place(int dir_fd, const char *temp, const char *name, const char *new_name)
{
    if (renameat(dir_fd, temp, dir_fd, new_name) < 0)
        return -errno;
    if (strcmp(name, new_name) != 0 && unlinkat(dir_fd, name, 0) < 0)
        return -errno;
    return 0;
}

static int
replace(struct anew_run *r, int dir_fd, int from_fd, const char *name, bool is_copy,
        struct scrub_count *count)
{
    AUTO(buf) temp = { .ceiling = NAME_MAX };
    AUTO(buf) new_name = { .ceiling = NAME_MAX };
    int e = mask_name(r, name, &new_name, count);
    if (!e)
        e = buf_printf(&temp, TEMP "%d", (int)getpid());
    if (e)
        return e;
    int fd = openat(dir_fd, buf_str(&temp),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    e = mask_into(r, from_fd, name, is_copy, fd, count);
    close(fd);
    if (!e && count->places)
        e = put_in_place(dir_fd, buf_str(&temp), name, buf_str(&new_name));
    if (e || !count->places)
        unlinkat(dir_fd, buf_str(&temp), 0);
    return e;
}

static void
make_file(struct anew_run *r, int dir_fd, const char *name, bool is_copy)
{
    struct scrub_count count = { 0 };
    struct stat st = { 0 };
    int fd = openat(dir_fd, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int e = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
    if (!e)
        e = replace(r, dir_fd, fd, name, is_copy, &count);
    if (fd >= 0)
        close(fd);
    if (e) {
        anew_run_leave_code(r, e);
        return;
    }
    if (!count.places)
        return;
    r->done->files++;
    r->done->masked += count.places;
    r->done->masked_bytes += count.bytes;
    if (st.st_nlink > 1)
        anew_run_leave(r, "it has another name elsewhere, where it stays as it is");
}

/* -- all of them -- */

static void make_folder(struct anew_run *r, int fd, unsigned depth, bool is_copies);

static void
make_below(struct anew_run *r, int dir_fd, const char *name, unsigned depth)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int e = fd < 0 ? -errno : file_lock(fd, false, clock_mono_ns() + ANEW_HELD_WAITS_NS);
    if (e < 0)
        anew_run_leave_code(r, e);
    else if (depth >= DEPTH_MAX)
        anew_run_leave(r, "it lies too deep");
    else
        make_folder(r, fd, depth + 1, !strcmp(name, "artifacts"));
    if (fd >= 0)
        close(fd);
}

static void
make_entry(struct anew_run *r, int dir_fd, const char *name, unsigned depth,
           bool is_copies)
{
    struct stat st;
    size_t before = r->path.n;
    bool is_left = !strncmp(name, TEMP, strlen(TEMP)); /* by one that was killed */
    if (is_left && unlinkat(dir_fd, name, 0) == 0)
        return;
    buf_puts(&r->path, "/");
    if (buf_puts(&r->path, name) < 0)
        anew_run_leave(r, "its path is too long");
    else if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        anew_run_leave_code(r, -errno);
    else if (S_ISLNK(st.st_mode))
        anew_run_leave(r, "it is a link, and what it leads to is no part of the run");
    else if (S_ISDIR(st.st_mode))
        make_below(r, dir_fd, name, depth);
    else if (strstr(name, GZ_SUFFIX GZ_BAD))
        anew_run_leave(r, "it is a damaged archive, and may hold anything: remove it");
    else if (S_ISREG(st.st_mode))
        make_file(r, dir_fd, name, is_copies && strcmp(name, "links.json") != 0);
    r->path.n = before;
    r->path.failed = 0;
}

static void
make_folder(struct anew_run *r, int fd, unsigned depth, bool is_copies)
{
    AUTO(tree_names) names = { 0 };
    int e = tree_names(fd, &names); /* before the first of them changes */
    if (e)
        anew_run_leave_code(r, e);
    for (size_t i = 0; i < names.count; i++)
        make_entry(r, fd, names.name[i], depth, is_copies);
    if (fsync(fd) < 0 && errno != EINVAL)
        anew_run_leave_code(r, -errno);
}

/* What is archived is looked into as it was, and stays so. One that cannot be unpacked
 * may hold anything. */
static void
unpack(struct anew_run *r, int fd, const char *dir)
{
    struct archive a = { .is_undo = true, .tell = r->rw->tell, .ctx = r->rw->ctx };
    archive_run(&a, fd, dir);
    r->left += a.failed;
    r->done->is_unpacked |= a.files > 0;
}

int
anew_run_make(const char *dir, int fd, const struct library_rewrite *rw,
              struct library_rewritten *done, struct err *err)
{
    AUTO(anew_run) r = { .rw = rw, .done = done, .path.ceiling = PATH_MAX };
    AUTO(buf) name = { 0 };
    struct scrub_count in_name = { 0 };
    int e = scrub_new(&r.scrub, rw->secrets);
    if (!e)
        e = buf_puts(&r.path, dir);
    if (!e)
        e = mask_name(&r, dir, &name, &in_name);
    if (e < 0)
        return err_code(err, e, "cannot mask what is in '%s'", dir);
    unpack(&r, fd, dir);
    make_folder(&r, fd, 0, false);
    if (in_name.places)
        anew_run_leave(&r, "its own path holds what is to be masked; rename it");
    return r.left ? err_set(err, ERR_DAMAGED,
                            "the session is clean, but not all of its run's folder '%s' "
                            "is: see above",
                            dir)
                  : 0;
}
