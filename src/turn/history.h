/* SPDX-License-Identifier: MIT */
/*
 * history.h -- what an agent keeps of its sessions, line by line, as events.
 *
 * Pure. Claude Code's transcripts (and Entire's, which are the same), Codex's rollouts,
 * Gemini's chats; and the streams that agents print (decoder.h), where they were kept. A
 * session may have several files: number 0 is its own, the others are its sub-agents'.
 * What the lines give does not depend on where the reading was interrupted: all that a
 * later line needs of those before can be saved, and loaded.
 *
 * Such a conversation is a tree: who goes back and asks otherwise begins another branch.
 * Events come in the order of the lines, and TURN_BRANCH tells where one goes on behind
 * an earlier one; the branch that came last is the current one. A link that leads nowhere
 * is told, and costs nothing: the line goes on behind the one before.
 */
#ifndef TURN_HISTORY_H
#define TURN_HISTORY_H

#include "turn/decoder.h"

enum turn_history_trouble {
    TURN_HISTORY_MALFORMED, /* something in the line is no JSON; a TURN_WARNING, too */
    TURN_HISTORY_ORPHAN,    /* the line it goes on behind is not there */
    TURN_HISTORY_ROOT,      /* it goes on behind none, and is not the first */
    TURN_HISTORY_CYCLE,     /* it goes on behind itself */
    TURN_HISTORY_TWICE,     /* its name was there before; word for word: left out */
    TURN_HISTORY_TROUBLES,
};

/* "malformed JSON" */
const char *turn_history_trouble_name(enum turn_history_trouble what);

struct turn_history_options {
    enum turn_agent agent; /* TURN_CLAUDE, TURN_CODEX or TURN_GEMINI */
    uint64_t latest_ns;    /* a stamp behind that is not believed; 0: any is */
    bool is_side_alone;    /* its own file is a sub-agent's, whose session is gone */
    /* How many events of its own the caller has put behind this one, or an error (< 0),
     * which ends the line and is returned. */
    int (*event)(void *ctx, const struct turn_event *e, uint64_t ts_ns);
    void (*trouble)(void *ctx, enum turn_history_trouble what); /* of the line at hand */
    /* Appends a fact as it may be kept; an error: it is not learnt. NULL: as it is. */
    int (*mask)(void *ctx, struct view text, struct buf *ret);
    void *ctx; /* of all */
};

/* What was told so far; the last of each. Stamps never go back; 0: none yet. */
struct turn_history_facts {
    struct buf id, cwd, version, git_branch, model, title;
    uint64_t start_ns, last_ns;
    uint64_t events; /* with those of the caller's */
};

struct turn_history;

int turn_history_new(struct turn_history **ret, const struct turn_history_options *opt);
void turn_history_free(struct turn_history *h);
const struct turn_history_facts *turn_history_facts(const struct turn_history *h);
/* Whose file is it, by some of its first bytes, or all? TURN_AUTO: nobody's that is
 * known. */
enum turn_agent turn_history_guess(struct view beginning);

/* A line without its newline, or a whole document; empty ones are nothing. side: the call
 * in which the agent of this file works; empty: it is the session's own file. */
int turn_history_line(struct turn_history *h, struct view side, struct view line);
/* All lines were told. */
int turn_history_end(struct turn_history *h);
/* It is what an agent has printed (decoder.h), kept in a file. Such a one cannot be gone
 * on with: it is read from its beginning again. */
bool turn_history_is_stream(const struct turn_history *h);
/* Appends the "timestamp" of a line that is whole, or a lower bound; 0: it has none. */
uint64_t turn_history_stamp(struct view line);
/* Is it one whole object? Then it may be taken although no newline is behind it yet. */
bool turn_history_is_whole(struct view line);

/* All that the next line needs, but of a stream. Load into one that is new and of the
 * same agent; ERR_DAMAGED: that is none, or another version's. What could not be loaded
 * is of no more use, but to be freed. */
int turn_history_save(struct turn_history *h, struct buf *out);
int turn_history_load(struct turn_history *h, struct view saved);

#endif
