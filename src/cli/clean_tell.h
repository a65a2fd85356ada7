/* SPDX-License-Identifier: MIT */
/* clean_tell.h -- what `ahr clean` tells: what would go, what stays, what has gone. */
#ifndef CLI_CLEAN_TELL_H
#define CLI_CLEAN_TELL_H

#include "base/json.h"
#include "cli/command.h"
#include "cli/table.h"
#include "library/clean.h"

/* With the first five set, and else zeroed, it is ready for use. */
struct cli_clean_tell {
    const struct cli_command *self;
    const struct library_plan *plan; /* borrowed, as the home */
    const char *home;
    bool is_json, is_dry_run;
    bool is_retention; /* what goes does by what is configured */
    uint64_t now_ns;
    uint64_t deleted, freed_bytes;
    struct buf text; /* of the JSON */
    struct json json;
};

extern const struct cli_column cli_clean_columns[];
enum { CLI_CLEAN_COLUMNS = 5 };

void cli_clean_tell_release(struct cli_clean_tell *t);
/* A row for each that goes, the oldest first; on stderr how many they are. -ENOMEM. */
int cli_clean_rows(const struct cli_clean_tell *t, struct cli_table *table);
/* On stderr: what stays though it is meant, and why. */
void cli_clean_say_staying(const struct cli_clean_tell *t);

/* JSON, where that is wanted: its beginning, one that would go, one that is gone (or
 * not: r < 0, and err tells why), its end, printed. */
void cli_clean_json_begin(struct cli_clean_tell *t);
void cli_clean_json_would(struct cli_clean_tell *t, size_t at);
void cli_clean_json_done(struct cli_clean_tell *t, const struct library_member *m,
                         const char *id, uint64_t bytes, int r,
                         enum library_folder folder, const struct err *err);
int cli_clean_json_end(struct cli_clean_tell *t, struct err *err);

#endif
