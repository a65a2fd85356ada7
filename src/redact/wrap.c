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

int
judge_wrapped(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    bool is_in_quotes = s->before.n && s->next == s->before.p[s->before.n - 1] &&
                        byte_is_quote((uint8_t)s->next);
    struct judge_verdict v = { 0 };
    int found = 0;
    if (is_in_quotes) {
        found = judge_as(r, s, s->text.n, s->next, ret);
        if (found)
            return found;
    }
    found = judge_as(r, s, s->wraps[0].at, JUDGE_NEXT_LINE, ret);
    int e = 0;
    size_t reach = s->text.n; /* what was cut off fits nothing yet */
    if (found >= 0 && s->next != JUDGE_NEXT_END)
        reach = judge_reach(r, s, &e);
    if (e)
        return e;
    for (size_t k = 0; found >= 0 && k < s->n_wraps && s->wraps[k].at < reach; k++) {
        const struct judge_wrap *wrap = &s->wraps[k];
        bool is_last = k + 1 == s->n_wraps;
        size_t end = is_last ? s->text.n : s->wraps[k + 1].at;
        if (found && ret->end < wrap->at)
            break; /* it ended within the line before */
        bool may_go_on = goes_on(s, wrap, end);
        int longer = judge_as(r, s, end, is_last ? s->next : JUDGE_NEXT_LINE, &v);
        if (longer < 0)
            return longer;
        bool is_surer = is_by_format(r, s, &v) && (!found || v.rule < ret->rule);
        if (longer && v.end > wrap->at && (may_go_on || is_surer)) {
            *ret = v;
            found = 1;
        } else if (found || (!may_go_on && !s->rules[0].lead_n)) {
            break; /* a token may still come to its length */
        }
    }
    return found;
}
