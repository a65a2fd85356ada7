/* SPDX-License-Identifier: MIT */
/*
 * import_input.h -- what the targets of import formats share.
 *
 * Their property: however the reads cut a file, the same head, records and damages come
 * of it, times never go back, and nothing is larger than it may be.
 */
#ifndef FUZZ_IMPORT_INPUT_H
#define FUZZ_IMPORT_INPUT_H

#include "base/buf.h"
#include "play/import.h"

/* Reads the files (files[i].p NULL: none) whole and cut in several ways, and compares. */
void import_check(const struct play_import_format *format,
                  const struct view files[PLAY_IMPORT_SOURCES]);

#endif
