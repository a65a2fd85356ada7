/* SPDX-License-Identifier: MIT */
/*
 * artifact.h -- files that a run makes, changes or removes: noticed in its tool calls,
 * copied each time, listed.
 *
 * artifacts/ holds copies, <NNNN>-<file name>, and links.json: an array of {"path",
 * "action","timestamp","copy","bytes","redacted","why"}; copy is null and why says why
 * where there is none (deleted, too big, no regular file, no room). Copies are masked as
 * all else; "redacted" tells where that changed something. An archived copy lies there as
 * <copy>.gz.
 */
#ifndef JOURNAL_ARTIFACT_H
#define JOURNAL_ARTIFACT_H

#include "redact/redact.h"
#include "turn/event.h"

enum {
    JOURNAL_COPY_MAX = 8 << 20,     /* bytes of one file */
    JOURNAL_COPIES_MAX = 256 << 20, /* … of all copies of a run */
};

/* Told of each artifact, when it is known: path as it is listed (below the project:
 * relative to it, else absolute), and created, modified or deleted. */
typedef void (*journal_artifact_fn)(void *ctx, struct view path, const char *action);

struct journal_artifacts;

/* root: the project's folder; dir: the run's. Nothing is made on disk until there is
 * something. redact is borrowed. */
int journal_artifacts_new(struct journal_artifacts **ret, const char *root,
                          const char *dir, struct redact *redact, journal_artifact_fn fn,
                          void *ctx);
void journal_artifacts_free(struct journal_artifacts *a);
/* Looks at an event as the agent gave it, not masked: TOOL_CALLs of tools that write
 * (Write, Edit, MultiEdit, NotebookEdit, apply_patch, write_file, replace, edit, …; paths
 * out of their arguments) are remembered, and become artifacts with their TOOL_RESULT
 * unless that is an error. */
int journal_artifacts_see(struct journal_artifacts *a, const struct turn_event *e,
                          uint64_t ts_ns);
/* One file, whatever happened to it: `ahr artifact add`. action NULL: modified if the
 * run has a copy of it already, else created; deleted if there is no such file. */
int journal_artifacts_add(struct journal_artifacts *a, const char *path,
                          const char *action, uint64_t ts_ns, struct err *err);
/* All paths, each once, each with its NUL. */
struct view journal_artifacts_list(const struct journal_artifacts *a);

/* An entry of links.json, whoever wrote it; texts are borrowed, "" where there is none.
 */
struct journal_artifact_told {
    const char *path, *action, *timestamp, *copy, *why;
    uint64_t bytes;
    bool is_redacted;
};

typedef int (*journal_artifact_told_fn)(void *ctx, const struct journal_artifact_told *t);
/* Each entry, the oldest first; dir: of the run. A run without any has none. An error
 * that fn returns ends the reading and is returned. */
int journal_artifacts_read(const char *dir, journal_artifact_told_fn fn, void *ctx,
                           struct err *err);

#endif
