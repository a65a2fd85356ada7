/* SPDX-License-Identifier: MIT */
/*
 * replay.h -- a recording played on the user's terminal, with keys.
 *
 * Only cells and the cursor of the recorded screen are drawn, through term's diff:
 * nothing of the recording's bytes reaches the terminal, no title, no bell, no modes.
 * Whatever ends it, the terminal is then as it was before.
 */
#ifndef TUI_REPLAY_H
#define TUI_REPLAY_H

#include "play/clock.h"
#include "play/player.h"

struct tui_replay {
    struct play_player *player;       /* borrowed; its place is where it was left */
    const struct play_events *events; /* borrowed, sorted; more for [ and ]; or NULL */
    const char *title;                /* NULL: none */
    uint32_t speed;                   /* thousandths, as in play/clock.h; 0: 1000 */
    uint64_t idle_limit_ns;           /* 0: none */
    uint64_t from_ns, from_byte;      /* begins there; both 0: at the start */
    uint64_t to_ns, to_byte;          /* pauses there; both 0: at the end */
    bool is_paused;                   /* at first; where there are keys to go on */
    bool has_colours;                 /* else attributes alone */
    const char *end_note;             /* told at the end; NULL: nothing */
    int in_fd;  /* keys; where it is no terminal, /dev/tty is asked for them */
    int out_fd; /* a terminal */
};

/* Plays until the user leaves. 0; the number of the signal that ended it; or an error,
 * told after the terminal was put back. Signals stay blocked: it is for programs that
 * have little to do afterwards. */
int tui_replay(const struct tui_replay *opt, struct err *err);

#endif
