/* SPDX-License-Identifier: MIT */
/* store_test.c -- library.db: what is put into it comes back, in order; many at once. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/store_kit.h"

static void
ids_are_kept_in_their_order(void **state)
{
    (void)state;
    AUTO(buf) ids = { 0 };
    struct store *s = store_kit_open(STORE_WRITE);
    const int order[] = { 3, 1, 2 };
    for (size_t i = 0; i < 3; i++)
        store_kit_put(s, order[i], STORE_KIT_START, 0);
    assert_int_equal(store_ids(s, &ids, NULL), 0);
    assert_int_equal(ids.n, 3 * (STORE_ID_LEN + 1));
    for (size_t i = 0; i < 3; i++)
        assert_string_equal((char *)ids.p + i * (STORE_ID_LEN + 1),
                            store_kit_id((int)i + 1));
    store_close(s);
}

/* -- sessions -- */

static int
compare_row(void *ctx, const struct store_session *row)
{
    const struct store_session *want = ctx;
    const char *const *a = &row->id, *const *b = &want->id;
    for (size_t i = 0; i < offsetof(struct store_session, exit_code) / sizeof(char *);
         i++)
        if (!a[i] || !b[i])
            assert_ptr_equal(a[i], b[i]);
        else
            assert_string_equal(a[i], b[i]);
    size_t from = offsetof(struct store_session, exit_code);
    assert_memory_equal((const char *)row + from, (const char *)want + from,
                        offsetof(struct store_session, iterations) + 8 - from);
    return 0;
}

static void
every_fact_comes_back(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    struct store_session full, none;
    memset(&full, 0, sizeof(full)); /* its padding is compared, too */
    memset(&none, 0, sizeof(none));
    full.id = store_kit_id(1);
    full.name = "name", full.role = "role", full.kind = "kind", full.status = "status";
    full.signal = "signal", full.cmd = "[\"a\"]", full.command = "a", full.cwd = "/";
    full.task = "'; DROP TABLE sessions; --", full.parent = "parent";
    full.resumed_from = "from", full.agent = "agent", full.agent_session_id = "x";
    full.model = "model", full.exit_code = 7, full.started_at_ns = 11;
    full.ended_at_ns = 12, full.bytes = 13, full.size_bytes = 14, full.cols = 15;
    full.rows = 16, full.snapshots = 17, full.instructions = 18, full.lines = 19;
    full.text_bytes = 20, full.is_damaged = true, full.input_tokens = 21;
    full.output_tokens = 22, full.cache_creation_tokens = 23, full.calls = 24;
    full.cache_read_tokens = INT64_MAX;
    full.branch_snapshot = 25, full.branch_byte = 0;
    full.project = "/p", full.turns = 26, full.iterations = 27, full.fork_turn = 28;
    none.id = store_kit_id(2);
    none.exit_code = -1, none.bytes = none.size_bytes = UINT64_MAX;
    none.snapshots = none.instructions = none.lines = none.text_bytes = UINT64_MAX;
    none.input_tokens = none.output_tokens = none.cache_creation_tokens = UINT64_MAX;
    none.cache_read_tokens = none.calls = UINT64_MAX;
    none.branch_snapshot = none.branch_byte = none.turns = UINT64_MAX;
    none.fork_turn = UINT64_MAX;
    store_kit_must(store_begin(s, NULL));
    store_kit_must(store_session_put(s, &full, NULL, NULL));
    store_kit_must(store_session_put(s, &none, NULL, NULL));
    store_kit_must(store_commit(s, NULL));
    store_kit_must(store_session_get(s, full.id, compare_row, &full, NULL));
    store_kit_must(store_session_get(s, none.id, compare_row, &none, NULL));
    store_close(s);
}

static void
put_turns(struct store *s, int64_t key)
{
    const struct store_turn call = { .number = 1, .type = "tool_call", .name = "Write" };
    const struct store_turn made = { .number = 2, .type = "artifact" };
    const struct store_artifact file = { .turn = 2, .path = "a.c", .action = "created" };
    const struct store_message used = { .model = "m", .calls = 1 };
    store_kit_must(store_turn_put(s, key, &call, NULL));
    store_kit_must(store_turn_put(s, key, &made, NULL));
    store_kit_must(store_artifact_put(s, key, &file, NULL));
    store_kit_must(store_message_put(s, key, &used, NULL));
    store_kit_must(store_messages_settle(s, key, NULL));
}

/* store_check() finds what hangs on no session. */
static void
turns_go_where_their_session_goes(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    struct store_session row = store_session_unknown;
    int64_t key = 0, moved = 0;
    row.id = store_kit_id(1);
    row.started_at_ns = STORE_KIT_START;
    store_kit_must(store_begin(s, NULL));
    store_kit_must(store_session_put(s, &row, &key, NULL));
    put_turns(s, key);
    row.started_at_ns += 5000000;
    store_kit_must(store_session_put(s, &row, &moved, NULL));
    store_kit_must(store_commit(s, NULL));
    assert_int_not_equal(key, moved);
    store_kit_must(store_check(s, NULL));
    store_kit_must(store_begin(s, NULL));
    store_kit_must(store_session_delete(s, row.id, NULL));
    store_kit_must(store_session_put(s, &row, &moved, NULL));
    put_turns(s, moved); /* nothing of it was left */
    store_kit_must(store_session_delete(s, row.id, NULL));
    store_kit_must(store_commit(s, NULL));
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

static void
a_session_that_is_not_there_is_missing(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    assert_int_equal(store_session_get(s, store_kit_id(1), NULL, NULL, NULL),
                     ERR_MISSING);
    store_kit_must(store_begin(s, NULL));
    assert_int_equal(store_session_delete(s, store_kit_id(1), NULL), 0);
    store_kit_must(store_commit(s, NULL));
    store_close(s);
}

struct seen {
    char ids[64][STORE_ID_LEN + 1];
    int count, limit;
};

static int
see(void *ctx, const struct store_session *row)
{
    struct seen *seen = ctx;
    snprintf(seen->ids[seen->count++], sizeof(seen->ids[0]), "%s", row->id);
    return seen->count != seen->limit;
}

static void
assert_seen(struct store *s, const struct store_filter *filter, int limit,
            const char *want)
{
    struct seen seen = { .limit = limit };
    char text[64];
    int n = 0;
    assert_int_equal(store_sessions(s, filter, see, &seen, NULL), 0);
    for (int i = 0; i < seen.count; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%c",
                      seen.ids[i][STORE_ID_LEN - 1]);
    text[n] = 0;
    assert_string_equal(text, want);
}

static void
sessions_come_newest_first_and_as_filtered(void **state)
{
    (void)state;
    const uint64_t ms = 1000000;
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START + 2 * ms, 0);
    store_kit_put(s, 2, STORE_KIT_START, 0);
    store_kit_put(s, 3, STORE_KIT_START, 0); /* the same moment: later is newer */
    store_kit_put(s, 4, STORE_KIT_START + 9 * ms, 0);
    store_kit_put(s, 5, 0, 0);
    assert_seen(s, NULL, 0, "41325");
    assert_seen(s, NULL, 2, "41");
    assert_seen(s, &(struct store_filter){ .name = "name3" }, 0, "3");
    assert_seen(s, &(struct store_filter){ .name = "name" }, 0, "");
    assert_seen(s, &(struct store_filter){ .status = "ended" }, 0, "41325");
    assert_seen(s, &(struct store_filter){ .status = "other" }, 0, "");
    assert_seen(s, &(struct store_filter){ .since_ns = STORE_KIT_START + 1 }, 0, "41");
    assert_seen(s, &(struct store_filter){ .since_ns = STORE_KIT_START }, 0, "4132");
    assert_seen(s, &(struct store_filter){ .until_ns = STORE_KIT_START + 2 * ms }, 0,
                "325");
    assert_seen(s,
                &(struct store_filter){ .since_ns = STORE_KIT_START,
                                        .until_ns = STORE_KIT_START + 3 * ms },
                0, "132");
    assert_seen(s, &(struct store_filter){ .since_ns = UINT64_MAX }, 0, "");
    store_close(s);
}

static void
a_key_stays_unless_the_start_has_changed(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    int64_t first = store_kit_put(s, 1, STORE_KIT_START, 0);
    int64_t second = store_kit_put(s, 2, STORE_KIT_START, 0);
    assert_int_equal(second, first + 1);
    assert_int_equal(store_kit_put(s, 2, STORE_KIT_START, 0), second);
    assert_int_equal(store_kit_put(s, 1, STORE_KIT_START, 0), first);
    int64_t moved = store_kit_put(s, 1, STORE_KIT_START + 5000000, 0);
    assert_int_equal(moved, first + 5);
    assert_seen(s, NULL, 0, "12");
    /* with pieces it stays where they are */
    store_kit_put(s, 3, STORE_KIT_START + 9000000, 2);
    assert_int_equal(store_kit_put(s, 3, STORE_KIT_START, 0), first + 9);
    assert_int_equal(store_kit_find(s, NULL, NULL, 0), 2);
    store_close(s);
}

static void
starts_beyond_all_keys_have_keys(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    int64_t a = store_kit_put(s, 1, UINT64_MAX, 1), b = store_kit_put(s, 2, INT64_MAX, 1);
    int64_t c = store_kit_put(s, 3, UINT64_MAX - 5, 1);
    assert_true(a > b && b > c && c > 0);
    assert_int_equal(store_kit_find(s, NULL, NULL, 0), 3);
    store_close(s);
}

/* -- pieces -- */

static void
pieces_are_found_by_their_words_newest_first(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START, 3);
    store_kit_put(s, 2, STORE_KIT_START + 1000000000, 2);
    store_kit_put(s, 3, STORE_KIT_START - 1000000000, 1);
    /* each piece N of session I has the words 616161, 0000NN and 00II00 */
    assert_string_equal(store_kit_found(s, NULL, NULL, 0), "2.1 2.0 1.2 1.1 1.0 3.0 ");
    assert_string_equal(store_kit_found(s, "616161", NULL, 0),
                        "2.1 2.0 1.2 1.1 1.0 3.0 ");
    assert_string_equal(store_kit_found(s, "000001", NULL, 0), "2.1 1.1 ");
    assert_string_equal(store_kit_found(s, "000100 616161 000002", NULL, 0), "1.2 ");
    assert_string_equal(store_kit_found(s, "000001", store_kit_id(1), 0), "1.1 ");
    assert_string_equal(store_kit_found(s, NULL, store_kit_id(1), 0), "1.2 1.1 1.0 ");
    assert_string_equal(store_kit_found(s, "616161", NULL, STORE_KIT_START),
                        "2.1 2.0 1.2 1.1 1.0 ");
    assert_string_equal(store_kit_found(s, "616161", NULL, STORE_KIT_START + 1),
                        "2.1 2.0 ");
    assert_string_equal(store_kit_found(s, "ffffff", NULL, 0), "");
    assert_string_equal(store_kit_found(s, "616161", store_kit_id(9), 0), "");
    store_close(s);
}

static void
what_is_no_word_is_never_asked(void **state)
{
    (void)state;
    static const char *const bad[] = { "\"",      "616161 OR", "NEAR(616161)",
                                       "61*",     "AND",       "words:616161",
                                       "-616161", "616161\n",  "(",
                                       "{}" };
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START, 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct store_search search = { .words = { (const uint8_t *)bad[i],
                                                  strlen(bad[i]) } };
        assert_int_equal(store_pieces(s, &search, NULL, NULL, NULL), -EINVAL);
    }
    assert_string_equal(store_kit_found(s, "   ", NULL, 0), "1.0 ");
    store_close(s);
}

static void
what_was_removed_is_not_found(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START, 3);
    store_kit_put(s, 2, STORE_KIT_START + 1000000000, 1);
    store_kit_remove(s, 1, 3);
    assert_int_equal(store_session_get(s, store_kit_id(1), NULL, NULL, NULL),
                     ERR_MISSING);
    assert_string_equal(store_kit_found(s, NULL, NULL, 0), "2.0 ");
    assert_string_equal(store_kit_found(s, "616161", NULL, 0), "2.0 ");
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

static void
a_change_that_was_taken_back_was_none(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_must(store_begin(s, NULL));
    store_kit_fill(s, 1, STORE_KIT_START, 4);
    store_rollback(s);
    store_rollback(s);
    assert_string_equal(store_kit_found(s, NULL, NULL, 0), "");
    assert_string_equal(store_kit_found(s, "616161", NULL, 0), "");
    assert_seen(s, NULL, 0, "");
    store_close(s);
}

static void
a_session_has_a_ceiling_of_pieces(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    struct store_piece piece = { .key = 1, .number = STORE_PIECES_MAX };
    store_kit_must(store_begin(s, NULL));
    assert_int_equal(store_piece_put(s, &piece, (struct view){ 0 }, NULL), ERR_LIMIT);
    piece = (struct store_piece){ .key = -1 };
    assert_int_equal(store_piece_put(s, &piece, (struct view){ 0 }, NULL), -EINVAL);
    store_close(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(ids_are_kept_in_their_order),
        KIT_IN_DIR(every_fact_comes_back),
        KIT_IN_DIR(turns_go_where_their_session_goes),
        KIT_IN_DIR(a_session_that_is_not_there_is_missing),
        KIT_IN_DIR(sessions_come_newest_first_and_as_filtered),
        KIT_IN_DIR(a_key_stays_unless_the_start_has_changed),
        KIT_IN_DIR(starts_beyond_all_keys_have_keys),
        KIT_IN_DIR(pieces_are_found_by_their_words_newest_first),
        KIT_IN_DIR(what_is_no_word_is_never_asked),
        KIT_IN_DIR(what_was_removed_is_not_found),
        KIT_IN_DIR(a_change_that_was_taken_back_was_none),
        KIT_IN_DIR(a_session_has_a_ceiling_of_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
