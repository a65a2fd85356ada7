/* SPDX-License-Identifier: MIT */
/* snap_kit.h -- snapshots made by hand in a home of a test, and what git says of them. */
#ifndef SNAP_KIT_H
#define SNAP_KIT_H

#include <stdbool.h>

#include "snap/facts.h"

/* Ids of sessions. */
#define SNAP_KIT_S1 "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd"
#define SNAP_KIT_S2 "2026-01-03-01234567-89ab-4cde-8f01-23456789abcd"

struct view snap_kit_view(const char *text);
bool snap_kit_exists(const char *path);
void snap_kit_write(const char *path, const char *text);
/* $AHR_HOME of a test that is KIT_IN_DIR. */
char *snap_kit_home(void **state);

/* Runs git in a repository; it must succeed. */
void snap_kit_git(const char *repo_path, const char *const *args, const char *input,
                  struct buf *out);
bool snap_kit_is_sound(const char *repo_path);
/* An object, and its name. */
void snap_kit_object(const char *repo_path, const char *type, const char *text,
                     char ret[65]);
/* A snapshot of no files, with those bytes as its `extra`. */
void snap_kit_put(const char *home, const char *root, const struct snap_facts *f,
                  const char *bytes);
/* One of that moment with hardly anything in it; session "": of none. */
void snap_kit_put_plain(const char *home, const char *root, const char *session,
                        uint64_t id);
/* The repository of a root, which must be there. */
void snap_kit_path(const char *home, const char *root, char ret[4096]);

#endif
