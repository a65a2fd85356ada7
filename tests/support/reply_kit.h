/* SPDX-License-Identifier: MIT */
/*
 * reply_kit.h -- replies of a model's API, read and written down: a line for each event,
 * as turn_kit_write() has it, "final" before usage that is; then one of the facts:
 *
 *     = openai-chat id=c1 model=m stop=stop in=3 out=4 final whole
 */
#ifndef REPLY_KIT_H
#define REPLY_KIT_H

#include "turn/reply.h"

/* Of a stream: in pieces of `step` bytes, the first of `first`. */
void reply_kit_stream(enum turn_api api, struct view bytes, size_t first, size_t step,
                      struct buf *out);
/* Of a reply in one piece. */
void reply_kit_body(enum turn_api api, struct view json, struct buf *out);

/* Lines of JSON, with ' for ", as the events of a stream; "[DONE]" too. */
void reply_kit_events(const char *lines, struct buf *out);

/*
 * Fails the test unless these are the events of the stream: whole, byte by byte, cut into
 * two anywhere, and with its API guessed. Broken off after any byte it has told a prefix
 * of the events, and no more usage than it has in the end (of what is cached, as input);
 * is_final only if that is all.
 */
void reply_kit_check(enum turn_api api, const char *lines, const char *want);
/* The same without a guess, of lines that do not tell. */
void reply_kit_check_known(enum turn_api api, const char *lines, const char *want);
/* Of a reply in one piece, which is guessed, too. */
void reply_kit_check_body(enum turn_api api, const char *json, const char *want);

#endif
