/* SPDX-License-Identifier: MIT */
/*
 * prompt.h -- what a command line says of the agent in it: which one, and its prompt.
 *
 * Pure. Knows `claude -p`, `codex exec`, `gemini -p`, `opencode run` and their like by
 * the name of the program (also behind npx, env NAME=VALUE, node PATH).
 */
#ifndef TURN_PROMPT_H
#define TURN_PROMPT_H

#include "turn/decoder.h"

enum turn_prompt_from {
    TURN_PROMPT_NONE,  /* no agent that is known, or one that asks its user */
    TURN_PROMPT_ARG,   /* a word of the command line */
    TURN_PROMPT_STDIN, /* all of its standard input is one prompt */
    TURN_PROMPT_LINES, /* … each line is a message (`--input-format stream-json`) */
};

struct turn_prompt {
    enum turn_agent agent; /* TURN_AUTO: not known */
    enum turn_prompt_from from;
    const char *text; /* of TURN_PROMPT_ARG: its first word, of argv; borrowed */
    /* All of its words (`opencode run mend the test`), in argv; none where the text is
     * only a part of one (`--prompt=TEXT`). Of TURN_PROMPT_NONE: the first message of one
     * that asks its user (`codex "mend the test"`). */
    const char *const *words;
    size_t word_count;
};

struct turn_prompt turn_prompt(size_t argc, const char *const *argv);
/* How many words there are up to the agent's name, and with it; 0: no agent that is
 * known. */
size_t turn_prompt_start(size_t argc, const char *const *argv, enum turn_agent *ret);
/* Appends the prompt of TURN_PROMPT_ARG as the agent sees it: its words with blanks
 * between them. */
int turn_prompt_text(const struct turn_prompt *p, struct buf *out);

#endif
