/* SPDX-License-Identifier: MIT */
/*
 * fault_shim.c -- preloaded into the real program: calls on a recording's files fail.
 *
 * $FAULT_CALL names one of them or more, with commas (write, writev, pwrite, pwritev,
 * open, which is of files that are made, mkdir, rename, fsync, fdatasync), $FAULT_AT the
 * first of these calls that fails (from 1), $FAULT_COUNT how many do (unset: all from
 * there on), $FAULT_EVERY that only every so many-th does. They fail with EIO or
 * $FAULT_ERRNO, on files with .ahr, or else $FAULT_PATH, in their path; with $FAULT_MS
 * they only take so long.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls;

static long
number(const char *name, long or)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : or ;
}

static int
is_ours(const char *path)
{
    const char *part = getenv("FAULT_PATH");
    return strstr(path, part ? part : ".ahr") != NULL;
}

static int
is_asked_for(const char *call)
{
    const char *which = getenv("FAULT_CALL");
    size_t n = strlen(call);
    while (which && *which) {
        size_t len = strcspn(which, ",");
        if (len == n && !memcmp(which, call, n))
            return 1;
        which += len + (which[len] == ',');
    }
    return 0;
}

static int
is_hit(void)
{
    long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    long first = number("FAULT_AT", 1), count = number("FAULT_COUNT", 0),
         every = number("FAULT_EVERY", 1), ms = number("FAULT_MS", 0);
    if (n < first || (count && n >= first + count) || (n - first) % every)
        return 0;
    if (ms)
        poll(NULL, 0, (int)ms);
    errno = (int)number("FAULT_ERRNO", EIO);
    return !ms;
}

static int
fails(const char *call, int fd)
{
    char link[64], path[4096];
    if (!is_asked_for(call))
        return 0;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n < 0 ? 0 : n] = 0;
    return is_ours(path) && is_hit();
}

/* A path that does not begin at the root is one of a folder that is open. */
static int
fails_at(const char *call, int dir, const char *path)
{
    if (!is_asked_for(call))
        return 0;
    if (*path != '/' && dir != AT_FDCWD)
        return fails(call, dir);
    return is_ours(path) && is_hit();
}

#define SHIM(type, name, test, params, args)           \
    type name params;                                  \
    type name params                                   \
    {                                                  \
        static type(*real) params;                     \
        if (!real)                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        return test ? -1 : real args;                  \
    }

SHIM(ssize_t, pwrite64, fails("pwrite", fd), (int fd, const void *p, size_t n, off_t off),
     (fd, p, n, off))
SHIM(ssize_t, pwritev64, fails("pwritev", fd),
     (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off))
SHIM(ssize_t, write, fails("write", fd), (int fd, const void *p, size_t n), (fd, p, n))
SHIM(ssize_t, writev, fails("writev", fd), (int fd, const struct iovec *v, int n),
     (fd, v, n))
SHIM(int, fsync, fails("fsync", fd), (int fd), (fd))
SHIM(int, fdatasync, fails("fdatasync", fd), (int fd), (fd))
SHIM(int, mkdir, fails_at("mkdir", AT_FDCWD, path), (const char *path, mode_t mode),
     (path, mode))
SHIM(int, mkdirat, fails_at("mkdir", dir, path), (int dir, const char *path, mode_t mode),
     (dir, path, mode))
SHIM(int, rename, fails_at("rename", AT_FDCWD, to), (const char *from, const char *to),
     (from, to))

/* Only what may be made is a mode's. */
#define SHIM_OPEN(name, dir, params, args)                                        \
    int name params;                                                              \
    int name params                                                               \
    {                                                                             \
        static int(*real) params;                                                 \
        if (!real)                                                                \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        mode_t mode = 0;                                                          \
        if (flags & O_CREAT) {                                                    \
            va_list ap;                                                           \
            va_start(ap, flags);                                                  \
            mode = va_arg(ap, mode_t);                                            \
            va_end(ap);                                                           \
        }                                                                         \
        return (flags & O_CREAT) && fails_at("open", dir, path) ? -1 : real args; \
    }

SHIM_OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
SHIM_OPEN(openat64, dir, (int dir, const char *path, int flags, ...),
          (dir, path, flags, mode))
