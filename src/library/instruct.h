/* SPDX-License-Identifier: MIT */
/*
 * instruct.h -- an instruction noted in a session that has ended.
 *
 * The line is whole in the file or not there, whatever happens; the session is held
 * meanwhile, and indexed anew. Of a recording that is a file, the file of lines stands
 * beside it.
 */
#ifndef LIBRARY_INSTRUCT_H
#define LIBRARY_INSTRUCT_H

#include "library/find.h"
#include "session/lines.h"

/* id and ts_ns are set here, in *i. Secrets in its text are masked, as everywhere.
 * ERR_BUSY when somebody else is at it, or it is being recorded; that it could not be
 * indexed is no error. */
int library_instruct(const struct library_found *found, struct session_instruction *i,
                     struct err *err);

#endif
