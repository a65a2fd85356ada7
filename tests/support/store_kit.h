/* SPDX-License-Identifier: MIT */
/*
 * store_kit.h -- sessions with a few pieces in a library.db of the current folder. Piece
 * N of session I has the words 616161, 0000NN and 00II00.
 */
#ifndef STORE_KIT_H
#define STORE_KIT_H

#include "store/store.h"
#include "support/kit.h"

#define STORE_KIT_DB    "library.db"
#define STORE_KIT_START UINT64_C(1700000000000000000)
#define STORE_KIT_WAIT  60000

/* A call that does not fail. */
#define store_kit_must(r) assert_true((r) >= 0)

struct store *store_kit_open(enum store_mode mode);
/* The id of session i; good until the eighth call from now. */
const char *store_kit_id(int i);
/* In the caller's change; its key. */
int64_t store_kit_fill(struct store *s, int i, uint64_t started_at_ns, uint32_t pieces);
/* In one of their own. */
int64_t store_kit_put(struct store *s, int i, uint64_t started_at_ns, uint32_t pieces);
void store_kit_remove(struct store *s, int i, uint32_t pieces);
/* "I.N " of each piece that is found; how many there are. words and id may be NULL. */
const char *store_kit_found(struct store *s, const char *words, const char *id,
                            uint64_t since_ns);
int store_kit_find(struct store *s, const char *words, const char *id, uint64_t since_ns);

#endif
