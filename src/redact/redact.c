/* SPDX-License-Identifier: MIT */
#include "redact/redact.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "redact/builtin_priv.h"
#include "redact/redact_priv.h"
#include "redact/texts_priv.h"

enum { PACK_CEILING = 64 << 20 };

/* -- opening -- */

static int
add_pack(struct redact *r, struct redact_pack *p, struct view bytes)
{
    int e = pack_read(&p->pack, bytes);
    if (e)
        return e;
    p->first_rule = r->n_rules;
    p->first_lead = r->n_leads;
    r->n_rules += (uint32_t)p->pack.n_rules;
    r->n_leads += (uint32_t)p->pack.n_leads;
    r->n_packs++;
    return engine_open(&p->engine, &p->pack);
}

static int
add_own(struct redact *r, const char *path, struct err *err)
{
    struct redact_pack *p = &r->packs[r->n_packs];
    p->bytes.ceiling = PACK_CEILING;
    int e = file_slurp(path, &p->bytes);
    struct view bytes = { p->bytes.p, p->bytes.n };
    if (e >= 0)
        e = pack_is_sound(bytes) ? add_pack(r, p, bytes) : ERR_DAMAGED;
    if (e >= 0)
        e = engine_load(p->engine); /* it comes from a disk */
    return e < 0 ? err_code(err, e, "cannot use the compiled rules in '%s'", path) : 0;
}

static int
compare_literals(const void *a, const void *b)
{
    const struct redact_literal *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static unsigned
pair_of(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static void
add_lead(struct redact *r, const struct redact_pack *p, size_t i)
{
    const struct pack_lead *l = &p->pack.leads[i];
    r->leads[p->first_lead + i] = l;
    r->lead_rules[p->first_lead + i] = p->first_rule + l->rule;
    if (l->kind != PACK_LEAD_TOKEN)
        return;
    struct redact_literal *lit = &r->literals[r->n_literals++];
    *lit = (struct redact_literal){ l->literal, strlen(l->literal), l->has_context };
    r->begins_literal[(uint8_t)l->literal[0]] = true;
    if (lit->n > 1) {
        unsigned pair = pair_of((const uint8_t *)l->literal);
        r->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
    }
    if (lit->n > r->literal_max)
        r->literal_max = lit->n;
}

/* The tables over all packs. */
static int
index_packs(struct redact *r)
{
    r->rules = calloc(r->n_rules + 1, sizeof(*r->rules));
    r->leads = calloc(r->n_leads + 1, sizeof(*r->leads));
    r->lead_rules = calloc(r->n_leads + 1, sizeof(*r->lead_rules));
    r->literals = calloc(r->n_leads + 1, sizeof(*r->literals));
    r->is_off = calloc(r->n_rules + 1, sizeof(*r->is_off));
    r->ends = calloc(r->n_rules + 1, sizeof(*r->ends));
    if (!r->rules || !r->leads || !r->lead_rules || !r->literals || !r->is_off ||
        !r->ends)
        return -ENOMEM;
    for (const struct redact_pack *p = r->packs; p < r->packs + r->n_packs; p++) {
        for (size_t i = 0; i < p->pack.n_rules; i++)
            r->rules[p->first_rule + i] = &p->pack.rules[i];
        for (size_t i = 0; i < p->pack.n_leads; i++)
            add_lead(r, p, i);
    }
    qsort(r->literals, r->n_literals, sizeof(*r->literals), compare_literals);
    return 0;
}

static bool
is_called(const struct pack_rule *rule, const char *id)
{
    return rule && !strcmp(rule->id, id);
}

static int
switch_off(struct redact *r, struct err *err)
{
    for (const struct redact_pack *p = r->packs; p < r->packs + r->n_packs; p++)
        for (size_t i = 0; i < p->pack.n_off; i++) {
            uint32_t rule = 0;
            while (rule < r->n_rules && !is_called(r->rules[rule], p->pack.off[i]))
                rule++;
            if (rule == r->n_rules)
                return err_set(err, ERR_USAGE, "'off %s': there is no such rule",
                               p->pack.off[i]);
            r->is_off[rule] = true;
        }
    return 0;
}

int
redact_open(struct redact **ret, const char *own_path, struct err *err)
{
    struct redact *r = calloc(1, sizeof(*r));
    if (!r)
        return err_code(err, -ENOMEM, "cannot load the redaction rules");
    int e = own_path ? add_own(r, own_path, err) : 0;
    if (!e) {
        struct view bytes = { (const uint8_t *)builtin_pack, builtin_pack_size };
        e = add_pack(r, &r->packs[r->n_packs], bytes);
        if (!e)
            e = index_packs(r);
        if (e)
            err_code(err, e, "cannot load the redaction rules");
    }
    if (!e)
        e = switch_off(r, err);
    if (e) {
        redact_close(r);
        return e;
    }
    *ret = r;
    return 0;
}

void
redact_close(struct redact *r)
{
    if (!r)
        return;
    redact_stream_free(r->whole);
    for (size_t i = 0; i < REDACT_PACKS; i++) {
        engine_close(r->packs[i].engine);
        pack_release(&r->packs[i].pack);
        buf_release(&r->packs[i].bytes);
    }
    texts_free(r->texts);
    free(r->rules);
    free(r->leads);
    free(r->lead_rules);
    free(r->literals);
    free(r->is_off);
    free(r->ends);
    free(r);
}

/* -- the list -- */

size_t
redact_rules(const struct redact *r)
{
    return r->n_rules;
}

struct redact_rule
redact_rule(const struct redact *r, size_t i)
{
    const struct pack_rule *rule = r->rules[i];
    return (struct redact_rule){
        .id = rule->id,
        .about = rule->about,
        .pattern = rule->pattern,
        .is_own = r->n_packs > 1 && i < r->packs[0].pack.n_rules,
    };
}

size_t
redact_size_bytes(const struct redact *r)
{
    size_t sum = sizeof(*r) + (r->texts ? texts_size_bytes(r->texts) : 0);
    for (size_t i = 0; i < r->n_packs; i++)
        sum += engine_size_bytes(r->packs[i].engine);
    return sum;
}

/* -- shapes -- */

void
redact_clear_ends(struct redact *r)
{
    memset(r->ends, 0, r->n_rules * sizeof(*r->ends));
}

int
redact_ask_shapes(struct redact *r, enum pack_shapes which, struct view text)
{
    int e = 0;
    for (const struct redact_pack *p = r->packs; !e && p < r->packs + r->n_packs; p++)
        e = engine_shapes(p->engine, which, text, r->ends + p->first_rule);
    return e;
}

/* -- what tokens begin with -- */

static bool
is_beginning(const struct redact_literal *l, struct view text)
{
    return l->n >= text.n && !memcmp(l->text, text.p, text.n);
}

bool
redact_may_lead(const struct redact *r, struct view text, bool starts_word)
{
    if (!r->begins_literal[text.p[0]])
        return false;
    unsigned pair = text.n > 1 ? pair_of(text.p) : 0;
    if (text.n > 1 && !(r->pairs[pair / 64] >> pair % 64 & 1))
        return false;
    size_t low = 0, high = r->n_literals;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strncmp(r->literals[mid].text, (const char *)text.p, text.n) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < r->n_literals && is_beginning(&r->literals[low], text); low++)
        if (r->literals[low].n > text.n && (starts_word || r->literals[low].has_context))
            return true; /* else it is whole, and its candidate open */
    return false;
}

/* -- exceptions -- */

/* '*' stands for any bytes. */
static bool
fits(const char *pattern, struct view v)
{
    const char *star = NULL;
    size_t i = 0, star_i = 0;
    while (i < v.n) {
        if (*pattern == '*') {
            star = ++pattern;
            star_i = i;
        } else if (*pattern && (uint8_t)*pattern == v.p[i]) {
            pattern++;
            i++;
        } else if (star) {
            pattern = star;
            i = ++star_i;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

bool
redact_is_allowed(const struct redact *r, struct view secret)
{
    for (const struct redact_pack *p = r->packs; p < r->packs + r->n_packs; p++)
        for (size_t i = 0; i < p->pack.n_allow; i++)
            if (fits(p->pack.allow[i], secret))
                return true;
    return false;
}
