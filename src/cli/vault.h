/* SPDX-License-Identifier: MIT */
/* vault.h -- what `ahr encrypt` and `ahr decrypt` have in common. */
#ifndef CLI_VAULT_H
#define CLI_VAULT_H

#include "cli/command.h"
#include "cli/vault_keys.h"

/* Of both. */
struct cli_vault_args {
    struct cli_vault_keys keys;
    bool is_json, is_dry_run, is_without_project;
};

/* Options of both. */
#define CLI_VAULT_OPTIONS                                                                \
    { "passphrase-file",                                                                 \
      0,                                                                                 \
      CLI_TEXT,                                                                          \
      offsetof(struct cli_vault_args, keys.passphrase_file),                             \
      "FILE",                                                                            \
      "its first line is the passphrase; '-' is standard input",                         \
      0,                                                                                 \
      0 },                                                                               \
    {                                                                                    \
        "key-file", 0, CLI_TEXT, offsetof(struct cli_vault_args, keys.key_file), "FILE", \
            "this file is the key, no passphrase", 0, 0                                  \
    }

/* The command's run(); its options are of struct cli_vault_args. */
int cli_vault(const struct cli_command *self, bool is_decrypt, int argc, char **argv,
              struct err *err);

#endif
