/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/nearest.h"
#include "cli/option.h"

enum { WORDS_MAX = 64 }; /* that one may have meant */

/* Its own word: the last one of its name. */
static const char *
last_word(const struct cli_command *c)
{
    const char *space = strrchr(c->name, ' ');
    return space ? space + 1 : c->name;
}

static void
print_overview(const struct cli_commands *c, FILE *to)
{
    fprintf(to, "usage: %s COMMAND …\n\n%s\n\n", c->name, c->about);
    for (size_t i = 0; c->list[i]; i++)
        if (c->list[i]->summary)
            fprintf(to, "  %-13s %s\n", last_word(c->list[i]), c->list[i]->summary);
    fprintf(to, "\n'ahr help%s COMMAND' tells more; so does 'man %s'.\n",
            c->name + strlen("ahr"), c->page);
}

static const struct cli_command *
find(const struct cli_commands *c, const char *word)
{
    for (size_t i = 0; c->list[i]; i++)
        if (!strcmp(last_word(c->list[i]), word))
            return c->list[i];
    return NULL;
}

static int
complain_unknown(const struct cli_commands *c, const char *word)
{
    const char *words[WORDS_MAX] = { "help" };
    size_t n = 1;
    for (size_t i = 0; c->list[i] && n < WORDS_MAX; i++)
        if (c->list[i]->summary)
            words[n++] = last_word(c->list[i]);
    const char *near = cli_nearest(word, words, n);
    if (near)
        fprintf(stderr, "%s: unknown command '%s'; did you mean '%s'?\n", c->name, word,
                near);
    else
        fprintf(stderr, "%s: unknown command '%s'; see 'ahr help%s'\n", c->name, word,
                c->name + strlen("ahr"));
    return CLI_USAGE;
}

static int
run(const struct cli_command *c, int argc, char **argv)
{
    struct err err = { 0 };
    int r = c->run(c, argc, argv, &err);
    if (r == CLI_HELP_SHOWN)
        return CLI_DONE;
    if (r < 0)
        cli_say(c, "%s", err.text);
    return (int)cli_exit_status(r);
}

static bool
is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help");
}

int
cli_dispatch(const struct cli_commands *c, int argc, char **argv)
{
    static char help[] = "-h";
    bool asks = argc && is_help(argv[0]);
    if (!argc || (asks && (argc == 1 || is_help(argv[1])))) {
        print_overview(c, argc ? stdout : stderr);
        return argc ? CLI_DONE : CLI_USAGE;
    }
    const struct cli_command *found = find(c, argv[asks]);
    if (!found)
        return complain_unknown(c, argv[asks]);
    if (!asks)
        return run(found, argc - 1, argv + 1);
    argv[1] = help;
    return run(found, argc - 1, argv + 1);
}
