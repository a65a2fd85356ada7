/* SPDX-License-Identifier: MIT */
/*
 * mask.h -- credentials out of what goes over the wire, before any of it is written.
 *
 * What a header or a parameter that carries credentials says is never written, whatever
 * it looks like; and it is remembered as long as the call lasts, since a server may say
 * it again ("invalid key: …").
 */
#ifndef CALLS_MASK_H
#define CALLS_MASK_H

#include "calls/learnt.h"
#include "calls/line.h"
#include "redact/redact.h"

/* Is it known to carry one (authorization, x-api-key, cookie, …), or does its name tell
 * (…-token, …-secret, …-key)? */
bool calls_mask_is_credential(struct view header_name);

/* Zeroed but for `redact` it is ready for use. */
struct calls_mask {
    struct redact *redact;       /* borrowed */
    struct calls_learnt *learnt; /* credentials of this call; NULL: none */
};

void calls_mask_release(struct calls_mask *m);
/* Before anything else is masked: what this header's value or this URL's parameters say
 * is remembered, with its escapes in JSON and URLs and without. "Bearer x" and "Basic …":
 * also without its first word. Location and its like have the parameters of a URL. */
void calls_mask_learn(struct calls_mask *m, const struct calls_header *h);
void calls_mask_learn_url(struct calls_mask *m, struct view url);
/* Each appends it masked. */
int calls_mask_header(struct calls_mask *m, const struct calls_header *h,
                      struct buf *out); /* the value */
int calls_mask_url(struct calls_mask *m, struct view url, struct buf *out);
/* JSON, or a text of any kind. What cannot be searched is left out, and said so. */
int calls_mask_body(struct calls_mask *m, struct view body, struct buf *out);
/* The same without what this call has learnt. */
int calls_mask_text(struct redact *redact, struct view text, struct buf *out);
/* What was learnt, and nothing else. */
int calls_mask_said(const struct calls_mask *m, struct view text, struct buf *out);

/* The same of a text that comes in pieces: what may be the beginning of what was learnt
 * (CALLS_SAID_SHOWN letters say nothing yet) waits. Zeroed it is at the beginning. */
enum {
    CALLS_SAID_SHOWN = 2,
    CALLS_SAID_HOLD = 4096, /* bytes; longer ones are not waited for */
};

struct calls_said {
    struct buf text; /* what waits, behind some letters that were let out */
    size_t shown;    /* so many */
    size_t covered;  /* bytes that belong to what was masked */
};

int calls_said_feed(const struct calls_mask *m, struct calls_said *s, struct view piece,
                    struct buf *out);
/* What waits is let out, masked where it looks like the beginning of what was learnt;
 * then as at the beginning. */
int calls_said_flush(const struct calls_mask *m, struct calls_said *s, struct buf *out);
/* How many bytes wait. */
size_t calls_said_held(const struct calls_said *s);
void calls_said_release(struct calls_said *s);

/*
 * A body of any size, as it comes, in bounded memory; zeroed it is at the beginning. What
 * comes out is what calls_mask_body() makes of all of it; JSON in lines is searched as
 * JSON, too. What may be a secret is held, and of a string of JSON in which one was found
 * all that follows.
 */
struct calls_mask_stream {
    struct redact_stream *redact;
    struct buf waiting;
    size_t covered; /* bytes at its beginning that belong to what was masked */
    bool is_cut;    /* it breaks off */
    bool has_begun; /* there was something else than blanks */
    struct redact_json_pieces *strings; /* NULL: it is no JSON */
    struct buf plain;
};

int calls_mask_feed(struct calls_mask *m, struct calls_mask_stream *s, struct view bytes,
                    struct buf *out);
/* It breaks off here: what looks like the beginning of a secret at its end is masked. The
 * flush follows. */
void calls_mask_cut(struct calls_mask_stream *s);
/* Nothing follows. */
int calls_mask_flush(struct calls_mask *m, struct calls_mask_stream *s, struct buf *out);
void calls_mask_stream_release(struct calls_mask_stream *s);

#endif
