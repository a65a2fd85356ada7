/* SPDX-License-Identifier: MIT */
#include "vault/crypto_priv.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>

#include "vault/head.h"

_Static_assert(VAULT_KEY == crypto_secretstream_xchacha20poly1305_KEYBYTES, "");
_Static_assert(VAULT_STREAM == crypto_secretstream_xchacha20poly1305_HEADERBYTES, "");
_Static_assert(VAULT_MORE == crypto_secretstream_xchacha20poly1305_ABYTES, "");
_Static_assert(VAULT_SALT == crypto_pwhash_argon2id_SALTBYTES, "");

enum {
    DEEP = 64 << 10, /* bytes of the stack that a key may have been on, … */
    SHALLOW = 8 << 10,
};

struct vault_sum {
    crypto_generichash_state state;
};

struct vault_stream {
    crypto_secretstream_xchacha20poly1305_state state;
};

void *
vault_malloc(size_t n)
{
    return sodium_init() < 0 ? NULL : sodium_malloc(n);
}

void
vault_free(void *p)
{
    sodium_free(p);
    /* Registers that held a part of it may have been put on the stack, by whoever looks
     * up a function that is called for the first time, say. */
    sodium_stackzero(DEEP);
}

void
vault_wipe(void *p, size_t n)
{
    sodium_memzero(p, n);
}

void
vault_random(void *p, size_t n)
{
    int r = sodium_init();
    assert(r >= 0);
    (void)r;
    randombytes_buf(p, n);
}

int
vault_derive(uint8_t ret[VAULT_KEY], const void *text, size_t n,
             const uint8_t salt[VAULT_SALT], uint64_t ops, uint64_t mem_bytes)
{
    if (sodium_init() < 0)
        return -ENOMEM;
    int r = crypto_pwhash(ret, VAULT_KEY, text, n, salt, ops, mem_bytes,
                          crypto_pwhash_ALG_ARGON2ID13);
    /* The library wipes what it keeps, not all that it has worked with: what is hashed
     * goes through buffers on the stack. */
    sodium_stackzero(DEEP);
    return r < 0 ? -ENOMEM : 0;
}

void
vault_hash(uint8_t *ret, size_t ret_n, const void *p, size_t n, const uint8_t *key)
{
    crypto_generichash(ret, ret_n, p, n, key, key ? VAULT_KEY : 0);
    sodium_stackzero(SHALLOW);
}

struct vault_sum *
vault_sum_new(void)
{
    /* The state wants to stand at a multiple of 64: memory with a wall behind it ends
     * there, so that it is asked for in whole pieces of that. */
    _Static_assert(sizeof(struct vault_sum) % 64 == 0, "");
    struct vault_sum *s = vault_malloc(sizeof(*s));
    if (s)
        crypto_generichash_init(&s->state, NULL, 0, VAULT_KEY);
    return s;
}

void
vault_sum_add(struct vault_sum *s, const void *p, size_t n)
{
    crypto_generichash_update(&s->state, p, n);
    sodium_stackzero(SHALLOW);
}

void
vault_sum_end(struct vault_sum *s, uint8_t ret[VAULT_KEY])
{
    crypto_generichash_final(&s->state, ret, VAULT_KEY);
    sodium_stackzero(SHALLOW);
}

void
vault_sum_free(struct vault_sum *s)
{
    vault_free(s);
}

struct vault_stream *
vault_stream_seal(const uint8_t key[VAULT_KEY], uint8_t ret_begin[VAULT_STREAM])
{
    struct vault_stream *s = vault_malloc(sizeof(*s));
    if (s)
        crypto_secretstream_xchacha20poly1305_init_push(&s->state, ret_begin, key);
    sodium_stackzero(SHALLOW);
    return s;
}

struct vault_stream *
vault_stream_open(const uint8_t key[VAULT_KEY], const uint8_t begin[VAULT_STREAM])
{
    struct vault_stream *s = vault_malloc(sizeof(*s));
    if (s)
        crypto_secretstream_xchacha20poly1305_init_pull(&s->state, begin, key);
    sodium_stackzero(SHALLOW);
    return s;
}

void
vault_stream_free(struct vault_stream *s)
{
    vault_free(s);
}

void
vault_seal(struct vault_stream *s, const void *p, size_t n, const void *also,
           size_t also_n, bool is_last, uint8_t *ret)
{
    uint8_t tag = is_last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
                          : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    crypto_secretstream_xchacha20poly1305_push(&s->state, ret, NULL, p, n, also, also_n,
                                               tag);
    sodium_stackzero(SHALLOW);
}

bool
vault_unseal(struct vault_stream *s, const uint8_t *p, size_t n, const void *also,
             size_t also_n, uint8_t *ret, bool *ret_is_last)
{
    uint8_t tag = 0;
    if (n < VAULT_MORE)
        return false;
    int r = crypto_secretstream_xchacha20poly1305_pull(&s->state, ret, NULL, &tag, p, n,
                                                       also, also_n);
    sodium_stackzero(SHALLOW);
    *ret_is_last = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
    return r == 0;
}

const char *
vault_version(void)
{
    return sodium_version_string();
}
