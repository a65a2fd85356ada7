/* SPDX-License-Identifier: MIT */
/*
 * project_name.c -- names by role, one counter a project.
 *
 * The counter is on disk before the folder is made: who is killed between leaves a gap,
 * never a name for two. A counter that is lost or is garbage is made anew from the names
 * that are there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "journal/file_priv.h"
#include "journal/project.h"
#include "journal/project_priv.h"
#include "session/id.h"

#define COUNTER ".counter"

enum { PREFIX_MAX = 48, NUMBER_MAX = 999999999 };

static char
upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void
journal_role_prefix(const char *role, struct buf *ret)
{
    static const char *const known[][2] = { { "ARCHITECT", "ARCH" },
                                            { "DEVELOPER", "DEV" } };
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    char prefix[PREFIX_MAX + 1] = "";
    size_t n = 0;
    for (; role && *role && n < PREFIX_MAX; role++) {
        char c = upper(*role);
        bool may_begin = n || (c != '-' && c != '.');
        if (strchr(allowed, c) && may_begin)
            prefix[n++] = c;
    }
    prefix[n] = 0;
    const char *text = n ? prefix : "RUN";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(prefix, known[i][0]))
            text = known[i][1];
    buf_puts(ret, text);
}

/* The number at the end of ROLE-012; 0: there is none. */
static uint64_t
number_of(const char *name)
{
    const char *dash = strrchr(name, '-');
    uint64_t v = 0;
    if (!dash || dash == name)
        return 0;
    struct view digits = { (const uint8_t *)dash + 1, strlen(dash + 1) };
    return num_parse(digits, NUMBER_MAX, &v) < 0 ? 0 : v;
}

static int
highest(int runs_fd, uint64_t *ret)
{
    uint64_t most = 0;
    int fd = openat(runs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return -e;
    }
    errno = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        uint64_t v = number_of(d->d_name);
        most = v > most ? v : most;
    }
    int r = -errno;
    closedir(dir);
    *ret = most;
    return r;
}

static int
read_counter(int runs_fd, uint64_t *ret)
{
    AUTO(buf) text = { 0 };
    int r = journal_file_read(runs_fd, COUNTER, 32, &text);
    size_t n = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n;
    if (!r && num_parse((struct view){ text.p, n }, NUMBER_MAX, ret) == 0)
        return 0;
    /* What cannot be read may still be right. */
    bool is_known = !r || r == -ENOENT || r == -ELOOP || r == -EINVAL || r == ERR_LIMIT;
    return is_known ? highest(runs_fd, ret) : r;
}

static int
write_counter(int runs_fd, uint64_t value)
{
    static const char made[] = COUNTER ".new";
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
    if (unlinkat(runs_fd, made, 0) < 0 && errno != ENOENT)
        return -errno;
    int fd = journal_file_open(runs_fd, made, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return fd;
    int r = file_write_all(fd, text, (size_t)n);
    if (close(fd) < 0 && !r)
        r = -errno;
    if (!r && renameat(runs_fd, made, runs_fd, COUNTER) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(runs_fd, made, 0);
    return r;
}

/* -EEXIST: somebody has called a run so. */
static int
claim(int runs_fd, const char *prefix, uint64_t number, struct buf *ret_name)
{
    AUTO(buf) name = { 0 };
    int r = write_counter(runs_fd, number);
    if (!r)
        r = buf_printf(&name, "%s-%03llu", prefix, (unsigned long long)number);
    if (!r && !session_name_is(buf_str(&name)))
        r = -EINVAL;
    if (!r && mkdirat(runs_fd, buf_str(&name), 0700) < 0)
        r = -errno;
    return r < 0 ? r : buf_append(ret_name, name.p, name.n);
}

int
journal_name_claim(int runs_fd, const char *prefix, struct buf *ret_name, struct err *err)
{
    uint64_t number = 0;
    int r = read_counter(runs_fd, &number);
    if (r < 0)
        return err_code(err, r, "cannot read the counter of names, sessions/" COUNTER);
    do {
        if (number++ >= NUMBER_MAX)
            return err_set(err, ERR_LIMIT, "all numbers for names are used; give --name");
        r = claim(runs_fd, prefix, number, ret_name);
    } while (r == -EEXIST);
    return r < 0 ? err_code(err, r, "cannot make a folder for '%s-%03llu'", prefix,
                            (unsigned long long)number)
                 : 0;
}
