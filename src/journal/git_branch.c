/* SPDX-License-Identifier: MIT */
/* git_branch.c -- by plain reads of git's files: git itself is not started for it. */
#include "journal/git_branch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "journal/file_priv.h"

enum { WORD_MAX = 4096 };

/* What the file says behind `begin`, on one line. */
static bool
read_word(const char *path, const char *begin, struct buf *ret)
{
    AUTO(buf) text = { 0 };
    size_t n = strlen(begin);
    if (journal_file_read(AT_FDCWD, path, WORD_MAX, &text) < 0)
        return false;
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (text.n <= n || memcmp(text.p, begin, n) != 0 ||
        !utf8_is_line(text.p + n, text.n - n))
        return false;
    return buf_append(ret, text.p + n, text.n - n) == 0;
}

/* Of a work tree's .git: the folder itself, or a file that names it. */
static bool
find_repository(const char *dir, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) told = { 0 };
    struct stat st;
    if (buf_printf(&path, "%s/.git", dir) < 0 || stat(buf_str(&path), &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return buf_append(ret, path.p, path.n) == 0;
    if (!read_word(buf_str(&path), "gitdir: ", &told))
        return false;
    return (told.p[0] == '/' ? buf_append(ret, told.p, told.n)
                             : buf_printf(ret, "%s/%s", dir, buf_str(&told))) == 0;
}

void
journal_git_branch(const char *root, struct buf *ret)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) repository = { .ceiling = PATH_MAX };
    AUTO(buf) branch = { 0 };
    if (buf_puts(&dir, root) < 0)
        return;
    while (!find_repository(buf_str(&dir), &repository) && dir.n)
        while (dir.n && dir.p[--dir.n] != '/') /* "" is the root */
            continue;
    if (repository.n && buf_puts(&repository, "/HEAD") == 0 &&
        read_word(buf_str(&repository), "ref: refs/heads/", &branch) &&
        branch.p[0] != '.') /* one that keeps its refs elsewhere */
        buf_append(ret, branch.p, branch.n);
}
