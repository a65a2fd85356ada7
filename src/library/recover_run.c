/* SPDX-License-Identifier: MIT */
#include "library/recover_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gz/read.h"
#include "journal/project.h"
#include "library/runs.h"
#include "library/turns.h"
#include "play/turns.h"
#include "session/lines.h"
#include "session/meta.h"

void
library_project_release(struct library_project *p)
{
    buf_release(&p->dir);
}

static int
turns_path(const char *dir, struct buf *ret)
{
    return buf_printf(ret, "%s/session." SESSION_TURNS, dir);
}

bool
recover_has_turns(const struct session_folder *f)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return turns_path(f->dir, &path) == 0 && play_turns_exist(buf_str(&path));
}

/* -- the events -- */

static bool
is_event(struct view line)
{
    AUTO(buf) texts = { 0 };
    struct turn_event e;
    struct turn_stamp at;
    return turn_line_read(line, &texts, &e, &at) == 0;
}

/* What is archived was mended before. */
int
recover_mend_turns(const char *path, struct err *err)
{
    struct stat st;
    if (gz_stat(AT_FDCWD, path, &st) == 1)
        return 0;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    int r = session_lines_mend(fd, "{\"ts_ns\":", is_event);
    close(fd);
    return r < 0 ? err_code(err, r, "cannot mend '%s'", path) : 0;
}

static const char *
text_or_null(struct buf *b)
{
    return b->n ? buf_str(b) : NULL;
}

/* What the meta of a run that was cut off does not know yet. */
int
recover_learn(const char *dir, const char *meta_path, struct err *err)
{
    AUTO(library_run) run = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = turns_path(dir, &path);
    if (r < 0)
        return err_code(err, r, "cannot read the events in '%s'", dir);
    if (library_run_read(&run, buf_str(&path)) < 0 || !run.events)
        return 0; /* the index tells of the damage */
    const struct session_learnt learnt = {
        .agent_session_id = text_or_null(&run.agent_session_id),
        .model = text_or_null(&run.model),
        .usage = { run.usage.input_tokens, run.usage.output_tokens,
                   run.usage.cache_creation_tokens, run.usage.cache_read_tokens,
                   run.calls },
        .iterations = run.iterations,
    };
    r = session_meta_learn(meta_path, &learnt, err);
    return r == ERR_MISSING || r == ERR_DAMAGED ? 0 : r;
}

/* -- the project -- */

/* A run of the same name that goes on is none of ours, and has put the rest in order. */
static int
mend_project(const struct session_folder *f, struct library_project *ret)
{
    struct err why;
    int r = library_project_of(f->dir, f->meta_path, &ret->dir);
    if (r < 0 || !ret->dir.n)
        return r;
    int mended = journal_project_recover(buf_str(&ret->dir), &why);
    ret->is_changed = mended > 0;
    if (mended < 0 && mended != ERR_BUSY)
        ret->why = why;
    return 0;
}

int
recover_run(const struct session_folder *f, struct library_project *ret, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = turns_path(f->dir, &path);
    if (!r)
        r = mend_project(f, ret);
    if (r < 0)
        return err_code(err, r, "cannot put the run of session '%s' in order", f->id);
    if (!recover_has_turns(f))
        return 0;
    r = recover_mend_turns(buf_str(&path), err);
    if (r < 0)
        return r;
    struct err why;
    if (recover_entire(f, buf_str(&path), ret, &why) < 0 && !ret->why.code)
        ret->why = why;
    return recover_learn(f->dir, f->meta_path, err);
}
