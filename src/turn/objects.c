/* SPDX-License-Identifier: MIT */
/* objects.c -- the JSON objects of a line, and what stands between them. */
#include "turn/objects_priv.h"

#include "base/json_in.h"

enum { LOOKS = 16, LOOKS_LEAST = 64 << 10 };

static bool
is_all_of(struct view text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.n - i >= 3 && !memcmp(text.p + i, "\xef\xbb\xbf", 3))
            i += 2;
        else if (!memchr(bytes, text.p[i], count))
            return false;
    }
    return true;
}

bool
turn_objects_is_blank(struct view text)
{
    return is_all_of(text, " \t\r\n", 5); /* with the NUL */
}

bool
turn_objects_is_between(struct view text)
{
    return is_all_of(text, " \t\r\n[],", 8);
}

/* Lines that are made for it would have each byte looked at once for each brace before
 * it. */
static bool
may_look(const struct turn_objects *o)
{
    return o->spent < LOOKS * o->size + LOOKS_LEAST;
}

/* Is there an object at p? *ret_end is behind it, or where it fails. */
static bool
look(struct turn_objects *o, const uint8_t *p, const uint8_t **ret_end)
{
    struct json_in in = { .p = p, .end = o->rest.p + o->rest.n };
    bool is_one = json_in_skip(&in);
    *ret_end = in.p;
    o->spent += (size_t)(in.p - p) + 1;
    return is_one;
}

/* A brace in a text is seldom more than that. */
static bool
has_key(const struct turn_objects *o, const uint8_t *p)
{
    struct json_in in = { .p = p + 1, .end = o->rest.p + o->rest.n };
    return json_in_peek(&in) == '"';
}

/*
 * The object at `from` fails at *end. Does another begin in it? One that begins in a text
 * of it does (the text was torn, and goes on in the other's beginning); if that fails
 * too, it is the one to look into. One that stands where a value may stand is a part of
 * it, unless it is known. *ret_at, *end: where; or *end: where to look on.
 */
static bool
look_inside(struct turn_objects *o, const uint8_t *from, const uint8_t **end,
            const uint8_t **ret_at)
{
    bool in_text = false;
    const uint8_t *behind;
    for (const uint8_t *p = from + 1; p < *end; p++) {
        if (in_text && *p == '\\') {
            p++;
        } else if (*p == '"') {
            in_text = !in_text;
        } else if (*p == '{' && may_look(o) && has_key(o, p)) {
            bool is_one = look(o, p, &behind);
            if (is_one &&
                (in_text ||
                 o->is_known(o->ctx, (struct view){ p, (size_t)(behind - p) }))) {
                *ret_at = p;
                *end = behind;
                return true;
            }
            if (is_one) {
                p = behind - 1;
            } else if (in_text && behind > *end) {
                *end = behind;
                in_text = false;
            }
        }
    }
    return false;
}

/* From `p` on: the first good one. */
static bool
find(struct turn_objects *o, const uint8_t *p, struct view *ret)
{
    const uint8_t *line_end = o->rest.p + o->rest.n;
    while (p < line_end && may_look(o)) {
        const uint8_t *at = memchr(p, '{', (size_t)(line_end - p)), *end;
        if (!at)
            return false;
        if (look(o, at, &end) || look_inside(o, at, &end, &at)) {
            *ret = (struct view){ at, (size_t)(end - at) };
            return true;
        }
        p = end > at ? end : at + 1;
    }
    return false;
}

bool
turn_objects_next(struct turn_objects *o, struct view *ret_before,
                  struct view *ret_object)
{
    struct view all = o->rest;
    if (!o->size)
        o->size = all.n;
    if (!find(o, all.p, ret_object)) {
        *ret_before = all;
        o->rest = (struct view){ all.p + all.n, 0 };
        return false;
    }
    *ret_before = (struct view){ all.p, (size_t)(ret_object->p - all.p) };
    const uint8_t *end = ret_object->p + ret_object->n;
    o->rest = (struct view){ end, all.n - (size_t)(end - all.p) };
    return true;
}
