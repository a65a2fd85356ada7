/* SPDX-License-Identifier: MIT */
/* ahr export: a session as a document, in one of many formats. */
#include "cli/document.h"
#include "cli/option.h"
#include "cli/session.h"

struct args {
    int format, order; /* format -1: by the output's name */
    const char *session, *output;
    bool is_unmasked, has_times;
};

static const char *
format_of(const struct args *args)
{
    if (args->format >= 0)
        return cli_document_format(args->format);
    return args->output ? cli_document_format_of(args->output) : NULL;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .format = -1 };
    const char *session;
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = cli_session_choice(self, args.session, count, argv, &session, err);
    if (r)
        return r;
    struct cli_document doc = {
        .session = session,
        .format = format_of(&args),
        .order = args.order ? PLAY_POSITION : PLAY_VISUAL,
        .is_unmasked = args.is_unmasked,
        .has_times = args.has_times,
        .has_instructions = true,
        .output = args.output,
    };
    if (!doc.format)
        return err_set(err, ERR_USAGE,
                       "in which format? give --format " CLI_DOCUMENT_FORMATS
                       ", or -o FILE with a name that tells");
    return cli_document(self, &doc, err);
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the session, as the operand is (last)", 0, 0 },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), CLI_DOCUMENT_FORMATS,
      "what to make of it (as FILE is named)", 0, 0 },
    { "output", 'o', CLI_TEXT, offsetof(struct args, output), "FILE",
      "write this file, whole or not at all (standard output)", 0, 0 },
    { "no-redact", 0, CLI_FLAG, offsetof(struct args, is_unmasked), NULL,
      "do not mask what looks like a secret; the document says so", 0, 0 },
    { "timestamps", 0, CLI_FLAG, offsetof(struct args, has_times), NULL,
      "put the time of its last write before each line", 0, 0 },
    { "order", 0, CLI_CHOICE, offsetof(struct args, order), "visual|position",
      "lines as they stand on the screen, or all by position (visual)", 0, 0 },
    { 0 },
};

const struct cli_command cli_export = {
    "export",
    "[--session SESSION] [SESSION] [--format " CLI_DOCUMENT_FORMATS
    "] [-o FILE] [--no-redact] [--timestamps] "
    "[--order visual|position]",
    "write a session as a document: text, a table, a page, a cast",
    options,
    run,
    false,
};
