/* SPDX-License-Identifier: MIT */
/* reply_usage.c -- what a reply has used, as far as it was told. */
#include "turn/reply_priv.h"

#include "base/json_in.h"

static bool
is_told(struct turn_usage u)
{
    bool told = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        told |= *turn_usage_field(&u, i) != TURN_UNKNOWN;
    return told;
}

static int
tell_usage(struct turn_reply *r)
{
    struct turn_event e = turn_event(TURN_USAGE);
    r->has_news = false;
    e.id = turn_view_of(&r->id);
    e.model = turn_view_of(&r->model);
    e.is_final = r->is_final;
    e.usage = r->usage;
    return turn_reply_tell(r, &e);
}

/* A message without a name would count once for each event. */
int
turn_reply_usage(struct turn_reply *r, struct turn_usage told, bool is_final)
{
    bool is_news = turn_usage_raise(&r->usage, told);
    is_news |= is_final && !r->is_final && is_told(r->usage);
    r->is_final |= is_final && is_told(r->usage);
    r->has_news |= is_news;
    return is_news && r->id.n ? tell_usage(r) : 0;
}

/* Who has said something has used something: that is a call, though nobody has told how
 * much it was. */
int
turn_reply_usage_end(struct turn_reply *r)
{
    bool is_due = r->has_news || (r->has_said && !r->has_counted);
    return is_due ? tell_usage(r) : 0;
}

/* -- in the API's own words -- */

struct member {
    struct view key, value; /* raw */
};

static struct view
pass(struct json_in *in)
{
    (void)json_in_peek(in);
    const uint8_t *start = in->p;
    json_in_pass(in);
    return (struct view){ start, (size_t)(in->p - start) };
}

/* Of a good object, behind its bracket. */
static bool
next_member(struct json_in *in, bool *is_first, struct member *ret)
{
    if (!json_in_each(in, '}', is_first))
        return false;
    struct view key = pass(in);
    if (!json_in_take(in, ':'))
        return false;
    *ret = (struct member){ key, pass(in) };
    return true;
}

static struct json_in
members_of(struct view object)
{
    return (struct json_in){ .p = object.p + 1, .end = object.p + object.n };
}

static bool
find_member(struct view object, struct view key, struct view *ret)
{
    struct json_in in = members_of(object);
    struct member m;
    for (bool is_first = true; next_member(&in, &is_first, &m);)
        if (m.key.n == key.n && !memcmp(m.key.p, key.p, key.n)) {
            *ret = m.value;
            return true;
        }
    return false;
}

static void
put_member(struct buf *out, struct view key, struct view value)
{
    if (out->n > 1)
        buf_puts(out, ",");
    buf_append(out, key.p, key.n);
    buf_puts(out, ":");
    buf_append(out, value.p, value.n);
}

/* A null does not take away what was told. */
static void
merge(struct view before, struct view now, struct buf *out)
{
    struct json_in in = members_of(before), of_now = members_of(now);
    struct member m;
    struct view other = { 0 };
    buf_clear(out);
    buf_puts(out, "{");
    for (bool is_first = true; next_member(&in, &is_first, &m);) {
        bool is_news = find_member(now, m.key, &other) && turn_is_there(other);
        put_member(out, m.key, is_news ? other : m.value);
    }
    for (bool is_first = true; next_member(&of_now, &is_first, &m);)
        if (!find_member(before, m.key, &other))
            put_member(out, m.key, m.value);
    buf_puts(out, "}");
}

int
turn_reply_keep_usage(struct turn_reply *r, struct view usage)
{
    struct buf *kept = &r->raw_usage;
    if (!usage.n || usage.p[0] != '{' || usage.n > TURN_REPLY_USAGE)
        return 0;
    if (kept->n) {
        merge(turn_view_of(kept), usage, &r->text[3]);
        if (r->text[3].failed)
            return r->text[3].failed;
        if (r->text[3].n <= TURN_REPLY_USAGE)
            usage = turn_view_of(&r->text[3]);
    }
    buf_clear(kept);
    return buf_append(kept, usage.p, usage.n);
}

/* -- OpenAI's -- */

struct turn_usage
turn_reply_openai_usage(struct view usage, const char *input, const char *output,
                        const char *details)
{
    struct view in = { 0 }, out = { 0 }, of_input = { 0 }, cached = { 0 };
    const struct turn_field wanted[] = { { input, &in },
                                         { output, &out },
                                         { details, &of_input } };
    const struct turn_field wanted_of_input[] = { { "cached_tokens", &cached } };
    struct turn_usage u = TURN_NO_USAGE;
    if (!turn_known_fields(usage, wanted, 3))
        return u;
    (void)turn_known_fields(of_input, wanted_of_input, 1);
    u.input_tokens = turn_tokens(in, TURN_UNKNOWN);
    u.output_tokens = turn_tokens(out, TURN_UNKNOWN);
    u.cache_read_tokens = turn_tokens(cached, TURN_UNKNOWN);
    return u;
}
