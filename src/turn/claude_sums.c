/* SPDX-License-Identifier: MIT */
/*
 * claude_sums.c -- what a result of Claude Code's tells of all models and of the costs:
 * sums since its process began, of which the step since the last result is news. Another
 * session of the same process (/clear) does not reset them.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/num.h"
#include "base/parts.h"
#include "turn/claude_priv.h"

enum { MODELS_MAX = 64, NAME_MAX_BYTES = 128 }; /* what is beyond is in the sum alone */

/* -- the cost -- */

/* The number is a binary fraction written out: 0.050124999999999996 is 50125. */
static uint64_t
microusd(struct view cost)
{
    uint64_t nano;
    if (num_parse_decimal(cost, 9, INT64_MAX, &nano) < 0)
        return TURN_UNKNOWN;
    return (nano + 500) / 1000;
}

/* -- models -- */

struct model {
    struct view name; /* in `names` */
    struct turn_usage all;
};

struct models {
    struct model list[MODELS_MAX];
    size_t count;
    struct turn_usage sum; /* of all of them, and of those that are not in the list */
    struct buf names;
};

static void
models_release(struct models *m)
{
    buf_release(&m->names);
}

static bool
take_model(struct models *m, struct view value, struct view name)
{
    struct view raw[TURN_USAGE_FIELDS] = { { 0 } };
    const struct turn_field wanted[] = {
        { "inputTokens", &raw[0] },
        { "outputTokens", &raw[1] },
        { "cacheCreationInputTokens", &raw[2] },
        { "cacheReadInputTokens", &raw[3] },
    };
    struct model one = { .name = name };
    bool is_any = turn_known_fields(value, wanted, TURN_USAGE_FIELDS);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t *sum = turn_usage_field(&m->sum, i), more = turn_tokens(raw[i], 0);
        *turn_usage_field(&one.all, i) = more;
        *sum = num_plus_u64(*sum, more, NUM_EXACT_MAX);
    }
    if (name.n && m->count < MODELS_MAX)
        m->list[m->count++] = one;
    return is_any;
}

/* {"<model>":{"inputTokens":…},…}: what all models have used since the program began,
 * sub-agents and all. False: that is not told. */
static bool
read_models(struct view json, struct models *m)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    bool is_first = true, has_any = false;
    if (!json_in_take(&in, '{') || buf_reserve(&m->names, json.n) < 0)
        return false;
    while (json_in_each(&in, '}', &is_first)) {
        size_t start = m->names.n;
        if (!json_in_str(&in, &m->names) || !json_in_take(&in, ':'))
            return false;
        (void)json_in_peek(&in);
        const uint8_t *value = in.p;
        if (!json_in_skip(&in))
            return false;
        struct view name = { m->names.p + start, m->names.n - start };
        name.n = name.n <= NAME_MAX_BYTES ? name.n : 0;
        has_any |= take_model(m, (struct view){ value, (size_t)(in.p - value) }, name);
    }
    return has_any && !in.failed;
}

/* -- steps -- */

static void
forget_sums(struct turn_state *s)
{
    s->all = (struct turn_usage){ 0 };
    s->cost_microusd = 0;
    buf_clear(&s->sums);
}

/* Are these the first sums of another process? They are smaller than the last ones, or
 * have grown by less than what the agent itself has used since. */
static bool
has_begun_anew(const struct turn_state *s, struct turn_usage own, struct turn_usage all)
{
    struct turn_usage before = s->all;
    bool has_shrunk = false, is_short = false, is_wrong = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&all, i), was = *turn_usage_field(&before, i);
        uint64_t least = *turn_usage_field(&own, i);
        has_shrunk |= now < was;
        if (least == TURN_UNKNOWN)
            continue;
        is_short |= now >= was && now - was < least;
        is_wrong |= now < least; /* in another process it is no less so */
    }
    return has_shrunk || (is_short && !is_wrong);
}

/* What a running sum has grown by; one that has shrunk has begun anew. */
static uint64_t
step_of(uint64_t *before, uint64_t now)
{
    uint64_t step = now >= *before ? now - *before : now;
    *before = now;
    return step;
}

/* What that model had used; s->sums has a name and four numbers of each. */
static struct turn_usage
had(const struct turn_state *s, struct view name)
{
    struct view rest = { s->sums.p, s->sums.n }, known;
    while (rest.n && parts_take(&rest, &known)) {
        struct turn_usage all = { 0 };
        for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
            if (!parts_take_u64(&rest, turn_usage_field(&all, i)))
                return (struct turn_usage){ 0 };
        if (known.n == name.n && !memcmp(known.p, name.p, name.n))
            return all;
    }
    return (struct turn_usage){ 0 };
}

static void
put_step(struct json *j, const struct model *m, struct turn_usage before)
{
    static const char *const names[TURN_USAGE_FIELDS] = { "input_tokens", "output_tokens",
                                                          "cache_creation_input_tokens",
                                                          "cache_read_input_tokens" };
    struct turn_usage all = m->all;
    json_key_bytes(j, m->name);
    json_open(j, '{');
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        json_key(j, names[i]);
        json_u64(j, step_of(turn_usage_field(&before, i), *turn_usage_field(&all, i)));
    }
    json_close(j, '}');
}

/* In s->text[1], as JSON. */
static int
tell_models(struct turn_state *s, const struct models *m, struct turn_event *e)
{
    struct buf *out = &s->text[1];
    struct json j = { .out = out };
    AUTO(buf) sums = { 0 };
    buf_clear(out);
    json_open(&j, '{');
    for (size_t i = 0; i < m->count; i++) {
        struct turn_usage all = m->list[i].all, before = had(s, m->list[i].name);
        if (memcmp(&all, &before, sizeof(all)) != 0)
            put_step(&j, &m->list[i], before);
        parts_put(&sums, m->list[i].name);
        for (size_t k = 0; k < TURN_USAGE_FIELDS; k++)
            parts_put_u64(&sums, *turn_usage_field(&all, k));
    }
    json_close(&j, '}');
    if (sums.failed || out->failed)
        return sums.failed ? sums.failed : out->failed;
    e->json = (struct view){ out->p, out->n };
    buf_clear(&s->sums);
    return buf_append(&s->sums, sums.p, sums.n);
}

/* "usage" is the agent's own; where the models' sums are told they have its sub-agents'
 * too, and what was asked beside. */
int
claude_take_sums(struct turn_state *s, const struct claude_sums *told,
                 struct turn_event *e)
{
    AUTO(models) m = { .count = 0 };
    uint64_t cost = microusd(told->cost);
    bool has_all = read_models(told->models, &m);
    e->usage = claude_usage(told->usage);
    if (has_all && (cost < s->cost_microusd || has_begun_anew(s, e->usage, m.sum)))
        forget_sums(s);
    if (cost != TURN_UNKNOWN)
        e->cost_microusd = step_of(&s->cost_microusd, cost);
    for (size_t i = 0; has_all && i < TURN_USAGE_FIELDS; i++) {
        uint64_t step = step_of(turn_usage_field(&s->all, i),
                                *turn_usage_field(&m.sum, i));
        uint64_t *own = turn_usage_field(&e->usage, i);
        if (*own == TURN_UNKNOWN || step > *own)
            *own = step;
    }
    return has_all ? tell_models(s, &m, e) : 0;
}
