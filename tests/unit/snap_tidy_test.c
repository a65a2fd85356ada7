/* SPDX-License-Identifier: MIT */
/* snap_tidy_test.c -- snapshots removed, and what nobody needs any more. */
#include "snap/tidy.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/git_priv.h"
#include "snap/packs_priv.h"
#include "support/kit.h"
#include "support/snap_kit.h"

#define S1 SNAP_KIT_S1
#define S2 SNAP_KIT_S2

static int
count_one(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    (void)f, (void)repo_path;
    ++*(unsigned *)ctx;
    return 0;
}

static unsigned
count(const char *home, const char *session)
{
    struct snap_filter filter = { .session = session };
    struct err err = { 0 };
    unsigned n = 0;
    if (snap_list(home, &filter, count_one, &n, &err) < 0)
        fail_msg("%s", err.text);
    return n;
}

static struct snap_tidied
tidy(const char *home, uint64_t budget_bytes)
{
    struct snap_tidied t = { 0 };
    struct err err = { 0 };
    if (snap_tidy(home, budget_bytes, &t, &err) < 0)
        fail_msg("%s", err.text);
    return t;
}

static bool
has_object(const char *repo_path, const char *name)
{
    const char *const args[] = { "cat-file", "-e", name, NULL };
    struct err err;
    return snap_git_run(repo_path, args, (struct view){ 0 }, NULL, "test", &err) == 0;
}

static void
leave(const char *repo_path, const char *name)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s", repo_path, name);
    snap_kit_write(buf_str(&path), "x");
}

static bool
has(const char *repo_path, const char *name)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s", repo_path, name);
    return snap_kit_exists(buf_str(&path));
}

/* -- forgotten -- */

static void
a_sessions_snapshots_go_in_all_repositories(void **state)
{
    char *home = snap_kit_home(state);
    struct err err;
    assert_int_equal(snap_forget_session(home, S1, &err),
                     0); /* there is nothing at all */
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_put_plain(home, "/a", S1, 2000);
    snap_kit_put_plain(home, "/b", S1, 3000);
    snap_kit_put_plain(home, "/b", S2, 4000);
    snap_kit_put_plain(home, "/c", "", 5000);
    assert_int_equal(snap_forget_session(home, S1, &err), 3);
    assert_int_equal(count(home, NULL), 2);
    assert_int_equal(count(home, S1), 0);
    assert_int_equal(snap_forget_session(home, S1, &err), 0);
}

static void
one_is_forgotten_and_the_others_stay(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    struct err err;
    snap_kit_put_plain(home, "/a", "", 1000);
    snap_kit_put_plain(home, "/a", "", 10001); /* begins like it */
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_path(home, "/a", path);
    assert_int_equal(snap_forget(path, "", 1000, &err), 0);
    assert_int_equal(count(home, NULL), 2);
    assert_int_equal(count(home, S1), 1);
    assert_int_equal(snap_forget(path, "", 1000, &err), ERR_MISSING);
}

/* Who takes one at this moment is waited for; the test cannot wait so long. */
static void
who_is_at_a_repository_keeps_its_snapshots(void **state)
{
    AUTO(snap_repo) repo = { .lock_fd = -1 };
    char *home = snap_kit_home(state);
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    assert_int_equal(snap_repo_open(&repo, home, "/a", false, SNAP_SHARED, 0, &err), 0);
    assert_int_equal(tidy(home, 0).busy, 1);
    assert_int_equal(count(home, S1), 1);
    snap_repo_release(&repo);
    assert_int_equal(snap_forget_session(home, S1, &err), 1);
}

static void
a_lock_file_that_git_has_left_is_in_nobodys_way(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_path(home, "/a", path);
    leave(path, "packed-refs.lock");
    leave(path, "refs/ahr/" S1 "/1000.lock");
    assert_int_equal(snap_forget_session(home, S1, &err), 1);
    assert_true(has(path, "ahr.lock"));
}

/* -- tidied -- */

static void
what_is_forgotten_is_collected(void **state)
{
    char *home = snap_kit_home(state), path[4096], blob[65], kept[65];
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_put_plain(home, "/a", S2, 2000);
    snap_kit_path(home, "/a", path);
    snap_kit_object(path, "blob", "1000", blob);
    snap_kit_object(path, "blob", "2000", kept);
    assert_int_equal(snap_forget_session(home, S1, &err), 1);
    assert_true(has_object(path, blob));
    assert_true(snap_wants_tidy(home, SNAP_BUDGET));
    struct snap_tidied t = tidy(home, SNAP_BUDGET);
    assert_true(t.bytes_after < t.bytes_before);
    assert_false(has_object(path, blob));
    assert_true(has_object(path, kept));
    assert_true(snap_kit_is_sound(path));
    assert_int_equal(count(home, NULL), 1);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
}

static void
what_killed_ones_have_left_is_removed(void **state)
{
    static const char *const left[] = {
        "fast_import_crash_12",           "ahr.cache.12.new",
        "objects/pack/tmp_pack_abc",      "objects/pack/tmp_idx_abc",
        "objects/pack/pack-12ab.pack",    "objects/pack/pack-34cd.idx",
        "objects/pack/pack-56ef.keep",    ("refs/ahr/" S1 "/2000.lock"),
        "objects/pack/.tmp-1-pack-1.idx", "packed-refs.lock",
    };
    char *home = snap_kit_home(state), path[4096];
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_path(home, "/a", path);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        leave(path, left[i]);
    assert_true(snap_wants_tidy(home, SNAP_BUDGET));
    tidy(home, SNAP_BUDGET);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        if (has(path, left[i]))
            fail_msg("%s is still there", left[i]);
    assert_int_equal(count(home, S1), 1);
    assert_true(snap_kit_is_sound(path));
}

static void
what_a_comparison_has_left_is_removed(void **state)
{
    char *home = snap_kit_home(state), path[4096], commit[65];
    AUTO(buf) refs = { 0 };
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_path(home, "/a", path);
    snap_kit_object(path, "blob", "x", commit);
    const char *const make[] = { "update-ref", "refs/work/1", commit, NULL };
    snap_kit_git(path, make, "", NULL);
    tidy(home, SNAP_BUDGET);
    const char *const list[] = { "for-each-ref", "refs/work/", NULL };
    snap_kit_git(path, list, "", &refs);
    assert_int_equal(refs.n, 0);
    assert_false(has_object(path, commit));
}

static void
a_repository_without_snapshots_is_removed(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_put_plain(home, "/b", S2, 1000);
    snap_kit_path(home, "/a", path);
    assert_int_equal(snap_forget_session(home, S1, &err), 1);
    tidy(home, SNAP_BUDGET);
    assert_false(snap_kit_exists(path));
    assert_int_equal(count(home, NULL), 1);
    snap_kit_put_plain(home, "/a", S1, 1000); /* and is made again */
    assert_int_equal(count(home, NULL), 2);
}

static void
folders_of_killed_ones_go_when_they_are_old(void **state)
{
    char *home = snap_kit_home(state), old[4200], young[4200];
    struct timespec hour_ago[2] = { { .tv_sec = time(NULL) - 3600 },
                                    { .tv_sec = time(NULL) - 3600 } };
    snprintf(old, sizeof(old), "%s/snapshots/.new-1-0", home);
    snprintf(young, sizeof(young), "%s/snapshots/.old-1-0", home);
    assert_int_equal(file_make_dirs(old), 0);
    assert_int_equal(file_make_dirs(young), 0);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
    assert_int_equal(utimensat(AT_FDCWD, old, hour_ago, 0), 0);
    assert_true(snap_wants_tidy(home, SNAP_BUDGET));
    tidy(home, SNAP_BUDGET);
    assert_false(snap_kit_exists(old));
    assert_true(snap_kit_exists(young));
}

static void
assert_damaged_name_keeps(void **state, const char *name)
{
    char *home = snap_kit_home(state), path[4096], blob[65];
    struct snap_tidied t;
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_put_plain(home, "/a", S2, 2000);
    snap_kit_put_plain(home, "/a", S2, 3000);
    snap_kit_path(home, "/a", path);
    snap_kit_object(path, "blob", "1000", blob);
    AUTO(buf) ref = { 0 };
    buf_printf(&ref, "%s/refs/ahr/" S1 "/1000", path);
    snap_kit_write(buf_str(&ref), name);
    assert_int_equal(snap_forget(path, S2, 2000, &err), 0);
    assert_int_equal(snap_tidy(home, SNAP_BUDGET, &t, &err), ERR_DAMAGED);
    assert_true(has_object(path, blob));
    assert_int_equal(snap_forget(path, S2, 3000, &err), 0); /* now there is no other */
    tidy(home, SNAP_BUDGET);
    assert_true(has_object(path, blob));
}

static void
a_damaged_name_keeps_what_it_may_have_named(void **state)
{
    assert_damaged_name_keeps(state, "");
}

static void
a_name_of_nonsense_keeps_what_it_may_have_named(void **state)
{
    assert_damaged_name_keeps(state, "01234567890123456789012345678901234567-9\n");
}

/* -- packs -- */

enum { BLOB = 40000 };

/* Bytes that no compression makes smaller. */
static void
fill(char *text, size_t size, uint64_t seed)
{
    uint64_t x = seed * 2 + 1;
    for (size_t i = 0; i < size; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        text[i] = (char)(1 + (x >> 33) % 255);
    }
    text[size] = 0;
}

static void
put_large(const char *home, const char *root, uint64_t id, bool is_auto, uint64_t seed)
{
    static char text[BLOB + 1];
    char label[] = "";
    struct snap_facts f = { .id = id, .ts_ns = id, .is_auto = is_auto, .label = label };
    fill(text, BLOB, seed);
    snap_kit_put(home, root, &f, text);
}

static uint64_t
bytes_now(const char *home)
{
    return tidy(home, UINT64_MAX).bytes_after;
}

/* Snapshots of a few bytes, a pack each. */
static void
put_packs(const char *home, uint64_t from, uint64_t count, char path[4096])
{
    static const char *const pack[] = { "repack", "-d", "-q", NULL };
    for (uint64_t i = from; i < from + count; i++) {
        snap_kit_put_plain(home, "/a", S1, i);
        snap_kit_path(home, "/a", path);
        snap_kit_git(path, pack, "", NULL);
    }
}

static size_t
count_packs(const char *path)
{
    AUTO(buf) all = { 0 };
    assert_int_equal(snap_packs(&all, path), 0);
    return all.n / sizeof(struct snap_pack);
}

/* The largest. */
static struct snap_pack
last_pack(const char *path)
{
    AUTO(buf) all = { 0 };
    assert_int_equal(snap_packs(&all, path), 0);
    const struct snap_pack *pack = (const void *)all.p;
    return pack[all.n / sizeof(*pack) - 1];
}

static void
many_packs_become_one(void **state)
{
    char *home = snap_kit_home(state), path[4096], blob[65];
    put_packs(home, 1000, 23, path);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
    put_packs(home, 2000, 1, path);
    assert_true(snap_wants_tidy(home, SNAP_BUDGET));
    tidy(home, SNAP_BUDGET);
    assert_int_equal(count_packs(path), 1);
    assert_int_equal(count(home, S1), 24);
    assert_true(snap_kit_is_sound(path));
    snap_kit_object(path, "blob", "1000", blob);
    assert_true(has_object(path, blob));
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
}

enum { LARGE = 3 << 20 };

/* What has been put together once is not written each time. */
static void
a_large_pack_is_left_as_it_is(void **state)
{
    char *home = snap_kit_home(state), path[4096], label[] = "";
    struct snap_facts f = { .id = 1, .ts_ns = 1, .label = label };
    char *text = calloc(LARGE + 1, 1);
    assert_non_null(text);
    fill(text, LARGE, 1);
    snap_kit_put(home, "/a", &f, text);
    free(text);
    put_packs(home, 1000, 24, path);
    struct snap_pack before = last_pack(path);
    assert_true(before.bytes > LARGE / 2);
    tidy(home, SNAP_BUDGET);
    assert_int_equal(count_packs(path), 2);
    assert_string_equal(last_pack(path).file, before.file);
    put_packs(home, 2000, 22, path);
    tidy(home, SNAP_BUDGET);
    assert_int_equal(count_packs(path), 2);
    assert_string_equal(last_pack(path).file, before.file);
    assert_int_equal(count(home, NULL), 47);
    assert_true(snap_kit_is_sound(path));
}

/* Bytes that no snapshot names, in a pack of their own. */
static void
put_waste(const char *path, size_t bytes)
{
    static const char *const pack[] = { "pack-objects", "-q", "objects/pack/pack", NULL };
    static const char *const prune[] = { "prune-packed", NULL };
    char *text = calloc(bytes + 1, 1), blob[65];
    assert_non_null(text);
    fill(text, bytes, bytes);
    snap_kit_object(path, "blob", text, blob);
    snap_kit_git(path, pack, blob, NULL);
    snap_kit_git(path, prune, "", NULL);
    free(text);
}

static void
much_that_nobody_needs_goes_with_the_packs(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    put_packs(home, 1000, 23, path);
    put_waste(path, 50000);
    tidy(home, SNAP_BUDGET);
    assert_int_equal(count_packs(path), 1);
    assert_true(last_pack(path).bytes < 20000);
    assert_int_equal(count(home, S1), 23);
}

/* Where there may be waste it is measured. */
static void
little_that_nobody_needs_waits_for_more(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    put_large(home, "/a", 1, false, 1);
    put_packs(home, 1000, 1, path);
    struct snap_pack before = last_pack(path);
    put_waste(path, 5000);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
    leave(path, "ahr.waste");
    assert_true(snap_wants_tidy(home, SNAP_BUDGET));
    tidy(home, SNAP_BUDGET);
    assert_string_equal(last_pack(path).file, before.file);
    assert_int_equal(count_packs(path), 2);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
    put_waste(path, 20000);
    leave(path, "ahr.waste");
    tidy(home, SNAP_BUDGET);
    assert_int_equal(count_packs(path), 1);
    assert_false(snap_wants_tidy(home, SNAP_BUDGET));
}

/* Before anything goes that somebody needs. */
static void
what_nobody_needs_goes_first_where_room_is_short(void **state)
{
    char *home = snap_kit_home(state), path[4096];
    put_large(home, "/a", 1, true, 1);
    put_packs(home, 1000, 1, path);
    uint64_t bytes = bytes_now(home);
    put_waste(path, 5000);
    assert_int_equal(tidy(home, bytes + 2000).dropped, 0);
    assert_int_equal(count(home, NULL), 2);
    assert_int_equal(count_packs(path), 1);
}

static void
many_names_become_one_file(void **state)
{
    static const char *const set[] = { "update-ref", "--stdin", NULL };
    char *home = snap_kit_home(state), path[4096], commit[65];
    AUTO(buf) found = { 0 };
    AUTO(buf) orders = { 0 };
    struct err err;
    snap_kit_put_plain(home, "/a", S1, 1000);
    snap_kit_path(home, "/a", path);
    const char *const ask[] = { "rev-parse", "refs/ahr/" S1 "/1000", NULL };
    snap_kit_git(path, ask, "", &found);
    snprintf(commit, sizeof(commit), "%.40s", buf_str(&found));
    for (unsigned i = 0; i < 250; i++)
        buf_printf(&orders, "create refs/ahr/%s/%u %s\n", i % 2 ? S1 : S2, 2000 + i,
                   commit);
    snap_kit_git(path, set, buf_str(&orders), NULL);
    tidy(home, SNAP_BUDGET);
    assert_false(has(path, "refs/ahr/" S1));
    assert_int_equal(count(home, S2), 125);
    assert_int_equal(snap_forget_session(home, S1, &err), 126);
    assert_int_equal(count(home, NULL), 125);
}

/* -- the budget -- */

static int
note_id(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    (void)repo_path;
    buf_printf(ctx, "%" PRIu64 " ", f->id);
    return 0;
}

static void
assert_listed(const char *home, const char *expected)
{
    AUTO(buf) ids = { 0 };
    struct err err;
    assert_int_equal(snap_list(home, NULL, note_id, &ids, &err), 0);
    assert_string_equal(buf_str(&ids), expected);
}

static void
the_oldest_automatic_ones_go_until_it_is_enough(void **state)
{
    char *home = snap_kit_home(state);
    put_large(home, "/a", 1, false, 1);
    put_large(home, "/a", 2, true, 2);
    put_large(home, "/b", 3, true, 3);
    put_large(home, "/a", 4, true, 4);
    put_large(home, "/b", 5, true, 5);
    put_large(home, "/b", 6, false, 6);
    struct snap_tidied t = tidy(home, bytes_now(home) - BLOB - BLOB / 2);
    assert_int_equal(t.dropped, 2);
    assert_listed(home, "1 4 5 6 ");
    assert_true(t.bytes_after + BLOB + BLOB / 2 <= t.bytes_before);
}

/* The bytes of the first are the second's as well: its end frees next to nothing. */
static void
what_others_share_is_not_counted_as_freed(void **state)
{
    char *home = snap_kit_home(state);
    put_large(home, "/a", 1, true, 1);
    put_large(home, "/a", 2, true, 1);
    put_large(home, "/a", 3, true, 3);
    put_large(home, "/a", 4, true, 4);
    struct snap_tidied t = tidy(home, bytes_now(home) - BLOB / 2);
    assert_int_equal(t.dropped, 2);
    assert_listed(home, "3 4 ");
}

static void
those_taken_by_hand_never_go(void **state)
{
    char *home = snap_kit_home(state);
    put_large(home, "/a", 1, false, 1);
    put_large(home, "/a", 2, true, 2);
    put_large(home, "/a", 3, false, 3);
    struct snap_tidied t = tidy(home, 1);
    assert_int_equal(t.dropped, 1);
    assert_listed(home, "1 3 ");
    assert_int_equal(tidy(home, 1).dropped, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(a_sessions_snapshots_go_in_all_repositories),
        KIT_IN_DIR(one_is_forgotten_and_the_others_stay),
        KIT_IN_DIR(who_is_at_a_repository_keeps_its_snapshots),
        KIT_IN_DIR(a_lock_file_that_git_has_left_is_in_nobodys_way),
        KIT_IN_DIR(what_is_forgotten_is_collected),
        KIT_IN_DIR(what_killed_ones_have_left_is_removed),
        KIT_IN_DIR(what_a_comparison_has_left_is_removed),
        KIT_IN_DIR(a_repository_without_snapshots_is_removed),
        KIT_IN_DIR(folders_of_killed_ones_go_when_they_are_old),
        KIT_IN_DIR(a_damaged_name_keeps_what_it_may_have_named),
        KIT_IN_DIR(a_name_of_nonsense_keeps_what_it_may_have_named),
        KIT_IN_DIR(many_packs_become_one),
        KIT_IN_DIR(a_large_pack_is_left_as_it_is),
        KIT_IN_DIR(much_that_nobody_needs_goes_with_the_packs),
        KIT_IN_DIR(little_that_nobody_needs_waits_for_more),
        KIT_IN_DIR(what_nobody_needs_goes_first_where_room_is_short),
        KIT_IN_DIR(many_names_become_one_file),
        KIT_IN_DIR(the_oldest_automatic_ones_go_until_it_is_enough),
        KIT_IN_DIR(what_others_share_is_not_counted_as_freed),
        KIT_IN_DIR(those_taken_by_hand_never_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
