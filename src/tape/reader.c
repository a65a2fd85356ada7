/* SPDX-License-Identifier: MIT */
/*
 * reader.c -- joins segments and tails by ordinal.
 *
 * Each segment shows its next valid block; the lowest ordinal is next, and the first copy
 * wins. Tails come after segments of the same ordinal. What a segment skipped is told
 * only when it is known whether another file had the same blocks.
 *
 * A recording may grow while it is read. Tails are listed before the segments' sizes are
 * taken, since a tail goes away only after its block is in a segment; at the end all is
 * looked at once more.
 */
#include "tape/reader_priv.h"

#include <assert.h>
#include <errno.h>

#include "tape/names.h"

void
reader_notify(struct tape_reader *r, enum tape_notice_kind kind, const char *file,
              uint64_t off, uint64_t len, const char *text)
{
    if (!r->opt.notice)
        return;
    struct tape_notice n = { kind, file, off, len, text };
    r->opt.notice(r->opt.ctx, &n);
}

static void
notify_segment(struct tape_reader *r, enum tape_notice_kind kind, unsigned segment,
               uint64_t off, uint64_t len, const char *text)
{
    char path[TAPE_PATH_MAX];
    tape_segment_path(path, r->path, segment);
    reader_notify(r, kind, path, off, len, text);
}

/* -- which files there are -- */

static int
add_tail(struct tape_reader *r, uint64_t ordinal)
{
    size_t at = 0;
    while (at < r->tail_count && r->tails[at].ordinal < ordinal)
        at++;
    if (at < r->tail_count && r->tails[at].ordinal == ordinal)
        return 0;
    if (r->tail_count == READER_TAILS_MAX) {
        r->read_error = -EFBIG; /* more than any writer leaves */
        return 0;
    }
    char path[TAPE_PATH_MAX];
    tape_tail_path(path, r->path, ordinal);
    int fd = r->io->ops->open(r->io, path, TAPE_OPEN_READ);
    if (fd == -ENOENT) /* sealed meanwhile */
        return 0;
    memmove(r->tails + at + 1, r->tails + at, (r->tail_count - at) * sizeof(r->tails[0]));
    r->tails[at] = (struct tail_source){ .fd = fd, .ordinal = ordinal };
    r->tail_count++;
    return 1;
}

static int
add_segment(struct tape_reader *r, unsigned n)
{
    char path[TAPE_PATH_MAX];
    uint64_t size;
    struct segment_source *src = &r->segments[n];
    if (src->is_open)
        return 0;
    tape_segment_path(path, r->path, n);
    int fd = r->io->ops->open(r->io, path, TAPE_OPEN_READ);
    if (fd == -ENOENT)
        return 0;
    int e = fd < 0 ? fd : r->io->ops->size(r->io, fd, &size);
    if (e < 0 && fd >= 0)
        r->io->ops->close(r->io, fd);
    if (e < 0 && n && !src->is_told) { /* the others may still be read */
        src->is_told = true;
        r->read_error = e;
        reader_notify(r, TAPE_NOTE_DAMAGE, path, 0, 0, strerror(-e));
    }
    if (e < 0)
        return n ? 0 : e;
    *src = (struct segment_source){ .is_open = true };
    segment_begin(&src->seg, fd, size);
    if (n) /* only our own writer makes more than one (format, I15) */
        src->seg.is_begun = src->seg.has_checks = true;
    r->segment_count = n >= r->segment_count ? n + 1 : r->segment_count;
    return 1;
}

/* The file has more than when it was last looked at: go on from its last good block. */
static bool
regrow(struct tape_reader *r, unsigned i)
{
    struct segment_source *src = &r->segments[i];
    uint64_t size;
    if (r->io->ops->size(r->io, src->seg.fd, &size) < 0 || size <= src->seg.size)
        return false;
    segment_grow(&src->seg, size);
    r->window.fd = -1;
    src->has_ended = false;
    if (src->is_bad) {
        src->seg.pos = src->seg.bad_off;
        src->is_bad = false;
    }
    return true;
}

/* Opens what is new. Returns how much that was, or an error. */
static int
discover(struct tape_reader *r)
{
    AUTO(buf) names = { 0 };
    uint64_t ordinal;
    unsigned n;
    int found = 0, e = r->io->ops->list(r->io, r->path, &names);
    for (size_t at = 0; at < names.n && e >= 0; at += strlen((char *)names.p + at) + 1)
        if (tape_tail_suffix((char *)names.p + at, &ordinal))
            found += (e = add_tail(r, ordinal)) > 0;
    for (unsigned i = 0; i < r->segment_count && e >= 0; i++)
        found += r->segments[i].is_open && r->segments[i].has_ended && regrow(r, i);
    if (e >= 0)
        found += (e = add_segment(r, 0)) > 0;
    for (size_t at = 0; at < names.n && e >= 0; at += strlen((char *)names.p + at) + 1)
        if (tape_segment_suffix((char *)names.p + at, &n))
            found += (e = add_segment(r, n)) > 0;
    return e < 0 ? e : found;
}

int
tape_reader_open(struct tape_reader **ret, struct tape_io *io, const char *path,
                 const struct tape_reader_options *opt, struct err *err)
{
    if (strlen(path) > TAPE_PATH_MAX - TAPE_NAME_ROOM)
        return err_code(err, -ENAMETOOLONG, "cannot open '%.64s…'", path);
    struct tape_reader *r = calloc(1, sizeof(*r));
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    }
    r->io = io;
    r->opt = *opt;
    r->window.io = io;
    r->window.fd = -1;
    int e = discover(r);
    if (e >= 0 && !r->segment_count && !r->tail_count)
        e = -ENOENT;
    if (e < 0)
        tape_reader_close(r);
    if (e == -EINVAL)
        return err_set(err, e, "cannot open '%s': not a regular file", path);
    if (e < 0)
        return err_code(err, e, "cannot open '%s'", path);
    *ret = r;
    return 0;
}

void
tape_reader_close(struct tape_reader *r)
{
    for (size_t i = 0; i < r->tail_count; i++)
        if (r->tails[i].fd >= 0)
            r->io->ops->close(r->io, r->tails[i].fd);
    for (unsigned i = 0; i < r->segment_count; i++)
        if (r->segments[i].is_open)
            r->io->ops->close(r->io, r->segments[i].seg.fd);
    window_release(&r->window);
    buf_release(&r->records);
    buf_release(&r->tail_bytes);
    free(r->index);
    free(r->path);
    free(r);
}

/* -- what was skipped -- */

static void
settle(struct tape_reader *r, unsigned i, enum tape_notice_kind kind)
{
    struct segment_source *src = &r->segments[i];
    if (!src->is_bad)
        return;
    src->is_bad = false;
    bool is_covered = src->is_covered && r->missing_blocks == src->missing_before;
    if (src->has_ended) /* how much lay there is known only if it was ours */
        is_covered &= src->seg.bad_blocks >= 0 &&
                      r->next_ordinal >= src->bad_from + (uint64_t)src->seg.bad_blocks;
    r->is_end_covered = is_covered && src->has_ended && !i;
    if (is_covered)
        kind = TAPE_NOTE_WARNING;
    notify_segment(r, kind, i, src->seg.bad_off, src->seg.bad_len,
                   is_covered ? "bad bytes; the same block was found elsewhere"
                              : src->seg.bad_reason);
}

static bool
has_tail(const struct tape_reader *r, uint64_t ordinal)
{
    for (size_t i = 0; i < r->tail_count; i++)
        if (r->tails[i].ordinal == ordinal)
            return true;
    return false;
}

static void
advance(struct tape_reader *r, unsigned i)
{
    struct segment_source *src = &r->segments[i];
    uint64_t from = src->seg.next_ordinal;
    src->seg.has_tail = has_tail(r, from);
    src->has_ended = !segment_find(&src->seg, &r->window, &r->records);
    r->read_error = r->window.failed ? r->window.failed : r->read_error;
    if (src->seg.has_given_up)
        r->read_error = -EFBIG;
    r->decoded = src->has_ended ? NULL
                                : &src->seg; /* a vain search uses `records`, too */
    if (!src->seg.bad_len)
        return;
    src->is_bad = true;
    src->is_covered = false;
    src->bad_from = from;
    src->missing_before = r->missing_blocks;
}

/* The block was delivered from some file: segments that lack it need not mourn. */
static void
cover(struct tape_reader *r, uint64_t ordinal)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        struct segment_source *src = &r->segments[i];
        bool is_before_head = !src->seg.has_head || ordinal < src->seg.head.ordinal;
        if (src->is_bad && ordinal >= src->bad_from && is_before_head)
            src->is_covered = true;
    }
}

/* -- the join -- */

struct choice {
    struct segment_source *src; /* or */
    struct tail_source *tail;
    unsigned segment;
    uint64_t ordinal;
};

static bool
choose(struct tape_reader *r, struct choice *ret)
{
    struct choice best = { .ordinal = UINT64_MAX };
    for (unsigned i = 0; i < r->segment_count; i++) {
        struct segment_source *src = &r->segments[i];
        if (src->is_open && !src->seg.has_head && !src->has_ended)
            advance(r, i);
        if (src->seg.has_head && (!best.src || src->seg.head.ordinal < best.ordinal))
            best = (struct choice){ .src = src,
                                    .segment = i,
                                    .ordinal = src->seg.head.ordinal };
    }
    for (size_t i = 0; i < r->tail_count; i++) {
        struct tail_source *t = &r->tails[i];
        bool is_first = !best.src && !best.tail;
        if (!t->is_used && (is_first || t->ordinal < best.ordinal))
            best = (struct choice){ .tail = t, .ordinal = t->ordinal };
    }
    *ret = best;
    return best.src || best.tail;
}

static void
pass(struct tape_reader *r, const struct choice *c)
{
    if (c->tail) {
        c->tail->is_used = true;
        return;
    }
    settle(r, c->segment, TAPE_NOTE_DAMAGE);
    c->src->seg.has_head = false;
}

/* Another segment's block was unpacked since; the window may still have this one. */
static const char *
unpack_again(struct tape_reader *r, struct segment *s)
{
    size_t size;
    struct tape_extent extent;
    r->window.failed = 0;
    struct view v = window_get(&r->window, s->fd, s->head_off, s->head_size);
    const char *bad = v.n < TAPE_BLOCK_HEAD
                          ? "file has shrunk"
                          : tape_block_unpack(&s->head, v, &r->records, &size, &extent);
    if (bad)
        r->read_error = r->window.failed ? r->window.failed
                                         : -ESTALE; /* it was good before */
    return bad;
}

/* Why the head cannot follow what came from other files. */
static const char *
join_fault(struct tape_reader *r, struct segment *s)
{
    if (s->head.is_checked && s->head.start_byte_off < r->last_end_off) {
        r->has_conflict = true;
        return "byte offset goes back";
    }
    if (r->last_source != s && s->head.is_checked &&
        s->head.start_ts_ns < r->last_ts_ns) {
        r->has_conflict = true;
        return "time goes back";
    }
    return r->decoded == s ? NULL : unpack_again(r, s);
}

static bool
load_segment(struct tape_reader *r, const struct choice *c, struct tape_piece *ret)
{
    struct segment *s = &c->src->seg;
    const char *bad = join_fault(r, s);
    if (bad) {
        notify_segment(r, TAPE_NOTE_DAMAGE, c->segment, s->head_off, s->head_size, bad);
        c->src->refused_end = s->pos;
        return false;
    }
    r->decoded = s;
    *ret = (struct tape_piece){
        .head = s->head,
        .records = { r->records.p, r->records.n },
        .record_count = s->head_extent.record_count,
        .packed = window_get(&r->window, s->fd, s->head_off, s->head_size),
        .file_off = s->head_off,
        .segment = c->segment,
    };
    r->last_end_off = s->head_extent.end_byte_off;
    r->last_ts_ns = s->head_extent.last_ts_ns;
    r->last_source = s;
    return true;
}

/* Format, I20: a block that was delivered from another file. A copy is the same to the
 * bit; a file with another block of that ordinal is no part of this recording, and
 * nothing more is taken from it. */
static void
compare_copy(struct tape_reader *r, const struct choice *c)
{
    struct segment *s = &c->src->seg;
    if (c->ordinal + 1 != r->next_ordinal || r->last_is_tail ||
        s->head.crc == r->last_crc)
        return;
    notify_segment(r, TAPE_NOTE_DAMAGE, c->segment, s->head_off, s->size - s->head_off,
                   "is another recording's");
    c->src->is_foreign = c->src->has_ended = true;
}

/* Format, I19. */
static void
tell_missing(struct tape_reader *r, const struct choice *c, const struct tape_piece *p)
{
    char text[64];
    uint64_t n = c->ordinal - r->next_ordinal;
    r->missing_blocks += n;
    snprintf(text, sizeof(text), "%llu block%s missing before this place",
             (unsigned long long)n, n == 1 ? " is" : "s are");
    /* What was skipped or refused before it tells it already. */
    bool is_told = c->src && (c->src->is_bad || (c->src->refused_end &&
                                                 c->src->refused_end == p->file_off));
    if (c->tail)
        reader_notify_tail(r, TAPE_NOTE_DAMAGE, c->tail, 0, 0, text);
    else if (!is_told)
        notify_segment(r, TAPE_NOTE_DAMAGE, c->segment, p->file_off, 0, text);
}

/* A file that is called like a segment and does not begin like one is somebody else's. */
static void
look_for_foreign(struct tape_reader *r)
{
    for (unsigned i = 1; i < r->segment_count; i++) {
        struct segment_source *src = &r->segments[i];
        if (!src->is_open || !src->is_bad || src->seg.bad_off || src->is_foreign)
            continue;
        struct view v = window_get(&r->window, src->seg.fd, 0, sizeof(tape_block_magic));
        static const uint8_t zeros[sizeof(tape_block_magic)];
        if (!memcmp(v.p, tape_block_magic, v.n) || !memcmp(v.p, zeros, v.n))
            continue;
        src->is_foreign = true;
        src->is_covered = false;
        snprintf(src->seg.bad_reason, sizeof(src->seg.bad_reason),
                 "is no part of this recording");
    }
}

static void
tell_end(struct tape_reader *r)
{
    look_for_foreign(r);
    for (unsigned i = 0; i < r->segment_count; i++)
        settle(r, i, i + 1 == r->segment_count ? TAPE_NOTE_TORN : TAPE_NOTE_DAMAGE);
    if (!r->piece_count)
        notify_segment(r, TAPE_NOTE_WARNING, 0, 0, 0,
                       "holds no block: is it an .ahr recording?");
    else if (!r->is_last_seen)
        notify_segment(r, TAPE_NOTE_WARNING, 0, 0, 0,
                       "has no end of session: it was cut off, or is still going on");
}

static void
tell_oddities(struct tape_reader *r, const struct tape_piece *p)
{
    if (p->record_count != p->head.record_count)
        notify_segment(r, TAPE_NOTE_WARNING, p->segment, p->file_off, 0,
                       "block's record count is wrong");
    if (r->is_last_seen)
        notify_segment(r, TAPE_NOTE_WARNING, p->segment, p->file_off, 0,
                       "block stands behind the last one");
}

bool
tape_reader_next_piece(struct tape_reader *r, struct tape_piece *ret)
{
    struct choice c;
    struct tape_piece p;
    for (;;) {
        if (!choose(r, &c)) {
            if (r->looks++ < READER_LOOKS_MAX && discover(r) > 0)
                continue;
            tell_end(r);
            return false;
        }
        bool is_new = c.ordinal >= r->next_ordinal &&
                      (c.tail ? reader_load_tail(r, c.tail, &p)
                              : load_segment(r, &c, &p));
        if (!is_new) {
            if (c.src && c.ordinal < r->next_ordinal)
                compare_copy(r, &c);
            else if (c.tail && c.ordinal < r->next_ordinal)
                reader_inspect_tail(r, c.tail);
            pass(r, &c);
            continue;
        }
        if (c.ordinal > r->next_ordinal)
            tell_missing(r, &c, &p);
        cover(r, c.ordinal);
        pass(r, &c);
        tell_oddities(r, &p);
        r->next_ordinal = c.ordinal + 1;
        if (p.is_tail) /* it may have grown since: nothing later may be joined to it */
            r->looks = READER_LOOKS_MAX;
        r->is_last_seen = p.head.flags & TAPE_BLOCK_LAST;
        r->last_crc = p.head.crc;
        r->last_is_tail = p.is_tail;
        r->piece_count++;
        if (r->opt.progress && c.src)
            r->opt.progress->step(r->opt.progress->ctx, c.src->seg.pos, c.src->seg.size);
        *ret = p;
        return true;
    }
}

/* -- records -- */

bool
tape_reader_next(struct tape_reader *r, struct tape_record *ret)
{
    const char *reason;
    if (r->has_pushed_back) {
        r->has_pushed_back = false;
        *ret = r->pushed_back;
        return true;
    }
    while (!r->rest.n) {
        struct tape_piece p;
        if (!tape_reader_next_piece(r, &p))
            return false;
        r->rest = p.records;
    }
    size_t n = tape_record_get(r->rest, ret, &reason);
    assert(n); /* pieces are checked */
    r->rest.p += n;
    r->rest.n -= n;
    if (ret->tag == TAPE_DATA)
        r->byte_off = ret->byte_off + ret->bytes.n;
    /* Other writers' clocks may go back; players need one that does not. */
    r->max_ts_ns = ret->ts_ns > r->max_ts_ns ? ret->ts_ns : r->max_ts_ns;
    ret->ts_ns = r->max_ts_ns;
    return true;
}

unsigned
tape_reader_segments(const struct tape_reader *r, bool *ret_has_foreign)
{
    *ret_has_foreign = r->has_conflict;
    for (unsigned i = 0; i < r->segment_count; i++)
        *ret_has_foreign |= r->segments[i].is_foreign;
    return r->segment_count;
}

int
tape_reader_error(const struct tape_reader *r)
{
    return r->read_error;
}

bool
tape_reader_is_end_covered(const struct tape_reader *r)
{
    return r->is_end_covered;
}

bool
tape_reader_tail(const struct tape_reader *r, size_t i, uint64_t *ret_ordinal,
                 bool *ret_is_bad)
{
    if (i >= r->tail_count)
        return false;
    *ret_ordinal = r->tails[i].ordinal;
    *ret_is_bad = r->tails[i].is_bad;
    return true;
}
