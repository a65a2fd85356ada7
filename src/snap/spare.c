/* SPDX-License-Identifier: MIT */
#include "snap/spare_priv.h"

#include <limits.h>

#include "base/file.h"
#include "snap/git_priv.h"
#include "snap/packs_priv.h"

enum {
    ID = 20,
    LINE = 2 * ID + 1, /* one in hex, and a newline */
    /* gitformat-pack(5), version 2: of an index and of each object in it. */
    HEAD = 8 + 256 * 4,
    TAIL = 2 * ID,
    EACH = ID + 4 + 4,
};

#define CEILING ((size_t)1 << 30)

static int
compare(const void *a, const void *b)
{
    return memcmp(a, b, LINE);
}

/* Lines in their order. git fails where one of them is not there. */
static int
list_needed(struct buf *ret, const char *repo_path, struct view commits,
            const char *doing, struct err *err)
{
    static const char *const args[] = { "rev-list", "--objects", "--no-object-names",
                                        "--stdin", NULL };
    int r = snap_git_run(repo_path, args, commits, ret, doing, err);
    if (r < 0)
        return r;
    bool is_whole = ret->n && ret->n % LINE == 0;
    for (size_t at = 0; is_whole && at < ret->n; at += LINE)
        is_whole = memchr(ret->p + at, '\n', LINE) == ret->p + at + LINE - 1;
    if (!is_whole)
        return err_set(err, ERR_DAMAGED, "%s: git has not listed objects", doing);
    qsort(ret->p, ret->n / LINE, LINE, compare);
    return 0;
}

static bool
is_needed(const struct buf *needed, const uint8_t *id)
{
    static const char digits[] = "0123456789abcdef";
    char line[LINE];
    for (size_t i = 0; i < ID; i++) {
        line[2 * i] = digits[id[i] >> 4];
        line[2 * i + 1] = digits[id[i] & 15];
    }
    line[LINE - 1] = '\n';
    return bsearch(line, needed->p, needed->n / LINE, LINE, compare);
}

/* The ids in the index of a pack. */
static int
parse_index(struct view index, struct view *ret)
{
    static const uint8_t magic[] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };
    if (index.n < HEAD + TAIL || memcmp(index.p, magic, sizeof(magic)) != 0)
        return ERR_DAMAGED;
    const uint8_t *count = index.p + HEAD - 4;
    size_t n = (size_t)count[0] << 24 | (size_t)count[1] << 16 | (size_t)count[2] << 8 |
               count[3];
    if (!n || n > (index.n - HEAD - TAIL) / EACH)
        return ERR_DAMAGED;
    *ret = (struct view){ index.p + HEAD, n * ID };
    return 0;
}

/* How many objects of a pack are needed, and how many are not. */
static int
count(uint64_t counts[2], const char *repo_path, const char *file,
      const struct buf *needed)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) index = { .ceiling = CEILING };
    struct view ids = { 0 };
    int r = buf_printf(&path, "%s/objects/pack/%.*s.idx", repo_path,
                       (int)strcspn(file, "."), file);
    if (!r)
        r = file_slurp(buf_str(&path), &index);
    if (!r)
        r = parse_index((struct view){ index.p, index.n }, &ids);
    for (size_t at = 0; at < ids.n; at += ID)
        counts[!is_needed(needed, ids.p + at)]++;
    return r;
}

int
snap_spare(bool *ret_is_all, const char *repo_path, struct view commits,
           const char *doing, struct err *err)
{
    AUTO(buf) needed = { .ceiling = CEILING };
    AUTO(buf) all = { 0 };
    AUTO(buf) kept = { 0 };
    AUTO(buf) spare = { 0 };
    bool is_all = true;
    int r = list_needed(&needed, repo_path, commits, doing, err);
    if (r < 0)
        return r;
    r = snap_packs(&all, repo_path);
    const struct snap_pack *pack = (const void *)all.p;
    for (size_t i = 0; !r && i < all.n / sizeof(*pack); i++) {
        uint64_t counts[2] = { 0 };
        r = count(counts, repo_path, pack[i].file, &needed);
        if (r < 0)
            return err_code(err, r, "%s: cannot read the index of '%s' in '%s'", doing,
                            pack[i].file, repo_path);
        is_all = is_all && (!counts[0] || !counts[1]);
        r = buf_printf(counts[0] ? &kept : &spare, "%s\n", pack[i].file);
    }
    if (!r && spare.n)
        r = snap_packs_remove(repo_path, (struct view){ kept.p, kept.n },
                              (struct view){ spare.p, spare.n });
    if (r < 0)
        return err_code(err, r, "%s", doing);
    *ret_is_all = is_all;
    return 0;
}
