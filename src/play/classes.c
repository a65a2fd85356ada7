/* SPDX-License-Identifier: MIT */
/*
 * classes.c -- texts are sorted by their hash, then by their bytes: whatever hashes
 * somebody has made collide, it costs a comparison more.
 */
#include "play/classes.h"

#include <errno.h>
#include <stdlib.h>

struct sorted {
    uint64_t hash;
    struct view key;
    uint32_t index;
};

static uint64_t
hash_of(struct view v)
{
    const uint64_t prime = 0x9e3779b97f4a7c15;
    uint64_t h = v.n * prime;
    while (v.n) {
        uint64_t word = 0;
        size_t n = v.n < sizeof(word) ? v.n : sizeof(word);
        memcpy(&word, v.p, n);
        h = (h ^ word) * prime;
        h ^= h >> 29;
        v = (struct view){ v.p + n, v.n - n };
    }
    return h;
}

static int
compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->key.n != y->key.n)
        return x->key.n < y->key.n ? -1 : 1;
    return x->key.n ? memcmp(x->key.p, y->key.p, x->key.n) : 0;
}

int64_t
play_classes(const struct view *keys, size_t count, uint32_t *ret)
{
    uint32_t number = 0;
    if (!count)
        return 0;
    struct sorted *all = calloc(count, sizeof(*all));
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct sorted){ hash_of(keys[i]), keys[i], (uint32_t)i };
    qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++) {
        number += i && compare(&all[i - 1], &all[i]);
        ret[all[i].index] = number;
    }
    free(all);
    return (int64_t)number + 1;
}
