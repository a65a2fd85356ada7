/* SPDX-License-Identifier: MIT */
/*
 * head.h -- what a vault begins with, byte for byte (doc/vault.md).
 *
 * All of it is open to be read, so that the key can be found, and none of it is believed:
 * its sum tells an accident, and the chunk that checks the key is bound to it, so that a
 * head that somebody has changed opens nothing.
 */
#ifndef VAULT_HEAD_H
#define VAULT_HEAD_H

#include "base/buf.h"

#define VAULT_MAGIC "AHRVAULT"

enum {
    VAULT_VERSION = 1,
    VAULT_CHUNK = 64 << 10, /* bytes in a chunk, but in the last */
    VAULT_HEAD_FACTS = 72,  /* what the chunks are bound to */
    VAULT_HEAD_CHECK = 17,  /* a chunk of nothing: does the key fit? */
    VAULT_HEAD_SUM = 16,    /* of both */
    VAULT_HEAD_BYTES = 105,
    VAULT_OPS_MAX = 16,
};

#define VAULT_MEM_MIN (UINT64_C(8) << 20)
#define VAULT_MEM_MAX (UINT64_C(1) << 30)

enum vault_kind {
    VAULT_PASSPHRASE = 1, /* Argon2id */
    VAULT_KEY_FILE = 2,
};

struct vault_head {
    enum vault_kind kind;
    uint64_t ops, mem_bytes; /* of a passphrase; else 0 */
    uint8_t salt[16];
    uint8_t begin[24]; /* of the stream */
};

void vault_head_format(const struct vault_head *h, uint8_t ret[VAULT_HEAD_FACTS]);
/* The sum of the facts and the check that stand there, put behind them. */
void vault_head_seal(uint8_t bytes[VAULT_HEAD_BYTES]);
/* ERR_DAMAGED: it is no vault, or damaged; ERR_NEWER; ERR_LIMIT: it asks for more than is
 * ever given. */
int vault_head_parse(const uint8_t *p, size_t n, struct vault_head *ret, struct err *err);
/* Of libsodium. */
const char *vault_version(void);

#endif
