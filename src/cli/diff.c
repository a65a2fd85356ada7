/* SPDX-License-Identifier: MIT */
/* ahr diff: what is different between two sessions. */
#include "cli/diff.h"

#include <unistd.h>

#include "cli/option.h"
#include "pty/tty.h"
#include "redact/own.h"

enum { FLUSH_AT = 64 << 10 };

struct args {
    int what;
    bool is_json, is_unified, is_unmasked, has_exit_code;
};

int
cli_diff_flush(struct cli_diff *d, bool is_end)
{
    if (d->text.failed || (!is_end && d->text.n < FLUSH_AT))
        return d->text.failed;
    int r = cli_output_write(&d->out, (struct view){ d->text.p, d->text.n });
    buf_clear(&d->text);
    return r;
}

void
cli_diff_listed(struct cli_diff *d, size_t n, const char *what, unsigned *used)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "%zu %s", n, what);
    unsigned cols = (unsigned)text.n;
    bool is_full = d->cols && *used + sizeof(", ,") + cols > d->cols;
    buf_puts(&d->text, !*used ? "" : is_full ? ",\n" : ", ");
    buf_append(&d->text, text.p, text.n);
    *used = is_full || !*used ? cols : *used + 2 + cols;
}

void
cli_diff_pass(const struct cli_diff *d, size_t from, size_t to, size_t count[2])
{
    for (; from < to; from++) {
        enum play_edit_kind kind = play_edit_at(&d->edits, from)->kind;
        count[0] += kind != PLAY_INSERTED && kind != PLAY_MOVED_HERE;
        count[1] += kind != PLAY_DELETED && kind != PLAY_MOVED_AWAY;
    }
}

void
cli_diff_events(const struct cli_diff *d, const size_t before[2], const size_t n[2],
                struct buf *out)
{
    if (d->what == CLI_DIFF_TERMINAL)
        return;
    buf_puts(out, "events ");
    for (size_t i = 0; i < 2; i++) {
        const struct play_side *s = cli_diff_compared(d, i);
        buf_puts(out, i ? ", " : "");
        if (n[i])
            buf_put_u64(out, play_side_at(s, before[i])->event);
        else
            buf_puts(out, "none");
        if (n[i] > 1) {
            buf_puts(out, "-");
            buf_put_u64(out, play_side_at(s, before[i] + n[i] - 1)->event);
        }
    }
}

void
cli_diff_colour(struct cli_diff *d, const char *sgr)
{
    if (d->has_colours)
        buf_puts(&d->text, *sgr ? sgr : "\033[m");
}

static void
look(struct cli_diff *d)
{
    uint16_t cols, rows;
    bool is_terminal = isatty(STDOUT_FILENO);
    d->has_colours = cli_output_has_colours();
    d->cols = !is_terminal ? 0 : pty_size(STDOUT_FILENO, &cols, &rows) ? cols : 80;
    d->text.ceiling = SIZE_MAX;
}

/* For people. */
static int
print(struct cli_diff *d, bool is_unified, bool *ret_is_same, struct err *err)
{
    int r = cli_diff_head(d, err);
    *ret_is_same = play_edits_are_none(&d->edits);
    if (r < 0)
        return r;
    if (d->what == CLI_DIFF_TOOLS)
        return cli_diff_calls(d, ret_is_same, err);
    if (d->what == CLI_DIFF_FILES)
        return cli_diff_files(d, ret_is_same, err);
    return is_unified || !cli_diff_has_room(d) ? cli_diff_unified(d)
                                               : cli_diff_columns(d);
}

static int
compare(struct cli_diff *d, const struct args *args, char **operands, struct err *err)
{
    bool is_same = true;
    int r = cli_output_init(&d->out, NULL, err);
    if (!r && !args->is_unmasked)
        r = redact_own_open(&d->redact, NULL, err);
    if (!r)
        r = cli_diff_load(d, operands[0], operands[1], err);
    if (r < 0)
        return r;
    look(d);
    err->code = 0;
    r = args->is_json ? cli_diff_json(d, &is_same)
                      : print(d, args->is_unified, &is_same, err);
    if (!r)
        r = cli_diff_flush(d, true);
    if (d->out.error)
        return cli_output_fail(&d->out, err);
    if (r < 0)
        return err->code ? r : err_code(err, r, "cannot compare the two");
    if (!d->redact)
        cli_say(d->self, "secrets are not masked in this");
    if (d->sides[0].is_damaged || d->sides[1].is_damaged)
        return CLI_DAMAGED;
    return args->has_exit_code && !is_same ? CLI_FAILED : CLI_DONE;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .what = -1 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count != 2)
        return err_set(err, ERR_USAGE,
                       "which two sessions? give A and B; 'ahr list' has their names");
    struct cli_diff d = { .self = self, .what = args.what, .out.fd = -1 };
    r = compare(&d, &args, argv, err);
    cli_diff_release(&d);
    return r;
}

static const struct cli_option options[] = {
    { "what", 0, CLI_CHOICE, offsetof(struct args, what), "turns|tools|files|terminal",
      "what is compared (turns; terminal, where one has none)", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "as a JSON object", 0,
      0 },
    { "unified", 'u', CLI_FLAG, offsetof(struct args, is_unified), NULL,
      "not side by side on a terminal, either", 0, 0 },
    { "exit-code", 0, CLI_FLAG, offsetof(struct args, has_exit_code), NULL,
      "exit with 1 when there are differences", 0, 0 },
    { "no-redact", 0, CLI_FLAG, offsetof(struct args, is_unmasked), NULL,
      "do not mask what looks like a secret", 0, 0 },
    { 0 },
};

const struct cli_command cli_diff = {
    "diff",
    "[--what turns|tools|files|terminal] [--json] [--unified] [--exit-code] "
    "[--no-redact] A B",
    "compare two sessions: turns, calls of tools, files, what a terminal showed",
    options,
    run,
    false,
};
