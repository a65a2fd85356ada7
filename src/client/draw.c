/* SPDX-License-Identifier: MIT */
#include "client/draw_priv.h"

#include "pty/tty.h"

enum {
    FRAME_MS = 16,      /* between pictures … */
    FRAME_SMALL = 2048, /* … once so many bytes of them were written in that time */
    PICTURE_COST = 256, /* what each of them counts besides */
    HOLD_MS = 100,      /* an update that is longer under way is shown as it is */
};

int
draw_init(struct draw *d, unsigned cols, unsigned rows, bool mirrors_modes)
{
    *d = (struct draw){ .mirrors_modes = mirrors_modes, .is_stale = true };
    return term_canvas_init(&d->canvas, cols, rows);
}

void
draw_release(struct draw *d)
{
    term_canvas_release(&d->canvas);
    *d = (struct draw){ 0 };
}

/* -- the terminal -- */

void
draw_begin(struct draw *d, struct buf *out)
{
    if (d->canvas.is_on)
        return;
    d->is_stale = d->is_new = true;
    term_canvas_begin(&d->canvas, PTY_TTY_TAKE, out);
}

void
draw_end(struct draw *d, struct buf *out)
{
    if (d->canvas.is_on)
        term_canvas_end(&d->canvas, PTY_TTY_GIVE, out);
}

void
draw_resize(struct draw *d, unsigned cols, unsigned rows, struct buf *out)
{
    if (term_canvas_resize(&d->canvas, cols, rows, out))
        d->is_stale = true;
}

/* -- when -- */

void
draw_touch(struct draw *d)
{
    d->is_stale = true;
}

static int
ms_until(uint64_t due_ns, uint64_t now_ns)
{
    return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + 999999) / 1000000);
}

int
draw_wait_ms(struct draw *d, const struct term *session, uint64_t now_ns)
{
    if (!d->canvas.is_on || !d->is_stale)
        return -1;
    uint64_t due_ns = d->frame_bytes > FRAME_SMALL ? d->frame_ns + FRAME_MS * 1000000ULL
                                                   : 0;
    if (!term_modes(session).is_synchronized)
        d->held_ns = 0;
    else if (!d->held_ns)
        d->held_ns = now_ns;
    uint64_t held_ns = d->held_ns ? d->held_ns + HOLD_MS * 1000000ULL : 0;
    return ms_until(due_ns > held_ns ? due_ns : held_ns, now_ns);
}

/* -- what -- */

static void
put_mode(struct buf *out, unsigned number, bool is_on)
{
    if (is_on)
        buf_printf(out, "\033[?%uh", number);
}

/* What is typed goes the same way as without us; a mouse would point elsewhere in a
 * window that does not begin at the top left. */
static void
put_modes(const struct draw *d, const struct term *session, struct buf *out)
{
    struct term_modes m = term_modes(session);
    put_mode(out, 1, m.app_cursor_keys);
    put_mode(out, 66, m.app_keypad);
    put_mode(out, 1004, m.focus_events);
    put_mode(out, 2004, m.bracketed_paste);
    if (!m.alternate_scroll)
        buf_puts(out, "\033[?1007l");
    if (m.kitty_keys)
        buf_printf(out, "\033[=%u;1u", m.kitty_keys);
    if (d->top || d->left)
        return;
    put_mode(out, m.mouse, m.mouse);
    put_mode(out, m.mouse_encoding, m.mouse_encoding);
}

static void
put_cursor(const struct draw *d, const struct term *session, struct buf *out)
{
    struct term_cursor c = term_cursor(session);
    unsigned shape = 2 * (unsigned)c.shape + (c.is_blinking ? 1 : 2);
    if (c.shape != TERM_CURSOR_BLOCK)
        buf_printf(out, "\033[%u q", shape);
    put_mode(out, 5, term_modes(session).is_reverse);
    if (!c.is_visible)
        buf_puts(out, "\033[?25l");
    buf_printf(out, "\033[%u;%uH", c.row - d->top + 1, c.col - d->left + 1);
}

/* The window of the session's screen, as a screen of the terminal's size. */
static int
make_want(struct draw *d, const struct term *session, bool has_modes)
{
    AUTO(buf) bytes = { 0 };
    struct term_window window = { .top = d->top,
                                  .left = d->left,
                                  .rows = term_rows(d->canvas.want),
                                  .cols = term_cols(d->canvas.want) };
    term_blit(session, &window, &bytes);
    if (has_modes)
        put_modes(d, session, &bytes);
    put_cursor(d, session, &bytes);
    if (bytes.failed)
        return bytes.failed;
    term_canvas_paint(&d->canvas, (struct view){ bytes.p, bytes.n });
    return 0;
}

static void
move_window(struct draw *d, const struct term *session)
{
    struct term_cursor c = term_cursor(session);
    d->top = term_canvas_follow(d->top, term_rows(d->canvas.shown), term_rows(session),
                                c.row);
    d->left = term_canvas_follow(d->left, term_cols(d->canvas.shown), term_cols(session),
                                 c.col);
}

void
draw_end_with(struct draw *d, const struct term *session, struct buf *out)
{
    draw_end(d, out);
    move_window(d, session);
    if (make_want(d, session, false) < 0)
        return;
    /* Neither is for whoever comes next. */
    term_feed(d->canvas.want, "\033[?25h\033[?5l\033[0 q", 16, 0);
    buf_puts(out, "\033[H\033[2J");
    term_diff(NULL, d->canvas.want, out);
}

/* However often, once a picture. */
static void
ring(struct draw *d, uint64_t bells, struct buf *out)
{
    if (bells != d->bells && !d->is_new)
        buf_puts(out, "\a");
    d->bells = bells;
    d->is_new = false;
}

int
draw_picture(struct draw *d, const struct term *session, uint64_t now_ns, struct buf *out)
{
    unsigned cols = term_cols(d->canvas.shown), rows = term_rows(d->canvas.shown);
    move_window(d, session);
    bool fits = d->mirrors_modes && cols == term_cols(session) &&
                rows == term_rows(session);
    d->is_stale = false;
    d->held_ns = 0;
    if (now_ns - d->frame_ns >= FRAME_MS * 1000000ULL) {
        d->frame_ns = now_ns;
        d->frame_bytes = 0;
    }
    d->frame_bytes += PICTURE_COST;
    ring(d, term_bells(session), out);
    int r = fits ? 0 : make_want(d, session, d->mirrors_modes);
    size_t from = out->n;
    if (!r)
        r = term_canvas_show(&d->canvas, fits ? session : NULL, out);
    d->frame_bytes += out->n - from;
    return r;
}
