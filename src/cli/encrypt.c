/* SPDX-License-Identifier: MIT */
/* ahr encrypt: locks sessions away. */
#include "cli/option.h"
#include "cli/vault.h"

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    return cli_vault(self, false, argc, argv, err);
}

static const struct cli_option options[] = {
    CLI_VAULT_OPTIONS,
    { "new-key", 0, CLI_TEXT, offsetof(struct cli_vault_args, keys.new_key), "FILE",
      "make this key file, and use it", 0, 0 },
    { "kdf", 0, CLI_CHOICE, offsetof(struct cli_vault_args, keys.cost),
      "moderate|interactive|sensitive", "how dear it is to try a passphrase", 0, 0 },
    { "dry-run", 'n', CLI_FLAG, offsetof(struct cli_vault_args, is_dry_run), NULL,
      "list what would go in, and change nothing", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct cli_vault_args, is_json), NULL, "print JSON",
      0, 0 },
    { 0 },
};

const struct cli_command cli_encrypt = {
    "encrypt",
    "SESSION… [--passphrase-file FILE | --key-file FILE | --new-key FILE] [--kdf COST] "
    "[--dry-run] [--json]",
    "lock sessions away: nothing of them can be read without the key",
    options,
    run,
    false,
};
