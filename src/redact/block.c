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
    LINE_LEAST = 16, /* a word that stands alone on its line is of a key from here on */
    LINE_CLEAR = 40, /* and from here on whatever stands around it */
    MISSES_MAX = 4,  /* lines in a row that are none */
    GAPS_MAX = 3,    /* and lines without any letter or digit */
};

struct line {
    uint64_t end;  /* clean */
    uint64_t next; /* where the next one begins */
    bool is_last;  /* of the input */
};

/* What of a line is of a key, from the first byte to the last; none: n = 0. */
struct material {
    size_t at, n;
    bool is_tail; /* too short for anything but the last line */
};

void
block_begin(struct lane *l, uint32_t rule, uint64_t at)
{
    struct lane_begin begin = { at, rule };
    buf_append(&l->begins, &begin, sizeof(begin));
}

/* Takes up the next BEGIN line that lies behind what was read. */
static void
begin_next(struct lane *l)
{
    const struct lane_begin *v = LANE_ITEMS(struct lane_begin, &l->begins);
    size_t n = LANE_COUNT(struct lane_begin, &l->begins), i = 0;
    while (i < n && v[i].at < l->block.line)
        i++;
    if (i < n)
        l->block = (struct lane_block){
            .is_on = true, .rule = v[i].rule, .line = v[i].at, .from = v[i].at
        };
    i += i < n;
    l->begins.n -= i * sizeof(*v);
    if (i && l->begins.n)
        memmove(l->begins.p, v + i, l->begins.n);
}

/* The end of the line that begins at block.line; false: it has not come. */
static bool
find_end(const struct lane *l, uint64_t raw_end, bool is_end, struct line *ret)
{
    const struct lane_wrap *wraps = LANE_ITEMS(struct lane_wrap, &l->wraps);
    size_t wrap = 0, count = LANE_COUNT(struct lane_wrap, &l->wraps);
    uint64_t start = l->block.line, limit = lane_end(l);
    uint64_t raw = lane_raw(l, l->block.from);
    bool is_cut = start < limit && raw_end - raw >= LANE_HOLD;
    if (is_cut)
        limit = lane_clean(l, raw + LANE_HOLD);
    while (wrap < count && wraps[wrap].clean <= start)
        wrap++;
    if (wrap < count && wraps[wrap].clean < limit) {
        limit = wraps[wrap].clean;
        is_cut = true;
    }
    for (uint64_t i = start; i < limit; i++) {
        if (lane_at(l, i) == '\n') {
            *ret = (struct line){ i, i + 1, false };
            return true;
        }
        if (lane_at(l, i) != '\\')
            continue;
        uint64_t k = i;
        while (k < limit && lane_at(l, k) == '\\')
            k++;
        if (k < limit && !byte_in("nr", lane_at(l, k))) {
            i = k; /* an escaped slash, say */
            continue;
        }
        if (k == limit && !is_cut && !is_end)
            return false; /* the next byte tells what it is */
        *ret = (struct line){ i, k < limit ? k + 1 : limit, k == limit && !is_cut };
        return true;
    }
    *ret = (struct line){ limit, limit, !is_cut };
    return is_cut || is_end;
}

static bool
is_base64(uint8_t c)
{
    return (c < 0x80 && isalnum(c)) || byte_in("+/=", c);
}

/* The length of the word at p; JSON may write its slashes with a backslash. */
static size_t
word_at(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && (is_base64(p[i]) || (p[i] == '\\' && i + 1 < n && p[i + 1] == '/')))
        i++;
    return i;
}

/* From the first long word to the last; is_closed: the END line follows, and so does what
 * is left of the key. */
static struct material
find_words(struct view line, bool is_closed)
{
    struct material m = { 0 };
    size_t longest = 0;
    for (size_t i = 0; i < line.n;) {
        size_t n = word_at(line.p + i, line.n - i);
        longest = n > longest ? n : longest;
        if (n >= LINE_LEAST && !m.n)
            m.at = i;
        if (n >= LINE_LEAST || (n && m.n && is_closed))
            m.n = i + n - m.at;
        i += n ? n : 1;
    }
    return longest >= LINE_CLEAR ? m : (struct material){ 0 };
}

/* A line with one word and nothing that tells of anything else. */
static struct material
find_lone_word(const struct lane_block *b, struct view line, bool is_last)
{
    size_t end = line.n, start;
    while (end && byte_in(" \t\r\"'`,;+)", line.p[end - 1]))
        end--;
    start = end;
    while (start && is_base64(line.p[start - 1]))
        start--;
    struct material m = { start, end - start, end - start < LINE_LEAST };
    bool is_framed = b->has_material && start == b->prefix_n &&
                     line.n - end == b->suffix_n;
    bool may_be_tail = is_last || (b->has_material && !b->misses && m.n % 4 == 0);
    if (!m.n || (bytes_have_letter(line.p, start) && !is_framed) ||
        (m.is_tail && !may_be_tail))
        return (struct material){ 0 };
    return m;
}

static bool
has_alnum(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] >= 0x80 || isalnum(v.p[i]))
            return true;
    return false;
}

/* Masks what is of the key in this line. */
static int
take_line(struct lane *l, struct view line, bool is_last)
{
    struct lane_block *b = &l->block;
    const uint8_t *dashes = memmem(line.p, line.n, "-----", 5);
    if (dashes)
        line.n = (size_t)(dashes - line.p);
    struct material m = find_words(line, dashes);
    if (!m.n)
        m = find_lone_word(b, line, is_last);
    bool is_next = b->has_material && !b->misses;
    bool is_gap = !m.n && !dashes && !has_alnum(line) && b->gaps < GAPS_MAX;
    b->gaps = is_gap ? b->gaps + 1 : 0;
    if (is_gap)
        return 0; /* quotes around line ends, say: masked with what follows */
    b->misses = m.n && !m.is_tail ? 0 : b->misses + 1;
    if (dashes || ++b->lines > LINES_MAX || b->misses > MISSES_MAX)
        b->is_on = false;
    if (!m.n)
        return 0;
    uint64_t start = b->line + m.at, end = start + m.n;
    int e = lane_add_span(l, is_next ? b->from : start, end, b->rule, b->has_material);
    b->has_material = true;
    b->from = end;
    b->prefix_n = m.at;
    b->suffix_n = line.n - m.at - m.n;
    return e;
}

/* What lies between two lines is masked with them, unless it is too long to be held. */
static void
limit_gap(struct lane *l, uint64_t raw_end)
{
    struct lane_block *b = &l->block;
    if (b->from >= b->line)
        return;
    uint64_t most = lane_raw(l, b->from) + LANE_HOLD;
    if (raw_end >= most && lane_clean(l, most) <= b->line)
        b->from = b->line;
}

static bool
next_line(struct lane *l, uint64_t raw_end, bool is_end, struct line *ret)
{
    if (!l->block.is_on)
        begin_next(l);
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
    int e = 0;
    while (!e && next_line(l, raw_end, is_end, &line)) {
        struct view text = { l->text.p + (b->line - l->base),
                             (size_t)(line.end - b->line) };
        e = take_line(l, text, line.is_last);
        b->line = line.next;
        if (!b->has_material || b->misses)
            b->from = line.next;
        if (line.is_last)
            break;
    }
    return e;
}
