/* SPDX-License-Identifier: MIT */
/*
 * commands.c -- many command lines of ahr in one process, for tests that need thousands.
 *
 * stdin: for each the file that becomes its stdout, then its words, each with a NUL
 * behind it; an empty word ends it. stdout: the exit statuses, one a line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"

static const struct cli_command *const commands[] = { &cli_branch_points, &cli_export,
                                                      &cli_render, &cli_replay };

enum { WORDS_MAX = 32 };

static const struct cli_command *
find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    fprintf(stderr, "commands: what is '%s'?\n", name);
    exit(1);
}

static int
run(int argc, char **argv)
{
    struct err err = { 0 };
    const struct cli_command *c = find(argv[0]);
    int r = c->run(c, argc - 1, argv + 1, &err);
    if (r < 0)
        cli_say(c, "%s", err.text);
    fflush(stdout);
    return (int)cli_exit_status(r);
}

/* The words of the next command line; returns how many. */
static int
take(char **at, const char *end, char *words[WORDS_MAX])
{
    int n = 0;
    for (; *at < end && **at && n < WORDS_MAX - 1; *at += strlen(*at) + 1)
        words[n++] = *at;
    words[n] = NULL;
    *at += *at < end;
    return n;
}

int
main(int argc, char **argv)
{
    AUTO(buf) in = { 0 };
    char *words[WORDS_MAX];
    FILE *told = fdopen(dup(1), "w");
    if (argc != 2 || !told || file_slurp(argv[1], &in) < 0)
        return 1;
    buf_str(&in);
    char *at = (char *)in.p, *end = at + in.n;
    for (int n; (n = take(&at, end, words)) > 1;) {
        int fd = open(words[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0) {
            perror(words[0]);
            break;
        }
        close(fd);
        fprintf(told, "%d\n", run(n - 1, words + 1));
    }
    return fclose(told) ? 1 : 0;
}
