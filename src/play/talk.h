/* SPDX-License-Identifier: MIT */
/*
 * talk.h -- a run's conversation as a document (doc/reports.md): its turns, from
 * session.turns.jsonl, in one of the formats below, or as a transcript for Entire.
 *
 * One turn is in memory at a time. The same file gives the same bytes.
 */
#ifndef PLAY_TALK_H
#define PLAY_TALK_H

#include "play/format.h"
#include "play/turns.h"

/* A turn as a document has it: clean UTF-8, masked. */
struct play_turn {
    const struct turn_event *event; /* its texts masked, but not clean */
    uint64_t number, ts_ns;
    const char *title; /* "Tool call" */
    struct view name;  /* of the tool, or what else it is called; on one line */
    /* What it says; arguments as "key: value"; facts as they are shown. Lines without a
     * newline behind the last. Or, with is_shown, all as it is shown, whole. */
    struct view text;
};

/* What it all came to. */
struct play_talk_sums {
    uint64_t turns;
    struct turn_usage usage;
    uint64_t calls; /* messages of the model; TURN_UNKNOWN: nothing was told */
};

/* As struct play_format. */
struct play_talk_format {
    const char *name;
    void (*begin)(struct play_out *o);
    void (*turn)(struct play_out *o, const struct play_turn *turn);
    /* A snapshot or an instruction between two turns; its position does not matter. */
    void (*event)(struct play_out *o, const struct play_item *item);
    void (*notice)(struct play_out *o, struct view text);
    void (*end)(struct play_out *o, const struct play_talk_sums *sums);
    bool is_shown;
    bool is_for_people; /* what an agent keeps for itself is left out */
};

extern const struct play_talk_format play_talk_md, play_talk_json, play_talk_csv,
    play_talk_txt, play_talk_html;

/* NULL: there is no conversation in such a format. */
const struct play_talk_format *play_talk_find(const char *name);

struct play_talk_options {
    const struct play_about *about; /* title, start_ns (0: the first event's), is_masked,
                                       has_times */
    struct redact *redact;          /* NULL: nothing is masked */
    uint64_t first, last;           /* turns, by their numbers; 0: all */
    /* By play_events_sort_by_time(): each comes behind the turns of its time, where all
     * turns are told; NULL: none */
    const struct play_events *events;
    bool is_growing; /* a last line without a newline is not there yet */
    bool is_import;  /* of an agent's history: unknown events are its book-keeping */
    play_turns_bad_fn bad; /* is told in the document, too; may be NULL */
    void (*turn)(void *ctx, const struct turn_event *e); /* each; may be NULL */
    /* Behind the last turn: what a reader must know; NULL, also as a function: nothing */
    const char *(*ending)(void *ctx);
    void *ctx; /* of these three */
};

/* Bytes go to `write` in pieces, as by play_report(). What is on a branch that was
 * left (TURN_BRANCH) is told only where it is named by first and last. ERR_DAMAGED: it is
 * archived, and cannot be read to its end; the document is whole but for that. */
int play_talk(const char *path, const struct play_talk_format *format,
              const struct play_talk_options *opt, play_write_fn write, void *ctx,
              struct err *err);

/* The same as full.jsonl (turn/transcript.h), whose uuids are made of the session's id.
 * Of opt, has_times, first, last, events and the notices do not matter. */
struct play_transcript {
    /* as in turn_transcript_options */
    const char *session, *cwd, *git_branch, *model;
    bool has_ended; /* calls without a result get one */
};
int play_transcript(const char *path, const struct play_transcript *about,
                    const struct play_talk_options *opt, play_write_fn write, void *ctx,
                    struct err *err);

#endif
