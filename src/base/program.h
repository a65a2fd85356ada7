/* SPDX-License-Identifier: MIT */
/* program.h -- where the programs of this project are: "ahr", "ahr-net", "ahr-rules". */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/buf.h"

/* Appends the path of that one: beside this program as it is built, or as it is installed
 * (bin and libexec/ahr of one prefix); else where it would be installed. */
int program_find(const char *name, struct buf *ret);

#endif
