/* SPDX-License-Identifier: MIT */
/*
 * native.h -- command lines that go on with an agent's own session.
 *
 * Pure. Agents keep their sessions and can go on with them by their id: `claude --resume
 * ID`, `codex exec resume ID`, `gemini --resume ID`, `opencode run --session ID`. What
 * the recorded command line says otherwise (models, permissions, formats) stays; its
 * prompt does not, and neither does what it says of another session.
 */
#ifndef TURN_NATIVE_H
#define TURN_NATIVE_H

#include <stdbool.h>

#include "turn/prompt.h"

/* May an agent's session be called so? What is not becomes no word of a command line. */
bool turn_native_is_id(const char *id);

/*
 * Appends the words, each with its NUL. prompt: what the agent is told, where it takes
 * one as a word; one that asks its user may be told nothing (NULL). is_fork: the session
 * itself stays as it is. ERR_MISSING: the agent cannot do that, or none is known.
 */
int turn_native_words(size_t argc, const char *const *argv, const char *id,
                      const char *prompt, bool is_fork, struct buf *words);

/* Appends the words with another prompt, for a session that starts afresh. Where the
 * agent has its prompt by other means (standard input), 0, and the words as they are;
 * ERR_MISSING: no agent is known. */
int turn_native_prompt(size_t argc, const char *const *argv, const char *prompt,
                       bool has_terminal, struct buf *words);

/* The id that the agent's session has, if the command line gives or names it: a part of a
 * word; NULL: it does not. */
const char *turn_native_id(size_t argc, const char *const *argv);
/* The same of a line that an agent prints at its end, as "claude --resume ID" or "codex
 * resume ID": appends it; false: the line has none. */
bool turn_native_told(struct view line, enum turn_agent agent, struct buf *ret);

#endif
