/* SPDX-License-Identifier: MIT */
/*
 * block.c -- the lines of a private key, from its BEGIN line to its END line.
 *
 * A key is longer than what may be held, so it is decided line by line. Lines may be
 * those of a file, or "\n" in a string, or have line numbers before them. The first line
 * that is no part of a key ends the block: a BEGIN line alone masks nothing.
 */
#include "redact/bytes_priv.h"
#include "redact/lane_priv.h"

enum {
    LINES_MAX = 4096,
    LINE_LEAST = 16, /* shorter ones are the last of a key, if anything */
    LINE_CLEAR = 32, /* such a one is of a key even behind its last line */
};

struct line {
    uint64_t end;  /* clean */
    uint64_t next; /* where the next one begins */
    bool is_last;  /* of the input */
};

enum line_kind { LINE_MATERIAL, LINE_PASSES, LINE_ENDS_BLOCK };

void
block_begin(struct lane *l, uint32_t rule, uint64_t at)
{
    l->block = (struct lane_block){ .is_on = true, .rule = rule, .line = at, .from = at };
}

/* The end of the line that begins at block.line; false: it has not come. */
static bool
find_end(const struct lane *l, uint64_t raw_end, bool is_end, struct line *ret)
{
    const struct lane_wrap *wrap = LANE_ITEMS(struct lane_wrap, &l->wraps);
    const struct lane_wrap *last = wrap + LANE_COUNT(struct lane_wrap, &l->wraps);
    uint64_t start = l->block.line, limit = lane_end(l);
    uint64_t raw = lane_raw(l, l->block.from);
    bool is_cut = start < limit && raw_end - raw >= REDACT_HOLD;
    if (is_cut)
        limit = lane_clean(l, raw + REDACT_HOLD);
    while (wrap < last && wrap->clean <= start)
        wrap++;
    if (wrap < last && wrap->clean < limit) {
        limit = wrap->clean;
        is_cut = true;
    }
    const uint8_t *text = l->text.p - l->base;
    for (uint64_t i = start; i < limit; i++) {
        if (text[i] == '\n') {
            *ret = (struct line){ i, i + 1, false };
            return true;
        }
        if (text[i] != '\\')
            continue;
        uint64_t k = i;
        while (k < limit && text[k] == '\\')
            k++;
        if (k == limit) {
            *ret = (struct line){ i, limit, true };
            return is_cut || is_end; /* else the next byte tells what it is */
        }
        *ret = (struct line){ i, byte_in("nr", text[k]) ? k + 1 : k, false };
        return true;
    }
    *ret = (struct line){ limit, limit, !is_cut };
    return is_cut || is_end;
}

static bool
is_base64(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!(v.p[i] < 0x80 && isalnum(v.p[i])) && !byte_in("+/=", v.p[i]))
            return false;
    return true;
}

/* The last word of a line, without what code has around it. */
static struct view
last_word(struct view line)
{
    while (line.n && byte_in(" \t\r\"'`,;+)", line.p[line.n - 1]))
        line.n--;
    size_t start = line.n;
    while (start && !byte_in(" \t\r\"'`>|", line.p[start - 1]) &&
           line.p[start - 1] < 0x80)
        start--;
    return (struct view){ line.p + start, line.n - start };
}

static enum line_kind
kind_of(struct lane_block *b, struct view line, bool is_last, struct view *ret_word)
{
    struct view word = last_word(line);
    struct view prefix = { line.p, (size_t)(word.p - line.p) };
    *ret_word = word;
    if (memmem(line.p, line.n, "-----", 5) || b->lines > LINES_MAX)
        return LINE_ENDS_BLOCK;
    bool has_gap = b->has_gap && b->has_material;
    b->has_gap = !word.n;
    if (!word.n)
        return bytes_have_letter(line.p, line.n) || has_gap ? LINE_ENDS_BLOCK
                                                            : LINE_PASSES;
    if (!b->has_material && memchr(line.p, ':', line.n))
        return LINE_PASSES; /* a header */
    if (bytes_have_letter(prefix.p, prefix.n) || !is_base64(word))
        return LINE_ENDS_BLOCK;
    if (b->is_ending && word.n < LINE_CLEAR && word.p[0] != '=')
        return LINE_ENDS_BLOCK;
    if (word.n < LINE_LEAST && !b->has_material && !is_last)
        return LINE_ENDS_BLOCK;
    b->is_ending = word.n < LINE_LEAST;
    return LINE_MATERIAL;
}

/* What lies between two lines is masked with them, unless it is too long to be held. */
static void
limit_gap(struct lane *l, uint64_t raw_end)
{
    struct lane_block *b = &l->block;
    if (b->from >= b->line)
        return;
    uint64_t most = lane_raw(l, b->from) + REDACT_HOLD;
    if (raw_end >= most && lane_clean(l, most) <= b->line)
        b->from = b->line;
}

static bool
next_line(struct lane *l, uint64_t raw_end, bool is_end, struct line *ret)
{
    if (!l->block.is_on)
        return false;
    limit_gap(l, raw_end);
    return find_end(l, raw_end, is_end, ret);
}

int
block_settle(struct lane *l, uint64_t raw_end, bool is_end)
{
    struct lane_block *b = &l->block;
    struct line line;
    while (next_line(l, raw_end, is_end, &line)) {
        struct view text = { l->text.p + (b->line - l->base),
                             (size_t)(line.end - b->line) };
        struct view word;
        enum line_kind kind = kind_of(b, text, line.is_last, &word);
        if (kind == LINE_ENDS_BLOCK) {
            b->is_on = false;
            break;
        }
        if (kind == LINE_MATERIAL) {
            uint64_t start = l->base + (uint64_t)(word.p - l->text.p);
            uint64_t end = start + word.n;
            int e = lane_add_span(l, b->has_material ? b->from : start, end, b->rule,
                                  b->has_material);
            if (e)
                return e;
            b->has_material = true;
            b->from = end;
        } else if (!b->has_material) {
            b->from = line.next;
        }
        b->lines++;
        b->line = line.next;
        if (line.is_last)
            break;
    }
    return 0;
}
