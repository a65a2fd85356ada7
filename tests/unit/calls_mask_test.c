/* SPDX-License-Identifier: MIT */
/* calls_mask_test.c -- credentials out of headers, URLs and bodies, and out of whatever
 * says them again; all else as it came. Credentials are made when the test runs. */
#include "calls/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/redact_kit.h"
#include "support/rng.h"
#include "support/text_view.h"

#define SAID "[REDACTED:credential]"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* `name` stands for a secret of that kind; the same one for the same number. */
static const char *
make(struct buf *room, const char *sample, uint32_t number)
{
    uint32_t rng = rng_seed(number);
    buf_clear(room);
    kit_expand(room, sample, &rng);
    return buf_str(room);
}

static struct calls_mask
mask_with(struct redact *r)
{
    return (struct calls_mask){ .redact = r };
}

static void
learn(struct calls_mask *m, const char *name, const char *value)
{
    const struct calls_header h = { text_view(name), text_view(value) };
    calls_mask_learn(m, &h);
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct calls_mask *m, struct calls_mask_stream *s, struct view bytes,
     struct buf *out)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    assert_int_equal(calls_mask_feed(m, s, (struct view){ own, bytes.n }, out), 0);
    free(own);
}

/* Cut at `cut`, or with 0 into bytes. */
static void
stream(struct calls_mask *m, struct view text, size_t cut, struct buf *out)
{
    struct calls_mask_stream s = { 0 };
    size_t step = cut ? cut : 1;
    for (size_t at = 0; at < text.n; at += step, step = cut ? text.n : 1)
        feed(m, &s, (struct view){ text.p + at, step < text.n - at ? step : text.n - at },
             out);
    assert_int_equal(calls_mask_flush(m, &s, out), 0);
    calls_mask_stream_release(&s);
}

static void
body_becomes(struct calls_mask *m, const char *text, const char *want)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(calls_mask_body(m, text_view(text), &out), 0);
    kit_same(view_of(&out), text_view(want), text);
}

/* Whole, and streamed with a cut anywhere. */
static void
text_becomes(struct calls_mask *m, const char *text, const char *want)
{
    body_becomes(m, text, want);
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        AUTO(buf) out = { 0 };
        stream(m, text_view(text), cut, &out);
        kit_same(view_of(&out), text_view(want), "streamed");
    }
}

static void
url_becomes(struct calls_mask *m, const char *url, const char *want)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(calls_mask_url(m, text_view(url), &out), 0);
    kit_same(view_of(&out), text_view(want), url);
}

static void
header_becomes(struct calls_mask *m, const char *name, const char *value,
               const char *want)
{
    AUTO(buf) out = { 0 };
    const struct calls_header h = { text_view(name), text_view(value) };
    assert_int_equal(calls_mask_header(m, &h, &out), 0);
    kit_same(view_of(&out), text_view(want), name);
}

/* In pieces, as the texts of events are: seconds. */
static double
said_in_s(struct calls_mask *m, struct view text, size_t piece, struct buf *out)
{
    struct calls_said s = { 0 };
    double start = measure_cpu_s();
    for (size_t at = 0; at < text.n; at += piece) {
        size_t n = piece < text.n - at ? piece : text.n - at;
        assert_int_equal(calls_said_feed(m, &s, (struct view){ text.p + at, n }, out), 0);
    }
    assert_int_equal(calls_said_flush(m, &s, out), 0);
    return measure_cpu_s() - start;
}

/* -- names -- */

static void
names_of_credentials_are_known(void **state)
{
    (void)state;
    static const char *const names[] = {
        "authorization",
        "Authorization",
        "PROXY-AUTHORIZATION",
        "x-api-key",
        "X-Api-Key",
        "api-key",
        "x-goog-api-key",
        "Cookie",
        "set-cookie",
        "cookie2",
        "Set-Cookie2",
        "x-auth-token",
        "X-Amz-Security-Token",
        "x-amz-signature",
        "X-Amz-Credential",
        "ocp-apim-subscription-key",
        "x-functions-key",
        "Private-Token",
        "job-token",
        "x-vault-token",
        "cf-access-client-secret",
        "cf-access-jwt-assertion",
        "x-forwarded-access-token",
        "x-csrf-token",
        "openai-organization-key",
        "X-Auth",
        "access_token",
        "refresh_token",
        "client_secret",
        "api_key",
        "apikey",
        "apiKey",
        "key",
        "token",
        "sig",
        "auth",
        "password",
        "secret",
        "signature",
        "jwt",
        "pwd",
        "accessToken",
        "clientSecret",
        "idToken",
        "user_password",
        "X-Hub-Signature",
        "x_api_key",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!calls_mask_is_credential(text_view(names[i])))
            fail_msg("harmless: %s", names[i]);
}

static void
names_of_other_things_are_harmless(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "-",
        "host",
        "accept",
        "content-type",
        "content-length",
        "user-agent",
        "anthropic-version",
        "anthropic-beta",
        "x-request-id",
        "request-id",
        "etag",
        "x-ratelimit-remaining-tokens",
        "anthropic-ratelimit-tokens-limit",
        "x-ratelimit-limit-tokens",
        "max_tokens",
        "idempotency-key",
        "Idempotency_Key",
        "x-idempotency-key",
        "sec-websocket-key",
        "Sec-WebSocket-Key",
        "surrogate-key",
        "prompt_cache_key",
        "monkey",
        "turkey",
        "tokens",
        "keys",
        "keyboard",
        "author",
        "authority",
        "www-authenticate",
        "cookies",
        "x-stainless-os",
        "secretary",
        "x-api-keyword",
        "signatures",
        "design",
        "x-api-key-id",
        "openai-organization",
        "beta",
        "alt",
        "MONKEY",
        "x-keytoken",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (calls_mask_is_credential(text_view(names[i])))
            fail_msg("a credential: %s", names[i]);
}

/* -- headers -- */

static void
a_credential_is_masked_whatever_it_looks_like(void **state)
{
    struct calls_mask m = mask_with(*state);
    header_becomes(&m, "Authorization", "Bearer x", "[REDACTED:header]");
    header_becomes(&m, "x-api-key", "test", "[REDACTED:header]");
    header_becomes(&m, "cookie", "", "[REDACTED:header]");
    header_becomes(&m, "accept", "*/*", "*/*");
    header_becomes(&m, "idempotency-key", "retry-7", "retry-7");
    header_becomes(&m, "x-empty", "", "");
    calls_mask_release(&m);
}

static void
a_secret_in_another_header_is_masked(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) token = { 0 };
    AUTO(buf) value = { 0 };
    buf_printf(&value, "for %s, please", make(&token, "<ghp>", 1));
    header_becomes(&m, "x-note", buf_str(&value), "for [REDACTED:github-pat], please");
    calls_mask_release(&m);
}

static void
a_url_in_a_header_is_masked_as_one(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) url = { 0 };
    AUTO(buf) text = { 0 };
    buf_printf(&url, "https://h.example/x?a=1&sig=%s", make(&own, "<lower*24>", 1));
    learn(&m, "Location", buf_str(&url));
    header_becomes(&m, "location", buf_str(&url),
                   "https://h.example/x?a=1&sig=[REDACTED:query]");
    header_becomes(&m, "Referer", "/x?key=abc#top", "/x?key=[REDACTED:query]");
    buf_printf(&text, "go to %s", buf_str(&own));
    text_becomes(&m, buf_str(&text), "go to " SAID);
    calls_mask_release(&m);
}

/* -- echoes -- */

static void
what_a_header_said_is_masked_in_bodies(void **state)
{
    static const char *const schemes[] = { "", "Bearer ", "Basic ", "token  " };
    for (uint32_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        struct calls_mask m = mask_with(*state);
        AUTO(buf) own = { 0 };
        AUTO(buf) value = { 0 };
        AUTO(buf) text = { 0 };
        make(&own, "<lower*30>", i);
        buf_printf(&value, " %s%s\t", schemes[i], buf_str(&own));
        learn(&m, "authorization", buf_str(&value));
        buf_printf(&text, "invalid key: %s.", buf_str(&own));
        text_becomes(&m, buf_str(&text), "invalid key: " SAID ".");
        buf_clear(&text);
        buf_printf(&text, "{\"error\":\"invalid: %s%s\"}", schemes[i], buf_str(&own));
        text_becomes(&m, buf_str(&text), "{\"error\":\"invalid: " SAID "\"}");
        calls_mask_release(&m);
    }
}

static void
harmless_headers_teach_nothing(void **state)
{
    struct calls_mask m = mask_with(*state);
    learn(&m, "user-agent", "an-agent-of-some-kind/1.0");
    learn(&m, "x-api-key", "short");
    learn(&m, "authorization", "");
    learn(&m, "authorization", "Bearer");
    text_becomes(&m, "an-agent-of-some-kind/1.0 is short, Bearer",
                 "an-agent-of-some-kind/1.0 is short, Bearer");
    assert_null(m.learnt);
    calls_mask_release(&m);
}

static void
each_cookie_is_known_by_its_value(void **state)
{
    struct calls_mask m = mask_with(*state);
    struct buf own[6] = { { 0 } };
    AUTO(buf) value = { 0 };
    AUTO(buf) text = { 0 };
    for (uint32_t i = 0; i < 6; i++)
        make(&own[i], "<lower*20>", i);
    buf_printf(&value, "a=%s; b=%s;c=\"%s\"; %s; d=%%2B%s", buf_str(&own[0]),
               buf_str(&own[1]), buf_str(&own[2]), buf_str(&own[3]), buf_str(&own[4]));
    learn(&m, "Cookie", buf_str(&value));
    buf_clear(&value);
    buf_printf(&value, "sid=%s; Path=/somewhere-else; HttpOnly", buf_str(&own[5]));
    learn(&m, "Set-Cookie", buf_str(&value));
    for (int i = 0; i < 6; i++)
        buf_printf(&text, "<%s%s>", i == 4 ? "+" : "", buf_str(&own[i]));
    buf_puts(&text, "<%2B");
    buf_append(&text, own[4].p, own[4].n);
    buf_puts(&text, "> /somewhere-else");
    text_becomes(&m, buf_str(&text),
                 "<" SAID "><" SAID "><" SAID "><" SAID "><" SAID "><" SAID "><" SAID
                 "> /somewhere-else");
    for (int i = 0; i < 6; i++)
        buf_release(&own[i]);
    calls_mask_release(&m);
}

static void
an_echo_is_known_with_the_escapes_of_json(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) one = { 0 };
    AUTO(buf) two = { 0 };
    AUTO(buf) value = { 0 };
    AUTO(buf) text = { 0 };
    make(&one, "<lower*16>", 1);
    make(&two, "<lower*16>", 2);
    buf_printf(&value, "%s/\"%s", buf_str(&one), buf_str(&two));
    learn(&m, "x-api-key", buf_str(&value));
    buf_printf(&text, "%s/\"%s %s/\\\"%s %s\\/\\\"%s %s\\/%s", buf_str(&one),
               buf_str(&two), buf_str(&one), buf_str(&two), buf_str(&one), buf_str(&two),
               buf_str(&one), buf_str(&two));
    buf_clear(&value);
    buf_printf(&value, SAID " " SAID " " SAID " %s\\/%s", buf_str(&one), buf_str(&two));
    text_becomes(&m, buf_str(&text), buf_str(&value));
    calls_mask_release(&m);
}

/* Of two the shorter is the beginning of the longer. */
static void
of_two_that_begin_alike_the_longer_is_masked(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) one = { 0 };
    AUTO(buf) two = { 0 };
    AUTO(buf) text = { 0 };
    make(&one, "<lower*12>", 1);
    buf_printf(&two, "%s.%s", buf_str(&one), "signedbysomebody");
    learn(&m, "x-api-key", buf_str(&one));
    learn(&m, "x-auth-token", buf_str(&two));
    buf_printf(&text, "%s, %s, %s.sign", buf_str(&one), buf_str(&two), buf_str(&one));
    text_becomes(&m, buf_str(&text), SAID ", " SAID ", " SAID ".sign");
    calls_mask_release(&m);
}

static void
two_that_reach_over_each_other_leave_nothing(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) all = { 0 };
    AUTO(buf) text = { 0 };
    make(&all, "<lower*40>", 1);
    for (size_t at = 0; at < 40; at += 8) { /* each has half of the next */
        struct calls_header h = { text_view("x-api-key"), { all.p + at, 16 } };
        if (at + 16 <= 40)
            calls_mask_learn(&m, &h);
    }
    buf_printf(&text, "<%s><%s>%s%s", buf_str(&all), buf_str(&all), buf_str(&all),
               buf_str(&all));
    text_becomes(&m, buf_str(&text), "<" SAID "><" SAID ">" SAID SAID);
    calls_mask_release(&m);
}

/* Of those that all begin alike and reach over each other, by a plain search. */
static void
any_of_many_is_found_wherever_it_stands(void **state)
{
    enum { COUNT = 12, SIZE = 8, BYTES = 400 };
    uint32_t rng = rng_seed(5);
    for (int round = 0; round < 200; round++) {
        struct calls_mask m = mask_with(*state);
        char own[COUNT][2 * SIZE + 1] = { 0 }, text[BYTES + 1] = { 0 };
        AUTO(buf) want = { 0 };
        AUTO(buf) out = { 0 };
        for (size_t i = 0; i < COUNT; i++) {
            for (size_t n = SIZE + rng_below(&rng, SIZE + 1); n > 0; n--)
                own[i][n - 1] = rng_below(&rng, 4) ? 'a' : 'b';
            learn(&m, "x-api-key", own[i]);
        }
        for (size_t i = 0; i < BYTES; i++)
            text[i] = "aaaaabbc"[rng_below(&rng, 8)];
        size_t end = 0;
        for (size_t i = 0; i < BYTES; i++) {
            size_t longest = 0;
            for (size_t k = 0; k < COUNT; k++)
                if (!strncmp(text + i, own[k], strlen(own[k])) &&
                    strlen(own[k]) > longest)
                    longest = strlen(own[k]);
            if (longest && i >= end)
                buf_puts(&want, SAID);
            end = i + longest > end ? i + longest : end;
            if (i >= end)
                buf_append(&want, text + i, 1);
        }
        assert_int_equal(calls_mask_said(&m, text_view(text), &out), 0);
        kit_same(view_of(&out), view_of(&want), text);
        buf_clear(&out);
        stream(&m, text_view(text), rng_below(&rng, BYTES), &out);
        kit_same(view_of(&out), view_of(&want), text);
        calls_mask_release(&m);
    }
}

static void
a_beginning_alone_stays(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    make(&own, "<lower*30>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    for (size_t n = 1; n < 30; n++) {
        AUTO(buf) text = { 0 };
        buf_append(&text, "a ", 2);
        buf_append(&text, own.p, n);
        text_becomes(&m, buf_str(&text), buf_str(&text));
        buf_append(&text, own.p, n);
        text_becomes(&m, buf_str(&text), buf_str(&text));
    }
    calls_mask_release(&m);
}

static void
echoes_in_headers_and_urls_are_masked(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) text = { 0 };
    make(&own, "<lower*30>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    buf_printf(&text, "Bearer error=\"%s\"", buf_str(&own));
    header_becomes(&m, "www-authenticate", buf_str(&text), "Bearer error=\"" SAID "\"");
    buf_clear(&text);
    buf_printf(&text, "/of/%s?%s&q=%s", buf_str(&own), buf_str(&own), buf_str(&own));
    url_becomes(&m, buf_str(&text), "/of/" SAID "?" SAID "&q=" SAID);
    calls_mask_release(&m);
}

static void
many_echoes_take_linear_time(void **state)
{
    enum { BYTES = 4 << 20 };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) text = { 0 };
    AUTO(buf) want = { 0 };
    AUTO(buf) out = { .ceiling = 256 << 20 };
    learn(&m, "x-api-key", "abababab");
    learn(&m, "authorization", "Bearer never-said-again");
    while (text.n < BYTES)
        buf_puts(&text, "abababab ");
    while (want.n < text.n / 9 * (sizeof(SAID)))
        buf_puts(&want, SAID " ");
    assert_int_equal(calls_mask_said(&m, view_of(&text), &out), 0);
    kit_same(view_of(&out), view_of(&want), "whole");
    text.n = 600000;
    want.n = 600000 / 9 * sizeof(SAID);
    buf_puts(&want, "ababab");
    buf_clear(&out);
    stream(&m, view_of(&text), 100000, &out);
    assert_true(out.n > want.n / 2);
    assert_null(memmem(out.p, out.n, "abababab", 8));
    calls_mask_release(&m);
}

static void
many_credentials_take_linear_time(void **state)
{
    enum { COUNT = 4000, BYTES = 128 << 10, PIECE = 16 << 10 };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) cookies = { 0 };
    AUTO(buf) one = { 0 };
    AUTO(buf) text = { 0 };
    AUTO(buf) out = { 0 };
    for (uint32_t i = 0; i < COUNT; i++)
        buf_printf(&cookies, "a=%s;", make(&one, "<lower*8>", i));
    learn(&m, "cookie", buf_str(&cookies));
    make(&text, "<hex*131072>", 1);
    assert_true(said_in_s(&m, view_of(&text), PIECE, &out) < 0.5);
    kit_same(view_of(&out), view_of(&text), "hex");
    buf_puts(&text, buf_str(&one));
    buf_clear(&out);
    (void)said_in_s(&m, view_of(&text), PIECE, &out);
    buf_append(&out, "", 1);
    assert_string_equal(out.p + BYTES, SAID);
    calls_mask_release(&m);
}

/* All of the text may be the beginning of each, and of a long one. */
static void
credentials_that_begin_alike_take_linear_time(void **state)
{
    enum { COUNT = 3000, LONG = 4000, BYTES = 128 << 10, PIECE = 4096 };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) text = { 0 };
    AUTO(buf) out = { 0 };
    for (uint32_t i = 0; i < COUNT; i++) {
        buf_clear(&own);
        buf_printf(&own, "aaaaaaaaaaaaaaa%u", i);
        learn(&m, "set-cookie", buf_str(&own));
    }
    buf_clear(&own);
    while (own.n < LONG)
        buf_puts(&own, "a");
    buf_puts(&own, "b");
    learn(&m, "x-api-key", buf_str(&own));
    while (text.n < BYTES)
        buf_puts(&text, "a");
    buf_puts(&text, "z"); /* none of them goes on */
    assert_true(said_in_s(&m, view_of(&text), PIECE, &out) < 0.5);
    kit_same(view_of(&out), view_of(&text), "letters");
    calls_mask_release(&m);
}

static void
a_flood_of_credentials_is_bounded(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    size_t before = measure_heap_bytes();
    for (uint32_t i = 0; i < 3000; i++) {
        buf_clear(&own);
        make(&own, "<lower*1000>", i);
        learn(&m, "cookie", buf_str(&own));
    }
    assert_true(measure_heap_bytes() - before < 5 << 20);
    buf_clear(&own);
    make(&own, "<lower*20000>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    calls_mask_release(&m);
}

/* -- URLs -- */

static void
parameters_that_carry_credentials_are_masked(void **state)
{
    static const char *const urls[][2] = {
        { "/v1/messages", "/v1/messages" },
        { "/v1/messages?beta=true", "/v1/messages?beta=true" },
        { "/x?key=abc", "/x?key=[REDACTED:query]" },
        { "/x?key=abc&alt=sse", "/x?key=[REDACTED:query]&alt=sse" },
        { "/x?alt=sse&key=a=b=", "/x?alt=sse&key=[REDACTED:query]" },
        { "/x?KEY=abc&Token=x&sig=y&password=z",
          "/x?KEY=[REDACTED:query]&Token=[REDACTED:query]&sig=[REDACTED:query]"
          "&password=[REDACTED:query]" },
        { "/x?access%5Ftoken=abc&%6bey=def",
          "/x?access%5Ftoken=[REDACTED:query]&%6bey=[REDACTED:query]" },
        { "/x?accessToken=abc", "/x?accessToken=[REDACTED:query]" },
        { "/x?key=&key&=&&a", "/x?key=&key&=&&a" },
        { "/x?", "/x?" },
        { "?", "?" },
        { "", "" },
        { "/x?a=1&", "/x?a=1&" },
        { "/x?%=%&%4=%4&%zz=%zz", "/x?%=%&%4=%4&%zz=%zz" },
        { "/x?a=%41%2f", "/x?a=%41%2f" },
        { "https://h.example/x?key=abc", "https://h.example/x?key=[REDACTED:query]" },
    };
    struct calls_mask m = mask_with(*state);
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        url_becomes(&m, urls[i][0], urls[i][1]);
    AUTO(buf) out = { 0 };
    assert_int_equal(calls_mask_url(&m, (struct view){ 0 }, &out), 0);
    calls_mask_learn_url(&m, (struct view){ 0 });
    assert_int_equal(out.n, 0);
    calls_mask_release(&m);
}

static void
a_secret_anywhere_in_a_url_is_masked(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) token = { 0 };
    static const char *const urls[][2] = {
        { "/of/%s", "/of/[REDACTED:github-pat]" },
        { "/x?%s", "/x?[REDACTED:github-pat]" },
        { "/x?a=%s&b=1", "/x?a=[REDACTED:github-pat]&b=1" },
        { "/x?%s=1", "/x?[REDACTED:github-pat]=1" },
        { "/x?to=https%%3A%%2F%%2Fh%%2F%%3Fa%%3D%s", "/x?to=[REDACTED:query]" },
    };
    make(&token, "<ghp>", 1);
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        AUTO(buf) url = { 0 };
        const char *mark = strstr(urls[i][0], "%s");
        for (const char *p = urls[i][0]; *p; p++)
            if (p == mark)
                buf_puts(&url, buf_str(&token)), p++;
            else if (*p != '%' || p[1] != '%')
                buf_append(&url, p, 1);
        url_becomes(&m, buf_str(&url), urls[i][1]);
    }
    calls_mask_release(&m);
}

static void
what_a_url_said_is_masked_in_bodies(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) url = { 0 };
    AUTO(buf) text = { 0 };
    make(&own, "<lower*20>", 1);
    buf_printf(&url, "/x?alt=sse-and-more&k%%65y=%%2f%s%%3D", buf_str(&own));
    calls_mask_learn_url(&m, text_view(buf_str(&url)));
    buf_printf(&text, "<%%2f%s%%3D> </%s=> <\\/%s=> <%s> sse-and-more", buf_str(&own),
               buf_str(&own), buf_str(&own), buf_str(&own));
    buf_clear(&url);
    buf_printf(&url, "<" SAID "> <" SAID "> <" SAID "> <%s> sse-and-more", buf_str(&own));
    text_becomes(&m, buf_str(&text), buf_str(&url));
    calls_mask_release(&m);
}

/* -- the scanner's secrets -- */

/* $ stands for the secret. */
static void
put_around(struct buf *out, const char *around, const char *secret)
{
    for (; *around; around++)
        if (*around == '$')
            buf_puts(out, secret);
        else
            buf_append(out, around, 1);
}

static void
secrets_of_the_rules_are_masked(void **state)
{
    static const char *const bodies[] = {
        "{\"messages\":[{\"role\":\"user\",\"content\":\"use $ please\"}]}",
        "{\"content\":\"export A=$\\nexport B=1\\n\",\"n\":1.50}",
        " [ \"$\" , \"\\u00e9\\/$\\n\" ]\n",
        "a text with $ in it\n",
        "event: x\ndata: {\"text\":\"$\"}\n\n",
    };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) token = { 0 };
    make(&token, "<ghp>", 1);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        AUTO(buf) body = { 0 };
        AUTO(buf) want = { 0 };
        put_around(&body, bodies[i], buf_str(&token));
        put_around(&want, bodies[i], "[REDACTED:github-pat]");
        text_becomes(&m, buf_str(&body), buf_str(&want));
    }
    calls_mask_release(&m);
}

static void
escapes_in_and_around_a_secret_hide_nothing(void **state)
{
    static const char *const bodies[] = {
        "{\"text\":\"a\\nexport A=$\\nb \\u00fc \\ud83d\\ude00\",\"b\":\"c\\/d\"}",
        "[\"\\ud83d $ \\ude00\\u0041\",{\"\\\"$\":\"$\\t$\"},\"\\\\\",\"\"]",
        "{\"n\":1}\n{\"text\":\"two \\u0022$\\u0022\"}\n",
    };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) token = { 0 };
    make(&token, "<ghp>", 1);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        for (int is_escaped = 0; is_escaped < 2; is_escaped++) {
            AUTO(buf) body = { 0 };
            AUTO(buf) secret = { 0 };
            buf_puts(&secret, is_escaped ? "gh\\u0070" : "ghp");
            buf_puts(&secret, buf_str(&token) + 3);
            put_around(&body, bodies[i], buf_str(&secret));
            for (size_t cut = 0; cut <= body.n; cut++) {
                AUTO(buf) out = { 0 };
                stream(&m, view_of(&body), cut, &out);
                assert_null(strstr(buf_str(&out), buf_str(&token) + 4));
                assert_non_null(strstr(buf_str(&out), "[REDACTED:github-pat]"));
                if (i == 2) /* lines of JSON are searched as these */
                    continue;
                AUTO(buf) want = { 0 };
                assert_int_equal(calls_mask_body(&m, view_of(&body), &want), 0);
                kit_same(view_of(&out), view_of(&want), buf_str(&body));
            }
        }
    calls_mask_release(&m);
}

/* A body that is seen while it comes is recorded while it comes. */
static void
what_is_in_no_doubt_is_let_out_at_once(void **state)
{
    enum { HELD = 8 };
    static const char *const bodies[] = {
        "{\"id\":\"msg\",\"content\":[{\"type\":\"text\",\"text\":\"The first "
        "line.\\n\\tA "
        "second one,\\u0020and \\\"more\\\" of it until its "
        "end.\"}],\"usage\":{\"n\":12}}",
        "A text that is no JSON. It has lines,\nand words in them.\n",
    };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    make(&own, "<lower*200>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct calls_mask_stream s = { 0 };
        AUTO(buf) out = { 0 };
        for (size_t n = 0; n < strlen(bodies[i]); n++) {
            feed(&m, &s, (struct view){ (const uint8_t *)bodies[i] + n, 1 }, &out);
            assert_true(out.n + HELD > n);
            assert_memory_equal(out.p, bodies[i], out.n);
        }
        calls_mask_stream_release(&s);
    }
    calls_mask_release(&m);
}

static void
a_name_in_json_tells_of_its_value(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) body = { 0 };
    AUTO(buf) out = { 0 };
    make(&own, "<alnum*32>", 1);
    buf_printf(&body, "{\"api_key\":\"%s\",\"max_tokens\":5}", buf_str(&own));
    assert_int_equal(calls_mask_body(&m, view_of(&body), &out), 0);
    assert_null(strstr(buf_str(&out), buf_str(&own)));
    assert_non_null(strstr(buf_str(&out), ",\"max_tokens\":5}"));
    calls_mask_release(&m);
}

static void
a_mask_is_not_masked_again(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) own = { 0 };
    AUTO(buf) text = { 0 };
    make(&own, "<alnum*32>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    buf_printf(&text, "x-api-key: %s\nPASSWORD=%s\n", buf_str(&own), buf_str(&own));
    text_becomes(&m, buf_str(&text), "x-api-key: " SAID "\nPASSWORD=" SAID "\n");
    buf_clear(&text);
    buf_printf(&text, "{\"api_key\":\"%s\"}", buf_str(&own));
    text_becomes(&m, buf_str(&text), "{\"api_key\":\"" SAID "\"}");
    calls_mask_release(&m);
}

/* -- what stays -- */

static void
what_has_nothing_to_hide_stays(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{}",
        "{ \"a\\n\\u00e9\\/\" : [ true, 1.50e+3, \"\\\"\\\\\" ] , \"a\":null }\r\n",
        "{\"torn\": \"a\\n",
        "[1,2",
        "data: {\"delta\":{\"text\":\"Hel\"}}\n\n: ping\n\n",
        "\xff\xfe no UTF-8 \x80",
        "--boundary\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\x89PNG\r\n",
    };
    struct calls_mask m = mask_with(*state);
    learn(&m, "authorization", "Bearer something-that-is-not-said");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_becomes(&m, texts[i], texts[i]);
    calls_mask_release(&m);
}

static void
any_bytes_stay_and_are_the_same_streamed(void **state)
{
    struct calls_mask m = mask_with(*state);
    uint32_t rng = rng_seed(3);
    learn(&m, "authorization", "Bearer something-that-is-not-said");
    for (int i = 0; i < 40; i++) {
        AUTO(buf) bytes = { 0 };
        AUTO(buf) out = { 0 };
        AUTO(buf) again = { 0 };
        for (uint32_t n = rng_below(&rng, 3000); n > 0; n--)
            buf_append(&bytes, &(uint8_t){ (uint8_t)rng_below(&rng, 256) }, 1);
        assert_int_equal(calls_mask_body(&m, view_of(&bytes), &out), 0);
        kit_same(view_of(&out), view_of(&bytes), "whole");
        stream(&m, view_of(&bytes), 1 + rng_below(&rng, 3000), &again);
        kit_same(view_of(&again), view_of(&bytes), "streamed");
    }
    calls_mask_release(&m);
}

static void
what_cannot_be_searched_is_left_out(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) body = { 0 };
    for (int learnt = 0; learnt < 2; learnt++) {
        AUTO(buf) out = { .ceiling = 200 };
        while (body.n < 1000)
            buf_puts(&body, "a long text ");
        buf_puts(&out, "before:");
        assert_int_equal(calls_mask_body(&m, view_of(&body), &out), 0);
        assert_string_equal(buf_str(&out),
                            "before:[left out: it could not be searched for secrets]");
        learn(&m, "x-api-key", "something-that-is-not-said");
    }
    calls_mask_release(&m);
}

static void
a_failure_before_is_not_forgotten(void **state)
{
    struct calls_mask m = mask_with(*state);
    AUTO(buf) out = { .ceiling = 100 };
    AUTO(buf) name = { 0 };
    for (int i = 0; i < 200; i++)
        buf_puts(&name, "n");
    assert_int_equal(buf_append(&out, name.p, name.n), ERR_LIMIT);
    assert_int_equal(calls_mask_body(&m, text_view("x"), &out), ERR_LIMIT);
    assert_int_equal(calls_mask_url(&m, text_view("/x?a=b"), &out), ERR_LIMIT);
    calls_mask_release(&m);
}

/* -- streams -- */

static void
a_body_that_breaks_off_in_a_secret_shows_nothing_of_it(void **state)
{
    static const char *const bodies[] = { "a text with $", "{\"a\":[\"b\\n$",
                                          "{\"a\":$" };
    struct calls_mask m = mask_with(*state);
    AUTO(buf) token = { 0 };
    AUTO(buf) own = { 0 };
    make(&token, "<ghp>", 1);
    make(&own, "<lower*30>", 2);
    learn(&m, "x-api-key", buf_str(&own));
    for (size_t i = 0; i < 2 * sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct calls_mask_stream s = { 0 };
        AUTO(buf) body = { 0 };
        AUTO(buf) out = { 0 };
        const struct buf *secret = i % 2 ? &own : &token;
        put_around(&body, bodies[i / 2], i % 2 ? buf_str(&own) : buf_str(&token));
        body.n -= 6; /* of the secret */
        feed(&m, &s, view_of(&body), &out);
        calls_mask_cut(&s);
        assert_int_equal(calls_mask_flush(&m, &s, &out), 0);
        assert_null(memmem(out.p, out.n, secret->p + 4, 6));
        assert_non_null(memmem(out.p, out.n, "[REDACTED:", 10));
        assert_memory_equal(out.p, body.p, 5);
        calls_mask_stream_release(&s);
    }
    calls_mask_release(&m);
}

static void
a_stream_is_as_new_after_its_end(void **state)
{
    struct calls_mask m = mask_with(*state);
    struct calls_mask_stream s = { 0 };
    AUTO(buf) out = { 0 };
    AUTO(buf) own = { 0 };
    AUTO(buf) want = { 0 };
    make(&own, "<lower*30>", 1);
    learn(&m, "x-api-key", buf_str(&own));
    buf_printf(&want, "a " SAID "%.10s", buf_str(&own));
    assert_int_equal(calls_mask_flush(&m, &s, &out), 0);
    for (int i = 0; i < 2; i++) {
        buf_clear(&out);
        feed(&m, &s, text_view("a "), &out);
        feed(&m, &s, view_of(&own), &out);
        feed(&m, &s, (struct view){ own.p, 10 }, &out);
        assert_int_equal(calls_mask_flush(&m, &s, &out), 0);
        kit_same(view_of(&out), view_of(&want), "after its end");
    }
    calls_mask_stream_release(&s);
    calls_mask_release(&m);
}

static void
memory_of_a_stream_is_bounded(void **state)
{
    enum { PIECE = 300000 };
    static uint8_t piece[PIECE];
    struct calls_mask m = mask_with(*state);
    struct calls_mask_stream s = { 0 };
    size_t before = measure_heap_bytes(), all = 0;
    learn(&m, "x-api-key", "abababab");
    for (size_t i = 0; i < PIECE; i++)
        piece[i] = i % 100000 < 50000 ? (uint8_t) "ab"[i % 2]
                                      : (uint8_t) "some words "[i % 11];
    for (int i = 0; i < 10; i++) {
        AUTO(buf) out = { 0 };
        assert_int_equal(calls_mask_feed(&m, &s, (struct view){ piece, PIECE }, &out), 0);
        all += out.n;
        buf_release(&out);
        assert_true(measure_heap_bytes() - before < 1 << 20);
    }
    assert_true(all > (size_t)PIECE * 4);
    calls_mask_stream_release(&s);
    calls_mask_release(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_credentials_are_known),
        cmocka_unit_test(names_of_other_things_are_harmless),
        cmocka_unit_test(a_credential_is_masked_whatever_it_looks_like),
        cmocka_unit_test(a_secret_in_another_header_is_masked),
        cmocka_unit_test(a_url_in_a_header_is_masked_as_one),
        cmocka_unit_test(what_a_header_said_is_masked_in_bodies),
        cmocka_unit_test(harmless_headers_teach_nothing),
        cmocka_unit_test(each_cookie_is_known_by_its_value),
        cmocka_unit_test(an_echo_is_known_with_the_escapes_of_json),
        cmocka_unit_test(of_two_that_begin_alike_the_longer_is_masked),
        cmocka_unit_test(two_that_reach_over_each_other_leave_nothing),
        cmocka_unit_test(any_of_many_is_found_wherever_it_stands),
        cmocka_unit_test(a_beginning_alone_stays),
        cmocka_unit_test(echoes_in_headers_and_urls_are_masked),
        cmocka_unit_test(many_echoes_take_linear_time),
        cmocka_unit_test(many_credentials_take_linear_time),
        cmocka_unit_test(credentials_that_begin_alike_take_linear_time),
        cmocka_unit_test(a_flood_of_credentials_is_bounded),
        cmocka_unit_test(parameters_that_carry_credentials_are_masked),
        cmocka_unit_test(a_secret_anywhere_in_a_url_is_masked),
        cmocka_unit_test(what_a_url_said_is_masked_in_bodies),
        cmocka_unit_test(secrets_of_the_rules_are_masked),
        cmocka_unit_test(escapes_in_and_around_a_secret_hide_nothing),
        cmocka_unit_test(what_is_in_no_doubt_is_let_out_at_once),
        cmocka_unit_test(a_name_in_json_tells_of_its_value),
        cmocka_unit_test(a_mask_is_not_masked_again),
        cmocka_unit_test(what_has_nothing_to_hide_stays),
        cmocka_unit_test(any_bytes_stay_and_are_the_same_streamed),
        cmocka_unit_test(what_cannot_be_searched_is_left_out),
        cmocka_unit_test(a_failure_before_is_not_forgotten),
        cmocka_unit_test(a_body_that_breaks_off_in_a_secret_shows_nothing_of_it),
        cmocka_unit_test(a_stream_is_as_new_after_its_end),
        cmocka_unit_test(memory_of_a_stream_is_bounded),
    };
    return cmocka_run_group_tests_name("calls_mask", tests, kit_open, kit_close);
}
