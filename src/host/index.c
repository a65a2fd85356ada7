/* SPDX-License-Identifier: MIT */
/*
 * index.c -- a session that has ended goes to the index.
 *
 * By a process that outlives the host, before anyone is told of the end: whoever has
 * waited for a session finds it being indexed. Nobody waits for that. Where it cannot be
 * started, the next look at the library finds what is not indexed.
 */
#include <string.h>
#include <sys/wait.h>

#include "host/host_priv.h"
#include "session/upkeep.h"

void
host_start_index(struct host *h)
{
    bool is_in_place = !(h->end_flags & (IPC_ENDED_LEFT | IPC_ENDED_ASTRAY));
    if (!h->opt->is_indexed || h->folder.is_outside || !is_in_place)
        return;
    const char *argv[] = { "index", h->opt->id, NULL };
    int r = session_upkeep_start(h->opt->home, argv, -1, &h->index_pid);
    if (r < 0)
        host_log(h, "cannot start 'ahr index': %s", strerror(-r));
}

void
host_reap_index(struct host *h)
{
    if (h->index_pid && waitpid(h->index_pid, NULL, WNOHANG) == h->index_pid)
        h->index_pid = 0;
}
