/* SPDX-License-Identifier: MIT */
/* fields.c -- some fields of a JSON object, found in one pass over it. */
#include "turn/fields.h"

#include "base/json_in.h"
#include "base/num.h"

static struct view *
wanted(const struct turn_field *fields, size_t count, const uint8_t *key, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].key[0] == (char)key[0] && strlen(fields[i].key) == n &&
            !memcmp(fields[i].key, key, n))
            return fields[i].value;
    return NULL;
}

/* A value that was not found is no address. */
static struct json_in
over(struct view v)
{
    const uint8_t *p = v.n ? v.p : (const uint8_t *)"";
    return (struct json_in){ .p = p, .end = p + v.n };
}

bool
turn_fields(struct view object, const struct turn_field *fields, size_t count)
{
    struct json_in in = over(object);
    bool is_first = true;
    if (!json_in_take(&in, '{'))
        return false;
    while (json_in_each(&in, '}', &is_first)) {
        (void)json_in_peek(&in);
        const uint8_t *key = in.p + 1;
        if (!json_in_str(&in, NULL))
            return false;
        struct view *into = wanted(fields, count, key, (size_t)(in.p - 1 - key));
        if (!json_in_take(&in, ':'))
            return false;
        (void)json_in_peek(&in);
        const uint8_t *start = in.p;
        if (!json_in_skip(&in))
            return false;
        if (into)
            *into = (struct view){ start, (size_t)(in.p - start) };
    }
    return !in.failed && !json_in_peek(&in) && in.p == in.end;
}

/* The object at the cursor. */
static bool
take_known(struct json_in *in, const struct turn_field *fields, size_t count)
{
    bool is_first = true;
    if (!json_in_take(in, '{'))
        return false;
    while (json_in_each(in, '}', &is_first)) {
        if (json_in_peek(in) != '"')
            return false;
        const uint8_t *key = in->p + 1;
        json_in_pass(in);
        if (in->p <= key) /* it ends with the quote */
            return false;
        struct view *into = wanted(fields, count, key, (size_t)(in->p - 1 - key));
        if (!json_in_take(in, ':'))
            return false;
        (void)json_in_peek(in);
        const uint8_t *start = in->p;
        json_in_pass(in);
        if (into)
            *into = (struct view){ start, (size_t)(in->p - start) };
    }
    return !in->failed;
}

bool
turn_known_fields(struct view object, const struct turn_field *fields, size_t count)
{
    struct json_in in = over(object);
    return take_known(&in, fields, count);
}

bool
turn_known_next(struct view *rest, const struct turn_field *fields, size_t count)
{
    struct json_in in = over(*rest);
    if (!json_in_take(&in, '[') && !json_in_take(&in, ','))
        return false;
    uint8_t first = json_in_peek(&in);
    if (first == ']' || !first)
        return false;
    if (first != '{')
        json_in_pass(&in);
    else if (!take_known(&in, fields, count))
        return false;
    *rest = (struct view){ in.p, (size_t)(in.end - in.p) };
    return true;
}

bool
turn_next(struct view *rest, struct view *ret_element)
{
    struct json_in in = over(*rest);
    if (!json_in_take(&in, '[') && !json_in_take(&in, ','))
        return false;
    if (json_in_peek(&in) == ']')
        return false;
    const uint8_t *start = in.p;
    if (!json_in_skip(&in))
        return false;
    *ret_element = (struct view){ start, (size_t)(in.p - start) };
    *rest = (struct view){ in.p, (size_t)(in.end - in.p) };
    return true;
}

bool
turn_str(struct view value, struct buf *out)
{
    struct json_in in = over(value);
    return json_in_peek(&in) == '"' && json_in_str(&in, out);
}

struct view
turn_text(struct view value, struct buf *out)
{
    if (value.n < 2 || value.p[0] != '"')
        return (struct view){ 0 };
    if (!memchr(value.p, '\\', value.n))
        return (struct view){ value.p + 1, value.n - 2 };
    buf_clear(out);
    if (!turn_str(value, out))
        return (struct view){ 0 };
    return (struct view){ out->p, out->n };
}

bool
turn_is(struct view value, const char *text)
{
    size_t n = strlen(text);
    return value.n == n + 2 && value.p[0] == '"' && !memcmp(value.p + 1, text, n);
}

bool
turn_starts(struct view value, const char *with)
{
    size_t n = strlen(with);
    return value.n > n && value.p[0] == '"' && !memcmp(value.p + 1, with, n);
}

bool
turn_ends_in(struct view value, const char *end)
{
    size_t n = strlen(end);
    return value.n > n + 1 && value.p[0] == '"' &&
           !memcmp(value.p + value.n - 1 - n, end, n);
}

bool
turn_is_true(struct view value)
{
    return value.n == 4 && !memcmp(value.p, "true", 4);
}

bool
turn_is_there(struct view value)
{
    return value.n && (value.n != 4 || memcmp(value.p, "null", 4) != 0);
}

uint64_t
turn_u64(struct view value, uint64_t otherwise)
{
    uint64_t v;
    return num_parse(value, UINT64_MAX, &v) ? otherwise : v;
}

uint64_t
turn_tokens(struct view value, uint64_t otherwise)
{
    uint64_t v;
    return num_parse(value, NUM_EXACT_MAX, &v) ? otherwise : v;
}
