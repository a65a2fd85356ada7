/* SPDX-License-Identifier: MIT */
/* ahr log: the iteration logs of a run, also while they are written. */
#include "cli/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/log_find.h"
#include "cli/option.h"
#include "play/clean.h"
#include "pty/tty.h"

struct args {
    const char *iteration;
    bool is_live, is_json;
};

/* Where it goes. */
struct sink {
    const struct cli_command *self;
    bool is_live, is_json;
    bool is_clean;    /* a terminal, which what others wrote must not take over */
    bool is_mid_line; /* the last byte was no newline */
    struct buf kept;  /* bytes of a character that is not whole yet; or a log's text */
    struct buf out;
    int fd;                       /* non-blocking where there is: */
    struct cli_follow_wait *wait; /* … or NULL */
    struct err *err;
};

enum { JSON_TEXT_MAX = 256 << 20 };

/* Also while much is written, or the terminal stands still, it can be left. */
static int
put_waiting(struct sink *s, struct view bytes)
{
    struct pollfd out = { .fd = s->fd, .events = POLLOUT };
    while (bytes.n) {
        ssize_t n = write(s->fd, bytes.p, bytes.n);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n > 0)
            bytes = (struct view){ bytes.p + n, bytes.n - (size_t)n };
        if (s->wait->poll(s->wait, &out, 1, n < 0 ? -1 : 0))
            return CLI_FOLLOW_LEFT;
    }
    return 0;
}

static int
put(struct sink *s, struct view bytes)
{
    if (!bytes.n)
        return 0;
    s->is_mid_line = bytes.p[bytes.n - 1] != '\n';
    int r = s->wait ? put_waiting(s, bytes) : file_write_all(s->fd, bytes.p, bytes.n);
    return r < 0 ? err_code(s->err, r, "cannot write to standard output") : r;
}

/* -- as text -- */

/* How many bytes at the end begin a character that may go on. */
static size_t
open_bytes(struct view v)
{
    uint32_t rune;
    for (size_t n = 1; n < 4 && n <= v.n; n++) {
        const uint8_t *p = v.p + v.n - n;
        bool is_open = false;
        if ((*p & 0xc0) == 0x80)
            continue;
        if (*p >= 0xc0 && !utf8_next(p, n, &rune))
            utf8_stump(p, n, &is_open);
        return is_open ? n : 0;
    }
    return 0;
}

static int
put_clean(struct sink *s, struct view text, bool is_last)
{
    int r = text.n ? buf_append(&s->kept, text.p, text.n) : 0;
    size_t open = is_last ? 0 : open_bytes((struct view){ s->kept.p, s->kept.n });
    buf_clear(&s->out);
    if (!r && s->kept.n)
        r = play_clean((struct view){ s->kept.p, s->kept.n - open }, false, &s->out);
    if (r < 0)
        return err_code(s->err, r, "cannot show the log");
    if (open)
        memmove(s->kept.p, s->kept.p + s->kept.n - open, open);
    s->kept.n = open;
    return put(s, (struct view){ s->out.p, s->out.n });
}

static int
put_text(void *ctx, struct view text)
{
    struct sink *s = ctx;
    return s->is_clean ? put_clean(s, text, false) : put(s, text);
}

/* The head as it stands, without the blanks at the ends of its lines. */
static int
begin_text(void *ctx, const struct journal_log *log)
{
    struct sink *s = ctx;
    AUTO(buf) head = { 0 };
    if (s->is_mid_line)
        buf_puts(&head, "\n");
    for (size_t i = 0; i < log->head_text.n; i++) {
        size_t end = i;
        while (end < log->head_text.n && log->head_text.p[end] == ' ')
            end++;
        if (end < log->head_text.n && log->head_text.p[end] == '\n')
            i = end;
        buf_append(&head, log->head_text.p + i, 1);
    }
    return head.failed ? head.failed : put_text(s, (struct view){ head.p, head.n });
}

static void
say_end(const struct sink *s, const struct journal_head *h)
{
    if (h->status == JOURNAL_IN_PROGRESS)
        cli_say(s->self,
                "iteration %" PRIu64 " has no end: its writer is gone; 'ahr recover' "
                "puts that in order",
                h->iteration);
    else if (h->interrupted[0])
        cli_say(s->self, "iteration %" PRIu64 ": %s, %s", h->iteration,
                journal_status_name(h->status), h->interrupted);
    else if (h->exit_code != INT64_MIN)
        cli_say(s->self, "iteration %" PRIu64 ": %s, exit code %" PRId64, h->iteration,
                journal_status_name(h->status), h->exit_code);
    else
        cli_say(s->self, "iteration %" PRIu64 ": %s", h->iteration,
                journal_status_name(h->status));
}

static int
end_text(void *ctx, const struct journal_log *log)
{
    struct sink *s = ctx;
    int r = s->is_clean ? put_clean(s, (struct view){ 0 }, true) : 0;
    if (!r && s->is_clean && s->is_mid_line)
        r = put(s, (struct view){ (const uint8_t *)"\n", 1 });
    if (!r && s->is_live)
        say_end(s, &log->head);
    return r;
}

/* -- as JSON: an object a log -- */

static int
begin_json(void *ctx, const struct journal_log *log)
{
    struct sink *s = ctx;
    (void)log;
    buf_clear(&s->kept);
    s->kept.ceiling = JSON_TEXT_MAX;
    return 0;
}

static int
keep_text(void *ctx, struct view text)
{
    struct sink *s = ctx;
    int r = buf_append(&s->kept, text.p, text.n);
    return r < 0 ? err_code(s->err, r, "the log is too long for one object") : 0;
}

static void
put_number(struct json *j, const char *key, bool is_known, uint64_t v)
{
    json_key(j, key);
    if (is_known)
        json_u64(j, v);
    else
        json_none(j);
}

static void
put_exit_code(struct json *j, int64_t code)
{
    char text[32];
    json_key(j, "exit_code");
    if (code == INT64_MIN) {
        json_none(j);
        return;
    }
    int n = snprintf(text, sizeof(text), "%" PRId64, code);
    json_raw(j, (struct view){ (const uint8_t *)text, (size_t)n });
}

static void
put_known(struct json *j, const char *key, const char *text)
{
    json_key(j, key), json_str_or_none(j, text[0] ? text : NULL);
}

static int
end_json(void *ctx, const struct journal_log *log)
{
    struct sink *s = ctx;
    const struct journal_head *h = &log->head;
    struct json json = { .out = &s->out }, *j = &json;
    buf_clear(&s->out);
    s->out.ceiling = (size_t)JSON_TEXT_MAX * 7;
    json_open(j, '{');
    json_key(j, "iteration"), json_u64(j, h->iteration);
    json_key(j, "status"), json_str(j, journal_status_name(h->status));
    put_known(j, "timestamp", h->timestamp);
    put_number(j, "duration_ms", h->duration_ms != UINT64_MAX, h->duration_ms);
    put_exit_code(j, h->exit_code);
    put_known(j, "interrupted", h->interrupted);
    json_key(j, "text"), json_bytes(j, (struct view){ s->kept.p, s->kept.n });
    json_close(j, '}');
    buf_puts(&s->out, "\n");
    if (s->out.failed)
        return err_code(s->err, s->out.failed, "cannot print the log");
    return put(s, (struct view){ s->out.p, s->out.n });
}

/* -- the command -- */

static int
parse_iteration(const char *text, uint64_t *ret, struct err *err)
{
    *ret = CLI_FOLLOW_ALL;
    if (text && !strcmp(text, "last"))
        *ret = CLI_FOLLOW_LAST;
    else if (text && num_parse((struct view){ (const uint8_t *)text, strlen(text) },
                               CLI_FOLLOW_LAST - 1, ret) < 0)
        return err_set(err, ERR_USAGE, "--iteration takes a number, or 'last': '%s'",
                       text);
    return 0;
}

static int
show(struct sink *sink, struct cli_follow *f, struct err *err)
{
    if (sink->is_json)
        f->to = (struct cli_follow_to){ begin_json, keep_text, end_json, sink };
    else
        f->to = (struct cli_follow_to){ begin_text, put_text, end_text, sink };
    int r = cli_follow(f, err);
    buf_release(&sink->kept);
    buf_release(&sink->out);
    return r;
}

int
cli_log_watch(const struct cli_command *self, const char *dir,
              struct cli_follow_wait *wait, struct err *err)
{
    int own_fd = pty_reopen_nonblock(STDOUT_FILENO, O_WRONLY);
    struct sink sink = { .self = self,
                         .is_live = true,
                         .is_clean = true,
                         .fd = own_fd < 0 ? STDOUT_FILENO : own_fd,
                         .wait = wait,
                         .err = err };
    struct cli_follow f = {
        .dir = dir, .iteration = CLI_FOLLOW_ALL, .is_live = true, .wait = wait
    };
    int r = show(&sink, &f, err);
    if (r == CLI_FOLLOW_LEFT && sink.is_mid_line)
        (void)!write(sink.fd, "\n", 1);
    if (own_fd >= 0)
        close(own_fd);
    return r;
}

static int
print(const struct cli_command *self, const struct args *args,
      struct cli_log_found *found, uint64_t iteration, struct err *err)
{
    struct sink sink = { .self = self,
                         .is_live = args->is_live,
                         .is_json = args->is_json,
                         .is_clean = !args->is_json && isatty(STDOUT_FILENO),
                         .fd = STDOUT_FILENO,
                         .err = err };
    struct cli_follow f = { .dir = found->dir.n ? buf_str(&found->dir) : NULL,
                            .file = found->dir.n ? NULL : buf_str(&found->file),
                            .iteration = iteration,
                            .is_live = args->is_live };
    int r = show(&sink, &f, err);
    return r < 0 ? r : CLI_DONE;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    uint64_t iteration;
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count > 1)
        return err_set(err, ERR_USAGE, "give one session or file; see 'ahr log -h'");
    r = parse_iteration(args.iteration, &iteration, err);
    if (r < 0)
        return r;
    AUTO(cli_log_found) found = { 0 };
    r = cli_log_find(self, &found, count ? argv[0] : NULL, err);
    if (r < 0)
        return r;
    if (found.file.n && args.iteration)
        return err_set(err, ERR_USAGE, "--iteration is for a run; '%s' is one log",
                       argv[0]);
    return print(self, &args, &found, iteration, err);
}

static const struct cli_option options[] = {
    { "follow", 'f', CLI_FLAG, offsetof(struct args, is_live), NULL,
      "go on until the run is over", 0, 0 },
    { "iteration", 0, CLI_TEXT, offsetof(struct args, iteration), "N|last",
      "only this iteration's log", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print an object a log",
      0, 0 },
    { 0 },
};

const struct cli_command cli_log = {
    "log",
    "[SESSION|FILE] [-f] [--iteration N] [--json]",
    "print what a run has shown, or shows",
    options,
    run,
    false,
};
