/* SPDX-License-Identifier: MIT */
/* again_start.c -- the new session: what it is called, where it runs, its messages. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/again.h"
#include "cli/again_type.h"
#include "cli/recall.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/run.h"
#include "journal/project.h"
#include "library/kin.h"
#include "library/left.h"
#include "play/clean.h"
#include "pty/child.h"
#include "session/hold.h"

enum {
    NUMBER_MAX = 9999, /* behind a name */
    OPTIONS_MAX = 24,
    HOLD_MS = 10000, /* the other one may be on its way into the index */
};

struct starting {
    struct cli_again *a;
    struct buf name; /* empty: by its role, or none */
    struct cli_verify *verify;
    struct run_script script;
    int hold_fd; /* of the other session, until the new one is there; -1: none */
};

static void
starting_release(struct starting *s)
{
    buf_release(&s->name);
    cli_verify_free(s->verify);
    if (s->hold_fd >= 0)
        close(s->hold_fd);
}

/* -- what it is called -- */

/* DEV-001 of a DEVELOPER, RUN-003: the next number of the project is given. */
static bool
is_by_role(const struct cli_again *a)
{
    AUTO(buf) prefix = { 0 };
    const char *name = a->told.name;
    journal_role_prefix(a->told.role, &prefix);
    return name && prefix.n && !strncmp(name, buf_str(&prefix), prefix.n) &&
           name[prefix.n] == '-' &&
           strspn(name + prefix.n + 1, "0123456789") == strlen(name + prefix.n + 1);
}

/* By any session, or, as a run has its name from its project, there; dir NULL: here. Two
 * that are forked from one are told apart wherever they run. */
static bool
is_taken(const struct cli_again *a, const char *dir, const char *name)
{
    static const char *const bases[] = { ".ahr", ".claude-man" };
    AUTO(library_found) found = { 0 };
    struct err ignored;
    struct stat st;
    bool is_there = library_find(&found, name, &ignored) != ERR_MISSING;
    for (size_t i = 0; a->is_run && !is_there && i < sizeof(bases) / sizeof(bases[0]);
         i++) {
        AUTO(buf) path = { .ceiling = PATH_MAX };
        buf_printf(&path, "%s/%s/sessions/%s", dir ? dir : ".", bases[i], name);
        is_there = path.failed || lstat(buf_str(&path), &st) == 0;
    }
    return is_there;
}

/* mend-login, mend-login-2, mend-login-3. */
static int
find_name(struct starting *s, const char *dir, struct err *err)
{
    const struct cli_again *a = s->a;
    const char *name = a->told.name ? a->told.name : "", *dash = strrchr(name, '-');
    bool has_number = dash && dash > name && dash[1] &&
                      strspn(dash + 1, "0123456789") == strlen(dash + 1);
    int base = (int)(has_number ? (size_t)(dash - name) : strlen(name));
    if (a->args->name) {
        if (!strcmp(a->args->name, name))
            return err_set(err, ERR_USAGE,
                           "--name '%s' is what the other session is called; that "
                           "stays as it is, so that this one needs another name",
                           name);
        return buf_puts(&s->name, a->args->name);
    }
    const char *given = a->given ? a->given->name : NULL;
    if (given && strcmp(given, name) != 0 && !is_taken(a, dir, given))
        return buf_puts(&s->name, given);
    if (!*name || is_by_role(a))
        return 0;
    for (unsigned n = 2; n <= NUMBER_MAX; n++) {
        buf_clear(&s->name);
        buf_printf(&s->name, "%.*s-%u", base, name, n);
        if (!session_name_is(buf_str(&s->name)))
            break;
        if (!is_taken(a, dir, buf_str(&s->name)))
            return 0;
    }
    buf_clear(&s->name);
    return 0;
}

/* -- where it runs -- */

static int
find_folder(const struct cli_again *a, const char **ret, struct err *err)
{
    const char *dir = a->args->dir ? a->args->dir : a->told.cwd;
    struct stat st;
    *ret = dir;
    if (!dir || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    if (a->args->dir)
        return err_set(err, ERR_MISSING, "--dir: '%.300s' is no folder", dir);
    return err_set(err, ERR_MISSING,
                   "'%.300s', in which session %s ran, is no folder any more; --dir says "
                   "where to go on",
                   dir, a->told.name ? a->told.name : a->found.id);
}

static bool
has_parent(const struct cli_again *a)
{
    AUTO(library_found) found = { 0 };
    struct err ignored;
    return a->told.parent && library_find_by_files(&found, a->told.parent, &ignored) == 0;
}

/* What run and record are told alike; how many words. */
static size_t
put_options(struct starting *s, const char **ret)
{
    const struct cli_again *a = s->a;
    size_t n = 0;
    if (s->name.n)
        ret[n++] = "--name", ret[n++] = buf_str(&s->name);
    if (a->told.role)
        ret[n++] = "--role", ret[n++] = a->told.role;
    if (a->told.task)
        ret[n++] = "--task", ret[n++] = a->told.task;
    if (a->is_fork && *a->found.id)
        ret[n++] = "--parent", ret[n++] = a->found.id;
    else if (has_parent(a))
        ret[n++] = "--parent", ret[n++] = a->told.parent;
    if (a->args->is_quiet)
        ret[n++] = "--quiet";
    return n;
}

/* What was given, but for the "--" behind it, our options over it, "--", and the command.
 * NULL: no memory. */
static char **
make_argv(const struct cli_again *a, const struct cli_command *of, const char **options,
          size_t n, int *ret_count)
{
    const struct cli_again_given *g = a->given;
    size_t count = cli_recall_count(a->argv),
           before = g && g->command == of ? g->count : 0;
    before -= before && !strcmp(g->words[before - 1], "--");
    char **argv = calloc(before + n + count + 2, sizeof(*argv));
    if (!argv)
        return NULL;
    options[n++] = "--";
    if (before)
        memcpy(argv, g->words, before * sizeof(*argv));
    memcpy(argv + before, options, n * sizeof(*argv)); /* no word is changed */
    memcpy(argv + before + n, a->argv, count * sizeof(*argv));
    *ret_count = (int)(before + n + count);
    return argv;
}

/* -- one at a time -- */

static int
hold(struct starting *s, struct err *err)
{
    struct cli_again *a = s->a;
    char by[SESSION_ID_LEN + 1];
    const char *id = a->found.id, *home = buf_str(&a->home);
    if (!*id || a->is_fork)
        return 0;
    s->hold_fd = session_hold(home, id, HOLD_MS, err);
    if (s->hold_fd < 0)
        return s->hold_fd;
    if (library_is_resumed(home, id, by))
        return err_set(err, ERR_BUSY, "session %s goes on already, as %s",
                       buf_str(&a->called), by);
    return 0;
}

static void
opened(void *ctx, const char *id)
{
    struct starting *s = ctx;
    (void)id;
    if (!s->a->is_fork)
        library_left_settle(buf_str(&s->a->home), s->a->found.id);
    if (s->hold_fd >= 0)
        close(s->hold_fd);
    s->hold_fd = -1;
}

static void
started(void *ctx, const char *id)
{
    struct starting *s = ctx;
    struct cli_again *a = s->a;
    opened(ctx, id);
    if (a->how == CLI_HOW_TYPED &&
        cli_again_type_start(buf_str(&a->home), id, buf_str(&a->found.tape_path)) < 0)
        cli_say(a->self, "what was typed could not be typed once more");
}

/* -- a run -- */

static void
over(void *ctx)
{
    const struct cli_again *a = ((struct starting *)ctx)->a;
    if (!a->args->is_quiet && isatty(STDIN_FILENO))
        cli_say(a->self, "that was the recording; what you type now goes to the command");
}

static bool
hear(void *ctx, enum turn_type type, struct view content)
{
    struct starting *s = ctx;
    return !s->verify || cli_verify_hear(s->verify, type, content);
}

static int
ended(void *ctx, const struct run_result *done)
{
    struct starting *s = ctx;
    struct cli_again *a = s->a;
    AUTO(buf) text = { 0 };
    if (done->sent < s->script.count) {
        cli_count(&text, s->script.count - done->sent, "message");
        cli_say(a->self, "%s of %s could not be sent: the command has ended",
                buf_str(&text), buf_str(&a->called));
    }
    if (!a->args->is_verified)
        return done->exit_status;
    uint64_t differences = cli_verify_tell(s->verify);
    return done->exit_status ? done->exit_status : differences ? CLI_FAILED : CLI_DONE;
}

static int
run(struct starting *s, const char *dir, struct err *err)
{
    struct cli_again *a = s->a;
    const char *options[OPTIONS_MAX];
    size_t n = put_options(s, options);
    int count;
    s->verify = a->how == CLI_HOW_REPLAY ? cli_verify_new(a) : NULL;
    s->script = (struct run_script){
        .said = (const void *)a->said.p,
        .count = a->said.n / sizeof(struct run_said),
        .heard = a->heard,
        .quiet_ms = (unsigned)a->args->quiet_ms,
        .hear = hear,
        .over = over,
        .ctx = s,
    };
    const struct cli_run_more more = {
        .lineage = &a->lineage,
        .script = s->script.count || a->args->is_verified ? &s->script : NULL,
        .other_name = a->told.name,
        .opened = opened,
        .ended = ended,
        .ctx = s,
    };
    if (dir)
        options[n++] = "--dir", options[n++] = dir;
    char **argv = make_argv(a, &cli_run, options, n, &count);
    if (!argv)
        return err_code(err, -ENOMEM, "cannot %s", a->self->name);
    int r = cli_run_with(&more, count, argv, err);
    free(argv);
    return r;
}

/* -- a terminal -- */

static int
record(struct starting *s, const char *dir, struct err *err)
{
    struct cli_again *a = s->a;
    const char *options[OPTIONS_MAX];
    size_t n = put_options(s, options);
    int count;
    const struct cli_record_more more = { .lineage = &a->lineage,
                                          .started = started,
                                          .ctx = s };
    if (getenv("AHR_HOME")) /* it may be a relative one */
        setenv("AHR_HOME", buf_str(&a->home), 1);
    if (dir && chdir(dir) < 0)
        return err_sys(err, "cannot enter '%.300s'", dir);
    if (dir)
        setenv("PWD", dir, 1);
    if (a->how == CLI_HOW_TYPED) /* so that it can go on so again */
        options[n++] = "--input";
    char **argv = make_argv(a, &cli_record, options, n, &count);
    if (!argv)
        return err_code(err, -ENOMEM, "cannot %s", a->self->name);
    int r = cli_record_with(&more, count, argv, err);
    free(argv);
    return r;
}

/* -- both -- */

static void
tell(struct cli_again *a)
{
    AUTO(buf) how = { 0 };
    bool is_masked = a->how == CLI_HOW_REPLAY  ? a->messages.is_masked
                     : a->how == CLI_HOW_TYPED ? a->is_typed_masked
                                               : false;
    if (is_masked)
        cli_say(a->self,
                "secrets in what session %s was sent were masked when it was recorded: "
                "the masks are sent, not the secrets",
                buf_str(&a->called));
    if (a->args->is_quiet)
        return;
    cli_again_tell_how(a, &how);
    cli_say(a->self, "session %s goes on %s", buf_str(&a->called), buf_str(&how));
}

int
cli_again_check(struct cli_again *a, struct err *err)
{
    AUTO(starting) s = { .a = a, .hold_fd = -1 };
    const char *dir;
    int r = find_folder(a, &dir, err);
    if (!r)
        r = find_name(&s, dir, err);
    if (r < 0)
        return r;
    r = pty_command_check(a->argv[0], err);
    if (r > 0)
        cli_say(a->self, "%s", err->text);
    return r;
}

int
cli_again_start(struct cli_again *a, struct err *err)
{
    AUTO(starting) s = { .a = a, .hold_fd = -1 };
    const char *dir;
    a->lineage = (struct session_lineage){
        .resumed_from = a->is_fork     ? NULL
                        : *a->found.id ? a->found.id
                                       : buf_str(&a->called),
        .fork_turn = a->is_fork ? a->turns == UINT64_MAX ? a->messages.sent : a->turns
                                : UINT64_MAX,
    };
    int r = find_folder(a, &dir, err);
    if (!r)
        r = find_name(&s, dir, err);
    if (!r && a->is_run)
        r = cli_again_script(a, err);
    if (!r)
        r = hold(&s, err);
    if (r < 0)
        return r;
    tell(a);
    return a->is_run ? run(&s, dir, err) : record(&s, dir, err);
}

/* -- what would be done -- */

static const char *
word_of(enum cli_how how)
{
    static const char *const words[] = {
        [CLI_HOW_BEST] = "",           [CLI_HOW_NATIVE] = "native",
        [CLI_HOW_REPLAY] = "replay",   [CLI_HOW_TYPED] = "typed",
        [CLI_HOW_CONTEXT] = "context",
    };
    return words[how];
}

/* What would be sent or typed, each by itself. */
static void
each_message(struct cli_again *a, void (*fn)(void *ctx, struct view text), void *ctx)
{
    const struct run_said *said = (const void *)a->said.p;
    struct view typed = { a->typed.p, a->how == CLI_HOW_TYPED ? a->typed.n : 0 };
    for (size_t i = 0; i < a->said.n / sizeof(*said); i++)
        fn(ctx, said[i].text);
    while (typed.n) {
        struct view line = cli_again_type_line(&typed);
        uint8_t last = line.p[line.n - 1];
        line.n -= last == '\r' || last == '\n';
        fn(ctx, line);
    }
}

static void
put_json_message(void *ctx, struct view text)
{
    json_bytes(ctx, text);
}

static void
put_json(struct cli_again *a, const char *dir, struct buf *out)
{
    struct json j = { .out = out };
    json_open(&j, '{');
    json_key(&j, "session");
    json_str(&j, *a->found.id ? a->found.id : buf_str(&a->called));
    json_key(&j, "how"), json_str(&j, word_of(a->how));
    json_key(&j, "cwd"), json_str_or_none(&j, dir);
    json_key(&j, "cmd"), json_open(&j, '[');
    for (char **word = a->argv; *word; word++)
        json_str(&j, *word);
    json_close(&j, ']');
    json_key(&j, "masked"), json_bool(&j, a->messages.is_masked || a->is_typed_masked);
    json_key(&j, "messages"), json_open(&j, '[');
    each_message(a, put_json_message, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_puts(out, "\n");
}

/* Nothing of a recording reaches the terminal as it is. */
static void
put_clean(struct buf *out, const char *label, struct view text)
{
    buf_puts(out, label);
    (void)play_clean(text, true, out);
    buf_puts(out, "\n");
}

static void
put_message(void *ctx, struct view text)
{
    put_clean(ctx, "message   ", text);
}

static void
put_text(struct cli_again *a, const char *dir, struct buf *out)
{
    AUTO(buf) line = { 0 };
    struct view words = { a->words.p, a->words.n };
    (void)session_command_line(words, SESSION_COMMAND_MAX, &line);
    put_clean(out, "session   ", (struct view){ a->called.p, a->called.n });
    buf_puts(out, "how       ");
    cli_again_tell_how(a, out);
    buf_puts(out, "\n");
    put_clean(out, "command   ", (struct view){ line.p, line.n });
    if (dir)
        put_clean(out, "folder    ", (struct view){ (const uint8_t *)dir, strlen(dir) });
    each_message(a, put_message, out);
}

int
cli_again_print(struct cli_again *a, struct err *err)
{
    AUTO(buf) out = { .ceiling = 1 << 30 };
    const char *dir;
    int r = find_folder(a, &dir, err);
    if (!r && a->is_run)
        r = cli_again_script(a, err);
    if (r < 0)
        return r;
    if (a->args->is_json)
        put_json(a, dir, &out);
    else
        put_text(a, dir, &out);
    r = out.failed ? out.failed : file_write_all(STDOUT_FILENO, out.p, out.n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}
