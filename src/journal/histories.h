/* SPDX-License-Identifier: MIT */
/*
 * histories.h -- which histories agents keep, and where.
 *
 * Claude Code: $CLAUDE_CONFIG_DIR, ~/.claude and ~/.config/claude, below projects/; what
 * a session's sub-agents say lies in a folder of its name, or beside it. Codex:
 * $CODEX_HOME or ~/.codex, below sessions/ and archived_sessions/. Gemini:
 * $GEMINI_CLI_HOME or ~, below .gemini/tmp/. Entire: .entire/metadata/ of the project
 * around the current folder. No link is followed.
 */
#ifndef JOURNAL_HISTORIES_H
#define JOURNAL_HISTORIES_H

#include <stdbool.h>

#include "base/buf.h"

enum journal_keeper {
    JOURNAL_KEEPER_AUTO, /* whoever it is */
    JOURNAL_KEEPER_CLAUDE,
    JOURNAL_KEEPER_CODEX,
    JOURNAL_KEEPER_GEMINI,
    JOURNAL_KEEPER_ENTIRE,
};

/* "Codex"; of AUTO all that there are. */
const char *journal_keeper_title(enum journal_keeper keeper);

struct journal_history {
    char *path;                 /* absolute, and no part of it is a link */
    enum journal_keeper keeper; /* AUTO: its bytes tell */
    struct buf sides;           /* paths of its sub-agents' files, each with its NUL */
    uint64_t bytes, mtime_ns;   /* of all its files; the latest */
};

/* Zeroed it is ready for use. */
struct journal_histories {
    struct journal_history *list; /* the oldest change first */
    size_t count, cap;
    uint64_t left_out; /* files over a ceiling */
};

void journal_histories_release(struct journal_histories *h);
/* All that lie in the usual places of that agent, or of all. */
int journal_histories_usual(struct journal_histories *h, enum journal_keeper keeper,
                            struct err *err);
/* A file, or all in a folder, whatever the place. ERR_MISSING: there is none. */
int journal_histories_add(struct journal_histories *h, const char *path,
                          enum journal_keeper keeper, struct err *err);
/* To be called when all are added: sub-agents go to their sessions. */
int journal_histories_sort(struct journal_histories *h);

#endif
