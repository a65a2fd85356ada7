/* SPDX-License-Identifier: MIT */
/* Whatever stands before an event on its line, torn or whole, that event is read, last
 * and as it was; and two on one line are two. */
#include "fuzz/fuzz.h"
#include "library/turns_priv.h"

enum { BEFORE_MAX = 256 }; /* more may hold more beginnings than are tried */

struct seen {
    uint64_t count, ts_ns;
    size_t text_len;
};

/* A library_turn_fn. */
static int
note(void *ctx, const struct turn_event *e, const struct turn_stamp *at, uint64_t number)
{
    struct seen *seen = ctx;
    CHECK(number == seen->count + 1);
    *seen = (struct seen){ number, at->ts_ns, e->text.n };
    return 0;
}

static struct seen
read_line(const struct buf *line, uint64_t *ret_unread)
{
    struct seen seen = { 0 };
    AUTO(turns_reading) r = { .fn = note, .ctx = &seen, .lines = 1 };
    CHECK(turns_take_line(&r, (struct view){ line->p, line->n }) == 0);
    CHECK(r.unread.lines <= 1);
    *ret_unread = r.unread.lines;
    return seen;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) good = { 0 };
    AUTO(buf) line = { 0 };
    uint64_t unread;
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
    struct seen seen = read_line(&line, &unread);
    CHECK(seen.count && seen.ts_ns == 42 && seen.text_len == 4);
    buf_clear(&line);
    buf_append(&line, good.p, good.n);
    buf_append(&line, good.p, good.n);
    CHECK(read_line(&line, &unread).count == 2 && !unread);
    return 0;
}
