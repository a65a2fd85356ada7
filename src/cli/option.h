/* SPDX-License-Identifier: MIT */
/*
 * option.h -- options by table.
 *
 * A value comes from the command line, else from the variable AHR_NAME, else from a line
 * `name = value` or `command.name = value` of $XDG_CONFIG_HOME/ahr/config, else it stays
 * what the caller put there. A name may have a dot in it itself, which is '_' in its
 * variable (retention.failed, AHR_RETENTION_FAILED). Operands and options may be mixed;
 * "--" ends the options, and so does the first operand where that is a command.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "cli/command.h"

enum cli_option_kind {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char * */
    CLI_NUMBER, /* uint64_t, from min to max */
    CLI_CHOICE, /* int: which of the words in `arg`, separated by '|' */
    CLI_SIZE,   /* uint64_t, from min to max bytes: "512", "100M", "2G" */
    CLI_MAYBE,  /* uint64_t: a number from min to max, or CLI_WORD(n) for the n-th of the
                   words in small letters in `arg` ("[SECONDS|quiet|off]": quiet is 0, off
                   1). Without a value it is CLI_WORD(0): the next word is its value only
                   if it can be one. max 0: no number is */
    CLI_TIME,   /* uint64_t, ns since 1970: a time as cli/when.h takes it; "never" is 0 */
    CLI_LIST,   /* struct cli_list: may be given again and again; one by a variable */
};

enum { CLI_LIST_MAX = 256 };

#define CLI_WORD(n) (UINT64_MAX - (n))

struct cli_list {
    size_t n;
    const char *item[CLI_LIST_MAX];
    bool is_typed; /* on the command line, so that the next one is added */
};

struct cli_option {
    const char *name;
    char letter; /* 0: none */
    enum cli_option_kind kind;
    size_t offset; /* of the value in the caller's struct */
    const char *arg;
    const char *help;
    uint64_t min, max;
};

enum { CLI_HELP_SHOWN = 1000 };

/*
 * Sets the values in *values. Operands are moved to the front of argv and counted in
 * *ret_count. Returns 0, CLI_HELP_SHOWN after -h, or ERR_USAGE. Texts point into argv,
 * the environment or memory that lives as long as the program.
 */
int cli_parse(const struct cli_command *c, int argc, char **argv, void *values,
              int *ret_count, struct err *err);

/* The same by the command line alone: for who tells what is wrong with the rest. */
int cli_parse_plain(const struct cli_command *c, int argc, char **argv, void *values,
                    int *ret_count, struct err *err);

/* The option of that name; NULL: none. */
const struct cli_option *cli_option_find(const struct cli_command *c, const char *name);
enum { CLI_VARIABLE_SIZE = 64 };
/* Its variable's name. */
void cli_option_variable(const struct cli_option *o, char ret[CLI_VARIABLE_SIZE]);
/* Could this be its value? ERR_USAGE says why not; called: what it is called there. */
int cli_option_check(const struct cli_option *o, const char *value, const char *called,
                     struct err *err);

#endif
