/* SPDX-License-Identifier: MIT */
/* picture.c -- what the player shows: the session's screen, frame, status line, help. */
#include <inttypes.h>
#include <stdio.h>

#include "term/text.h"
#include "tui/replay_priv.h"
#include "tui/status_priv.h"

enum {
    HELP_COLS = 46,
    NARROW = 40, /* columns of a status line with no room for words */
};

static void
go_to(struct buf *out, unsigned row, unsigned col)
{
    buf_printf(out, "\033[%u;%uH", row + 1, col + 1);
}

static bool
has_note(const struct tui_film *f, uint64_t wall_ns)
{
    const struct tui_deck *d = &f->deck;
    return d->note_until_ns && (tui_deck_is_paused(d) || wall_ns < d->note_until_ns);
}

/* It takes long enough to be told. */
static bool
has_work(const struct tui_film *f, uint64_t wall_ns)
{
    const struct tui_deck *d = &f->deck;
    return d->work != TUI_WORK_NONE && wall_ns >= d->work_ns + TUI_TELL_MS * 1000000ULL;
}

bool
tui_film_has_bar(const struct tui_film *f, uint64_t wall_ns)
{
    return f->stage.bar != TUI_BAR_OVER || f->is_asking || wall_ns < f->bar_until_ns ||
           has_note(f, wall_ns) || has_work(f, wall_ns);
}

/* -- the status line -- */

static void
put_size(const struct tui_stage *s, char *p, size_t n)
{
    const struct term_window *w = &s->window;
    if (s->bar_cols < NARROW)
        snprintf(p, n, "%ux%u of %ux%u", w->cols, w->rows, s->session_cols,
                 s->session_rows);
    else
        snprintf(p, n, "%ux%u shown as %ux%u", s->session_cols, s->session_rows, w->cols,
                 w->rows);
}

static void
put_status(struct tui_film *f, uint64_t wall_ns, unsigned cols, struct buf *out)
{
    const struct tui_deck *d = &f->deck;
    const struct tui_stage *stage = &f->stage;
    char size[64];
    struct tui_status s = {
        .is_paused = tui_deck_is_paused(d),
        .has_millis = tui_deck_is_paused(d),
        .time_ns = d->time_ns,
        .duration_ns = play_extent(d->player).duration_ns,
        .speed = d->clock.speed,
        .byte_off = play_place(d->player).byte_off,
        .total_bytes = play_extent(d->player).total_bytes,
        .work = has_work(f, wall_ns) ? tui_deck_work(d) : NULL,
        .work_permille = play_work_permille(d->player),
        .note = has_note(f, wall_ns) ? d->note : NULL,
        .size = stage->is_cropped ? size : NULL,
        .hint = f->screen.tty.fd >= 0 ? "? help  q quit" : NULL,
    };
    put_size(stage, size, sizeof(size));
    s.has_label = tui_deck_label(d, wall_ns, &s.label);
    tui_status_line(&s, cols, &f->widths, out);
}

/* Returns where the cursor is then: behind what was typed. */
static unsigned
put_prompt(struct tui_film *f, unsigned cols, struct buf *out)
{
    struct view typed = { f->prompt.p, f->prompt.n };
    buf_puts(out, "/");
    if (cols < 3)
        return 0;
    return 1 + term_text_put_end(&f->widths, typed, cols - 2, out);
}

/* False: it has no place. *ret_col: where the prompt's cursor stands. */
static bool
put_bar(struct tui_film *f, uint64_t wall_ns, struct buf *out, unsigned *ret_col)
{
    const struct tui_stage *stage = &f->stage;
    unsigned cols = stage->bar_cols, pad = stage->bar == TUI_BAR_BORDER ? 1 : 0;
    if (cols <= 2 * pad)
        return false;
    cols -= 2 * pad;
    *ret_col = stage->bar_col + pad;
    go_to(out, stage->bar_row, stage->bar_col);
    buf_puts(out, stage->bar == TUI_BAR_OVER ? "\033[0;7m" : "\033[m");
    if (stage->bar != TUI_BAR_BORDER)
        buf_printf(out, "\033[%uX", cols);
    if (pad)
        buf_puts(out, " ");
    if (f->is_asking)
        *ret_col += put_prompt(f, cols, out);
    else
        put_status(f, wall_ns, cols, out);
    if (pad)
        buf_puts(out, " ");
    buf_puts(out, "\033[m");
    return true;
}

/* -- help -- */

static void
put_help(struct tui_film *f, struct buf *out)
{
    const char *const *line = tui_film_help();
    unsigned count = 0, rows = f->stage.rows, cols = f->stage.cols;
    while (line[count])
        count++;
    bool has_margin = rows >= count + 2;
    unsigned height = count + (has_margin ? 2 : 0), width = HELP_COLS;
    height = height < rows ? height : rows;
    width = width < cols ? width : cols;
    unsigned top = (rows - height) / 2, left = (cols - width) / 2;
    buf_puts(out, "\033[0;7m");
    for (unsigned y = 0; y < height; y++) {
        unsigned i = has_margin ? y - 1 : y; /* before the first: beyond the last */
        go_to(out, top + y, left);
        buf_printf(out, "\033[%uX", width);
        if (i < count && width > 2) {
            go_to(out, top + y, left + 1);
            term_text_put(&f->widths, term_text(line[i]), width - 2, out);
        }
    }
    buf_puts(out, "\033[m");
}

/* -- all of it -- */

static void
put_cursor(struct tui_film *f, bool has_bar, unsigned prompt_col, struct buf *out)
{
    const struct tui_stage *s = &f->stage;
    struct term_cursor c = term_cursor(play_term(f->deck.player));
    unsigned row, col;
    bool is_seen = tui_stage_cursor(s, c, &row, &col);
    if (f->is_asking && has_bar) {
        go_to(out, s->bar_row, prompt_col < s->cols ? prompt_col : s->cols - 1);
    } else if (!is_seen || f->has_help || f->deck.work != TUI_WORK_NONE ||
               (has_bar && row == s->bar_row)) {
        buf_puts(out, "\033[?25l");
    } else {
        if (c.shape != TERM_CURSOR_BLOCK)
            buf_printf(out, "\033[%u q", 2 * (unsigned)c.shape + (c.is_blinking ? 1 : 2));
        go_to(out, row, col);
    }
}

static void
put_session(struct tui_film *f, struct buf *out)
{
    const struct term *session = play_term(f->deck.player);
    tui_stage_set(&f->stage, tui_screen_cols(&f->screen), tui_screen_rows(&f->screen),
                  session);
    f->stage.window.is_colourless = !f->opt->has_colours;
    term_blit(session, &f->stage.window, out);
    tui_stage_frame(&f->stage, f->opt->title, &f->widths, out);
}

/* On a long way the player is anywhere: the picture stays as it is until it is there. */
static void
put_last(struct tui_film *f, struct buf *out)
{
    const struct term *shown = f->screen.canvas.shown;
    const struct term_window all = { .rows = term_rows(shown), .cols = term_cols(shown) };
    bool is_same = all.rows == f->stage.rows && all.cols == f->stage.cols;
    if (is_same)
        term_blit(shown, &all, out);
    else
        tui_stage_set(&f->stage, all.cols, all.rows, play_term(f->deck.player));
}

void
tui_film_picture(struct tui_film *f, uint64_t wall_ns, struct buf *out)
{
    unsigned prompt_col = 0;
    if (f->deck.work == TUI_WORK_NONE)
        put_session(f, out);
    else
        put_last(f, out);
    buf_puts(out, "\033[?7l"); /* a text whose width is in doubt must not wrap */
    bool has_bar = tui_film_has_bar(f, wall_ns) && put_bar(f, wall_ns, out, &prompt_col);
    if (f->has_help)
        put_help(f, out);
    buf_puts(out, "\033[?7h\033[?2004h"); /* so that a paste can be told from keys */
    put_cursor(f, has_bar, prompt_col, out);
}
