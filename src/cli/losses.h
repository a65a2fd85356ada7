/* SPDX-License-Identifier: MIT */
/* losses.h -- tells on stderr what a recording lacks, while it is read. */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "cli/command.h"
#include "tape/notes.h"

enum { CLI_LOSSES_MAX = 100 };

struct cli_losses {
    const struct cli_command *command; /* borrowed */
    const char *path;                  /* borrowed */
    uint64_t next_byte;                /* the PTY byte that should come next */
    bool is_damaged; /* something is missing that the recording does not own up to */
    unsigned told;   /* places; past CLI_LOSSES_MAX no more are */
};

/* A tape_notice_fn; ctx is the struct. */
void cli_losses_notice(void *ctx, const struct tape_notice *n);
/* What was kept while nothing could be told, each place once: it may have been passed
 * often. */
void cli_losses_notes(struct cli_losses *l, const struct tape_notes *notes);
/* Bytes that are not there; is_recorded: the recording owns up to it. */
void cli_losses_gap(struct cli_losses *l, uint64_t byte_off, uint64_t bytes,
                    bool is_recorded);
/* With each record, before it is used. */
void cli_losses_record(struct cli_losses *l, const struct tape_record *rec);

#endif
