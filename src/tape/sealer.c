/* SPDX-License-Identifier: MIT */
/*
 * sealer.c -- the writer's thread.
 *
 * A job goes from `queue` (to be written) to `unsynced` (written, not yet known to be on
 * the disk) and then away, its tail with it. A failed sync makes the file suspect:
 * whatever is in `unsynced` goes back to the head of the queue, packed as it is, and from
 * there into the next segment. What `lock` guards stands in one place of the struct; jobs
 * on the lists are touched by the thread alone.
 */
#include "tape/sealer_state_priv.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "tape/names.h"

#define SECOND 1000000000ULL

void
sealer_tell(struct sealer *s, bool *is_told, int code, const char *what)
{
    if (*is_told || s->is_trouble_new) /* one at a time */
        return;
    *is_told = true;
    s->is_trouble_new = s->has_news = true;
    err_code(&s->trouble, code, "%s '%s'", what, sealer_name(s));
}

static void
set_dirty(struct sealer *s)
{
    if (!s->is_dirty) {
        s->is_dirty = true;
        s->dirty_at_ns = clock_mono_ns();
    }
}

void
sealer_made_progress(struct sealer *s)
{
    s->progress_at_ns = clock_mono_ns();
    pthread_cond_broadcast(&s->room);
}

static void
touch(struct sealer *s)
{
    if (s->is_touched)
        return;
    s->is_touched = true;
    s->touched_at_ns = clock_mono_ns();
    pthread_cond_signal(&s->work);
}

/* Not the disk's failure, and told by the next look, which should come soon. */
bool
sealer_is_folder_gone(int code)
{
    return code == -ENOENT || code == -ENOTDIR;
}

void
sealer_look_soon(struct sealer *s)
{
    touch(s);
    s->touched_at_ns = 0;
}

void
sealer_finish_job(struct sealer *s, struct seal_job *job)
{
    job_list_push(&s->done, job);
}

/* Removes the tail of a job that is safe (format, I13). One that cannot be removed is
 * dropped by recovery, since its ordinal is sealed. Called and returns with the lock
 * held; either thread may do it. */
static void
drop_one(struct sealer *s)
{
    struct seal_job *job = job_list_pop(&s->done);
    size_t raw_len = job->raw_len;
    bool is_sure = !s->was_astray;
    pthread_mutex_unlock(&s->lock);
    if (job->tail_fd >= 0) {
        char path[TAPE_PATH_MAX];
        tape_tail_path(path, job->path, job->head.ordinal);
        if (is_sure || !s->io->ops->named(s->io, job->tail_fd, path))
            s->io->ops->unlink(s->io, path);
        s->io->ops->close(s->io, job->tail_fd);
    }
    seal_job_free(job);
    pthread_mutex_lock(&s->lock);
    s->waiting_blocks--;
    s->waiting_bytes -= raw_len;
    sealer_made_progress(s);
}

static int
quality_for(const struct sealer *s, size_t waiting)
{
    if (!s->opt.is_adaptive || waiting <= 8)
        return s->opt.quality;
    int low = waiting <= 16 ? 1 : 0;
    return low < s->opt.quality ? low : s->opt.quality;
}

/* Keeps the buffer for a later block, so that memory is not asked for again and again. */
static void
recycle(struct sealer *s, struct buf *b)
{
    pthread_mutex_lock(&s->lock);
    if (s->spare_count < SEALER_SPARES) {
        buf_clear(b);
        s->spares[s->spare_count++] = *b;
        *b = (struct buf){ 0 };
    }
    pthread_mutex_unlock(&s->lock);
    buf_release(b);
}

static int
pack(struct sealer *s, struct seal_job *job, int quality)
{
    if (job->is_packed)
        return 0;
    struct buf packed = { 0 };
    buf_clear(&s->scratch);
    int r = tape_block_seal(&job->head, (struct view){ job->bytes.p, job->bytes.n },
                            &s->packer, quality, &s->scratch);
    if (!r)
        r = buf_append(&packed, s->scratch.p, s->scratch.n);
    if (r < 0)
        return r;
    recycle(s, &job->bytes);
    job->bytes = packed;
    job->is_packed = true;
    return 0;
}

static int
open_segment(struct sealer *s)
{
    if (s->fd >= 0)
        return 0;
    if (s->astray) /* it would be joined with somebody's file */
        return -EAGAIN;
    char path[TAPE_PATH_MAX];
    tape_segment_path(path, sealer_name(s), s->segment);
    int fd = s->io->ops->open(s->io, path, TAPE_OPEN_CREATE);
    if (fd == -EEXIST && s->segment + 1 < SEALER_SEGMENTS_MAX)
        s->segment++; /* somebody's file: the next try takes the next name */
    if (fd < 0)
        return fd;
    s->fd = fd;
    s->end_off = 0;
    pthread_mutex_lock(&s->lock);
    s->is_segment_new = true;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

void
sealer_close_segment(struct sealer *s)
{
    if (s->fd == s->lock_fd)
        s->lock_end_off = s->end_off;
    if (s->fd >= 0 && s->fd != s->lock_fd)
        s->io->ops->close(s->io, s->fd);
    s->fd = -1;
}

static int
write_block(struct sealer *s, struct seal_job *job, int quality)
{
    int r = pack(s, job, quality);
    if (!r)
        r = open_segment(s);
    if (!r)
        sealer_notice_cut(s); /* before that is hidden by what follows */
    /* At the known end, not appended: what an attempt that failed half-way left is
     * written over. */
    if (!r)
        r = tape_io_write_all(s->io, s->fd, job->bytes.p, job->bytes.n, s->end_off);
    if (!r)
        s->end_off += job->bytes.n;
    return r;
}

/* Called and returns with the lock held; lets go of it for the work. */
static void
write_one(struct sealer *s)
{
    struct seal_job *job = s->queue.first;
    int quality = quality_for(s, s->queue.count);
    pthread_mutex_unlock(&s->lock);
    int r = write_block(s, job, quality);
    pthread_mutex_lock(&s->lock);
    s->failing = r;
    if (r < 0) {
        s->retry_at_ns = clock_mono_ns() + s->opt.patience_ns / TAPE_RETRIES;
        sealer_tell(s, &s->is_write_told, r, "cannot write");
        pthread_cond_broadcast(&s->room);
        return;
    }
    job_list_pop(&s->queue);
    s->quality = quality;
    s->sealed_blocks++;
    if (!job->is_saved)
        s->unsaved_bytes -= job->raw_len;
    job->is_saved = true;
    if (sealer_syncs(s)) {
        job_list_push(&s->unsynced, job);
        s->unsynced_end_off = job->end_byte_off;
        set_dirty(s);
    } else {
        sealer_finish_job(s, job);
    }
    sealer_made_progress(s);
}

static void
wait_until(struct sealer *s, pthread_cond_t *cond, uint64_t at_ns)
{
    struct timespec ts = { .tv_sec = (time_t)(at_ns / SECOND),
                           .tv_nsec = (long)(at_ns % SECOND) };
    pthread_cond_timedwait(cond, &s->lock, &ts);
}

static void
wait_for_work(struct sealer *s)
{
    uint64_t at_ns = UINT64_MAX;
    if (sealer_syncs(s) && s->is_dirty)
        at_ns = s->dirty_at_ns + s->opt.sync_ns;
    if (s->queue.count && s->retry_at_ns < at_ns)
        at_ns = s->retry_at_ns;
    if (s->is_touched && s->touched_at_ns + s->opt.sync_ns < at_ns)
        at_ns = s->touched_at_ns + s->opt.sync_ns;
    if (at_ns == UINT64_MAX)
        pthread_cond_wait(&s->work, &s->lock);
    else
        wait_until(s, &s->work, at_ns);
}

static bool
is_done(const struct sealer *s, uint64_t now_ns)
{
    if (!s->is_stopping || s->wanted_ticket != s->synced_ticket || s->rescue.fd >= 0 ||
        s->is_copy_new)
        return false;
    if (!s->queue.count && !s->unsynced.count)
        return true;
    return s->failing && now_ns - s->progress_at_ns >= s->opt.patience_ns;
}

static bool
has_room(const struct sealer *s, size_t len)
{
    return !s->waiting_blocks || (s->waiting_blocks < SEALER_WAIT_TAILS &&
                                  s->waiting_bytes + len <= SEALER_WAIT_BYTES);
}

/* Called and returns with the lock held; lets go of it for the call. True: it was called,
 * and all may be different now. */
static bool
call_on_news(struct sealer *s)
{
    if (s->room_wanted && (s->failing || has_room(s, s->room_wanted))) {
        s->room_wanted = 0;
        s->has_news = true;
    }
    if (!s->has_news || !s->is_listening || !s->opt.on_news)
        return false;
    s->has_news = false;
    pthread_mutex_unlock(&s->lock);
    s->opt.on_news(s->opt.news_ctx);
    pthread_mutex_lock(&s->lock);
    return true;
}

static void *
run(void *arg)
{
    struct sealer *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        uint64_t now_ns = clock_mono_ns();
        if (s->rescue.fd >= 0)
            sealer_step_rescue(s);
        sealer_settle_tickets(s);
        if (call_on_news(s))
            continue;
        bool is_end = is_done(s, now_ns), must_sync = sealer_is_sync_due(s, now_ns);
        if (is_end && s->is_last_look)
            break;
        s->is_last_look |= is_end;
        bool must_look = is_end || must_sync || sealer_is_look_due(s, now_ns);
        if (must_look)
            sealer_look(s);
        if (must_sync)
            sealer_sync_all(s);
        else if (must_look) /* that may be news, and give work */
            continue;
        else if (s->done.count >= SEALER_DONE_MAX ||
                 (s->done.count && (!s->queue.count || s->failing || s->room_wanted)))
            drop_one(s); /* on a full disk, that makes room */
        else if (s->queue.count && (!s->failing || now_ns >= s->retry_at_ns))
            write_one(s);
        else if (s->rescue.fd < 0)
            wait_for_work(s);
    }
    while (s->done.count)
        drop_one(s);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void
init_locks(struct sealer *s)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &attr);
    pthread_cond_init(&s->room, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&s->lock, NULL);
}

static void
free_jobs(struct sealer *s, struct job_list *l)
{
    for (struct seal_job *job; (job = job_list_pop(l));) {
        if (job->tail_fd >= 0)
            s->io->ops->close(s->io, job->tail_fd);
        seal_job_free(job);
    }
}

static void
sealer_free(struct sealer *s)
{
    free_jobs(s, &s->queue);
    free_jobs(s, &s->unsynced);
    while (s->spare_count)
        buf_release(&s->spares[--s->spare_count]);
    buf_release(&s->scratch);
    tape_packer_release(&s->packer);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->room);
    pthread_mutex_destroy(&s->lock);
    while (s->name_count)
        free(s->names[--s->name_count]);
    free(s);
}

int
sealer_start(struct sealer **ret, struct tape_io *io, const char *path, int fd,
             const struct tape_writer_options *opt, struct err *err)
{
    struct sealer *s = calloc(1, sizeof(*s));
    char *copy = strdup(path);
    if (!s || !copy) {
        free(s);
        free(copy);
        return err_code(err, -ENOMEM, "cannot record '%s'", path);
    }
    s->io = io;
    s->names[s->name_count++] = copy;
    s->opt = *opt;
    s->fd = s->lock_fd = fd;
    s->rescue.fd = -1;
    s->rescue_wait_ns = opt->sync_ns;
    s->open_tail_fd = s->suspect_tail_fd = -1;
    s->quality = opt->quality;
    s->is_segment_new = true;
    s->progress_at_ns = clock_mono_ns();
    job_list_init(&s->queue);
    job_list_init(&s->unsynced);
    job_list_init(&s->done);
    init_locks(s);

    /* Signals are for the thread that appends. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r) {
        sealer_free(s);
        return err_code(err, -r, "cannot start the writer's thread");
    }
    *ret = s;
    return 0;
}

int
sealer_push(struct sealer *s, struct seal_job *job, enum sealer_wait wait)
{
    pthread_mutex_lock(&s->lock);
    uint64_t since_ns = clock_mono_ns();
    int r = 0;
    while (wait != SEALER_FORCE && !has_room(s, job->raw_len)) {
        if (s->progress_at_ns > since_ns)
            since_ns = s->progress_at_ns;
        if (wait == SEALER_NO_WAIT || s->failing ||
            clock_mono_ns() - since_ns >= s->opt.patience_ns) {
            r = s->failing ? s->failing : -ETIMEDOUT;
            break;
        }
        if (s->done
                .count) /* rather than wait: removing files takes a fifth of the work */
            drop_one(s);
        else
            wait_until(s, &s->room, since_ns + s->opt.patience_ns);
    }
    if (!r) {
        job->is_tail_whole = job->is_saved && job->tail_fd >= 0;
        job->is_tail_suspect |= job->tail_fd >= 0 && job->tail_fd == s->suspect_tail_fd;
        job_list_push(&s->queue, job);
        s->waiting_blocks++;
        s->waiting_bytes += job->raw_len;
        s->unsaved_bytes += job->is_saved ? 0 : job->raw_len;
        s->open_tail_fd = s->suspect_tail_fd = -1;
        s->is_tail_lost = false;
        touch(s);
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

bool
sealer_has_room(struct sealer *s, size_t len, uint64_t *ret_progress_ns)
{
    pthread_mutex_lock(&s->lock);
    while (!s->failing && !has_room(s, len) && s->done.count) /* as in sealer_push() */
        drop_one(s);
    bool is_room = s->failing || has_room(s, len);
    s->room_wanted = is_room ? 0 : len;
    s->is_listening = true;
    *ret_progress_ns = s->progress_at_ns;
    pthread_mutex_unlock(&s->lock);
    return is_room;
}

bool
sealer_note_tail(struct sealer *s, const struct seal_job *open, uint64_t byte_off)
{
    pthread_mutex_lock(&s->lock);
    s->open_tail_fd = open->tail_fd;
    s->open_tail_ordinal = open->head.ordinal;
    s->open_tail_path = open->path;
    s->open_tail_off = byte_off;
    if (s->opt.sync == TAPE_SYNC_INTERVAL && !s->is_dirty) {
        set_dirty(s);
        pthread_cond_signal(&s->work);
    }
    touch(s);
    bool is_lost = s->is_tail_lost;
    s->is_tail_lost = false;
    pthread_mutex_unlock(&s->lock);
    return is_lost;
}

void
sealer_note_failure(struct sealer *s, int code)
{
    pthread_mutex_lock(&s->lock);
    if (sealer_is_folder_gone(code))
        sealer_look_soon(s);
    else
        sealer_tell(s, &s->is_write_told, code, "cannot write");
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

void
sealer_note_name(struct sealer *s)
{
    pthread_mutex_lock(&s->lock);
    s->is_tail_new = true;
    pthread_mutex_unlock(&s->lock);
}

void
sealer_equip(struct sealer *s, struct seal_job *job)
{
    pthread_mutex_lock(&s->lock);
    job->path = sealer_name(s);
    if (s->spare_count)
        job->bytes = s->spares[--s->spare_count];
    pthread_mutex_unlock(&s->lock);
}

size_t
sealer_unsaved(struct sealer *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->unsaved_bytes;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void
sealer_status(struct sealer *s, struct tape_writer_status *st)
{
    pthread_mutex_lock(&s->lock);
    st->synced_byte_off = s->synced_off;
    st->sealed_blocks = s->sealed_blocks;
    st->waiting_blocks = s->waiting_blocks;
    st->quality = s->quality;
    st->is_suspect = s->is_suspect;
    st->is_failing = s->failing != 0;
    pthread_mutex_unlock(&s->lock);
}

bool
sealer_trouble(struct sealer *s, struct err *ret)
{
    pthread_mutex_lock(&s->lock);
    bool *is_new = s->is_stale_new ? &s->is_stale_new : &s->is_trouble_new;
    bool is_there = *is_new;
    if (is_there)
        *ret = s->is_stale_new ? s->stale : s->trouble;
    *is_new = false;
    s->is_listening = true;
    pthread_mutex_unlock(&s->lock);
    return is_there;
}

/* What is in no file: DATA, and marks of gaps, which then are one gap at the end. */
static void
count_unsaved(const struct sealer *s, struct tape_writer_status *st)
{
    uint64_t marks = 0;
    st->unsaved_bytes = 0;
    for (const struct seal_job *job = s->queue.first; job; job = job->next) {
        if (job->is_saved)
            continue;
        st->unsaved_bytes += job->data_bytes - job->saved_data_bytes;
        marks += job->gap_marks;
    }
    st->gaps = st->gaps - marks + (marks || st->unsaved_bytes);
}

int
sealer_finish(struct sealer *s, struct tape_writer_status *st, char **ret_segments,
              struct err *err)
{
    pthread_mutex_lock(&s->lock);
    s->is_stopping = true;
    s->progress_at_ns = clock_mono_ns();
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);

    int r = sealer_check_file(s, err);
    if (s->queue.count)
        r = err_code(err, s->failing, "cannot write '%s'", sealer_name(s));
    count_unsaved(s, st);
    st->trouble.code = 0;
    if (!r)
        sealer_trouble(s, &st->trouble);
    *ret_segments = s->segment ? strdup(sealer_name(s)) : NULL;
    sealer_status(s, st);
    sealer_close_segment(s);
    s->io->ops->close(s->io, s->lock_fd);
    sealer_free(s);
    return r;
}
