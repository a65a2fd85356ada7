/* SPDX-License-Identifier: MIT */
/*
 * again_type.h -- what was typed in a session, typed into a new one.
 *
 * Line by line, each when the program rests. The client of the new session has its
 * terminal and waits for nothing: so a process of its own, `ahr resume-type`, does it.
 */
#ifndef CLI_AGAIN_TYPE_H
#define CLI_AGAIN_TYPE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends all that was typed in a recording, as it came; *ret_is_masked is set where some
 * of it was masked. ERR_LIMIT: it is more than 4 MiB. */
int cli_again_type_read(const char *path, struct buf *ret, bool *ret_is_masked,
                        struct err *err);
/* The next line of what was typed, up to Enter, and with it (it may be the last, without
 * one); *rest is what follows. Empty at the end. */
struct view cli_again_type_line(struct view *rest);
/* id: of the new session, which has just begun; tape_path: the other one's recording. 0
 * or -errno. */
int cli_again_type_start(const char *home, const char *id, const char *tape_path);

#endif
