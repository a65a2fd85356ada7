/* SPDX-License-Identifier: MIT */
/*
 * viewer_live.c -- the session's own screen: as it is, or a part of it, or in a frame;
 * with its cursor, its title and its modes.
 */
#include "term/text.h"
#include "tui/viewer_priv.h"

enum { TITLE_COLS = 200 };

static bool
has_its_size(const struct tui_viewer *v)
{
    const struct term *session = v->source->term;
    return term_cols(v->canvas.shown) == term_cols(session) &&
           term_rows(v->canvas.shown) == term_rows(session);
}

bool
tui_viewer_is_plain(const struct tui_viewer *v)
{
    return v->source->term && has_its_size(v) && !v->opt.is_watcher &&
           !tui_viewer_is_open(v) && !tui_viewer_has_bar(v);
}

void
tui_viewer_put_live(struct tui_viewer *v, struct buf *out)
{
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    const struct term *session = v->source->term;
    if (!session)
        return;
    tui_stage_set(&v->stage, cols, rows, session);
    if (!v->stage.is_cropped)
        v->stage.is_still = false;
    term_blit(session, &v->stage.window, out);
    const char *title = term_title(session);
    tui_stage_frame(&v->stage, *title ? title : v->opt.name, &v->widths, out);
}

void
tui_viewer_put_cursor(struct tui_viewer *v, bool has_bar, struct buf *out)
{
    struct term_cursor c = { 0 };
    unsigned row = 0, col = 0;
    bool is_seen = false;
    if (v->source->term) {
        c = term_cursor(v->source->term);
        is_seen = tui_stage_cursor(&v->stage, c, &row, &col);
    }
    if (c.shape != TERM_CURSOR_BLOCK)
        buf_printf(out, "\033[%u q", 2 * (unsigned)c.shape + (c.is_blinking ? 1 : 2));
    bool is_covered = has_bar && row == term_rows(v->canvas.want) - 1;
    if (!is_seen || is_covered)
        buf_puts(out, "\033[?25l");
    buf_printf(out, "\033[%u;%uH", row + 1, col + 1);
}

/* -- modes -- */

static void
put_mode(struct buf *out, unsigned number, bool is_on)
{
    if (is_on)
        buf_printf(out, "\033[?%uh", number);
}

/* What is typed goes the same way as without us; a mouse would point elsewhere in a
 * window that does not begin at the top left. */
static void
put_session_modes(const struct tui_viewer *v, struct buf *out)
{
    const struct term_window *w = &v->stage.window;
    struct term_modes m = term_modes(v->source->term);
    put_mode(out, 1, m.app_cursor_keys);
    put_mode(out, 66, m.app_keypad);
    put_mode(out, 1004, m.focus_events);
    put_mode(out, 2004, m.bracketed_paste);
    if (!m.alternate_scroll)
        buf_puts(out, "\033[?1007l");
    if (m.kitty_keys)
        buf_printf(out, "\033[=%u;1u", m.kitty_keys);
    if (w->top || w->left || w->at_row || w->at_col)
        return;
    put_mode(out, m.mouse, m.mouse);
    put_mode(out, m.mouse_encoding, m.mouse_encoding);
}

/* Ours: the mouse where there are lines to be clicked; a paste is told from keys, and
 * Ctrl-Enter from Enter. */
void
tui_viewer_put_modes(const struct tui_viewer *v, struct buf *out)
{
    if (tui_viewer_is_open(v))
        buf_puts(out, "\033[?1000h\033[?1006h\033[?2004h\033[=1;1u");
    else if (v->opt.is_watcher)
        buf_puts(out, "\033[?2004h");
    else if (v->source->term)
        put_session_modes(v, out);
}

/* -- the title -- */

void
tui_viewer_put_title(struct tui_viewer *v, struct buf *out)
{
    AUTO(buf) title = { 0 };
    const char *text = v->source->term ? term_title(v->source->term) : "";
    if (!v->opt.is_live)
        return;
    if (!*text)
        text = v->opt.name;
    buf_puts(&title, v->is_ended ? "■ " : "● ");
    term_text_put(&v->widths, term_text(text), TITLE_COLS, &title);
    bool is_same = v->has_title && v->title.n == title.n &&
                   !memcmp(v->title.p, title.p, title.n);
    if (is_same || title.failed)
        return;
    buf_puts(out, "\033]2;");
    buf_append(out, title.p, title.n);
    buf_puts(out, "\033\\");
    struct buf old = v->title;
    v->title = title;
    title = old;
    v->has_title = true;
}

/* -- the window -- */

/* By half of it, so that what was at its edge is in its middle. */
void
tui_viewer_pan(struct tui_viewer *v, int down, int right)
{
    const struct term_window *w = &v->stage.window;
    if (!v->source->term || !v->stage.is_cropped)
        return;
    v->stage.is_still = v->is_stale = true;
    tui_stage_pan(&v->stage, down * (int)((w->rows + 1) / 2),
                  right * (int)((w->cols + 1) / 2));
}
