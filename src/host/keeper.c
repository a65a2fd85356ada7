/* SPDX-License-Identifier: MIT */
/*
 * keeper.c -- the mirror: started, asked for the screen, started again when it dies.
 *
 * It is a program of its own (this one, as `ahr mirror`): the host has threads, and
 * whatever the agent's bytes do to a terminal model is not to be done to the host. While
 * a user's terminal answers and nobody wants to see the screen there is no hurry.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_priv.h"

enum {
    FIRST_MS = 30,  /* a command that ends sooner does without */
    SOON_MS = 1000, /* one that dies sooner than this is in trouble */
    RETRY_MS = 50,  /* doubled with each such death */
    RETRIES = 8,
    SCREEN_MS = 2000, /* a client that waits longer makes its own */
    STUCK_MS =
        10000, /* one that owes a picture, or does not read, for so long is put down */
    UNREAD_MAX = 256 << 20, /* of pictures; who comes then makes its own */
};

/* -- the process -- */

static void
begin(struct host *h, struct conn *c)
{
    const char *path = h->folder.tape_path;
    uint64_t from = h->answer_from;
    /* What the one before it has answered is answered. */
    if (from != IPC_NONE && from < h->replied_off)
        from = h->replied_off;
    conn_send(c, &(struct ipc_message){
                     .selector = IPC_BEGIN,
                     .field = { h->cols, h->rows, h->recorder.byte_off, from },
                     .bytes = { (const uint8_t *)path, strlen(path) } });
    c->is_subscribed = c->is_lossy = true;
    conn_rejoin(c, &h->reel);
    conn_flush(c, &h->reel);
}

static int
start(struct host *h)
{
    int ends[2];
    uv_timer_stop(&h->mirror_timer);
    host_reap_mirror(h);
    if (h->mirror_pid) /* the one before takes its time */
        return -EAGAIN;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    static char name[] = "ahr", what[] = "mirror";
    char *argv[] = { name, what, NULL };
    int r = host_spawn(argv, ends[1], STDIN_FILENO, &h->mirror_pid);
    close(ends[1]);
    if (r < 0) {
        close(ends[0]);
        return r;
    }
    h->mirror_at_ns = clock_mono_ns();
    h->mirror_late_ns = 0;
    h->mirror = host_add_conn(h, ends[0], CONN_MIRROR);
    if (h->mirror)
        begin(h, h->mirror);
    return h->mirror ? 0 : -ENOMEM;
}

static void
count_death(struct host *h)
{
    if (h->mirror_deaths < RETRIES)
        h->mirror_deaths++;
}

static void
try_start(struct host *h)
{
    int r = start(h);
    if (!r)
        return;
    host_log(h, "cannot start the mirror: %s", strerror(-r));
    count_death(h);
    host_keep_mirror(h);
}

static void
on_mirror_timer(uv_timer_t *timer)
{
    struct host *h = timer->data;
    if (!h->mirror && !h->is_over)
        try_start(h);
    host_loop_update(h);
}

void
host_keep_mirror(struct host *h)
{
    if (h->mirror || h->has_exited || !h->loop.data)
        return;
    host_set_timer(&h->mirror_timer, on_mirror_timer, true,
                   h->mirror_deaths ? (uint64_t)RETRY_MS << h->mirror_deaths : FIRST_MS);
}

void
host_reap_mirror(struct host *h)
{
    int status;
    if (h->mirror_pid && waitpid(h->mirror_pid, &status, WNOHANG) == h->mirror_pid)
        h->mirror_pid = 0;
}

void
host_lose_mirror(struct host *h)
{
    host_drop_conn(h, h->mirror);
    if (h->mirror_pid) /* whatever has become of it */
        kill(h->mirror_pid, SIGKILL);
    if (h->is_over)
        return;
    if (clock_mono_ns() - h->mirror_at_ns < SOON_MS * HOST_NS_A_MS)
        count_death(h);
    else
        h->mirror_deaths = 0;
    host_log(h, "the mirror is gone");
    host_keep_mirror(h);
    for (struct conn *c = h->conns; c; c = c->next)
        if (c->awaits_picture && c->has_picture_part)
            host_rejoin(h, c);
        else if (c->awaits_picture)
            host_want_picture(h, c);
}

void
host_watch_mirror(struct host *h)
{
    uint64_t now_ns = clock_mono_ns();
    for (struct conn *c = h->conns; c; c = c->next) {
        if (!c->awaits_picture || now_ns - c->picture_ns < SCREEN_MS * HOST_NS_A_MS)
            continue;
        h->mirror_late_ns = h->mirror_late_ns ? h->mirror_late_ns : c->picture_ns;
        host_rejoin(h, c);
    }
    uint64_t since_ns = h->mirror_late_ns;
    if (h->mirror && h->mirror->stuck_ns)
        since_ns = h->mirror->stuck_ns;
    if (h->mirror && since_ns && now_ns - since_ns >= STUCK_MS * HOST_NS_A_MS)
        host_lose_mirror(h);
}

/* -- pictures -- */

static bool
has_room(const struct host *h)
{
    size_t n = 0;
    for (const struct conn *c = h->conns; c; c = c->next)
        n += c->own.n - c->own_at;
    return n < UNREAD_MAX;
}

void
host_want_picture(struct host *h, struct conn *c)
{
    if (!h->mirror && !h->mirror_deaths && !h->has_exited)
        try_start(h);
    if (!h->mirror || !has_room(h)) {
        host_rejoin(h, c);
        return;
    }
    if (h->mirror->is_skipping)
        host_rejoin(h, h->mirror);
    c->picture_number = ++h->last_picture;
    host_broadcast(
        h, &(struct ipc_message){ .selector = IPC_SHOW, .field = { c->picture_number } });
    conn_rejoin(c, &h->reel);
    c->awaits_picture = true;
    c->has_picture_part = false;
    c->picture_off = h->recorder.byte_off;
    c->picture_ns = clock_mono_ns();
    conn_flush(h->mirror, &h->reel);
}

static struct conn *
find_waiting(struct host *h, uint64_t picture_number)
{
    struct conn *c = h->conns;
    while (c && !(c->awaits_picture && c->picture_number == picture_number))
        c = c->next;
    return c;
}

void
host_take_screen(struct host *h, const struct ipc_message *m)
{
    struct conn *c = find_waiting(h, m->field[0]);
    bool is_last = m->field[1];
    h->mirror_late_ns = 0;
    if (!c)
        return;
    if ((is_last && !m->bytes.n && !c->has_picture_part) || !has_room(h)) {
        host_rejoin(h, c);
        return;
    }
    int r = conn_send(c, &(struct ipc_message){ .selector = IPC_PICTURE,
                                                .field = { c->picture_off, is_last },
                                                .bytes = m->bytes });
    c->has_picture_part = !is_last;
    c->awaits_picture = !is_last;
    if (r < 0)
        host_drop_conn(h, c);
    else
        conn_flush(c, &h->reel);
}

void
host_take_reply(struct host *h, const struct ipc_message *m)
{
    if (m->field[0] > h->replied_off)
        h->replied_off = m->field[0];
    host_input(h, NULL, m->bytes);
}
