/* SPDX-License-Identifier: MIT */
/* Whatever stands before an event on its line, torn or whole, that event is read, last
 * and as it was; and two on one line are two. */
#include "fuzz/fuzz.h"
#include "play/turns_priv.h"

enum { BEFORE_MAX = 256 }; /* more may hold more beginnings than are tried */

struct seen {
    uint64_t count, ts_ns, bad;
    size_t text_len;
};

/* A play_turn_fn. */
static int
note(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct seen *seen = ctx;
    *seen = (struct seen){ seen->count + 1, at->ts_ns, seen->bad, e->text.n };
    return 0;
}

/* A play_turns_bad_fn. */
static void
note_bad(void *ctx, uint64_t line)
{
    struct seen *seen = ctx;
    CHECK(line == 1);
    seen->bad++;
}

static struct seen
read_line(const struct buf *line)
{
    struct seen seen = { 0 };
    const struct play_turns_options opt = { .fn = note, .bad = note_bad, .ctx = &seen };
    AUTO(turns_reading) r = { 0 };
    turns_reading_init(&r, &opt);
    CHECK(jsonl_take(&r.lines, (struct view){ line->p, line->n }) == 0);
    CHECK(seen.bad <= 1);
    return seen;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) good = { 0 };
    AUTO(buf) line = { 0 };
    struct turn_event e = turn_event(TURN_TEXT);
    const struct turn_stamp at = { .ts_ns = 42, .start_ns = 1, .session = "" };
    size_t n = size < BEFORE_MAX ? size : BEFORE_MAX;
    e.text = (struct view){ (const uint8_t *)"good", 4 };
    turn_line(&e, &at, &good);
    good.n--;                      /* its newline */
    for (size_t i = 0; i < n; i++) /* no line has these */
        if (data[i] && data[i] != '\n')
            buf_append(&line, &data[i], 1);
    buf_append(&line, good.p, good.n);
    struct seen seen = read_line(&line);
    CHECK(seen.count && seen.ts_ns == 42 && seen.text_len == 4);
    buf_clear(&line);
    buf_append(&line, good.p, good.n);
    buf_append(&line, good.p, good.n);
    seen = read_line(&line);
    CHECK(seen.count == 2 && !seen.bad);
    return 0;
}
