/* SPDX-License-Identifier: MIT */
/*
 * view.c -- the loop of the viewer on a session that has ended.
 *
 * A player finds the last screen by keyframes. Behind it the recording is rolled into a
 * model with all rows, which then takes the screen's place; of a short one at once.
 */
#include "tui/view.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "play/roll.h"
#include "pty/signals.h"
#include "tui/editor.h"
#include "tui/screen_priv.h"

#define MS UINT64_C(1000000) /* ns */

enum {
    SLICE_MS = 8,          /* of reading, between looks at the keyboard */
    SLICE_BYTES = 1 << 16, /* … and between looks at the clock */
    TELL_MS = 200,         /* between pictures of how far it is */
    SHORT_BYTES = 2 << 20, /* so much is read before there is a picture */
    COLS = 80,             /* of a terminal that does not know its size */
    ROWS = 24,
};

struct viewing {
    const struct tui_view *opt;
    struct tui_screen screen;
    struct tui_viewer *viewer;
    struct tui_source source;
    struct play_player *player; /* until the roll has all */
    struct play_roll *roll;
    bool is_seeking; /* the player is on its way to the end */
    bool is_rolling;
    bool is_touched; /* somebody has typed: it stays where they are */
    uint64_t told_ns;
    struct err why; /* of the editor */
    struct buf edited;
    unsigned edited_line;
    bool is_done;
    int signo;
};

/* -- where it begins -- */

static void
go(struct viewing *v)
{
    const struct tui_view *opt = v->opt;
    char moment[48];
    if (opt->from_byte ? !v->source.term : !opt->from_ns || !v->source.stamps)
        return; /* nowhere, or it is not known yet where that is */
    if (opt->from_byte)
        snprintf(moment, sizeof(moment), "@%" PRIu64, opt->from_byte);
    else
        snprintf(moment, sizeof(moment), "%" PRIu64 ".%09" PRIu64,
                 opt->from_ns / 1000000000, opt->from_ns % 1000000000);
    tui_viewer_go(v->viewer, moment);
}

/* -- the recording -- */

/* The snapshots that the recording has, and all that stands beside it. */
static int
join_events(struct viewing *v)
{
    const struct play_events *own = play_roll_snapshots(v->roll);
    struct play_events all = { 0 };
    uint64_t left_out = 0;
    int e = 0;
    for (size_t i = 0; i < own->count && !e; i++) {
        struct play_event event = play_events_at(own, i);
        e = play_events_add(&all, &event);
    }
    if (!e)
        e = play_events_join(&all, v->opt->events, &left_out);
    if (e < 0) {
        play_events_release(&all);
        return e;
    }
    play_events_release(v->opt->events);
    *v->opt->events = all;
    play_events_sort(v->opt->events);
    return 0;
}

/* All rows are there: they are shown instead of those that the player had. */
static int
swap(struct viewing *v)
{
    int e = join_events(v);
    if (e < 0)
        return e;
    v->is_rolling = false;
    v->source.term = play_roll_term(v->roll);
    v->source.stamps = play_roll_stamps(v->roll);
    v->source.bytes = play_roll_byte(v->roll);
    v->source.is_whole = true;
    v->source.permille = 1000;
    if (v->viewer)
        tui_viewer_renew(v->viewer);
    if (v->viewer && !v->is_touched)
        go(v);
    play_close(v->player);
    v->player = NULL;
    return 0;
}

static int
seek_slice(struct viewing *v)
{
    int e = play_work(v->player, SLICE_BYTES);
    if (e)
        return e;
    v->is_seeking = false;
    v->source.term = play_term(v->player);
    tui_viewer_renew(v->viewer);
    go(v);
    return 1;
}

static int
roll_slice(struct viewing *v)
{
    uint64_t total = play_extent(v->player).total_bytes;
    int e = play_roll_read(v->roll, UINT64_MAX, SLICE_BYTES);
    if (!e)
        return swap(v);
    uint64_t done = play_roll_byte(v->roll);
    v->source.permille = total > done ? (unsigned)((double)done / (double)total * 1000)
                                      : 999;
    return e;
}

/* 1: there is more to read; 0: all has been; or an error. */
static int
read_slice(struct viewing *v, uint64_t now_ns)
{
    uint64_t end_ns = now_ns + SLICE_MS * MS;
    int e = 1;
    while (e > 0 && (v->is_seeking || v->is_rolling) && clock_mono_ns() < end_ns)
        e = v->is_seeking ? seek_slice(v) : roll_slice(v);
    if (e < 0)
        return e;
    bool has_more = v->is_seeking || v->is_rolling;
    if (has_more && now_ns - v->told_ns > TELL_MS * MS) {
        v->told_ns = now_ns;
        tui_viewer_touch(v->viewer);
    }
    return has_more;
}

/* -- what is wished -- */

static void
instruct(struct viewing *v, const struct tui_wish *wish)
{
    struct tui_wish w = *wish;
    struct play_event event;
    struct err err = { 0 };
    uint64_t now_ns = clock_mono_ns();
    if (w.anchor_byte == PLAY_NONE)
        w.anchor_byte = v->source.bytes;
    if (!v->opt->instruct) {
        tui_viewer_refused(v->viewer, "there is no place for instructions here", now_ns);
        return;
    }
    if (v->opt->instruct(v->opt->ctx, &w, &event, &err) < 0) {
        tui_viewer_refused(v->viewer, err.text, now_ns);
        return;
    }
    if (play_events_add(v->opt->events, &event) == 0)
        play_events_sort(v->opt->events);
    tui_viewer_touch(v->viewer);
    tui_viewer_tell(v->viewer, "noted", now_ns);
}

static void
run_editor(void *ctx)
{
    struct viewing *v = ctx;
    v->why = (struct err){ 0 };
    tui_editor(buf_str(&v->edited), v->edited_line, v->opt->in_fd, v->opt->out_fd,
               &v->why);
}

static void
edit(struct viewing *v, const struct tui_wish *wish)
{
    buf_clear(&v->edited);
    buf_append(&v->edited, wish->text.p, wish->text.n);
    v->edited_line = wish->row == UINT32_MAX ? 0 : wish->row;
    if (v->edited.failed)
        err_code(&v->why, v->edited.failed, "cannot edit it");
    else
        tui_screen_lend(&v->screen, run_editor, v);
    tui_viewer_edited(v->viewer, &v->why);
}

static void
grant(struct viewing *v, const struct tui_wish *wish)
{
    switch (wish->kind) {
    case TUI_WISH_INSTRUCT:
        instruct(v, wish);
        break;
    case TUI_WISH_EDITOR:
        edit(v, wish);
        break;
    case TUI_WISH_SUSPEND:
        tui_screen_suspend(&v->screen, true);
        break;
    case TUI_WISH_LEAVE:
    case TUI_WISH_DETACH:
    case TUI_WISH_STOP:
        v->is_done = true;
        break;
    case TUI_WISH_SNAPSHOT: /* it has ended */
    case TUI_WISH_REMEMBER:
        break;
    }
}

static void
grant_all(struct viewing *v)
{
    struct tui_wish wish;
    while (!v->is_done && tui_viewer_wish(v->viewer, &wish))
        grant(v, &wish);
}

/* -- the terminal -- */

static void
end_by(struct viewing *v, int signo)
{
    v->signo = signo;
    v->is_done = true;
}

static void
handle_signals(struct viewing *v)
{
    for (int signo; !v->is_done && (signo = pty_signals_next());)
        switch (signo) {
        case SIGWINCH:
            tui_screen_resize(&v->screen);
            break;
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
            tui_screen_suspend(&v->screen, false);
            break;
        case SIGCONT:
            tui_screen_resume(&v->screen);
            break;
        default:
            end_by(v, signo);
        }
    if (v->screen.out.is_gone)
        end_by(v, SIGHUP);
}

static int
draw(struct viewing *v)
{
    AUTO(buf) bytes = { 0 };
    if (!tui_screen_is_ready(&v->screen))
        return 0;
    int e = tui_viewer_picture(v->viewer, clock_mono_ns(), &bytes);
    tui_screen_put(&v->screen, (struct view){ bytes.p, bytes.n });
    return e;
}

static void
take_keys(struct viewing *v)
{
    AUTO(buf) nobodys = { 0 };
    uint8_t bytes[4096];
    ssize_t n = tui_screen_read(&v->screen, bytes, sizeof(bytes));
    if (n < 0) /* the terminal is gone */
        end_by(v, SIGHUP);
    if (n <= 0)
        return;
    v->is_touched = true;
    struct view in = { bytes, (size_t)n };
    while (in.n && !v->is_done) {
        tui_viewer_type(v->viewer, &in, clock_mono_ns(), &nobodys);
        grant_all(v);
    }
}

static int
run(struct viewing *v)
{
    int e = 0;
    while (e >= 0) {
        handle_signals(v);
        grant_all(v);
        if (v->is_done)
            break;
        int more = read_slice(v, clock_mono_ns());
        e = more < 0 ? more : draw(v);
        if (e < 0)
            break;
        int ms = more ? 0 : tui_viewer_wait_ms(v->viewer, clock_mono_ns());
        if (!tui_screen_is_ready(&v->screen)) /* it says when it is */
            ms = more ? 0 : -1;
        if (tui_screen_wait(&v->screen, ms))
            take_keys(v);
    }
    return e;
}

/* -- begin, end -- */

static int
open_recording(struct viewing *v, struct err *err)
{
    const struct tui_view *opt = v->opt;
    const struct play_roll_options how = { .cols = opt->play.cols,
                                           .rows = opt->play.rows,
                                           .notice = opt->play.notice,
                                           .ctx = opt->play.ctx };
    int e = play_open(&v->player, opt->io, opt->path, &opt->play, err);
    if (!e)
        e = play_roll_open(&v->roll, opt->io, opt->path, &how, err);
    if (e < 0)
        return e;
    struct play_extent extent = play_extent(v->player);
    play_events_sort(opt->events);
    v->source.events = opt->events;
    v->source.start_ts_ns = extent.start_ts_ns;
    v->source.bytes = extent.total_bytes;
    v->is_rolling = true;
    if (extent.total_bytes > SHORT_BYTES) {
        v->is_seeking = true;
        e = play_seek_ns(v->player, UINT64_MAX);
    }
    while (e >= 0 && v->is_rolling && !v->is_seeking)
        e = roll_slice(v);
    return e < 0 ? err_code(err, e, "cannot show '%s'", opt->path) : 0;
}

static int
open_viewer(struct viewing *v, struct err *err)
{
    const struct tui_view *opt = v->opt;
    uint16_t cols = COLS, rows = ROWS;
    pty_size(opt->out_fd, &cols, &rows);
    const struct tui_viewer_options how = {
        .cols = cols,
        .rows = rows,
        .begins_back = true,
        .name = opt->name,
        .deliver = TUI_DELIVER_NO,
        .has_colours = opt->has_colours,
    };
    v->viewer = tui_viewer_new(&how, &v->source);
    return v->viewer ? 0 : err_code(err, -ENOMEM, "cannot make a screen");
}

static void
close_all(struct viewing *v)
{
    tui_viewer_free(v->viewer);
    if (v->roll)
        play_roll_close(v->roll);
    if (v->player)
        play_close(v->player);
    buf_release(&v->edited);
}

int
tui_view(const struct tui_view *opt, struct err *err)
{
    struct viewing v = { .opt = opt };
    int e = open_recording(&v, err);
    if (!e)
        e = open_viewer(&v, err);
    if (!e) {
        tui_screen_open_for(&v.screen, v.viewer, opt->in_fd, opt->out_fd);
        go(&v);
        e = run(&v);
        tui_screen_close(&v.screen);
        if (e < 0)
            err_code(err, e, "cannot show the recording");
    }
    close_all(&v);
    return e < 0 ? e : v.signo;
}
