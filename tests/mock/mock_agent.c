/* SPDX-License-Identifier: MIT */
/*
 * mock_agent.c -- a program that behaves like a coding agent, and knows the truth about
 * it.
 *
 * The same seed, work and size give the same bytes, whatever the pauses. On a terminal it
 * switches output processing off, so that what it writes is what comes out at the other
 * end. With --truth FILE it tells at its end, before it exits or kills itself: how many
 * bytes it wrote, at which byte each step ended, and the text that a terminal shows in
 * the end, with all that has scrolled off (null if the terminal was resized meanwhile).
 *
 * Inside of a recorder it takes a snapshot behind each step (--snapshots) and gives
 * itself instructions (--instruct, for which the session must be recorded with
 * --allow-self). The truth then lists each with the byte that it belongs to, and what was
 * replied.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "mock/notify.h"
#include "mock/steps.h"
#include "support/rng.h"

struct options {
    uint64_t seed, steps, min_bytes, rate, cols, rows, exit, snapshot_base;
    int kill_signal; /* 0: none */
    double speed;
    bool takes_snapshots, is_instructed;
    const char *only, *truth, *bytes;
};

static const char usage[] =
    "usage: mock_agent [OPTION]...\n"
    "  --seed N             what it does\n"
    "  --steps N            how much, by default 12\n"
    "  --min-bytes N        more steps until that many bytes are written\n"
    "  --only KIND          steps of one kind: think prose diff build burst table "
    "download\n"
    "  --speed X            X times as fast\n"
    "  --no-wait            without pauses\n"
    "  --rate N             N bytes a second on average, instead of its own pauses\n"
    "  --cols N --rows N    the size, unless stdout is a terminal\n"
    "  --exit N             exit with that status\n"
    "  --kill-self SIGNAL   die of it in the middle of a picture: KILL, SEGV, 9\n"
    "  --snapshots          take one behind each step, of the recorder of $AHR_IPC\n"
    "  --snapshot-base N    the first one's id, by default 1\n"
    "  --instruct           give itself an instruction behind each step\n"
    "  --truth FILE         write what is true, as JSON\n"
    "  --bytes FILE         write the bytes there too; never fewer than to stdout\n";

_Noreturn static void
die(const char *what, const char *why)
{
    fprintf(stderr, "mock_agent: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* -- the command line -- */

static uint64_t
number(const char *text, uint64_t max)
{
    uint64_t n;
    struct view v = { (const uint8_t *)text, strlen(text) };
    if (num_parse(v, max, &n) < 0)
        die(text, "a number is asked for here");
    return n;
}

static int
signal_number(const char *text)
{
    for (int sig = 1; sig < NSIG; sig++) {
        const char *name = sigabbrev_np(sig);
        if (name && !strcmp(name, text))
            return sig;
    }
    return (int)number(text, NSIG - 1);
}

enum {
    OPT_SEED = 1,
    OPT_STEPS,
    OPT_MIN_BYTES,
    OPT_ONLY,
    OPT_SPEED,
    OPT_NO_WAIT,
    OPT_RATE,
    OPT_COLS,
    OPT_ROWS,
    OPT_EXIT,
    OPT_KILL_SELF,
    OPT_SNAPSHOTS,
    OPT_SNAPSHOT_BASE,
    OPT_INSTRUCT,
    OPT_TRUTH,
    OPT_BYTES,
};

static const struct option long_options[] = {
    { "seed", 1, 0, OPT_SEED },
    { "steps", 1, 0, OPT_STEPS },
    { "min-bytes", 1, 0, OPT_MIN_BYTES },
    { "only", 1, 0, OPT_ONLY },
    { "speed", 1, 0, OPT_SPEED },
    { "no-wait", 0, 0, OPT_NO_WAIT },
    { "rate", 1, 0, OPT_RATE },
    { "cols", 1, 0, OPT_COLS },
    { "rows", 1, 0, OPT_ROWS },
    { "exit", 1, 0, OPT_EXIT },
    { "kill-self", 1, 0, OPT_KILL_SELF },
    { "snapshots", 0, 0, OPT_SNAPSHOTS },
    { "snapshot-base", 1, 0, OPT_SNAPSHOT_BASE },
    { "instruct", 0, 0, OPT_INSTRUCT },
    { "truth", 1, 0, OPT_TRUTH },
    { "bytes", 1, 0, OPT_BYTES },
    { 0 },
};

static void
set_option(struct options *o, int opt, const char *arg)
{
    switch (opt) {
    case OPT_SEED:
        o->seed = number(arg, UINT32_MAX);
        break;
    case OPT_STEPS:
        o->steps = number(arg, UINT32_MAX);
        break;
    case OPT_MIN_BYTES:
        o->min_bytes = number(arg, UINT64_MAX);
        break;
    case OPT_ONLY:
        o->only = arg;
        break;
    case OPT_SPEED:
        o->speed = strtod(arg, NULL);
        break;
    case OPT_NO_WAIT:
        o->speed = 0;
        break;
    case OPT_RATE:
        o->rate = number(arg, UINT32_MAX);
        break;
    case OPT_COLS:
        o->cols = number(arg, PAGE_COLS_MAX);
        break;
    case OPT_ROWS:
        o->rows = number(arg, PAGE_COLS_MAX);
        break;
    case OPT_EXIT:
        o->exit = number(arg, 255);
        break;
    case OPT_KILL_SELF:
        o->kill_signal = signal_number(arg);
        break;
    case OPT_SNAPSHOTS:
        o->takes_snapshots = true;
        break;
    case OPT_SNAPSHOT_BASE:
        o->snapshot_base = number(arg, UINT32_MAX);
        break;
    case OPT_INSTRUCT:
        o->is_instructed = true;
        break;
    case OPT_TRUTH:
        o->truth = arg;
        break;
    case OPT_BYTES:
        o->bytes = arg;
        break;
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

static struct options
parse(int argc, char **argv)
{
    struct options o = {
        .seed = 1, .steps = 12, .cols = 80, .rows = 24, .speed = 1, .snapshot_base = 1
    };
    int opt;
    while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        set_option(&o, opt, optarg);
    if (optind < argc || !o.cols || !o.rows || (o.only && !steps_has(o.only))) {
        fputs(usage, stderr);
        exit(2);
    }
    return o;
}

/* -- the terminal -- */

static void
read_size(struct options *o)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col && ws.ws_row &&
        ws.ws_col <= PAGE_COLS_MAX) {
        o->cols = ws.ws_col;
        o->rows = ws.ws_row;
    }
}

/* False where there is no terminal, and nothing to put back. */
static bool
take_terminal(struct termios *ret_before)
{
    if (tcgetattr(STDOUT_FILENO, ret_before) < 0)
        return false;
    struct termios plain = *ret_before;
    plain.c_oflag &= (tcflag_t)~OPOST;
    if (tcsetattr(STDOUT_FILENO, TCSANOW, &plain) < 0)
        die("cannot set the terminal up", strerror(errno));
    return true;
}

/* Resizes wait until the agent looks for them. */
static void
hold_winch(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* -- the truth -- */

static void
lines_json(struct json *j, const struct page *p)
{
    AUTO(buf) lines = { .ceiling = p->lines.ceiling };
    if (p->resizes) {
        json_none(j);
        return;
    }
    if (page_final_lines(p, &lines) < 0)
        die("final lines", "too many");
    json_open(j, '[');
    for (size_t at = 0; at < lines.n;) {
        const uint8_t *line = lines.p + at;
        size_t n = (size_t)((const uint8_t *)memchr(line, '\n', lines.n - at) - line);
        json_bytes(j, (struct view){ line, n });
        at += n + 1;
    }
    json_close(j, ']');
}

static void
list_json(struct json *j, const char *key, const struct json *list)
{
    json_key(j, key);
    buf_append(j->out, list->out->p, list->out->n);
    j->comma = true;
}

static void
truth_json(struct buf *out, const struct agent *a, const struct options *o)
{
    struct json j = { .out = out };
    json_open(&j, '{');
    json_key(&j, "seed");
    json_u64(&j, o->seed);
    json_key(&j, "cols");
    json_u64(&j, a->page.cols);
    json_key(&j, "rows");
    json_u64(&j, a->page.rows);
    json_key(&j, "resizes");
    json_u64(&j, a->page.resizes);
    json_key(&j, "total_bytes");
    json_u64(&j, a->page.total_bytes);
    list_json(&j, "steps", &a->steps);
    if (o->takes_snapshots)
        list_json(&j, "snapshots", &a->snapshots);
    if (o->is_instructed)
        list_json(&j, "instructions", &a->instructs);
    json_key(&j, "final_lines");
    lines_json(&j, &a->page);
    json_close(&j, '}');
    buf_puts(out, "\n");
}

/* By rename: whoever sees the file sees all of it. */
static void
write_truth(const struct agent *a, const struct options *o)
{
    AUTO(buf) text = { .ceiling = a->page.lines.ceiling };
    AUTO(buf) draft = { 0 };
    truth_json(&text, a, o);
    buf_printf(&draft, "%s.draft", o->truth);
    int fd = open(buf_str(&draft), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (text.failed || fd < 0 || file_write_all(fd, text.p, text.n) < 0 ||
        close(fd) < 0 || rename(buf_str(&draft), o->truth) < 0)
        die(o->truth, text.failed ? "too much to tell" : strerror(errno));
}

/* -- from the beginning to the end -- */

static int
work(struct agent *a, const struct options *o)
{
    int r = steps_hello(a);
    for (uint64_t i = 0; r == 0; i++) {
        if (i >= o->steps && a->page.total_bytes >= o->min_bytes)
            break;
        r = steps_run(a, o->only);
    }
    return r || o->kill_signal ? r : steps_goodbye(a);
}

_Noreturn static void
kill_self(int sig)
{
    sigset_t set;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
    die(sigabbrev_np(sig), "does not kill");
}

/* Fails now rather than behind the first step. */
static void
find_recorder(const char *option, const char *socket)
{
    int fd = notify_open(socket);
    if (fd == -ENOENT && !getenv("AHR_IPC"))
        die(option, "AHR_IPC is not set: this is no session of a recorder");
    if (fd == -EINVAL)
        die(option, "AHR_IPC is no path of a socket");
    if (fd < 0)
        die(option, strerror(-fd));
    close(fd);
}

/* The lists of the truth, as JSON. */
struct lists {
    struct buf steps, snapshots, instructs;
};

static void
lists_release(struct lists *l)
{
    buf_release(&l->steps);
    buf_release(&l->snapshots);
    buf_release(&l->instructs);
}

static void
init(struct agent *a, struct lists *lists, const struct options *o)
{
    *a = (struct agent){ .rng = rng_seed((uint32_t)o->seed),
                         .speed = o->speed,
                         .rate = o->rate,
                         .steps = { .out = &lists->steps },
                         .snapshots = { .out = &lists->snapshots },
                         .instructs = { .out = &lists->instructs },
                         .takes_snapshots = o->takes_snapshots,
                         .is_instructed = o->is_instructed,
                         .next_snapshot_id = o->snapshot_base,
                         .started_ns = clock_mono_ns() };
    if (page_init(&a->page, (unsigned)o->cols, (unsigned)o->rows) < 0)
        die("page", strerror(ENOMEM));
    a->page.keeps_lines = o->truth;
    if (o->takes_snapshots)
        find_recorder("--snapshots", NULL);
    if (o->is_instructed)
        find_recorder("--instruct", "ctl.sock");
    if (!o->bytes)
        return;
    a->page.copy_fd = open(o->bytes, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (a->page.copy_fd < 0)
        die(o->bytes, strerror(errno));
}

static void
each_list(struct agent *a, void (*bracket)(struct json *, char), char which)
{
    struct json *lists[] = { &a->steps, &a->snapshots, &a->instructs };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        bracket(lists[i], which);
}

int
main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    struct termios before;
    struct agent a;
    struct lists lists = { 0 };
    hold_winch();
    read_size(&o);
    init(&a, &lists, &o);
    bool has_terminal = take_terminal(&before);
    each_list(&a, json_open, '[');
    int r = work(&a, &o);
    if (r < 0)
        die(a.troubled ? a.troubled : "stdout", strerror(-r));
    each_list(&a, json_close, ']');
    if (o.truth)
        write_truth(&a, &o);
    if (o.kill_signal)
        kill_self(o.kill_signal);
    if (has_terminal)
        tcsetattr(STDOUT_FILENO, TCSANOW, &before);
    page_release(&a.page);
    lists_release(&lists);
    return (int)o.exit;
}
