/* SPDX-License-Identifier: MIT */
/*
 * stub_priv.h -- what is left of an encrypted session where others look for it: facts
 * that tell nothing of what is in it, and in a run's folder of its project a
 * metadata.json, so that its name stays taken.
 */
#ifndef LIBRARY_STUB_PRIV_H
#define LIBRARY_STUB_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

#define STUB_NAME "metadata.json"

/* What is told of an encrypted session: what keeps others, and itself, from being deleted
 * as before is part of it. */
struct stub_facts {
    const char *id, *kind;
    uint64_t started_at_ns;
    const char *parent, *resumed_from; /* what is no id is left out, as is NULL */
    const char *role;                  /* … and every role but MANAGER */
};

/* session.meta.json in the folder `dir`: that, and that it is encrypted. */
int stub_write_meta(const char *dir, const struct stub_facts *f, struct err *err);
/* In the run's folder at dir_fd, which is called `dir`: metadata.json is replaced. */
int stub_write(int dir_fd, const char *dir, const char *id, struct err *err);
/* What a killed one has left of that. */
void stub_sweep(int dir_fd);
/* Is its metadata.json the one of that session? id NULL: of any. */
bool stub_is(int dir_fd, const char *id);
/* In a session's folder, what is not done yet: a file with the path of the run's folder
 * in which there may be something to remove, and one that says the same of the library.
 */
#define STUB_PROJECT "project"
#define STUB_LIBRARY "library"
int stub_mark(const char *dir, const char *mark, const char *path, struct err *err);
/* … and that it is done. */
int stub_unmark(const char *dir, const char *mark, struct err *err);

#endif
