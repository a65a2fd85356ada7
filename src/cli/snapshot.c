/* SPDX-License-Identifier: MIT */
/* ahr snapshot: marks this moment in a live session. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/live.h"
#include "cli/option.h"
#include "session/sockets.h"

struct args {
    uint64_t id; /* IPC_NONE: not given */
    const char *label, *session;
};

/* Whom to tell. */
struct recorder {
    const char *address, *token; /* borrowed */
    const char *variable;        /* that named it; NULL: none did */
    uint8_t selector;
    struct library_live live; /* reached by name */
};

static const char *
variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool
use_variable(struct recorder *r, const char *name, uint8_t selector)
{
    r->address = variable(name);
    r->variable = name;
    r->selector = selector;
    r->token = variable("AHR_IPC_TOKEN");
    return r->address;
}

static int
reach(struct recorder *r, const char *session, struct err *err)
{
    const char *around = variable("AHR_SESSION");
    if (around && !strcmp(session, around) &&
        use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL))
        return 0;
    int e = library_reach(&r->live, session, err);
    if (e < 0)
        return e;
    /* The session may not use its control socket, but it has another one. */
    if (around && !strcmp(r->live.found.id, around) &&
        use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL))
        return 0;
    *r = (struct recorder){ .address = buf_str(&r->live.ctl_path),
                            .selector = IPC_SNAPSHOT_MANUAL,
                            .live = r->live };
    return 0;
}

/* A recorder of another make has no ctl.sock beside it. */
static bool
is_our_socket(const char *path)
{
    AUTO(buf) ctl = { 0 };
    buf_printf(&ctl, "%.*s/" SESSION_CTL_SOCK, (int)file_dir_len(path), path);
    return access(buf_str(&ctl), F_OK) == 0;
}

static int
find_recorder(struct recorder *r, const struct args *args, struct err *err)
{
    /* $AHR_SESSION also is the option's variable. Inside of a session it only says which
     * one that is, and there are better ways to reach it. */
    bool is_asked = args->session && args->session != getenv("AHR_SESSION");
    if (!is_asked && (use_variable(r, "AHR_IPC", IPC_SNAPSHOT_MANUAL) ||
                      use_variable(r, "AH_RECORDER_IPC_SOCKET", IPC_SNAPSHOT))) {
        if (is_our_socket(r->address))
            r->selector = IPC_SNAPSHOT_MANUAL;
        return 0;
    }
    if (args->session && *args->session)
        return reach(r, args->session, err);
    return err_set(err, ERR_MISSING,
                   "no recorder here: run this inside of 'ahr record', or say "
                   "--session SESSION");
}

static int
open_recorder(struct client_ask *ret, const struct recorder *r, struct err *err)
{
    struct err why;
    int e = client_ask_open(ret, r->address, r->token, &why);
    if (e == ERR_MISSING && r->variable)
        return err_set(err, e,
                       "$%s names '%s', but no recorder listens there: its session has "
                       "ended; run this inside of 'ahr record', or say --session SESSION",
                       r->variable, r->address);
    if (e < 0 && r->variable)
        return err_set(err, e, "$%s: %.400s", r->variable, why.text);
    return e < 0 ? err_set(err, e, "%s", why.text) : 0;
}

static int
check_label(const char *label, struct err *err)
{
    size_t n = strlen(label);
    if (n > IPC_LABEL_MAX)
        return err_set(err, ERR_USAGE, "--label is longer than %d bytes", IPC_LABEL_MAX);
    if (!utf8_is_text(label, n))
        return err_set(err, ERR_USAGE, "--label is not UTF-8");
    if (!utf8_is_line(label, n))
        return err_set(err, ERR_USAGE,
                       "--label has control characters in it; text of one line, please");
    return 0;
}

/* Microseconds: no counter to share, and below 2^53. */
static uint64_t
make_id(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int
tell(const struct recorder *r, const struct args *args, struct err *err)
{
    struct client_ask ask;
    int e = open_recorder(&ask, r, err);
    if (e < 0)
        return e;
    const char *label = args->label ? args->label : "";
    struct ipc_message done, m = {
        .selector = r->selector,
        .field = { args->id == IPC_NONE ? make_id() : args->id },
        .bytes = { (const uint8_t *)label, strlen(label) },
    };
    e = cli_ask_done(&ask, &m, &done, err);
    const char *around = variable("AHR_SESSION");
    if (e == -EPERM && !r->variable && around && !strcmp(around, r->live.found.id))
        e = err_set(err, ERR_MISSING,
                    "session %s takes no snapshots from inside: it was recorded with "
                    "'--ipc off'",
                    around);
    if (!e)
        e = cli_print_done(&done, err);
    client_ask_close(&ask);
    return e;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .id = IPC_NONE };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (e)
        return e;
    if (count)
        return err_set(err, ERR_USAGE, "'%s' is one word too many; see 'ahr snapshot -h'",
                       argv[0]);
    e = args.label ? check_label(args.label, err) : 0;
    if (e < 0)
        return e;
    struct recorder r = { 0 };
    e = find_recorder(&r, &args, err);
    if (e < 0)
        return e;
    e = tell(&r, &args, err);
    library_live_release(&r.live);
    return e;
}

static const struct cli_option options[] = {
    { "id", 0, CLI_NUMBER, offsetof(struct args, id), "N",
      "the snapshot's number (microseconds since 1970)", 0, IPC_NONE - 1 },
    { "label", 0, CLI_TEXT, offsetof(struct args, label), "TEXT",
      "what it is, in one line", 0, 0 },
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "of that session (the one around this command)", 0, 0 },
    { 0 },
};

const struct cli_command cli_snapshot = {
    "snapshot",
    "[--id N] [--label TEXT] [--session SESSION]",
    "mark this moment in a live session",
    options,
    run,
    false,
};
