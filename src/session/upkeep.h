/* SPDX-License-Identifier: MIT */
/*
 * upkeep.h -- `ahr` once more, as a command that looks after the library when
 * nobody waits for it.
 *
 * It belongs to no terminal and to nobody's session, has /dev/null as 0, 1 and 2 and
 * nothing else of ours, stands in /, and steps back behind all that has something to do.
 */
#ifndef SESSION_UPKEEP_H
#define SESSION_UPKEEP_H

#include <sys/types.h>

enum {
    SESSION_UPKEEP_NICE = 10, /* at least */
    SESSION_UPKEEP_FD = 3,
};

/* argv: the command and its operands, NULL-terminated: { "index", id, NULL }. home:
 * absolute, whatever $AHR_HOME says. kept_fd: a lock, or whatever else is open in it as
 * SESSION_UPKEEP_FD; -1: none. ret_pid may be NULL: who lives on reaps it. 0 or -errno.
 */
int session_upkeep_start(const char *home, const char *const *argv, int kept_fd,
                         pid_t *ret_pid);

#endif
