/* SPDX-License-Identifier: MIT */
#include "client/show_priv.h"

#include "base/clock.h"
#include "client/bytes_priv.h"
#include "client/lag_priv.h"
#include "client/repaint_priv.h"

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
                        .model.tape = { opt->tape_path, opt->done_tape_path } };
    pty_output_open(&s->out, opt->out_fd);
    look_init(&s->look, opt, &s->model);
    s->may_pass = opt->kind == CLIENT_RECORD && !opt->is_viewed;
    s->way = !opt->is_out_terminal ? SHOW_BYTES
             : s->may_pass         ? SHOW_PASSING
                                   : SHOW_DRAWING;
}

void
show_release(struct show *s)
{
    pty_output_close(&s->out);
    look_release(&s->look);
    model_release(&s->model);
    buf_release(&s->picture);
}

static void
put(struct show *s, struct buf *bytes)
{
    pty_output_put(&s->out, (struct view){ bytes->p, bytes->n });
}

/* -- drawing -- */

/* The session's screen after next_off bytes, from the recording. */
static void
catch_up(struct show *s)
{
    struct term_options how = model_options(s->s_cols, s->s_rows,
                                            look_keeps_rows(&s->look));
    bool is_new = !s->model.term;
    if (is_new && model_make(&s->model, &how) < 0)
        return;
    int r = model_skip(&s->model, s->next_off, s->s_cols, s->s_rows);
    if (is_new)
        look_anew(&s->look, !r);
    else
        look_fed(&s->look, r);
}

static void
begin_drawing(struct show *s)
{
    AUTO(buf) out = { 0 };
    s->way = SHOW_DRAWING;
    if (!s->model.term)
        return; /* a picture is on its way */
    look_begin(&s->look, s->cols, s->rows, &out);
    put(s, &out);
}

/* -- passing -- */

static void
begin_passing(struct show *s)
{
    AUTO(buf) out = { 0 };
    look_end(&s->look, &out);
    look_drop(&s->look);
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
    if (s->is_stopping && pty_output_waiting(&s->out) >= BYTES_PENDING_MAX)
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
show_joined(struct show *s, uint64_t off, uint64_t cols, uint64_t rows,
            struct clock clock)
{
    s->next_off = off;
    s->look.clock = clock;
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
        look_fed(&s->look, 0);
    } else if (s->opt->is_viewed && s->way == SHOW_DRAWING) { /* the first word */
        catch_up(s);
        begin_drawing(s);
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
    struct term_options how = model_options(1, 1, look_keeps_rows(&s->look));
    if (s->picture.failed || !whole.n ||
        model_restore(&s->model, whole, off, &how, &ignored) < 0)
        catch_up(s);
    else
        look_anew(&s->look, !off);
    buf_release(&s->picture);
    if (s->way == SHOW_DRAWING)
        begin_drawing(s);
}

void
show_output(struct show *s, uint64_t off, struct view bytes)
{
    if (s->way == SHOW_BYTES) {
        bytes_take(s, off, bytes);
        return;
    }
    s->next_off = off + bytes.n;
    if (s->way == SHOW_PASSING) {
        take_passing(s, bytes);
        lag_check(s, clock_mono_ns());
    } else if (s->model.term) {
        int r = model_feed(&s->model, off, bytes);
        look_stamp(&s->look);
        look_fed(&s->look, r);
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
    if (s->way == SHOW_DRAWING && look_is_on(&s->look)) {
        catch_up(s);
        s->awaits_skip = false;
    } else {
        begin_anew(s);
    }
}

/* Back to the screen that was there before; what `record` has shown stays to be seen. */
void
show_finish(struct show *s)
{
    AUTO(buf) out = { 0 };
    if (!look_is_on(&s->look))
        return;
    bool has_passed = !s->opt->is_viewed;
    if (s->opt->kind == CLIENT_RECORD && !term_modes(s->model.term).is_alternate)
        s->glance.is_mid_line = tui_viewer_end_with(s->look.viewer, has_passed, &out);
    else
        look_end(&s->look, &out);
    put(s, &out);
}

bool
show_ended(struct show *s, uint64_t off, const char *how)
{
    if (s->way == SHOW_DRAWING) {
        if (look_ended(&s->look, how))
            return true;
        show_finish(s);
    } else if (s->way == SHOW_PASSING && (s->is_paused || s->awaits_skip)) {
        s->next_off = off;
        begin_anew(s);
    }
    return false;
}

/* -- the terminal -- */

void
show_resize(struct show *s, uint16_t cols, uint16_t rows)
{
    AUTO(buf) out = { 0 };
    s->cols = cols;
    s->rows = rows;
    if (s->look.viewer)
        tui_viewer_resize(s->look.viewer, cols, rows, &out);
    put(s, &out);
}

/* The terminal is left as programs find it at first. */
static void
calm(struct show *s)
{
    AUTO(buf) out = { 0 };
    if (!s->opt->is_out_terminal)
        return;
    if (look_is_on(&s->look)) {
        look_end(&s->look, &out);
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
    if (s->has_stage && !s->look.is_ended)
        lag_pause(s);
    calm(s);
}

void
show_resume(struct show *s)
{
    if (s->way == SHOW_BYTES)
        return;
    if (s->way == SHOW_DRAWING)
        begin_drawing(s); /* what there was: more of it follows */
    if (s->has_stage)
        lag_unpause(s);
    else if (!s->look.is_ended)
        begin_anew(s);
}

void
show_leave(struct show *s, bool is_clean)
{
    if (look_is_on(&s->look) || !is_clean)
        calm(s);
}

/* -- the loop -- */

static bool
may_draw(const struct show *s)
{
    return s->way == SHOW_DRAWING && !s->is_paused && !pty_output_waiting(&s->out);
}

void
show_step(struct show *s, uint64_t now_ns)
{
    AUTO(buf) out = { 0 };
    bytes_fill(s);
    look_step(&s->look, may_draw(s), now_ns, &out);
    put(s, &out);
    lag_check(s, now_ns);
}

void
show_read_on(struct show *s, bool is_busy, uint64_t now_ns)
{
    look_read_on(&s->look, is_busy, now_ns);
}

int
show_wait_ms(struct show *s, uint64_t now_ns)
{
    if (bytes_is_filling(s) && pty_output_waiting(&s->out) < BYTES_PENDING_MAX)
        return 0;
    if (s->way == SHOW_DRAWING)
        return look_wait_ms(&s->look, may_draw(s), now_ns);
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
    return s->is_stopping || !holds_up || pty_output_waiting(&s->out) < BYTES_PENDING_MAX;
}

bool
show_is_done(const struct show *s)
{
    return !pty_output_waiting(&s->out) && !bytes_is_filling(s);
}
