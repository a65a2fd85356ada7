/* SPDX-License-Identifier: MIT */
/* draw_test.c -- a session's screen drawn on terminals of other sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/draw_priv.h"
#include "support/rng.h"
#include "support/term_check.h"
#include "support/term_corpus.h"

enum { MS = 1000000, STEP = 1700, CORPUS = 60000 };

/* A session, and somebody's terminal that shows it. */
struct scene {
    struct term *session, *outer;
    struct draw draw;
    uint64_t now_ns;
};

static void
flush(struct scene *s, struct buf *out)
{
    if (out->n)
        term_feed(s->outer, out->p, out->n, 0);
    buf_clear(out);
}

static void
scene_init(struct scene *s, unsigned cols, unsigned rows, bool mirrors_modes)
{
    AUTO(buf) out = { 0 };
    *s = (struct scene){ .session = term_check_new(TERM_CORPUS_COLS, TERM_CORPUS_ROWS),
                         .outer = term_check_new(cols, rows),
                         .now_ns = MS };
    term_feed(s->outer, "prompt$ ", 8, 0);
    assert_int_equal(draw_init(&s->draw, cols, rows, mirrors_modes), 0);
    draw_begin(&s->draw, &out);
    flush(s, &out);
}

static void
scene_release(struct scene *s)
{
    draw_release(&s->draw);
    term_free(s->session);
    term_free(s->outer);
}

static void
feed(struct scene *s, const char *text)
{
    term_feed(s->session, text, strlen(text), 0);
    draw_touch(&s->draw);
}

static void
draw(struct scene *s)
{
    AUTO(buf) out = { 0 };
    s->now_ns += 1000ULL * MS;
    assert_int_equal(draw_picture(&s->draw, s->session, s->now_ns, &out), 0);
    flush(s, &out);
}

static void
is_row(const struct term *t, unsigned row, const char *text)
{
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(t, term_scrollback_count(t) + row, &line), 0);
    assert_string_equal(buf_str(&line.text), text);
    term_line_release(&line);
}

static bool
is_same_text(const struct term_cell *a, const struct term_cell *b)
{
    bool is_blank = a->text.n == 1 && a->text.p[0] == ' ';
    bool is_blank_too = b->text.n == 1 && b->text.p[0] == ' ';
    if ((!a->text.n || is_blank) && (!b->text.n || is_blank_too))
        return true;
    return a->text.n == b->text.n && !memcmp(a->text.p, b->text.p, a->text.n);
}

static bool
is_same_look(const struct term_cell *a, const struct term_cell *b)
{
    struct term_style x = a->style, y = b->style;
    x.attrs &= (uint16_t)~TERM_PROTECTED;
    y.attrs &= (uint16_t)~TERM_PROTECTED;
    x.link = y.link = 0;
    return !memcmp(&x, &y, sizeof(x));
}

/* Every cell of the terminal is that of the window, and blank outside of the session. */
static void
shows_the_window(const struct scene *s, const char *what)
{
    const struct term *in = s->session, *out = s->outer;
    unsigned top = s->draw.top, left = s->draw.left;
    struct term_cursor want = term_cursor(in), have = term_cursor(out);
    for (unsigned y = 0; y < term_rows(out); y++)
        for (unsigned x = 0; x < term_cols(out); x++) {
            struct term_cell a = { .width = 1 }, b;
            bool is_inside = top + y < term_rows(in) && left + x < term_cols(in);
            if (is_inside)
                term_cell_at(in, top + y, left + x, &a);
            term_cell_at(out, y, x, &b);
            bool is_cut = (!x && !a.width) ||
                          (x + a.width > term_cols(out)) /* half a character */;
            if (!is_same_look(&a, &b) || (!is_cut && !is_same_text(&a, &b)))
                fail_msg("%s: row %u, column %u of %ux%u is '%.*s', not '%.*s'", what, y,
                         x, term_cols(out), term_rows(out), (int)b.text.n, b.text.p,
                         (int)a.text.n, a.text.p);
        }
    assert_int_equal(have.row + top, want.row);
    assert_int_equal(have.col + left, want.col);
    assert_int_equal(have.is_visible, want.is_visible);
}

static void
draw_corpus(enum term_corpus_kind kind, unsigned cols, unsigned rows, bool mirrors_modes)
{
    AUTO(buf) bytes = { 0 };
    struct scene s;
    scene_init(&s, cols, rows, mirrors_modes);
    term_corpus(&bytes, kind, CORPUS, 7);
    for (size_t at = 0; at < bytes.n; at += STEP) {
        size_t n = bytes.n - at < STEP ? bytes.n - at : STEP;
        term_feed(s.session, bytes.p + at, n, at);
        draw(&s);
        shows_the_window(&s, term_corpus_name(kind));
    }
    scene_release(&s);
}

static void
any_screen_is_shown_on_any_size(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {
        { TERM_CORPUS_COLS, TERM_CORPUS_ROWS },
        { 200, 60 },
        { 79, 23 },
        { 119, 60 },
        { 1, 1 },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int kind = 0; kind < TERM_CORPORA; kind++) {
            draw_corpus((enum term_corpus_kind)kind, sizes[i][0], sizes[i][1], true);
            draw_corpus((enum term_corpus_kind)kind, sizes[i][0], sizes[i][1], false);
        }
}

static void
the_window_follows_the_cursor(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 20, 10, true);
    feed(&s, "\033[40;1Hbottom");
    draw(&s);
    is_row(s.outer, 9, "bottom");
    feed(&s, "\033[1;1Htop");
    draw(&s);
    is_row(s.outer, 0, "top");
    feed(&s, "\033[5;1H");
    draw(&s);
    is_row(s.outer, 0, "top"); /* it is still to be seen: nothing moves */
    feed(&s, "\033[40;1H");
    draw(&s);
    feed(&s, "\033[3;1H");
    draw(&s);
    is_row(s.outer, 0, "top"); /* what fits above it is shown as well */
    feed(&s, "\033[1;101Hright");
    draw(&s);
    is_row(s.outer, 0, "              right");
    scene_release(&s);
}

static void
modes_are_mirrored_for_those_who_type(void **state)
{
    (void)state;
    for (int types = 0; types < 2; types++)
        for (unsigned cols = TERM_CORPUS_COLS; cols < 200; cols += 40) {
            struct scene s;
            scene_init(&s, cols, TERM_CORPUS_ROWS, types);
            feed(&s, "\033[?1h\033[?2004h\033[?1003h\033[?1006h\033[=5;1u\033[?1004h");
            draw(&s);
            struct term_modes m = term_modes(s.outer);
            assert_int_equal(m.app_cursor_keys, types);
            assert_int_equal(m.bracketed_paste, types);
            assert_int_equal(m.focus_events, types);
            assert_int_equal(m.mouse, types ? 1003 : 0);
            assert_int_equal(m.mouse_encoding, types ? 1006 : 0);
            assert_int_equal(m.kitty_keys, types ? 5 : 0);
            feed(&s, "\033[?1l\033[?2004l\033[?1003l\033[?1006l\033[=0;1u");
            draw(&s);
            m = term_modes(s.outer);
            assert_false(m.app_cursor_keys || m.bracketed_paste || m.mouse);
            assert_int_equal(m.kitty_keys, 0);
            scene_release(&s);
        }
}

static void
a_mouse_is_not_asked_where_it_would_point_elsewhere(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, TERM_CORPUS_COLS, 10, true);
    feed(&s, "\033[?1000h\033[?1006h");
    draw(&s);
    assert_int_equal(term_modes(s.outer).mouse, 1000);
    feed(&s, "\033[40H");
    draw(&s);
    assert_int_equal(term_modes(s.outer).mouse, 0);
    scene_release(&s);
}

static void
the_terminal_is_left_as_it_was(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_init(&s, 80, 24, true);
    feed(&s, "text\033[?1h\033[?2004h\033[?1003h\033[?1006h\033[=5;1u\033[?25l\033[4 q"
             "\033[?5h\033[?1007l\033[31m");
    draw(&s);
    assert_true(term_modes(s.outer).is_alternate);
    draw_end(&s.draw, &out);
    flush(&s, &out);
    struct term *as_it_was = term_check_new(80, 24);
    term_feed(as_it_was, "prompt$ ", 8, 0);
    struct term_modes now = term_modes(s.outer), then = term_modes(as_it_was);
    assert_memory_equal(&now, &then, sizeof(now));
    struct term_cursor cursor = term_cursor(s.outer);
    assert_int_equal(cursor.col, 8);
    assert_true(cursor.is_visible);
    assert_int_equal(cursor.shape, TERM_CURSOR_BLOCK);
    is_row(s.outer, 0, "prompt$");
    term_free(as_it_was);
    scene_release(&s);
}

static void
a_resized_terminal_is_drawn_anew(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_init(&s, 80, 24, true);
    feed(&s, "\033[?2004hone\r\ntwo");
    draw(&s);
    for (unsigned cols = 20; cols < 200; cols += 60) {
        term_resize(s.outer, cols, cols / 4);
        term_feed(s.outer, "\033[Hrubbish\033[3;4H", 16, 0); /* terminals differ here */
        draw_resize(&s.draw, cols, cols / 4, &out);
        flush(&s, &out);
        assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 20ULL * MS), 0);
        draw(&s);
        shows_the_window(&s, "resized");
        assert_true(term_modes(s.outer).bracketed_paste);
    }
    scene_release(&s);
}

/* As many keys as fingers can type are shown at once. */
static void
small_pictures_come_at_once(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_init(&s, 80, 24, true);
    draw(&s);
    assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 1), -1);
    s.now_ns += 100ULL * MS;
    for (int i = 0; i < 4; i++) {
        feed(&s, "x");
        assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns), 0);
        assert_int_equal(draw_picture(&s.draw, s.session, s.now_ns, &out), 0);
    }
    for (int i = 0; i < 20; i++) {
        feed(&s, "x");
        if (!draw_wait_ms(&s.draw, s.session, s.now_ns))
            draw_picture(&s.draw, s.session, s.now_ns, &out);
    }
    assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 6 * MS), 10);
    assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 16 * MS), 0);
    scene_release(&s);
}

static void
a_bell_is_passed_on_once(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct scene s;
    scene_init(&s, 80, 24, true);
    feed(&s, "\a"); /* before anybody looked on */
    assert_int_equal(draw_picture(&s.draw, s.session, s.now_ns, &out), 0);
    assert_null(memchr(out.p, '\a', out.n));
    feed(&s, "\a\a\033]0;title\a");
    buf_clear(&out);
    assert_int_equal(draw_picture(&s.draw, s.session, s.now_ns, &out), 0);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.p[0], '\a');
    scene_release(&s);
}

static void
large_pictures_come_sixty_a_second_at_most(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 80, 24, true);
    for (int i = 0; i < 2000; i++)
        feed(&s, "and so on ");
    draw(&s);
    feed(&s, "x");
    assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 6 * MS), 10);
    assert_int_equal(draw_wait_ms(&s.draw, s.session, s.now_ns + 16 * MS), 0);
    scene_release(&s);
}

static void
an_update_is_shown_when_it_is_whole(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, 80, 24, true);
    draw(&s);
    uint64_t now = s.now_ns + 50ULL * MS;
    feed(&s, "\033[?2026hhalf");
    assert_int_equal(draw_wait_ms(&s.draw, s.session, now), 100);
    assert_int_equal(draw_wait_ms(&s.draw, s.session, now + 60 * MS), 40);
    feed(&s, "whole\033[?2026l");
    assert_int_equal(draw_wait_ms(&s.draw, s.session, now + 61 * MS), 0);
    feed(&s, "\033[?2026h");
    assert_int_equal(draw_wait_ms(&s.draw, s.session, now + 62 * MS), 100);
    assert_int_equal(draw_wait_ms(&s.draw, s.session, now + 162 * MS), 0); /* … or late */
    scene_release(&s);
}

static void
what_does_not_change_is_not_written(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    for (unsigned cols = 80; cols <= TERM_CORPUS_COLS; cols += 40) {
        struct scene s;
        scene_init(&s, cols, TERM_CORPUS_ROWS, true);
        feed(&s, "some text\r\nand more");
        draw(&s);
        assert_int_equal(draw_picture(&s.draw, s.session, s.now_ns, &out), 0);
        assert_int_equal(out.n, 0);
        scene_release(&s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_screen_is_shown_on_any_size),
        cmocka_unit_test(the_window_follows_the_cursor),
        cmocka_unit_test(modes_are_mirrored_for_those_who_type),
        cmocka_unit_test(a_mouse_is_not_asked_where_it_would_point_elsewhere),
        cmocka_unit_test(the_terminal_is_left_as_it_was),
        cmocka_unit_test(a_resized_terminal_is_drawn_anew),
        cmocka_unit_test(small_pictures_come_at_once),
        cmocka_unit_test(a_bell_is_passed_on_once),
        cmocka_unit_test(large_pictures_come_sixty_a_second_at_most),
        cmocka_unit_test(an_update_is_shown_when_it_is_whole),
        cmocka_unit_test(what_does_not_change_is_not_written),
    };
    return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
