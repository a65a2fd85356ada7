/* SPDX-License-Identifier: MIT */
/*
 * import.c -- a session made of what another program recorded.
 *
 * All files are made under names that nobody looks at: in live/.new-<id>, or as
 * OUT.import beside an out-file, and get their own names when they are whole, the
 * recording last. A disk that does not take a record ends the import: unlike an agent, a
 * file can be read again.
 */
#include "library/import.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/lines.h"
#include "session/meta.h"
#include "tape/remove.h"
#include "tape/writer.h"

enum {
    LABEL_MAX = 65535,   /* as a record has it */
    TEXT_MAX = 64 << 10, /* of a title or a command */
    COLS = 80,
    ROWS = 24,
};

#define DAY_NS      UINT64_C(86400000000000)
#define PATIENCE_NS UINT64_C(5000000000)

struct library_import {
    const struct library_import_options *opt; /* borrowed */
    char id[SESSION_ID_LEN + 1];
    struct session_folder folder; /* in the library */
    struct buf stage;             /* where the recording is made */
    struct tape_writer *tape;
    struct session_lines snapshot_lines;
    struct buf title, command, term, shell, label, line;
    uint64_t start_ns, bytes, snapshots, inputs_left_out;
    unsigned cols, rows; /* at the start */
    int exit_code;       /* < 0: not known */
};

/* -- texts -- */

/* One line of UTF-8 without control characters, and no longer than max. */
static void
clean(struct view in, size_t max, struct buf *ret)
{
    for (size_t at = 0, size; at < in.n && ret->n < max; at += size) {
        bool is_open;
        uint32_t cp = 0;
        size = (size_t)utf8_next(in.p + at, in.n - at, &cp);
        if (!size) {
            size = utf8_stump(in.p + at, in.n - at, &is_open);
            buf_puts(ret, "\xef\xbf\xbd");
        } else if (utf8_is_control(cp)) {
            buf_puts(ret, " ");
        } else {
            buf_append(ret, in.p + at, size);
        }
    }
    while (ret->n > max) /* the last character */
        while (ret->n && (ret->p[--ret->n] & 0xc0) == 0x80)
            continue;
}

static int
mask(struct library_import *im, struct view in, size_t max, struct buf *ret)
{
    AUTO(buf) masked = { 0 };
    buf_clear(ret);
    int r = redact_text(im->opt->redact, in.p, in.n, &masked);
    if (!r)
        clean((struct view){ masked.p, masked.n }, max, ret);
    return r < 0 ? r : ret->failed;
}

/* -- names -- */

/* The files of a session by turns: the recording last. */
static const char *const siblings[] = { SESSION_SNAPSHOTS, SESSION_META, NULL };

enum { FILES = sizeof(siblings) / sizeof(siblings[0]) };

static const char *
file_path(const char *tape_path, size_t i, struct buf *room)
{
    buf_clear(room);
    if (siblings[i])
        session_sibling_path(tape_path, siblings[i], room);
    else
        buf_puts(room, tape_path);
    return buf_str(room);
}

static const char *
stage_path(struct library_import *im)
{
    return im->opt->out_file ? buf_str(&im->stage) : im->folder.tape_path;
}

/* -- making -- */

static void
remove_stage(struct library_import *im)
{
    AUTO(buf) path = { 0 };
    struct err ignored;
    if (!im->opt->out_file) {
        if (im->folder.dir)
            session_folder_discard(&im->folder);
        return;
    }
    if (!im->stage.n)
        return;
    (void)tape_remove(tape_io_files(), stage_path(im), &ignored);
    for (size_t i = 0; siblings[i]; i++)
        unlink(file_path(stage_path(im), i, &path));
}

static int
refuse_existing(const char *out_file, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct stat st;
    for (size_t i = FILES; i-- > 0;)
        if (lstat(file_path(out_file, i, &path), &st) == 0)
            return err_set(err, -EEXIST, "'%s' exists already; choose another name",
                           buf_str(&path));
    return 0;
}

/* Beside the out-file; what an import that was killed has left there goes. */
static int
stage_outside(struct library_import *im, struct err *err)
{
    AUTO(buf) dir = { 0 };
    const char *out = im->opt->out_file;
    int r = refuse_existing(out, err);
    if (r < 0)
        return r;
    buf_append(&dir, out, file_dir_len(out));
    r = dir.n ? file_make_dirs(buf_str(&dir)) : 0;
    if (!r)
        r = buf_printf(&im->stage, "%s.import", out);
    if (r < 0)
        return err_code(err, r, "cannot make the folder of '%s'", out);
    r = tape_remove(tape_io_files(), stage_path(im), err);
    if (r < 0)
        buf_clear(&im->stage); /* it is not ours */
    else
        remove_stage(im);
    return r;
}

static int
stage(struct library_import *im, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    if (im->opt->out_file)
        return stage_outside(im, err);
    int r = session_home(&home, err);
    return r < 0 ? r : session_folder_stage(&im->folder, buf_str(&home), im->id, err);
}

static int
open_files(struct library_import *im, const uint8_t uuid[16], struct err *err)
{
    AUTO(buf) path = { 0 };
    struct tape_writer_options opt = tape_writer_defaults;
    opt.is_adaptive = false; /* nobody waits for us */
    opt.block_ns = DAY_NS;   /* of the session's time */
    opt.patience_ns = PATIENCE_NS;
    opt.sync = TAPE_SYNC_NONE; /* once, at the end */
    opt.start_ts_ns = im->start_ns;
    opt.cols = (uint16_t)im->cols;
    opt.rows = (uint16_t)im->rows;
    memcpy(opt.session_id, uuid, sizeof(opt.session_id));
    int r = session_lines_init(&im->snapshot_lines, file_path(stage_path(im), 0, &path));
    if (r < 0)
        return err_code(err, r, "cannot make a session");
    return tape_writer_open(&im->tape, tape_io_files(), stage_path(im), &opt, err);
}

int
library_import_new(struct library_import **ret, const struct library_import_options *opt)
{
    struct library_import *im = calloc(1, sizeof(*im));
    if (!im)
        return -ENOMEM;
    im->opt = opt;
    im->exit_code = -1;
    im->folder.lock_fd = -1;
    im->snapshot_lines.fd = -1;
    *ret = im;
    return 0;
}

int
library_import_head(struct library_import *im, const struct play_import_head *head,
                    struct err *err)
{
    const struct library_import_options *o = im->opt;
    uint8_t uuid[16];
    im->start_ns = head->start_ns ? head->start_ns : o->start_ns;
    im->cols = o->cols ? o->cols : head->cols ? head->cols : COLS;
    im->rows = o->rows ? o->rows : head->rows ? head->rows : ROWS;
    int r = session_id_make(im->start_ns, im->id, uuid);
    if (!r)
        r = mask(im, head->title, TEXT_MAX, &im->title);
    if (!r)
        r = mask(im, head->command, TEXT_MAX, &im->command);
    if (!r)
        r = mask(im, head->term, TEXT_MAX, &im->term);
    if (!r)
        r = mask(im, head->shell, TEXT_MAX, &im->shell);
    if (r < 0)
        return err_code(err, r, "cannot make a session");
    r = stage(im, err);
    return r < 0 ? r : open_files(im, uuid, err);
}

/* -- records -- */

static int
append(struct library_import *im, struct tape_record rec, struct err *err)
{
    if (tape_writer_append(im->tape, rec) == TAPE_SAVED)
        return 0;
    if (tape_writer_trouble(im->tape, err))
        return err->code;
    return err_set(err, -EIO, "cannot write '%s': the disk takes nothing now",
                   stage_path(im));
}

static int
append_marker(struct library_import *im, uint64_t ts_ns, struct view text,
              struct err *err)
{
    int r = mask(im, text, LABEL_MAX, &im->label);
    if (r < 0)
        return err_code(err, r, "cannot mask a marker");
    struct tape_record rec = { .tag = TAPE_SNAPSHOT,
                               .ts_ns = ts_ns,
                               .snapshot_id = ++im->snapshots,
                               .byte_off = im->bytes,
                               .bytes = { im->label.p, im->label.n } };
    r = append(im, rec, err);
    if (r < 0)
        return r;
    buf_clear(&im->line);
    session_snapshot_line(&im->line, im->snapshots, ts_ns, rec.bytes, true, im->bytes);
    r = im->line.failed;
    if (!r)
        r = session_lines_add(&im->snapshot_lines,
                              (struct view){ im->line.p, im->line.n });
    return r < 0 ? err_code(err, r, "cannot write '%s'", im->snapshot_lines.path) : 0;
}

int
library_import_record(struct library_import *im, const struct play_import_record *rec,
                      struct err *err)
{
    uint64_t ts_ns = im->start_ns + rec->time_ns;
    switch (rec->kind) {
    case PLAY_IMPORT_OUTPUT:
        im->bytes += rec->bytes.n;
        return append(
            im,
            (struct tape_record){ .tag = TAPE_DATA, .ts_ns = ts_ns, .bytes = rec->bytes },
            err);
    case PLAY_IMPORT_INPUT:
        im->inputs_left_out += !im->opt->has_input;
        return !im->opt->has_input
                   ? 0
                   : append(im,
                            (struct tape_record){
                                .tag = TAPE_INPUT, .ts_ns = ts_ns, .bytes = rec->bytes },
                            err);
    case PLAY_IMPORT_SIZE:
        return append(im,
                      (struct tape_record){ .tag = TAPE_RESIZE,
                                            .ts_ns = ts_ns,
                                            .cols = (uint16_t)rec->cols,
                                            .rows = (uint16_t)rec->rows },
                      err);
    case PLAY_IMPORT_MARKER:
        return append_marker(im, ts_ns, rec->bytes, err);
    case PLAY_IMPORT_EXIT:
        im->exit_code = (int)rec->status;
        break;
    }
    return 0;
}

/* -- the end -- */

static void
import_free(struct library_import *im)
{
    struct buf *all[] = { &im->stage, &im->title, &im->command, &im->term,
                          &im->shell, &im->label, &im->line };
    session_lines_release(&im->snapshot_lines);
    session_folder_release(&im->folder);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_release(all[i]);
    free(im);
}

void
library_import_discard(struct library_import *im)
{
    struct tape_writer_status st;
    struct err ignored;
    if (im->tape)
        (void)tape_writer_finish(im->tape, im->start_ns, &st, &ignored);
    remove_stage(im);
    import_free(im);
}

static int
sync_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 || fsync(fd) < 0 ? err_sys(err, "cannot write '%s'", path) : 0;
    if (fd >= 0)
        close(fd);
    return r;
}

static int
finish_tape(struct library_import *im, uint64_t end_ns, struct err *err)
{
    struct tape_writer_status st;
    int r = tape_writer_finish(im->tape, im->start_ns + end_ns, &st, err);
    im->tape = NULL;
    if (r < 0)
        return r;
    if (st.trouble.code) {
        *err = st.trouble;
        return err->code;
    }
    if (st.dropped_bytes || st.unsaved_bytes || st.is_suspect)
        return err_set(err, -EIO, "cannot write all of '%s'", stage_path(im));
    r = sync_file(stage_path(im), err);
    if (!r && session_lines_fd(&im->snapshot_lines) >= 0)
        r = sync_file(im->snapshot_lines.path, err);
    return r;
}

static int
write_meta(struct library_import *im, uint64_t end_ns, struct err *err)
{
    AUTO(buf) path = { 0 };
    const char *command = buf_str(&im->command), *env[5] = { 0 };
    size_t n = 0;
    if (im->term.n)
        env[n++] = "TERM", env[n++] = buf_str(&im->term);
    if (im->shell.n)
        env[n++] = "SHELL", env[n++] = buf_str(&im->shell);
    struct session_meta meta = {
        .id = im->id,
        .status = im->exit_code > 0 ? SESSION_FAILED : SESSION_COMPLETED,
        .started_at_ns = im->start_ns,
        .ended_at_ns = im->start_ns + end_ns,
        .cmd = &command,
        .cmd_count = im->command.n ? 1 : 0,
        .cols = (uint16_t)im->cols,
        .rows = (uint16_t)im->rows,
        .quality = tape_writer_defaults.quality,
        .name = im->opt->name,
        .task = im->title.n ? buf_str(&im->title) : NULL,
        .exit_code = im->exit_code,
        .total_bytes = im->bytes,
        .has_input = im->opt->has_input,
        .kind = "import",
        .source = im->opt->source,
        .env = env,
    };
    return session_meta_write(file_path(stage_path(im), 1, &path), &meta, true, err);
}

/* All files to their own names beside each other; or none. */
static int
place_outside(struct library_import *im, struct err *err)
{
    AUTO(buf) from = { 0 };
    AUTO(buf) to = { 0 };
    const char *out = im->opt->out_file;
    size_t done = 0;
    int r = refuse_existing(out, err);
    if (r < 0)
        return r;
    for (; !r && done < FILES; done++) {
        r = file_rename_new(file_path(stage_path(im), done, &from),
                            file_path(out, done, &to));
        if (r == -ENOENT && siblings[done])
            r = 0; /* there are no snapshots */
    }
    if (!r)
        return file_sync_dir(out) < 0 ? err_sys(err, "cannot write '%s'", out) : 0;
    err_code(err, r, "cannot make '%s'", buf_str(&to));
    for (size_t i = 0; i + 1 < done; i++)
        unlink(file_path(out, i, &to));
    return r;
}

static int
tell(struct library_import *im, uint64_t end_ns, struct library_imported *ret)
{
    *ret = (struct library_imported){ .bytes = im->bytes,
                                      .snapshots = im->snapshots,
                                      .inputs_left_out = im->inputs_left_out,
                                      .started_at_ns = im->start_ns,
                                      .duration_ns = end_ns,
                                      .cols = im->cols,
                                      .rows = im->rows };
    memcpy(ret->id, im->id, sizeof(ret->id));
    return buf_puts(&ret->path,
                    im->opt->out_file ? im->opt->out_file : im->folder.tape_path);
}

int
library_import_finish(struct library_import *im, uint64_t end_ns,
                      struct library_imported *ret, struct err *err)
{
    int r = finish_tape(im, end_ns, err);
    if (!r)
        r = write_meta(im, end_ns, err);
    if (!r)
        r = im->opt->out_file ? place_outside(im, err)
                              : session_folder_finish(&im->folder, err);
    if (r < 0) {
        library_import_discard(im);
        return r;
    }
    r = tell(im, end_ns, ret);
    import_free(im);
    return r < 0 ? err_code(err, r, "cannot tell where it is") : 0;
}

void
library_imported_release(struct library_imported *i)
{
    buf_release(&i->path);
}
