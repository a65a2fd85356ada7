/* SPDX-License-Identifier: MIT */
/*
 * ahr replay: a session again, as time passes or at once.
 *
 * What the options ask for decides which of the replay_….c does it; of those that exclude
 * each other only one may be given.
 */
#include "cli/replay.h"

#include <errno.h>
#include <unistd.h>

#include "cli/document.h"
#include "cli/option.h"
#include "cli/output.h"
#include "session/folder.h"
#include "session/meta.h"

struct args {
    const char *session, *speed, *idle_limit, *from, *to;
    bool is_fast, is_raw, is_meta, is_json, is_paused, has_no_colours;
    int format, order; /* format -1: none */
};

/* -- options -- */

static int
check_combination(const struct args *a, struct err *err)
{
    bool has_format = a->format >= 0;
    const struct {
        bool is_so;
        const char *why;
    } wrong[] = {
        { a->is_json && !a->is_meta,
          "--json is for --print-meta; --format json gives the lines as JSON" },
        { a->is_meta && (a->is_fast || a->is_raw || has_format),
          "--print-meta shows no lines: give it without --fast, --raw and --format" },
        { a->is_meta && (a->from || a->to),
          "--print-meta is about the whole session: give it without --from and --to" },
        { a->is_raw && has_format,
          "--raw gives the recorded bytes and --format a document: choose one" },
        { has_format && a->from,
          "--from is not for --format: a document begins with the session" },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (wrong[i].is_so)
            return err_set(err, ERR_USAGE, "%s", wrong[i].why);
    return 0;
}

/* Puts the option's name before what is wrong with its value. */
static int
blame(const char *option, int code, struct err *err)
{
    char text[sizeof(err->text)];
    snprintf(text, sizeof(text), "%s", err->text);
    return err_set(err, code, "%s: %.480s", option, text);
}

static int
read_moments(struct cli_replay *r, const struct args *a, struct err *err)
{
    int e = 0;
    r->has_from = a->from;
    r->has_to = a->to;
    if (a->from && (e = play_moment_parse(a->from, &r->from, err)) < 0)
        return blame("--from", e, err);
    if (a->to && (e = play_moment_parse(a->to, &r->to, err)) < 0)
        return blame("--to", e, err);
    if (a->to && r->to.is_byte && !r->to.value)
        return err_set(err, ERR_USAGE, "--to: nothing lies before byte 0");
    if (a->from && a->to && r->from.is_byte == r->to.is_byte &&
        r->from.value > r->to.value)
        return err_set(err, ERR_USAGE, "--from lies behind --to");
    return 0;
}

static int
read_pace(struct cli_replay *r, const struct args *a, struct err *err)
{
    struct play_clock *c = &r->pace.clock;
    int e = 0;
    c->speed = PLAY_SPEED_ONE;
    r->pace.is_off = a->is_fast;
    if (a->speed && (e = play_factor_parse(a->speed, PLAY_SPEED_MIN, PLAY_SPEED_MAX,
                                           &c->speed, err)) < 0)
        return blame("--speed", e, err);
    if (a->idle_limit && (e = play_time_parse(a->idle_limit, &c->idle_limit_ns, err)) < 0)
        return blame("--idle-limit", e, err);
    return 0;
}

static bool
has_colours(const struct args *a)
{
    return !a->has_no_colours && cli_output_has_colours();
}

/* -- what the ways have in common -- */

int
cli_replay_nothing(const struct cli_replay *r)
{
    cli_say(r->self, "'%s' holds no record: is it an .ahr recording?", r->name);
    return CLI_DAMAGED;
}

int
cli_replay_limit(struct cli_replay *r, uint64_t *ret_byte, uint64_t *ret_ns,
                 struct err *err)
{
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *tape;
    struct tape_record rec;
    *ret_byte = r->has_to && r->to.is_byte ? r->to.value : 0;
    *ret_ns = 0;
    if (!r->has_to || r->to.is_byte)
        return 0;
    const char *path = buf_str(&r->found.tape_path);
    int e = tape_reader_open(&tape, tape_io_files(), path, &quiet, err);
    if (e < 0)
        return e;
    uint64_t first = tape_reader_next(tape, &rec) ? rec.ts_ns : 0;
    *ret_ns = r->to.value < UINT64_MAX - first ? first + r->to.value : UINT64_MAX;
    *ret_ns += !*ret_ns;
    tape_reader_close(tape);
    return 0;
}

/* Where the recording does not say how large its terminal was. */
static void
read_size(struct cli_replay *r)
{
    AUTO(buf) path = { 0 };
    struct session_facts facts;
    if (session_sibling_path(buf_str(&r->found.tape_path), SESSION_META, &path) < 0 ||
        session_meta_read(buf_str(&path), &facts, NULL) < 0)
        return;
    r->cols = facts.cols;
    r->rows = facts.rows;
}

/* -- the ways -- */

static int
document(struct cli_replay *r, const struct args *a, struct err *err)
{
    struct cli_document doc = {
        .session = r->name,
        .format = cli_document_format(a->format),
        .order = a->order ? PLAY_POSITION : PLAY_VISUAL,
        .has_instructions = true,
    };
    int e = cli_replay_limit(r, &doc.to_byte, &doc.to_ns, err);
    return e < 0 ? e : cli_document(r->self, &doc, err);
}

static int
replay(struct cli_replay *r, const struct args *a, struct err *err)
{
    bool is_document = a->format >= 0; /* which looks it up again */
    int e = cli_find(is_document ? NULL : r->self, &r->found, r->name, err);
    if (e < 0)
        return e;
    read_size(r);
    if (a->is_meta)
        return cli_replay_meta(r, err);
    if (is_document)
        return document(r, a, err);
    if (cli_say_history(r->self, &r->found))
        return CLI_FAILED;
    if (a->is_raw)
        return cli_replay_raw(r, err);
    if (a->is_fast)
        return cli_replay_fast(r, err);
    return isatty(STDOUT_FILENO) ? cli_replay_screen(r, err) : cli_replay_text(r, err);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .format = -1 };
    struct cli_replay r = { .self = self };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (!e)
        e = cli_session_choice(self, args.session, count, argv, &r.name, err);
    if (!e)
        e = check_combination(&args, err);
    if (!e)
        e = read_moments(&r, &args, err);
    if (!e)
        e = read_pace(&r, &args, err);
    if (e)
        return e;
    r.name = r.name ? r.name : "last";
    r.is_json = args.is_json;
    r.is_paused = args.is_paused;
    r.has_colours = has_colours(&args);
    e = replay(&r, &args, err);
    if (e == ERR_MISSING && r.found.is_live) {
        /* It has ended, and moved, since it was found. */
        library_found_release(&r.found);
        r.found = (struct library_found){ 0 };
        e = replay(&r, &args, err);
    }
    library_found_release(&r.found);
    return e;
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the session, as the operand is (last)", 0, 0 },
    { "fast", 0, CLI_FLAG, offsetof(struct args, is_fast), NULL,
      "all at once: the final state of all lines", 0, 0 },
    { "no-colors", 0, CLI_FLAG, offsetof(struct args, has_no_colours), NULL,
      "without colours, and other looks with --fast", 0, 0 },
    { "print-meta", 0, CLI_FLAG, offsetof(struct args, is_meta), NULL,
      "what is known of the session, in facts and figures", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "… as JSON", 0, 0 },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), CLI_DOCUMENT_FORMATS,
      "what 'ahr export' makes of it", 0, 0 },
    { "order", 0, CLI_CHOICE, offsetof(struct args, order), "visual|position",
      "of a format: as on the screen, or all by position (visual)", 0, 0 },
    { "speed", 0, CLI_TEXT, offsetof(struct args, speed), "X",
      "so many times as fast, from 0.01 to 1000 (1)", 0, 0 },
    { "idle-limit", 0, CLI_TEXT, offsetof(struct args, idle_limit), "S",
      "wait no longer than these seconds where nothing happens (0: as long as it took)",
      0, 0 },
    { "from", 0, CLI_TEXT, offsetof(struct args, from), "T",
      "begin there: seconds, m:ss, h:mm:ss or @BYTE", 0, 0 },
    { "to", 0, CLI_TEXT, offsetof(struct args, to), "T", "end there", 0, 0 },
    { "paused", 0, CLI_FLAG, offsetof(struct args, is_paused), NULL,
      "on a terminal: begin with a pause; the space bar plays", 0, 0 },
    { "raw", 0, CLI_FLAG, offsetof(struct args, is_raw), NULL,
      "the recorded bytes as they are, to a terminal, too", 0, 0 },
    { 0 },
};

const struct cli_command cli_replay = {
    "replay",
    "[--session SESSION] [SESSION] [--fast] [--no-colors] [--print-meta] [--json] "
    "[--format " CLI_DOCUMENT_FORMATS
    "] [--order visual|position] [--speed X] [--idle-limit S] "
    "[--from T] [--to T] [--paused] [--raw]",
    "play a session again, or show what came of it",
    options,
    run,
    false,
};
