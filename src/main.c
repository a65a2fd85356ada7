/* SPDX-License-Identifier: MIT */
/* main.c -- the table of commands, and dispatch. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/nearest.h"
#include "cli/option.h"

static const struct cli_command *const commands[] = {
    &cli_record,   &cli_attach,   &cli_watch,   &cli_send,   &cli_stop,
    &cli_instruct, &cli_snapshot, &cli_list,    &cli_show,   &cli_search,
    &cli_replay,   &cli_render,   &cli_cat,     &cli_export, &cli_branch_points,
    &cli_import,   &cli_rename,   &cli_delete,  &cli_redact, &cli_pack,
    &cli_recover,  &cli_index,    &cli_reindex, &cli_verify, &cli_mirror,
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void
print_overview(FILE *to)
{
    fputs("usage: ahr COMMAND …\n\nThe flight recorder for coding agents.\n\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i]->summary)
            fprintf(to, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'ahr help COMMAND' tells more; so does 'man ahr'.\n", to);
}

static const struct cli_command *
find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int
complain_unknown(const char *name)
{
    const char *names[COMMANDS + 1] = { "help" };
    size_t n = 1;
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i]->summary)
            names[n++] = commands[i]->name;
    const char *near = cli_nearest(name, names, n);
    if (near)
        fprintf(stderr, "ahr: unknown command '%s'; did you mean '%s'?\n", name, near);
    else
        fprintf(stderr, "ahr: unknown command '%s'; see 'ahr help'\n", name);
    return CLI_USAGE;
}

static int
help(const char *name)
{
    const struct cli_command *c = name ? find(name) : NULL;
    if (!c && name && strcmp(name, "help") != 0)
        return complain_unknown(name);
    if (c)
        cli_print_help(c);
    else
        print_overview(stdout);
    return CLI_DONE;
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

static int
dispatch(int argc, char **argv)
{
    const char *word = argc ? argv[0] : NULL;
    if (!word) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(word, "--version")) {
        puts("ahr " AHR_VERSION);
        return CLI_DONE;
    }
    if (!strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help"))
        return help(argc > 1 ? argv[1] : NULL);
    const struct cli_command *c = find(word);
    return c ? run(c, argc - 1, argv + 1) : complain_unknown(word);
}

/* Output that did not arrive is a failure, whatever the command thought of it. */
static int
close_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    perror("ahr: cannot write to standard output");
    return status ? status : (int)CLI_FAILED;
}

/* A closed 0, 1 or 2 would be taken by the next file we open, and written or read for it.
 * What is put there instead fails as a closed one does. */
static void
guard_standard_files(void)
{
    static const int other_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", other_way[fd]); /* the lowest free one is fd */
}

int
main(int argc, char **argv)
{
    guard_standard_files();
    signal(SIGXFSZ,
           SIG_IGN); /* a file at its limit is a full disk, not a reason to die */
    const char *self = argc ? file_name(argv[0]) : "ahr";
    int skip = argc ? 1 : 0;
    /* `ah agent COMMAND` is another name of `ahr COMMAND`. */
    if (!strcmp(self, "ah") && argc > 1 && !strcmp(argv[1], "agent"))
        skip++;
    return close_stdout(dispatch(argc - skip, argv + skip));
}
