/* SPDX-License-Identifier: MIT */
#include "play/kept_priv.h"

#include <stdlib.h>

void
play_kept_release(struct play_kept *k)
{
    buf_release(&k->heads);
    buf_release(&k->texts);
    buf_release(&k->spans);
}

size_t
play_kept_count(const struct play_kept *k)
{
    return k->heads.n / sizeof(struct play_kept_head);
}

struct play_kept_head *
play_kept_head(const struct play_kept *k, size_t i)
{
    return (struct play_kept_head *)(void *)k->heads.p + i;
}

int
play_kept_add(struct play_kept *k, const struct term_line *line, uint64_t index,
              bool has_spans)
{
    struct play_kept_head head = {
        .last_write_byte = line->last_write_byte,
        .index = index,
        .text_at = k->texts.n,
        .text_len = (uint32_t)line->text.n,
        .cols = line->cols,
        .row_cols = line->row_cols,
        .span_at = (uint32_t)(k->spans.n / sizeof(struct term_span)),
        .n_spans = has_spans ? (uint32_t)line->n_spans : 0,
        .is_wrapped = line->is_wrapped,
        .has_pad = line->has_pad,
        .is_alternate = line->is_alternate,
    };
    k->heads.ceiling = k->texts.ceiling = SIZE_MAX;
    k->spans.ceiling = UINT32_MAX * sizeof(struct term_span);
    int e = buf_append(&k->spans, line->spans, head.n_spans * sizeof(*line->spans));
    if (!e)
        e = buf_append(&k->texts, line->text.p, line->text.n);
    return e ? e : buf_append(&k->heads, &head, sizeof(head));
}

struct term_line
play_kept_line(const struct play_kept *k, size_t i, uint8_t *text)
{
    const struct play_kept_head *head = play_kept_head(k, i);
    const struct term_span *spans = (const void *)k->spans.p;
    return (struct term_line){
        .text = { .p = text, .n = head->text_len },
        .cols = head->cols,
        .row_cols = head->row_cols,
        .last_write_byte = head->last_write_byte,
        .is_wrapped = head->is_wrapped,
        .has_pad = head->has_pad,
        .is_alternate = head->is_alternate,
        .spans = head->n_spans ? spans + head->span_at : NULL,
        .n_spans = head->n_spans,
    };
}

static void
cut_front(struct buf *b, size_t n)
{
    if (!n)
        return;
    b->n -= n;
    memmove(b->p, b->p + n, b->n);
}

void
play_kept_drop(struct play_kept *k, size_t n, size_t bytes)
{
    size_t spans = n < play_kept_count(k) ? play_kept_head(k, n)->span_at
                                          : k->spans.n / sizeof(struct term_span);
    cut_front(&k->heads, n * sizeof(struct play_kept_head));
    cut_front(&k->texts, bytes);
    cut_front(&k->spans, spans * sizeof(struct term_span));
    for (size_t i = 0; i < play_kept_count(k); i++) {
        play_kept_head(k, i)->text_at -= bytes;
        play_kept_head(k, i)->span_at -= (uint32_t)spans;
    }
}

static int
by_position(const void *a, const void *b)
{
    const struct play_kept_head *x = a, *y = b;
    if (x->last_write_byte != y->last_write_byte)
        return x->last_write_byte < y->last_write_byte ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void
play_kept_sort(struct play_kept *k)
{
    if (k->heads.n)
        qsort(k->heads.p, play_kept_count(k), sizeof(struct play_kept_head), by_position);
}
