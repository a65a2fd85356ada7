/* SPDX-License-Identifier: MIT */
/* schema_priv.h -- the steps by which a library.db comes about. */
#ifndef STORE_SCHEMA_PRIV_H
#define STORE_SCHEMA_PRIV_H

enum { STORE_APPLICATION_ID = 0x61687231 }; /* "ahr1": what lies there is ours */

/* NULL at the end; how many there are is the version (PRAGMA user_version). */
extern const char *const store_schema_steps[];

#endif
