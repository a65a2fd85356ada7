/* SPDX-License-Identifier: MIT */
/*
 * command.h -- what a subcommand is.
 *
 * One file a subcommand: its option table, its run function, its struct cli_command;
 * main.c has the list. run() prints data on stdout and talk on stderr, and returns an
 * exit status, or a negative error with *err filled, which main prints.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum cli_status {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_MISSING = 3,
    CLI_DAMAGED = 4,
    CLI_BUSY = 5,
};

struct cli_option;

struct cli_command {
    const char *name;
    const char *synopsis; /* behind "ahr NAME " */
    const char *summary;  /* one line, lower case; NULL: ahr itself calls it, not users */
    const struct cli_option *options;
    int (*run)(const struct cli_command *self, int argc, char **argv, struct err *err);
    bool takes_command; /* as its operands: options behind the first are that one's */
};

extern const struct cli_command cli_archive, cli_artifact, cli_attach, cli_branch,
    cli_branch_points, cli_branch_tell, cli_cat, cli_clean_up, cli_decrypt, cli_delete,
    cli_diff, cli_doctor, cli_encrypt, cli_export, cli_fork, cli_fs, cli_import,
    cli_index, cli_instruct, cli_list, cli_log, cli_mirror, cli_pack, cli_proxy,
    cli_record, cli_recover, cli_redact, cli_reindex, cli_rename, cli_render, cli_replay,
    cli_resume, cli_resume_type, cli_run, cli_search, cli_send, cli_show, cli_snapshot,
    cli_stop, cli_usage, cli_verify, cli_view, cli_watch, cli_wire;
/* Below cli_artifact. */
extern const struct cli_command cli_artifact_add, cli_artifact_list;
/* Below cli_fs. */
extern const struct cli_command cli_fs_auto, cli_fs_delete, cli_fs_diff, cli_fs_list,
    cli_fs_restore, cli_fs_snapshot, cli_fs_tidy;

enum cli_status cli_exit_status(int code);
/* "ahr NAME: text" on stderr. */
void cli_say(const struct cli_command *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Control bytes, which a file's name may hold, become '?', in place. */
char *cli_clean(char *text);
/* Usage, summary and options on stdout. */
void cli_print_help(const struct cli_command *c);

#endif
