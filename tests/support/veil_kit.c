/* SPDX-License-Identifier: MIT */
/* veil_kit.c -- events on their way through a veil, and what must hold for all of them.
 */
#include "support/veil_kit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/json_in.h"
#include "support/redact_kit.h"
#include "support/text_view.h"

/* -- what is handed out -- */

static void
set(struct buf *b, struct view bytes)
{
    buf_clear(b);
    assert_int_equal(buf_append(b, bytes.p, bytes.n), 0);
}

static int
count_call(struct veil_kit *k)
{
    assert_true(!k->fail_at || k->calls < k->fail_at); /* none follows one that failed */
    return ++k->calls == k->fail_at ? -ENOSPC : 0;
}

static int
write_one(void *ctx, const struct calls_veiled *v)
{
    struct veil_kit *k = ctx;
    assert_true(v->event < k->n && v->event >= k->settled);
    struct veil_kit_event *e = &k->events[v->event];
    assert_int_equal(v->is_again, v->event < k->written);
    assert_int_equal(v->ts_ns, e->ts_ns);
    if (v->is_again) {
        assert_true(e->is_held);
        assert_true(v->bytes.n != e->last.n || memcmp(v->bytes.p, e->last.p, e->last.n));
        e->again++;
    } else {
        assert_int_equal(v->event, k->written++);
        set(&e->first, v->bytes);
    }
    set(&e->last, v->bytes);
    e->is_held = v->is_held;
    assert_int_equal(buf_append(&k->all, v->bytes.p, v->bytes.n), 0);
    return count_call(k);
}

static int
settle_one(void *ctx, const struct calls_veiled *v)
{
    struct veil_kit *k = ctx;
    assert_int_equal(v->event, k->settled);
    assert_true(k->settled < k->written);
    const struct veil_kit_event *e = &k->events[k->settled++];
    assert_int_equal(v->ts_ns, e->ts_ns);
    assert_false(v->is_held || v->is_again);
    kit_same(v->bytes, veil_kit_view(&e->last), "what is settled was written last");
    return count_call(k);
}

static const struct calls_veil_to *
to_kit(struct veil_kit *k)
{
    static struct calls_veil_to to;
    to = (struct calls_veil_to){ write_one, settle_one, k };
    return &to;
}

void
veil_kit_open(struct veil_kit *k, struct redact *redact)
{
    *k = (struct veil_kit){ .mask = { .redact = redact } };
    assert_int_equal(calls_veil_new(&k->veil, &k->mask), 0);
}

void
veil_kit_close(struct veil_kit *k)
{
    calls_veil_free(k->veil);
    calls_mask_release(&k->mask);
    for (size_t i = 0; i < k->n; i++) {
        buf_release(&k->events[i].came);
        buf_release(&k->events[i].first);
        buf_release(&k->events[i].last);
    }
    free(k->events);
    buf_release(&k->all);
}

static void
add_event(struct veil_kit *k, struct view bytes)
{
    if (k->n == k->room) {
        k->room = k->room ? 2 * k->room : 64;
        k->events = realloc(k->events, k->room * sizeof(*k->events));
        assert_non_null(k->events);
    }
    struct veil_kit_event *e = &k->events[k->n];
    *e = (struct veil_kit_event){ .ts_ns = 1000 + 7 * k->n };
    k->n++;
    set(&e->came, bytes);
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static int
try(struct veil_kit *k, struct view bytes, enum calls_split_end end)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    add_event(k, bytes);
    int r = calls_veil_event(k->veil, (struct view){ own, bytes.n }, end,
                             k->events[k->n - 1].ts_ns, to_kit(k));
    free(own);
    if (k->written - k->settled > k->waited)
        k->waited = k->written - k->settled;
    return r;
}

int
veil_kit_try(struct veil_kit *k, struct view bytes)
{
    return try(k, bytes, CALLS_SPLIT_WHOLE);
}

void
veil_kit_feed_part(struct veil_kit *k, const char *part, enum calls_split_end end)
{
    struct view bytes = { (const uint8_t *)part, strlen(part) };
    assert_int_equal(try(k, bytes, end), 0);
}

int
veil_kit_try_end(struct veil_kit *k)
{
    return calls_veil_end(k->veil, to_kit(k));
}

void
veil_kit_feed(struct veil_kit *k, struct view bytes)
{
    assert_int_equal(veil_kit_try(k, bytes), 0);
    assert_int_equal(k->written, k->n);
}

void
veil_kit_end(struct veil_kit *k)
{
    assert_int_equal(veil_kit_try_end(k), 0);
    assert_int_equal(k->settled, k->n);
}

void
veil_kit_feed_text(struct veil_kit *k, const char *event)
{
    veil_kit_feed(k, text_view(event));
}

/* -- events -- */

struct view
veil_kit_view(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

struct view
veil_kit_piece(const struct buf *text, size_t at, size_t n)
{
    n = n < text->n - at ? n : text->n - at;
    while (at + n < text->n && (text->p[at + n] & 0xc0) == 0x80)
        n++;
    return (struct view){ text->p + at, n };
}

void
veil_kit_put(struct buf *out, const char *pattern, struct view a, struct view b)
{
    for (; *pattern; pattern++)
        if (*pattern == '#')
            buf_append(out, a.p, a.n);
        else if (*pattern == '@')
            buf_append(out, b.p, b.n);
        else
            buf_append(out, pattern, 1);
    assert_int_equal(out->failed, 0);
}

void
veil_kit_feed_piece(struct veil_kit *k, const char *pattern, struct view piece)
{
    AUTO(buf) event = { 0 };
    veil_kit_put(&event, pattern, piece, (struct view){ 0 });
    veil_kit_feed(k, veil_kit_view(&event));
}

/* -- pieces of texts -- */

const struct veil_kit_style veil_kit_styles[] = {
    { "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":#,"
      "\"delta\":{\"type\":\"text_delta\",\"text\":",
      "}}\n\n" },
    { "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":#,"
      "\"delta\":{\"type\":\"thinking_delta\",\"thinking\":",
      "}     }\n\n" },
    { "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":#,"
      "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":",
      "}}\n\n" },
    { "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
      "\"choices\":[{\"index\":#,\"delta\":{\"content\":",
      "},\"logprobs\":null,\"finish_reason\":null}]}\n\n" },
    { "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":#,"
      "\"function\":{\"arguments\":",
      "}}]}}]}\n\n" },
    { "data:{\"choices\": [{\"delta\": {\"role\": \"assistant\", \"content\": \"\", "
      "\"reasoning_content\": ",
      "}, \"index\": #}]}\n\n" },
    { "data: {\"choices\":[{\"text\":", ",\"index\":#,\"finish_reason\":null}]}\r\r" },
    { "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
      "\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":#,\"content_index\":"
      "0,"
      "\"delta\":",
      "}\n\n" },
    { "event: response.function_call_arguments.delta\ndata: {\"type\":"
      "\"response.function_call_arguments.delta\",\"item_id\":\"fc_1\",\"output_index\":#"
      ","
      "\"delta\":",
      ",\"obfuscation\":\"xyz\"}\n\n" },
    { "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": ",
      "}],\"role\": \"model\"},\"index\": #}],\"usageMetadata\": {\"promptTokenCount\": "
      "7},\"modelVersion\": \"gemini\"}\r\n\r\n" },
};
const size_t veil_kit_style_count = sizeof(veil_kit_styles) / sizeof(veil_kit_styles[0]);

static void
put_frame(const char *frame, unsigned text, struct buf *out)
{
    for (; *frame; frame++)
        if (*frame == '#')
            buf_put_u64(out, text);
        else
            buf_append(out, frame, 1);
}

static void
put_string(enum veil_kit_escapes escapes, struct view piece, struct buf *out)
{
    struct json j = { .out = out };
    if (escapes == VEIL_KIT_PLAIN) {
        json_bytes(&j, piece);
        return;
    }
    buf_puts(out, "\"");
    for (size_t i = 0; i < piece.n; i++) {
        uint8_t c = piece.p[i];
        bool is_plain = c >= 0x80 || (escapes == VEIL_KIT_SOME && c >= 0x20 && c % 3);
        if (escapes == VEIL_KIT_SOME && c == '/')
            buf_puts(out, "\\/");
        else if (is_plain && c != '"' && c != '\\')
            buf_append(out, &c, 1);
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_puts(out, "\"");
}

void
veil_kit_make(const struct veil_kit_style *style, unsigned text,
              enum veil_kit_escapes escapes, struct view piece, struct buf *out)
{
    put_frame(style->before, text, out);
    put_string(escapes, piece, out);
    put_frame(style->after, text, out);
    assert_int_equal(out->failed, 0);
}

void
veil_kit_take(const struct veil_kit_style *style, unsigned text, const struct buf *event,
              struct buf *out)
{
    AUTO(buf) before = { 0 };
    AUTO(buf) after = { 0 };
    put_frame(style->before, text, &before);
    put_frame(style->after, text, &after);
    assert_true(event->n >= before.n + after.n);
    struct json_in in = { .p = event->p + before.n,
                          .end = event->p + event->n - after.n };
    kit_same((struct view){ event->p, before.n }, veil_kit_view(&before),
             "before the string");
    kit_same((struct view){ in.end, after.n }, veil_kit_view(&after),
             "behind the string");
    assert_true(json_in_str(&in, out) && in.p == in.end);
}

/* -- texts -- */

void
veil_kit_text_open(struct veil_kit_text *t, const struct veil_kit_style *style,
                   unsigned number, struct redact *redact)
{
    *t = (struct veil_kit_text){ .style = style, .number = number };
    assert_int_equal(redact_stream_new(&t->stream, redact, &(struct redact_options){ 0 }),
                     0);
}

void
veil_kit_text_close(struct veil_kit_text *t)
{
    redact_stream_free(t->stream);
    buf_release(&t->out);
    free(t->events);
}

void
veil_kit_words(const struct veil_kit *k, const struct veil_kit_text *t, bool at_first,
               struct buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct veil_kit_event *e = &k->events[t->events[i]];
        veil_kit_take(t->style, t->number, at_first ? &e->first : &e->last, out);
    }
}

/* A scanner that was lent to other texts masks what goes on anew. */
static void
drop_doubles(struct buf *words)
{
    static const char mask[] = "[REDACTED:";
    size_t kept = 0, last = 0;
    for (size_t i = 0; i < words->n;) {
        size_t left = words->n - i;
        const uint8_t *p = words->p + i;
        const uint8_t *end = left > 10 && !memcmp(p, mask, 10) ? memchr(p, ']', left) : 0;
        size_t n = end ? (size_t)(end + 1 - p) : 1;
        bool is_double = end && last == n && !memcmp(words->p + kept - n, p, n);
        if (!is_double)
            memmove(words->p + kept, p, n);
        kept += is_double ? 0 : n;
        last = end ? n : 0;
        i += n;
    }
    words->n = kept;
}

/* Nothing that the scanner holds back, at no time; and not much less than it lets out. */
static void
check_words(const struct veil_kit *k, const struct veil_kit_text *t)
{
    for (int at_first = 0; at_first < 2; at_first++) {
        AUTO(buf) words = { 0 };
        veil_kit_words(k, t, at_first, &words);
        drop_doubles(&words);
        struct view out = { t->out.p, words.n < t->out.n ? words.n : t->out.n };
        if (!at_first || words.n > t->out.n)
            kit_same(veil_kit_view(&words), out, at_first ? "at first" : "now");
    }
}

void
veil_kit_say(struct veil_kit *k, struct veil_kit_text *t, enum veil_kit_escapes escapes,
             struct view piece)
{
    AUTO(buf) event = { 0 };
    veil_kit_make(t->style, t->number, escapes, piece, &event);
    veil_kit_feed(k, veil_kit_view(&event));
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->events = realloc(t->events, t->room * sizeof(*t->events));
        assert_non_null(t->events);
    }
    t->events[t->n++] = k->n - 1;
    assert_int_equal(redact_stream_feed(t->stream, piece.p, piece.n, &t->out), 0);
    assert_int_equal(redact_stream_rest(t->stream, &t->out), 0);
    if (!t->is_long)
        check_words(k, t);
}

void
veil_kit_check_end(const struct veil_kit *k, struct veil_kit_text *t)
{
    AUTO(buf) words = { 0 };
    assert_int_equal(redact_stream_flush(t->stream, &t->out), 0);
    veil_kit_words(k, t, false, &words);
    drop_doubles(&words);
    kit_same(veil_kit_view(&words), veil_kit_view(&t->out), "in the end");
}
