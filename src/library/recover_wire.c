/* SPDX-License-Identifier: MIT */
/* recover_wire.c -- the calls that a proxy which was killed has left. */
#include <limits.h>
#include <string.h>

#include "calls/complete.h"
#include "calls/read.h"
#include "library/recover_run.h"
#include "play/turns.h"
#include "session/lines.h"
#include "session/meta.h"

bool
recover_has_wire(const struct session_folder *f)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return session_sibling_path(f->tape_path, SESSION_WIRE, &path) == 0 &&
           calls_exist(buf_str(&path));
}

/* As its recorder would have told; that of a run is told by its stream. */
static int
learn_agent(const struct session_folder *f, const struct session_told *told,
            const char *agent, struct err *err)
{
    const struct session_learnt learnt = { .agent = agent, .usage = SESSION_NO_USAGE };
    if (!agent || told->agent || (told->kind && !strcmp(told->kind, "stream")))
        return 0;
    int r = session_meta_learn(f->meta_path, &learnt, err);
    return r == ERR_MISSING || r == ERR_DAMAGED ? 0 : r;
}

int
recover_wire(const struct session_folder *f, uint64_t *ret_last_ns, struct err *err)
{
    AUTO(buf) wire = { .ceiling = PATH_MAX };
    AUTO(buf) turns = { .ceiling = PATH_MAX };
    AUTO(session_told) told = { 0 };
    struct calls_completed done = { 0 };
    int r = session_sibling_path(f->tape_path, SESSION_WIRE, &wire);
    if (!r)
        r = session_sibling_path(f->tape_path, SESSION_TURNS, &turns);
    if (r < 0)
        return err_code(err, r, "cannot look for what went over the wire");
    if (!calls_exist(buf_str(&wire)))
        return 0;
    (void)session_meta_tell(f->meta_path, &told, NULL);
    const struct calls_complete_options opt = {
        .wire_path = buf_str(&wire),
        .turns_path = buf_str(&turns),
        .session = f->id,
        .start_ns = told.started_at_ns,
    };
    if (play_turns_exist(opt.turns_path)) /* before anything is added to them */
        r = recover_mend_turns(opt.turns_path, err);
    if (!r)
        r = calls_complete(&opt, &done, err);
    if (r < 0)
        return r;
    *ret_last_ns = done.last_ns;
    return learn_agent(f, &told, done.agent, err);
}
