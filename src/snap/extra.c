/* SPDX-License-Identifier: MIT */
#include "snap/extra_priv.h"

#include <string.h>

static const char word[] = "ahr-snapshot ", modes[] = "modes ";

enum { VERSION = 1, MODE_MAX = 0777 };

void
snap_extra_begin(struct buf *out, const struct snap_extra *x)
{
    buf_printf(out, "%s%d\n%s%o %o %o\n", word, VERSION, modes, x->file_mode,
               x->exec_mode, x->dir_mode);
}

void
snap_extra_put(struct buf *out, const struct snap_extra_item *i)
{
    buf_printf(out, "%c %o %s", i->is_empty_dir ? 'e' : 'm', i->mode, i->path);
    buf_append(out, "", 1);
}

static void
drop(struct view *v, size_t n)
{
    *v = (struct view){ v->p + n, v->n - n };
}

static bool
take_word(struct view *v, const char *s)
{
    size_t n = strlen(s);
    if (v->n < n || memcmp(v->p, s, n) != 0)
        return false;
    drop(v, n);
    return true;
}

/* Digits of that base and what ends them. */
static bool
take_number(struct view *v, unsigned base, unsigned max, char end, unsigned *ret)
{
    unsigned n = 0;
    size_t at = 0;
    for (; at < v->n && v->p[at] >= '0' && v->p[at] < '0' + base; at++) {
        n = n * base + (unsigned)(v->p[at] - '0');
        if (n > max)
            return false;
    }
    if (at == 0 || at == v->n || v->p[at] != (uint8_t)end)
        return false;
    drop(v, at + 1);
    *ret = n;
    return true;
}

int
snap_extra_head(struct snap_extra *ret, struct view *rest)
{
    struct view v = *rest;
    struct snap_extra x;
    unsigned version;
    if (!take_word(&v, word) || !take_number(&v, 10, 1000000, '\n', &version) || !version)
        return ERR_DAMAGED;
    if (version > VERSION)
        return ERR_NEWER;
    if (!take_word(&v, modes) || !take_number(&v, 8, MODE_MAX, ' ', &x.file_mode) ||
        !take_number(&v, 8, MODE_MAX, ' ', &x.exec_mode) ||
        !take_number(&v, 8, MODE_MAX, '\n', &x.dir_mode))
        return ERR_DAMAGED;
    *ret = x;
    *rest = v;
    return 0;
}

int
snap_extra_next(struct view *rest, struct snap_extra_item *ret)
{
    struct view v = *rest;
    if (v.n == 0)
        return 0;
    bool is_empty_dir = v.p[0] == 'e';
    unsigned mode;
    if ((!is_empty_dir && v.p[0] != 'm') || v.n < 2 || v.p[1] != ' ')
        return ERR_DAMAGED;
    drop(&v, 2);
    if (!take_number(&v, 8, MODE_MAX, ' ', &mode))
        return ERR_DAMAGED;
    const uint8_t *end = v.n ? memchr(v.p, 0, v.n) : NULL;
    if (!end)
        return ERR_DAMAGED;
    *ret = (struct snap_extra_item){ .is_empty_dir = is_empty_dir,
                                     .mode = mode,
                                     .path = (const char *)v.p };
    drop(&v, (size_t)(end + 1 - v.p));
    *rest = v;
    return 1;
}
