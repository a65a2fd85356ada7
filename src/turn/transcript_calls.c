/* SPDX-License-Identifier: MIT */
/* transcript_calls.c -- calls of tools in a transcript: their arguments, and which of
 * them have no result yet. */
#include "base/json_in.h"
#include "turn/compact.h"
#include "turn/tell_priv.h"
#include "turn/transcript_priv.h"

/* Each call is looked for among all of them. */
enum {
    CALL_ID_MAX = 1 << 10, /* of a call that is remembered … */
    CALLS_MAX = 32 << 10,  /* … and of all of them: the oldest go */
    DEPTH_MAX = 200,       /* jq takes 256 levels, of which some are the line's */
};

/* -- those that wait for their results -- */

int
transcript_call_open(struct turn_transcript *t, struct view id)
{
    if (id.n > CALL_ID_MAX || memchr(id.p, 0, id.n))
        return 0;
    while (t->calls.n + id.n + 1 > CALLS_MAX) {
        size_t oldest = strlen((const char *)t->calls.p) + 1;
        memmove(t->calls.p, t->calls.p + oldest, t->calls.n - oldest);
        t->calls.n -= oldest;
    }
    int r = buf_append(&t->calls, id.p, id.n);
    return r < 0 ? r : buf_append(&t->calls, "", 1);
}

/* Where it stands; at the end: nowhere. */
static size_t
find(const struct turn_transcript *t, struct view id)
{
    for (size_t at = 0, n; at < t->calls.n; at += n + 1) {
        n = strlen((const char *)t->calls.p + at);
        if (n == id.n && !memcmp(t->calls.p + at, id.p, n))
            return at;
    }
    return t->calls.n;
}

bool
transcript_call_is_open(const struct turn_transcript *t, struct view id)
{
    return find(t, id) < t->calls.n;
}

void
transcript_call_close(struct turn_transcript *t, struct view id)
{
    size_t at = find(t, id), next = at + id.n + 1;
    if (at == t->calls.n)
        return;
    memmove(t->calls.p + at, t->calls.p + next, t->calls.n - next);
    t->calls.n -= id.n + 1;
}

/* -- arguments -- */

static bool
is_too_deep(struct view json)
{
    size_t depth = 0;
    for (size_t i = 0; i < json.n; i++) {
        uint8_t c = json.p[i];
        if (c == '"')
            i = json_in_string_end(json, i + 1) - 1;
        else if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
        if (depth > DEPTH_MAX)
            return true;
    }
    return false;
}

enum half { NO_HALF, FIRST_HALF, SECOND_HALF };

/* Which half of a surrogate pair is written there: \ud83e is a first one. */
static enum half
half_at(const struct buf *json, size_t i)
{
    const uint8_t *p = json->p + i;
    if (i + 6 > json->n || p[0] != '\\' || p[1] != 'u' || (p[2] | 0x20) != 'd')
        return NO_HALF;
    uint8_t c = p[3] | 0x20; /* digits stay */
    return c == '8' || c == '9' || c == 'a' || c == 'b' ? FIRST_HALF
           : c >= 'c' && c <= 'f'                       ? SECOND_HALF
                                                        : NO_HALF;
}

/* One that stands alone, which no JSON may have, becomes U+FFFD. */
static bool
mend_halves(struct buf *json)
{
    bool has_mended = false;
    for (size_t i = 0; i < json->n; i++) {
        if (json->p[i] != '\\')
            continue;
        enum half half = half_at(json, i);
        bool is_pair = half == FIRST_HALF && half_at(json, i + 6) == SECOND_HALF;
        if (half && !is_pair)
            memcpy(json->p + i + 2, "fffd", 4), has_mended = true;
        i += is_pair ? 11 : 1;
    }
    return has_mended;
}

/* False: it is no JSON that may stand in a line. */
static bool
make_fit(struct view json, struct buf *out)
{
    AUTO(buf) mended = { .ceiling = SIZE_MAX };
    bool is_json = json.n && turn_compact(json, out);
    if (json.n && !is_json && !buf_append(&mended, json.p, json.n) &&
        mend_halves(&mended))
        is_json = turn_compact(turn_view_of(&mended), out);
    return is_json && !is_too_deep(turn_view_of(out));
}

/* An object, whatever came. */
void
transcript_put_input(struct turn_transcript *t, struct view json)
{
    struct json *j = &t->json;
    AUTO(buf) compact = { .ceiling = SIZE_MAX };
    bool is_json = make_fit(json, &compact);
    json_key(j, "input");
    if (is_json && compact.p[0] == '{') {
        json_raw(j, turn_view_of(&compact));
        return;
    }
    json_open(j, '{');
    if (is_json)
        json_key(j, "value"), json_raw(j, turn_view_of(&compact));
    else if (json.n)
        json_key(j, "text"), json_bytes(j, json);
    json_close(j, '}');
    if (compact.failed && !t->content.failed)
        t->content.failed = compact.failed;
}
