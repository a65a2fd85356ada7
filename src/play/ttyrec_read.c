/* SPDX-License-Identifier: MIT */
/*
 * ttyrec_read.c -- ttyrec files: seconds, microseconds and a length of 32 bits each, then
 * that many bytes of output.
 *
 * They have no mark to find the next record by. Where a header cannot be one, or a length
 * does not lead to another header, the next is looked for that could be one and is
 * followed by another, or by the end.
 */
#include "base/le.h"
#include "base/num.h"
#include "play/import.h"

enum {
    HEAD = 12,
    RECORD_MAX = 4 << 20, /* more is absurd: recorders have buffers of some KiB */
    SEARCH_MAX = 1 << 20, /* how far the next record is looked for … */
    FOUND_MAX = 64 << 10, /* … and how long it may be then … */
    FOUND_S = 7 * 86400,  /* … and how much later */
    SIZE_MAX_BYTES = 32,  /* of a sequence that sets the size */
};

struct head {
    uint32_t s, us, n;
};

struct ttyrec {
    struct play_import *im;
    struct play_source *in;
    bool is_big;     /* the most significant byte first */
    uint32_t last_s; /* of the last record */
};

static uint32_t
get_32(const uint8_t *p, bool is_big)
{
    return is_big ? __builtin_bswap32(get_le32(p)) : get_le32(p);
}

static struct head
parse(const uint8_t *p, bool is_big)
{
    return (struct head){ get_32(p, is_big), get_32(p + 4, is_big),
                          get_32(p + 8, is_big) };
}

static bool
may_be(const struct head *h, uint32_t max)
{
    return h->us < 1000000 && h->n <= max;
}

/* -- which byte comes first -- */

/* How many records in a row there are in the bytes, at most two, or the end right
 * behind. */
static int
count(struct view v, bool is_big)
{
    int n = 0;
    for (size_t at = 0; n < 2 && v.n - at >= HEAD; n++) {
        struct head h = parse(v.p + at, is_big);
        if (!may_be(&h, RECORD_MAX))
            return n;
        if (h.n > v.n - at - HEAD)
            return n + 1;
        at += HEAD + h.n;
    }
    return n;
}

static bool
fits(struct view beginning)
{
    if (beginning.n < HEAD)
        return false;
    struct head little = parse(beginning.p, false), big = parse(beginning.p, true);
    /* Text would be numbers that are too large. */
    return (may_be(&little, RECORD_MAX) && little.s) ||
           (may_be(&big, RECORD_MAX) && big.s);
}

/* -- the size -- */

/* Some recorders begin with a sequence that sets it: ESC [ 8 ; ROWS ; COLS t, maybe
 * behind one that chooses UTF-8. */
static void
get_size(struct view v, struct play_import_head *ret)
{
    uint64_t rows, cols;
    if (v.n >= 3 && !memcmp(v.p, "\x1b%G", 3))
        v = (struct view){ v.p + 3, v.n - 3 };
    if (v.n < 4 || memcmp(v.p, "\x1b[8;", 4) != 0)
        return;
    v = (struct view){ v.p + 4, v.n - 4 };
    const uint8_t *semicolon = memchr(v.p, ';', v.n), *end = memchr(v.p, 't', v.n);
    if (!semicolon || !end || end < semicolon)
        return;
    struct view a = { v.p, (size_t)(semicolon - v.p) };
    struct view b = { semicolon + 1, (size_t)(end - semicolon) - 1 };
    if (num_parse(a, PLAY_IMPORT_SIZE_MAX, &rows) < 0 ||
        num_parse(b, PLAY_IMPORT_SIZE_MAX, &cols) < 0)
        return;
    ret->rows = (unsigned)rows;
    ret->cols = (unsigned)cols;
}

static int
begin(struct ttyrec *t, struct view v)
{
    struct play_import_head head = { 0 };
    t->is_big = count(v, true) > count(v, false);
    struct head h = { 0 };
    if (v.n >= HEAD)
        h = parse(v.p, t->is_big);
    if (v.n >= HEAD && may_be(&h, RECORD_MAX)) {
        size_t n = v.n - HEAD < h.n ? v.n - HEAD : h.n;
        head.start_ns = h.s * UINT64_C(1000000000) + h.us * UINT64_C(1000);
        get_size((struct view){ v.p + HEAD, n < SIZE_MAX_BYTES ? n : SIZE_MAX_BYTES },
                 &head);
    }
    return play_import_begin(t->im, &head);
}

/* -- records -- */

static void
damaged(struct ttyrec *t, const char *text)
{
    play_import_damaged(t->im, PLAY_IMPORT_FILE, t->in->offset, text);
}

static bool
follows(const struct head *h, uint32_t last_s)
{
    return may_be(h, FOUND_MAX) && h->n && h->s >= last_s && h->s - last_s <= FOUND_S;
}

/* Is there a record at `at`, and another or the end behind it? */
static bool
is_record(const struct ttyrec *t, struct view v, size_t at, bool is_all)
{
    struct head h = parse(v.p + at, t->is_big);
    if (!follows(&h, t->last_s) || h.n > v.n - at - HEAD)
        return false;
    size_t next = at + HEAD + h.n;
    if (v.n - next < HEAD)
        return is_all && next == v.n;
    struct head behind = parse(v.p + next, t->is_big);
    return follows(&behind, h.s);
}

/* How far away the next record is, from `least` on; 0: none is near. */
static size_t
find_next(struct ttyrec *t, size_t least)
{
    struct view v = play_source_peek(t->in, SEARCH_MAX);
    bool is_all = v.n < SEARCH_MAX;
    if (!is_all)
        v.n = SEARCH_MAX; /* however much more was read */
    for (size_t at = least; at + HEAD <= v.n; at++)
        if (is_record(t, v, at, is_all))
            return at;
    return 0;
}

/* Does its length lead to the end, or to what may be the next record? */
static bool
is_sound(struct ttyrec *t, const struct head *h)
{
    struct view v = play_source_peek(t->in, (size_t)HEAD + h->n + HEAD);
    if (v.n < (size_t)HEAD + h->n + HEAD)
        return v.n == (size_t)HEAD + h->n;
    struct head next = parse(v.p + HEAD + h->n, t->is_big);
    return may_be(&next, RECORD_MAX);
}

static int
take_record(struct ttyrec *t, const struct head *h)
{
    size_t n = h->n;
    if (!is_sound(t, h)) {
        size_t next = find_next(t, HEAD);
        if (next && next < HEAD + n) {
            damaged(t, "a record of a wrong length");
            n = next - HEAD;
        }
    }
    t->last_s = h->s;
    play_source_take(t->in, HEAD);
    play_import_clock(t->im, h->s * UINT64_C(1000000000) + h->us * UINT64_C(1000));
    struct view v = play_source_peek(t->in, n);
    if (v.n < n) {
        damaged(t, "it ends in the middle of a record");
        n = v.n;
    }
    int r = play_import_put(t->im, (struct play_import_record){
                                       .kind = PLAY_IMPORT_OUTPUT, .bytes = { v.p, n } });
    play_source_take(t->in, n);
    return r;
}

static int
read_ttyrec(struct play_import *im)
{
    struct ttyrec t = { .im = im, .in = im->source[PLAY_IMPORT_FILE] };
    struct view v = play_source_peek(t.in, PLAY_IMPORT_BEGINNING);
    if (v.n > PLAY_IMPORT_BEGINNING)
        v.n = PLAY_IMPORT_BEGINNING;
    int r = begin(&t, v);
    while (!r && (v = play_source_peek(t.in, HEAD)).n) {
        if (v.n < HEAD) {
            damaged(&t, "it ends in the middle of a record");
            break;
        }
        struct head h = parse(v.p, t.is_big);
        if (may_be(&h, RECORD_MAX)) {
            r = take_record(&t, &h);
            continue;
        }
        damaged(&t, h.n > RECORD_MAX ? "a record of an absurd length"
                                     : "a record with an absurd time");
        size_t next = find_next(&t, 1);
        if (!next)
            break;
        play_source_take(t.in, next);
    }
    return !r && !im->records ? ERR_DAMAGED : r;
}

const struct play_import_format play_import_ttyrec = {
    .name = "ttyrec",
    .what = "a ttyrec file",
    .fits = fits,
    .read = read_ttyrec,
};
