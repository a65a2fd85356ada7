/* SPDX-License-Identifier: MIT */
#include "mock/notify.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SNAPSHOT = 0,
    INSTRUCT = 16,
    DONE = 0,
    REFUSED = 1,
    DONE_SIZE = 25,
    FRAME_MAX = 65548,
};

/* -- numbers, the least byte first -- */

static uint8_t *
put(uint8_t *p, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        *p++ = (uint8_t)(value >> (8 * i));
    return p;
}

static uint64_t
get(const uint8_t *p, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

/* -- the socket -- */

int
notify_open(const char *name)
{
    const char *path = getenv("AHR_IPC");
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    if (!path || !*path)
        return -ENOENT;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    size_t kept = name ? folder : strlen(path), more = name ? strlen(name) : 0;
    if (!slash || kept + more >= sizeof(at.sun_path))
        return -EINVAL;
    memcpy(at.sun_path, path, kept);
    memcpy(at.sun_path + kept, name ? name : "", more);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    int r = -errno;
    if (fd >= 0)
        close(fd);
    return r;
}

static int
send_all(int fd, const uint8_t *p, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return -errno;
        if (sent > 0) {
            p += sent;
            n -= (size_t)sent;
        }
    }
    return 0;
}

static int
receive_all(int fd, uint8_t *p, size_t n)
{
    while (n > 0) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int ready = poll(&wait, 1, NOTIFY_WAIT_MS);
        if (ready == 0)
            return -ETIMEDOUT;
        ssize_t got = ready < 0 ? -1 : recv(fd, p, n, 0);
        if (got < 0 && errno != EINTR)
            return errno == ECONNRESET ? -EPIPE : -errno;
        if (got == 0)
            return -EPIPE;
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
    return 0;
}

static int
receive_reply(int fd, struct notify_reply *ret)
{
    uint8_t head[4];
    struct notify_reply reply = { 0 };
    int r = receive_all(fd, head, sizeof(head));
    size_t size = r < 0 ? 0 : (size_t)get(head, 4);
    if (r < 0)
        return r;
    if (size == 0 || size > FRAME_MAX)
        return -EPROTO;
    uint8_t *frame = malloc(size);
    if (!frame)
        return -ENOMEM;
    r = receive_all(fd, frame, size);
    if (r == 0 && frame[0] == DONE && size == DONE_SIZE) {
        reply.is_done = true;
        reply.id = get(frame + 1, 8);
        reply.anchor_byte = get(frame + 9, 8);
        reply.ts_ns = get(frame + 17, 8);
    } else if (r == 0 && frame[0] == REFUSED) {
        size_t room = sizeof(reply.text) - 1;
        memcpy(reply.text, frame + 1, size - 1 < room ? size - 1 : room);
    } else if (r == 0) {
        r = -EPROTO;
    }
    free(frame);
    if (r == 0)
        *ret = reply;
    return r;
}

/* -- the requests -- */

/* Sets length and offset around the numbers that end at p, and the text behind them. */
static int
ask(int fd, uint8_t *request, uint8_t *p, const char *text, struct notify_reply *ret)
{
    size_t n = strlen(text), numbers = (size_t)(p - request) - 5;
    p = put(p, numbers + 4, 4);
    size_t head = (size_t)(p - request);
    if (head - 4 + n > FRAME_MAX)
        return -EMSGSIZE;
    put(request, head - 4 + n, 4);
    uint8_t *frame = malloc(head + n);
    if (!frame)
        return -ENOMEM;
    memcpy(frame, request, head);
    memcpy(frame + head, text, n);
    int r = send_all(fd, frame, head + n);
    free(frame);
    /* One that has hung up may have said why. */
    return r < 0 && r != -EPIPE && r != -ECONNRESET ? r : receive_reply(fd, ret);
}

int
notify_snapshot(int fd, uint64_t id, const char *label, struct notify_reply *ret)
{
    uint8_t request[32], *p = put(request + 4, SNAPSHOT, 1);
    return ask(fd, request, put(p, id, 8), label, ret);
}

int
notify_instruct(int fd, uint64_t anchor_byte, uint64_t snapshot_id, const char *text,
                struct notify_reply *ret)
{
    uint8_t request[64], *p = put(request + 4, INSTRUCT, 1);
    p = put(p, anchor_byte, 8);
    p = put(p, snapshot_id, 8);
    p = put(p, UINT32_MAX, 4); /* no row */
    p = put(p, 0, 1);          /* not typed */
    return ask(fd, request, p, text, ret);
}
