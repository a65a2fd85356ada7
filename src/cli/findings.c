/* SPDX-License-Identifier: MIT */
#include "cli/findings.h"

#include <errno.h>

#include "base/utf8.h"

enum {
    EXCERPT_MAX = 100,           /* characters, about */
    BEFORE_MAX = 40,             /* bytes of them before the secret */
    AFTER_MAX = 4 * EXCERPT_MAX, /* bytes behind it that are looked at */
};

struct cli_found {
    const char *rule;
    uint64_t start, end;
};

static uint64_t
masked_end(const struct cli_findings *f)
{
    return f->masked_start + f->masked.n;
}

/* A redact_find_fn. */
static void
note(void *ctx, const struct redact_find *find)
{
    struct cli_findings *f = ctx;
    if (f->count == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 64;
        struct cli_found *list = reallocarray(f->list, cap, sizeof(*list));
        if (!list) {
            f->failed = -ENOMEM;
            return;
        }
        f->list = list;
        f->cap = cap;
    }
    f->list[f->count++] = (struct cli_found){ find->rule, find->start, find->end };
}

/* -- the excerpt -- */

static bool
is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029 ||
           (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

/* One character at p to the excerpt; returns its length in the stream. */
static size_t
put_character(struct buf *out, const uint8_t *p, size_t n)
{
    uint32_t cp;
    int len = utf8_next(p, n, &cp);
    if (!len || is_control(cp))
        buf_puts(out, "?");
    else
        buf_append(out, p, (size_t)len);
    return len ? (size_t)len : 1;
}

static bool
is_line_end(const uint8_t *p, size_t n)
{
    return p[0] == '\n' || (p[0] == '\r' && (n == 1 || p[1] == '\n'));
}

/* Where it begins: with the line, or a little before the secret, at a whole character. */
static uint64_t
excerpt_start(const struct cli_findings *f, uint64_t start)
{
    uint64_t from = start - f->line_start > BEFORE_MAX ? start - BEFORE_MAX
                                                       : f->line_start;
    if (from < f->masked_start)
        from = f->masked_start;
    bool is_cut = from > f->line_start;
    while (from < start) {
        uint8_t c = f->masked.p[from - f->masked_start];
        if (is_cut ? (c & 0xc0) != 0x80 : c != ' ' && c != '\t')
            break;
        from++;
    }
    return from;
}

/* The text around the secret `index`; it and its neighbours by their names only. */
static void
make_excerpt(struct cli_findings *f, size_t index)
{
    struct buf *out = &f->excerpt;
    uint64_t at = excerpt_start(f, f->list[index].start), end = masked_end(f);
    size_t next = 0, chars = 0;
    buf_clear(out);
    if (at > f->line_start && f->list[index].start - f->line_start > BEFORE_MAX)
        buf_puts(out, "…");
    while (at < end) {
        while (next < f->count && f->list[next].end <= at)
            next++;
        const uint8_t *p = f->masked.p + (at - f->masked_start);
        bool is_secret = next < f->count && f->list[next].start <= at;
        if (!is_secret && is_line_end(p, (size_t)(end - at)))
            return;
        if (chars >= EXCERPT_MAX && next > index) {
            buf_puts(out, "…");
            return;
        }
        if (is_secret) {
            buf_printf(out, "[REDACTED:%s]", f->list[next].rule);
            chars += strlen("[REDACTED:]") + strlen(f->list[next].rule);
            at = f->list[next].end;
        } else {
            at += put_character(out, p, (size_t)(end - at));
            chars++;
        }
    }
}

/* -- the window -- */

static void
count_lines(struct cli_findings *f, uint64_t to)
{
    while (f->counted < to) {
        const uint8_t *p = f->masked.p + (f->counted - f->masked_start);
        const uint8_t *end = memchr(p, '\n', (size_t)(to - f->counted));
        f->counted = end ? f->counted + (uint64_t)(end - p) + 1 : to;
        if (end) {
            f->line++;
            f->line_start = f->counted;
        }
    }
}

static int
tell(struct cli_findings *f, size_t index)
{
    const struct cli_found *found = &f->list[index];
    count_lines(f, found->start);
    make_excerpt(f, index);
    struct cli_finding finding = {
        .rule = found->rule,
        .start = found->start,
        .end = found->end,
        .line = f->line,
        .column = found->start - f->line_start + 1,
        .excerpt = { f->excerpt.p, f->excerpt.n },
    };
    return f->excerpt.failed ? f->excerpt.failed : f->fn(f->ctx, &finding);
}

/* Is there enough of its line behind it? */
static bool
is_complete(const struct cli_findings *f, const struct cli_found *found)
{
    uint64_t end = masked_end(f);
    if (end <= found->end)
        return false;
    size_t n = (size_t)(end - found->end);
    const uint8_t *p = f->masked.p + (found->end - f->masked_start);
    return n >= AFTER_MAX || memchr(p, '\n', n);
}

/* Lets go of what no excerpt can show any more. */
static void
slide(struct cli_findings *f)
{
    uint64_t end = masked_end(f);
    uint64_t keep = f->told < f->count && f->list[f->told].start < end
                        ? f->list[f->told].start
                        : end;
    keep = keep - f->masked_start > BEFORE_MAX ? keep - BEFORE_MAX : f->masked_start;
    count_lines(f, keep);
    size_t gone = (size_t)(keep - f->masked_start), past = 0;
    memmove(f->masked.p, f->masked.p + gone, f->masked.n - gone);
    f->masked.n -= gone;
    f->masked_start = keep;
    while (past < f->told && f->list[past].end <= keep)
        past++;
    if (past)
        memmove(f->list, f->list + past, (f->count - past) * sizeof(*f->list));
    f->count -= past;
    f->told -= past;
}

static int
advance(struct cli_findings *f, int r, bool is_end)
{
    if (!r)
        r = f->failed;
    for (; !r && f->told < f->count; f->told++) {
        if (!is_end && !is_complete(f, &f->list[f->told]))
            break;
        r = tell(f, f->told);
    }
    if (f->masked.n && !r)
        slide(f);
    return r;
}

/* -- as others use it -- */

static void
begin(struct cli_findings *f)
{
    buf_clear(&f->masked);
    f->masked_start = f->counted = f->line_start = 0;
    f->line = 1;
    f->count = f->told = 0;
    f->failed = 0;
}

int
cli_findings_init(struct cli_findings *f, struct redact *redact, bool is_terminal,
                  uint32_t cols, cli_finding_fn fn, void *ctx)
{
    *f = (struct cli_findings){ .fn = fn, .ctx = ctx };
    begin(f);
    struct redact_options opt = {
        .is_terminal = is_terminal,
        .cols = cols,
        .keeps_length = true, /* so that offsets in the window are those of the stream */
        .on_find = note,
        .ctx = f,
    };
    return redact_stream_new(&f->stream, redact, &opt);
}

void
cli_findings_release(struct cli_findings *f)
{
    if (f->stream)
        redact_stream_free(f->stream);
    free(f->list);
    buf_release(&f->masked);
    buf_release(&f->excerpt);
    *f = (struct cli_findings){ 0 };
}

int
cli_findings_feed(struct cli_findings *f, const void *p, size_t n)
{
    return advance(f, redact_stream_feed(f->stream, p, n, &f->masked), false);
}

int
cli_findings_end(struct cli_findings *f)
{
    int r = advance(f, redact_stream_flush(f->stream, &f->masked), true);
    begin(f);
    return r;
}
