/* SPDX-License-Identifier: MIT */
#include "snap/blobs_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"

enum { PIPE_BYTES = 1 << 20, AT_ONCE = 1 << 18, LINE_MAX_BYTES = 256 };

static const char doing[] = "cannot read the files of a snapshot";

int
snap_blobs_open(struct snap_blobs *ret, const char *repo_path, struct view ids,
                struct err *err)
{
    static const char *const args[] = { "cat-file", "--batch", "--buffer", NULL };
    *ret = (struct snap_blobs){ .asked = ids };
    int r = buf_reserve(&ret->got, AT_ONCE);
    if (r < 0)
        return err_code(err, r, "%s", doing);
    r = snap_git_start(&ret->git, repo_path, args, true, -1, err);
    if (r < 0) {
        buf_release(&ret->got);
        return r;
    }
    (void)fcntl(ret->git.out_fd, F_SETPIPE_SZ, PIPE_BYTES);
    return 0;
}

void
snap_blobs_close(struct snap_blobs *b)
{
    if (b->git.pid > 0)
        snap_git_kill(&b->git);
    buf_release(&b->got);
}

/* As many questions as git takes now: it may be waiting for us to read. */
static void
ask(struct snap_blobs *b)
{
    ssize_t n = b->asked.n ? send(b->git.in_fd, b->asked.p, b->asked.n,
                                  MSG_NOSIGNAL | MSG_DONTWAIT)
                           : 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        b->asked.n = 0; /* its end is seen at the other pipe */
    if (n > 0) {
        b->asked.p += n;
        b->asked.n -= (size_t)n;
    }
    if (!b->asked.n)
        snap_git_close_in(&b->git);
}

/* It should not have ended, and knows why it did. */
static int
tell_end(struct snap_blobs *b, struct err *err)
{
    int r = snap_git_end(&b->git, doing, err);
    b->git.pid = 0;
    return r < 0 ? r : err_set(err, -EIO, "%s: git has ended too early", doing);
}

/* More behind what is there and not used up. */
static int
refill(struct snap_blobs *b, struct err *err)
{
    memmove(b->got.p, b->got.p + b->at, b->got.n - b->at);
    b->got.n -= b->at;
    b->at = 0;
    for (;;) {
        struct pollfd fds[] = { { .fd = b->git.out_fd, .events = POLLIN },
                                { .fd = b->git.in_fd, .events = POLLOUT } };
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return err_sys(err, "%s", doing);
        if (fds[1].revents)
            ask(b);
        if (!fds[0].revents)
            continue;
        ssize_t n = file_read(b->git.out_fd, b->got.p + b->got.n, b->got.cap - b->got.n);
        if (n < 0)
            return err_code(err, (int)n, "%s", doing);
        if (!n)
            return tell_end(b, err);
        b->got.n += (size_t)n;
        return 0;
    }
}

int
snap_blobs_read(struct snap_blobs *b, struct view *ret, struct err *err)
{
    if (b->left && b->at == b->got.n) {
        int r = refill(b, err);
        if (r < 0)
            return r;
    }
    size_t n = b->got.n - b->at;
    if (n > b->left)
        n = (size_t)b->left;
    *ret = (struct view){ b->got.p + b->at, n };
    b->at += n;
    b->left -= n;
    return 0;
}

/* What nobody has read of the last one, and the newline behind it. */
static int
pass_last(struct snap_blobs *b, struct err *err)
{
    struct view ignored;
    int r = 0;
    while (!r && b->left)
        r = snap_blobs_read(b, &ignored, err);
    if (!r && b->has_one && b->at == b->got.n)
        r = refill(b, err);
    if (!r && b->has_one)
        b->at++;
    b->has_one = false;
    return r;
}

/* "ID blob SIZE", or "ID missing", or "ID tree SIZE" with what is no file's bytes. */
static int
parse_line(struct view line, bool *ret_is_blob, uint64_t *ret_size)
{
    const uint8_t *type = memchr(line.p, ' ', line.n);
    const uint8_t *end = line.p + line.n;
    const uint8_t *size = type ? memchr(type + 1, ' ', (size_t)(end - type - 1)) : NULL;
    if (!type)
        return ERR_DAMAGED;
    if (!size) {
        *ret_size = UINT64_MAX;
        return 0;
    }
    *ret_is_blob = size - type == 5 && memcmp(type, " blob", 5) == 0;
    struct view digits = { size + 1, (size_t)(end - size - 1) };
    return num_parse(digits, UINT64_MAX - 1, ret_size);
}

int
snap_blobs_next(struct snap_blobs *b, uint64_t *ret_size, struct err *err)
{
    int r = pass_last(b, err);
    const uint8_t *end = NULL;
    while (!r && !(end = memchr(b->got.p + b->at, '\n', b->got.n - b->at)))
        r = b->got.n - b->at > LINE_MAX_BYTES
                ? err_set(err, -EIO, "%s: git's answer is none", doing)
                : refill(b, err);
    if (r < 0)
        return r;
    struct view line = { b->got.p + b->at, (size_t)(end - b->got.p) - b->at };
    bool is_blob = false;
    uint64_t size;
    r = parse_line(line, &is_blob, &size);
    if (r < 0)
        return err_set(err, -EIO, "%s: git's answer is none", doing);
    b->at += line.n + 1;
    b->has_one = size != UINT64_MAX;
    b->left = b->has_one ? size : 0;
    if (!is_blob)
        return err_set(err, ERR_DAMAGED, "its bytes are missing in the snapshot");
    *ret_size = size;
    return 0;
}
