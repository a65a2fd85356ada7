/* SPDX-License-Identifier: MIT */
#include "client/show_priv.h"

#include "base/clock.h"
#include "client/lag_priv.h"
#include "client/repaint_priv.h"

enum {
    PENDING_MAX = 1 << 20, /* output that has not been taken */
    FILL_STEP = 4 << 20,   /* read from the recording at once */
};

void
show_init(struct show *s, const struct client_options *opt, struct link *link,
          uint16_t cols, uint16_t rows)
{
    *s = (struct show){ .opt = opt,
                        .link = link,
                        .cols = cols,
                        .rows = rows,
                        .s_cols = cols,
                        .s_rows = rows,
                        .may_pass = opt->kind == CLIENT_RECORD,
                        .model.tape = { opt->tape_path, opt->done_tape_path } };
    pty_output_open(&s->out, opt->out_fd);
    s->way = !opt->is_out_terminal        ? SHOW_BYTES
             : opt->kind == CLIENT_RECORD ? SHOW_PASSING
                                          : SHOW_DRAWING;
}

void
show_release(struct show *s)
{
    pty_output_close(&s->out);
    model_release(&s->model);
    draw_release(&s->draw);
    buf_release(&s->picture);
}

static void
put(struct show *s, struct buf *bytes)
{
    pty_output_put(&s->out, (struct view){ bytes->p, bytes->n });
}

/* -- bytes -- */

static int
put_bytes(void *ctx, struct view v)
{
    struct show *s = ctx;
    pty_output_put(&s->out, v);
    return s->out.is_gone ? -1 : 0;
}

static bool
is_filling(const struct show *s)
{
    return s->fill_to > s->next_off && !s->out.is_gone;
}

static void
fill(struct show *s)
{
    if (!is_filling(s) || pty_output_waiting(&s->out) >= PENDING_MAX)
        return;
    uint64_t to = s->fill_to - s->next_off > FILL_STEP ? s->next_off + FILL_STEP
                                                       : s->fill_to;
    uint64_t done = model_copy(&s->model.tape, s->next_off, to, put_bytes, s);
    if (done == s->next_off) { /* waiting would not help */
        s->lost += to - done;
        done = to;
    }
    s->next_off = done;
}

static void
take_bytes(struct show *s, uint64_t off, struct view v)
{
    uint64_t end = off + v.n;
    /* Who holds nobody up reads on; the recording has it for later. */
    bool is_full = (s->opt->kind == CLIENT_WATCH || s->is_stopping) &&
                   pty_output_waiting(&s->out) >= PENDING_MAX;
    if (end <= s->next_off)
        return;
    if (is_filling(s) || is_full || off > s->next_off) {
        s->fill_to = end;
        return;
    }
    uint64_t done = s->next_off - off;
    pty_output_put(&s->out, (struct view){ v.p + done, v.n - (size_t)done });
    s->next_off = end;
}

/* -- drawing -- */

/* The session's screen after next_off bytes, from the recording. */
static void
catch_up(struct show *s)
{
    struct term_options how = model_options(s->s_cols, s->s_rows);
    if (s->model.term || !model_make(&s->model, &how))
        model_skip(&s->model, s->next_off, s->s_cols, s->s_rows);
}

static void
begin_drawing(struct show *s)
{
    AUTO(buf) out = { 0 };
    s->way = SHOW_DRAWING;
    if (!s->model.term)
        return; /* a picture is on its way */
    if (!s->draw.canvas.shown &&
        draw_init(&s->draw, s->cols, s->rows, s->opt->kind != CLIENT_WATCH) < 0)
        return;
    draw_begin(&s->draw, &out);
    draw_touch(&s->draw);
    put(s, &out);
}

/* -- passing -- */

static void
begin_passing(struct show *s)
{
    AUTO(buf) out = { 0 };
    draw_end(&s->draw, &out);
    s->way = SHOW_PASSING;
    if (s->model.term)
        repaint(&out, s->model.term);
    s->glance = (struct glance){ 0 };
    glance(&s->glance, (struct view){ out.p, out.n });
    s->picture_off = s->next_off;
    s->picture_bytes = out.n;
    put(s, &out);
}

static void
take_passing(struct show *s, struct view v)
{
    if (s->is_paused || s->awaits_skip)
        return;
    if (s->is_stopping && pty_output_waiting(&s->out) >= PENDING_MAX)
        return;
    glance(&s->glance, v);
    pty_output_put(&s->out, v);
}

/* -- what the host says -- */

/* Whatever the terminal shows, it then shows the screen after next_off bytes. */
static void
begin_anew(struct show *s)
{
    queue_clear(&s->out.waiting);
    s->is_paused = s->awaits_skip = false;
    catch_up(s);
    if (s->may_pass)
        begin_passing(s);
    else
        begin_drawing(s);
}

void
show_joined(struct show *s, uint64_t off, uint64_t cols, uint64_t rows)
{
    s->next_off = off;
    s->s_cols = (uint16_t)cols;
    s->s_rows = (uint16_t)rows;
}

void
show_stage(struct show *s, uint64_t cols, uint64_t rows, bool may_pass)
{
    bool did_pass = s->may_pass;
    s->has_stage = true;
    s->may_pass = may_pass;
    s->s_cols = (uint16_t)cols;
    s->s_rows = (uint16_t)rows;
    if (s->way == SHOW_BYTES || s->is_paused || s->awaits_skip)
        return;
    if (s->way == SHOW_DRAWING && s->model.term) {
        term_resize(s->model.term, (unsigned)cols, (unsigned)rows);
        draw_touch(&s->draw);
    }
    if (did_pass && !may_pass) {
        catch_up(s);
        begin_drawing(s);
    } else if (!did_pass && may_pass) {
        begin_passing(s);
    }
}

void
show_picture(struct show *s, uint64_t off, bool is_last, struct view bytes)
{
    struct err ignored;
    buf_append(&s->picture, bytes.p, bytes.n);
    if (!is_last)
        return;
    s->next_off = off;
    struct view whole = { s->picture.p, s->picture.n };
    if (s->picture.failed || !whole.n ||
        model_restore(&s->model, whole, off, &ignored) < 0)
        catch_up(s);
    buf_release(&s->picture);
    if (s->way == SHOW_DRAWING)
        begin_drawing(s);
}

void
show_output(struct show *s, uint64_t off, struct view bytes)
{
    if (s->way == SHOW_BYTES) {
        take_bytes(s, off, bytes);
        return;
    }
    s->next_off = off + bytes.n;
    if (s->way == SHOW_PASSING) {
        take_passing(s, bytes);
        lag_check(s, clock_mono_ns());
    } else if (s->model.term) {
        model_feed(&s->model, off, bytes);
        draw_touch(&s->draw);
    }
}

void
show_skipped(struct show *s, uint64_t off, uint64_t cols, uint64_t rows)
{
    if (s->way == SHOW_BYTES) {
        s->fill_to = off > s->fill_to ? off : s->fill_to;
        return;
    }
    s->next_off = off;
    if (cols && rows) {
        s->s_cols = (uint16_t)cols;
        s->s_rows = (uint16_t)rows;
    }
    if (s->is_paused)
        return; /* the terminal is not ours now; what we ask for then has its own */
    if (s->way == SHOW_DRAWING && s->draw.canvas.is_on) {
        catch_up(s);
        draw_touch(&s->draw);
        s->awaits_skip = false;
    } else {
        begin_anew(s);
    }
}

/* Back to the screen that was there before; what `record` has shown stays to be seen. */
static void
end_drawing(struct show *s)
{
    AUTO(buf) out = { 0 };
    if (!s->draw.canvas.is_on)
        return;
    if (s->opt->kind == CLIENT_RECORD && !term_modes(s->model.term).is_alternate) {
        draw_end_with(&s->draw, s->model.term, &out);
        s->glance.is_mid_line = term_cursor(s->model.term).col;
    } else {
        draw_end(&s->draw, &out);
    }
    put(s, &out);
}

bool
show_has_begun(const struct show *s)
{
    return s->way != SHOW_DRAWING || s->model.term;
}

void
show_ended(struct show *s, uint64_t off)
{
    if (s->way == SHOW_DRAWING) {
        end_drawing(s);
    } else if (s->way == SHOW_PASSING && (s->is_paused || s->awaits_skip)) {
        s->next_off = off;
        begin_anew(s);
    }
}

/* -- the terminal -- */

void
show_resize(struct show *s, uint16_t cols, uint16_t rows)
{
    AUTO(buf) out = { 0 };
    s->cols = cols;
    s->rows = rows;
    if (s->draw.canvas.shown)
        draw_resize(&s->draw, cols, rows, &out);
    put(s, &out);
}

/* The terminal is left as programs find it at first. */
static void
calm(struct show *s)
{
    AUTO(buf) out = { 0 };
    if (!s->opt->is_out_terminal)
        return;
    if (s->draw.canvas.is_on) {
        draw_end(&s->draw, &out);
    } else if (s->way == SHOW_PASSING) {
        buf_puts(&out, PTY_TTY_CALM);
        if (s->glance.is_alternate)
            buf_puts(&out, "\033[?1049l");
    }
    pty_output_try(&s->out, (struct view){ out.p, out.n });
}

void
show_suspend(struct show *s)
{
    if (s->has_stage)
        lag_pause(s);
    calm(s);
}

void
show_resume(struct show *s)
{
    if (s->way == SHOW_BYTES)
        return;
    if (s->has_stage)
        lag_unpause(s);
    else
        begin_anew(s);
}

void
show_leave(struct show *s, bool is_clean)
{
    if (s->draw.canvas.is_on || !is_clean)
        calm(s);
}

/* -- the loop -- */

static void
draw_now(struct show *s, uint64_t now_ns)
{
    AUTO(buf) out = { 0 };
    if (s->way != SHOW_DRAWING || s->is_paused || pty_output_waiting(&s->out) ||
        draw_wait_ms(&s->draw, s->model.term, now_ns) != 0)
        return;
    draw_picture(&s->draw, s->model.term, now_ns, &out);
    put(s, &out);
}

void
show_step(struct show *s, uint64_t now_ns)
{
    fill(s);
    draw_now(s, now_ns);
    lag_check(s, now_ns);
}

int
show_wait_ms(struct show *s, uint64_t now_ns)
{
    if (is_filling(s) && pty_output_waiting(&s->out) < PENDING_MAX)
        return 0;
    if (s->way == SHOW_DRAWING && !s->is_paused && !pty_output_waiting(&s->out))
        return draw_wait_ms(&s->draw, s->model.term, now_ns);
    return lag_wait_ms(s, now_ns);
}

bool
show_wants_room(const struct show *s, uint64_t now_ns)
{
    return !s->out.is_gone && (pty_output_waiting(&s->out) || lag_wants_room(s, now_ns));
}

void
show_has_room(struct show *s, uint64_t now_ns)
{
    pty_output_flush(&s->out);
    if (!pty_output_waiting(&s->out)) {
        s->picture_bytes = 0;
        if (lag_wants_room(s, now_ns)) {
            s->lag_ns = now_ns;
            lag_unpause(s);
        }
    }
}

/* With `record` it is the command's to say something, and to hear of it then. */
bool
show_minds_reader(const struct show *s)
{
    return s->way == SHOW_BYTES && s->opt->kind == CLIENT_WATCH && !s->out.is_gone;
}

void
show_lost_reader(struct show *s)
{
    pty_output_lose(&s->out);
}

bool
show_takes_more(const struct show *s)
{
    bool holds_up = s->way == SHOW_PASSING ||
                    (s->way == SHOW_BYTES && s->opt->kind == CLIENT_RECORD);
    return s->is_stopping || !holds_up || pty_output_waiting(&s->out) < PENDING_MAX;
}

bool
show_is_done(const struct show *s)
{
    return !pty_output_waiting(&s->out) && !is_filling(s);
}
