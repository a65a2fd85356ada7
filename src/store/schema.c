/* SPDX-License-Identifier: MIT */
/*
 * schema.c -- what library.db holds, step by step: step N brings a library of version N
 * to version N + 1. A step that was released is never changed; what is new comes as a new
 * one at the end.
 */
#include "store/schema_priv.h"

#include <stddef.h>

/* A session's pieces and words have the row id key << 20 | number, so that the newest are
 * the last of each list.
 *
 * What each change touches (library), and what none does (mark) have their pages at the
 * same place in every library: the log of another one that lies beside this shows by
 * that (open.c). */
static const char first[] =
    "CREATE TABLE library (identity BLOB NOT NULL, changes INTEGER NOT NULL);"
    "CREATE TABLE mark (identity BLOB NOT NULL);"
    "INSERT INTO mark VALUES (randomblob(16));"
    "INSERT INTO library SELECT identity, 0 FROM mark;"
    "CREATE TABLE sessions ("
    "  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, role TEXT, kind TEXT,"
    "  status TEXT, signal TEXT, cmd TEXT, command TEXT, cwd TEXT, task TEXT,"
    "  parent TEXT, resumed_from TEXT, agent TEXT, agent_session_id TEXT, model TEXT,"
    "  exit_code INTEGER, started_at_ns INTEGER, ended_at_ns INTEGER, bytes INTEGER,"
    "  size_bytes INTEGER, cols INTEGER, rows INTEGER, snapshots INTEGER,"
    "  instructions INTEGER, lines INTEGER, text_bytes INTEGER, damaged INTEGER,"
    "  input_tokens INTEGER, output_tokens INTEGER, cache_creation_tokens INTEGER,"
    "  cache_read_tokens INTEGER, calls INTEGER);"
    "CREATE INDEX sessions_name ON sessions (name) WHERE name IS NOT NULL;"
    "CREATE TABLE moments ("
    "  key INTEGER NOT NULL, kind INTEGER NOT NULL, id INTEGER, ts_ns INTEGER,"
    "  anchor_byte INTEGER, snapshot_id INTEGER, text TEXT, delivered INTEGER);"
    "CREATE INDEX moments_key ON moments (key);"
    "CREATE TABLE pieces (place INTEGER PRIMARY KEY, packed BLOB NOT NULL);"
    "CREATE VIRTUAL TABLE words USING fts5 (grams, content='', detail='none',"
    "  columnsize=0, tokenize='ascii');"
    "INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);";

/* Where a session has branched off from its parent. */
static const char branches[] = "ALTER TABLE sessions ADD COLUMN branch_snapshot INTEGER;"
                               "ALTER TABLE sessions ADD COLUMN branch_byte INTEGER;";

/* What agents did, event by event, what it took by model, and the files that they have
 * made. The text itself is in the pieces. */
static const char turns[] =
    "ALTER TABLE sessions ADD COLUMN project TEXT;"
    "ALTER TABLE sessions ADD COLUMN iterations INTEGER;"
    "ALTER TABLE sessions ADD COLUMN turns INTEGER;"
    "CREATE TABLE turns ("
    "  key INTEGER NOT NULL, number INTEGER NOT NULL, ts_ns INTEGER, iteration INTEGER,"
    "  type TEXT NOT NULL, role TEXT, name TEXT, call TEXT, text_bytes INTEGER,"
    "  failed INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID;"
    "CREATE INDEX turns_name ON turns (name, key) WHERE name IS NOT NULL;"
    "CREATE TABLE usage ("
    "  key INTEGER NOT NULL, model TEXT NOT NULL, input_tokens INTEGER,"
    "  output_tokens INTEGER, cache_creation_tokens INTEGER, cache_read_tokens INTEGER,"
    "  calls INTEGER, PRIMARY KEY (key, model)) WITHOUT ROWID;"
    "CREATE TABLE artifacts ("
    "  key INTEGER NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, action TEXT,"
    "  ts_ns INTEGER, PRIMARY KEY (key, turn)) WITHOUT ROWID;";

/* Of how many turns of its parent a session knows. */
static const char forks[] = "ALTER TABLE sessions ADD COLUMN fork_turn INTEGER;";

/* Pieces tell what each row is of. Those of before do not: all is indexed anew. */
static const char labels[] = "DELETE FROM pieces;"
                             "INSERT INTO words (words) VALUES ('delete-all');"
                             "DELETE FROM moments;"
                             "DELETE FROM turns;"
                             "DELETE FROM usage;"
                             "DELETE FROM artifacts;"
                             "DELETE FROM sessions;";

/* Usage by day, too, by message, so that those that several sessions have count once, and
 * by the totals of an agent's session that goes on in several. All is indexed anew. */
static const char usage[] =
    "DELETE FROM pieces;"
    "INSERT INTO words (words) VALUES ('delete-all');"
    "DELETE FROM moments;"
    "DELETE FROM turns;"
    "DELETE FROM artifacts;"
    "DELETE FROM sessions;"
    "DROP TABLE usage;"
    "CREATE TABLE usage ("
    "  key INTEGER NOT NULL, model TEXT NOT NULL, day INTEGER NOT NULL,"
    "  input_tokens INTEGER, output_tokens INTEGER, cache_creation_tokens INTEGER,"
    "  cache_read_tokens INTEGER, calls INTEGER, open_calls INTEGER,"
    "  PRIMARY KEY (key, model, day)) WITHOUT ROWID;"
    "CREATE TABLE messages ("
    "  key INTEGER NOT NULL, message INTEGER NOT NULL, is_extra INTEGER NOT NULL,"
    "  model TEXT NOT NULL, day INTEGER NOT NULL, span INTEGER NOT NULL,"
    "  input_tokens INTEGER, output_tokens INTEGER, cache_creation_tokens INTEGER,"
    "  cache_read_tokens INTEGER, calls INTEGER, open_calls INTEGER,"
    "  trust INTEGER NOT NULL, counts INTEGER NOT NULL, caller INTEGER NOT NULL,"
    "  PRIMARY KEY (key, message, is_extra, model, day, span)) WITHOUT ROWID;"
    "CREATE INDEX messages_message ON messages (message) WHERE message <> 0;"
    "CREATE INDEX messages_caller ON messages (caller) WHERE caller <> 0;"
    "CREATE INDEX messages_extra ON messages (key) WHERE is_extra;"
    "CREATE TABLE totals ("
    "  thread INTEGER NOT NULL, total INTEGER NOT NULL, key INTEGER NOT NULL,"
    "  is_history INTEGER NOT NULL, model TEXT NOT NULL, day INTEGER NOT NULL,"
    "  input_tokens INTEGER, output_tokens INTEGER, cache_creation_tokens INTEGER,"
    "  cache_read_tokens INTEGER, calls INTEGER,"
    "  PRIMARY KEY (thread, total, key)) WITHOUT ROWID;"
    "CREATE INDEX totals_key ON totals (key);";

const char *const store_schema_steps[] = { first,  branches, turns, forks,
                                           labels, usage,    NULL };
