/* SPDX-License-Identifier: MIT */
/* reply_kit.c -- replies of a model's API, read and written down. */
#include "support/reply_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "support/turn_kit.h"

static int
show(void *ctx, const struct turn_event *e)
{
    if (e->is_final)
        buf_puts(ctx, "final ");
    return turn_kit_write(ctx, e);
}

static void
put_facts(const struct turn_reply *r, struct buf *out)
{
    const struct turn_reply_facts f = turn_reply_facts(r);
    struct turn_usage usage = f.usage;
    static const char *const names[TURN_USAGE_FIELDS] = { "in", "out", "made", "read" };
    buf_printf(out, "= %s", turn_api_name(f.api));
    if (f.id.n)
        buf_printf(out, " id=%.*s", (int)f.id.n, (const char *)f.id.p);
    if (f.model.n)
        buf_printf(out, " model=%.*s", (int)f.model.n, (const char *)f.model.p);
    if (f.stop.n)
        buf_printf(out, " stop=%.*s", (int)f.stop.n, (const char *)f.stop.p);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&usage, i) != TURN_UNKNOWN)
            buf_printf(out, " %s=%llu", names[i],
                       (unsigned long long)*turn_usage_field(&usage, i));
    buf_puts(out, f.is_final ? " final" : "");
    buf_puts(out, f.is_whole ? " whole" : "");
    buf_puts(out, f.has_failed ? " failed" : "");
    buf_puts(out, "\n");
}

static struct turn_reply *
begin(enum turn_api api)
{
    struct turn_reply *r;
    if (turn_reply_new(&r, api) < 0)
        abort();
    return r;
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct turn_reply *r, const uint8_t *p, size_t n, struct buf *out)
{
    uint8_t *own = malloc(n ? n : 1);
    if (!own)
        abort();
    if (n)
        memcpy(own, p, n);
    if (turn_reply_feed(r, (struct view){ own, n }, show, out) < 0)
        abort();
    free(own);
}

void
reply_kit_stream(enum turn_api api, struct view bytes, size_t first, size_t step,
                 struct buf *out)
{
    struct turn_reply *r = begin(api);
    for (size_t at = 0, n = first; at < bytes.n; at += n, n = step) {
        n = n < bytes.n - at ? n : bytes.n - at;
        feed(r, bytes.p + at, n, out);
    }
    if (turn_reply_end(r, show, out) < 0)
        abort();
    put_facts(r, out);
    turn_reply_free(r);
}

void
reply_kit_body(enum turn_api api, struct view json, struct buf *out)
{
    struct turn_reply *r = begin(api);
    uint8_t *own = malloc(json.n ? json.n : 1);
    if (!own)
        abort();
    if (json.n)
        memcpy(own, json.p, json.n);
    if (turn_reply_body(r, (struct view){ own, json.n }, show, out) < 0 ||
        turn_reply_end(r, show, out) < 0)
        abort();
    free(own);
    put_facts(r, out);
    turn_reply_free(r);
}

static void
put_json(const char *text, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_append(out, text[i] == '\'' ? "\"" : text + i, 1);
}

void
reply_kit_events(const char *lines, struct buf *out)
{
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        buf_puts(out, "data: ");
        put_json(lines, n, out);
        buf_puts(out, "\n\n");
        lines += n + (lines[n] == '\n');
    }
}

/* -- what must hold -- */

static void
check_cuts(enum turn_api api, struct view bytes, const char *want)
{
    for (size_t cut = 1; cut <= bytes.n; cut++) {
        AUTO(buf) out = { 0 };
        reply_kit_stream(api, bytes, cut, bytes.n, &out);
        assert_string_equal(buf_str(&out), want);
    }
    AUTO(buf) out = { 0 };
    reply_kit_stream(api, bytes, 1, 1, &out);
    assert_string_equal(buf_str(&out), want);
}

static bool
is_within(uint64_t part, uint64_t whole)
{
    return part == TURN_UNKNOWN || (whole != TURN_UNKNOWN && part <= whole);
}

/* What is cached of the input may be told last. */
static uint64_t
all_input(struct turn_usage u)
{
    bool has_both = u.input_tokens != TURN_UNKNOWN && u.cache_read_tokens != TURN_UNKNOWN;
    return has_both ? u.input_tokens + u.cache_read_tokens : u.input_tokens;
}

static void
check_least(const struct turn_reply_facts *broken, const struct turn_reply *whole)
{
    struct turn_usage part = broken->usage, all = turn_reply_facts(whole).usage;
    if (broken->before != turn_reply_facts(whole).before) /* of another message */
        return;
    assert_true(is_within(all_input(part), all_input(all)));
    if (!broken->is_final)
        part.input_tokens = TURN_UNKNOWN;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t a = *turn_usage_field(&part, i), b = *turn_usage_field(&all, i);
        assert_true(is_within(a, b));
        assert_true(!broken->is_final || a == b);
    }
}

/* Byte by byte; each prefix ends in one of its own. */
static void
check_broken(enum turn_api api, struct view bytes)
{
    struct turn_reply *whole = begin(api);
    AUTO(buf) all = { 0 };
    AUTO(buf) end = { 0 };
    feed(whole, bytes.p, bytes.n, &all);
    assert_int_equal(turn_reply_end(whole, show, &end), 0);
    for (size_t n = 0; n < bytes.n; n++) {
        AUTO(buf) out = { 0 };
        struct turn_reply *r = begin(api);
        feed(r, bytes.p, n, &out);
        assert_true(out.n <= all.n);
        assert_true(!out.n || !memcmp(out.p, all.p, out.n));
        assert_int_equal(turn_reply_end(r, show, &out), 0);
        const struct turn_reply_facts f = turn_reply_facts(r);
        check_least(&f, whole);
        turn_reply_free(r);
    }
    turn_reply_free(whole);
}

void
reply_kit_check_known(enum turn_api api, const char *lines, const char *want)
{
    AUTO(buf) bytes = { 0 };
    reply_kit_events(lines, &bytes);
    struct view stream = { bytes.p, bytes.n };
    check_cuts(api, stream, want);
    check_broken(api, stream);
}

void
reply_kit_check(enum turn_api api, const char *lines, const char *want)
{
    AUTO(buf) bytes = { 0 };
    reply_kit_check_known(api, lines, want);
    reply_kit_events(lines, &bytes);
    check_cuts(TURN_API_AUTO, (struct view){ bytes.p, bytes.n }, want);
}

void
reply_kit_check_body(enum turn_api api, const char *json, const char *want)
{
    const enum turn_api apis[] = { api, TURN_API_AUTO };
    AUTO(buf) body = { 0 };
    put_json(json, strlen(json), &body);
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) out = { 0 };
        reply_kit_body(apis[i], (struct view){ body.p, body.n }, &out);
        assert_string_equal(buf_str(&out), want);
    }
}
