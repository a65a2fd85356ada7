/* SPDX-License-Identifier: MIT */
/* Reading comes to an end, and takes nothing from behind a line; any text makes one line
 * that is read back as the UTF-8 that it was, or was made; two lines that were put on one
 * are two moments; and a torn line costs none but itself. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "session/lines.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* All moments in it are the one that is wanted; returns how many there are. */
static size_t
count_same(struct view rest, enum session_moment_kind kind,
           const struct session_moment *want)
{
    AUTO(buf) text = { 0 };
    struct session_moment m;
    size_t count = 0;
    while (rest.n) {
        int r = session_moment_next(&rest, kind, &text, &m);
        if (r <= 0)
            continue;
        count++;
        CHECK(m.id == want->id && m.ts_ns == want->ts_ns &&
              m.anchor_byte == want->anchor_byte && m.snapshot_id == want->snapshot_id &&
              m.is_delivered == want->is_delivered);
        CHECK(utf8_is_text(m.text.p, m.text.n));
        if (utf8_is_text(want->text.p, want->text.n))
            CHECK(m.text.n == want->text.n && !memcmp(m.text.p, want->text.p, m.text.n));
    }
    return count;
}

static void
check_round(struct view label)
{
    AUTO(buf) line = { 0 };
    AUTO(buf) torn = { 0 };
    struct session_moment want = { label.n,      UINT64_MAX, UINT64_MAX - label.n,
                                   SESSION_NONE, label,      false };
    session_snapshot_line(&line, want.id, want.ts_ns, label, label.n & 1,
                          want.anchor_byte);
    CHECK(!line.failed && memchr(line.p, '\n', line.n) == line.p + line.n - 1);
    /* A beginning of it, then the whole, twice. */
    size_t cut = label.n % (line.n - 1);
    CHECK(buf_append(&torn, line.p, cut) >= 0);
    CHECK(buf_append(&torn, line.p, line.n - 1) >= 0);
    CHECK(buf_append(&torn, line.p, line.n) >= 0);
    CHECK(count_same(view_of(&torn), SESSION_SNAPSHOT, &want) == 2);
    buf_clear(&line);
    struct session_instruction i = { 1, 2, 3, label.n, 4, label, true };
    want = (struct session_moment){ 1, 2, 3, label.n, label, true };
    session_instruction_line(&line, &i);
    CHECK(count_same(view_of(&line), SESSION_INSTRUCTION, &want) == 1);
}

static void
read_all(struct view in, enum session_moment_kind kind)
{
    AUTO(buf) text = { 0 };
    struct session_moment m;
    for (struct view rest = in; rest.n;) {
        struct view before = rest;
        int r = session_moment_next(&rest, kind, &text, &m);
        CHECK(r == 1 || r == 0 || r == ERR_DAMAGED);
        CHECK(rest.p + rest.n == in.p + in.n && rest.p > before.p);
        CHECK(r || !rest.n);
        CHECK(r < 1 || utf8_is_text(m.text.p, m.text.n));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    check_round(in);
    read_all(in, SESSION_SNAPSHOT);
    read_all(in, SESSION_INSTRUCTION);
    return 0;
}
