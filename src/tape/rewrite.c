/* SPDX-License-Identifier: MIT */
/*
 * rewrite.c -- a recording once more, with other bytes in it.
 *
 * The old one is read twice at the same time. One reader goes ahead and feeds the filter;
 * what it changes is kept as patches. The other one follows as far as all is decided, and
 * writes. So a filter may wait for a keystroke while gigabytes of output go by, and only
 * patches are held.
 */
#include "tape/rewrite.h"

#include <assert.h>
#include <errno.h>

#include "base/queue.h"
#include "tape/crc32c.h"

enum {
    QUALITY = 4,
    PATCHES_MAX = 64 << 20, /* of bytes that wait for the other stream */
    MARKS_MAX = 64 << 20,
    KINDS = 2,
};

static const enum tape_tag kind_tags[KINDS] = { TAPE_DATA, TAPE_INPUT };

/* Bytes of a stream that are other ones; they follow it in the queue. */
struct patch {
    uint64_t at;
    uint64_t n;
};

struct stream {
    uint64_t fed, decided; /* how many bytes */
    uint64_t written;      /* by the one that follows */
    struct queue held;     /* the old bytes from `decided` to `fed` */
    struct queue patches;
};

/* A block that the first reader has seen. */
struct mark {
    uint64_t ordinal;
    uint64_t end[KINDS]; /* of its bytes, in the streams */
    uint32_t crc;        /* of its records */
    uint32_t record_count;
};

struct rewrite {
    struct tape_io *io;               /* borrowed */
    const char *path, *new_path;      /* borrowed */
    const struct tape_filter *filter; /* borrowed */
    struct tape_reader *ahead, *behind;
    bool has_ended; /* `ahead` */
    uint64_t next_ordinal, next_byte;
    struct stream streams[KINDS];
    struct queue marks;
    struct buf answer; /* of the filter */
    struct buf records, block, label;
    struct tape_packer packer;
    int fd;
    uint64_t size;
    struct tape_rewrite_report report;
};

/* -- ahead: the filter -- */

static int
put_patch(struct rewrite *rw, struct stream *s, uint64_t at, struct view bytes)
{
    struct patch patch = { at, bytes.n };
    rw->report.changed_bytes += bytes.n;
    int e = queue_put(&s->patches,
                      (struct view){ (const uint8_t *)&patch, sizeof(patch) });
    return e ? e : queue_put(&s->patches, bytes);
}

/* Takes the filter's answer: what of it is not as it was becomes patches. */
static int
take_answer(struct rewrite *rw, struct stream *s)
{
    struct view old = queue_view(&s->held), new = { rw->answer.p, rw->answer.n };
    assert(new.n <= old.n);
    int e = rw->answer.failed;
    for (size_t i = 0, end; !e && i < new.n; i = end) {
        bool is_same = old.p[i] == new.p[i];
        for (end = i + 1; end < new.n && (old.p[end] == new.p[end]) == is_same;)
            end++;
        if (!is_same)
            e = put_patch(rw, s, s->decided + i, (struct view){ new.p + i, end - i });
    }
    s->decided += new.n;
    queue_drop(&s->held, new.n);
    return e;
}

static int
feed(struct rewrite *rw, int kind, struct view bytes)
{
    struct stream *s = &rw->streams[kind];
    buf_clear(&rw->answer);
    int e = queue_put(&s->held, bytes);
    if (!e)
        e = rw->filter->feed(rw->filter->ctx, kind_tags[kind], bytes, &rw->answer);
    s->fed += bytes.n;
    return e < 0 ? e : take_answer(rw, s);
}

static int
flush(struct rewrite *rw, int kind)
{
    struct stream *s = &rw->streams[kind];
    buf_clear(&rw->answer);
    int e = rw->filter->flush(rw->filter->ctx, kind_tags[kind], &rw->answer);
    if (e >= 0)
        e = take_answer(rw, s);
    assert(e < 0 || s->decided == s->fed);
    return e;
}

static int
flush_all(struct rewrite *rw)
{
    int e = 0;
    for (int kind = 0; !e && kind < KINDS; kind++)
        e = flush(rw, kind);
    return e;
}

static int
look_at(struct rewrite *rw, const struct tape_record *rec)
{
    int e = 0;
    switch ((enum tape_tag)rec->tag) {
    case TAPE_DATA:
        if (rec->byte_off != rw->next_byte)
            e = flush(rw, 0);
        rw->next_byte = rec->byte_off + rec->bytes.n;
        return e < 0 ? e : feed(rw, 0, rec->bytes);
    case TAPE_RESIZE:
        rw->filter->resize(rw->filter->ctx, rec->cols, rec->rows);
        return 0;
    case TAPE_INPUT:
        return feed(rw, 1, rec->bytes);
    case TAPE_MARK:
    case TAPE_SNAPSHOT:
        return 0;
    }
    return 0;
}

/* One block more for the filter, or the end. */
static int
go_ahead(struct rewrite *rw)
{
    struct tape_piece p;
    if (!tape_reader_next_piece(rw->ahead, &p)) {
        rw->has_ended = true;
        int e = tape_reader_error(rw->ahead);
        return e < 0 ? e : flush_all(rw);
    }
    int e = p.head.ordinal == rw->next_ordinal ? 0 : flush_all(rw);
    rw->next_ordinal = p.head.ordinal + 1;
    for (struct view in = p.records; !e && in.n;) {
        struct tape_record rec;
        const char *reason;
        size_t n = tape_record_get(in, &rec, &reason);
        assert(n); /* pieces are checked */
        e = look_at(rw, &rec);
        in.p += n;
        in.n -= n;
    }
    struct mark mark = { .ordinal = p.head.ordinal,
                         .end = { rw->streams[0].fed, rw->streams[1].fed },
                         .crc = tape_crc32c(0, p.records.p, p.records.n),
                         .record_count = p.record_count };
    struct view v = { (const uint8_t *)&mark, sizeof(mark) };
    return e ? e : queue_put(&rw->marks, v);
}

/* -- behind: the new file -- */

/* Puts what is new over the n bytes at p, which are the next of their stream. */
static bool
apply(struct stream *s, uint8_t *p, size_t n)
{
    uint64_t start = s->written, end = start + n;
    bool is_changed = false;
    s->written = end;
    for (struct view v = queue_view(&s->patches); v.n; v = queue_view(&s->patches)) {
        struct patch patch;
        memcpy(&patch, v.p, sizeof(patch));
        if (patch.at >= end)
            break;
        /* One that began in the record before goes on here. */
        uint64_t from = patch.at > start ? patch.at : start;
        uint64_t to = patch.at + patch.n < end ? patch.at + patch.n : end;
        memcpy(p + (from - start), v.p + sizeof(patch) + (from - patch.at),
               (size_t)(to - from));
        is_changed = true;
        if (to < patch.at + patch.n)
            break;
        queue_drop(&s->patches, sizeof(patch) + patch.n);
    }
    return is_changed;
}

/* Appends a SNAPSHOT with its new label. `room`: by how much the block may grow. */
static int
put_snapshot(struct rewrite *rw, struct tape_record *rec, size_t room, bool *ret_is_new)
{
    buf_clear(&rw->label);
    int e = rw->filter->label(rw->filter->ctx, rec->bytes, &rw->label);
    if (e < 0 || rw->label.failed)
        return e < 0 ? e : rw->label.failed;
    bool is_same = rw->label.n == rec->bytes.n &&
                   (!rw->label.n || !memcmp(rw->label.p, rec->bytes.p, rw->label.n));
    size_t most = rec->bytes.n + room < UINT16_MAX ? rec->bytes.n + room : UINT16_MAX;
    if (rw->label.n > most)
        rw->label.n = most;
    rec->bytes = (struct view){ rw->label.p, rw->label.n };
    uint8_t *p = buf_grow(&rw->records, tape_record_size(rec));
    if (!p)
        return rw->records.failed;
    tape_record_put(p, rec);
    rw->report.changed_labels += !is_same;
    *ret_is_new |= !is_same;
    return 0;
}

/* The block's records with new bytes, in rw->records. */
static int
make_records(struct rewrite *rw, struct view in, bool *ret_is_changed)
{
    int e = 0;
    bool is_changed = false;
    buf_clear(&rw->records);
    while (!e && in.n) {
        struct tape_record rec;
        const char *reason;
        size_t n = tape_record_get(in, &rec, &reason);
        assert(n);
        if (rec.tag == TAPE_SNAPSHOT) {
            e = put_snapshot(rw, &rec, TAPE_BLOCK_RAW_MAX - rw->records.n - in.n,
                             &is_changed);
        } else {
            e = buf_append(&rw->records, in.p, n);
            for (int kind = 0; !e && kind < KINDS; kind++)
                if (rec.tag == kind_tags[kind] && rec.bytes.n)
                    is_changed |= apply(&rw->streams[kind],
                                        rw->records.p + rw->records.n - rec.bytes.n,
                                        rec.bytes.n);
        }
        in.p += n;
        in.n -= n;
    }
    *ret_is_changed = is_changed;
    return e;
}

/* A block of another writer has no checksum, and others of its file have none: a reader
 * would take it for damage if it had. */
static void
take_checks(uint8_t *head)
{
    head[36] &= (uint8_t)~TAPE_BLOCK_CHECKED;
    memset(head + 37, 0, TAPE_BLOCK_HEAD - 37);
}

static int
put_block(struct rewrite *rw, const struct tape_piece *p)
{
    bool is_changed;
    struct view block = p->packed;
    int e = make_records(rw, p->records, &is_changed);
    if (!e && (is_changed || p->is_tail)) {
        buf_clear(&rw->block);
        e = tape_block_seal(&p->head, (struct view){ rw->records.p, rw->records.n },
                            &rw->packer, QUALITY, &rw->block);
        if (!e && !p->head.is_checked)
            take_checks(rw->block.p);
        block = (struct view){ rw->block.p, rw->block.n };
    }
    if (!e)
        e = tape_io_write_all(rw->io, rw->fd, block.p, block.n, rw->size);
    rw->size += block.n;
    rw->report.blocks++;
    rw->report.changed_blocks += is_changed;
    return e;
}

/* Whether both readers see the same block. */
static bool
is_marked(const struct mark *m, const struct tape_piece *p)
{
    return m->ordinal == p->head.ordinal && m->record_count == p->record_count &&
           m->crc == tape_crc32c(0, p->records.p, p->records.n);
}

static bool
is_decided(const struct rewrite *rw, const struct mark *m)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (rw->streams[kind].decided < m->end[kind])
            return false;
    return true;
}

/* The mark of the next block to write, when all its bytes are decided; 0: there is none
 * any more. */
static int
next_mark(struct rewrite *rw, struct mark *ret)
{
    for (;;) {
        struct view v = queue_view(&rw->marks);
        if (v.n)
            memcpy(ret, v.p, sizeof(*ret));
        if (v.n && is_decided(rw, ret)) {
            queue_drop(&rw->marks, sizeof(*ret));
            return 1;
        }
        if (rw->has_ended) /* and then all is decided */
            return 0;
        int e = go_ahead(rw);
        if (e < 0)
            return e;
    }
}

static int
write_blocks(struct rewrite *rw)
{
    struct mark mark;
    struct tape_piece p;
    int e;
    while ((e = next_mark(rw, &mark)) > 0) {
        if (!tape_reader_next_piece(rw->behind, &p) || !is_marked(&mark, &p))
            return -ESTALE;
        e = put_block(rw, &p);
        if (e < 0)
            return e;
    }
    if (!e && tape_reader_next_piece(rw->behind, &p))
        e = -ESTALE;
    return e ? e : tape_reader_error(rw->behind);
}

/* -- the whole -- */

static int
open_readers(struct rewrite *rw, const struct tape_progress *progress, struct err *err)
{
    struct tape_reader_options ahead = { .notice = tape_notes_add,
                                         .ctx = &rw->report.notes };
    struct tape_reader_options behind = { .progress = progress };
    int e = tape_reader_open(&rw->ahead, rw->io, rw->path, &ahead, err);
    return e ? e : tape_reader_open(&rw->behind, rw->io, rw->path, &behind, err);
}

static int
fail(const struct rewrite *rw, int code, struct err *err)
{
    if (code == ERR_LIMIT)
        return err_set(err, code, "cannot rewrite '%s': too much of it changes",
                       rw->path);
    return err_code(err, code, "cannot rewrite '%s'", rw->path);
}

static int
make_file(struct rewrite *rw, struct err *err)
{
    rw->fd = rw->io->ops->open(rw->io, rw->new_path, TAPE_OPEN_CREATE);
    if (rw->fd < 0)
        return err_code(err, rw->fd, "cannot create '%s'", rw->new_path);
    int e = write_blocks(rw);
    if (e < 0) {
        fail(rw, e, err);
    } else {
        e = tape_io_sync(rw->io, rw->fd);
        if (!e)
            e = tape_io_sync_dir(rw->io, rw->new_path);
        if (e < 0)
            err_code(err, e, "cannot write '%s'", rw->new_path);
    }
    rw->io->ops->close(rw->io, rw->fd);
    if (e < 0)
        rw->io->ops->unlink(rw->io, rw->new_path);
    return e;
}

static void
release(struct rewrite *rw)
{
    if (rw->ahead)
        tape_reader_close(rw->ahead);
    if (rw->behind)
        tape_reader_close(rw->behind);
    for (int kind = 0; kind < KINDS; kind++) {
        queue_release(&rw->streams[kind].held);
        queue_release(&rw->streams[kind].patches);
    }
    queue_release(&rw->marks);
    buf_release(&rw->answer);
    buf_release(&rw->records);
    buf_release(&rw->block);
    buf_release(&rw->label);
    tape_packer_release(&rw->packer);
}

int
tape_rewrite(struct tape_io *io, const char *path, const char *new_path,
             const struct tape_filter *filter, const struct tape_progress *progress,
             struct tape_rewrite_report *ret, struct err *err)
{
    struct rewrite rw = {
        .io = io, .path = path, .new_path = new_path, .filter = filter, .fd = -1
    };
    for (int kind = 0; kind < KINDS; kind++)
        rw.streams[kind].patches.b.ceiling = PATCHES_MAX;
    rw.marks.b.ceiling = MARKS_MAX;
    int e = open_readers(&rw, progress, err);
    if (!e)
        e = make_file(&rw, err);
    release(&rw);
    if (e < 0)
        tape_rewrite_report_release(&rw.report);
    else
        *ret = rw.report;
    return e;
}

void
tape_rewrite_report_release(struct tape_rewrite_report *r)
{
    tape_notes_release(&r->notes);
}
