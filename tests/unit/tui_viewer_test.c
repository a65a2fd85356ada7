/* SPDX-License-Identifier: MIT */
/* tui_viewer_test.c -- the viewer's pictures on terminals of all sizes, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/term_check.h"
#include "support/term_corpus.h"
#include "support/viewer_scene.h"
#include "tui/viewer_priv.h"

#define MS     SCENE_MS
#define PREFIX "\035"

enum { STEP = 1700, CORPUS = 30000, COLS = TERM_CORPUS_COLS, ROWS = TERM_CORPUS_ROWS };

/* Every cell of the window is the session's, and so is the cursor. */
static void
shows_the_window(const struct scene *s, const char *what)
{
    const struct term *in = s->session, *out = s->outer;
    struct term_window w = s->viewer->stage.window;
    struct term_cursor want = term_cursor(in), have = term_cursor(out);
    if (tui_viewer_is_plain(s->viewer))
        w = (struct term_window){ .rows = term_rows(in), .cols = term_cols(in) };
    for (unsigned y = 0; y < w.rows; y++)
        for (unsigned x = 0; x < w.cols; x++) {
            struct term_cell a, b;
            term_cell_at(in, w.top + y, w.left + x, &a);
            term_cell_at(out, w.at_row + y, w.at_col + x, &b);
            bool is_cut = (!x && !a.width) || x + a.width > w.cols; /* half of it */
            if (!scene_is_same_look(&a, &b) || (!is_cut && !scene_is_same_text(&a, &b)))
                fail_msg("%s: row %u, column %u of %ux%u is '%.*s', not '%.*s'", what, y,
                         x, term_cols(out), term_rows(out), (int)b.text.n, b.text.p,
                         (int)a.text.n, a.text.p);
        }
    assert_int_equal(have.is_visible, want.is_visible);
    if (!have.is_visible)
        return;
    assert_int_equal(have.row + w.top, want.row + w.at_row);
    assert_int_equal(have.col + w.left, want.col + w.at_col);
}

static void
draw_corpus(enum term_corpus_kind kind, unsigned cols, unsigned rows, bool is_watcher)
{
    AUTO(buf) bytes = { 0 };
    struct tui_viewer_options opt = scene_options(cols, rows);
    struct scene s;
    opt.is_watcher = is_watcher;
    scene_init(&s, COLS, ROWS, &opt);
    term_corpus(&bytes, kind, CORPUS, 7);
    for (size_t at = 0; at < bytes.n; at += STEP) {
        size_t n = bytes.n - at < STEP ? bytes.n - at : STEP;
        scene_feed_bytes(&s, (struct view){ bytes.p + at, n });
        scene_draw(&s);
        if (s.viewer->is_stale) /* an update is under way */
            scene_draw(&s);
        shows_the_window(&s, term_corpus_name(kind));
    }
    scene_release(&s);
}

static void
any_screen_is_shown_on_any_size(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {
        { COLS, ROWS }, { 200, 60 }, { 79, 23 }, { 119, 60 }, { 1, 1 },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int kind = 0; kind < TERM_CORPORA; kind++) {
            draw_corpus((enum term_corpus_kind)kind, sizes[i][0], sizes[i][1], false);
            draw_corpus((enum term_corpus_kind)kind, sizes[i][0], sizes[i][1], true);
        }
}

static void
the_same_size_is_the_session_itself(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_feed(&s,
               "\033[?1h\033[?2004h\033[?1003h\033[?1006h\033[=5;1u\033[?1004h\033[4 q"
               "\033[?5h\033[31mred\033[24;1Hlast \033[?25l");
    scene_draw(&s);
    scene_is_equal(&s);
    term_resize(s.session, 100, 30);
    term_resize(s.outer, 100, 30);
    tui_viewer_resize(s.viewer, 100, 30, &out);
    scene_flush(&s, &out);
    scene_feed(&s, "\033[?25hmore\033[?5l");
    scene_draw(&s);
    scene_is_equal(&s);
    scene_release(&s);
}

static void
the_window_follows_the_cursor(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(20, 10);
    struct scene s;
    scene_init(&s, COLS, ROWS, &opt);
    scene_feed(&s, "\033[40;1Hbottom");
    scene_draw(&s);
    scene_is_row(s.outer, 9, "bottom");
    scene_feed(&s, "\033[1;1Htop");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "top");
    scene_feed(&s, "\033[5;1H");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "top"); /* it is still to be seen: nothing moves */
    scene_feed(&s, "\033[40;1H");
    scene_draw(&s);
    scene_feed(&s, "\033[3;1H");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "top"); /* what fits above it is shown as well */
    scene_feed(&s, "\033[1;101Hright");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "              right");
    scene_release(&s);
}

static void
the_window_is_moved_until_something_is_typed(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(40, 10);
    struct scene s;
    scene_init(&s, 120, 40, &opt);
    scene_feed(&s, "\033[6;21Hhere\033[1;1Htop\033[1;2H");
    scene_draw(&s);
    scene_is_row(s.outer, 0, "top");
    scene_type(&s, PREFIX);
    assert_non_null(strstr(scene_row(s.outer, 9), "40x10 of 120x40"));
    scene_type(&s, "\033[B");
    scene_is_row(s.outer, 0, "                    here");
    assert_false(term_cursor(s.outer).is_visible);
    scene_type(&s, PREFIX "\033[C");
    scene_is_row(s.outer, 0, "here");
    scene_feed(&s, "\033[2;2H"); /* the cursor does not take it back */
    scene_draw(&s);
    scene_is_row(s.outer, 0, "here");
    scene_was_typed(&s, "");
    scene_type(&s, "x");
    scene_was_typed(&s, "x");
    scene_is_row(s.outer, 0, "top");
    for (int i = 0; i < 20; i++)
        scene_type(&s, PREFIX "\033[B" PREFIX "\033[C");
    assert_int_equal(s.viewer->stage.window.top, 30);
    assert_int_equal(s.viewer->stage.window.left, 80);
    scene_release(&s);
}

static void
a_smaller_session_stands_in_a_frame(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(30, 8);
    struct scene s;
    scene_init(&s, 20, 4, &opt);
    scene_feed(&s, "\033]2;vim \302\233 x\007hello");
    scene_draw(&s);
    scene_is_row(s.outer, 1, "    ┌─ vim  x ───────────┐");
    scene_is_row(s.outer, 2, "    │hello               │");
    scene_is_row(s.outer, 6, "    └────────────────────┘");
    struct term_cursor c = term_cursor(s.outer);
    assert_int_equal(c.row, 2);
    assert_int_equal(c.col, 10);
    scene_release(&s);
}

/* -- modes -- */

static void
modes_are_mirrored_for_those_who_type(void **state)
{
    (void)state;
    for (int types = 0; types < 2; types++)
        for (unsigned cols = COLS; cols < 200; cols += 40) {
            struct tui_viewer_options opt = scene_options(cols, ROWS);
            bool has_mouse = types && cols == COLS; /* else it would point elsewhere */
            struct scene s;
            opt.is_watcher = !types;
            scene_init(&s, COLS, ROWS, &opt);
            scene_feed(&s, "\033[?1h\033[?1003h\033[?1006h\033[=5;1u\033[?1004h");
            scene_draw(&s);
            struct term_modes m = term_modes(s.outer);
            assert_int_equal(m.app_cursor_keys, types);
            assert_int_equal(m.focus_events, types);
            assert_int_equal(m.bracketed_paste, !types); /* a paste is no command */
            assert_int_equal(m.mouse, has_mouse ? 1003 : 0);
            assert_int_equal(m.mouse_encoding, has_mouse ? 1006 : 0);
            assert_int_equal(m.kitty_keys, types ? 5 : 0);
            scene_feed(&s, "\033[?1l\033[?1003l\033[?1006l\033[=0;1u");
            scene_draw(&s);
            m = term_modes(s.outer);
            assert_false(m.app_cursor_keys || m.mouse);
            assert_int_equal(m.kitty_keys, 0);
            scene_release(&s);
        }
}

static void
a_mouse_is_not_asked_where_it_would_point_elsewhere(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(COLS, 10);
    struct scene s;
    scene_init(&s, COLS, ROWS, &opt);
    scene_feed(&s, "\033[?1000h\033[?1006h");
    scene_draw(&s);
    assert_int_equal(term_modes(s.outer).mouse, 1000);
    scene_feed(&s, "\033[40H");
    scene_draw(&s);
    assert_int_equal(term_modes(s.outer).mouse, 0);
    scene_release(&s);
}

static void
what_is_ours_has_our_modes(void **state)
{
    (void)state;
    static const char *const open[] = { PREFIX "v", PREFIX "?", PREFIX "q", PREFIX "s" };
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        struct scene s;
        scene_simple(&s, 80, 24);
        scene_feed(&s, "\033[?1h\033[?1003h\033[?1016h\033[=5;1u\033[?1004h\033[?5h");
        scene_draw(&s);
        scene_type(&s, open[i]);
        struct term_modes m = term_modes(s.outer);
        assert_int_equal(m.mouse, 1000);
        assert_int_equal(m.mouse_encoding, 1006);
        assert_int_equal(m.kitty_keys, 1);
        assert_true(m.bracketed_paste);
        assert_false(m.app_cursor_keys || m.focus_events || m.is_reverse);
        scene_type(&s, i == 0 ? "q" : i == 3 ? "\003" : "c");
        scene_is_equal(&s);
        scene_release(&s);
    }
}

static void
the_terminal_is_left_as_it_was(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_feed(&s, "text\033[?1h\033[?2004h\033[?1003h\033[?1006h\033[=5;1u\033[?25l"
                   "\033[4 q\033[?5h\033[?1007l\033[31m\033]2;other\007");
    scene_draw(&s);
    assert_true(term_modes(s.outer).is_alternate);
    assert_string_equal(term_title(s.outer), "● other");
    tui_viewer_end(s.viewer, &out);
    scene_flush(&s, &out);
    assert_false(tui_viewer_is_on(s.viewer));
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    struct term *as_it_was = term_check_new(80, 24);
    struct term_modes now = term_modes(s.outer), then = term_modes(as_it_was);
    assert_memory_equal(&now, &then, sizeof(now));
    struct term_cursor cursor = term_cursor(s.outer);
    assert_int_equal(cursor.col, 8);
    assert_true(cursor.is_visible);
    assert_int_equal(cursor.shape, TERM_CURSOR_BLOCK);
    assert_string_equal(term_title(s.outer), "shell");
    scene_is_row(s.outer, 0, "prompt$");
    term_free(as_it_was);
    scene_release(&s);
}

static void
the_last_picture_may_stay(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_feed(&s, "one\r\n\033[31mtwo\033[?25l\033[?5h\033[?2004h");
    scene_draw(&s);
    assert_true(tui_viewer_end_with(s.viewer, false, &out));
    scene_flush(&s, &out);
    scene_is_row(s.outer, 0, "one");
    scene_is_row(s.outer, 1, "two");
    assert_false(term_modes(s.outer).is_alternate || term_modes(s.outer).is_reverse ||
                 term_modes(s.outer).bracketed_paste);
    assert_true(term_cursor(s.outer).is_visible);
    assert_int_equal(term_cursor(s.outer).col, 3);
    scene_feed(&s, "\r\n");
    assert_false(tui_viewer_end_with(s.viewer, false, &out));
    scene_release(&s);
}

static void
the_last_picture_leaves_what_stands_above_it(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    tui_viewer_end(s.viewer, &out);
    buf_puts(&out, "\r\nabove\r\n$ ahr record\r\n");
    tui_viewer_begin(s.viewer, &out);
    scene_flush(&s, &out);
    scene_feed(&s, "one\r\n\033[41mtwo\033[m\r\n\r\nfour   \033[2;3H");
    scene_draw(&s);
    buf_clear(&out);
    assert_true(tui_viewer_end_with(s.viewer, false, &out));
    scene_flush(&s, &out);
    scene_is_row(s.outer, 1, "above");
    scene_is_row(s.outer, 2, "$ ahr record");
    scene_is_row(s.outer, 3, "one");
    scene_is_row(s.outer, 4, "two");
    scene_is_row(s.outer, 6, "four");
    assert_int_equal(term_cursor(s.outer).row, 4);
    assert_int_equal(term_cursor(s.outer).col, 2);
    assert_int_equal(term_scrollback_count(s.outer), 0);
    scene_release(&s);
}

static void
a_last_picture_of_a_whole_screen_scrolls_what_was_there(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    tui_viewer_end(s.viewer, &out);
    buf_puts(&out, "\r\n");
    tui_viewer_begin(s.viewer, &out);
    scene_flush(&s, &out);
    scene_feed(&s, "first\033[24Hlast");
    scene_draw(&s);
    buf_clear(&out);
    assert_true(tui_viewer_end_with(s.viewer, false, &out));
    scene_flush(&s, &out);
    scene_is_row(s.outer, 0, "first");
    scene_is_row(s.outer, 23, "last");
    assert_int_equal(term_scrollback_count(s.outer), 1); /* the prompt */
    scene_release(&s);
}

static void
a_resized_terminal_is_drawn_anew(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct tui_viewer_options opt = scene_options(80, 24);
    struct scene s;
    scene_init(&s, COLS, ROWS, &opt);
    scene_feed(&s, "\033[?2004hone\r\ntwo");
    scene_draw(&s);
    for (unsigned cols = 20; cols < 200; cols += 60) {
        term_resize(s.outer, cols, cols / 4);
        term_feed(s.outer, "\033[Hrubbish\033[3;4H", 16, 0); /* terminals differ here */
        tui_viewer_resize(s.viewer, cols, cols / 4, &out);
        scene_flush(&s, &out);
        assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns + 20 * MS), 0);
        scene_draw(&s);
        shows_the_window(&s, "resized");
        assert_false(scene_has(&s, "rubbish"));
        assert_true(term_modes(s.outer).bracketed_paste);
    }
    scene_release(&s);
}

static void
what_somebody_wrote_over_it_is_drawn_over(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_feed(&s, "text\033[?2004h");
    scene_draw(&s);
    term_feed(s.outer, "\033[5Hrubbish\033[?1000h", 19, 0);
    scene_type(&s, PREFIX "r");
    scene_is_equal(&s);
    term_feed(s.outer, "\033[5Hrubbish", 11, 0);
    tui_viewer_redraw(s.viewer, &out);
    scene_flush(&s, &out);
    scene_draw(&s);
    scene_is_equal(&s);
    scene_release(&s);
}

/* -- when -- */

/* As fast as fingers can type. */
static void
what_a_key_brings_is_shown_at_once(void **state)
{
    (void)state;
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_draw(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns + 1), -1);
    for (int i = 0; i < 20; i++) {
        s.now_ns += 16 * MS;
        scene_feed(&s, "x");
        assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), 0);
        scene_draw_now(&s);
        assert_true(s.last.n);
    }
    scene_release(&s);
}

/* However small they are; and the last one is shown. */
static void
pictures_come_sixty_a_second_at_most(void **state)
{
    (void)state;
    struct scene s;
    unsigned count = 0;
    scene_simple(&s, 80, 24);
    scene_draw(&s);
    s.now_ns += 16 * MS;
    for (int i = 0; i < 10000; i++, s.now_ns += MS / 10) {
        scene_feed(&s, i % 100 ? "x" : "\033[2J");
        scene_draw_now(&s);
        count += s.last.n > 0;
    }
    assert_in_range(count, 60, 63);
    int wait_ms = tui_viewer_wait_ms(s.viewer, s.now_ns);
    assert_in_range(wait_ms, 1, 16);
    s.now_ns += (uint64_t)wait_ms * MS;
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), 0);
    scene_draw_now(&s);
    scene_is_equal(&s);
    scene_release(&s);
}

static void
an_update_is_shown_when_it_is_whole(void **state)
{
    (void)state;
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_draw(&s);
    uint64_t now = s.now_ns + 50 * MS;
    scene_feed(&s, "\033[?2026hhalf");
    assert_int_equal(tui_viewer_wait_ms(s.viewer, now), 100);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, now + 60 * MS), 40);
    scene_feed(&s, "whole\033[?2026l");
    assert_int_equal(tui_viewer_wait_ms(s.viewer, now + 61 * MS), 0);
    scene_feed(&s, "\033[?2026h");
    assert_int_equal(tui_viewer_wait_ms(s.viewer, now + 62 * MS), 100);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, now + 162 * MS), 0); /* … or late */
    scene_release(&s);
}

static void
a_bell_is_passed_on_once(void **state)
{
    (void)state;
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_feed(&s, "\a"); /* before anybody looked on */
    scene_draw(&s);
    assert_null(memchr(s.last.p, '\a', s.last.n));
    scene_feed(&s, "\a\a");
    scene_draw(&s);
    assert_int_equal(s.last.n, 1);
    assert_int_equal(s.last.p[0], '\a');
    scene_release(&s);
}

static void
what_does_not_change_is_not_written(void **state)
{
    (void)state;
    for (unsigned cols = 80; cols <= COLS; cols += 40) {
        struct tui_viewer_options opt = scene_options(cols, ROWS);
        struct scene s;
        scene_init(&s, COLS, ROWS, &opt);
        scene_feed(&s, "some text\r\nand more");
        scene_draw(&s);
        tui_viewer_touch(s.viewer);
        scene_draw(&s);
        assert_int_equal(s.last.n, 0);
        scene_release(&s);
    }
}

static void
an_idle_session_wakes_nobody(void **state)
{
    (void)state;
    struct tui_viewer_options opt = scene_options(80, 24);
    struct scene s;
    clock_start(&opt.clock);
    scene_init(&s, 80, 24, &opt);
    scene_feed(&s, "text");
    scene_draw(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    scene_type(&s, PREFIX); /* the time is told */
    int wait_ms = tui_viewer_wait_ms(s.viewer, s.now_ns);
    assert_in_range(wait_ms, 1, 1000);
    assert_non_null(strstr(scene_row(s.outer, 23), "0:00"));
    scene_type(&s, "z");
    scene_is_equal(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    scene_type(&s, PREFIX "v");
    assert_in_range(tui_viewer_wait_ms(s.viewer, s.now_ns), 1, 1000);
    tui_viewer_ended(s.viewer, "exit 0");
    scene_draw(&s);
    assert_int_equal(tui_viewer_wait_ms(s.viewer, s.now_ns), -1);
    scene_release(&s);
}

/* -- the title -- */

static void
the_title_is_the_sessions_with_a_dot(void **state)
{
    (void)state;
    struct scene s;
    scene_simple(&s, 80, 24);
    scene_draw(&s);
    assert_string_equal(term_title(s.outer), "● task");
    scene_feed(&s, "\033]2;vim\007");
    scene_draw(&s);
    assert_string_equal(term_title(s.outer), "● vim");
    scene_feed(&s, "x");
    scene_draw(&s);
    assert_null(memmem(s.last.p, s.last.n, "\033]2;", 4));
    scene_feed(&s, "\033]2;a\302\233b\342\200\256c\033\\");
    scene_draw(&s);
    assert_string_equal(term_title(s.outer), "● abc");
    scene_release(&s);
    struct tui_viewer_options opt = scene_options(80, 24);
    opt.name = "evil\033]52;c;AAAA\007\r\n\302\235name";
    scene_init(&s, 80, 24, &opt);
    scene_draw(&s);
    assert_string_equal(term_title(s.outer), "● evil]52;c;AAAA name");
    assert_int_equal(term_mark_count(s.outer), 0);
    scene_release(&s);
}

static void
a_finished_session_has_no_title(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct tui_viewer_options opt = scene_options(80, 24);
    struct scene s;
    opt.is_live = false;
    scene_init(&s, 80, 24, &opt);
    scene_feed(&s, "\033]2;vim\007text");
    scene_draw(&s);
    assert_string_equal(term_title(s.outer), "shell");
    tui_viewer_end(s.viewer, &out);
    scene_flush(&s, &out);
    assert_string_equal(term_title(s.outer), "shell");
    scene_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_screen_is_shown_on_any_size),
        cmocka_unit_test(the_same_size_is_the_session_itself),
        cmocka_unit_test(the_window_follows_the_cursor),
        cmocka_unit_test(the_window_is_moved_until_something_is_typed),
        cmocka_unit_test(a_smaller_session_stands_in_a_frame),
        cmocka_unit_test(modes_are_mirrored_for_those_who_type),
        cmocka_unit_test(a_mouse_is_not_asked_where_it_would_point_elsewhere),
        cmocka_unit_test(what_is_ours_has_our_modes),
        cmocka_unit_test(the_terminal_is_left_as_it_was),
        cmocka_unit_test(the_last_picture_may_stay),
        cmocka_unit_test(the_last_picture_leaves_what_stands_above_it),
        cmocka_unit_test(a_last_picture_of_a_whole_screen_scrolls_what_was_there),
        cmocka_unit_test(a_resized_terminal_is_drawn_anew),
        cmocka_unit_test(what_somebody_wrote_over_it_is_drawn_over),
        cmocka_unit_test(what_a_key_brings_is_shown_at_once),
        cmocka_unit_test(pictures_come_sixty_a_second_at_most),
        cmocka_unit_test(an_update_is_shown_when_it_is_whole),
        cmocka_unit_test(a_bell_is_passed_on_once),
        cmocka_unit_test(what_does_not_change_is_not_written),
        cmocka_unit_test(an_idle_session_wakes_nobody),
        cmocka_unit_test(the_title_is_the_sessions_with_a_dot),
        cmocka_unit_test(a_finished_session_has_no_title),
    };
    return cmocka_run_group_tests_name("tui_viewer", tests, NULL, NULL);
}
