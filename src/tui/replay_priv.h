/* SPDX-License-Identifier: MIT */
/* replay_priv.h -- what the files of the player on a terminal share. */
#ifndef TUI_REPLAY_PRIV_H
#define TUI_REPLAY_PRIV_H

#include "tui/deck_priv.h"
#include "tui/keys_priv.h"
#include "tui/replay.h"
#include "tui/screen_priv.h"
#include "tui/stage_priv.h"

enum {
    TUI_PROMPT_MAX = 1024, /* bytes of a text that is searched */
    TUI_TELL_MS = 150,     /* work that takes less is not told: it would flicker */
    TUI_BAR_MS = 3000,     /* then what it covers is to be seen again */
};

struct tui_film {
    const struct tui_replay *opt; /* borrowed */
    struct tui_screen screen;
    struct tui_deck deck;
    struct tui_stage stage;
    struct tui_keys keys;
    struct term_widths widths;
    bool is_asking;  /* for a text to search … */
    bool was_paused; /* … and was paused before */
    struct buf prompt;
    bool has_help;         /* is shown */
    uint64_t key_ns;       /* when the last bytes were typed; wall clock */
    uint64_t bar_until_ns; /* how long the status line stays after a key, or a pause */
    bool is_still;         /* it was paused when that was last looked at */
    uint64_t picture_ns;   /* of the last picture */
    uint64_t shown_s;      /* the second that it told */
    uint64_t held_ns;      /* since when a picture waits for the end of an update; 0 */
    bool is_stale;         /* what is shown is not what is to be shown */
    bool is_done;
    int signo; /* that ended it; 0: none */
};

/* A key was typed. 0 or an error. */
int tui_film_key(struct tui_film *f, struct tui_key key, uint64_t wall_ns);
/* Appends the picture as it is to be. */
void tui_film_picture(struct tui_film *f, uint64_t wall_ns, struct buf *out);
/* Is the status line to be seen? */
bool tui_film_has_bar(const struct tui_film *f, uint64_t wall_ns);
/* The lines of the help, NULL behind the last. */
const char *const *tui_film_help(void);

#endif
