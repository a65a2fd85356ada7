/* SPDX-License-Identifier: MIT */
/*
 * mask.c -- lines through the secret scanner, and links and texts.
 *
 * A lane is a text of its own: the primary screen's lines, and the alternate screen's.
 * What the scanner hands out has the length of what it was fed, so that a line's bytes
 * are found by where they went in. Lines are fed in batches and wait, as copies, until
 * all of their bytes are decided and no line before them waits in the other lane.
 */
#include "play/mask_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "play/kept_priv.h"

enum {
    BATCH = 16 << 10,
    WAIT_MAX = 1 << 20, /* bytes that wait; past it what holds them up is decided */
};

struct lane {
    struct redact_stream *stream; /* NULL until the first line */
    struct play_kept kept; /* lines with their ends; those before `next` are gone */
    struct buf masked;     /* the same bytes, as far as they are decided */
    size_t fed, next;
    unsigned cols; /* as the stream has them */
    bool is_full;  /* its last line is */
};

struct play_mask {
    struct redact *redact;       /* borrowed */
    struct redact_stream *texts; /* for texts, one after the other */
    struct lane lanes[2];        /* by is_alternate */
    const struct term *term;     /* borrowed */
    unsigned cols;
    uint64_t lines;
    bool has_spans, keeps_links;
    term_line_fn fn;
    void *ctx;
    /* The link that was seen last, by its address, and what it is masked: itself where it
     * has nothing to hide. Many spans in a row have the same one. */
    const char *last_uri, *last_masked;
    struct buf uris; /* masked links that somebody has: char *, ours */
};

int
play_mask_new(struct play_mask **ret, struct redact *redact)
{
    struct redact_options opt = { .is_whole = true };
    struct play_mask *m = calloc(1, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->redact = redact;
    int e = redact_stream_new(&m->texts, redact, &opt);
    if (e < 0) {
        free(m);
        return e;
    }
    *ret = m;
    return 0;
}

static void
free_uris(struct play_mask *m)
{
    char **v = (char **)(void *)m->uris.p;
    for (size_t i = 0; i < m->uris.n / sizeof(*v); i++)
        free(v[i]);
    buf_clear(&m->uris);
    m->last_uri = m->last_masked = NULL;
}

static void
lane_release(struct lane *l)
{
    redact_stream_free(l->stream);
    play_kept_release(&l->kept);
    buf_release(&l->masked);
    *l = (struct lane){ 0 };
}

void
play_mask_free(struct play_mask *m)
{
    if (!m)
        return;
    redact_stream_free(m->texts);
    lane_release(&m->lanes[0]);
    lane_release(&m->lanes[1]);
    free_uris(m);
    buf_release(&m->uris);
    free(m);
}

int
play_mask_text(struct play_mask *m, struct view text, struct buf *out)
{
    int e = redact_stream_feed(m->texts, text.p, text.n, out);
    return e ? e : redact_stream_flush(m->texts, out);
}

/* -- a line, masked -- */

/* Stars take fewer bytes than what they hide; NULs fill the room. Edges of spans, in
 * order, move along. */
static size_t
squeeze(uint8_t *text, size_t n, struct term_span *spans, size_t n_spans)
{
    size_t to = 0, edge = 0;
    for (size_t i = 0; i <= n; i++) {
        for (; edge < 2 * n_spans; edge++) {
            struct term_span *span = &spans[edge / 2];
            size_t *at = edge % 2 ? &span->text_end : &span->text_start;
            if (*at > i)
                break;
            *at = to;
        }
        if (i < n && text[i])
            text[to++] = text[i];
    }
    return to;
}

/* What stands for a link; NULL: no memory. */
static const char *
masked_link(struct play_mask *m, const char *uri, struct buf *masked)
{
    if (masked->n == strlen(uri) && !memcmp(masked->p, uri, masked->n))
        return uri;
    char *own = strdup(buf_str(masked));
    m->uris.ceiling = SIZE_MAX; /* there are no more than the model has */
    if (own && buf_append(&m->uris, &own, sizeof(own)) < 0) {
        free(own);
        own = NULL;
    }
    return own;
}

static int
mask_link(struct play_mask *m, struct term_span *span)
{
    if (!span->uri)
        return 0;
    if (span->uri != m->last_uri) {
        AUTO(buf) masked = { 0 };
        struct view uri = { (const uint8_t *)span->uri, strlen(span->uri) };
        int e = play_mask_text(m, uri, &masked);
        const char *shown = e < 0 ? NULL : masked_link(m, span->uri, &masked);
        if (!shown)
            return e < 0 ? e : -ENOMEM;
        m->last_uri = span->uri;
        m->last_masked = shown;
    }
    span->uri = m->last_masked;
    return 0;
}

static int
give_line(struct play_mask *m, struct lane *l)
{
    const struct play_kept_head *head = play_kept_head(&l->kept, l->next);
    uint8_t *text = head->text_len ? l->masked.p + head->text_at : NULL;
    struct term_line line = play_kept_line(&l->kept, l->next++, text);
    struct term_span *spans = (struct term_span *)(void *)l->kept.spans.p + head->span_at;
    if (text && memchr(text, 0, line.text.n))
        line.text.n = squeeze(text, line.text.n, spans, line.n_spans);
    int e = 0;
    for (size_t i = 0; i < line.n_spans && !e; i++)
        e = mask_link(m, &spans[i]);
    if (!e)
        e = m->fn(m->ctx, &line);
    if (m->uris.n && !m->keeps_links)
        free_uris(m);
    return e;
}

/* -- lines that wait -- */

/* The lane with the line that is next; NULL: none waits. */
static struct lane *
first_lane(struct play_mask *m)
{
    struct lane *first = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < 2; i++) {
        struct lane *l = &m->lanes[i];
        if (l->next == play_kept_count(&l->kept))
            continue;
        uint64_t index = play_kept_head(&l->kept, l->next)->index;
        if (index < least) {
            first = l;
            least = index;
        }
    }
    return first;
}

static bool
is_decided(const struct lane *l)
{
    const struct play_kept_head *head = play_kept_head(&l->kept, l->next);
    return head->text_at + head->text_len <= l->masked.n;
}

/* Forgets what has been given. */
static void
drop_given(struct lane *l)
{
    size_t bytes = l->next < play_kept_count(&l->kept)
                       ? play_kept_head(&l->kept, l->next)->text_at
                       : l->kept.texts.n;
    bytes = bytes < l->masked.n ? bytes : l->masked.n;
    play_kept_drop(&l->kept, l->next, bytes);
    l->next = 0;
    l->fed -= bytes;
    l->masked.n -= bytes;
    if (bytes)
        memmove(l->masked.p, l->masked.p + bytes, l->masked.n);
}

static int
give_decided(struct play_mask *m)
{
    struct lane *l;
    int e = 0;
    while (!e && (l = first_lane(m)) && is_decided(l))
        e = give_line(m, l);
    drop_given(&m->lanes[0]);
    drop_given(&m->lanes[1]);
    return e;
}

static int
feed(struct lane *l, bool is_end)
{
    size_t n = l->kept.texts.n - l->fed;
    int e = n ? redact_stream_feed(l->stream, l->kept.texts.p + l->fed, n, &l->masked)
              : 0;
    l->fed = l->kept.texts.n;
    return !e && is_end ? redact_stream_flush(l->stream, &l->masked) : e;
}

/* The line that holds up the others is decided as it stands, and those before it in its
 * lane. The other lane goes on: what it has just begun may be a secret. */
static int
give_first(struct play_mask *m)
{
    int e = feed(first_lane(m), true);
    return e ? e : give_decided(m);
}

/* All lines that wait are decided as they stand. */
static int
give_all(struct play_mask *m)
{
    int e = 0;
    for (size_t i = 0; i < 2 && !e; i++)
        if (m->lanes[i].stream)
            e = feed(&m->lanes[i], true);
    return e ? e : give_decided(m);
}

/* Behind a wrapped line come the blanks that were cut from it, and no line end. A line of
 * the alternate screen is as wide as that was then. */
static int
end_line(const struct play_mask *m, struct buf *texts, const struct term_line *line)
{
    if (!line->is_wrapped)
        return buf_append(texts, "\r\n", 2);
    size_t width = line->is_alternate ? line->row_cols : m->cols;
    size_t n = width > line->cols ? width - line->cols : 0;
    uint8_t *blanks = n ? buf_grow(texts, n) : NULL;
    if (blanks)
        memset(blanks, ' ', n);
    return texts->failed;
}

/*
 * Lines of the alternate screen are not wrapped anew: one that is as long as the terminal
 * was wide at some time was full then. The line behind a full one may be the rest of it,
 * and is judged with it, however short.
 */
static int
take_width(struct play_mask *m, struct lane *l, const struct term_line *line)
{
    bool is_full = term_had_cols(m->term, line->row_cols);
    bool is_rest = l->is_full && line->row_cols < l->cols;
    int e = 0;
    if (is_full && !is_rest && line->row_cols != l->cols) {
        e = feed(l, false);
        l->cols = line->row_cols;
        redact_stream_resize(l->stream, l->cols);
    }
    l->is_full = is_full && !is_rest;
    return e;
}

/* The lane's first line is there. */
static int
begin_lane(struct play_mask *m, struct lane *l)
{
    struct redact_options opt = {
        .is_terminal = true, .cols = m->cols, .is_whole = true, .keeps_length = true
    };
    l->cols = m->cols;
    return redact_stream_new(&l->stream, m->redact, &opt);
}

/* A term_line_fn. */
static int
take_line(void *ctx, const struct term_line *line)
{
    struct play_mask *m = ctx;
    struct lane *l = &m->lanes[line->is_alternate];
    int e = l->stream ? 0 : begin_lane(m, l);
    if (!e && line->is_alternate)
        e = take_width(m, l, line);
    if (!e)
        e = play_kept_add(&l->kept, line, m->lines++, m->has_spans);
    if (!e)
        e = end_line(m, &l->kept.texts, line);
    if (e || l->kept.texts.n - l->fed < BATCH)
        return e;
    e = feed(l, false);
    if (!e)
        e = give_decided(m);
    if (!e && m->lanes[0].kept.texts.n + m->lanes[1].kept.texts.n > WAIT_MAX)
        e = give_first(m);
    return e;
}

int
play_mask_lines(struct play_mask *m, const struct term *t, bool has_spans,
                bool keeps_links, term_line_fn fn, void *ctx)
{
    m->term = t;
    m->cols = term_cols(t);
    m->lines = 0;
    m->has_spans = has_spans;
    m->keeps_links = keeps_links;
    m->fn = fn;
    m->ctx = ctx;
    m->last_uri = m->last_masked = NULL;
    int e = term_final_lines(t, take_line, m);
    if (!e)
        e = give_all(m);
    lane_release(&m->lanes[0]);
    lane_release(&m->lanes[1]);
    return e;
}
