/* SPDX-License-Identifier: MIT */
#include "fuzz/import_input.h"

#include "fuzz/fuzz.h"

struct file {
    struct view left;
    size_t piece;
};

struct run {
    struct file files[PLAY_IMPORT_SOURCES];
    struct play_source sources[PLAY_IMPORT_SOURCES];
    struct play_import im;
    struct buf seen; /* all that was handed over */
    uint64_t last_ns;
    int result;
};

static ssize_t
read_file(void *ctx, void *p, size_t n)
{
    struct file *f = ctx;
    if (n > f->piece)
        n = f->piece;
    if (n > f->left.n)
        n = f->left.n;
    if (n)
        memcpy(p, f->left.p, n);
    f->left.p += n;
    f->left.n -= n;
    return (ssize_t)n;
}

static void
see(struct run *r, const void *p, size_t n)
{
    CHECK(!buf_append(&r->seen, &n, sizeof(n)));
    CHECK(!buf_append(&r->seen, p, n));
}

static void
see_number(struct run *r, uint64_t n)
{
    CHECK(!buf_append(&r->seen, &n, sizeof(n)));
}

static int
take_head(void *ctx, const struct play_import_head *h)
{
    struct run *r = ctx;
    const struct view texts[] = { h->title, h->command, h->term, h->shell };
    CHECK(h->cols <= PLAY_IMPORT_SIZE_MAX && h->rows <= PLAY_IMPORT_SIZE_MAX);
    CHECK(!h->cols == !h->rows && h->start_ns <= PLAY_IMPORT_TIME_MAX);
    CHECK(!r->seen.n); /* it is the first, and the only one */
    see_number(r, h->cols);
    see_number(r, h->rows);
    see_number(r, h->start_ns);
    for (size_t i = 0; i < 4; i++)
        see(r, texts[i].p, texts[i].n);
    return 0;
}

static int
take_record(void *ctx, const struct play_import_record *rec)
{
    struct run *r = ctx;
    bool is_stream = rec->kind == PLAY_IMPORT_OUTPUT || rec->kind == PLAY_IMPORT_INPUT;
    bool is_size = rec->kind == PLAY_IMPORT_SIZE;
    CHECK(r->seen.n);
    CHECK(rec->time_ns >= r->last_ns && rec->time_ns <= PLAY_IMPORT_TIME_MAX);
    CHECK(!is_stream || (rec->bytes.n && rec->bytes.n <= PLAY_IMPORT_BYTES_MAX));
    CHECK(!is_size || (rec->cols && rec->rows && rec->cols <= PLAY_IMPORT_SIZE_MAX &&
                       rec->rows <= PLAY_IMPORT_SIZE_MAX));
    r->last_ns = rec->time_ns;
    see_number(r, rec->kind);
    see_number(r, rec->time_ns);
    if (is_size)
        see_number(r, (uint64_t)rec->cols << 32 | rec->rows);
    else if (rec->kind == PLAY_IMPORT_EXIT)
        see_number(r, rec->status);
    else
        see(r, rec->bytes.p, rec->bytes.n);
    return 0;
}

static void
read_cut(struct run *r, const struct play_import_format *format,
         const struct view files[PLAY_IMPORT_SOURCES], size_t piece)
{
    *r = (struct run){ 0 };
    r->im = (struct play_import){ .head = take_head, .record = take_record, .ctx = r };
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++) {
        r->files[i] = (struct file){ files[i], piece };
        r->sources[i] = (struct play_source){ .read = read_file, .ctx = &r->files[i] };
        r->im.source[i] = files[i].p ? &r->sources[i] : NULL;
    }
    r->result = play_import_read(format, &r->im);
    CHECK(!r->result || r->result == ERR_DAMAGED);
    see_number(r, r->im.damages);
    see_number(r, r->im.left_out);
    see_number(r, r->im.end_ns);
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++)
        play_source_release(&r->sources[i]);
}

void
import_check(const struct play_import_format *format,
             const struct view files[PLAY_IMPORT_SOURCES])
{
    static const size_t pieces[] = { 1, 7, 4096 };
    struct run whole, cut;
    read_cut(&whole, format, files, SIZE_MAX);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        read_cut(&cut, format, files, pieces[i]);
        CHECK(cut.result == whole.result && cut.seen.n == whole.seen.n);
        CHECK(!memcmp(cut.seen.p, whole.seen.p, cut.seen.n));
        buf_release(&cut.seen);
    }
    buf_release(&whole.seen);
}
