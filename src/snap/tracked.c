/* SPDX-License-Identifier: MIT */
/*
 * The index, as gitformat-index(5) has it. It does not say how long its hashes are: what
 * makes sense to its last byte is right. Names ascend, so that one is found by halving.
 */
#include "snap/tracked_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/ignore_priv.h"

enum {
    HEAD_BYTES = 12,
    MODE_AT = 24, /* in an entry */
    HASH_AT = 40,
    SHA1_BYTES = 20,
    SHA256_BYTES = 32,
    FLAG_EXTENDED = 0x4000,
    NAME_MASK = 0xfff, /* of the flags: its length, or that it is longer */
    TYPE_MASK = 0170000,
    TYPE_DIR = 0040000, /* one that is not checked out, in place of its files */
    TYPE_FILE = 0100000,
    TYPE_LINK = 0120000,
    TYPE_REPO = 0160000,    /* another repository */
    POINTER_MAX = 64 << 10, /* bytes of a file that names a folder */
};

static uint32_t
get_be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t
get_be32(const uint8_t *p)
{
    return get_be16(p) << 16 | get_be16(p + 2);
}

struct index_in {
    const uint8_t *begin, *p, *end; /* p: what is left, without the checksum behind it */
    unsigned version;
    size_t hash_bytes;
    const uint8_t *name; /* of the last entry */
    size_t name_n;
    unsigned stage;
    uint8_t room[2][PATH_MAX]; /* for names that are not in there as they are; in turn */
    unsigned turn;
};

/* git's variable numbers, in which no value can be written twice. */
static int
take_varint(struct index_in *in, size_t *ret)
{
    size_t v = 0;
    for (unsigned i = 0; i < 4 && in->p < in->end; i++) {
        uint8_t c = *in->p++;
        v = (v << 7) + (c & 0x7f);
        if (!(c & 0x80)) {
            *ret = v;
            return 0;
        }
        v++;
    }
    return ERR_DAMAGED;
}

/* Version 4 has of a name only what is different from the one before. */
static bool
has_whole_names(unsigned version)
{
    return version < 4;
}

/* Up to its NUL, which is taken too; `kept` bytes of the last one stand before it. */
static int
take_name(struct index_in *in, size_t kept)
{
    const uint8_t *nul = memchr(in->p, 0, (size_t)(in->end - in->p));
    size_t n = nul ? (size_t)(nul - in->p) : SIZE_MAX;
    if (n >= PATH_MAX - kept || n + kept == 0)
        return ERR_DAMAGED;
    const uint8_t *name = in->p;
    if (!has_whole_names(in->version)) {
        uint8_t *room = in->room[in->turn ^= 1];
        if (kept)
            memcpy(room, in->name, kept);
        memcpy(room + kept, in->p, n);
        name = room;
    }
    in->name = name;
    in->name_n = kept + n;
    in->p = nul + 1;
    return 0;
}

/* Where the padding of an entry ends that began there. */
static int
take_padding(struct index_in *in, const uint8_t *start)
{
    size_t over = (size_t)(in->p - start) % 8;
    size_t n = over ? 8 - over : 0;
    if ((size_t)(in->end - in->p) < n)
        return ERR_DAMAGED;
    in->p += n;
    return 0;
}

static bool
is_type(uint32_t mode)
{
    uint32_t type = mode & TYPE_MASK;
    return type == TYPE_FILE || type == TYPE_LINK || type == TYPE_REPO ||
           type == TYPE_DIR;
}

/* What every entry begins with. */
static int
take_fixed(struct index_in *in, uint32_t *ret_mode, uint32_t *ret_flags)
{
    size_t n = HASH_AT + in->hash_bytes + 2;
    if ((size_t)(in->end - in->p) < n + 2) /* there is more behind it in any case */
        return ERR_DAMAGED;
    uint32_t mode = get_be32(in->p + MODE_AT);
    uint32_t flags = get_be16(in->p + HASH_AT + in->hash_bytes);
    if (!is_type(mode) || ((flags & FLAG_EXTENDED) && in->version < 3))
        return ERR_DAMAGED;
    in->p += n + (flags & FLAG_EXTENDED ? 2 : 0);
    *ret_mode = mode;
    *ret_flags = flags;
    return 0;
}

static int
take_entry(struct index_in *in, uint32_t *ret_mode, uint32_t *ret_flags)
{
    const uint8_t *start = in->p;
    size_t cut = in->name_n;
    int r = take_fixed(in, ret_mode, ret_flags);
    if (!r && !has_whole_names(in->version))
        r = take_varint(in, &cut);
    if (!r && cut > in->name_n)
        r = ERR_DAMAGED;
    if (!r)
        r = take_name(in, in->name_n - cut);
    if (!r && has_whole_names(in->version))
        r = take_padding(in, start);
    return r;
}

/* 1: another name than the last one's. */
static int
check_order(const struct index_in *in, struct view before, uint32_t flags)
{
    size_t n = in->name_n < before.n ? in->name_n : before.n;
    int cmp = n ? memcmp(in->name, before.p, n) : 0;
    unsigned stage = flags >> 12 & 3;
    if (!cmp)
        cmp = (in->name_n > before.n) - (in->name_n < before.n);
    if (cmp < 0 || (!cmp && stage <= in->stage))
        return ERR_DAMAGED;
    return cmp > 0;
}

/* Whole names stay where they are. */
static int
add_name(struct snap_tracked *t, const struct index_in *in)
{
    if (has_whole_names(in->version)) {
        uint32_t at = (uint32_t)(in->name - in->begin);
        return buf_append(&t->offsets, &at, sizeof(at));
    }
    uint32_t at = (uint32_t)t->paths.n;
    size_t offsets_n = t->offsets.n;
    buf_append(&t->offsets, &at, sizeof(at));
    buf_append(&t->paths, in->name, in->name_n);
    buf_append(&t->paths, "", 1);
    if (!t->paths.failed && !t->offsets.failed)
        return 0;
    t->paths.n = at;
    t->offsets.n = offsets_n;
    return t->paths.failed ? t->paths.failed : t->offsets.failed;
}

static int
read_entries(struct snap_tracked *t, struct index_in *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mode = 0, flags = 0;
        struct view before = { in->name, in->name_n };
        int r = take_entry(in, &mode, &flags);
        if (r < 0)
            return r;
        size_t told = flags & NAME_MASK;
        if (told != (in->name_n < NAME_MASK ? in->name_n : NAME_MASK))
            return ERR_DAMAGED;
        r = check_order(in, before, flags);
        in->stage = flags >> 12 & 3;
        if (r > 0 && (mode & TYPE_MASK) != TYPE_DIR)
            r = add_name(t, in);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Whole to the last byte. A split index has most of its names elsewhere: 1. */
static int
read_extensions(struct index_in *in)
{
    bool is_split = false;
    while (in->p < in->end) {
        size_t left = (size_t)(in->end - in->p);
        if (left < 8 || get_be32(in->p + 4) > left - 8)
            return ERR_DAMAGED;
        is_split |= !memcmp(in->p, "link", 4);
        in->p += 8 + get_be32(in->p + 4);
    }
    return is_split;
}

static int
parse_as(struct snap_tracked *ret, struct view index, size_t hash_bytes)
{
    struct index_in in = { .hash_bytes = hash_bytes };
    if (index.n < HEAD_BYTES + hash_bytes || memcmp(index.p, "DIRC", 4) != 0)
        return ERR_DAMAGED;
    in.version = get_be32(index.p + 4);
    if (in.version < 2 || in.version > 4)
        return ERR_DAMAGED;
    in.begin = index.p;
    in.p = index.p + HEAD_BYTES;
    in.end = index.p + index.n - hash_bytes;
    int r = read_entries(ret, &in, get_be32(index.p + 8));
    if (!r)
        r = read_extensions(&in);
    if (r > 0)
        snap_tracked_release(ret);
    return r < 0 ? r : 0;
}

/* Offsets are into the index, where it has whole names. */
static int
parse(struct snap_tracked *ret, struct view index)
{
    struct snap_tracked sha1 = { .paths.ceiling = SNAP_INDEX_MAX,
                                 .offsets.ceiling = SNAP_INDEX_MAX };
    struct snap_tracked sha256 = sha1;
    int r = parse_as(&sha1, index, SHA1_BYTES);
    if (r == ERR_DAMAGED) {
        int r256 = parse_as(&sha256, index, SHA256_BYTES);
        if (!r256 || sha256.offsets.n > sha1.offsets.n) {
            snap_tracked_release(&sha1);
            *ret = sha256;
            return r256;
        }
        snap_tracked_release(&sha256);
    }
    *ret = sha1;
    return r;
}

static bool
is_needed(const struct snap_tracked *t, struct view index)
{
    return index.n >= HEAD_BYTES && t->offsets.n &&
           has_whole_names(get_be32(index.p + 4));
}

int
snap_tracked_parse(struct snap_tracked *ret, struct view index)
{
    int r = parse(ret, index);
    if (!is_needed(ret, index) || buf_append(&ret->paths, index.p, index.n) >= 0)
        return r;
    r = ret->paths.failed;
    snap_tracked_release(ret);
    return r;
}

void
snap_tracked_release(struct snap_tracked *t)
{
    buf_release(&t->paths);
    buf_release(&t->offsets);
}

/* Only the owner may leave the time of last access alone. */
static int
open_file(int dir_fd, const char *name)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = openat(dir_fd, name, flags | O_NOATIME);
    return fd < 0 && errno == EPERM ? openat(dir_fd, name, flags) : fd;
}

/* Appends the regular file's bytes, as many as max. What cannot be read is as if it were
 * not there; -ENOMEM. */
static int
read_file(int dir_fd, const char *name, size_t max, struct buf *out)
{
    struct stat st;
    int fd = open_file(dir_fd, name);
    if (fd < 0)
        return 0;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    size_t left = is_file ? (size_t)st.st_size : 0;
    left = left < max ? left : max;
    int r = buf_reserve(out, left);
    while (!r && left) {
        ssize_t got = file_read(fd, out->p + out->n, left);
        if (got <= 0)
            break;
        out->n += (size_t)got;
        left -= (size_t)got;
    }
    close(fd);
    return r == -ENOMEM ? r : 0;
}

/* The folder that a file names behind `prefix`; -1: there is none. */
static int
open_named(int dir_fd, const char *file, const char *prefix)
{
    AUTO(buf) text = { 0 };
    if (read_file(dir_fd, file, POINTER_MAX, &text) < 0)
        return -1;
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    const char *path = buf_str(&text);
    size_t skip = strlen(prefix);
    if (strncmp(path, prefix, skip) != 0 || !path[skip])
        return -1;
    return openat(dir_fd, path + skip, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int
snap_tracked_read(struct snap_tracked *ret, int dir_fd, struct buf *ret_exclude)
{
    *ret = (struct snap_tracked){ 0 };
    int git_fd = openat(dir_fd, ".git", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (git_fd < 0)
        git_fd = open_named(dir_fd, ".git", "gitdir: ");
    if (git_fd < 0)
        return 0;
    int common_fd = open_named(git_fd, "commondir", "");
    int r = read_file(common_fd < 0 ? git_fd : common_fd, "info/exclude",
                      SNAP_IGNORE_FILE_MAX, ret_exclude);
    AUTO(buf) index = { .ceiling = (size_t)SNAP_INDEX_MAX + 1 };
    if (!r)
        r = read_file(git_fd, "index", (size_t)SNAP_INDEX_MAX + 1, &index);
    struct view bytes = { index.p, index.n };
    int parsed = !r && index.n <= SNAP_INDEX_MAX ? parse(ret, bytes) : 0;
    if (parsed < 0)
        snap_tracked_release(ret);
    if (is_needed(ret, bytes)) {
        ret->paths = index;
        index = (struct buf){ 0 };
    }
    if (common_fd >= 0)
        close(common_fd);
    close(git_fd);
    return parsed == -ENOMEM ? parsed : r;
}

const char *
snap_tracked_at(const struct snap_tracked *t, size_t i)
{
    uint32_t at;
    if (i >= t->offsets.n / sizeof(at))
        return NULL;
    memcpy(&at, t->offsets.p + i * sizeof(at), sizeof(at));
    return (const char *)t->paths.p + at;
}

/* The first that is not before path, or path and a slash; NULL: all are. */
static const char *
find(const struct snap_tracked *t, const char *path, bool has_slash)
{
    size_t n = strlen(path), from = 0, to = t->offsets.n / sizeof(uint32_t);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const char *p = snap_tracked_at(t, middle);
        int cmp = has_slash ? strncmp(p, path, n) : strcmp(p, path);
        if (!cmp && has_slash)
            cmp = (uint8_t)p[n] < '/' ? -1 : 1;
        if (cmp < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return snap_tracked_at(t, from);
}

bool
snap_tracked_has(const struct snap_tracked *t, const char *path)
{
    const char *p = find(t, path, false);
    return p && !strcmp(p, path);
}

bool
snap_tracked_below(const struct snap_tracked *t, const char *path)
{
    size_t n = strlen(path);
    const char *p = find(t, path, true);
    return p && !strncmp(p, path, n) && p[n] == '/';
}
