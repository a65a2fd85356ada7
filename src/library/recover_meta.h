/* SPDX-License-Identifier: MIT */
/* recover_meta.h -- the meta of a session that was cut off, or has lost it. */
#ifndef LIBRARY_RECOVER_META_H
#define LIBRARY_RECOVER_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Is there no meta, or none that tells what the session is? Not one that could not be
 * read this time. */
bool recover_is_meta_lost(const char *meta_path);
/*
 * Writes how the session in the folder `dir` ended: it was interrupted, with the last
 * record of its recording, or at least_ns, whatever is later. Where its meta is lost,
 * what was there is kept as *.bad, and of a run its facts come from the metadata.json in
 * its project, if that is still its own: what that tells of its end is believed.
 */
int recover_meta(const char *dir, const char *id, const char *tape_path,
                 const char *meta_path, uint64_t at_least_ns, struct err *err);

#endif
