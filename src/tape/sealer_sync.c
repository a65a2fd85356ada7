/* SPDX-License-Identifier: MIT */
/*
 * sealer_sync.c -- the writer's thread syncs.
 *
 * A round syncs the recording's file, the names that are new in its folder, and what
 * stands in tails alone. What it covers is noted under the lock before it begins; the
 * thread writes nothing meanwhile.
 */
#include "tape/sealer_state_priv.h"

#include "base/clock.h"

/* What a sync is about to cover, noted under the lock. */
struct sync_round {
    int open_tail_fd; /* -1: not this time */
    uint64_t open_tail_off;
    bool is_open_tail_bad; /* out: its sync failed */
    bool is_segment_new, is_name_new;
};

/* While blocks wait to be written their tails are not synced: the blocks soon will be. */
static void
begin_round(struct sealer *s, struct sync_round *round)
{
    *round = (struct sync_round){ .open_tail_fd = -1,
                                  .is_segment_new = s->is_segment_new,
                                  .is_name_new = s->is_segment_new };
    s->is_segment_new = false;
    s->is_dirty = false;
    if (s->opt.sync != TAPE_SYNC_INTERVAL || s->queue.count)
        return;
    if (s->open_tail_fd != s->suspect_tail_fd)
        round->open_tail_fd = s->open_tail_fd;
    round->open_tail_off = s->open_tail_off;
    round->is_name_new |= s->is_tail_new;
    s->is_tail_new = false;
}

/* Raises *off to the end of what the open tail now holds for good. */
static int
sync_open_tail(struct sealer *s, struct sync_round *round, uint64_t *off)
{
    if (round->open_tail_fd < 0)
        return 0;
    int r = tape_io_sync(s->io, round->open_tail_fd);
    round->is_open_tail_bad = r < 0;
    if (!r)
        *off = round->open_tail_off;
    return r;
}

/* The file cannot be believed any more: all since the last good sync goes to the next
 * one. */
static void
leave_segment(struct sealer *s)
{
    s->is_suspect = true;
    if (s->segment + 1 >= SEALER_SEGMENTS_MAX) {
        s->has_given_up_sync = true;
        return;
    }
    sealer_close_segment(s);
    s->segment++;
    job_list_prepend(&s->queue, &s->unsynced);
}

/* Called and returns with the lock held; lets go of it for the work. */
void
sealer_sync_all(struct sealer *s)
{
    struct sync_round round;
    begin_round(s, &round);
    uint64_t off = s->synced_off;
    pthread_mutex_unlock(&s->lock);

    size_t count = s->unsynced.count;
    int r = s->fd >= 0 && (count || s->is_copy_new) ? tape_io_sync(s->io, s->fd) : 0;
    s->is_copy_new = false;
    bool is_segment_bad = r < 0;
    if (!r && round.is_name_new) {
        r = tape_io_sync_dir(s->io, sealer_name(s));
        /* A file whose name may be lost is no better than one whose bytes may. */
        is_segment_bad = r < 0 && !sealer_is_folder_gone(r) && round.is_segment_new;
    }
    if (!is_segment_bad && count)
        s->in_file_off = s->unsynced_end_off;
    if (!r) {
        off = s->in_file_off > off ? s->in_file_off : off;
        r = sync_open_tail(s, &round, &off);
    }

    pthread_mutex_lock(&s->lock);
    if (sealer_is_folder_gone(r)) {
        s->is_segment_new |= round.is_segment_new;
        sealer_look_soon(s);
    } else if (r < 0) {
        s->is_suspect = true;
        sealer_tell(s, &s->is_sync_told, r, "cannot sync");
    }
    s->is_tail_new |= r < 0 && round.is_name_new; /* try again */
    if (round.is_open_tail_bad && s->open_tail_fd == round.open_tail_fd)
        s->suspect_tail_fd = round.open_tail_fd;
    if (is_segment_bad)
        leave_segment(s);
    /* Nothing was written meanwhile: the whole list is covered, or beyond help. */
    while (s->unsynced.count && (!is_segment_bad || s->has_given_up_sync))
        sealer_finish_job(s, job_list_pop(&s->unsynced));
    if (off > s->synced_off)
        s->synced_off = off;
    sealer_made_progress(s);
}

bool
sealer_is_sync_due(const struct sealer *s, uint64_t now_ns)
{
    if (s->is_copy_new)
        return true;
    if (!sealer_syncs(s) || !s->is_dirty)
        return false;
    if (s->unsynced.count &&
        (s->opt.sync != TAPE_SYNC_INTERVAL || (s->is_stopping && !s->queue.count) ||
         s->unsynced.count >= SEALER_WAIT_TAILS * 3 / 4 ||
         s->unsynced.bytes >= SEALER_WAIT_BYTES * 3 / 4))
        return true;
    return now_ns - s->dirty_at_ns >= s->opt.sync_ns;
}
