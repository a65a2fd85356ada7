/* SPDX-License-Identifier: MIT */
/*
 * sealer_sync.c -- the writer's thread syncs.
 *
 * A round syncs the recording's file, the names that are new in its folder, and what
 * stands in tails alone. What it covers is noted under the lock before it begins; the
 * thread writes nothing meanwhile.
 *
 * Whoever asks for a sync gets a ticket. One round is enough for all that were given
 * before it began: then each record is in a block of the recording, in a queued block's
 * tail, or in the open one. They are done when that round is over, whatever came of it,
 * unless another one may bring what this one could not.
 */
#include "tape/sealer_state_priv.h"

#include <assert.h>

#include "base/clock.h"

/* What a sync is about to cover, noted under the lock. */
struct sync_round {
    uint64_t ticket;         /* of whoever asked last; 0: nobody waits */
    uint64_t queued_ordinal; /* tails of queued blocks before it, which end at … */
    uint64_t queued_off;
    int open_tail_fd; /* -1: not this time */
    uint64_t open_tail_off;
    bool is_segment_new, is_name_new;
    int also_fds[SEALER_ALSO_MAX];
    size_t also_count;
    /* what came of it */
    bool is_segment_bad;
    bool is_queued_tail_bad;
    bool is_open_tail_bad;
    bool has_hole; /* before the open tail is a block that only memory has for sure */
};

/* -- on demand -- */

static bool
is_among(const int *fds, size_t count, int fd)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] == fd)
            return true;
    return false;
}

static void
add_also(struct sealer *s, int fd)
{
    if (is_among(s->also_fds, s->also_count, fd))
        return;
    assert(s->also_count < SEALER_ALSO_MAX);
    s->also_fds[s->also_count++] = fd;
}

void
sealer_settle_tickets(struct sealer *s)
{
    if (s->wanted_ticket == s->synced_ticket || sealer_syncs(s))
        return;
    s->synced_ticket = s->wanted_ticket;
    s->has_news = true;
}

uint64_t
sealer_want_sync(struct sealer *s, int also_fd)
{
    pthread_mutex_lock(&s->lock);
    if (s->wanted_ticket == s->synced_ticket)
        s->wanted_at_ns = clock_mono_ns();
    uint64_t ticket = ++s->wanted_ticket;
    if (s->opt.sync == TAPE_SYNC_NONE)
        sealer_settle_tickets(s);
    else if (also_fd >= 0)
        add_also(s, also_fd);
    s->is_listening = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    return ticket;
}

uint64_t
sealer_synced(struct sealer *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t ticket = s->synced_ticket;
    s->is_listening = true;
    pthread_mutex_unlock(&s->lock);
    return ticket;
}

bool
sealer_is_tail_suspect(struct sealer *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_suspect = s->suspect_tail_fd >= 0;
    pthread_mutex_unlock(&s->lock);
    return is_suspect;
}

/* Its tail is of no use: it is safe when the recording has it. */
static bool
must_be_written(const struct seal_job *job)
{
    return !job->is_tail_whole || job->is_tail_suspect;
}

static bool
has_block_to_write(const struct sealer *s, uint64_t end_ordinal)
{
    for (const struct seal_job *job = s->queue.first; job; job = job->next)
        if (job->head.ordinal < end_ordinal && must_be_written(job))
            return true;
    return false;
}

/* Blocks that must be written come first, while that has a chance. */
static bool
is_wanted_now(const struct sealer *s, uint64_t now_ns)
{
    if (s->wanted_ticket == s->synced_ticket)
        return false;
    return s->failing || now_ns > s->wanted_at_ns + s->opt.patience_ns ||
           !has_block_to_write(s, UINT64_MAX);
}

/* -- one round -- */

static void
cover_tickets(struct sealer *s, struct sync_round *round)
{
    round->ticket = s->wanted_ticket;
    for (const struct seal_job *job = s->queue.first; job; job = job->next) {
        round->queued_ordinal = job->head.ordinal + 1;
        round->queued_off = job->end_byte_off;
    }
    round->also_count = s->also_count;
    for (size_t i = 0; i < s->also_count; i++) {
        round->also_fds[i] = s->also_fds[i];
        round->is_name_new |= !is_among(s->named_fds, s->named_count, s->also_fds[i]);
    }
    s->also_count = 0;
}

/* While blocks wait to be written their tails are not synced, unless somebody waits for
 * that: the blocks soon will be. */
static void
begin_round(struct sealer *s, struct sync_round *round)
{
    *round = (struct sync_round){ .open_tail_fd = -1,
                                  .is_segment_new = s->is_segment_new,
                                  .is_name_new = s->is_segment_new };
    s->is_segment_new = false;
    s->is_dirty = false;
    if (is_wanted_now(s, clock_mono_ns())) /* not whatever this round is for */
        cover_tickets(s, round);
    else if (s->opt.sync != TAPE_SYNC_INTERVAL || s->queue.count)
        return;
    if (s->open_tail_fd != s->suspect_tail_fd)
        round->open_tail_fd = s->open_tail_fd;
    round->open_tail_off = s->open_tail_off;
    round->is_name_new |= s->is_tail_new;
    s->is_tail_new = false;
}

static void
note_names(struct sealer *s, const struct sync_round *round)
{
    for (size_t i = 0; i < round->also_count; i++)
        if (s->named_count < SEALER_ALSO_MAX &&
            !is_among(s->named_fds, s->named_count, round->also_fds[i]))
            s->named_fds[s->named_count++] = round->also_fds[i];
}

/* The recording's file, and the names in its folder. */
static int
sync_segment(struct sealer *s, struct sync_round *round)
{
    size_t count = s->unsynced.count;
    int r = s->fd >= 0 && (count || s->is_copy_new) ? tape_io_sync(s->io, s->fd) : 0;
    s->is_copy_new = false;
    round->is_segment_bad = r < 0;
    if (!r && round->is_name_new) {
        r = tape_io_sync_dir(s->io, sealer_name(s));
        /* A file whose name may be lost is no better than one whose bytes may. */
        round->is_segment_bad = r < 0 && !sealer_is_folder_gone(r) &&
                                round->is_segment_new;
        if (!r)
            note_names(s, round);
    }
    if (!round->is_segment_bad && count)
        s->in_file_off = s->unsynced_end_off;
    return r;
}

static struct seal_job *
next_tail(const struct sealer *s, uint64_t end_ordinal)
{
    struct seal_job *job = s->queue.first;
    while (job && (job->is_tail_synced || must_be_written(job)))
        job = job->next;
    return job && job->head.ordinal < end_ordinal ? job : NULL;
}

/* Raises *off to the end of the blocks that are now safe in their tails. The queue grows
 * meanwhile; only this thread takes from it. */
static int
sync_queued_tails(struct sealer *s, struct sync_round *round, uint64_t *off)
{
    int r = 0;
    if (!round->queued_ordinal)
        return 0;
    pthread_mutex_lock(&s->lock);
    for (struct seal_job *job; (job = next_tail(s, round->queued_ordinal));) {
        pthread_mutex_unlock(&s->lock);
        int e = tape_io_sync(s->io, job->tail_fd);
        pthread_mutex_lock(&s->lock);
        job->is_tail_synced = !e;
        job->is_tail_suspect = e < 0;
        r = e < 0 ? e : r;
    }
    round->is_queued_tail_bad = r < 0;
    round->has_hole = has_block_to_write(s, round->queued_ordinal);
    pthread_mutex_unlock(&s->lock);
    if (!round->has_hole && round->queued_off > *off)
        *off = round->queued_off;
    return r;
}

/* Raises *off to the end of what the open tail now holds for good. */
static int
sync_open_tail(struct sealer *s, struct sync_round *round, uint64_t *off)
{
    if (round->open_tail_fd < 0)
        return 0;
    int r = tape_io_sync(s->io, round->open_tail_fd);
    round->is_open_tail_bad = r < 0;
    if (!r && !round->has_hole)
        *off = round->open_tail_off;
    return r;
}

static int
sync_also(struct sealer *s, const struct sync_round *round)
{
    int r = 0;
    for (size_t i = 0; i < round->also_count; i++) {
        int e = tape_io_sync(s->io, round->also_fds[i]);
        r = e < 0 ? e : r;
    }
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

static void
note_failure(struct sealer *s, const struct sync_round *round, int r)
{
    if (sealer_is_folder_gone(r)) {
        s->is_segment_new |= round->is_segment_new;
        sealer_look_soon(s);
    } else if (r < 0) {
        s->is_suspect = true;
        sealer_tell(s, &s->is_sync_told, r, "cannot sync");
    }
    s->is_tail_new |= r < 0 && round->is_name_new; /* try again */
    if (round->is_open_tail_bad && s->open_tail_fd == round->open_tail_fd)
        s->suspect_tail_fd = round->open_tail_fd;
    if (round->is_segment_bad)
        leave_segment(s);
}

/* What failed in one file may be safe in another, after the next round. */
static void
end_tickets(struct sealer *s, const struct sync_round *round)
{
    uint64_t now_ns = clock_mono_ns();
    if (!round->ticket)
        return;
    if ((round->is_segment_bad || round->is_queued_tail_bad) && sealer_syncs(s) &&
        !s->failing && now_ns <= s->wanted_at_ns + s->opt.patience_ns) {
        for (size_t i = 0; i < round->also_count; i++)
            add_also(s, round->also_fds[i]);
        return;
    }
    s->synced_ticket = round->ticket;
    s->wanted_at_ns = now_ns;
    s->has_news = true;
}

void
sealer_sync_all(struct sealer *s)
{
    struct sync_round round;
    begin_round(s, &round);
    uint64_t off = s->synced_off;
    pthread_mutex_unlock(&s->lock);

    int r = sync_segment(s, &round);
    if (!r) {
        off = s->in_file_off > off ? s->in_file_off : off;
        r = sync_queued_tails(s, &round, &off);
        int r_open = sync_open_tail(s, &round, &off);
        r = r < 0 ? r : r_open;
    }
    int r_also = sync_also(s, &round);

    pthread_mutex_lock(&s->lock);
    note_failure(s, &round, r);
    if (r_also < 0)
        sealer_tell(s, &s->is_also_told, r_also, "cannot sync a file beside");
    /* Nothing was written meanwhile: the whole list is covered, or beyond help. */
    while (s->unsynced.count && (!round.is_segment_bad || s->has_given_up_sync))
        sealer_finish_job(s, job_list_pop(&s->unsynced));
    if (off > s->synced_off)
        s->synced_off = off;
    end_tickets(s, &round);
    sealer_made_progress(s);
}

bool
sealer_is_sync_due(const struct sealer *s, uint64_t now_ns)
{
    if (s->is_copy_new)
        return true;
    if (!sealer_syncs(s))
        return false;
    if (is_wanted_now(s, now_ns))
        return true;
    if (!s->is_dirty)
        return false;
    if (s->unsynced.count &&
        (s->opt.sync != TAPE_SYNC_INTERVAL || (s->is_stopping && !s->queue.count) ||
         s->unsynced.count >= SEALER_WAIT_TAILS * 3 / 4 ||
         s->unsynced.bytes >= SEALER_WAIT_BYTES * 3 / 4))
        return true;
    return now_ns - s->dirty_at_ns >= s->opt.sync_ns;
}
