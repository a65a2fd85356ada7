/* SPDX-License-Identifier: MIT */
/*
 * history_tree_priv.h -- which line goes on behind which.
 *
 * Pure. Each line is added once, in the order of the file, and says behind which it goes
 * on. Real files are no clean trees: results of calls that were made together go on
 * behind their own call, notes hang on whatever was last. Only what leaves something said
 * behind (a prompt, another message) is a branch.
 */
#ifndef TURN_HISTORY_TREE_PRIV_H
#define TURN_HISTORY_TREE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum turn_tree_kind {
    TURN_TREE_NOTE,   /* what is not said by anybody */
    TURN_TREE_PROMPT, /* the user's */
    TURN_TREE_RESULT, /* of a tool */
    TURN_TREE_SAYS,   /* the assistant's */
};

struct turn_history_tree {
    struct buf nodes; /* of history_tree.c */
    uint32_t *slots;  /* where a key's node is; 0: none */
    size_t slot_count;
    uint32_t tip;   /* the last that was said, from 1; 0: none */
    uint32_t last;  /* the last that was added */
    uint64_t steps; /* that were gone up */
};

struct turn_tree_line {
    uint64_t key;    /* 0: it has none, and is in no tree */
    uint64_t parent; /* 0: none */
    uint64_t line;   /* a hash of all of it */
    uint64_t said;   /* … of its message's id, of TURN_TREE_SAYS */
    enum turn_tree_kind kind;
};

struct turn_tree_place {
    bool is_twice, is_root, is_orphan, is_cycle;
    bool is_same; /* is_twice, word for word: it was not added */
    bool is_branch;
    uint64_t from; /* of a branch: behind that event */
};

void turn_tree_release(struct turn_history_tree *t);
/* Of several with one key the last counts. Past a ceiling of lines, and of work, all go
 * on behind the one before. */
int turn_tree_add(struct turn_history_tree *t, const struct turn_tree_line *l,
                  struct turn_tree_place *ret);
/* Has a line with that key been added? */
bool turn_tree_has(struct turn_history_tree *t, uint64_t key);
/* The line that was added last has been told: so many events there are now. */
void turn_tree_done(struct turn_history_tree *t, uint64_t events);

/* A tree may be no more than places: that key's is behind so many events, which were told
 * when it was named first. */
int turn_tree_mark(struct turn_history_tree *t, uint64_t key, uint64_t events);
bool turn_tree_marked(struct turn_history_tree *t, uint64_t key, uint64_t *ret_events);

/* As parts (base/parts.h). Loaded: whatever they are; from a conversation that has so
 * many events. */
int turn_tree_save(const struct turn_history_tree *t, struct buf *out);
int turn_tree_load(struct turn_history_tree *t, struct view *saved, uint64_t events);

#endif
