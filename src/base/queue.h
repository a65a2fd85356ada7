/* SPDX-License-Identifier: MIT */
/* queue.h -- bytes that go in at one end and out at the other. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include "base/buf.h"

struct queue {
    struct buf b;
    size_t at; /* what lies before was taken */
};

size_t queue_size(const struct queue *q);
/* Borrowed until something is put into it. */
struct view queue_view(const struct queue *q);
void queue_drop(struct queue *q, size_t n);
void queue_clear(struct queue *q);
int queue_put(struct queue *q, struct view v);
/* Bytes that were taken leave room, without moving the others each time. */
void queue_compact(struct queue *q);
void queue_release(struct queue *q);

#endif
