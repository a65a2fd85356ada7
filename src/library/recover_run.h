/* SPDX-License-Identifier: MIT */
/*
 * recover_run.h -- what a run that was cut off has beside its recording: its events, and
 * its folder in its project.
 */
#ifndef LIBRARY_RECOVER_RUN_H
#define LIBRARY_RECOVER_RUN_H

#include "library/recover.h"
#include "session/folder.h"

/* Does the session's folder hold events of a run? */
bool recover_has_turns(const struct session_folder *f);
/*
 * The folder is ours. The events' last line, if it is torn, is cut off (what was torn was
 * never shown), the meta learns what they tell, and the run's folder in its project is
 * put in order; what fails there is told in *ret, and is no failure of the session's.
 */
int recover_run(const struct session_folder *f, struct library_project *ret,
                struct err *err);
/* What is torn at the end of the events at `path` goes. */
int recover_mend_turns(const char *path, struct err *err);
/* The meta at meta_path learns what the events in the folder `dir` tell. */
int recover_learn(const char *dir, const char *meta_path, struct err *err);

/* -- recover_wire.c -- */

/* Has a proxy recorded calls there? */
bool recover_has_wire(const struct session_folder *f);
/* Calls that were cut off get their end, and what was said in them goes to the events.
 * *ret_last_ns: the latest stamp of them, where there are any. The folder is ours. */
int recover_wire(const struct session_folder *f, uint64_t *ret_last_ns, struct err *err);

/* -- recover_entire.c -- */

/* The transcript in the .entire/ of the project of `p`, if there is one; turns_path: its
 * events, mended. */
int recover_entire(const struct session_folder *f, const char *turns_path,
                   struct library_project *p, struct err *err);
#endif
