/* SPDX-License-Identifier: MIT */
/* redact_stream_test.c -- streams: sequences between the letters, what is held and when,
 * what comes of secrets that are cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/redact_kit.h"
#include "support/rng.h"

static const struct redact_options terminal = { .is_terminal = true,
                                                .cols = 80,
                                                .is_whole = true };

/* -- sequences -- */

/* <ghp> with something between its letters, as a sample. */
static void
spread_token(struct buf *sample, const char *between)
{
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(7);
    kit_expand(&token, "<ghp>", &rng);
    for (size_t i = 0; i < token.n; i++)
        buf_printf(sample, "%s[[%s:%c]]", i ? between : "", i ? "+" : "github-pat",
                   token.p[i]);
}

static void
sequences_that_leave_the_cursor_are_seen_through(void **state)
{
    static const char *const between[] = {
        "\x1b[31m", "\x1b[0;1;38;2;1;2;3m", "\x1b[K",   "\x1b[?25l",
        "\x1b(B",   "\x1b]0;title\a",       "\x1b[0 q", "\x1b]8;;http://e.org\x1b\\",
    };
    for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
        AUTO(buf) sample = { 0 };
        buf_puts(&sample, "before ");
        spread_token(&sample, between[i]);
        buf_puts(&sample, " behind\r\n");
        kit_check(*state, buf_str(&sample), terminal);
    }
}

static void
colours_are_seen_through_in_texts_too(void **state)
{
    AUTO(buf) sample = { 0 };
    buf_puts(&sample, "before ");
    spread_token(&sample, "\x1b[1;31m");
    buf_puts(&sample, "\x1b[0m behind\n");
    kit_check(*state, buf_str(&sample), (struct redact_options){ .is_whole = true });
}

static void
sequences_that_move_the_cursor_break_a_token(void **state)
{
    static const char *const between[] = {
        "\x1b[5C", "\x1b[3;40H", "\x1b[A", "\b", "\t", "\0338", "\x1bM",
    };
    for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
        AUTO(buf) sample = { 0 };
        buf_printf(&sample, "x ghp_<alnum*18>%s<alnum*18> y\r\n", between[i]);
        kit_check(*state, buf_str(&sample), terminal);
    }
}

static void
titles_links_and_clipboards_are_masked(void **state)
{
    static const char *const samples[] = {
        "\x1b]0;build [[github-pat:<ghp>]] now\a$ ",
        "\x1b]2;[[github-pat:<ghp>]]\x1b\\text\r\n",
        "\x1b]8;;https://e.org/?t=[[github-pat:<ghp>]]\x1b\\link\x1b]8;;\x1b\\\r\n",
        "\x1b]8;;https://u:[[url-password:<alnum*12>]]@e.org/\alink\x1b]8;;\a\r\n",
        "\x1bP+r [[github-pat:<ghp>]]\x1b\\\r\n",
        NULL,
    };
    kit_check_all(*state, samples, terminal);
}

static void
texts_of_two_titles_are_not_joined(void **state)
{
    kit_check(*state, "\x1b]0;ghp_<alnum*18>\a\x1b]0;<alnum*18>\a\r\n", terminal);
}

static void
half_a_sequence_at_the_end_comes_out_as_it_came(void **state)
{
    static const char *const samples[] = {
        "x\x1b",          "x\x1b[",    "x\x1b[31", "x\x1b]0;ti",
        "x\x1b]0;ti\x1b", "x\xe2\x82", "x\\u001b", "x\\u00",
        "x \r",           "x\r",       " ",        NULL,
    };
    kit_check_all(*state, samples, terminal);
    kit_check_all(*state, samples, (struct redact_options){ .is_whole = true });
}

/* -- wraps -- */

/* A token from column `col` on, wrapped at 40 by a program that ends lines itself. */
static void
wrapped_token(struct buf *sample, size_t col, const char *line_end)
{
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(9);
    kit_expand(&token, "<ghp>", &rng);
    buf_printf(sample, "%*s[[github-pat:", (int)col, "token ");
    buf_append(sample, token.p, 40 - col);
    buf_printf(sample, "]]%s[[+:%s]]\r\n", line_end, buf_str(&token) + 40 - col);
}

static void
a_token_that_was_wrapped_is_masked_in_both_lines(void **state)
{
    static const char *const ends[] = { "\r\n", "\n", "\r\n  ", "\x1b[0m\r\n\x1b[31m" };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        for (size_t col = 6; col < 39; col += 4) {
            AUTO(buf) sample = { 0 };
            wrapped_token(&sample, col, ends[i]);
            struct redact_options opt = terminal;
            opt.cols = 40;
            kit_check(*state, buf_str(&sample), opt);
        }
}

static void
the_word_on_the_line_behind_a_token_stays(void **state)
{
    static const char *const samples[] = {
        "[[github-pat:<ghp>]]\r\nDone\r\n",
        "token: [[github-pat:<ghp>]]\r\n$ ls\r\n",
        "PASSWORD=[[password-assignment:x9<alnum*8>]]\r\nUSER=me\r\n",
        "password: [[password-assignment:x9<alnum*8>!]]\r\nhost: e.org\r\n",
        NULL,
    };
    kit_check_all(*state, samples, terminal);
}

/* -- what is held -- */

struct live {
    struct redact_stream *stream;
    struct buf out;
};

static void
live_open(struct live *l, struct redact *r, struct redact_options opt)
{
    *l = (struct live){ 0 };
    assert_int_equal(redact_stream_new(&l->stream, r, &opt), 0);
}

static void
live_close(struct live *l)
{
    redact_stream_free(l->stream);
    buf_release(&l->out);
}

static void
live_feed(struct live *l, const char *sample, uint32_t seed)
{
    AUTO(buf) in = { 0 };
    uint32_t rng = rng_seed(seed);
    kit_expand(&in, sample, &rng);
    assert_int_equal(redact_stream_feed(l->stream, in.p, in.n, &l->out), 0);
}

static const struct redact_options typed = { .is_terminal = true,
                                             .cols = 80,
                                             .keeps_length = true };

static void
nothing_is_held_behind_a_prompt(void **state)
{
    static const char *const prompts[] = {
        "$ ",
        "\x1b[32mme@host\x1b[0m:~\x1b[34m$\x1b[0m ",
        "Password: ",
        "Enter passphrase for key '/home/me/.ssh/id': ",
        "token: ",
        "[sudo] password for me: ",
        "> ",
        "Username for 'https://github.com': ",
        "Continue? [y/N] ",
        "(yes/no)? ",
        "API key:",
        "--More--(50%)",
        ">>> ",
    };
    for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++) {
        struct live l;
        live_open(&l, *state, typed);
        live_feed(&l, prompts[i], 1);
        assert_int_equal(redact_stream_rest(l.stream, &l.out), 0);
        kit_same((struct view){ l.out.p, l.out.n },
                 (struct view){ (const uint8_t *)prompts[i], strlen(prompts[i]) },
                 prompts[i]);
        assert_int_equal(redact_stream_held(l.stream), 0);
        live_close(&l);
    }
}

static void
typed_letters_are_shown_at_rest(void **state)
{
    static const char *const words[] = {
        "g", "gh", "ghp", "A", "AKI", "sk", "ey", "git s"
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct live l;
        live_open(&l, *state, typed);
        for (const char *p = words[i]; *p; p++) {
            live_feed(&l, (char[]){ *p, 0 }, 1);
            assert_int_equal(redact_stream_rest(l.stream, &l.out), 0);
        }
        assert_string_equal(buf_str(&l.out), words[i]);
        assert_int_equal(redact_stream_held(l.stream), 0);
        live_close(&l);
    }
}

static void
a_token_typed_slowly_is_masked_but_for_its_public_letters(void **state)
{
    struct live l;
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(3);
    kit_expand(&token, "<ghp>", &rng);
    live_open(&l, *state, typed);
    for (size_t i = 0; i < token.n; i++) {
        assert_int_equal(redact_stream_feed(l.stream, token.p + i, 1, &l.out), 0);
        assert_int_equal(redact_stream_rest(l.stream, &l.out), 0);
        assert_true(l.out.n <= 4);
    }
    live_feed(&l, "\r\n", 1);
    assert_int_equal(redact_stream_flush(l.stream, &l.out), 0);
    assert_int_equal(l.out.n, 42);
    assert_memory_equal(l.out.p, "ghp", 3);
    for (size_t i = 4; i < 40; i++)
        assert_int_equal(l.out.p[i], '*');
    live_close(&l);
}

static void
lines_without_a_secret_go_out_at_once(void **state)
{
    struct live l;
    live_open(&l, *state, terminal);
    live_feed(&l, "an ordinary line\r\n", 1);
    assert_int_equal(redact_stream_held(l.stream), 0);
    live_feed(&l, "half a line.", 1);
    assert_int_equal(redact_stream_held(l.stream), 0);
    assert_string_equal(buf_str(&l.out), "an ordinary line\r\nhalf a line.");
    live_close(&l);
}

static void
no_letter_of_a_secret_goes_out_before_it_is_decided(void **state)
{
    struct live l;
    live_open(&l, *state, terminal);
    live_feed(&l, "see ghp_", 1);
    live_feed(&l, "<alnum*35>", 2);
    assert_string_equal(buf_str(&l.out), "see ");
    live_feed(&l, "Z next", 1);
    assert_int_equal(redact_stream_flush(l.stream, &l.out), 0);
    assert_string_equal(buf_str(&l.out), "see [REDACTED:github-pat] next");
    live_close(&l);
}

/* Runs of every kind that has no end. */
static void
never_more_is_held_than_promised(void **state)
{
    static const char *const heads[] = {
        "password=",
        "password=\"",
        "Cookie: a=",
        "see eyJ",
        "ghp_",
        "https://u:",
        "Authorization: Bearer ",
        "<begin>\n",
        "{\"k\":\"<begin>\\n",
        "\x1b]0;ghp_",
        "\x1b]52;c;",
        "\x1b[",
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
            struct live l;
            live_open(&l, *state, (struct redact_options){ .is_terminal = is_terminal });
            live_feed(&l, heads[i], 1);
            for (uint32_t k = 0; k < 200; k++) {
                live_feed(&l, k % 8 ? "<alnum*97>" : "<alnum*5000>", k);
                assert_true(redact_stream_held(l.stream) <= REDACT_HOLD);
            }
            live_close(&l);
        }
}

/* -- the end -- */

static void
a_token_that_the_end_cuts_off_is_masked(void **state)
{
    AUTO(buf) token = { 0 };
    uint32_t rng = rng_seed(3);
    kit_expand(&token, "<ghp>", &rng);
    for (size_t n = 8; n < token.n; n++) {
        struct live l;
        live_open(&l, *state, (struct redact_options){ .is_terminal = true });
        assert_int_equal(redact_stream_feed(l.stream, token.p, n, &l.out), 0);
        assert_int_equal(redact_stream_flush(l.stream, &l.out), 0);
        assert_string_equal(buf_str(&l.out), "[REDACTED:github-pat]");
        live_close(&l);
    }
}

static void
a_whole_text_ends_with_what_it_ends_with(void **state)
{
    kit_check(*state, "see ghp_<alnum*20>", (struct redact_options){ .is_whole = true });
    kit_check(*state, "see [[github-pat:ghp_<alnum*20>]]", (struct redact_options){ 0 });
    kit_check(*state, "password=[[password-assignment:x9<alnum*2>]]",
              (struct redact_options){ 0 });
}

static void
a_password_that_the_end_cuts_off_is_masked(void **state)
{
    static const char *const samples[] = {
        "DB_PASSWORD=[[password-assignment:x9Q]]",
        "{\"password\":\"[[password-assignment:x9<alnum*4>]]",
        "<begin>\n[[private-key:<b64*64>\n<b64*9>]]",
        "postgres://u:[[url-password:x9Q]]",
        NULL,
    };
    kit_check_all(*state, samples, (struct redact_options){ 0 });
}

static void
after_a_flush_or_a_reset_a_stream_is_as_new(void **state)
{
    struct live l;
    live_open(&l, *state, terminal);
    live_feed(&l, "see ghp_<alnum*18>", 1);
    redact_stream_reset(l.stream);
    assert_int_equal(redact_stream_held(l.stream), 0);
    live_feed(&l, "<alnum*18> x\r\n", 2);
    assert_null(strstr(buf_str(&l.out), "REDACTED"));
    assert_int_equal(redact_stream_flush(l.stream, &l.out), 0);
    buf_clear(&l.out);
    live_feed(&l, "<ghp>\r\n", 4);
    assert_int_equal(redact_stream_flush(l.stream, &l.out), 0);
    assert_string_equal(buf_str(&l.out), "[REDACTED:github-pat]\r\n");
    live_close(&l);
}

static void
two_streams_do_not_know_of_each_other(void **state)
{
    struct live a, b;
    live_open(&a, *state, terminal);
    live_open(&b, *state, terminal);
    live_feed(&a, "a ghp_<alnum*18>", 1);
    live_feed(&b, "b ghp_<alnum*18>", 2);
    live_feed(&a, "<alnum*18> a\r\n", 3);
    live_feed(&b, " <alnum*18> b\r\n", 4);
    assert_int_equal(redact_stream_flush(a.stream, &a.out), 0);
    assert_int_equal(redact_stream_flush(b.stream, &b.out), 0);
    assert_string_equal(buf_str(&a.out), "a [REDACTED:github-pat] a\r\n");
    assert_null(strstr(buf_str(&b.out), "REDACTED"));
    live_close(&a);
    live_close(&b);
}

static void
after_a_failure_nothing_more_is_handed_out(void **state)
{
    struct live l;
    live_open(&l, *state, terminal);
    l.out.ceiling = 8;
    AUTO(buf) in = { 0 };
    uint32_t rng = rng_seed(1);
    kit_expand(&in, "more than eight bytes\r\n", &rng);
    assert_int_equal(redact_stream_feed(l.stream, in.p, in.n, &l.out), ERR_LIMIT);
    size_t n = l.out.n;
    assert_int_equal(redact_stream_feed(l.stream, "x", 1, &l.out), ERR_LIMIT);
    assert_int_equal(redact_stream_flush(l.stream, &l.out), ERR_LIMIT);
    assert_int_equal(l.out.n, n);
    live_close(&l);
}

static void
any_bytes_without_a_secret_come_out_as_they_came(void **state)
{
    AUTO(buf) in = { 0 };
    uint32_t rng = rng_seed(11);
    for (size_t i = 0; i < 300000; i++)
        buf_append(&in, (uint8_t[]){ (uint8_t)rng_below(&rng, 256) }, 1);
    for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
        AUTO(buf) out = { 0 };
        struct redact_options opt = { .is_terminal = is_terminal, .cols = 80 };
        kit_run(*state, opt, (struct view){ in.p, in.n }, 4096, &out, NULL);
        kit_same((struct view){ out.p, out.n }, (struct view){ in.p, in.n }, "noise");
    }
}

static void
a_token_with_more_colours_than_can_be_held_is_masked(void **state)
{
    static const struct redact_options screen = { .is_terminal = true,
                                                  .keeps_length = true };
    AUTO(buf) token = { 0 };
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    uint32_t rng = 7;
    size_t clear = 0, at = 0;
    kit_expand(&token, "<jwt*600>", &rng);
    for (size_t i = 0; i < token.n; i++)
        buf_printf(&in, "\x1b[38;2;255;255;255m%c", token.p[i]);
    buf_puts(&in, "\r\n");
    kit_run(*state, screen, (struct view){ in.p, in.n }, in.n, &out, NULL);
    assert_int_equal(out.n, in.n);
    for (size_t i = 0; i < token.n; i++) {
        at += strlen("\x1b[38;2;255;255;255m");
        clear += out.p[at++] == token.p[i];
    }
    assert_int_equal(clear, 0);
}

/* -- whole texts, for which a stream is kept -- */

/* The token anywhere around the end of a slice, which is 16 KiB. */
static void
a_long_text_in_one_go_is_as_one_in_pieces(void **state)
{
    for (size_t before = 16300; before < 16420; before += 7) {
        AUTO(buf) in = { 0 };
        AUTO(buf) whole = { 0 };
        AUTO(buf) pieces = { 0 };
        uint32_t rng = rng_seed((uint32_t)before);
        while (in.n < before)
            buf_puts(&in, "x ");
        kit_expand(&in, "<ghp> behind", &rng);
        assert_int_equal(redact_text(*state, in.p, in.n, &whole), 0);
        kit_run(*state, (struct redact_options){ .is_whole = true },
                (struct view){ in.p, in.n }, 1000, &pieces, NULL);
        kit_same((struct view){ whole.p, whole.n }, (struct view){ pieces.p, pieces.n },
                 "in one go");
        assert_non_null(strstr(buf_str(&whole), "[REDACTED:github-pat] behind"));
    }
}

static void
a_text_knows_nothing_of_the_one_before(void **state)
{
    AUTO(buf) token = { 0 };
    AUTO(buf) out = { 0 };
    AUTO(buf) small = { .ceiling = 8 };
    uint32_t rng = rng_seed(3);
    kit_expand(&token, "<ghp>", &rng);
    assert_int_equal(redact_text(*state, token.p, 20, &out), 0);
    buf_clear(&out);
    assert_int_equal(redact_text(*state, token.p + 20, token.n - 20, &out), 0);
    kit_same((struct view){ out.p, out.n }, (struct view){ token.p + 20, token.n - 20 },
             "the rest of a token");
    assert_true(redact_text(*state, "much too long", 13, &small) < 0);
    buf_clear(&out);
    assert_int_equal(redact_text(*state, token.p, token.n, &out), 0);
    assert_string_equal(buf_str(&out), "[REDACTED:github-pat]");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_with_more_colours_than_can_be_held_is_masked),
        cmocka_unit_test(sequences_that_leave_the_cursor_are_seen_through),
        cmocka_unit_test(colours_are_seen_through_in_texts_too),
        cmocka_unit_test(sequences_that_move_the_cursor_break_a_token),
        cmocka_unit_test(titles_links_and_clipboards_are_masked),
        cmocka_unit_test(texts_of_two_titles_are_not_joined),
        cmocka_unit_test(half_a_sequence_at_the_end_comes_out_as_it_came),
        cmocka_unit_test(a_token_that_was_wrapped_is_masked_in_both_lines),
        cmocka_unit_test(the_word_on_the_line_behind_a_token_stays),
        cmocka_unit_test(nothing_is_held_behind_a_prompt),
        cmocka_unit_test(typed_letters_are_shown_at_rest),
        cmocka_unit_test(a_token_typed_slowly_is_masked_but_for_its_public_letters),
        cmocka_unit_test(lines_without_a_secret_go_out_at_once),
        cmocka_unit_test(no_letter_of_a_secret_goes_out_before_it_is_decided),
        cmocka_unit_test(never_more_is_held_than_promised),
        cmocka_unit_test(a_token_that_the_end_cuts_off_is_masked),
        cmocka_unit_test(a_whole_text_ends_with_what_it_ends_with),
        cmocka_unit_test(a_password_that_the_end_cuts_off_is_masked),
        cmocka_unit_test(after_a_flush_or_a_reset_a_stream_is_as_new),
        cmocka_unit_test(two_streams_do_not_know_of_each_other),
        cmocka_unit_test(after_a_failure_nothing_more_is_handed_out),
        cmocka_unit_test(any_bytes_without_a_secret_come_out_as_they_came),
        cmocka_unit_test(a_long_text_in_one_go_is_as_one_in_pieces),
        cmocka_unit_test(a_text_knows_nothing_of_the_one_before),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
