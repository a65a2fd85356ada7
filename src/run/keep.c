/* SPDX-License-Identifier: MIT */
#include "run/keep_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/io.h"
#include "journal/log.h"
#include "redact/own.h"
#include "session/upkeep.h"
#include "turn/line.h"

enum {
    RESERVE_BYTES = 16 << 10, /* so that a full disk still takes the last facts */
    RETRY_MS = 500,           /* what the disk has not taken is tried again */
};

static void
tell_failed(struct run_keep *k, enum run_place place, const char *path, int code)
{
    struct err why;
    if (code == ERR_LIMIT)
        err_set(&why, code, "cannot write '%.300s'", path);
    else
        err_code(&why, code, "cannot write '%.300s'", path);
    run_keep_trouble(k, place, &why);
}

uint64_t
run_keep_now_ns(const struct run_keep *k)
{
    return clock_now_ns(&k->clock);
}

/* -- the start -- */

static void
make_reserve(struct run_keep *k)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/reserve", k->folder.dir);
    int fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    (void)!posix_fallocate(fd, 0, RESERVE_BYTES);
    close(fd);
}

static void
name_project(struct run_keep *k)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) line = { 0 };
    struct err ignored;
    if (k->is_named || !k->has_folder || !k->has_project)
        return;
    buf_printf(&path, "%s/project", k->folder.dir);
    buf_printf(&line, "%s\n", k->project.dir);
    k->is_named = !file_replace(buf_str(&path), (struct view){ line.p, line.n }, false,
                                &ignored);
}

static int
open_tape(struct run_keep *k, const uint8_t *uuid, void (*on_news)(void *ctx), void *ctx,
          struct err *err)
{
    AUTO(buf) path = { 0 };
    struct tape_writer_options o = tape_writer_defaults;
    o.start_ts_ns = k->clock.real_ns;
    o.cols = k->opt->cols;
    o.rows = k->opt->rows;
    o.on_news = on_news;
    o.news_ctx = ctx;
    memcpy(o.session_id, uuid, sizeof(o.session_id));
    int r = session_sibling_path(k->folder.tape_path, SESSION_TURNS, &path);
    if (!r)
        r = session_lines_init(&k->turns, buf_str(&path));
    k->turns.waiting.ceiling = JOURNAL_WAITING_MAX; /* as for the log */
    if (r < 0)
        return err_code(err, r, "cannot record");
    r = tape_writer_open(&k->tape, tape_io_files(), k->folder.tape_path, &o, err);
    if (r < 0)
        session_lines_release(&k->turns);
    return r;
}

/* A library that takes nothing is no reason for the command not to run. */
static void
open_library(struct run_keep *k, const uint8_t *uuid, void (*on_news)(void *ctx),
             void *ctx)
{
    AUTO(buf) text = { 0 };
    struct err err;
    int r = session_folder_make(&k->folder, k->opt->home, k->id, NULL, &err);
    if (!r) {
        r = open_tape(k, uuid, on_news, ctx, &err);
        if (r < 0) {
            session_folder_discard(&k->folder);
            session_folder_release(&k->folder);
        }
    }
    k->has_folder = !r;
    if (!r)
        return;
    buf_printf(&text, "%s; the library will not have this run%s", err.text,
               k->has_project ? ", its project does"
                              : ": nothing of it is kept, but the command runs");
    run_keep_tell(k, RUN_LIBRARY, buf_str(&text));
}

static int
open_project(struct run_keep *k, struct err *err)
{
    const struct run_options *o = k->opt;
    AUTO(buf) text = { 0 };
    AUTO(buf) path = { 0 };
    const char *role = k->facts.role.n ? buf_str(&k->facts.role) : NULL;
    int r = journal_project_open(&k->project, o->root, o->name, role, err);
    if (r == ERR_BUSY || r == ERR_USAGE)
        return r;
    k->has_project = !r;
    if (r < 0) {
        buf_printf(&text,
                   "%s; the run is kept in the library alone (--dir says which "
                   "folder is the project's)",
                   err->text);
        run_keep_tell(k, RUN_PROJECT, buf_str(&text));
        return 0;
    }
    r = journal_project_path(&k->project, "io.log", &path);
    if (!r)
        r = session_lines_init(&k->io, buf_str(&path));
    k->io.waiting.ceiling = JOURNAL_WAITING_MAX; /* as for the log */
    return r < 0 ? err_code(err, r, "cannot record") : 0;
}

int
run_keep_open(struct run_keep *k, const struct run_options *opt,
              void (*on_news)(void *ctx), void *ctx, struct err *err)
{
    uint8_t uuid[16];
    *k = (struct run_keep){ .opt = opt, .turns.fd = -1, .io.fd = -1 };
    k->project.lock_fd = k->folder.lock_fd = -1;
    clock_start(&k->clock);
    if (session_id_make(k->clock.real_ns, k->id, uuid) < 0)
        return err_set(err, -EIO, "cannot make a session id");
    int r = opt->own_rules ? redact_open(&k->redact, opt->own_rules, err)
                           : redact_own_open(&k->redact, NULL, err);
    if (!r)
        r = run_facts_init(k, err);
    if (!r)
        r = open_project(k, err);
    if (r < 0)
        return r;
    open_library(k, uuid, on_news, ctx);
    run_entire_open(k);
    name_project(k);
    run_facts_write(k, false);
    if (k->has_folder)
        make_reserve(k);
    return 0;
}

/* -- what is written -- */

/* Comes before the logs: on a disk that was full they are not to be in git either. */
static void
write_ignore(struct run_keep *k)
{
    if (k->has_project)
        (void)journal_project_ignore(&k->project);
}

/* While some are lost no more are taken: the line that tells of them stands where they
 * would have stood. */
static void
write_lines(struct run_keep *k, struct session_lines *l, struct view lines,
            enum run_place place, uint64_t *lost)
{
    if (!lines.n || !l->path)
        return;
    int r = *lost ? ERR_LIMIT : session_lines_add(l, lines);
    if (r < 0)
        tell_failed(k, place, l->path, r);
    if (r == ERR_LIMIT)
        *lost += session_lines_count(lines);
}

static void
put_io_note(struct run_keep *k, struct view text, struct buf *line)
{
    AUTO(buf) shown = { 0 };
    buf_puts(&shown, "[warn] ");
    buf_append(&shown, text.p, text.n);
    journal_io_line(&(struct journal_io_entry){ .ts_ns = run_keep_now_ns(k),
                                                .direction = JOURNAL_OUT,
                                                .type = "warning",
                                                .content = { shown.p, shown.n } },
                    line);
}

static void
put_turn_note(struct run_keep *k, struct view text, struct buf *line)
{
    struct turn_event e = turn_event(TURN_WARNING);
    e.text = text;
    turn_line(&e,
              &(struct turn_stamp){ .ts_ns = run_keep_now_ns(k),
                                    .start_ns = k->clock.real_ns,
                                    .session = k->id,
                                    .iteration = k->facts.iterations },
              line);
}

/* There is room again: what is missing is told where it is missing. */
static void
tell_lost(struct run_keep *k, struct session_lines *l, uint64_t *lost,
          void (*put)(struct run_keep *k, struct view text, struct buf *line))
{
    AUTO(buf) text = { 0 };
    AUTO(buf) line = { 0 };
    if (!*lost || session_lines_flush(l) < 0)
        return;
    buf_put_u64(&text, *lost);
    buf_puts(&text, " lines are missing here: the disk did not take them");
    put(k, (struct view){ text.p, text.n }, &line);
    if (!session_lines_add(l, (struct view){ line.p, line.n }))
        *lost = 0;
    else
        buf_clear(&l->waiting); /* it is told anew, with what is lost until then */
}

static void
write_log(struct run_keep *k, struct buf *text)
{
    struct err err;
    if (!k->log || !text->n)
        return;
    (void)journal_iteration_append(k->log, (struct view){ text->p, text->n });
    if (text->p[text->n - 1] != '\n') /* it will be shown: it does not wait */
        (void)journal_iteration_flush(k->log);
    if (journal_iteration_trouble(k->log, &err) && err.code)
        run_keep_trouble(k, RUN_PROJECT, &err);
}

static void
write_tape(struct run_keep *k, struct buf *bytes)
{
    struct err err;
    if (!k->tape || !bytes->n)
        return;
    (void)tape_writer_append(k->tape,
                             (struct tape_record){ .tag = TAPE_DATA,
                                                   .ts_ns = run_keep_now_ns(k),
                                                   .bytes = { bytes->p, bytes->n } });
    k->tape_off += bytes->n;
    if (tape_writer_trouble(k->tape, &err))
        run_keep_trouble(k, RUN_LIBRARY, &err);
}

void
run_keep_write(struct run_keep *k, struct run_batch *b)
{
    write_ignore(k);
    tell_lost(k, &k->turns, &k->turns_lost, put_turn_note);
    write_lines(k, &k->turns, (struct view){ b->turns.p, b->turns.n }, RUN_LIBRARY,
                &k->turns_lost);
    run_entire_write(k); /* by which recover completes it */
    tell_lost(k, &k->io, &k->io_lost, put_io_note);
    write_lines(k, &k->io, (struct view){ b->io.p, b->io.n }, RUN_PROJECT, &k->io_lost);
    write_log(k, &b->log);
    write_tape(k, &b->tape);
    buf_clear(&b->turns);
    buf_clear(&b->io);
    buf_clear(&b->log);
    buf_clear(&b->tape);
}

/* -- time -- */

void
run_keep_tick(struct run_keep *k)
{
    struct err err;
    write_ignore(k);
    if (k->turns.path)
        (void)session_lines_flush(&k->turns);
    if (k->io.path)
        (void)session_lines_flush(&k->io);
    tell_lost(k, &k->turns, &k->turns_lost, put_turn_note);
    tell_lost(k, &k->io, &k->io_lost, put_io_note);
    run_entire_tick(k);
    if (k->log)
        journal_iteration_tick(k->log, clock_mono_ns());
    if (!k->tape)
        return;
    tape_writer_tick(k->tape, run_keep_now_ns(k));
    if (tape_writer_trouble(k->tape, &err))
        run_keep_trouble(k, RUN_LIBRARY, &err);
}

uint64_t
run_keep_due_ms(const struct run_keep *k)
{
    bool is_owed = k->turns.waiting.n || k->io.waiting.n || k->turns_lost || k->io_lost ||
                   (k->has_project && !k->project.has_ignore);
    uint64_t due = is_owed ? RETRY_MS : UINT64_MAX;
    uint64_t log = UINT64_MAX, tape = UINT64_MAX, entire = run_entire_due_ms(k);
    if (k->log)
        log = clock_left_ms(journal_iteration_due_ns(k->log), clock_mono_ns());
    if (k->tape)
        tape = clock_left_ms(tape_writer_due_ns(k->tape), run_keep_now_ns(k));
    due = entire < due ? entire : due;
    due = log < due ? log : due;
    return tape < due ? tape : due;
}

bool
run_keep_has_room(struct run_keep *k)
{
    return !k->tape || tape_writer_has_room(k->tape);
}

/* -- an iteration -- */

uint64_t
run_keep_begin(struct run_keep *k)
{
    AUTO(buf) path = { 0 };
    struct err err;
    uint64_t number = k->facts.iterations + 1;
    if (k->has_project) {
        int r = journal_project_next(&k->project, &number, &err);
        if (!r) {
            journal_logs_path(k->project.dir, number, &path);
            r = journal_iteration_open(&k->log, buf_str(&path), number, k->opt->flush_ms,
                                       &err);
        }
        if (r < 0) {
            AUTO(buf) text = { 0 };
            buf_printf(&text, "%s; the command goes on without its log", err.text);
            run_keep_tell(k, RUN_PROJECT, buf_str(&text));
            k->log = NULL;
        }
    }
    k->facts.iterations++;
    k->facts.is_changed = true;
    return number;
}

void
run_keep_end(struct run_keep *k, int exit_code, uint64_t duration_ms, const char *signal,
             const char *reason)
{
    AUTO(buf) text = { 0 };
    struct err err;
    if (!k->log)
        return;
    if (signal)
        buf_printf(&text, "SIG%s", signal);
    int r = signal   ? journal_iteration_abort(k->log, buf_str(&text))
            : reason ? journal_iteration_crash(k->log, reason)
                     : journal_iteration_complete(k->log, exit_code, duration_ms);
    if (journal_iteration_trouble(k->log, &err) && err.code)
        run_keep_trouble(k, RUN_PROJECT, &err);
    else if (r < 0)
        tell_failed(k, RUN_PROJECT, "the iteration log", r);
    k->log_lost += journal_iteration_missing(k->log);
    journal_iteration_close(k->log);
    k->log = NULL;
}

/* -- the end -- */

static void
tell_gone(struct run_keep *k, enum run_place place, const char *path)
{
    struct err why;
    err_set(&why, ERR_MISSING, "'%.300s' was moved, removed or replaced", path);
    run_keep_trouble(k, place, &why);
}

static void
finish_lines(struct run_keep *k, struct session_lines *l, enum run_place place,
             uint64_t *lost)
{
    if (!l->path)
        return;
    int r = session_lines_finish(l, NULL, NULL, lost);
    int fd = session_lines_fd(l);
    if (r < 0)
        tell_failed(k, place, l->path, r);
    else if (fd >= 0 && !file_is_at(fd, l->path))
        tell_gone(k, place, l->path);
}

static int
finish_library(struct run_keep *k, uint64_t *ret_missing, struct err *err)
{
    AUTO(buf) reserve = { 0 };
    struct tape_writer_status st = { 0 };
    buf_printf(&reserve, "%s/reserve", k->folder.dir);
    unlink(buf_str(&reserve));
    int r = tape_writer_finish(k->tape, run_keep_now_ns(k), &st, err);
    k->tape = NULL;
    *ret_missing = st.dropped_bytes + st.unsaved_bytes;
    if (!r)
        k->tape_off = st.byte_off;
    name_project(k);
    run_facts_write(k, true);
    if (!r && k->is_owed)
        r = err_set(err, -EIO, "not all of what went over the wire is in order yet");
    return r < 0 ? r : session_folder_finish(&k->folder, err);
}

void
run_keep_finish(struct run_keep *k)
{
    uint64_t missing;
    struct err err;
    write_ignore(k);
    tell_lost(k, &k->io, &k->io_lost, put_io_note);
    finish_lines(k, &k->io, RUN_PROJECT, &k->io_lost);
    if (!k->has_folder) {
        run_entire_finish(k);
        run_facts_write(k, true);
        run_keep_tell_project_loss(k);
        return;
    }
    tell_lost(k, &k->turns, &k->turns_lost, put_turn_note);
    finish_lines(k, &k->turns, RUN_LIBRARY, &k->turns_lost);
    run_entire_finish(k);
    int r = finish_library(k, &missing, &err);
    run_keep_tell_project_loss(k);
    run_keep_tell_library_loss(k, missing, r < 0 ? err.text : NULL);
    if (!r && k->opt->is_indexed) {
        const char *argv[] = { "index", k->id, NULL };
        (void)session_upkeep_start(k->opt->home, argv, -1, NULL);
    }
}

void
run_keep_discard(struct run_keep *k)
{
    struct tape_writer_status st;
    struct err ignored;
    if (k->tape)
        (void)tape_writer_finish(k->tape, run_keep_now_ns(k), &st, &ignored);
    k->tape = NULL;
    if (k->has_folder) {
        session_folder_discard(&k->folder);
        session_folder_release(&k->folder);
    }
    k->has_folder = false;
}

void
run_keep_release(struct run_keep *k)
{
    if (k->has_folder)
        session_folder_release(&k->folder);
    if (k->turns.path)
        session_lines_release(&k->turns);
    if (k->io.path)
        session_lines_release(&k->io);
    journal_artifacts_free(k->artifacts);
    run_entire_release(k);
    run_facts_release(&k->facts);
    if (k->has_project)
        journal_project_release(&k->project);
    redact_close(k->redact);
}
