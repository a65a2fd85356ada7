/* SPDX-License-Identifier: MIT */
/* doctor_priv.h -- the checks. */
#ifndef DOCTOR_DOCTOR_PRIV_H
#define DOCTOR_DOCTOR_PRIV_H

#include "doctor/doctor.h"

/* -- machine.c: what sessions need -- */

void doctor_versions(const struct doctor *d, struct doctor_report *out);
void doctor_environment(const struct doctor *d, struct doctor_report *out);
void doctor_disk(const struct doctor *d, struct doctor_report *out);
void doctor_agents(const struct doctor *d, struct doctor_report *out);

/* -- home.c: folders and files: whose, and for whom -- */

void doctor_home(const struct doctor *d, struct doctor_report *out);

/* -- live.c: who records, and who did; the runs of the project around -- */

void doctor_live(const struct doctor *d, struct doctor_report *out);
void doctor_project(const struct doctor *d, struct doctor_report *out);

/* -- sessions.c: stored ones, and what killed commands have left among them -- */

void doctor_sessions(const struct doctor *d, struct doctor_report *out);
void doctor_leftovers(const struct doctor *d, struct doctor_report *out);

/* -- journals.c: what a run has besides its recording -- */

void doctor_journals(const struct doctor *d, struct doctor_report *out, const char *id);

/* -- index.c -- */

void doctor_index(const struct doctor *d, struct doctor_report *out);

/* -- names.c: the names in a folder -- */

/* Appends each name in <home>/<kind> but "." and "..", with its NUL, sorted. 0, also when
 * there is no such folder, or -errno. kind "": the home itself. */
int doctor_names(const char *home, const char *kind, struct buf *ret);
/* Finds that the folder cannot be read; nothing for r >= 0. */
void doctor_unreadable(struct doctor_report *out, const char *home, const char *kind,
                       int r);

#endif
