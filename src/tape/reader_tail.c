/* SPDX-License-Identifier: MIT */
/* reader_tail.c -- the tails of a recording, judged and read (format, I14 and section 4).
 */
#include "tape/reader_priv.h"

#include <errno.h>

#include "tape/names.h"

void
reader_notify_tail(struct tape_reader *r, enum tape_notice_kind kind,
                   const struct tail_source *t, uint64_t off, uint64_t len,
                   const char *text)
{
    char path[TAPE_PATH_MAX];
    tape_tail_path(path, r->path, t->ordinal);
    reader_notify(r, kind, path, off, len, text);
}

/* Why this tail is not one of this recording's; NULL: it is. */
static const char *
tail_fault(const struct tape_reader *r, const struct tail_source *t,
           const struct tape_tail *head)
{
    if (head->ordinal != t->ordinal)
        return "tail is called after another block";
    if (r->has_tail_id && memcmp(head->session_id, r->tail_id, 16) != 0)
        return "tail is another session's";
    if (r->is_last_seen)
        return "tail after the end of the session";
    if (head->start_byte_off < r->last_end_off)
        return "byte offset goes back";
    if (t->ordinal - r->next_ordinal >= 1U << (TAPE_ORDINAL_BITS - 1))
        return "tail of a block far away";
    return NULL;
}

static int
read_tail(struct tape_reader *r, const struct tail_source *t)
{
    uint64_t size;
    buf_clear(&r->tail_bytes);
    int e = t->fd < 0 ? t->fd : r->io->ops->size(r->io, t->fd, &size);
    if (e < 0)
        return e;
    if (size > READER_TAIL_BYTES)
        size = READER_TAIL_BYTES;
    uint8_t *p = buf_grow(&r->tail_bytes, size);
    if (!p)
        return -ENOMEM;
    ssize_t n = size ? tape_io_read_full(r->io, t->fd, p, size, 0) : 0;
    r->tail_bytes.n = n > 0 ? (size_t)n : 0;
    return n < 0 ? (int)n : 0;
}

/* Reads the tail and judges it; its good records are then in `records`. */
static const char *
judge_tail(struct tape_reader *r, struct tail_source *t, struct tape_tail *head,
           size_t *ret_good, enum tape_tail_end *ret_end)
{
    struct tape_record first;
    const char *reason, *fault = NULL;
    uint32_t crc;
    int e = read_tail(r, t);
    struct view in = { r->tail_bytes.p, r->tail_bytes.n };
    buf_clear(&r->records);
    r->decoded = NULL;
    *ret_end = tape_tail_get_records(in, &r->records, ret_good);
    if (r->records.failed)
        e = -ENOMEM;
    r->read_error = e < 0 ? e : r->read_error;
    if (e < 0)
        fault = strerror(-e);
    else if (tape_tail_get_head(in, head, &crc))
        fault = tail_fault(r, t, head);
    struct view records = { r->records.p, r->records.n };
    if (!fault && records.n && tape_record_get(records, &first, &reason) &&
        first.ts_ns < r->last_ts_ns)
        fault = "time goes back";
    if (fault) {
        *ret_good = 0;
        *ret_end = TAPE_TAIL_DAMAGED;
    } else if (*ret_good) {
        memcpy(r->tail_id, head->session_id, 16);
        r->has_tail_id = true;
    }
    return fault;
}

/* The tail of a block that was found sealed: only whether something unusable is in it. */
void
reader_inspect_tail(struct tape_reader *r, struct tail_source *t)
{
    size_t good;
    int e = read_tail(r, t);
    struct view in = { r->tail_bytes.p, r->tail_bytes.n };
    buf_clear(&r->records);
    r->decoded = NULL;
    t->is_bad = e < 0 ||
                tape_tail_get_records(in, &r->records, &good) == TAPE_TAIL_DAMAGED;
    r->read_error = e < 0 ? e : r->read_error;
}

bool
reader_load_tail(struct tape_reader *r, struct tail_source *t, struct tape_piece *ret)
{
    struct tape_tail head;
    size_t good;
    enum tape_tail_end end;
    const char *fault = judge_tail(r, t, &head, &good, &end);
    size_t rest = r->tail_bytes.n - good;
    if (end == TAPE_TAIL_DAMAGED) {
        t->is_bad = true;
        reader_notify_tail(r, TAPE_NOTE_DAMAGE, t, good, rest,
                           fault ? fault : "tail record is damaged");
    } else if (end == TAPE_TAIL_TORN && r->tail_bytes.n > TAPE_TAIL_HEAD) {
        reader_notify_tail(r, TAPE_NOTE_WARNING, t, good, rest, "unfinished record");
    }
    if (good <= TAPE_TAIL_HEAD)
        return false;

    struct tape_extent extent;
    struct tape_record first;
    const char *reason;
    struct view records = { r->records.p, r->records.n };
    *ret = (struct tape_piece){ .records = records, .is_tail = true };
    tape_record_get(records, &first, &reason);
    ret->head = (struct tape_block){ .start_ts_ns = first.ts_ns,
                                     .start_byte_off = head.start_byte_off,
                                     .ordinal = t->ordinal,
                                     .is_checked = true };
    const char *bad = tape_block_measure(&ret->head, records, &extent);
    if (bad) {
        t->is_bad = true;
        reader_notify_tail(r, TAPE_NOTE_DAMAGE, t, 0, r->tail_bytes.n, bad);
        return false;
    }
    ret->head.record_count = ret->record_count = extent.record_count;
    r->last_end_off = extent.end_byte_off;
    r->last_ts_ns = extent.last_ts_ns;
    r->last_source = NULL;
    return true;
}
