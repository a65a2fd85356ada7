/* SPDX-License-Identifier: MIT */
/*
 * veil_text.c -- the piece of text in an event, whichever API it is of.
 *
 *     {"type":"content_block_delta","index":1,"delta":{"text":"…"}}
 *     {"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"…"}}]}}]}
 *     {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"…"}
 *     {"candidates":[{"content":{"parts":[{"text":"…"}]}}]}
 *
 * Pieces are of the same text if all numbers called "…index", and the name of the string,
 * are the same.
 */
#include "base/json_in.h"
#include "calls/veil_priv.h"
#include "turn/totals.h"

enum { DEPTH = 16 };

static const char *const leaves[] = {
    "text",      "thinking",  "partial_json", "content", "reasoning_content",
    "reasoning", "arguments", "delta",        "refusal", NULL
};

static const char *const marks[] = { "delta", "choices", "candidates", NULL };

struct search {
    struct json_in in;
    uint64_t indices;
    struct view string, name;
    size_t strings;    /* that are not empty */
    bool is_of_pieces; /* one of the marks is there */
};

static bool
is_one_of(struct view key, const char *const *words)
{
    for (; *words; words++)
        if (key.n == strlen(*words) && !memcmp(key.p, *words, key.n))
            return true;
    return false;
}

static bool
ends_in_index(struct view key)
{
    return key.n >= 5 && !memcmp(key.p + key.n - 5, "index", 5);
}

static bool take(struct search *s, struct view key, unsigned depth);

static bool
take_object(struct search *s, unsigned depth)
{
    bool is_first = true;
    while (json_in_each(&s->in, '}', &is_first)) {
        (void)json_in_peek(&s->in);
        const uint8_t *start = s->in.p + 1;
        if (!json_in_str(&s->in, NULL))
            return false;
        struct view key = { start, (size_t)(s->in.p - 1 - start) };
        if (!json_in_take(&s->in, ':') || !take(s, key, depth + 1))
            return false;
        s->is_of_pieces |= is_one_of(key, marks);
    }
    return !s->in.failed;
}

static bool
take_array(struct search *s, unsigned depth)
{
    bool is_first = true;
    while (json_in_each(&s->in, ']', &is_first))
        if (!take(s, (struct view){ 0 }, depth + 1))
            return false;
    return !s->in.failed;
}

static void
note_string(struct search *s, struct view key, struct view string)
{
    if (string.n <= 2 || !key.n || !is_one_of(key, leaves))
        return;
    if (!s->strings++) {
        s->string = string;
        s->name = key;
    }
}

static bool
take(struct search *s, struct view key, unsigned depth)
{
    uint8_t first = json_in_peek(&s->in);
    const uint8_t *start = s->in.p;
    if (depth < DEPTH && json_in_take(&s->in, '{'))
        return take_object(s, depth);
    if (depth < DEPTH && json_in_take(&s->in, '['))
        return take_array(s, depth);
    if (!json_in_skip(&s->in))
        return false;
    struct view value = { start, (size_t)(s->in.p - start) };
    if (first == '"')
        note_string(s, key, value);
    else if (ends_in_index(key))
        s->indices = (s->indices ^ turn_hash(value)) * UINT64_C(0x9e3779b97f4a7c15);
    return true;
}

/* What stands behind "data:", if the event has one such line. */
static struct view
find_data(struct view event)
{
    struct view data = { 0 };
    for (size_t at = 0, count = 0; at < event.n;) {
        size_t end = at;
        while (end < event.n && event.p[end] != '\n' && event.p[end] != '\r')
            end++;
        if (end - at > 5 && !memcmp(event.p + at, "data:", 5)) {
            data = (struct view){ event.p + at + 5, end - at - 5 };
            if (count++)
                return (struct view){ 0 };
        }
        at = end + 1;
    }
    return data;
}

struct veil_text
veil_text_find(struct view event)
{
    struct veil_text found = { 0 };
    struct view data = find_data(event);
    struct search s = { .in = { .p = data.p, .end = data.p + data.n } };
    if (!data.n || json_in_peek(&s.in) != '{' || !take(&s, (struct view){ 0 }, 0) ||
        json_in_peek(&s.in))
        return found;
    found.json = data;
    if (!s.is_of_pieces || s.strings != 1)
        return found;
    found.string = s.string;
    found.lane = s.indices ^ turn_hash(s.name);
    return found;
}
