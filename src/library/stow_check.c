/* SPDX-License-Identifier: MIT */
/* stow_check.c -- a vault held against the files that are to be in it. */
#include "library/stow_priv.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/file.h"
#include "library/stub_priv.h"
#include "vault/open.h"

struct check {
    struct stow *stow;
    bool is_again; /* what is gone already is fine */
    int fd;        /* of the file that is looked at; -1: it is passed over */
    struct buf path;
    enum vault_root root;
    struct buf *list;
    uint64_t entries;
    struct err *err;
};

static int
differs(struct check *c)
{
    return err_set(c->err, ERR_BUSY,
                   "'%s/%s' is not as it is in the vault: it has changed%s",
                   c->stow->root_path[c->root], buf_str(&c->path),
                   c->is_again ? ", and stays as it is; move it away first"
                               : " meanwhile; try again");
}

/* A vault_pack_fns.begin. */
static int
on_begin(void *ctx, const char *id, const char *project)
{
    struct check *c = ctx;
    bool is_same = !strcmp(id, c->stow->id) &&
                   (c->is_again || !strcmp(project, c->stow->project));
    return is_same ? 0
                   : err_set(c->err, ERR_DAMAGED,
                             "the vault is that of another session, '%s'", id);
}

static int
note(struct check *c, const struct vault_entry *e)
{
    int r = buf_append(c->list, e->is_folder ? "d" : "f", 1);
    if (!r)
        r = buf_append(c->list, e->path, strlen(e->path) + 1);
    return r < 0 ? err_code(c->err, r, "cannot remember what is in the vault") : 0;
}

static int
open_entry(struct check *c, const struct vault_entry *e)
{
    struct stat st;
    int root_fd = c->stow->root_fd[e->root];
    c->fd = root_fd < 0 ? -ENOENT : below_open_file(root_fd, e->path);
    if (c->fd == -ENOENT && c->is_again) {
        c->fd = -1;
        return 0;
    }
    if (c->fd < 0) {
        int r = c->fd;
        c->fd = -1;
        return err_code(c->err, r, "cannot read '%s/%s'", c->stow->root_path[e->root],
                        e->path);
    }
    if (fstat(c->fd, &st) == 0 && (uint64_t)st.st_size == e->bytes)
        return 0;
    return differs(c);
}

/* A vault_pack_fns.entry. */
static int
on_entry(void *ctx, const struct vault_entry *e)
{
    struct check *c = ctx;
    bool is_gone = c->is_again && e->root == VAULT_SESSION;
    buf_clear(&c->path);
    buf_puts(&c->path, e->path);
    c->root = e->root;
    c->entries++;
    int r = e->root == VAULT_PROJECT ? note(c, e) : 0;
    if (r < 0 || e->is_folder || is_gone)
        return r;
    if (c->is_again && !strcmp(e->path, STUB_NAME) &&
        stub_is(c->stow->root_fd[e->root], c->stow->id))
        return 0;
    return open_entry(c, e);
}

/* A vault_pack_fns.bytes. */
static int
on_bytes(void *ctx, struct view bytes)
{
    struct check *c = ctx;
    uint8_t piece[VAULT_CHUNK];
    stow_step(c->stow, bytes.n);
    while (c->fd >= 0 && bytes.n) {
        size_t some = bytes.n < sizeof(piece) ? bytes.n : sizeof(piece);
        ssize_t n = file_read(c->fd, piece, some);
        if (n < 0)
            return err_code(c->err, (int)n, "cannot read '%s/%s'",
                            c->stow->root_path[c->root], buf_str(&c->path));
        if (!n || memcmp(piece, bytes.p, (size_t)n) != 0)
            return differs(c);
        bytes.p += n;
        bytes.n -= (size_t)n;
    }
    return 0;
}

/* A vault_pack_fns.done. */
static int
on_done(void *ctx)
{
    struct check *c = ctx;
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    return 0;
}

int
stow_check(struct stow *s, int fd, struct vault_keys *keys, bool is_again,
           struct buf *ret_list, struct err *err)
{
    static const struct vault_pack_fns fns = { on_begin, on_entry, on_bytes, on_done };
    struct check c = {
        .stow = s, .is_again = is_again, .fd = -1, .list = ret_list, .err = err
    };
    int r = vault_open(fd, keys, &fns, &c, err);
    (void)on_done(&c);
    buf_release(&c.path);
    if (!r && !is_again && c.entries != s->entries)
        r = err_set(err, ERR_BUSY,
                    "the files of session '%s' have changed meanwhile; try again", s->id);
    return r;
}
