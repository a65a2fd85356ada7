/* SPDX-License-Identifier: MIT */
#include "snap/fate_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum {
    PROGRESS_FILES = 256,
    PAUSE_FIRST_MS = 25, /* most that have just been written are at rest then */
    PAUSE_MAX_MS = 200,
    PATIENCE_MS = 4000, /* for all together */
};

/* Those that would not hold still. */
struct late {
    size_t index;
    struct snap_try t;
};

struct reading {
    struct snap_fates *f;
    struct snap_reader *reader;
    struct late *late;
    size_t late_count, late_room;
    struct buf refused; /* u32 index and u32 reason each, in any order */
    void (*progress)(void *ctx, uint64_t files, uint64_t bytes);
    void *ctx;
    uint64_t files, bytes;
};

/* -- known or not -- */

static void
compare_one(struct snap_fates *f, struct snap_entry *e, struct snap_fate *fate, int order,
            const struct snap_look *look)
{
    fate->was_there = order == 0;
    fate->is_known = order == 0 && snap_look_is_same(&e->look, look);
    f->unknown += !fate->is_known;
}

/* Both are in the order of paths. */
static int
compare(struct snap_fates *f, struct snap_cache *cache)
{
    struct snap_look look = { 0 };
    bool has = cache && snap_cache_next(cache, &look);
    for (size_t i = 0; i < f->walk.count; i++) {
        struct snap_entry *e = &f->walk.entry[i];
        if (e->kind == SNAP_DIR)
            continue;
        int order = -1;
        while (has && (order = strcmp(e->path, cache->path)) > 0) {
            buf_append(&f->gone, cache->path, strlen(cache->path) + 1);
            has = snap_cache_next(cache, &look);
        }
        compare_one(f, e, &f->fate[i], has ? order : -1, &look);
        if (has && order == 0)
            has = snap_cache_next(cache, &look);
    }
    for (; has; has = snap_cache_next(cache, &look))
        buf_append(&f->gone, cache->path, strlen(cache->path) + 1);
    return f->gone.failed;
}

int
snap_fates_init(struct snap_fates *ret, struct snap_walk *walk, struct snap_cache *cache)
{
    struct snap_fates f = { .walk = *walk, .gone.ceiling = 1 << 30 };
    *walk = (struct snap_walk){ 0 };
    f.fate = calloc(f.walk.count, sizeof(*f.fate));
    int r = f.fate ? compare(&f, cache) : -ENOMEM;
    f.skips = f.walk.skips;
    f.walk.skips = (struct snap_skips){ 0 };
    if (r < 0) {
        snap_fates_release(&f);
        return r;
    }
    *ret = f;
    return 0;
}

void
snap_fates_release(struct snap_fates *f)
{
    snap_walk_release(&f->walk);
    snap_skips_release(&f->skips);
    buf_release(&f->gone);
    free(f->fate);
    *f = (struct snap_fates){ 0 };
}

/* -- read -- */

static void
tell_progress(struct reading *r, const struct snap_look *look)
{
    uint64_t before = r->bytes;
    r->files++;
    r->bytes += look->size_bytes;
    if (r->progress && (r->files % PROGRESS_FILES == 0 || r->bytes >> 22 != before >> 22))
        r->progress(r->ctx, r->files, r->bytes);
}

static int
put_late(struct reading *r, size_t index, const struct snap_try *t)
{
    if (r->late_count == r->late_room) {
        size_t room = r->late_room ? 2 * r->late_room : 64;
        struct late *more = reallocarray(r->late, room, sizeof(*more));
        if (!more)
            return -ENOMEM;
        r->late = more;
        r->late_room = room;
    }
    r->late[r->late_count++] = (struct late){ .index = index, .t = *t };
    return 0;
}

static int
put_out(struct reading *r, size_t index, bool is_refused, enum snap_reason why)
{
    uint32_t pair[2] = { (uint32_t)index, (uint32_t)why };
    r->f->fate[index].is_out = true;
    return is_refused ? buf_append(&r->refused, pair, sizeof(pair)) : 0;
}

/* 1: it must be tried again. */
static int
settle(struct reading *r, size_t index, struct snap_try *t)
{
    struct snap_entry *e = &r->f->walk.entry[index];
    enum snap_still s = e->kind == SNAP_LINK ? snap_still_link(r->reader, t)
                                             : snap_still_read(r->reader, t);
    switch (s) {
    case SNAP_READ:
        e->look = t->look;
        r->f->fate[index].blob = t->blob;
        tell_progress(r, &t->look);
        return 0;
    case SNAP_LATER:
        return 1;
    case SNAP_LOST:
        return put_out(r, index, false, SNAP_SKIP_CHANGING);
    case SNAP_REFUSED:
        return put_out(r, index, true, t->why);
    }
    return 0;
}

static int
read_all(struct reading *r)
{
    struct snap_fates *f = r->f;
    for (size_t i = 0; i < f->walk.count; i++) {
        const struct snap_entry *e = &f->walk.entry[i];
        if (e->kind == SNAP_DIR || f->fate[i].is_known)
            continue;
        struct snap_try t = { .path = e->path };
        int e2 = settle(r, i, &t);
        if (e2 > 0)
            e2 = put_late(r, i, &t);
        if (e2 < 0)
            return e2;
        if (r->reader->import->failed)
            return 0; /* git knows why */
    }
    return 0;
}

static void
sleep_ms(unsigned ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
    nanosleep(&t, NULL);
}

/* Again and again, until each holds still or patience ends. */
static int
read_late(struct reading *r)
{
    uint64_t deadline = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    unsigned pause = PAUSE_FIRST_MS;
    while (r->late_count && clock_mono_ns() < deadline && !r->reader->import->failed) {
        size_t left = 0;
        sleep_ms(pause);
        pause = pause * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause * 2;
        for (size_t i = 0; i < r->late_count; i++) {
            int e = settle(r, r->late[i].index, &r->late[i].t);
            if (e < 0)
                return e;
            if (e > 0)
                r->late[left++] = r->late[i];
        }
        r->late_count = left;
    }
    for (size_t i = 0; i < r->late_count; i++) {
        int e = put_out(r, r->late[i].index, true, SNAP_SKIP_CHANGING);
        if (e < 0)
            return e;
    }
    return 0;
}

/* -- what was left out -- */

static int
compare_pairs(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

static void
put_again(struct snap_skips *to, const struct snap_skip *s)
{
    for (int i = 0; i < SNAP_REASONS; i++) {
        const char *word = snap_reason_word((enum snap_reason)i);
        if (strlen(word) == s->word_len && memcmp(word, s->word, s->word_len) == 0)
            (void)snap_skips_add(to, (enum snap_reason)i, s->path);
    }
}

/* Those of the walk and those of the reading, by path. */
static void
join_skips(struct reading *r)
{
    struct snap_skips all = { 0 };
    struct view rest = { r->f->skips.list.p, r->f->skips.list.n };
    struct snap_skip s;
    size_t n = r->refused.n / 8;
    if (!n)
        return;
    bool has = snap_skip_next(&rest, &s);
    qsort(r->refused.p, n, 8, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        uint32_t pair[2];
        memcpy(pair, r->refused.p + i * 8, sizeof(pair));
        const char *path = r->f->walk.entry[pair[0]].path;
        for (; has && strcmp(s.path, path) < 0; has = snap_skip_next(&rest, &s))
            put_again(&all, &s);
        (void)snap_skips_add(&all, (enum snap_reason)pair[1], path);
    }
    for (; has; has = snap_skip_next(&rest, &s))
        put_again(&all, &s);
    all.count += r->f->skips.count - r->f->skips.kept;
    snap_skips_release(&r->f->skips);
    r->f->skips = all;
}

int
snap_fates_read(struct snap_fates *f, struct snap_reader *reader,
                void (*progress)(void *ctx, uint64_t files, uint64_t bytes), void *ctx)
{
    struct reading r = { .f = f,
                         .reader = reader,
                         .progress = progress,
                         .ctx = ctx,
                         .refused.ceiling = 1 << 30 };
    int e = read_all(&r);
    if (e >= 0)
        e = read_late(&r);
    if (e >= 0)
        join_skips(&r);
    free(r.late);
    buf_release(&r.refused);
    return e;
}
