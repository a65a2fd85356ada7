/* SPDX-License-Identifier: MIT */
/*
 * mask_priv.h -- secrets out of a document.
 *
 * Lines are masked as one text, so that a secret is found where a line's end lies inside
 * of it: between wrapped lines there is nothing, between others a line end. Stars take
 * the columns of what they hide; nothing else of a line changes.
 */
#ifndef PLAY_MASK_PRIV_H
#define PLAY_MASK_PRIV_H

#include "redact/redact.h"
#include "term/term.h"

struct play_mask;

/* The rules are borrowed. */
int play_mask_new(struct play_mask **ret, struct redact *redact);
void play_mask_free(struct play_mask *m);
/* Appends a text that stands for itself: a label, an instruction, a link. */
int play_mask_text(struct play_mask *m, struct view text, struct buf *out);
/* As term_final_lines(). Without has_spans lines come without their looks. Links are good
 * until fn returns, with keeps_links as long as m is. */
int play_mask_lines(struct play_mask *m, const struct term *t, bool has_spans,
                    bool keeps_links, term_line_fn fn, void *ctx);

#endif
