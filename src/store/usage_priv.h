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

/* Sessions whose usage hangs on what session ?1 has: their DONEs told more than their
 * messages, of which it has some; or they go on with the same session of an agent's. */
#define STORE_PEERS                                                                \
    "SELECT o.key FROM messages AS m"                                              \
    " CROSS JOIN messages AS o ON o.message = m.message"                           \
    " WHERE m.key = ?1 AND m.message <> 0 AND o.message <> 0 AND o.key <> ?1"      \
    " AND EXISTS (SELECT 1 FROM messages AS x WHERE x.key = o.key AND x.is_extra)" \
    " UNION SELECT o.key FROM totals AS t"                                         \
    " CROSS JOIN totals AS o ON o.thread = t.thread"                               \
    " WHERE t.key = ?1 AND o.key <> ?1"

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

/* What of session ?1 counts, in parts; each is a SELECT of STORE_TOKENS behind a model
 * and a day.
 *
 * What a DONE has told beyond its messages is less by what others know of these: of each
 * message of that span and model that counts elsewhere, how much more that is; and by the
 * messages that only others have, of sub-agents that were called in that span. */
#define STORE_LOST                                                           \
    "SELECT message, span, model, total(input_tokens) AS input,"             \
    " total(output_tokens) AS output, total(cache_creation_tokens) AS made," \
    " total(cache_read_tokens) AS got FROM messages"                         \
    " WHERE key = ?1 AND message <> 0 AND NOT counts AND NOT is_extra"       \
    " GROUP BY message, span, model"
#define STORE_KNOWN                                                                 \
    "SELECT l.span, l.model, total(b.input_tokens) - l.input AS input,"             \
    " total(b.output_tokens) - l.output AS output,"                                 \
    " total(b.cache_creation_tokens) - l.made AS made,"                             \
    " total(b.cache_read_tokens) - l.got AS got"                                    \
    " FROM (" STORE_LOST ") AS l CROSS JOIN messages AS b ON b.message = l.message" \
    " WHERE b.message <> 0 AND b.counts AND NOT b.is_extra"                         \
    " GROUP BY l.message, l.span, l.model"
#define STORE_CALLERS                                                      \
    "SELECT message, min(span) AS span FROM messages"                      \
    " WHERE key = ?1 AND message <> 0 AND NOT is_extra"                    \
    " AND span IN (SELECT span FROM messages WHERE key = ?1 AND is_extra)" \
    " GROUP BY message"
#define STORE_UNTOLD                                                                  \
    "SELECT c.span, b.model, total(b.input_tokens) AS input,"                         \
    " total(b.output_tokens) AS output, total(b.cache_creation_tokens) AS made,"      \
    " total(b.cache_read_tokens) AS got"                                              \
    " FROM (" STORE_CALLERS ") AS c CROSS JOIN messages AS b ON b.caller = c.message" \
    " WHERE b.caller <> 0 AND b.counts AND b.key <> ?1 AND NOT EXISTS"                \
    " (SELECT 1 FROM messages AS x WHERE x.key = ?1 AND x.message = b.message)"       \
    " GROUP BY c.span, b.model"
#define STORE_GAINED                                                  \
    "SELECT span, model, sum(input) AS input, sum(output) AS output," \
    " sum(made) AS made, sum(got) AS got"                             \
    " FROM (" STORE_KNOWN " UNION ALL " STORE_UNTOLD ") GROUP BY span, model"
#define STORE_EXTRAS                                                         \
    "SELECT * FROM (SELECT x.model, x.day,"                                  \
    " max(0, x.input_tokens - coalesce(g.input, 0)) AS input,"               \
    " max(0, x.output_tokens - coalesce(g.output, 0)) AS output,"            \
    " max(0, x.cache_creation_tokens - coalesce(g.made, 0)) AS made,"        \
    " max(0, x.cache_read_tokens - coalesce(g.got, 0)) AS got,"              \
    " NULL, 0 FROM messages AS x LEFT JOIN (" STORE_GAINED ") AS g"          \
    " ON g.span = x.span AND g.model = x.model"                              \
    " WHERE x.key = ?1 AND x.counts AND x.is_extra)"                         \
    " WHERE max(coalesce(input, 0), coalesce(output, 0), coalesce(made, 0)," \
    " coalesce(got, 0)) > 0"
/* Of the totals of a thread each has what it has grown by since the one before it,
 * whoever has that; nothing, where a history has the messages up to there. */
#define STORE_GROWN                                                                \
    "SELECT t.model, t.day, max(0, t.input_tokens - coalesce(p.input_tokens, 0))," \
    " max(0, t.output_tokens - coalesce(p.output_tokens, 0)),"                     \
    " max(0, t.cache_creation_tokens - coalesce(p.cache_creation_tokens, 0)),"     \
    " max(0, t.cache_read_tokens - coalesce(p.cache_read_tokens, 0)), t.calls, 0"  \
    " FROM totals AS t LEFT JOIN totals AS p ON p.thread = t.thread"               \
    " AND p.total = (SELECT max(q.total) FROM totals AS q"                         \
    " WHERE q.thread = t.thread AND q.total < t.total)"                            \
    " AND p.key = (SELECT min(q.key) FROM totals AS q"                             \
    " WHERE q.thread = p.thread AND q.total = p.total)"                            \
    " WHERE t.key = ?1 AND NOT EXISTS (SELECT 1 FROM totals AS h"                  \
    " WHERE h.thread = t.thread AND h.total >= t.total AND h.is_history)"          \
    " AND NOT EXISTS (SELECT 1 FROM totals AS e"                                   \
    " WHERE e.thread = t.thread AND e.total = t.total AND e.key < t.key)"
#define STORE_WHAT_COUNTS                                       \
    "SELECT model, day, " STORE_TOKENS                          \
    " FROM messages WHERE key = ?1 AND counts AND NOT is_extra" \
    " UNION ALL " STORE_EXTRAS " UNION ALL " STORE_GROWN

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
