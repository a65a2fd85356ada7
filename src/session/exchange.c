/* SPDX-License-Identifier: MIT */
/* exchange.c -- two folders change places; what Linux alone can do in one step. */
#include "session/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

struct places {
    struct buf here, new, old;
};

static void
places_release(struct places *p)
{
    buf_release(&p->here);
    buf_release(&p->new);
    buf_release(&p->old);
}

static int
places_make(struct places *p, const char *home, const char *id)
{
    p->here.ceiling = p->new.ceiling = p->old.ceiling = PATH_MAX;
    buf_printf(&p->here, "%s/sessions/%s", home, id);
    buf_printf(&p->new, "%s/sessions/" SESSION_NEW "%s", home, id);
    buf_printf(&p->old, "%s/sessions/" SESSION_OLD "%s", home, id);
    return p->here.failed || p->new.failed || p->old.failed ? -ENAMETOOLONG : 0;
}

/* The old one aside, the new one to its place; or back. */
static int
exchange_in_two(struct places *p)
{
    const char *here = buf_str(&p->here), *old = buf_str(&p->old);
    if (rename(here, old) < 0)
        return -errno;
    if (rename(buf_str(&p->new), here) == 0)
        return 0;
    int r = -errno;
    (void)rename(old, here);
    return r;
}

int
session_exchange(const char *home, const char *id, struct buf *ret_old, struct err *err)
{
    AUTO(places) p = { 0 };
    struct buf *old = &p.new;
    int r = places_make(&p, home, id);
    if (!r)
        r = buf_reserve(ret_old, p.old.n + p.new.n);
    if (!r)
        r = renameat2(AT_FDCWD, buf_str(&p.new), AT_FDCWD, buf_str(&p.here),
                      RENAME_EXCHANGE) < 0
                ? -errno
                : 0;
    if (r == -EINVAL || r == -ENOSYS || r == -ENOTSUP) {
        r = exchange_in_two(&p);
        old = &p.old;
    }
    if (!r)
        (void)buf_append(ret_old, old->p, old->n); /* there was room before */
    return r < 0
               ? err_code(err, r, "cannot put a new '%s/sessions/%s' in place", home, id)
               : 0;
}
