/* SPDX-License-Identifier: MIT */
/* record_priv.h -- the state of a record and of its notes. */
#ifndef WIRE_RECORD_PRIV_H
#define WIRE_RECORD_PRIV_H

#include "calls/answer.h"
#include "calls/bases.h"
#include "calls/mask.h"
#include "calls/read.h"
#include "calls/split.h"
#include "calls/talk.h"
#include "calls/veil.h"
#include "session/lines.h"
#include "wire/control.h"
#include "wire/record.h"
#include "wire/unpack.h"

enum {
    RECORD_ASKED = 1024,     /* as many as may ask at the same time */
    RECORD_PIECE = 64 << 10, /* of a body that is written piece by piece */
    RECORD_KEPT = 4 << 20,   /* bytes of scratch */
};

/* A request of late, by the hash of its body. */
struct record_asked {
    uint64_t hash, call;
    bool has_failed;
};

struct wire_record {
    struct wire_record_options opt;
    struct session_lines wire, turns;
    uint64_t wire_lost, turns_lost; /* lines */
    bool has_told;                  /* trouble with the disk */
    struct calls_bases *bases;
    struct calls_talk *talk;
    struct turn_totals totals;
    struct buf model, agent;
    uint64_t calls;    /* the highest number */
    uint64_t turns_ns; /* the latest stamp among the turns */
    struct record_asked asked[RECORD_ASKED];
    size_t asked_at;
    struct wire_note *first;
    /* What is to be written together. */
    struct buf wire_batch, turns_batch;
    struct buf masked, ops; /* scratch */
};

struct wire_note {
    struct wire_record *record;
    struct wire_note *next, *before;
    uint64_t number;
    struct calls_mask mask;
    enum turn_api api;
    bool has_turns;

    /* note.c: the request */
    struct calls_line head;
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct buf texts; /* of the head, masked */
    bool has_body, is_head_written;
    struct record_asked *asked; /* NULL: its body is not known */
    uint64_t talk_asked;        /* as the conversation knows it */
    struct calls_mask_stream sent;
    struct buf sent_piece;
    uint64_t sent_bytes, sent_pieces;
    bool is_sending; /* its last piece is not there yet */

    /* note_reply.c */
    uint64_t reply_ns, token_ns, ends_ns; /* 0: not yet */
    unsigned status;
    bool has_reply, is_stream, is_packed;
    bool has_ended; /* the body */
    struct wire_unpack *unpack;
    struct calls_split split;
    struct calls_veil *veil;
    struct calls_answer *answer;
    struct calls_mask_stream got;
    struct buf piece;
    uint64_t body_bytes;     /* decoded */
    uint64_t pieces, events; /* that are written */
    uint64_t event_ns, event_anchor;
    const char *damage; /* NULL: none */
};

/* -- record.c -- */

uint64_t record_now_ns(const struct wire_record *r);
/* The place on the terminal, exactly; or as it is known. */
uint64_t record_anchor(struct wire_record *r);
uint64_t record_late_anchor(struct wire_record *r);
/* Appended to what is written next. */
void record_put(struct wire_record *r, const struct calls_line *l);
/* Of a call's conversation, masked; written behind the lines of the call. */
void record_tell(struct wire_note *n, const struct turn_event *e, uint64_t ts_ns,
                 uint64_t anchor_byte);
/* Who asks, or NULL; the first that is known stays. */
void record_learn_agent(struct wire_record *r, const char *agent);
/* All of it goes to the files. */
void record_write(struct wire_record *r);
void record_say(struct wire_record *r, const char *text);

/* -- note.c -- */

/* Who asks the same again tries again. */
void note_failed(struct wire_note *n);
/* A piece of a body: what is ready of it, up to the end of a character. Returns how much
 * that is; buf_drop() then takes it away. */
size_t note_put_piece(struct wire_note *n, const struct calls_line *as, struct buf *ready,
                      bool is_last);

/* -- note_reply.c -- */

void note_release_reply(struct wire_note *n);
/* The end of what was replied, told: error may be empty. */
void note_conclude(struct wire_note *n, struct view error);

#endif
