/* SPDX-License-Identifier: MIT */
/* builtin_priv.h -- rules.txt, compiled; made by the build. */
#ifndef REDACT_BUILTIN_PRIV_H
#define REDACT_BUILTIN_PRIV_H

#include <stddef.h>

extern const char builtin_pack[];
extern const size_t builtin_pack_size;

#endif
