/* SPDX-License-Identifier: MIT */
/*
 * parser.h -- bytes to operations: the DEC ANSI state machine after Paul Williams, with
 * UTF-8.
 *
 * The parser knows no screen. It may be given its input in any pieces: the operations
 * are the same, but for the runs of text, which end where a piece ends.
 */
#ifndef TERM_PARSER_H
#define TERM_PARSER_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/scan.h"

enum {
    TERM_PARAMS_MAX = 32,      /* what is beyond is ignored */
    TERM_PARAM_MAX = 99999999, /* larger ones become this */
    TERM_RUNES_MAX = 128,
    TERM_MANY_INTERMEDIATES = 255, /* no sequence has more than one */
    TERM_REPLACEMENT = 0xfffd,
};

enum term_op_kind {
    TERM_OP_ASCII,   /* text: n bytes from 0x20 to 0x7e */
    TERM_OP_RUNES,   /* runes: n code points from U+0080 on; each was valid UTF-8, or it
                        is the only one here and U+FFFD */
    TERM_OP_EXECUTE, /* final: a C0 control; n: how many, of LF, else 1 */
    TERM_OP_ESC,     /* intermediate, final */
    TERM_OP_CSI,     /* marker, intermediate, final, params */
    TERM_OP_OSC,     /* string; final: what ended it (BEL, or backslash for ST) */
    TERM_OP_DCS,     /* as CSI, and string */
};

struct term_op {
    enum term_op_kind kind;
    int64_t beyond;       /* of runes: how far *pos stands beyond their final byte; -1:
                             before it */
    uint8_t marker;       /* '<' '=' '>' '?', or 0 */
    uint8_t intermediate; /* 0x20..0x2f, 0, or TERM_MANY_INTERMEDIATES */
    uint8_t final;
    unsigned n_params;
    uint32_t sub_params;    /* bit i: params[i] followed a colon */
    const uint32_t *params; /* left out ones are 0 */
    const uint8_t *text;
    const uint32_t *runes;
    size_t n;
    struct view string;
};

enum term_state {
    TERM_STATE_GROUND,
    TERM_STATE_RUNE, /* in a character; its first bytes have come */
    TERM_STATE_ESCAPE,
    TERM_STATE_ESCAPE_INTERMEDIATE,
    TERM_STATE_CSI_ENTRY,
    TERM_STATE_CSI_PARAM,
    TERM_STATE_CSI_INTERMEDIATE,
    TERM_STATE_CSI_IGNORE,
    TERM_STATE_DCS_ENTRY,
    TERM_STATE_DCS_PARAM,
    TERM_STATE_DCS_INTERMEDIATE,
    TERM_STATE_STRING,        /* OSC, or the data of a DCS */
    TERM_STATE_STRING_ESCAPE, /* an ESC in it: is it ST? */
    TERM_STATE_SKIP,          /* SOS, PM, APC, a bad DCS: to ST, unheeded */
    TERM_STATES,
};

/* Zeroed it is ready for use; release it. */
struct term_parser {
    uint8_t state; /* enum term_state */
    uint8_t marker, intermediate, final;
    bool is_osc; /* what TERM_STATE_STRING collects */
    bool is_too_long;
    uint8_t n_params;
    uint32_t sub_params;
    uint32_t params[TERM_PARAMS_MAX];
    uint32_t rune;            /* the part of a character that has come */
    uint8_t rune_need;        /* bytes still to come */
    uint8_t rune_lo, rune_hi; /* within these the next one must be */
    struct buf string;
    uint32_t runes[TERM_RUNES_MAX];
};

void term_parser_release(struct term_parser *p);

/* ESC, DEL and what is not ASCII. */
extern const uint8_t term_parser_is_special[256];

/* The same as below, where it is not as simple as text or a control. */
bool term_parser_next_slow(struct term_parser *p, struct view in, size_t *pos,
                           struct term_op *op);

/* The next operation in in[*pos..]; *pos then stands behind its final byte. False: no
 * more, *pos is at the end. What it points to is borrowed until the next call. */
static inline bool
term_parser_next(struct term_parser *p, struct view in, size_t *pos, struct term_op *op)
{
    size_t i = *pos;
    if (i >= in.n)
        return false;
    uint8_t b = in.p[i];
    if (p->state | term_parser_is_special[b])
        return term_parser_next_slow(p, in, pos, op);
    if (b >= 0x20) {
        op->kind = TERM_OP_ASCII;
        op->text = in.p + i;
        op->n = term_scan_printable(in.p + i, in.n - i);
    } else {
        op->kind = TERM_OP_EXECUTE;
        op->final = b;
        op->n = 1;
        while (b == '\n' && i + op->n < in.n && in.p[i + op->n] == '\n')
            op->n++;
    }
    *pos = i + op->n;
    return true;
}

#endif
