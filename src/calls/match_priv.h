/* SPDX-License-Identifier: MIT */
/*
 * match_priv.h -- the parts of match.h: random values, moments of time, texts, JSON.
 *
 * All of it is linear in the request, and whatever is put is the same when it is read and
 * put again: placeholders look like nothing that would be replaced.
 */
#ifndef CALLS_MATCH_PRIV_H
#define CALLS_MATCH_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* -- bytes -- */

static inline bool
calls_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static inline bool
calls_is_alnum(uint8_t c)
{
    return calls_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* 0 before and behind it. */
static inline uint8_t
calls_byte_at(struct view v, size_t i)
{
    return i < v.n ? v.p[i] : 0;
}

static inline bool
calls_is_at(struct view v, size_t i, const char *what)
{
    size_t n = strlen(what);
    return i <= v.n && v.n - i >= n && !memcmp(v.p + i, what, n);
}

/* Behind the letters and digits from i on. */
static inline size_t
calls_run_end(struct view v, size_t i)
{
    while (i < v.n && calls_is_alnum(v.p[i]))
        i++;
    return i;
}

/* The part of v from `start` to `end`. */
static inline struct view
calls_part(struct view v, size_t start, size_t end)
{
    return (struct view){ v.p + start, end - start };
}

/* -- random values: match_ids.c -- */

/*
 * The random values of one request. What is learned is replaced wherever it stands; each
 * value becomes "<id1>", "<id2>", … in the order in which they are put, so that what
 * names the same thing still does. There are CALLS_IDS_MAX at most; others are "<id>".
 */
struct calls_ids {
    struct calls_id *slots; /* a power of two */
    size_t mask;
    uint32_t count, named;
    struct buf texts;
};

enum { CALLS_IDS_MAX = 1 << 16, CALLS_ID_BYTES_MAX = 256 };

/* For a request of that many bytes. */
int calls_ids_init(struct calls_ids *ids, size_t bytes);
void calls_ids_release(struct calls_ids *ids);
void calls_ids_learn(struct calls_ids *ids, struct view value);
bool calls_ids_has(const struct calls_ids *ids, struct view value);
/* Appends what stands for it; it is learned by that. */
void calls_ids_put(struct calls_ids *ids, struct view value, struct buf *out);

/* Appends a hash (uint32_t) of each that has a number, in their order. */
int calls_ids_list(const struct calls_ids *ids, struct buf *out);

/* Does a run of letters and digits look as if it was made at random? Less is enough
 * behind a vendor's prefix, and less still in the name of a temporary folder, where it is
 * random if nobody would say it; of any length where Python puts such a name. */
enum calls_run {
    CALLS_RUN,
    CALLS_RUN_OF_VENDOR,
    CALLS_RUN_OF_TMP,
    CALLS_RUN_OF_PYTHON,
};
bool calls_is_random_run(struct view run, enum calls_run where);
/* Does the value of a member that is an id? */
bool calls_is_random_id(struct view value);
/* A UUID at `start`: behind its end, else 0. */
size_t calls_uuid_end(struct view text, size_t start);

/* -- moments of time: match_time.c -- */

/* A date at `start`, perhaps with a time of day, in one of the ways in which programs
 * write them, of the years 2015 to 2100: behind its end, else 0. Nothing alphanumeric may
 * stand before it. */
size_t calls_time_end(struct view text, size_t start, bool *ret_has_clock);
/* The same for seconds or milliseconds since 1970, with any fraction. */
size_t calls_unix_time_end(struct view text, size_t start);

#define CALLS_DATE "<date>"
#define CALLS_TIME "<time>"

/* How long something took, measured to hundredths or in brackets, at `start`: behind its
 * unit, else 0: match_span.c. */
size_t calls_span_end(struct view text, size_t start);
#define CALLS_SPAN "<duration>"

/* -- git: match_git.c -- */

/* The abbreviated name of a commit at `start`, where git says it: behind its end, else 0.
 * Nothing alphanumeric may stand before it. */
size_t calls_commit_end(struct view text, size_t start);

/* -- this machine: match_local.c -- */

/* Is this run of digits a port of its own that the system has chosen? */
bool calls_is_local_port(struct view text, size_t start, size_t end);
/* Is this run the secret part of a base URL of ours? */
bool calls_is_segment(struct view text, size_t start, size_t end);

/* -- temporary folders: match_tmp.c -- */

/* What is random in the names of those in the text is learned. */
void calls_tmp_learn(struct calls_ids *ids, struct view text);
/* Such a name as Python makes, "tmp" or another beginning with a joint, and eight of a-z,
 * 0-9 and _: whether "tmp" or, without it, these eight are at `start`. Behind its end,
 * else 0. */
size_t calls_python_name_end(struct view text, size_t start);
/* Does what is at i belong to such a name? The number of a process is replaced there
 * alone: it is short, and may be another number elsewhere. */
bool calls_is_below_tmp(struct view text, size_t i);
/* Is it the number of a run of pytest, /tmp/pytest-of-me/pytest-12/? */
bool calls_is_of_pytest(struct view text, size_t i);
/* The "folders" of /var/folders/6b/0g3lkz5n2kv8tqp9xw4m1n7r0000gn/T/ at `start`: behind
 * the two random parts, else 0. */
size_t calls_folders_end(struct view text, size_t start);
/* A letter, a digit, or one of - _ . */
bool calls_is_name_byte(uint8_t c);

/* -- texts: match_text.c -- */

/* The names of temporary folders in it are learned. */
void calls_text_learn(struct calls_ids *ids, struct view text);
/* Appends it without what differs from run to run. A name (is_name: a path, a parameter)
 * may say by a date which of several it is: of it only random values go. */
void calls_text_put(struct calls_ids *ids, struct view text, bool is_name,
                    struct buf *out);

/* -- JSON: match_json.c -- */

/* Where an object's members are, in order. The body is borrowed. */
struct calls_json {
    struct view body;
    struct buf keys, members, objects;
};

/* 1; 0: it is no JSON; < 0: no memory. Then nothing needs to be released. */
int calls_json_read(struct calls_json *x, struct view body);
void calls_json_release(struct calls_json *x);
/* What is random in it is learned. */
void calls_json_learn(const struct calls_json *x, struct calls_ids *ids);
/* Appends its normal form. */
void calls_json_put(const struct calls_json *x, struct calls_ids *ids, struct buf *out);
/* By which the members of an object are sorted: of keys as they are written there. */
int calls_json_compare_keys(struct view a, struct view b);

/* -- what people read: match_show.c -- */

#define CALLS_CUT_SHORT "\xe2\x80\xa6" /* … */

/* Appends what stands from `start` on, at most `most` bytes of it, without control
 * characters and as valid UTF-8; in a string quotes and backslashes are escaped. How far
 * it came. */
size_t calls_show(struct view v, size_t start, bool is_string, size_t most,
                  struct buf *out);
/* Appends some 200 bytes of the value, around what differs (from `at` to `end`), with "…"
 * where more of it is; a string in quotes. */
void calls_show_around(struct view v, size_t at, size_t end, bool is_string,
                       struct buf *out);

#endif
