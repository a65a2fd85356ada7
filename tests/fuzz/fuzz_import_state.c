/* SPDX-License-Identifier: MIT */
/* What is kept of a history may be anything, with a checksum that is right: it is
 * damaged, or saved as it was. */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "library/history_priv.h"
#include "tape/crc32c.h"

static const enum turn_agent agents[] = { TURN_CLAUDE, TURN_CODEX, TURN_GEMINI };

static int
take_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    (void)ctx, (void)e, (void)ts_ns;
    return 0;
}

static void
init(struct history *h, enum turn_agent agent)
{
    const struct turn_history_options opt = { .agent = agent, .event = take_event };
    *h = (struct history){ .turns_fd = -1 };
    CHECK(turn_history_new(&h->reader, &opt) == 0);
}

static void
release(struct history *h)
{
    history_sources_release(&h->sources);
    turn_history_free(h->reader);
    turn_totals_release(&h->totals);
    journal_touched_release(&h->touched);
    buf_release(&h->prompt);
    buf_release(&h->cwd);
}

static void
check_saved(struct history *h, enum turn_agent agent)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) twice = { 0 };
    struct history again;
    init(&again, agent);
    CHECK(history_put_state(h, &once) == 0);
    CHECK(history_take_state(&again, &once, &again.sources) == 0);
    CHECK(history_put_state(&again, &twice) == 0);
    CHECK(once.n == twice.n && !memcmp(once.p, twice.p, once.n));
    release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_agent agent = agents[fuzz_byte(&in) % 3];
    AUTO(buf) state = { 0 };
    struct history h;
    uint8_t crc[8];
    init(&h, agent);
    put_le64(crc, tape_crc32c(0, in.p, in.n));
    CHECK(buf_append(&state, in.p, in.n) == 0);
    CHECK(buf_append(&state, crc, sizeof(crc)) == 0);
    int r = history_take_state(&h, &state, &h.sources);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (!r)
        check_saved(&h, agent);
    release(&h);
    return 0;
}
