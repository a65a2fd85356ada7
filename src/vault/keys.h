/* SPDX-License-Identifier: MIT */
/*
 * keys.h -- what opens vaults: a passphrase, or a file that is the key.
 *
 * The key that was derived last is kept: vaults that were made by one command have the
 * same salt, and the work that makes guessing dear is done once for all of them. What was
 * derived to read a vault of other costs seals none.
 */
#ifndef VAULT_KEYS_H
#define VAULT_KEYS_H

#include "vault/head.h"
#include "vault/secret.h"

enum {
    VAULT_PASSPHRASE_MAX = 4096, /* bytes */
    VAULT_KEY_FILE_MIN = 32,
    VAULT_KEY_FILE_MAX = 64 << 20,
};

/* What it costs to try one passphrase: libsodium's own three steps. */
enum vault_cost { VAULT_MODERATE, VAULT_INTERACTIVE, VAULT_SENSITIVE };

/* Zeroed and with its kind it is ready for use. */
struct vault_keys {
    enum vault_kind kind;
    enum vault_cost cost;       /* of what is sealed with a passphrase */
    struct vault_secret secret; /* the passphrase, or what the file comes to */
    struct vault_secret key;    /* derived last, … */
    struct vault_head of;       /* … of such a head */
};

void vault_keys_release(struct vault_keys *k);
/* Room for a passphrase in k->secret. */
int vault_keys_init(struct vault_keys *k);
/* The file is the key. ERR_USAGE: it cannot be one. */
int vault_keys_read_file(struct vault_keys *k, const char *path, struct err *err);
/* A new file that is one, 0600; what is there already is never overwritten. */
int vault_key_make(const char *path, struct err *err);

#endif
