/* SPDX-License-Identifier: MIT */
#include "cli/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int
cli_config_path(const char *name, char ret[PATH_MAX])
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool has_base = base && *base == '/';
    if (!has_base && (!home || !*home))
        return 0;
    snprintf(ret, PATH_MAX, has_base ? "%s/ahr/%s" : "%s/.config/ahr/%s",
             has_base ? base : home, name);
    return 1;
}

int
cli_config_read(char ret_path[PATH_MAX], struct buf *ret, struct err *err)
{
    if (!cli_config_path("config", ret_path))
        return 0;
    ret->ceiling = 1 << 20;
    int r = file_slurp(ret_path, ret);
    if (r == -ENOENT || r == -ENOTDIR || r == -EACCES)
        return 0;
    if (r < 0)
        return err_code(err, r == ERR_LIMIT ? -EFBIG : r, "cannot read '%s'", ret_path);
    return *buf_str(ret) ? 1 : 0;
}

static char *
trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (size_t n = strlen(s); n && isspace((unsigned char)s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

int
cli_config_split(char *line, char **ret_key, char **ret_value)
{
    char *key = trim(line);
    if (!*key || *key == '#')
        return 0;
    char *value = strchr(key, '=');
    if (!value)
        return ERR_USAGE;
    *value++ = 0;
    *ret_key = trim(key);
    *ret_value = trim(value);
    return 1;
}
