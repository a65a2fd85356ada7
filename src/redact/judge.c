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
    size_t most = rule->max < REDACT_HOLD ? rule->max
                                          : SIZE_MAX; /* or as long as it likes */
    if (rule->then[0] && end)
        return end - 1; /* that byte is of the pattern */
    if (!end || end > most)
        return 0;
    int next = end < in->text.n ? in->text.p[end] : in->next;
    bool is_inside = next >= 0 && next < 0x80 && isalnum(next) &&
                     byte_is_word(in->text.p[end - 1]);
    struct view secret = { in->text.p, end };
    if (rule->run == PACK_WORD && is_inside &&
        (rule->check != PACK_CHECK_CRC32_BASE62 ||
         check_secret(rule->check, secret) != CHECK_RIGHT))
        return 0;
    return end;
}

static size_t
longest_secret(const struct redact *r, const struct judge_sample *s)
{
    size_t longest = 0;
    for (size_t i = 0; i < s->n_rules; i++) {
        const struct pack_rule *rule = r->rules[s->rules[i].rule];
        if (rule->pattern[0] && rule->max > longest)
            longest = rule->max;
    }
    return longest;
}

/* Once for each kind. */
static int
ask_shapes(struct redact *r, struct reading *in, enum pack_shapes which)
{
    if (in->has_shapes[which])
        return 0;
    if (!in->has_shapes[PACK_TOKENS] && !in->has_shapes[PACK_VALUES])
        redact_clear_ends(r);
    in->has_shapes[which] = true;
    struct view text = { in->text.p, longest_secret(r, in->sample) + 1 };
    text.n = text.n < in->text.n ? text.n : in->text.n;
    return redact_ask_shapes(r, which, text);
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

size_t
judge_reach(struct redact *r, const struct judge_sample *s, int *ret_error)
{
    struct reading in = { .sample = s, .text = s->text };
    size_t reach = 0;
    for (size_t i = 0; i < s->n_rules && !*ret_error; i++) {
        const struct pack_rule *rule = r->rules[s->rules[i].rule];
        if (!rule->pattern[0])
            return s->text.n;
        *ret_error = ask_shapes(r, &in, s->rules[i].lead_n ? PACK_TOKENS : PACK_VALUES);
        size_t end = r->ends[s->rules[i].rule];
        reach = end > reach ? end : reach;
    }
    return reach;
}

int
judge_as(struct redact *r, const struct judge_sample *s, size_t n, int next,
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
                                       next <= JUDGE_NEXT_CUT && (size_t)end == n };
        return 1;
    }
    return 0;
}

/* So full of colours that too little of it came to tell: taken for cut off. */
static int
judge_sparse(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    struct judge_sample stump = *s;
    if (s->next != JUDGE_NEXT_CUT || s->text.n > REDACT_HOLD / 2)
        return 0;
    stump.next = JUDGE_NEXT_END;
    int found = judge_stump(r, &stump, ret);
    if (found > 0)
        ret->is_open = true;
    return found;
}

int
judge(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret)
{
    int found = s->n_wraps ? judge_wrapped(r, s, ret)
                           : judge_as(r, s, s->text.n, s->next, ret);
    if (found > 0)
        judge_take_rest(r, s, ret);
    if (!found)
        found = judge_stump(r, s, ret);
    return found ? found : judge_sparse(r, s, ret);
}
