/* SPDX-License-Identifier: MIT */
/*
 * wired.h -- `--wire` and what belongs to it, for commands that record another one.
 */
#ifndef CLI_WIRED_H
#define CLI_WIRED_H

#include "cli/option.h"

struct cli_wired {
    bool is_on;
    const char *upstream, *ca_file; /* NULL: not told */
};

/* Rows of an option table; the struct has a struct cli_wired `wired`. */
#define CLI_WIRED_OPTIONS(type)                                                       \
    { "wire",   0,                                                                    \
      CLI_FLAG, offsetof(type, wired.is_on),                                          \
      NULL,     "record what it asks of model APIs, and the answers, by a proxy",     \
      0,        0 },                                                                  \
        { "upstream",                                                                 \
          0,                                                                          \
          CLI_TEXT,                                                                   \
          offsetof(type, wired.upstream),                                             \
          "NAME=URL,…",                                                               \
          "… where these APIs are (as the environment says, else at their vendors')", \
          0,                                                                          \
          0 },                                                                        \
    {                                                                                 \
        "upstream-ca", 0, CLI_TEXT, offsetof(type, wired.ca_file), "FILE",            \
            "… certificates to trust there, in place of the system's", 0, 0           \
    }
#define CLI_WIRED_SYNOPSIS "[--wire [--upstream NAME=URL,…] [--upstream-ca FILE]] "

/* Wrong values are told before anything is started. */
int cli_wired_check(const struct cli_wired *w, struct err *err);

#endif
