/* SPDX-License-Identifier: MIT */
/* texts_lane.c -- literal texts in the lanes of a stream, in place of what rules find. */
#include "redact/lane_priv.h"
#include "redact/only.h"

static struct texts_input
input_of(const struct lane *l)
{
    return (struct texts_input){ { l->text.p, l->text.n }, l->base, l };
}

void
texts_lane_add(struct lane *l, uint64_t start, uint64_t end)
{
    size_t n = LANE_COUNT(struct lane_span, &l->spans);
    struct lane_span *last = n ? LANE_ITEMS(struct lane_span, &l->spans) + n - 1 : NULL;
    if (!last || last->end <= start || end <= last->start) {
        struct lane_span s = { start, end, 0, false };
        buf_append(&l->spans, &s, sizeof(s));
        return;
    }
    last->start = start < last->start ? start : last->start;
    last->end = end > last->end ? end : last->end;
}

static void
found(void *ctx, uint64_t start, uint64_t end)
{
    struct lane *l = ctx;
    uint64_t raw_start = lane_raw(l, start), raw_end = lane_raw(l, end - 1) + 1;
    if (raw_end - raw_start < REDACT_TEXTS_HOLD) /* else its beginning may be gone */
        texts_lane_add(l, raw_start, raw_end);
}

int
texts_lane_settle(struct lane *l, uint64_t raw_end, bool is_end)
{
    const struct texts *t = l->redact->texts;
    struct texts_input in = input_of(l);
    texts_scan(t, &l->texts, &in, l->scanned, found, l);
    l->scanned = lane_end(l);
    while (l->texts.node && raw_end - lane_raw(l, l->texts.start) >= REDACT_TEXTS_HOLD)
        texts_give_up(t, &l->texts, &in);
    if (is_end && !l->is_whole && texts_begun(t, &l->texts) >= REDACT_TEXT_MIN)
        found(l, l->texts.start, l->texts.end);
    return l->spans.failed;
}

uint64_t
texts_lane_hold(const struct lane *l)
{
    return l->texts.node ? lane_raw(l, l->texts.start) : UINT64_MAX;
}
