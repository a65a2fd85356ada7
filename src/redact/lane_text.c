/* SPDX-License-Identifier: MIT */
/* lane_text.c -- the text of a lane, where it stands in the input, and its line ends. */
#include "redact/lane_priv.h"

/* -- offsets -- */

uint64_t
lane_end(const struct lane *l)
{
    return l->base + l->text.n;
}

/* How many items of a size have a number, `field` bytes into them, that is at most
 * `offset`; they are in its order. */
static size_t
count_until(const struct buf *items, size_t size, size_t field, uint64_t offset)
{
    size_t low = 0, high = items->n / size;
    while (low < high) {
        size_t mid = (low + high) / 2;
        uint64_t number;
        memcpy(&number, items->p + mid * size + field, sizeof(number));
        if (number <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* How many maps begin at or before an offset; by_raw says which. */
static size_t
maps_until(const struct lane *l, uint64_t offset, bool by_raw)
{
    size_t field = by_raw ? offsetof(struct lane_map, raw)
                          : offsetof(struct lane_map, clean);
    return count_until(&l->maps, sizeof(struct lane_map), field, offset);
}

uint64_t
lane_raw(const struct lane *l, uint64_t clean)
{
    const struct lane_map *maps = LANE_ITEMS(struct lane_map, &l->maps);
    size_t n = maps_until(l, clean, false);
    return n ? maps[n - 1].raw + (clean - maps[n - 1].clean) : 0;
}

uint64_t
lane_clean(const struct lane *l, uint64_t raw)
{
    const struct lane_map *maps = LANE_ITEMS(struct lane_map, &l->maps);
    size_t count = LANE_COUNT(struct lane_map, &l->maps), n = maps_until(l, raw, true);
    if (!n)
        return l->base;
    uint64_t clean = maps[n - 1].clean + (raw - maps[n - 1].raw);
    uint64_t end = n < count ? maps[n].clean : lane_end(l);
    return clean < end ? clean : end;
}

/* -- writing -- */

void
lane_put(struct lane *l, const uint8_t *p, size_t n, uint64_t raw)
{
    uint64_t clean = lane_end(l);
    size_t count = LANE_COUNT(struct lane_map, &l->maps);
    const struct lane_map *maps = LANE_ITEMS(struct lane_map, &l->maps);
    if (!count || maps[count - 1].raw + (clean - maps[count - 1].clean) != raw) {
        struct lane_map map = { clean, raw };
        buf_append(&l->maps, &map, sizeof(map));
    }
    buf_append(&l->text, p, n);
}

void
lane_break(struct lane *l, uint64_t raw)
{
    lane_put(l, (const uint8_t *)"\n", 1, raw);
    l->line = lane_end(l);
    l->indent = 0;
}

void
lane_wrap(struct lane *l, uint64_t raw)
{
    uint64_t clean = lane_end(l);
    if (clean == l->line) {
        lane_break(l, raw); /* an empty line */
        return;
    }
    uint64_t col = clean - l->line + l->indent;
    struct lane_wrap wrap = { clean, col < UINT32_MAX ? (uint32_t)col : UINT32_MAX };
    buf_append(&l->wraps, &wrap, sizeof(wrap));
    l->line = clean;
    l->indent = 0;
}

/* -- line ends -- */

size_t
lane_wraps_until(const struct lane *l, uint64_t clean)
{
    return count_until(&l->wraps, sizeof(struct lane_wrap),
                       offsetof(struct lane_wrap, clean), clean);
}

bool
lane_has_wrap_at(const struct lane *l, uint64_t clean)
{
    size_t n = lane_wraps_until(l, clean);
    return n && LANE_ITEMS(struct lane_wrap, &l->wraps)[n - 1].clean == clean;
}

uint64_t
lane_line_start(const struct lane *l, uint64_t clean)
{
    const struct lane_wrap *wraps = LANE_ITEMS(struct lane_wrap, &l->wraps);
    size_t n = lane_wraps_until(l, clean);
    while (n && l->cols && judge_is_full(wraps[n - 1].col, l->cols))
        n--;
    return n ? wraps[n - 1].clean : 0;
}

bool
lane_has_short_line(const struct lane *l, uint64_t clean)
{
    size_t n = lane_wraps_until(l, clean);
    const struct lane_wrap *wraps = LANE_ITEMS(struct lane_wrap, &l->wraps);
    return n && wraps[n - 1].clean == clean && !judge_is_full(wraps[n - 1].col, l->cols);
}

/* -- forgetting -- */

/* Takes n items of a size away from the front. */
static void
drop_front(struct buf *b, size_t n, size_t size)
{
    b->n -= n * size;
    if (n && b->n)
        memmove(b->p, b->p + n * size, b->n);
}

void
lane_drop(struct lane *l, uint64_t clean)
{
    drop_front(&l->text, (size_t)(clean - l->base), 1);
    l->base = clean;
    size_t n = maps_until(l, clean, false);
    drop_front(&l->maps, n ? n - 1 : 0, sizeof(struct lane_map));
    drop_front(&l->wraps, clean ? lane_wraps_until(l, clean - 1) : 0,
               sizeof(struct lane_wrap));
}
