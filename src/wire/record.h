/* SPDX-License-Identifier: MIT */
/*
 * record.h -- the calls of a session, kept: session.wire.jsonl, session.turns.jsonl and,
 * where it is wanted, the project's .entire/.
 *
 * A call is a note: its request, what was replied, its end. Each function writes what it
 * is told, masked, before it returns; so whoever forwards something behind it forwards
 * what is on disk. Nothing here fails for the caller: what the disk does not take waits,
 * then is lost and told of, and calls go on.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "base/clock.h"
#include "calls/line.h"
#include "journal/entire.h"
#include "redact/redact.h"
#include "turn/totals.h"

struct wire_control;
struct wire_record;
struct wire_note;

/* All borrowed. */
struct wire_record_options {
    const char *tape_path; /* the session's recording: beside it they are written */
    const char *session;   /* its id */
    struct clock clock;
    struct redact *redact;
    struct wire_control *control;  /* NULL: there is none, and so no terminal */
    struct journal_entire *entire; /* NULL: it is not wanted */
    bool has_turns;                /* the conversation is told in session.turns.jsonl */
    /* Told to the user: trouble. */
    void (*say)(void *ctx, const char *text);
    /* Called often while it is opened: what was left there may take a while. NULL: nobody
     * waits. */
    void (*pace)(void *ctx);
    void *ctx;
};

/* What an earlier process has left there is completed first, and gone on with. */
int wire_record_open(struct wire_record **ret, const struct wire_record_options *opt,
                     struct err *err);
/* From now on; of calls that begin later. */
void wire_record_set_turns(struct wire_record *r, bool has_turns);
/* What waits is tried again. */
void wire_record_tick(struct wire_record *r);
/* In how many ms that is due; UINT64_MAX: nothing waits. */
uint64_t wire_record_due_ms(const struct wire_record *r);
/* All has ended: written and synced; has_ended: nor will anything follow in another
 * process. What is missing is told. */
void wire_record_finish(struct wire_record *r, bool has_ended);
/* Notes that were not ended are gone with it. */
void wire_record_free(struct wire_record *r);

/* What is known of the session by its calls; borrowed until the next one. */
struct wire_record_facts {
    const char *model; /* NULL: not known yet */
    const char *agent; /* … "claude" */
    const struct turn_totals *totals;
    uint64_t calls;
};

struct wire_record_facts wire_record_facts(struct wire_record *r);

/* -- a call -- */

struct wire_asked {
    const char *upstream, *target; /* its name and base URL */
    struct view method, url;       /* url: without the proxy's secret segment */
    unsigned http_minor;
    bool has_body; /* be it empty */
    const struct calls_header *headers;
    size_t header_count;
};

/* Its request's head has come. NULL: no memory, and it is not recorded. Every function
 * takes NULL for such a one. */
struct wire_note *wire_note_new(struct wire_record *r, const struct wire_asked *asked);
/* The body: is_whole, or as far as it has come before the client went; or in pieces,
 * is_last with the last one, which may be empty. */
void wire_note_body(struct wire_note *n, struct view body, bool is_whole);
void wire_note_body_piece(struct wire_note *n, struct view piece, bool is_last);
/* The reply's head. */
void wire_note_reply(struct wire_note *n, unsigned status,
                     const struct calls_header *headers, size_t count);
/* Bytes of its body, as they came. is_last: that is all, as its head has said. */
void wire_note_data(struct wire_note *n, struct view bytes, bool is_last);
/* No more of its body comes, be it whole or broken off: what waited is written. */
void wire_note_data_end(struct wire_note *n, bool is_whole);
/* The call is over, and the note is no more. error: why; may be empty. sent, received:
 * bytes of the bodies. */
void wire_note_end(struct wire_note *n, enum calls_status status, const char *error,
                   uint64_t sent, uint64_t received);

#endif
