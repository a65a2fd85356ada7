/* SPDX-License-Identifier: MIT */
#include "support/viewer_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/term_check.h"
#include "tui/prefix.h"

struct tui_viewer_options
scene_options(unsigned cols, unsigned rows)
{
    return (struct tui_viewer_options){ .cols = cols,
                                        .rows = rows,
                                        .is_live = true,
                                        .prefix = TUI_PREFIX_DEFAULT,
                                        .name = "task",
                                        .has_colours = true };
}

void
scene_init(struct scene *s, unsigned cols, unsigned rows,
           const struct tui_viewer_options *opt)
{
    AUTO(buf) out = { 0 };
    *s = (struct scene){ .session = term_check_new(cols, rows),
                         .outer = term_check_new(opt->cols, opt->rows),
                         .now_ns = SCENE_START };
    s->source = (struct tui_source){ .term = s->session,
                                     .events = &s->events,
                                     .is_whole = true };
    static const char shell[] = "\033]2;shell\033\\prompt$ ";
    term_feed(s->outer, shell, sizeof(shell) - 1, 0);
    s->viewer = tui_viewer_new(opt, &s->source);
    assert_non_null(s->viewer);
    tui_viewer_begin(s->viewer, &out);
    scene_flush(s, &out);
}

void
scene_simple(struct scene *s, unsigned cols, unsigned rows)
{
    struct tui_viewer_options opt = scene_options(cols, rows);
    scene_init(s, cols, rows, &opt);
}

void
scene_release(struct scene *s)
{
    tui_viewer_free(s->viewer);
    term_free(s->session);
    term_free(s->outer);
    play_events_release(&s->events);
    buf_release(&s->typed);
    buf_release(&s->last);
}

void
scene_feed_bytes(struct scene *s, struct view bytes)
{
    term_feed(s->session, bytes.p, bytes.n, s->fed);
    s->fed += bytes.n;
    s->source.bytes = s->fed;
    tui_viewer_touch(s->viewer);
}

void
scene_feed(struct scene *s, const char *text)
{
    scene_feed_bytes(s, (struct view){ (const uint8_t *)text, strlen(text) });
}

void
scene_flush(struct scene *s, struct buf *out)
{
    if (out->n)
        term_feed(s->outer, out->p, out->n, 0);
    buf_clear(out);
}

void
scene_draw_now(struct scene *s)
{
    buf_clear(&s->last);
    assert_int_equal(tui_viewer_picture(s->viewer, s->now_ns, &s->last), 0);
    if (s->last.n)
        term_feed(s->outer, s->last.p, s->last.n, 0);
}

void
scene_draw(struct scene *s)
{
    s->now_ns += 1000 * SCENE_MS;
    scene_draw_now(s);
}

void
scene_type(struct scene *s, const char *keys)
{
    struct view in = { (const uint8_t *)keys, strlen(keys) };
    s->now_ns += 100 * SCENE_MS;
    while (in.n) /* whatever is wished for meanwhile */
        tui_viewer_type(s->viewer, &in, s->now_ns, &s->typed);
    scene_draw_now(s);
}

void
scene_was_typed(struct scene *s, const char *want)
{
    assert_string_equal(buf_str(&s->typed), want);
    buf_clear(&s->typed);
}

struct tui_wish
scene_wishes(struct scene *s, enum tui_wish_kind kind)
{
    struct tui_wish wish;
    assert_true(tui_viewer_wish(s->viewer, &wish));
    assert_int_equal(wish.kind, kind);
    return wish;
}

void
scene_wishes_nothing(struct scene *s)
{
    struct tui_wish wish;
    assert_false(tui_viewer_wish(s->viewer, &wish));
}

const char *
scene_row(const struct term *t, unsigned row)
{
    static char text[4096];
    struct term_line line = { 0 };
    assert_int_equal(term_line_at(t, term_scrollback_count(t) + row, &line), 0);
    const char *s = buf_str(&line.text);
    size_t n = strlen(s);
    assert_true(n < sizeof(text));
    memcpy(text, s, n + 1);
    term_line_release(&line);
    return text;
}

void
scene_is_row(const struct term *t, unsigned row, const char *text)
{
    assert_string_equal(scene_row(t, row), text);
}

bool
scene_has(const struct scene *s, const char *text)
{
    for (unsigned row = 0; row < term_rows(s->outer); row++)
        if (strstr(scene_row(s->outer, row), text))
            return true;
    return false;
}

bool
scene_is_same_text(const struct term_cell *a, const struct term_cell *b)
{
    bool is_blank = a->text.n == 1 && a->text.p[0] == ' ';
    bool is_blank_too = b->text.n == 1 && b->text.p[0] == ' ';
    if ((!a->text.n || is_blank) && (!b->text.n || is_blank_too))
        return true;
    return a->text.n == b->text.n && !memcmp(a->text.p, b->text.p, a->text.n);
}

bool
scene_is_same_look(const struct term_cell *a, const struct term_cell *b)
{
    struct term_style x = a->style, y = b->style;
    x.attrs &= (uint16_t)~TERM_PROTECTED;
    y.attrs &= (uint16_t)~TERM_PROTECTED;
    x.link = y.link = 0;
    return !memcmp(&x, &y, sizeof(x));
}

static void
has_equal_modes(const struct scene *s)
{
    struct term_modes want = term_modes(s->session), have = term_modes(s->outer);
    have.is_alternate = want.is_alternate;
    have.is_synchronized = want.is_synchronized;
    assert_memory_equal(&have, &want, sizeof(want));
}

void
scene_is_equal(const struct scene *s)
{
    struct term_cursor want = term_cursor(s->session), have = term_cursor(s->outer);
    assert_int_equal(term_rows(s->session), term_rows(s->outer));
    for (unsigned row = 0; row < term_rows(s->outer); row++)
        for (unsigned col = 0; col < term_cols(s->outer); col++) {
            struct term_cell a, b;
            term_cell_at(s->session, row, col, &a);
            term_cell_at(s->outer, row, col, &b);
            if (!scene_is_same_text(&a, &b) || !scene_is_same_look(&a, &b))
                fail_msg("row %u is '%s'", row, scene_row(s->outer, row));
        }
    assert_int_equal(have.row, want.row);
    assert_int_equal(have.col, want.col);
    assert_int_equal(have.is_visible, want.is_visible);
    assert_int_equal(have.shape, want.shape);
    has_equal_modes(s);
}
