/* SPDX-License-Identifier: MIT */
/* wrap.c -- a secret over several lines of a screen, and where it ends. */
#include "redact/judge_priv.h"
#include "redact/value_priv.h"

/* Characters of random texts: all three kinds, or digits and the letters of hex. */
static bool
is_random(const struct value_mix *m)
{
    return m->digits && ((m->lowers && m->uppers) || m->hex == m->n);
}

/* No character of a kind that was not there before. */
static bool
is_alike(struct view head, struct view more, bool may_add_symbols)
{
    struct value_mix a = value_mix(head), b = value_mix(more);
    if ((b.digits && !a.digits) || (b.lowers && !a.lowers) || (b.uppers && !a.uppers) ||
        (a.hex == a.n && b.hex < b.n))
        return false;
    for (size_t i = 0; i < more.n; i++) {
        uint8_t c = more.p[i];
        bool is_new = ispunct(c) && !memchr(head.p, c, head.n);
        if (is_new && !(may_add_symbols && byte_in("+/=_-.", c)))
            return false;
    }
    return true;
}

/*
 * Whether what follows a line end goes on with what stands before it, and is not the
 * first word of the next line: the line was full, the characters are of the same kinds,
 * and they do not look like a word.
 */
static bool
goes_on(const struct judge_sample *s, const struct judge_wrap *wrap, size_t end)
{
    struct view head = { s->text.p, wrap->at };
    struct view more = { s->text.p + wrap->at, end - wrap->at };
    struct value_mix m = value_mix(more);
    const uint8_t *equals = memchr(more.p, '=', more.n);
    bool is_full = judge_is_full(wrap->col, s->cols);
    if (s->cols && judge_last_row(wrap->col, s->cols) == s->cols)
        return true; /* to the last column */
    if (is_full && s->next == JUDGE_NEXT_END)
        return true; /* the rest of it has not come */
    if (equals && equals + 2 < more.p + more.n)
        return false; /* NAME=…: another setting */
    if (!is_full)     /* unless nothing else looks like this */
        return wrap->col >= 24 && more.n >= 16 && m.digits > 1 && m.lowers > 1 &&
               m.uppers > 1;
    if (head.n < 8 && is_random(&m))
        return true;
    return is_alike(head, more, is_random(&m)) && (m.digits || value_has_hump(more));
}

/* By a shape that ordinary text does not have by chance: not by its surroundings alone.
 */
static bool
is_by_format(const struct redact *r, const struct judge_sample *s,
             const struct judge_verdict *v)
{
    for (size_t i = 0; i < s->n_rules; i++)
        if (s->rules[i].rule == v->rule)
            return r->rules[v->rule]->pattern[0] &&
                   (s->rules[i].lead_n || r->rules[v->rule]->names[0]);
    return false;
}

/* Where the row behind a line end ends, and what follows it. */
static size_t
row_end(const struct judge_sample *s, size_t wrap, int *ret_next)
{
    bool is_last = wrap + 1 == s->n_wraps;
    *ret_next = is_last ? s->next : JUDGE_NEXT_LINE;
    return is_last ? s->text.n : s->wraps[wrap + 1].at;
}

/* All rows that go on one from the other, taken at once; *ret_wraps is how many line ends
 * that leaves behind. */
static int
judge_block(struct redact *r, const struct judge_sample *s, size_t reach,
            struct judge_verdict *ret, size_t *ret_wraps)
{
    size_t n = 0, end = 0, at;
    int next = 0, then;
    while (n < s->n_wraps && s->wraps[n].at < reach) {
        at = row_end(s, n, &then);
        if (!goes_on(s, &s->wraps[n], at))
            break;
        end = at;
        next = then;
        n++;
    }
    struct judge_verdict v;
    int found = n ? judge_as(r, s, end, next, &v) : 0;
    if (found <= 0 || v.end <= s->wraps[n - 1].at)
        return found < 0 ? found : 0;
    *ret = v;
    *ret_wraps = n;
    return 1;
}

/* Row by row: as long as the rows go on, or a format that is surer than what was found.
 */
static int
judge_rows(struct redact *r, const struct judge_sample *s, size_t wrap, size_t reach,
           int found, struct judge_verdict *ret)
{
    struct judge_verdict v = { 0 };
    for (; wrap < s->n_wraps && s->wraps[wrap].at < reach; wrap++) {
        int next;
        size_t at = s->wraps[wrap].at, end = row_end(s, wrap, &next);
        if (found && ret->end < at)
            break; /* it ended within the row before */
        bool may_go_on = goes_on(s, &s->wraps[wrap], end);
        int longer = judge_as(r, s, end, next, &v);
        if (longer < 0)
            return longer;
        bool is_surer = is_by_format(r, s, &v) && (!found || v.rule < ret->rule);
        if (longer && v.end > at && (may_go_on || is_surer)) {
            *ret = v;
            found = 1;
        } else if (found || (!may_go_on && !s->rules[0].lead_n)) {
            break; /* a token may still come to its length */
        }
    }
    return found;
}

int
judge_wrapped(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    bool is_in_quotes = s->before.n && s->next == s->before.p[s->before.n - 1] &&
                        byte_is_quote((uint8_t)s->next);
    int found = is_in_quotes ? judge_as(r, s, s->text.n, s->next, ret) : 0;
    if (found)
        return found;
    found = judge_as(r, s, s->wraps[0].at, JUDGE_NEXT_LINE, ret);
    int e = 0;
    size_t reach = s->text.n; /* what was cut off fits nothing yet */
    if (found >= 0 && s->next != JUDGE_NEXT_END)
        reach = judge_reach(r, s, &e);
    if (e || found < 0)
        return e ? e : found;
    size_t wraps = 0;
    int block = judge_block(r, s, reach, ret, &wraps);
    return block < 0 ? block : judge_rows(r, s, wraps, reach, found || block, ret);
}
