/* SPDX-License-Identifier: MIT */
/* usage_print.h -- what was used, as a table with bars, and as JSON. */
#ifndef CLI_USAGE_PRINT_H
#define CLI_USAGE_PRINT_H

#include "base/json.h"
#include "cli/usage_sum.h"

/* "day", and so on. */
const char *cli_usage_word(enum store_usage_by by);
/* On standard output. */
int cli_usage_table(const struct cli_usage *u, enum store_usage_by by, struct err *err);
/* left_out: sessions that are not counted. */
void cli_usage_rows_json(const struct cli_usage *u, enum store_usage_by by,
                         uint64_t left_out, struct json *j);

#endif
