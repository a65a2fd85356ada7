/* SPDX-License-Identifier: MIT */
#include "tui/save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tui/review_rows_priv.h"

enum { AT_ONCE = 1 << 16 };

static int
write_lines(struct tui_review *r, int fd)
{
    AUTO(buf) out = { 0 };
    struct term_line line = { 0 };
    uint64_t count = tui_rows_count(r);
    int e = 0;
    for (uint64_t i = 0; i < count && !e; i++) {
        e = term_book_line(&r->book, tui_rows_line(r, i), &line);
        if (e < 0)
            break;
        buf_append(&out, line.text.p, line.text.n);
        buf_puts(&out, "\n");
        if (out.failed || (out.n < AT_ONCE && i + 1 < count)) {
            e = out.failed;
            continue;
        }
        e = file_write_all(fd, out.p, out.n);
        buf_clear(&out);
    }
    term_line_release(&line);
    return e;
}

/* Closes it. */
static int
fill(struct tui_review *r, int fd)
{
    int e = write_lines(r, fd);
    if (close(fd) < 0 && !e)
        e = -errno;
    return e;
}

static int
save_new(struct tui_review *r, const char *path, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return err_set(err, -EEXIST, "'%s' exists", path);
    if (fd < 0)
        return err_sys(err, "cannot make '%s'", path);
    int e = fill(r, fd);
    if (e < 0) {
        unlink(path);
        return err_code(err, e, "cannot write '%s'", path);
    }
    return 0;
}

/* Beside it first; a link's file is replaced, not the link. */
static int
replace(struct tui_review *r, const char *path, mode_t mode, struct err *err)
{
    AUTO(buf) temp = { 0 };
    if (buf_printf(&temp, "%s.XXXXXX", path) < 0 || buf_append(&temp, "", 1) < 0)
        return err_code(err, -ENOMEM, "cannot write '%s'", path);
    int fd = mkostemp((char *)temp.p, O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot write beside '%s'", path);
    int e = fchmod(fd, mode & 0777) < 0 ? -errno : 0;
    if (e < 0)
        close(fd);
    else
        e = fill(r, fd);
    if (!e && rename((char *)temp.p, path) < 0)
        e = -errno;
    if (e < 0) {
        unlink((char *)temp.p);
        return err_code(err, e, "cannot write '%s'", path);
    }
    return 0;
}

static int
save_over(struct tui_review *r, const char *path, struct err *err)
{
    struct stat st;
    char *real = realpath(path, NULL);
    int e;
    if (!real && errno == ENOENT)
        return save_new(r, path, err); /* it went meanwhile */
    if (!real || stat(real, &st) < 0)
        e = err_sys(err, "cannot write '%s'", path);
    else if (!S_ISREG(st.st_mode))
        e = err_set(err, -EINVAL, "'%s' is no regular file", path);
    else
        e = replace(r, real, st.st_mode, err);
    free(real);
    return e;
}

int
tui_save_to(struct tui_review *r, const char *path, bool is_over, uint64_t *ret_lines,
            struct err *err)
{
    int e = is_over ? save_over(r, path, err) : save_new(r, path, err);
    if (!e)
        *ret_lines = tui_rows_count(r);
    return e;
}

void
tui_save(struct tui_review *r)
{
    AUTO(buf) path = { 0 };
    const char *name = buf_str(&r->prompt.text), *home = getenv("HOME");
    uint64_t lines = 0;
    struct err err;
    if (name[0] == '~' && name[1] == '/' && home && home[0])
        buf_printf(&path, "%s%s", home, name + 1);
    else
        buf_puts(&path, name);
    int e = tui_save_to(r, buf_str(&path), r->may_overwrite, &lines, &err);
    r->may_overwrite = false;
    if (e == -EEXIST)
        tui_review_ask_overwrite(r);
    else if (e < 0)
        snprintf(r->note, sizeof(r->note), "%.*s", TUI_REVIEW_NOTE - 1, err.text);
    else
        snprintf(r->note, sizeof(r->note), "%" PRIu64 " %s saved", lines,
                 lines == 1 ? "line" : "lines");
}

int
tui_save_open_temp(struct buf *ret_path, struct err *err)
{
    const char *dir = getenv("TMPDIR");
    AUTO(buf) path = { 0 };
    if (buf_printf(&path, "%s/ahr-XXXXXX.txt", dir && dir[0] ? dir : "/tmp") < 0 ||
        buf_append(&path, "", 1) < 0 || buf_reserve(ret_path, path.n) < 0)
        return err_code(err, -ENOMEM, "cannot make a file");
    int fd = mkostemps((char *)path.p, 4, O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot make '%s'", (char *)path.p);
    buf_puts(ret_path, (char *)path.p);
    return fd;
}

int
tui_save_temp(struct tui_review *r, struct buf *ret_path, unsigned *ret_line,
              struct err *err)
{
    int fd = tui_save_open_temp(ret_path, err);
    if (fd < 0)
        return fd;
    int e = fill(r, fd);
    if (e < 0) {
        unlink(buf_str(ret_path));
        return err_code(err, e, "cannot write '%s'", buf_str(ret_path));
    }
    *ret_line = tui_rows_count(r) ? (unsigned)tui_rows_near(r, r->at) + 1 : 0;
    return 0;
}
