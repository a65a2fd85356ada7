/* SPDX-License-Identifier: MIT */
/*
 * stop_shim.c -- preloaded into the real program: SIGSTOP at one place, once, so that
 * somebody can look at its memory.
 *
 * $STOP_AT is `derive`: when 32 MiB or more are asked for at once, as for making a key of
 * a passphrase; `write`: before the first write to a file with $STOP_PATH in its path
 * that is not its head (200 bytes); `exit`: when main has returned.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { LARGE = 32 << 20, HEAD = 200 };

static void
stop_at(const char *place)
{
    static int has_stopped;
    const char *wanted = getenv("STOP_AT");
    if (!wanted || strcmp(wanted, place) != 0 || has_stopped++)
        return;
    raise(SIGSTOP);
}

static int
is_wanted(int fd)
{
    const char *part = getenv("STOP_PATH");
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = part ? readlink(link, path, sizeof(path) - 1) : -1;
    path[n < 0 ? 0 : n] = 0;
    return n > 0 && strstr(path, part);
}

typedef void *map_fn(void *p, size_t n, int prot, int flags, int fd, off_t off);
typedef ssize_t put_fn(int fd, const void *p, size_t n);

/* A library that is linked in knows it by the one name or by the other. */
map_fn map_a __asm__("mmap"), map_b __asm__("mmap64");
put_fn put __asm__("write");

static void *
map(const char *symbol, void *p, size_t n, int prot, int flags, int fd, off_t off)
{
    map_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, symbol);
    if (n >= LARGE)
        stop_at("derive");
    return real(p, n, prot, flags, fd, off);
}

void *
map_a(void *p, size_t n, int prot, int flags, int fd, off_t off)
{
    return map("mmap", p, n, prot, flags, fd, off);
}

void *
map_b(void *p, size_t n, int prot, int flags, int fd, off_t off)
{
    return map("mmap64", p, n, prot, flags, fd, off);
}

ssize_t
put(int fd, const void *p, size_t n)
{
    put_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (n > HEAD && is_wanted(fd))
        stop_at("write");
    return real(fd, p, n);
}

__attribute__((destructor)) static void
at_exit(void)
{
    stop_at("exit");
}
