/* SPDX-License-Identifier: MIT */
/* keys_priv.h -- the key of one vault. */
#ifndef VAULT_KEYS_PRIV_H
#define VAULT_KEYS_PRIV_H

#include "vault/keys.h"

/* How the next vault's key is derived: as the last, if that costs what is asked for. */
void vault_keys_choose(const struct vault_keys *k, struct vault_head *ret);
/* The key for that head; it stays k's, up to the next call. ERR_USAGE: it wants the other
 * kind. */
int vault_keys_derive(struct vault_keys *k, const struct vault_head *h,
                      const uint8_t **ret, struct err *err);

#endif
