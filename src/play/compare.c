/* SPDX-License-Identifier: MIT */
#include "play/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "play/classes.h"

/* Texts of both, and a number for each. */
struct keyed {
    struct buf keys, numbers;
    size_t na, nb;
    size_t count; /* of numbers that are different */
};

static void
keyed_release(struct keyed *k)
{
    buf_release(&k->keys);
    buf_release(&k->numbers);
}

static void
add_key(struct keyed *k, struct view key)
{
    k->keys.ceiling = SIZE_MAX;
    buf_append(&k->keys, &key, sizeof(key));
}

/* When all keys are there: those of a, then those of b. */
static int
number_keys(struct keyed *k)
{
    size_t n = k->keys.n / sizeof(struct view);
    k->numbers.ceiling = SIZE_MAX;
    uint32_t *numbers = (uint32_t *)(void *)buf_grow(&k->numbers, n * sizeof(*numbers));
    if (k->keys.failed || !numbers)
        return -ENOMEM;
    int64_t count = play_classes((const struct view *)(const void *)k->keys.p, n,
                                 numbers);
    k->count = count < 0 ? 0 : (size_t)count;
    k->nb = n - k->na;
    return count < 0 ? (int)count : 0;
}

static const uint32_t *
numbers_of(const struct keyed *k)
{
    return (const uint32_t *)(const void *)k->numbers.p;
}

static int
make_edits(const struct keyed *items, const struct keyed *kinds, struct play_edits *ret)
{
    const struct play_align in = { numbers_of(items), numbers_of(items) + items->na,
                                   items->na, items->nb, items->count };
    const struct play_kinds of = { numbers_of(kinds), numbers_of(kinds) + kinds->na,
                                   kinds->count };
    return play_edits_make(&in, &of, ret);
}

/* -- turns -- */

typedef struct view (*key_fn)(const struct play_side *s, const struct play_side_turn *t);

static int
key_turns(const struct play_side *a, const struct play_side *b, key_fn key,
          struct keyed *ret)
{
    ret->na = play_side_count(a);
    for (size_t i = 0; i < play_side_count(a); i++)
        add_key(ret, key(a, play_side_at(a, i)));
    for (size_t i = 0; i < play_side_count(b); i++)
        add_key(ret, key(b, play_side_at(b, i)));
    return number_keys(ret);
}

int
play_compare(const struct play_side *a, const struct play_side *b, struct play_edits *ret)
{
    AUTO(keyed) items = { 0 };
    AUTO(keyed) kinds = { 0 };
    int r = key_turns(a, b, play_side_key, &items);
    if (!r)
        r = key_turns(a, b, play_side_kind, &kinds);
    return r < 0 ? r : make_edits(&items, &kinds, ret);
}

/* -- lines of a text -- */

void
play_line_edits_release(struct play_line_edits *l)
{
    buf_release(&l->a);
    buf_release(&l->b);
    play_edits_release(&l->edits);
}

static void
cut_lines(struct view text, struct buf *ret)
{
    buf_clear(ret);
    ret->ceiling = SIZE_MAX;
    while (text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        struct view line = { text.p, end ? (size_t)(end - text.p) : text.n };
        buf_append(ret, &line, sizeof(line));
        size_t took = line.n + (end != NULL);
        text = (struct view){ text.p + took, text.n - took };
    }
}

int
play_compare_lines(struct view a, struct view b, struct play_line_edits *ret)
{
    AUTO(keyed) items = { 0 };
    AUTO(keyed) kinds = { 0 };
    cut_lines(a, &ret->a);
    cut_lines(b, &ret->b);
    items.na = ret->a.n / sizeof(struct view);
    items.keys.ceiling = kinds.numbers.ceiling = SIZE_MAX;
    buf_append(&items.keys, ret->a.p, ret->a.n);
    buf_append(&items.keys, ret->b.p, ret->b.n);
    if (ret->a.failed || ret->b.failed || number_keys(&items) < 0)
        return -ENOMEM;
    uint8_t *kind = buf_grow(&kinds.numbers, items.numbers.n); /* all lines are of one */
    if (!kind)
        return -ENOMEM;
    memset(kind, 0, kinds.numbers.n);
    kinds.na = items.na;
    kinds.count = 1;
    return make_edits(&items, &kinds, &ret->edits);
}

/* -- calls -- */

static void
tally_calls(const struct play_side *s, int which, const uint32_t *numbers,
            uint32_t *places, struct buf *ret)
{
    for (size_t i = 0; i < play_side_count(s); i++) {
        const struct play_side_turn *t = play_side_at(s, i);
        if (t->type != TURN_TOOL_CALL)
            continue;
        struct play_call_tally *all = (struct play_call_tally *)(void *)ret->p;
        if (places[numbers[i]] == PLAY_NO_ITEM) {
            const struct play_call_tally fresh = { .first = { PLAY_NO_ITEM,
                                                              PLAY_NO_ITEM } };
            places[numbers[i]] = (uint32_t)(ret->n / sizeof(fresh));
            if (buf_append(ret, &fresh, sizeof(fresh)) < 0)
                return;
            all = (struct play_call_tally *)(void *)ret->p;
        }
        struct play_call_tally *c = &all[places[numbers[i]]];
        if (!c->count[which]++)
            c->first[which] = (uint32_t)i;
        c->failed[which] += t->has_failed;
    }
}

int
play_compare_calls(const struct play_side *a, const struct play_side *b, struct buf *ret)
{
    AUTO(keyed) items = { 0 };
    int r = key_turns(a, b, play_side_key, &items);
    uint32_t *places = r < 0 ? NULL : malloc((items.count + 1) * sizeof(*places));
    if (!places)
        return -ENOMEM;
    memset(places, 0xff, (items.count + 1) * sizeof(*places));
    ret->ceiling = SIZE_MAX;
    tally_calls(a, 0, numbers_of(&items), places, ret);
    tally_calls(b, 1, numbers_of(&items) + items.na, places, ret);
    free(places);
    return ret->failed;
}

/* -- files -- */

static struct view
path_of(const struct play_side *s, const struct play_file *f)
{
    return (struct view){ s->texts.p + f->at, f->size };
}

/* One that was made and changed was made; one that was removed and made again has
 * changed. */
static enum play_file_change
in_all(enum play_file_change before, enum play_file_change now)
{
    if (before == PLAY_FILE_CREATED && now == PLAY_FILE_MODIFIED)
        return before;
    if (before == PLAY_FILE_DELETED && now == PLAY_FILE_CREATED)
        return PLAY_FILE_MODIFIED;
    return before == PLAY_FILE_MODIFIED && now == PLAY_FILE_CREATED ? before : now;
}

static void
tally_files(const struct play_side *s, int which, const uint32_t *numbers,
            struct play_file_tally *ret)
{
    const struct play_file *files = (const struct play_file *)(const void *)s->files.p;
    for (size_t i = 0; i < s->files.n / sizeof(*files); i++) {
        struct play_file_tally *t = &ret[numbers[i]];
        t->path = path_of(s, &files[i]);
        t->change[which] = in_all(t->change[which], files[i].change);
    }
}

static int
compare_paths(const void *a, const void *b)
{
    const struct view x = ((const struct play_file_tally *)a)->path;
    const struct view y = ((const struct play_file_tally *)b)->path;
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : x.n < y.n ? -1 : x.n > y.n;
}

int
play_compare_files(const struct play_side *a, const struct play_side *b, struct buf *ret)
{
    AUTO(keyed) items = { .na = a->files.n / sizeof(struct play_file) };
    const struct play_side *const sides[] = { a, b };
    for (size_t i = 0; i < 2; i++) {
        const struct play_file *f = (const struct play_file *)(void *)sides[i]->files.p;
        for (size_t k = 0; k < sides[i]->files.n / sizeof(*f); k++)
            add_key(&items, path_of(sides[i], &f[k]));
    }
    int r = number_keys(&items);
    ret->ceiling = SIZE_MAX;
    size_t size = items.count * sizeof(struct play_file_tally);
    struct play_file_tally *all = r < 0 ? NULL
                                        : (struct play_file_tally *)(void *)buf_grow(
                                              ret, size);
    if (!all)
        return -ENOMEM;
    memset(all, 0, size);
    tally_files(a, 0, numbers_of(&items), all);
    tally_files(b, 1, numbers_of(&items) + items.na, all);
    qsort(all, items.count, sizeof(*all), compare_paths);
    return 0;
}
