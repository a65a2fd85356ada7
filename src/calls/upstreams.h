/* SPDX-License-Identifier: MIT */
/*
 * upstreams.h -- the model APIs that the proxy stands in front of: which there are, where
 * they are, and what a program is told so that it comes to us instead.
 *
 * Each has a path segment of its own that cannot be guessed, made of the proxy's key: a
 * page in a browser, or another user's program, finds a port and nothing to ask of it.
 */
#ifndef CALLS_UPSTREAMS_H
#define CALLS_UPSTREAMS_H

#include <stdbool.h>

#include "base/buf.h"

enum { CALLS_UPSTREAMS_MAX = 16, CALLS_KEY_CHARS = 32 };

struct calls_upstream {
    char name[32];
    const char *variables[2]; /* that name it to a program; NULL: NAME_BASE_URL */
    struct buf url; /* "https://api.openai.com/v1", without a slash at its end */
    char segment[CALLS_KEY_CHARS + 2]; /* of its path on the proxy: letters and digits */
};

struct calls_upstreams {
    struct calls_upstream each[CALLS_UPSTREAMS_MAX];
    size_t n;
};

/* May one be called so? */
bool calls_upstream_is_name(struct view name);
/* Random letters and digits, from the system. */
int calls_key_make(char ret_key[CALLS_KEY_CHARS + 1]);
/* Is it one? */
bool calls_key_is(const char *key);
/*
 * Those that are known (anthropic, openai, gemini, …): where the environment says they
 * are, else at their vendor's public base URL; then what `told` says, "name=URL,…" (NULL:
 * nothing). A name that is not known may be told, too: its variable is NAME_BASE_URL.
 * ERR_USAGE for what is no http or https URL, or no name. key NULL: it is only to be seen
 * whether they are right, and there are no segments.
 */
int calls_upstreams_init(struct calls_upstreams *u, char *const *envp, const char *told,
                         const char *key, struct err *err);
void calls_upstreams_release(struct calls_upstreams *u);
/*
 * Each variable and its value for a client of the proxy at `where` ("127.0.0.1:4711"):
 * ANTHROPIC_BASE_URL and http://127.0.0.1:4711/<segment>. Where the environment sends
 * requests to another proxy, also a NO_PROXY that keeps ours from it. An error (< 0) ends
 * it and is returned.
 */
typedef int (*calls_variable_fn)(void *ctx, const char *name, const char *value);
int calls_upstreams_each_variable(const struct calls_upstreams *u, char *const *envp,
                                  const char *where, calls_variable_fn fn, void *ctx);
/* By the first segment of a path, compared in constant time; NULL: there is none. */
const struct calls_upstream *calls_upstreams_find(const struct calls_upstreams *u,
                                                  struct view segment);

#endif
