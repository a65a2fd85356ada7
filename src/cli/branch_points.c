/* SPDX-License-Identifier: MIT */
/* ahr branch-points: the final lines of a session, with its snapshots where they fell. */
#include "cli/document.h"
#include "cli/option.h"
#include "cli/session.h"

struct args {
    const char *session, *output;
    int format, order;
    bool has_instructions, is_unmasked;
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    /* In the order of the option's words. */
    static const char *const formats[] = { "branch-points", "md", "csv", "ruled" };
    struct args args = { 0 };
    const char *session;
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = cli_session_choice(self, args.session, count, argv, &session, err);
    if (r)
        return r;
    struct cli_document doc = {
        .session = session,
        .format = formats[args.format],
        .order = args.order ? PLAY_POSITION : PLAY_VISUAL,
        .is_unmasked = args.is_unmasked,
        .has_instructions = args.has_instructions,
        .is_bare = true,
        .output = args.output,
    };
    return cli_document(self, &doc, err);
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the session, as the operand is (last)", 0, 0 },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), "json|md|csv|text",
      "what to make of it (json)", 0, 0 },
    { "order", 0, CLI_CHOICE, offsetof(struct args, order), "visual|position",
      "lines as they stand on the screen, or all by position (visual)", 0, 0 },
    { "instructions", 0, CLI_FLAG, offsetof(struct args, has_instructions), NULL,
      "put instructions between the lines, too", 0, 0 },
    { "no-redact", 0, CLI_FLAG, offsetof(struct args, is_unmasked), NULL,
      "do not mask what looks like a secret", 0, 0 },
    { "output", 'o', CLI_TEXT, offsetof(struct args, output), "FILE",
      "write this file, whole or not at all (standard output)", 0, 0 },
    { 0 },
};

const struct cli_command cli_branch_points = {
    "branch-points",
    "[--session SESSION] [SESSION] [--format json|md|csv|text] [--order visual|position] "
    "[--instructions] [--no-redact] [-o FILE]",
    "print the final lines of a session, and its snapshots between them",
    options,
    run,
    false,
};
