/* SPDX-License-Identifier: MIT */
/*
 * when.h -- dates, as people write them.
 *
 * `2026-11-16` (its first instant), `2026-11-16T02:13`, `2026-11-16 02:13:05.5`, the
 * times also with `Z` or `+01:00` behind them, else of the local zone; `90s`, `30m`,
 * `12h`, `7d`, `2w` ago; `12:30`, `12:30:15` of the local zone, the last that there was;
 * `now`, `today`, `yesterday`. Days and weeks go by the calendar: the same time of the
 * day, whether clocks were changed between or not. Of an hour that occurs twice the first
 * is meant, and for a time that does not occur that of the change.
 */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include <stdint.h>

#include "base/err.h"

uint64_t cli_when_now_ns(void);
/* In ns since 1970, at least 1 and at most INT64_MAX: what lies outside is the nearest.
 */
int cli_when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct err *err);
/* The day of UTC in which that is, by its number since 1970. Days that are named
 * (`2026-11-16`, today, yesterday) are UTC's, too. */
int cli_when_parse_day(const char *text, uint64_t now_ns, uint64_t *ret_day,
                       struct err *err);

enum {
    CLI_WHEN_DAY_SIZE = sizeof("2026-11-16"),
    CLI_WHEN_ISO_SIZE = sizeof("2026-11-16T02:13:05.123Z"),
    CLI_WHEN_LOCAL_SIZE = sizeof("2026-11-16 02:13"),
};

/* A time as programs take it, UTC; a day of UTC, by its number since 1970; a time as
 * people read it, local. They return the text. */
const char *cli_when_iso(uint64_t ns, char ret[CLI_WHEN_ISO_SIZE]);
const char *cli_when_day(uint64_t day, char ret[CLI_WHEN_DAY_SIZE]);
const char *cli_when_local(uint64_t ns, char ret[CLI_WHEN_LOCAL_SIZE]);

#endif
