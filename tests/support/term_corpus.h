/* SPDX-License-Identifier: MIT */
/*
 * term_corpus.h -- bytes like those that programs write to a terminal of 120x40, made up
 * from a seed: the same bytes for the same seed, everywhere.
 */
#ifndef TERM_CORPUS_H
#define TERM_CORPUS_H

#include "base/buf.h"

enum term_corpus_kind {
    TERM_CORPUS_BUILD_LOG, /* compiler, linker, tests; a coloured warning at times */
    TERM_CORPUS_AGENT,     /* redraws with cursor-up, erase, truecolor, 2026; prose */
    TERM_CORPUS_EDITOR,    /* alternate screen, 256 colours, partial redraws */
    TERM_CORPUS_SGR,       /* short words, each in a style of its own */
    TERM_CORPUS_CJK,       /* East Asian prose, emoji, combining marks */
    TERM_CORPUS_SCROLL_REGIONS, /* LF, RI, IL, DL, SU, SD within margins, little text */
    TERM_CORPUS_TRUECOLOR,      /* some 80 columns a line in 8 to 12 runs of colour */
    TERM_CORPORA,
};

enum { TERM_CORPUS_COLS = 120, TERM_CORPUS_ROWS = 40 };

const char *term_corpus_name(enum term_corpus_kind kind);
/* The kind of that name, TERM_CORPORA when there is none. */
enum term_corpus_kind term_corpus_find(const char *name);
/* Appends n bytes or a little more, ending between two operations. */
void term_corpus(struct buf *out, enum term_corpus_kind kind, size_t n, uint32_t seed);

#endif
