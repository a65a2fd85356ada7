/* SPDX-License-Identifier: MIT */
#include "redact/lane_priv.h"

#include <stdlib.h>

#include "redact/bytes_priv.h"

enum {
    CONTEXT = 256,    /* clean bytes kept before what is still open */
    TOKENS_MAX = 256, /* leads in REDACT_HOLD bytes of one word */
    VALUES_MAX = 32,
    WORD_GAP = CONTEXT / 2,   /* bytes between them that are looked at for a gap */
    CANDIDATES_MAX = 1 << 15, /* more do not fit into a slice and what is held */
};

struct lane_candidate {
    uint64_t start, seen; /* clean: its first byte; how far its run has been followed */
    uint64_t raw;         /* of its first byte */
    struct judge_rule rules[JUDGE_RULES];
    uint8_t n_rules;
    uint8_t quote;       /* around it, or 0 */
    bool is_escaped;     /* so is the quote: it stands in a string of a string */
    bool is_after_slash; /* the next byte is escaped */
    bool is_line;
    bool is_through; /* known for a secret, and longer than we may hold */
    uint32_t through_rule;
    uint32_t window; /* the longest secret that its rules know */
};

struct fired {
    uint32_t lead;
    uint64_t end; /* clean */
};

/* -- storage -- */

enum { BUFS = 7 };

static void
bufs_of(struct lane *l, struct buf *ret[BUFS])
{
    struct buf *const all[BUFS] = { &l->text, &l->maps,  &l->wraps, &l->fired,
                                    &l->open, &l->spans, &l->begins };
    memcpy(ret, all, sizeof(all));
}

int
lane_init(struct lane *l, struct redact *r)
{
    *l = (struct lane){ .redact = r };
    for (size_t i = 0; i < r->n_packs; i++) {
        int e = engine_stream_new(&l->scans[i], r->packs[i].engine);
        if (e) {
            lane_release(l);
            return e;
        }
    }
    return 0;
}

/* What it read may have been secret. */
static void
wipe(struct lane *l)
{
    if (l->text.p)
        explicit_bzero(l->text.p, l->text.cap);
}

void
lane_release(struct lane *l)
{
    wipe(l);
    for (size_t i = 0; i < REDACT_PACKS; i++)
        engine_stream_free(l->scans[i]);
    struct buf *all[BUFS];
    bufs_of(l, all);
    for (size_t i = 0; i < BUFS; i++)
        buf_release(all[i]);
}

int
lane_reset(struct lane *l)
{
    int e = 0;
    wipe(l);
    for (size_t i = 0; !e && i < l->redact->n_packs; i++)
        e = engine_stream_reset(l->scans[i]);
    struct buf *all[BUFS];
    bufs_of(l, all);
    for (size_t i = 0; i < BUFS; i++)
        buf_clear(all[i]);
    l->base = l->scanned = l->line = 0;
    l->indent = 0;
    l->block = (struct lane_block){ 0 };
    l->word = l->line_word = (struct lane_word){ 0 };
    l->texts = (struct texts_at){ 0 };
    return e;
}

static int
failure(struct lane *l)
{
    struct buf *all[BUFS];
    bufs_of(l, all);
    for (size_t i = 0; i < BUFS; i++)
        if (all[i]->failed)
            return all[i]->failed;
    return 0;
}

/* -- leads -- */

/* White space, controls, quotes, the backslash, < and >. */
static const bool ends_word[256] = {
    [0x00] = true, [0x01] = true, [0x02] = true, [0x03] = true, [0x04] = true,
    [0x05] = true, [0x06] = true, [0x07] = true, [0x08] = true, [0x09] = true,
    [0x0a] = true, [0x0b] = true, [0x0c] = true, [0x0d] = true, [0x0e] = true,
    [0x0f] = true, [0x10] = true, [0x11] = true, [0x12] = true, [0x13] = true,
    [0x14] = true, [0x15] = true, [0x16] = true, [0x17] = true, [0x18] = true,
    [0x19] = true, [0x1a] = true, [0x1b] = true, [0x1c] = true, [0x1d] = true,
    [0x1e] = true, [0x1f] = true, [' '] = true,  ['"'] = true,  ['\''] = true,
    ['`'] = true,  ['\\'] = true, ['<'] = true,  ['>'] = true,  [0x7f] = true,
};

static bool
are_hex(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isxdigit(p[i]))
            return false;
    return true;
}

/* "[1;32m" before p: a colour that has lost its ESC. */
static bool
is_stripped_sgr(const uint8_t *p, size_t n)
{
    size_t i = 2;
    while (
        i < n && i < 16 &&
        ((p[-(ptrdiff_t)i] >= '0' && p[-(ptrdiff_t)i] <= '9') || p[-(ptrdiff_t)i] == ';'))
        i++;
    return i <= n && p[-(ptrdiff_t)i] == '[';
}

/* Whether a token may begin here: behind no word, or behind an escape such as \n, \u0022,
 * %3D whose last letter is none of a word. */
static bool
starts_word(const struct lane *l, uint64_t clean)
{
    size_t n = (size_t)(clean - l->base);
    const uint8_t *p = l->text.p + n;
    if (!n || !byte_is_word(p[-1]) || lane_has_wrap_at(l, clean))
        return true;
    if (p[-1] == 'm' && is_stripped_sgr(p, n))
        return true;
    if (n >= 2 && p[-2] == '\\' && byte_in("nrtbfvae0", p[-1]))
        return true;
    if (n >= 3 && p[-3] == '%' && are_hex(p - 2, 2))
        return true;
    if (n >= 4 && p[-4] == '\\' && p[-3] == 'x' && are_hex(p - 2, 2))
        return true;
    return n >= 6 && p[-6] == '\\' && p[-5] == 'u' && are_hex(p - 4, 4);
}

struct scan_call {
    struct lane *lane;
    uint32_t first_lead;
};

static void
on_lead(void *ctx, unsigned lead, uint64_t end)
{
    const struct scan_call *call = ctx;
    struct fired f = { call->first_lead + lead, end };
    buf_append(&call->lane->fired, &f, sizeof(f));
}

/* A word without a gap may hold several leads, but a thousand of them are an attack on
 * our time: each is followed to the end of the word. Counted by the text alone. */
static bool
is_one_too_many(struct lane *l, uint64_t start, bool is_token, bool is_line)
{
    struct lane_word *w = is_line ? &l->line_word : &l->word;
    bool is_same = w->is_on && start - w->first < REDACT_HOLD &&
                   start - w->last <= WORD_GAP;
    for (uint64_t i = w->last; is_same && i < start; i++)
        is_same = is_line ? lane_at(l, i) != '\n' : !ends_word[lane_at(l, i)];
    if (!is_same)
        *w = (struct lane_word){ .is_on = true, .first = start };
    w->last = start;
    return is_token ? w->tokens++ >= TOKENS_MAX : w->values++ >= VALUES_MAX;
}

/* The candidate that begins at start, made if there is none; NULL when out of room. */
static struct lane_candidate *
candidate_at(struct lane *l, uint64_t start, bool is_token, bool is_line)
{
    size_t n = LANE_COUNT(struct lane_candidate, &l->open), i = n;
    struct lane_candidate *v = LANE_ITEMS(struct lane_candidate, &l->open);
    while (i && v[i - 1].start > start)
        i--;
    if (i && v[i - 1].start == start)
        return &v[i - 1];
    if (is_one_too_many(l, start, is_token, is_line) || n == CANDIDATES_MAX ||
        !buf_grow(&l->open, sizeof(*v)))
        return NULL;
    v = LANE_ITEMS(struct lane_candidate, &l->open);
    memmove(v + i + 1, v + i, (n - i) * sizeof(*v));
    v[i] = (struct lane_candidate){ .start = start,
                                    .seen = start,
                                    .raw = lane_raw(l, start) };
    uint64_t before = start - l->base;
    if (before && lane_line_start(l, start) != start &&
        byte_is_quote(lane_at(l, start - 1))) {
        v[i].quote = lane_at(l, start - 1);
        v[i].is_escaped = before > 1 && lane_at(l, start - 2) == '\\';
    }
    return &v[i];
}

/* Keeps them in order, each once. */
static void
add_rule(struct lane_candidate *c, uint32_t rule, size_t lead_n, uint32_t max)
{
    size_t i = c->n_rules;
    while (i && c->rules[i - 1].rule > rule)
        i--;
    if (i && c->rules[i - 1].rule == rule) {
        if (c->rules[i - 1].lead_n < lead_n)
            c->rules[i - 1].lead_n = (uint16_t)lead_n;
    } else if (c->n_rules < JUDGE_RULES) {
        memmove(c->rules + i + 1, c->rules + i, (c->n_rules - i) * sizeof(c->rules[0]));
        c->rules[i] = (struct judge_rule){ (uint16_t)rule, (uint16_t)lead_n };
        c->n_rules++;
    }
    if (c->window < max)
        c->window = max;
}

static void
add_names(struct lane *l, struct lane_candidate *c, uint32_t rule, uint32_t last)
{
    for (; rule <= last; rule++)
        if (l->redact->rules[rule]->names[0])
            add_rule(c, rule, 0, REDACT_HOLD);
}

static void
take_lead(struct lane *l, const struct fired *f)
{
    const struct redact *r = l->redact;
    const struct pack_lead *lead = r->leads[f->lead];
    uint32_t rule = r->lead_rules[f->lead];
    size_t n = lead->kind == PACK_LEAD_TOKEN ? strlen(lead->literal) : 1;
    uint64_t start = f->end - n;
    if (lead->kind == PACK_LEAD_BLOCK) {
        if (!r->is_off[rule])
            block_begin(l, rule, f->end);
        return;
    }
    if (start < l->base || lane_raw(l, f->end - 1) - lane_raw(l, start) >= LANE_HOLD)
        return;
    bool is_token = lead->kind == PACK_LEAD_TOKEN;
    if (is_token ? !lead->has_context && !starts_word(l, start)
                 : lane_line_start(l, start) == start)
        return;
    bool is_line = r->rules[rule]->run == PACK_LINE;
    struct lane_candidate *c = candidate_at(l, start, is_token, is_line);
    if (!c)
        return;
    if (lead->kind == PACK_LEAD_NAME) {
        add_names(l, c, rule, rule + (lead->last_rule - lead->rule));
        return;
    }
    c->is_line |= is_line;
    add_rule(c, rule, is_token ? n : 0, r->rules[rule]->max);
}

static int
compare_fired(const void *a, const void *b)
{
    const struct fired *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->lead < y->lead ? -1 : x->lead > y->lead;
}

static int
scan(struct lane *l)
{
    size_t n = (size_t)(lane_end(l) - l->scanned);
    struct view text = { n ? l->text.p + (l->scanned - l->base) : NULL, n };
    buf_clear(&l->fired);
    for (size_t i = 0; i < l->redact->n_packs; i++) {
        struct scan_call call = { l, l->redact->packs[i].first_lead };
        int e = engine_stream_scan(l->scans[i], text, on_lead, &call);
        if (e)
            return e;
    }
    l->scanned = lane_end(l);
    if (failure(l))
        return failure(l);
    struct fired *f = LANE_ITEMS(struct fired, &l->fired);
    if (l->fired.n > sizeof(*f))
        qsort(f, LANE_COUNT(struct fired, &l->fired), sizeof(*f), compare_fired);
    for (size_t i = 0; i < LANE_COUNT(struct fired, &l->fired); i++)
        take_lead(l, &f[i]);
    return failure(l);
}

/* -- runs -- */

/* Whether this byte ends the run. */
static bool
ends(struct lane_candidate *c, uint8_t byte)
{
    if (!c->quote && !c->is_line)
        return ends_word[byte];
    if (byte < 0x20 && byte != '\t')
        return true;
    if (c->quote) {
        if (c->is_after_slash) {
            c->is_after_slash = false;
            return false;
        }
        c->is_after_slash = byte == '\\' && !c->is_escaped;
        return byte == c->quote;
    }
    return byte_in("\"'`\\", byte);
}

/* Follows the run; true when it can be judged, with what stands behind it in *ret_next.
 */
static bool
follow(const struct lane *l, struct lane_candidate *c, uint64_t raw_end, bool is_end,
       int *ret_next)
{
    uint64_t limit = lane_end(l), window = c->start + c->window + 1;
    int cut = !c->is_through && raw_end - c->raw >= LANE_HOLD ? JUDGE_NEXT_CUT : 0;
    if (cut) {
        uint64_t most = lane_clean(l, c->raw + LANE_HOLD);
        limit = most < limit ? most : limit;
    }
    if (window < limit && !c->is_through) {
        limit = window;
        cut = JUDGE_NEXT_LONG;
    }
    while (c->seen < limit) {
        uint8_t byte = lane_at(l, c->seen);
        if (ends(c, byte)) {
            *ret_next = byte;
            return true;
        }
        c->seen++;
    }
    *ret_next = cut ? cut : JUDGE_NEXT_END;
    return cut || is_end;
}

/* -- verdicts -- */

int
lane_add_span(struct lane *l, uint64_t start, uint64_t end, uint32_t rule, bool is_more)
{
    struct lane_span s = { lane_raw(l, start), lane_raw(l, end - 1) + 1, rule, is_more };
    return buf_append(&l->spans, &s, sizeof(s));
}

/* What stands before it on its line. */
static struct view
before(const struct lane *l, uint64_t start)
{
    uint64_t from = start - l->base > CONTEXT ? start - CONTEXT : l->base;
    uint64_t begin = lane_line_start(l, start);
    from = begin > from ? begin : from;
    struct view v = { l->text.p + (from - l->base), (size_t)(start - from) };
    const uint8_t *line = memrchr(v.p, '\n', v.n);
    if (line)
        v = (struct view){ line + 1, (size_t)(v.p + v.n - line - 1) };
    return v;
}

static size_t
wraps_between(const struct lane *l, uint64_t start, uint64_t end,
              struct judge_wrap ret[JUDGE_WRAPS])
{
    const struct lane_wrap *wraps = LANE_ITEMS(struct lane_wrap, &l->wraps);
    size_t n = 0, last = end > start ? lane_wraps_until(l, end - 1) : 0;
    for (size_t i = lane_wraps_until(l, start); i < last && n < JUDGE_WRAPS; i++)
        ret[n++] = (struct judge_wrap){ (size_t)(wraps[i].clean - start), wraps[i].col };
    return n;
}

/* Judges a candidate whose run has ended or was cut; true: keep it, its secret goes on.
 */
static int
decide(struct lane *l, struct lane_candidate *c, int next)
{
    struct judge_wrap wraps[JUDGE_WRAPS];
    uint64_t end = c->seen;
    while (c->is_escaped && next == c->quote && end > c->start &&
           lane_at(l, end - 1) == '\\')
        end--;
    struct judge_sample s = {
        .before = before(l, c->start),
        .text = { l->text.p + (c->start - l->base), (size_t)(end - c->start) },
        .next = next,
        .rules = c->rules,
        .n_rules = c->n_rules,
        .wraps = wraps,
        .n_wraps = wraps_between(l, c->start, end, wraps),
        .cols = l->cols,
    };
    bool is_stopped = next == JUDGE_NEXT_END &&
                      (l->is_whole || lane_has_short_line(l, c->seen));
    if ((next >= 0 && lane_has_wrap_at(l, c->seen)) || is_stopped)
        s.next = JUDGE_NEXT_LINE;
    struct judge_verdict v;
    int e = judge(l->redact, &s, &v);
    if (e <= 0)
        return e;
    c->is_through = v.is_open;
    c->through_rule = v.rule;
    e = lane_add_span(l, c->start, c->start + v.end, v.rule, false);
    return e ? e : v.is_open;
}

/* 1: it stays open; 0: done with; else an error. */
static int
settle_one(struct lane *l, struct lane_candidate *c, uint64_t raw_end, bool is_end)
{
    int next;
    if (!c->is_through) {
        if (!follow(l, c, raw_end, is_end, &next))
            return 1;
        int e = decide(l, c, next);
        if (e <= 0)
            return e;
    }
    uint64_t from = c->seen;
    bool has_ended = follow(l, c, raw_end, is_end, &next);
    int e = c->seen > from ? lane_add_span(l, from, c->seen, c->through_rule, true) : 0;
    return e ? e : !has_ended;
}

int
lane_settle(struct lane *l, uint64_t raw_end, bool is_end)
{
    if (l->redact->texts)
        return failure(l) ? failure(l) : texts_lane_settle(l, raw_end, is_end);
    int e = failure(l) ? failure(l) : scan(l);
    struct lane_candidate *v = LANE_ITEMS(struct lane_candidate, &l->open);
    size_t n = LANE_COUNT(struct lane_candidate, &l->open), kept = 0;
    for (size_t i = 0; !e && i < n; i++) {
        int stays = settle_one(l, &v[i], raw_end, is_end);
        if (stays < 0)
            e = stays;
        else if (stays)
            v[kept++] = v[i];
    }
    if (e)
        return e;
    l->open.n = kept * sizeof(*v);
    return block_settle(l, raw_end, is_end);
}

/* -- what must wait -- */

/* The longest end of the text that may be the beginning of a token's lead. */
static uint64_t
hold_lead(const struct lane *l, uint64_t raw_end)
{
    size_t longest = l->redact->literal_max;
    size_t n = longest && l->text.n > longest - 1 ? longest - 1 : l->text.n;
    for (; n; n--) {
        uint64_t start = lane_end(l) - n;
        struct view text = { l->text.p + l->text.n - n, n };
        if (!l->redact->begins_literal[text.p[0]] ||
            !redact_may_lead(l->redact, text, starts_word(l, start)))
            continue;
        uint64_t raw = lane_raw(l, start);
        if (raw_end - raw < LANE_HOLD)
            return raw;
    }
    return UINT64_MAX;
}

uint64_t
lane_hold(const struct lane *l, uint64_t raw_end, bool at_rest)
{
    if (l->redact->texts)
        return texts_lane_hold(l);
    uint64_t hold = at_rest ? UINT64_MAX : hold_lead(l, raw_end);
    const struct lane_candidate *v = LANE_ITEMS(struct lane_candidate, &l->open);
    for (size_t i = 0; i < LANE_COUNT(struct lane_candidate, &l->open); i++)
        if (!v[i].is_through && v[i].raw < hold)
            hold = v[i].raw;
    if (l->block.is_on && l->block.from < lane_end(l)) {
        uint64_t raw = lane_raw(l, l->block.from);
        hold = raw < hold ? raw : hold;
    }
    return hold;
}

bool
lane_goes_on(const struct lane *l)
{
    const struct lane_candidate *v = LANE_ITEMS(struct lane_candidate, &l->open);
    for (size_t i = 0; i < LANE_COUNT(struct lane_candidate, &l->open); i++)
        if (v[i].is_through)
            return true;
    return l->block.is_on && l->block.has_material;
}

void
lane_trim(struct lane *l, uint64_t raw)
{
    uint64_t clean = lane_clean(l, raw);
    uint64_t base = clean > l->base + CONTEXT ? clean - CONTEXT : l->base;
    const struct lane_candidate *v = LANE_ITEMS(struct lane_candidate, &l->open);
    if (l->open.n && v[0].is_through && v[0].seen < base)
        base = v[0].seen;
    if (l->texts.node && l->texts.start < base)
        base = l->texts.start;
    lane_drop(l, base);
}
