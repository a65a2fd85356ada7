/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h -- secrets taken out of a stored session after the fact.
 *
 * The deliberate exception to "what was recorded is never changed": blocks, facts, lines
 * of snapshots and instructions, logs, keyframes and index are made anew, with stars of
 * the same length in the recording, so that layout and offsets stay. The new folder takes
 * the old one's place in one step. Then a run's folder in its project is cleaned, file by
 * file, and so is its transcript in .entire/. What was masked, when and how much is noted
 * in session.audit.jsonl; what it was is not.
 */
#ifndef LIBRARY_REWRITE_H
#define LIBRARY_REWRITE_H

#include "library/index.h"

struct library_rewrite {
    struct redact *secrets; /* what is to be masked: one rule, or texts */
    struct redact *redact;  /* for the index, as ever */
    const char *what;       /* for the audit: "rule NAME", "2 texts" */
    const struct tape_progress *progress;
    void (*tell)(void *ctx,
                 const char *text); /* what a person should know; may be NULL */
    void *ctx;
};

struct library_rewritten {
    uint64_t masked, masked_bytes; /* places and bytes, in all files */
    uint64_t files;                /* that held any */
    uint64_t dropped;              /* scraps of recordings that could not be read */
    bool is_damaged;  /* bytes that could not be read are not in it any more */
    bool is_unpacked; /* it was archived, and is not any more */
    bool is_changed;  /* false: nothing of it was found, all files are as they were */
};

/*
 * ERR_BUSY for a live session, and where the library is locked; ERR_DAMAGED where the
 * library or all of the recording cannot be read. Then, and after any other failure up to
 * the exchange of the folders, nothing was changed. Killed at any point, the session is
 * there once and whole, as it was or as it is to be; to call it again ends the work, also
 * where the files are clean and only leftovers or the library are not. ERR_DAMAGED, too,
 * where all is clean but what its run kept is in a vault, be it another session's;
 * -EACCES where the session is. When it returns 0, nothing of it is left: not in the
 * folder, not in the library, not in the folder of its run, not in its transcript.
 */
int library_rewrite(const char *home, const char *id, const struct library_rewrite *rw,
                    struct library_rewritten *ret, struct err *err);

#endif
