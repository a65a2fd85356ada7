/* SPDX-License-Identifier: MIT */
/*
 * redact.h -- finds secrets in bytes, and masks them.
 *
 * Everything that is journaled, indexed or exported passes through here. What comes out
 * is the same however the input was cut into pieces; without a secret in it, it is the
 * input. A secret is masked from its first to its last byte, and no byte of it is ever
 * handed out: what may still become one is held back, at most REDACT_HOLD bytes, until it
 * is decided.
 */
#ifndef REDACT_REDACT_H
#define REDACT_REDACT_H

#include <stdbool.h>

#include "base/buf.h"

enum { REDACT_HOLD = 4096 };

/* -- the rules -- */

/* Ready to scan: the rules that are built in, and those of the user. Used by one thread
 * at a time, by any number of streams. */
struct redact;

/* own_path: the user's rules and exceptions, compiled (see redact/own.h); may be NULL. */
int redact_open(struct redact **ret, const char *own_path, struct err *err);
void redact_close(struct redact *r);

struct redact_rule {
    const char *id;
    const char *about;
    const char *pattern;
    bool is_own;
};

size_t redact_rules(const struct redact *r);
struct redact_rule redact_rule(const struct redact *r, size_t i);
/* What the loaded rules take in memory now (shapes come with the first candidate); each
 * stream adds some 120 KiB. */
size_t redact_size_bytes(const struct redact *r);

/* -- streams -- */

struct redact_find {
    const char *rule;
    uint64_t start, end; /* bytes of the input; sequences and line ends may lie between */
};

typedef void (*redact_find_fn)(void *ctx, const struct redact_find *find);

struct redact_options {
    /* The bytes of a terminal: a line end may be a wrap inside of a value. */
    bool is_terminal;
    uint32_t cols; /* of that terminal; 0: not known */
    /* The input is all there is; else its end may have cut off a secret, and what looks
     * like the beginning of one there is masked. */
    bool is_whole;
    /* Stars that keep the byte length and the layout, in place of [REDACTED:<rule>]. */
    bool keeps_length;
    /* Told in the order of the input, when its end is known. */
    redact_find_fn on_find;
    void *ctx;
};

struct redact_stream;

int redact_stream_new(struct redact_stream **ret, struct redact *r,
                      const struct redact_options *opt);
void redact_stream_free(struct redact_stream *s);
/* As new; the memory stays. */
void redact_stream_reset(struct redact_stream *s);
/* Appends to out what is decided by now. Errors: -ENOMEM, or ERR_LIMIT from out; the
 * stream then hands out nothing more. */
int redact_stream_feed(struct redact_stream *s, const void *p, size_t n, struct buf *out);
/* The end of the input: what was held is decided as it stands (a secret that was cut off
 * in the middle is masked) and appended. Then as after a reset. */
int redact_stream_flush(struct redact_stream *s, struct buf *out);
/*
 * Nothing has come for a moment: hands out what is held only because it could be the
 * first letters of a token's public prefix (the "g" of "ghp_"), so that whoever types
 * sees what they type. What follows is masked all the same, without these letters.
 */
int redact_stream_rest(struct redact_stream *s, struct buf *out);
/* What has come of an input that was to be whole (is_whole) is not all of it: its end may
 * have cut off a secret. Before the flush; until then. */
void redact_stream_cut(struct redact_stream *s);
/* How many bytes are held back now. */
size_t redact_stream_held(const struct redact_stream *s);
/* The terminal has a new size. */
void redact_stream_resize(struct redact_stream *s, uint32_t cols);

/* -- whole texts -- */

int redact_text(struct redact *r, const void *p, size_t n, struct buf *out);

/*
 * A command line, argument by argument, each NUL-terminated in out. What follows a flag
 * or stands behind NAME= is masked when the name tells (…key, …token…, …secret…,
 * …password…), whatever it looks like; everything else by content.
 */
int redact_argv(struct redact *r, size_t n, const char *const *argv, struct buf *out);
/* One NAME=VALUE of an environment, appended without a NUL. */
int redact_env(struct redact *r, const char *assignment, struct buf *out);

/* Every mask that is no stars begins so. */
#define REDACT_MASK "[REDACTED:"
/* Has something in the text been masked? Then it is not what was there once. */
bool redact_has_mask(const void *p, size_t n);

/* Of Vectorscan, "5.4.8 2026-01-01" or so. */
const char *redact_engine_version(void);

#endif
