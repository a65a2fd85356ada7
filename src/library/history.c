/* SPDX-License-Identifier: MIT */
/*
 * history.c -- one history into the library: made, appended to, made anew, or left alone.
 *
 * What the state says is behind what it speaks of: lines that a killed import has
 * appended are behind it, and go; a folder without a state is an import that was killed
 * while it was made anew, and is made anew.
 */
#include "library/history.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/read.h"
#include "library/history_priv.h"
#include "library/ids_priv.h"
#include "library/index.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/lines.h"
#include "turn/transcript.h"

const char *
library_history_result_name(enum library_history_result result)
{
    static const char *const names[LIBRARY_HISTORY_RESULTS] = {
        [LIBRARY_HISTORY_NEW] = "new",
        [LIBRARY_HISTORY_GROWN] = "grown",
        [LIBRARY_HISTORY_UNCHANGED] = "unchanged",
        [LIBRARY_HISTORY_REPLACED] = "replaced",
        [LIBRARY_HISTORY_SKIPPED] = "skipped",
    };
    return names[result];
}

static const struct {
    const char *name, *key;
} wrongs[LIBRARY_HISTORY_WRONGS] = {
    [TURN_HISTORY_MALFORMED] = { NULL, "malformed" },
    [TURN_HISTORY_ORPHAN] = { NULL, "orphans" },
    [TURN_HISTORY_ROOT] = { NULL, "roots" },
    [TURN_HISTORY_CYCLE] = { NULL, "cycles" },
    [TURN_HISTORY_TWICE] = { NULL, "repeated" },
    [LIBRARY_HISTORY_TOO_LONG] = { "is longer than 64 MiB, and left out", "too_long" },
    [LIBRARY_HISTORY_NULS] = { "has NUL bytes, where something was lost", "nuls" },
    [LIBRARY_HISTORY_CUT] = { "and what follows cannot be read", "cut" },
};

const char *
library_history_wrong_name(unsigned wrong)
{
    return wrong < TURN_HISTORY_TROUBLES
               ? turn_history_trouble_name((enum turn_history_trouble)wrong)
               : wrongs[wrong].name;
}

const char *
library_history_wrong_key(unsigned wrong)
{
    return wrongs[wrong].key;
}

void
library_history_done_release(struct library_history_done *d)
{
    buf_release(&d->agent_session_id);
    buf_release(&d->why);
}

int
library_history_lock(const char *home, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = file_make_dirs(home);
    if (!r)
        r = buf_printf(&path, "%s/import.lock", home);
    if (r < 0)
        return err_code(err, r, "cannot make '%s'", home);
    int fd = open(buf_str(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", buf_str(&path));
    r = file_locked(fd);
    return r >= 0 ? r
           : r == ERR_BUSY
               ? err_set(err, r,
                         "another 'ahr import' is at work: try again when it is done")
               : err_code(err, r, "cannot lock '%s'", buf_str(&path));
}

static void
history_release(struct history *h)
{
    history_sources_release(&h->sources);
    turn_history_free(h->reader);
    turn_totals_release(&h->totals);
    journal_touched_release(&h->touched);
    play_turns_mask_release(&h->room);
    play_turns_mask_release(&h->artifact_room);
    buf_release(&h->prompt);
    buf_release(&h->dir);
    buf_release(&h->lines);
    buf_release(&h->cwd);
    buf_release(&h->name);
    if (h->turns_fd >= 0)
        close(h->turns_fd);
}

int
history_skip(struct history *h, const char *why)
{
    h->done->result = LIBRARY_HISTORY_SKIPPED;
    buf_clear(&h->done->why);
    return buf_puts(&h->done->why, why);
}

/* Each time, and nobody can do anything about it. */
static int
skip_as_ever(struct history *h, const char *why)
{
    h->done->is_usual = true;
    return history_skip(h, why);
}

/* -- its id -- */

/* The agent's own id where that is a UUID, else one that is made of it; again: of its
 * path, too. An id of ours (Entire's folders) stays. */
static void
make_id(struct history *h, const char *again, char ret[SESSION_ID_LEN + 1])
{
    AUTO(buf) name = { 0 };
    const char *own = buf_str(&h->name);
    char uuid[TURN_UUID_SIZE];
    if (!again && session_id_is(own)) {
        memcpy(ret, own, SESSION_ID_LEN + 1);
        return;
    }
    time_t start = (time_t)(h->begins_ns / 1000000000);
    struct tm day = { .tm_year = 70, .tm_mday = 1 };
    (void)gmtime_r(&start, &day);
    snprintf(ret, SESSION_ID_LEN + 1, "%04u-%02u-%02u-",
             (unsigned)(day.tm_year + 1900) % 10000, (unsigned)(day.tm_mon + 1) % 100,
             (unsigned)day.tm_mday % 100);
    snprintf(ret + HISTORY_DATE_LEN, TURN_UUID_SIZE, "%s", own);
    if (!again && session_id_is(ret) && strlen(own) == TURN_UUID_SIZE - 1)
        return;
    buf_printf(&name, "%s:%s:%s", turn_agent_name(h->done->agent), own,
               again ? again : "");
    turn_transcript_uuid(buf_str(&name), 0, uuid);
    memcpy(ret + HISTORY_DATE_LEN, uuid, TURN_UUID_SIZE);
}

/* A session is the same whatever its day: that of the first line that is dated, which a
 * history may come to have, or lose. */
static int
find_id(const struct history *h, char id[SESSION_ID_LEN + 1])
{
    struct library_history_ids *ids = h->opt->ids;
    int r = history_ids_read(ids, h->opt->home);
    const char *known = r < 0 ? NULL : history_ids_find(ids, id);
    if (known && !session_folder_exists(h->opt->home, "sessions", id))
        memcpy(id, known, SESSION_ID_LEN + 1);
    return r;
}

/* -- made -- */

/* All at once: a journal of the file system takes them in one go. */
static int
sync_folder(struct history *h)
{
    static const char meta[] = "session." SESSION_META;
    static const char *const names[] = { HISTORY_TURNS, "session.ahr", HISTORY_STATE,
                                         meta };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = 0;
    for (size_t i = 0; !r && i < sizeof(names) / sizeof(names[0]); i++) {
        buf_clear(&path);
        r = buf_printf(&path, "%s/%s", buf_str(&h->dir), names[i]);
        int fd = r < 0 ? -1 : open(buf_str(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (!r && (fd < 0 || fsync(fd) < 0))
            r = -errno;
        if (fd >= 0)
            close(fd);
    }
    if (!r)
        r = file_sync_dir(buf_str(&path));
    return r < 0 ? err_code(h->err, r, "cannot write '%s'", buf_str(&path)) : 0;
}

static int
make_folder(struct history *h, struct session_folder *f)
{
    int r = buf_puts(&h->dir, f->dir);
    if (!r)
        r = history_read_all(h, HISTORY_TURNS);
    if (r < 0 || !h->has_talk)
        return r;
    r = history_write_tape(h);
    if (!r)
        r = history_write_meta(h, NULL);
    if (!r)
        r = history_save(h);
    return r < 0 ? r : sync_folder(h);
}

static int
make_new(struct history *h)
{
    struct session_folder f = { .lock_fd = -1 };
    session_folder_unstage(h->opt->home, h->done->id);
    int r = history_begin(h, h->begins_ns);
    if (!r)
        r = session_folder_stage(&f, h->opt->home, h->done->id, h->err);
    if (r < 0)
        return r;
    h->is_staged = true;
    r = make_folder(h, &f);
    f.is_one_of_many = true;
    bool is_wanted = !r && h->has_talk;
    if (is_wanted)
        r = session_folder_finish(&f, h->err);
    if (is_wanted && !r && history_ids_add(h->opt->ids, h->done->id) < 0)
        h->opt->ids->is_read = false; /* read once more when it is needed */
    if (r < 0 || !is_wanted)
        session_folder_discard(&f);
    session_folder_release(&f);
    h->done->result = LIBRARY_HISTORY_NEW;
    h->done->all_events = h->done->events;
    return r < 0 || is_wanted ? r : skip_as_ever(h, "nothing is said in it");
}

/* -- what stays as it is -- */

static bool
has_been_redacted(struct history *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return buf_printf(&path, "%s/session.audit.jsonl", buf_str(&h->dir)) == 0 &&
           access(buf_str(&path), F_OK) == 0;
}

static bool
is_archived(struct history *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct stat st;
    return buf_printf(&path, "%s/" HISTORY_TURNS, buf_str(&h->dir)) == 0 &&
           gz_stat(AT_FDCWD, buf_str(&path), &st) == 1;
}

/* -- another file than the one it was made of -- */

static bool
is_entires(const char *path)
{
    return strstr(path, "/.entire/") != NULL;
}

static int
skip_entires(struct history *h, enum history_change *change)
{
    *change = HISTORY_SAME;
    return skip_as_ever(h, "its session was imported from where the agent keeps it");
}

/*
 * That one is still there. One may be a copy of the other (Entire's are; Codex packs its
 * own): then the longer one is taken. Entire masks what it keeps, so that the agent's own
 * file goes before it. A file of the same name that goes on otherwise is a session of its
 * own.
 */
static int
look_elsewhere(struct history *h, const char *known, enum history_change *change,
               bool *ret_is_other)
{
    enum history_relation relation;
    const char *path = h->from->path;
    int r = history_files_compare(path, known, &relation, h->err);
    if (r < 0)
        return r;
    if (relation == HISTORY_WITHIN)
        *change = HISTORY_SAME;
    if (relation != HISTORY_OTHER)
        return 0;
    if (is_entires(path) == is_entires(known))
        *ret_is_other = true;
    else if (is_entires(known))
        *change = HISTORY_REWRITTEN;
    else
        r = skip_entires(h, change);
    return r;
}

/* That one is gone. This is it, in another place, if it has all that was taken; where the
 * bytes do not tell, because it is packed or a document, if it begins at the same time.
 */
static bool
is_moved(struct history *h, const struct history_file *known,
         const struct session_told *old)
{
    const char *path = h->from->path;
    bool is_told = known && known->head && !file_ends_in(path, ".json") &&
                   !file_ends_in(path, ".zst");
    return is_told ? history_source_is_same(&h->sources.list[0])
                   : h->begins_ns == old->started_at_ns;
}

/* … a copy that was made when there was less of it. */
static bool
is_of_before(struct history *h, const struct history_file *known)
{
    struct history_source *s = &h->sources.list[0];
    return s->file.size_bytes < known->offset && history_source_begins_same(s);
}

static int
look_at_path(struct history *h, struct history_file *known,
             const struct session_told *old, enum history_change *change,
             bool *ret_is_other)
{
    const char *path = known ? buf_str(&known->path) : old->source;
    if (!path || !strcmp(path, h->from->path))
        return 0;
    if (access(path, F_OK) == 0)
        return look_elsewhere(h, path, change, ret_is_other);
    if (is_entires(h->from->path) && !is_entires(path))
        return skip_entires(h, change);
    if (is_moved(h, known, old))
        return 0;
    *ret_is_other = !known || !is_of_before(h, known);
    if (*ret_is_other)
        return 0;
    *change = HISTORY_SAME;
    return history_skip(h, "it begins as what was imported, and has less");
}

/* -- what has come -- */

/* Is there a whole line that was not taken yet? */
static bool
has_more(struct history *h)
{
    int ignored = 0;
    return history_sources_next(&h->sources, &ignored) != NULL;
}

static int
change_it(struct history *h, const struct session_told *old, enum history_change change)
{
    if (is_archived(h))
        return history_skip(h, "its session is archived: 'ahr archive --undo' first");
    if (change == HISTORY_REWRITTEN && h->is_redacted)
        return history_skip(h, "its file was written anew, and would bring back what "
                               "'ahr redact' has taken out of its session");
    if (h->opt->is_dry_run) {
        if (change == HISTORY_REWRITTEN || has_more(h))
            h->done->result = change == HISTORY_GROWN ? LIBRARY_HISTORY_GROWN
                                                      : LIBRARY_HISTORY_REPLACED;
        return 0;
    }
    return change == HISTORY_GROWN ? history_append(h, old) : history_make_anew(h, old);
}

/* What is there, held. */
static int
bring_up_to_date(struct history *h, const struct session_told *old, bool *ret_is_other)
{
    struct history_sources files = { 0 };
    enum history_change change = HISTORY_REWRITTEN;
    int r = history_open_reader(h);
    int loaded = r < 0 ? r : history_load(h, &files);
    if (!loaded)
        r = history_look(h, &files, &change);
    else if (loaded != ERR_MISSING && loaded != ERR_DAMAGED && !r)
        r = err_code(h->err, loaded, "cannot import '%s'", h->from->path);
    h->done->result = LIBRARY_HISTORY_UNCHANGED;
    h->done->all_events = r < 0 ? 0 : turn_history_facts(h->reader)->events;
    h->has_state = !loaded && files.count;
    if (!r)
        r = look_at_path(h, h->has_state ? &files.list[0].file : NULL, old, &change,
                         ret_is_other);
    history_sources_release(&files);
    if (r < 0 || *ret_is_other)
        return r;
    if (change != HISTORY_SAME)
        return change_it(h, old, change);
    return h->has_state ? history_check_turns(h) : 0;
}

static int
update(struct history *h, bool *ret_is_other)
{
    AUTO(session_told) old = { 0 };
    AUTO(buf) meta = { .ceiling = PATH_MAX };
    const char *home = h->opt->home, *id = h->done->id;
    int hold = session_hold(home, id, LIBRARY_WAIT_MS, h->err);
    if (hold < 0)
        return hold;
    h->is_stored = true;
    int r = buf_printf(&h->dir, "%s/sessions/%s", home, id);
    if (!r)
        r = buf_printf(&meta, "%s/session." SESSION_META, buf_str(&h->dir));
    if (r < 0)
        r = err_code(h->err, r, "cannot import '%s'", h->from->path);
    else if (session_folder_is_encrypted(home, id))
        r = history_skip(h, "its session is encrypted: 'ahr decrypt' first");
    else if (session_meta_tell(buf_str(&meta), &old, h->err) < 0)
        r = history_skip(h, "its session is damaged: 'ahr verify' says where");
    else if (!old.kind || strcmp(old.kind, "import") != 0)
        r = skip_as_ever(h, "its session was recorded here");
    else {
        h->is_redacted = has_been_redacted(h);
        r = bring_up_to_date(h, &old, ret_is_other);
    }
    close(hold);
    return r;
}

/* -- one history -- */

/* One of two that are called alike, which was the second when it came? */
static bool
is_known_by_path(struct history *h)
{
    char id[SESSION_ID_LEN + 1];
    make_id(h, h->from->path, id);
    return find_id(h, id) == 0 && session_folder_exists(h->opt->home, "sessions", id);
}

/* again: it is known by its path, too; NULL: only where that is how it is known already.
 */
static int
bring_in(struct history *h, const char *again, bool *ret_is_other)
{
    const char *home = h->opt->home;
    *ret_is_other = false;
    make_id(h, again, h->done->id);
    int r = find_id(h, h->done->id);
    if (r < 0)
        return err_code(h->err, r, "cannot list the sessions in '%s'", home);
    if (session_folder_exists(home, "sessions", h->done->id))
        return update(h, ret_is_other);
    if (session_folder_exists(home, "live", h->done->id))
        return skip_as_ever(h, "its session is being recorded here");
    if (!again && is_known_by_path(h)) {
        *ret_is_other = true;
        return 0;
    }
    h->done->result = LIBRARY_HISTORY_NEW;
    return h->opt->is_dry_run ? 0 : make_new(h);
}

static int
tell_own_id(struct history *h)
{
    struct view own = history_own_id(h);
    int r = own.n ? buf_append(&h->done->agent_session_id, own.p, own.n) : 0;
    return r < 0 ? err_code(h->err, r, "cannot import '%s'", h->from->path) : 0;
}

int
library_history_sync(const char *home, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = buf_printf(&path, "%s/sessions/.", home);
    if (!r)
        r = file_sync_dir(buf_str(&path));
    return r < 0 && r != -ENOENT ? err_code(err, r, "cannot sync '%s/sessions'", home)
                                 : 0;
}

int
library_history_import(const struct journal_history *from,
                       const struct library_history_options *opt,
                       struct library_history_done *ret, struct err *err)
{
    AUTO(history)
    h = { .from = from, .opt = opt, .done = ret, .err = err, .turns_fd = -1 };
    bool is_other = false;
    *err = (struct err){ 0 };
    int r = history_identify(&h);
    if (!r)
        r = bring_in(&h, NULL, &is_other);
    if (!r && is_other) {
        buf_clear(&h.dir);
        h.is_stored = false;
        history_forget(&h);
        r = bring_in(&h, from->path, &is_other);
        if (!r && is_other)
            r = history_skip(&h, "there are others of that id");
    }
    return r < 0 ? r : tell_own_id(&h);
}
