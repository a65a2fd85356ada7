/* SPDX-License-Identifier: MIT */
/*
 * viewer.c -- the viewer's life: the terminal that it has, the session that it shows,
 * what is asked for, and for whom what is typed is.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "pty/tty.h"
#include "tui/viewer_priv.h"

/* -- life -- */

struct tui_viewer *
tui_viewer_new(const struct tui_viewer_options *opt, const struct tui_source *source)
{
    struct tui_viewer *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->opt = *opt;
    v->source = source;
    v->is_stale = true;
    v->prefix.key = opt->prefix;
    v->stage.is_bar_over = true;
    if (term_canvas_init(&v->canvas, opt->cols, opt->rows) < 0) {
        free(v);
        return NULL;
    }
    if (opt->begins_back || !opt->is_live)
        tui_viewer_enter_review(v);
    return v;
}

void
tui_viewer_free(struct tui_viewer *v)
{
    if (!v)
        return;
    if (v->edited_path)
        unlink(v->edited_path);
    free(v->edited_path);
    for (size_t i = 0; i < TUI_VIEWER_WISHES; i++)
        buf_release(&v->wishes[i].text);
    if (v->has_review)
        tui_review_release(&v->review);
    tui_prompt_release(&v->prompt);
    term_canvas_release(&v->canvas);
    term_widths_release(&v->widths);
    buf_release(&v->title);
    buf_release(&v->aside);
    buf_release(&v->wish_text);
    buf_release(&v->submitted);
    free(v);
}

/* -- the terminal -- */

void
tui_viewer_begin(struct tui_viewer *v, struct buf *out)
{
    if (v->canvas.is_on)
        return;
    v->is_stale = v->is_new = true;
    v->has_title = false;
    if (v->opt.is_live)
        buf_puts(out, PTY_TTY_PUSH_TITLE);
    term_canvas_begin(&v->canvas, PTY_TTY_TAKE, out);
}

void
tui_viewer_end(struct tui_viewer *v, struct buf *out)
{
    if (!v->canvas.is_on)
        return;
    term_canvas_end(&v->canvas, PTY_TTY_GIVE, out);
    if (v->opt.is_live)
        buf_puts(out, PTY_TTY_POP_TITLE);
}

static bool
is_blank(const struct term_cell *cell)
{
    static const struct term_style plain;
    bool has_text = cell->text.n > 1 || (cell->text.n == 1 && cell->text.p[0] != ' ');
    return !has_text && !memcmp(&cell->style, &plain, sizeof(plain));
}

/* Rows of the window down to the last one with something in it, the cursor's included. */
static unsigned
used_rows(const struct term *t, const struct term_window *w, unsigned cursor_row)
{
    unsigned rows = term_rows(t) - w->top, cols = term_cols(t);
    for (rows = rows < w->rows ? rows : w->rows; rows > cursor_row + 1; rows--)
        for (unsigned col = 0; col < cols; col++) {
            struct term_cell cell;
            term_cell_at(t, w->top + rows - 1, col, &cell);
            if (!is_blank(&cell))
                return rows;
        }
    return rows;
}

/* Not every terminal keeps what is cleared: what stands above the cursor is only if it is
 * the session's. */
bool
tui_viewer_end_with(struct tui_viewer *v, bool clears, struct buf *out)
{
    const struct term *session = v->source->term;
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    tui_viewer_end(v, out);
    if (!session)
        return false;
    struct term_cursor c = term_cursor(session);
    struct term_window w = { .rows = rows, .cols = cols, .flows = true };
    w.top = term_canvas_follow(v->stage.window.top, rows, term_rows(session), c.row);
    w.left = term_canvas_follow(v->stage.window.left, cols, term_cols(session), c.col);
    w.rows = used_rows(session, &w, c.row - w.top);
    buf_puts(out, clears ? "\033[H\033[2J" : "\r\033[J");
    term_blit(session, &w, out);
    if (w.top + w.rows > c.row + 1)
        buf_printf(out, "\033[%uA", w.top + w.rows - c.row - 1);
    buf_printf(out, "\033[%uG", c.col - w.left + 1);
    return c.col;
}

bool
tui_viewer_is_on(const struct tui_viewer *v)
{
    return v->canvas.is_on;
}

void
tui_viewer_resize(struct tui_viewer *v, unsigned cols, unsigned rows, struct buf *out)
{
    if (term_canvas_resize(&v->canvas, cols, rows, out))
        v->is_stale = true;
}

void
tui_viewer_redraw(struct tui_viewer *v, struct buf *out)
{
    v->wants_redraw = false;
    if (!v->canvas.is_on)
        return;
    v->is_stale = true;
    v->has_title = false;
    term_canvas_end(&v->canvas, "", out);
    term_canvas_begin(&v->canvas, PTY_TTY_CALM "\033[H\033[2J", out);
}

/* -- the session -- */

void
tui_viewer_touch(struct tui_viewer *v)
{
    v->is_stale = v->is_touched = true;
}

bool
tui_viewer_has_pages(struct tui_viewer *v)
{
    if (v->source->term && !v->has_review)
        v->has_review = tui_review_init(&v->review, v->source) == 0;
    return v->source->term && v->has_review;
}

void
tui_viewer_refresh(struct tui_viewer *v)
{
    if (!v->is_back || !v->is_touched || !tui_viewer_has_pages(v))
        return;
    v->is_touched = false;
    tui_review_update(&v->review);
}

/* At once: the review must not look at a model that is gone, be it seen or not. Bells
 * that it has rung already are no news. */
void
tui_viewer_renew(struct tui_viewer *v)
{
    tui_viewer_touch(v);
    v->bells = v->source->term ? term_bells(v->source->term) : 0;
    if (!v->has_review)
        return;
    v->is_touched = false;
    tui_review_update(&v->review);
}

static void
copy(char *room, const char *text)
{
    size_t n = strlen(text);
    n = n < TUI_VIEWER_TEXT ? n : TUI_VIEWER_TEXT - 1;
    memmove(room, text, n);
    room[n] = 0;
}

void
tui_viewer_trouble(struct tui_viewer *v, const char *text)
{
    char now[TUI_VIEWER_TEXT];
    copy(now, text ? text : "");
    if (!strcmp(now, v->trouble))
        return;
    copy(v->trouble, now);
    v->is_trouble_hidden = false;
    v->is_stale = true;
}

void
tui_viewer_say(struct tui_viewer *v, const char *text, uint64_t now_ns)
{
    copy(v->note, text);
    v->note_until_ns = now_ns + TUI_VIEWER_NOTE_NS;
    v->is_stale = true;
}

void
tui_viewer_tell(struct tui_viewer *v, const char *text, uint64_t now_ns)
{
    tui_viewer_say(v, text, now_ns);
}

void
tui_viewer_refused(struct tui_viewer *v, const char *why, uint64_t now_ns)
{
    v->is_refused = v->submitted.n;
    tui_viewer_say(v, why, now_ns);
}

bool
tui_viewer_is_open(const struct tui_viewer *v)
{
    return v->is_back || v->has_help || v->question || v->prompt.is_open;
}

void
tui_viewer_go(struct tui_viewer *v, const char *moment)
{
    if (!v->is_back || !tui_viewer_has_pages(v))
        return;
    tui_viewer_refresh(v);
    v->review.follows = false;
    tui_review_go_to_moment(&v->review, moment);
    v->is_stale = true;
}

bool
tui_viewer_ended(struct tui_viewer *v, const char *how)
{
    tui_viewer_elapsed(v, &v->took_ns);
    v->is_ended = v->is_stale = true;
    v->prefix.is_held = false;
    copy(v->how, how);
    if (v->question == TUI_QUESTION_QUIT)
        v->question = TUI_QUESTION_NONE; /* it is answered */
    return tui_viewer_is_open(v);
}

bool
tui_viewer_shows_events(const struct tui_viewer *v)
{
    return v->canvas.is_on && tui_viewer_has_bar(v);
}

/* -- wishes -- */

void
tui_viewer_ask(struct tui_viewer *v, const struct tui_wish *wish)
{
    if (v->n_wishes == TUI_VIEWER_WISHES)
        return; /* nobody asks for them */
    unsigned at = (v->first_wish + v->n_wishes) % TUI_VIEWER_WISHES;
    struct tui_viewer_wish *w = &v->wishes[at];
    w->wish = *wish;
    buf_clear(&w->text);
    if (wish->text.n && buf_append(&w->text, wish->text.p, wish->text.n) < 0)
        return;
    v->n_wishes++;
}

void
tui_viewer_ask_for(struct tui_viewer *v, enum tui_wish_kind kind)
{
    tui_viewer_ask(v, &(struct tui_wish){ .kind = kind,
                                          .anchor_byte = PLAY_NONE,
                                          .snapshot_id = PLAY_NONE,
                                          .row = UINT32_MAX });
}

bool
tui_viewer_wish(struct tui_viewer *v, struct tui_wish *ret)
{
    if (!v->n_wishes)
        return false;
    struct tui_viewer_wish *w = &v->wishes[v->first_wish];
    struct buf text = v->wish_text;
    v->wish_text = w->text;
    w->text = text;
    *ret = w->wish;
    ret->text = (struct view){ (const uint8_t *)buf_str(&v->wish_text), v->wish_text.n };
    v->first_wish = (v->first_wish + 1) % TUI_VIEWER_WISHES;
    v->n_wishes--;
    return true;
}

/* -- what is typed -- */

/* The live picture's: the session's but for the prefix. */
static void
type_live(struct tui_viewer *v, struct view *in, struct buf *for_session)
{
    size_t before = for_session->n;
    tui_prefix_take(&v->prefix, in, for_session);
    if (for_session->n > before && v->stage.is_still)
        v->stage.is_still = false, v->is_stale = true;
    if (v->prefix.is_held)
        v->is_stale = true;
}

void
tui_viewer_type(struct tui_viewer *v, struct view *in, uint64_t now_ns,
                struct buf *for_session)
{
    struct tui_key key;
    unsigned n_wishes = v->n_wishes;
    tui_viewer_tick(v, now_ns);
    while (in->n && v->n_wishes == n_wishes) {
        bool is_ours = tui_viewer_is_open(v) || v->opt.is_watcher;
        bool is_between = tui_keys_wait_ms(&v->keys) < 0; /* keys */
        if (!is_ours && !v->prefix.is_held) {
            type_live(v, in, for_session);
        } else if (!is_ours && is_between &&
                   tui_prefix_again(&v->prefix, in, for_session)) {
            v->prefix.is_held = false;
            v->is_stale = true;
        } else if (tui_keys_next(&v->keys, in, &key)) {
            tui_viewer_key(v, key, now_ns);
        }
    }
    v->key_ns = now_ns;
}
