/* SPDX-License-Identifier: MIT */
/*
 * deck_priv.h -- a player and a clock: what plays, what is looked for, what is paused.
 *
 * Long ways (seeking, searching) are gone in slices by tui_deck_run(), as playing is; any
 * command gives up the one before. While there is nothing to do it looks ahead. No
 * terminal here: the wall clock is told.
 */
#ifndef TUI_DECK_PRIV_H
#define TUI_DECK_PRIV_H

#include "play/clock.h"
#include "play/player.h"
#include "tui/replay.h"

enum tui_work { TUI_WORK_NONE, TUI_WORK_SEEK, TUI_WORK_SEARCH, TUI_WORK_INDEX };

enum { TUI_NOTE_MAX = 120 };

struct tui_deck {
    struct play_player *player;       /* borrowed */
    const struct play_events *events; /* borrowed; may be NULL */
    struct play_clock clock;
    uint64_t to_ns, to_byte; /* pauses there; 0: nowhere */
    const char *end_note;    /* borrowed; NULL: none */
    uint64_t time_ns;        /* where the session is, as was last looked at */
    enum tui_work work;
    uint64_t work_ns;            /* wall clock: since when */
    bool is_indexed;             /* all of it is known: snapshots, keyframes */
    bool is_ahead;               /* … or is being looked at, while nothing else is */
    bool is_back;                /* the snapshot to go to then is the one before */
    uint64_t jump_byte, jump_ns; /* the snapshot that was last gone to, and when */
    uint64_t label_byte,
        label_until_ns; /* one that was played over is told for a while */
    struct buf needle;
    bool is_changed; /* the picture; taken back by who draws it */
    char note[TUI_NOTE_MAX];
    uint64_t note_until_ns; /* wall clock; 0: there is none */
};

/* Goes to where it is to begin. 0 or an error. */
int tui_deck_init(struct tui_deck *d, const struct tui_replay *opt, uint64_t wall_ns);
void tui_deck_release(struct tui_deck *d);
/* Plays what is due, or works for some ms. 1: there is more to do at once, 0: there is
 * not, or an error. */
int tui_deck_run(struct tui_deck *d, uint64_t wall_ns);
/* How long there is nothing to play: wall ns; UINT64_MAX: for ever. */
uint64_t tui_deck_wait_ns(struct tui_deck *d, uint64_t wall_ns);
/* What is being done, for a person; NULL: nothing. */
const char *tui_deck_work(const struct tui_deck *d);
bool tui_deck_is_paused(const struct tui_deck *d);

/* -- what a user asks for: 0 or an error -- */

/* Plays or pauses; from the end it begins again. */
int tui_deck_toggle(struct tui_deck *d, uint64_t wall_ns);
void tui_deck_pause(struct tui_deck *d, bool is_paused, uint64_t wall_ns);
/* The next whole picture, and a pause. */
int tui_deck_step(struct tui_deck *d, uint64_t wall_ns);
int tui_deck_seek(struct tui_deck *d, uint64_t time_ns, uint64_t wall_ns);
int tui_deck_seek_by(struct tui_deck *d, int64_t ns, uint64_t wall_ns);
/* The snapshot before or after this place. */
int tui_deck_snapshot(struct tui_deck *d, bool is_back, uint64_t wall_ns);
/* A text; an empty one is the one before. */
int tui_deck_search(struct tui_deck *d, struct view text, bool is_back, uint64_t wall_ns);
/* The next speed of those that there are. */
void tui_deck_speed(struct tui_deck *d, bool is_faster, uint64_t wall_ns);
/* What is being done is given up. */
void tui_deck_stop(struct tui_deck *d, uint64_t wall_ns);
void tui_deck_note(struct tui_deck *d, const char *text, uint64_t wall_ns);

/* The snapshot at this very place, or just played over; false: there is none. Its text is
 * borrowed. */
bool tui_deck_label(const struct tui_deck *d, uint64_t wall_ns, struct view *ret);

#endif
