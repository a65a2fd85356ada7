/* SPDX-License-Identifier: MIT */
#include "snap/cache_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/le.h"
#include "base/varint.h"
#include "snap/ref_priv.h"

static const char magic[] = "ahr-cache 1\n";

enum {
    MAGIC = sizeof(magic) - 1,
    HEAD = MAGIC + 8, /* and the checksum */
    LOOK = 4 * 8 + 4,
    CACHE_MAX = 1 << 30,
};

bool
snap_look_is_same(const struct snap_look *a, const struct snap_look *b)
{
    return a->ino == b->ino && a->size_bytes == b->size_bytes &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->mode == b->mode;
}

uint64_t
snap_checksum(uint64_t before, struct view v)
{
    uint64_t h = before ^ v.n;
    for (; v.n >= 8; v.p += 8, v.n -= 8) {
        h = (h ^ get_le64(v.p)) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    for (; v.n; v.p++, v.n--) {
        h = (h ^ *v.p) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

static bool
take_text(struct view *v, char *ret, size_t max)
{
    if (!v->n || v->p[0] > max || v->p[0] >= v->n)
        return false;
    size_t n = v->p[0];
    memcpy(ret, v->p + 1, n);
    ret[n] = 0;
    *v = (struct view){ v->p + 1 + n, v->n - 1 - n };
    return strlen(ret) == n;
}

int
snap_cache_parse(struct snap_cache *ret, struct view bytes)
{
    if (bytes.n < HEAD || memcmp(bytes.p, magic, MAGIC) != 0)
        return ERR_DAMAGED;
    struct view v = { bytes.p + HEAD, bytes.n - HEAD };
    if (v.n < 8 || snap_checksum(0, v) != get_le64(bytes.p + MAGIC))
        return ERR_DAMAGED;
    *ret = (struct snap_cache){ .head.beside = get_le64(v.p) };
    v = (struct view){ v.p + 8, v.n - 8 };
    if (!take_text(&v, ret->head.ref, SNAP_REF_MAX) ||
        !take_text(&v, ret->head.ids.commit, SNAP_COMMIT_MAX) ||
        !take_text(&v, ret->head.ids.files, SNAP_COMMIT_MAX))
        return ERR_DAMAGED;
    ret->rest = v;
    return 0;
}

static struct snap_look
get_look(const uint8_t *p)
{
    return (struct snap_look){ .ino = get_le64(p),
                               .size_bytes = get_le64(p + 8),
                               .mtime_ns = (int64_t)get_le64(p + 16),
                               .ctime_ns = (int64_t)get_le64(p + 24),
                               .mode = get_le32(p + 32) };
}

bool
snap_cache_next(struct snap_cache *c, struct snap_look *ret)
{
    struct view v = c->rest;
    uint64_t shared, n;
    size_t before = strlen(c->path);
    c->rest = (struct view){ 0 };
    if (!get_varint(&v, &shared) || !get_varint(&v, &n) || shared > before || !n ||
        n >= PATH_MAX - shared || v.n < n + LOOK || memchr(v.p, 0, n))
        return false;
    if ((uint8_t)c->path[shared] >= v.p[0])
        return false;
    memcpy(c->path + shared, v.p, n);
    c->path[shared + n] = 0;
    *ret = get_look(v.p + n);
    c->rest = (struct view){ v.p + n + LOOK, v.n - n - LOOK };
    return true;
}

static int
put_place(struct buf *ret, const char *repo_path, bool is_new)
{
    buf_printf(ret, "%s/ahr.cache", repo_path);
    return is_new ? buf_printf(ret, ".%d.new", (int)getpid()) : ret->failed;
}

int
snap_cache_load(struct snap_cache *ret, const char *repo_path)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct buf bytes = { .ceiling = CACHE_MAX };
    char commit[SNAP_COMMIT_MAX + 1];
    int r = put_place(&path, repo_path, false);
    if (r >= 0)
        r = file_slurp(buf_str(&path), &bytes);
    if (r >= 0)
        r = snap_cache_parse(ret, (struct view){ bytes.p, bytes.n });
    if (r >= 0)
        r = snap_ref_read(repo_path, ret->head.ref, commit);
    if (r >= 0 && strcmp(commit, ret->head.ids.commit) == 0) {
        ret->bytes = bytes;
        return 0;
    }
    buf_release(&bytes);
    *ret = (struct snap_cache){ 0 };
    return ERR_MISSING;
}

void
snap_cache_release(struct snap_cache *c)
{
    buf_release(&c->bytes);
    c->rest = (struct view){ 0 };
}

static void
put_text(struct buf *b, const char *s)
{
    uint8_t n = (uint8_t)strlen(s);
    buf_append(b, &n, 1);
    buf_append(b, s, n);
}

void
snap_cache_begin(struct snap_cache_out *o, const struct snap_cache_head *h)
{
    uint8_t number[8] = { 0 };
    o->b.ceiling = CACHE_MAX;
    buf_clear(&o->b);
    buf_append(&o->b, magic, MAGIC);
    buf_append(&o->b, number, sizeof(number));
    put_le64(number, h->beside);
    buf_append(&o->b, number, sizeof(number));
    put_text(&o->b, h->ref);
    put_text(&o->b, h->ids.commit);
    put_text(&o->b, h->ids.files);
    o->before = "";
    o->is_disordered = false;
}

void
snap_cache_put(struct snap_cache_out *o, const char *path, const struct snap_look *l)
{
    size_t shared = 0;
    while (path[shared] && path[shared] == o->before[shared])
        shared++;
    size_t n = strlen(path + shared);
    if ((uint8_t)path[shared] <= (uint8_t)o->before[shared]) {
        o->is_disordered = true;
        return;
    }
    if (buf_reserve(&o->b, (size_t)2 * VARINT_MAX + n + LOOK) < 0)
        return;
    uint8_t *p = o->b.p + o->b.n;
    p = put_varint(p, shared);
    p = put_varint(p, n);
    memcpy(p, path + shared, n);
    p += n;
    put_le64(p, l->ino);
    put_le64(p + 8, l->size_bytes);
    put_le64(p + 16, (uint64_t)l->mtime_ns);
    put_le64(p + 24, (uint64_t)l->ctime_ns);
    put_le32(p + 32, l->mode);
    o->b.n = (size_t)(p + LOOK - o->b.p);
    o->before = path;
}

int
snap_cache_end(struct snap_cache_out *o)
{
    if (o->b.failed || o->is_disordered)
        return o->b.failed ? o->b.failed : ERR_DAMAGED;
    put_le64(o->b.p + MAGIC,
             snap_checksum(0, (struct view){ o->b.p + HEAD, o->b.n - HEAD }));
    return 0;
}

/* Not synced: what a power loss leaves of it has another checksum. */
int
snap_cache_write(const struct snap_cache_out *o, const char *repo_path)
{
    AUTO(buf) fresh = { .ceiling = PATH_MAX };
    if (put_place(&fresh, repo_path, true) < 0)
        return ERR_LIMIT;
    int fd = open(buf_str(&fresh), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                  0600);
    if (fd < 0)
        return -errno;
    int r = file_write_all(fd, o->b.p, o->b.n);
    if (close(fd) < 0 && r >= 0)
        r = -errno;
    if (r < 0)
        unlink(buf_str(&fresh));
    return r;
}

int
snap_cache_place(const char *repo_path, bool is_good)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) fresh = { .ceiling = PATH_MAX };
    if (put_place(&path, repo_path, false) < 0 || put_place(&fresh, repo_path, true) < 0)
        return ERR_LIMIT;
    if (is_good && rename(buf_str(&fresh), buf_str(&path)) == 0)
        return 0;
    int r = is_good ? -errno : 0;
    unlink(buf_str(&fresh));
    return r;
}

void
snap_cache_drop(const char *repo_path)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (put_place(&path, repo_path, false) >= 0)
        unlink(buf_str(&path));
}
