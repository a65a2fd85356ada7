/* SPDX-License-Identifier: MIT */
/*
 * environment.h -- what a command's environment says of the session it is in.
 */
#ifndef SESSION_ENVIRONMENT_H
#define SESSION_ENVIRONMENT_H

#include <stdbool.h>

#include "base/buf.h"

#define SESSION_ENV_ID        "AHR_SESSION="
#define SESSION_ENV_RUN       "AHR_RUN_DIR="
#define SESSION_ENV_IPC       "AHR_IPC="
#define SESSION_ENV_IPC_TOKEN "AHR_IPC_TOKEN="
#define SESSION_ENV_RECORDER  "AH_RECORDER_IPC_SOCKET="

/* `around`, without what it says of a session around this one, and `ours` in its place:
 * strings, each with its NUL. NULL: no memory. Both have to last as long as what is
 * returned, which is to be freed. */
char **session_environment(char *const *around, const struct buf *ours);
/* Appends one of ours. */
void session_environment_put(struct buf *ours, const char *name, const char *value);

#endif
