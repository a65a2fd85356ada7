/* SPDX-License-Identifier: MIT */
/* ahr decrypt: brings encrypted sessions back. */
#include "cli/option.h"
#include "cli/vault.h"

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    return cli_vault(self, true, argc, argv, err);
}

static const struct cli_option options[] = {
    CLI_VAULT_OPTIONS,
    { "without-project", 0, CLI_FLAG, offsetof(struct cli_vault_args, is_without_project),
      NULL, "leave what belongs into a run's project locked", 0, 0 },
    { "dry-run", 'n', CLI_FLAG, offsetof(struct cli_vault_args, is_dry_run), NULL,
      "read it to its end, list what is in it, and change nothing", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct cli_vault_args, is_json), NULL, "print JSON",
      0, 0 },
    { 0 },
};

const struct cli_command cli_decrypt = {
    "decrypt",
    "SESSION… [--passphrase-file FILE | --key-file FILE] [--without-project] [--dry-run] "
    "[--json]",
    "bring encrypted sessions back",
    options,
    run,
    false,
};
