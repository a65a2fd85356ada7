/* SPDX-License-Identifier: MIT */
/* ahr reindex: the library's index anew, from the sessions' files. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cli/indexed.h"
#include "cli/option.h"
#include "cli/report.h"
#include "redact/own.h"
#include "session/home.h"

/* Sessions that are as they should be are counted, not listed. */
static void
on_each(void *ctx, const char *id, int r, const struct library_indexed *done,
        const struct err *err, size_t at, size_t count)
{
    struct cli_indexed *x = ctx;
    bool is_odd = r < 0 || done->is_damaged || done->is_moved;
    bool is_quiet = x->is_quiet;
    if (is_odd)
        cli_progress_end(x->progress);
    x->is_quiet |= !is_odd;
    cli_indexed_add(x, id, r, done, err);
    x->is_quiet = is_quiet;
    cli_progress_step(x->progress, at, count);
}

static void
print_sum(const struct cli_indexed *x)
{
    AUTO(buf) text = { 0 };
    cli_count(&text, x->sessions, "session");
    buf_puts(&text, ", ");
    cli_count(&text, x->lines, "line");
    buf_puts(&text, ", ");
    cli_count(&text, x->text_bytes, "byte");
    puts(buf_str(&text));
}

static int
reindex(struct cli_indexed *x, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct cli_progress progress;
    struct redact *redact = NULL;
    int r = session_home(&home, err);
    if (r >= 0)
        r = redact_own_open(&redact, NULL, err);
    if (r < 0)
        return r;
    cli_progress_begin(&progress, x->self, "sessions");
    x->progress = &progress;
    r = library_reindex(buf_str(&home), redact, on_each, x, err);
    cli_progress_end(&progress);
    redact_close(redact);
    if (!r && !x->is_json && !x->is_quiet)
        print_sum(x);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_indexed x = { .self = self };
    int count, r = cli_parse(self, argc, argv, &x, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE,
                       "reindex takes all sessions; 'ahr index' takes some");
    cli_indexed_begin(&x, true);
    r = reindex(&x, err);
    int e = cli_indexed_end(&x, err);
    buf_release(&x.done);
    return r < 0 ? r : e;
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct cli_indexed, is_json), NULL, "print JSON", 0,
      0 },
    { "quiet", 'q', CLI_FLAG, offsetof(struct cli_indexed, is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_reindex = {
    "reindex",
    "[--json] [-q]",
    "make the library's index anew, from the sessions' files",
    options,
    run,
    false,
};
