/* SPDX-License-Identifier: MIT */
/*
 * entire.h -- `--entire [on|off|auto]`, for commands that record a conversation: is it
 * also kept in the project's .entire/?
 */
#ifndef CLI_ENTIRE_H
#define CLI_ENTIRE_H

#include "cli/option.h"

#define CLI_ENTIRE_ON   CLI_WORD(0)
#define CLI_ENTIRE_OFF  CLI_WORD(1)
#define CLI_ENTIRE_AUTO CLI_WORD(2)

/* A row of an option table; the struct has a uint64_t for it, at first CLI_ENTIRE_AUTO.
 */
#define CLI_ENTIRE_OPTION(type, field)                                            \
    {                                                                             \
        "entire", 0, CLI_MAYBE, offsetof(type, field), "[on|off|auto]",           \
            "also keep the conversation in .entire/ of the project (auto: where " \
            "there is one)",                                                      \
            0, 0                                                                  \
    }

/* Is it, in the project's folder `root`? Where git would take it, that is said. */
bool cli_entire(const struct cli_command *self, uint64_t wanted, const char *root);

#endif
