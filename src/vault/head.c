/* SPDX-License-Identifier: MIT */
#include "vault/head.h"

#include "base/le.h"
#include "vault/crypto_priv.h"

_Static_assert(VAULT_HEAD_FACTS + VAULT_HEAD_CHECK + VAULT_HEAD_SUM == VAULT_HEAD_BYTES,
               "");

enum { AT_VERSION = 8, AT_KIND = 10, AT_CHUNK = 12, AT_OPS = 16, AT_MEM = 24 };
enum { AT_SALT = 32, AT_BEGIN = 48 };

void
vault_head_format(const struct vault_head *h, uint8_t ret[VAULT_HEAD_FACTS])
{
    memset(ret, 0, VAULT_HEAD_FACTS);
    memcpy(ret, VAULT_MAGIC, AT_VERSION);
    put_le16(ret + AT_VERSION, VAULT_VERSION);
    put_le16(ret + AT_KIND, (uint16_t)h->kind);
    put_le32(ret + AT_CHUNK, VAULT_CHUNK);
    put_le64(ret + AT_OPS, h->ops);
    put_le64(ret + AT_MEM, h->mem_bytes);
    memcpy(ret + AT_SALT, h->salt, sizeof(h->salt));
    memcpy(ret + AT_BEGIN, h->begin, sizeof(h->begin));
}

static void
sum(const uint8_t *p, uint8_t ret[VAULT_HEAD_SUM])
{
    vault_hash(ret, VAULT_HEAD_SUM, p, VAULT_HEAD_FACTS + VAULT_HEAD_CHECK, NULL);
}

void
vault_head_seal(uint8_t bytes[VAULT_HEAD_BYTES])
{
    sum(bytes, bytes + VAULT_HEAD_FACTS + VAULT_HEAD_CHECK);
}

/* Whoever asks for more wants to keep this machine busy. */
static int
check_cost(const struct vault_head *h, struct err *err)
{
    if (h->kind == VAULT_KEY_FILE)
        return h->ops || h->mem_bytes
                   ? err_set(err, ERR_DAMAGED, "its head is not as ahr writes it")
                   : 0;
    if (h->ops < 1 || h->ops > VAULT_OPS_MAX || h->mem_bytes < VAULT_MEM_MIN ||
        h->mem_bytes > VAULT_MEM_MAX)
        return err_set(
            err, ERR_LIMIT,
            "it asks for more work or memory than ahr ever gives to find a key");
    return 0;
}

int
vault_head_parse(const uint8_t *p, size_t n, struct vault_head *ret, struct err *err)
{
    uint8_t expected[VAULT_HEAD_SUM];
    if (n < AT_KIND || memcmp(p, VAULT_MAGIC, AT_VERSION) != 0)
        return err_set(err, ERR_DAMAGED, "it is no vault of ahr");
    unsigned version = get_le16(p + AT_VERSION);
    if (version != VAULT_VERSION)
        return err_set(err, ERR_NEWER, "it is of version %u; this ahr reads version %d",
                       version, VAULT_VERSION);
    if (n < VAULT_HEAD_BYTES)
        return err_set(err, ERR_DAMAGED, "it is cut off within its head");
    sum(p, expected);
    if (memcmp(expected, p + VAULT_HEAD_FACTS + VAULT_HEAD_CHECK, sizeof(expected)) != 0)
        return err_set(err, ERR_DAMAGED, "its head is damaged");
    struct vault_head h = { .ops = get_le64(p + AT_OPS),
                            .mem_bytes = get_le64(p + AT_MEM) };
    unsigned kind = get_le16(p + AT_KIND);
    if ((kind != VAULT_PASSPHRASE && kind != VAULT_KEY_FILE) ||
        get_le32(p + AT_CHUNK) != VAULT_CHUNK)
        return err_set(err, ERR_DAMAGED, "its head is not as ahr writes it");
    h.kind = kind;
    int r = check_cost(&h, err);
    if (r < 0)
        return r;
    memcpy(h.salt, p + AT_SALT, sizeof(h.salt));
    memcpy(h.begin, p + AT_BEGIN, sizeof(h.begin));
    *ret = h;
    return 0;
}
