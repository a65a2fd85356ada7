/* SPDX-License-Identifier: MIT */
/* logs.c -- which logs a run has, and which run of a project was the last. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "gz/read.h"
#include "journal/log.h"
#include "journal/project_priv.h"
#include "session/id.h"

int
journal_logs_path(const char *dir, uint64_t n, struct buf *ret)
{
    return buf_printf(ret, "%s/iterations/%" PRIu64 ".log", dir, n);
}

/* The first n bytes of name: no other name of the same number. */
static bool
is_log(const char *name, size_t n, uint64_t *ret)
{
    if (n < 5 || memcmp(name + n - 4, ".log", 4) != 0 || (name[0] == '0' && n > 5))
        return false;
    return !num_parse((struct view){ (const uint8_t *)name, n - 4 }, UINT64_MAX, ret);
}

bool
journal_log_is(const char *name, uint64_t *ret)
{
    return is_log(name, strlen(name), ret);
}

/* "12.log" or "12.log.gz". */
static bool
is_either(const char *name, uint64_t *ret)
{
    size_t packed = gz_name_len(name);
    return is_log(name, packed ? packed : strlen(name), ret);
}

/* In order, each once: one that is being archived lies there twice. */
static size_t
sort(uint64_t *numbers, size_t count)
{
    size_t kept = 0;
    qsort(numbers, count, sizeof(*numbers), num_compare_u64);
    for (size_t i = 0; i < count; i++)
        if (!kept || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

int
journal_logs_list(const char *dir, struct buf *ret)
{
    AUTO(buf) path = { 0 };
    size_t before = ret->n;
    uint64_t number;
    struct dirent *e;
    int r = buf_printf(&path, "%s/iterations", dir);
    if (r < 0)
        return r;
    DIR *d = opendir(buf_str(&path));
    if (!d)
        return errno == ENOENT ? 0 : -errno;
    while (!r && (e = readdir(d)))
        if (is_either(e->d_name, &number) &&
            ret->n - before < JOURNAL_LOGS_MAX * sizeof(number))
            r = buf_append(ret, &number, sizeof(number));
    closedir(d);
    size_t count = (ret->n - before) / sizeof(number);
    if (count)
        ret->n = before + sizeof(number) * sort((void *)(ret->p + before), count);
    return r < 0 ? r : 0;
}

/* When the run's last log was written to; 0: it has none. */
static uint64_t
last_written(const char *dir)
{
    AUTO(buf) numbers = { 0 };
    AUTO(buf) path = { 0 };
    struct stat st;
    uint64_t last;
    if (journal_logs_list(dir, &numbers) < 0 || !numbers.n)
        return 0;
    memcpy(&last, numbers.p + numbers.n - sizeof(last), sizeof(last));
    journal_logs_path(dir, last, &path);
    if (stat(buf_str(&path), &st) < 0 && gz_stat(AT_FDCWD, buf_str(&path), &st) != 1)
        return 0;
    return (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

/* The last run in this folder of runs, appended. */
static int
find_last(const char *runs, struct buf *ret)
{
    AUTO(buf) dir = { 0 };
    AUTO(buf) best = { 0 };
    uint64_t best_ns = 0;
    struct dirent *e;
    DIR *d = opendir(runs);
    if (!d)
        return 0;
    while ((e = readdir(d))) {
        if (!session_name_is(e->d_name))
            continue;
        buf_clear(&dir);
        buf_printf(&dir, "%s/%s", runs, e->d_name);
        uint64_t ns = last_written(buf_str(&dir));
        if (ns > best_ns) {
            struct buf other = best;
            best = dir;
            dir = other;
            best_ns = ns;
        }
    }
    closedir(d);
    int r = best_ns ? buf_append(ret, best.p, best.n) : 0;
    return r < 0 ? r : best_ns != 0;
}

int
journal_run_last(const char *cwd, struct buf *ret_dir)
{
    char root[PATH_MAX];
    if (!realpath(cwd, root))
        return -errno;
    for (;;) {
        AUTO(buf) runs = { 0 };
        int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        buf_printf(&runs, "%s/%s/sessions", strcmp(root, "/") ? root : "",
                   fd < 0 ? ".ahr" : journal_runs_base(fd));
        if (fd >= 0)
            close(fd);
        int r = find_last(buf_str(&runs), ret_dir);
        char *slash = strrchr(root, '/');
        if (r || !slash || !slash[1])
            return r;
        slash[slash == root] = 0;
    }
}
