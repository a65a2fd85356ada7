/* SPDX-License-Identifier: MIT */
/* Whatever an agent has kept: where the reading is interrupted makes no difference (but
 * to a stream), a failure ends it, what it branches from was told (history_kit.c), and
 * good lines survive between bad ones. */
#include "fuzz/fuzz.h"
#include "support/history_kit.h"

static const enum turn_agent agents[] = { TURN_CLAUDE, TURN_CODEX, TURN_GEMINI };

static void
check_same(struct history_kit *a, struct history_kit *b)
{
    CHECK(a->shown.n == b->shown.n &&
          (!a->shown.n || !memcmp(a->shown.p, b->shown.p, a->shown.n)));
    CHECK(!memcmp(a->troubles, b->troubles, sizeof(a->troubles)));
    CHECK(a->events == b->events && a->last_ns == b->last_ns);
    CHECK(turn_history_facts(a->h)->events == a->events);
}

/* Behind the line of that number; 255: behind each. */
static void
check_interrupted(enum turn_agent agent, struct view in, unsigned at)
{
    struct history_kit whole, cut;
    struct view line, rest = in;
    history_kit_begin(&whole, agent);
    CHECK(history_kit_lines(&whole, in) == 0);
    history_kit_begin(&cut, agent);
    for (unsigned i = 0; history_kit_next(&rest, &line); i++) {
        CHECK(history_kit_lines(&cut, line) == 0);
        if (i == at || at == 255)
            history_kit_reload(&cut);
    }
    if (!turn_history_is_stream(whole.h)) /* that is read from its beginning again */
        check_same(&whole, &cut);
    history_kit_end(&cut);
    if (!whole.events) {
        history_kit_end(&whole);
        return;
    }
    /* The kit aborts when something comes behind what has failed. */
    history_kit_begin(&cut, agent);
    cut.fails_at = 1 + at % whole.events;
    CHECK(history_kit_lines(&cut, in) < 0);
    CHECK(cut.events == cut.fails_at);
    history_kit_end(&cut);
    history_kit_end(&whole);
}

static void
put_good(struct buf *out, size_t i)
{
    buf_printf(out,
               "\n{\"type\":\"assistant\",\"uuid\":\"good%zu\",\"message\":{\"id\":"
               "\"good%zu\",\"content\":[{\"type\":\"text\",\"text\":\"survivor\"}]}}\n",
               i, i);
}

static void
check_survivors(struct view in)
{
    AUTO(buf) mixed = { 0 };
    struct history_kit k;
    struct view line;
    size_t count = 0;
    for (; history_kit_next(&in, &line); count++) {
        buf_append(&mixed, line.p, line.n);
        put_good(&mixed, count);
    }
    history_kit_begin(&k, TURN_CLAUDE);
    CHECK(history_kit_lines(&k, (struct view){ mixed.p, mixed.n }) == 0);
    for (size_t i = 0; i < count; i++) {
        char want[64];
        int n = snprintf(want, sizeof(want), "text id=good%zu \"survivor\"\n", i);
        CHECK(memmem(k.shown.p, k.shown.n, want, (size_t)n));
    }
    history_kit_end(&k);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_agent agent = agents[fuzz_byte(&in) % 3];
    unsigned at = fuzz_byte(&in);
    (void)turn_history_guess(in);
    (void)turn_history_stamp(in);
    check_interrupted(agent, in, at);
    if (agent == TURN_CLAUDE)
        check_survivors(in);
    return 0;
}
