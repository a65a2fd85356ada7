/* SPDX-License-Identifier: MIT */
/*
 * ahr-net within: the proxy beside a session, as its recorder starts it (tap/tap.c). The
 * recorder is at stdin, the socket that is served at 3.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/num.h"
#include "ipc/socket.h"
#include "journal/git_branch.h"
#include "net/net.h"
#include "redact/own.h"
#include "session/folder.h"
#include "session/id.h"
#include "session/lines.h"
#include "tap/tap.h"
#include "wire/proxy.h"

enum { CONTROL_FD = STDIN_FILENO, LISTEN_FD = 3 };

static const uint64_t WORD_NS = 1000000000; /* from one to the next: who waits hears us */

/* Its words, in order. */
enum { HOME, ID, REAL_NS, BOOT_NS, TAPE, CWD, FLAGS, UPSTREAM, CA_FILE, WORDS };

struct within {
    char **words;
    const char *key;
    struct wire_control control;
    struct calls_upstreams upstreams;
    struct redact *redact;
    struct journal_entire *entire;
    struct wire_record *record;
    struct buf branch;
    struct clock clock;
    bool has_turns;
    bool has_ended;   /* the session, as it should */
    uint64_t told_ns; /* when it was last told that we are at work; monotonic */
};

static bool
has_flag(const struct within *w, char flag)
{
    return strchr(w->words[FLAGS], flag);
}

/* -- what it tells -- */

static void
tell(struct within *w, uint8_t selector, const char *text)
{
    size_t n = strlen(text);
    n = n < IPC_MESSAGE_BYTES_MAX ? n : (size_t)IPC_MESSAGE_BYTES_MAX;
    wire_control_tell(&w->control,
                      &(struct ipc_message){ .selector = selector,
                                             .bytes = { (const uint8_t *)text, n } });
}

static void
say(void *ctx, const char *text)
{
    tell(ctx, IPC_WARN, text);
}

/* What was left is being completed, and that takes its time. */
static void
pace(void *ctx)
{
    struct within *w = ctx;
    uint64_t now_ns = clock_mono_ns();
    if (now_ns - w->told_ns < WORD_NS)
        return;
    w->told_ns = now_ns;
    tell(w, IPC_SAID, "the proxy completes what one before it has left");
}

/* A calls_variable_fn. */
static int
put_variable(void *ctx, const char *name, const char *value)
{
    struct buf *out = ctx;
    buf_printf(out, "%s=%s", name, value);
    return buf_append(out, "", 1);
}

static int
tell_ready(struct within *w)
{
    AUTO(buf) all = { .ceiling = IPC_MESSAGE_BYTES_MAX };
    AUTO(buf) where = { 0 };
    struct sockaddr_in at = { 0 };
    socklen_t n = sizeof(at);
    if (getsockname(LISTEN_FD, (struct sockaddr *)&at, &n) < 0)
        return -errno;
    buf_printf(&where, "127.0.0.1:%u", ntohs(at.sin_port));
    int r = calls_upstreams_each_variable(&w->upstreams, environ, buf_str(&where),
                                          put_variable, &all);
    if (r < 0)
        return r;
    wire_control_tell(&w->control, &(struct ipc_message){ .selector = IPC_READY,
                                                          .bytes = { all.p, all.n } });
    return 0;
}

static void
tell_used(struct within *w)
{
    struct wire_record_facts f = wire_record_facts(w->record);
    struct turn_usage u = turn_totals_usage(f.totals);
    AUTO(buf) names = { .ceiling = 4096 };
    buf_puts(&names, f.model ? f.model : "");
    buf_append(&names, "", 1);
    buf_puts(&names, f.agent ? f.agent : "");
    wire_control_tell(&w->control,
                      &(struct ipc_message){
                          .selector = IPC_USED,
                          .field = { u.input_tokens, u.output_tokens,
                                     u.cache_creation_tokens, u.cache_read_tokens,
                                     f.totals->is_known ? f.totals->calls : IPC_NONE },
                          .bytes = { names.p, names.n } });
}

/* What the recorder tells. */
static void
take(void *ctx, const struct ipc_message *m)
{
    struct within *w = ctx;
    if (m->selector == IPC_TURNS)
        w->has_turns = m->field[0];
    if (m->selector == IPC_TURNS && w->record)
        wire_record_set_turns(w->record, w->has_turns);
    w->has_ended |= m->selector == IPC_ENDED;
}

/* -- the record -- */

/* Is there something of one that was killed? */
static bool
has_left(const struct within *w)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return session_sibling_path(w->words[TAPE], SESSION_WIRE, &path) == 0 &&
           access(buf_str(&path), F_OK) == 0;
}

static int
open_entire(struct within *w, struct err *err)
{
    const struct journal_entire_options opt = {
        .root = w->words[CWD],
        .session = w->words[ID],
        .version = AHR_VERSION,
        .cwd = w->words[CWD],
        .git_branch = buf_str(&w->branch),
        .start_ns = w->clock.real_ns,
    };
    if (!has_flag(w, 'e') || w->entire)
        return 0;
    /* One before us may have begun with it. */
    int r = has_left(w) ? journal_entire_open_again(&w->entire, &opt, err) : ERR_MISSING;
    if (r == ERR_MISSING && (r = journal_entire_open(&w->entire, &opt)) < 0)
        err_code(err, r, "cannot write to '%.300s/.entire'", opt.root);
    return r;
}

static int
open_record(struct within *w, struct err *err)
{
    AUTO(buf) branch = { 0 };
    int r = w->redact ? 0 : redact_own_open(&w->redact, NULL, err);
    if (r < 0)
        return r;
    if (*w->words[CWD])
        journal_git_branch(w->words[CWD], &branch);
    (void)redact_text(w->redact, branch.p, branch.n, &w->branch);
    r = open_entire(w, err);
    const struct wire_record_options opt = {
        .tape_path = w->words[TAPE],
        .session = w->words[ID],
        .clock = w->clock,
        .redact = w->redact,
        .control = &w->control,
        .entire = w->entire,
        .has_turns = w->has_turns,
        .say = say,
        .pace = pace,
        .ctx = w,
    };
    w->told_ns = clock_mono_ns();
    return r < 0 ? r : wire_record_open(&w->record, &opt, err);
}

/* That nothing can be recorded is no reason not to forward. */
static struct wire_record *
give_record(void *ctx)
{
    struct within *w = ctx;
    AUTO(buf) text = { 0 };
    struct err err;
    if (w->record || has_flag(w, 'b') || !open_record(w, &err))
        return w->record;
    buf_printf(&text, "%s; what goes over the wire is not recorded", err.text);
    say(w, buf_str(&text));
    return NULL;
}

/* -- serving -- */

static int
open_all(struct within *w, struct err *err)
{
    const char *told = w->words[UPSTREAM];
    struct view real = { (const uint8_t *)w->words[REAL_NS], strlen(w->words[REAL_NS]) };
    struct view boot = { (const uint8_t *)w->words[BOOT_NS], strlen(w->words[BOOT_NS]) };
    if (num_parse(real, INT64_MAX, &w->clock.real_ns) ||
        num_parse(boot, INT64_MAX, &w->clock.boot_ns) || !session_id_is(w->words[ID]) ||
        !calls_key_is(w->key))
        return err_set(err, ERR_USAGE, "this is for recorders to start, not for you");
    return calls_upstreams_init(&w->upstreams, environ, *told ? told : NULL, w->key, err);
}

static int
serve(struct within *w, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct wire_result done;
    struct err why;
    int r = open_all(w, err);
    if (r < 0)
        return r;
    r = tell_ready(w);
    if (r < 0)
        return err_code(err, r, "cannot serve");
    if (has_flag(w, 'g') && has_left(w)) /* nobody should have to wait for it */
        (void)give_record(w);
    const struct wire_options opt = {
        .listen_fd = LISTEN_FD,
        .upstreams = &w->upstreams,
        .ca_file = *w->words[CA_FILE] ? w->words[CA_FILE] : NULL,
        .open_record = give_record,
        .control = &w->control,
        .ctx = w,
    };
    r = wire_run(&opt, &done, err);
    /* A recorder that has vanished leaves its session to whoever recovers it. What there
     * is of a record is completed also by one that was to do without. */
    if (w->has_ended && !w->record && has_left(w) && open_record(w, &why) < 0) {
        buf_printf(&text, "%s; what went over the wire is not completed", why.text);
        say(w, buf_str(&text));
    }
    if (w->has_ended && w->record) {
        wire_record_finish(w->record, true);
        tell_used(w);
    }
    return r;
}

static void
release(struct within *w)
{
    wire_record_free(w->record);
    journal_entire_free(w->entire);
    redact_close(w->redact);
    calls_upstreams_release(&w->upstreams);
    wire_control_release(&w->control);
    buf_release(&w->branch);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    static const int ignored[] = { SIGINT, SIGHUP, SIGQUIT, SIGTSTP };
    const char *key = getenv(TAP_KEY_VARIABLE);
    struct within w = { .words = argv, .key = key ? key : "" };
    socklen_t n = sizeof(int);
    int type;
    (void)self;
    if (argc != WORDS || getsockopt(CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &n) ||
        getsockopt(LISTEN_FD, SOL_SOCKET, SO_TYPE, &type, &n))
        return err_set(err, ERR_USAGE, "this is for recorders to start, not for you");
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, "ahr-wire");
    (void)fcntl(CONTROL_FD, F_SETFL, O_NONBLOCK | fcntl(CONTROL_FD, F_GETFL));
    wire_control_init(&w.control, CONTROL_FD, has_flag(&w, 'a'));
    w.has_turns = has_flag(&w, 't');
    w.control.take = take;
    w.control.ctx = &w;
    int r = serve(&w, err);
    if (r < 0)
        say(&w, err->text);
    release(&w);
    return r < 0 ? r : CLI_DONE;
}

const struct cli_command net_within = { "within", "", NULL, NULL, run, false };
