/* SPDX-License-Identifier: MIT */
#include "cli/findings.h"

#include <errno.h>

#include "base/utf8.h"

enum {
    EXCERPT_MAX = 100,           /* characters, about */
    BEFORE_MAX = 40,             /* bytes of them before the secret */
    AFTER_MAX = 4 * EXCERPT_MAX, /* bytes behind it that are looked at */
    /* A secret is told at its end: what lies before it must still be there. All but the
     * longest private keys are shorter than this. */
    WINDOW = 16 << 10,
    PIECE = 16 << 10,      /* fed at a time: it may be all line feeds */
    LINES_KEPT = 32 << 10, /* two such pieces */
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

/* A redact_find_fn: they come in the order of the input. */
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

/* -- lines -- */

static void
begin_line(struct cli_findings *f, uint64_t start)
{
    f->line_starts[f->lines++ % LINES_KEPT] = start;
}

/* The window has grown from byte `from` on. */
static void
note_lines(struct cli_findings *f, size_t from)
{
    while (from < f->masked.n) {
        const uint8_t *p = f->masked.p + from;
        const uint8_t *end = memchr(p, '\n', f->masked.n - from);
        if (!end)
            return;
        from += (size_t)(end - p) + 1;
        begin_line(f, f->masked_start + from);
    }
}

/* The line, from 1, that the byte `at` is in; the oldest one known when it is older. */
static uint64_t
find_line(const struct cli_findings *f, uint64_t at, uint64_t *ret_start)
{
    uint64_t low = f->lines > LINES_KEPT ? f->lines - LINES_KEPT : 0, high = f->lines;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (f->line_starts[middle % LINES_KEPT] <= at)
            low = middle;
        else
            high = middle;
    }
    uint64_t start = f->line_starts[low % LINES_KEPT];
    *ret_start = start < at ? start : at;
    return low + 1;
}

/* -- the excerpt -- */

static bool
is_control(uint32_t cp)
{
    return utf8_is_control(cp) || cp == 0x2028 || cp == 0x2029 ||
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
excerpt_start(const struct cli_findings *f, uint64_t start, uint64_t line_start)
{
    uint64_t from = start - line_start > BEFORE_MAX ? start - BEFORE_MAX : line_start;
    if (from < f->masked_start)
        from = f->masked_start;
    bool is_cut = from > line_start;
    while (from < start) {
        uint8_t c = f->masked.p[from - f->masked_start];
        if (is_cut ? (c & 0xc0) != 0x80 : c != ' ' && c != '\t')
            break;
        from++;
    }
    return from < start ? from : start;
}

static size_t
put_mask(struct buf *out, const char *rule)
{
    size_t before = out->n;
    buf_printf(out, "[REDACTED:%s]", rule);
    return out->n - before;
}

/* The text around the secret `index`; it and its neighbours by their names only. */
static void
make_excerpt(struct cli_findings *f, size_t index, uint64_t line_start)
{
    struct buf *out = &f->excerpt;
    uint64_t at = excerpt_start(f, f->list[index].start, line_start);
    uint64_t end = masked_end(f);
    size_t next = 0, chars = 0;
    buf_clear(out);
    if (f->list[index].start - line_start > BEFORE_MAX)
        buf_puts(out, "…");
    if (at < f->masked_start) { /* what lies before it is gone */
        chars = put_mask(out, f->list[index].rule);
        at = f->list[index].end > f->masked_start ? f->list[index].end : f->masked_start;
        next = index + 1;
    }
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
            chars += put_mask(out, f->list[next].rule);
            at = f->list[next].end;
        } else {
            at += put_character(out, p, (size_t)(end - at));
            chars++;
        }
    }
}

/* -- the window -- */

static int
tell(struct cli_findings *f, size_t index)
{
    const struct cli_found *found = &f->list[index];
    uint64_t line_start, line = find_line(f, found->start, &line_start);
    make_excerpt(f, index, line_start);
    struct cli_finding finding = {
        .rule = found->rule,
        .start = found->start,
        .end = found->end,
        .line = line,
        .column = found->start - line_start + 1,
        .excerpt = { f->excerpt.p, f->excerpt.n },
    };
    return f->excerpt.failed ? f->excerpt.failed : f->fn(f->ctx, &finding);
}

/* Is there enough of its line behind it? */
static bool
is_complete(const struct cli_findings *f, const struct cli_found *found)
{
    uint64_t end = masked_end(f);
    if (end <= found->end || found->end < f->masked_start)
        return end > found->end;
    size_t n = (size_t)(end - found->end);
    const uint8_t *p = f->masked.p + (found->end - f->masked_start);
    return n >= AFTER_MAX || memchr(p, '\n', n);
}

/* Lets go of what lies far behind. */
static void
slide(struct cli_findings *f)
{
    uint64_t end = masked_end(f);
    if (f->masked.n <= WINDOW)
        return;
    uint64_t keep = end - WINDOW;
    if (f->told < f->count && f->list[f->told].start < keep + BEFORE_MAX)
        keep = f->list[f->told].start > f->masked_start + BEFORE_MAX
                   ? f->list[f->told].start - BEFORE_MAX
                   : f->masked_start;
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

/* `from`: how much of the window was there before; r: what became of the rest. */
static int
advance(struct cli_findings *f, size_t from, int r, bool is_end)
{
    if (!r)
        r = f->failed;
    if (!r)
        note_lines(f, from);
    for (; !r && f->told < f->count; f->told++) {
        if (!is_end && !is_complete(f, &f->list[f->told]))
            break;
        r = tell(f, f->told);
    }
    if (!r)
        slide(f);
    return r;
}

/* -- as others use it -- */

static void
begin(struct cli_findings *f)
{
    buf_clear(&f->masked);
    f->masked_start = 0;
    f->count = f->told = 0;
    f->failed = 0;
    f->lines = 0;
    begin_line(f, 0);
}

int
cli_findings_init(struct cli_findings *f, struct redact *redact, bool is_terminal,
                  uint32_t cols, cli_finding_fn fn, void *ctx)
{
    *f = (struct cli_findings){
        .fn = fn,
        .ctx = ctx,
        .line_starts = calloc(LINES_KEPT, sizeof(*f->line_starts)),
    };
    if (!f->line_starts)
        return -ENOMEM;
    begin(f);
    struct redact_options opt = {
        .is_terminal = is_terminal,
        .cols = cols,
        .is_whole = true,
        .keeps_length = true, /* so that offsets in the window are those of the stream */
        .on_find = note,
        .ctx = f,
    };
    int r = redact_stream_new(&f->stream, redact, &opt);
    if (r < 0)
        cli_findings_release(f);
    return r;
}

void
cli_findings_release(struct cli_findings *f)
{
    if (f->stream)
        redact_stream_free(f->stream);
    free(f->list);
    free(f->line_starts);
    buf_release(&f->masked);
    buf_release(&f->excerpt);
    *f = (struct cli_findings){ 0 };
}

int
cli_findings_feed(struct cli_findings *f, const void *p, size_t n)
{
    const uint8_t *at = p;
    int r = 0;
    while (!r && n) {
        size_t from = f->masked.n, piece = n < PIECE ? n : PIECE;
        r = advance(f, from, redact_stream_feed(f->stream, at, piece, &f->masked), false);
        at += piece;
        n -= piece;
    }
    return r;
}

int
cli_findings_end(struct cli_findings *f)
{
    size_t from = f->masked.n;
    int r = advance(f, from, redact_stream_flush(f->stream, &f->masked), true);
    begin(f);
    return r;
}
