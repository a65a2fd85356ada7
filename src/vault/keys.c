/* SPDX-License-Identifier: MIT */
#include "vault/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "vault/crypto_priv.h"
#include "vault/keys_priv.h"

enum { PIECE = 4096 }; /* bytes of a key file at a time */

static const struct {
    uint64_t ops, mem_bytes;
} costs[] = {
    [VAULT_MODERATE] = { 3, UINT64_C(256) << 20 },
    [VAULT_INTERACTIVE] = { 2, UINT64_C(64) << 20 },
    [VAULT_SENSITIVE] = { 4, UINT64_C(1) << 30 },
};

void
vault_keys_release(struct vault_keys *k)
{
    vault_secret_release(&k->secret);
    vault_secret_release(&k->key);
}

int
vault_keys_init(struct vault_keys *k)
{
    return vault_secret_init(&k->secret, VAULT_PASSPHRASE_MAX);
}

/* -- a file that is the key -- */

static int
sum_file(struct vault_sum *sum, struct vault_secret *piece, int fd, uint64_t *ret_bytes)
{
    ssize_t n;
    while ((n = file_read(fd, piece->p, piece->cap)) > 0) {
        vault_sum_add(sum, piece->p, (size_t)n);
        *ret_bytes += (uint64_t)n;
        if (*ret_bytes > VAULT_KEY_FILE_MAX)
            return ERR_LIMIT;
    }
    return (int)n;
}

static int
read_key(struct vault_keys *k, int fd, uint64_t *ret_bytes)
{
    AUTO(vault_secret) piece = { 0 };
    struct vault_sum *sum = vault_sum_new();
    int r = sum ? vault_secret_init(&piece, PIECE) : -ENOMEM;
    if (!r)
        r = vault_secret_init(&k->secret, VAULT_KEY);
    if (!r)
        r = sum_file(sum, &piece, fd, ret_bytes);
    if (!r) {
        vault_sum_end(sum, k->secret.p);
        k->secret.n = VAULT_KEY;
    }
    vault_sum_free(sum);
    return r;
}

int
vault_keys_read_file(struct vault_keys *k, const char *path, struct err *err)
{
    uint64_t bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, "cannot open the key file '%s'", path);
    int r = read_key(k, fd, &bytes);
    close(fd);
    if (r == ERR_LIMIT)
        return err_set(err, ERR_USAGE, "'%s' is larger than 64 MB: too large for a key",
                       path);
    if (r < 0)
        return err_code(err, r, "cannot read the key file '%s'", path);
    if (bytes < VAULT_KEY_FILE_MIN)
        return err_set(err, ERR_USAGE,
                       "'%s' has %d bytes: a key file has at least %d; '--new-key' makes "
                       "one",
                       path, (int)bytes, VAULT_KEY_FILE_MIN);
    return 0;
}

static int
write_key(int fd, const char *path)
{
    AUTO(vault_secret) key = { 0 };
    int r = vault_secret_init(&key, VAULT_KEY);
    if (r < 0)
        return r;
    vault_random(key.p, VAULT_KEY);
    r = fchmod(fd, 0600) < 0 ? -errno : file_write_all(fd, key.p, VAULT_KEY);
    if (!r && fsync(fd) < 0 && errno != EINVAL)
        r = -errno;
    return r < 0 ? r : file_sync_dir(path);
}

int
vault_key_make(const char *path, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return err_set(
            err, -EEXIST,
            "'%s' is there already and is not overwritten; '--key-file' uses it", path);
    if (fd < 0)
        return err_sys(err, "cannot make the key file '%s'", path);
    int r = write_key(fd, path);
    close(fd);
    if (r == 0)
        return 0;
    unlink(path);
    return err_code(err, r, "cannot write the key file '%s'", path);
}

/* -- the key of one vault -- */

/* A key that was derived to read a vault may be cheaper to guess than what is asked for
 * now. */
void
vault_keys_choose(const struct vault_keys *k, struct vault_head *ret)
{
    struct vault_head h = { .kind = k->kind };
    if (k->kind == VAULT_PASSPHRASE) {
        h.ops = costs[k->cost].ops;
        h.mem_bytes = costs[k->cost].mem_bytes;
    }
    bool is_as_asked = k->key.n && k->of.kind == h.kind && k->of.ops == h.ops &&
                       k->of.mem_bytes == h.mem_bytes;
    memcpy(h.salt, k->of.salt, sizeof(h.salt));
    if (!is_as_asked)
        vault_random(h.salt, sizeof(h.salt));
    *ret = h;
}

static int
derive(struct vault_keys *k, const struct vault_head *h, struct err *err)
{
    int r = k->key.p ? 0 : vault_secret_init(&k->key, VAULT_KEY);
    k->key.n = 0;
    if (!r && h->kind == VAULT_KEY_FILE)
        vault_hash(k->key.p, VAULT_KEY, h->salt, sizeof(h->salt), k->secret.p);
    else if (!r)
        r = vault_derive(k->key.p, k->secret.p, k->secret.n, h->salt, h->ops,
                         h->mem_bytes);
    if (r < 0)
        return err_code(err, r, "cannot derive the key, which takes %u MB of memory",
                        (unsigned)(h->mem_bytes >> 20));
    k->of = *h;
    k->key.n = VAULT_KEY;
    return 0;
}

int
vault_keys_derive(struct vault_keys *k, const struct vault_head *h, const uint8_t **ret,
                  struct err *err)
{
    if (h->kind != k->kind)
        return err_set(err, ERR_USAGE, "%s",
                       h->kind == VAULT_KEY_FILE
                           ? "it was encrypted with a key file; say '--key-file FILE'"
                           : "it was encrypted with a passphrase, not with a key file");
    bool is_same = k->key.n && k->of.ops == h->ops && k->of.mem_bytes == h->mem_bytes &&
                   !memcmp(k->of.salt, h->salt, sizeof(h->salt));
    int r = is_same ? 0 : derive(k, h, err);
    if (!r)
        *ret = k->key.p;
    return r;
}
