/* SPDX-License-Identifier: MIT */
#include "vault/pack.h"

#include "base/le.h"

enum { BEGIN = 'B', FILE_ENTRY = 'f', FOLDER_ENTRY = 'd', END = 'E' };

/* What stands before the texts of each. */
enum {
    BEGIN_FIXED = 1 + 2 + 2,                 /* lengths of id and project */
    ENTRY_FIXED = 1 + 1 + 4 + 8 + 4 + 8 + 2, /* root mode time ns bytes length */
    END_FIXED = 1 + 8 + 8,                   /* entries, bytes */
    ID_MAX = 64,
    NS = 1000000000,
};

bool
vault_path_is(const char *path)
{
    size_t depth = 0;
    if (!*path || strlen(path) > VAULT_PATH_MAX)
        return false;
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        bool is_dots = (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
        if (!n || n > 255 || is_dots || ++depth > VAULT_DEPTH_MAX)
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

/* -- into bytes -- */

int
vault_pack_begin(struct buf *out, const char *id, const char *project)
{
    size_t id_n = strlen(id), project_n = strlen(project);
    uint8_t *p = id_n > ID_MAX || project_n > VAULT_TEXT_MAX ? NULL
                                                             : buf_grow(out, BEGIN_FIXED);
    if (!p)
        return out->failed ? out->failed : ERR_LIMIT;
    p[0] = BEGIN;
    put_le16(p + 1, (uint16_t)id_n);
    put_le16(p + 3, (uint16_t)project_n);
    buf_puts(out, id);
    return buf_puts(out, project);
}

int
vault_pack_entry(struct buf *out, const struct vault_entry *e)
{
    uint8_t *p = vault_path_is(e->path) ? buf_grow(out, ENTRY_FIXED) : NULL;
    if (!p)
        return out->failed ? out->failed : ERR_LIMIT;
    p[0] = e->is_folder ? FOLDER_ENTRY : FILE_ENTRY;
    p[1] = (uint8_t)e->root;
    put_le32(p + 2, e->mode);
    put_le64(p + 6, (uint64_t)e->mtime_s);
    put_le32(p + 14, e->mtime_ns);
    put_le64(p + 18, e->is_folder ? 0 : e->bytes);
    put_le16(p + 26, (uint16_t)strlen(e->path));
    return buf_puts(out, e->path);
}

int
vault_pack_end(struct buf *out, uint64_t entries, uint64_t bytes)
{
    uint8_t *p = buf_grow(out, END_FIXED);
    if (!p)
        return out->failed;
    p[0] = END;
    put_le64(p + 1, entries);
    put_le64(p + 9, bytes);
    return 0;
}

/* -- out of bytes -- */

void
vault_unpack_release(struct vault_unpack *u)
{
    buf_release(&u->part);
}

static int
odd(struct err *err, const char *what)
{
    return err_set(err, ERR_DAMAGED, "what it holds is not as ahr writes it: %s", what);
}

/* How long what begins here is in all, as far as its first bytes tell; 0: it begins
 * nothing. */
static size_t
length_of(const uint8_t *p, size_t n)
{
    size_t fixed = p[0] == BEGIN                                ? BEGIN_FIXED
                   : p[0] == FILE_ENTRY || p[0] == FOLDER_ENTRY ? ENTRY_FIXED
                   : p[0] == END                                ? END_FIXED
                                                                : 0;
    if (n < fixed || p[0] == END || !fixed)
        return fixed;
    return p[0] == BEGIN ? fixed + get_le16(p + 1) + get_le16(p + 3)
                         : fixed + get_le16(p + 26);
}

/* The texts are followed by a NUL that is ours. */
static int
take_begin(struct vault_unpack *u, const uint8_t *p, struct err *err)
{
    char id[ID_MAX + 1];
    size_t id_n = get_le16(p + 1), project_n = get_le16(p + 3);
    const char *project = (const char *)p + BEGIN_FIXED + id_n;
    if (u->has_begun || id_n > ID_MAX || project_n > VAULT_TEXT_MAX ||
        memchr(p + BEGIN_FIXED, 0, id_n + project_n))
        return odd(err, "its beginning");
    memcpy(id, p + BEGIN_FIXED, id_n);
    id[id_n] = 0;
    u->has_begun = true;
    return u->fns->begin(u->ctx, id, project);
}

static int
take_entry(struct vault_unpack *u, const uint8_t *p, struct err *err)
{
    const struct vault_entry e = { .root = p[1],
                                   .is_folder = p[0] == FOLDER_ENTRY,
                                   .mode = get_le32(p + 2),
                                   .mtime_s = (int64_t)get_le64(p + 6),
                                   .mtime_ns = get_le32(p + 14),
                                   .bytes = get_le64(p + 18),
                                   .path = (const char *)p + ENTRY_FIXED };
    if (!u->has_begun || p[1] >= VAULT_ROOTS || e.mode > 07777 || e.mtime_ns >= NS ||
        e.bytes > INT64_MAX || (e.is_folder && e.bytes) ||
        strlen(e.path) != get_le16(p + 26) || !vault_path_is(e.path) ||
        ++u->entries > VAULT_ENTRIES_MAX)
        return odd(err, "an entry");
    u->is_in_file = !e.is_folder;
    u->left = e.bytes;
    u->bytes += e.bytes; /* a sum that wraps does not fit the end's */
    return u->fns->entry(u->ctx, &e);
}

static int
take_end(struct vault_unpack *u, const uint8_t *p, struct err *err)
{
    if (!u->has_begun || get_le64(p + 1) != u->entries || get_le64(p + 9) != u->bytes)
        return odd(err, "its end");
    u->is_over = true;
    return 0;
}

static int
take_part(struct vault_unpack *u, struct err *err)
{
    const uint8_t *p = (const uint8_t *)buf_str(&u->part);
    if (u->part.failed)
        return err_code(err, u->part.failed, "it cannot be unpacked");
    int r = p[0] == BEGIN ? take_begin(u, p, err)
            : p[0] == END ? take_end(u, p, err)
                          : take_entry(u, p, err);
    buf_clear(&u->part);
    return r;
}

static int
take_bytes(struct vault_unpack *u, struct view *in)
{
    size_t n = u->left < in->n ? (size_t)u->left : in->n;
    int r = n ? u->fns->bytes(u->ctx, (struct view){ in->p, n }) : 0;
    u->left -= n;
    in->p += n;
    in->n -= n;
    if (r || u->left)
        return r;
    u->is_in_file = false;
    return u->fns->done(u->ctx);
}

/* Moves bytes to the part until it is whole: 1. */
static int
fill_part(struct vault_unpack *u, struct view *in, struct err *err)
{
    while (in->n) {
        if (u->is_over)
            return odd(err, "there is something behind its end");
        const uint8_t *first = u->part.n ? u->part.p : in->p;
        size_t want = length_of(first, u->part.n);
        if (!want)
            return odd(err, "an entry of no known kind");
        size_t n = want - u->part.n < in->n ? want - u->part.n : in->n;
        if (buf_append(&u->part, in->p, n) < 0)
            return err_code(err, u->part.failed, "it cannot be unpacked");
        in->p += n;
        in->n -= n;
        if (length_of(u->part.p, u->part.n) == u->part.n)
            return 1;
    }
    return 0;
}

int
vault_unpack_feed(struct vault_unpack *u, struct view in, struct err *err)
{
    int r = 0;
    while (!r && (in.n || (u->is_in_file && !u->left))) {
        if (u->is_in_file) {
            r = take_bytes(u, &in);
            continue;
        }
        r = fill_part(u, &in, err);
        if (r > 0)
            r = take_part(u, err);
    }
    return r;
}

int
vault_unpack_end(const struct vault_unpack *u, struct err *err)
{
    return u->is_over ? 0 : odd(err, "its end is missing");
}
