/* SPDX-License-Identifier: MIT */
/* wire_print.h -- the ways in which `ahr wire` tells of calls. */
#ifndef CLI_WIRE_PRINT_H
#define CLI_WIRE_PRINT_H

#include "calls/read.h"

/* What there is of a document goes out. */
int cli_wire_write(struct buf *text, struct err *err);

/* Of what went in, so much was read from the cache: in thousandths; UINT64_MAX: not
 * known. */
uint64_t cli_wire_cache_share(const struct turn_usage *u);
/* Tokens a second since the first, times ten; UINT64_MAX: not known. */
uint64_t cli_wire_speed(const struct calls_facts *f);

/* wire_table.c: a line each. start_ns: of the session. */
int cli_wire_table(const struct calls *c, struct err *err);
/* wire_json.c: an array of objects, without bodies; one with all there is to say. */
int cli_wire_json(const struct calls *c, uint64_t start_ns, struct err *err);
int cli_wire_json_whole(const struct calls_whole *w, uint64_t start_ns, struct err *err);
/* wire_call.c: one as text, safe for a terminal. */
int cli_wire_call(const struct calls_whole *w, struct err *err);

#endif
