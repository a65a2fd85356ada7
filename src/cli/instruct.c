/* SPDX-License-Identifier: MIT */
/* ahr instruct: notes an instruction to the agent of a session, and types it if that is
 * live. */
#include "cli/instruct.h"

#include <errno.h>
#include <inttypes.h>

#include "base/num.h"
#include "cli/live.h"
#include "cli/option.h"
#include "cli/recorder.h"
#include "cli/session.h"

struct args {
    const char *at;
    bool is_typed;
};

static int
parse_place(struct cli_place *ret, const char *text, struct err *err)
{
    bool is_byte = text[0] == '@';
    struct view digits = { (const uint8_t *)text + is_byte, strlen(text) - is_byte };
    uint64_t n;
    if (num_parse(digits, IPC_NONE - 1, &n) < 0)
        return err_set(err, ERR_USAGE,
                       "--at must be a snapshot's id, or a byte as @N, not '%s'", text);
    *ret = (struct cli_place){ .byte = n, .snapshot = is_byte ? IPC_NONE : n };
    return 0;
}

/* -- typing it -- */

/* Before anything is typed: where the session is now. A byte that is still to come is
 * refused here, since nobody can take back what was typed. */
static int
take_anchor(struct cli_live *l, struct cli_place *place, struct err *err)
{
    struct ipc_message done, m = { .selector = IPC_ANCHOR };
    int r = cli_ask_done(&l->ask, &m, &done, err);
    if (r < 0)
        return cli_live_error(l, r, err);
    if (place->byte == IPC_NONE)
        place->byte = done.field[1];
    if (place->snapshot == IPC_NONE && place->byte > done.field[1])
        return err_set(err, -EINVAL,
                       "session %s: byte %" PRIu64 " has not been written yet", l->called,
                       place->byte);
    return 0;
}

static int
type(const struct cli_command *self, struct cli_live *l, const char *text,
     bool *ret_is_delivered, struct err *err)
{
    struct client_typing typing = { .ask = &l->ask };
    int r = cli_type_text(&typing, text, true, err);
    if (r < 0)
        return cli_live_error(l, r, err);
    if (typing.is_stuck)
        cli_say(self,
                "the program has not read it yet: it waits in the recorder of session "
                "%s, and is noted as not delivered",
                l->called);
    *ret_is_delivered = !typing.is_stuck;
    return 0;
}

/* -- noting it -- */

static int
note(struct cli_live *l, struct cli_place place, const char *text, bool is_delivered,
     struct ipc_message *ret, struct err *err)
{
    struct ipc_message m = {
        .selector = IPC_INSTRUCT,
        .field = { place.byte, place.snapshot, IPC_NO_ROW, is_delivered },
        .bytes = { (const uint8_t *)text, strlen(text) },
    };
    return cli_ask_done(&l->ask, &m, ret, err);
}

/* After a refusal the recorder may have hung up. */
static int
open_again(struct cli_live *l, struct err *err)
{
    client_ask_close(&l->ask);
    return client_ask_open(&l->ask, buf_str(&l->at.ctl_path), NULL, err);
}

static int
note_at(struct cli_live *l, struct cli_place place, const char *text, bool is_delivered,
        struct ipc_message *ret, struct err *err)
{
    if (place.snapshot == IPC_NONE)
        return note(l, place, text, is_delivered, ret, err);
    struct cli_place at_snapshot = { .byte = IPC_NONE, .snapshot = place.snapshot };
    struct cli_place at_byte = { .byte = place.byte, .snapshot = IPC_NONE };
    int r = note(l, at_snapshot, text, is_delivered, ret, err);
    if (r != -EPERM || strncmp(err->text, "no snapshot", 11) != 0)
        return r;
    r = open_again(l, err);
    if (!r)
        r = note(l, at_byte, text, is_delivered, ret, err);
    return r != -EPERM
               ? r
               : err_set(err, r,
                         "%" PRIu64 " is neither a snapshot of it nor a byte that "
                         "it has written",
                         place.byte);
}

static int
instruct(const struct cli_command *self, struct cli_live *l, const struct args *args,
         struct cli_place place, const char *text, struct err *err)
{
    bool is_delivered = false;
    struct ipc_message done;
    int r = args->is_typed ? take_anchor(l, &place, err) : 0;
    if (!r && args->is_typed)
        r = type(self, l, text, &is_delivered, err);
    if (r < 0)
        return r;
    r = note_at(l, place, text, is_delivered, &done, err);
    if (r < 0 && is_delivered)
        cli_say(self, "the text was typed, but is not noted");
    return r < 0 ? cli_live_error(l, r, err) : cli_print_done(&done, err);
}

/* -- live, or not any more -- */

static int
instruct_live(const struct cli_command *self, const struct args *args,
              const char *session, struct cli_place place, const char *text,
              struct err *err)
{
    struct cli_live l;
    int r = cli_live_open(&l, session, err);
    if (r < 0)
        return r;
    r = instruct(self, &l, args, place, text, err);
    cli_live_release(&l);
    return r;
}

/* Nobody records it: *why says so. */
static int
instruct_ended(const struct args *args, const char *session, struct cli_place place,
               const char *text, struct err *why)
{
    AUTO(library_found) found = { 0 };
    struct ipc_message done;
    struct err ignored;
    if (cli_find(NULL, &found, session, &ignored) < 0)
        return why->code;
    if (args->is_typed)
        return err_set(why, ERR_MISSING,
                       "session '%s' has ended: there is nobody to type it to; without "
                       "--type it is noted",
                       session);
    int r = cli_instruct_ended(&found, place, text, &done, why);
    return r < 0 ? r : cli_print_done(&done, why);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    struct cli_place place = { IPC_NONE, IPC_NONE };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (count < 2)
        return err_set(err, ERR_USAGE,
                       "give a session and a text; see 'ahr instruct -h'");
    if (count > 2)
        return err_set(err, ERR_USAGE,
                       "'%s' is one word too many; put quotes around the text", argv[2]);
    r = cli_check_instruction(argv[1], err);
    if (!r && args.at)
        r = parse_place(&place, args.at, err);
    if (r < 0)
        return r;
    r = instruct_live(self, &args, argv[0], place, argv[1], err);
    return r == ERR_MISSING ? instruct_ended(&args, argv[0], place, argv[1], err) : r;
}

static const struct cli_option options[] = {
    { "at", 0, CLI_TEXT, offsetof(struct args, at), "BYTE|SNAPSHOT",
      "where it belongs: @BYTE, or a snapshot's id (now; the end)", 0, 0 },
    { "type", 0, CLI_FLAG, offsetof(struct args, is_typed), NULL,
      "also type it into the agent of a live session, and press Enter", 0, 0 },
    { 0 },
};

const struct cli_command cli_instruct = {
    "instruct",
    "SESSION [--at BYTE|SNAPSHOT] [--type] TEXT",
    "note an instruction to the agent at a place of a session",
    options,
    run,
    false,
};
