/* SPDX-License-Identifier: MIT */
/*
 * crypto_priv.h -- what vaults need of libsodium, which only crypto.c knows.
 *
 * Nothing of it is set up before it is first asked for: a program that opens no vault
 * pays nothing for it.
 */
#ifndef VAULT_CRYPTO_PRIV_H
#define VAULT_CRYPTO_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VAULT_KEY = 32,
    VAULT_SALT = 16,
    VAULT_STREAM = 24, /* what a stream begins with */
    VAULT_MORE = 17,   /* by so many bytes a chunk grows */
};

/* Memory that is not swapped out and in no core file, where the system lets us, with a
 * wall on both sides; wiped when it is freed. NULL: there is none. */
void *vault_malloc(size_t n);
void vault_free(void *p);
void vault_wipe(void *p, size_t n);
void vault_random(void *p, size_t n);

/* Argon2id. -ENOMEM: so much memory cannot be had. */
int vault_derive(uint8_t ret[VAULT_KEY], const void *text, size_t n,
                 const uint8_t salt[VAULT_SALT], uint64_t ops, uint64_t mem_bytes);
/* BLAKE2b of n bytes, ret_n of them; key NULL: none, else VAULT_KEY bytes. */
void vault_hash(uint8_t *ret, size_t ret_n, const void *p, size_t n, const uint8_t *key);

/* The same piece by piece, VAULT_KEY bytes, in such memory. NULL: there is none. */
struct vault_sum;
struct vault_sum *vault_sum_new(void);
void vault_sum_add(struct vault_sum *s, const void *p, size_t n);
void vault_sum_end(struct vault_sum *s, uint8_t ret[VAULT_KEY]);
void vault_sum_free(struct vault_sum *s);

/* XChaCha20-Poly1305, chunk by chunk in their order: each is whole and in its place or
 * refused, and the last one says so. NULL: there is no memory. */
struct vault_stream;
struct vault_stream *vault_stream_seal(const uint8_t key[VAULT_KEY],
                                       uint8_t ret_begin[VAULT_STREAM]);
struct vault_stream *vault_stream_open(const uint8_t key[VAULT_KEY],
                                       const uint8_t begin[VAULT_STREAM]);
void vault_stream_free(struct vault_stream *s);
/* n bytes become n + VAULT_MORE; also: what the chunk is bound to, not part of it. */
void vault_seal(struct vault_stream *s, const void *p, size_t n, const void *also,
                size_t also_n, bool is_last, uint8_t *ret);
/* … and back; false: they are not what was sealed. */
bool vault_unseal(struct vault_stream *s, const uint8_t *p, size_t n, const void *also,
                  size_t also_n, uint8_t *ret, bool *ret_is_last);

#endif
