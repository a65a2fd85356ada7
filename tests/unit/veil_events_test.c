/* SPDX-License-Identifier: MIT */
/* veil_events_test.c -- events on their way through a veil: what has no secret comes out
 * byte for byte, whatever it is; what is masked in an event by itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "support/redact_kit.h"
#include "support/rng.h"
#include "support/text_view.h"
#include "support/veil_kit.h"
#include "turn/fields.h"

/* -- no secret -- */

static const char *const harmless[] = {
    "Tokens of GitHub begin with ghp_ and those of others with sk- or AKIA; none here.",
    "password: see below. The key is under the mat, the token is eyJ, and short.",
    "{\"command\": \"grep -rn ghp_ src | head\", \"password\": \"\"}",
    "-----BEGIN is how it would begin, and xoxb-, glpat-, AIza, ya29. and SG. too",
    "g gh ghp ghp_ ghp_a ghp_ab ghp_abc ghp_abcd",
    "export TOKEN=$TOKEN; curl -H \"Authorization: Bearer $TOKEN\" https://h/x",
    "na\xc3\xafve \xf0\x9f\x98\x80\xe2\x82\xac \\ \"quoted\" </script> / \x7f",
};

static void
check_same(struct redact *redact, const char *text, const struct veil_kit_style *style,
           size_t step)
{
    struct veil_kit k;
    AUTO(buf) in = { 0 };
    buf_puts(&in, text);
    veil_kit_open(&k, redact);
    for (size_t at = 0; at < in.n;) {
        struct view piece = veil_kit_piece(&in, at, step);
        AUTO(buf) event = { 0 };
        veil_kit_make(style, 1, (enum veil_kit_escapes)(at % VEIL_KIT_ESCAPES), piece,
                      &event);
        veil_kit_feed(&k, veil_kit_view(&event));
        at += piece.n;
    }
    veil_kit_end(&k);
    for (size_t i = 0; i < k.n; i++) {
        kit_same(veil_kit_view(&k.events[i].last), veil_kit_view(&k.events[i].came),
                 text);
        assert_false(k.events[i].is_held);
    }
    veil_kit_close(&k);
}

static void
what_has_no_secret_comes_out_as_it_came(void **state)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        for (size_t step = 1; step <= 80; step += step < 8 ? 1 : 9)
            check_same(*state, harmless[i],
                       &veil_kit_styles[(i + step) % veil_kit_style_count], step);
}

/* Events and what was written of them, one behind the other; 'h' held, 'a' again. */
static void
a_false_alarm_is_written_again(void **state)
{
    struct veil_kit k;
    veil_kit_open(&k, *state);
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "the ghp"));
    assert_int_equal(k.settled, 1);
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "_a"));
    veil_kit_feed_text(&k, ": still there\n\n");
    assert_int_equal(k.settled, 1);
    assert_true(k.events[1].is_held);
    assert_string_equal(buf_str(&k.events[1].first), VEIL_KIT_TEXT("0", ""));
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "b c"));
    assert_int_equal(k.settled, 4);
    assert_int_equal(k.events[1].again, 1);
    assert_string_equal(buf_str(&k.all),
                        VEIL_KIT_TEXT("0", "the ghp") VEIL_KIT_TEXT(
                            "0", "") ": still there\n\n" VEIL_KIT_TEXT("0", "_a")
                            VEIL_KIT_TEXT("0", "b c"));
    veil_kit_end(&k);
    veil_kit_close(&k);
}

static void
a_text_that_ends_like_a_token_is_decided_at_the_end(void **state)
{
    struct veil_kit k;
    veil_kit_open(&k, *state);
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("0", "the ghp_"));
    veil_kit_feed_text(&k, VEIL_KIT_TEXT("1", "x ghp_aB3x"));
    veil_kit_feed_text(&k, "data: [DONE]\n\n");
    assert_int_equal(k.settled, 0);
    veil_kit_end(&k);
    assert_string_equal(buf_str(&k.events[0].last), VEIL_KIT_TEXT("0", "the ghp_"));
    assert_string_equal(buf_str(&k.events[1].last),
                        VEIL_KIT_TEXT("1", "x [REDACTED:github-pat]"));
    veil_kit_close(&k);
}

/* -- events of any kind -- */

static void
put_long(struct buf *out, const char *before, const char *after)
{
    buf_puts(out, before);
    while (out->n < 1 << 20)
        buf_puts(out, "words and more of them, ");
    buf_puts(out, after);
}

static void
any_event_comes_out_as_it_came(void **state)
{
    static const char *const events[] = {
        "",
        "\n",
        ": a comment\n\n",
        "data: [DONE]\n\n",
        "data\n\n",
        "data:\n\n",
        "data: {}\n\n",
        "data: {\"delta\":{\"text\":\"a\"}\n\n",
        "data: {\"delta\":{\"text\":\"a\"}}}\n\n",
        "data: {\"delta\":{\"text\":\"\\x\"}}\n\n",
        "data: {\"delta\":\ndata: {\"text\":\"a\"}}\n\n",
        "data: {\"delta\":{\"text\":7,\"thinking\":null,\"input\":{\"a\":[true]}}}\n\n",
        "data: [{\"delta\":{\"text\":\"a\"}}]\n\n",
        "data: \"text\"\n\n",
        "data: {\"delta\":[[[[[[[[[[[[[[[[[[[[{\"text\":\"a\"}]]]]]]]]]]]]]]]]]]]]}\n\n",
        "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n",
        "id: 1\rretry: 10\rdata: {\"delta\":{\"text\":\"a\"}}\r\r",
        "\357\273\277data: {\"delta\":{\"text\":\"a\"}}\n\n",
        "data: {\"delta\":{\"text\":\"\xff\xfe\"}}\n\n",
        "data: {\"delta\":{\"text\":\"\\ud83d\"}}\n\n",
        "data: {\"delta\":{\"text\":\"cut of",
        "\xff\x01\xfe",
        VEIL_KIT_TEXT("0", "and so on"),
        "data: {\"message\":{\"content\":\"see ghp_\",\"text\":\"a ghp_\"}}\n\n",
    };
    struct veil_kit k;
    AUTO(buf) json = { 0 };
    AUTO(buf) other = { 0 };
    veil_kit_open(&k, *state);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        veil_kit_feed_text(&k, events[i]);
    veil_kit_feed(&k, (struct view){ (const uint8_t *)"data: {}\0\n\n", 11 });
    put_long(&json, "data: {\"delta\":{\"text\":\"", "\"}}\n\n");
    put_long(&other, "data: ", "\n\n");
    veil_kit_feed(&k, veil_kit_view(&json));
    veil_kit_feed(&k, veil_kit_view(&other));
    for (size_t i = 0; i < k.n; i++) {
        kit_same(veil_kit_view(&k.events[i].last), veil_kit_view(&k.events[i].came),
                 "any event");
        assert_int_equal(k.events[i].again, 0);
    }
    assert_int_equal(k.settled, k.n);
    veil_kit_end(&k);
    veil_kit_close(&k);
}

static void
a_secret_is_masked_in_any_event(void **state)
{
    static const char *const events[] = {
        ": #\n\n",
        "data: #\n\n",
        "data: {\"delta\":{\"text\":\"#\"}\n\n",
        "data: {\"delta\":\ndata: {\"text\":\"#\"}}\n\n",
        "data: {\"type\":\"error\",\"error\":{\"message\":\"no: #\"}}\n\n",
        "data: {\"type\":\"response.completed\",\"output\":[{\"text\":\"a # b\"}]}\n\n",
        "data: {\"delta\":{\"text\":\"# \"},\"other\":\"#\"}\n\n",
        "data: {\"choices\":[{\"index\":0,\"message\":{\"content\":\"#\"}}]}\n\n",
    };
    AUTO(buf) token = { 0 };
    AUTO(buf) all = { 0 };
    AUTO(buf) last = { 0 };
    uint32_t rng = rng_seed(5);
    struct veil_kit k;
    kit_expand(&token, "<ghp>", &rng);
    veil_kit_open(&k, *state);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        AUTO(buf) event = { 0 };
        AUTO(buf) want = { 0 };
        for (const char *p = events[i]; *p; p++) {
            buf_append(&event, *p == '#' ? (const char *)token.p : p,
                       *p == '#' ? token.n : 1);
            buf_append(&want, *p == '#' ? "[REDACTED:github-pat]" : p,
                       *p == '#' ? 21 : 1);
        }
        buf_append(&all, want.p, want.n);
        veil_kit_feed(&k, veil_kit_view(&event));
    }
    veil_kit_end(&k);
    for (size_t i = 0; i < k.n; i++)
        buf_append(&last, k.events[i].last.p, k.events[i].last.n);
    kit_same(veil_kit_view(&last), veil_kit_view(&all), "masked in each");
    assert_null(memmem(k.all.p, k.all.n, token.p + 4, 8));
    veil_kit_close(&k);
}

/* -- what else there is -- */

static int
say_all(struct veil_kit *k)
{
    static const char *const events[] = {
        VEIL_KIT_TEXT("0", "the ghp_"),
        VEIL_KIT_TEXT("1", "password=x9Q"),
        "data: [DONE]\n\n",
        VEIL_KIT_TEXT("0", " is none, but ghp_a"),
        VEIL_KIT_TEXT("1", "7vLq2 and"),
        VEIL_KIT_TEXT("2", "is this ghp_aB3"),
    };
    int r = 0;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !r; i++)
        r = veil_kit_try(k, text_view(events[i]));
    return r ? r : veil_kit_try_end(k);
}

static void
an_error_of_the_one_who_writes_ends_it(void **state)
{
    size_t calls = 0;
    for (size_t fail_at = 0; fail_at <= calls; fail_at++) {
        struct veil_kit k;
        veil_kit_open(&k, *state);
        k.fail_at = fail_at;
        assert_int_equal(say_all(&k), fail_at ? -ENOSPC : 0);
        calls = fail_at ? calls : k.calls;
        veil_kit_close(&k);
    }
    assert_true(calls >= 14);
}

/* Whatever it looks like, and however the slash in it is written. */
static void
credentials_of_the_call_are_masked(void **state)
{
    struct veil_kit k;
    const struct calls_header headers[] = {
        { text_view("Authorization"), text_view("Bearer purple/monkey+dish") },
        { text_view("x-api-key"), text_view("correct horse battery") },
    };
    veil_kit_open(&k, *state);
    for (size_t i = 0; i < 2; i++)
        calls_mask_learn(&k.mask, &headers[i]);
    veil_kit_feed_text(
        &k, "data: {\"error\":{\"message\":\"bad key purple/monkey+dish, go\"}}\n\n");
    veil_kit_feed_text(
        &k, VEIL_KIT_TEXT("0", "or purple\\/monkey+dish, or correct horse battery"));
    veil_kit_feed_text(&k, ": purple/monkey+dishes\n\n");
    veil_kit_end(&k);
    assert_string_equal(
        buf_str(&k.all),
        "data: {\"error\":{\"message\":\"bad key [REDACTED:credential], "
        "go\"}}\n\n" VEIL_KIT_TEXT(
            "0",
            "or [REDACTED:credential], or [REDACTED:credential]") ": "
                                                                  "[REDACTED:"
                                                                  "credential]es\n\n");
    veil_kit_close(&k);
}

/* The text of all events as they stand in the end, or as they were all written. */
static void
join_texts(const struct veil_kit *k, struct buf *ret)
{
    static const char before[] = "\"text\":\"";
    for (size_t i = 0; i < k->n; i++) {
        const struct buf *last = &k->events[i].last;
        const uint8_t *p = memmem(last->p, last->n, before, sizeof(before) - 1);
        assert_non_null(p);
        p += sizeof(before) - 1;
        const uint8_t *end = memchr(p, '"', (size_t)(last->p + last->n - p));
        buf_append(ret, p, (size_t)(end - p));
    }
}

static const struct calls_header own_key = {
    { (const uint8_t *)"x-api-key", 9 },
    { (const uint8_t *)"correct horse battery", 21 },
};

/* A text in pieces of that size, in a call that has that key. */
static void
say_in_pieces(struct veil_kit *k, struct redact *redact, const char *text, size_t size,
              struct buf *ret)
{
    AUTO(buf) said = { 0 };
    veil_kit_open(k, redact);
    calls_mask_learn(&k->mask, &own_key);
    buf_puts(&said, text);
    for (size_t at = 0; at < said.n; at += size)
        veil_kit_feed_piece(k, VEIL_KIT_TEXT("0", "#"), veil_kit_piece(&said, at, size));
    veil_kit_end(k);
    join_texts(k, ret);
}

/* Cut everywhere, also where a text only begins like one. */
static void
credentials_of_the_call_are_masked_in_pieces(void **state)
{
    static const char text[] = "no correct horses, correct horse battery, correct horse.";
    static const char want[] = "no correct horses, [REDACTED:credential], correct horse.";
    for (size_t size = 1; size <= 7; size++) {
        AUTO(buf) joined = { 0 };
        struct veil_kit k;
        say_in_pieces(&k, *state, text, size, &joined);
        /* Some letters say nothing yet, and may have been let out before. */
        const char *mask = strstr(buf_str(&joined), "[REDACTED:credential]");
        assert_non_null(mask);
        assert_null(strstr(buf_str(&joined), "horse battery"));
        size_t before = (size_t)(mask - (const char *)joined.p);
        size_t wanted = (size_t)(strstr(want, "[") - want);
        assert_in_range(before, wanted, wanted + CALLS_SAID_SHOWN);
        assert_string_equal(mask, strstr(want, "["));
        assert_memory_equal(joined.p, want, wanted);
        veil_kit_close(&k);
    }
}

/* Of what the end of a text has cut off no more is shown than a text may begin with. */
static void
half_a_credential_at_the_end_is_masked(void **state)
{
    static const char text[] = "see: correct horse bat";
    for (size_t size = 1; size < sizeof(text); size++) {
        AUTO(buf) joined = { 0 };
        struct veil_kit k;
        say_in_pieces(&k, *state, text, size, &joined);
        const char *mask = strstr(buf_str(&joined), "[REDACTED:credential]");
        assert_non_null(mask);
        assert_in_range(mask - buf_str(&joined), 5, 5 + CALLS_SAID_SHOWN);
        assert_string_equal(mask, "[REDACTED:credential]");
        assert_memory_equal(joined.p, text, (size_t)(mask - buf_str(&joined)));
        veil_kit_close(&k);
    }
}

static void
put_stream(const char *path, struct veil_kit *k)
{
    AUTO(buf) lines = { 0 };
    assert_int_equal(file_slurp(path, &lines), 0);
    for (size_t at = 0; at < lines.n;) {
        const uint8_t *start = lines.p + at, *end = memchr(start, '\n', lines.n - at);
        struct view event = { 0 }, line = { start, (size_t)(end - start) };
        const struct turn_field wanted[] = { { "event", &event } };
        AUTO(buf) bytes = { 0 };
        assert_true(turn_fields(line, wanted, 1));
        buf_puts(&bytes, "event: x\ndata: ");
        buf_append(&bytes, event.p, event.n);
        buf_puts(&bytes, "\n\n");
        if (event.n)
            veil_kit_feed(k, veil_kit_view(&bytes));
        at += line.n + 1;
    }
}

static void
a_real_stream_comes_out_as_it_came(void **state)
{
    const char *folder = getenv("AHR_FIXTURES");
    AUTO(buf) path = { 0 };
    struct veil_kit k;
    if (!folder)
        skip();
    buf_printf(&path, "%s/agents/claude-stream-partial.ndjson", folder);
    veil_kit_open(&k, *state);
    put_stream(buf_str(&path), &k);
    veil_kit_end(&k);
    assert_true(k.n > 30);
    for (size_t i = 0; i < k.n; i++)
        kit_same(veil_kit_view(&k.events[i].last), veil_kit_view(&k.events[i].came),
                 "of a real one");
    veil_kit_close(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_secret_comes_out_as_it_came),
        cmocka_unit_test(a_false_alarm_is_written_again),
        cmocka_unit_test(a_text_that_ends_like_a_token_is_decided_at_the_end),
        cmocka_unit_test(any_event_comes_out_as_it_came),
        cmocka_unit_test(a_secret_is_masked_in_any_event),
        cmocka_unit_test(an_error_of_the_one_who_writes_ends_it),
        cmocka_unit_test(credentials_of_the_call_are_masked),
        cmocka_unit_test(credentials_of_the_call_are_masked_in_pieces),
        cmocka_unit_test(half_a_credential_at_the_end_is_masked),
        cmocka_unit_test(a_real_stream_comes_out_as_it_came),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
