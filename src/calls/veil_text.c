/* SPDX-License-Identifier: MIT */
/*
 * veil_text.c -- the pieces of texts in an event, whichever API it is of.
 *
 *     {"type":"content_block_delta","index":1,"delta":{"text":"…"}}
 *     {"choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"…"}}]}}]}
 *     {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"…"}
 *     {"candidates":[{"content":{"parts":[{"text":"…"}]}}]}
 *
 * Pieces are of the same text if the name of the string is the same, and what the objects
 * around it call "…index". There may be several in an event: of other texts, or of the
 * same thoughts under another name.
 */
#include "base/json_in.h"
#include "calls/veil_priv.h"
#include "turn/totals.h"

enum { DEPTH = 16 };

static const uint64_t MIX = UINT64_C(0x9e3779b97f4a7c15);

static const char *const leaves[] = {
    "text",      "thinking",  "partial_json", "content", "reasoning_content",
    "reasoning", "arguments", "input",        "delta",   "refusal",
    NULL
};

static const char *const marks[] = { "delta", "content_block", "choices", "candidates",
                                     NULL };

/* The tokens of a text one by one. */
static const char *const echoes[] = { "logprobs", "logprobsResult", NULL };

struct search {
    struct json_in in;
    struct buf *pieces;
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

static struct veil_piece *
pieces_of(const struct buf *b, size_t *ret_n)
{
    *ret_n = b->n / sizeof(struct veil_piece);
    return (struct veil_piece *)(void *)b->p;
}

static void
note(struct search *s, struct view json, uint64_t lane)
{
    const struct veil_piece piece = { json, lane };
    buf_append(s->pieces, &piece, sizeof(piece));
}

static bool take(struct search *s, struct view key, uint64_t *indices, unsigned depth);

/* What an object calls an index holds for all that is in it. */
static void
number(struct search *s, size_t from, uint64_t indices)
{
    size_t n;
    struct veil_piece *pieces = pieces_of(s->pieces, &n);
    for (; from < n; from++)
        if (pieces[from].lane) {
            uint64_t lane = (pieces[from].lane ^ indices) * MIX;
            pieces[from].lane = lane ? lane : 1;
        }
}

static bool
take_object(struct search *s, unsigned depth)
{
    bool is_first = true;
    uint64_t indices = 0;
    size_t from;
    (void)pieces_of(s->pieces, &from);
    while (json_in_each(&s->in, '}', &is_first)) {
        (void)json_in_peek(&s->in);
        const uint8_t *start = s->in.p + 1;
        if (!json_in_str(&s->in, NULL))
            return false;
        struct view key = { start, (size_t)(s->in.p - 1 - start) };
        if (!json_in_take(&s->in, ':') || !take(s, key, &indices, depth + 1))
            return false;
        s->is_of_pieces |= is_one_of(key, marks);
    }
    number(s, from, indices);
    return !s->in.failed;
}

static bool
take_array(struct search *s, unsigned depth)
{
    bool is_first = true;
    uint64_t none = 0;
    while (json_in_each(&s->in, ']', &is_first))
        if (!take(s, (struct view){ 0 }, &none, depth + 1))
            return false;
    return !s->in.failed;
}

/* indices: of the object in which it stands under this key. */
static bool
take(struct search *s, struct view key, uint64_t *indices, unsigned depth)
{
    uint8_t first = json_in_peek(&s->in);
    const uint8_t *start = s->in.p;
    bool is_echo = key.n && is_one_of(key, echoes);
    if (!is_echo && depth < DEPTH && json_in_take(&s->in, '{'))
        return take_object(s, depth);
    if (!is_echo && depth < DEPTH && json_in_take(&s->in, '['))
        return take_array(s, depth);
    if (!json_in_skip(&s->in))
        return false;
    struct view value = { start, (size_t)(s->in.p - start) };
    if (is_echo && (first == '{' || first == '['))
        note(s, value, 0);
    else if (first == '"' && value.n > 2 && key.n && is_one_of(key, leaves))
        note(s, value, turn_hash(key));
    else if (first != '"' && ends_in_index(key))
        *indices ^= (turn_hash(value) ^ turn_hash(key) * MIX) * MIX;
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

/* Without pieces those remain that say again what the event says itself. */
static void
drop_texts(struct buf *b)
{
    size_t n, kept = 0;
    struct veil_piece *pieces = pieces_of(b, &n);
    for (size_t i = 0; i < n; i++)
        if (!pieces[i].lane)
            pieces[kept++] = pieces[i];
    b->n = kept * sizeof(*pieces);
}

int
veil_text_find(struct view event, struct buf *pieces, struct view *ret_json)
{
    struct view data = find_data(event);
    struct search s = { .pieces = pieces };
    uint64_t none = 0;
    buf_clear(pieces);
    *ret_json = (struct view){ 0 };
    if (!data.n)
        return 0;
    s.in = (struct json_in){ .p = data.p, .end = data.p + data.n };
    if (json_in_peek(&s.in) != '{' || !take(&s, (struct view){ 0 }, &none, 0) ||
        json_in_peek(&s.in)) {
        buf_clear(pieces);
        return 0;
    }
    *ret_json = data;
    if (!s.is_of_pieces)
        drop_texts(pieces);
    return pieces->failed;
}
