/* SPDX-License-Identifier: MIT */
/*
 * calls_kit.h -- a session.wire.jsonl made line by line, and what is read of it.
 *
 * Each line comes a millisecond after the one before. The file lies in the current
 * folder: tests run in one of their own (KIT_IN_DIR).
 */
#ifndef CALLS_KIT_H
#define CALLS_KIT_H

#include "calls/read.h"

#define CALLS_KIT_NAME \
    "x."               \
    "wire.jsonl"
#define CALLS_KIT_START UINT64_C(1700000000000000000)

enum { CALLS_KIT_LINES = 64 };

/* Zeroed it is empty. */
struct calls_file {
    struct buf text;
    uint64_t ts_ns; /* since the start */
    /* Of the first CALLS_KIT_LINES: where each ends, and of which call it is. */
    size_t ends[CALLS_KIT_LINES];
    uint64_t calls[CALLS_KIT_LINES];
    size_t count;
};

void calls_file_release(struct calls_file *f);
/* One for calls_file_put(). */
struct calls_line calls_file_line(struct calls_file *f, enum calls_type type,
                                  uint64_t call);
void calls_file_put(struct calls_file *f, const struct calls_line *l);
/* A POST that announces a body; url "": a GET. */
void calls_file_request(struct calls_file *f, uint64_t call, const char *url);
/* number CALLS_NONE: it has none. */
void calls_file_piece(struct calls_file *f, enum calls_type type, uint64_t call,
                      uint64_t number, struct view bytes, bool is_last);
/* A request's body in one piece; and told by that of another. */
void calls_file_body(struct calls_file *f, uint64_t call, const char *text);
void calls_file_told(struct calls_file *f, uint64_t call, uint64_t base, const char *ops);
void calls_file_reply(struct calls_file *f, uint64_t call, unsigned status);
void calls_file_event(struct calls_file *f, uint64_t call, uint64_t number,
                      const char *text);
void calls_file_end(struct calls_file *f, uint64_t call, uint64_t events);
/*
 * Four calls among each other: 1 has a stream, 2 is told by it and has a reply in pieces,
 * 4 a request in pieces, 7 no body and no reply. A number differs from each other one by
 * more than a bit.
 */
void calls_file_sample(struct calls_file *f);

/* The file has these bytes. */
void calls_kit_write(struct view bytes);
struct calls *calls_kit_open(void);
struct calls *calls_kit_open_bytes(struct view bytes);
/* It must be there. */
struct calls_whole calls_kit_get(struct calls *c, uint64_t number);
void calls_kit_text(struct view got, const char *want);
/* Its request's body, its reply, and whether that is whole. */
void calls_kit_asks(struct calls *c, uint64_t number, const char *body, bool is_whole);
void calls_kit_says(struct calls *c, uint64_t number, const char *reply, bool is_whole);
void calls_kit_check_sample(struct calls *c);
/* Appends all that is known of a call, or of all calls. */
void calls_kit_show(struct calls *c, uint64_t number, struct buf *out);
void calls_kit_show_all(struct calls *c, struct buf *out);
void calls_kit_same(const struct buf *got, const struct buf *want);

#endif
