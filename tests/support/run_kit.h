/* SPDX-License-Identifier: MIT */
/* run_kit.h -- a command on pipes, what it prints, and a process of its own for a check.
 */
#ifndef RUN_KIT_H
#define RUN_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "run/child_priv.h"

enum { RUN_KIT_PATIENCE_MS = 20000 };

bool run_kit_is_ready(int fd, short events, int ms);
/* Its status, as waitpid() has it. */
int run_kit_reap(pid_t pid);
/* `sh -c script` */
struct run_child run_kit_start(const char *script, bool has_input);
/* All that comes until the end, in the time that it takes. */
void run_kit_read_all(int fd, struct buf *ret);
/* In a process of its own, which must exit with 0. */
void run_kit_assert_holds(bool (*fn)(void));
void run_kit_put(int fd, const char *text);
void run_kit_close(int *fd);

#endif
