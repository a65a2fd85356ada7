/* SPDX-License-Identifier: MIT */
#include "play/keyframes_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/le.h"
#include "tape/crc32c.h"

enum { PICTURE_QUALITY = 1 };

uint64_t
play_chain(uint64_t chain, uint64_t file_off, const uint8_t head[TAPE_BLOCK_HEAD])
{
    /* FNV-1a. */
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint8_t off[8];
    put_le64(off, file_off);
    chain = chain ? chain : UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof(off); i++)
        chain = (chain ^ off[i]) * prime;
    for (size_t i = 0; i < TAPE_BLOCK_HEAD; i++)
        chain = (chain ^ head[i]) * prime;
    return chain;
}

int
play_keyframes_init(struct play_keyframes *k, struct tape_io *io, const char *path)
{
    *k = (struct play_keyframes){ .io = io,
                                  .fd = -1,
                                  .spacing = PLAY_KEYFRAME_SPACING,
                                  .count_max = PLAY_KEYFRAMES_MAX,
                                  .sized_max = PLAY_KEYFRAMES_SIZED_MAX,
                                  .bytes_max = PLAY_KEYFRAMES_BYTES_MAX };
    k->list.ceiling = PLAY_KEYFRAMES_MAX * sizeof(struct play_keyframe);
    k->snapshots.ceiling = PLAY_KEYFRAMES_BYTES_MAX;
    k->pictures.ceiling = 2 * (size_t)PLAY_KEYFRAMES_BYTES_MAX;
    k->room.ceiling = PLAY_PICTURE_MAX;
    if (path && !(k->path = strdup(path)))
        return -ENOMEM;
    return 0;
}

void
play_keyframes_release(struct play_keyframes *k)
{
    if (k->fd >= 0)
        k->io->ops->close(k->io, k->fd);
    buf_release(&k->list);
    buf_release(&k->pictures);
    buf_release(&k->room);
    buf_release(&k->snapshots);
    tape_packer_release(&k->packer);
    free(k->path);
}

/* -- making them -- */

void
play_keyframes_cut(struct play_keyframes *k, size_t n)
{
    k->count = n;
    k->list.n = n * sizeof(struct play_keyframe);
    k->sized_count = k->picture_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct play_keyframe *f = play_keyframe_at(k, i);
        k->sized_count += f->is_sized;
        k->picture_bytes += f->packed_len;
    }
}

/* Pictures of keyframes that have gone go, too. */
static void
close_ranks(struct play_keyframes *k)
{
    size_t end = 0;
    for (size_t i = 0; i < k->count; i++) {
        struct play_keyframe *f = play_keyframe_at(k, i);
        if (f->is_in_file)
            continue;
        memmove(k->pictures.p + end, k->pictures.p + f->picture_at, f->packed_len);
        f->picture_at = end;
        end += f->packed_len;
    }
    k->pictures.n = end;
}

/* Every second one goes, but for those after a new size: without these what follows them
 * is far away. */
static void
thin_out(struct play_keyframes *k)
{
    size_t n = 0;
    bool is_kept = false;
    for (size_t i = 0; i < k->count; i++) {
        struct play_keyframe *f = play_keyframe_at(k, i);
        is_kept = !is_kept;
        if (f->is_sized || is_kept)
            *play_keyframe_at(k, n++) = *f;
    }
    play_keyframes_cut(k, n);
    close_ranks(k);
    k->spacing *= 2;
}

/* Appends the walk's picture, packed; false: it is not to be had, or too large. */
static bool
pack_picture(struct play_keyframes *k, struct play_walk *w, struct play_keyframe *f)
{
    size_t at = k->pictures.n;
    buf_clear(&k->room);
    if (term_snapshot(w->term, false, &k->room) < 0)
        return false;
    struct view raw = { k->room.p, k->room.n };
    if (tape_deflate(&k->packer, raw, PICTURE_QUALITY, &k->pictures) < 0) {
        k->pictures.n = at;
        k->pictures.failed = 0;
        return false;
    }
    f->picture_at = at;
    f->packed_len = (uint32_t)(k->pictures.n - at);
    f->raw_len = (uint32_t)raw.n;
    f->picture_crc = tape_crc32c(0, k->pictures.p + at, f->packed_len);
    return true;
}

static void
add(struct play_keyframes *k, struct play_walk *w, struct play_keyframe f)
{
    bool is_foreign;
    if (w->piece.is_tail || tape_reader_segments(w->tape, &is_foreign) > 1)
        return; /* there is no way back to this place but from the start */
    f.spot = w->spot;
    f.place = (struct tape_place){ w->piece.file_off, w->piece.head.ordinal,
                                   w->piece.head.crc };
    f.chain = w->chain;
    f.taken_ts_ns = w->taken_ts_ns;
    f.shown_ts_ns = w->shown_ts_ns;
    f.byte_off = w->byte_off;
    f.unrecorded = w->unrecorded;
    f.cols = (uint16_t)w->cols;
    f.rows = (uint16_t)w->rows;
    f.term_cols = (uint16_t)w->term_cols;
    f.term_rows = (uint16_t)w->term_rows;
    /* What cannot be kept is tried again when as much has gone by. */
    k->cost = 0;
    bool is_full = k->count >= k->count_max || k->picture_bytes >= k->bytes_max;
    bool can_thin = k->count - k->sized_count > 1;
    if (is_full && can_thin && k->spacing < PLAY_KEYFRAME_SPACING_MAX)
        thin_out(k);
    if (k->count >= k->count_max || k->picture_bytes >= k->bytes_max ||
        !pack_picture(k, w, &f))
        return;
    if (buf_append(&k->list, &f, sizeof(f)) < 0) {
        k->list.failed = 0;
        return;
    }
    k->count++;
    k->sized_count += f.is_sized;
    k->picture_bytes += f.packed_len;
    k->new_count++;
    k->is_stale = true;
}

static int
note_snapshot(struct play_keyframes *k, const struct play_walk *w,
              struct play_events *events)
{
    struct play_event event = play_event_of(&w->next);
    int e = play_events_add(events, &event);
    if (e >= 0)
        e = play_keyframes_put_snapshot(&k->snapshots, w->spot, &event);
    return e == ERR_LIMIT ? 0 : e; /* there are enough of them */
}

int
play_keyframes_record(struct play_keyframes *k, struct play_walk *w,
                      struct play_events *events)
{
    if (play_spot_is_before(w->spot, k->front))
        return 0;
    k->front = (struct play_spot){ w->spot.ordinal, w->spot.record + 1 };
    bool is_due = k->cost >= k->spacing && (!w->spot.record || k->cost >= 2 * k->spacing);
    /* Where the size is about to change another one comes at once. */
    if (is_due && !play_walk_is_sizing(w))
        add(k, w,
            (struct play_keyframe){ .from_ts_ns = w->taken_ts_ns,
                                    .from_byte = w->byte_off });
    k->cost += tape_record_size(&w->next);
    k->cost += w->spot.record ? 0 : k->spacing / PLAY_KEYFRAME_BLOCKS;
    return w->next.tag == TAPE_SNAPSHOT ? note_snapshot(k, w, events) : 0;
}

void
play_keyframes_sized(struct play_keyframes *k, struct play_walk *w)
{
    struct play_keyframe *last = k->count ? play_keyframe_at(k, k->count - 1) : NULL;
    bool is_new = !last || play_spot_is_before(last->spot, w->spot);
    if (!is_new || k->is_complete || k->sized_count >= k->sized_max)
        return;
    struct play_keyframe f = { .is_sized = true,
                               .from_ts_ns = w->last_ts_ns,
                               .from_byte = w->byte_off };
    /* The size is taken with the byte that follows: not before. */
    if (w->has_next)
        f.from_byte = play_walk_next_off(w) + (w->next.bytes.n ? 1 : 0);
    /* A recording that grows may not end here next time. */
    if (w->has_next || tape_reader_is_single(w->tape))
        add(k, w, f);
}

void
play_keyframes_end(struct play_keyframes *k, const struct play_walk *w)
{
    if (k->is_complete || !tape_reader_is_single(w->tape))
        return;
    k->is_complete = k->is_stale = true;
    k->end_byte = w->byte_off;
    k->end_ts_ns = w->last_ts_ns;
    k->end_chain = w->chain_behind;
}

/* -- using them -- */

/* The last one for which `is_past` says no. */
static struct play_keyframe *
last_before(const struct play_keyframes *k, uint64_t target,
            bool (*is_past)(const struct play_keyframe *, uint64_t))
{
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (is_past(play_keyframe_at(k, mid), target))
            high = mid;
        else
            low = mid + 1;
    }
    while (low && play_keyframe_at(k, low - 1)->is_bad)
        low--;
    return low ? play_keyframe_at(k, low - 1) : NULL;
}

static bool
is_past_time(const struct play_keyframe *f, uint64_t ts_ns)
{
    return f->from_ts_ns > ts_ns;
}

static bool
is_past_byte(const struct play_keyframe *f, uint64_t byte_off)
{
    return f->from_byte > byte_off;
}

struct play_keyframe *
play_keyframes_by_time(const struct play_keyframes *k, uint64_t ts_ns)
{
    return last_before(k, ts_ns, is_past_time);
}

struct play_keyframe *
play_keyframes_by_byte(const struct play_keyframes *k, uint64_t byte_off)
{
    return last_before(k, byte_off, is_past_byte);
}

struct play_keyframe *
play_keyframes_by_size(const struct play_keyframes *k, struct play_spot spot)
{
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (play_spot_is_before(play_keyframe_at(k, mid)->spot, spot))
            low = mid + 1;
        else
            high = mid;
    }
    struct play_keyframe *f = play_keyframe_at(k, low);
    bool is_it = low < k->count && f->is_sized && !f->is_bad &&
                 !play_spot_is_before(spot, f->spot);
    return is_it ? f : NULL;
}

bool
play_keyframes_read_packed(struct play_keyframes *k, const struct play_keyframe *f,
                           struct buf *room, struct view *ret)
{
    *ret = (struct view){ k->pictures.p + f->picture_at, f->packed_len };
    if (!f->is_in_file)
        return true;
    uint8_t *p = buf_grow(room, f->packed_len);
    *ret = (struct view){ p, f->packed_len };
    return p && k->fd >= 0 &&
           tape_io_read_full(k->io, k->fd, p, f->packed_len, f->picture_at) ==
               (ssize_t)f->packed_len &&
           tape_crc32c(0, p, f->packed_len) == f->picture_crc;
}

struct term *
play_keyframes_picture(struct play_keyframes *k, struct play_keyframe *f)
{
    AUTO(buf) file = { 0 };
    struct view packed;
    struct term_options opt = play_walk_term_options();
    struct term *term;
    buf_clear(&k->room);
    uint8_t *p = buf_grow(&k->room, f->raw_len);
    if (!p || !play_keyframes_read_packed(k, f, &file, &packed) ||
        tape_inflate(packed, p, f->raw_len) ||
        term_restore((struct view){ p, f->raw_len }, &opt, &term, NULL) < 0)
        return NULL;
    return term;
}

int
play_keyframes_go(struct play_keyframes *k, struct play_keyframe *f, struct play_walk *w)
{
    struct term *term = play_keyframes_picture(k, f);
    w->cols = f->cols;
    w->rows = f->rows;
    w->term_cols = f->term_cols;
    w->term_rows = f->term_rows;
    w->chain_behind = f->chain;
    w->last_ts_ns = w->taken_ts_ns = f->taken_ts_ns;
    w->shown_ts_ns = f->shown_ts_ns;
    w->byte_off = f->byte_off;
    w->unrecorded = f->unrecorded;
    w->sized_ts_ns = f->from_ts_ns;
    w->sized_byte = f->from_byte;
    if (term && play_walk_jump(w, &f->place, f->spot.record, term))
        return 1;
    f->is_bad = k->is_stale = true;
    return 0;
}
