/* SPDX-License-Identifier: MIT */
/* said.c -- a set of lines, of which only hashes of 64 bits are kept. */
#include "library/said_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOTS_MIN = 1 << 10 };

/* Open addressing; 0: a free slot. */
struct said {
    uint64_t *slots;
    size_t count, slot_count; /* a power of two, at least twice the count */
};

int
said_new(struct said **ret)
{
    struct said *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    *ret = s;
    return 0;
}

void
said_free(struct said *s)
{
    if (!s)
        return;
    free(s->slots);
    free(s);
}

/* -- lines -- */

struct said_line
said_begin(void)
{
    return (struct said_line){ .hash = UINT64_C(14695981039346656037) };
}

static void
add_byte(struct said_line *line, uint8_t byte)
{
    line->hash = (line->hash ^ byte) * UINT64_C(1099511628211); /* FNV-1a */
}

void
said_more(struct said_line *line, struct view text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == ' ' || text.p[i] == '\t') {
            line->is_blank = true;
            continue;
        }
        if (line->is_blank && line->has_text)
            add_byte(line, ' ');
        line->is_blank = false;
        line->has_text = true;
        add_byte(line, text.p[i]);
    }
}

/* -- the set -- */

/* Where it stands, or would. */
static size_t
slot_of(const struct said *s, uint64_t hash)
{
    size_t mask = s->slot_count - 1, at = (size_t)(hash >> 32 ^ hash) & mask;
    while (s->slots[at] && s->slots[at] != hash)
        at = (at + 1) & mask;
    return at;
}

static int
grow(struct said *s)
{
    struct said more = { .slot_count = s->slot_count ? 2 * s->slot_count : SLOTS_MIN };
    more.slots = calloc(more.slot_count, sizeof(*more.slots));
    if (!more.slots)
        return -ENOMEM;
    for (size_t i = 0; i < s->slot_count; i++)
        if (s->slots[i])
            more.slots[slot_of(&more, s->slots[i])] = s->slots[i];
    free(s->slots);
    s->slots = more.slots;
    s->slot_count = more.slot_count;
    return 0;
}

static int
add_line(struct said *s, struct view text)
{
    struct said_line line = said_begin();
    said_more(&line, text);
    if (!line.has_text || s->count == SAID_MAX)
        return 0;
    int r = 2 * (s->count + 1) > s->slot_count ? grow(s) : 0;
    if (r < 0)
        return r;
    uint64_t hash = line.hash ? line.hash : 1;
    size_t at = slot_of(s, hash);
    s->count += !s->slots[at];
    s->slots[at] = hash;
    return 0;
}

int
said_add(struct said *s, struct view text)
{
    int r = 0;
    while (!r && text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        r = add_line(s, (struct view){ text.p, n });
        text = (struct view){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
    }
    return r;
}

bool
said_has(const struct said *s, const struct said_line *line)
{
    uint64_t hash = line->hash ? line->hash : 1;
    return s->count && line->has_text && s->slots[slot_of(s, hash)] == hash;
}
