/* SPDX-License-Identifier: MIT */
/*
 * repair.c -- makes a cut-off recording a proper one.
 *
 * First everything is read (survey). Where only the end of the recording is concerned, it
 * is worked on in place: cut at the last good block, blocks made of tails appended,
 * synced, tails removed; as long as a tail is there its block can be written again.
 * Several segments, or a hole that a tail fills, mean a new file (NAME.join) that takes
 * the recording's place by rename.
 */
#include "tape/repair.h"

#include <errno.h>

#include "tape/names.h"
#include "tape/torn_priv.h"

enum { QUALITY = 4 }; /* fixed, so that every attempt writes the same bytes */

struct repair {
    struct tape_io *io;                   /* borrowed */
    const char *path;                     /* borrowed */
    const struct tape_progress *progress; /* borrowed */
    int fd; /* of the recording, locked; -1: a dry run without one */
    struct tape_reader *reader;
    struct tape_notes notes;
    struct buf sealed; /* blocks made of tails */
    struct tape_packer packer;
    uint64_t size;     /* of segment 0 */
    uint64_t good_end; /* behind its last good block */
    bool needs_join;
    struct tape_repair_report report;
};

static int
fail(struct repair *rp, int code, const char *what, struct err *err)
{
    return err_code(err, code, "cannot %s '%s'", what, rp->path);
}

/* Opens and locks the recording; one of which only tails are left gets its file. */
static int
take(struct repair *rp, bool is_dry_run, struct err *err)
{
    int fd = rp->io->ops->open(rp->io, rp->path,
                               is_dry_run ? TAPE_OPEN_READ : TAPE_OPEN_WRITE);
    if (fd == -ENOENT && !is_dry_run)
        fd = rp->io->ops->open(rp->io, rp->path, TAPE_OPEN_CREATE);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return fail(rp, fd, "open", err);
    rp->fd = fd;
    int r = rp->io->ops->lock(rp->io, fd, rp->path);
    if (r == -EBUSY)
        return err_set(err, ERR_BUSY, "'%s' is being recorded or recovered right now",
                       rp->path);
    if (!r)
        r = rp->io->ops->size(rp->io, fd, &rp->size);
    return r < 0 ? fail(rp, r, "lock", err) : 0;
}

static int
open_reader(struct repair *rp, struct err *err)
{
    struct tape_reader_options opt = { .notice = tape_notes_add,
                                       .ctx = &rp->notes,
                                       .progress = rp->progress };
    tape_notes_release(&rp->notes);
    return tape_reader_open(&rp->reader, rp->io, rp->path, &opt, err);
}

static void
count_sealed(struct repair *rp, const struct tape_piece *p)
{
    rp->report.sealed_blocks++;
    rp->report.sealed_records += p->record_count;
    for (struct view in = p->records; in.n;) {
        struct tape_record rec;
        const char *reason;
        size_t n = tape_record_get(in, &rec, &reason);
        rp->report.sealed_bytes += rec.tag == TAPE_DATA ? rec.bytes.n : 0;
        in.p += n;
        in.n -= n;
    }
}

/* What stays damaged in the recording: not the torn end, which is cut, nor what a tail
 * held. */
static void
count_damages(struct repair *rp)
{
    uint64_t ordinal;
    bool is_bad;
    rp->report.damages = rp->notes.damages - rp->notes.is_torn;
    for (size_t i = 0; tape_reader_tail(rp->reader, i, &ordinal, &is_bad); i++)
        rp->report.bad_tails += is_bad;
    for (size_t i = 0; i < rp->notes.count; i++) {
        const struct tape_note *n = &rp->notes.list[i];
        bool is_tail = tape_tail_suffix(n->file + strlen(rp->path), &ordinal);
        rp->report.damages -= n->kind == TAPE_NOTE_DAMAGE && is_tail && n->length;
    }
}

static int
survey(struct repair *rp, struct err *err)
{
    struct tape_piece p;
    int r = open_reader(rp, err);
    if (r < 0)
        return r;
    while (tape_reader_next_piece(rp->reader, &p)) {
        rp->report.blocks++;
        if (p.is_tail) {
            count_sealed(rp, &p);
            r = tape_block_seal(&p.head, p.records, &rp->packer, QUALITY, &rp->sealed);
            if (r < 0)
                return fail(rp, r, "seal the tails of", err);
        } else {
            rp->needs_join |= rp->sealed.n > 0;
            rp->good_end = p.file_off + p.packed.n;
        }
    }
    bool has_foreign;
    unsigned segments = tape_reader_segments(rp->reader, &has_foreign);
    if (has_foreign)
        return err_set(
            err, ERR_DAMAGED,
            "files called '%s.…' are no part of it, or contradict each other; nothing "
            "was changed, see 'ahr verify %s'",
            rp->path, rp->path);
    rp->needs_join |= segments > 1;
    rp->report.joined_segments = segments > 1 ? segments : 0;
    count_damages(rp);
    if (!rp->report.blocks && rp->size)
        return err_set(err, ERR_DAMAGED, "'%s' holds no whole block; it is left as it is",
                       rp->path);
    return 0;
}

/* -- what cannot be used -- */

/* What a join leaves out: damaged spans of all files. */
static size_t
spans_to_leave_out(struct repair *rp, struct torn_span *spans)
{
    size_t n = 0, path_len = strlen(rp->path);
    for (size_t i = 0; i < rp->notes.count; i++) {
        const struct tape_note *note = &rp->notes.list[i];
        unsigned segment;
        bool is_segment = !note->file[path_len] ||
                          tape_segment_suffix(note->file + path_len, &segment);
        if (note->kind != TAPE_NOTE_WARNING && is_segment && note->length)
            spans[n++] = (struct torn_span){ note->file, note->offset, note->length };
    }
    return n;
}

/* Keeps what would go away with the old files; in place that is only the end. */
static int
keep_torn(struct repair *rp, bool is_dry_run, struct err *err)
{
    struct torn_span *spans = calloc(rp->notes.count + 1, sizeof(*spans));
    size_t n = 0;
    if (!spans)
        return fail(rp, -ENOMEM, "repair", err);
    if (rp->needs_join)
        n = spans_to_leave_out(rp, spans);
    else if (rp->size > rp->good_end && !tape_reader_is_end_covered(rp->reader))
        spans[n++] = (struct torn_span){ rp->path, rp->good_end,
                                         rp->size - rp->good_end };
    for (size_t i = 0; i < n; i++)
        rp->report.torn_bytes += spans[i].len;
    int r = n && !is_dry_run ? torn_keep(rp->io, rp->path, spans, n) : 0;
    free(spans);
    return r < 0 ? fail(rp, r, "keep what is cut off", err) : 0;
}

/* A name for the tail's leftovers that is not taken. */
static void
free_name(struct repair *rp, const char *path, char torn[TAPE_PATH_MAX])
{
    for (unsigned i = 0; i < 100; i++) {
        snprintf(torn, TAPE_PATH_MAX, i ? "%s.torn.%u" : "%s.torn", path, i);
        int fd = rp->io->ops->open(rp->io, torn, TAPE_OPEN_READ);
        if (fd == -ENOENT)
            return;
        if (fd >= 0)
            rp->io->ops->close(rp->io, fd);
    }
}

/* Tails whose records are safely sealed; one with something unusable in it is kept as
 * NAME.torn. */
static int
remove_tails(struct repair *rp, struct err *err)
{
    uint64_t ordinal;
    bool is_bad;
    for (size_t i = 0; tape_reader_tail(rp->reader, i, &ordinal, &is_bad); i++) {
        char path[TAPE_PATH_MAX], torn[TAPE_PATH_MAX];
        tape_tail_path(path, rp->path, ordinal);
        if (is_bad)
            free_name(rp, path, torn);
        int r = is_bad ? rp->io->ops->rename(rp->io, path, torn)
                       : rp->io->ops->unlink(rp->io, path);
        if (r < 0 && r != -ENOENT)
            return err_code(err, r, "cannot remove '%s'", path);
    }
    return 0;
}

static bool
has_tails(const struct repair *rp)
{
    uint64_t ordinal;
    bool is_bad;
    return tape_reader_tail(rp->reader, 0, &ordinal, &is_bad);
}

/* -- in place -- */

static int
mend_end(struct repair *rp, struct err *err)
{
    int r = 0;
    if (rp->size > rp->good_end)
        r = rp->io->ops->truncate(rp->io, rp->fd, rp->good_end);
    if (!r && rp->sealed.n)
        r = tape_io_write_all(rp->io, rp->fd, rp->sealed.p, rp->sealed.n, rp->good_end);
    if (!r)
        r = tape_io_sync(rp->io, rp->fd);
    if (!r)
        r = tape_io_sync_dir(rp->io, rp->path);
    if (r < 0) {
        /* Half a block helps no one; on a full disk its room does. The tails have it
         * whole. */
        rp->io->ops->truncate(rp->io, rp->fd, rp->good_end);
        return fail(rp, r, "write", err);
    }
    return remove_tails(rp, err);
}

/* -- by a new file -- */

static int
copy_pieces(struct repair *rp, int to, struct err *err)
{
    AUTO(buf) block = { 0 };
    struct tape_piece p;
    uint64_t off = 0;
    tape_reader_close(rp->reader);
    rp->reader = NULL;
    int r = open_reader(rp, err);
    if (r < 0)
        return r;
    uint64_t blocks = 0;
    for (; tape_reader_next_piece(rp->reader, &p); blocks++) {
        buf_clear(&block);
        if (p.is_tail) {
            r = tape_block_seal(&p.head, p.records, &rp->packer, QUALITY, &block);
            p.packed = (struct view){ block.p, block.n };
        }
        if (r >= 0)
            r = tape_io_write_all(rp->io, to, p.packed.p, p.packed.n, off);
        if (r < 0)
            return fail(rp, r, "write the joined", err);
        off += p.packed.n;
    }
    r = tape_reader_error(rp->reader);
    if (!r && blocks != rp->report.blocks) /* then something has changed under us */
        r = -ESTALE;
    return r < 0 ? fail(rp, r, "read", err) : 0;
}

static int
put_in_place(struct repair *rp, const char *from, int fd)
{
    int r = rp->io->ops->lock(rp->io, fd,
                              from); /* whoever comes next waits for our tidying */
    if (!r)
        r = tape_io_sync(rp->io, fd);
    if (!r)
        r = rp->io->ops->rename(rp->io, from, rp->path);
    if (!r)
        r = tape_io_sync_dir(rp->io, rp->path);
    /* From the last, so that none is left behind a hole in the numbers. */
    for (unsigned i = rp->report.joined_segments; !r && i-- > 1;) {
        char path[TAPE_PATH_MAX];
        tape_segment_path(path, rp->path, i);
        r = rp->io->ops->unlink(rp->io, path);
        r = r == -ENOENT ? 0 : r;
    }
    return r;
}

static int
join(struct repair *rp, struct err *err)
{
    char path[TAPE_PATH_MAX];
    snprintf(path, sizeof(path), "%s" TAPE_JOIN_SUFFIX, rp->path);
    int r = rp->io->ops->unlink(rp->io, path);
    if (r < 0 && r != -ENOENT)
        return fail(rp, r, "join", err);
    int fd = rp->io->ops->open(rp->io, path, TAPE_OPEN_CREATE);
    if (fd < 0)
        return fail(rp, fd, "join", err);
    r = copy_pieces(rp, fd, err);
    if (!r) {
        r = put_in_place(rp, path, fd);
        if (r < 0)
            fail(rp, r, "join", err);
    }
    if (r < 0)
        rp->io->ops->unlink(rp->io, path); /* if it is still called so */
    if (!r)
        r = remove_tails(rp, err);
    rp->io->ops->close(rp->io, fd);
    return r;
}

static int
work(struct repair *rp, bool is_dry_run, struct err *err)
{
    int r = survey(rp, err);
    if (r < 0)
        return r;
    if (rp->needs_join && rp->notes.left_out)
        return err_set(err, ERR_DAMAGED,
                       "'%s' is damaged in too many places to join its files", rp->path);
    rp->report.is_changed = rp->needs_join || has_tails(rp) || rp->size > rp->good_end;
    r = tape_reader_error(rp->reader);
    if (r < 0 && rp->report.is_changed) /* it may be whole, and must not be cut */
        return fail(rp, r, "read", err);
    r = keep_torn(rp, is_dry_run, err);
    if (r < 0 || is_dry_run || !rp->report.is_changed)
        return r;
    return rp->needs_join ? join(rp, err) : mend_end(rp, err);
}

static int
look_for(struct repair *rp, struct err *err)
{
    struct tape_reader_options none = { 0 };
    struct tape_reader *r;
    int e = tape_reader_open(&r, rp->io, rp->path, &none, err);
    if (!e)
        tape_reader_close(r);
    return e;
}

int
tape_repair(struct tape_io *io, const char *path, bool is_dry_run,
            const struct tape_progress *progress, struct tape_repair_report *ret,
            struct err *err)
{
    struct repair rp = { .io = io, .path = path, .fd = -1, .progress = progress };
    int r = look_for(&rp, err);
    if (!r)
        r = take(&rp, is_dry_run, err);
    if (!r)
        r = work(&rp, is_dry_run, err);
    if (rp.reader)
        tape_reader_close(rp.reader);
    if (rp.fd >= 0)
        io->ops->close(io, rp.fd);
    buf_release(&rp.sealed);
    tape_packer_release(&rp.packer);
    tape_notes_release(&rp.notes);
    if (!r)
        *ret = rp.report;
    return r;
}
