/* SPDX-License-Identifier: MIT */
#include "snap/ref_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { REF_FILE_MAX = 1 << 20, PACKED_MAX = 256 << 20 };

static bool
is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static int
copy_id(char ret[static SNAP_COMMIT_MAX + 1], struct view text)
{
    size_t n = 0;
    while (n < text.n && n <= SNAP_COMMIT_MAX && is_hex(text.p[n]))
        n++;
    if (n < 40 || n > SNAP_COMMIT_MAX)
        return ERR_DAMAGED;
    memcpy(ret, text.p, n);
    ret[n] = 0;
    return 0;
}

static int
read_file(const char *repo_path, const char *name, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = buf_printf(&path, "%s/%s", repo_path, name);
    return r < 0 ? r : file_slurp(buf_str(&path), ret);
}

/* The place behind " wanted\n" in packed-refs, and before it "\nID". */
static const uint8_t *
find_packed(struct buf *packed, const char *repo_path, const char *wanted)
{
    if (read_file(repo_path, "packed-refs", packed) < 0 || !packed->n)
        return NULL;
    return memmem(packed->p, packed->n, wanted, strlen(wanted));
}

int
snap_ref_read(const char *repo_path, const char *ref,
              char ret_commit[static SNAP_COMMIT_MAX + 1])
{
    AUTO(buf) text = { .ceiling = REF_FILE_MAX };
    AUTO(buf) packed = { .ceiling = PACKED_MAX };
    AUTO(buf) wanted = { .ceiling = PATH_MAX };
    int r = read_file(repo_path, ref, &text);
    if (r >= 0)
        return copy_id(ret_commit, (struct view){ text.p, text.n });
    if (buf_printf(&wanted, " %s\n", ref) < 0)
        return wanted.failed;
    const uint8_t *at = find_packed(&packed, repo_path, buf_str(&wanted));
    if (!at)
        return ERR_MISSING;
    const uint8_t *line = memrchr(packed.p, '\n', (size_t)(at - packed.p));
    line = line ? line + 1 : packed.p;
    return copy_id(ret_commit, (struct view){ line, (size_t)(at - line) });
}

bool
snap_ref_has_id(const char *repo_path, uint64_t id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) packed = { .ceiling = PACKED_MAX };
    char wanted[32];
    bool has = false;
    snprintf(wanted, sizeof(wanted), "/%" PRIu64 "\n", id);
    if (find_packed(&packed, repo_path, wanted))
        return true;
    if (buf_printf(&path, "%s/refs/ahr", repo_path) < 0)
        return false;
    DIR *d = opendir(buf_str(&path));
    for (struct dirent *e; d && !has && (e = readdir(d));) {
        AUTO(buf) ref = { .ceiling = PATH_MAX };
        buf_printf(&ref, "%s/%" PRIu64, e->d_name, id);
        has = e->d_name[0] != '.' && faccessat(dirfd(d), buf_str(&ref), F_OK, 0) == 0;
    }
    if (d)
        closedir(d);
    return has;
}
