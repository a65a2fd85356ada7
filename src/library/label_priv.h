/* SPDX-License-Identifier: MIT */
/*
 * label_priv.h -- what a row of a piece is of: a terminal's line, an instruction, or a
 * turn, and then by whom, of what type and of which tool.
 *
 * A piece keeps its labels packed, and is found under words of theirs, too: filters then
 * cost no look into pieces that have nothing of the kind. No word of a text is like them,
 * as they begin with a byte that UTF-8 has not. As with texts, such a word only says what
 * a piece may hold.
 */
#ifndef LIBRARY_LABEL_PRIV_H
#define LIBRARY_LABEL_PRIV_H

#include "base/buf.h"
#include "library/search.h"
#include "turn/event.h"

enum label_kind {
    LABEL_LINE,  /* of the terminal */
    LABEL_SHOWN, /* … of a run, whose text a turn has, too */
    LABEL_INSTRUCTION,
    LABEL_TURN,
};

enum {
    LABEL_TOOL_MAX = 255, /* bytes of a tool's name; the rest is cut off */
    LABELS_MAX = 64,      /* of a piece, turns' */
};

struct label {
    enum label_kind kind;
    /* A turn's: */
    enum turn_type type;
    enum turn_role role; /* TURN_NOBODY: nobody's */
    struct view tool;    /* of calls and results; empty: none, or not known */
};

/* Zeroed it is empty. What is not a turn's has its kind as number and is not in it. */
struct labels {
    struct buf packed; /* one behind the other: type, role, size of the tool, the tool */
    unsigned count;
};

void labels_release(struct labels *l);
void labels_clear(struct labels *l);
/* Its number, whether it was there or not; ERR_LIMIT: there are too many. */
int labels_add(struct labels *l, const struct label *label);
/* In the place of what *l had; ERR_DAMAGED for what is none. */
int labels_read(struct labels *l, struct view packed);
/* One more than the highest number. */
unsigned labels_count(const struct labels *l);
/* number: below labels_count(). Borrowed. */
struct label labels_at(const struct labels *l, unsigned number);
/* As much of a tool's name as a label keeps. */
struct view label_tool(struct view name);
/* Are both the same tool, but for the case of ASCII letters? */
bool label_is_tool(struct view a, struct view b);

/* Appends the words of all, and of other kinds by their bits. */
int labels_words(const struct labels *l, unsigned kinds, struct buf *ret);
/* … and those that a piece has which holds what is looked for by such filters. */
int labels_asked(enum library_in in, enum turn_role role, struct view tool,
                 struct buf *ret);

#endif
