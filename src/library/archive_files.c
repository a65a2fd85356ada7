/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "gz/read.h"
#include "journal/log.h"
#include "library/archive_priv.h"
#include "session/lines.h"

enum { DIGITS = 4 };

static const uint64_t HELD_WAITS_NS = UINT64_C(2000000000);

/* -- which -- */

typedef bool (*wanted_fn)(const char *name);

static bool
is_journal(const char *name)
{
    return !strcmp(name, "session." SESSION_TURNS) ||
           !strcmp(name, "session." SESSION_WIRE);
}

static bool
is_io_log(const char *name)
{
    return !strcmp(name, "io.log");
}

static bool
is_log(const char *name)
{
    uint64_t ignored;
    return journal_log_is(name, &ignored);
}

/* One that is called X.gz could not be told from an archived X; and there is nothing to
 * gain with it. */
static bool
is_copy(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits >= DIGITS && name[digits] == '-' && !gz_name_len(name);
}

/* -- what is wrong with one -- */

static void
fail(struct archive *a, int code, const char *text)
{
    a->failed++;
    if (!a->error)
        a->error = code;
    if (a->tell)
        a->tell(a->ctx, text);
}

/* name: as it is when it is not archived. */
static void
explain(struct archive *a, int code, const char *dir, const char *name)
{
    AUTO(buf) text = { 0 };
    struct err why;
    if (code == -EEXIST)
        buf_printf(&text,
                   "'%s/%s' does not begin with what '%s" GZ_SUFFIX "' beside it holds, "
                   "and both stay as they are: keep one of them",
                   dir, name, name);
    else if (code == ERR_DAMAGED && a->is_rescue)
        buf_printf(&text,
                   "'%s/%s" GZ_SUFFIX "' was damaged: what could be read of it is '%s' "
                   "now, and as it was it is '%s" GZ_SUFFIX GZ_BAD "'",
                   dir, name, name, name);
    else if (code == ERR_DAMAGED)
        buf_printf(&text, "'%s/%s" GZ_SUFFIX "' is damaged: not all of it can be read",
                   dir, name);
    else if (code == ERR_BUSY)
        buf_printf(&text, "'%s/%s' is being written to", dir, name);
    else if (code == ERR_LIMIT)
        buf_printf(&text, "'%s/%s' is larger than 16 GiB", dir, name);
    else if (code == -ELOOP)
        buf_printf(&text,
                   "'%s/%s' is a link, and what it leads to may be anybody's: it is left "
                   "alone",
                   dir, name);
    else if (code == -EINVAL)
        buf_printf(&text, "'%s/%s' is no plain file", dir, name);
    else
        err_code(&why, code, "cannot %s '%s/%s'", a->is_undo ? "unpack" : "archive", dir,
                 name),
            buf_puts(&text, why.text);
    fail(a, code, buf_str(&text));
}

static void
tell_aside(const struct archive *a, const char *dir, const char *name)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text,
               "'%s/%s" GZ_SUFFIX
               "', which was there, was damaged; as it was it is '%s" GZ_SUFFIX GZ_BAD
               "' now",
               dir, name, name);
    if (a->tell)
        a->tell(a->ctx, buf_str(&text));
}

/* -- one file -- */

/* Its size as it lies there. */
static int
look(const struct archive *a, int dir_fd, const char *name, uint64_t *ret)
{
    AUTO(buf) path = { 0 };
    struct stat st;
    int r = buf_printf(&path, "%s%s", name, a->is_undo ? GZ_SUFFIX : "");
    if (r < 0)
        return r;
    if (fstatat(dir_fd, buf_str(&path), &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *ret = (uint64_t)st.st_size;
    return S_ISLNK(st.st_mode) ? -ELOOP : S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static int
change(struct archive *a, int dir_fd, const char *name, struct gz_sizes *sizes)
{
    if (!a->is_undo)
        return gz_pack(dir_fd, name, a->progress, sizes);
    return a->is_rescue ? gz_rescue(dir_fd, name, a->progress, sizes)
                        : gz_unpack(dir_fd, name, a->progress, sizes);
}

static void
take_file(struct archive *a, int dir_fd, const char *dir, const char *name)
{
    struct gz_sizes sizes = { 0 };
    uint64_t size = 0;
    int r = look(a, dir_fd, name, &size);
    if (!r && a->is_dry_run)
        sizes = a->is_undo ? (struct gz_sizes){ .packed = size }
                           : (struct gz_sizes){ .plain = size };
    else if (!r)
        r = change(a, dir_fd, name, &sizes);
    if (r < 0)
        explain(a, r, dir, name);
    else if (sizes.is_aside)
        tell_aside(a, dir, name);
    a->files += sizes.plain || sizes.packed;
    a->before += a->is_undo ? sizes.packed : sizes.plain;
    a->after += a->is_undo ? sizes.plain : sizes.packed;
}

/* -- a folder -- */

/* "X" for an "X.gz" of ours, made of it; else NULL. */
static char *
packed_name(int dir_fd, char *name, wanted_fn is_wanted)
{
    size_t n = gz_name_len(name);
    if (!n)
        return NULL;
    name[n] = 0;
    return is_wanted(name) && (is_wanted != is_copy || gz_is_of(dir_fd, name)) ? name
                                                                               : NULL;
}

/* The names are read before the first of them changes. */
static void
take_folder(struct archive *a, int dir_fd, const char *dir, wanted_fn is_wanted)
{
    AUTO(tree_names) names = { 0 };
    int r = a->is_dry_run ? 0 : gz_sweep(dir_fd);
    if (!r)
        r = tree_names(dir_fd, &names);
    if (r < 0)
        explain(a, r, dir, "");
    for (size_t i = 0; i < names.count; i++) {
        char *at = names.name[i];
        char *name = a->is_undo      ? packed_name(dir_fd, at, is_wanted)
                     : is_wanted(at) ? at
                                     : NULL;
        if (name)
            take_file(a, dir_fd, dir, name);
    }
}

/* Those who add copies have the folder's lock. */
static void
take_below(struct archive *a, int dir_fd, const char *dir, const char *name,
           wanted_fn is_wanted)
{
    AUTO(buf) path = { 0 };
    struct stat st;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : file_lock(fd, false, clock_mono_ns() + HELD_WAITS_NS);
    bool is_link = fd < 0 && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISLNK(st.st_mode);
    if (!r)
        r = buf_printf(&path, "%s/%s", dir, name);
    if (!r)
        take_folder(a, fd, buf_str(&path), is_wanted);
    else if (r != -ENOENT)
        explain(a, is_link ? -ELOOP : r, dir, name);
    if (fd >= 0)
        close(fd);
}

void
archive_session(struct archive *a, int dir_fd, const char *dir)
{
    take_folder(a, dir_fd, dir, is_journal);
}

void
archive_run(struct archive *a, int dir_fd, const char *dir)
{
    take_folder(a, dir_fd, dir, is_io_log);
    take_below(a, dir_fd, dir, "iterations", is_log);
    take_below(a, dir_fd, dir, "artifacts", is_copy);
}
