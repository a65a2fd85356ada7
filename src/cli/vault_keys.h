/* SPDX-License-Identifier: MIT */
/*
 * vault_keys.h -- the passphrase or the key file that a command is given.
 *
 * A passphrase is typed unseen, or read from a file or a pipe; never from the command
 * line or the environment, where others could read it. It is in no other memory than that
 * of vault/secret.h.
 */
#ifndef CLI_VAULT_KEYS_H
#define CLI_VAULT_KEYS_H

#include "cli/command.h"
#include "vault/keys.h"

struct cli_vault_keys {
    const char *passphrase_file, *key_file, *new_key; /* NULL: not given */
    int cost;                                         /* enum vault_cost; < 0: as ever */
};

/* ERR_USAGE: they do not go together. */
int cli_vault_keys_check(const struct cli_vault_keys *a, struct err *err);
/* is_new: for what is to be encrypted, so that a passphrase is typed twice. */
int cli_vault_keys(const struct cli_command *self, const struct cli_vault_keys *a,
                   bool is_new, struct vault_keys *ret, struct err *err);

#endif
