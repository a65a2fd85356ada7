/* SPDX-License-Identifier: MIT */
/* main.c -- the table of commands. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"

static const struct cli_command *const commands[] = {
    &cli_record,   &cli_run,      &cli_attach,        &cli_watch,       &cli_send,
    &cli_stop,     &cli_instruct, &cli_snapshot,      &cli_fs,          &cli_list,
    &cli_show,     &cli_log,      &cli_search,        &cli_usage,       &cli_wire,
    &cli_diff,     &cli_view,     &cli_replay,        &cli_render,      &cli_cat,
    &cli_export,   &cli_branch,   &cli_branch_points, &cli_resume,      &cli_fork,
    &cli_artifact, &cli_import,   &cli_rename,        &cli_delete,      &cli_archive,
    &cli_clean_up, &cli_proxy,    &cli_redact,        &cli_encrypt,     &cli_decrypt,
    &cli_pack,     &cli_recover,  &cli_index,         &cli_reindex,     &cli_verify,
    &cli_doctor,   &cli_mirror,   &cli_branch_tell,   &cli_resume_type, NULL,
};

const struct cli_commands cli_all = {
    "ahr",
    "ahr",
    "The flight recorder for coding agents.",
    commands,
};

static int
dispatch(int argc, char **argv)
{
    if (!argc || strcmp(argv[0], "--version") != 0)
        return cli_dispatch(&cli_all, argc, argv);
    puts("ahr " AHR_VERSION);
    return CLI_DONE;
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
    /* A file at its limit is a full disk, not a reason to die. */
    signal(SIGXFSZ, SIG_IGN);
    /* Who started us may ignore it, and then nobody could tell how a child has ended. */
    signal(SIGCHLD, SIG_DFL);
    const char *self = argc ? file_name(argv[0]) : "ahr";
    int skip = argc ? 1 : 0;
    /* `ah agent COMMAND` is another name of `ahr COMMAND`. */
    if (!strcmp(self, "ah") && argc > 1 && !strcmp(argv[1], "agent"))
        skip++;
    return close_stdout(dispatch(argc - skip, argv + skip));
}
