/* SPDX-License-Identifier: MIT */
#include "client/typing.h"

#include <errno.h>
#include <time.h>

enum {
    WINDOW = 64 << 10, /* what may wait, as doc/ipc.md has it */
    STEP = 16 << 10,
};

static void
pause_a_moment(void)
{
    struct timespec left = { .tv_nsec = CLIENT_TYPING_PAUSE_MS * 1000000L };
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* Until some more bytes have reached the PTY. */
static int
wait_taken(struct client_typing *t, struct err *err)
{
    struct ipc_message got;
    int r = client_ask(t->ask, NULL, t->is_stuck ? 0 : CLIENT_TYPING_PATIENCE_MS, &got,
                       err);
    if (r == -ETIMEDOUT) {
        t->is_stuck = true;
        return r;
    }
    if (r < 0 || got.selector != IPC_TAKEN)
        return r;
    t->is_stuck = false;
    t->waiting -= got.field[0] < t->waiting ? (size_t)got.field[0] : t->waiting;
    return 0;
}

static int
hand_over(struct client_typing *t, struct view v, struct err *err)
{
    struct ipc_message m = { .selector = IPC_INPUT, .bytes = v };
    int r = client_ask_send(t->ask, &m, CLIENT_TYPING_PATIENCE_MS, err);
    if (!r)
        t->waiting += v.n;
    return r;
}

int
client_type(struct client_typing *t, struct view piece, struct err *err)
{
    size_t done = 0;
    int r = 0;
    while (!r && done < piece.n) {
        size_t room = WINDOW - t->waiting, left = piece.n - done;
        size_t n = left < STEP ? left : STEP;
        if (n > room) {
            r = wait_taken(t, err);
            continue;
        }
        r = hand_over(t, (struct view){ piece.p + done, n }, err);
        done += r ? 0 : n;
    }
    if (r == -ETIMEDOUT)
        return err_set(err, r,
                       "the program does not read: %zu of %zu bytes were handed to the "
                       "recorder, the rest was not sent",
                       done, piece.n);
    while (!r && t->waiting)
        r = wait_taken(t, err);
    if (!r)
        pause_a_moment();
    return r == -ETIMEDOUT ? 0 : r;
}
