/* SPDX-License-Identifier: MIT */
#include "play/sorted_json_priv.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/json_in.h"
#include "turn/clean.h"

enum { DEPTH_MAX = 32 };

struct member {
    struct view key, value;
    size_t key_at, value_at, end; /* in the texts of the object */
};

static bool put_value(struct json_in *in, unsigned depth, struct buf *out);

static void
put_string(struct view text, struct buf *out)
{
    struct json j = { .out = out };
    json_bytes(&j, text);
}

static int
compare(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    size_t n = x->key.n < y->key.n ? x->key.n : y->key.n;
    int order = n ? memcmp(x->key.p, y->key.p, n) : 0;
    if (!order && x->key.n != y->key.n)
        order = x->key.n < y->key.n ? -1 : 1;
    return order ? order : x->key_at < y->key_at ? -1 : 1;
}

static void
put_members(struct member *all, size_t count, const uint8_t *texts, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        struct member *m = &all[i];
        m->key = (struct view){ texts + m->key_at, m->value_at - m->key_at };
        m->value = (struct view){ texts + m->value_at, m->end - m->value_at };
    }
    if (count)
        qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i ? "," : "");
        put_string(all[i].key, out);
        buf_puts(out, ":");
        buf_append(out, all[i].value.p, all[i].value.n);
    }
}

static bool
put_object(struct json_in *in, unsigned depth, struct buf *out)
{
    AUTO(buf) texts = { .ceiling = SIZE_MAX };
    AUTO(buf) members = { .ceiling = SIZE_MAX };
    AUTO(buf) key = { .ceiling = SIZE_MAX };
    bool is_first = true;
    while (json_in_each(in, '}', &is_first)) {
        struct member m = { .key_at = texts.n };
        if (!json_in_key(in, &key))
            return false;
        turn_clean((struct view){ key.p, key.n }, &texts); /* by which it is sorted */
        m.value_at = texts.n;
        if (!put_value(in, depth, &texts))
            return false;
        m.end = texts.n;
        buf_append(&members, &m, sizeof(m));
    }
    if (in->failed || texts.failed || members.failed)
        return false;
    buf_puts(out, "{");
    put_members((struct member *)(void *)members.p, members.n / sizeof(struct member),
                texts.p, out);
    buf_puts(out, "}");
    return true;
}

static bool
put_array(struct json_in *in, unsigned depth, struct buf *out)
{
    bool is_first = true, has_some = false;
    buf_puts(out, "[");
    while (json_in_each(in, ']', &is_first)) {
        buf_puts(out, has_some ? "," : "");
        has_some = true;
        if (!put_value(in, depth, out))
            return false;
    }
    buf_puts(out, "]");
    return !in->failed;
}

/* Not as 007, which others would not take. */
static bool
is_strict_number(struct view v)
{
    size_t i = v.p[0] == '-';
    return i + 1 >= v.n || v.p[i] != '0' || v.p[i + 1] < '0' || v.p[i + 1] > '9';
}

static bool
put_value(struct json_in *in, unsigned depth, struct buf *out)
{
    uint8_t first = json_in_peek(in);
    const uint8_t *start = in->p;
    if (!depth--)
        return false;
    if (json_in_take(in, '{'))
        return put_object(in, depth, out);
    if (json_in_take(in, '['))
        return put_array(in, depth, out);
    if (first == '"') {
        AUTO(buf) text = { .ceiling = SIZE_MAX };
        AUTO(buf) clean = { .ceiling = SIZE_MAX };
        bool is_good = json_in_str(in, &text) && !text.failed;
        turn_clean((struct view){ text.p, text.n }, &clean);
        put_string((struct view){ clean.p, clean.n }, out);
        return is_good && !clean.failed;
    }
    if (!json_in_skip(in))
        return false;
    struct view word = { start, (size_t)(in->p - start) };
    buf_append(out, word.p, word.n);
    return is_strict_number(word);
}

bool
play_sorted_json(struct view json, struct buf *out)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    size_t before = out->n;
    if (json.n && put_value(&in, DEPTH_MAX, out) && !json_in_peek(&in) &&
        in.p == in.end && !out->failed)
        return true;
    out->n = before;
    return false;
}
