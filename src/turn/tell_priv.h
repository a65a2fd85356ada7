/* SPDX-License-Identifier: MIT */
/* tell_priv.h -- what the decoders of formats do all the time. */
#ifndef TURN_TELL_PRIV_H
#define TURN_TELL_PRIV_H

#include "turn/fields.h"
#include "turn/format_priv.h"

static inline struct view
turn_view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* Hands the event over, unless a text of it did not fit into the memory. */
int turn_tell(struct turn_state *s, const struct turn_sink *to,
              const struct turn_event *e);
/* What an event that is not known is called: "type", or "type/kind"; never
 * nothing, or it would be lost. Uses s->text[3]. */
int turn_other(struct turn_state *s, struct view type, struct view kind,
               struct view *ret_other);
/* Does the text of a view say so? */
bool turn_says(struct view text, const char *word);
/* -- usage -- */

/* Of each value the larger that is known. Is there news in it? */
bool turn_usage_raise(struct turn_usage *u, struct turn_usage told);
/* Where an input counts those of the cache too. */
void turn_take_off(uint64_t *tokens, uint64_t of_cache);

/* "malformed JSON: …", with the beginning of the line, into out, which is cleared first;
 * lost: so many bytes behind it were not kept. */
int turn_malformed(struct view text, size_t lost, struct buf *out);

void turn_state_init(struct turn_state *s);
void turn_state_release(struct turn_state *s);
/* Nothing follows: what was said in pieces and never whole. */
int turn_state_end(struct turn_state *s, const struct turn_sink *to);

/* -- tool calls that are open, in s->calls -- */

/* Too many of them: the older ones are forgotten, and a result may tell its call again.
 */
int turn_call_open(struct turn_state *s, struct view id, struct view name);
/* Closes it. Its name is appended to `name` (may be NULL). False: it was not open. */
bool turn_call_close(struct turn_state *s, struct view id, struct buf *name);
/* Of s->calls that came from elsewhere: may they be looked at? */
bool turn_calls_are_sound(const struct turn_state *s);

#endif
