/* SPDX-License-Identifier: MIT */
/*
 * own.h -- the user's own rules and exceptions.
 *
 * They are text, by default $XDG_CONFIG_HOME/ahr/redact. The program ahr-rules, which
 * alone needs the whole pattern compiler, makes a pack of it that redact_open() takes.
 * Packs lie in $XDG_CACHE_HOME/ahr, named by what they were made of: a changed text has
 * another pack, and an old one is never mistaken for it.
 */
#ifndef REDACT_OWN_H
#define REDACT_OWN_H

#include "redact/redact.h"

/*
 * Compiles the text at rules_path unless that was done before, and appends the pack's
 * path; nothing when the text is empty. Errors: ERR_MISSING, ERR_USAGE for a mistake in
 * the text (with its line), or what kept the pack from being made.
 */
int redact_own_prepare(const char *rules_path, struct buf *ret_pack_path,
                       struct err *err);

/* redact_open() with the rules at rules_path; NULL: at the default place, where there
 * need be none. A pack that does not open any more is made anew. */
int redact_own_open(struct redact **ret, const char *rules_path, struct err *err);

#endif
