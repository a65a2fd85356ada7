/* SPDX-License-Identifier: MIT */
/*
 * swap.c -- a library made anew beside the old one, and put in its place.
 *
 * Nobody has the old one open then. Its log goes before the new one comes, which would
 * take it for its own; and what was in it is written into the old one before that, so
 * that killed between any two calls there is the old one or the new one, whole.
 */
#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_priv.h"

int
store_new_beside(struct store **ret, const char *path, struct err *err)
{
    AUTO(buf) name = { 0 };
    int r = buf_printf(&name, "%s.new", path);
    struct store *s = r < 0 ? NULL : store_new(buf_str(&name), true, 0);
    if (!s)
        return err_code(err, -ENOMEM, "cannot make '%s.new'", path);
    r = store_lock_new(s, err);
    if (!r)
        r = store_make(s, err);
    if (r < 0)
        store_close(s);
    else
        *ret = s;
    return r;
}

void
store_sweep(const char *path)
{
    AUTO(buf) name = { 0 };
    if (buf_printf(&name, "%s.new", path) < 0 || access(buf_str(&name), F_OK) < 0)
        return;
    struct store *left = store_new(buf_str(&name), true, 0);
    if (left)
        (void)store_lock_new(left, NULL); /* with it, closing removes all */
    store_close(left);
}

/* The caller has the lock of `to` alone. */
int
store_place(const char *from, const char *to, struct err *err)
{
    int r = store_remove_beside(to, err);
    if (r < 0)
        return r;
    r = file_sync_dir(to);
    if (!r && rename(from, to) < 0)
        r = -errno;
    if (!r)
        r = file_sync_dir(to);
    return r < 0 ? err_code(err, r, "cannot put '%s' in its place", to) : 0;
}

/* As far as it is one. Whoever closes the last connection empties the log. */
static void
settle(struct store *old)
{
    if (store_look(old->path, NULL) > 0 && store_connect(old, "mode=rw", NULL) == 0)
        sqlite3_wal_checkpoint_v2(old->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    store_disconnect(old);
}

int
store_claim(struct store *s, const char *path, unsigned wait_ms, struct err *err)
{
    struct store *old = store_new(path, true, wait_ms);
    if (!old)
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    int r = store_lock_alone(old, err);
    if (r < 0) {
        store_close(old);
        return r;
    }
    s->old = old;
    return 0;
}

static int
swap(struct store *s, const char *path, unsigned wait_ms, struct err *err)
{
    int r = store_seal(s, err);
    if (r >= 0 && !s->old)
        r = store_claim(s, path, wait_ms, err);
    if (r < 0 || !s->old)
        return r;
    s->old->wait_ms = 0; /* who has it locked now is no ahr */
    store_enter(s->old);
    settle(s->old);
    return store_place(s->path, path, err);
}

int
store_swap(struct store *s, const char *path, unsigned wait_ms, struct err *err)
{
    int r = swap(s, path, wait_ms, err);
    store_close(s);
    return r;
}
