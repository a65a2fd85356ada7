/* SPDX-License-Identifier: MIT */
/*
 * store_broken_test.c -- whatever lies at library.db and beside it: a library, or an
 * error of ours that says what to do; nothing that is there is changed unasked.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/schema_priv.h"
#include "store/store_priv.h"
#include "support/rng.h"
#include "support/store_kit.h"

#define WAL STORE_KIT_DB "-wal"

/* -- files -- */

static struct buf
slurp(const char *path)
{
    struct buf b = { 0 };
    assert_int_equal(file_slurp(path, &b), 0);
    return b;
}

static void
spill(const char *path, const void *p, size_t n)
{
    struct view bytes = { p, n };
    assert_int_equal(file_replace(path, bytes, false, NULL), 0);
}

static bool
exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void
copy(const char *from, const char *to)
{
    AUTO(buf) b = slurp(from);
    spill(to, b.p, b.n);
}

/* -- libraries -- */

static void
make_library(int sessions)
{
    struct store *s = store_kit_open(STORE_WRITE);
    for (int i = 1; i <= sessions; i++)
        store_kit_put(s, i, STORE_KIT_START + (uint64_t)i * 1000000, 3);
    store_close(s);
}

/* One whose log is not yet in it, as after a kill. */
static void
make_library_with_log(int first, int last)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct store *s = NULL;
        if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, NULL) < 0)
            _exit(1);
        for (int i = first; i <= last; i++)
            store_kit_put(s, i, STORE_KIT_START + (uint64_t)i * 1000000, 3);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(exists(WAL));
}

static void
run_sql(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(STORE_KIT_DB, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
assert_opens_as(enum store_mode mode, int code, const char *word)
{
    struct err err = { 0 };
    struct store *s = NULL;
    int r = store_open(&s, STORE_KIT_DB, mode, 50, &err);
    if (r == 0)
        store_close(s);
    assert_int_equal(r, code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, word));
    assert_non_null(strstr(err.text, STORE_KIT_DB));
}

/* It is refused, and is afterwards what it was. */
static void
assert_refused(int code, const char *word)
{
    AUTO(buf) before = slurp(STORE_KIT_DB);
    assert_opens_as(STORE_READ, code, word);
    assert_opens_as(STORE_WRITE, code, word);
    AUTO(buf) after = slurp(STORE_KIT_DB);
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.p, after.p, before.n);
}

/* -- what lies there -- */

static void
where_there_is_none_a_reader_makes_none(void **state)
{
    (void)state;
    assert_opens_as(STORE_READ, ERR_MISSING, "no ");
    assert_false(exists(STORE_KIT_DB) || exists(STORE_KIT_DB ".lock"));
    make_library(1);
    assert_int_equal(unlink(STORE_KIT_DB), 0);
    assert_opens_as(STORE_READ, ERR_MISSING, "no ");
}

static void
an_empty_file_is_none_and_is_made_one(void **state)
{
    (void)state;
    spill(STORE_KIT_DB, "", 0);
    assert_opens_as(STORE_READ, ERR_MISSING, "no ");
    make_library(1);
    struct store *s = store_kit_open(STORE_READ);
    assert_string_equal(store_kit_found(s, "616161", NULL, 0), "1.2 1.1 1.0 ");
    store_close(s);
}

static void
what_is_no_library_is_refused_and_kept(void **state)
{
    (void)state;
    char zeros[8192] = { 0 };
    spill(STORE_KIT_DB, "x", 1);
    assert_refused(ERR_DAMAGED, "ahr reindex");
    spill(STORE_KIT_DB, "SQLite format 3", 16);
    assert_refused(ERR_DAMAGED, "ahr reindex");
    spill(STORE_KIT_DB, zeros, sizeof(zeros));
    assert_refused(ERR_DAMAGED, "ahr reindex");
    unlink(STORE_KIT_DB);
    run_sql("CREATE TABLE sessions (a); PRAGMA user_version = 1");
    assert_refused(ERR_DAMAGED, "no library of ahr");
    unlink(STORE_KIT_DB);
    assert_int_equal(mkdir(STORE_KIT_DB, 0700), 0);
    assert_opens_as(STORE_READ, ERR_DAMAGED, "no file");
    assert_opens_as(STORE_WRITE, ERR_DAMAGED, "no file");
    assert_int_equal(rmdir(STORE_KIT_DB), 0);
    assert_int_equal(mkfifo(STORE_KIT_DB, 0600), 0);
    assert_opens_as(STORE_READ, ERR_DAMAGED, "no file");
}

/* How many there are. */
static size_t
count_steps(void)
{
    size_t n = 0;
    while (store_schema_steps[n])
        n++;
    return n;
}

static void
one_that_only_claims_to_be_a_library_is_damaged(void **state)
{
    (void)state;
    char sql[512];
    snprintf(sql, sizeof(sql),
             "PRAGMA application_id = %d; PRAGMA user_version = %zu;"
             "CREATE TABLE mark (identity); INSERT INTO mark VALUES (1);"
             "CREATE VIEW library AS SELECT identity, 1 AS changes FROM mark;",
             STORE_APPLICATION_ID, count_steps());
    run_sql(sql);
    assert_refused(ERR_DAMAGED, "ahr reindex");
    run_sql("DROP VIEW library; CREATE TABLE library (identity, changes);"
            "INSERT INTO library VALUES (1, 0); CREATE TABLE sessions (id);");
    struct store *s = store_kit_open(STORE_WRITE);
    AUTO(buf) ids = { 0 };
    struct store_search search = { 0 };
    assert_int_equal(store_sessions(s, NULL, NULL, NULL, NULL), ERR_DAMAGED);
    assert_int_equal(store_pieces(s, &search, NULL, NULL, NULL), ERR_DAMAGED);
    assert_int_equal(store_ids(s, &ids, NULL), 0);
    assert_int_equal(store_check(s, NULL), ERR_DAMAGED);
    store_close(s);
}

static void
ids_that_are_none_are_not_given_out(void **state)
{
    (void)state;
    make_library(1);
    run_sql("UPDATE sessions SET id = '../../../../../../../../../../../etc/passwd0000'");
    struct store *s = store_kit_open(STORE_READ);
    AUTO(buf) ids = { 0 };
    struct store_search search = { 0 };
    assert_int_equal(store_ids(s, &ids, NULL), ERR_DAMAGED);
    assert_int_equal(ids.n, 0);
    assert_int_equal(store_sessions(s, NULL, NULL, NULL, NULL), ERR_DAMAGED);
    assert_int_equal(store_pieces(s, &search, NULL, NULL, NULL), ERR_DAMAGED);
    store_close(s);
}

static void
a_newer_one_is_refused_and_kept(void **state)
{
    (void)state;
    make_library(1);
    run_sql("PRAGMA user_version = 4711");
    assert_refused(ERR_NEWER, "version 4711");
}

/* -- older ones -- */

static void
make_version_0(void)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    run_sql(sql);
}

static void
an_older_one_is_brought_up_to_date_by_a_writer(void **state)
{
    (void)state;
    make_version_0();
    assert_opens_as(STORE_READ, ERR_MISSING, "older");
    make_library(2);
    struct store *s = store_kit_open(STORE_READ);
    assert_int_equal(store_kit_find(s, "616161", NULL, 0), 6);
    store_close(s);
}

static void
one_whose_usage_has_no_days_is_indexed_anew(void **state)
{
    (void)state;
    AUTO(buf) ids = { 0 };
    make_library(2);
    run_sql("DROP TABLE usage; DROP TABLE messages; DROP TABLE totals; CREATE TABLE "
            "usage (key INTEGER NOT"
            " NULL, model TEXT NOT NULL, input_tokens INTEGER, output_tokens INTEGER,"
            " cache_creation_tokens INTEGER, cache_read_tokens INTEGER, calls INTEGER,"
            " PRIMARY KEY (key, model)) WITHOUT ROWID; PRAGMA user_version = 5");
    assert_opens_as(STORE_READ, ERR_MISSING, "older");
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_must(store_ids(s, &ids, NULL));
    assert_int_equal(ids.n, 0);
    const struct store_message message = { .message = 1, .model = "m", .day = 7 };
    store_kit_must(store_begin(s, NULL));
    int64_t key = store_kit_fill(s, 3, STORE_KIT_START, 1);
    store_kit_must(store_message_put(s, key, &message, NULL));
    store_kit_must(store_messages_settle(s, key, NULL));
    store_kit_must(store_commit(s, NULL));
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

/* One of version 2 takes what is new. Its pieces have no labels: all that was in it is to
 * be indexed anew. */
static void
one_without_turns_gets_them(void **state)
{
    (void)state;
    int64_t n = 0;
    AUTO(buf) ids = { 0 };
    make_library(2);
    run_sql("DROP TABLE turns; DROP TABLE usage; DROP TABLE messages; DROP TABLE totals; "
            "DROP TABLE artifacts;"
            "ALTER TABLE sessions DROP COLUMN project;"
            "ALTER TABLE sessions DROP COLUMN iterations;"
            "ALTER TABLE sessions DROP COLUMN turns;"
            "ALTER TABLE sessions DROP COLUMN fork_turn; PRAGMA user_version = 2");
    assert_opens_as(STORE_READ, ERR_MISSING, "older");
    struct store *s = store_kit_open(STORE_WRITE);
    const struct store_turn turn = { .number = 1, .type = "text" };
    assert_int_equal(store_kit_find(s, "616161", NULL, 0), 0);
    store_kit_must(store_ids(s, &ids, NULL));
    assert_int_equal(ids.n, 0);
    store_kit_must(store_begin(s, NULL));
    store_kit_must(
        store_turn_put(s, store_kit_fill(s, 3, STORE_KIT_START, 1), &turn, NULL));
    store_kit_must(store_commit(s, NULL));
    assert_int_equal(store_kit_find(s, "616161", NULL, 0), 1);
    store_kit_must(store_check(s, NULL));
    store_kit_must(store_number(s, "PRAGMA user_version", &n, NULL));
    assert_int_equal(n, count_steps());
    store_close(s);
}

enum { STEPS_MAX = 32 };

/* The steps of today, and two more. */
static void
steps_with(const char *steps[STEPS_MAX], const char *last)
{
    size_t n = count_steps();
    assert_true(n + 3 <= STEPS_MAX);
    for (size_t i = 0; i < n; i++)
        steps[i] = "SELECT 1";
    steps[n] = "CREATE TABLE later (a)";
    steps[n + 1] = last;
    steps[n + 2] = NULL;
}

static void
steps_are_taken_once_all_or_none(void **state)
{
    (void)state;
    int64_t n = 0;
    const char *good[STEPS_MAX], *bad[STEPS_MAX];
    steps_with(good, "INSERT INTO later VALUES (1)");
    steps_with(bad, "INSERT INTO nowhere VALUES (1)");
    make_library(1);
    struct store *a = store_kit_open(STORE_WRITE), *b = store_kit_open(STORE_WRITE);
    assert_int_equal(store_migrate(a, bad, NULL), ERR_DAMAGED);
    store_kit_must(store_number(a, "PRAGMA user_version", &n, NULL));
    assert_int_equal(n, count_steps());
    store_kit_must(store_number(a,
                                "SELECT count(*) FROM sqlite_schema "
                                "WHERE name = 'later'",
                                &n, NULL));
    assert_int_equal(n, 0);
    store_kit_must(store_migrate(a, good, NULL));
    store_kit_must(store_migrate(b, good, NULL));
    store_kit_must(store_number(b, "SELECT count(*) FROM later", &n, NULL));
    assert_int_equal(n, 1);
    store_kit_must(store_number(b, "PRAGMA user_version", &n, NULL));
    assert_int_equal(n, count_steps() + 2);
    assert_int_equal(store_migrate(b, store_schema_steps, NULL), ERR_NEWER);
    store_close(a);
    store_close(b);
}

static void
many_bring_it_up_to_date_at_once(void **state)
{
    (void)state;
    enum { MANY = 8 };
    pid_t pids[MANY];
    make_version_0();
    for (int i = 0; i < MANY; i++)
        if ((pids[i] = fork()) == 0) {
            struct store *s = NULL;
            int r = store_open(&s, STORE_KIT_DB, STORE_WRITE, 20000, NULL);
            if (r == 0)
                r = store_check(s, NULL);
            if (r == 0)
                store_close(s);
            _exit(r != 0);
        }
    for (int i = 0; i < MANY; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

/* -- logs -- */

static void
a_log_beside_no_library_is_not_taken_for_the_new_ones(void **state)
{
    (void)state;
    make_library_with_log(1, 4);
    assert_int_equal(unlink(STORE_KIT_DB), 0);
    struct store *s = store_kit_open(STORE_WRITE);
    assert_string_equal(store_kit_found(s, NULL, NULL, 0), "");
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

static void
a_log_of_another_library_is_told_and_harms_nothing(void **state)
{
    (void)state;
    make_library_with_log(1, 4);
    assert_int_equal(rename(WAL, "other-wal"), 0);
    unlink(STORE_KIT_DB);
    unlink(STORE_KIT_DB "-shm");
    make_library(2);
    unlink(STORE_KIT_DB "-shm");
    copy("other-wal", WAL);
    assert_refused(ERR_DAMAGED, "log");
    unlink(WAL);
    unlink(STORE_KIT_DB "-shm");
    struct store *s = store_kit_open(STORE_WRITE);
    assert_int_equal(store_kit_find(s, "616161", NULL, 0), 6);
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

/* Where each has been rewritten whole, the pages that tell are where they were. */
static void
a_log_of_another_library_shows_after_a_scrub_too(void **state)
{
    (void)state;
    make_library_with_log(1, 4);
    assert_int_equal(rename(WAL, "other-wal"), 0);
    unlink(STORE_KIT_DB);
    unlink(STORE_KIT_DB "-shm");
    make_library(2);
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_must(store_scrub(s, NULL));
    store_close(s);
    unlink(STORE_KIT_DB "-shm");
    copy("other-wal", WAL);
    assert_refused(ERR_DAMAGED, "log");
}

static void
a_log_that_is_none_is_passed_over(void **state)
{
    (void)state;
    make_library(2);
    unlink(STORE_KIT_DB "-shm");
    spill(WAL, "this is not a log, it is a text that somebody has put here", 58);
    struct store *s = store_kit_open(STORE_WRITE);
    assert_int_equal(store_kit_find(s, "616161", NULL, 0), 6);
    store_close(s);
}

static void
without_its_log_it_is_as_before_that(void **state)
{
    (void)state;
    make_library(2);
    struct store *s = store_kit_open(STORE_WRITE);
    make_library_with_log(3, 5);
    store_close(s);
    unlink(WAL);
    unlink(STORE_KIT_DB "-shm");
    s = store_kit_open(STORE_WRITE);
    assert_true(store_kit_find(s, "616161", NULL, 0) >= 6);
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

/* -- cut and flipped -- */

static int
take_session(void *ctx, const struct store_session *row)
{
    (void)ctx;
    (void)row;
    return 1;
}

static int
take_piece(void *ctx, const struct store_piece *piece)
{
    (void)ctx;
    (void)piece;
    return 1;
}

static bool
is_ours(int r)
{
    return r == 0 || r == ERR_DAMAGED || r == ERR_MISSING || r == ERR_NEWER;
}

/* Everything is asked: an answer, or an error that is ours. */
static void
ask_all(enum store_mode mode)
{
    struct store *s = NULL;
    struct err err = { 0 };
    AUTO(buf) ids = { 0 };
    int r = store_open(&s, STORE_KIT_DB, mode, 0, &err);
    assert_true(is_ours(r));
    if (r < 0)
        return;
    struct store_search all = { 0 }, some = { .words = { (const uint8_t *)"616161", 6 } };
    assert_true(is_ours(store_ids(s, &ids, &err)));
    assert_true(is_ours(store_sessions(s, NULL, take_session, NULL, &err)));
    assert_true(is_ours(store_session_get(s, store_kit_id(2), NULL, NULL, &err)));
    assert_true(is_ours(store_pieces(s, &all, take_piece, NULL, &err)));
    assert_true(is_ours(store_pieces(s, &some, take_piece, NULL, &err)));
    assert_true(is_ours(store_check(s, &err)));
    assert_true(is_ours(store_scrub(s, &err)) || mode == STORE_READ);
    store_close(s);
}

/* A page that is missing shows at once, the end of the last one when it is met. */
static void
cut_anywhere_it_is_damaged_and_says_so(void **state)
{
    (void)state;
    make_library(40);
    AUTO(buf) whole = slurp(STORE_KIT_DB);
    for (size_t n = 1; n < whole.n; n += 1000) {
        struct store *s = NULL;
        spill(STORE_KIT_DB, whole.p, n);
        unlink(WAL);
        unlink(STORE_KIT_DB "-shm");
        int r = store_open(&s, STORE_KIT_DB, n % 2 ? STORE_READ : STORE_WRITE, 0, NULL);
        if (r == 0) {
            assert_true(n > whole.n - 4096);
            r = store_check(s, NULL);
            store_close(s);
        }
        assert_int_equal(r, ERR_DAMAGED);
    }
}

static void
with_bytes_changed_there_are_answers_or_errors_of_ours(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(8);
    make_library(40);
    AUTO(buf) whole = slurp(STORE_KIT_DB);
    for (int i = 0, n = kit_times(300, 20000); i < n; i++) {
        AUTO(buf) b = { 0 };
        buf_append(&b, whole.p, whole.n);
        for (int k = 0; k < 1 + i % 8; k++)
            b.p[rng_below(&rng, i % 3 ? (uint32_t)b.n : 4096)] = (uint8_t)rng_next(&rng);
        spill(STORE_KIT_DB, b.p, b.n);
        unlink(WAL);
        unlink(STORE_KIT_DB "-shm");
        ask_all(i % 2 ? STORE_READ : STORE_WRITE);
    }
}

/* -- modes and rights -- */

static void
assert_private(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void
its_files_are_private_whatever_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = { 0, 077, 0277 };
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        mode_t old = umask(masks[i]);
        struct store *s = store_kit_open(STORE_WRITE);
        store_kit_put(s, 1, STORE_KIT_START, 1);
        struct store *beside = NULL;
        store_kit_must(store_new_beside(&beside, STORE_KIT_DB, NULL));
        store_kit_put(beside, 1, STORE_KIT_START, 1);
        umask(old);
        assert_private(STORE_KIT_DB);
        assert_private(WAL);
        assert_private(STORE_KIT_DB "-shm");
        assert_private(STORE_KIT_DB ".lock");
        assert_private(STORE_KIT_DB ".new");
        store_close(s);
        store_kit_must(store_swap(beside, STORE_KIT_DB, 0, NULL));
        assert_private(STORE_KIT_DB);
        assert_int_equal(unlink(STORE_KIT_DB), 0);
        assert_int_equal(unlink(STORE_KIT_DB ".lock"), 0);
    }
}

/* In a child with mounts of its own: what `there` says of itself; SKIP: cannot mount. */
enum { SKIP = 77 };

static int
run_mounted(const char *kind, const char *options, int (*there)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount(kind ? kind : "home", "home", kind, kind ? 0 : MS_BIND, options) < 0 ||
            (!kind &&
             mount(NULL, "home", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0))
            _exit(SKIP);
        _exit(chdir("home") < 0 ? 1 : there());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIP) {
        print_message("# mounting needs root\n");
        skip();
    }
    return WEXITSTATUS(status);
}

static int
is_readable_here(void)
{
    struct store *s = NULL;
    struct err err = { 0 };
    if (store_open(&s, STORE_KIT_DB, STORE_READ, 0, &err) < 0) {
        fprintf(stderr, "# %s\n", err.text);
        return 2;
    }
    int n = store_kit_find(s, "616161", NULL, 0);
    store_close(s);
    if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, &err) != -EROFS)
        return 3;
    return n == 6 ? 0 : 4;
}

static void
it_is_read_where_nothing_can_be_written(void **state)
{
    (void)state;
    assert_int_equal(mkdir("home", 0700), 0);
    assert_int_equal(chdir("home"), 0);
    make_library(2);
    assert_int_equal(chdir(".."), 0);
    unlink("home/" WAL);
    unlink("home/" STORE_KIT_DB "-shm");
    assert_int_equal(run_mounted(NULL, NULL, is_readable_here), 0);
}

static void
its_log_is_read_where_nothing_can_be_written(void **state)
{
    (void)state;
    assert_int_equal(mkdir("home", 0700), 0);
    assert_int_equal(chdir("home"), 0);
    make_library_with_log(1, 2);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(run_mounted(NULL, NULL, is_readable_here), 0);
    unlink("home/" STORE_KIT_DB "-shm");
    assert_int_equal(run_mounted(NULL, NULL, is_readable_here), 0);
}

/* -- no room -- */

/* Pieces until there is no more room; the last error. */
static int
fill_up(struct store *s, struct err *err)
{
    static uint8_t much[64 << 10];
    struct store_session row = { .id = store_kit_id(9), .started_at_ns = 1 };
    struct store_piece piece = { .packed = { much, sizeof(much) } };
    struct view words = { (const uint8_t *)"777777", 6 };
    int r = store_begin(s, err);
    if (!r)
        r = store_session_put(s, &row, &piece.key, err);
    for (; !r && piece.number < 1000; piece.number++)
        r = store_piece_put(s, &piece, words, err);
    if (!r)
        return store_commit(s, err);
    store_rollback(s);
    return r;
}

static int
check_full(int code, const char *word)
{
    struct store *s = NULL, *beside = NULL;
    struct err err = { 0 };
    if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, &err) < 0)
        return 2;
    if (fill_up(s, &err) != code || !strstr(err.text, word))
        return fprintf(stderr, "# %s\n", err.text), 3;
    if (store_kit_find(s, NULL, NULL, 0) != 6 || store_check(s, &err) < 0)
        return fprintf(stderr, "# %s\n", err.text), 4;
    store_close(s);
    if (store_new_beside(&beside, STORE_KIT_DB, &err) < 0)
        return 5;
    if (fill_up(beside, &err) != code || store_check(beside, &err) < 0)
        return fprintf(stderr, "# %s\n", err.text), 6;
    store_close(beside);
    if (store_open(&s, STORE_KIT_DB, STORE_READ, 0, &err) < 0)
        return 7;
    return store_kit_find(s, "616161", NULL, 0) != 6 ? 8 : 0;
}

static int
is_well_when_full(void)
{
    make_library(2);
    return check_full(-ENOSPC, "No space left");
}

static void
a_full_disk_is_told_and_what_is_there_stays(void **state)
{
    (void)state;
    assert_int_equal(mkdir("home", 0700), 0);
    assert_int_equal(run_mounted("tmpfs", "size=4m", is_well_when_full), 0);
}

static void
a_file_that_may_not_grow_is_told_and_stays(void **state)
{
    (void)state;
    int status = 0;
    make_library(2);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = { 2 << 20, 2 << 20 };
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(check_full(-EFBIG, "File too large"));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* At every size of the file system: made, or told why not; nothing is left of it. */
static int
is_made_or_not(void)
{
    struct store *s = NULL;
    struct err err = { 0 };
    int r = store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, &err);
    if (r == 0)
        store_close(s);
    else if (r != -ENOSPC || exists(STORE_KIT_DB ".fresh"))
        return fprintf(stderr, "# %s\n", err.text), 2;
    return 0;
}

static void
without_room_for_it_none_is_made(void **state)
{
    (void)state;
    assert_int_equal(mkdir("home", 0700), 0);
    for (int kb = 4; kb < 128; kb += 8) {
        char size[32];
        snprintf(size, sizeof(size), "size=%dk", kb);
        assert_int_equal(run_mounted("tmpfs", size, is_made_or_not), 0);
    }
}

/* -- scrub -- */

static bool
holds(const char *path, const void *p, size_t n)
{
    AUTO(buf) b = { 0 };
    if (file_slurp(path, &b) < 0)
        return false;
    return memmem(b.p, b.n, p, n) != NULL;
}

static bool
library_holds(const void *p, size_t n)
{
    return holds(STORE_KIT_DB, p, n) || holds(WAL, p, n) ||
           holds(STORE_KIT_DB "-journal", p, n) || holds(STORE_KIT_DB "-shm", p, n);
}

#define SECRET "hunter2-is-the-secret"

static struct view
words_of(int i, char room[32])
{
    int n = snprintf(room, 32, "abcdef %06x", (unsigned)i);
    return (struct view){ (uint8_t *)room, (size_t)n };
}

static void
put_text(struct store *s, int i, uint32_t *rng, const char *text)
{
    uint8_t packed[6000];
    char room[32];
    size_t n = strlen(text);
    size_t size = rng_between(rng, 50, rng_below(rng, 4) ? 900 : sizeof(packed));
    uint64_t start_ms = rng_below(rng, 100000);
    struct store_session row = { .id = store_kit_id(i),
                                 .task = text,
                                 .command = text,
                                 .started_at_ns = start_ms * 1000000 };
    struct store_piece piece = { .packed = { packed, size } };
    struct store_moment moment = { .text = { (const uint8_t *)text, n } };
    memset(packed, 'x', sizeof(packed));
    memcpy(packed, moment.text.p, n);
    memcpy(packed + size - n, moment.text.p, n);
    store_kit_must(store_session_put(s, &row, &piece.key, NULL));
    store_kit_must(store_moment_put(s, piece.key, &moment, NULL));
    store_kit_must(store_piece_put(s, &piece, words_of(i, room), NULL));
}

static void
drop_text(struct store *s, int i)
{
    char room[32];
    int64_t key = 0;
    assert_int_equal(store_key(s, store_kit_id(i), &key, NULL), 1);
    store_kit_must(store_piece_remove(s, key, 0, words_of(i, room), NULL));
    store_kit_must(store_session_delete(s, store_kit_id(i), NULL));
}

/* SQLite's own secure_delete leaves copies of rows that went from page to page. */
static void
a_scrub_leaves_nothing_of_what_was_deleted(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    uint32_t rng = rng_seed(3);
    bool is_there[MANY + 1] = { false };
    struct store *s = store_kit_open(STORE_WRITE);
    for (int i = 1; i <= MANY; i++) {
        store_kit_must(store_begin(s, NULL));
        for (int k = (int)rng_between(&rng, 1, MANY); is_there[k]; is_there[k] = false)
            drop_text(s, k);
        put_text(s, i, &rng, i % 2 ? SECRET : "everybody may know this");
        is_there[i] = true;
        store_kit_must(store_commit(s, NULL));
    }
    assert_true(library_holds(SECRET, strlen(SECRET)));
    store_kit_must(store_begin(s, NULL));
    for (int i = 1; i <= MANY; i += 2)
        if (is_there[i])
            drop_text(s, i);
    store_kit_must(store_commit(s, NULL));
    store_kit_must(store_scrub(s, NULL));
    assert_false(library_holds(SECRET, strlen(SECRET)));
    assert_true(library_holds("everybody may know this", 23));
    store_kit_must(store_check(s, NULL));
    store_close(s);
    assert_false(library_holds(SECRET, strlen(SECRET)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(where_there_is_none_a_reader_makes_none),
        KIT_IN_DIR(an_empty_file_is_none_and_is_made_one),
        KIT_IN_DIR(what_is_no_library_is_refused_and_kept),
        KIT_IN_DIR(one_that_only_claims_to_be_a_library_is_damaged),
        KIT_IN_DIR(ids_that_are_none_are_not_given_out),
        KIT_IN_DIR(a_newer_one_is_refused_and_kept),
        KIT_IN_DIR(an_older_one_is_brought_up_to_date_by_a_writer),
        KIT_IN_DIR(one_without_turns_gets_them),
        KIT_IN_DIR(one_whose_usage_has_no_days_is_indexed_anew),
        KIT_IN_DIR(steps_are_taken_once_all_or_none),
        KIT_IN_DIR(many_bring_it_up_to_date_at_once),
        KIT_IN_DIR(a_log_beside_no_library_is_not_taken_for_the_new_ones),
        KIT_IN_DIR(a_log_of_another_library_is_told_and_harms_nothing),
        KIT_IN_DIR(a_log_of_another_library_shows_after_a_scrub_too),
        KIT_IN_DIR(a_log_that_is_none_is_passed_over),
        KIT_IN_DIR(without_its_log_it_is_as_before_that),
        KIT_IN_DIR(cut_anywhere_it_is_damaged_and_says_so),
        KIT_IN_DIR(with_bytes_changed_there_are_answers_or_errors_of_ours),
        KIT_IN_DIR(its_files_are_private_whatever_the_umask),
        KIT_IN_DIR(it_is_read_where_nothing_can_be_written),
        KIT_IN_DIR(its_log_is_read_where_nothing_can_be_written),
        KIT_IN_DIR(a_full_disk_is_told_and_what_is_there_stays),
        KIT_IN_DIR(a_file_that_may_not_grow_is_told_and_stays),
        KIT_IN_DIR(without_room_for_it_none_is_made),
        KIT_IN_DIR(a_scrub_leaves_nothing_of_what_was_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
