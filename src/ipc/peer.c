/* SPDX-License-Identifier: MIT */
/* peer.c -- who is at the other end, as Linux tells: SO_PEERCRED and /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "ipc/socket.h"

enum {
    ANCESTORS_MAX = 1024,
    STAT_HEAD = 512,       /* of /proc/PID/stat: far more than stands before the parent */
    ENVIRON_MAX = 2 << 20, /* the kernel's limit with the usual stack of 8 MiB */
};

int
ipc_peer(int fd, struct ipc_peer *ret)
{
    struct ucred cred;
    socklen_t n = sizeof(cred);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n))
        return -errno;
    *ret = (struct ipc_peer){ .pid = cred.pid, .uid = cred.uid };
    return 0;
}

static void
proc_path(char *ret, size_t n, pid_t pid, const char *name)
{
    snprintf(ret, n, "/proc/%ld/%s", (long)pid, name);
}

/* The parent's pid, 0 where there is none; -ESRCH when the process is gone. A name may
 * have anything in it, also ") (": what follows the last parenthesis counts. */
static pid_t
parent_of(pid_t pid)
{
    char path[64], head[STAT_HEAD + 1];
    proc_path(path, sizeof(path), pid, "stat");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -ESRCH;
    ssize_t n = file_read(fd, head, STAT_HEAD);
    close(fd);
    head[n > 0 ? n : 0] = '\0';
    const char *end_of_name = strrchr(head, ')');
    long parent;
    if (!end_of_name || sscanf(end_of_name, ") %*c %ld", &parent) != 1)
        return -ESRCH;
    return (pid_t)parent;
}

static bool
has_session_in_environ(pid_t pid, const char *session_id)
{
    char path[64];
    AUTO(buf) want = { 0 };
    AUTO(buf) env = { .ceiling = ENVIRON_MAX };
    proc_path(path, sizeof(path), pid, "environ");
    (void)file_slurp(path, &env); /* what is over the ceiling is not looked at */
    if (buf_printf(&want, "AHR_SESSION=%s", session_id) || buf_append(&want, "", 1))
        return false;
    for (size_t at = 0; at + want.n <= env.n;) {
        if (!memcmp(env.p + at, want.p, want.n))
            return true;
        const uint8_t *nul = memchr(env.p + at, '\0', env.n - at);
        if (!nul)
            return false;
        at = (size_t)(nul - env.p) + 1;
    }
    return false;
}

/* Those above it are asked for the session, too: what a recorder in the session has
 * started has another's in its own environment. A peer that is gone before it could be
 * looked at counts as inside: it waits for no answer, and an agent must not be let in
 * because its helper was quick. One of pid 0 is of a namespace above ours, where no agent
 * of ours can be. */
bool
ipc_is_inside(pid_t pid, pid_t ancestor, const char *session_id)
{
    pid_t at = pid;
    for (int step = 0; at > 0; step++) {
        if (at == ancestor || step == ANCESTORS_MAX ||
            has_session_in_environ(at, session_id))
            return true;
        pid_t parent = parent_of(at);
        if (parent < 0 && at == pid)
            return true;
        at = parent < 0 ? pid : parent; /* one of them has ended: they have moved up */
    }
    return false;
}
