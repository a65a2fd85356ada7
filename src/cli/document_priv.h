/* SPDX-License-Identifier: MIT */
/* document_priv.h -- a document while it is made, for the files that make it. */
#ifndef CLI_DOCUMENT_PRIV_H
#define CLI_DOCUMENT_PRIV_H

#include "cli/document.h"
#include "cli/losses.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "library/find.h"
#include "play/turns.h"
#include "session/meta.h"

struct document {
    const struct cli_command *self;
    const struct cli_document *doc;
    const char *name; /* of the session, as the user gave it */
    struct library_found found;
    struct session_facts facts;
    struct redact *redact; /* NULL: nothing is masked */
    struct buf title, command;
    struct session_told told;  /* for a stream of events: more facts … */
    struct buf cwd, branch;    /* … of which these may be shown */
    struct play_events events; /* those beside the recording */
    bool is_lost;              /* … are not all */
    struct cli_losses losses;
    struct cli_progress progress;
    uint64_t records;
    struct play_turns_mask masked; /* an event's texts */
    struct buf lines;              /* events that are not written yet */
    uint64_t bad_lines;            /* among them */
    uint64_t exits;                /* … and ends of iterations */
    uint64_t turns;                /* in all */
    struct cli_output out;
};

/* As its facts say, so that all ways to it lead to the same document. */
const char *document_session(const struct document *d);
/* Appends where the events are of which it is made; nothing, where it is one of the
 * recording. */
int document_find_turns(const struct document *d, struct buf *path, struct err *err);
/* The events at path in the format that is asked for. */
int document_turns(struct document *d, const char *path, struct err *err);

#endif
