/* SPDX-License-Identifier: MIT */
/*
 * veil_kit.h -- events of a streamed reply on their way through a veil, and what must
 * hold whatever they are.
 *
 * Each event is written at once, with its number and its time; what is written again has
 * those of the first time; each is settled once, in order, as it was written last. That
 * is asserted here; tests look at the bytes.
 */
#ifndef VEIL_KIT_H
#define VEIL_KIT_H

#include "calls/veil.h"

struct veil_kit_event {
    struct buf came, first, last; /* as it was written at first, and as it is now */
    uint64_t ts_ns;
    bool is_held;
    unsigned again; /* so many times it was written again */
};

struct veil_kit {
    struct calls_mask mask;
    struct calls_veil *veil;
    struct veil_kit_event *events;
    size_t n, room;
    size_t written, settled;
    struct buf all; /* every version, in the order in which they were written */
    size_t calls;   /* of the callbacks */
    size_t fail_at; /* the call that fails; 0: none does */
    size_t waited;  /* most events that were not settled yet */
};

void veil_kit_open(struct veil_kit *k, struct redact *redact);
void veil_kit_close(struct veil_kit *k);
/* The next event. Both return what the veil does. */
int veil_kit_try(struct veil_kit *k, struct view bytes);
int veil_kit_try_end(struct veil_kit *k);
/* The same, and nothing fails. */
void veil_kit_feed(struct veil_kit *k, struct view bytes);
void veil_kit_end(struct veil_kit *k);

void veil_kit_feed_text(struct veil_kit *k, const char *event);
/* … that is none, or not all of one. */
void veil_kit_feed_part(struct veil_kit *k, const char *part, enum calls_split_end end);

/* -- events -- */

struct view veil_kit_view(const struct buf *b);
/* n bytes of a text from `at` on, or some more: characters are whole. */
struct view veil_kit_piece(const struct buf *text, size_t at, size_t n);
/* A piece of text in an event. */
#define VEIL_KIT_TEXT(index, text)                                                    \
    "data: {\"type\":\"content_block_delta\",\"index\":" index ",\"delta\":{\"text\"" \
    ":\"" text "\"}}\n\n"
/* The pattern, with a and b in place of '#' and '@'. */
void veil_kit_put(struct buf *out, const char *pattern, struct view a, struct view b);
/* The next event is the pattern with that piece in place of '#'. */
void veil_kit_feed_piece(struct veil_kit *k, const char *pattern, struct view piece);

/* -- pieces of texts, as the APIs send them -- */

/* What stands before and behind the string; '#' is the number of the text. */
struct veil_kit_style {
    const char *before, *after;
};

extern const struct veil_kit_style veil_kit_styles[];
extern const size_t veil_kit_style_count;

/* How a string is written: as it is, every letter as an escape, a few as such. */
enum veil_kit_escapes { VEIL_KIT_PLAIN, VEIL_KIT_ALL, VEIL_KIT_SOME, VEIL_KIT_ESCAPES };

void veil_kit_make(const struct veil_kit_style *style, unsigned text,
                   enum veil_kit_escapes escapes, struct view piece, struct buf *out);
/* Appends the string that stands in such an event; fails the test where it is none. */
void veil_kit_take(const struct veil_kit_style *style, unsigned text,
                   const struct buf *event, struct buf *out);

/* -- one text -- */

/* What a scanner of its own lets out of a text, piece by piece. */
struct veil_kit_text {
    const struct veil_kit_style *style;
    unsigned number;
    struct redact_stream *stream;
    struct buf out;
    size_t *events; /* in which its pieces stand */
    size_t n, room;
    bool is_long; /* it is checked at its end alone */
};

void veil_kit_text_open(struct veil_kit_text *t, const struct veil_kit_style *style,
                        unsigned number, struct redact *redact);
void veil_kit_text_close(struct veil_kit_text *t);
/* The next piece, in an event; then checks what has been written of the text so far. */
void veil_kit_say(struct veil_kit *k, struct veil_kit_text *t,
                  enum veil_kit_escapes escapes, struct view piece);
/* What is written of it now, or was at first. */
void veil_kit_words(const struct veil_kit *k, const struct veil_kit_text *t,
                    bool at_first, struct buf *out);
/* The reply has ended: it is what the scanner has let out, all of it. */
void veil_kit_check_end(const struct veil_kit *k, struct veil_kit_text *t);

#endif
