/* SPDX-License-Identifier: MIT */
/*
 * ahr fs snapshot: the files as they are now, and a mark of that in the recording.
 *
 * The recorder is asked for the place first, then the files are read, then it is told: so
 * nothing that they show came before it. The files are worth more than the mark: without
 * a recorder they are kept all the same.
 */
#include "base/clock.h"
#include "snap/take.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/fs_skipped.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/recorder.h"
#include "cli/report.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "redact/own.h"
#include "session/folder.h"
#include "session/home.h"
#include "snap/root.h"
#include "snap/tidy.h"

struct args {
    const char *label, *session, *dir;
    bool takes_all;
    struct snap_limits limits;
    uint64_t budget_bytes;
    int upkeep;
};

/* Whom the snapshot is told, and where it is in that recording. */
struct place {
    struct cli_recorder recorder;
    struct client_ask ask; /* fd -1: nobody is told */
    uint64_t anchor_byte, ts_ns;
    struct err why; /* code 0: there is none to be told */
};

/* -- the recorder -- */

static void
place_release(struct place *p)
{
    if (p->ask.fd >= 0)
        client_ask_close(&p->ask);
    cli_recorder_release(&p->recorder);
}

static void
lose(struct place *p, int code)
{
    p->why.code = cli_recorder_error(&p->recorder, code, &p->why);
    if (p->ask.fd >= 0)
        client_ask_close(&p->ask);
    p->ask.fd = -1;
    p->anchor_byte = SNAP_NONE;
}

/* A recorder of another make only takes snapshots: it is told at once, and the place is
 * that of its answer. */
static void
ask_place(struct place *p, uint64_t id, const char *label)
{
    struct ipc_message done = { 0 }, m = { .selector = IPC_ANCHOR };
    if (!p->recorder.has_anchors)
        m = (struct ipc_message){ .selector = p->recorder.selector,
                                  .field = { id },
                                  .bytes = { (const uint8_t *)label, strlen(label) } };
    int r = cli_recorder_open(&p->ask, &p->recorder, &p->why);
    if (r < 0)
        p->ask.fd = -1;
    if (!r)
        r = cli_ask_done(&p->ask, &m, &done, &p->why);
    if (r < 0) {
        lose(p, r);
        return;
    }
    p->anchor_byte = done.field[1];
    p->ts_ns = done.field[2];
}

/* An error only for a session that was asked for by name. */
static int
find_place(struct place *p, const struct args *a, uint64_t id, struct err *err)
{
    bool is_asked = a->session && a->session != getenv("AHR_SESSION");
    struct err why;
    int r = cli_recorder_find(&p->recorder, a->session, &why);
    if (r < 0 && is_asked)
        return err_set(err, r, "%s", why.text);
    if (!r)
        ask_place(p, id, a->label);
    return 0;
}

static void
tell(struct place *p, const struct snap_facts *f)
{
    if (p->ask.fd < 0 || !p->recorder.has_anchors)
        return;
    struct ipc_message done,
        m = { .selector = p->recorder.selector,
              .field = { f->id },
              .bytes = { (const uint8_t *)f->label, strlen(f->label) } };
    int r = cli_ask_done(&p->ask, &m, &done, &p->why);
    if (r < 0)
        lose(p, r);
}

static void
say_place(const struct cli_command *self, const struct place *p)
{
    if (p->ask.fd >= 0)
        return;
    if (p->why.code && cli_recorder_is_run(&p->recorder))
        cli_say(self, "session %s is a run: the snapshot goes with it by its time alone",
                p->recorder.live.found.id);
    else if (p->why.code)
        cli_say(self, "%.400s; taken without a place in a recording", p->why.text);
    else
        cli_say(self, "no recorder here: taken without a place in a recording");
}

/* -- what it is -- */

/* Without its secrets, as a recorder has it; where they cannot be looked for there is
 * none. */
static const char *
mask_label(const char *label, struct buf *room)
{
    struct redact *redact = NULL;
    struct err ignored;
    if (!label || !*label)
        return "";
    if (redact_own_open(&redact, NULL, &ignored) < 0 &&
        redact_open(&redact, NULL, &ignored) < 0)
        return "";
    int r = redact_text(redact, label, strlen(label), room);
    redact_close(redact);
    return r < 0 || room->n > IPC_LABEL_MAX ? "" : buf_str(room);
}

static bool
has_session(const char *home, const char *id)
{
    return session_folder_exists(home, "live", id) ||
           session_folder_exists(home, "sessions", id);
}

/* Snapshots go with their session: of one that this library does not have they would stay
 * for ever. */
static const char *
session_of(const struct place *p, const char *home)
{
    const char *id = p->recorder.live.found.id;
    if (!*id)
        id = getenv("AHR_SESSION");
    return id && session_id_is(id) && has_session(home, id) ? id : NULL;
}

/* Who has deleted the session may have done so before this one was among its. */
static int
check_session(const struct snap_request *q, struct err *err)
{
    if (!q->session || has_session(q->home, q->session))
        return 0;
    int r = snap_forget_session(q->home, q->session, err);
    return r < 0 ? r
                 : err_set(err, ERR_MISSING,
                           "session %s was deleted meanwhile, and the snapshot with it",
                           q->session);
}

static void
step(void *ctx, uint64_t files, uint64_t bytes)
{
    (void)files;
    cli_progress_step(ctx, bytes, 0);
}

static int
take(const struct cli_command *self, struct snap_request *q, struct snap_taken *ret,
     struct err *err)
{
    struct cli_progress progress;
    cli_progress_begin(&progress, self, q->root);
    q->progress = step;
    q->ctx = &progress;
    int r = snap_take(q, ret, err);
    cli_progress_end(&progress);
    return r;
}

/* -- what is said of it -- */

static int
print(const struct snap_taken *t, const struct place *p, struct err *err)
{
    AUTO(buf) line = { 0 };
    struct json j = { .out = &line };
    json_open(&j, '{');
    json_key(&j, "id"), json_u64(&j, t->facts.id);
    json_key(&j, "commit"), json_str(&j, t->facts.commit);
    json_key(&j, "anchor_byte");
    if (p->anchor_byte == SNAP_NONE)
        json_none(&j);
    else
        json_u64(&j, p->anchor_byte);
    json_key(&j, "ts_ns"), json_u64(&j, t->facts.ts_ns);
    json_key(&j, "files"), json_u64(&j, t->facts.files);
    json_key(&j, "bytes"), json_u64(&j, t->facts.bytes);
    cli_fs_skipped_json(&j, &t->skips);
    json_close(&j, '}');
    if (line.failed)
        return err_code(err, line.failed, "cannot print the snapshot");
    puts(buf_str(&line));
    return 0;
}

/* -- all -- */

static int
take_and_tell(const struct cli_command *self, struct args *a, struct snap_request *q,
              struct err *err)
{
    struct place p = { .ask.fd = -1,
                       .anchor_byte = SNAP_NONE,
                       .ts_ns = cli_when_now_ns() };
    struct snap_taken taken;
    int r = find_place(&p, a, q->id, err);
    if (r < 0)
        return r;
    q->session = session_of(&p, q->home);
    q->ts_ns = p.ts_ns;
    q->anchor_byte = p.anchor_byte;
    r = take(self, q, &taken, err);
    if (r < 0) {
        place_release(&p);
        return r;
    }
    tell(&p, &taken.facts);
    r = check_session(q, err);
    if (!r)
        r = print(&taken, &p, err);
    if (!r)
        say_place(self, &p);
    if (!r && isatty(STDERR_FILENO))
        cli_fs_skipped_say(self, &taken.skips);
    snap_taken_release(&taken);
    place_release(&p);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) root = { .ceiling = PATH_MAX };
    AUTO(buf) label = { 0 };
    struct args a = { .dir = ".",
                      .limits = snap_limits_defaults,
                      .budget_bytes = SNAP_BUDGET };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE,
                       "'%s' is one word too many; see 'ahr fs snapshot -h'", argv[0]);
    r = a.label ? cli_check_label(a.label, err) : 0;
    if (!r)
        r = session_home(&home, err);
    if (!r)
        r = snap_root(&root, a.dir, err);
    if (r < 0)
        return r;
    a.label = mask_label(a.label, &label);
    struct snap_request q = { .home = buf_str(&home),
                              .root = buf_str(&root),
                              .label = a.label,
                              .id = clock_id(),
                              .takes_all = a.takes_all,
                              .limits = a.limits };
    r = take_and_tell(self, &a, &q, err);
    if (!r)
        cli_tidy_later(a.upkeep, q.home, a.budget_bytes);
    return r;
}

static const struct cli_option options[] = {
    { "label", 0, CLI_TEXT, offsetof(struct args, label), "TEXT",
      "what it is, in one line", 0, 0 },
    { "all", 0, CLI_FLAG, offsetof(struct args, takes_all), NULL,
      "also what .gitignore names", 0, 0 },
    { "max-file", 0, CLI_SIZE, offsetof(struct args, limits.file_bytes), "SIZE",
      "leave out files that are larger (128M)", 1, 0 },
    { "max-files", 0, CLI_NUMBER, offsetof(struct args, limits.files), "N",
      "leave out files above that number (1000000)", 1, UINT64_MAX },
    { "max-total", 0, CLI_SIZE, offsetof(struct args, limits.total_bytes), "SIZE",
      "leave out what is more than that in all (8G)", 1, 0 },
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "of that live session (the one around this command)", 0, 0 },
    { "dir", 0, CLI_TEXT, offsetof(struct args, dir), "DIR",
      "of the work tree around that folder (the current one)", 0, 0 },
    { "budget", 0, CLI_SIZE, offsetof(struct args, budget_bytes), "SIZE",
      "tidy when all snapshots take more than that (10G)", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep, "tidy afterwards, in the background"),
    { 0 },
};

const struct cli_command cli_fs_snapshot = {
    "fs snapshot",
    "[--label TEXT] [--all] [--max-file SIZE] [--max-files N] [--max-total SIZE] "
    "[--session SESSION] [--dir DIR] [--budget SIZE] [--upkeep auto|off]",
    "keep the files as they are now",
    options,
    run,
    false,
};
