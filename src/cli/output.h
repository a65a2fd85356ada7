/* SPDX-License-Identifier: MIT */
/*
 * output.h -- where a document goes: standard output, or a file that appears whole.
 *
 * A file is written beside its place under another name, with the mode that it had or
 * that the umask allows, and renamed at the end; a signal that ends the program leaves
 * nothing behind, and what was there before it. A link is followed. What is no plain file
 * (a pipe, /dev/stdout) is written to as it comes.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <signal.h>
#include <stdbool.h>

#include "base/buf.h"

struct cli_output {
    const char *name; /* as the user gave it; NULL: standard output; borrowed */
    struct buf path;  /* where it will be; empty: it is written to as it comes */
    struct buf made;  /* … and its name until then; empty: not made yet */
    int fd;           /* -1: not open */
    int error;        /* of a write, else 0 */
    sigset_t mask;    /* of signals, before they were held */
};

/* Is standard output a terminal that has colours, and whose owner wants them? */
bool cli_output_has_colours(void);

/* Finds out where to, and whether that can be; makes nothing. NULL or "-": standard
 * output. */
int cli_output_init(struct cli_output *o, const char *name, struct err *err);
/* A play_write_fn; ctx is the struct. */
int cli_output_write(void *ctx, struct view bytes);
/* All was written: the file is there. */
int cli_output_commit(struct cli_output *o, struct err *err);
/* Fills err for what a write has returned. */
int cli_output_fail(const struct cli_output *o, struct err *err);
/* What is not committed is gone. */
void cli_output_release(struct cli_output *o);

#endif
