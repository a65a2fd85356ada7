/* SPDX-License-Identifier: MIT */
#include "library/damaged.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/read.h"
#include "library/runs.h"
#include "library/turns.h"
#include "session/folder.h"
#include "tape/reader.h"

enum { NAMES_MAX = 100 }; /* of one id in damaged/ */

/* -- what is one -- */

static bool
has_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0;
}

bool
library_has_bytes(const char *tape_path)
{
    AUTO(buf) suffixes = { 0 };
    AUTO(buf) path = { 0 };
    struct tape_io *io = tape_io_files();
    bool has_any = has_bytes(tape_path) || io->ops->list(io, tape_path, &suffixes) < 0;
    for (size_t at = 0; !has_any && at < suffixes.n;) {
        const char *suffix = (const char *)suffixes.p + at;
        buf_clear(&path);
        has_any = buf_printf(&path, "%s%s", tape_path, suffix) < 0 ||
                  has_bytes(buf_str(&path));
        at += strlen(suffix) + 1;
    }
    return has_any;
}

/* Not damaged, as far as anybody here can tell. */
static bool
is_newer(const char *tape_path)
{
    uint8_t head[TAPE_BLOCK_HEAD];
    struct tape_block block;
    int fd = open(tape_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
    if (fd >= 0)
        close(fd);
    return n == sizeof(head) && tape_block_parse(head, &block) == tape_block_bad_version;
}

int
library_is_ruin(const char *tape_path, struct err *err)
{
    struct tape_reader *reader;
    struct tape_piece piece;
    int r = tape_reader_open(&reader, tape_io_files(), tape_path,
                             &(struct tape_reader_options){ 0 }, err);
    if (r < 0)
        return r;
    bool has_good = tape_reader_next_piece(reader, &piece);
    r = has_good ? 0 : tape_reader_error(reader);
    tape_reader_close(reader);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", tape_path);
    return !has_good && library_has_bytes(tape_path) && !is_newer(tape_path);
}

/* A library_turn_fn: one is enough. */
static int
stop_at_event(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
              uint64_t number)
{
    (void)e, (void)at, (void)number;
    *(bool *)ctx = true;
    return -ECANCELED;
}

static bool
has_events(const char *dir)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    bool has_one = false;
    if (buf_printf(&path, "%s/session." SESSION_TURNS, dir) == 0)
        (void)library_turns_read(buf_str(&path), stop_at_event, &has_one, NULL);
    return has_one;
}

static bool
has_log(const char *dir)
{
    AUTO(buf) meta = { .ceiling = PATH_MAX };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return buf_printf(&meta, "%s/session." SESSION_META, dir) == 0 &&
           library_project_of(dir, buf_str(&meta), &path) == 0 && path.n &&
           buf_puts(&path, "/io.log") == 0 &&
           gz_stat(AT_FDCWD, buf_str(&path), &st) >= 0 && S_ISREG(st.st_mode) &&
           st.st_size > 0;
}

bool
library_has_talk(const char *dir)
{
    return has_events(dir) || has_log(dir);
}

/* -- where it goes -- */

static int
move(const char *from, const char *to, struct buf *ret_path)
{
    int r = -EEXIST;
    for (unsigned i = 1; i <= NAMES_MAX && (r == -EEXIST || r == -ENOTEMPTY); i++) {
        buf_clear(ret_path);
        r = i == 1 ? buf_puts(ret_path, to) : buf_printf(ret_path, "%s.%u", to, i);
        if (!r)
            r = file_rename_new(from, buf_str(ret_path));
    }
    if (!r)
        r = file_sync_dir(from);
    return r < 0 ? r : file_sync_dir(to);
}

int
library_set_aside(const char *home, const char *kind, const char *id,
                  struct buf *ret_path, struct err *err)
{
    AUTO(buf) from = { .ceiling = PATH_MAX };
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) to = { .ceiling = PATH_MAX };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&from, "%s/%s/%s", home, kind, id);
    buf_printf(&dir, "%s/damaged", home);
    buf_printf(&to, "%s/damaged/%s", home, id);
    int r = from.failed | dir.failed | to.failed ? -ENAMETOOLONG
                                                 : file_make_dirs(buf_str(&dir));
    if (!r)
        r = move(buf_str(&from), buf_str(&to), &path);
    if (!r) {
        session_folder_strip(buf_str(&path));
        r = ret_path ? buf_puts(ret_path, buf_str(&path)) : 0;
    }
    return r < 0 ? err_code(err, r, "cannot move '%s/%s/%s' to '%s/damaged'", home, kind,
                            id, home)
                 : 0;
}
