/* SPDX-License-Identifier: MIT */
/* history_codex_usage.c -- Codex's rollouts: what was used. */
#include "turn/history_codex_priv.h"
#include "turn/tell_priv.h"

static struct turn_usage
usage_of(struct view object)
{
    struct view input = { 0 }, cached = { 0 }, written = { 0 }, output = { 0 };
    const struct turn_field wanted[] = {
        { "input_tokens", &input },
        { "cached_input_tokens", &cached },
        { "cache_write_input_tokens", &written },
        { "output_tokens", &output },
    };
    (void)turn_known_fields(object, wanted, 4);
    struct turn_usage u = { turn_u64(input, 0), turn_u64(output, 0), turn_u64(written, 0),
                            turn_u64(cached, 0) };
    uint64_t of_cache = u.cache_read_tokens + u.cache_creation_tokens;
    if (of_cache >= u.cache_read_tokens && of_cache <= u.input_tokens)
        u.input_tokens -= of_cache;
    return u;
}

static int
tell_usage(struct turn_history *h, struct turn_usage u, struct view id)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = id;
    e.model = (struct view){ h->facts.model.p, h->facts.model.n };
    e.usage = u;
    e.is_final = true;
    return history_tell(h, &e);
}

/* A running total, often told more than once: what it has grown by. 0: it is the same.
 * One that has shrunk is another one's, of which only the last step is known. */
static bool
take_total(struct turn_history *h, struct turn_usage all, struct turn_usage last,
           struct turn_usage *ret)
{
    bool has_shrunk = false, has_grown = false;
    struct turn_usage grown = { 0 };
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&all, i), before = h->totals[i];
        has_shrunk |= now < before;
        has_grown |= now > before;
        *turn_usage_field(&grown, i) = now > before ? now - before : 0;
        h->totals[i] = now;
    }
    *ret = has_shrunk ? last : grown;
    return has_shrunk || has_grown;
}

int
codex_record(struct turn_history *h, struct view payload)
{
    struct view id = { 0 }, usage = { 0 }, thread = { 0 };
    const struct turn_field wanted[] = { { "response_id", &id },
                                         { "usage", &usage },
                                         { "thread_token_usage", &thread } };
    (void)turn_known_fields(payload, wanted, 3);
    struct turn_usage used = usage_of(usage), all = usage_of(thread), grown;
    for (size_t i = 0; !thread.n && i < TURN_USAGE_FIELDS; i++) {
        uint64_t more = *turn_usage_field(&used, i);
        uint64_t room = TURN_UNKNOWN - 1 - h->totals[i];
        *turn_usage_field(&all, i) = h->totals[i] + (more < room ? more : room);
    }
    if (!take_total(h, all, used, &grown))
        return 0; /* the count has told it */
    return tell_usage(h, used, turn_text(id, &h->s.text[0]));
}

int
codex_count(struct turn_history *h, const struct codex_line *l)
{
    struct view info = { 0 }, total = { 0 }, last = { 0 };
    const struct turn_field wanted[] = { { "info", &info } };
    const struct turn_field of_info[] = { { "total_token_usage", &total },
                                          { "last_token_usage", &last } };
    (void)turn_known_fields(l->payload, wanted, 1);
    (void)turn_known_fields(info, of_info, 2);
    struct turn_usage grown;
    if (!total.n || !take_total(h, usage_of(total), usage_of(last), &grown))
        return 0;
    AUTO(buf) id = { 0 };
    uint64_t name = history_hash(history_hash(4, l->timestamp), total);
    int r = buf_printf(&id, "codex-total-%016llx", (unsigned long long)name);
    return r < 0 ? r : tell_usage(h, grown, (struct view){ id.p, id.n });
}
