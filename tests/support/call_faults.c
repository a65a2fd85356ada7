/* SPDX-License-Identifier: MIT */
#include "support/call_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct call_faults call_faults;

void
call_faults_begin(unsigned n, bool is_for_ever)
{
    call_faults = (struct call_faults){ .fail_at = n, .is_for_ever = is_for_ever };
}

bool
call_faults_end(void)
{
    bool has_failed = call_faults.has_failed;
    call_faults = (struct call_faults){ 0 };
    return has_failed;
}

static bool
fails(void)
{
    struct call_faults *f = &call_faults;
    if (!f->fail_at)
        return false;
    f->count++;
    if (f->count != f->fail_at && !(f->is_for_ever && f->count > f->fail_at))
        return false;
    f->has_failed = true;
    errno = EIO;
    return true;
}

#define WRAP(type, name, parameters, arguments)        \
    type __real_##name parameters;                     \
    type __wrap_##name parameters;                     \
    type __wrap_##name parameters                      \
    {                                                  \
        return fails() ? -1 : __real_##name arguments; \
    }

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker names them */
WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
WRAP(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int
__wrap_fsync(int fd)
{
    call_faults.syncs++;
    return fails() ? -1 : __real_fsync(fd);
}

/* With large files open() and openat() are called so. */
int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat64(int fd, const char *path, int flags, ...);

int
__wrap_open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fails() ? -1 : __real_open64(path, flags, mode);
}

int
__wrap_openat64(int fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fails() ? -1 : __real_openat64(fd, path, flags, mode);
}
/* NOLINTEND(bugprone-reserved-identifier) */
