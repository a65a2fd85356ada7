/* SPDX-License-Identifier: MIT */
#include "base/jsonl.h"

#include <errno.h>

#include "base/json_in.h"

enum { TRIES = 64 }; /* to find a good object behind a bad one on the same line */

void
jsonl_release(struct jsonl *j)
{
    buf_release(&j->line);
}

static void
tell_bad(struct jsonl *j)
{
    if (j->is_bad)
        return;
    j->is_bad = true;
    j->bad(j->ctx, j->ended + 1);
}

/* Where the next object may begin, which has no newline before it. */
static const uint8_t *
find_next(const struct jsonl *j, const uint8_t *p, const uint8_t *end)
{
    return memmem(p, (size_t)(end - p), j->begin, strlen(j->begin));
}

/* Several objects, or rubbish with some between it. */
static int
take_pieces(struct jsonl *j, struct view line)
{
    const uint8_t *p = line.p, *end = line.p + line.n;
    bool is_bad = false;
    for (int i = 0; i < TRIES && p && p < end; i++) {
        struct json_in in = { .p = p, .end = end };
        bool is_object = json_in_peek(&in) == '{';
        const uint8_t *start = in.p;
        if (start == end) /* blanks */
            break;
        is_object = is_object && json_in_skip(&in);
        int e = is_object ? j->fn(j->ctx, (struct view){ start, (size_t)(in.p - start) })
                          : 0;
        if (e < 0)
            return e;
        is_bad |= !e;
        p = e ? in.p : find_next(j, start + 1, end);
    }
    if (is_bad)
        tell_bad(j);
    return 0;
}

static bool
is_blank(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] != ' ' && v.p[i] != '\t' && v.p[i] != '\r')
            return false;
    return true;
}

int
jsonl_take(struct jsonl *j, struct view line)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    if (line.n >= sizeof(mark) && !memcmp(line.p, mark, sizeof(mark)))
        line = (struct view){ line.p + sizeof(mark), line.n - sizeof(mark) };
    if (is_blank(line))
        return 0;
    int e = j->fn(j->ctx, line);
    return e ? (e < 0 ? e : 0) : take_pieces(j, line);
}

int
jsonl_end(struct jsonl *j)
{
    int e = j->line.failed == -ENOMEM ? -ENOMEM : 0;
    if (!e && j->line.failed)
        tell_bad(j); /* too long for one */
    else if (!e)
        e = jsonl_take(j, (struct view){ j->line.p, j->line.n });
    buf_clear(&j->line);
    return e;
}

int
jsonl_feed(struct jsonl *j, struct view bytes)
{
    const uint8_t *p = bytes.p;
    for (const uint8_t *end = p + bytes.n; p < end;) {
        const uint8_t *nul = memchr(p, 0, (size_t)(end - p));
        const uint8_t *stop = memchr(p, '\n', (size_t)((nul ? nul : end) - p));
        stop = stop ? stop : nul;
        if (!j->line.failed)
            buf_append(&j->line, p, (size_t)((stop ? stop : end) - p));
        j->fed += (uint64_t)((stop ? stop + 1 : end) - p);
        if (!stop)
            return 0;
        int e = jsonl_end(j);
        if (e < 0)
            return e;
        if (*stop == '\n')
            j->ended++, j->is_bad = false;
        j->at = j->fed;
        p = stop + 1;
    }
    return 0;
}
