/* SPDX-License-Identifier: MIT */
/* artifact_run.h -- the run whose files are meant: the one around us, or a named one. */
#ifndef CLI_ARTIFACT_RUN_H
#define CLI_ARTIFACT_RUN_H

#include "base/buf.h"

/* Appends the run's folder in its project. session: a name in the project around the
 * current folder, an id, or what $AHR_SESSION says; NULL: none of these. */
int cli_artifact_run(const char *session, struct buf *ret_dir, struct err *err);

#endif
