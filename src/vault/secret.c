/* SPDX-License-Identifier: MIT */
#include "vault/secret.h"

#include <errno.h>

#include "base/file.h"
#include "vault/crypto_priv.h"

int
vault_secret_init(struct vault_secret *s, size_t cap)
{
    uint8_t *p = vault_malloc(cap);
    if (!p)
        return -ENOMEM;
    *s = (struct vault_secret){ .p = p, .cap = cap };
    return 0;
}

void
vault_secret_release(struct vault_secret *s)
{
    vault_free(s->p);
    *s = (struct vault_secret){ 0 };
}

void
vault_secret_cut_line(struct vault_secret *s)
{
    const uint8_t *end = s->n ? memchr(s->p, '\n', s->n) : NULL;
    size_t n = end ? (size_t)(end - s->p) : s->n;
    if (n && s->p[n - 1] == '\r')
        n--;
    vault_wipe(s->p + n, s->n - n);
    s->n = n;
}

int
vault_secret_read_line(struct vault_secret *s, int fd)
{
    ssize_t n = 1;
    s->n = 0;
    while (n > 0 && s->n < s->cap && !(s->n && memchr(s->p, '\n', s->n))) {
        n = file_read(fd, s->p + s->n, s->cap - s->n);
        if (n < 0)
            return (int)n;
        s->n += (size_t)n;
    }
    bool is_whole = n == 0 || (s->n && memchr(s->p, '\n', s->n));
    if (!is_whole)
        return ERR_LIMIT;
    vault_secret_cut_line(s);
    return 0;
}
