/* SPDX-License-Identifier: MIT */
#include "cli/branch_tell.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "cli/live.h"
#include "cli/option.h"
#include "library/instruct.h"
#include "session/upkeep.h"

enum {
    LOOK_MS = 50,
    TRIES = 40, /* while somebody else is at a session that has just ended */
};

static void
sleep_ms(unsigned ms)
{
    struct timespec t = { .tv_nsec = (long)ms * 1000000 };
    nanosleep(&t, NULL);
}

/* -- notes -- */

static int
note_live(const char *id, const struct session_instruction *i, struct err *err)
{
    struct cli_live l;
    struct ipc_message ignored, m = {
        .selector = IPC_INSTRUCT,
        .field = { i->anchor_byte, i->snapshot_id, IPC_NO_ROW, i->is_delivered },
        .bytes = i->text,
    };
    int r = cli_live_open(&l, id, err);
    if (r < 0)
        return r;
    r = cli_ask_done(&l.ask, &m, &ignored, err);
    if (r < 0)
        r = cli_live_error(&l, r, err);
    cli_live_release(&l);
    return r;
}

/* In one that has ended, or else is about to. */
static int
note_stored(const char *id, struct session_instruction *i, struct err *err)
{
    int r = -EBUSY;
    for (int n = 0; r < 0 && n < TRIES; n++) {
        AUTO(library_found) found = { 0 };
        if (n)
            sleep_ms(LOOK_MS);
        r = library_find_by_files(&found, id, err);
        if (!r && !found.is_live)
            r = library_instruct(&found, i, err);
        else if (!r)
            r = err_set(err, -EBUSY, "session %s is not over yet", id);
    }
    return r;
}

int
cli_branch_note(struct library_found *session, const struct snap_facts *at,
                const char *text, struct err *err)
{
    struct session_instruction i = {
        .anchor_byte = at->anchor_byte == SNAP_NONE ? 0 : at->anchor_byte,
        .snapshot_id = at->id,
        .row = SESSION_NO_ROW,
        .text = { (const uint8_t *)text, strlen(text) },
    };
    int r = session->is_live ? note_live(session->id, &i, err) : -ENOENT;
    return r < 0 ? note_stored(session->id, &i, err) : r;
}

/* -- ahr branch-tell -- */

/* Whether it was, and where, is told in *i. */
static void
type(const char *id, const char *text, struct session_instruction *i)
{
    struct cli_live l;
    struct err ignored;
    if (cli_live_open(&l, id, &ignored) < 0)
        return;
    struct client_typing typing = { .ask = &l.ask };
    int r = cli_live_settle(&l, &i->anchor_byte, &ignored);
    if (!r)
        r = cli_type_text(&typing, text, true, &ignored);
    i->is_delivered = !r && !typing.is_stuck;
    cli_live_release(&l);
}

struct args {
    bool is_given;
};

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count != 2)
        return err_set(err, ERR_USAGE, "ahr branch starts this");
    struct session_instruction i = {
        .anchor_byte = IPC_NONE,
        .snapshot_id = SESSION_NONE,
        .row = SESSION_NO_ROW,
        .text = { (const uint8_t *)argv[1], strlen(argv[1]) },
        .is_delivered = a.is_given,
    };
    if (!a.is_given)
        type(argv[0], argv[1], &i);
    r = note_live(argv[0], &i, err);
    if (r >= 0)
        return r;
    if (i.anchor_byte == IPC_NONE)
        i.anchor_byte = 0;
    return note_stored(argv[0], &i, err);
}

int
cli_branch_tell_start(const char *home, const char *id, const char *text, bool is_typed)
{
    const char *words[] = { "branch-tell", "--given", "--", id, text, NULL };
    if (is_typed)
        words[1] = "--given=no";
    return session_upkeep_start(home, words, -1, NULL);
}

static const struct cli_option options[] = {
    { "given", 0, CLI_FLAG, offsetof(struct args, is_given), NULL,
      "the command line has it", 0, 0 },
    { 0 },
};

const struct cli_command cli_branch_tell = {
    "branch-tell", "[--given] SESSION TEXT", NULL, options, run, false,
};
