/* SPDX-License-Identifier: MIT */
/* ahr resume: a session that was cut off, or has ended, goes on in a new one. */
#include "cli/again.h"
#include "cli/option.h"
#include "cli/session.h"

enum { FROM_MAX = 1 << 30 };

struct args {
    struct cli_again_args again;
    bool is_replay, is_context;
};

static int
check_args(struct args *a, int count, struct err *err)
{
    struct cli_again_args *g = &a->again;
    bool must_replay = a->is_replay || g->is_verified || g->from > 1;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? 'ahr list' lists them");
    if (a->is_context && must_replay)
        return err_set(err, ERR_USAGE,
                       "--context starts afresh: it does not go with --replay, --verify "
                       "and --from");
    if (g->is_json && !g->is_dry_run)
        return err_set(err, ERR_USAGE, "--json is for --dry-run");
    if (g->prompt && !*g->prompt)
        return err_set(err, ERR_USAGE, "--prompt needs a text");
    if (g->prompt && g->is_verified)
        return err_set(err, ERR_USAGE,
                       "--prompt does not go with --verify: what is sent is what was "
                       "sent");
    g->how = a->is_context ? CLI_HOW_CONTEXT
             : must_replay ? CLI_HOW_REPLAY
                           : CLI_HOW_BEST;
    return cli_check_name(g->name, err);
}

static int
resume(const struct args *args, const struct cli_again_given *given, int count,
       char **operands, struct err *err)
{
    AUTO(cli_again)
    a = {
        .self = &cli_resume, .args = &args->again, .given = given, .turns = UINT64_MAX
    };
    int r = cli_again_find(&a, operands[0], err);
    if (!r)
        r = cli_again_read(&a, (size_t)count - 1, operands + 1, err);
    if (!r)
        r = cli_again_choose(&a, err);
    if (r < 0)
        return r;
    if (args->again.is_dry_run)
        return cli_again_print(&a, err);
    r = cli_again_check(&a, err);
    return r ? r : cli_again_start(&a, err);
}

int
cli_resume_with(const struct cli_again_given *given, bool is_quiet, int count,
                char **operands, struct err *err)
{
    struct args args = { .again = CLI_AGAIN_DEFAULTS };
    int none, r = cli_parse(&cli_resume, 0, operands, &args, &none, err);
    args.again.is_quiet = is_quiet;
    args.again.name = NULL; /* AHR_NAME is that of the other command */
    return r ? r : resume(&args, given, count, operands, err);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .again = CLI_AGAIN_DEFAULTS };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = check_args(&args, count, err);
    return r ? r : resume(&args, NULL, count, argv, err);
}

#define AT(field) offsetof(struct args, again.field)

static const struct cli_option options[] = {
    { "verify", 0, CLI_FLAG, AT(is_verified), NULL,
      "hold the answers against the recording, and tell the differences", 0, 0 },
    { "from", 0, CLI_NUMBER, AT(from), "N", "send the messages from the N-th on (1)", 1,
      FROM_MAX },
    { "replay", 0, CLI_FLAG, offsetof(struct args, is_replay), NULL,
      "send all messages once more, also where the agent could go on by itself", 0, 0 },
    { "context", 0, CLI_FLAG, offsetof(struct args, is_context), NULL,
      "start afresh, with a short account of what has happened", 0, 0 },
    CLI_AGAIN_OPTIONS(struct args),
    { 0 },
};

const struct cli_command cli_resume = {
    "resume",
    "SESSION [--verify] [--from N] [--replay] [--context] [--prompt TEXT] [--dry-run] "
    "[--json] [--name NAME] [--dir DIR] [--quiet-ms N] [--context-bytes N] [-q] "
    "[-- CMD [ARG…]]",
    "go on with a session in a new one",
    options,
    run,
    false,
};
