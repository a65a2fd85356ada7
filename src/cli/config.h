/* SPDX-License-Identifier: MIT */
/*
 * config.h -- the config file, $XDG_CONFIG_HOME/ahr/config: lines of the form `name =
 * value` or `command.name = value`, with '#' before remarks.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <limits.h>

#include "base/buf.h"

/* Where the user's file of that name would be. 1; 0: nowhere. */
int cli_config_path(const char *name, char ret[PATH_MAX]);
/* All of it, with its NUL, and where it is. 1; 0: there is none, or it is not for us. */
int cli_config_read(char ret_path[PATH_MAX], struct buf *ret, struct err *err);
/* One line, which is cut up. 1; 0: there is nothing in it; ERR_USAGE. */
int cli_config_split(char *line, char **ret_key, char **ret_value);

/* Called with each thing that is wrong in the file (at that line) or in a variable (line
 * 0, and where is its name). */
typedef void (*cli_config_fn)(void *ctx, const char *where, unsigned line,
                              const char *why);
/* Names that no command knows, and values that one cannot take. The number of lines that
 * say something; < 0: the file cannot be read, and *err tells why. */
int cli_config_check(cli_config_fn fn, void *ctx, struct err *err);

#endif
