/* SPDX-License-Identifier: MIT */
/*
 * odd_disk_shim.c -- preloaded into the real program: disks and kernels that lack
 * something.
 *
 * $FOLD set: capital letters and small ones are the same in names that are given from an
 * open folder. $NO_TMPFILE set: no file is without a name, and no rename spares what is
 * there. $NO_OPENAT2 set: the kernel does not know that call.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *
fold(const char *name, char room[static 4096])
{
    if (name[0] == '/' || !getenv("FOLD"))
        return name;
    snprintf(room, 4096, "%s", name);
    for (char *p = room; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return room;
}

#define REAL(name)                 \
    static __typeof__(&name) real; \
    char a[4096], b[4096];         \
    (void)a, (void)b;              \
    if (!real)                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

int openat64(int dir, const char *path, int flags, ...);
int
openat64(int dir, const char *path, int flags, ...)
{
    REAL(openat64);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return real(dir, fold(path, a), flags, mode);
}

int mkdirat(int dir, const char *path, mode_t mode);
int
mkdirat(int dir, const char *path, mode_t mode)
{
    REAL(mkdirat);
    return real(dir, fold(path, a), mode);
}

int symlinkat(const char *target, int dir, const char *path);
int
symlinkat(const char *target, int dir, const char *path)
{
    REAL(symlinkat);
    return real(target, dir, fold(path, a));
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int
linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    REAL(linkat);
    return real(from_dir, fold(from, a), to_dir, fold(to, b), flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to);
int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    REAL(renameat);
    return real(from_dir, fold(from, a), to_dir, fold(to, b));
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    REAL(renameat2);
    if (flags && getenv("NO_TMPFILE")) {
        errno = EINVAL;
        return -1;
    }
    return real(from_dir, fold(from, a), to_dir, fold(to, b), flags);
}

int unlinkat(int dir, const char *path, int flags);
int
unlinkat(int dir, const char *path, int flags)
{
    REAL(unlinkat);
    return real(dir, fold(path, a), flags);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags);
int
fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
    REAL(fstatat64);
    return real(dir, fold(path, a), st, flags);
}

long syscall(long number, ...);
long
syscall(long number, ...)
{
    REAL(syscall);
    long arg[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_openat2 && getenv("NO_OPENAT2")) {
        errno = ENOSYS;
        return -1;
    }
    if (number == SYS_openat2)
        return real(number, arg[0], fold((const char *)arg[1], a), arg[2], arg[3]);
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
