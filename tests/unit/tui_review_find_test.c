/* SPDX-License-Identifier: MIT */
/* tui_review_find_test.c -- searching while looking back, the filter, and saved text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/review_kit.h"
#include "support/rng.h"
#include "tui/save.h"

static void
is_at(struct review_kit *k, uint64_t at)
{
    review_kit_check(k);
    assert_int_equal(k->r.at, at);
}

static void
is_page(struct review_kit *k, const char *want)
{
    AUTO(buf) room = { 0 };
    assert_string_equal(review_kit_page(k, &room), want);
}

/* -- searching -- */

static void
a_text_is_found_both_ways(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = { { 80, 24 }, { 30, 8 }, { 120, 40 } };
    for (size_t i = 0; i < 3; i++) {
        struct review_kit k;
        review_kit_begin(&k, sizes[i][0], sizes[i][1], 1000);
        review_kit_type(&k, "g/line 77\r");
        is_at(&k, 77);
        review_kit_type(&k, "n");
        is_at(&k, 770);
        review_kit_type(&k, "3n");
        is_at(&k, 773);
        review_kit_type(&k, "N");
        is_at(&k, 772);
        review_kit_type(&k, "''");
        is_at(&k, 773);
        review_kit_type(&k, "?line 5\r");
        is_at(&k, 599);
        review_kit_type(&k, "n");
        is_at(&k, 598);
        review_kit_type(&k, "N");
        is_at(&k, 599);
        review_kit_type(&k, "N");
        assert_string_equal(k.r.note, "not found: line 5");
        is_at(&k, 599);
        review_kit_type(&k, "g2/77\r");
        is_at(&k, 177);
        review_kit_type(&k, "/\r"); /* the same again */
        is_at(&k, 277);
        review_kit_type(&k, "?\r");
        is_at(&k, 177);
        review_kit_end(&k);
    }
}

static void
a_search_shows_what_it_finds_as_it_is_typed(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 1000);
    review_kit_type(&k, "101g2k");
    uint64_t top = k.r.top;
    review_kit_type(&k, "/2");
    is_at(&k, 102);
    assert_int_equal(k.r.needle.n, 1);
    review_kit_type(&k, "34");
    is_at(&k, 234);
    review_kit_type(&k, "\177\177");
    is_at(&k, 102);
    review_kit_type(&k, "x");
    is_at(&k, 98);
    assert_string_equal(k.r.note, "not found: 2x");
    review_kit_type(&k, "\177");
    is_at(&k, 102);
    review_kit_type(&k, "\033");
    is_at(&k, 98);
    assert_int_equal(k.r.top, top);
    assert_int_equal(k.r.needle.n, 0);
    assert_false(k.r.prompt.is_open);
    review_kit_type(&k, "G/1\033");
    assert_true(k.r.follows); /* as it did before */
    review_kit_type(&k, "?line 5\033");
    assert_true(k.r.follows);
    review_kit_type(&k, "/line 3");
    review_kit_lines(&k, 1000, 1010);
    review_kit_update(&k);
    review_kit_type(&k, "\033");
    assert_true(k.r.follows);
    is_at(&k, 1009);
    review_kit_type(&k, "n");
    assert_string_equal(k.r.note, "nothing was searched for yet");
    review_kit_end(&k);
}

/* However it was typed, and corrected, it is what the whole text finds from there. */
static void
a_text_is_found_however_it_is_typed(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(7);
    unsigned found = 0;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 1000);
    for (unsigned round = 0; round < 2000; round++) {
        AUTO(buf) go = { 0 };
        AUTO(buf) keys = { 0 };
        buf_printf(&go, "%ug%c", rng_between(&rng, 1, 1000), "/?"[rng_below(&rng, 2)]);
        buf_puts(&keys, buf_str(&go));
        for (unsigned i = rng_between(&rng, 1, 5), typed = 0; i; i--) {
            bool is_mended = typed > 1 && !rng_below(&rng, 4);
            char key = "0123456789e "[rng_below(&rng, 12)];
            if (!rng_below(&rng, 3))
                buf_puts(&keys, "\033[D"); /* not at its end */
            buf_puts(&keys, is_mended ? "\177" : (char[]){ key, '\0' });
            typed += is_mended ? -1U : 1;
        }
        buf_puts(&keys, "\r");
        review_kit_type(&k, buf_str(&keys));
        bool is_found = !*k.r.note;
        uint64_t at = k.r.at;
        buf_puts(&go, "\r"); /* the same text at once */
        review_kit_type(&k, buf_str(&go));
        assert_int_equal(!*k.r.note, is_found);
        is_at(&k, at);
        found += is_found;
    }
    assert_in_range(found, 500, 1500);
    review_kit_end(&k);
}

static void
a_text_is_found_where_it_has_come_meanwhile(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 100);
    review_kit_feed(&k, "\033[7;1Hzeal");
    review_kit_update(&k);
    review_kit_type(&k, "g/z");
    uint64_t at = k.r.at;
    review_kit_feed(&k, "\033[2;1Hzebra");
    review_kit_update(&k);
    review_kit_type(&k, "e");
    is_at(&k, at - 5);
    review_kit_type(&k, "al\r");
    is_at(&k, at);
    review_kit_end(&k);
}

static void
a_count_beyond_the_hits_ends_at_the_last_one(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 1000);
    review_kit_type(&k, "g/line 77\r");
    review_kit_type(&k, "12n");
    is_at(&k, 779);
    review_kit_type(&k, "g99999999n");
    is_at(&k, 779);
    review_kit_type(&k, "99999999N");
    is_at(&k, 77);
    review_kit_type(&k, "99999999N");
    is_at(&k, 77);
    assert_string_equal(k.r.note, "not found: line 77");
    review_kit_type(&k, "g/5\rg99n");
    uint64_t at = k.r.at;
    review_kit_type(&k, "g");
    for (unsigned i = 0; i < 99; i++)
        review_kit_type(&k, "n");
    is_at(&k, at);
    review_kit_type(&k, "&0\rG20N"); /* among those that are shown */
    at = k.r.at;
    review_kit_type(&k, "G");
    for (unsigned i = 0; i < 20; i++)
        review_kit_type(&k, "N");
    is_at(&k, at);
    review_kit_end(&k);
}

static void
a_capital_makes_it_exact(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 0);
    review_kit_feed(&k, "start\r\nerror\r\nError\r\nERROR\r\n");
    review_kit_update(&k);
    review_kit_type(&k, "g/error\r");
    is_at(&k, 1);
    review_kit_type(&k, "n");
    is_at(&k, 2);
    review_kit_type(&k, "g/Error\r");
    is_at(&k, 2);
    review_kit_type(&k, "n");
    is_at(&k, 2);
    review_kit_type(&k, "\033u");
    assert_false(k.r.has_highlights);
    review_kit_type(&k, "\033u");
    assert_true(k.r.has_highlights);
    review_kit_type(&k, "\033uN");
    assert_true(k.r.has_highlights); /* a search shows them again */
    review_kit_end(&k);
}

static void
a_text_that_goes_on_in_the_next_row_is_found(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 10, 8, 0);
    review_kit_feed(&k, "first\r\nabcdefghijklmnop\r\nlast\r\n");
    review_kit_update(&k);
    review_kit_type(&k, "g/ijkl\r");
    is_at(&k, 1);
    review_kit_type(&k, "G?ijkl\r");
    is_at(&k, 1);
    review_kit_type(&k, "&ijkl\r");
    is_page(&k, "*1 . . . . . . .");
    review_kit_end(&k);
}

/* -- the filter -- */

static void
a_filter_leaves_lines_that_have_the_text(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 1000);
    review_kit_event(&k, PLAY_SNAPSHOT, 1, 99);
    review_kit_type(&k, "101g&99\r");
    is_page(&k, "*199 299 399 499 599 699 799 899");
    review_kit_type(&k, "j");
    is_page(&k, "*299 399 499 599 699 799 899 990");
    review_kit_type(&k, "G");
    is_page(&k, "992 993 994 995 996 997 998 *999");
    review_kit_type(&k, "500g");
    is_at(&k, 499);
    review_kit_type(&k, "g/5\r");
    is_at(&k, 599);
    review_kit_type(&k, "g]");
    is_at(&k, 99);
    review_kit_type(&k, "&nothing\r");
    assert_string_equal(k.r.note, "not found: nothing");
    is_at(&k, 99);
    review_kit_type(&k, "&99\r&\r");
    assert_int_equal(k.r.filter.n, 0);
    is_at(&k, 99);
    review_kit_type(&k, "&99\r&1\033");
    assert_int_equal(k.r.filter.n, 2);
    review_kit_end(&k);
}

static void
lines_that_come_pass_the_filter_too(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 100);
    review_kit_type(&k, "&9\rG");
    is_page(&k, "92 93 94 95 96 97 98 *99");
    review_kit_lines(&k, 100, 120);
    review_kit_update(&k);
    is_page(&k, "94 95 96 97 98 99 109 *119");
    review_kit_feed(&k, "half");
    review_kit_update(&k);
    assert_int_equal(k.r.at, 119);
    review_kit_feed(&k, " 9");
    review_kit_update(&k);
    is_page(&k, "95 96 97 98 99 109 119 *120");
    review_kit_feed(&k, "\r\033[2K");
    review_kit_update(&k);
    is_page(&k, "94 95 96 97 98 99 109 *119");
    term_resize(k.term, 30, 20); /* rows come back, and change */
    review_kit_feed(&k, "\033[H\033[Jnew 9\r\n");
    review_kit_update(&k);
    struct term_line line = { 0 };
    assert_int_equal(term_book_line(&k.r.book, k.r.at, &line), 0);
    assert_string_equal(buf_str(&line.text), "new 9");
    term_line_release(&line);
    term_resize(k.term, 4, 8); /* all are numbered anew */
    review_kit_update(&k);
    review_kit_type(&k, "&\r");
    review_kit_end(&k);
}

/* The first row has scrolled off when the second is written. */
static void
a_row_passes_the_filter_by_what_the_next_one_goes_on_with(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 10, 4, 0);
    review_kit_feed(&k, "a ned\r\n01234567neX\r\nb\r\nc\r\nd");
    review_kit_update(&k);
    review_kit_type(&k, "&ned\r");
    is_page(&k, "*0 . . .");
    review_kit_feed(&k, "\033[1;1Hd");
    review_kit_update(&k);
    review_kit_type(&k, "G");
    is_page(&k, "0 *1 . .");
    review_kit_end(&k);
}

/* What is kept of it while lines come and go is what is found among all of them. */
static void
a_filter_keeps_up_with_lines_that_are_dropped(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(7);
    struct review_kit k;
    struct tui_review fresh;
    review_kit_begin(&k, 20, 4, 0);
    review_kit_keep(&k, 60, 12);
    review_kit_type(&k, "&1\r");
    review_kit_lines(&k, 0, 20);
    review_kit_update(&k);
    review_kit_type(&k, "&1\r");
    for (unsigned i = 0; i < 400; i++) {
        unsigned n = rng_below(&rng, 4);
        if (!n)
            review_kit_feed(&k, "\033[?1049h\033[Halternate 1\r\nscreen\033[?1049l");
        review_kit_lines(&k, i, i + n);
        if (k.r.at < term_book_end(&k.r.book) && i % 8 == 0)
            review_kit_event(&k, PLAY_SNAPSHOT, i, k.r.at);
        review_kit_update(&k);
        assert_int_equal(tui_review_init(&fresh, &k.source), 0);
        buf_puts(&fresh.filter, "1");
        tui_review_filter(&fresh);
        assert_int_equal(k.r.filtered.n, fresh.filtered.n);
        assert_memory_equal(k.r.filtered.p, fresh.filtered.p, fresh.filtered.n);
        assert_int_equal(k.r.event_places.n, fresh.event_places.n);
        assert_memory_equal(k.r.event_places.p, fresh.event_places.p,
                            fresh.event_places.n);
        tui_review_release(&fresh);
    }
    review_kit_end(&k);
}

/* -- saved -- */

static char folder[] = "/tmp/ahr-review-XXXXXX";

static int
make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return chdir("/") || rmdir(folder);
}

static void
holds(const char *path, const char *want)
{
    AUTO(buf) text = { 0 };
    assert_int_equal(file_slurp(path, &text), 0);
    assert_string_equal(buf_str(&text), want);
}

static void
lines_are_saved_as_text(void **state)
{
    (void)state;
    struct review_kit k;
    struct stat st;
    review_kit_begin(&k, 30, 8, 3);
    assert_int_equal(review_kit_type(&k, "sall.txt\r"), TUI_REVIEW_SAVE);
    tui_save(&k.r);
    assert_string_equal(k.r.note, "3 lines saved");
    holds("all.txt", "line 0\nline 1\nline 2\n");
    assert_int_equal(stat("all.txt", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    review_kit_type(&k, "&1\rssome.txt\r");
    tui_save(&k.r);
    assert_string_equal(k.r.note, "1 line saved");
    holds("some.txt", "line 1\n");
    review_kit_type(&k, "sno/such\r");
    tui_save(&k.r);
    assert_non_null(strstr(k.r.note, "cannot make 'no/such'"));
    unlink("all.txt");
    unlink("some.txt");
    review_kit_end(&k);
}

static void
a_file_that_exists_is_asked_about(void **state)
{
    (void)state;
    struct review_kit k;
    review_kit_begin(&k, 30, 8, 1);
    FILE *f = fopen("old", "w");
    assert_non_null(f);
    fputs("old", f);
    fclose(f);
    review_kit_type(&k, "sold\r");
    tui_save(&k.r);
    assert_true(k.r.prompt.is_open);
    assert_string_equal(k.r.prompt.head, "exists: overwrite? (y/n) ");
    assert_int_equal(review_kit_type(&k, "n"), TUI_REVIEW_NONE);
    assert_string_equal(k.r.note, "not saved");
    holds("old", "old");
    assert_int_equal(symlink("old", "link"), 0);
    review_kit_type(&k, "slink\r");
    tui_save(&k.r);
    assert_int_equal(review_kit_type(&k, "y"), TUI_REVIEW_SAVE);
    tui_save(&k.r);
    assert_string_equal(k.r.note, "1 line saved");
    holds("old", "line 0\n"); /* by its link, which stays */
    unlink("link");
    review_kit_type(&k, "s.\r");
    tui_save(&k.r);
    review_kit_type(&k, "y");
    tui_save(&k.r);
    assert_string_equal(k.r.note, "'.' is no regular file");
    unlink("old");
    review_kit_end(&k);
}

static void
an_editor_gets_a_file_of_its_own(void **state)
{
    (void)state;
    struct review_kit k;
    AUTO(buf) path = { 0 };
    struct err err;
    unsigned line;
    review_kit_begin(&k, 30, 8, 3);
    review_kit_type(&k, "k");
    setenv("TMPDIR", folder, 1);
    assert_int_equal(tui_save_temp(&k.r, &path, &line, &err), 0);
    assert_int_equal(line, 2);
    holds(buf_str(&path), "line 0\nline 1\nline 2\n");
    unlink(buf_str(&path));
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(tui_save_temp(&k.r, &path, &line, &err), ERR_MISSING);
    unsetenv("TMPDIR");
    review_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_both_ways),
        cmocka_unit_test(a_search_shows_what_it_finds_as_it_is_typed),
        cmocka_unit_test(a_text_is_found_however_it_is_typed),
        cmocka_unit_test(a_text_is_found_where_it_has_come_meanwhile),
        cmocka_unit_test(a_count_beyond_the_hits_ends_at_the_last_one),
        cmocka_unit_test(a_capital_makes_it_exact),
        cmocka_unit_test(a_text_that_goes_on_in_the_next_row_is_found),
        cmocka_unit_test(a_filter_leaves_lines_that_have_the_text),
        cmocka_unit_test(lines_that_come_pass_the_filter_too),
        cmocka_unit_test(a_row_passes_the_filter_by_what_the_next_one_goes_on_with),
        cmocka_unit_test(a_filter_keeps_up_with_lines_that_are_dropped),
        cmocka_unit_test(lines_are_saved_as_text),
        cmocka_unit_test(a_file_that_exists_is_asked_about),
        cmocka_unit_test(an_editor_gets_a_file_of_its_own),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
