/* SPDX-License-Identifier: MIT */
/*
 * follow.h -- the iteration logs of a run given to somebody, one behind the other, and as
 * they grow.
 *
 * Each is begun, told in pieces and ended. A line that grows is given as it grows: the
 * newline behind what may go on comes with what follows it. A log that somebody replaces
 * is begun again.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <poll.h>

#include "journal/log.h"

#define CLI_FOLLOW_ALL  UINT64_MAX
#define CLI_FOLLOW_LAST (UINT64_MAX - 1)

/* How one waits who waits for keys and signals, too: poll(), and CLI_FOLLOW_LEFT when
 * they say so, else 0. What is handed in is at most CLI_FOLLOW_FDS. */
enum { CLI_FOLLOW_FDS = 2 };
struct cli_follow_wait {
    int (*poll)(struct cli_follow_wait *wait, struct pollfd *fds, size_t n,
                int timeout_ms);
};

/* Whom to tell; what they return but 0 ends it and is returned. begin and end may be
 * NULL. */
struct cli_follow_to {
    int (*begin)(void *ctx, const struct journal_log *log);
    int (*text)(void *ctx, struct view text);
    /* The log as it is now: its head tells how it ended, unless its writer died. */
    int (*end)(void *ctx, const struct journal_log *log);
    void *ctx;
};

struct cli_follow {
    const char *dir;              /* of a run; NULL: */
    const char *file;             /* … one log alone */
    uint64_t iteration;           /* or one of the two above */
    bool is_live;                 /* waits for more, until the run is over */
    struct cli_follow_wait *wait; /* NULL: nothing else is waited for */
    struct cli_follow_to to;
};

enum cli_followed {
    CLI_FOLLOWED,        /* to the end */
    CLI_FOLLOW_LEFT = 2, /* whoever waits has had enough */
};

/* One of those, or an error. Signals do what they do, unless `wait` handles them. */
int cli_follow(const struct cli_follow *f, struct err *err);

#endif
