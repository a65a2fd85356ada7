/* SPDX-License-Identifier: MIT */
/* A line is read or not, and what was read is what a line made of it says; any label
 * makes one line that is read back. */
#include "fuzz/fuzz.h"
#include "session/lines.h"

static void
check_round(const struct session_snapshot_key *key, struct view label)
{
    AUTO(buf) line = { 0 };
    struct session_snapshot_key back;
    session_snapshot_line(&line, key->id, key->ts_ns, label, label.n & 1,
                          key->anchor_byte);
    CHECK(!line.failed && memchr(line.p, '\n', line.n) == line.p + line.n - 1);
    CHECK(session_snapshot_key_of((struct view){ line.p, line.n - 1 }, &back));
    CHECK(!memcmp(&back, key, sizeof(back)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    struct session_snapshot_key key = { size, UINT64_MAX, UINT64_MAX - size };
    check_round(&key, in);
    if (session_snapshot_key_of(in, &key))
        check_round(&key, (struct view){ 0 });
    return 0;
}
