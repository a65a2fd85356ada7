/* SPDX-License-Identifier: MIT */
/*
 * doctor.h -- is all well with the home, its sessions, and what they need?
 *
 * Looks, and changes nothing: no file is made, mended, locked for longer than a look
 * takes, or touched. A check says one line, and for each thing that it finds what it is
 * and the command that mends it. Any of it may be missing, or not be what it should.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "base/buf.h"

enum doctor_grade {
    DOCTOR_OK,
    DOCTOR_NOTE,      /* good to know */
    DOCTOR_ATTENTION, /* somebody should do something */
};

struct doctor_finding {
    enum doctor_grade grade;
    struct buf text;
    struct buf mend; /* a command for a shell; empty: there is none */
};

enum { DOCTOR_FINDINGS_MAX = 20 }; /* of a check; more are only counted */

/* What a check has found. Zeroed it is ready for use. */
struct doctor_report {
    enum doctor_grade grade; /* the worst */
    struct buf sum;          /* one line */
    struct doctor_finding list[DOCTOR_FINDINGS_MAX];
    size_t count; /* in the list */
    size_t more;  /* that did not get into it */
};

struct doctor {
    const char *home; /* absolute; whatever is there */
    const char *here; /* the folder whose project is looked at */
    bool is_deep;     /* read all of it: the sessions, the index */
};

struct doctor_check {
    const char *name; /* one word */
    void (*fn)(const struct doctor *d, struct doctor_report *out);
};

/* Ends with a NULL name. */
extern const struct doctor_check doctor_checks[];

void doctor_report_release(struct doctor_report *r);
void doctor_sum(struct doctor_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The finding, for doctor_mend(); texts are cut where they would be too long. */
struct doctor_finding *doctor_find(struct doctor_report *r, enum doctor_grade grade,
                                   const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to its command; f may be NULL: it was one of those that are only counted. */
void doctor_mend(struct doctor_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a path as one word of a shell's command. */
void doctor_mend_path(struct doctor_finding *f, const char *path);

#endif
