/* SPDX-License-Identifier: MIT */
#include "cli/join.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/ending.h"
#include "cli/log_find.h"
#include "cli/option.h"
#include "cli/session.h"
#include "cli/watch_run.h"
#include "ipc/socket.h"
#include "library/reach.h"
#include "session/meta.h"

struct join {
    const struct cli_command *self;
    const struct cli_viewing *viewing;
    uint8_t prefix;
    struct library_live live;
    const char *called; /* … the session */
    struct pty_tty tty; /* made raw; fd -1: none */
    char name[CLI_VIEWING_NAME];
};

static void
find_name(struct join *j)
{
    struct session_facts facts = { 0 };
    struct err ignored;
    if (session_meta_read(buf_str(&j->live.found.meta_path), &facts, &ignored) < 0)
        facts.name[0] = '\0';
    cli_viewing_name(facts.name, j->live.found.id, j->name);
}

static void
say_now(void *ctx, const char *text)
{
    struct join *j = ctx;
    cli_say(j->self, "%s", text);
}

static bool
is_live(void *ctx)
{
    const struct join *j = ctx;
    return cli_is_live(j->live.found.id);
}

static int
conclude(const struct join *j, const struct client_result *done)
{
    const char *id = j->called;
    struct cli_ending ending = { .command = j->self, .id = j->live.found.id };
    struct buf text = done->text;
    switch (done->end) {
    case CLIENT_ENDED:
        cli_say_losses(&ending, done);
        cli_say_end(&ending, done);
        return CLI_DONE;
    case CLIENT_DETACHED:
        cli_say(j->self, "detached from session %s; it goes on", id);
        if (done->signo)
            return 128 + done->signo;
        return done->has_failed ? CLI_FAILED : CLI_DONE;
    case CLIENT_DROPPED:
        if (text.n)
            cli_say(j->self, "session %s: %s", id, buf_str(&text));
        else
            cli_say(j->self,
                    "this client was disconnected because it did not read; the session "
                    "goes on: 'ahr attach %s'",
                    id);
        return CLI_FAILED;
    case CLIENT_HOST_GONE:
    case CLIENT_LEFT:
        cli_say(j->self,
                "the recorder of session %s has vanished; 'ahr recover %s' makes the "
                "recording whole",
                id, id);
        return CLI_FAILED;
    }
    return CLI_FAILED;
}

static int
instruct(void *ctx, const struct tui_wish *wish, struct play_event *ret, struct err *err)
{
    struct join *j = ctx;
    const char *path = buf_str(&j->live.found.tape_path); /* an out-file stays there */
    bool is_there = access(path, F_OK) == 0;
    return cli_viewing_instruct(is_there ? path : j->live.found.id, wish, ret, err);
}

static void
remember(void *ctx, bool is_typed)
{
    (void)ctx;
    cli_viewing_remember(is_typed);
}

static int
run_client(struct join *j, enum client_kind kind, int link_fd)
{
    bool is_out_terminal = isatty(STDOUT_FILENO);
    struct client_options opt = {
        .kind = kind,
        .link_fd = link_fd,
        .in_fd = -1,
        .out_fd = STDOUT_FILENO,
        .tty = &j->tty,
        .is_out_terminal = is_out_terminal,
        .cols = 80,
        .rows = 24,
        .prefix = j->prefix,
        .deliver = cli_viewing_deliver(j->viewing),
        .begins_back = j->viewing->begins_back,
        .name = j->name,
        .tape_path = buf_str(&j->live.found.tape_path),
        .done_tape_path = buf_str(&j->live.done_tape_path),
        .say = say_now,
        .is_session_live = is_live,
        .instruct = instruct,
        .remember = remember,
        .ctx = j,
    };
    if (is_out_terminal && pty_tty_init(&j->tty, STDIN_FILENO) &&
        pty_tty_is_foreground(&j->tty))
        opt.in_fd = STDIN_FILENO;
    else
        j->tty.fd = -1;
    pty_size(STDOUT_FILENO, &opt.cols, &opt.rows);
    struct client_result done = { 0 };
    client_run(&opt, &done);
    int r = conclude(j, &done);
    buf_release(&done.text);
    return r;
}

/* As whatever reads a terminal: in its background it stops, until it is fetched. */
static void
come_to_foreground(void)
{
    struct pty_tty tty;
    if (isatty(STDOUT_FILENO) && pty_tty_init(&tty, STDIN_FILENO) &&
        !pty_tty_is_foreground(&tty))
        raise(SIGTTIN);
}

/* A run has no terminal to join; its logs are what it shows. */
static int
join_run(struct join *j, enum client_kind kind, struct err *err)
{
    AUTO(cli_log_found) found = { 0 };
    char follow[] = "-f";
    char *argv[] = { follow, j->live.found.id, NULL };
    if (kind == CLIENT_ATTACH)
        return err_set(err, ERR_USAGE,
                       "session %s is a run, which has no terminal: 'ahr watch %s' "
                       "follows it, 'ahr send %s TEXT' gives it a line",
                       j->called, j->called, j->called);
    if (!isatty(STDOUT_FILENO))
        return cli_log.run(&cli_log, 2, argv, err);
    int r = cli_log_find(j->self, &found, j->live.found.id, err);
    return r < 0 ? r : cli_watch_run(j->self, buf_str(&found.dir), j->called, err);
}

int
cli_join(const struct cli_command *self, enum client_kind kind,
         const struct cli_viewing *viewing, int argc, char **argv, struct err *err)
{
    struct join j = { .self = self, .viewing = viewing, .tty.fd = -1 };
    if (argc > 1)
        return err_set(err, ERR_USAGE, "give one session; see 'ahr %s -h'", self->name);
    int r = cli_viewing_prefix(viewing, &j.prefix, err);
    if (!r)
        r = library_reach(&j.live, argc ? argv[0] : NULL, err);
    if (r < 0)
        return r;
    j.called = cli_called(argc ? argv[0] : NULL, j.live.found.id);
    if (cli_is_run(&j.live.found)) {
        r = join_run(&j, kind, err);
        library_live_release(&j.live);
        return r;
    }
    find_name(&j);
    come_to_foreground();
    client_hold_signals();
    struct ipc_address at = { .path = buf_str(&j.live.ctl_path) };
    int fd = ipc_connect(&at, err);
    r = fd < 0 ? fd : run_client(&j, kind, fd);
    if (fd >= 0)
        close(fd);
    library_live_release(&j.live);
    return r;
}
