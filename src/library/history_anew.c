/* SPDX-License-Identifier: MIT */
/* history_anew.c -- a history read from its beginning, or on, over what is there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/read.h"
#include "library/history_priv.h"
#include "library/index.h"

/* -- read from its beginning -- */

/* As if nothing had been known. */
void
history_forget(struct history *h)
{
    history_sources_release(&h->sources);
    turn_history_free(h->reader);
    h->reader = NULL;
    turn_totals_release(&h->totals);
    buf_clear(&h->touched.open);
    buf_clear(&h->prompt);
    buf_clear(&h->cwd);
    h->turns_bytes = h->turns_tail = h->start_ns = h->last_ns = 0;
    h->has_talk = false;
}

int
history_begin(struct history *h, uint64_t start_ns)
{
    history_forget(h);
    h->start_ns = h->last_ns = start_ns;
    int r = history_open_reader(h);
    if (!r)
        r = history_link_sides(h);
    bool are_many = history_sources_are_many(&h->sources);
    for (size_t i = 0; !r && i < h->sources.count; i++) {
        r = history_source_open(&h->sources.list[i], h->err);
        if (are_many)
            history_source_park(&h->sources.list[i]);
    }
    return r;
}

int
history_read_all(struct history *h, const char *name)
{
    int r = history_open_turns(h, name);
    if (!r)
        r = history_read_lines(h);
    return r < 0 ? r : history_flush(h, true);
}

/* -- over what is there -- */

static int
count_events(struct history *h, uint64_t *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    uint8_t chunk[65536];
    struct gz *g = NULL;
    ssize_t n;
    *ret = 0;
    int r = buf_printf(&path, "%s/" HISTORY_TURNS, buf_str(&h->dir));
    if (!r)
        r = gz_open(&g, AT_FDCWD, buf_str(&path));
    if (r < 0)
        return r == -ENOENT ? 0 : err_code(h->err, r, "cannot read '%s'", buf_str(&path));
    while ((n = gz_read(g, chunk, sizeof(chunk))) > 0)
        for (ssize_t i = 0; i < n; i++)
            *ret += chunk[i] == '\n';
    gz_close(g);
    return n < 0 ? err_code(h->err, (int)n, "cannot read '%s'", buf_str(&path)) : 0;
}

static int
put_in_place(struct history *h, const struct session_told *old)
{
    AUTO(buf) from = { .ceiling = PATH_MAX };
    AUTO(buf) to = { .ceiling = PATH_MAX };
    AUTO(buf) state = { .ceiling = PATH_MAX };
    buf_printf(&from, "%s/" HISTORY_TURNS ".new", buf_str(&h->dir));
    buf_printf(&to, "%s/" HISTORY_TURNS, buf_str(&h->dir));
    int r = buf_printf(&state, "%s/" HISTORY_STATE, buf_str(&h->dir));
    if (r < 0 || from.failed || to.failed)
        return err_code(h->err, -ENAMETOOLONG, "cannot import '%s'", h->from->path);
    r = library_forget(h->opt->home, h->done->id, h->err);
    if (r < 0)
        return r;
    /* In this order: without its state the session is made anew once more. */
    if ((unlink(buf_str(&state)) < 0 && errno != ENOENT) ||
        file_sync_dir(buf_str(&state)) < 0 || rename(buf_str(&from), buf_str(&to)) < 0)
        return err_sys(h->err, "cannot write '%s'", buf_str(&to));
    r = history_write_meta(h, old);
    return r < 0 ? r : history_save(h);
}

static void
drop_new_turns(struct history *h)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (buf_printf(&path, "%s/" HISTORY_TURNS ".new", buf_str(&h->dir)) == 0)
        unlink(buf_str(&path));
}

/* Less than there was is no reason to lose it; but a state that is lost or of another
 * ahr, which may have told the same as more events, is none to stand still. */
static bool
is_less(const struct history *h, const struct session_told *old, uint64_t before)
{
    bool is_as_long = h->begins_ns <= old->started_at_ns &&
                      h->last_ns >= old->ended_at_ns;
    return h->done->events < before && (h->has_state || !is_as_long);
}

int
history_make_anew(struct history *h, const struct session_told *old)
{
    uint64_t before;
    bool was_stored = h->is_stored;
    h->is_stored = false; /* nobody sees what is made beside */
    drop_new_turns(h);
    int r = count_events(h, &before);
    if (!r)
        r = history_begin(h, old->started_at_ns ? old->started_at_ns : h->from->mtime_ns);
    if (!r)
        r = history_read_all(h, HISTORY_TURNS ".new");
    h->is_stored = was_stored;
    h->done->result = LIBRARY_HISTORY_REPLACED;
    h->done->all_events = h->done->events;
    if (!r && is_less(h, old, before)) {
        drop_new_turns(h);
        h->done->events = 0;
        h->done->all_events = before;
        return history_skip(h, "it has less than what was imported, which stays");
    }
    if (!r)
        r = put_in_place(h, old);
    if (r < 0)
        drop_new_turns(h);
    return r;
}

int
history_append(struct history *h, const struct session_told *old)
{
    int r = history_open_turns(h, HISTORY_TURNS);
    if (r < 0)
        return r;
    uint64_t before = h->turns_bytes;
    r = history_read_lines(h);
    if (!r)
        r = history_flush(h, true);
    if (!r && h->done->events)
        r = history_write_meta(h, old);
    /* On a full disk the room that was taken is given back; else the next import does.
     * Never once the state may speak of it. */
    if (r < 0 && h->turns_fd >= 0 && ftruncate(h->turns_fd, (off_t)before) < 0)
        return r;
    if (!r)
        r = history_save(h);
    h->done->result = h->done->events ? LIBRARY_HISTORY_GROWN : LIBRARY_HISTORY_UNCHANGED;
    h->done->all_events = turn_history_facts(h->reader)->events;
    return r;
}
