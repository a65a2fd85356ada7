/* SPDX-License-Identifier: MIT */
/*
 * engine_priv.h -- the pattern engine: vectorscan's runtime behind four calls.
 *
 * Scans do not nest: what a scan finds is collected, and dealt with after it.
 */
#ifndef REDACT_ENGINE_PRIV_H
#define REDACT_ENGINE_PRIV_H

#include "redact/pack_priv.h"

struct engine;
struct engine_stream;

/* The databases of a pack, which must outlive it; any may be empty. Shapes are loaded
 * when they are first asked. -ENOMEM or ERR_DAMAGED, as from all calls here. */
int engine_open(struct engine **ret, const struct pack *pack);
/* Now, rather: it shows whether they are sound. */
int engine_load(struct engine *e);
void engine_close(struct engine *e);
/* Memory of the databases and the scratch space. */
size_t engine_size_bytes(const struct engine *e);

/* end: offset in the stream behind the last byte of the lead. */
typedef void (*engine_lead_fn)(void *ctx, unsigned lead, uint64_t end);

int engine_stream_new(struct engine_stream **ret, struct engine *e);
void engine_stream_free(struct engine_stream *s);
int engine_stream_reset(struct engine_stream *s);
int engine_stream_scan(struct engine_stream *s, struct view text, engine_lead_fn fn,
                       void *ctx);

/* For each rule whose pattern matches at the start of text, the longest end goes to
 * ends[rule]; the others stay as they are. */
int engine_shapes(struct engine *e, enum pack_shapes which, struct view text,
                  uint32_t *ends);

#endif
