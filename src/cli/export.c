/* SPDX-License-Identifier: MIT */
/* ahr export: a session as a document, in one of many formats. */
#include "cli/document.h"

#include "base/num.h"
#include "cli/option.h"
#include "cli/session.h"

struct args {
    int format, order; /* format -1: by the output's name */
    int what;          /* -1: as the session is */
    const char *session, *output, *turn;
    bool is_unmasked, has_times;
};

static const char *
format_of(const struct args *args)
{
    if (args->format >= 0)
        return cli_document_format(args->format);
    return args->output ? cli_document_format_of(args->output) : NULL;
}

/* "4" or "4-9". */
static int
take_turns(const char *text, struct cli_document *doc, struct err *err)
{
    if (!text)
        return 0;
    const char *dash = strchr(text, '-');
    const struct view first = { (const uint8_t *)text,
                                dash ? (size_t)(dash - text) : strlen(text) };
    const struct view last = dash ? (struct view){ (const uint8_t *)dash + 1,
                                                   strlen(dash + 1) }
                                  : first;
    if (num_parse(first, UINT64_MAX, &doc->first_turn) < 0 ||
        num_parse(last, UINT64_MAX, &doc->last_turn) < 0 || !doc->first_turn ||
        doc->last_turn < doc->first_turn)
        return err_set(err, ERR_USAGE,
                       "'%s' is no turn: give a number from 1, or two as "
                       "4-9",
                       text);
    if (!strcmp(doc->format, "jsonl") || !strcmp(doc->format, "events"))
        return err_set(err, ERR_USAGE, "%s is all of a session; leave out --turn",
                       doc->format);
    doc->what = CLI_WHAT_TURNS;
    return 0;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .format = -1, .what = -1 };
    const char *session;
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = cli_session_choice(self, args.session, count, argv, &session, err);
    if (r)
        return r;
    struct cli_document doc = {
        .session = session,
        .format = format_of(&args),
        .what = args.what < 0 ? CLI_WHAT_ANY
                : args.what   ? CLI_WHAT_TERMINAL
                              : CLI_WHAT_TURNS,
        .order = args.order ? PLAY_POSITION : PLAY_VISUAL,
        .is_unmasked = args.is_unmasked,
        .has_times = args.has_times,
        .has_instructions = true,
        .output = args.output,
    };
    if (!doc.format)
        return err_set(err, ERR_USAGE,
                       "in which format? give --format " CLI_EXPORT_FORMATS
                       ", or -o FILE with a name that tells");
    r = take_turns(args.turn, &doc, err);
    return r < 0 ? r : cli_document(self, &doc, err);
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the session, as the operand is (last)", 0, 0 },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), CLI_EXPORT_FORMATS,
      "what to make of it (as FILE is named)", 0, 0 },
    { "what", 0, CLI_CHOICE, offsetof(struct args, what), "turns|terminal",
      "the conversation of a run, or what the terminal showed (turns of a run)", 0, 0 },
    { "turn", 0, CLI_TEXT, offsetof(struct args, turn), "TURNS",
      "only this turn of the conversation, or these: 4, or 4-9", 0, 0 },
    { "output", 'o', CLI_TEXT, offsetof(struct args, output), "FILE",
      "write this file, whole or not at all (standard output)", 0, 0 },
    { "no-redact", 0, CLI_FLAG, offsetof(struct args, is_unmasked), NULL,
      "do not mask what looks like a secret; the document says so", 0, 0 },
    { "timestamps", 0, CLI_FLAG, offsetof(struct args, has_times), NULL,
      "put the time before each line or turn", 0, 0 },
    { "order", 0, CLI_CHOICE, offsetof(struct args, order), "visual|position",
      "lines as they stand on the screen, or all by position (visual)", 0, 0 },
    { 0 },
};

const struct cli_command cli_export = {
    "export",
    "[--session SESSION] [SESSION] [--format " CLI_EXPORT_FORMATS
    "] [--what turns|terminal] [--turn TURNS] [-o FILE] [--no-redact] [--timestamps] "
    "[--order visual|position]",
    "write a session as a document: text, a table, a page, a cast",
    options,
    run,
    false,
};
