/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a tail, and a good tail made from the input and then spoilt at one place:
 * the records before that place come back, and nothing else.
 */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "tape/block.h"
#include "tape/tail.h"

static void
any_bytes(struct view in)
{
    size_t good, cut_good;
    AUTO(buf) records = { 0 };
    AUTO(buf) cut = { 0 };
    tape_tail_get_records(in, &records, &good);
    CHECK(good <= in.n && records.n <= TAPE_BLOCK_RAW_MAX);
    if (!in.n)
        return;
    in.n /= 2; /* a prefix gives a prefix */
    tape_tail_get_records(in, &cut, &cut_good);
    CHECK(cut.n <= records.n);
    CHECK(!cut.n || !memcmp(cut.p, records.p, cut.n));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    any_bytes(in);
    if (size < 6)
        return 0;
    uint32_t place = get_le32(data);
    uint8_t change = data[4];
    in = (struct view){ data + 5, size - 5 };

    struct tape_tail head = { .ordinal = data[0], .start_byte_off = data[1] };
    size_t ends[300], good, count = 0;
    AUTO(buf) tail = { 0 };
    AUTO(buf) raw = { 0 };
    AUTO(buf) back = { 0 };
    uint32_t crc = tape_tail_put_head(buf_grow(&tail, TAPE_TAIL_HEAD), &head);
    for (; in.n && count < 300; count++) {
        size_t n = fuzz_byte(&in) % 50U;
        n = n < in.n ? n : in.n;
        struct tape_record rec = { .tag = TAPE_INPUT,
                                   .ts_ns = count,
                                   .bytes = { in.p, n } };
        in.p += n;
        in.n -= n;
        CHECK(!tape_tail_put_record(&tail, &rec, &crc));
        tape_record_put(buf_grow(&raw, tape_record_size(&rec)), &rec);
        ends[count] = tail.n;
    }
    CHECK(tape_tail_get_records((struct view){ tail.p, tail.n }, &back, &good) ==
          TAPE_TAIL_WHOLE);
    CHECK(good == tail.n && back.n == raw.n && !memcmp(back.p, raw.p, raw.n));
    if (!change)
        return 0;
    place %= (uint32_t)tail.n;
    tail.p[place] ^= change;
    buf_clear(&back);
    CHECK(tape_tail_get_records((struct view){ tail.p, tail.n }, &back, &good) !=
          TAPE_TAIL_WHOLE);
    CHECK(good <= place || place < TAPE_TAIL_HEAD);
    CHECK(!back.n || !memcmp(back.p, raw.p, back.n));
    size_t before = 0;
    while (before < count && ends[before] <= place)
        before++;
    CHECK(place < TAPE_TAIL_HEAD ||
          good == (before ? ends[before - 1] : (size_t)TAPE_TAIL_HEAD));
    return 0;
}
