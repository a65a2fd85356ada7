/* SPDX-License-Identifier: MIT */
/* entire.c -- what waits for .entire/, and when it is written. */
#include "journal/entire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "journal/entire_priv.h"
#include "journal/file_priv.h"
#include "journal/iteration.h"
#include "session/lines.h"
#include "turn/transcript.h"

enum {
    FRESH_MAX = 256 << 20, /* of lines that nobody has tried to write yet */
    KEPT_MAX = 4 << 20,    /* memory that stays */
    MODEL_MAX = 1 << 10,
};

static const uint64_t QUIET_NS = UINT64_C(200000000), RETRY_NS = UINT64_C(500000000);

struct journal_entire {
    struct journal_entire_options opt;
    struct turn_transcript *transcript;
    struct entire_known known;
    struct entire_actions actions;
    struct buf path; /* of the folder */
    int dir_fd;      /* -1: not made yet */
    struct session_lines lines;
    struct entire_prompt prompt;
    struct buf model;
    uint64_t number; /* of the last event */
    uint64_t lost, count;
    uint64_t heard_ns, tried_ns; /* clock_mono_ns(): the last event, the last write */
    struct err trouble;
    bool is_failing, has_news;
    bool lacks_context; /* at the end */
};

/* -- what a transcript asks for -- */

static void
make_uuid(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE])
{
    const struct journal_entire *e = ctx;
    turn_transcript_uuid(e->opt.session, number, ret);
}

static int
take_line(void *ctx, struct view line)
{
    struct journal_entire *e = ctx;
    struct buf *waiting = &e->lines.waiting;
    size_t most = e->is_failing ? (size_t)JOURNAL_WAITING_MAX : (size_t)FRESH_MAX;
    if (line.n <= most && waiting->n <= most - line.n &&
        buf_append(waiting, line.p, line.n) == 0) {
        e->count++;
        return 0;
    }
    waiting->failed = 0;
    e->lost++;
    return 1;
}

static bool
is_known(void *ctx, const char *uuid, struct turn_transcript_known *ret)
{
    const struct journal_entire *e = ctx;
    return entire_known_find(&e->known, uuid, ret);
}

/* -- life -- */

/* What is added follows the last line of the file, so that all is reached from there:
 * where lines are missing that were never written, too. Where some are missing that
 * others in the file follow, they take their places in the chain again. */
static const char *
last_line(const struct entire_known *k)
{
    return *k->last && !k->has_holes ? k->last : NULL;
}

static int
make_transcript(struct journal_entire *e)
{
    const struct journal_entire_options *o = &e->opt;
    const struct turn_transcript_options opt = {
        .session = o->session,
        .version = o->version,
        .git_branch = e->known.branch.n ? buf_str(&e->known.branch) : o->git_branch,
        .cwd = o->cwd,
        .model = o->model,
        .parent = last_line(&e->known),
        .uuid = make_uuid,
        .line = take_line,
        .known = e->known.lines.n ? is_known : NULL,
        .ctx = e,
    };
    return turn_transcript_new(&e->transcript, &opt);
}

static int
init(struct journal_entire *e)
{
    AUTO(buf) path = { 0 };
    int r = buf_printf(&e->path, "%s/.entire/metadata/%s", e->opt.root, e->opt.session);
    if (!r && e->opt.model)
        r = buf_puts(&e->model, e->opt.model);
    if (!r)
        r = buf_printf(&path, "%s/full.jsonl", buf_str(&e->path));
    if (!r)
        r = session_lines_init(&e->lines, buf_str(&path));
    e->lines.waiting.ceiling = SIZE_MAX; /* see take_line() */
    return r;
}

static struct journal_entire *
make(const struct journal_entire_options *opt)
{
    struct journal_entire *e = calloc(1, sizeof(*e));
    if (e)
        *e = (struct journal_entire){ .opt = *opt, .dir_fd = -1, .lines.fd = -1 };
    return e;
}

int
journal_entire_open(struct journal_entire **ret, const struct journal_entire_options *opt)
{
    struct journal_entire *e = make(opt);
    int r = e ? init(e) : -ENOMEM;
    if (!r)
        r = make_transcript(e);
    if (r < 0)
        journal_entire_free(e);
    else
        *ret = e;
    return r;
}

static int
open_lines(struct journal_entire *e, int flags)
{
    int fd = journal_file_open(e->dir_fd, "full.jsonl", O_RDWR | O_APPEND | flags);
    if (fd >= 0)
        session_lines_use(&e->lines, fd);
    return fd < 0 ? fd : 0;
}

/* The folder, and the lines in it; there may be none yet. */
static int
find_left(struct journal_entire *e)
{
    e->dir_fd = entire_folder_open(e->opt.root, e->opt.session, false);
    if (e->dir_fd < 0)
        return e->dir_fd == -ENOENT ? ERR_MISSING : e->dir_fd;
    entire_prompt_find(&e->prompt, e->dir_fd);
    int r = open_lines(e, 0);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return entire_known_read(&e->known, session_lines_fd(&e->lines));
}

int
journal_entire_open_again(struct journal_entire **ret,
                          const struct journal_entire_options *opt, struct err *err)
{
    struct journal_entire *e = make(opt);
    int r = e ? init(e) : -ENOMEM;
    if (!r)
        r = find_left(e);
    if (!r)
        r = make_transcript(e);
    if (r == ERR_MISSING)
        err_set(err, r, "there is no transcript in '%.300s'", buf_str(&e->path));
    else if (r < 0)
        err_code(err, r, "cannot complete '%.300s'", e ? buf_str(&e->path) : opt->root);
    if (r < 0)
        journal_entire_free(e);
    else
        *ret = e;
    return r;
}

void
journal_entire_free(struct journal_entire *e)
{
    if (!e)
        return;
    turn_transcript_free(e->transcript);
    session_lines_release(&e->lines);
    entire_known_release(&e->known);
    entire_actions_release(&e->actions);
    buf_release(&e->path);
    buf_release(&e->prompt.text);
    buf_release(&e->model);
    if (e->dir_fd >= 0)
        close(e->dir_fd);
    free(e);
}

/* -- events -- */

void
journal_entire_asked(struct journal_entire *e)
{
    entire_prompt_end(&e->prompt);
}

/* What the supporting files are made of. */
int
journal_entire_note(struct journal_entire *e, const struct turn_event *event)
{
    if (event->is_partial)
        return 0;
    if (event->type != TURN_TEXT || !event->is_user)
        entire_prompt_end(&e->prompt);
    if (event->type == TURN_TOOL_CALL || event->type == TURN_TOOL_RESULT ||
        event->type == TURN_EXIT)
        return entire_actions_see(&e->actions, event);
    if (event->parent.n)
        return 0;
    if (event->type == TURN_TEXT && event->is_user)
        return entire_prompt_add(&e->prompt, event->text, e->opt.is_plain);
    if (event->type != TURN_SESSION || !event->model.n)
        return 0;
    buf_clear(&e->model);
    return buf_append(&e->model, event->model.p,
                      event->model.n < MODEL_MAX ? event->model.n : MODEL_MAX);
}

int
journal_entire_add(struct journal_entire *e, const struct turn_event *event,
                   uint64_t ts_ns)
{
    if (event->is_partial)
        return 0;
    int r = journal_entire_note(e, event);
    e->heard_ns = clock_mono_ns();
    e->number = turn_transcript_number(e->number, ts_ns);
    int added = turn_transcript_add(e->transcript, event, e->number, ts_ns);
    return added < 0 ? added : r;
}

/* -- the disk -- */

static bool
has_waiting(const struct journal_entire *e)
{
    return e->lines.waiting.n || e->prompt.state == ENTIRE_PROMPT_WAITS;
}

/* Told once, until it is over. */
static int
judge(struct journal_entire *e, int r)
{
    if (r < 0 && (!e->is_failing || r != e->trouble.code)) {
        if (r == -ELOOP)
            err_set(&e->trouble, r,
                    "cannot write '%.300s': a link is on the way, and "
                    "none is followed",
                    buf_str(&e->path));
        else
            err_code(&e->trouble, r, "cannot write '%.300s'", buf_str(&e->path));
        e->trouble.code = r;
        e->has_news = true;
    }
    e->is_failing = r < 0;
    return r;
}

int
journal_entire_write(struct journal_entire *e)
{
    if (!has_waiting(e))
        return 0;
    int r = 0;
    if (e->dir_fd < 0)
        e->dir_fd = r = entire_folder_open(e->opt.root, e->opt.session, true);
    if (r >= 0)
        r = entire_prompt_put(&e->prompt, e->dir_fd);
    int lines = e->dir_fd < 0 ? e->dir_fd : 0;
    if (!lines && session_lines_fd(&e->lines) < 0)
        lines = open_lines(e, O_CREAT);
    if (!lines)
        lines = session_lines_flush(&e->lines);
    if (!e->lines.waiting.n && e->lines.waiting.cap > KEPT_MAX)
        buf_release(&e->lines.waiting);
    e->dir_fd = e->dir_fd < 0 ? -1 : e->dir_fd;
    e->tried_ns = clock_mono_ns();
    return judge(e, lines < 0 ? lines : r < 0 ? r : 0);
}

uint64_t
journal_entire_due_ns(const struct journal_entire *e)
{
    uint64_t due = UINT64_MAX;
    if (turn_transcript_is_open(e->transcript))
        due = e->heard_ns + QUIET_NS;
    if (has_waiting(e) && e->tried_ns + RETRY_NS < due)
        due = e->tried_ns + RETRY_NS;
    return due;
}

void
journal_entire_tick(struct journal_entire *e, uint64_t mono_ns)
{
    bool is_quiet = mono_ns >= e->heard_ns + QUIET_NS;
    bool is_due = is_quiet && turn_transcript_is_open(e->transcript);
    if (is_due)
        (void)turn_transcript_flush(e->transcript);
    if (is_due || mono_ns >= e->tried_ns + RETRY_NS)
        (void)journal_entire_write(e);
}

/* -- the end -- */

/* A session_lines_finish() writer. */
static int
write_waiting(void *ctx)
{
    return journal_entire_write(ctx);
}

static int
write_rest(struct journal_entire *e)
{
    uint64_t lost = 0;
    int r = session_lines_finish(&e->lines, write_waiting, e, &lost);
    e->lost += lost;
    e->count -= lost;
    return r;
}

int
journal_entire_context(const struct journal_entire *e, struct buf *out)
{
    return entire_context(e->opt.session, (struct view){ e->model.p, e->model.n },
                          e->opt.start_ns, &e->actions, out);
}

static int
put_context(struct journal_entire *e)
{
    AUTO(buf) text = { 0 };
    int r = journal_entire_context(e, &text);
    for (int tries = 0; tries < SESSION_LAST_TRIES && !text.failed; tries++) {
        r = entire_folder_put(e->dir_fd, "context.md", (struct view){ text.p, text.n });
        if (r >= 0)
            break;
    }
    return r < 0 ? r : 0;
}

int
journal_entire_end(struct journal_entire *e, uint64_t ts_ns, bool has_ended)
{
    entire_prompt_end(&e->prompt);
    int r = turn_transcript_end(e->transcript, ts_ns, has_ended);
    int written = write_rest(e);
    r = r < 0 ? r : written;
    int fd = session_lines_fd(&e->lines);
    if (fd >= 0 && !file_is_at(fd, e->lines.path)) {
        err_set(&e->trouble, ERR_MISSING, "'%.300s' was moved, removed or replaced",
                e->lines.path);
        e->has_news = true;
        return ERR_MISSING;
    }
    if (has_ended && e->dir_fd >= 0) {
        int put = put_context(e);
        e->lacks_context = put < 0;
        r = r < 0 ? r : put;
    }
    e->lacks_context |= has_ended && e->dir_fd < 0 && (e->lost || e->count);
    return r < 0 ? judge(e, r) : 0;
}

bool
journal_entire_lacks(const struct journal_entire *e, const char *name)
{
    return !strcmp(name, "context.md")   ? e->lacks_context
           : !strcmp(name, "prompt.txt") ? e->prompt.state == ENTIRE_PROMPT_WAITS
                                         : e->lost > 0;
}

bool
journal_entire_trouble(struct journal_entire *e, struct err *ret)
{
    if (!e->has_news)
        return false;
    e->has_news = false;
    *ret = e->trouble;
    return true;
}

bool
journal_entire_is_made(const struct journal_entire *e)
{
    return e->dir_fd >= 0;
}

uint64_t
journal_entire_missing(const struct journal_entire *e)
{
    return e->lost;
}

uint64_t
journal_entire_count(const struct journal_entire *e)
{
    return e->count;
}

const char *
journal_entire_path(struct journal_entire *e)
{
    return buf_str(&e->path);
}
