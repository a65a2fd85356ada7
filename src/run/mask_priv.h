/* SPDX-License-Identifier: MIT */
/*
 * mask_priv.h -- events and lines without the secrets in them.
 *
 * Whole texts are masked by themselves. Lines that come one by one are masked as the one
 * text that they are: what may be a secret that goes on in the next line is held back.
 */
#ifndef RUN_MASK_PRIV_H
#define RUN_MASK_PRIV_H

#include "redact/redact.h"
#include "turn/event.h"

enum {
    RUN_TEXT_MAX = 160 << 20, /* of a text with its masks */
    RUN_LINE_MAX = 1 << 20,   /* a longer line is cut */
};

/* A short text and what it is masked; most are the same from event to event. */
struct run_word {
    struct buf given, masked;
};

struct run_mask {
    struct redact *redact; /* borrowed */
    struct buf text, json;
    struct run_word id, message, parent, name, model, cwd;
};

void run_mask_release(struct run_mask *m);
/* A copy with masked texts; borrowed until the next call. What cannot be masked is not
 * told. */
struct turn_event run_mask_event(struct run_mask *m, const struct turn_event *e);
/* A whole text, appended. */
void run_mask_text(struct redact *redact, struct view text, struct buf *out);

/* -- lines of one text -- */

struct run_lines {
    struct redact_stream *stream;
    struct buf line;  /* masked: what there is of a line that is not whole yet */
    size_t told;      /* so much of it was handed out as a piece */
    uint64_t held_ns; /* since when there is something in it; 0: nothing */
};

/* A whole line, without its newline; its first `told` bytes were handed out already. */
typedef void (*run_line_fn)(void *ctx, struct view line, size_t told);

int run_lines_init(struct run_lines *l, struct redact *redact);
void run_lines_release(struct run_lines *l);
void run_lines_feed(struct run_lines *l, struct view bytes, run_line_fn fn, void *ctx);
/* What there is of a line and was not handed out yet; it counts as handed out. */
struct view run_lines_piece(struct run_lines *l);
/* The same as a whole line, if there is anything of one. */
void run_lines_cut(struct run_lines *l, run_line_fn fn, void *ctx);
/* The end: what is held is decided. */
void run_lines_end(struct run_lines *l, run_line_fn fn, void *ctx);

#endif
