/* SPDX-License-Identifier: MIT */
/*
 * ahr fs auto: what a recorder starts to take snapshots: at once, and whenever files have
 * changed and come to rest. The recorder is at SESSION_UPKEEP_FD; when it has gone, what
 * is not in a snapshot yet goes into a last one, and that is the end.
 *
 * Nobody is here to be told anything: what goes wrong is the recorder's log's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "cli/live.h"
#include "cli/option.h"
#include "cli/recorder.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/lines.h"
#include "session/upkeep.h"
#include "snap/root.h"
#include "snap/take.h"
#include "snap/tidy.h"
#include "snap/watch.h"

enum {
    PATIENCE_S = 60,     /* while changes never stop … */
    PATIENCE_RESTS = 30, /* … or so many times what counts as a rest */
    REST_MAX_S = 86400,  /* so that it all fits into milliseconds */
    NICE = 19,
    BUT_MAX = 5,
    IOPRIO_WHO_PROCESS = 1,
    IOPRIO_IDLE = 3 << 13, /* the class for when nobody else wants the disk */
};

struct args {
    struct snap_limits limits;
    uint64_t budget_bytes;
    int upkeep;
};

struct automat {
    const struct args *args;
    const char *session;
    uint64_t rest_s, since_ns;
    struct buf home, root;
    struct buf but[BUT_MAX - 1]; /* what the recorder writes into the tree */
    const char *but_list[BUT_MAX];
    bool is_outside; /* the recording is no part of the library */
    struct client_ask ask;
    struct ipc_message end; /* where the session has ended, once that is known */
    struct err said;        /* the last trouble: it is not said again and again */
};

static void
automat_release(struct automat *a)
{
    buf_release(&a->home);
    buf_release(&a->root);
    for (size_t i = 0; i < sizeof(a->but) / sizeof(a->but[0]); i++)
        buf_release(&a->but[i]);
    client_ask_close(&a->ask);
}

/* Whoever else has something to do comes first: the agent above all. */
static void
stand_back(void)
{
    prctl(PR_SET_NAME, "ahr-fs-auto");
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
    signal(SIGPIPE, SIG_IGN);
}

static void
say(struct automat *a, const struct err *what)
{
    if (!strcmp(a->said.text, what->text))
        return;
    struct err ignored;
    a->said = *what;
    struct ipc_message m = {
        .selector = IPC_SAID, .bytes = { (const uint8_t *)what->text, strlen(what->text) }
    };
    (void)client_ask_send(&a->ask, &m, 0, &ignored);
}

/* Those who have tidied after the last one. */
static void
reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* -- one snapshot -- */

/* Snapshots go with their session. It moves from one place to the other. */
static bool
has_session(struct automat *a)
{
    const char *home = buf_str(&a->home);
    return a->is_outside || session_folder_exists(home, "live", a->session) ||
           session_folder_exists(home, "sessions", a->session);
}

/* The recorder is told, if it is still there. It may have its last word to say first. */
static void
tell(struct automat *a, uint64_t id)
{
    struct ipc_message done, m = { .selector = IPC_SNAPSHOT, .field = { id } };
    struct err ignored;
    if (!cli_ask_done(&a->ask, &m, &done, &ignored) && done.field[0] != id)
        a->end = done;
}

/* 0 or 1, as snap_take(). */
static int
take(struct automat *a, const struct ipc_message *place, struct err *err)
{
    struct snap_request q = { .home = buf_str(&a->home),
                              .root = buf_str(&a->root),
                              .session = a->session,
                              .id = clock_id(),
                              .ts_ns = place->field[2],
                              .anchor_byte = place->field[1],
                              .is_auto = true,
                              .only_changed = true,
                              .is_gentle = true,
                              .limits = a->args->limits };
    struct snap_taken taken;
    struct err ignored;
    int r = snap_take(&q, &taken, err);
    if (r)
        return r;
    tell(a, taken.facts.id);
    snap_taken_release(&taken);
    if (!has_session(a)) /* somebody has deleted it meanwhile */
        (void)snap_forget_session(q.home, a->session, &ignored);
    cli_tidy_later(a->args->upkeep, q.home, a->args->budget_bytes);
    return 0;
}

static void
try_take(struct automat *a, const struct ipc_message *place)
{
    struct err err = { 0 };
    reap();
    if (!has_session(a))
        return;
    if (take(a, place, &err) < 0)
        say(a, &err);
    else
        a->said = (struct err){ 0 };
}

static void
take_here(struct automat *a)
{
    struct ipc_message ask = { .selector = IPC_ANCHOR }, place;
    struct err ignored;
    if (!cli_ask_done(&a->ask, &ask, &place, &ignored))
        try_take(a, &place);
}

/* A recorder that was killed has said nothing. */
static void
take_last(struct automat *a)
{
    struct err ignored;
    if (!a->end.field[2] && cli_ask_done(&a->ask, NULL, &a->end, &ignored) < 0)
        a->end = (struct ipc_message){ .field = { 0, SNAP_NONE, cli_when_now_ns() } };
    try_take(a, &a->end);
}

static int
watch(struct automat *a, struct err *err)
{
    struct snap_watch_options opt = { .home = buf_str(&a->home),
                                      .root = buf_str(&a->root),
                                      .but = a->but_list,
                                      .since_ns = a->since_ns };
    unsigned rest_ms = (unsigned)a->rest_s * 1000;
    uint64_t patience_s = a->rest_s * PATIENCE_RESTS;
    patience_s = patience_s > PATIENCE_S ? patience_s : PATIENCE_S;
    struct snap_watch *w;
    int r = snap_watch_new(&w, &opt, err);
    if (r < 0)
        return r;
    take_here(a); /* what there is to go back to, whatever is changed first */
    while ((r = snap_watch_wait(w, rest_ms, (unsigned)patience_s * 1000, a->ask.fd,
                                err)) > 0)
        take_here(a);
    snap_watch_free(w);
    if (!r)
        take_last(a);
    return r;
}

/* -- what is asked for -- */

/* The recording and what stands beside it, where they lie in no library of ours. */
static int
find_but(struct automat *a, const char *out_file)
{
    static const char *const siblings[] = { SESSION_META, SESSION_SNAPSHOTS,
                                            SESSION_INSTRUCTIONS };
    AUTO(buf) dir = { 0 };
    AUTO(buf) path = { 0 };
    char real[PATH_MAX];
    buf_append(&dir, out_file, file_dir_len(out_file));
    if (!realpath(dir.n ? buf_str(&dir) : "/", real))
        return 0;
    buf_printf(&path, "%s/%s", real, file_name(out_file));
    buf_append(&a->but[0], path.p, path.n);
    int r = path.failed | a->but[0].failed;
    for (size_t i = 0; i < sizeof(siblings) / sizeof(siblings[0]) && !r; i++)
        r = session_sibling_path(buf_str(&path), siblings[i], &a->but[i + 1]);
    for (size_t i = 0; i < sizeof(a->but) / sizeof(a->but[0]) && !r; i++)
        a->but_list[i] = buf_str(&a->but[i]);
    return r;
}

static int
prepare(struct automat *a, int count, char **argv, struct err *err)
{
    struct view rest = { 0 }, since = { 0 };
    if (count == 4 || count == 5) {
        rest = (struct view){ (const uint8_t *)argv[1], strlen(argv[1]) };
        since = (struct view){ (const uint8_t *)argv[2], strlen(argv[2]) };
    }
    if (!rest.n || !session_id_is(argv[0]) ||
        num_parse(rest, REST_MAX_S, &a->rest_s) < 0 ||
        num_parse(since, INT64_MAX, &a->since_ns) < 0 || a->ask.fd < 0)
        return err_set(err, ERR_USAGE, "this is for recorders to start, not for you");
    a->session = argv[0];
    a->is_outside = count == 5;
    int r = session_home(&a->home, err);
    if (!r)
        r = snap_root(&a->root, argv[3], err);
    if (!r && a->is_outside && find_but(a, argv[4]) < 0)
        r = err_code(err, -ENOMEM, "cannot watch '%s'", buf_str(&a->root));
    return r;
}

static int
find_recorder(void)
{
    int type;
    socklen_t n = sizeof(type);
    if (getsockopt(SESSION_UPKEEP_FD, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
        return -1;
    (void)fcntl(SESSION_UPKEEP_FD, F_SETFD, FD_CLOEXEC); /* no git is to keep it open */
    return SESSION_UPKEEP_FD;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .limits = snap_limits_defaults, .budget_bytes = SNAP_BUDGET };
    struct automat a = { .args = &args, .ask.fd = find_recorder() };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = prepare(&a, count, argv, err);
    if (!r) {
        stand_back();
        r = watch(&a, err);
    }
    if (r < 0 && a.ask.fd >= 0)
        say(&a, err);
    automat_release(&a);
    return r;
}

/* As of `fs snapshot`: by variables and the config file. */
static const struct cli_option options[] = {
    { "max-file", 0, CLI_SIZE, offsetof(struct args, limits.file_bytes), "SIZE", "", 1,
      0 },
    { "max-files", 0, CLI_NUMBER, offsetof(struct args, limits.files), "N", "", 1,
      UINT64_MAX },
    { "max-total", 0, CLI_SIZE, offsetof(struct args, limits.total_bytes), "SIZE", "", 1,
      0 },
    { "budget", 0, CLI_SIZE, offsetof(struct args, budget_bytes), "SIZE", "", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep, ""),
    { 0 },
};

const struct cli_command cli_fs_auto = { "fs auto", "", NULL, options, run, false };
