/* SPDX-License-Identifier: MIT */
/* reply_usage.c -- what a reply has used, as far as it was told. */
#include "turn/reply_priv.h"

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
    u.input_tokens = turn_u64(in, TURN_UNKNOWN);
    u.output_tokens = turn_u64(out, TURN_UNKNOWN);
    u.cache_read_tokens = turn_u64(cached, TURN_UNKNOWN);
    return u;
}
