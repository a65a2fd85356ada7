/* SPDX-License-Identifier: MIT */
/*
 * tend.c -- who looks starts what is to be done.
 *
 * library.tend tells what there was to do when it was last started: as long as that is
 * the same, nothing was done, and the next try waits.
 */
#include "library/tend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "session/upkeep.h"

struct need {
    char text[80]; /* as it stands in the file */
    bool is_interrupted;
};

/* In a library that is damaged or of a newer ahr nothing can be indexed. */
static bool
can_index(const struct library_listed *l)
{
    return !l->why.code || l->why.code == ERR_MISSING;
}

static bool
find_need(const struct library_listed *l, struct need *ret)
{
    uint64_t unindexed = can_index(l) ? l->unindexed : 0;
    uint64_t gone = can_index(l) ? l->gone : 0;
    ret->is_interrupted = l->interrupted > 0;
    snprintf(ret->text, sizeof(ret->text), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
             l->interrupted, unindexed, gone);
    return l->interrupted || unindexed || gone;
}

/* Whoever is at it has the lock. */
static int
take_lock(const char *home)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (buf_printf(&path, "%s/library.tend", home) < 0)
        return -ENAMETOOLONG;
    return file_locked(open(
        buf_str(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
}

/* Was the same begun a short while ago? A clock that was set back is no reason to wait.
 */
static bool
is_too_soon(int fd, const struct need *need)
{
    char text[sizeof(need->text)] = "";
    struct stat st;
    time_t now = time(NULL);
    if (fstat(fd, &st) < 0 || st.st_mtime > now || now - st.st_mtime >= LIBRARY_TEND_S)
        return false;
    return pread(fd, text, sizeof(text) - 1, 0) > 0 && !strcmp(text, need->text);
}

static int
note_start(int fd, const struct need *need)
{
    size_t n = strlen(need->text);
    if (ftruncate(fd, 0) < 0)
        return -errno;
    return pwrite(fd, need->text, n, 0) == (ssize_t)n ? 0 : -EIO;
}

int
library_tend(const char *home, const struct library_listed *listed)
{
    static const char *const recover[] = { "recover", "--all", NULL };
    static const char *const index[] = { "index", "--all", NULL };
    struct need need;
    if (!find_need(listed, &need))
        return 0;
    int fd = take_lock(home);
    if (fd < 0)
        return fd == ERR_BUSY ? 1 : fd;
    int r = 0;
    if (!is_too_soon(fd, &need)) {
        r = note_start(fd, &need); /* one that cannot be noted would begin for ever */
        if (!r)
            r = session_upkeep_start(home, need.is_interrupted ? recover : index, fd,
                                     NULL);
        r = r < 0 ? r : 1;
    }
    close(fd);
    return r;
}
