/* SPDX-License-Identifier: MIT */
/*
 * history_store.c -- the events of a history as lines of session.turns.jsonl, masked,
 * with the files that its tools have written; and what else is in the session's folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/read.h"
#include "library/history_priv.h"
#include "library/index.h"
#include "play/clean.h"
#include "session/folder.h"
#include "session/lines.h"
#include "tape/writer.h"
#include "turn/line.h"

enum {
    FLUSH_AT = 1 << 20,
    PROMPT_MAX = 2048,
    PROMPT_READ = 8 << 10,
    TASK_MAX = 200,
    COLS = 80, /* a recording has a size; this one shows nothing */
    ROWS = 24,
    LINES_MAX = 512 << 20,
};

static int
cannot_write(struct history *h, int r)
{
    return err_code(h->err, r, "cannot write '%s/session." SESSION_TURNS "'",
                    buf_str(&h->dir));
}

/* -- the file -- */

/* Where the lines of the events that are known end; somebody has written the file anew
 * (`ahr redact`), line by line. 0 also: it has fewer. */
static uint64_t
end_of_lines(int fd, uint64_t count)
{
    uint8_t chunk[65536];
    uint64_t end = 0;
    for (ssize_t n; count && (n = pread(fd, chunk, sizeof(chunk), (off_t)end)) > 0;) {
        ssize_t i = 0;
        while (i < n && count)
            count -= chunk[i++] == '\n';
        end += (uint64_t)i;
    }
    return count ? 0 : end;
}

/* Nobody finds in the index what is about to be something else. */
static int
leave_index(struct history *h)
{
    if (!h->is_stored || h->is_out_of_index)
        return 0;
    h->is_out_of_index = true;
    return library_forget(h->opt->home, h->done->id, h->err);
}

static int
say_lost(struct history *h)
{
    return err_set(h->err, ERR_DAMAGED,
                   "'%s/" HISTORY_TURNS
                   "' has lost some of what was imported: remove the "
                   "session ('ahr delete %s') to have it anew",
                   buf_str(&h->dir), h->done->id);
}

int
history_check_turns(struct history *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    int r = buf_printf(&path, "%s/" HISTORY_TURNS, buf_str(&h->dir));
    if (r < 0)
        return cannot_write(h, r);
    r = gz_stat(AT_FDCWD, buf_str(&path), &st);
    if (r == 1 || h->is_redacted) /* archived, or of another length */
        return 0;
    bool is_there = r == 0 && (uint64_t)st.st_size >= h->turns_bytes;
    return is_there ? 0 : r < 0 && r != -ENOENT ? cannot_write(h, r) : say_lost(h);
}

int
history_open_turns(struct history *h, const char *name)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    uint64_t known = turn_history_facts(h->reader)->events;
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (known ? 0 : O_CREAT);
    int r = buf_printf(&path, "%s/%s", buf_str(&h->dir), name);
    if (r < 0)
        return cannot_write(h, r);
    h->turns_fd = open(buf_str(&path), flags, 0600);
    if (h->turns_fd < 0 && errno == ENOENT)
        return say_lost(h);
    if (h->turns_fd < 0 || fstat(h->turns_fd, &st) < 0)
        return cannot_write(h, -errno);
    bool is_ours = (uint64_t)st.st_size >= h->turns_bytes &&
                   (!h->turns_bytes ||
                    history_hash_before(h->turns_fd, h->turns_bytes) == h->turns_tail);
    uint64_t end = is_ours ? h->turns_bytes : end_of_lines(h->turns_fd, known);
    if (known && !end)
        return say_lost(h);
    h->turns_bytes = end;
    bool has_rest = (uint64_t)st.st_size > end;
    r = has_rest ? leave_index(h) : 0;
    if (r < 0)
        return r;
    if (has_rest && ftruncate(h->turns_fd, (off_t)end) < 0)
        return cannot_write(h, -errno);
    return lseek(h->turns_fd, (off_t)end, SEEK_SET) < 0 ? cannot_write(h, -errno) : 0;
}

int
history_flush(struct history *h, bool is_last)
{
    int r = h->lines.n ? leave_index(h) : 0;
    if (r < 0)
        return r;
    if (h->lines.n) {
        r = file_write_all(h->turns_fd, h->lines.p, h->lines.n);
        h->turns_bytes += h->lines.n;
        buf_clear(&h->lines);
        if (h->lines.cap / 2 > FLUSH_AT)
            buf_release(&h->lines);
    }
    if (!r && is_last && !h->is_staged && fdatasync(h->turns_fd) < 0)
        r = -errno;
    if (!r && is_last)
        h->turns_tail = history_hash_before(h->turns_fd, h->turns_bytes);
    return r < 0 ? cannot_write(h, r) : 0;
}

/* -- events -- */

int
history_mask(void *ctx, struct view text, struct buf *ret)
{
    const struct history *h = ctx;
    return redact_text(h->opt->redact, text.p, text.n, ret);
}

/* It is masked then, in that room. */
static int
put_event(struct history *h, struct turn_event *e, struct play_turns_mask *room)
{
    const struct turn_stamp at = { .ts_ns = h->last_ns,
                                   .start_ns = h->start_ns,
                                   .session = h->done->id };
    int r = play_turns_mask(h->opt->redact, e, room);
    if (r < 0)
        return err_code(h->err, r, "cannot mask what '%s' holds", h->from->path);
    h->lines.ceiling = LINES_MAX;
    turn_line(e, &at, &h->lines);
    if (h->lines.failed)
        return cannot_write(h, h->lines.failed);
    h->done->events++;
    return 0;
}

/* A journal_touched_fn. */
static int
put_artifact(void *ctx, struct view path, const char *action)
{
    struct history *h = ctx;
    struct turn_event e = turn_event(TURN_ARTIFACT);
    e.text = path;
    e.name = (struct view){ (const uint8_t *)action, strlen(action) };
    return put_event(h, &e, &h->artifact_room);
}

/* Masked before it is cut: half a secret is not known for one. */
static int
note_prompt(struct history *h, struct view text)
{
    size_t n = text.n < PROMPT_READ ? text.n : PROMPT_READ;
    int r = redact_text(h->opt->redact, text.p, n, &h->prompt);
    if (r < 0)
        return err_code(h->err, r, "cannot mask what '%s' holds", h->from->path);
    if (h->prompt.n > PROMPT_MAX)
        h->prompt.n = PROMPT_MAX;
    return 0;
}

/* What a command of the agent's own leaves in the conversation ("/clear") is no prompt.
 */
static bool
is_command(struct view text)
{
    static const char *const begins[] = {
        "<command-name>",  "<command-message>", "<command-args>",
        "<local-command-", "<bash-input>",      "<bash-stdout>",
    };
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        size_t n = strlen(begins[i]);
        if (text.n >= n && !memcmp(text.p, begins[i], n))
            return true;
    }
    return false;
}

static int
note_talk(struct history *h, const struct turn_event *e)
{
    h->has_talk |= e->type == TURN_TEXT || e->type == TURN_THINKING ||
                   e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
    if (e->type == TURN_TEXT && e->is_user && !e->parent.n && !h->prompt.n && e->text.n &&
        !is_command(e->text))
        return note_prompt(h, e->text);
    return 0;
}

static int
note_cwd(struct history *h, const struct turn_event *e)
{
    if (e->type != TURN_SESSION || !e->cwd.n)
        return 0;
    buf_clear(&h->cwd);
    return buf_append(&h->cwd, e->cwd.p, e->cwd.n);
}

/* What is kept of its texts is of the event as it is told, and so masked. */
static int
note_masked(struct history *h, const struct turn_event *e)
{
    int r = note_cwd(h, e);
    if (!r)
        r = turn_totals_add(&h->totals, e);
    if (r < 0)
        return err_code(h->err, r, "cannot import '%s'", h->from->path);
    return journal_touched_see(&h->touched, e, buf_str(&h->cwd), put_artifact, h);
}

int
history_take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    struct history *h = ctx;
    uint64_t before = h->done->events;
    if (ts_ns > h->last_ns)
        h->last_ns = ts_ns;
    struct turn_event masked = *e;
    int r = note_talk(h, e);
    if (!r)
        r = put_event(h, &masked, &h->room);
    if (!r)
        r = note_masked(h, &masked);
    if (r < 0)
        return r;
    int more = (int)(h->done->events - before) - 1;
    if (h->lines.n >= FLUSH_AT)
        r = history_flush(h, false);
    return r < 0 ? r : more;
}

void
history_take_trouble(void *ctx, enum turn_history_trouble what)
{
    history_take_wrong(ctx, (enum library_history_wrong)what);
}

void
history_take_wrong(struct history *h, enum library_history_wrong what)
{
    struct library_history_done *d = h->done;
    d->wrongs[what]++;
    if (d->place_count == LIBRARY_HISTORY_PLACES || !h->at)
        return;
    d->places[d->place_count++] = (struct library_history_place){
        .wrong = what,
        .file = (uint32_t)(h->at - h->sources.list),
        .line = h->at->file.line + 1,
        .offset = h->at->file.offset,
    };
}

/* -- the rest of the folder -- */

int
history_write_tape(struct history *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer_status st;
    struct tape_writer *w;
    opt.is_adaptive = false;
    opt.sync = TAPE_SYNC_NONE;
    opt.start_ts_ns = h->start_ns;
    opt.cols = COLS;
    opt.rows = ROWS;
    if (buf_printf(&path, "%s/session.ahr", buf_str(&h->dir)) < 0)
        return err_code(h->err, -ENAMETOOLONG, "cannot make a session");
    int r = tape_writer_open(&w, tape_io_files(), buf_str(&path), &opt, h->err);
    if (!r)
        r = tape_writer_finish(w, h->start_ns, &st, h->err);
    if (!r && st.trouble.code) {
        *h->err = st.trouble;
        r = st.trouble.code;
    }
    return r;
}

/* One line that says what it is about: its title, or how it was begun. */
static int
put_task(struct history *h, struct buf *ret)
{
    const struct buf *title = &turn_history_facts(h->reader)->title;
    const struct buf *from = title->n ? title : &h->prompt;
    int r = play_clean_masked(h->opt->redact, (struct view){ from->p, from->n }, true,
                              ret);
    if (ret->n > TASK_MAX) {
        ret->n = TASK_MAX;
        while (ret->n && (ret->p[ret->n] & 0xc0) == 0x80)
            ret->n--;
        r = r < 0 ? r : buf_puts(ret, "…");
    }
    return r;
}

static struct session_usage
usage_of(const struct turn_totals *t)
{
    struct turn_usage u = turn_totals_usage(t);
    return (struct session_usage){ u.input_tokens, u.output_tokens,
                                   u.cache_creation_tokens, u.cache_read_tokens,
                                   t->is_known ? t->calls : UINT64_MAX };
}

static const char *
text_or_none(struct buf *masked)
{
    return masked->n ? buf_str(masked) : NULL;
}

int
history_write_meta(struct history *h, const struct session_told *old)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) task = { 0 };
    AUTO(buf) cwd = { 0 };
    AUTO(buf) model = { 0 };
    AUTO(buf) branch = { 0 };
    AUTO(buf) own_id = { 0 };
    const struct turn_history_facts *f = turn_history_facts(h->reader);
    const char *agent = turn_agent_name(h->done->agent);
    struct view id = history_own_id(h);
    bool keeps_source = old && old->source && h->is_redacted; /* what is masked in it */
    struct session_usage usage = usage_of(&h->totals);
    int r = put_task(h, &task);
    if (!r)
        r = redact_text(h->opt->redact, h->cwd.p, h->cwd.n, &cwd);
    if (!r)
        r = redact_text(h->opt->redact, f->model.p, f->model.n, &model);
    if (!r)
        r = redact_text(h->opt->redact, f->git_branch.p, f->git_branch.n, &branch);
    if (!r)
        r = redact_text(h->opt->redact, id.p, id.n, &own_id);
    if (!r)
        r = buf_printf(&path, "%s/session." SESSION_META, buf_str(&h->dir));
    if (r < 0)
        return err_code(h->err, r, "cannot make a session of '%s'", h->from->path);
    const struct session_meta meta = {
        .id = h->done->id,
        .status = SESSION_COMPLETED,
        .started_at_ns = h->start_ns,
        .ended_at_ns = h->last_ns,
        .cmd = &agent,
        .cmd_count = 1,
        .quality = tape_writer_defaults.quality,
        .name = old ? old->name : NULL,
        .role = old ? old->role : NULL,
        .parent = old ? old->parent : NULL,
        .task = text_or_none(&task),
        .cwd = text_or_none(&cwd),
        .git_branch = text_or_none(&branch),
        .exit_code = -1,
        .kind = "import",
        .source = keeps_source ? old->source : h->from->path,
        .agent = agent,
        .agent_session_id = text_or_none(&own_id),
        .model = text_or_none(&model),
        .usage = &usage,
        .env = (const char *const[]){ NULL },
    };
    return session_meta_write(buf_str(&path), &meta, !h->is_staged, h->err);
}
