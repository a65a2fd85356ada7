/* SPDX-License-Identifier: MIT */
/*
 * viewer_picture.c -- which picture the viewer makes, and when.
 *
 * After a moment without one, a picture comes at once, so that a key's echo does; else
 * they come 60 times a second. An update that the session marks (DECSET 2026) is shown
 * when it is whole, or after a while. Nothing is due by itself but the seconds of a
 * status line, the end of what it tells, and of a key.
 */
#include "tui/viewer_priv.h"

#define MS UINT64_C(1000000) /* ns */

enum {
    FRAME_MS = 16,   /* between pictures */
    HOLD_MS = 100,   /* an update that is longer under way is shown as it is */
    WAIT_MS = 60000, /* at once */
    TEXT_MIN = 10,   /* columns beside a gutter, or there is none */
};

/* -- when -- */

/* The next moment of these; 0 is none. */
static uint64_t
sooner(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

static bool
is_updating(const struct tui_viewer *v)
{
    const struct term *session = v->source->term;
    return session && !v->is_back && term_modes(session).is_synchronized;
}

/* When the next picture is due, if one is wanted. */
static uint64_t
picture_due(struct tui_viewer *v, uint64_t now_ns)
{
    uint64_t due_ns = v->frame_ns + FRAME_MS * MS;
    if (!is_updating(v))
        v->held_ns = 0;
    else if (!v->held_ns)
        v->held_ns = now_ns;
    uint64_t held_ns = v->held_ns ? v->held_ns + HOLD_MS * MS : 0;
    return due_ns > held_ns ? due_ns : held_ns;
}

/* When what has been typed is all there is of a key; 0: nothing has. */
static uint64_t
key_due(const struct tui_viewer *v)
{
    int ms = tui_keys_wait_ms(&v->keys);
    return ms < 0 ? 0 : v->key_ns + (uint64_t)ms * MS;
}

int
tui_viewer_wait_ms(struct tui_viewer *v, uint64_t now_ns)
{
    if (!v->canvas.is_on)
        return -1;
    if (v->aside.n || v->wants_redraw)
        return 0;
    uint64_t due_ns = sooner(key_due(v), sooner(v->note_until_ns, v->second_ns));
    if (v->is_stale)
        due_ns = sooner(due_ns, picture_due(v, now_ns));
    if (!due_ns)
        return -1;
    uint64_t ms = due_ns > now_ns ? (due_ns - now_ns + MS - 1) / MS : 0;
    return ms < WAIT_MS ? (int)ms : WAIT_MS;
}

void
tui_viewer_tick(struct tui_viewer *v, uint64_t now_ns)
{
    struct tui_key key;
    uint64_t due_ns = key_due(v);
    if (due_ns && due_ns <= now_ns && tui_keys_timeout(&v->keys, &key))
        tui_viewer_key(v, key, now_ns);
    if (v->note_until_ns == TUI_VIEWER_FRESH)
        v->note_until_ns = now_ns + TUI_VIEWER_NOTE_NS;
    if (v->note_until_ns && v->note_until_ns <= now_ns) {
        v->note_until_ns = 0;
        v->is_stale = true;
    }
    if (v->second_ns && v->second_ns <= now_ns) {
        v->second_ns = 0;
        v->is_stale = true;
    }
}

/* -- pictures -- */

/* However often, once a picture. */
static void
ring(struct tui_viewer *v, struct buf *out)
{
    uint64_t bells = v->source->term ? term_bells(v->source->term) : 0;
    if (bells > v->bells && !v->is_new)
        buf_puts(out, "\a");
    v->bells = bells;
    v->is_new = !v->source->term;
}

static unsigned
at_least_1(unsigned n)
{
    return n ? n : 1;
}

/* All but the last row is the page's; as wide as the session, if there is room. */
static void
put_review(struct tui_viewer *v, struct buf *out)
{
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    if (!tui_viewer_has_pages(v))
        return;
    tui_viewer_refresh(v);
    v->gutter = tui_page_gutter(&v->review);
    if (v->gutter && cols < v->gutter + TEXT_MIN) {
        v->review.has_gutter = false;
        v->gutter = 0;
    }
    unsigned room = at_least_1(cols > v->gutter ? cols - v->gutter : 0);
    unsigned wide = term_cols(v->source->term);
    struct tui_page *p = &v->page;
    p->cols = wide < room ? wide : room;
    p->has_sides = room >= p->cols + 2;
    p->at_row = 0;
    p->at_col = (room - p->cols) / 2;
    p->has_colours = v->opt.has_colours;
    tui_review_resize(&v->review, p->cols, at_least_1(rows - 1));
    tui_page_put(p, &v->review, out);
}

/* What is to be seen, as bytes for a blank screen. */
static int
paint(struct tui_viewer *v)
{
    AUTO(buf) bytes = { 0 };
    unsigned prompt_col = UINT32_MAX, rows = term_rows(v->canvas.want);
    bool has_bar = tui_viewer_has_bar(v);
    if (v->is_back)
        put_review(v, &bytes); /* the cursor, too */
    else
        tui_viewer_put_live(v, &bytes);
    /* A text whose width is in doubt must not wrap. */
    buf_puts(&bytes, "\0337\033[?7l");
    if (has_bar)
        tui_viewer_put_bar(v, &bytes, &prompt_col);
    if (v->has_help)
        tui_viewer_put_help(v, &bytes);
    buf_puts(&bytes, "\033[?7h\0338");
    tui_viewer_put_modes(v, &bytes);
    if (!v->is_back)
        tui_viewer_put_cursor(v, has_bar, &bytes);
    if (v->has_help)
        buf_puts(&bytes, "\033[?25l");
    else if (prompt_col != UINT32_MAX)
        buf_printf(&bytes, "\033[?25h\033[%u;%uH", rows, prompt_col + 1);
    if (bytes.failed)
        return bytes.failed;
    term_canvas_paint(&v->canvas, (struct view){ bytes.p, bytes.n });
    return 0;
}

/* The status line's second hand; a picture without it has none. */
static void
wind_up(struct tui_viewer *v, uint64_t now_ns)
{
    enum { SECOND = 1000000000 };
    uint64_t elapsed_ns;
    bool is_told = tui_viewer_has_bar(v) && tui_viewer_elapsed(v, &elapsed_ns);
    v->second_ns = is_told ? now_ns + SECOND - elapsed_ns % SECOND : 0;
}

static int
draw(struct tui_viewer *v, uint64_t now_ns, struct buf *out)
{
    v->frame_ns = now_ns;
    ring(v, out);
    tui_viewer_put_title(v, out);
    bool is_plain = tui_viewer_is_plain(v);
    int r = is_plain ? 0 : paint(v);
    if (!r)
        r = term_canvas_show(&v->canvas, is_plain ? v->source->term : NULL, out);
    v->is_stale = r;
    v->held_ns = 0;
    wind_up(v, now_ns);
    return r;
}

int
tui_viewer_picture(struct tui_viewer *v, uint64_t now_ns, struct buf *out)
{
    if (!v->canvas.is_on)
        return 0;
    tui_viewer_tick(v, now_ns);
    if (v->wants_redraw)
        tui_viewer_redraw(v, out);
    if (v->aside.n)
        buf_append(out, v->aside.p, v->aside.n);
    buf_clear(&v->aside);
    if (!v->is_stale || picture_due(v, now_ns) > now_ns)
        return 0;
    return draw(v, now_ns, out);
}
