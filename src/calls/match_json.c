/* SPDX-License-Identifier: MIT */
/*
 * match_json.c -- the normal form of a JSON body.
 *
 * The body is read once, and of each object is remembered where its members are; then it
 * is gone through twice in the order of the normal form: to learn what is random in it,
 * and to put it. Nothing is copied to be sorted, so that no depth costs more than
 * another.
 */
#include <errno.h>

#include "base/json.h"
#include "base/json_in.h"
#include "calls/match_priv.h"
#include "turn/fields.h"

struct member {
    const uint8_t *key; /* with its quotes, as it is put; set when all keys are there */
    uint32_t key_at, key_n;
    uint32_t value;  /* where it begins in the body */
    uint32_t object; /* the next object there or behind it */
};

/* In the order in which they begin in the body. */
struct object {
    uint32_t first, count; /* its members */
    uint32_t end;          /* behind it in the body */
    uint32_t next;         /* the object there or behind it */
};

/* -- reading -- */

struct reader {
    struct calls_json *x;
    struct json_in in;
    struct buf key;
    struct buf open; /* members of objects whose end has not come yet */
};

static bool read_value(struct reader *r, unsigned depth);

static uint32_t
count_of(const struct buf *b, size_t size)
{
    return (uint32_t)(b->n / size);
}

static uint32_t
here(const struct reader *r)
{
    return (uint32_t)(r->in.p - r->x->body.p);
}

static bool
read_member(struct reader *r, unsigned depth)
{
    struct calls_json *x = r->x;
    struct json key = { .out = &x->keys };
    struct member m = { .key_at = (uint32_t)x->keys.n };
    if (!json_in_key(&r->in, &r->key))
        return false;
    json_bytes(&key, (struct view){ r->key.p, r->key.n });
    m.key_n = (uint32_t)(x->keys.n - m.key_at);
    (void)json_in_peek(&r->in);
    m.value = here(r);
    m.object = count_of(&x->objects, sizeof(struct object));
    return read_value(r, depth) && buf_append(&r->open, &m, sizeof(m)) >= 0;
}

/* The objects in it have come and gone: its members lie behind theirs. */
static bool
read_object(struct reader *r, unsigned depth)
{
    struct calls_json *x = r->x;
    struct object o = { 0 };
    size_t at = x->objects.n, bottom = r->open.n;
    bool is_first = true;
    if (buf_append(&x->objects, &o, sizeof(o)) < 0)
        return false;
    while (json_in_each(&r->in, '}', &is_first))
        if (!read_member(r, depth))
            return false;
    o.first = count_of(&x->members, sizeof(struct member));
    o.count = (uint32_t)((r->open.n - bottom) / sizeof(struct member));
    o.end = here(r);
    o.next = count_of(&x->objects, sizeof(struct object));
    memcpy(x->objects.p + at, &o, sizeof(o));
    if (r->open.n > bottom)
        buf_append(&x->members, r->open.p + bottom, r->open.n - bottom);
    r->open.n = bottom;
    return !r->in.failed && !x->members.failed;
}

static bool
read_value(struct reader *r, unsigned depth)
{
    uint8_t first = json_in_peek(&r->in);
    bool is_first = true;
    if (first != '{' && first != '[')
        return json_in_skip(&r->in);
    if (!depth)
        return false;
    r->in.p++;
    if (first == '{')
        return read_object(r, depth - 1);
    while (json_in_each(&r->in, ']', &is_first))
        if (!read_value(r, depth - 1))
            return false;
    return !r->in.failed;
}

int
calls_json_compare_keys(struct view a, struct view b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : a.n < b.n ? -1 : a.n > b.n;
}

/* Those of one key as they come. */
static int
compare(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = calls_json_compare_keys((struct view){ x->key, x->key_n },
                                        (struct view){ y->key, y->key_n });
    return order ? order : x->value < y->value ? -1 : x->value > y->value;
}

static const struct object *
objects_of(const struct calls_json *x)
{
    return (const struct object *)(const void *)x->objects.p;
}

static struct member *
members_of(const struct calls_json *x)
{
    return (struct member *)(void *)x->members.p;
}

static void
sort(struct calls_json *x)
{
    struct member *all = members_of(x);
    const struct object *o = objects_of(x);
    uint32_t members = count_of(&x->members, sizeof(*all));
    uint32_t objects = count_of(&x->objects, sizeof(*o));
    for (uint32_t i = 0; i < members; i++)
        all[i].key = x->keys.p + all[i].key_at;
    for (uint32_t i = 0; i < objects; i++)
        if (o[i].count > 1)
            qsort(all + o[i].first, o[i].count, sizeof(*all), compare);
}

int
calls_json_read(struct calls_json *x, struct view body)
{
    *x = (struct calls_json){ .body = body };
    x->keys.ceiling = x->members.ceiling = x->objects.ceiling = SIZE_MAX;
    struct reader r = {
        .x = x,
        .in = { .p = body.p, .end = body.p + body.n },
        .key = { .ceiling = SIZE_MAX },
        .open = { .ceiling = SIZE_MAX },
    };
    /* What is written of keys may be six times as long. */
    bool is_json = body.n && body.n < UINT32_MAX / 8 && read_value(&r, JSON_IN_DEPTH) &&
                   !json_in_peek(&r.in) && r.in.p == r.in.end;
    bool has_failed = r.key.failed || r.open.failed || x->keys.failed ||
                      x->members.failed || x->objects.failed;
    buf_release(&r.key);
    buf_release(&r.open);
    if (is_json && !has_failed) {
        sort(x);
        return 1;
    }
    calls_json_release(x);
    return has_failed ? -ENOMEM : 0;
}

void
calls_json_release(struct calls_json *x)
{
    buf_release(&x->keys);
    buf_release(&x->members);
    buf_release(&x->objects);
}

/* -- what keys mean: they come with their quotes -- */

static bool
is_one_of(struct view key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (turn_is(key, names[i]))
            return true;
    return false;
}

/* Where it stands does not matter: what may be kept for the next request. At the top: who
 * asks, how it is kept, and what is paid for being served sooner. */
static bool
is_noise(struct view key, bool is_top)
{
    static const char *const names[] = {
        "client_metadata",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    };
    return turn_is(key, "cache_control") ||
           (is_top && is_one_of(key, names, sizeof(names) / sizeof(names[0])));
}

static bool
ends_in(struct view key, const char *end)
{
    size_t n = strlen(end);
    return key.n > n + 2 && !memcmp(key.p + key.n - 1 - n, end, n);
}

static bool
is_id(struct view key)
{
    static const char *const names[] = { "cachedContent", "container",
                                         "conversation",  "id",
                                         "session",       "thread" };
    return ends_in(key, "_id") || ends_in(key, "-id") || ends_in(key, "Id") ||
           ends_in(key, "ID") || is_one_of(key, names, sizeof(names) / sizeof(names[0]));
}

/* A model's name may end in a date, which says which one it is. */
static bool
is_verbatim(struct view key)
{
    return turn_is(key, "model") || ends_in(key, "_model") || turn_is(key, "version") ||
           ends_in(key, "_version");
}

/* -- going through it -- */

struct walk {
    const struct calls_json *x;
    struct calls_ids *ids;
    struct buf *out; /* NULL: learns */
    struct json_in in;
    uint32_t object; /* the next one from here */
    struct buf text, put;
};

static void walk_value(struct walk *w, struct view key, bool is_top);

static void
put(struct walk *w, const char *what)
{
    if (w->out)
        buf_puts(w->out, what);
}

static void
walk_object(struct walk *w, bool is_top)
{
    const struct object *o = objects_of(w->x) + w->object;
    const struct member *m = members_of(w->x) + (o->count ? o->first : 0);
    bool has_some = false;
    put(w, "{");
    for (uint32_t i = 0; i < o->count; i++) {
        struct view key = { m[i].key, m[i].key_n };
        bool is_last = i + 1 == o->count || m[i + 1].key_n != key.n ||
                       memcmp(m[i + 1].key, key.p, key.n) != 0;
        if (!is_last || is_noise(key, is_top))
            continue;
        put(w, has_some ? "," : "");
        has_some = true;
        if (w->out)
            buf_append(w->out, key.p, key.n);
        put(w, ":");
        w->in.p = w->x->body.p + m[i].value;
        w->object = m[i].object;
        walk_value(w, key, false);
    }
    put(w, "}");
    w->in.p = w->x->body.p + o->end;
    w->object = o->next;
}

/* Its elements are what its key says. */
static void
walk_array(struct walk *w, struct view key)
{
    bool is_first = true, has_some = false;
    (void)json_in_take(&w->in, '[');
    put(w, "[");
    while (json_in_each(&w->in, ']', &is_first)) {
        put(w, has_some ? "," : "");
        has_some = true;
        walk_value(w, key, false);
    }
    put(w, "]");
}

static void
learn_string(struct walk *w, struct view key, struct view text)
{
    if (is_verbatim(key))
        return;
    if (is_id(key) && calls_is_random_id(text))
        calls_ids_learn(w->ids, text);
    else
        calls_text_learn(w->ids, text);
}

static void
put_string(struct walk *w, struct view key, struct view text)
{
    struct json j = { .out = w->out };
    if (is_verbatim(key)) {
        json_bytes(&j, text);
        return;
    }
    buf_clear(&w->put);
    if (calls_ids_has(w->ids, text))
        calls_ids_put(w->ids, text, &w->put);
    else
        calls_text_put(w->ids, text, false, &w->put);
    if (w->put.failed && !w->out->failed)
        w->out->failed = w->put.failed;
    json_bytes(&j, (struct view){ w->put.p, w->put.n });
}

static void
walk_string(struct walk *w, struct view key)
{
    const uint8_t *start = w->in.p;
    json_in_pass(&w->in);
    struct view text = turn_text((struct view){ start, (size_t)(w->in.p - start) },
                                 &w->text);
    if (w->out)
        put_string(w, key, text);
    else
        learn_string(w, key, text);
}

static void
walk_leaf(struct walk *w)
{
    const uint8_t *start = w->in.p;
    json_in_pass(&w->in);
    struct view v = { start, (size_t)(w->in.p - start) };
    if (!w->out)
        return;
    if (calls_unix_time_end(v, 0) == v.n)
        buf_puts(w->out, "\"" CALLS_TIME "\"");
    else
        buf_append(w->out, v.p, v.n);
}

static void
walk_value(struct walk *w, struct view key, bool is_top)
{
    uint8_t first = json_in_peek(&w->in);
    if (first == '{')
        walk_object(w, is_top);
    else if (first == '[')
        walk_array(w, key);
    else if (first == '"')
        walk_string(w, key);
    else
        walk_leaf(w);
}

static void
walk(const struct calls_json *x, struct calls_ids *ids, struct buf *out)
{
    struct walk w = {
        .x = x,
        .ids = ids,
        .out = out,
        .in = { .p = x->body.p, .end = x->body.p + x->body.n },
        .text = { .ceiling = SIZE_MAX },
        .put = { .ceiling = SIZE_MAX },
    };
    walk_value(&w, (struct view){ 0 }, true);
    if (out && w.text.failed && !out->failed)
        out->failed = w.text.failed;
    buf_release(&w.text);
    buf_release(&w.put);
}

void
calls_json_learn(const struct calls_json *x, struct calls_ids *ids)
{
    walk(x, ids, NULL);
}

void
calls_json_put(const struct calls_json *x, struct calls_ids *ids, struct buf *out)
{
    walk(x, ids, out);
}
