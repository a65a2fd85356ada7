/* SPDX-License-Identifier: MIT */
/* diff.h -- two sessions that are compared: found and read, and the ways to print that.
 */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "cli/command.h"
#include "cli/output.h"
#include "library/find.h"
#include "play/compare.h"
#include "session/meta.h"
#include "term/text.h"

enum cli_diff_what {
    CLI_DIFF_TURNS,
    CLI_DIFF_TOOLS,
    CLI_DIFF_FILES,
    CLI_DIFF_TERMINAL,
};

struct cli_diff_side {
    const char *called; /* as the user gave it; borrowed */
    struct library_found found;
    struct session_told told;
    struct buf id;    /* empty: a plain file without one */
    struct buf name;  /* may be empty */
    struct buf label; /* the name, or the id as far as will do, or the path */
    struct play_side turns, lines;
    bool has_turns;
    bool is_damaged; /* told on stderr */
};

/* Zeroed but for self, redact and what is asked for it is ready for use. */
struct cli_diff {
    const struct cli_command *self;
    struct redact *redact; /* NULL: nothing is masked */
    int what;              /* enum cli_diff_what; -1: turns, where both have some */
    struct cli_diff_side sides[2];
    struct play_edits edits; /* of the turns, or of the lines */
    struct cli_output out;
    struct buf text; /* what is not written yet */
    unsigned cols;   /* of the terminal; 0: there is none */
    bool has_colours;
    struct term_widths widths;
};

enum { CLI_DIFF_CONTEXT = 3 }; /* turns that are the same around what is not */

void cli_diff_release(struct cli_diff *d);
/* Finds and reads both, and chooses what is compared. */
int cli_diff_load(struct cli_diff *d, const char *a, const char *b, struct err *err);

/* What is compared: turns, or lines. */
const struct play_side *cli_diff_compared(const struct cli_diff *d, size_t which);
/* "turn" or "line" */
const char *cli_diff_thing(const struct cli_diff *d);
/* Passes edits: how many turns of each side there are. */
void cli_diff_pass(const struct cli_diff *d, size_t from, size_t to, size_t count[2]);
/* "events 12-20, 12-18": where `ahr export --turn` has the turns of both sides, so many
 * behind so many; nothing of lines. */
void cli_diff_events(const struct cli_diff *d, const size_t before[2], const size_t n[2],
                     struct buf *out);
/* UINT64_MAX: not known. */
uint64_t cli_diff_duration_ns(const struct cli_diff_side *s);
struct session_usage cli_diff_usage(const struct cli_diff_side *s);

/* Writes what there is; unless it is the end only when that is much. */
int cli_diff_flush(struct cli_diff *d, bool is_end);
/* One of several, separated by commas: "3 changed". used: columns of the line that is
 * taken, at first 0; where the terminal has no more the next line is begun. */
void cli_diff_listed(struct cli_diff *d, size_t n, const char *what, unsigned *used);
/* A sequence, where there are colours; "": back to none. */
void cli_diff_colour(struct cli_diff *d, const char *sgr);

/* Both sessions, their totals, where they part. */
int cli_diff_head(struct cli_diff *d, struct err *err);
/* The edits. An error of a write is in d->out. */
int cli_diff_unified(struct cli_diff *d);
/* … in two columns; there must be room for them. */
int cli_diff_columns(struct cli_diff *d);
bool cli_diff_has_room(const struct cli_diff *d);
/* Tables of calls and of files; *ret_is_same: there is no difference. */
int cli_diff_calls(struct cli_diff *d, bool *ret_is_same, struct err *err);
int cli_diff_files(struct cli_diff *d, bool *ret_is_same, struct err *err);
/* "created"; "" for none. */
const char *cli_diff_change_word(enum play_file_change change);
/* All of it as an object. */
int cli_diff_json(struct cli_diff *d, bool *ret_is_same);

#endif
