/* SPDX-License-Identifier: MIT */
/*
 * long_session.h -- the recording that benchmarks read: an agent's session of any size,
 * at ten hours a GiB.
 */
#ifndef LONG_SESSION_H
#define LONG_SESSION_H

#include "base/err.h"

/* 120x40, records of 4 KiB, a snapshot about each 16 MiB; the same bytes for the same
 * size. */
int long_session_make(const char *path, size_t mib, struct err *err);

#endif
