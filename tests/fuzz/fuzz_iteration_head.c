/* SPDX-License-Identifier: MIT */
/* Whatever is read as the head of an iteration log lies within what was given, is one
 * that can be written, and is read back as the same; and any reason fits into one. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "journal/iteration.h"

static void
check_round(const struct journal_head *h)
{
    AUTO(buf) once = { 0 };
    AUTO(buf) again = { 0 };
    struct journal_head back;
    CHECK(!journal_head_format(h, JOURNAL_HEAD, &once) && once.n == JOURNAL_HEAD);
    CHECK(!journal_head_read((struct view){ once.p, once.n }, &back));
    CHECK(back.size == JOURNAL_HEAD);
    CHECK(back.status == h->status && back.iteration == h->iteration);
    CHECK(!strcmp(back.timestamp, h->timestamp));
    CHECK(!journal_head_format(&back, JOURNAL_HEAD, &again) && again.n == once.n);
    CHECK(!memcmp(once.p, again.p, once.n));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    struct journal_head h;
    if (!journal_head_read(in, &h)) {
        CHECK(h.size <= size && h.size <= JOURNAL_HEAD_MAX);
        check_round(&h);
    }
    AUTO(buf) reason = { 0 };
    CHECK(!buf_append(&reason, in.p, in.n));
    h = (struct journal_head){ .status = JOURNAL_CRASHED };
    journal_head_reason(&h, buf_str(&reason));
    CHECK(utf8_is_line(h.interrupted, strlen(h.interrupted)));
    check_round(&h);
    return 0;
}
