/* SPDX-License-Identifier: MIT */
/* history_state_priv.h -- import.state as a file that others make anew. */
#ifndef LIBRARY_HISTORY_STATE_PRIV_H
#define LIBRARY_HISTORY_STATE_PRIV_H

#define HISTORY_STATE "import.state"

/* `to` was made of `from`, byte by byte: where that one's checksum was right, it gets its
 * own. */
int history_state_seal(int from_fd, int to_fd);

#endif
