/* SPDX-License-Identifier: MIT */
/*
 * vault_key.c -- the keys of a vault, in hex, one a line: that of the vault, and that of
 * its stream. Made by libsodium alone, from the layout in doc/vault.md.
 * usage: vault_key VAULT < PASSPHRASE, or vault_key VAULT KEYFILE
 */
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>

static void
print(const uint8_t key[32])
{
    for (int i = 0; i < 32; i++)
        printf("%02x", key[i]);
    putchar('\n');
}

static uint64_t
number(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 8; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static int
make_key(const uint8_t head[72], FILE *in, int is_file, uint8_t key[32])
{
    uint8_t text[4096], sum[32];
    size_t n = fread(text, 1, sizeof(text), in);
    if (is_file) {
        crypto_generichash(sum, 32, text, n, NULL, 0);
        return crypto_generichash(key, 32, head + 32, 16, sum, 32);
    }
    return crypto_pwhash(key, 32, (const char *)text, n, head + 32, number(head + 16),
                         (size_t)number(head + 24), crypto_pwhash_ALG_ARGON2ID13);
}

int
main(int argc, char **argv)
{
    uint8_t head[72], key[32], stream[32];
    FILE *vault = argc > 1 ? fopen(argv[1], "rb") : NULL;
    FILE *in = argc > 2 ? fopen(argv[2], "rb") : stdin;
    if (sodium_init() < 0 || !vault || !in || fread(head, 1, 72, vault) != 72 ||
        make_key(head, in, argc > 2, key) < 0)
        return 1;
    crypto_core_hchacha20(stream, head + 48, key, NULL);
    print(key);
    print(stream);
    fclose(vault);
    return 0;
}
