/* SPDX-License-Identifier: MIT */
/* usage_priv.h -- what is asked about usage, in parts (query.c). */
#ifndef STORE_USAGE_PRIV_H
#define STORE_USAGE_PRIV_H

#define STORE_TOKENS                                                                 \
    "input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, calls, " \
    "open_calls"

#define STORE_BEST " ORDER BY b.trust DESC, b.key LIMIT 1)"
/* The session in which the message of row m counts, and would without session ?1. */
#define STORE_OWNER                                                \
    "(SELECT b.key FROM messages AS b WHERE b.message = m.message" \
    " AND b.message <> 0" STORE_BEST
#define STORE_HEIR                                                 \
    "(SELECT b.key FROM messages AS b WHERE b.message = m.message" \
    " AND b.message <> 0 AND b.key <> ?1" STORE_BEST

/* Those of session ?1 that count. */
#define STORE_ITS_MESSAGES \
    "(SELECT message FROM messages WHERE key = ?1 AND message <> 0 AND counts)"

/* total() does not fail where a sum is beyond all numbers, as it may be of what others
 * have written. */
#define STORE_SUM(column)                                               \
    ", CASE count(" column ") WHEN 0 THEN NULL ELSE CAST(total(" column \
    ") AS INTEGER) END"
#define STORE_SUMS                       \
    STORE_SUM("u.input_tokens")          \
    STORE_SUM("u.output_tokens")         \
    STORE_SUM("u.cache_creation_tokens") \
    STORE_SUM("u.cache_read_tokens")     \
    STORE_SUM("u.calls")                 \
    STORE_SUM("u.open_calls")

/* A run's folder is below its project's. */
#define STORE_ABOVE(folder)                    \
    " WHEN instr(s.project, '" folder "') > 1" \
    " THEN substr(s.project, 1, instr(s.project, '" folder "') - 1)"
#define STORE_PROJECT                     \
    "CASE" STORE_ABOVE("/.ahr/sessions/") \
        STORE_ABOVE("/.claude-man/sessions/") " ELSE s.cwd END"

/* what: a group's text, day, name and start. */
#define STORE_USAGE_BY(what, by, order)                          \
    "SELECT u.model, s.agent, " what STORE_SUMS                  \
    " FROM usage AS u CROSS JOIN sessions AS s ON s.key = u.key" \
    " WHERE u.key BETWEEN ?1 AND ?2 AND u.day >= ?3 GROUP BY " by " ORDER BY " order

#endif
