/* SPDX-License-Identifier: MIT */
/* history_priv.h -- one history on its way into the library: what its files share. */
#ifndef LIBRARY_HISTORY_PRIV_H
#define LIBRARY_HISTORY_PRIV_H

#include "journal/touched.h"
#include "library/history.h"
#include "library/history_source_priv.h"
#include "library/history_state_priv.h"
#include "play/turns.h"
#include "session/lines.h"
#include "session/meta.h"
#include "turn/totals.h"

#define HISTORY_TURNS "session." SESSION_TURNS

enum { HISTORY_DATE_LEN = 11 }; /* of an id, with the dash behind it */

struct history {
    const struct journal_history *from;
    const struct library_history_options *opt;
    struct library_history_done *done;
    struct err *err;
    uint64_t begins_ns; /* its first line that is dated; else when the file was changed */
    struct history_sources sources;
    struct history_source *at; /* whose line is at hand */
    struct turn_history *reader;

    /* What is kept from one import to the next, with the sources' files: */
    uint64_t turns_bytes, turns_tail; /* of session.turns.jsonl; a hash of its end */
    uint64_t start_ns, last_ns;
    struct buf prompt; /* the first one, masked */
    struct turn_totals totals;
    struct journal_touched touched;

    /* session.turns.jsonl: */
    struct buf dir;       /* the session's folder */
    int turns_fd;         /* -1: not open */
    bool is_staged;       /* it is being made, and synced when all of it is there */
    bool is_stored;       /* that folder is in sessions/, and others see it */
    bool is_out_of_index; /* … but not by the index any more */
    struct buf lines;     /* that are not written yet */
    struct buf cwd;
    struct buf name; /* what its file calls it: the id is made of that */
    struct play_turns_mask room;
    struct play_turns_mask artifact_room;
    bool has_talk;    /* something is said in it */
    bool has_state;   /* it is known how far it was read */
    bool is_redacted; /* `ahr redact` has been at its session */
};

/* As it calls itself, else as its file is called; an id of ours is none of an agent's. */
struct view history_own_id(const struct history *h);
/* It is left as it is; 0. */
int history_skip(struct history *h, const char *why);

/* -- history_state.c -- */

/* Of the folder; ERR_MISSING: there is none; ERR_DAMAGED: it is of no use. The reader is
 * loaded, too. files: what was known of them, path and all, in *ret_files. */
int history_load(struct history *h, struct history_sources *ret_files);
/* Atomically, and durable. */
int history_save(struct history *h);
/* The same of bytes. */
int history_take_state(struct history *h, const struct buf *state,
                       struct history_sources *ret_files);
int history_put_state(struct history *h, struct buf *out);

/* -- history_store.c -- */

/* For struct turn_history_options. */
int history_take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns);
void history_take_trouble(void *ctx, enum turn_history_trouble what);
int history_mask(void *ctx, struct view text, struct buf *ret);
/* The same of what the reader never sees, at h->at. */
void history_take_wrong(struct history *h, enum library_history_wrong what);
/* session.turns.jsonl, made where it is missing; name: the file's in the folder. What a
 * killed import has left in it goes. */
int history_open_turns(struct history *h, const char *name);
/* Does it have as much as was taken? Its size alone is looked at. */
int history_check_turns(struct history *h);
/* All lines into the file; is_last: and durable. */
int history_flush(struct history *h, bool is_last);
int history_write_meta(struct history *h, const struct session_told *old);
/* The recording, which is empty. */
int history_write_tape(struct history *h);

/* -- history_read.c -- */

/* Which agent's, what its file calls it, and when it begins. */
int history_identify(struct history *h);
/* Its reader, and its sources, which are not open yet. */
int history_open_reader(struct history *h);
/* All lines of the sources that are open. */
int history_read_lines(struct history *h);

/* -- history_look.c -- */

enum history_change { HISTORY_SAME, HISTORY_GROWN, HISTORY_REWRITTEN };

/* What has changed since; files: what was known. Files that are not read on are closed.
 */
int history_look(struct history *h, struct history_sources *files,
                 enum history_change *ret);

/* -- history_anew.c -- */

/* As if nothing had been known. */
void history_forget(struct history *h);
/* Its reader and its sources, at their beginning. */
int history_begin(struct history *h, uint64_t start_ns);
/* All of them, into that file of the folder. */
int history_read_all(struct history *h, const char *name);
/* Over a session that is there; less than there was is no reason to lose it. */
int history_make_anew(struct history *h, const struct session_told *old);
/* What has come since. */
int history_append(struct history *h, const struct session_told *old);

/* -- history_ids.c -- */

int history_ids_read(struct library_history_ids *ids, const char *home);
/* The session that has all but the day in common with it; NULL: none. */
const char *history_ids_find(const struct library_history_ids *ids, const char *id);
int history_ids_add(struct library_history_ids *ids, const char *id);

/* -- history_sides.c -- */

/* The files of its sub-agents, as sources. */
int history_add_sides(struct history *h);
/* In which calls those work of which that is not known yet: the session's own file is
 * looked through. */
int history_link_sides(struct history *h);

#endif
