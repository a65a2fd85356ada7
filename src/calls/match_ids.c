/* SPDX-License-Identifier: MIT */
/*
 * match_ids.c -- what looks random, and the numbers that such values get.
 *
 * The table is as large as the request may need and does not grow; a value is looked for
 * in a few slots only, so that values made to collide cost no time, only their numbers.
 */
#include <errno.h>

#include "calls/match_priv.h"

enum { SLOTS_LEAST = 64, BYTES_AN_ID = 6, PROBES = 64, UUID_CHARS = 36 };

struct calls_id {
    uint32_t hash, at, n; /* n 0: free */
    uint32_t number;      /* 0: was not put yet */
};

int
calls_ids_init(struct calls_ids *ids, size_t bytes)
{
    size_t slots = SLOTS_LEAST;
    while (slots < (size_t)2 * CALLS_IDS_MAX && slots < 2 * (bytes / BYTES_AN_ID))
        slots *= 2;
    *ids = (struct calls_ids){ .mask = slots - 1, .texts = { .ceiling = UINT32_MAX } };
    ids->slots = calloc(slots, sizeof(*ids->slots));
    return ids->slots ? 0 : -ENOMEM;
}

void
calls_ids_release(struct calls_ids *ids)
{
    free(ids->slots);
    buf_release(&ids->texts);
    *ids = (struct calls_ids){ 0 };
}

static uint32_t
hash_of(struct view v)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < v.n; i++)
        hash = (hash ^ v.p[i]) * 16777619U;
    return hash;
}

/* Its slot, or the free one where it would be; NULL: neither. */
static struct calls_id *
find(const struct calls_ids *ids, struct view v, uint32_t hash)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct calls_id *id = &ids->slots[(hash + i) & ids->mask];
        if (!id->n || (id->hash == hash && id->n == v.n &&
                       !memcmp(ids->texts.p + id->at, v.p, v.n)))
            return id;
    }
    return NULL;
}

static struct calls_id *
add(struct calls_ids *ids, struct view v)
{
    uint32_t hash = hash_of(v);
    struct calls_id *id = v.n ? find(ids, v, hash) : NULL;
    if (!id || id->n)
        return id;
    size_t at = ids->texts.n;
    if (ids->count > ids->mask / 2 || buf_append(&ids->texts, v.p, v.n) < 0)
        return NULL;
    ids->count++;
    *id = (struct calls_id){ hash, (uint32_t)at, (uint32_t)v.n, 0 };
    return id;
}

void
calls_ids_learn(struct calls_ids *ids, struct view value)
{
    add(ids, value);
}

bool
calls_ids_has(const struct calls_ids *ids, struct view value)
{
    if (!ids->count || !value.n || value.n > CALLS_ID_BYTES_MAX)
        return false;
    const struct calls_id *id = find(ids, value, hash_of(value));
    return id && id->n;
}

void
calls_ids_put(struct calls_ids *ids, struct view value, struct buf *out)
{
    struct calls_id *id = add(ids, value);
    if (id && !id->number)
        id->number = ++ids->named;
    buf_puts(out, "<id");
    if (id)
        buf_put_u64(out, id->number);
    buf_puts(out, ">");
}

int
calls_ids_list(const struct calls_ids *ids, struct buf *out)
{
    uint8_t *p = buf_grow(out, ids->named * sizeof(uint32_t));
    for (size_t i = 0; p && i <= ids->mask; i++)
        if (ids->slots[i].number)
            memcpy(p + (ids->slots[i].number - 1) * sizeof(uint32_t), &ids->slots[i].hash,
                   sizeof(uint32_t));
    return p || !ids->named ? 0 : out->failed;
}

/* -- what looks random -- */

/* How often one kind of character follows upon the other. In words that is rare. */
struct looks {
    size_t digits, lowers;
    size_t turns; /* between letters and digits */
    size_t backs; /* … of these, from a digit to a letter */
    size_t rises; /* from a small letter to a capital one */
    size_t tops;  /* from a capital letter to another */
};

static bool
is_capital(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static struct looks
look_at(struct view run)
{
    struct looks l = { 0 };
    for (size_t i = 0; i < run.n; i++) {
        bool is_digit = calls_is_digit(run.p[i]), is_top = is_capital(run.p[i]);
        l.digits += is_digit;
        l.lowers += !is_digit && !is_top;
        if (!i)
            continue;
        bool was_digit = calls_is_digit(run.p[i - 1]), was_top = is_capital(run.p[i - 1]);
        l.turns += is_digit != was_digit;
        l.backs += was_digit && !is_digit;
        l.rises += is_top && !was_top && !was_digit;
        l.tops += is_top && was_top;
    }
    return l;
}

/* By its letters alone: names as getCurrentWeather and parseHTTPResponse change between
 * small and capital ones too seldom. */
static bool
is_random_case(const struct looks *l, size_t n)
{
    return n >= 16 && l->lowers && l->rises * 8 >= n && l->tops * 6 >= n;
}

/* What comes behind each letter in words as programs and people use them, a to z. */
static const char *const followers[26] = {
    "abcdfghiklmnprstuvwxy",
    "acdeijlmorstuy",
    "acdehiklmoprstuy",
    "abcdefgilmoprstuy",
    "abcdefghiklmnopqrstuvwxy",
    "adefilorstuy",
    "aceghilmnorstu",
    "aeilmorstuy",
    "abcdefgklmnoprstvxz",
    "aeou",
    "aeilnos",
    "abcdefilmnopstuvy",
    "abdeilmnopsuy",
    "abcdefghiklmnoprstuvy",
    "abcdefgiklmnoprstuvwxy",
    "acehilmoprstuy",
    "u",
    "abcdefgiklmnoprstuvy",
    "acdefghiklmnoprstuwy",
    "abcdefhilmnoprstuwy",
    "abcdefgilmnoprst",
    "aeio",
    "aehilnors",
    "aceipstx",
    "aceilmnoprst",
    "aei",
};

/* Could it be said? Where a capital follows upon a small letter, another word begins. */
static bool
is_sayable(struct view letters)
{
    for (size_t i = 1; i < letters.n; i++) {
        uint8_t a = letters.p[i - 1], b = letters.p[i];
        bool is_new = !is_capital(a) && is_capital(b);
        if (!is_new && !strchr(followers[(a | 0x20) - 'a'], b | 0x20))
            return false;
    }
    return true;
}

/* A name that somebody gave, perhaps with a number of a few digits. */
static bool
is_name(struct view run, const struct looks *l)
{
    size_t letters = run.n;
    while (letters && calls_is_digit(run.p[letters - 1]))
        letters--;
    if (l->backs || run.n - letters > 3)
        return false;
    if (l->lowers && (letters < run.n ? l->rises >= 2 : l->tops || l->rises * 4 >= run.n))
        return false;
    return is_sayable(calls_part(run, 0, letters));
}

bool
calls_is_random_run(struct view run, enum calls_run where)
{
    struct looks l = look_at(run);
    size_t n = run.n;
    bool is_mixed = l.digits && l.digits < n;
    switch (where) {
    case CALLS_RUN:
        if (is_mixed && n >= 8 && l.turns >= 2 && (l.turns + l.rises) * 4 >= n)
            return true;
        return l.digits == n ? n >= 12 : is_random_case(&l, n);
    case CALLS_RUN_OF_VENDOR:
        return n >= 12 && ((is_mixed && l.turns >= 2) || is_random_case(&l, n));
    case CALLS_RUN_OF_TMP:
        return l.digits == n ? n >= 8 : n >= (l.backs ? 5 : 6) && !is_name(run, &l);
    case CALLS_RUN_OF_PYTHON:
        return n && !is_name(run, &l);
    }
    return false;
}

size_t
calls_uuid_end(struct view text, size_t start)
{
    if (text.n - start < UUID_CHARS)
        return 0;
    for (size_t i = 0; i < UUID_CHARS; i++) {
        uint8_t c = text.p[start + i];
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? c != '-' : !calls_is_alnum(c) || (c | 0x20) > 'f')
            return 0;
    }
    size_t end = start + UUID_CHARS;
    return end < text.n && calls_is_alnum(text.p[end]) ? 0 : end;
}

/* A value with '<' in it has a placeholder. */
static bool
is_one_word(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] <= ' ' || v.p[i] > '~' || v.p[i] == '<')
            return false;
    return true;
}

bool
calls_is_random_id(struct view value)
{
    if (value.n < 8 || value.n > CALLS_ID_BYTES_MAX || !is_one_word(value))
        return false;
    for (size_t i = 0, end; i < value.n; i = end + 1) {
        for (end = i; end < value.n && calls_is_alnum(value.p[end]);)
            end++;
        if (calls_uuid_end(value, i) ||
            calls_is_random_run(calls_part(value, i, end), CALLS_RUN))
            return true;
    }
    return false;
}
