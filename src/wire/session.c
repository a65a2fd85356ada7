/* SPDX-License-Identifier: MIT */
#include "wire/session.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/git_branch.h"
#include "redact/own.h"
#include "session/meta.h"
#include "session/upkeep.h"
#include "tape/writer.h"

enum { COLS = 80, ROWS = 24 }; /* a recording has a size; this one shows nothing */

/* -- facts -- */

static int
write_facts(struct wire_session *s, bool is_last, struct err *err)
{
    static const char *const words[] = { "ahr", "proxy" };
    struct wire_record_facts f = { 0 };
    struct session_usage usage = SESSION_NO_USAGE;
    if (s->record)
        f = wire_record_facts(s->record);
    if (f.totals && f.totals->is_known) {
        struct turn_usage u = turn_totals_usage(f.totals);
        usage = (struct session_usage){ u.input_tokens, u.output_tokens,
                                        u.cache_creation_tokens, u.cache_read_tokens,
                                        f.totals->calls };
    }
    bool is_made = s->entire && journal_entire_is_made(s->entire);
    const struct session_meta m = {
        .id = s->id,
        .status = is_last ? SESSION_COMPLETED : SESSION_ACTIVE,
        .started_at_ns = s->clock.real_ns,
        .ended_at_ns = is_last ? clock_now_ns(&s->clock) : 0,
        .cmd = words,
        .cmd_count = 2,
        .host_pid = is_last ? 0 : getpid(),
        .quality = tape_writer_defaults.quality,
        .name = s->opt->name,
        .cwd = s->opt->cwd,
        .git_branch = s->branch.n ? buf_str(&s->branch) : NULL,
        .exit_code = is_last ? 0 : -1,
        .is_redacted = true,
        .kind = "wire",
        .agent = f.agent,
        .model = f.model,
        .usage = f.totals && f.totals->is_known ? &usage : NULL,
        .entire = !s->entire ? SESSION_ENTIRE_NONE
                  : is_made  ? SESSION_ENTIRE_MADE
                             : SESSION_ENTIRE_WANTED,
    };
    s->told_calls = f.calls;
    return session_meta_write(s->folder.meta_path, &m, is_last, err);
}

void
wire_session_tick(struct wire_session *s)
{
    struct err err;
    if (wire_record_facts(s->record).calls != s->told_calls)
        (void)write_facts(s, false, &err); /* it is tried again at the end */
}

/* -- the start -- */

/* A recording of nothing: what works with sessions works with this one. */
static int
write_tape(struct wire_session *s, const uint8_t *uuid, struct err *err)
{
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer_status st;
    struct tape_writer *w;
    opt.is_adaptive = false;
    opt.sync = TAPE_SYNC_NONE;
    opt.start_ts_ns = s->clock.real_ns;
    opt.cols = COLS;
    opt.rows = ROWS;
    memcpy(opt.session_id, uuid, sizeof(opt.session_id));
    int r = tape_writer_open(&w, tape_io_files(), s->folder.tape_path, &opt, err);
    if (!r)
        r = tape_writer_finish(w, s->clock.real_ns, &st, err);
    if (!r && st.trouble.code) {
        *err = st.trouble;
        r = st.trouble.code;
    }
    return r;
}

static int
open_entire(struct wire_session *s, struct err *err)
{
    const struct journal_entire_options opt = {
        .root = s->opt->cwd,
        .session = s->id,
        .version = AHR_VERSION,
        .cwd = s->opt->cwd,
        .git_branch = buf_str(&s->branch),
        .start_ns = s->clock.real_ns,
    };
    int r = s->opt->is_entire ? journal_entire_open(&s->entire, &opt) : 0;
    return r < 0 ? err_code(err, r, "cannot write to '%.300s/.entire'", opt.root) : 0;
}

static int
make(struct wire_session *s, const uint8_t *uuid, struct err *err)
{
    int r = session_folder_make(&s->folder, s->opt->home, s->id, NULL, err);
    if (r < 0)
        return r;
    s->has_folder = true;
    r = write_tape(s, uuid, err);
    if (!r)
        r = open_entire(s, err);
    if (!r)
        r = write_facts(s, false, err);
    const struct wire_record_options opt = {
        .tape_path = s->folder.tape_path,
        .session = s->id,
        .clock = s->clock,
        .redact = s->redact,
        .entire = s->entire,
        .has_turns = true,
        .say = s->opt->say,
        .ctx = s->opt->ctx,
    };
    return r < 0 ? r : wire_record_open(&s->record, &opt, err);
}

int
wire_session_open(struct wire_session *s, const struct wire_session_options *opt,
                  struct err *err)
{
    AUTO(buf) branch = { 0 };
    uint8_t uuid[16];
    *s = (struct wire_session){ .opt = opt, .folder.lock_fd = -1 };
    clock_start(&s->clock);
    if (session_id_make(s->clock.real_ns, s->id, uuid) < 0)
        return err_set(err, -EIO, "cannot make a session id");
    int r = redact_own_open(&s->redact, NULL, err);
    if (r < 0)
        return r;
    journal_git_branch(opt->cwd, &branch);
    (void)redact_text(s->redact, branch.p, branch.n, &s->branch);
    r = make(s, uuid, err);
    if (r < 0)
        wire_session_release(s);
    return r;
}

/* -- the end -- */

int
wire_session_finish(struct wire_session *s, struct err *err)
{
    wire_record_finish(s->record, true);
    int r = write_facts(s, true, err);
    if (!r)
        r = session_folder_finish(&s->folder, err);
    if (r < 0)
        return r;
    session_folder_release(&s->folder);
    s->has_folder = false;
    const char *argv[] = { "index", s->id, NULL };
    if (s->opt->is_indexed)
        (void)session_upkeep_start(s->opt->home, argv, -1, NULL);
    return 0;
}

void
wire_session_release(struct wire_session *s)
{
    if (s->has_folder && !s->record) /* it has not begun */
        session_folder_discard(&s->folder);
    if (s->has_folder)
        session_folder_release(&s->folder);
    s->has_folder = false;
    wire_record_free(s->record);
    s->record = NULL;
    journal_entire_free(s->entire);
    redact_close(s->redact);
    buf_release(&s->branch);
}
