/* SPDX-License-Identifier: MIT */
/* Facts that are read are written as one line, and that is read as the same; a name of a
 * snapshot is read from what is in its line, and is written as that line again. */
#include <inttypes.h>

#include "fuzz/fuzz.h"
#include "snap/refs_priv.h"

static void
check_facts(struct view in)
{
    AUTO(snap_facts) first = { 0 };
    AUTO(snap_facts) again = { 0 };
    AUTO(buf) line = { 0 };
    AUTO(buf) same = { 0 };
    if (snap_facts_get(&first, in) < 0) {
        CHECK(!first.label && !first.root && !first.id);
        return;
    }
    CHECK(first.label && first.root && !strchr(first.session, '/'));
    snap_facts_put(&line, &first);
    CHECK(!line.failed && memchr(line.p, '\n', line.n) == line.p + line.n - 1);
    CHECK(snap_facts_get(&again, (struct view){ line.p, line.n }) == 0);
    snap_facts_put(&same, &again);
    CHECK(line.n == same.n && !memcmp(line.p, same.p, line.n));
}

static void
check_refs(struct view in)
{
    struct view rest = in;
    struct snap_ref ref;
    while (snap_ref_next(&rest, &ref)) {
        AUTO(buf) line = { 0 };
        struct snap_ref same;
        CHECK(rest.p + rest.n == in.p + in.n);
        CHECK(ref.name.p >= in.p && ref.name.p + ref.name.n <= rest.p);
        buf_printf(&line, "%s " SNAP_REFS "%s/%" PRIu64 "\n", ref.commit, ref.session,
                   ref.id);
        struct view one = { line.p, line.n };
        CHECK(snap_ref_next(&one, &same) && !one.n && same.id == ref.id);
        CHECK(!strcmp(same.session, ref.session) && !strcmp(same.commit, ref.commit));
    }
    CHECK(!rest.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    check_facts(in);
    check_refs(in);
    return 0;
}
