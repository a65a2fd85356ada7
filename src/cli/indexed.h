/* SPDX-License-Identifier: MIT */
/* indexed.h -- what `index` and `reindex` say of each session. */
#ifndef CLI_INDEXED_H
#define CLI_INDEXED_H

#include "base/json.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "library/index.h"

/* Zeroed but for the first ones it is ready for use. */
struct cli_indexed {
    const struct cli_command *self;
    bool is_json, is_quiet;
    struct cli_progress *progress; /* of all; NULL: none */
    uint64_t sessions, lines, text_bytes;
    int worst;       /* exit status */
    struct buf done; /* the ids of those that are in the library now; the caller's */
    /* private: */
    bool is_array;
    struct buf text;
    struct json json;
};

/* is_several: JSON is an array. */
void cli_indexed_begin(struct cli_indexed *x, bool is_several);
/* One session is done; r < 0: it failed, err tells. */
void cli_indexed_add(struct cli_indexed *x, const char *id, int r,
                     const struct library_indexed *done, const struct err *err);
/* The same as a library_each_fn; ctx is the struct. */
void cli_indexed_each(void *ctx, const char *id, int r,
                      const struct library_indexed *done, const struct err *err,
                      size_t at, size_t count);
/* Prints what is left to print; the exit status, or an error. */
int cli_indexed_end(struct cli_indexed *x, struct err *err);

#endif
