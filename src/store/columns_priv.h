/* SPDX-License-Identifier: MIT */
/* columns_priv.h -- the facts of a session as columns, in the order in which session.c
 * binds and reads them. */
#ifndef STORE_COLUMNS_PRIV_H
#define STORE_COLUMNS_PRIV_H

#define STORE_COLUMNS                                                               \
    "id, name, role, kind, status, signal, cmd, command, cwd, task, parent,"        \
    " resumed_from, agent, agent_session_id, model, exit_code, started_at_ns,"      \
    " ended_at_ns, bytes, size_bytes, cols, rows, snapshots, instructions, lines,"  \
    " text_bytes, damaged, input_tokens, output_tokens, cache_creation_tokens,"     \
    " cache_read_tokens, calls, branch_snapshot, branch_byte, project, iterations," \
    " turns, fork_turn"
/* 38 of them, behind the key. */
#define STORE_MARKS                                                                     \
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " \
    "?,"                                                                                \
    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

#define STORE_SHORT_COLUMNS                                                       \
    "id, name, status, command, parent, started_at_ns, ended_at_ns, size_bytes, " \
    "damaged,"                                                                    \
    " kind, agent, input_tokens, output_tokens, cache_creation_tokens, "          \
    "cache_read_tokens, task"

#endif
