/* SPDX-License-Identifier: MIT */
/*
 * replay.c -- the loop of the player.
 *
 * It sleeps until something is to be played, drawn or taken off the screen again: a
 * session that stands still costs nothing but the second hand.
 */
#include "tui/replay.h"

#include <signal.h>

#include "base/clock.h"
#include "pty/signals.h"
#include "tui/replay_priv.h"

#define MS UINT64_C(1000000) /* ns */

enum {
    FRAME_MS = 16,   /* between pictures */
    HOLD_MS = 100,   /* an update that is longer under way is shown as it is */
    WORK_MS = 100,   /* between pictures of work */
    SECOND_MS = 100, /* between those in which only the time is new */
    WAIT_MS = 60000, /* at once */
};

/* -- when -- */

/* The next moment of these; 0 is none. */
static uint64_t
sooner(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* When the next picture is due, if one is wanted. */
static uint64_t
picture_due(struct tui_film *f, uint64_t now_ns)
{
    const struct tui_deck *d = &f->deck;
    uint64_t due_ns = f->picture_ns + FRAME_MS * MS;
    bool is_open = term_modes(play_term(d->player)).is_synchronized &&
                   !tui_deck_is_paused(d);
    if (d->work != TUI_WORK_NONE) {
        due_ns = f->picture_ns + WORK_MS * MS;
        uint64_t told_ns = d->work_ns + TUI_TELL_MS * MS;
        return due_ns > told_ns ? due_ns : told_ns;
    }
    if (!is_open)
        f->held_ns = 0;
    else if (!f->held_ns)
        f->held_ns = now_ns;
    uint64_t held_ns = f->held_ns ? f->held_ns + HOLD_MS * MS : 0;
    return due_ns > held_ns ? due_ns : held_ns;
}

/* When the second that is shown is over. */
static uint64_t
second_due(const struct tui_film *f, uint64_t now_ns)
{
    const struct tui_deck *d = &f->deck;
    if (tui_deck_is_paused(d) || !tui_film_has_bar(f, now_ns))
        return 0;
    uint64_t left_ns = 1000000000 - d->time_ns % 1000000000;
    uint64_t wait_ns = left_ns * PLAY_SPEED_ONE / d->clock.speed;
    return now_ns + (wait_ns > SECOND_MS * MS ? wait_ns : SECOND_MS * MS);
}

/* When something that is shown for a while is to go; 0: nothing is. */
static uint64_t
end_due(const struct tui_film *f, uint64_t now_ns)
{
    const struct tui_deck *d = &f->deck;
    uint64_t due_ns = f->bar_until_ns > now_ns ? f->bar_until_ns : 0;
    if (!tui_deck_is_paused(d) && d->note_until_ns > now_ns)
        due_ns = sooner(due_ns, d->note_until_ns);
    return d->label_until_ns > now_ns ? sooner(due_ns, d->label_until_ns) : due_ns;
}

/* When what has been typed is all there is of a key; 0: nothing has. */
static uint64_t
key_due(const struct tui_film *f)
{
    int ms = tui_keys_wait_ms(&f->keys);
    if (ms < 0)
        return 0;
    return f->key_ns + (uint64_t)ms * MS;
}

/* When there is something to play; what comes before a picture is due waits for it. */
static uint64_t
play_due(struct tui_film *f, uint64_t now_ns)
{
    uint64_t wait_ns = tui_deck_wait_ns(&f->deck, now_ns);
    uint64_t frame_ns = f->picture_ns + FRAME_MS * MS;
    if (wait_ns == UINT64_MAX)
        return 0;
    return now_ns + wait_ns > frame_ns ? now_ns + wait_ns : frame_ns;
}

static int
wait_ms(struct tui_film *f, uint64_t now_ns)
{
    bool is_wanted = f->is_stale || f->deck.is_changed;
    uint64_t due_ns = sooner(key_due(f), play_due(f, now_ns));
    if (is_wanted && tui_screen_is_ready(&f->screen)) /* else it says when it is */
        due_ns = sooner(due_ns, picture_due(f, now_ns));
    due_ns = sooner(due_ns, second_due(f, now_ns));
    due_ns = sooner(due_ns, end_due(f, now_ns));
    if (!due_ns)
        return -1;
    uint64_t ms = due_ns > now_ns ? (due_ns - now_ns + MS - 1) / MS : 0;
    return ms < WAIT_MS ? (int)ms : WAIT_MS;
}

/* -- what -- */

static int
draw(struct tui_film *f, uint64_t now_ns)
{
    AUTO(buf) bytes = { 0 };
    bool is_wanted = f->is_stale || f->deck.is_changed;
    if (!is_wanted || !tui_screen_is_ready(&f->screen) || now_ns < picture_due(f, now_ns))
        return 0;
    tui_film_picture(f, now_ns, &bytes);
    if (bytes.failed)
        return bytes.failed;
    f->is_stale = f->deck.is_changed = false;
    f->held_ns = 0;
    f->picture_ns = now_ns;
    f->shown_s = f->deck.time_ns / 1000000000;
    return tui_screen_show(&f->screen, (struct view){ bytes.p, bytes.n });
}

/* What is shown is not true any more, though nobody did anything. */
static void
look_at_clock(struct tui_film *f, uint64_t then_ns, uint64_t now_ns)
{
    uint64_t end_ns = end_due(f, then_ns);
    bool is_still = tui_deck_is_paused(&f->deck);
    if (end_ns && end_ns <= now_ns)
        f->is_stale = true;
    if (is_still && !f->is_still) { /* by itself, perhaps: at the end */
        f->bar_until_ns = now_ns + TUI_BAR_MS * MS;
        f->is_stale = true;
    }
    f->is_still = is_still;
    if (f->deck.work != TUI_WORK_NONE ||
        (f->deck.time_ns / 1000000000 != f->shown_s && tui_film_has_bar(f, now_ns)))
        f->is_stale = true;
}

static void
end_by(struct tui_film *f, int signo)
{
    f->signo = signo;
    f->is_done = true;
}

static void
handle_signals(struct tui_film *f)
{
    for (int signo; (signo = pty_signals_next());)
        switch (signo) {
        case SIGWINCH:
            tui_screen_resize(&f->screen);
            f->is_stale = true;
            break;
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
            tui_screen_suspend(&f->screen, false);
            f->is_stale = true;
            break;
        case SIGCONT:
            tui_screen_resume(&f->screen);
            f->is_stale = true;
            break;
        default:
            end_by(f, signo);
            return;
        }
}

static int
take_keys(struct tui_film *f, bool has_input)
{
    uint8_t bytes[256];
    struct tui_key key;
    uint64_t now_ns = clock_mono_ns();
    int e = 0;
    if (!has_input) {
        bool is_late = key_due(f) && now_ns >= key_due(f);
        bool is_key = is_late && tui_keys_timeout(&f->keys, &key);
        return is_key ? tui_film_key(f, key, now_ns) : 0;
    }
    ssize_t n = tui_screen_read(&f->screen, bytes, sizeof(bytes));
    if (n < 0) /* the terminal is gone */
        end_by(f, SIGHUP);
    f->key_ns = now_ns;
    struct view in = { bytes, n > 0 ? (size_t)n : 0 };
    while (!e && !f->is_done && tui_keys_next(&f->keys, &in, &key))
        e = tui_film_key(f, key, now_ns);
    return e;
}

/* Is there nobody any more who could see it, or make it go on? */
static void
look_for_end(struct tui_film *f)
{
    bool is_idle = tui_deck_is_paused(&f->deck) && f->deck.work == TUI_WORK_NONE;
    if (f->screen.out.is_gone)
        end_by(f, SIGHUP);
    else if (f->screen.tty.fd < 0 && is_idle)
        f->is_done = true;
}

static int
run(struct tui_film *f)
{
    uint64_t then_ns = clock_mono_ns();
    int e = tui_deck_init(&f->deck, f->opt, then_ns);
    if (f->opt->is_paused && f->screen.tty.fd >= 0)
        tui_deck_pause(&f->deck, true, then_ns);
    while (e >= 0) {
        uint64_t now_ns = clock_mono_ns();
        handle_signals(f);
        look_for_end(f);
        if (f->is_done)
            break;
        int more = tui_deck_run(&f->deck, now_ns);
        look_at_clock(f, then_ns, now_ns);
        then_ns = now_ns;
        e = more < 0 ? more : draw(f, clock_mono_ns());
        if (e >= 0) {
            int ms = more ? 0 : wait_ms(f, clock_mono_ns());
            e = take_keys(f, tui_screen_wait(&f->screen, ms));
        }
    }
    return e;
}

int
tui_replay(const struct tui_replay *opt, struct err *err)
{
    struct tui_film f = { .opt = opt, .is_stale = true };
    int e = tui_screen_open(&f.screen, opt->in_fd, opt->out_fd, err);
    if (e < 0)
        return e;
    e = run(&f);
    tui_screen_close(&f.screen);
    tui_deck_release(&f.deck);
    buf_release(&f.prompt);
    term_widths_release(&f.widths);
    if (e < 0)
        return err_code(err, e, "cannot play the recording");
    return f.signo;
}
