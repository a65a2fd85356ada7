/* SPDX-License-Identifier: MIT */
/*
 * anew_run_priv.h -- a run's folder in its project without its secrets.
 *
 * It is the user's project, so that its files are replaced one by one, each whole or not
 * at all, and never through a link. What cannot be masked stays as it is and is told by
 * its name; the others do not wait for it.
 */
#ifndef LIBRARY_ANEW_RUN_PRIV_H
#define LIBRARY_ANEW_RUN_PRIV_H

#include "library/rewrite.h"

/* Its descriptor, locked as a run locks it; -1: it is not there. ERR_BUSY: a run is going
 * on in it. Else why it cannot be used. */
int anew_run_hold(const char *dir, struct err *err);
/* All files below it; adds to *done. ERR_DAMAGED: some were told, and are as they were.
 */
int anew_run_make(const char *dir, int fd, const struct library_rewrite *rw,
                  struct library_rewritten *done, struct err *err);

#endif
