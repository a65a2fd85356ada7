/* SPDX-License-Identifier: MIT */
/* reply_usage.c -- what a reply has used, as far as it was told. */
#include "turn/reply_priv.h"

#include "base/json_in.h"

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
    is_news |= is_final && !r->is_final && turn_usage_is_told(r->usage);
    r->is_final |= is_final && turn_usage_is_told(r->usage);
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

/* How many a good object has, TURN_REPLY_USAGE_MEMBERS + 1 for more; these are in ret. */
static size_t
list_members(struct view object, struct member ret[TURN_REPLY_USAGE_MEMBERS])
{
    struct json_in in = { .p = object.p + 1, .end = object.p + object.n };
    size_t count = 0;
    for (bool is_first = true; json_in_each(&in, '}', &is_first); count++) {
        struct view key = pass(&in);
        if (count == TURN_REPLY_USAGE_MEMBERS)
            return count + 1;
        if (!json_in_take(&in, ':'))
            break;
        ret[count] = (struct member){ key, pass(&in) };
    }
    return count;
}

static const struct member *
find_member(const struct member *list, size_t count, struct view key)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].key.n == key.n && !memcmp(list[i].key.p, key.p, key.n))
            return &list[i];
    return NULL;
}

static void
put_member(struct buf *out, const struct member *m)
{
    if (out->n > 1)
        buf_puts(out, ",");
    buf_append(out, m->key.p, m->key.n);
    buf_puts(out, ":");
    buf_append(out, m->value.p, m->value.n);
}

/* A null does not take away what was told. False: there are too many. */
static bool
merge(struct view before, struct view now, struct buf *out)
{
    struct member old[TURN_REPLY_USAGE_MEMBERS], new[TURN_REPLY_USAGE_MEMBERS];
    size_t old_count = list_members(before, old), new_count = list_members(now, new);
    if (old_count > TURN_REPLY_USAGE_MEMBERS || new_count > TURN_REPLY_USAGE_MEMBERS)
        return false;
    buf_clear(out);
    buf_puts(out, "{");
    for (size_t i = 0; i < old_count; i++) {
        const struct member *m = find_member(new, new_count, old[i].key);
        put_member(out, m && turn_is_there(m->value) ? m : &old[i]);
    }
    for (size_t i = 0; i < new_count; i++)
        if (!find_member(old, old_count, new[i].key))
            put_member(out, &new[i]);
    buf_puts(out, "}");
    return true;
}

int
turn_reply_keep_usage(struct turn_reply *r, struct view usage)
{
    struct buf *kept = &r->raw_usage, *merged = &r->text[3];
    if (!usage.n || usage.p[0] != '{' || usage.n > TURN_REPLY_USAGE)
        return 0;
    if (kept->n == usage.n && !memcmp(kept->p, usage.p, usage.n))
        return 0;
    if (kept->n && merge(turn_view_of(kept), usage, merged)) {
        if (merged->failed)
            return merged->failed;
        if (merged->n <= TURN_REPLY_USAGE)
            usage = turn_view_of(merged);
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
