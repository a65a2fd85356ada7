/* SPDX-License-Identifier: MIT */
/*
 * speech.h -- the lines in which an agent says something: as claude's stream-json,
 * codex's
 * --json, or as plain text.
 */
#ifndef MOCK_SPEECH_H
#define MOCK_SPEECH_H

#include <stdbool.h>

#include "base/buf.h"

enum speech_format { SPEECH_CLAUDE, SPEECH_CODEX, SPEECH_PLAIN };

struct speech {
    enum speech_format format;
    bool is_partial;   /* claude: pieces before each text */
    uint64_t seed;     /* makes the session's id */
    uint64_t messages; /* so far: numbers of ids */
    uint64_t calls;    /* … of tools */
    struct buf out;    /* whole lines */
};

/* Each appends lines to s->out; the caller writes and clears it. */
void speech_begin(struct speech *s);
void speech_say(struct speech *s, const char *text);
/* A call and its result; `path` (may be NULL) is a file that was written with `text`. */
void speech_tool(struct speech *s, const char *text, const char *path);
void speech_end(struct speech *s, const char *last);

#endif
