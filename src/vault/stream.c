/* SPDX-License-Identifier: MIT */
#include "vault/stream.h"

#include <errno.h>
#include <inttypes.h>

#include "base/file.h"
#include "vault/crypto_priv.h"
#include "vault/keys_priv.h"

enum { SEALED = VAULT_CHUNK + VAULT_MORE };

_Static_assert((int)VAULT_HEAD_CHECK == (int)VAULT_MORE, "");

/* -- into it -- */

struct vault_writer {
    struct vault_stream *stream;
    int fd; /* borrowed */
    size_t n;
    uint8_t plain[VAULT_CHUNK];
    uint8_t sealed[SEALED];
};

static int
write_head(struct vault_writer *w, const struct vault_head *h)
{
    uint8_t bytes[VAULT_HEAD_BYTES];
    vault_head_format(h, bytes);
    vault_seal(w->stream, NULL, 0, bytes, VAULT_HEAD_FACTS, false,
               bytes + VAULT_HEAD_FACTS);
    vault_head_seal(bytes);
    return file_write_all(w->fd, bytes, sizeof(bytes));
}

int
vault_writer_open(struct vault_writer **ret, int fd, struct vault_keys *keys,
                  struct err *err)
{
    struct vault_head h;
    const uint8_t *key = NULL;
    vault_keys_choose(keys, &h);
    int r = vault_keys_derive(keys, &h, &key, err);
    if (r < 0)
        return r;
    struct vault_writer *w = calloc(1, sizeof(*w));
    if (w) {
        w->fd = fd;
        w->stream = vault_stream_seal(key, h.begin);
    }
    r = w && w->stream ? write_head(w, &h) : -ENOMEM;
    if (r < 0) {
        vault_writer_free(w);
        return err_code(err, r, "cannot write it");
    }
    *ret = w;
    return 0;
}

static int
put_chunk(struct vault_writer *w, bool is_last)
{
    vault_seal(w->stream, w->plain, w->n, NULL, 0, is_last, w->sealed);
    int r = file_write_all(w->fd, w->sealed, w->n + VAULT_MORE);
    w->n = 0;
    return r;
}

int
vault_write(struct vault_writer *w, const void *p, size_t n)
{
    const uint8_t *from = p;
    int r = 0;
    while (!r && n) {
        size_t room = VAULT_CHUNK - w->n, some = n < room ? n : room;
        memcpy(w->plain + w->n, from, some);
        w->n += some;
        from += some;
        n -= some;
        if (w->n == VAULT_CHUNK)
            r = put_chunk(w, false);
    }
    return r;
}

int
vault_writer_end(struct vault_writer *w)
{
    return put_chunk(w, true);
}

void
vault_writer_free(struct vault_writer *w)
{
    if (!w)
        return;
    vault_stream_free(w->stream);
    vault_wipe(w->plain, sizeof(w->plain));
    free(w);
}

/* -- out of it -- */

struct vault_reader {
    struct vault_stream *stream;
    int fd; /* borrowed */
    bool is_over;
    uint64_t chunks; /* that were good */
    uint8_t plain[VAULT_CHUNK];
    uint8_t sealed[SEALED];
};

/* As many as there are. */
static ssize_t
read_up_to(int fd, uint8_t *p, size_t n)
{
    size_t got = 0;
    ssize_t some = 1;
    while (got < n && (some = file_read(fd, p + got, n - got)) > 0)
        got += (size_t)some;
    return some < 0 ? some : (ssize_t)got;
}

/* The chunk of nothing behind the facts opens with the right key alone. */
static int
check_key(struct vault_reader *r, const uint8_t *head, struct vault_keys *keys,
          struct err *err)
{
    bool is_last;
    if (vault_unseal(r->stream, head + VAULT_HEAD_FACTS, VAULT_HEAD_CHECK, head,
                     VAULT_HEAD_FACTS, r->plain, &is_last) &&
        !is_last)
        return 0;
    return err_set(err, -EACCES, "%s",
                   keys->kind == VAULT_KEY_FILE ? "this is not its key file"
                                                : "this is not its passphrase");
}

static int
open_with(struct vault_reader *r, struct vault_keys *keys, struct err *err)
{
    uint8_t head[VAULT_HEAD_BYTES];
    struct vault_head h = { 0 };
    const uint8_t *key = NULL;
    ssize_t n = read_up_to(r->fd, head, sizeof(head));
    if (n < 0)
        return err_code(err, (int)n, "it cannot be read");
    int e = vault_head_parse(head, (size_t)n, &h, err);
    if (!e)
        e = vault_keys_derive(keys, &h, &key, err);
    if (e < 0)
        return e;
    r->stream = vault_stream_open(key, h.begin);
    return r->stream ? check_key(r, head, keys, err)
                     : err_code(err, -ENOMEM, "it cannot be read");
}

int
vault_reader_open(struct vault_reader **ret, int fd, struct vault_keys *keys,
                  struct err *err)
{
    struct vault_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return err_code(err, -ENOMEM, "it cannot be read");
    r->fd = fd;
    int e = open_with(r, keys, err);
    if (e < 0)
        vault_reader_free(r);
    else
        *ret = r;
    return e;
}

static int
check_end(struct vault_reader *r, struct err *err)
{
    uint8_t byte;
    ssize_t n = file_read(r->fd, &byte, 1);
    if (n < 0)
        return err_code(err, (int)n, "it cannot be read");
    return n ? err_set(err, ERR_DAMAGED, "something was put behind its end") : 0;
}

int
vault_read(struct vault_reader *r, struct view *ret, struct err *err)
{
    if (r->is_over)
        return 0;
    bool is_last = false;
    ssize_t n = read_up_to(r->fd, r->sealed, sizeof(r->sealed));
    if (n < 0)
        return err_code(err, (int)n, "it cannot be read");
    if (!n)
        return err_set(err, ERR_DAMAGED, "it is cut off behind chunk %" PRIu64,
                       r->chunks);
    if (!vault_unseal(r->stream, r->sealed, (size_t)n, NULL, 0, r->plain, &is_last))
        return err_set(err, ERR_DAMAGED,
                       "chunk %" PRIu64 " of it is damaged, cut off or not in its place",
                       r->chunks + 1);
    if (!is_last && n < SEALED)
        return err_set(err, ERR_DAMAGED, "it is cut off in chunk %" PRIu64,
                       r->chunks + 1);
    int e = is_last ? check_end(r, err) : 0;
    if (e < 0)
        return e;
    r->is_over = is_last;
    r->chunks++;
    *ret = (struct view){ r->plain, (size_t)n - VAULT_MORE };
    return 1;
}

void
vault_reader_free(struct vault_reader *r)
{
    if (!r)
        return;
    vault_stream_free(r->stream);
    vault_wipe(r->plain, sizeof(r->plain));
    free(r);
}
