/* SPDX-License-Identifier: MIT */
#include "session/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* A descriptor, ERR_BUSY, or -errno. Another folder may come while we try. */
static int
try(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int r = file_lock(fd, false, 0);
    if (!r && !file_is_at(fd, path))
        r = ERR_BUSY;
    if (!r)
        return fd;
    close(fd);
    return r;
}

int
session_hold(const char *home, const char *id, unsigned wait_ms, struct err *err)
{
    AUTO(buf) path = { 0 };
    uint64_t deadline_ns = clock_mono_ns() + wait_ms * UINT64_C(1000000);
    unsigned tries = 0;
    int r = buf_printf(&path, "%s/sessions/%s", home, id);
    if (r < 0)
        return err_code(err, r, "cannot lock session '%s'", id);
    do
        r = try(buf_str(&path));
    while (r == ERR_BUSY && clock_back_off(tries++, deadline_ns));
    if (r >= 0)
        return r;
    if (r == ERR_BUSY)
        return err_set(err, r, "another ahr is at session '%s'; try again", id);
    if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
        return err_set(err, ERR_MISSING, "no session '%s' in '%s/sessions'", id, home);
    return err_code(err, r, "cannot lock '%s'", buf_str(&path));
}
