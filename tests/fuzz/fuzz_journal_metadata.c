/* SPDX-License-Identifier: MIT */
/* A metadata.json that is changed keeps every member that was not to be changed, as it
 * was written, and says what it was to say; what is no object is refused. Rewritten, it
 * keeps the members that are none of ours. */
#include "fuzz/fuzz.h"
#include "journal/metadata.h"
#include "journal/metadata_priv.h"

static bool
is_changed(struct buf *key)
{
    static const char *const keys[] = { "status", "completed_at", "exit_code",
                                        "artifacts_produced" };
    for (size_t i = 0; i < 4; i++)
        if (strlen(keys[i]) == key->n && !memcmp(keys[i], buf_str(key), key->n))
            return true;
    return false;
}

/* All members that were there, in their order. */
static void
check_kept(struct view was, struct view is)
{
    AUTO(journal_members) a = { .in = { .p = was.p, .end = was.p + was.n } };
    AUTO(journal_members) b = { .in = { .p = is.p, .end = is.p + is.n } };
    while (journal_members_next(&a)) {
        CHECK(journal_members_next(&b));
        CHECK(a.key.n == b.key.n && !memcmp(buf_str(&a.key), buf_str(&b.key), a.key.n));
        CHECK(is_changed(&a.key) ||
              (a.value.n == b.value.n && !memcmp(a.value.p, b.value.p, a.value.n)));
    }
    while (journal_members_next(&b))
        CHECK(is_changed(&b.key));
    CHECK(!b.in.failed);
}

static bool
has_name(const struct buf *names, const char *name)
{
    for (size_t at = 0; at < names->n; at += strlen((char *)names->p + at) + 1)
        if (!strcmp((char *)names->p + at, name))
            return true;
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) out = { 0 };
    AUTO(buf) names = { 0 };
    AUTO(buf) anew = { 0 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    struct journal_metadata m = { .name = "x", .usage = TURN_NO_USAGE };
    journal_metadata_format(&m, in, &anew);
    struct json_in whole = { .p = anew.p, .end = anew.p + anew.n };
    CHECK(json_in_skip(&whole) && !json_in_peek(&whole) && !whole.is_odd);
    int r = journal_metadata_edit(in, "interrupted", 1000000000, "a/b", &out);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (r < 0) {
        CHECK(!out.n);
        return 0;
    }
    struct view made = { out.p, out.n };
    check_kept(in, made);
    journal_metadata_artifacts(made, &names);
    CHECK(has_name(&names, "a/b") || names.n > JOURNAL_NAMES_MAX);
    AUTO(buf) again = { 0 };
    CHECK(journal_metadata_edit(made, "interrupted", 1000000000, "a/b", &again) == 0);
    CHECK(again.n == out.n && !memcmp(again.p, out.p, out.n));
    return 0;
}
