/* SPDX-License-Identifier: MIT */
/*
 * fault_shim.c -- preloaded into the real program: calls on a recording's files fail.
 *
 * $FAULT_CALL is pwrite or fdatasync, $FAULT_AT the first of these calls that fails (from
 * 1), $FAULT_COUNT how many do (unset: all from there on). They fail with EIO, on files
 * with .ahr in their path; with $FAULT_MS they only take so long.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int
is_recording(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n < 0 ? 0 : n] = 0;
    return strstr(path, ".ahr") != NULL;
}

static int
fails(const char *call, int fd)
{
    const char *which = getenv("FAULT_CALL"), *at = getenv("FAULT_AT"),
               *count = getenv("FAULT_COUNT");
    if (!which || !at || strcmp(which, call) != 0 || !is_recording(fd))
        return 0;
    long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    long first = strtol(at, NULL, 10);
    int is_hit = n >= first && (!count || n < first + strtol(count, NULL, 10));
    const char *ms = getenv("FAULT_MS");
    if (is_hit && ms)
        poll(NULL, 0, (int)strtol(ms, NULL, 10));
    if (is_hit)
        errno = EIO;
    return is_hit && !ms;
}

#define SHIM(type, name, call, params, args)           \
    type name params;                                  \
    type name params                                   \
    {                                                  \
        static type(*real) params;                     \
        if (!real)                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        return fails(call, fd) ? -1 : real args;       \
    }

SHIM(ssize_t, pwrite64, "pwrite", (int fd, const void *p, size_t n, off_t off),
     (fd, p, n, off))
SHIM(int, fdatasync, "fdatasync", (int fd), (fd))
