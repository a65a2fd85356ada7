/* SPDX-License-Identifier: MIT */
/*
 * stump.c -- a secret that the end of the input has cut off.
 *
 * What has come of it does not fit its rule yet. It is masked when nothing else begins
 * like this; where ordinary text may, a few letters behind a short prefix are let
 * through.
 */
#include "redact/judge_priv.h"
#include "redact/value_priv.h"

static bool
is_plain_word(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!islower(v.p[i]) && !byte_in("_-.", v.p[i]))
            return false;
    return true;
}

/* Whether more of the same would make it a secret of this rule. */
static int
may_become(struct redact *r, const struct judge_sample *s, struct judge_rule which)
{
    static const char fillers[] = "0aA";
    uint8_t text[2 * REDACT_HOLD];
    size_t n = s->text.n < REDACT_HOLD ? s->text.n : REDACT_HOLD;
    size_t max = r->rules[which.rule]->max;
    size_t more = max > n ? max - n : 0;
    char then = r->rules[which.rule]->then[0];
    memcpy(text, s->text.p, n);
    for (size_t i = 0; i < sizeof(fillers) - 1; i++) {
        memset(text + n, fillers[i], more);
        if (more && then)
            text[n + more - 1] = (uint8_t)then;
        struct view longer = { text, n + more };
        redact_clear_ends(r);
        int e = redact_ask_shapes(r, which.lead_n ? PACK_TOKENS : PACK_VALUES, longer);
        if (e || r->ends[which.rule] >= n)
            return e ? e : 1;
    }
    return 0;
}

static bool
is_token_text(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] <= ' ' || v.p[i] >= 0x7f || byte_in("(),;}]", v.p[i]))
            return false;
    return true;
}

/* No word is written like this. */
static bool
is_scrambled(struct view v)
{
    struct value_mix m = value_mix(v);
    return value_has_hump(v) || (m.digits && (m.uppers || v.n >= 8));
}

/* By the first bytes of a token, or of a value whose surroundings tell all. */
static int
is_stump(struct redact *r, const struct judge_sample *s, struct judge_rule which)
{
    struct view lead = { s->text.p, which.lead_n };
    struct view body = { s->text.p + lead.n, s->text.n - lead.n };
    bool is_plain = is_plain_word(body), has_then = r->rules[which.rule]->then[0] != 0;
    if (!body.n || !is_token_text(body) || value_is_placeholder(body))
        return false;
    struct value_mix l = value_mix(lead);
    if (lead.n >= 5 || (lead.n == 4 && (!is_plain || l.uppers || body.n < 4)))
        return true; /* nothing else begins like this */
    if (!lead.n && !has_then)
        return !is_plain || body.n < 8;
    if (has_then)
        return bytes_have_letter(body.p, body.n) ? may_become(r, s, which)
                                                 : 0; /* no port */
    if (is_plain)
        return false;
    return body.n >= 4 && is_scrambled(body) ? 1 : may_become(r, s, which);
}

/* By name: it was being assigned. Numbers are left alone where they may be counts. */
static bool
is_named_stump(const struct redact *r, const struct judge_sample *s, uint32_t rule)
{
    struct name names[NAME_READINGS];
    size_t n = name_read(s->before, names);
    for (size_t i = 0; i < n; i++) {
        struct value_mix m = value_mix(s->text);
        bool is_given = names[i].op == NAME_ASSIGN || names[i].op == NAME_FLAG ||
                        names[i].is_quoted ||
                        (m.digits && m.lowers + m.uppers && m.n > 5);
        bool is_plural = byte_lower(names[i].text.p[names[i].text.n - 1]) == 's';
        bool is_code = names[i].is_tight || names[i].is_quoted
                           ? byte_in("$%{(<", s->text.p[0])
                           : value_is_expression(s->text, false);
        if (is_given && name_tells(names[i].text, r->rules[rule]->names) &&
            (bytes_have_letter(s->text.p, s->text.n) || !is_plural) &&
            !value_is_placeholder(s->text) && !is_code)
            return true;
    }
    return false;
}

int
judge_stump(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    if (s->next != JUDGE_NEXT_END || !s->text.n || redact_is_allowed(r, s->text))
        return 0;
    for (size_t i = 0; i < s->n_rules; i++) {
        uint32_t rule = s->rules[i].rule;
        bool is_named = r->rules[rule]->names[0] != 0;
        int is_one = r->is_off[rule] ? 0
                     : is_named      ? is_named_stump(r, s, rule)
                                     : is_stump(r, s, s->rules[i]);
        if (is_one < 0)
            return is_one;
        if (!is_one)
            continue;
        *ret = (struct judge_verdict){ .rule = rule, .end = s->text.n };
        return 1;
    }
    return 0;
}

void
judge_take_rest(const struct redact *r, const struct judge_sample *s,
                struct judge_verdict *v)
{
    if (r->rules[v->rule]->then[0])
        return; /* what ends it is there */
    if (s->n_wraps && s->wraps[s->n_wraps - 1].at >= v->end)
        return; /* on another line */
    struct view rest = { s->text.p + v->end, s->text.n - v->end };
    if (s->next == JUDGE_NEXT_END && is_token_text(rest))
        v->end = s->text.n;
}
