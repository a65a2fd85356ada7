/* SPDX-License-Identifier: MIT */
#include "base/queue.h"

size_t
queue_size(const struct queue *q)
{
    return q->b.n - q->at;
}

struct view
queue_view(const struct queue *q)
{
    return (struct view){ q->b.p ? q->b.p + q->at : NULL, queue_size(q) };
}

void
queue_drop(struct queue *q, size_t n)
{
    q->at += n;
    if (q->at == q->b.n)
        queue_clear(q);
}

void
queue_clear(struct queue *q)
{
    buf_clear(&q->b);
    q->at = 0;
}

void
queue_compact(struct queue *q)
{
    if (q->at <= q->b.n / 2)
        return;
    memmove(q->b.p, q->b.p + q->at, queue_size(q));
    q->b.n -= q->at;
    q->at = 0;
}

int
queue_put(struct queue *q, struct view v)
{
    queue_compact(q);
    return buf_append(&q->b, v.p, v.n);
}

void
queue_release(struct queue *q)
{
    buf_release(&q->b);
    q->at = 0;
}
