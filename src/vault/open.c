/* SPDX-License-Identifier: MIT */
#include "vault/open.h"

#include "vault/stream.h"

static int
read_all(struct vault_reader *reader, struct vault_unpack *u, struct err *err)
{
    struct view some;
    int r;
    while ((r = vault_read(reader, &some, err)) > 0) {
        r = vault_unpack_feed(u, some, err);
        if (r < 0)
            return r;
    }
    return r < 0 ? r : vault_unpack_end(u, err);
}

int
vault_open(int fd, struct vault_keys *keys, const struct vault_pack_fns *fns, void *ctx,
           struct err *err)
{
    AUTO(vault_unpack) u = { .fns = fns, .ctx = ctx };
    struct vault_reader *reader;
    int r = vault_reader_open(&reader, fd, keys, err);
    if (r < 0)
        return r;
    r = read_all(reader, &u, err);
    vault_reader_free(reader);
    return r;
}
