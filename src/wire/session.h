/* SPDX-License-Identifier: MIT */
/*
 * session.h -- a session of the proxy's own, where no recorder has started it: its folder
 * in the library, its facts, its end.
 */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "session/folder.h"
#include "session/id.h"
#include "wire/record.h"

/* All borrowed. */
struct wire_session_options {
    const char *home; /* $AHR_HOME, absolute */
    const char *name; /* NULL: none */
    const char *cwd;  /* the project's folder, absolute */
    bool is_entire;   /* the conversation also goes to its .entire/ */
    bool is_indexed;  /* `ahr index` is started at the end */
    void (*say)(void *ctx, const char *text);
    void *ctx;
};

struct wire_session {
    const struct wire_session_options *opt;
    char id[SESSION_ID_LEN + 1];
    struct clock clock;
    struct redact *redact;
    struct session_folder folder;
    bool has_folder;
    struct journal_entire *entire; /* NULL: it is not wanted */
    struct wire_record *record;
    struct buf branch;
    uint64_t told_calls; /* the facts have been written with so many */
};

/* Nothing is left where it fails. */
int wire_session_open(struct wire_session *s, const struct wire_session_options *opt,
                      struct err *err);
/* Facts that have changed are written. */
void wire_session_tick(struct wire_session *s);
/* All has ended: whole, synced and in its place. */
int wire_session_finish(struct wire_session *s, struct err *err);
void wire_session_release(struct wire_session *s);

#endif
