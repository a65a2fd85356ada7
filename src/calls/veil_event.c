/* SPDX-License-Identifier: MIT */
/* veil_event.c -- an event as it may be written: with what is let out of its texts, and
 * without what is secret by itself. */
#include "base/json.h"
#include "calls/mask.h"
#include "calls/veil_priv.h"

struct veil_part *
veil_event_parts(const struct veil_event *e, size_t *ret_n)
{
    *ret_n = e->parts.n / sizeof(struct veil_part);
    return (struct veil_part *)(void *)e->parts.p;
}

bool
veil_part_is_own(const struct veil_part *p)
{
    return !p->lane && !p->is_changed;
}

void
veil_event_release_parts(struct veil_event *e)
{
    size_t n;
    struct veil_part *parts = veil_event_parts(e, &n);
    for (size_t i = 0; i < n; i++)
        buf_release(&parts[i].text);
    buf_release(&e->parts);
}

void
veil_event_release(struct veil_event *e)
{
    veil_event_release_parts(e);
    buf_release(&e->bytes);
    buf_release(&e->shown);
}

void
veil_sheet_release(struct veil_sheet *s)
{
    buf_release(&s->put);
    buf_release(&s->pieces);
    buf_release(&s->masked);
}

/* -- what was let out of its texts -- */

/* Does a part stand as it came? */
static bool
stays(const struct veil_part *p, bool has_echoes)
{
    return p->is_echo ? has_echoes : veil_part_is_own(p);
}

/* 1: not all of it is as it came. */
static int
put_event(struct veil_sheet *s, const struct veil_event *e, bool has_echoes)
{
    size_t n, from = 0, changed = 0;
    const struct veil_part *parts = veil_event_parts(e, &n);
    buf_clear(&s->put);
    for (size_t i = 0; i < n; i++) {
        struct json j = { .out = &s->put };
        if (stays(&parts[i], has_echoes))
            continue;
        buf_append(&s->put, e->bytes.p + from, parts[i].at - from);
        if (parts[i].is_echo)
            json_none(&j);
        else
            json_bytes(&j, (struct view){ parts[i].text.p, parts[i].text.n });
        from = parts[i].at + parts[i].n;
        changed++;
    }
    int r = from < e->bytes.n ? buf_append(&s->put, e->bytes.p + from, e->bytes.n - from)
                              : s->put.failed;
    return r < 0 ? r : changed > 0;
}

/* -- what is secret by itself -- */

/* What was put; 1: something of it was masked. */
static int
mask_event(struct veil_sheet *s, struct redact *redact)
{
    struct view event = { s->put.p, s->put.n }, json;
    int r = veil_text_find(event, &s->pieces, &json);
    if (!json.n)
        json = event;
    size_t before = (size_t)(json.p - event.p), behind = event.n - before - json.n;
    buf_clear(&s->masked);
    buf_append(&s->masked, event.p, before);
    if (r >= 0)
        r = calls_mask_text(redact, json, &s->masked);
    if (r >= 0 && behind)
        buf_append(&s->masked, json.p + json.n, behind);
    if (r >= 0)
        r = s->masked.failed;
    if (r < 0 || s->masked.n != event.n)
        return r < 0 ? r : 1;
    return event.n && memcmp(s->masked.p, event.p, event.n) != 0;
}

static bool
has_echo(const struct veil_event *e)
{
    size_t n;
    const struct veil_part *parts = veil_event_parts(e, &n);
    while (n > 0 && !parts[n - 1].is_echo)
        n--;
    return n > 0;
}

int
veil_event_show(const struct veil_event *e, struct redact *redact, struct veil_sheet *s)
{
    int r = put_event(s, e, true), changed = r;
    if (r >= 0)
        r = mask_event(s, redact);
    if (r < 0 || !(changed || r) || !has_echo(e))
        return r < 0 ? r : 0;
    r = put_event(s, e, false);
    if (r >= 0)
        r = mask_event(s, redact);
    return r < 0 ? r : 0;
}
