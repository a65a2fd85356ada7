/* SPDX-License-Identifier: MIT */
/* report.h -- what subcommands that look at several sessions have in common. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "base/json.h"
#include "cli/command.h"
#include "cli/session.h"
#include "tape/reader.h"

struct cli_report {
    bool is_json;
    bool is_dry_run;
    bool is_all;      /* those that there are: JSON is an array, however many */
    bool is_told;     /* why the index is not used */
    bool is_any;      /* encrypted ones, too */
    struct buf text;  /* so far */
    struct json json; /* into text */
};

/* Adds the report on one; returns an exit status, or an error with *err filled. */
typedef int (*cli_report_fn)(struct cli_report *out, struct library_found *session,
                             const struct tape_progress *step, struct err *err);

/* Appends "1 block", "12,345 blocks"; thing NULL: the number alone. */
void cli_count(struct buf *out, uint64_t n, const char *thing);
/* Appends "18ms", "1.4s", "12s", "3m05s", "1h02m", "2d03h"; what is smaller is cut. */
void cli_duration(struct buf *out, uint64_t ns);
/* Appends "512 B", "1.2 kB", "31 MB". */
void cli_size(struct buf *out, uint64_t bytes);
/* A report on each SESSION, printed together: JSON of several is an array. One that fails
 * is told on stderr and does not stop the others. Returns the exit status. */
int cli_report_sessions(struct cli_report *out, const struct cli_command *self, int count,
                        char **sessions, cli_report_fn fn, struct err *err);

#endif
