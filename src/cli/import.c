/* SPDX-License-Identifier: MIT */
/*
 * ahr import: a session from another program's recording, or sessions from what agents
 * keep of theirs (histories.c).
 *
 * What the file is shows by what it begins with, else by its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/histories.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "library/import.h"
#include "redact/own.h"
#include "session/home.h"

enum { DAMAGES_TOLD = 10 };

struct args {
    int format; /* 0: by what is in it */
    uint64_t cols, rows;
    const char *out_file, *name;
    int upkeep;
    bool has_input, is_json;
    /* of histories: */
    int agent;
    const char *since;
    bool is_dry_run;
};

struct input {
    const char *path; /* NULL: none */
    int fd;
    struct play_source source;
};

struct import {
    const struct cli_command *self;
    const struct args *args;
    struct buf timing_path; /* one that was found */
    struct input input[PLAY_IMPORT_SOURCES];
    uint64_t size_bytes, mtime_ns; /* of the recording's file */
    const struct play_import_format *format;
    struct play_import reader;
    struct library_import *made;
    struct cli_progress progress;
    struct err *err;
};

/* -- being stopped: nothing is left -- */

static volatile sig_atomic_t stopped_by;

static void
note_signal(int number)
{
    stopped_by = number;
}

static void
catch_signals(void)
{
    static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
    struct sigaction now,
        act = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        sigaction(numbers[i], NULL, &now);
        if (now.sa_handler != SIG_IGN) /* as under nohup */
            sigaction(numbers[i], &act, NULL);
    }
}

static bool
is_stopped(void *ctx)
{
    (void)ctx;
    return stopped_by != 0;
}

/* -- files -- */

static ssize_t
read_input(void *ctx, void *p, size_t n)
{
    struct input *in = ctx;
    return file_read(in->fd, p, n);
}

static int
open_input(struct input *in, const char *path, struct stat *ret, struct err *err)
{
    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    in->path = path;
    in->source = (struct play_source){ .read = read_input, .ctx = in };
    if (fstat(in->fd, ret) < 0)
        return err_sys(err, "cannot read '%s'", path);
    return S_ISDIR(ret->st_mode) ? err_code(err, -EISDIR, "cannot read '%s'", path) : 0;
}

static void
close_inputs(struct import *im)
{
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++) {
        play_source_release(&im->input[i].source);
        if (im->input[i].fd >= 0)
            close(im->input[i].fd);
    }
    buf_release(&im->timing_path);
}

static bool
ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n >= m && !strcmp(text + n - m, with);
}

/* X.timing or X.tm beside X, or beside X.something; false: there is none. */
static bool
find_timing(struct import *im, const char *path)
{
    static const char *const suffixes[] = { ".timing", ".tm" };
    const char *dot = strrchr(file_name(path), '.');
    size_t stem[] = { strlen(path), dot ? (size_t)(dot - path) : 0 };
    for (size_t i = 0; i < 2 && stem[i]; i++)
        for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
            buf_clear(&im->timing_path);
            buf_append(&im->timing_path, path, stem[i]);
            buf_puts(&im->timing_path, suffixes[k]);
            const char *found = buf_str(&im->timing_path);
            if (strcmp(found, path) != 0 && access(found, F_OK) == 0)
                return true;
        }
    return false;
}

/* -- which format -- */

static const char *
packed_by(struct view v)
{
    static const struct {
        const char *magic, *program;
    } known[] = { { "\x1f\x8b", "gzip" },
                  { "BZh", "bzip2" },
                  { "\xfd"
                    "7zXZ",
                    "xz" },
                  { "\x28\xb5\x2f\xfd", "zstd" } };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (v.n >= strlen(known[i].magic) &&
            !memcmp(v.p, known[i].magic, strlen(known[i].magic)))
            return known[i].program;
    return NULL;
}

static const struct play_import_format *
guess_by_name(const char *path)
{
    static const struct {
        const char *suffix;
        const struct play_import_format *format;
    } known[] = { { ".cast", &play_import_cast },
                  { ".ttyrec", &play_import_ttyrec },
                  { ".tty", &play_import_ttyrec } };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (ends(path, known[i].suffix))
            return known[i].format;
    return NULL;
}

/* In the order of the option's words, behind "auto". */
static const struct play_import_format *const by_option[] = { NULL, &play_import_cast,
                                                              &play_import_script,
                                                              &play_import_ttyrec };

static struct view
beginning(struct input *in)
{
    struct view v = play_source_peek(&in->source, PLAY_IMPORT_BEGINNING);
    if (v.n > PLAY_IMPORT_BEGINNING)
        v.n = PLAY_IMPORT_BEGINNING;
    return v;
}

/* scriptreplay takes the times first. */
static bool
is_other_way_round(struct import *im, struct view first)
{
    return !play_import_script.fits(first) &&
           play_import_script.fits(beginning(&im->input[PLAY_IMPORT_TIMING]));
}

static int
choose_format(struct import *im, int count, const char *path, struct err *err)
{
    struct view v = beginning(&im->input[PLAY_IMPORT_FILE]);
    int failed = im->input[PLAY_IMPORT_FILE].source.error;
    if (failed)
        return err_code(err, failed, "cannot read '%s'", path);
    if (!v.n)
        return err_set(err, ERR_DAMAGED, "'%s' is empty", path);
    im->format = by_option[im->args->format];
    if (!im->format && packed_by(v))
        return err_set(err, ERR_DAMAGED, "'%s' is packed by %s: unpack it first", path,
                       packed_by(v));
    if (count > 1 && cli_histories_is(im->input[PLAY_IMPORT_TIMING].path))
        return err_set(err, ERR_USAGE,
                       "'%s' is an agent's history: give it apart from '%s'",
                       im->input[PLAY_IMPORT_TIMING].path, path);
    if (!im->format && count > 1 && is_other_way_round(im, v))
        return err_set(err, ERR_USAGE, "'%s' is the typescript: give it first, then '%s'",
                       im->input[PLAY_IMPORT_TIMING].path, path);
    if (!im->format)
        im->format = play_import_guess(v);
    if (!im->format)
        im->format = count > 1 ? &play_import_script : guess_by_name(path);
    if (!im->format && find_timing(im, path))
        im->format = &play_import_script;
    if (!im->format)
        return err_set(err, ERR_DAMAGED,
                       "'%s' is no asciicast, typescript or ttyrec file, nor an agent's "
                       "history; if it should be one, say which with --format or --agent",
                       path);
    if (count > 1 && !im->format->has_timing)
        return err_set(err, ERR_USAGE, "'%s' is %s, which has no other file: not '%s'",
                       path, im->format->what, im->input[PLAY_IMPORT_TIMING].path);
    return 0;
}

static int
need_timing(struct import *im, const char *path, struct err *err)
{
    struct stat st;
    struct input *in = &im->input[PLAY_IMPORT_TIMING];
    if (!im->format->has_timing || in->path)
        return 0;
    if (!find_timing(im, path))
        return err_set(err, ERR_USAGE,
                       "'%s' is a typescript: its times are in another file, give that, "
                       "too",
                       path);
    return open_input(in, buf_str(&im->timing_path), &st, err);
}

static int
open_all(struct import *im, int count, char **paths, struct err *err)
{
    struct stat st = { 0 };
    for (size_t i = 0; i < (size_t)count; i++) {
        int r = open_input(&im->input[i], paths[i], &st, err);
        if (r < 0)
            return r;
        if (i)
            continue;
        im->size_bytes = (uint64_t)st.st_size;
        im->mtime_ns = st.st_mtim.tv_sec > 0 ? (uint64_t)st.st_mtim.tv_sec * 1000000000
                                             : 1;
    }
    int r = choose_format(im, count, paths[0], err);
    return r < 0 ? r : need_timing(im, paths[0], err);
}

/* -- reading -- */

static int
take_head(void *ctx, const struct play_import_head *head)
{
    struct import *im = ctx;
    return library_import_head(im->made, head, im->err);
}

static int
take_record(void *ctx, const struct play_import_record *rec)
{
    struct import *im = ctx;
    if (stopped_by)
        return err_set(im->err, -EINTR, "stopped; nothing was imported");
    cli_progress_step(&im->progress, im->input[PLAY_IMPORT_FILE].source.offset,
                      im->size_bytes);
    return library_import_record(im->made, rec, im->err);
}

static void
say_damage(void *ctx, int source, uint64_t offset, const char *text)
{
    struct import *im = ctx;
    if (im->reader.damages <= DAMAGES_TOLD)
        cli_say(im->self, "'%s': at byte %" PRIu64 ": %s", im->input[source].path, offset,
                text);
    else if (im->reader.damages == DAMAGES_TOLD + 1)
        cli_say(im->self, "'%s': and more; only the first are told",
                im->input[source].path);
}

/* 0, 1 when something was lost, or an error after which nothing is made. */
static int
read_all(struct import *im, struct err *err)
{
    struct play_import *reader = &im->reader;
    *reader = (struct play_import){
        .head = take_head, .record = take_record, .damage = say_damage, .ctx = im
    };
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++)
        reader->source[i] = im->input[i].path ? &im->input[i].source : NULL;
    const char *path = im->input[PLAY_IMPORT_FILE].path;
    *err = (struct err){ 0 };
    cli_progress_begin(&im->progress, im->self, path);
    int r = play_import_read(im->format, reader);
    cli_progress_end(&im->progress);
    if (r < 0 && err->code)
        return r;
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s' is not %s, or nothing in it can be read", path,
                       im->format->what);
    if (r < 0 && !reader->records)
        return err_code(err, r, "cannot read '%s'", path);
    if (r < 0)
        cli_say(im->self, "cannot read '%s' to its end: %s; what came before it is kept",
                path, strerror(-r));
    return r < 0 || reader->damages;
}

/* -- what came of it -- */

static void
say_rest(const struct import *im, const struct library_imported *done)
{
    if (im->reader.left_out)
        cli_say(im->self, "%" PRIu64 " events have no meaning here and were passed over",
                im->reader.left_out);
    if (done->inputs_left_out)
        cli_say(im->self,
                "what was typed was left out (it may hold passwords); --input keeps it");
    if (im->reader.damages)
        cli_say(im->self, "'%s' is damaged in %" PRIu64 " place%s; the rest was imported",
                im->input[PLAY_IMPORT_FILE].path, im->reader.damages,
                im->reader.damages == 1 ? "" : "s");
}

static void
put_json(const struct import *im, struct library_imported *done, struct buf *out)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "id"), json_str(j, done->id);
    json_key(j, "path"), json_str(j, buf_str(&done->path));
    json_key(j, "format"), json_str(j, im->format->name);
    json_key(j, "started_at_ns"), json_u64_str(j, done->started_at_ns);
    json_key(j, "duration_ms"), json_u64(j, done->duration_ns / 1000000);
    json_key(j, "bytes"), json_u64(j, done->bytes);
    json_key(j, "cols"), json_u64(j, done->cols);
    json_key(j, "rows"), json_u64(j, done->rows);
    json_key(j, "snapshots"), json_u64(j, done->snapshots);
    json_key(j, "left_out"), json_u64(j, im->reader.left_out + done->inputs_left_out);
    json_key(j, "damages"), json_u64(j, im->reader.damages);
    json_close(j, '}');
}

static int
print(const struct import *im, struct library_imported *done, struct err *err)
{
    AUTO(buf) out = { 0 };
    if (im->args->is_json)
        put_json(im, done, &out);
    else
        buf_puts(&out, im->args->out_file ? buf_str(&done->path) : done->id);
    buf_puts(&out, "\n");
    int r = out.failed ? out.failed : file_write_all(STDOUT_FILENO, out.p, out.n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

static void
index_later(const struct args *args, const char *id)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    if (session_home(&home, NULL) >= 0)
        cli_index_later(args->upkeep, buf_str(&home), id);
}

static int
import(struct import *im, struct redact *redact, struct err *err)
{
    const struct args *args = im->args;
    AUTO(library_imported) done = { 0 };
    struct library_import_options opt = {
        .source = file_name(im->input[PLAY_IMPORT_FILE].path),
        .name = args->name,
        .out_file = args->out_file,
        .cols = (unsigned)args->cols,
        .rows = (unsigned)args->rows,
        .start_ns = im->mtime_ns,
        .has_input = args->has_input,
        .redact = redact,
    };
    int r = library_import_new(&im->made, &opt);
    if (r < 0)
        return err_code(err, r, "cannot import");
    int lost = read_all(im, err);
    if (lost < 0) {
        library_import_discard(im->made);
        return stopped_by ? 128 + stopped_by : lost;
    }
    r = library_import_finish(im->made, im->reader.end_ns, &done, err);
    if (r < 0)
        return r;
    if (!args->out_file)
        index_later(args, done.id);
    say_rest(im, &done);
    r = print(im, &done, err);
    return r < 0 ? r : lost ? CLI_DAMAGED : CLI_DONE;
}

static int
check_usage(const struct args *args, int count, struct err *err)
{
    if (count < 1 || count > PLAY_IMPORT_SOURCES)
        return err_set(err, ERR_USAGE, "give one recording; see 'ahr import -h'");
    int r = cli_check_name(args->name, err);
    if (r < 0)
        return r;
    if (args->out_file && (!*file_name(args->out_file) || !strcmp(args->out_file, "-")))
        return err_set(err, ERR_USAGE, "--out-file: '%s' is no name of a file",
                       args->out_file);
    return 0;
}

/* Recordings are given one at a time, with options of their own. 1: these are histories.
 */
static int
is_for_histories(const struct args *args, int count, char **paths, struct err *err)
{
    bool is_recording = args->format || args->out_file || args->name || args->cols ||
                        args->rows || args->has_input;
    bool is_histories = args->agent || args->since || args->is_dry_run;
    if (is_recording && is_histories)
        return err_set(err, ERR_USAGE,
                       "--agent, --since and --dry-run are of agents' histories, the "
                       "other options of a recording: give one kind");
    bool is_history = !args->format && count && cli_histories_is(paths[0]);
    if (is_recording && is_history)
        return err_set(err, ERR_USAGE,
                       "--name, --out-file, --cols, --rows and --input are of recordings "
                       "of a terminal, which '%s' is not",
                       paths[0]);
    return is_histories || is_history || (!is_recording && !count);
}

static int
import_histories(const struct cli_command *self, const struct args *args, int count,
                 char **paths, struct err *err)
{
    const struct cli_histories opt = {
        .self = self,
        .agent = args->agent,
        .since = args->since,
        .upkeep = args->upkeep,
        .is_dry_run = args->is_dry_run,
        .is_json = args->is_json,
        .is_stopped = is_stopped,
    };
    catch_signals();
    int r = cli_histories(&opt, count, paths, err);
    if (r >= 0 || !stopped_by)
        return r;
    cli_say(self, "stopped; what is imported stays, and the next import goes on");
    return 128 + stopped_by;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = is_for_histories(&args, count, argv, err);
    if (r > 0)
        return import_histories(self, &args, count, argv, err);
    if (!r)
        r = check_usage(&args, count, err);
    if (r)
        return r;
    struct import im = { .self = self, .args = &args, .err = err };
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++)
        im.input[i].fd = -1;
    struct redact *redact = NULL;
    r = open_all(&im, count, argv, err);
    if (!r)
        r = redact_own_open(&redact, NULL, err);
    if (!r) {
        catch_signals();
        r = import(&im, redact, err);
    }
    if (redact)
        redact_close(redact);
    close_inputs(&im);
    return r;
}

static const struct cli_option options[] = {
    { "agent", 0, CLI_CHOICE, offsetof(struct args, agent),
      "auto|claude|codex|gemini|entire", "whose histories (auto: whatever they are)", 0,
      0 },
    { "since", 0, CLI_TEXT, offsetof(struct args, since), "T",
      "histories that have changed since then: an ISO time, or 7d, 12h", 0, 0 },
    { "dry-run", 0, CLI_FLAG, offsetof(struct args, is_dry_run), NULL,
      "say what would be imported, and change nothing", 0, 0 },
    { "format", 0, CLI_CHOICE, offsetof(struct args, format), "auto|cast|script|ttyrec",
      "what the file is (auto: by what is in it, and its name)", 0, 0 },
    { "out-file", 0, CLI_TEXT, offsetof(struct args, out_file), "FILE.ahr",
      "make this file, and nothing in the library", 0, 0 },
    { "name", 0, CLI_TEXT, offsetof(struct args, name), "NAME", "call the session so", 0,
      0 },
    { "cols", 0, CLI_NUMBER, offsetof(struct args, cols), "N",
      "terminal columns (as the file says, else 80)", 1, PLAY_IMPORT_SIZE_MAX },
    { "rows", 0, CLI_NUMBER, offsetof(struct args, rows), "N",
      "terminal rows (as the file says, else 24)", 1, PLAY_IMPORT_SIZE_MAX },
    { "input", 0, CLI_FLAG, offsetof(struct args, has_input), NULL,
      "keep what was typed, too: it may hold passwords", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "index the session afterwards, in the background"),
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print facts as JSON", 0,
      0 },
    { 0 },
};

const struct cli_command cli_import = {
    "import",
    "[PATH…] [--agent auto|claude|codex|gemini|entire] [--since T] [--dry-run] "
    "[--format auto|cast|script|ttyrec] [--out-file FILE.ahr] [--name NAME] [--cols N] "
    "[--rows N] [--input] [--upkeep auto|off] [--json]",
    "make sessions of what agents keep, or of a recording of a terminal",
    options,
    run,
    false,
};
