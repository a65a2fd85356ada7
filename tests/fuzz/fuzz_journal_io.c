/* SPDX-License-Identifier: MIT */
/* A line of io.log that is read is, written and read again, the same. What is written is
 * one line. */
#include "base/json_in.h"
#include "fuzz/fuzz.h"
#include "journal/io.h"

static void
check_same(struct view a, struct view b)
{
    CHECK(a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) texts = { 0 };
    AUTO(buf) again_texts = { 0 };
    AUTO(buf) line = { 0 };
    struct journal_io_entry e, again;
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = journal_io_read(in, &texts, &e);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (r < 0)
        return 0;
    journal_io_line(&e, &line);
    CHECK(memchr(line.p, '\n', line.n) == line.p + line.n - 1);
    struct json_in whole = { .p = line.p, .end = line.p + line.n };
    CHECK(json_in_skip(&whole) && !whole.is_odd);
    CHECK(journal_io_read((struct view){ line.p, line.n }, &again_texts, &again) == 0);
    CHECK(again.ts_ns == e.ts_ns && again.direction == e.direction);
    CHECK(again.type == e.type && again.iteration == e.iteration);
    CHECK(again.is_stderr == e.is_stderr && again.is_partial == e.is_partial);
    check_same(e.content, again.content);
    check_same(e.more, again.more);
    /* A path is written as UTF-8, whatever it was. */
    line.n = 0;
    journal_io_line(&again, &line);
    struct journal_io_entry third;
    CHECK(journal_io_read((struct view){ line.p, line.n }, &texts, &third) == 0);
    check_same(again.path, third.path);
    check_same(again.action, third.action);
    return 0;
}
