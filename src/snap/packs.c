/* SPDX-License-Identifier: MIT */
#include "snap/packs_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "snap/git_priv.h"

#define FOLDER "objects/pack"

static const char beginning[] = FOLDER "/pack"; /* of the names of files */

/* -- which there are -- */

static int
compare(const void *a, const void *b)
{
    const struct snap_pack *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static DIR *
open_folder(const char *repo_path)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (buf_printf(&path, "%s/" FOLDER, repo_path) < 0) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return opendir(buf_str(&path));
}

static bool
is_pack(const char *file)
{
    const char *dot = strchr(file, '.');
    return strncmp(file, "pack-", 5) == 0 && dot && strcmp(dot, ".pack") == 0 &&
           strlen(file) <= SNAP_PACK_NAME;
}

int
snap_packs(struct buf *ret, const char *repo_path)
{
    DIR *dir = open_folder(repo_path);
    if (!dir)
        return -errno;
    for (struct dirent *d; (d = readdir(dir));) {
        struct snap_pack pack;
        struct stat st;
        if (!is_pack(d->d_name) ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        pack.bytes = (uint64_t)st.st_size;
        snprintf(pack.file, sizeof(pack.file), "%s", d->d_name);
        buf_append(ret, &pack, sizeof(pack));
    }
    closedir(dir);
    if (ret->n)
        qsort(ret->p, ret->n / sizeof(struct snap_pack), sizeof(struct snap_pack),
              compare);
    return ret->failed;
}

/* Is this file, of whatever kind, of one of those packs? */
static bool
is_among(const char *file, struct view files)
{
    char line[SNAP_PACK_NAME + 2];
    size_t n = strcspn(file, ".");
    if (!files.n || n + 5 > SNAP_PACK_NAME)
        return false;
    snprintf(line, sizeof(line), "%.*s.pack\n", (int)n, file);
    return memmem(files.p, files.n, line, strlen(line));
}

/* -- made -- */

int
snap_packs_make(struct buf *made, const char *repo_path, const char *option,
                struct view input, const char *doing, struct err *err)
{
    char keep[SNAP_PACK_NAME + sizeof("--keep-pack=")];
    const char *args[] = { "pack-objects", "-q",   "--delta-base-offset",
                           "--non-empty",  option, beginning,
                           NULL,           NULL };
    AUTO(buf) out = { 0 };
    if (made->n) {
        snprintf(keep, sizeof(keep), "--keep-pack=%.*s",
                 (int)strcspn(buf_str(made), "\n"), buf_str(made));
        memmove(args + 2, args + 1, 5 * sizeof(*args));
        args[1] = keep;
    }
    int r = snap_git_run(repo_path, args, input, &out, doing, err);
    if (r < 0 || !out.n)
        return r;
    const char *name = buf_str(&out);
    size_t n = strspn(name, "0123456789abcdef");
    if (!n || n > SNAP_PACK_NAME - 10 || strcmp(name + n, "\n") != 0)
        return err_set(err, ERR_DAMAGED, "%s: git has not made one pack", doing);
    r = buf_printf(made, "pack-%.*s.pack\n", (int)n, name);
    return r < 0 ? err_code(err, r, "%s", doing) : 0;
}

/* -- removed -- */

/* All files of a pack, or of all of them. Each index first, for a pack without one is
 * none. */
static int
remove_files(DIR *dir, struct view kept, struct view files)
{
    int r = 0;
    for (int pass = 0; !r && pass < 2; pass++) {
        rewinddir(dir);
        for (struct dirent *d; (d = readdir(dir));) {
            const char *dot = strrchr(d->d_name, '.');
            bool is_index = dot && strcmp(dot, ".idx") == 0;
            if (strncmp(d->d_name, "pack-", 5) != 0 || is_index != (pass == 0) ||
                is_among(d->d_name, kept) || (files.n && !is_among(d->d_name, files)))
                continue;
            if (unlinkat(dirfd(dir), d->d_name, 0) < 0 && errno != ENOENT)
                r = -errno;
        }
    }
    return r;
}

/* Each is whole, and on the disk. */
static int
check(DIR *dir, struct view made)
{
    char file[SNAP_PACK_NAME + 1];
    while (made.n) {
        const uint8_t *end = memchr(made.p, '\n', made.n);
        size_t n = end ? (size_t)(end - made.p) : made.n;
        snprintf(file, sizeof(file), "%.*s.idx", (int)(n - 5), (const char *)made.p);
        if (faccessat(dirfd(dir), file, F_OK, 0) < 0)
            return -errno;
        n += end != NULL;
        made = (struct view){ made.p + n, made.n - n };
    }
    return fsync(dirfd(dir)) < 0 ? -errno : 0;
}

int
snap_packs_remove(const char *repo_path, struct view made, struct view files)
{
    DIR *dir = made.n ? open_folder(repo_path) : NULL;
    if (!dir)
        return made.n ? -errno : -EINVAL;
    int r = check(dir, made);
    if (!r)
        r = remove_files(dir, made, files);
    closedir(dir);
    return r;
}

void
snap_packs_undo(const char *repo_path, struct view made, const struct buf *before)
{
    AUTO(buf) kept = { 0 };
    const struct snap_pack *pack = (const void *)before->p;
    for (size_t i = 0; i < before->n / sizeof(*pack); i++)
        buf_printf(&kept, "%s\n", pack[i].file);
    DIR *dir = made.n && !kept.failed ? open_folder(repo_path) : NULL;
    if (!dir)
        return;
    (void)remove_files(dir, (struct view){ kept.p, kept.n }, made);
    closedir(dir);
}

/* -- needed -- */

int
snap_packs_needed(uint64_t *ret, const char *repo_path, struct view commits,
                  struct err *err)
{
    static const char *const args[] = { "rev-list", "--objects", "--disk-usage",
                                        "--stdin", NULL };
    static const char doing[] = "cannot tell what snapshots take";
    AUTO(buf) out = { 0 };
    if (!commits.n) {
        *ret = 0;
        return 0;
    }
    int r = snap_git_run(repo_path, args, commits, &out, doing, err);
    if (r < 0)
        return r;
    struct view number = { out.p, out.n && out.p[out.n - 1] == '\n' ? out.n - 1 : out.n };
    r = num_parse(number, UINT64_MAX, ret);
    return r < 0 ? err_set(err, ERR_DAMAGED, "%s", doing) : 0;
}
