/* SPDX-License-Identifier: MIT */
/*
 * writer.c -- the appending side of a recording.
 *
 * `cur` is the block being filled, `frames` what its tail file should hold: one write
 * brings the file up to date whatever failed before. When the tail cannot be written the
 * block goes to the sealer at once, in case the recording itself still can.
 */
#include "tape/writer.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "base/file.h"
#include "tape/names.h"
#include "tape/repair.h"
#include "tape/sealer_priv.h"
#include "tape/tail.h"

enum {
    HELD_MAX = 8 << 20,      /* records kept in memory alone, and the largest block */
    RESUME_BELOW = 4 << 20,  /* after dropping, go on when this little is held */
    ROOM = (64 << 10) + 128, /* what tape_writer_has_room() asks for, heads and marks
                                included */
};

const struct tape_writer_options tape_writer_defaults = {
    .quality = 4,
    .is_adaptive = true,
    .block_bytes = 256 << 10,
    .block_ns = 10000000000,
    .sync = TAPE_SYNC_INTERVAL,
    .sync_ns = 1000000000,
    .patience_ns = 2000000000,
    .cols = 80,
    .rows = 24,
};

struct tape_writer {
    struct tape_io *io; /* borrowed */
    char *path;
    struct tape_writer_options opt;
    struct sealer *sealer;

    struct seal_job *cur; /* NULL: no record since the last seal */
    struct buf frames;    /* what cur's tail file holds, or should */
    uint32_t crc;         /* of cur's last frame */
    size_t saved_len;     /* how much of `frames` is in the tail file */
    bool is_finishing;    /* the next block is the last */
    bool is_due;          /* cur should have been sealed; there was no room */
    bool has_waited;      /* in vain: nobody is held up again until there is room */
    uint64_t full_at_ns;  /* monotonic: since when there is no room; 0: there is */
    uint64_t next_ordinal;
    uint64_t byte_off, dropped_bytes, synced_off, last_ts_ns;
    uint64_t
        hole_end_off; /* of the last block handed over unsynced; TAPE_SYNC_ALWAYS only */
    uint64_t tick_ns; /* the caller's clock, when it was last told */

    bool is_tail_failing;
    uint64_t retry_at_ns; /* monotonic */

    bool is_dropping;
    uint64_t gap_bytes;           /* dropped since the last record */
    uint64_t gap_marks;           /* written for earlier ones */
    struct tape_record lost_size; /* a RESIZE among them; tag DATA: none */
};

static int
refuse_leftovers(struct tape_io *io, const char *path, struct err *err)
{
    AUTO(buf) names = { 0 };
    uint64_t ordinal;
    unsigned segment;
    int r = io->ops->list(io, path, &names);
    if (r < 0)
        return err_code(err, r, "cannot look for pieces of '%s'", path);
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        const char *suffix = (char *)names.p + at;
        if (tape_tail_suffix(suffix, &ordinal) || tape_segment_suffix(suffix, &segment))
            return err_set(
                err, -EEXIST,
                "'%s%s' is left of an unfinished recording; run 'ahr recover %s' first",
                path, suffix, path);
    }
    return 0;
}

/* A file that exists is somebody's recording; say whether it is being made right now. */
static int
refuse_existing(struct tape_io *io, const char *path, struct err *err)
{
    int fd = io->ops->open(io, path, TAPE_OPEN_READ);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0 && fd != -EACCES)
        return err_code(err, fd, "cannot create '%s'", path);
    int busy = fd < 0 ? 0 : io->ops->lock(io, fd, path);
    if (fd >= 0)
        io->ops->close(io, fd);
    if (busy == -EBUSY)
        return err_set(err, ERR_BUSY, "'%s' is being recorded right now", path);
    return err_set(err, -EEXIST, "'%s' exists already; remove it or choose another name",
                   path);
}

static int
create_locked(struct tape_io *io, const char *path, int *ret_fd, struct err *err)
{
    int fd = io->ops->open(io, path, TAPE_OPEN_CREATE);
    if (fd < 0)
        return err_code(err, fd, "cannot create '%s'", path);
    /* A file system without locks (some network ones) is no reason not to record. */
    if (io->ops->lock(io, fd, path) == -EBUSY) {
        io->ops->close(io, fd);
        return err_set(err, ERR_BUSY, "'%s' is being recorded right now", path);
    }
    *ret_fd = fd;
    return 0;
}

int
tape_writer_open(struct tape_writer **ret, struct tape_io *io, const char *path,
                 const struct tape_writer_options *opt, struct err *err)
{
    if (strlen(path) > TAPE_PATH_MAX - TAPE_NAME_ROOM ||
        strlen(file_name(path)) > NAME_MAX - TAPE_NAME_ROOM)
        return err_set(
            err, -ENAMETOOLONG,
            "cannot create '%.64s…': the name is too long, its tails need %d more "
            "characters",
            path, TAPE_NAME_ROOM);
    int fd = -1, r = refuse_existing(io, path, err);
    if (!r)
        r = refuse_leftovers(io, path, err);
    if (!r)
        r = create_locked(io, path, &fd, err);
    if (r < 0)
        return r;
    struct tape_writer *w = calloc(1, sizeof(*w));
    if (w)
        w->path = strdup(path);
    if (w && w->path)
        r = sealer_start(&w->sealer, io, path, fd, opt, err);
    else
        r = err_code(err, -ENOMEM, "cannot record '%s'", path);
    if (!w || r < 0) {
        io->ops->unlink(io, path);
        io->ops->close(io, fd);
        if (w)
            free(w->path);
        free(w);
        return r;
    }
    w->io = io;
    w->opt = *opt;
    if (w->opt.block_bytes > HELD_MAX)
        w->opt.block_bytes = HELD_MAX;
    w->last_ts_ns = opt->start_ts_ns;
    tape_writer_append(w, (struct tape_record){ .tag = TAPE_RESIZE,
                                                .ts_ns = opt->start_ts_ns,
                                                .cols = opt->cols,
                                                .rows = opt->rows });
    *ret = w;
    return 0;
}

static struct seal_job *
new_block(struct tape_writer *w, uint64_t ts_ns)
{
    struct seal_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->head = (struct tape_block){ .start_ts_ns = ts_ns,
                                     .start_byte_off = w->byte_off,
                                     .ordinal = w->next_ordinal };
    job->tail_fd = -1;
    sealer_equip(w->sealer, job);
    buf_clear(&w->frames);
    uint8_t *head = NULL;
    if (!buf_reserve(&job->bytes, w->opt.block_bytes + (128 << 10)))
        head = buf_grow(&w->frames, TAPE_TAIL_HEAD);
    if (!head) {
        seal_job_free(job);
        return NULL;
    }
    struct tape_tail tail = { .ordinal = w->next_ordinal, .start_byte_off = w->byte_off };
    memcpy(tail.session_id, w->opt.session_id, sizeof(tail.session_id));
    w->crc = tape_tail_put_head(head, &tail);
    w->saved_len = 0;
    w->next_ordinal++;
    return job;
}

static int
open_tail(struct tape_writer *w)
{
    char path[TAPE_PATH_MAX];
    tape_tail_path(path, w->cur->path, w->cur->head.ordinal);
    int fd = w->io->ops->open(w->io, path, TAPE_OPEN_CREATE);
    if (fd < 0)
        return fd;
    w->cur->tail_fd = fd;
    sealer_note_name(w->sealer);
    return 0;
}

/* True while a block before the open one is not known to be synced. */
static bool
has_hole(struct tape_writer *w)
{
    struct tape_writer_status st;
    if (!w->hole_end_off)
        return false;
    sealer_status(w->sealer, &st);
    if (st.synced_byte_off >= w->hole_end_off)
        w->hole_end_off = 0;
    return w->hole_end_off != 0;
}

static int
write_tail(struct tape_writer *w)
{
    struct seal_job *cur = w->cur;
    int r = cur->tail_fd < 0 ? open_tail(w) : 0;
    if (!r)
        r = tape_io_write_all(w->io, cur->tail_fd, w->frames.p + w->saved_len,
                              w->frames.n - w->saved_len, w->saved_len);
    if (r < 0)
        return r;
    w->saved_len = w->frames.n;
    cur->saved_data_bytes = cur->data_bytes;
    if (w->opt.sync != TAPE_SYNC_ALWAYS)
        return 0;
    r = cur->is_tail_suspect ? -EIO : tape_io_sync(w->io, cur->tail_fd);
    cur->is_tail_suspect = r < 0;
    if (!r && !cur->is_tail_named) {
        r = tape_io_sync_dir(w->io, w->path);
        cur->is_tail_named = !r;
    }
    if (!r && !has_hole(w))
        w->synced_off = w->byte_off;
    return r;
}

static bool
is_cur_saved(const struct tape_writer *w)
{
    return w->saved_len == w->frames.n;
}

static void
seal(struct tape_writer *w, enum sealer_wait wait)
{
    struct seal_job *cur = w->cur;
    cur->end_byte_off = w->byte_off;
    cur->is_saved = is_cur_saved(w);
    if (w->is_finishing)
        cur->head.flags = TAPE_BLOCK_LAST;
    if (w->is_finishing)
        wait = SEALER_FORCE;
    else if (w->has_waited)
        wait = SEALER_NO_WAIT;
    bool is_hole = !cur->is_saved || w->is_tail_failing;
    w->is_due = sealer_push(w->sealer, cur, wait) < 0;
    if (w->is_due) {
        w->has_waited |= wait == SEALER_WAIT;
        return;
    }
    w->has_waited = false;
    if (w->full_at_ns) /* patience begins anew */
        w->full_at_ns = clock_mono_ns();
    if (is_hole)
        w->hole_end_off = w->byte_off;
    w->cur = NULL;
}

/* Brings cur's tail up to date (format, I12), if the last failure is long enough ago. */
static void
save(struct tape_writer *w)
{
    if (w->is_tail_failing && clock_mono_ns() < w->retry_at_ns)
        return;
    int r = write_tail(w);
    if (!r) {
        w->is_tail_failing = false;
        if (sealer_note_tail(w->sealer, w->cur, w->byte_off))
            seal(w, SEALER_NO_WAIT);
        return;
    }
    bool is_news = !w->is_tail_failing;
    w->is_tail_failing = true;
    w->retry_at_ns = clock_mono_ns() + w->opt.patience_ns / TAPE_RETRIES;
    sealer_note_failure(w->sealer, r);
    if (is_news)
        seal(w, SEALER_NO_WAIT);
}

static size_t
held_bytes(struct tape_writer *w)
{
    size_t n = sealer_unsaved(w->sealer);
    if (w->cur && (w->is_due || !is_cur_saved(w)))
        n += w->cur->raw_len;
    return n;
}

/* Room for `size` more bytes of records in memory, should the disk not take them. */
static bool
can_hold(struct tape_writer *w, size_t size)
{
    size_t limit = w->is_dropping ? RESUME_BELOW : HELD_MAX;
    return held_bytes(w) + size <= limit;
}

/* Adds the record to cur and to what its tail should hold; all or nothing. */
static int
add(struct tape_writer *w, const struct tape_record *rec)
{
    struct buf *bytes = &w->cur->bytes;
    size_t n = tape_record_size(rec);
    int r = buf_reserve(bytes, n);
    if (!r)
        r = tape_tail_put_record(&w->frames, rec, &w->crc);
    if (r < 0)
        return r;
    buf_append(bytes, w->frames.p + w->frames.n - n, n);
    w->cur->raw_len = bytes->n;
    w->cur->head.record_count++;
    w->cur->data_bytes += rec->tag == TAPE_DATA ? rec->bytes.n : 0;
    w->cur->gap_marks += rec->tag == TAPE_MARK && rec->code == TAPE_MARK_GAP;
    return 0;
}

static enum tape_append
put(struct tape_writer *w, struct tape_record *rec)
{
    if (!w->cur)
        w->cur = new_block(w, rec->ts_ns);
    if (rec->tag == TAPE_DATA)
        rec->byte_off = w->byte_off;
    if (!w->cur || add(w, rec) < 0)
        return TAPE_DROPPED;
    if (rec->tag == TAPE_DATA)
        w->byte_off += rec->bytes.n;
    save(w);
    if (!w->cur) /* save() had to seal it */
        return TAPE_HELD;
    bool is_saved = is_cur_saved(w) && !w->is_tail_failing;
    if (w->cur->raw_len >= w->opt.block_bytes)
        seal(w, SEALER_WAIT);
    else if (w->is_due)
        seal(w, SEALER_NO_WAIT);
    return is_saved ? TAPE_SAVED : TAPE_HELD;
}

static enum tape_append
drop(struct tape_writer *w, const struct tape_record *rec)
{
    w->is_dropping = true;
    if (rec->tag == TAPE_DATA) {
        w->byte_off += rec->bytes.n;
        w->gap_bytes += rec->bytes.n;
        w->dropped_bytes += rec->bytes.n;
    } else if (rec->tag == TAPE_RESIZE) {
        w->lost_size = *rec;
    }
    return TAPE_DROPPED;
}

/* Says what is missing, before the first record that is not. */
static void
end_gap(struct tape_writer *w, uint64_t ts_ns)
{
    if (w->gap_bytes) {
        uint64_t n = w->gap_bytes;
        struct tape_record mark = { .tag = TAPE_MARK,
                                    .ts_ns = ts_ns,
                                    .code = TAPE_MARK_GAP,
                                    .val = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n };
        if (put(w, &mark) == TAPE_DROPPED)
            return;
        w->gap_bytes = 0;
        w->gap_marks++;
    }
    if (w->lost_size.tag == TAPE_RESIZE) {
        w->lost_size.ts_ns = ts_ns;
        if (put(w, &w->lost_size) == TAPE_DROPPED)
            return;
        w->lost_size.tag = TAPE_DATA;
    }
    w->is_dropping = false;
}

static enum tape_append
append_one(struct tape_writer *w, struct tape_record *rec)
{
    if (!can_hold(w, tape_record_size(rec)))
        return drop(w, rec);
    if (w->is_dropping)
        end_gap(w, rec->ts_ns);
    if (w->is_dropping)
        return drop(w, rec);
    enum tape_append r = put(w, rec);
    return r == TAPE_DROPPED ? drop(w, rec) : r;
}

enum tape_append
tape_writer_append(struct tape_writer *w, struct tape_record rec)
{
    assert(rec.tag <= TAPE_SNAPSHOT);
    assert(rec.tag != TAPE_SNAPSHOT || rec.bytes.n <= UINT16_MAX);
    if (rec.ts_ns < w->last_ts_ns) /* the format's I7, whatever the caller's clock does */
        rec.ts_ns = w->last_ts_ns;
    w->last_ts_ns = rec.ts_ns;
    tape_writer_tick(w, rec.ts_ns);

    struct view all = rec.bytes;
    enum tape_append worst = TAPE_SAVED;
    do {
        rec.bytes.p = all.p;
        rec.bytes.n = all.n < TAPE_RECORD_BYTES_MAX ? all.n
                                                    : (size_t)TAPE_RECORD_BYTES_MAX;
        all.p += rec.bytes.n;
        all.n -= rec.bytes.n;
        enum tape_append r = append_one(w, &rec);
        worst = r > worst ? r : worst;
    } while (all.n);
    return worst;
}

void
tape_writer_tick(struct tape_writer *w, uint64_t now_ns)
{
    w->tick_ns = now_ns;
    if (w->cur && !is_cur_saved(w))
        save(w);
    bool is_old = w->cur && now_ns >= w->cur->head.start_ts_ns &&
                  now_ns - w->cur->head.start_ts_ns >= w->opt.block_ns;
    if (w->cur && (w->is_due || is_old))
        seal(w, SEALER_NO_WAIT);
}

bool
tape_writer_has_room(struct tape_writer *w)
{
    size_t len = (w->cur ? w->cur->raw_len : 0) + ROOM;
    uint64_t progress_at_ns;
    if (w->has_waited || len < w->opt.block_bytes)
        return true;
    if (sealer_has_room(w->sealer, len, &progress_at_ns)) {
        w->full_at_ns = 0;
        return true;
    }
    uint64_t now_ns = clock_mono_ns();
    if (!w->full_at_ns)
        w->full_at_ns = now_ns;
    uint64_t since_ns = progress_at_ns > w->full_at_ns ? progress_at_ns : w->full_at_ns;
    w->has_waited = now_ns >= since_ns && now_ns - since_ns >= w->opt.patience_ns;
    return w->has_waited;
}

uint64_t
tape_writer_due_ns(const struct tape_writer *w)
{
    bool is_full = w->full_at_ns && !w->has_waited;
    if (is_full || (w->cur && (w->is_due || !is_cur_saved(w)))) /* try again soon */
        return w->tick_ns + w->opt.patience_ns / TAPE_RETRIES;
    if (!w->cur)
        return UINT64_MAX;
    return w->cur->head.start_ts_ns + w->opt.block_ns;
}

uint64_t
tape_writer_want_sync(struct tape_writer *w, int also_fd)
{
    if (w->cur && !is_cur_saved(w))
        save(w);
    /* What its tail cannot be trusted with may be safe in the recording. */
    if (w->cur && (!is_cur_saved(w) || w->cur->is_tail_suspect ||
                   sealer_is_tail_suspect(w->sealer)))
        seal(w, SEALER_NO_WAIT);
    return sealer_want_sync(w->sealer, also_fd);
}

uint64_t
tape_writer_synced(struct tape_writer *w)
{
    return sealer_synced(w->sealer);
}

void
tape_writer_status(struct tape_writer *w, struct tape_writer_status *ret)
{
    sealer_status(w->sealer, ret);
    ret->byte_off = w->byte_off;
    ret->dropped_bytes = w->dropped_bytes;
    ret->gaps = w->gap_marks + (w->gap_bytes > 0);
    ret->is_failing |= w->is_tail_failing;
    if (w->synced_off > ret->synced_byte_off)
        ret->synced_byte_off = w->synced_off;
}

bool
tape_writer_trouble(struct tape_writer *w, struct err *ret)
{
    return sealer_trouble(w->sealer, ret);
}

int
tape_writer_finish(struct tape_writer *w, uint64_t now_ns,
                   struct tape_writer_status *ret_status, struct err *err)
{
    struct tape_record end = { .tag = TAPE_MARK, .code = TAPE_MARK_END };
    end.ts_ns = now_ns > w->last_ts_ns ? now_ns : w->last_ts_ns;
    if (w->is_dropping)
        end_gap(w, end.ts_ns);
    w->is_finishing = true;
    put(w, &end);
    if (w->cur)
        seal(w, SEALER_FORCE);

    char *segments;
    tape_writer_status(w, ret_status);
    int r = sealer_finish(w->sealer, ret_status, &segments, err);
    /* Should somebody else have begun to recover it meanwhile, it is being joined by
     * them. */
    if (!r && segments) {
        struct tape_repair_report report;
        r = tape_repair(w->io, segments, false, NULL, &report, err);
        if (r == ERR_BUSY)
            r = 0;
    }
    free(segments);
    buf_release(&w->frames);
    free(w->path);
    free(w);
    return r;
}
