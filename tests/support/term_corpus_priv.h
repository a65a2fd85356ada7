/* SPDX-License-Identifier: MIT */
/* term_corpus_priv.h -- what the pieces of all corpora are made of. */
#ifndef TERM_CORPUS_PRIV_H
#define TERM_CORPUS_PRIV_H

#include "base/buf.h"

struct corpus_gen {
    struct buf *out;
    uint32_t seed;
    unsigned tick; /* pieces so far */
};

#define CORPUS_PICK(g, table) \
    ((table)[corpus_below(g, sizeof(table) / sizeof((table)[0]))])

/* 0 … n-1; first … last */
uint32_t corpus_below(struct corpus_gen *g, size_t n);
unsigned corpus_between(struct corpus_gen *g, unsigned first, unsigned last);
const char *corpus_word(struct corpus_gen *g);
/* A colour, 0xrrggbb, of those that highlighters and agents use. */
uint32_t corpus_theme(struct corpus_gen *g);

/* Some words and numbers at once: in the arguments of a call their order would be the
 * compiler's. */
struct corpus_draw {
    const char *w[6];
    uint32_t n[3];
};

struct corpus_draw corpus_draw(struct corpus_gen *g);

void corpus_repeat(struct corpus_gen *g, const char *s, unsigned times);
/* n words, a comma at times. */
void corpus_sentence(struct corpus_gen *g, unsigned n);
/* CSI 38 or 48 ; 2 ; r ; g ; b m */
void corpus_rgb(struct corpus_gen *g, unsigned which, uint32_t colour);

/* The next piece of each. */
void corpus_agent(struct corpus_gen *g);
void corpus_editor(struct corpus_gen *g);

#endif
