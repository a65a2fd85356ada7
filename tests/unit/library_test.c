/* SPDX-License-Identifier: MIT */
/* library_test.c -- sessions of a home: found, listed, ended by one of many, and where
 * their keyframes are. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "library/keyframes.h"
#include "library/reach.h"
#include "library/recover.h"
#include "session/lines.h"
#include "session/meta.h"
#include "support/kit.h"

enum { RECORDS = 40 };

#define UUID     "-01234567-89ab-4cde-8f01-23456789abc"
#define FIRST    "2026-01-02" UUID "0"
#define SECOND   "2026-01-02" UUID "1"
#define THIRD    "2026-01-03" UUID "2"
#define LIVE     "home/live/"
#define SESSIONS "home/sessions/"

static int
enter_home(void **state)
{
    setenv("AHR_HOME", "home", 1);
    return kit_enter_dir(state);
}

static void
add_meta(const char *dir, const char *id, const char *name, uint64_t started_at_ns)
{
    AUTO(buf) path = { 0 };
    struct session_meta m = {
        .id = id, .name = name, .exit_code = -1, .started_at_ns = started_at_ns
    };
    assert_int_equal(file_make_dirs(dir), 0);
    buf_printf(&path, "%s/session.meta.json", dir);
    assert_int_equal(session_meta_write(buf_str(&path), &m, false, NULL), 0);
}

/* A recording that nobody has ended. */
static void
add_cut_off(const char *dir)
{
    AUTO(buf) path = { 0 };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_bytes = 1 << 16; /* all of it is in the first tail */
    assert_int_equal(file_make_dirs(dir), 0);
    buf_printf(&path, "%s/session.ahr", dir);
    pid_t recorder = fork();
    if (!recorder) {
        struct tape_writer *w;
        if (tape_writer_open(&w, tape_io_files(), buf_str(&path), &opt, NULL) < 0)
            _exit(1);
        kit_append(w, 1, RECORDS, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(recorder, &status, 0), recorder);
    assert_int_equal(status, 0);
}

static void
assert_found(const char *what, const char *id, bool is_live)
{
    AUTO(library_found) f = { 0 };
    AUTO(buf) end = { 0 };
    struct err err = { 0 };
    assert_int_equal(library_find(&f, what, &err), 0);
    assert_string_equal(f.id, id);
    assert_int_equal(f.is_live, is_live);
    buf_printf(&end, "/home/%s/%s/session.ahr", is_live ? "live" : "sessions", id);
    assert_non_null(strstr(buf_str(&f.tape_path), buf_str(&end)));
    assert_non_null(strstr(buf_str(&f.meta_path), "/session.meta.json"));
}

static void
assert_not_found(const char *what, int code)
{
    struct library_found f = { .is_live = true };
    struct err err = { 0 };
    assert_int_equal(library_find(&f, what, &err), code);
    assert_int_equal(err.code, code);
    assert_true(f.is_live && !f.tape_path.p); /* untouched */
}

static void
a_session_is_found_where_it_lies(void **state)
{
    (void)state;
    add_meta(SESSIONS FIRST, FIRST, "one", 5);
    add_meta(SESSIONS SECOND, SECOND, "one", 4);
    add_meta(LIVE THIRD, THIRD, NULL, 3);
    assert_found(FIRST, FIRST, false);
    assert_found(THIRD, THIRD, true);
    assert_found("2026-01-03", THIRD, true);
    assert_found("last", THIRD, true);
    assert_found("one", FIRST, false);
    assert_not_found("2026-01-02", ERR_USAGE);
    assert_not_found("2027", ERR_MISSING);
    assert_not_found("202", ERR_MISSING); /* too short to stand for an id */
    assert_not_found("two", ERR_MISSING);
}

static void
a_path_is_taken_as_it_is(void **state)
{
    (void)state;
    static const char *const paths[] = { "nowhere/x", "x.ahr", "./last", "there" };
    assert_int_equal(file_replace("there", (struct view){ 0 }, false, NULL), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        AUTO(library_found) f = { 0 };
        assert_int_equal(library_find(&f, paths[i], NULL), 0);
        assert_string_equal(buf_str(&f.tape_path), paths[i]);
        assert_int_equal(f.meta_path.n, 0);
        assert_string_equal(f.id, "");
        assert_false(f.is_live);
    }
}

static void
a_session_in_both_places_is_one_and_has_ended(void **state)
{
    (void)state;
    add_meta(LIVE FIRST, FIRST, "live", 5);
    add_meta(SESSIONS FIRST, FIRST, "ended", 5);
    assert_found(FIRST, FIRST, false);
    assert_found("2026", FIRST, false);
    assert_found("ended", FIRST, false);
    assert_not_found("live", ERR_MISSING);
}

static void
those_without_a_recorder_are_listed(void **state)
{
    (void)state;
    AUTO(buf) ids = { 0 };
    static const char want[] = FIRST "\0" THIRD;
    assert_int_equal(library_interrupted(&ids, NULL, NULL), 0);
    assert_int_equal(ids.n, 0);
    file_make_dirs(LIVE THIRD);
    file_make_dirs(LIVE SECOND);
    file_make_dirs(LIVE FIRST);
    file_make_dirs(LIVE "other");
    file_make_dirs(SESSIONS "2026-01-04" UUID "3");
    assert_int_equal(file_replace(LIVE SECOND "/lock", (struct view){ 0 }, false, NULL),
                     0);
    FILE *lock = fopen(LIVE SECOND "/lock", "re");
    assert_int_equal(flock(fileno(lock), LOCK_EX), 0);
    assert_int_equal(library_interrupted(&ids, NULL, NULL), 0);
    assert_int_equal(ids.n, sizeof(want));
    assert_memory_equal(ids.p, want, sizeof(want));
    fclose(lock);
}

/* -- reached -- */

/* Somebody holds the lock of this session of live/ until it is closed. */
static FILE *
hold(const char *id)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, LIVE "%s/lock", id);
    FILE *lock = fopen(buf_str(&path), "we");
    assert_int_equal(flock(fileno(lock), LOCK_EX), 0);
    return lock;
}

static void
assert_out_of_reach(const char *what, const char *why)
{
    struct library_live live;
    struct err err;
    assert_int_equal(library_reach(&live, what, &err), ERR_MISSING);
    assert_string_equal(err.text, why);
}

static void
a_held_session_is_reached_by_its_socket(void **state)
{
    (void)state;
    AUTO(library_live) live = { 0 };
    struct err err;
    add_meta(LIVE FIRST, FIRST, "mine", 5);
    FILE *lock = hold(FIRST);
    assert_int_equal(library_reach(&live, "mine", &err), 0);
    assert_string_equal(live.found.id, FIRST);
    assert_non_null(strstr(buf_str(&live.ctl_path), "/live/" FIRST "/ctl.sock"));
    assert_non_null(
        strstr(buf_str(&live.done_tape_path), "/sessions/" FIRST "/session.ahr"));
    assert_int_equal(chmod(LIVE FIRST, 0755), 0);
    library_live_release(&live);
    live = (struct library_live){ 0 };
    assert_int_equal(library_reach(&live, "mine", &err), -EPERM);
    fclose(lock);
}

static void
a_recording_elsewhere_stays_there(void **state)
{
    (void)state;
    AUTO(library_live) live = { 0 };
    static const char out_file[] = "/elsewhere/x.ahr\n";
    assert_int_equal(file_make_dirs(LIVE FIRST), 0);
    assert_int_equal(
        file_replace(LIVE FIRST "/out-file",
                     (struct view){ (const uint8_t *)out_file, strlen(out_file) }, false,
                     NULL),
        0);
    FILE *lock = hold(FIRST);
    assert_int_equal(library_reach(&live, FIRST, NULL), 0);
    assert_string_equal(buf_str(&live.done_tape_path), "/elsewhere/x.ahr");
    fclose(lock);
}

static void
the_last_one_is_the_newest_that_is_held(void **state)
{
    (void)state;
    static const char *const whats[] = { NULL, "last" };
    assert_out_of_reach(NULL, "no session is being recorded");
    add_meta(LIVE FIRST, FIRST, "a", 7);
    add_meta(LIVE SECOND, SECOND, "b", 6);
    add_meta(LIVE THIRD, THIRD, "gone", 9);
    add_meta(SESSIONS "2026-01-04" UUID "3", "2026-01-04" UUID "3", "ended", 10);
    assert_out_of_reach("last", "no session is being recorded");
    FILE *second = hold(SECOND);
    for (int round = 0; round < 2; round++) {
        FILE *first = round ? hold(FIRST) : NULL;
        for (size_t i = 0; i < 2; i++) {
            AUTO(library_live) live = { 0 };
            assert_int_equal(library_reach(&live, whats[i], NULL), 0);
            assert_string_equal(live.found.id, round ? FIRST : SECOND);
        }
        if (first)
            fclose(first);
    }
    fclose(second);
}

static void
what_is_out_of_reach_is_told_why(void **state)
{
    (void)state;
    struct session_meta m = { .id = FIRST, .name = "done", .status = SESSION_COMPLETED };
    assert_int_equal(file_make_dirs(SESSIONS FIRST), 0);
    assert_int_equal(
        session_meta_write(SESSIONS FIRST "/session.meta.json", &m, false, NULL), 0);
    assert_int_equal(file_make_dirs(SESSIONS SECOND), 0);
    add_meta(LIVE THIRD, THIRD, "gone", 9);
    assert_out_of_reach("done",
                        "session 'done' has ended (completed); 'ahr view done' shows it");
    assert_out_of_reach(SECOND, "session '" SECOND "' has ended");
    assert_out_of_reach("gone", "the recorder of session 'gone' has vanished; 'ahr "
                                "recover gone' makes the recording whole");
    assert_out_of_reach("nobody",
                        "no session or file 'nobody'; 'ahr list' lists the sessions");
    assert_out_of_reach("./x.ahr", "'./x.ahr' is a file; a session that is being "
                                   "recorded goes by its id or its name");
}

/* -- recovered -- */

static void
what_cannot_be_recovered_leaves_the_results_alone(void **state)
{
    (void)state;
    AUTO(buf) path = { 0 };
    struct tape_repair_report report = { .blocks = 77 };
    struct err err;
    assert_int_equal(library_recover(FIRST, false, NULL, &report, &path, NULL, &err),
                     ERR_MISSING);
    add_cut_off(LIVE FIRST);
    assert_int_equal(file_replace(LIVE FIRST "/lock", (struct view){ 0 }, false, NULL),
                     0);
    FILE *lock = fopen(LIVE FIRST "/lock", "re");
    assert_int_equal(flock(fileno(lock), LOCK_EX), 0);
    assert_int_equal(library_recover(FIRST, false, NULL, &report, &path, NULL, &err),
                     ERR_BUSY);
    fclose(lock);
    assert_int_equal(err.code, ERR_BUSY);
    assert_int_equal(path.n, 0);
    assert_int_equal(report.blocks, 77);
}

/* A recording with snapshots 1 … count whose recorder has vanished. */
static void
add_snapshots(const char *tape_path, unsigned count)
{
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    pid_t recorder = fork();
    if (!recorder) {
        struct tape_writer *w;
        if (tape_writer_open(&w, tape_io_files(), tape_path, &opt, NULL) < 0)
            _exit(1);
        for (unsigned i = 1; i <= count; i++)
            tape_writer_append(
                w, (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                         .ts_ns = KIT_START + i,
                                         .snapshot_id = i,
                                         .byte_off = i,
                                         .bytes = { (const uint8_t *)"a\"b", 3 } });
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(recorder, &status, 0), recorder);
    assert_int_equal(status, 0);
}

static void
put_line(struct buf *out, unsigned i, bool is_manual)
{
    session_snapshot_line(out, i, KIT_START + i,
                          (struct view){ (const uint8_t *)"a\"b", 3 }, is_manual, i);
}

static void
recover_first(void)
{
    AUTO(buf) path = { 0 };
    struct tape_repair_report report;
    struct err err;
    assert_int_equal(library_recover(FIRST, false, NULL, &report, &path, NULL, &err), 0);
}

static void
assert_lines(const char *path, struct buf *want)
{
    AUTO(buf) text = { 0 };
    assert_int_equal(file_slurp(path, &text), 0);
    assert_string_equal(buf_str(&text), buf_str(want));
}

static void
snapshots_without_a_line_get_one(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    assert_int_equal(file_make_dirs(LIVE FIRST), 0);
    add_snapshots(LIVE FIRST "/session.ahr", 5);
    put_line(&text, 2, true);
    put_line(&text, 4, false);
    buf_puts(&text, "{\"id\":5,\"ts"); /* torn */
    assert_int_equal(file_replace(LIVE FIRST "/session.snapshots.jsonl",
                                  (struct view){ text.p, text.n }, false, NULL),
                     0);
    recover_first();
    buf_puts(&text, "\n");
    put_line(&text, 1, false);
    put_line(&text, 3, false);
    put_line(&text, 5, false);
    assert_lines(SESSIONS FIRST "/session.snapshots.jsonl", &text);
    /* Once more, as after a recovery that was killed: nothing is added. */
    assert_int_equal(rename(SESSIONS FIRST, LIVE FIRST), 0);
    recover_first();
    assert_lines(SESSIONS FIRST "/session.snapshots.jsonl", &text);
}

static void
lines_stand_beside_an_out_file(void **state)
{
    (void)state;
    AUTO(buf) out_file = { 0 };
    AUTO(buf) text = { 0 };
    char *here = realpath(".", NULL);
    assert_int_equal(file_make_dirs(LIVE FIRST), 0);
    buf_printf(&out_file, "%s/x.ahr", here);
    free(here);
    assert_int_equal(file_replace(LIVE FIRST "/out-file",
                                  (struct view){ out_file.p, out_file.n }, false, NULL),
                     0);
    add_snapshots(buf_str(&out_file), 1);
    recover_first();
    put_line(&text, 1, false);
    assert_lines("x.snapshots.jsonl", &text);
}

static void
a_session_without_snapshots_gets_no_file_of_them(void **state)
{
    (void)state;
    assert_int_equal(file_make_dirs(LIVE FIRST), 0);
    add_snapshots(LIVE FIRST "/session.ahr", 0);
    recover_first();
    assert_int_equal(access(SESSIONS FIRST "/session.ahr", F_OK), 0);
    assert_int_equal(access(SESSIONS FIRST "/session.snapshots.jsonl", F_OK), -1);
}

static void
only_sessions_are_recovered(void **state)
{
    (void)state;
    static const char *const others[] = { "", ".", "../live", "../../home", "x" };
    file_make_dirs(LIVE "x");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        AUTO(buf) path = { 0 };
        struct tape_repair_report report;
        assert_int_equal(
            library_recover(others[i], false, NULL, &report, &path, NULL, NULL),
            ERR_MISSING);
    }
    assert_int_equal(rmdir(LIVE "x"), 0); /* there, and empty */
    assert_int_equal(rmdir("home/live"), 0);
}

static void
a_dry_run_changes_nothing(void **state)
{
    (void)state;
    AUTO(buf) path = { 0 };
    struct tape_repair_report report;
    add_cut_off(LIVE FIRST);
    assert_int_equal(library_recover(FIRST, true, NULL, &report, &path, NULL, NULL), 0);
    assert_true(report.is_changed && report.sealed_records > 0);
    assert_non_null(strstr(buf_str(&path), "/live/" FIRST "/session.ahr"));
    assert_int_equal(access(LIVE FIRST "/session.ahr.tail-0", F_OK), 0);
    assert_int_equal(access(LIVE FIRST "/session.meta.json", F_OK), -1);
}

/* Tells 'd' when it has recovered the session, 'l' when somebody else was sooner. */
static void
start_recoverer(int says)
{
    if (fork())
        return;
    AUTO(buf) path = { 0 };
    struct tape_repair_report report;
    int r = library_recover(FIRST, false, NULL, &report, &path, NULL, NULL);
    const char *how = r == ERR_BUSY || r == ERR_MISSING ? "l" : r ? "x" : "d";
    (void)!write(says, how, 1);
    _exit(0);
}

static void
of_many_who_recover_a_session_one_does(void **state)
{
    (void)state;
    enum { RECOVERERS = 4 };
    for (int round = 0; round < kit_times(10, 200); round++) {
        int says[2], done = 0, late = 0;
        add_cut_off(LIVE FIRST);
        add_meta(LIVE FIRST, FIRST, "cut", 5);
        assert_int_equal(pipe(says), 0);
        for (int i = 0; i < RECOVERERS; i++)
            start_recoverer(says[1]);
        close(says[1]);
        for (char how; file_read(says[0], &how, 1) == 1;) {
            done += how == 'd';
            late += how == 'l';
        }
        close(says[0]);
        while (wait(NULL) > 0)
            continue;
        assert_int_equal(done, 1);
        assert_int_equal(late, RECOVERERS - 1);

        struct session_facts facts;
        struct kit_result *res = calloc(1, sizeof(*res));
        assert_int_equal(
            session_meta_read(SESSIONS FIRST "/session.meta.json", &facts, NULL), 0);
        assert_string_equal(facts.status, "interrupted");
        assert_string_equal(facts.name, "cut");
        assert_true(facts.ended_at_ns > KIT_START);
        kit_read(tape_io_files(), SESSIONS FIRST "/session.ahr", res);
        assert_true(kit_is_prefix(res));
        assert_int_equal(res->count, RECORDS);
        kit_release(res);
        free(res);
        assert_int_equal(rmdir("home/live"), 0);
        kit_remove_dir(strdup("home"));
    }
}

/* -- keyframes -- */

static void
write_file(const char *path, size_t n, time_t age_s)
{
    struct timespec times[2] = { { time(NULL) - age_s, 0 }, { time(NULL) - age_s, 0 } };
    AUTO(buf) dir = { 0 };
    buf_append(&dir, path, file_dir_len(path));
    assert_int_equal(dir.n ? file_make_dirs(buf_str(&dir)) : 0, 0);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)n), 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

/* The path of the keyframes of what is called so, under the current folder; or its error.
 */
static int
keyframes_of(const char *what, struct buf *ret)
{
    AUTO(library_found) f = { 0 };
    AUTO(buf) path = { 0 };
    char here[4096];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(library_find(&f, what, NULL), 0);
    int r = library_keyframes_path(&f, &path);
    if (r < 0)
        return r;
    assert_memory_equal(buf_str(&path), here, strlen(here));
    buf_clear(ret);
    return buf_puts(ret, buf_str(&path) + strlen(here) + 1);
}

static void
keyframes_lie_beside_a_session_and_in_a_cache_for_other_files(void **state)
{
    (void)state;
    AUTO(buf) path = { 0 };
    AUTO(buf) cache = { 0 };
    char here[4096];
    assert_non_null(getcwd(here, sizeof(here)));
    buf_printf(&cache, "%s/cache", here);
    setenv("XDG_CACHE_HOME", buf_str(&cache), 1);
    add_meta(SESSIONS FIRST, FIRST, "done", 5);
    add_meta(LIVE SECOND, SECOND, "live", 5);
    write_file(SESSIONS FIRST "/session.ahr", 0, 0);
    write_file(SESSIONS FIRST "/other.ahr", 0, 0);
    write_file(LIVE SECOND "/session.ahr", 0, 0);
    write_file("plain.ahr", 0, 0);
    write_file("home/sessions/session.ahr", 0, 0);
    static const char *const inside[] = { FIRST, "done", SESSIONS FIRST "/session.ahr" };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(keyframes_of(inside[i], &path), 0);
        assert_string_equal(buf_str(&path), SESSIONS FIRST "/keyframes");
    }
    assert_int_equal(keyframes_of(SECOND, &path), -EBUSY);
    static const char *const outside[] = { "./plain.ahr", SESSIONS FIRST "/other.ahr",
                                           "home/sessions/session.ahr" };
    for (size_t i = 0; i < 3; i++) {
        struct stat st;
        assert_int_equal(keyframes_of(outside[i], &path), 0);
        assert_memory_equal(buf_str(&path), "cache/ahr/keyframes/", 20);
        assert_int_equal(stat("cache/ahr/keyframes", &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
    }
}

#define CACHED "cache/ahr/keyframes/00000000000000"

static void
the_cache_of_keyframes_does_not_grow_without_end(void **state)
{
    (void)state;
    AUTO(buf) path = { 0 };
    AUTO(buf) cache = { 0 };
    char here[4096], name[64];
    assert_non_null(getcwd(here, sizeof(here)));
    buf_printf(&cache, "%s/cache", here);
    setenv("XDG_CACHE_HOME", buf_str(&cache), 1);
    write_file("plain.ahr", 0, 0);
    assert_int_equal(keyframes_of("./plain.ahr", &path), 0);
    write_file(buf_str(&path), 10, 5000); /* old, but it is the one that is wanted */
    write_file("cache/ahr/keyframes/letter.txt", 10, 6000); /* of somebody else */
    for (int i = 0; i < LIBRARY_KEYFRAMES_FILES + 20; i++) {
        snprintf(name, sizeof(name), "cache/ahr/keyframes/%016d", i);
        write_file(name, 10, 100 + i);
    }
    assert_int_equal(keyframes_of("./plain.ahr", &path), 0);
    assert_int_equal(access(buf_str(&path), F_OK), 0);
    assert_int_equal(access(CACHED "98", F_OK), 0);
    assert_int_equal(access(CACHED "99", F_OK), -1);
    write_file(CACHED "ff.new", LIBRARY_KEYFRAMES_BYTES, 50);
    assert_int_equal(keyframes_of("./plain.ahr", &path), 0);
    assert_int_equal(access(buf_str(&path), F_OK), 0);
    assert_int_equal(access(CACHED "ff.new", F_OK), -1);
    assert_int_equal(access("cache/ahr/keyframes/letter.txt", F_OK), 0);
    assert_int_equal(access(CACHED "98", F_OK), 0);
}

/* A stored session of that many bytes, 64 KiB a block. */
static void
add_long(const char *id, size_t bytes)
{
    static const uint8_t text[65536] = "\x1b[31mtext\r\n";
    AUTO(buf) path = { 0 };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st;
    struct tape_writer *w;
    opt.block_bytes = sizeof(text);
    buf_printf(&path, SESSIONS "%s", id);
    assert_int_equal(file_make_dirs(buf_str(&path)), 0);
    buf_puts(&path, "/session.ahr");
    assert_int_equal(tape_writer_open(&w, tape_io_files(), buf_str(&path), &opt, NULL),
                     0);
    for (size_t at = 0; at < bytes; at += sizeof(text)) {
        struct tape_record rec = { .tag = TAPE_DATA,
                                   .ts_ns = KIT_START + at,
                                   .bytes = { text, sizeof(text) } };
        assert_int_equal(tape_writer_append(w, rec), TAPE_SAVED);
    }
    assert_int_equal(tape_writer_finish(w, KIT_START + bytes, &st, NULL), 0);
}

static void
keyframes_are_made_where_they_help(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct stat st;
    add_long(FIRST, LIBRARY_KEYFRAMES_WORTH / 2);
    assert_int_equal(library_keyframes_make("home", FIRST, &err), 0);
    assert_int_equal(access(SESSIONS FIRST "/keyframes", F_OK), -1);
    add_long(SECOND, LIBRARY_KEYFRAMES_WORTH * 3);
    assert_int_equal(library_keyframes_make("home", SECOND, &err), 1);
    assert_int_equal(stat(SESSIONS SECOND "/keyframes", &st), 0);
    assert_true(st.st_size > 128); /* more than its head */
    assert_int_equal(library_keyframes_make("home", SECOND, &err), 1);
    assert_int_equal(library_keyframes_make("home", THIRD, &err), ERR_MISSING);
}

#define IN_HOME(test) cmocka_unit_test_setup_teardown(test, enter_home, kit_leave_dir)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_HOME(a_session_is_found_where_it_lies),
        IN_HOME(a_path_is_taken_as_it_is),
        IN_HOME(a_session_in_both_places_is_one_and_has_ended),
        IN_HOME(those_without_a_recorder_are_listed),
        IN_HOME(what_cannot_be_recovered_leaves_the_results_alone),
        IN_HOME(a_held_session_is_reached_by_its_socket),
        IN_HOME(a_recording_elsewhere_stays_there),
        IN_HOME(the_last_one_is_the_newest_that_is_held),
        IN_HOME(what_is_out_of_reach_is_told_why),
        IN_HOME(snapshots_without_a_line_get_one),
        IN_HOME(lines_stand_beside_an_out_file),
        IN_HOME(a_session_without_snapshots_gets_no_file_of_them),
        IN_HOME(only_sessions_are_recovered),
        IN_HOME(a_dry_run_changes_nothing),
        IN_HOME(of_many_who_recover_a_session_one_does),
        IN_HOME(keyframes_lie_beside_a_session_and_in_a_cache_for_other_files),
        IN_HOME(the_cache_of_keyframes_does_not_grow_without_end),
        IN_HOME(keyframes_are_made_where_they_help),
    };
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
