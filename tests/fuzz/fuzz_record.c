/* SPDX-License-Identifier: MIT */
/* A record that parses is written back as the same bytes; a cut one does not parse. */
#include "fuzz/fuzz.h"
#include "tape/record.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *reason = NULL;
    struct tape_record r;
    struct view in = { data, size };
    while (in.n) {
        size_t n = tape_record_get(in, &r, &reason);
        if (!n) {
            CHECK(reason);
            return 0;
        }
        CHECK(n <= in.n);
        CHECK(n == tape_record_size(&r));
        AUTO(buf) out = { 0 };
        tape_record_put(buf_grow(&out, n), &r);
        CHECK(out.p[0] == in.p[0]);
        CHECK(!memcmp(out.p + 4, in.p + 4, n - 4)); /* the padding is not kept */
        struct tape_record cut;
        CHECK(n == 1 || !tape_record_get((struct view){ in.p, n - 1 }, &cut, &reason));
        in.p += n;
        in.n -= n;
    }
    return 0;
}
