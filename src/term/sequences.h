/* SPDX-License-Identifier: MIT */
/* sequences.h -- the tables of known sequences, for those who list them. */
#ifndef TERM_SEQUENCES_H
#define TERM_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

struct term;
struct term_op;

typedef void (*term_handler)(struct term *t, const struct term_op *op);

struct term_sequence {
    uint8_t marker, intermediate, final;
    term_handler run;
    const char *name; /* "" when it has none */
    const char *what;
};

enum term_sequence_kind {
    TERM_SEQUENCE_CONTROL,
    TERM_SEQUENCE_ESCAPE,
    TERM_SEQUENCE_CSI,
};

/* NULL behind the last one. */
const struct term_sequence *term_sequence_at(enum term_sequence_kind kind, unsigned i);
const char *term_mode_name(unsigned i, unsigned *ret_number, bool *ret_is_private);
const char *term_osc_name(unsigned i, unsigned *ret_number);

#endif
