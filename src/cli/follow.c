/* SPDX-License-Identifier: MIT */
#include "cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "gz/read.h"

/* Where the kernel does not tell of changes; and how often it is looked whether the
 * writer lives. */
enum { POLL_MS = 50, LOOK_MS = 500 };

struct following {
    const struct cli_follow *f;
    int notify_fd; /* -1: none */
    struct buf piece;
    uint64_t look_ns; /* when to look for the writer next */
    unsigned absent;  /* how many times it was not there */
    bool is_quiet;    /* nothing has changed for a while */
    struct err *err;
    struct err damage; /* code 0: none yet */
};

/* -- waiting -- */

static void
watch_folder(struct following *w)
{
    AUTO(buf) path = { 0 };
    const struct cli_follow *f = w->f;
    if (f->file) {
        size_t n = file_dir_len(f->file);
        buf_append(&path, n ? f->file : ".", n ? n : 1);
    } else {
        buf_printf(&path, "%s/iterations", f->dir);
    }
    w->notify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->notify_fd < 0 ||
        inotify_add_watch(w->notify_fd, buf_str(&path),
                          IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) >= 0)
        return;
    close(w->notify_fd);
    w->notify_fd = -1;
}

/* What has changed is looked at anyway. */
static void
drain(int fd)
{
    char events[4096];
    while (fd >= 0 && read(fd, events, sizeof(events)) > 0)
        ;
}

/* CLI_FOLLOWED: something may have changed. */
static int
wait_change(struct following *w)
{
    struct pollfd fds[CLI_FOLLOW_FDS] = {
        { .fd = w->notify_fd, .events = POLLIN },
        { .fd = STDOUT_FILENO }, /* nobody reads it any more */
    };
    struct cli_follow_wait *wait = w->f->wait;
    int timeout_ms = w->notify_fd < 0 ? POLL_MS : LOOK_MS;
    if (wait && wait->poll(wait, fds, CLI_FOLLOW_FDS, timeout_ms))
        return CLI_FOLLOW_LEFT;
    if (!wait && poll(fds, CLI_FOLLOW_FDS, timeout_ms) < 0 && errno != EINTR)
        return -errno;
    if (fds[1].revents & POLLERR) {
        raise(SIGPIPE); /* as a write of ours would */
        return err_code(w->err, -EPIPE, "cannot write to standard output");
    }
    w->is_quiet = !fds[0].revents;
    drain(w->notify_fd);
    return CLI_FOLLOWED;
}

/* -- one log -- */

static int
tell_damaged(struct following *w, const struct journal_log *log)
{
    struct stat st;
    if (!log->archive && stat(log->path, &st) == 0 && !st.st_size)
        return err_set(w->err, ERR_DAMAGED, "'%s' is no iteration log: it is empty",
                       log->path);
    return log->archive
               ? err_set(w->err, ERR_DAMAGED,
                         "'%s" GZ_SUFFIX "' is damaged: not all of it can be read",
                         log->path)
               : err_set(w->err, ERR_DAMAGED, "'%s' is no iteration log", log->path);
}

/* All that is there now: 1 if there was any. */
static int
give(struct following *w, struct journal_log *log, bool is_last)
{
    const struct cli_follow_to *to = &w->f->to;
    int any = 0;
    for (;;) {
        buf_clear(&w->piece);
        ssize_t n = journal_log_read(log, is_last, &w->piece);
        if (n == ERR_DAMAGED)
            return tell_damaged(w, log);
        if (n < 0)
            return err_code(w->err, (int)n, "cannot read the log '%s'", log->path);
        if (!n)
            return any;
        any = 1;
        int r = to->text(to->ctx, (struct view){ w->piece.p, w->piece.n });
        if (r)
            return r;
    }
}

static int
begin(struct following *w, struct journal_log *log)
{
    const struct cli_follow_to *to = &w->f->to;
    return to->begin ? to->begin(to->ctx, log) : 0;
}

/* Is the log still written to? Its lock is looked at now and then only, and twice: who
 * has just made a file has no lock of it yet. */
static bool
is_written(struct following *w, const struct journal_log *log)
{
    uint64_t now = clock_mono_ns();
    if (now < w->look_ns)
        return true;
    w->look_ns = now + LOOK_MS * UINT64_C(500000);
    w->absent = journal_log_is_written(log) ? 0 : w->absent + 1;
    return w->absent < 2;
}

/* Until it has an end: 1, or until it cannot get one: 1 too. What is 0 is to be waited
 * for. A log without a head is one that begins just now, or none. */
static int
step(struct following *w, struct journal_log *log, bool *is_begun)
{
    bool is_live = w->f->is_live;
    bool is_dead = is_live ? !is_written(w, log) : true;
    int r = journal_log_look(log);
    if (r == ERR_DAMAGED && !is_dead)
        return 0;
    if (r < 0)
        return r == ERR_DAMAGED
                   ? tell_damaged(w, log)
                   : err_code(w->err, r, "cannot read the log '%s'", log->path);
    if (!*is_begun) {
        r = begin(w, log);
        if (r)
            return r;
        *is_begun = true;
    }
    bool is_last = is_dead || log->head.status != JOURNAL_IN_PROGRESS;
    bool is_whole = w->is_quiet && !w->f->file && journal_run_rests(w->f->dir);
    r = give(w, log, is_last || is_whole);
    return r < 0 || r == CLI_FOLLOW_LEFT ? r : is_last;
}

static int
follow_open_log(struct following *w, struct journal_log *log)
{
    const struct cli_follow_to *to = &w->f->to;
    bool is_begun = false;
    for (;;) {
        int r = step(w, log, &is_begun);
        if (r == ERR_DAMAGED && is_begun && to->end) { /* what there is of it */
            int e = to->end(to->ctx, log);
            return e < 0 ? e : r;
        }
        if (r < 0 || r == CLI_FOLLOW_LEFT)
            return r;
        if (r)
            return to->end ? to->end(to->ctx, log) : 0;
        r = wait_change(w);
        if (r)
            return r;
        if (journal_log_is_replaced(log))
            return -ESTALE;
    }
}

static int
follow_log(struct following *w, const char *path)
{
    int r;
    do {
        struct journal_log log = { 0 };
        r = journal_log_open(&log, path, w->err);
        if (r < 0)
            return r;
        w->look_ns = w->absent = 0;
        r = follow_open_log(w, &log);
        journal_log_release(&log);
    } while (r == -ESTALE);
    return r;
}

/* -- all of them -- */

/* The first is told at the end; what is not in the files does not stop the rest. */
static void
note_damage(struct following *w)
{
    if (!w->damage.code)
        w->damage = *w->err;
}

/* Those above *done, one after the other. ERR_MISSING: there is none. An archive that is
 * damaged does not keep the others from being shown. */
static int
follow_new(struct following *w, uint64_t *done, bool is_last_only)
{
    AUTO(buf) numbers = { 0 };
    int r = journal_logs_list(w->f->dir, &numbers), found = ERR_MISSING;
    if (r < 0)
        return err_code(w->err, r, "cannot read the logs in '%s'", w->f->dir);
    size_t count = numbers.n / sizeof(uint64_t);
    for (size_t i = is_last_only && count ? count - 1 : 0; i < count; i++) {
        AUTO(buf) path = { 0 };
        uint64_t n;
        memcpy(&n, numbers.p + i * sizeof(n), sizeof(n));
        if (*done != CLI_FOLLOW_ALL && n <= *done)
            continue;
        *done = n;
        found = 0;
        journal_logs_path(w->f->dir, n, &path);
        r = follow_log(w, buf_str(&path));
        if (r == ERR_DAMAGED)
            note_damage(w);
        else if (r)
            return r;
    }
    return found;
}

static int
follow_run(struct following *w)
{
    const struct cli_follow *f = w->f;
    uint64_t done = CLI_FOLLOW_ALL; /* none yet */
    bool is_last_only = f->iteration == CLI_FOLLOW_LAST;
    int r = follow_new(w, &done, is_last_only);
    if (r == ERR_MISSING && !(f->is_live && journal_run_is_on(f->dir)))
        return err_set(w->err, r, "there is no log in '%s'", f->dir);
    if (!f->is_live || f->iteration == CLI_FOLLOW_LAST)
        return r;
    /* Whether it is over is asked before looking: what it wrote last is seen then. */
    for (bool is_on = true; is_on && (!r || r == ERR_MISSING);) {
        is_on = journal_run_is_on(f->dir);
        r = follow_new(w, &done, false);
        if (r == ERR_MISSING && is_on) {
            if (w->notify_fd < 0)
                watch_folder(w);
            r = wait_change(w);
        }
    }
    return r == ERR_MISSING ? CLI_FOLLOWED : r;
}

/* The last part of the run's folder. */
static struct view
name_of(const char *dir)
{
    size_t end = strlen(dir);
    while (end > 1 && dir[end - 1] == '/')
        end--;
    size_t at = end;
    while (at && dir[at - 1] != '/')
        at--;
    return (struct view){ (const uint8_t *)dir + at, end - at };
}

static int
tell_missing(const struct cli_follow *f, struct err *err)
{
    AUTO(buf) numbers = { 0 };
    struct view name = name_of(f->dir);
    uint64_t last;
    int r = journal_logs_list(f->dir, &numbers);
    if (r < 0)
        return err_code(err, r, "cannot read the logs in '%s'", f->dir);
    if (!numbers.n)
        return err_set(err, ERR_MISSING, "there is no log in '%s'", f->dir);
    memcpy(&last, numbers.p + numbers.n - sizeof(last), sizeof(last));
    if (f->iteration && f->iteration < last)
        return err_set(err, ERR_MISSING, "%.*s has no log of iteration %" PRIu64,
                       (int)name.n, (const char *)name.p, f->iteration);
    return err_set(err, ERR_MISSING, "%.*s has %" PRIu64 " iteration%s", (int)name.n,
                   (const char *)name.p, last, last == 1 ? "" : "s");
}

static int
follow_one(struct following *w)
{
    AUTO(buf) path = { 0 };
    const struct cli_follow *f = w->f;
    if (f->file)
        return follow_log(w, f->file);
    struct stat st;
    journal_logs_path(f->dir, f->iteration, &path);
    if (gz_stat(AT_FDCWD, buf_str(&path), &st) == -ENOENT)
        return tell_missing(f, w->err);
    return follow_log(w, buf_str(&path));
}

int
cli_follow(const struct cli_follow *f, struct err *err)
{
    struct following w = { .f = f, .notify_fd = -1, .err = err };
    if (f->is_live)
        watch_folder(&w);
    bool is_run = !f->file && f->iteration >= CLI_FOLLOW_LAST;
    int r = is_run ? follow_run(&w) : follow_one(&w);
    if (w.notify_fd >= 0)
        close(w.notify_fd);
    buf_release(&w.piece);
    if (r >= 0 && r != CLI_FOLLOW_LEFT && w.damage.code) {
        *err = w.damage;
        r = err->code;
    }
    return r;
}
