/* SPDX-License-Identifier: MIT */
/*
 * lane_priv.h -- one text that is read out of the input, and the secrets in it.
 *
 * The input of a stream is cut into lanes: what is printed, and what stands in strings
 * such as a window's title. A lane is that text without the sequences between, and knows
 * for each of its bytes ("clean" offset) where in the input ("raw" offset) it stands.
 * Leads open candidates; a candidate is judged when its run has ended, or at REDACT_HOLD
 * raw bytes; nothing of it may be handed out before. All of this depends on the text
 * alone, not on the pieces it came in.
 */
#ifndef REDACT_LANE_PRIV_H
#define REDACT_LANE_PRIV_H

#include "redact/judge_priv.h"
#include "redact/texts_priv.h"

enum {
    /* Raw bytes for which it is not known yet whether a blank is of the text: a lane lags
     * behind by so much, and holds so much less than may be held. */
    LANE_LAG = 64,
    LANE_HOLD = REDACT_HOLD - LANE_LAG,
};

/* A secret, in raw offsets. */
struct lane_span {
    uint64_t start, end;
    uint32_t rule;
    bool is_more; /* goes on with the one before */
};

/* Lines of a private key, see block.c. */
struct lane_block {
    bool is_on;
    bool has_material; /* some of the key has been seen */
    uint32_t rule;
    uint64_t line; /* clean: where the line begins that is being read */
    uint64_t from; /* clean: what is not handed out yet */
    size_t lines;
    size_t misses, gaps;       /* lines in a row that were none of a key; or empty */
    size_t prefix_n, suffix_n; /* around what the last one had of it */
};

/* The end of a BEGIN line. */
struct lane_begin {
    uint64_t at; /* clean */
    uint32_t rule;
};

/* The word without a gap that the last lead was in. */
struct lane_word {
    bool is_on;
    uint64_t first, last; /* clean: of its leads */
    size_t tokens, values;
};

struct lane {
    struct redact *redact; /* borrowed */
    uint32_t cols;
    bool is_whole; /* the end of the input is no cut */
    struct engine_stream *scans[REDACT_PACKS];
    struct buf text;
    uint64_t base;     /* clean offset of text.p[0] */
    uint64_t scanned;  /* clean */
    uint64_t line;     /* clean: where the line begins */
    uint32_t indent;   /* blanks before that */
    struct buf maps;   /* struct lane_map, in order */
    struct buf wraps;  /* struct lane_wrap, in order */
    struct buf fired;  /* leads of the last scan */
    struct buf open;   /* struct lane_candidate, by start */
    struct buf spans;  /* struct lane_span: for the stream to take, and to clear */
    struct buf begins; /* struct lane_begin, in order: keys to come */
    struct lane_block block;
    struct lane_word word, line_word;
    struct texts_at texts; /* in place of leads and candidates */
};

struct lane_map {
    uint64_t clean, raw; /* from here on, byte for byte */
};

struct lane_wrap {
    uint64_t clean; /* the line ended before this byte */
    uint32_t col;
};

/* A buf as an array. */
#define LANE_ITEMS(type, b) ((type *)(void *)(b)->p)
#define LANE_COUNT(type, b) ((b)->n / sizeof(type))

int lane_init(struct lane *l, struct redact *r);
void lane_release(struct lane *l);
int lane_reset(struct lane *l);

/* -- writing the text; failures show in lane_settle() -- */

void lane_put(struct lane *l, const uint8_t *p, size_t n, uint64_t raw);
/* The text goes on elsewhere: no secret reaches over this. */
void lane_break(struct lane *l, uint64_t raw);
/* The end of a line, which may be a wrap. An empty line is a break. */
void lane_wrap(struct lane *l, uint64_t raw);

/* -- reading it -- */

/* Scans what is new and judges what is ripe. raw_end: how far the input has come; is_end:
 * there will be no more. */
int lane_settle(struct lane *l, uint64_t raw_end, bool is_end);
/* The raw offset from which nothing may be handed out yet; UINT64_MAX: none. at_rest:
 * what could only be the beginning of a lead does not count. */
uint64_t lane_hold(const struct lane *l, uint64_t raw_end, bool at_rest);
/* Whether the last secret may go on with what comes. */
bool lane_goes_on(const struct lane *l);
/* What lies before raw has been handed out. */
void lane_trim(struct lane *l, uint64_t raw);

/* -- lane_text.c: offsets and line ends -- */

static inline uint8_t
lane_at(const struct lane *l, uint64_t clean)
{
    return l->text.p[clean - l->base];
}

uint64_t lane_end(const struct lane *l);
uint64_t lane_raw(const struct lane *l, uint64_t clean);
/* The first clean offset whose byte stands at raw or behind it. */
uint64_t lane_clean(const struct lane *l, uint64_t raw);
/* How many wraps lie at or before an offset. */
size_t lane_wraps_until(const struct lane *l, uint64_t clean);
bool lane_has_wrap_at(const struct lane *l, uint64_t clean);
/* Where the line begins on which this offset lies. A name that was wrapped counts with
 * its beginning only where the width is known: else too many lines look as if. */
uint64_t lane_line_start(const struct lane *l, uint64_t clean);
/* Whether a line has ended here that was not full: nothing of it is missing. */
bool lane_has_short_line(const struct lane *l, uint64_t clean);
/* Forgets what lies before. */
void lane_drop(struct lane *l, uint64_t clean);

/* -- block.c -- */

int lane_add_span(struct lane *l, uint64_t start, uint64_t end, uint32_t rule,
                  bool is_more);
void block_begin(struct lane *l, uint32_t rule, uint64_t at);
int block_settle(struct lane *l, uint64_t raw_end, bool is_end);

#endif
