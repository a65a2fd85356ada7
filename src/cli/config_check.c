/* SPDX-License-Identifier: MIT */
/* config_check.c -- what is wrong in the config file, and in variables. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/config.h"
#include "cli/option.h"

struct checking {
    cli_config_fn fn;
    void *ctx;
    const char *where;
    unsigned line;
    const char *key, *value;
    unsigned known;  /* options that are called so */
    bool is_command; /* what stands before the dot is one */
    bool is_told;    /* one thing a line is enough */
    struct buf told; /* variables that were, with their NUL */
};

static void
tell(struct checking *c, const char *why)
{
    if (!c->is_told)
        c->fn(c->ctx, c->where, c->line, why);
    c->is_told = true;
}

/* The option that the key means for that command. */
static const struct cli_option *
meant(struct checking *c, const struct cli_command *command)
{
    const struct cli_option *o = cli_option_find(command, c->key);
    size_t n = strlen(command->name);
    if (o || strncmp(c->key, command->name, n) != 0 || c->key[n] != '.')
        return o;
    c->is_command = true;
    return cli_option_find(command, c->key + n + 1);
}

static void
check_line_for(struct checking *c, const struct cli_command *command)
{
    char called[CLI_VARIABLE_SIZE * 2];
    struct err why = { 0 };
    const struct cli_option *o = meant(c, command);
    if (!o)
        return;
    c->known++;
    snprintf(called, sizeof(called), "'%s' of ahr %s", o->name, command->name);
    if (cli_option_check(o, c->value, called, &why) < 0)
        tell(c, why.text);
}

/* Several commands may have the option. */
static bool
is_new(struct checking *c, const char *variable)
{
    for (size_t at = 0; at < c->told.n; at += strlen((char *)c->told.p + at) + 1)
        if (!strcmp((char *)c->told.p + at, variable))
            return false;
    return buf_append(&c->told, variable, strlen(variable) + 1) == 0;
}

static void
check_variables_of(struct checking *c, const struct cli_command *command)
{
    for (const struct cli_option *o = command->options; o && o->name; o++) {
        char name[CLI_VARIABLE_SIZE];
        struct err why = { 0 };
        cli_option_variable(o, name);
        const char *value = getenv(name);
        if (value && cli_option_check(o, value, name, &why) < 0 && is_new(c, name))
            c->fn(c->ctx, name, 0, why.text);
    }
}

static void
for_each(struct checking *c,
         void (*fn)(struct checking *c, const struct cli_command *command))
{
    static const struct cli_commands *const tables[] = { &cli_all, &cli_artifact_all,
                                                         &cli_fs_all };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct cli_command *const *at = tables[i]->list; *at; at++)
            fn(c, *at);
}

static int
check_line(struct checking *c, char *line)
{
    AUTO(buf) why = { 0 };
    char *key, *value;
    int r = cli_config_split(line, &key, &value);
    c->is_told = c->is_command = false;
    c->known = 0;
    if (r < 0)
        tell(c, "it is not of the form 'name = value'");
    if (r <= 0)
        return r < 0;
    c->key = key;
    c->value = value;
    for_each(c, check_line_for);
    buf_printf(&why,
               c->is_command ? "that command has no such option: '%s'"
                             : "no command has an option '%s'",
               key);
    if (!c->known)
        tell(c, buf_str(&why));
    return 1;
}

int
cli_config_check(cli_config_fn fn, void *ctx, struct err *err)
{
    AUTO(buf) text = { 0 };
    char path[PATH_MAX];
    struct checking c = { .fn = fn, .ctx = ctx };
    int count = 0, r = cli_config_read(path, &text, err);
    for_each(&c, check_variables_of);
    char *next = r > 0 ? (char *)text.p : NULL;
    c.where = path;
    for (char *at; (at = next);) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        c.line++;
        count += check_line(&c, at);
    }
    buf_release(&c.told);
    return r < 0 ? r : count;
}
