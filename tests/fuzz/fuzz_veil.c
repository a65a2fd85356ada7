/* SPDX-License-Identifier: MIT */
/*
 * Whatever events come: each is written at once, and settled once, in order, as it was
 * written last; not many wait; where nothing was masked all are as they came; and of its
 * texts no more is shown than scanners of their own let out.
 *
 * The input: a byte (1: credentials were learnt; 2: lines are events, too), then the
 * stream.
 */
#include "base/json_in.h"
#include "calls/split.h"
#include "calls/veil.h"
#include "calls/veil_priv.h"
#include "fuzz/fuzz.h"

enum {
    WAITING_MAX = 8192,
    TEXTS = 4, /* as many as the veil has scanners */
};

struct record {
    struct calls_veil *veil;
    struct buf *came, *last;
    size_t count, room, written, settled;
};

static bool
is_same(const struct buf *a, struct view b)
{
    return a->n == b.n && (!b.n || !memcmp(a->p, b.p, b.n));
}

static int
write_one(void *ctx, const struct calls_veiled *v)
{
    struct record *r = ctx;
    CHECK(v->event >= r->settled && v->event < r->count && v->ts_ns == 3 * v->event);
    CHECK(v->is_again == (v->event < r->written));
    r->written += !v->is_again;
    buf_clear(&r->last[v->event]);
    return buf_append(&r->last[v->event], v->bytes.p, v->bytes.n);
}

static int
settle_one(void *ctx, const struct calls_veiled *v)
{
    struct record *r = ctx;
    CHECK(v->event == r->settled++ && r->settled <= r->written);
    CHECK(v->ts_ns == 3 * v->event && !v->is_held && !v->is_again);
    CHECK(is_same(&r->last[v->event], v->bytes));
    return 0;
}

static int
take_event(void *ctx, struct view event, enum calls_split_end end)
{
    struct record *r = ctx;
    const struct calls_veil_to to = { write_one, settle_one, r };
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        CHECK((r->came = realloc(r->came, r->room * sizeof(*r->came))));
        CHECK((r->last = realloc(r->last, r->room * sizeof(*r->last))));
    }
    r->came[r->count] = r->last[r->count] = (struct buf){ 0 };
    CHECK(!buf_append(&r->came[r->count], event.p, event.n));
    size_t number = r->count++;
    CHECK(!calls_veil_event(r->veil, event, end, 3 * number, &to));
    CHECK(r->written == r->count && r->written - r->settled <= WAITING_MAX);
    return 0;
}

static void
feed(struct record *r, struct view in, bool by_lines)
{
    struct calls_split split = { 0 };
    if (!by_lines) {
        CHECK(!calls_split_feed(&split, in, take_event, r));
        CHECK(!calls_split_end(&split, take_event, r));
        return;
    }
    while (in.n) {
        const uint8_t *end = memchr(in.p, '\n', in.n);
        size_t n = end ? (size_t)(end + 1 - in.p) : in.n;
        take_event(r, (struct view){ in.p, n }, CALLS_SPLIT_WHOLE);
        in = (struct view){ in.p + n, in.n - n };
    }
}

static struct redact *
rules(void)
{
    static struct redact *redact;
    struct err err;
    if (!redact)
        CHECK(!redact_open(&redact, NULL, &err));
    return redact;
}

static bool
has_mask(const struct buf *b)
{
    return b->n && (redact_has_mask(b->p, b->n) || memmem(b->p, b->n, "[left out", 9));
}

static void
check_bytes(const struct record *r)
{
    bool was_masked = false;
    for (size_t i = 0; i < r->count; i++)
        was_masked |= has_mask(&r->last[i]);
    for (size_t i = 0; i < r->count && !was_masked; i++)
        CHECK(is_same(&r->last[i], (struct view){ r->came[i].p, r->came[i].n }));
}

/* -- texts -- */

struct text {
    uint64_t lane; /* 0: there is none */
    struct redact_stream *stream;
    struct buf let, shown;
};

/* NULL: there are too many. */
static struct text *
text_of(struct text *texts, uint64_t lane)
{
    size_t i = 0;
    while (i < TEXTS && texts[i].lane && texts[i].lane != lane)
        i++;
    if (i == TEXTS)
        return NULL;
    const struct redact_options opt = { 0 };
    if (!texts[i].lane)
        CHECK(!redact_stream_new(&texts[i].stream, rules(), &opt));
    texts[i].lane = lane;
    return &texts[i];
}

static bool
add_texts(struct text *texts, const struct buf *event, bool is_shown)
{
    AUTO(buf) pieces = { 0 };
    struct view json;
    CHECK(!veil_text_find((struct view){ event->p, event->n }, &pieces, &json));
    const struct veil_piece *p = (const void *)pieces.p;
    for (size_t i = 0; i < pieces.n / sizeof(*p); i++) {
        AUTO(buf) text = { 0 };
        struct json_in in = { .p = p[i].json.p, .end = p[i].json.p + p[i].json.n };
        struct text *t = p[i].lane ? text_of(texts, p[i].lane) : NULL;
        if (p[i].lane && !t)
            return false;
        if (!t || !json_in_str(&in, &text) || !text.n)
            continue;
        if (in.is_odd) /* what is no character is written as another */
            return false;
        if (is_shown) {
            buf_append(&t->shown, text.p, text.n);
            continue;
        }
        CHECK(!redact_stream_feed(t->stream, text.p, text.n, &t->let));
        CHECK(!redact_stream_rest(t->stream, &t->let));
    }
    return true;
}

static size_t
mask_at(const struct buf *b, size_t at)
{
    size_t n = sizeof(REDACT_MASK) - 1;
    if (b->n - at < n || memcmp(b->p + at, REDACT_MASK, n) != 0)
        return 0;
    const uint8_t *end = memchr(b->p + at, ']', b->n - at);
    return end ? (size_t)(end + 1 - (b->p + at)) : 0;
}

/* Without masks the one has nothing that the other has not, in its order. */
static void
check_shown(const struct buf *shown, const struct buf *let)
{
    size_t k = 0, n;
    for (size_t i = 0; i < shown->n; i++) {
        if ((n = mask_at(shown, i))) {
            i += n - 1;
            continue;
        }
        while (k < let->n && ((n = mask_at(let, k)) || let->p[k] != shown->p[i]))
            k += n ? n : 1;
        CHECK(k++ < let->n);
    }
}

static void
check_texts(const struct record *r)
{
    struct text texts[TEXTS] = { 0 };
    bool is_followed = r->count < 1000;
    for (size_t i = 0; i < r->count && is_followed; i++)
        is_followed = !has_mask(&r->came[i]) && add_texts(texts, &r->came[i], false) &&
                      add_texts(texts, &r->last[i], true);
    for (size_t i = 0; i < TEXTS && texts[i].lane; i++) {
        CHECK(!redact_stream_flush(texts[i].stream, &texts[i].let));
        if (is_followed)
            check_shown(&texts[i].shown, &texts[i].let);
        redact_stream_free(texts[i].stream);
        buf_release(&texts[i].let);
        buf_release(&texts[i].shown);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    uint8_t flags = fuzz_byte(&in);
    struct calls_mask mask = { .redact = rules() };
    struct record r = { 0 };
    const struct calls_veil_to to = { write_one, settle_one, &r };
    const struct calls_header key = {
        { (const uint8_t *)"x-api-key", 9 },
        { (const uint8_t *)"horse/battery", 13 },
    };
    if (flags & 1)
        calls_mask_learn(&mask, &key);
    CHECK(!calls_veil_new(&r.veil, &mask));
    feed(&r, in, flags & 2);
    CHECK(!calls_veil_end(r.veil, &to));
    CHECK(r.settled == r.count);
    check_bytes(&r);
    if (!(flags & 1))
        check_texts(&r);
    calls_veil_free(r.veil);
    calls_mask_release(&mask);
    for (size_t i = 0; i < r.count; i++) {
        buf_release(&r.came[i]);
        buf_release(&r.last[i]);
    }
    free(r.came);
    free(r.last);
    return 0;
}
