/* SPDX-License-Identifier: MIT */
/* mask_priv.h -- secrets out of a session's facts. */
#ifndef LIBRARY_MASK_PRIV_H
#define LIBRARY_MASK_PRIV_H

#include "library/session.h"
#include "redact/redact.h"

/* All texts that somebody gave; the command word by word. */
int mask_facts(struct library_session *s, struct redact *redact, struct err *err);

#endif
