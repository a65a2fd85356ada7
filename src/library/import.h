/* SPDX-License-Identifier: MIT */
/*
 * import.h -- a session made of what another program recorded.
 *
 * It appears when it is finished, whole, or not at all: in the library, or as a plain
 * file with its siblings. What a killed import leaves is swept away by the next
 * (out-file) or by recover (library). Texts of the file that are facts here (title,
 * command, labels) are masked.
 */
#ifndef LIBRARY_IMPORT_H
#define LIBRARY_IMPORT_H

#include "play/import.h"
#include "redact/redact.h"
#include "session/id.h"

struct library_import_options {
    const char *source;    /* the file's name */
    const char *name;      /* NULL: none */
    const char *out_file;  /* NULL: into the library */
    unsigned cols, rows;   /* instead of what the file says; 0: as it says */
    uint64_t start_ns;     /* where the file does not say */
    bool has_input;        /* what was typed is kept */
    struct redact *redact; /* borrowed */
};

struct library_import;

/* Makes nothing yet. *opt and what it points at stay until the end. */
int library_import_new(struct library_import **ret,
                       const struct library_import_options *opt);
/* For what play_import hands over. An error ends the import; *err tells it. */
int library_import_head(struct library_import *im, const struct play_import_head *head,
                        struct err *err);
int library_import_record(struct library_import *im, const struct play_import_record *rec,
                          struct err *err);

struct library_imported {
    char id[SESSION_ID_LEN + 1];
    struct buf path; /* the recording's */
    uint64_t bytes, snapshots, inputs_left_out;
    uint64_t started_at_ns, duration_ns;
    unsigned cols, rows;
};

void library_imported_release(struct library_imported *i);
/* Ends it; there must have been a head. What fails leaves nothing. Frees it. */
int library_import_finish(struct library_import *im, uint64_t end_ns,
                          struct library_imported *ret, struct err *err);
/* Takes all away that it has made, and frees it. */
void library_import_discard(struct library_import *im);

#endif
