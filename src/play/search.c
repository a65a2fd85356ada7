/* SPDX-License-Identifier: MIT */
/*
 * search.c -- the moments at which a text is written.
 *
 * The scout goes through the recording and looks, after each piece of it, at the rows
 * that have changed or scrolled off. The text is new where the beginning of its line, up
 * to and with the text, did not stand on the screen before: so a line that is painted
 * again, or goes on, is found once. The moment itself is then found byte by byte.
 *
 * Backwards the stretches between keyframes are looked through, the last one first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"
#include "play/player_priv.h"

enum {
    PIECE_BYTES = 4096,    /* what came and went within one is not seen */
    JOINED_ROWS_MAX = 64,  /* of a wrapped line … */
    JOINED_MAX = 16 << 20, /* … and its bytes */
    PLACES_MAX = 1 << 20,  /* of a text that are told apart at a time */
    REFINE_COST = 64,      /* of a look after a byte, in bytes of data */
    JUMP_COST = 256 << 10, /* of a way back to a keyframe */
    RECORDS_MAX = 4096,    /* without bytes, at a time */
};

void
play_search_release(struct play_search *s)
{
    buf_release(&s->needle);
    buf_release(&s->known);
    buf_release(&s->found);
    buf_release(&s->text);
    term_line_release(&s->line);
    *s = (struct play_search){ 0 };
}

/* -- the text in a line -- */

static int
set_needle(struct play_search *s, struct view text)
{
    buf_clear(&s->needle);
    s->is_folded = true;
    for (size_t i = 0; i < text.n; i++)
        s->is_folded &= ascii_fold(text.p[i]) == text.p[i];
    return buf_append(&s->needle, text.p, text.n);
}

static uint64_t
hash(uint64_t h, struct view bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        h = (h ^ bytes.p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The set is sorted: a screen may be full of the text. */
static bool
has(const struct buf *set, const uint64_t *h)
{
    return set->n && bsearch(h, set->p, set->n / sizeof(*h), sizeof(*h), num_compare_u64);
}

/* Where the text stands in s->text: for each place what comes before it, and itself. On a
 * screen with more places than are kept, the others may be found again. */
static int
note_places(struct play_search *s, struct buf *out)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    size_t at = 0;
    for (size_t i = 0; s->is_folded && i < s->text.n; i++)
        s->text.p[i] = ascii_fold(s->text.p[i]);
    while (s->text.n - at >= s->needle.n && out->n < PLACES_MAX * sizeof(h)) {
        const uint8_t *hit = memmem(s->text.p + at, s->text.n - at, s->needle.p,
                                    s->needle.n);
        if (!hit)
            break;
        size_t end = (size_t)(hit - s->text.p) + s->needle.n;
        h = hash(h, (struct view){ s->text.p + at, end - at });
        int e = buf_append(out, &h, sizeof(h));
        if (e < 0)
            return e;
        at = end;
    }
    return 0;
}

/* -- lines -- */

static size_t
first_index(const struct term *t)
{
    return term_modes(t).is_alternate ? term_scrollback_count(t) : 0;
}

/* The line that the row at this index is part of, its rows joined; returns the index
 * behind it. */
static int
join_line(struct play_search *s, const struct term *t, size_t index, size_t *ret_end)
{
    size_t first = first_index(t), end = term_scrollback_count(t) + term_rows(t);
    size_t start = index, i;
    int e = 0;
    for (; start > first && index - start < JOINED_ROWS_MAX; start--) {
        e = term_line_at(t, start - 1, &s->line);
        if (e < 0)
            return e;
        if (!s->line.is_wrapped)
            break;
    }
    buf_clear(&s->text);
    s->text.ceiling = JOINED_MAX;
    s->line.is_wrapped = true;
    for (i = start;
         i < end && s->line.is_wrapped && i - start < (size_t)2 * JOINED_ROWS_MAX; i++) {
        e = term_line_at(t, i, &s->line);
        if (e >= 0)
            e = buf_append(&s->text, s->line.text.p, s->line.text.n);
        if (e == ERR_LIMIT)
            break;
        if (e < 0)
            return e;
    }
    *ret_end = i > index ? i : index + 1;
    return 0;
}

/* Places in the lines from that index on; is_new: of the screen only in rows that have
 * changed since the last look. */
static int
note_lines(struct play_search *s, const struct term *t, size_t at, bool is_new,
           struct buf *out)
{
    size_t past = term_scrollback_count(t), end = past + term_rows(t);
    buf_clear(out);
    while (at < end) {
        if (is_new && at >= past && !term_is_damaged(t, (unsigned)(at - past))) {
            at++;
            continue;
        }
        int e = join_line(s, t, at, &at);
        if (e >= 0)
            e = note_places(s, out);
        if (e < 0)
            return e;
    }
    return 0;
}

static int
note_screen(struct play_search *s, const struct term *t, struct buf *out)
{
    return note_lines(s, t, term_scrollback_count(t), false, out);
}

static uint64_t
rows_gone(const struct term *t)
{
    return term_scrollback_dropped(t) + term_scrollback_count(t);
}

static int
note_changes(struct play_search *s, const struct term *t, struct buf *out)
{
    size_t past = term_scrollback_count(t);
    uint64_t gone = rows_gone(t), new_rows = gone > s->row ? gone - s->row : 0;
    return note_lines(s, t, new_rows < past ? past - (size_t)new_rows : 0, true, out);
}

/* 1: the text stands somewhere where it did not, 0: no. */
static int
look(struct play_search *s, const struct term *t)
{
    int e = note_changes(s, t, &s->found);
    if (e < 0)
        return e;
    const uint64_t *p = (const uint64_t *)(const void *)s->found.p;
    for (size_t i = 0; i < s->found.n / sizeof(*p); i++)
        if (!has(&s->known, &p[i]))
            return 1;
    return 0;
}

/* From here on only what is new counts. */
static int
forget_changes(struct play_search *s, struct term *t, bool is_first)
{
    s->row = rows_gone(t);
    term_damage_clear(t);
    if (!is_first && !s->known.n && !s->found.n)
        return 0;
    int e = note_screen(s, t, &s->known);
    if (!e && s->known.n)
        qsort(s->known.p, s->known.n / sizeof(uint64_t), sizeof(uint64_t),
              num_compare_u64);
    return e;
}

/* -- through the recording -- */

static void
send_scout(struct play_search *s, struct play_way way, enum play_search_phase then)
{
    s->phase = PLAY_SEARCH_GO;
    s->then = then;
    s->way = way;
    s->is_begun = false;
}

int
play_search_begin(struct play_player *p, struct view text, bool is_backwards)
{
    struct play_search *s = &p->search;
    if (!text.n || text.n > PLAY_NEEDLE_MAX)
        return text.n ? ERR_LIMIT : -EINVAL;
    int e = set_needle(s, text);
    if (e < 0)
        return e;
    s->is_backwards = is_backwards;
    s->has_hit = false;
    s->from = p->now.byte_off;
    s->limit = UINT64_MAX;
    struct play_way way = { .kind = PLAY_TO_BYTE, .byte_off = s->from };
    send_scout(s, way, PLAY_SEARCH_SCAN);
    if (!is_backwards)
        return 0;
    s->phase = PLAY_SEARCH_STRETCH;
    s->limit = s->from ? s->from - 1 : 0;
    return 0;
}

/* To s->way. */
static int
go(struct play_player *p, size_t *budget)
{
    struct play_search *s = &p->search;
    int e = s->is_begun ? 0 : play_way_begin(p, &p->scout, &s->way);
    s->is_begun = true;
    if (e >= 0)
        e = play_way_go(p, &p->scout, &s->way, *budget);
    *budget = 0;
    if (e)
        return e;
    s->phase = s->then;
    /* Whoever had to come from the start looks on where he was. */
    e = s->way.kind == PLAY_TO_SPOT ? 0 : forget_changes(s, p->scout.term, true);
    return e < 0 ? e : 1;
}

/* The last keyframe with bytes between it and the limit; NULL: none. */
static struct play_keyframe *
frame_before(const struct play_keyframes *k, uint64_t limit)
{
    struct play_keyframe *f = play_keyframes_by_byte(k, limit);
    while (f && f->byte_off >= limit)
        f = f->from_byte ? play_keyframes_by_byte(k, f->from_byte - 1) : NULL;
    return f;
}

/* Backwards: to the beginning of the stretch that is to be looked through. */
static int
begin_stretch(struct play_player *p, size_t *budget)
{
    struct play_search *s = &p->search;
    struct play_walk *w = &p->scout;
    struct play_keyframe *f = NULL;
    int e = w->term ? 0 : play_walk_begin(w, NULL), is_there = 0;
    while (e >= 0 && !is_there && (f = frame_before(&p->frames, s->limit)) != NULL)
        e = is_there = play_keyframes_go(&p->frames, f, w);
    if (e >= 0 && !is_there)
        e = play_walk_begin(w, NULL);
    if (e < 0)
        return e;
    *budget -= *budget < JUMP_COST ? *budget : JUMP_COST;
    s->phase = PLAY_SEARCH_SCAN;
    s->is_first = !f;
    s->stretch = w->byte_off;
    e = forget_changes(s, w->term, true);
    return e < 0 ? e : 1;
}

/* Takes records up to some bytes. 1: there may be more, 0: the limit, or the end. */
static int
feed(struct play_walk *w, size_t max, uint64_t limit)
{
    for (int i = 0; i < RECORDS_MAX; i++) {
        int e = play_walk_peek(w);
        if (e <= 0)
            return e;
        uint64_t off = play_walk_next_off(w);
        bool is_data = w->next.tag == TAPE_DATA;
        if (is_data && off >= limit)
            return 0;
        if (is_data && limit - off < max)
            max = (size_t)(limit - off);
        ssize_t n = play_walk_take(w, max);
        if (n)
            return n < 0 ? (int)n : 1;
    }
    return 1;
}

/* The stretch has no more hits. 1: go on with the next one, or to the hit. */
static int
end_stretch(struct play_player *p)
{
    struct play_search *s = &p->search;
    if (s->has_hit) {
        struct play_way way = { .kind = PLAY_TO_BYTE, .byte_off = s->hit_from };
        send_scout(s, way, PLAY_SEARCH_REFINE);
        return 1;
    }
    if (!s->is_backwards || s->is_first)
        return ERR_MISSING;
    s->limit = s->stretch;
    s->phase = PLAY_SEARCH_STRETCH;
    return 1;
}

static int
scan(struct play_player *p, size_t *budget)
{
    struct play_search *s = &p->search;
    struct play_walk *w = &p->scout;
    uint64_t start = w->byte_off, size_cost = w->size_cost;
    int e = feed(w, PIECE_BYTES, s->limit);
    uint64_t cost = PLAY_RECORD_COST + (w->byte_off - start) + (w->size_cost - size_cost);
    *budget -= cost < *budget ? (size_t)cost : *budget;
    if (e <= 0)
        return e < 0 ? e : end_stretch(p);
    e = look(s, w->term);
    if (e > 0) {
        s->has_hit = true;
        s->hit_from = start;
        s->hit_to = w->byte_off;
        if (!s->is_backwards)
            return end_stretch(p);
    }
    if (e >= 0)
        e = forget_changes(s, w->term, false);
    return e < 0 ? e : 1;
}

/* One byte more. 0: this was the one. */
static int
refine(struct play_player *p, size_t *budget)
{
    struct play_search *s = &p->search;
    *budget -= *budget < REFINE_COST ? *budget : REFINE_COST;
    int e = feed(&p->scout, 1, s->hit_to);
    if (e <= 0)
        return e;
    e = look(s, p->scout.term);
    return e < 0 ? e : !e;
}

static int
work(struct play_player *p, size_t *budget)
{
    switch (p->search.phase) {
    case PLAY_SEARCH_GO:
        return go(p, budget);
    case PLAY_SEARCH_STRETCH:
        return begin_stretch(p, budget);
    case PLAY_SEARCH_SCAN:
        return scan(p, budget);
    case PLAY_SEARCH_REFINE:
        return refine(p, budget);
    }
    return 0;
}

int
play_search_work(struct play_player *p, size_t max_bytes, uint64_t *ret_byte)
{
    int e = 1;
    for (size_t budget = max_bytes; e > 0 && budget;) {
        e = work(p, &budget);
        if (e != PLAY_BLIND)
            continue;
        struct play_way way = { .kind = PLAY_TO_SPOT, .spot = p->scout.spot };
        send_scout(&p->search, way, p->search.phase);
        e = play_walk_begin(&p->scout, NULL);
        e = e < 0 ? e : 1;
    }
    *ret_byte = p->scout.byte_off;
    return e;
}

unsigned
play_search_permille(const struct play_player *p)
{
    const struct play_search *s = &p->search;
    uint64_t at = p->scout.byte_off, total = p->extent.total_bytes;
    if (s->phase != PLAY_SEARCH_SCAN)
        return 0;
    uint64_t done = s->is_backwards ? (at < s->from ? s->from - at : 0)
                                    : (at > s->from ? at - s->from : 0);
    uint64_t all = s->is_backwards ? s->from : total - s->from;
    return all ? (unsigned)((double)done / (double)all * 1000) : 0;
}
