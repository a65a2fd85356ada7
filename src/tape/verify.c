/* SPDX-License-Identifier: MIT */
#include "tape/verify.h"

#include <inttypes.h>

struct pass {
    struct tape_verify_report *v;
    const char *path;
    uint64_t next_byte; /* where the next DATA should begin */
    size_t damages;     /* told before it */
    uint32_t gap_bytes; /* marked, and no DATA has come since */
    bool is_back_told, is_clock_told;
};

static void
note(struct pass *p, enum tape_notice_kind kind, const char *text)
{
    struct tape_notice n = { .kind = kind, .file = p->path, .text = text };
    tape_notes_add(&p->v->notes, &n);
}

static void
warn(struct pass *p, const char *text)
{
    note(p, TAPE_NOTE_WARNING, text);
}

static void
check_data(struct pass *p, const struct tape_record *rec)
{
    char text[128];
    size_t damages = p->v->notes.damages;
    if (rec->byte_off > p->next_byte && damages == p->damages) {
        snprintf(text, sizeof(text), "%" PRIu64 " bytes at byte %" PRIu64 " %s",
                 rec->byte_off - p->next_byte, p->next_byte,
                 p->gap_bytes ? "were not recorded" : "are missing, without a gap mark");
        note(p, p->gap_bytes ? TAPE_NOTE_WARNING : TAPE_NOTE_DAMAGE, text);
        damages = p->v->notes.damages;
    } else if (rec->byte_off < p->next_byte && !p->is_back_told) {
        p->is_back_told = true;
        warn(p, "byte offsets go back");
    }
    p->damages = damages;
    p->gap_bytes = 0;
    p->next_byte = rec->byte_off + rec->bytes.n;
    p->v->bytes += rec->bytes.n;
}

static void
check_record(struct pass *p, const struct tape_record *rec)
{
    struct tape_verify_report *v = p->v;
    if (!v->records++) {
        v->first_ts_ns = v->last_ts_ns = rec->ts_ns;
        if (rec->tag != TAPE_RESIZE)
            warn(p, "does not begin with the terminal's size");
    }
    if (rec->ts_ns < v->last_ts_ns && !p->is_clock_told) {
        p->is_clock_told = true;
        warn(p, "time goes back");
    }
    if (rec->ts_ns > v->last_ts_ns)
        v->last_ts_ns = rec->ts_ns;
    v->resizes += rec->tag == TAPE_RESIZE;
    v->snapshots += rec->tag == TAPE_SNAPSHOT;
    if (rec->tag == TAPE_MARK && rec->code == TAPE_MARK_GAP)
        p->gap_bytes = rec->val;
    if (rec->tag == TAPE_DATA)
        check_data(p, rec);
}

int
tape_verify(struct tape_io *io, const char *path, const struct tape_progress *progress,
            struct tape_verify_report *ret, struct err *err)
{
    struct tape_verify_report v = { 0 };
    struct pass p = { .v = &v, .path = path };
    struct tape_reader_options opt = { .notice = tape_notes_add,
                                       .ctx = &v.notes,
                                       .progress = progress };
    struct tape_reader *r;
    int e = tape_reader_open(&r, io, path, &opt, err);
    if (e < 0)
        return e;
    struct tape_piece piece;
    while (tape_reader_next_piece(r, &piece)) {
        v.blocks++;
        v.file_bytes += piece.packed.n;
        for (struct view in = piece.records; in.n;) {
            struct tape_record rec;
            const char *reason;
            size_t n = tape_record_get(in, &rec, &reason);
            check_record(&p, &rec);
            in.p += n;
            in.n -= n;
        }
    }
    tape_reader_close(r);
    if (p.gap_bytes) {
        char text[64];
        snprintf(text, sizeof(text), "%u bytes at the end were not recorded",
                 p.gap_bytes);
        warn(&p, text);
    }
    *ret = v;
    return 0;
}

void
tape_verify_report_release(struct tape_verify_report *v)
{
    tape_notes_release(&v->notes);
}
