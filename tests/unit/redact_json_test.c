/* SPDX-License-Identifier: MIT */
/* redact_json_test.c -- secrets in JSON values, where escapes and names stand. */
#include "redact/json.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "redact/json_pieces.h"
#include "support/redact_kit.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static void
check(struct redact *r, const char *sample, const char *want)
{
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    uint32_t rng = 1;
    kit_expand(&in, sample, &rng);
    assert_int_equal(redact_json(r, (struct view){ in.p, in.n }, &out), 0);
    assert_string_equal(buf_str(&out), want ? want : buf_str(&in));
}

static void
a_secret_between_escapes_is_masked(void **state)
{
    check(*state, "{\"c\":\"PASSWORD=\\u0027hunter2hunter9Q\\u0027\\n\",\"b\":[1]}",
          "{\"c\":\"PASSWORD=\\u0027[REDACTED:password-assignment]'\\n\",\"b\":[1]}");
    check(*state, "[\"\\u0074oken: x\", \"a\\n<ghp>\\n\"]",
          "[\"\\u0074oken: x\", \"a\\n[REDACTED:github-pat]\\n\"]");
}

static void
a_secret_without_escapes_is_masked(void **state)
{
    check(*state, "{\"a\": \"<ghp>\"}", "{\"a\": \"[REDACTED:github-pat]\"}");
}

static void
what_has_nothing_to_hide_stays(void **state)
{
    check(*state, "{ \"a\\n\\u00e9\\/\" : [ true, 1.50, \"\\\"\\\\\" ] }", NULL);
    check(*state, "{\"torn\": \"a\\n", NULL);
    check(*state, "\"\\", NULL);
    check(*state, "", NULL);
}

/* -- in pieces -- */

static void
feed(struct redact_json_pieces *s, struct view piece, bool is_last, struct buf *out)
{
    assert_int_equal(redact_json_pieces_feed(s, piece, is_last, out), 0);
}

/* Begins a string with a secret behind escapes in it. */
static void
begin_with_secret(struct redact_json_pieces *s, struct buf *out)
{
    AUTO(buf) text = { 0 };
    uint32_t rng = 1;
    kit_expand(&text, "{\"a\":\"\\u0041 \\n<ghp> ", &rng);
    feed(s, view_of(&text), false, out);
}

static void
bytes_that_end_no_character_do_not_wait_for_one(void **state)
{
    enum { PIECES = 48, PIECE = 64 << 10, MOST = (1 << 20) + 2 * PIECE };
    static uint8_t piece[PIECE];
    struct redact_json_pieces s = { .redact = *state };
    AUTO(buf) out = { 0 };
    memset(piece, 0x80, sizeof(piece));
    begin_with_secret(&s, &out);
    for (int i = 0; i < PIECES; i++) {
        feed(&s, (struct view){ piece, PIECE }, false, &out);
        assert_true(s.raw.n <= MOST && s.masked.n <= MOST);
    }
    redact_json_pieces_release(&s);
}

/* Cut everywhere; both ways that it is none: within a string, and at its end. */
static void
what_turns_out_to_be_no_json_keeps_its_masks(void **state)
{
    static const char *const samples[] = {
        "{\"a\":\"\\u0041 \\n<ghp> and \\x more\", 1}",
        "{\"a\":\"\\u0041 \\n<ghp>\\u12x",
    };
    static const char *const wants[] = {
        "{\"a\":\"\\u0041 \\n[REDACTED:github-pat] and \\x more\", 1}",
        "{\"a\":\"\\u0041 \\n[REDACTED:github-pat]\\u12x",
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        AUTO(buf) text = { 0 };
        uint32_t rng = 1;
        kit_expand(&text, samples[i], &rng);
        for (size_t cut = 0; cut <= text.n; cut++) {
            struct redact_json_pieces s = { .redact = *state };
            AUTO(buf) out = { 0 };
            feed(&s, (struct view){ text.p, cut }, false, &out);
            feed(&s, (struct view){ text.p + cut, text.n - cut }, true, &out);
            assert_string_equal(buf_str(&out), wants[i]);
            redact_json_pieces_release(&s);
        }
    }
}

static void
nothing_is_lost_of_a_long_string_that_is_none(void **state)
{
    static const char words[] = "some words that are said again and again, ";
    static const char end[] = "and its end ghp_1B2c\\x\"";
    enum { TIMES = 2000, PIECES = 15 };
    struct redact_json_pieces s = { .redact = *state };
    AUTO(buf) out = { 0 };
    AUTO(buf) piece = { 0 };
    for (int i = 0; i < TIMES; i++)
        buf_puts(&piece, words);
    begin_with_secret(&s, &out);
    for (int i = 0; i < PIECES; i++)
        feed(&s, view_of(&piece), false, &out);
    for (size_t i = 0; i < sizeof(end) - 1; i++)
        feed(&s, (struct view){ (const uint8_t *)end + i, 1 }, false, &out);
    feed(&s, (struct view){ 0 }, true, &out);
    redact_json_pieces_release(&s);
    assert_int_equal(out.n, strlen("{\"a\":\"\\u0041 \\n[REDACTED:github-pat] ") +
                                piece.n * PIECES + sizeof(end) - 1);
    assert_string_equal(buf_str(&out) + out.n - (sizeof(end) - 1), end);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_between_escapes_is_masked),
        cmocka_unit_test(a_secret_without_escapes_is_masked),
        cmocka_unit_test(what_has_nothing_to_hide_stays),
        cmocka_unit_test(bytes_that_end_no_character_do_not_wait_for_one),
        cmocka_unit_test(what_turns_out_to_be_no_json_keeps_its_masks),
        cmocka_unit_test(nothing_is_lost_of_a_long_string_that_is_none),
    };
    return cmocka_run_group_tests_name("redact_json", tests, kit_open, kit_close);
}
