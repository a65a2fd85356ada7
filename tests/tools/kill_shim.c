/* SPDX-License-Identifier: MIT */
/*
 * kill_shim.c -- preloaded into the real program: SIGKILL at the N-th call that changes a
 * file.
 *
 * $KILL_AT is N; $KILL_AFTER set: the call is made first. $NO_EXCHANGE set: folders
 * cannot change places, as on a file system that does not know how.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int calls;

static void
fall(int after)
{
    const char *at = getenv("KILL_AT");
    int n = after ? calls : __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (at && !getenv("KILL_AFTER") == !after && n == (int)strtol(at, NULL, 10))
        kill(getpid(), SIGKILL);
}

#define SHIM(type, name, params, args)                 \
    type name params;                                  \
    type name params                                   \
    {                                                  \
        static type(*real) params;                     \
        if (!real)                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        fall(0);                                       \
        type r = real args;                            \
        fall(1);                                       \
        return r;                                      \
    }

SHIM(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
SHIM(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t off), (fd, p, n, off))
SHIM(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
SHIM(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off_t off),
     (fd, v, n, off))
SHIM(int, fsync, (int fd), (fd))
SHIM(int, fdatasync, (int fd), (fd))
SHIM(int, rename, (const char *from, const char *to), (from, to))
SHIM(int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
     (from_dir, from, to_dir, to))
SHIM(int, unlink, (const char *path), (path))
SHIM(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
SHIM(int, mkdir, (const char *path, mode_t mode), (path, mode))
SHIM(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
SHIM(int, rmdir, (const char *path), (path))
SHIM(int, ftruncate64, (int fd, off_t size), (fd, size))

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    fall(0);
    if (getenv("NO_EXCHANGE")) {
        errno = EINVAL;
        return -1;
    }
    int r = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
    fall(1);
    return r;
}
