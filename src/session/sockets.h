/* SPDX-License-Identifier: MIT */
/*
 * sockets.h -- where a live session's sockets are: in live/<id> itself, or, where that
 * path is too long for a socket, in a private folder that the file live/<id>/sockets
 * names.
 *
 * Such a folder is always a real one (no link), this user's own, 0700: what is not is
 * passed over when one is made, and refused when one is looked for.
 */
#ifndef SESSION_SOCKETS_H
#define SESSION_SOCKETS_H

#include <stdbool.h>

#include "base/buf.h"

#define SESSION_CTL_SOCK "ctl.sock"
#define SESSION_IPC_SOCK "ipc.sock"

/* Appends the folder's path. Tried in turn: live_dir, $XDG_RUNTIME_DIR/ahr-<id> (made
 * anew; one that is there already is somebody's), a new one under $TMPDIR or /tmp. */
int session_sockets_make(const char *live_dir, const char *id, struct buf *ret_dir,
                         struct err *err);
/* The same folder, looked for by others; -EPERM when it is not to be trusted. */
int session_sockets_find(const char *live_dir, struct buf *ret_dir, struct err *err);
/* Is the control socket of a live session there? One that has just begun, or is about to
 * end, is given a moment. */
bool session_sockets_are_there(const char *live_dir);
/* Removes both sockets and, where it is another one, the folder. The session has ended,
 * or its recorder has vanished. */
void session_sockets_remove(const char *live_dir);

#endif
