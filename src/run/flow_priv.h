/* SPDX-License-Identifier: MIT */
/*
 * flow_priv.h -- what becomes of all that a command says: events, masked, written, shown.
 *
 * What comes in one go is written together, in the order session.turns.jsonl, io.log,
 * iteration log, tape, and shown after that (run_flow_settle). Pieces of a message are
 * gathered for flush_ms; another event ends the line that they have opened.
 */
#ifndef RUN_FLOW_PRIV_H
#define RUN_FLOW_PRIV_H

#include "pty/output.h"
#include "run/keep_priv.h"
#include "run/mask_priv.h"
#include "run/replay_priv.h"
#include "turn/clean.h"
#include "turn/decoder.h"

/* A message that is being said in pieces. */
struct run_message {
    bool is_open;
    enum turn_type type;
    struct buf id;
    struct buf said;   /* as it came */
    struct buf shown;  /* the same, masked; what may be a secret is not in it yet */
    size_t told;       /* bytes of `shown` that are written and shown */
    uint64_t since_ns; /* the others wait since then */
    struct redact_stream *stream;
};

struct run_flow {
    const struct run_options *opt;
    struct run_keep *keep;
    struct pty_output *out;               /* NULL: nothing is shown */
    struct turn_decoder *decoder, *asked; /* of the output; of what goes in */
    struct run_mask mask;
    struct run_lines plain, err, in; /* text without a format; stderr; input */
    struct buf gathered; /* lines of text that are not masked yet, within a call */
    size_t plain_fed;    /* bytes of a line of text that came as a piece already */
    struct run_message message;
    struct turn_clean clean; /* of the pieces that are shown */
    bool is_line_open;       /* what was shown last has no newline yet */
    bool is_until;           /* the text that ends all has come */
    bool is_ending;          /* what comes now has no newline behind it */
    bool is_mute;            /* what comes now is not shown */
    bool is_input_open;      /* what goes in now has more to come behind it */
    uint64_t iteration, events;
    struct run_replay *replay; /* told what the command says; NULL: nobody is */
    uint64_t heard_ns;         /* when something last came; 0: and it was a whole line */
    struct run_batch batch;
    struct buf screen;            /* what is shown when that is written */
    struct buf plainly, coloured; /* scratch */
};

int run_flow_init(struct run_flow *f, struct run_keep *k, struct pty_output *out,
                  struct err *err);
void run_flow_release(struct run_flow *f);
/* What the command printed. */
void run_flow_out(struct run_flow *f, struct view bytes);
void run_flow_err(struct run_flow *f, struct view bytes);
/* What it is sent. is_whole: all of it is one text. */
void run_flow_input(struct run_flow *f, struct view message, bool is_whole);
/* One of ours; not masked yet. */
void run_flow_event(struct run_flow *f, const struct turn_event *e);
/* The command has ended: what is held is decided and told. */
void run_flow_end(struct run_flow *f);
/* All of it is written, then shown. */
void run_flow_settle(struct run_flow *f);
/* Memory that a big event has left behind is given back. */
void run_flow_trim(struct run_flow *f);
/* What has waited for flush_ms; and in how many ms that is due. */
void run_flow_tick(struct run_flow *f);
uint64_t run_flow_due_ms(const struct run_flow *f);

/* -- tell.c: an event that is masked, into the batch -- */

void run_tell(struct run_flow *f, const struct turn_event *e);
/* The same; of its text only the rest is not shown yet. */
void run_tell_rest(struct run_flow *f, const struct turn_event *e, struct view rest);
/* A line of text, also an empty one; its first `told` bytes are shown already. */
void run_tell_line(struct run_flow *f, const struct turn_event *e, size_t told);
/* A piece of a message. */
void run_tell_piece(struct run_flow *f, enum turn_type type, struct view piece,
                    bool is_first);
/* What goes in, and is a turn of the user's: kept, and not shown. Whoever has sent it
 * knows it, and what is shown is what the command says, no more. */
void run_tell_input(struct run_flow *f, struct view text);
/* Ends the line that a piece has opened. */
void run_tell_line_end(struct run_flow *f);

/* -- message.c -- */

void run_message_release(struct run_message *m);
/* A piece of one, as it came. */
void run_message_piece(struct run_flow *f, const struct turn_event *e);
/* Is this the whole of what came in pieces? Then it is told. */
bool run_message_whole(struct run_flow *f, const struct turn_event *e);
/* Pieces that wait are told now. */
void run_message_commit(struct run_flow *f);

#endif
