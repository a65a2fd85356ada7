/* SPDX-License-Identifier: MIT */
/* A saved state may be anything: it is damaged, or all that follows can be read with it,
 * and it is saved as it was. */
#include "fuzz/fuzz.h"
#include "turn/history.h"

static const enum turn_agent agents[] = { TURN_CLAUDE, TURN_CODEX, TURN_GEMINI };

static const char *const lines[] = {
    "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}",
    "{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"content\":"
    "\"x\"}}",
    "{\"type\":\"user\",\"uuid\":\"d\",\"parentUuid\":\"a\",\"message\":{\"content\":[{"
    "\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"y\"}]}}",
    "{\"type\":\"user\",\"uuid\":\"e\",\"parentUuid\":\"c\",\"message\":{\"content\":"
    "\"x\"}}",
    "{\"type\":\"assistant\",\"uuid\":\"f\",\"isSidechain\":true,\"message\":{\"id\":"
    "\"m\","
    "\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\"}],\"usage\":{"
    "\"input_tokens\":1}}}",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":"
    "\"c\","
    "\"name\":\"n\"}}",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_"
    "id\":"
    "\"c\",\"output\":\"x\"}}",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
    "\"content\":\"1\"}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
    "\"total_token_usage\":{\"input_tokens\":5}}}}",
    "{\"type\":\"token_usage_record\",\"payload\":{\"response_id\":\"r\",\"usage\":{"
    "\"input_tokens\":5}}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
    "\"total_token_usage\":{\"input_tokens\":7},\"last_token_usage\":{"
    "\"input_tokens\":5}}}}",
    "{\"type\":\"session_meta\",\"payload\":{\"id\":\"0123456789abcdef\","
    "\"forked_from_id\":\"1\"}}",
    "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"a\"}",
    "{\"type\":\"assistant\",\"uuid\":\"g\",\"message\":{\"content\":[{\"type\":"
    "\"tool_use\",\"id\":\"t\",\"name\":\"Task\",\"input\":{\"prompt\":\"p\"}}]}}",
    "{\"type\":\"user\",\"uuid\":\"h\",\"isSidechain\":true,\"message\":{\"content\":"
    "\"p\"}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":"
    "2}}",
    "{\"id\":\"1\",\"type\":\"gemini\",\"content\":\"a\",\"thoughts\":[{\"subject\":"
    "\"s\"}]}",
    "{\"$rewindTo\":\"1\"}",
    "{\"$rewindTo\":\"2\"}",
};

static int
take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    struct turn_history **h = ctx;
    CHECK(e->type != TURN_BRANCH || e->from <= turn_history_facts(*h)->events);
    CHECK(ts_ns == turn_history_facts(*h)->last_ns);
    return 0;
}

static void
make_reader(enum turn_agent agent, struct turn_history **ctx)
{
    const struct turn_history_options opt = { .agent = agent,
                                              .event = take_event,
                                              .ctx = ctx };
    CHECK(turn_history_new(ctx, &opt) == 0);
}

/* What was loaded comes out as it went in. */
static void
check_saved(enum turn_agent agent, struct turn_history *h)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    struct turn_history *again;
    CHECK(turn_history_save(h, &once) == 0);
    make_reader(agent, &again);
    CHECK(turn_history_load(again, (struct view){ once.p, once.n }) == 0);
    CHECK(turn_history_save(again, &twice) == 0);
    CHECK(once.n == twice.n && !memcmp(once.p, twice.p, once.n));
    turn_history_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_agent agent = agents[fuzz_byte(&in) % 3];
    struct turn_history *h;
    make_reader(agent, &h);
    int r = turn_history_load(h, in);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (!r) {
        check_saved(agent, h);
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
            struct view line = { (const uint8_t *)lines[i], strlen(lines[i]) };
            CHECK(turn_history_line(h, (struct view){ 0 }, line) == 0);
        }
        if (turn_history_facts(h)->events <= UINT64_MAX / 2) /* no file has as many */
            check_saved(agent, h);
    }
    turn_history_free(h);
    return 0;
}
