/* SPDX-License-Identifier: MIT */
/* ahr export: a session as a document, in one of many formats. */
#include <strings.h>

#include "cli/document.h"
#include "cli/option.h"

#define FORMATS "md|json|csv|txt|ansi|html|cast|cast3"

struct args {
    int format, order; /* format -1: by the output's name */
    const char *output;
    bool is_unmasked, has_times;
};

/* In the order of FORMATS. */
static const char *const formats[] = { "md",   "json", "csv",  "txt",
                                       "ansi", "html", "cast", "cast3" };

enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

/* By what stands behind the last dot of the file's name; NULL: by nothing. */
static const char *
format_of(const struct args *args)
{
    if (args->format >= 0)
        return formats[args->format];
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    for (size_t i = 0; dot && i < FORMAT_COUNT; i++)
        if (!strcasecmp(dot + 1, formats[i]))
            return formats[i];
    return NULL;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .format = -1 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count > 1)
        return err_set(err, ERR_USAGE, "give one session; see 'ahr export -h'");
    struct cli_document doc = {
        .session = count ? argv[0] : NULL,
        .format = format_of(&args),
        .order = args.order ? PLAY_POSITION : PLAY_VISUAL,
        .is_unmasked = args.is_unmasked,
        .has_times = args.has_times,
        .has_instructions = true,
        .output = args.output,
    };
    if (!doc.format)
        return err_set(err, ERR_USAGE,
                       "in which format? give --format " FORMATS
                       ", or -o FILE with a name that tells");
    return cli_document(self, &doc, err);
}

static const struct cli_option options[] = {
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), FORMATS,
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
    "[SESSION] [--format " FORMATS "] [-o FILE] [--no-redact] [--timestamps] "
    "[--order visual|position]",
    "write a session as a document: text, a table, a page, a cast",
    options,
    run,
    false,
};
