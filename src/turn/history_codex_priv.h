/* SPDX-License-Identifier: MIT */
/* history_codex_priv.h -- the lines of Codex's rollouts, and what their readers share. */
#ifndef TURN_HISTORY_CODEX_PRIV_H
#define TURN_HISTORY_CODEX_PRIV_H

#include "turn/history_priv.h"

struct codex_line {
    struct view type, timestamp, payload, object;
    struct view kind, turn_id, call_id; /* of the payload */
};

/* Who tells a text: what one has told, the other tells once more. */
enum codex_source { FROM_MODEL = 2, FROM_EVENTS = 3 };

/* One of these words, which end with NULL? */
bool codex_is_word(struct view raw, const char *const *words);

/* -- texts -- */

/* The texts of a message's parts, each on lines of its own; is_sent: what was sent for
 * the user, without what a program has put around images. */
int codex_join_texts(struct view content, bool is_sent, struct buf *out);
int codex_tell_text(struct turn_history *h, enum turn_type type, bool is_user,
                    struct view text, struct view raw_id, enum codex_source source);
/* Each part for itself: the events tell them so. */
int codex_think(struct turn_history *h, struct view parts, struct view id,
                enum codex_source source);

/* -- history_codex_calls.c: payloads, and the item of an event -- */

int codex_call(struct turn_history *h, struct view payload);
int codex_result(struct turn_history *h, struct view payload);
int codex_item(struct turn_history *h, const struct codex_line *l, struct view object);

/* -- history_codex_usage.c -- */

/* Of every line: which turn it is, which call. */
void codex_note_place(struct turn_history *h, const struct codex_line *l);
/* A thread that is named at the top; is_fork: it goes on from another. */
void codex_note_thread(struct turn_history *h, struct view id, bool is_fork);
/* One answer of the model's, by its id. */
int codex_record(struct turn_history *h, struct view payload);
/* What the thread has used so far. */
int codex_count(struct turn_history *h, const struct codex_line *l);

#endif
