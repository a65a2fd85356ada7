/* SPDX-License-Identifier: MIT */
/* open.h -- what is in a vault, from its first byte to its last. */
#ifndef VAULT_OPEN_H
#define VAULT_OPEN_H

#include "vault/keys.h"
#include "vault/pack.h"

/* The vault from where fd stands. 0: it was read to its end, and nothing is missing;
 * before that, what was found may be the beginning of more. Else as vault_reader_open(),
 * vault_read(), vault_unpack_feed() and what is called. */
int vault_open(int fd, struct vault_keys *keys, const struct vault_pack_fns *fns,
               void *ctx, struct err *err);

#endif
