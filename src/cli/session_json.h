/* SPDX-License-Identifier: MIT */
/*
 * session_json.h -- a session as JSON, the same wherever one is printed: every key is
 * always there, null where it is not known.
 */
#ifndef CLI_SESSION_JSON_H
#define CLI_SESSION_JSON_H

#include "base/json.h"
#include "library/session.h"
#include "session/meta.h"

/* An object. home: for "path", the session's folder. */
void cli_session_json(struct json *j, const char *home, const struct library_session *s);

/* "usage": an object, or null where nothing is known. */
void cli_usage_json(struct json *j, const struct session_usage *u);

#endif
