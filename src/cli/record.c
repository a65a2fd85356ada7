/* SPDX-License-Identifier: MIT */
/*
 * ahr record: puts a command on a terminal of its own and records it.
 *
 * This process becomes the client; the host, forked from it, records.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ending.h"
#include "cli/entire.h"
#include "cli/interrupted.h"
#include "cli/option.h"
#include "cli/record.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "cli/viewing.h"
#include "cli/wired.h"
#include "host/host.h"
#include "library/find.h"
#include "pty/child.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/lines.h"
#include "session/meta.h"
#include "term/term.h"

struct args {
    const char *out_file, *points, *name, *role, *task, *parent, *ipc;
    uint64_t quality, block_ms, cols, rows, auto_snapshot;
    uint64_t entire; /* CLI_ENTIRE_… */
    struct cli_wired wired;
    int view, sync, upkeep, on_interrupted;
    struct cli_viewing viewing;
    bool is_forced, allows_self, keeps_input, is_redacting, is_detachable, is_background,
        is_quiet;
};

enum {
    REST_S = 2,
    REST_MAX_S = 86400,
    STATUS_NOT_FOUND = 127,
    VIEW_COLS_MIN = 40, /* a smaller terminal is not taken by itself */
    VIEW_ROWS_MIN = 10,
};

/* What --view may say. */
enum { VIEW_AUTO, VIEW_ON, VIEW_OFF };

/* What --auto-snapshot may say in place of a number. */
#define AUTO_QUIET CLI_WORD(0)
#define AUTO_OFF   CLI_WORD(1)

struct record {
    const struct cli_command *self;
    const struct args *args;
    const struct cli_record_more *more; /* NULL: nothing */
    struct pty_tty tty;                 /* made raw; fd -1: none */
    int in_fd;                          /* -1: nothing is ever sent */
    bool is_out_terminal;
    bool is_first; /* nothing was recorded here before */
    uint8_t prefix;
    char id[SESSION_ID_LEN + 1];
    struct buf home, cwd, out_file, points, tape_path, done_tape_path;
    struct library_found parent;
    struct host_options host;
};

static void
record_release(struct record *rec)
{
    struct buf *bufs[] = { &rec->home,   &rec->cwd,       &rec->out_file,
                           &rec->points, &rec->tape_path, &rec->done_tape_path };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    library_found_release(&rec->parent);
}

/* -- what the command line asks for -- */

static bool
is_file_name(const char *path)
{
    return *file_name(path) && strcmp(path, "-") != 0;
}

static int
check_args(const struct args *a, int count, char **argv, struct err *err)
{
    if (!count || !argv[0][0])
        return err_set(err, ERR_USAGE, "no command to record; see 'ahr record -h'");
    if (a->out_file && !is_file_name(a->out_file))
        return err_set(err, ERR_USAGE, "--out-file: '%s' is no name of a file",
                       a->out_file);
    if (a->points && !is_file_name(a->points))
        return err_set(err, ERR_USAGE, "--out-branch-points: '%s' is no name of a file",
                       a->points);
    if (a->is_forced && !a->out_file && !a->points)
        return err_set(err, ERR_USAGE,
                       "--force is for --out-file and "
                       "--out-branch-points");
    int r = cli_wired_check(&a->wired, err);
    return r < 0 ? r : cli_check_story(a->name, a->role, a->task, err);
}

/* An environment may outlive its session: that of a tmux server, say. */
static bool
is_live(struct record *rec, const char *id)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/live/%s", buf_str(&rec->home), id);
    return session_id_is(id) && access(buf_str(&path), F_OK) == 0;
}

static int
find_parent(struct record *rec, struct err *err)
{
    const char *around = getenv("AHR_SESSION");
    if (rec->args->parent) {
        struct err why;
        int r = library_find_by_files(&rec->parent, rec->args->parent, &why);
        if (r < 0)
            return err_set(err, r, "--parent: %.400s", why.text);
        if (!rec->parent.id[0])
            return err_set(err, ERR_USAGE, "--parent '%s' is a file, not a session",
                           rec->args->parent);
        rec->host.parent = rec->parent.id;
    } else if (around && session_id_is(around)) {
        rec->host.parent = around;
    }
    if (around && is_live(rec, around) && !rec->args->is_quiet)
        cli_say(rec->self, "this is inside of session %s, which is recorded already",
                around);
    return 0;
}

static void
make_absolute(struct buf *ret, const char *cwd, const char *path)
{
    bool is_absolute = *path == '/';
    buf_printf(ret, "%s%s%s", is_absolute ? "" : cwd, is_absolute ? "" : "/", path);
}

static int
find_folder(struct record *rec, struct err *err)
{
    char cwd[PATH_MAX] = "";
    const char *out = rec->args->out_file, *points = rec->args->points;
    int r = session_home(&rec->home, err);
    if (r < 0)
        return r;
    /* One that was removed under us matters only to what is named from it. */
    if (!getcwd(cwd, sizeof(cwd)) && ((out && *out != '/') || (points && *points != '/')))
        return err_sys(err, "cannot tell the current folder");
    buf_puts(&rec->cwd, cwd);
    if (out)
        make_absolute(&rec->out_file, cwd, out);
    if (points)
        make_absolute(&rec->points, cwd, points);
    return rec->home.failed | rec->cwd.failed | rec->out_file.failed | rec->points.failed
               ? err_code(err, -ENOMEM, "cannot record")
               : 0;
}

/* -- the file for branch points: what is wrong with it is better known now -- */

/* Is it a file of the recording that goes to the out-file? */
static bool
is_of_out_file(struct record *rec, const char *path)
{
    static const char *const siblings[] = { SESSION_META, SESSION_SNAPSHOTS,
                                            SESSION_INSTRUCTIONS, SESSION_WIRE,
                                            SESSION_TURNS };
    const char *out = buf_str(&rec->out_file);
    bool is_one = !strcmp(path, out);
    for (size_t i = 0; i < sizeof(siblings) / sizeof(siblings[0]); i++) {
        AUTO(buf) sibling = { 0 };
        session_sibling_path(out, siblings[i], &sibling);
        is_one |= !strcmp(path, buf_str(&sibling));
    }
    return is_one;
}

static int
make_folder_of(const char *path)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    if (buf_append(&dir, path, file_dir_len(path)) < 0)
        return -ENAMETOOLONG;
    int r = file_make_dirs(buf_str(&dir));
    if (!r && buf_puts(&dir, "/.") < 0) /* a file is no folder */
        r = -ENAMETOOLONG;
    return r < 0 ? r : access(buf_str(&dir), W_OK | X_OK) < 0 ? -errno : 0;
}

static int
check_points(struct record *rec, struct err *err)
{
    const char *path = buf_str(&rec->points), *name = rec->args->points;
    struct stat st;
    if (rec->args->out_file && is_of_out_file(rec, path))
        return err_set(err, ERR_USAGE,
                       "--out-branch-points and --out-file cannot both be '%s'", name);
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return err_set(err, -EEXIST, "cannot replace '%s': it is no regular file", name);
    if (exists && !rec->args->is_forced)
        return err_set(err, -EEXIST,
                       "'%s' exists already; choose another name, or say --force", name);
    int r = make_folder_of(path);
    return r < 0 ? err_code(err, r == -ENOENT ? -ENOTDIR : r, "cannot write '%s'", name)
                 : 0;
}

/* -- the recorder's socket -- */

static int
find_ipc(struct record *rec, struct err *err)
{
    static const struct {
        const char *name;
        enum host_ipc kind;
    } kinds[] = { { "auto", HOST_IPC_AUTO },
                  { "uds", HOST_IPC_UDS },
                  { "off", HOST_IPC_OFF } };
    const char *ipc = rec->args->ipc;
    /* In the environment it says where the recorder around us listens. */
    if (!ipc || ipc == getenv("AHR_IPC"))
        ipc = "auto";
    struct err why;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(ipc, kinds[i].name)) {
            rec->host.ipc_kind = kinds[i].kind;
            return 0;
        }
    if (strncmp(ipc, "tcp:", 4) != 0)
        return err_set(err, ERR_USAGE,
                       "--ipc '%s' is none of auto, uds, tcp:HOST:PORT, off", ipc);
    int r = ipc_address_parse(&rec->host.ipc, ipc, &why);
    rec->host.ipc_kind = HOST_IPC_TCP;
    return r < 0 ? err_set(err, ERR_USAGE, "--ipc: %.400s", why.text) : 0;
}

/* -- automatic snapshots -- */

/* That there will be none is better known now. */
static int
find_rest(struct record *rec, struct err *err)
{
    uint64_t wanted = rec->args->auto_snapshot;
    struct err ignored;
    if (wanted == AUTO_OFF)
        return 0;
    if (pty_command_check("git", &ignored))
        return err_set(
            err, ERR_MISSING,
            "--auto-snapshot needs git, which is not to be found here: install "
            "it, or record without automatic snapshots");
    if (!rec->cwd.n)
        return err_set(err, -ENOENT,
                       "--auto-snapshot: the current folder is gone; there is nothing to "
                       "take snapshots of");
    rec->host.rest_s = wanted == AUTO_QUIET ? REST_S : wanted;
    return 0;
}

/* -- the terminal, or what there is instead -- */

static bool
is_null_device(int fd)
{
    struct stat have, null;
    return fstat(fd, &have) < 0 ||
           (stat("/dev/null", &null) == 0 && S_ISCHR(have.st_mode) &&
            have.st_rdev == null.st_rdev);
}

static void
look_at_terminal(struct record *rec)
{
    struct host_options *h = &rec->host;
    bool has_tty = pty_tty_init(&rec->tty, STDIN_FILENO);
    bool is_typed = has_tty && pty_tty_is_foreground(&rec->tty);
    rec->is_out_terminal = isatty(STDOUT_FILENO);
    rec->in_fd = is_typed || !(has_tty || is_null_device(STDIN_FILENO)) ? STDIN_FILENO
                                                                        : -1;
    h->termios = has_tty ? &rec->tty.saved : NULL;
    h->tty_saved = rec->tty.saved;
    h->tty_raw = rec->tty.raw;
    if (!is_typed)
        rec->tty.fd = -1;
    h->has_terminal = is_typed || rec->is_out_terminal;
    h->is_lossy = rec->is_out_terminal;
    h->can_answer = is_typed && rec->is_out_terminal;
    h->is_input_piped = !is_typed;
    h->has_input = rec->in_fd >= 0;
    h->tty_fd = rec->tty.fd;
}

static void
find_size(struct record *rec)
{
    uint16_t cols = 80, rows = 24;
    if (!pty_size(STDOUT_FILENO, &cols, &rows) && !pty_size(STDIN_FILENO, &cols, &rows))
        pty_size(STDERR_FILENO, &cols, &rows);
    rec->host.cols = rec->args->cols ? (uint16_t)rec->args->cols : cols;
    rec->host.rows = rec->args->rows ? (uint16_t)rec->args->rows : rows;
    rec->host.has_fixed_cols = rec->args->cols;
    rec->host.has_fixed_rows = rec->args->rows;
}

/* A terminal that a picture can be drawn on, and seen. */
static bool
is_terminal_fit(void)
{
    uint16_t cols = 0, rows = 0;
    const char *term = getenv("TERM");
    pty_size(STDOUT_FILENO, &cols, &rows);
    return cols >= VIEW_COLS_MIN && rows >= VIEW_ROWS_MIN &&
           !(term && !strcmp(term, "dumb"));
}

/* Is it shown by the viewer, or are its bytes passed as they are? */
static int
find_view(struct record *rec, struct err *err)
{
    bool has_terminals = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    int view = rec->args->view,
        r = cli_viewing_prefix(&rec->args->viewing, &rec->prefix, err);
    if (r < 0 || rec->args->is_background || view == VIEW_OFF)
        return r;
    if (view == VIEW_ON && !has_terminals)
        return err_set(err, ERR_USAGE,
                       "--view on: standard input and output must be a terminal");
    rec->host.is_viewed = has_terminals && rec->tty.fd >= 0 &&
                          (view == VIEW_ON || is_terminal_fit());
    return 0;
}

/* -- what is said -- */

/* Once for each home, when something is first recorded there. */
static void
warn_of_secrets(struct record *rec)
{
    AUTO(buf) path = { 0 };
    if (rec->args->is_quiet)
        return;
    buf_printf(&path, "%s/.secrets-told", buf_str(&rec->home));
    if (file_make_dirs(buf_str(&rec->home)) < 0)
        return;
    int fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    (void)fchmod(fd, 0600); /* whatever the umask */
    close(fd);
    rec->is_first = true;
    cli_say(rec->self, "recordings hold all that is shown, and that may be passwords and "
                       "keys; only you can read them");
    cli_say(rec->self,
            "'ahr record --redact' masks what looks like a secret (this is said "
            "once)");
}

static void
say_now(void *ctx, const char *text)
{
    struct record *rec = ctx;
    /* In raw mode a line does not go back to the left by itself. */
    const char *cr = rec->tty.is_raw && isatty(STDERR_FILENO) ? "\r" : "";
    fprintf(stderr, "%s\nahr %s: %s%s\n", cr, rec->self->name, text, cr);
}

/* The end as the user is told it, and the exit status. */
static int
conclude(struct record *rec, const struct client_result *done)
{
    struct cli_ending ending = { .command = rec->self,
                                 .id = rec->id,
                                 .out_file = rec->args->out_file,
                                 .is_out_terminal = rec->is_out_terminal };
    switch (done->end) {
    case CLIENT_ENDED:
        cli_say_losses(&ending, done);
        if (!rec->args->is_quiet)
            cli_say_end(&ending, done);
        return done->exit_code;
    case CLIENT_DETACHED:
        if (!rec->args->is_quiet)
            cli_say(rec->self, "session %s goes on; 'ahr attach' comes back to it",
                    rec->id);
        return CLI_DONE;
    case CLIENT_HOST_GONE:
        cli_say(rec->self,
                "the recorder of session %s has vanished; what was shown is on disk: "
                "'ahr recover --all' makes it whole",
                rec->id);
        return CLI_FAILED;
    case CLIENT_DROPPED:
        cli_say(rec->self,
                "this client was disconnected because it did not read; the session goes "
                "on: 'ahr attach %s'",
                rec->id);
        return CLI_FAILED;
    case CLIENT_LEFT:
        cli_say(rec->self, "session %s has not ended yet; its recorder goes on", rec->id);
        return 128 + done->signo;
    }
    return CLI_FAILED;
}

/* -- doing it -- */

static int
prepare(struct record *rec, char **argv, struct err *err)
{
    const struct args *a = rec->args;
    struct host_options *h = &rec->host;
    clock_start(&h->clock);
    int r = find_folder(rec, err);
    if (!r && a->points)
        r = check_points(rec, err);
    if (!r)
        r = find_parent(rec, err);
    if (!r && session_id_make(h->clock.real_ns, rec->id, h->uuid) < 0)
        r = err_set(err, -EIO, "cannot make a session id");
    if (!r)
        r = find_ipc(rec, err);
    if (!r)
        r = find_rest(rec, err);
    if (r < 0)
        return r;
    look_at_terminal(rec);
    find_size(rec);
    r = find_view(rec, err);
    if (r < 0)
        return r;
    buf_printf(&rec->tape_path, "%s/live/%s/session.ahr", buf_str(&rec->home), rec->id);
    buf_printf(&rec->done_tape_path, "%s/sessions/%s/session.ahr", buf_str(&rec->home),
               rec->id);
    h->home = buf_str(&rec->home);
    h->id = rec->id;
    h->out_file = a->out_file ? buf_str(&rec->out_file) : NULL;
    h->is_forced = a->is_forced;
    h->points_path = a->points ? buf_str(&rec->points) : NULL;
    h->is_indexed = a->upkeep != CLI_UPKEEP_OFF;
    h->argv = argv;
    h->envp = environ;
    h->cwd = rec->cwd.n ? buf_str(&rec->cwd) : NULL;
    h->name = a->name;
    h->role = a->role;
    h->task = a->task;
    h->branch = rec->more ? rec->more->branch : NULL;
    h->lineage = rec->more ? rec->more->lineage : NULL;
    h->quality = (int)a->quality;
    h->block_ns = a->block_ms * 1000000;
    h->sync = (enum tape_sync)a->sync;
    h->keeps_input = a->keeps_input;
    h->is_redacting = a->is_redacting;
    h->allows_self = a->allows_self;
    h->is_wired = a->wired.is_on;
    h->upstream = a->wired.upstream;
    h->ca_file = a->wired.ca_file;
    h->is_entire = a->wired.is_on && h->cwd && !a->out_file &&
                   cli_entire(rec->self, a->entire, h->cwd);
    h->has_client = !a->is_background;
    h->is_detachable = a->is_detachable || a->is_background;
    return 0;
}

static bool
is_session_live(void *ctx)
{
    const struct record *rec = ctx;
    return cli_is_live(rec->id);
}

static int
instruct(void *ctx, const struct tui_wish *wish, struct play_event *ret, struct err *err)
{
    const struct record *rec = ctx;
    const char *what = rec->host.out_file ? rec->host.out_file : rec->id;
    return cli_viewing_instruct(what, wish, ret, err);
}

static void
remember(void *ctx, bool is_typed)
{
    (void)ctx;
    cli_viewing_remember(is_typed);
}

static int
run_client(struct record *rec, int link_fd)
{
    char name[CLI_VIEWING_NAME];
    struct client_options opt = {
        .link_fd = link_fd,
        .in_fd = rec->in_fd,
        .out_fd = STDOUT_FILENO,
        .tty = &rec->tty,
        .is_out_terminal = rec->is_out_terminal,
        .is_detachable = rec->args->is_detachable,
        .cols = rec->host.cols,
        .rows = rec->host.rows,
        .has_fixed_cols = rec->args->cols,
        .has_fixed_rows = rec->args->rows,
        .is_viewed = rec->host.is_viewed,
        .prefix = rec->prefix,
        .greets = rec->is_first,
        .deliver = cli_viewing_deliver(&rec->args->viewing),
        .name = cli_viewing_name(rec->args->name, rec->id, name),
        .clock = rec->host.clock,
        .tape_path = rec->host.out_file ? rec->host.out_file : buf_str(&rec->tape_path),
        .done_tape_path = buf_str(&rec->done_tape_path),
        .say = say_now,
        .is_session_live = is_session_live,
        .instruct = instruct,
        .remember = remember,
        .ctx = rec,
    };
    struct client_result done = { 0 };
    client_run(&opt, &done);
    int r = conclude(rec, &done);
    buf_release(&done.text);
    return r;
}

static int
start(struct record *rec, struct err *err)
{
    int link_fd;
    client_hold_signals();
    int r = host_start(&rec->host, &link_fd, err);
    if (r < 0)
        return r;
    r = client_wait_start(link_fd, err);
    if (!r && rec->more && rec->more->started)
        rec->more->started(rec->more->ctx, rec->id);
    if (r > 0) {
        cli_say(rec->self, "%s", err->text);
    } else if (rec->args->is_background) {
        puts(rec->id);
    } else {
        r = run_client(rec, link_fd);
    }
    close(link_fd);
    return r;
}

/* The word behind --auto-snapshot is its value or the command. NULL: there is none. */
static const char *
find_auto_word(int argc, char **argv)
{
    for (int i = 0; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--auto-snapshot"))
            return argv[i + 1];
    return NULL;
}

static int
check_command(const struct cli_command *self, const char *command, const char *auto_word,
              struct err *err)
{
    int r = pty_command_check(command, err);
    if (r == STATUS_NOT_FOUND && command == auto_word)
        cli_say(self, "%s; --auto-snapshot takes a number of seconds, 'quiet' or 'off'",
                err->text);
    else if (r)
        cli_say(self, "%s", err->text);
    return r;
}

static bool
look_for_left(const struct cli_command *self, const struct args *a,
              char ret_id[SESSION_ID_LEN + 1])
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    char cwd[PATH_MAX];
    struct err ignored; /* it is told when it is used */
    bool is_noted = a->is_background && (a->on_interrupted == CLI_INTERRUPTED_UNSAID ||
                                         a->on_interrupted == CLI_INTERRUPTED_ASK);
    if (session_home(&home, &ignored) < 0 || !getcwd(cwd, sizeof(cwd)))
        return false;
    const struct cli_interrupted_about about = { .self = self,
                                                 .home = buf_str(&home),
                                                 .folder = cwd,
                                                 .name = a->name,
                                                 .task = a->task,
                                                 .is_quiet = a->is_quiet };
    return cli_interrupted(&about, is_noted ? CLI_INTERRUPTED_NOTE : a->on_interrupted,
                           ret_id);
}

/* typed: argv, as it was before it was parsed. */
static int
record_typed(const struct cli_command *self, const struct cli_record_more *more, int argc,
             char **argv, char **typed, struct err *err)
{
    const char *auto_word = find_auto_word(argc, argv);
    const struct tape_writer_options *d = &tape_writer_defaults;
    struct args args = { .quality = (uint64_t)d->quality,
                         .block_ms = d->block_ns / 1000000,
                         .sync = (int)d->sync,
                         .viewing.deliver = CLI_DELIVER_UNSAID,
                         .on_interrupted = CLI_INTERRUPTED_UNSAID,
                         .auto_snapshot = AUTO_OFF,
                         .entire = CLI_ENTIRE_AUTO };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = check_args(&args, count, argv, err);
    if (r)
        return r;
    argv[count] = NULL;
    r = check_command(self, argv[0], auto_word, err);
    if (r)
        return r;
    char left[SESSION_ID_LEN + 1];
    size_t before = (size_t)(argc - count);
    const struct cli_again_given given = { self, args.name, typed, before };
    if (!more && look_for_left(self, &args, left))
        return cli_interrupted_resume(&given, left, args.is_quiet, count, typed + before,
                                      err);
    struct record rec = { .self = self, .args = &args, .more = more };
    r = prepare(&rec, argv, err);
    if (!r) {
        warn_of_secrets(&rec);
        r = start(&rec, err);
    }
    record_release(&rec);
    return r;
}

static int
record(const struct cli_command *self, const struct cli_record_more *more, int argc,
       char **argv, struct err *err)
{
    char **typed = cli_interrupted_words(argc, argv);
    int r = typed ? record_typed(self, more, argc, argv, typed, err)
                  : err_code(err, -ENOMEM, "cannot record");
    free(typed);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    return record(self, NULL, argc, argv, err);
}

int
cli_record_with(const struct cli_record_more *more, int argc, char **argv,
                struct err *err)
{
    return record(&cli_record, more, argc, argv, err);
}

static const struct cli_option options[] = {
    { "out-file", 0, CLI_TEXT, offsetof(struct args, out_file), "FILE.ahr",
      "record to this file, not into the library", 0, 0 },
    { "out-branch-points", 0, CLI_TEXT, offsetof(struct args, points), "FILE.json",
      "write the branch points to this file at the end", 0, 0 },
    { "force", 0, CLI_FLAG, offsetof(struct args, is_forced), NULL,
      "replace an --out-file or --out-branch-points that is there", 0, 0 },
    { "brotli-q", 0, CLI_NUMBER, offsetof(struct args, quality), "N",
      "compression, 0 to 11 (4)", 0, 11 },
    { "block-ms", 0, CLI_NUMBER, offsetof(struct args, block_ms), "N",
      "seal a block this many ms after its first record (10000)", 1, 3600000 },
    { "cols", 0, CLI_NUMBER, offsetof(struct args, cols), "N",
      "terminal columns (those of this terminal, else 80)", 1, TERM_COLS_MAX },
    { "rows", 0, CLI_NUMBER, offsetof(struct args, rows), "N",
      "terminal rows (those of this terminal, else 24)", 1, TERM_ROWS_MAX },
    { "view", 0, CLI_CHOICE, offsetof(struct args, view), "auto|on|off",
      "show it by the viewer, with its keys, or pass bytes (auto: on a terminal)", 0, 0 },
    CLI_PREFIX_OPTION(struct args),
    CLI_DELIVER_OPTION(struct args),
    { "input", 0, CLI_FLAG, offsetof(struct args, keeps_input), NULL,
      "record what is typed, too; as stars where lines are not echoed", 0, 0 },
    { "redact", 0, CLI_FLAG, offsetof(struct args, is_redacting), NULL,
      "mask what looks like a secret, on disk and on the screen", 0, 0 },
    { "ipc", 0, CLI_TEXT, offsetof(struct args, ipc), "auto|uds|tcp:HOST:PORT|off",
      "where snapshots are told of; TCP on loopback alone (auto)", 0, 0 },
    { "allow-self", 0, CLI_FLAG, offsetof(struct args, allows_self), NULL,
      "let programs inside of the session control it", 0, 0 },
    { "auto-snapshot", 0, CLI_MAYBE, offsetof(struct args, auto_snapshot),
      "[SECONDS|quiet|off]",
      "keep the files first, and whenever they have changed and rest (quiet: 2 s)", 1,
      REST_MAX_S },
    CLI_WIRED_OPTIONS(struct args),
    CLI_ENTIRE_OPTION(struct args, entire),
    { "sync", 0, CLI_CHOICE, offsetof(struct args, sync), "none|interval|block|always",
      "when to wait for the disk (interval: each second)", 0, 0 },
    { "detach", 0, CLI_FLAG, offsetof(struct args, is_detachable), NULL,
      "when this terminal goes away, the command goes on", 0, 0 },
    { "background", 0, CLI_FLAG, offsetof(struct args, is_background), NULL,
      "do not show it; print the session's id and return", 0, 0 },
    { "name", 0, CLI_TEXT, offsetof(struct args, name), "NAME",
      "what to call the session", 0, 0 },
    { "role", 0, CLI_TEXT, offsetof(struct args, role), "ROLE", "what the agent is for",
      0, 0 },
    { "task", 0, CLI_TEXT, offsetof(struct args, task), "TEXT", "what it is to do", 0,
      0 },
    { "parent", 0, CLI_TEXT, offsetof(struct args, parent), "SESSION",
      "the session that it belongs to ($AHR_SESSION)", 0, 0 },
    CLI_INTERRUPTED_OPTION(struct args, on_interrupted),
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "index the session at its end, in the background"),
    { "quiet", 'q', CLI_FLAG, offsetof(struct args, is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_record = {
    "record",
    "[--out-file FILE.ahr] [--out-branch-points FILE.json] [--force] [--brotli-q N] "
    "[--block-ms N] [--cols N] [--rows N] "
    "[--view auto|on|off] [--prefix KEY] [--deliver ask|yes|no] [--input] [--redact] "
    "[--ipc auto|uds|tcp:HOST:PORT|off] "
    "[--allow-self] [--auto-snapshot [SECONDS|quiet|off]] " CLI_WIRED_SYNOPSIS
    "[--entire [on|off|auto]] [--sync "
    "none|interval|block|always] "
    "[--detach] [--background] [--name NAME] [--role ROLE] [--task TEXT] "
    "[--parent SESSION] [--on-interrupted ask|resume|fresh|note] [--upkeep auto|off] "
    "[-q] -- CMD [ARG…]",
    "record a command on a terminal of its own",
    options,
    run,
    true,
};
