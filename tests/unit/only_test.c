/* SPDX-License-Identifier: MIT */
/*
 * only_test.c -- one rule alone, and texts that the user names: found however they are
 * written, and gone from the bytes and from the screen, which is laid out as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redact/only.h"
#include "support/redact_kit.h"
#include "support/rng.h"
#include "term/term.h"

static struct redact *
texts(const char *lines)
{
    struct redact *r = NULL;
    struct err err;
    struct view v = { (const uint8_t *)lines, strlen(lines) };
    int e = redact_only_texts(&r, v, &err);
    if (e)
        print_error("%s\n", err.text);
    assert_int_equal(e, 0);
    return r;
}

struct tally {
    size_t finds;
    uint64_t last_end;
};

static void
count(void *ctx, const struct redact_find *find)
{
    struct tally *t = ctx;
    assert_string_equal(find->rule, "text");
    assert_true(find->end > find->start);
    t->finds++;
    t->last_end = find->end;
}

/* In pieces of a size, or of random ones up to it. Returns how many were found. */
static size_t
mask(struct redact *r, struct redact_options opt, struct view in, size_t piece,
     uint32_t *rng, struct buf *out)
{
    struct redact_stream *s = NULL;
    struct tally tally = { 0 };
    opt.on_find = count;
    opt.ctx = &tally;
    assert_int_equal(redact_stream_new(&s, r, &opt), 0);
    for (size_t at = 0, n; at < in.n; at += n) {
        n = rng ? rng_between(rng, 1, (uint32_t)piece) : piece;
        n = n < in.n - at ? n : in.n - at;
        assert_int_equal(redact_stream_feed(s, in.p + at, n, out), 0);
        assert_true(redact_stream_held(s) <= REDACT_TEXTS_HOLD);
    }
    assert_int_equal(redact_stream_flush(s, out), 0);
    redact_stream_free(s);
    return tally.finds;
}

static void
show(const char *what, const struct buf *b)
{
    AUTO(buf) out = { 0 };
    for (size_t i = 0; i < b->n; i++)
        buf_printf(&out, b->p[i] >= 0x20 && b->p[i] < 0x7f ? "%c" : "\\x%02x", b->p[i]);
    print_error("%s: %s\n", what, buf_str(&out));
}

/* -- samples -- */

struct sample {
    const char *text, *in, *want; /* of want: '#' is a mask */
};

/* With each '#' a "[REDACTED:text]"; stars: as many of them as there were bytes. */
static void
check(const char *lines, const char *in, const char *want, bool is_terminal)
{
    struct redact *r = texts(lines);
    struct redact_options opt = { .is_terminal = is_terminal,
                                  .cols = 40,
                                  .is_whole = true };
    AUTO(buf) masked = { 0 };
    for (const char *c = want; *c; c++)
        if (*c == '#')
            buf_puts(&masked, "[REDACTED:text]");
        else
            buf_append(&masked, c, 1);
    for (size_t piece = 1; piece < 12; piece++) {
        AUTO(buf) out = { 0 };
        mask(r, opt, (struct view){ (const uint8_t *)in, strlen(in) }, piece, NULL, &out);
        kit_same((struct view){ out.p, out.n }, (struct view){ masked.p, masked.n }, in);
    }
    redact_close(r);
}

static void
a_text_is_found_wherever_it_stands(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        { "hunter2", "hunter2", "#" },
        { "hunter2", "xhunter2y", "x#y" },
        { "hunter2", "Hunter2 HUNTER2 hunter hunter 2",
          "Hunter2 HUNTER2 hunter hunter 2" },
        { "hunter2", "hunter2hunter2", "##" },
        { "hunter2", "\"hunter2\"\\nhunter2", "\"#\"\\n#" },
        { "a \"b'c\\", "x=a \"b'c\\;", "x=#;" },
        { "pass\nword", "password", "##" },
        { "abcd\nabcdef", "abcdabcdefabcde", "###e" },
        { "abcdef\ncdefgh", "abcdefgh", "#" },
        { "aaaa", "aaa aaaa aaaaaaa", "aaa # #" },
        { "  hunter2\t\r\n\n", "hunter2", "#" },
        { "p\xc3\xa4ss", "\xc3\xa4p\xc3\xa4ss", "\xc3\xa4#" },
        { "my secret", "my secret my  secret mysecret", "# my  secret mysecret" },
        { "ab cd\nabc d", "ab cd abc d abcd", "# # abcd" },
        { "aaaab", "aaaaaaaab", "aaaa#" },
        { "abababc", "abababababc", "abab#" },
        { "a b a b c", "a b a b a b c", "a b #" },
        { "name\xff\xfe", "name\xff\xfe", "#" },
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        for (int is_terminal = 0; is_terminal < 2; is_terminal++)
            check(samples[i].text, samples[i].in, samples[i].want, is_terminal);
}

static void
sequences_and_wraps_may_lie_between(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        { "hunter2", "hun\x1b[31mter\x1b[0m2", "#\x1b[31m\x1b[0m" },
        { "hunter2", "hun\x1b]0;title\ater2", "#\x1b]0;title\a" },
        { "hunter2", "\x1b]0;my hunter2\a hunter2", "\x1b]0;my #\a #" },
        { "hunter2", "hun\x1b]0;hunt\ater2\x1b]2;er2\a", "#\x1b]0;hunt\a\x1b]2;er2\a" },
        { "hunter2", "hun\r\nter2", "#\r\n" },
        { "hunter2", "hun\r\n    ter2", "#\r\n    " },
        { "hunter2", "hun \rter2", "#\r" },
        { "hunter2", "hun\n\nter2", "hun\n\nter2" },
        { "hunter2", "hun\x1b[?2004hter2\x1b[?25l", "#\x1b[?2004h\x1b[?25l" },
        { "hunter2", "hun\x1b[5;1Hter2", "#\x1b[5;1H" },
        { "hunter2", "hun\x1b[5;7Hter2", "hun\x1b[5;7Hter2" },
        { "hunter2", "hun\bter2", "hun\bter2" },
        { "my secret", "my\r\nsecret my \r\n  secret", "#\r\n #\r\n  " },
        { "my secret", "my\tsecret my\x1b[1Csecret", "#\t #\x1b[1C" },
        { "my secret", "my\x1b[80Csecret", "my\x1b[80Csecret" },
        { "xaaaay", "xa\x1b[3by", "#\x1b[3b" },
        { "aaaa", "xa\x1b[3by", "x#\x1b[3by" },
        { "mhunter2", "\x1b[1mhunter2", "\x1b[1m#" },
        { "hunter2", "\x1b(hunter2", "\x1b(h#" },
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check(samples[i].text, samples[i].in, samples[i].want, true);
}

static void
a_text_that_was_cut_off_is_masked(void **state)
{
    (void)state;
    static const struct {
        const char *in, *want;
        bool is_whole;
    } cases[] = {
        { "x hunt", "x ****", false },
        { "x hunt", "x hunt", true },
        { "x hun", "x hun", false },
        { "x hunte ", "x ***** ", false },
    };
    struct redact *r = texts("hunter2");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) out = { 0 };
        struct redact_options opt = { .is_terminal = true,
                                      .is_whole = cases[i].is_whole,
                                      .keeps_length = true };
        mask(r, opt, (struct view){ (const uint8_t *)cases[i].in, strlen(cases[i].in) },
             3, NULL, &out);
        assert_string_equal(buf_str(&out), cases[i].want);
    }
    redact_close(r);
}

static void
whole_texts_are_masked_too(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct redact *r = texts("hunter2\nmy secret");
    static const char in[] = "{\"a\": \"hun\\u001b[1mter2\"}\nmy\nsecret, my secret\n";
    assert_int_equal(redact_text(r, in, sizeof(in) - 1, &out), 0);
    assert_string_equal(buf_str(&out), "{\"a\": \"[REDACTED:text]\\u001b[1m\"}\nmy\n"
                                       "secret, [REDACTED:text]\n");
    assert_int_equal(redact_rules(r), 1);
    assert_string_equal(redact_rule(r, 0).id, "text");
    assert_true(redact_size_bytes(r) > 0);
    redact_close(r);
}

static void
lines_that_are_no_good_are_told_by_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *want;
    } cases[] = {
        { "", "there is no text to look for" },
        { " \n\t\n\r\n", "there is no text to look for" },
        { "fine1\nabc\n", "the text in line 2 is shorter than 4 bytes: it would mask too "
                          "much" },
        { "\na   b",
          "the text in line 2 is shorter than 4 bytes: it would mask too much" },
        { "x\x1b[1mabcd", "the text in line 1 holds a control character" },
        { "** **", "the text in line 1 is nothing but stars" },
    };
    struct redact *r;
    struct err err;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct view v = { (const uint8_t *)cases[i].lines, strlen(cases[i].lines) };
        assert_int_equal(redact_only_texts(&r, v, &err), ERR_USAGE);
        assert_string_equal(err.text, cases[i].want);
    }
    AUTO(buf) many = { 0 };
    for (int i = 0; i <= REDACT_TEXTS_MAX; i++)
        buf_printf(&many, "text%d\n", i);
    struct view v = { many.p, many.n };
    assert_int_equal(redact_only_texts(&r, v, &err), ERR_USAGE);
    assert_string_equal(err.text, "there are more than 1000 texts");
    buf_clear(&many);
    for (int i = 0; i <= REDACT_TEXT_MAX; i++)
        buf_puts(&many, "x");
    v = (struct view){ many.p, many.n };
    assert_int_equal(redact_only_texts(&r, v, &err), ERR_USAGE);
    assert_string_equal(err.text, "the text in line 1 is longer than 2048 bytes");
}

/* Each of its bytes in another colour, and wrapped: what may be held suffices. */
static void
a_long_text_is_found_between_many_sequences(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    uint32_t rng = rng_seed(1);
    buf_puts(&in, "before ");
    for (int i = 0; i < REDACT_TEXT_MAX; i++) {
        uint8_t c = (uint8_t)('!' + rng_below(&rng, 90));
        c = c == '*' ? '+' : c;
        buf_append(&text, &c, 1);
        buf_printf(&in, "\x1b[38;2;%u;%u;%um\x1b[48;2;111;112;113m", rng_below(&rng, 255),
                   rng_below(&rng, 255), rng_below(&rng, 255));
        buf_append(&in, &c, 1);
        if (i % 70 == 69)
            buf_puts(&in, "\x1b[m\r\n  ");
    }
    buf_puts(&in, " behind");
    struct redact *r = texts(buf_str(&text));
    struct redact_options opt = { .is_terminal = true, .cols = 80, .is_whole = true };
    assert_int_equal(mask(r, opt, (struct view){ in.p, in.n }, 777, &rng, &out), 1);
    assert_non_null(memmem(out.p, out.n, "m[REDACTED:text]\x1b", 17));
    assert_non_null(memmem(out.p, out.n, " behind", 7));
    redact_close(r);
}

/* Texts that begin alike, a thousand of them, and an input that begins them all the time:
 * no byte is looked at much more than once. */
static void
texts_that_begin_alike_cost_no_more(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    for (int i = 0; i < REDACT_TEXTS_MAX; i++) {
        for (int k = 0; k < 1000; k++)
            buf_puts(&lines, "a");
        buf_printf(&lines, "%d-\n", i);
    }
    for (int i = 0; i < 2000000; i++)
        buf_puts(&in, "a");
    buf_puts(&in, "999-b");
    struct redact *r = texts(buf_str(&lines));
    struct redact_options opt = { .is_terminal = true, .cols = 80, .is_whole = true };
    assert_int_equal(mask(r, opt, (struct view){ in.p, in.n }, 10000, NULL, &out), 1);
    assert_int_equal(out.n, 2000000 - 1000 + 15 + 1);
    redact_close(r);
}

/* -- one rule -- */

static void
one_rule_is_applied_and_no_other(void **state)
{
    (void)state;
    struct redact *r = NULL;
    struct err err;
    uint32_t rng = rng_seed(4);
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    kit_expand(&in, "a <ghp> b glpat-<alnum*20> c", &rng);
    assert_int_equal(redact_only_rule(&r, "github-pat", NULL, &err), 0);
    assert_int_equal(redact_text(r, in.p, in.n, &out), 0);
    assert_non_null(strstr(buf_str(&out), "a [REDACTED:github-pat] b glpat-"));
    assert_null(strstr(buf_str(&out), "gitlab"));
    redact_close(r);
    assert_int_equal(redact_only_rule(&r, "github-pta", NULL, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "github-pta"));
}

/* -- against the terminal: gone from each row, and laid out as before -- */

/* All rows, oldest first; those that go on in the next are joined. */
static void
read_rows(const struct term *t, struct buf *out)
{
    struct term_line line = { 0 };
    size_t n = term_scrollback_count(t) + term_rows(t);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(term_line_at(t, i, &line), 0);
        buf_append(out, line.text.p, line.text.n);
        for (unsigned col = line.cols; line.is_wrapped && col < term_cols(t); col++)
            buf_puts(out, " ");
        if (!line.is_wrapped)
            buf_puts(out, "\n");
    }
    term_line_release(&line);
}

static bool
is_text(const struct term_cell *c, const char *text)
{
    return c->text.n == strlen(text) && !memcmp(c->text.p, text, c->text.n);
}

static void
same_layout(const struct term *a, const struct term *b)
{
    assert_int_equal(term_scrollback_count(a), term_scrollback_count(b));
    struct term_cursor x = term_cursor(a), y = term_cursor(b);
    assert_true(x.row == y.row && x.col == y.col);
    for (unsigned row = 0; row < term_rows(a); row++)
        for (unsigned col = 0; col < term_cols(a); col++) {
            struct term_cell p, q;
            term_cell_at(a, row, col, &p);
            term_cell_at(b, row, col, &q);
            bool is_star = is_text(&q, "*") || is_text(&q, "\uff0a");
            assert_int_equal(memcmp(&p.style, &q.style, sizeof(p.style)), 0);
            assert_int_equal(p.width, q.width);
            assert_true(is_star ||
                        (p.text.n == q.text.n &&
                         (!p.text.n || !memcmp(p.text.p, q.text.p, p.text.n))));
        }
}

static const char *const pool[] = {
    "a", "b", "ab", "1", "-", "x", "\u00e9", "\u5bc6", "Z"
};

static void
put_random_text(struct buf *out, uint32_t *rng)
{
    size_t n = rng_between(rng, 4, 14);
    for (size_t i = 0; i < n; i++) {
        bool is_inner = i > 1 && i + 2 < n;
        uint32_t k = rng_below(rng, sizeof(pool) / sizeof(pool[0]) + is_inner);
        buf_puts(out, k < sizeof(pool) / sizeof(pool[0]) ? pool[k] : " ");
    }
}

static const char *const quiet[] = {
    "\x1b[31m",
    "\x1b[1;38;5;200m",
    "\x1b[m",
    "\x1b[?2004h",
    "\x1b[?25l",
    "\x1b[K",
    "\x1b]0;a title\a",
    "\x1b]8;;http://e.org\x1b\\",
    "\x1b]8;;\x1b\\",
    "\a",
    "\x1b(B",
    "\x1b[0J",
    "\x1b=",
    "\x1b[6n",
    "\x1b[X",
    "\x1b[P",
    "\x1b[@",
    "\0337",
    "",
};

/* A text as it may stand on a terminal. */
static void
put_written(struct buf *out, struct view text, uint32_t *rng)
{
    uint32_t often = rng_between(rng, 2, 20);
    for (size_t i = 0; i < text.n; i++) {
        bool may_cut = i && (text.p[i] & 0xc0) != 0x80;
        if (may_cut && !rng_below(rng, often))
            buf_puts(out, quiet[rng_below(rng, sizeof(quiet) / sizeof(quiet[0]))]);
        if (may_cut && !rng_below(rng, often * 8))
            buf_printf(out, "\r\n%*s", (int)rng_below(rng, 5), "");
        if (text.p[i] == ' ' && !rng_below(rng, 3))
            buf_puts(out, rng_below(rng, 3) ? "\x1b[C" : "\t");
        else if (i && text.p[i] < 0x80 && text.p[i] == text.p[i - 1] &&
                 !rng_below(rng, 3))
            buf_puts(out, "\x1b[b");
        else
            buf_append(out, &text.p[i], 1);
    }
}

struct round {
    struct buf texts[3], in, out;
    size_t n;
    unsigned cols;
};

static void
make_round(struct round *rd, uint32_t *rng)
{
    rd->n = rng_between(rng, 1, 3);
    rd->cols = rng_between(rng, 5, 60);
    for (size_t i = 0; i < rd->n; i++)
        put_random_text(&rd->texts[i], rng);
    if (rd->n > 1 && !rng_below(rng, 3)) /* the beginning of another */
        buf_append(&rd->texts[1], rd->texts[0].p, rd->texts[0].n);
    for (uint32_t i = rng_between(rng, 1, 12); i; i--) {
        const struct buf *text = &rd->texts[rng_below(rng, (uint32_t)rd->n)];
        struct view v = { text->p, text->n };
        for (uint32_t k = rng_below(rng, 12); k; k--)
            buf_puts(&rd->in, pool[rng_below(rng, sizeof(pool) / sizeof(pool[0]))]);
        if (!rng_below(rng, 4))
            buf_puts(&rd->in, "\r\n");
        if (!rng_below(rng, 6)) {
            buf_puts(&rd->in, "\x1b]2;");
            buf_append(&rd->in, v.p, v.n);
            buf_puts(&rd->in, "\x1b\\");
        }
        put_written(&rd->in, v, rng);
    }
}

static void
release_round(struct round *rd)
{
    for (size_t i = 0; i < 3; i++)
        buf_release(&rd->texts[i]);
    buf_release(&rd->in);
    buf_release(&rd->out);
}

static bool
holds(const struct buf *b, const struct buf *text)
{
    return memmem(b->p, b->n, text->p, text->n);
}

static void
check_round(struct redact *r, struct round *rd, uint32_t *rng)
{
    AUTO(buf) cut = { 0 };
    AUTO(buf) plain_rows = { 0 };
    AUTO(buf) rows = { 0 };
    struct redact_options opt = {
        .is_terminal = true, .cols = rd->cols, .is_whole = true, .keeps_length = true
    };
    struct view in = { rd->in.p, rd->in.n };
    size_t finds = mask(r, opt, in, in.n, NULL, &rd->out);
    assert_int_equal(mask(r, opt, in, 9, rng, &cut), finds);
    kit_same((struct view){ cut.p, cut.n }, (struct view){ rd->out.p, rd->out.n }, "cut");
    assert_int_equal(rd->out.n, in.n);
    struct term *plain = kit_shown(&rd->in, rd->cols),
                *masked = kit_shown(&rd->out, rd->cols);
    same_layout(plain, masked);
    read_rows(plain, &plain_rows);
    read_rows(masked, &rows);
    for (size_t i = 0; i < rd->n; i++) {
        bool is_left = holds(&rd->out, &rd->texts[i]) || holds(&rows, &rd->texts[i]);
        if (is_left) {
            show("text", &rd->texts[i]);
            show("in", &rd->in);
            show("out", &rd->out);
            show("rows", &rows);
        }
        assert_false(is_left);
        if (holds(&plain_rows, &rd->texts[i]))
            assert_true(finds > 0);
    }
    term_free(plain);
    term_free(masked);
}

static void
nothing_of_a_text_is_left_on_the_screen(void **state)
{
    (void)state;
    const char *times = getenv("AHR_TEST_LONG");
    for (uint32_t seed = 1; seed < (times ? 200000 : 3000); seed++) {
        uint32_t rng = rng_seed(seed);
        struct round rd = { 0 };
        AUTO(buf) lines = { 0 };
        make_round(&rd, &rng);
        for (size_t i = 0; i < rd.n; i++)
            buf_printf(&lines, "%s\n", buf_str(&rd.texts[i]));
        struct redact *r = texts(buf_str(&lines));
        check_round(r, &rd, &rng);
        redact_close(r);
        release_round(&rd);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_wherever_it_stands),
        cmocka_unit_test(sequences_and_wraps_may_lie_between),
        cmocka_unit_test(a_text_that_was_cut_off_is_masked),
        cmocka_unit_test(whole_texts_are_masked_too),
        cmocka_unit_test(lines_that_are_no_good_are_told_by_their_number),
        cmocka_unit_test(a_long_text_is_found_between_many_sequences),
        cmocka_unit_test(texts_that_begin_alike_cost_no_more),
        cmocka_unit_test(one_rule_is_applied_and_no_other),
        cmocka_unit_test(nothing_of_a_text_is_left_on_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
