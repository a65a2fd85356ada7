/* SPDX-License-Identifier: MIT */
/*
 * agent_stream.h -- bytes like those of a coding agent on a terminal: prose and code in
 * colour, a spinner and a status line that are painted again and again, diffs, build
 * output.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include "base/buf.h"

/* Appends about n bytes; the same for the same seed. */
void agent_stream(struct buf *out, size_t n, uint32_t seed);

#endif
