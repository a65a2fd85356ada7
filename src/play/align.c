/* SPDX-License-Identifier: MIT */
/*
 * align.c -- E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986), with
 * the refinement to linear space.
 *
 * Equal ends are cut off first, then items that the other sequence has nowhere: they
 * cannot be kept. What is left is a box, x along a and y along b; the search goes from
 * both of its corners until the two meet, and the box falls into two. Where that takes
 * too long the box falls apart at the farthest place that was reached. Rounds are
 * bounded by `rounds_max`, and each round over it has got as far as it has steps: so all
 * of them together take about (na + nb) * rounds_max steps.
 */
#include "play/align.h"

#include <errno.h>
#include <stdlib.h>

enum {
    WORK = 1 << 26,  /* steps, about, for sequences of up to WORK / ROUNDS_MIN items */
    ROUNDS_MIN = 64, /* of a search, however long the sequences are */
    BOXES_MAX = 64,  /* each is at most half of the one below it */
};

struct box {
    int32_t x0, x1, y0, y1;
    bool is_exact; /* it is known to be small: its search needs no bound */
};

struct aligning {
    uint32_t *left_a, *left_b; /* what is left to align */
    int32_t *x, *y;            /* … where it stands in a, in b */
    int32_t *forward, *back;   /* by diagonal x - y, from -nb - 1 on: how far x got */
    int32_t rounds_max;
    struct play_kept_items *ret;
};

/* The diagonals that a search is on. */
struct front {
    int32_t *reach; /* by diagonal */
    int32_t low, high;
};

void
play_kept_items_release(struct play_kept_items *k)
{
    buf_release(&k->a);
    buf_release(&k->b);
    buf_release(&k->marks);
}

/* -- the middle of a box -- */

/* One diagonal more at each end, where the box has it; else one less: the ends then have
 * the other parity. `beyond` is farther than nothing. */
static void
widen(struct front *f, const struct box *box, int32_t beyond)
{
    if (f->low > box->x0 - box->y1)
        f->reach[--f->low - 1] = beyond;
    else
        f->low++;
    if (f->high < box->x1 - box->y0)
        f->reach[++f->high + 1] = beyond;
    else
        f->high--;
}

static bool
is_on(const struct front *f, int32_t diagonal)
{
    return diagonal >= f->low && diagonal <= f->high;
}

/* One difference farther from the first corner. True: it has met the other search, at
 * *ret_x, *ret_y. */
static bool
go_forward(struct aligning *al, const struct box *box, struct front *f,
           const struct front *other, int32_t *ret_x, int32_t *ret_y)
{
    widen(f, box, -1);
    for (int32_t d = f->high; d >= f->low; d -= 2) {
        int32_t left = f->reach[d - 1], above = f->reach[d + 1];
        int32_t x = left < above ? above : left + 1, y = x - d;
        int32_t start = x;
        while (x < box->x1 && y < box->y1 && al->left_a[x] == al->left_b[y])
            x++, y++;
        al->ret->steps += 1 + (uint64_t)(x - start);
        f->reach[d] = x;
        if (other && is_on(other, d) && other->reach[d] <= x) {
            *ret_x = x;
            *ret_y = y;
            return true;
        }
    }
    return false;
}

/* … from the last corner. */
static bool
go_back(struct aligning *al, const struct box *box, struct front *f,
        const struct front *other, int32_t *ret_x, int32_t *ret_y)
{
    widen(f, box, INT32_MAX);
    for (int32_t d = f->high; d >= f->low; d -= 2) {
        int32_t below = f->reach[d - 1], right = f->reach[d + 1];
        int32_t x = below < right ? below : right - 1, y = x - d;
        int32_t start = x;
        while (x > box->x0 && y > box->y0 && al->left_a[x - 1] == al->left_b[y - 1])
            x--, y--;
        al->ret->steps += 1 + (uint64_t)(start - x);
        f->reach[d] = x;
        if (other && is_on(other, d) && other->reach[d] >= x) {
            *ret_x = x;
            *ret_y = y;
            return true;
        }
    }
    return false;
}

/* The place on a diagonal, inside of the box. */
static int32_t
within(const struct box *box, int32_t d, int32_t x)
{
    int32_t low = box->x0 > box->y0 + d ? box->x0 : box->y0 + d;
    int32_t high = box->x1 < box->y1 + d ? box->x1 : box->y1 + d;
    return x < low ? low : x > high ? high : x;
}

/* Of all places that a search has reached, the farthest from its corner; sign 1: from the
 * first one, -1: from the last one. Returns x + y, times the sign. */
static int64_t
farthest(const struct box *box, const struct front *f, int sign, int32_t *ret_x,
         int32_t *ret_y)
{
    int64_t best = INT64_MIN;
    for (int32_t d = f->high; d >= f->low; d -= 2) {
        int32_t x = within(box, d, f->reach[d]);
        int64_t sum = ((int64_t)x + x - d) * sign;
        if (sum <= best)
            continue;
        best = sum;
        *ret_x = x;
        *ret_y = x - d;
    }
    return best;
}

/* Took too long: where the better of the two searches is. */
static void
give_up(struct aligning *al, const struct box *box, const struct front *forward,
        const struct front *back, struct box *ret_first, struct box *ret_second)
{
    int32_t fx = 0, fy = 0, bx = 0, by = 0;
    int64_t ahead = farthest(box, forward, 1, &fx, &fy) - box->x0 - box->y0;
    int64_t behind = farthest(box, back, -1, &bx, &by) + box->x1 + box->y1;
    bool is_ahead = ahead > behind;
    int32_t x = is_ahead ? fx : bx, y = is_ahead ? fy : by;
    al->ret->is_bounded = true;
    *ret_first = (struct box){ box->x0, x, box->y0, y, is_ahead };
    *ret_second = (struct box){ x, box->x1, y, box->y1, !is_ahead };
}

/* Where a way through the box with the fewest differences is at about half of them; both
 * parts together are the box. */
static void
split(struct aligning *al, const struct box *box, struct box *ret_first,
      struct box *ret_second)
{
    int32_t first = box->x0 - box->y0, last = box->x1 - box->y1, x = 0, y = 0;
    struct front forward = { al->forward, first, first };
    struct front back = { al->back, last, last };
    bool is_odd = (first - last) & 1;
    forward.reach[first] = box->x0;
    back.reach[last] = box->x1;
    for (int32_t round = 1;; round++) {
        if (go_forward(al, box, &forward, is_odd ? &back : NULL, &x, &y) ||
            go_back(al, box, &back, is_odd ? NULL : &forward, &x, &y))
            break;
        if (round < al->rounds_max || box->is_exact)
            continue;
        give_up(al, box, &forward, &back, ret_first, ret_second);
        return;
    }
    *ret_first = (struct box){ box->x0, x, box->y0, y, true };
    *ret_second = (struct box){ x, box->x1, y, box->y1, true };
}

/* -- all boxes -- */

static void
keep(struct aligning *al, int32_t x, int32_t y)
{
    al->ret->a.p[al->x[x]] = 1;
    al->ret->b.p[al->y[y]] = 1;
}

/* Takes off what is the same at both ends. False: nothing more can be kept in it. */
static bool
trim(struct aligning *al, struct box *box)
{
    while (box->x0 < box->x1 && box->y0 < box->y1 &&
           al->left_a[box->x0] == al->left_b[box->y0])
        keep(al, box->x0++, box->y0++);
    while (box->x0 < box->x1 && box->y0 < box->y1 &&
           al->left_a[box->x1 - 1] == al->left_b[box->y1 - 1])
        keep(al, --box->x1, --box->y1);
    return box->x0 < box->x1 && box->y0 < box->y1;
}

static int64_t
size_of(const struct box *box)
{
    return (int64_t)box->x1 - box->x0 + box->y1 - box->y0;
}

/* The smaller part of each first, so that few wait. */
static void
align_boxes(struct aligning *al, struct box box)
{
    struct box waiting[BOXES_MAX];
    size_t count = 0;
    for (;;) {
        if (trim(al, &box)) {
            struct box first, second;
            split(al, &box, &first, &second);
            bool is_first = size_of(&first) < size_of(&second);
            /* A part that is all of the box would go on for ever. */
            if (count < BOXES_MAX && size_of(&first) && size_of(&second)) {
                waiting[count++] = is_first ? second : first;
                box = is_first ? first : second;
                continue;
            }
        }
        if (!count)
            return;
        box = waiting[--count];
    }
}

/* -- what is left to align -- */

/* The items from `from` to `to` whose number has this mark. */
static int32_t
gather(const uint32_t *items, size_t from, size_t to, const uint8_t *marks, uint8_t mark,
       uint32_t *ret_numbers, int32_t *ret_places)
{
    int32_t count = 0;
    for (size_t i = from; i < to; i++) {
        if (!(marks[items[i]] & mark))
            continue;
        ret_numbers[count] = items[i];
        ret_places[count++] = (int32_t)i;
    }
    return count;
}

static uint8_t *
make_marks(struct buf *b, size_t n)
{
    buf_clear(b);
    b->ceiling = SIZE_MAX;
    uint8_t *p = buf_grow(b, n);
    if (p)
        memset(p, 0, n);
    return p;
}

enum { IN_A = 1, IN_B = 2 };

/* A mark for each number, all 0. NULL: no memory. */
static uint8_t *
ready_marks(struct buf *b, size_t numbers)
{
    size_t had = b->n;
    b->ceiling = SIZE_MAX;
    if (had >= numbers)
        return b->p;
    uint8_t *more = buf_grow(b, numbers - had);
    if (more)
        memset(more, 0, numbers - had);
    return more ? b->p : NULL;
}

/* Which numbers stand in a, in b, between these places. */
static void
mark_numbers(const struct play_align *in, size_t from, size_t to_a, size_t to_b,
             uint8_t *marks)
{
    for (size_t i = from; i < to_a; i++)
        marks[in->a[i]] |= IN_A;
    for (size_t i = from; i < to_b; i++)
        marks[in->b[i]] |= IN_B;
}

/* Only those: there may be millions of numbers, and many calls. */
static void
clear_marks(const struct play_align *in, size_t from, size_t to_a, size_t to_b,
            uint8_t *marks)
{
    for (size_t i = from; i < to_a; i++)
        marks[in->a[i]] = 0;
    for (size_t i = from; i < to_b; i++)
        marks[in->b[i]] = 0;
}

/* Between the ends, which are kept. */
static int
align_middle(const struct play_align *in, size_t from, size_t to_a, size_t to_b,
             struct play_kept_items *ret)
{
    size_t na = to_a - from, nb = to_b - from, diagonals = na + nb + 3;
    AUTO(buf) room = { .ceiling = SIZE_MAX };
    uint8_t *marks = ready_marks(&ret->marks, in->numbers);
    if (!marks || !buf_grow(&room, (2 * (na + nb) + 2 * diagonals) * sizeof(int32_t)))
        return -ENOMEM;
    uint32_t *left_a = (uint32_t *)(void *)room.p, *left_b = left_a + na;
    int32_t *x = (int32_t *)(void *)(left_b + nb), *y = x + na;
    struct aligning al = {
        .x = x,
        .y = y,
        .left_a = left_a,
        .left_b = left_b,
        .forward = y + nb + nb + 1,
        .back = y + nb + diagonals + nb + 1,
        .ret = ret,
    };
    struct box box = { 0 };
    mark_numbers(in, from, to_a, to_b, marks);
    box.x1 = gather(in->a, from, to_a, marks, IN_B, left_a, x);
    box.y1 = gather(in->b, from, to_b, marks, IN_A, left_b, y);
    clear_marks(in, from, to_a, to_b, marks);
    int64_t rounds = WORK / (size_of(&box) + 1);
    al.rounds_max = rounds < ROUNDS_MIN ? ROUNDS_MIN : (int32_t)rounds;
    align_boxes(&al, box);
    return 0;
}

int
play_align(const struct play_align *in, struct play_kept_items *ret)
{
    size_t same = 0, to_a = in->na, to_b = in->nb;
    if (in->na > PLAY_ALIGN_MAX || in->nb > PLAY_ALIGN_MAX)
        return ERR_LIMIT;
    uint8_t *a = make_marks(&ret->a, in->na + 1), *b = make_marks(&ret->b, in->nb + 1);
    if (!a || !b)
        return -ENOMEM;
    ret->a.n--, ret->b.n--;
    while (same < to_a && same < to_b && in->a[same] == in->b[same])
        a[same] = b[same] = 1, same++;
    while (to_a > same && to_b > same && in->a[to_a - 1] == in->b[to_b - 1])
        a[--to_a] = b[--to_b] = 1;
    ret->same = same;
    ret->is_bounded = false;
    ret->steps = 0;
    return to_a > same && to_b > same ? align_middle(in, same, to_a, to_b, ret) : 0;
}
