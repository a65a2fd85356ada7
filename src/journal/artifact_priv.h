/* SPDX-License-Identifier: MIT */
/* artifact_priv.h -- the parts of artifact.h: which files a call writes, their copies. */
#ifndef JOURNAL_ARTIFACT_PRIV_H
#define JOURNAL_ARTIFACT_PRIV_H

#include <stdbool.h>

#include "redact/redact.h"

/* -- which files a tool writes (artifact_tools.c, artifact_patch.c); pure -- */

/* action NULL: the arguments do not tell. path is borrowed. */
typedef void (*journal_tool_fn)(void *ctx, struct view path, const char *action);

/* Each file that a call of this tool with these arguments (JSON) writes. */
void journal_tool_paths(struct view name, struct view arguments, journal_tool_fn fn,
                        void *ctx);
/* Each file of a patch in the form of apply_patch. */
void journal_patch_paths(struct view patch, journal_tool_fn fn, void *ctx);
/* created or modified, where a result says so; else NULL. */
const char *journal_result_action(struct view text);

/* -- copies (artifact_copy.c, artifact_links.c) -- */

enum { JOURNAL_LINKS_MAX = 2000, JOURNAL_LINKS_BYTES = 4 << 20 };

/* What links.json says, for one path. Zeroed it is ready for use. */
struct journal_links {
    struct buf file;      /* as it stands */
    size_t count;         /* of entries */
    uint64_t highest;     /* number of a copy */
    uint64_t bytes;       /* of all copies */
    bool is_known;        /* the path has an entry … */
    bool is_deleted;      /* … and its last one says so */
    struct buf last_copy; /* of the path; empty: none */
};

struct journal_link {
    struct view path; /* as it is listed */
    const char *action;
    uint64_t ts_ns;
    const char *copy; /* NULL: none */
    uint64_t bytes;
    bool is_redacted;
    const char *why; /* NULL: nothing to say */
};

void journal_links_release(struct journal_links *l);
/* fd: of artifacts/. ERR_DAMAGED: it is none of ours; *ret is then as for an empty one.
 */
int journal_links_read(int fd, struct view path, struct journal_links *ret);
/* The file with one entry more, as text. */
void journal_links_add(const struct journal_links *l, const struct journal_link *link,
                       struct buf *out);

struct journal_copy {
    const char *dir;    /* the run's */
    const char *file;   /* where it lies, absolute */
    struct view path;   /* as it is listed */
    const char *action; /* NULL: to be decided; set when this returns */
    uint64_t ts_ns;
    bool must_exist; /* … or be known: a person has said its name */
};

/* Copies the file as it is now and lists it in links.json. ERR_MISSING: must_exist, and
 * it does not. Else 0 or why it could not be listed. */
int journal_copy_make(struct journal_copy *c, struct redact *redact, struct err *err);

#endif
