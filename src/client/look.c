/* SPDX-License-Identifier: MIT */
#include "client/look_priv.h"

#include <stdio.h>

#include "base/clock.h"
#include "tui/prefix.h"

bool
look_keeps_rows(const struct look *l)
{
    return l->opt->is_viewed || l->opt->kind != CLIENT_RECORD;
}

void
look_init(struct look *l, const struct client_options *opt, struct model *model)
{
    *l = (struct look){ .opt = opt, .model = model, .clock = opt->clock };
    l->source = (struct tui_source){ .stamps = &l->stamps,
                                     .events = &l->events.list,
                                     .is_whole = true };
    if (look_keeps_rows(l))
        model->stamps = &l->stamps;
}

void
look_release(struct look *l)
{
    look_drop(l);
    past_release(&l->past);
    events_release(&l->events);
    play_stamps_release(&l->stamps);
}

/* -- the session -- */

static void
update(struct look *l)
{
    l->source.term = l->model->term;
    l->source.bytes = l->model->off;
    l->source.start_ts_ns = l->clock.real_ns;
    l->source.permille = past_permille(&l->past, l->model->off);
    if (l->viewer)
        tui_viewer_touch(l->viewer);
}

void
look_anew(struct look *l, bool is_whole)
{
    past_release(&l->past);
    l->source.is_whole = is_whole || !look_keeps_rows(l) ||
                         !past_begin(&l->past, &l->model->tape);
    update(l);
    if (l->viewer)
        tui_viewer_renew(l->viewer);
}

void
look_fed(struct look *l, int r)
{
    if (r > 0)
        look_anew(l, false);
    else
        update(l);
}

void
look_stamp(struct look *l)
{
    if (l->model->stamps && l->clock.real_ns)
        play_stamps_add(&l->stamps, l->model->off, clock_now_ns(&l->clock));
}

bool
look_ended(struct look *l, const char *how)
{
    l->is_ended = true;
    events_expire(&l->events);
    return look_is_on(l) && tui_viewer_ended(l->viewer, how);
}

/* -- the terminal -- */

static void
greet(struct look *l)
{
    char text[80], name[16];
    snprintf(text, sizeof(text), "this is recorded; %s then ? shows the keys",
             tui_prefix_name(l->opt->prefix, name));
    tui_viewer_tell(l->viewer, text, clock_mono_ns());
}

static void
make_viewer(struct look *l, unsigned cols, unsigned rows)
{
    struct tui_viewer_options opt = {
        .cols = cols,
        .rows = rows,
        .is_live = true,
        .is_watcher = l->opt->kind == CLIENT_WATCH,
        .begins_back = l->opt->begins_back,
        .prefix = look_keeps_rows(l) ? l->opt->prefix : 0,
        .name = l->opt->name ? l->opt->name : "",
        .clock = l->clock,
        .deliver = l->opt->deliver,
        .has_colours = true, /* as the session's own picture has */
    };
    l->viewer = tui_viewer_new(&opt, &l->source);
    if (l->viewer && l->opt->greets && opt.prefix)
        greet(l);
}

bool
look_begin(struct look *l, unsigned cols, unsigned rows, struct buf *out)
{
    update(l);
    if (!l->viewer)
        make_viewer(l, cols, rows);
    if (l->viewer && !tui_viewer_is_on(l->viewer))
        tui_viewer_begin(l->viewer, out);
    return l->viewer;
}

void
look_end(struct look *l, struct buf *out)
{
    if (look_is_on(l))
        tui_viewer_end(l->viewer, out);
}

bool
look_is_on(const struct look *l)
{
    return l->viewer && tui_viewer_is_on(l->viewer);
}

void
look_drop(struct look *l)
{
    if (l->viewer)
        tui_viewer_free(l->viewer);
    l->viewer = NULL;
}

/* -- the loop -- */

static int
sooner(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

int
look_wait_ms(struct look *l, bool may_draw, uint64_t now_ns)
{
    if (!look_is_on(l))
        return -1;
    int ms = past_wait_ms(&l->past, now_ns);
    if (may_draw)
        ms = sooner(ms, tui_viewer_wait_ms(l->viewer, now_ns));
    if (l->has_events && (!l->is_ended || !l->events.looked_ns))
        ms = sooner(ms, events_wait_ms(&l->events, now_ns));
    return ms;
}

static void
look_at_events(struct look *l, uint64_t now_ns)
{
    bool had_events = l->has_events;
    l->has_events = tui_viewer_shows_events(l->viewer);
    if (l->has_events && !had_events)
        events_expire(&l->events);
    if (l->has_events && events_look(&l->events, &l->model->tape, now_ns))
        tui_viewer_touch(l->viewer);
}

void
look_step(struct look *l, bool may_draw, uint64_t now_ns, struct buf *out)
{
    if (!look_is_on(l))
        return;
    look_at_events(l, now_ns);
    if (may_draw && !tui_viewer_wait_ms(l->viewer, now_ns))
        tui_viewer_picture(l->viewer, now_ns, out); /* without memory: the next one */
}

/* All rows are there: the model goes on as if it had been there from the start. */
static void
take_past(struct look *l)
{
    struct model *m = l->model;
    struct term *t = past_take(&l->past, &l->stamps), *old = m->term;
    term_resize(t, term_cols(old), term_rows(old));
    m->term = t;
    l->source.is_whole = true;
    update(l);
    tui_viewer_renew(l->viewer);
    term_free(old);
}

/* It has been moved meanwhile; else what there is, is all there will be. */
static void
lose_past(struct look *l)
{
    if (l->past.path != model_tape_path(&l->model->tape)) {
        look_anew(l, false);
        return;
    }
    past_release(&l->past);
    l->source.is_whole = true;
    update(l);
}

void
look_read_on(struct look *l, bool is_busy, uint64_t now_ns)
{
    if (!look_is_on(l) || past_wait_ms(&l->past, now_ns) ||
        (is_busy && !past_is_due(&l->past, now_ns)))
        return;
    unsigned before = l->source.permille;
    int r = past_read(&l->past, l->model->off, is_busy, now_ns);
    if (r > 0)
        take_past(l);
    else if (r < 0)
        lose_past(l);
    else if (past_permille(&l->past, l->model->off) / 10 != before / 10)
        update(l);
}
