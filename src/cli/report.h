/* SPDX-License-Identifier: MIT */
/* report.h -- what subcommands that look at several files have in common. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <limits.h>

#include "base/json.h"
#include "cli/command.h"
#include "tape/reader.h"

struct cli_report {
    bool is_json;
    bool is_dry_run;
    struct buf text;  /* so far */
    struct json json; /* into text */
};

/* Adds one file's report; returns an exit status, or an error with *err filled. */
typedef int (*cli_report_fn)(struct cli_report *out, const char *path,
                             const struct tape_progress *step, struct err *err);

/* Where the recording itself lies: its tails and segments are beside it, not beside a
 * link. */
const char *cli_follow(const char *path, char room[PATH_MAX]);
/* Appends "1 block", "12,345 blocks". */
void cli_count(struct buf *out, uint64_t n, const char *thing);
/* A report on each file, printed together: JSON of several files is an array. A file that
 * fails is told on stderr and does not stop the others. Returns the exit status. */
int cli_report_files(struct cli_report *out, const struct cli_command *self, int count,
                     char **paths, cli_report_fn fn, struct err *err);

#endif
