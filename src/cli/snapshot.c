/* SPDX-License-Identifier: MIT */
/* ahr snapshot: marks this moment in a live session. */
#include "base/clock.h"
#include "cli/option.h"
#include "cli/recorder.h"

struct args {
    uint64_t id; /* IPC_NONE: not given */
    const char *label, *session;
};

static int
tell(const struct cli_recorder *r, const struct args *args, struct err *err)
{
    struct client_ask ask;
    int e = cli_recorder_open(&ask, r, err);
    if (e < 0)
        return e;
    const char *label = args->label ? args->label : "";
    struct ipc_message done, m = {
        .selector = r->selector,
        .field = { args->id == IPC_NONE ? clock_id() : args->id },
        .bytes = { (const uint8_t *)label, strlen(label) },
    };
    e = cli_ask_done(&ask, &m, &done, err);
    if (e < 0)
        e = cli_recorder_error(r, e, err);
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
    e = args.label ? cli_check_label(args.label, err) : 0;
    if (e < 0)
        return e;
    struct cli_recorder r;
    e = cli_recorder_find(&r, args.session, err);
    if (e < 0)
        return e;
    e = tell(&r, &args, err);
    cli_recorder_release(&r);
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
