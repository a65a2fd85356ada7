/* SPDX-License-Identifier: MIT */
/*
 * only.h -- a scanner for what the user names, and nothing else: one of the rules, or
 * texts. Used as any other, by redact_text() and by streams.
 *
 * A text is found wherever it stands, also inside of a word, with sequences or a wrap
 * between its bytes. Texts never touch the disk.
 */
#ifndef REDACT_ONLY_H
#define REDACT_ONLY_H

#include "redact/redact.h"

enum {
    REDACT_TEXTS_MAX = 1000,
    REDACT_TEXT_MIN = 4, /* bytes: a shorter one would mask half a session */
    REDACT_TEXT_MAX = REDACT_HOLD / 2,
    REDACT_TEXTS_HOLD = 256 << 10,
};

/* ERR_USAGE when there is no such rule. own_rules_path as in redact_own_open().
 * Exceptions (`allow`, `off`) do not hold: who asks for it means it. */
int redact_only_rule(struct redact **ret, const char *rule, const char *own_rules_path,
                     struct err *err);
/*
 * Each line of `texts` is one, blanks at its ends and empty lines left out; what finds
 * them is called "text". Streams hold back more than others, up to REDACT_TEXTS_HOLD.
 * ERR_USAGE names the line, never its text, that is too short (blanks do not count) or
 * too long, or holds a control character, or nothing but stars; it is also said when
 * there are none, or too many.
 */
int redact_only_texts(struct redact **ret, struct view texts, struct err *err);

#endif
