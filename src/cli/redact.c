/* SPDX-License-Identifier: MIT */
/*
 * ahr redact: masks secrets in a byte stream or in a session of the library, or looks for
 * them in files.
 *
 * As a filter it writes what is decided after each read, so that it may stand in a live
 * pipe.
 */
#include "redact/redact.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/check.h"
#include "cli/option.h"
#include "cli/redact_session.h"
#include "redact/own.h"

enum { PIECE_MAX = 64 << 10 };

struct args {
    bool is_check, is_rules, is_json, is_terminal;
    uint64_t cols;
    const char *own, *rule, *text_file;
};

/* -- the filter -- */

static int
put(struct buf *out, int r, struct err *err)
{
    if (r < 0)
        return err_code(err, r, "cannot mask standard input");
    r = file_write_all(STDOUT_FILENO, out->p, out->n);
    buf_clear(out);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

static int
filter(struct redact_stream *s, struct err *err)
{
    static uint8_t piece[PIECE_MAX];
    AUTO(buf) out = { 0 };
    ssize_t n;
    while ((n = file_read(STDIN_FILENO, piece, sizeof(piece))) > 0) {
        int r = put(&out, redact_stream_feed(s, piece, (size_t)n, &out), err);
        if (r < 0)
            return r;
    }
    int r = put(&out, redact_stream_flush(s, &out), err);
    if (r < 0)
        return r;
    return n < 0 ? err_code(err, (int)n, "cannot read standard input") : CLI_DONE;
}

static int
run_filter(struct redact *redact, const struct args *args, struct err *err)
{
    struct redact_options opt = {
        .is_terminal = args->is_terminal,
        .cols = (uint32_t)args->cols,
        .keeps_length = args->is_terminal,
    };
    struct redact_stream *s;
    int r = redact_stream_new(&s, redact, &opt);
    if (r < 0)
        return err_code(err, r, "cannot mask standard input");
    r = filter(s, err);
    redact_stream_free(s);
    return r;
}

/* -- the list of rules -- */

static void
json_rule(struct json *j, const struct redact_rule *rule)
{
    json_open(j, '{');
    json_key(j, "id"), json_str(j, rule->id);
    json_key(j, "about"), json_str(j, rule->about);
    json_key(j, "pattern"), json_str(j, rule->pattern);
    json_key(j, "own"), json_bool(j, rule->is_own);
    json_close(j, '}');
}

static int
print_rules(const struct redact *redact, bool is_json, struct err *err)
{
    AUTO(buf) out = { 0 };
    struct json j = { .out = &out };
    if (is_json)
        json_open(&j, '[');
    for (size_t i = 0; i < redact_rules(redact); i++) {
        struct redact_rule rule = redact_rule(redact, i);
        if (is_json)
            json_rule(&j, &rule);
        else
            buf_printf(&out, "%-36s %s%s\n", rule.id, rule.about,
                       rule.is_own ? " (own)" : "");
    }
    if (is_json)
        json_close(&j, ']'), buf_puts(&out, "\n");
    return out.failed ? err_code(err, out.failed, "cannot list the rules")
                      : put(&out, 0, err);
}

/* -- the command -- */

/* Of a session: is there one, and nothing that is for something else? */
static int
check_session(const struct args *args, int count, struct err *err)
{
    const char *option = args->rule ? "--rule" : "--text-file";
    if (args->rule && args->text_file)
        return err_set(err, ERR_USAGE, "give --rule or --text-file, not both");
    if (args->is_check || args->is_rules || args->is_terminal || args->cols)
        return err_set(err, ERR_USAGE,
                       "%s is for a session of the library: it does not "
                       "go with --check, --rules, --terminal or --cols",
                       option);
    if (count != 1)
        return err_set(err, ERR_USAGE,
                       "%s is for a session of the library: %s? see 'ahr redact -h'",
                       option, count ? "which one" : "which");
    return 0;
}

static int
check_usage(const struct args *args, int count, char **operands, struct err *err)
{
    if (args->rule || args->text_file)
        return check_session(args, count, err);
    if (args->is_check && args->is_rules)
        return err_set(err, ERR_USAGE, "--check and --rules do not go together");
    if (args->is_check && !count)
        return err_set(
            err, ERR_USAGE,
            "which file or folder? '-' is standard input; see 'ahr redact -h'");
    if (args->is_rules && count)
        return err_set(err, ERR_USAGE, "--rules takes no file: not '%s'", operands[0]);
    bool is_stdin = count == 1 && !strcmp(operands[0], "-");
    if (!args->is_check && count && !is_stdin)
        return err_set(err, ERR_USAGE,
                       "standard input is masked, not '%s'; to look into files say "
                       "--check, to mask one say < FILE, to mask a session of the "
                       "library say --rule or --text-file",
                       operands[0]);
    return 0;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = check_usage(&args, count, argv, err);
    if (r)
        return r;
    if (args.rule || args.text_file)
        return cli_redact_session(self,
                                  &(struct cli_redact_session){ argv[0], args.rule,
                                                                args.text_file, args.own,
                                                                args.is_json },
                                  err);
    struct redact *redact;
    r = redact_own_open(&redact, args.own, err);
    if (r < 0)
        return r;
    struct cli_check_options check = { args.is_json, args.is_terminal,
                                       (uint32_t)args.cols };
    if (args.is_rules)
        r = print_rules(redact, args.is_json, err);
    else if (args.is_check)
        r = cli_check(self, redact, &check, count, argv, err);
    else
        r = run_filter(redact, &args, err);
    redact_close(redact);
    return r;
}

static const struct cli_option options[] = {
    { "check", 0, CLI_FLAG, offsetof(struct args, is_check), NULL,
      "look for secrets in files and folders; '-': standard input", 0, 0 },
    { "rules", 0, CLI_FLAG, offsetof(struct args, is_rules), NULL,
      "list what is looked for", 0, 0 },
    { "terminal", 0, CLI_FLAG, offsetof(struct args, is_terminal), NULL,
      "the bytes of a terminal: keep length and layout", 0, 0 },
    { "cols", 0, CLI_NUMBER, offsetof(struct args, cols), "N",
      "columns of that terminal, where text wraps", 1, 65535 },
    { "own", 0, CLI_TEXT, offsetof(struct args, own), "FILE",
      "own rules (~/.config/ahr/redact)", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL,
      "print JSON, with --check, --rules and SESSION", 0, 0 },
    { "rule", 0, CLI_TEXT, offsetof(struct args, rule), "RULE",
      "mask in SESSION what this rule finds, for good", 0, 0 },
    { "text-file", 0, CLI_TEXT, offsetof(struct args, text_file), "FILE",
      "mask in SESSION the texts in FILE, one a line; '-': standard input", 0, 0 },
    { 0 },
};

const struct cli_command cli_redact = {
    "redact",
    "[--terminal] [--cols N] [--own FILE] [--json] [--rules | --check FILE|DIR|-… | "
    "SESSION --rule RULE | SESSION --text-file FILE]",
    "mask secrets in a byte stream or a session, or look for them in files",
    options,
    run,
    false,
};
