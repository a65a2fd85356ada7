/* SPDX-License-Identifier: MIT */
/*
 * viewer.c -- the viewer's life, and when it makes which picture.
 *
 * Small pictures come at once, large ones 60 times a second at most. An update that the
 * session marks (DECSET 2026) is shown when it is whole, or after a while. Nothing is due
 * by itself but the seconds of a status line, the end of what it tells, and of a key.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "pty/tty.h"
#include "tui/viewer_priv.h"

#define MS UINT64_C(1000000) /* ns */

enum {
    FRAME_MS = 16,      /* between pictures … */
    FRAME_SMALL = 2048, /* … once so many bytes of them were written in that time */
    PICTURE_COST = 256, /* what each of them counts besides */
    HOLD_MS = 100,      /* an update that is longer under way is shown as it is */
    NOTE_MS = 3000,     /* what is told goes then */
    WAIT_MS = 60000,    /* at once */
    TEXT_MIN = 10,      /* columns beside a gutter, or there is none */
};

#define PUSH_TITLE "\033[22;0t"
#define POP_TITLE  "\033[23;0t"

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
        buf_puts(out, PUSH_TITLE);
    term_canvas_begin(&v->canvas, PTY_TTY_TAKE, out);
}

void
tui_viewer_end(struct tui_viewer *v, struct buf *out)
{
    if (!v->canvas.is_on)
        return;
    term_canvas_end(&v->canvas, PTY_TTY_GIVE, out);
    if (v->opt.is_live)
        buf_puts(out, POP_TITLE);
}

bool
tui_viewer_end_with(struct tui_viewer *v, struct buf *out)
{
    AUTO(buf) bytes = { 0 };
    const struct term *session = v->source->term;
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    tui_viewer_end(v, out);
    if (!session)
        return false;
    struct term_cursor c = term_cursor(session);
    struct term_window w = { .rows = rows, .cols = cols };
    w.top = term_canvas_follow(v->stage.window.top, rows, term_rows(session), c.row);
    w.left = term_canvas_follow(v->stage.window.left, cols, term_cols(session), c.col);
    term_blit(session, &w, &bytes);
    buf_printf(&bytes, "\033[%u;%uH", c.row - w.top + 1, c.col - w.left + 1);
    if (bytes.failed)
        return false;
    term_canvas_paint(&v->canvas, (struct view){ bytes.p, bytes.n });
    buf_puts(out, "\033[H\033[2J");
    term_diff(NULL, v->canvas.want, out);
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

void
tui_viewer_refresh(struct tui_viewer *v)
{
    if (!v->is_back || !v->is_touched)
        return;
    v->is_touched = false;
    tui_review_update(&v->review);
}

/* At once: the review must not look at a model that is gone. */
void
tui_viewer_renew(struct tui_viewer *v)
{
    tui_viewer_touch(v);
    tui_viewer_refresh(v);
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
    v->note_until_ns = now_ns + NOTE_MS * MS;
    v->is_stale = true;
}

void
tui_viewer_tell(struct tui_viewer *v, const char *text, uint64_t now_ns)
{
    tui_viewer_say(v, text, now_ns);
}

bool
tui_viewer_is_open(const struct tui_viewer *v)
{
    return v->is_back || v->has_help || v->question || v->prompt.is_open;
}

bool
tui_viewer_ended(struct tui_viewer *v, const char *how)
{
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
    uint64_t due_ns = v->frame_bytes > FRAME_SMALL ? v->frame_ns + FRAME_MS * MS : now_ns;
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

/* What the time alone brings. */
static void
tick(struct tui_viewer *v, uint64_t now_ns)
{
    struct tui_key key;
    uint64_t due_ns = key_due(v);
    if (due_ns && due_ns <= now_ns && tui_keys_timeout(&v->keys, &key))
        tui_viewer_key(v, key, now_ns);
    if (v->note_until_ns && v->note_until_ns <= now_ns) {
        v->note_until_ns = 0;
        v->is_stale = true;
    }
    if (v->second_ns && v->second_ns <= now_ns) {
        v->second_ns = 0;
        v->is_stale = true;
    }
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
tui_viewer_type(struct tui_viewer *v, struct view in, uint64_t now_ns,
                struct buf *for_session)
{
    struct tui_key key;
    tick(v, now_ns);
    while (in.n) {
        bool is_ours = tui_viewer_is_open(v) || v->opt.is_watcher;
        bool is_between = tui_keys_wait_ms(&v->keys) < 0; /* keys */
        if (!is_ours && !v->prefix.is_held) {
            type_live(v, &in, for_session);
        } else if (!is_ours && is_between &&
                   tui_prefix_again(&v->prefix, &in, for_session)) {
            v->prefix.is_held = false;
            v->is_stale = true;
        } else if (tui_keys_next(&v->keys, &in, &key)) {
            tui_viewer_key(v, key, now_ns);
        }
    }
    v->key_ns = now_ns;
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
    unsigned wide = v->source->term ? term_cols(v->source->term) : cols;
    tui_viewer_refresh(v);
    v->gutter = tui_page_gutter(&v->review);
    if (v->gutter && cols < v->gutter + TEXT_MIN) {
        v->review.has_gutter = false;
        v->gutter = 0;
    }
    unsigned room = at_least_1(cols > v->gutter ? cols - v->gutter : 0);
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
    if (now_ns - v->frame_ns >= FRAME_MS * MS) {
        v->frame_ns = now_ns;
        v->frame_bytes = 0;
    }
    v->frame_bytes += PICTURE_COST;
    ring(v, out);
    tui_viewer_put_title(v, out);
    bool is_plain = tui_viewer_is_plain(v);
    int r = is_plain ? 0 : paint(v);
    size_t from = out->n;
    if (!r)
        r = term_canvas_show(&v->canvas, is_plain ? v->source->term : NULL, out);
    v->frame_bytes += out->n - from;
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
    tick(v, now_ns);
    if (v->wants_redraw)
        tui_viewer_redraw(v, out);
    if (v->aside.n)
        buf_append(out, v->aside.p, v->aside.n);
    buf_clear(&v->aside);
    if (!v->is_stale || picture_due(v, now_ns) > now_ns)
        return 0;
    return draw(v, now_ns, out);
}
