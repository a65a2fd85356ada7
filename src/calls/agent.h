/* SPDX-License-Identifier: MIT */
/* agent.h -- which agent asks. Pure. */
#ifndef CALLS_AGENT_H
#define CALLS_AGENT_H

#include "calls/line.h"

/* By the headers of a request: "claude", say; NULL: it is not known. */
const char *calls_agent(const struct calls_header *headers, size_t count);

#endif
