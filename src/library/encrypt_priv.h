/* SPDX-License-Identifier: MIT */
/* encrypt_priv.h -- what the two ways, into a vault and out of it, share. */
#ifndef LIBRARY_ENCRYPT_PRIV_H
#define LIBRARY_ENCRYPT_PRIV_H

#include "base/buf.h"

/* In a run's folder: what comes out of a vault, until all of it has. */
#define ENCRYPT_STAGE ".ahr-decrypt"
/* In a session's folder: a vault of which only the project's files are not out yet. */
#define ENCRYPT_REST "project.vault"

/* A message about "it" gets the name of the vault in the session's folder `dir`. */
int encrypt_explain(const char *dir, int r, struct err *err);

#endif
