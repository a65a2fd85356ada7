/* SPDX-License-Identifier: MIT */
#include "redact/judge_priv.h"

#include "redact/check_priv.h"
#include "redact/value_priv.h"

enum { VALUE_LEAST = 3, NUMBER_LEAST = 6 };

/* One reading of a sample: up to one of its line ends. */
struct reading {
    const struct judge_sample *sample; /* borrowed */
    struct view text;
    int next;
    struct name names[NAME_READINGS];
    size_t n_names;
    bool has_names;               /* they have been read */
    bool has_shapes[PACK_SHAPES]; /* redact.ends is about this text */
};

/* -- one rule -- */

/* A rule by name: is one of its names there? */
static const struct name *
find_name(struct reading *in, const struct pack_rule *rule)
{
    if (!in->has_names)
        in->n_names = name_read(in->sample->before, in->names);
    in->has_names = true;
    for (size_t i = 0; i < in->n_names; i++)
        if (name_tells(in->names[i].text, rule->names))
            return &in->names[i];
    return NULL;
}

/* How the value of a rule that has no name of its own is given. */
static struct name
surroundings(const struct reading *in)
{
    struct view b = in->sample->before;
    struct name names[NAME_READINGS];
    if (name_read(b, names))
        return names[0];
    return (struct name){ .op = NAME_ASSIGN,
                          .is_quoted = b.n && byte_is_quote(b.p[b.n - 1]) };
}

static bool
is_like_a_secret(const struct pack_rule *rule, struct view secret, size_t lead_n,
                 const struct name *name)
{
    struct view body = { secret.p + lead_n, secret.n - lead_n };
    enum check_result check = check_secret(rule->check, secret);
    if (check == CHECK_RIGHT)
        return true;
    if (check == CHECK_WRONG && rule->check != PACK_CHECK_CRC32_BASE62)
        return false;
    bool is_like = rule->check == PACK_CHECK_PASSWORD ? value_is_password(secret, name)
                   : rule->check == PACK_CHECK_SECRET
                       ? value_is_secret(secret, name)
                       : value_entropy(body) >= rule->entropy;
    return is_like && !value_is_placeholder(body);
}

/* Where the secret ends by its pattern, with the right thing behind it; 0: it is none. */
static size_t
end_by_pattern(const struct reading *in, const struct pack_rule *rule, size_t end)
{
    if (!end || end > rule->max)
        return 0;
    int next = end < in->text.n ? in->text.p[end] : in->next;
    if (next == JUDGE_NEXT_CUT)
        return end;
    if (rule->run == PACK_WORD && next >= 0 && byte_is_word((uint8_t)next) &&
        byte_is_word(in->text.p[end - 1]))
        return 0;
    if (rule->then[0] && (next < 0 || !byte_in(rule->then, (uint8_t)next)))
        return 0;
    return end;
}

/* Asks the patterns, once for each kind. */
static int
ask_shapes(struct redact *r, struct reading *in, enum pack_shapes which)
{
    if (in->has_shapes[which])
        return 0;
    if (!in->has_shapes[PACK_TOKENS] && !in->has_shapes[PACK_VALUES])
        memset(r->ends, 0, r->n_rules * sizeof(*r->ends));
    in->has_shapes[which] = true;
    for (const struct redact_pack *p = r->packs; p < r->packs + r->n_packs; p++) {
        int e = engine_shapes(p->engine, which, in->text, r->ends + p->first_rule);
        if (e)
            return e;
    }
    return 0;
}

/* Where the secret ends by this rule; 0: it is none; else an error. */
static int
end_of_rule(struct redact *r, struct reading *in, struct judge_rule which)
{
    const struct pack_rule *rule = r->rules[which.rule];
    struct name around = { .op = NAME_ASSIGN };
    const struct name *name = &around;
    if (r->is_off[which.rule])
        return 0;
    if (rule->names[0] && !(name = find_name(in, rule)))
        return 0;
    if (rule->check != PACK_CHECK_NONE && !rule->names[0])
        around = surroundings(in);
    bool is_all = name->is_quoted || in->next == JUDGE_NEXT_END;
    size_t whole = is_all ? in->text.n : value_trim(in->text).n, end = whole;
    if (rule->pattern[0]) {
        int e = ask_shapes(r, in, which.lead_n ? PACK_TOKENS : PACK_VALUES);
        if (e)
            return e;
        end = end_by_pattern(in, rule, r->ends[which.rule]);
        /* A value by name is the whole value, whatever its shape. */
        if (rule->names[0] && end < whole)
            return 0;
    }
    if (end <= which.lead_n)
        return 0;
    struct view secret = { in->text.p, end };
    if (!is_like_a_secret(rule, secret, which.lead_n, name) ||
        redact_is_allowed(r, secret))
        return 0;
    return (int)end;
}

/* -- all rules -- */

/* The first rule that says yes. */
static int
read_as(struct redact *r, const struct judge_sample *s, size_t n, int next,
        struct judge_verdict *ret)
{
    struct reading in = { .sample = s, .text = { s->text.p, n }, .next = next };
    size_t least = bytes_have_letter(in.text.p, in.text.n) ? VALUE_LEAST : NUMBER_LEAST;
    if (!s->rules[0].lead_n && value_trim(in.text).n < least)
        return 0; /* a count, mostly */
    for (size_t i = 0; i < s->n_rules; i++) {
        int end = end_of_rule(r, &in, s->rules[i]);
        if (end < 0)
            return end;
        if (!end)
            continue;
        *ret = (struct judge_verdict){ s->rules[i].rule, (size_t)end,
                                       next == JUDGE_NEXT_CUT && (size_t)end == n };
        return 1;
    }
    return 0;
}

/* -- wraps -- */

struct palette {
    bool has_digit, has_lower, has_upper;
    bool symbols[128];
};

static struct palette
palette_of(struct view v)
{
    struct palette p = { 0 };
    for (size_t i = 0; i < v.n; i++) {
        uint8_t c = v.p[i];
        p.has_digit |= isdigit(c) != 0;
        p.has_lower |= islower(c) != 0;
        p.has_upper |= isupper(c) != 0;
        if (ispunct(c))
            p.symbols[c] = true;
    }
    return p;
}

static bool
is_hex(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!isxdigit(v.p[i]))
            return false;
    return true;
}

/* Characters of random texts: all three kinds, or digits and the letters of hex. */
static bool
is_random(struct view v, const struct palette *p)
{
    return p->has_digit && ((p->has_lower && p->has_upper) || is_hex(v));
}

/* No character of a kind that was not there before. */
static bool
is_alike(const struct palette *a, const struct palette *b, bool may_add_symbols)
{
    if ((b->has_digit && !a->has_digit) || (b->has_lower && !a->has_lower) ||
        (b->has_upper && !a->has_upper))
        return false;
    for (uint8_t i = 0; i < 128; i++)
        if (b->symbols[i] && !a->symbols[i] && !(may_add_symbols && byte_in("+/=_-.", i)))
            return false;
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
    if (!judge_is_full(wrap->col, s->cols))
        return false;
    if (s->cols && judge_last_row(wrap->col, s->cols) == s->cols)
        return true; /* to the last column */
    if (s->next == JUDGE_NEXT_END && end == s->text.n)
        return true; /* the rest of it has not come */
    struct palette a = palette_of(head), b = palette_of(more);
    bool is_rest_random = is_random(more, &b);
    if (head.n < 8 && is_rest_random)
        return true;
    if (!is_alike(&a, &b, is_rest_random) || (is_hex(head) && !is_hex(more)))
        return false;
    if (b.has_digit)
        return true;
    for (size_t i = 1; i < more.n; i++)
        if (isupper(more.p[i]) && b.has_lower)
            return true; /* not only the first */
    return false;
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

/* The text up to the first line end, and as much behind it as belongs to it. */
static int
judge_wrapped(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    bool is_in_quotes = s->before.n && s->next == s->before.p[s->before.n - 1] &&
                        byte_is_quote((uint8_t)s->next);
    struct judge_verdict v = { 0 };
    int found = 0;
    if (is_in_quotes) {
        found = read_as(r, s, s->text.n, s->next, ret);
        if (found)
            return found;
    }
    found = read_as(r, s, s->wraps[0].at, JUDGE_NEXT_LINE, ret);
    for (size_t k = 0; found >= 0 && k < s->n_wraps; k++) {
        const struct judge_wrap *wrap = &s->wraps[k];
        bool is_last = k + 1 == s->n_wraps;
        size_t end = is_last ? s->text.n : s->wraps[k + 1].at;
        if (found && ret->end < wrap->at)
            break; /* it ended within the line before */
        bool may_go_on = goes_on(s, wrap, end);
        int longer = read_as(r, s, end, is_last ? s->next : JUDGE_NEXT_LINE, &v);
        if (longer < 0)
            return longer;
        bool is_surer = is_by_format(r, s, &v) && (!found || v.rule < ret->rule);
        if (longer && v.end > wrap->at && (may_go_on || is_surer)) {
            *ret = v;
            found = 1;
        } else if (found || !may_go_on) {
            if (found || !s->rules[0].lead_n)
                break;
        }
    }
    return found;
}

/* -- cut off by the end of the input -- */

static bool
is_plain_word(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!islower(v.p[i]) && !byte_in("_-.", v.p[i]))
            return false;
    return true;
}

/* Whether more of the same would make it a secret of this rule. */
static bool
may_become(struct redact *r, const struct judge_sample *s, struct judge_rule which)
{
    static const char fillers[] = "0aA";
    uint8_t text[2 * REDACT_HOLD];
    size_t n = s->text.n < REDACT_HOLD ? s->text.n : REDACT_HOLD;
    size_t max = r->rules[which.rule]->max;
    size_t more = max > n ? max - n : 0;
    memcpy(text, s->text.p, n);
    for (size_t i = 0; i < sizeof(fillers) - 1; i++) {
        memset(text + n, fillers[i], more);
        struct reading in = { .sample = s, .text = { text, n + more } };
        if (!ask_shapes(r, &in, which.lead_n ? PACK_TOKENS : PACK_VALUES) &&
            r->ends[which.rule] >= n)
            return true;
    }
    return false;
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
is_scrambled(struct view v, const struct palette *p)
{
    for (size_t i = 1; p->has_lower && i < v.n; i++)
        if (isupper(v.p[i]))
            return true;
    return p->has_digit && (p->has_upper || v.n >= 8);
}

/* By the first bytes of a token, or of a value whose surroundings tell all. */
static bool
is_stump(struct redact *r, const struct judge_sample *s, struct judge_rule which)
{
    struct view lead = { s->text.p, which.lead_n };
    struct view body = { s->text.p + lead.n, s->text.n - lead.n };
    bool is_plain = is_plain_word(body), has_then = r->rules[which.rule]->then[0] != 0;
    if (!body.n || !is_token_text(body) || value_is_placeholder(body))
        return false;
    struct palette l = palette_of(lead);
    if (lead.n >= 5 || (lead.n == 4 && (!is_plain || l.has_upper || body.n < 4)))
        return true; /* nothing else begins like this */
    if (!lead.n && !has_then)
        return !is_plain || body.n < 8;
    if (has_then)
        return bytes_have_letter(body.p, body.n) && may_become(r, s, which); /* no port */
    if (is_plain)
        return false;
    struct palette p = palette_of(body);
    return may_become(r, s, which) || (body.n >= 4 && is_scrambled(body, &p));
}

/* By name: it was being assigned. Numbers are left alone where they may be counts. */
static bool
is_named_stump(const struct redact *r, const struct judge_sample *s, uint32_t rule)
{
    struct name names[NAME_READINGS];
    size_t n = name_read(s->before, names);
    for (size_t i = 0; i < n; i++) {
        bool is_given = names[i].op == NAME_ASSIGN || names[i].op == NAME_FLAG ||
                        names[i].is_quoted;
        bool is_plural = byte_lower(names[i].text.p[names[i].text.n - 1]) == 's';
        bool is_code = names[i].is_tight || names[i].is_quoted
                           ? byte_in("$%{(<", s->text.p[0])
                           : value_is_expression(s->text);
        if (is_given && name_tells(names[i].text, r->rules[rule]->names) &&
            (bytes_have_letter(s->text.p, s->text.n) || !is_plural) &&
            !value_is_placeholder(s->text) && !is_code)
            return true;
    }
    return false;
}

/* A secret of which only the beginning has come. */
static int
judge_stump(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    if (s->next != JUDGE_NEXT_END || !s->text.n || redact_is_allowed(r, s->text))
        return 0;
    for (size_t i = 0; i < s->n_rules; i++) {
        uint32_t rule = s->rules[i].rule;
        bool is_named = r->rules[rule]->names[0] != 0;
        if (r->is_off[rule] ||
            !(is_named ? is_named_stump(r, s, rule) : is_stump(r, s, s->rules[i])))
            continue;
        *ret = (struct judge_verdict){ .rule = rule, .end = s->text.n };
        return 1;
    }
    return 0;
}

/* What follows a secret without a gap, up to the end of the input, may be of a longer
 * one. */
static void
take_rest(const struct redact *r, const struct judge_sample *s, struct judge_verdict *v)
{
    if (r->rules[v->rule]->then[0])
        return; /* what ends it is there */
    struct view rest = { s->text.p + v->end, s->text.n - v->end };
    if (s->next == JUDGE_NEXT_END && is_token_text(rest))
        v->end = s->text.n;
}

int
judge(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    int found = s->n_wraps ? judge_wrapped(r, s, ret)
                           : read_as(r, s, s->text.n, s->next, ret);
    if (found > 0)
        take_rest(r, s, ret);
    return found ? found : judge_stump(r, s, ret);
}
