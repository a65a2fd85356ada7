/* SPDX-License-Identifier: MIT */
/*
 * keyframes_file.c -- keyframes from one time to the next (doc/keyframes.md).
 *
 * A header, the table, the snapshots, the pictures. The header and what follows it up to
 * the pictures are checked at once, each picture when it is wanted. Whether the recording
 * is still the one of the file is told by its identity, or by the chain of its blocks'
 * headers.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/le.h"
#include "play/keyframes_priv.h"
#include "tape/crc32c.h"
#include "tape/names.h"

enum {
    VERSION = 1,
    HEAD = 128,
    ENTRY = 112,
    SNAPSHOT_HEAD = 38,
    IS_COMPLETE = 1 << 0, /* flags of the file */
    IS_SETTLED = 1 << 1,
    IS_SIZED = 1 << 0,  /* … of an entry */
    NEW_MIN = 4,        /* keyframes that are worth a new file, before all are known */
    FLUSH_AT = 1 << 20, /* bytes of pictures */
    SETTLE_S = 2,       /* file systems' clocks may tick that slowly */
};

static const uint8_t magic[4] = { 'A', 'H', 'R', 'K' };

/* Models of other versions may show other pictures. */
static uint32_t
model(void)
{
    return tape_crc32c(0, AHR_VERSION, sizeof(AHR_VERSION));
}

/* -- its parts, to and from bytes -- */

int
play_keyframes_put_snapshot(struct buf *out, struct play_spot spot,
                            const struct play_event *event)
{
    uint8_t head[SNAPSHOT_HEAD];
    put_le64(head, spot.ordinal);
    put_le32(head + 8, spot.record);
    put_le64(head + 12, event->id);
    put_le64(head + 20, event->ts_ns);
    put_le64(head + 28, event->anchor_byte);
    put_le16(head + 36, (uint16_t)event->text.n);
    int e = buf_reserve(out, sizeof(head) + event->text.n);
    if (e < 0)
        return e;
    buf_append(out, head, sizeof(head));
    return buf_append(out, event->text.p, event->text.n);
}

size_t
play_keyframes_get_snapshot(struct view in, struct play_spot *ret_spot,
                            struct play_event *ret)
{
    if (in.n < SNAPSHOT_HEAD)
        return 0;
    size_t n = get_le16(in.p + 36);
    if (n > in.n - SNAPSHOT_HEAD)
        return 0;
    *ret_spot = (struct play_spot){ get_le64(in.p), get_le32(in.p + 8) };
    *ret = (struct play_event){
        .kind = PLAY_SNAPSHOT,
        .id = get_le64(in.p + 12),
        .ts_ns = get_le64(in.p + 20),
        .anchor_byte = get_le64(in.p + 28),
        .text = { in.p + SNAPSHOT_HEAD, n },
        .snapshot_id = PLAY_NONE,
    };
    return SNAPSHOT_HEAD + n;
}

static void
put_entry(uint8_t p[ENTRY], const struct play_keyframe *f)
{
    put_le64(p, f->spot.ordinal);
    put_le32(p + 8, f->spot.record);
    put_le32(p + 12, f->place.crc);
    put_le64(p + 16, f->place.file_off);
    put_le64(p + 24, f->chain);
    put_le64(p + 32, f->from_ts_ns);
    put_le64(p + 40, f->from_byte);
    put_le64(p + 48, f->taken_ts_ns);
    put_le64(p + 56, f->shown_ts_ns);
    put_le64(p + 64, f->byte_off);
    put_le64(p + 72, f->unrecorded);
    put_le16(p + 80, f->cols);
    put_le16(p + 82, f->rows);
    put_le16(p + 84, f->term_cols);
    put_le16(p + 86, f->term_rows);
    put_le64(p + 88, f->picture_at);
    put_le32(p + 96, f->packed_len);
    put_le32(p + 100, f->raw_len);
    put_le32(p + 104, f->picture_crc);
    put_le32(p + 108, f->is_sized ? IS_SIZED : 0);
}

static struct play_keyframe
get_entry(const uint8_t p[ENTRY])
{
    return (struct play_keyframe){
        .spot = { get_le64(p), get_le32(p + 8) },
        .place = { get_le64(p + 16), get_le64(p), get_le32(p + 12) },
        .chain = get_le64(p + 24),
        .from_ts_ns = get_le64(p + 32),
        .from_byte = get_le64(p + 40),
        .taken_ts_ns = get_le64(p + 48),
        .shown_ts_ns = get_le64(p + 56),
        .byte_off = get_le64(p + 64),
        .unrecorded = get_le64(p + 72),
        .cols = get_le16(p + 80),
        .rows = get_le16(p + 82),
        .term_cols = get_le16(p + 84),
        .term_rows = get_le16(p + 86),
        .picture_at = get_le64(p + 88),
        .packed_len = get_le32(p + 96),
        .raw_len = get_le32(p + 100),
        .picture_crc = get_le32(p + 104),
        .is_sized = get_le32(p + 108) & IS_SIZED,
        .is_in_file = true,
    };
}

struct head {
    uint32_t flags;
    struct play_keyframes_id id;
    uint64_t end_ts_ns, end_byte, end_chain, spacing;
    uint32_t count, snapshots_len, body_crc;
};

static void
put_head(uint8_t p[HEAD], const struct head *h)
{
    memset(p, 0, HEAD);
    memcpy(p, magic, sizeof(magic));
    put_le16(p + 4, VERSION);
    put_le16(p + 6, HEAD);
    put_le32(p + 8, model());
    put_le32(p + 12, h->flags);
    put_le64(p + 16, h->id.file.dev);
    put_le64(p + 24, h->id.file.ino);
    put_le64(p + 32, h->id.file.size);
    put_le64(p + 40, h->id.file.mtime_ns);
    put_le64(p + 48, h->id.file.ctime_ns);
    put_le64(p + 56, h->id.start_ts_ns);
    put_le64(p + 64, h->end_ts_ns);
    put_le64(p + 72, h->end_byte);
    put_le64(p + 80, h->end_chain);
    put_le64(p + 88, h->spacing);
    put_le16(p + 96, h->id.cols);
    put_le16(p + 98, h->id.rows);
    put_le32(p + 100, h->count);
    put_le32(p + 104, h->snapshots_len);
    put_le32(p + 108, h->body_crc);
    put_le32(p + 124, tape_crc32c(0, p, 124));
}

static bool
get_head(const uint8_t p[HEAD], struct head *ret)
{
    if (memcmp(p, magic, sizeof(magic)) != 0 || get_le16(p + 4) != VERSION ||
        get_le16(p + 6) != HEAD || get_le32(p + 8) != model() ||
        get_le32(p + 124) != tape_crc32c(0, p, 124))
        return false;
    *ret = (struct head){
        .flags = get_le32(p + 12),
        .id = { .file = { get_le64(p + 16), get_le64(p + 24), get_le64(p + 32),
                          get_le64(p + 40), get_le64(p + 48) },
                .start_ts_ns = get_le64(p + 56),
                .cols = get_le16(p + 96),
                .rows = get_le16(p + 98) },
        .end_ts_ns = get_le64(p + 64),
        .end_byte = get_le64(p + 72),
        .end_chain = get_le64(p + 80),
        .spacing = get_le64(p + 88),
        .count = get_le32(p + 100),
        .snapshots_len = get_le32(p + 104),
        .body_crc = get_le32(p + 108),
    };
    return ret->count <= PLAY_KEYFRAMES_MAX &&
           ret->snapshots_len <= PLAY_KEYFRAMES_BYTES_MAX && ret->spacing &&
           ret->spacing <= PLAY_KEYFRAME_SPACING_MAX;
}

/* -- whose it is -- */

static bool
is_same_file(const struct tape_identity *a, const struct tape_identity *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* What changes a file within the tick of its clock in which it was looked at leaves no
 * trace in its identity: only one that has been at rest for a while can be believed. */
static bool
is_settled(const struct tape_identity *id)
{
    uint64_t latest = id->mtime_ns > id->ctime_ns ? id->mtime_ns : id->ctime_ns;
    struct clock now;
    clock_start(&now);
    return latest && latest + SETTLE_S * UINT64_C(1000000000) < now.real_ns;
}

static void
learn_id(struct play_keyframes *k, const struct play_walk *w)
{
    k->id = (struct play_keyframes_id){ .start_ts_ns = w->first_ts_ns,
                                        .cols = (uint16_t)w->term_cols,
                                        .rows = (uint16_t)w->term_rows };
    k->is_settled = tape_reader_identity(w->tape, &k->id.file) >= 0 &&
                    is_settled(&k->id.file);
}

struct check {
    struct play_keyframes *k;
    size_t good; /* keyframes that fit */
    uint64_t chain;
};

/* A tape_head_fn. */
static bool
check_head(void *ctx, const struct tape_place *place, const uint8_t head[TAPE_BLOCK_HEAD])
{
    struct check *c = ctx;
    for (; c->good < c->k->count; c->good++) {
        const struct play_keyframe *f = play_keyframe_at(c->k, c->good);
        if (f->place.file_off > place->file_off)
            break;
        if (f->place.file_off < place->file_off || f->place.crc != place->crc ||
            f->place.ordinal != place->ordinal || f->chain != c->chain)
            return false;
    }
    c->chain = play_chain(c->chain, place->file_off, head);
    return true;
}

/* Holds what was read against the headers of the recording's blocks. */
static void
check_chain(struct play_keyframes *k, struct play_walk *w)
{
    struct check c = { .k = k };
    tape_reader_heads(w->tape, check_head, &c);
    k->is_complete &= c.good == k->count && c.chain == k->end_chain;
    play_keyframes_cut(k, c.good);
    k->is_stale = true;
}

/* -- reading -- */

/* Can this entry follow that one? */
static bool
is_sound(const struct play_keyframe *f, const struct play_keyframe *last,
         uint64_t pictures_at, uint64_t size)
{
    if (!f->raw_len || f->raw_len > PLAY_PICTURE_MAX || !f->packed_len || !f->cols ||
        !f->rows || !f->term_cols || !f->term_rows || f->picture_at < pictures_at ||
        f->picture_at > size || f->packed_len > size - f->picture_at)
        return false;
    return !last ||
           (!play_spot_is_before(f->spot, last->spot) &&
            f->from_ts_ns >= last->from_ts_ns && f->from_byte >= last->from_byte &&
            f->place.file_off >= last->place.file_off);
}

static int
read_table(struct play_keyframes *k, const struct head *h, struct view body,
           uint64_t size)
{
    uint64_t pictures_at = HEAD + body.n;
    for (uint32_t i = 0; i < h->count; i++) {
        struct play_keyframe f = get_entry(body.p + (size_t)i * ENTRY);
        const struct play_keyframe *last = i ? play_keyframe_at(k, i - 1) : NULL;
        if (!is_sound(&f, last, pictures_at, size))
            return 0;
        int e = buf_append(&k->list, &f, sizeof(f));
        if (e < 0)
            return e;
        k->count++;
    }
    return 0;
}

/* All that lie before the records that nobody has seen; ERR_LIMIT or ERR_DAMAGED: no
 * player wrote them. */
static int
read_snapshots(struct play_keyframes *k, struct view in, struct play_events *events)
{
    struct play_spot spot;
    struct play_event event;
    size_t n;
    for (; (n = play_keyframes_get_snapshot(in, &spot, &event)) > 0;
         in = (struct view){ in.p + n, in.n - n }) {
        if (!k->is_complete && !play_spot_is_before(spot, k->front))
            return 0;
        int e = play_events_add(events, &event);
        if (e >= 0)
            e = buf_append(&k->snapshots, in.p, n);
        if (e < 0)
            return e;
    }
    return in.n ? ERR_DAMAGED : 0;
}

/* As if there were no file. */
static void
forget_file(struct play_keyframes *k, struct play_events *events)
{
    play_keyframes_cut(k, 0);
    k->is_complete = false;
    k->is_stale = true;
    k->front = (struct play_spot){ 0 };
    buf_clear(&k->snapshots);
    buf_shrink(&k->snapshots);
    play_events_release(events);
}

/* The head and the body of the file, if they are good. */
static bool
read_front(struct play_keyframes *k, struct head *ret, struct buf *body,
           uint64_t *ret_size)
{
    uint8_t p[HEAD];
    body->ceiling = (size_t)PLAY_KEYFRAMES_MAX * ENTRY + PLAY_KEYFRAMES_BYTES_MAX;
    if (k->io->ops->size(k->io, k->fd, ret_size) < 0 ||
        tape_io_read_full(k->io, k->fd, p, HEAD, 0) != HEAD || !get_head(p, ret))
        return false;
    size_t n = (size_t)ret->count * ENTRY + ret->snapshots_len;
    uint8_t *at = n <= *ret_size - HEAD ? buf_grow(body, n) : NULL;
    return at && tape_io_read_full(k->io, k->fd, at, n, HEAD) == (ssize_t)n &&
           tape_crc32c(0, at, n) == ret->body_crc;
}

static int
read_file(struct play_keyframes *k, struct play_walk *w, struct play_events *events)
{
    AUTO(buf) body = { 0 };
    struct head h;
    uint64_t size;
    if (!read_front(k, &h, &body, &size) || h.id.start_ts_ns != k->id.start_ts_ns ||
        h.id.cols != k->id.cols || h.id.rows != k->id.rows)
        return 0;
    struct view table = { body.p, body.n };
    int e = read_table(k, &h, table, size);
    if (e < 0)
        return e;
    play_keyframes_cut(k, k->count);
    k->is_stale = false;
    k->is_complete = h.flags & IS_COMPLETE && k->count == h.count;
    k->end_ts_ns = h.end_ts_ns;
    k->end_byte = h.end_byte;
    k->end_chain = h.end_chain;
    if (!(h.flags & IS_SETTLED) || !is_same_file(&h.id.file, &k->id.file))
        check_chain(k, w);
    k->front = k->count ? play_keyframe_at(k, k->count - 1)->spot
                        : (struct play_spot){ 0 };
    struct view snapshots = { body.p + (size_t)h.count * ENTRY, h.snapshots_len };
    e = read_snapshots(k, snapshots, events);
    if (e < 0)
        forget_file(k, events);
    else
        k->spacing = (size_t)h.spacing;
    return e == -ENOMEM ? e : 0;
}

int
play_keyframes_load(struct play_keyframes *k, struct play_walk *w,
                    struct play_events *events)
{
    k->is_stale = true;
    if (!tape_reader_is_single(w->tape)) {
        free(k->path);
        k->path = NULL;
    }
    if (!k->path)
        return 0;
    learn_id(k, w);
    int fd = k->io->ops->open(k->io, k->path, TAPE_OPEN_NO_LINK);
    k->fd = fd < 0 ? -1 : fd;
    return fd < 0 ? 0 : read_file(k, w, events);
}

/* -- writing -- */

/* Has somebody else meanwhile written all that there is to know? */
static bool
is_there(struct play_keyframes *k)
{
    uint8_t p[HEAD];
    struct head h;
    int fd = k->io->ops->open(k->io, k->path, TAPE_OPEN_NO_LINK);
    if (fd < 0)
        return false;
    bool is_head = tape_io_read_full(k->io, fd, p, HEAD, 0) == HEAD && get_head(p, &h);
    k->io->ops->close(k->io, fd);
    return is_head && h.flags & IS_COMPLETE && h.flags & IS_SETTLED &&
           is_same_file(&h.id.file, &k->id.file);
}

/* A file to write to, ours alone; what a killed player left is removed. */
static int
open_new(struct play_keyframes *k, const char *path)
{
    const struct tape_io_ops *ops = k->io->ops;
    int fd = ops->open(k->io, path, TAPE_OPEN_CREATE);
    if (fd == -EEXIST) {
        fd = ops->open(k->io, path, TAPE_OPEN_NO_LINK);
        int e = fd < 0 ? fd : ops->lock(k->io, fd, path);
        if (!e)
            e = ops->unlink(k->io, path);
        if (fd >= 0)
            ops->close(k->io, fd);
        if (e < 0)
            return e;
        fd = ops->open(k->io, path, TAPE_OPEN_CREATE);
    }
    int e = fd < 0 ? fd : ops->lock(k->io, fd, path);
    if (e == -EBUSY) { /* somebody was faster */
        ops->close(k->io, fd);
        return e;
    }
    return fd;
}

/* Writes the pictures of the keyframes in `list` behind one another; their places are
 * then the new ones. */
static int
write_pictures(struct play_keyframes *k, int fd, struct play_keyframe *list, size_t count,
               uint64_t at)
{
    AUTO(buf) out = { 0 };
    uint64_t written = at;
    int e = 0;
    for (size_t i = 0; i < count && e >= 0; i++) {
        struct play_keyframe *f = &list[i];
        AUTO(buf) room = { 0 };
        struct view packed;
        if (!play_keyframes_read_packed(k, f, &room, &packed))
            return -EIO;
        f->picture_at = at;
        f->is_in_file = true;
        at += packed.n;
        e = buf_append(&out, packed.p, packed.n);
        if (e >= 0 && (out.n >= FLUSH_AT || i + 1 == count)) {
            e = tape_io_write_all(k->io, fd, out.p, out.n, written);
            written += out.n;
            buf_clear(&out);
        }
    }
    return e;
}

static int
write_front(struct play_keyframes *k, int fd, const struct play_keyframe *list,
            size_t count)
{
    AUTO(buf) out = { .ceiling = 2 * (size_t)PLAY_KEYFRAMES_BYTES_MAX };
    uint8_t *p = buf_grow(&out, HEAD + count * ENTRY);
    buf_append(&out, k->snapshots.p, k->snapshots.n);
    if (!p || out.failed)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        put_entry(out.p + HEAD + i * ENTRY, &list[i]);
    struct head h = {
        .flags = (k->is_complete ? IS_COMPLETE : 0U) | (k->is_settled ? IS_SETTLED : 0U),
        .id = k->id,
        .end_ts_ns = k->end_ts_ns,
        .end_byte = k->end_byte,
        .end_chain = k->end_chain,
        .spacing = k->spacing,
        .count = (uint32_t)count,
        .snapshots_len = (uint32_t)k->snapshots.n,
        .body_crc = tape_crc32c(0, out.p + HEAD, out.n - HEAD),
    };
    put_head(out.p, &h);
    return tape_io_write_all(k->io, fd, out.p, out.n, 0);
}

/* The list as it goes to the file: without those that are bad. NULL: no memory. */
static struct play_keyframe *
good_ones(const struct play_keyframes *k, size_t *ret_count)
{
    struct play_keyframe *list = malloc((k->count + 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list && i < k->count; i++)
        if (!play_keyframe_at(k, i)->is_bad)
            list[n++] = *play_keyframe_at(k, i);
    *ret_count = n;
    return list;
}

/* The file is the one at fd now, with these in it. */
static void
take_over(struct play_keyframes *k, int fd, const struct play_keyframe *list,
          size_t count)
{
    if (k->fd >= 0)
        k->io->ops->close(k->io, k->fd);
    k->fd = fd;
    memcpy(k->list.p, list, count * sizeof(*list));
    play_keyframes_cut(k, count);
    buf_release(&k->pictures);
    k->pictures.ceiling = 2 * (size_t)PLAY_KEYFRAMES_BYTES_MAX;
    k->new_count = 0;
    k->is_stale = false;
}

static int
write_file(struct play_keyframes *k)
{
    char path[TAPE_PATH_MAX];
    size_t count;
    if (snprintf(path, sizeof(path), "%s.new", k->path) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    int fd = open_new(k, path);
    if (fd < 0)
        return fd;
    struct play_keyframe *list = good_ones(k, &count);
    int e = list ? write_pictures(k, fd, list, count,
                                  HEAD + count * ENTRY + k->snapshots.n)
                 : -ENOMEM;
    if (e >= 0)
        e = write_front(k, fd, list, count);
    if (e >= 0)
        e = k->io->ops->rename(k->io, path, k->path);
    if (e >= 0) {
        take_over(k, fd, list, count);
    } else {
        k->io->ops->unlink(k->io, path);
        k->io->ops->close(k->io, fd);
    }
    free(list);
    return e;
}

/* A recording that was rewritten, by the masking of a secret say, is another file at the
 * same place: what we know of the old one must not come to lie beside the new one. */
static bool
is_still_there(const struct play_keyframes *k, const struct play_walk *w)
{
    struct tape_identity now = { 0 };
    int e = tape_reader_identity(w->tape, &now);
    return e < 0 ? !k->is_settled : is_same_file(&now, &k->id.file);
}

void
play_keyframes_save(struct play_keyframes *k, const struct play_walk *w)
{
    if (!k->path || !k->is_stale || !k->count || !w->tape ||
        (!k->is_complete && k->new_count < NEW_MIN))
        return;
    if (!is_still_there(k, w) || !tape_reader_is_single(w->tape) || is_there(k))
        return;
    int e = write_file(k);
    if (e >= 0 && !is_still_there(k, w)) /* it was rewritten just now */
        k->io->ops->unlink(k->io, k->path);
    if (e >= 0 || e == -EBUSY)
        return;
    free(k->path);
    k->path = NULL;
}
