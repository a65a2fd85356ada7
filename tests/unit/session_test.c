/* SPDX-License-Identifier: MIT */
/* session_test.c -- ids and names, the home, a session's folder from its first moment to
 * its last, and its facts. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "session/folder.h"
#include "session/hold.h"
#include "session/home.h"
#include "session/meta_priv.h"
#include "support/kit.h"

#define ID      "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd"
#define LIVE    "home/live/" ID
#define ENDED   "home/sessions/" ID
#define START_S UINT64_C(1767398400) /* 2026-01-03 00:00 UTC */

static bool
exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static unsigned
mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* -- ids, names, home -- */

static void
an_id_has_the_local_day_and_its_uuid(void **state)
{
    (void)state;
    static const struct {
        const char *zone, *day;
    } cases[] = {
        { "UTC0", "2026-01-03-" },
        { "AAA1", "2026-01-02-" }, /* west of Greenwich */
        { "BBB-14", "2026-01-03-" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char id[SESSION_ID_LEN + 1], hex[33];
        uint8_t uuid[16];
        setenv("TZ", cases[i].zone, 1);
        tzset();
        assert_int_equal(session_id_make(START_S * 1000000000 + 5, id, uuid), 0);
        assert_true(session_id_is(id));
        assert_memory_equal(id, cases[i].day, strlen(cases[i].day));
        for (size_t k = 0; k < 16; k++)
            snprintf(hex + 2 * k, 3, "%02x", uuid[k]);
        size_t at = strlen(cases[i].day);
        for (size_t k = 0; k < 32; k++, at++) {
            at += id[at] == '-';
            assert_int_equal(id[at], hex[k]);
        }
    }
    unsetenv("TZ");
    tzset();
}

static void
ids_and_names_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_id, is_name, may_begin;
    } cases[] = {
        { ID, true, false, true },
        { ID "0", false, true, false },
        { "2026-01-02-01234567-89ab-4cde-8f01-23456789abcD", false, true, false },
        { "2026", false, false, true },
        { "2026-01-02-0", false, false, true },
        { "2026-01-02x", false, true, false },
        { "202", false, true, false },
        { "ARCH-001", false, true, false },
        { "fix.login_2", false, true, false },
        { "last", false, false, false },
        { "Last", false, true, false },
        { "", false, false, false },
        { ".hidden", false, false, false },
        { "-x", false, false, false },
        { "x.ahr", false, false, false },
        { "a/b", false, false, false },
        { "a b", false, false, false },
        { "\xc3\xa4", false, false, false },
        { "a\n", false, false, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(session_id_is(cases[i].text), cases[i].is_id);
        assert_int_equal(session_name_is(cases[i].text), cases[i].is_name);
        assert_int_equal(session_id_may_begin(cases[i].text), cases[i].may_begin);
    }
    char name[66];
    memset(name, 'n', 65);
    name[65] = 0;
    assert_false(session_name_is(name));
    name[64] = 0;
    assert_true(session_name_is(name));
}

static void
set_or_clear(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

static void
the_home_is_what_the_first_fitting_variable_says(void **state)
{
    AUTO(buf) here = { 0 };
    static const struct {
        const char *ahr, *xdg, *home, *path; /* NULL: none */
    } cases[] = {
        { "/a", "/x", "/h", "/a" },
        { "", "/x", "/h", "/x/ahr" },
        { NULL, "x", "/h", "/h/.local/share/ahr" },
        { NULL, NULL, "/h", "/h/.local/share/ahr" },
        { NULL, NULL, "h", NULL },
        { NULL, NULL, NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) path = { 0 };
        struct err err = { 0 };
        set_or_clear("AHR_HOME", cases[i].ahr);
        set_or_clear("XDG_DATA_HOME", cases[i].xdg);
        set_or_clear("HOME", cases[i].home);
        int r = session_home(&path, &err);
        assert_int_equal(r, cases[i].path ? 0 : ERR_MISSING);
        assert_string_equal(buf_str(&path), cases[i].path ? cases[i].path : "");
        assert_int_equal(!*err.text, cases[i].path != NULL);
    }
    setenv("AHR_HOME", "rel/ative", 1);
    buf_printf(&here, "%s/rel/ative", (char *)*state);
    AUTO(buf) path = { 0 };
    assert_int_equal(session_home(&path, NULL), 0);
    assert_string_equal(buf_str(&path), buf_str(&here));
}

/* -- the folder -- */

static void
a_folder_is_made_and_moves_to_its_place(void **state)
{
    (void)state;
    static const mode_t masks[] = { 0777, 0, 022 };
    for (size_t i = 0; i < 3; i++) {
        struct session_folder f;
        umask(masks[i]);
        assert_int_equal(session_folder_make(&f, "home", ID, NULL, NULL), 0);
        assert_string_equal(f.dir, LIVE);
        assert_string_equal(f.tape_path, LIVE "/session.ahr");
        assert_string_equal(f.meta_path, LIVE "/session.meta.json");
        assert_false(f.is_outside);
        assert_true(fcntl(f.lock_fd, F_GETFD) & FD_CLOEXEC);
        assert_int_equal(mode_of("home"), 0700);
        assert_int_equal(mode_of("home/live"), 0700);
        assert_int_equal(mode_of(LIVE), 0700);
        assert_int_equal(mode_of(LIVE "/lock"), 0600);
        kit_write_file(f.tape_path, "tape");
        assert_int_equal(session_folder_finish(&f, NULL), 0);
        assert_string_equal(f.dir, ENDED);
        assert_string_equal(f.meta_path, ENDED "/session.meta.json");
        kit_assert_file(f.tape_path, "tape");
        assert_int_equal(mode_of("home/sessions"), 0700);
        assert_false(exists(LIVE));
        assert_false(exists(ENDED "/lock"));
        session_folder_release(&f);
        unlink(ENDED "/session.ahr");
        rmdir(ENDED);
        rmdir("home/sessions");
    }
}

static void
a_staged_folder_is_nobodys_until_it_is_finished(void **state)
{
    (void)state;
    struct session_folder f;
    assert_int_equal(session_folder_stage(&f, "home", ID, NULL), 0);
    assert_true(exists("home/live/.new-" ID "/lock") && !exists(LIVE));
    assert_string_equal(f.tape_path, "home/live/.new-" ID "/session.ahr");
    session_folder_discard(&f);
    session_folder_release(&f);
    assert_false(exists("home/live/.new-" ID));

    assert_int_equal(session_folder_stage(&f, "home", ID, NULL), 0);
    assert_int_equal(session_folder_finish(&f, NULL), 0);
    assert_true(exists("home/sessions/" ID) && !exists("home/live/.new-" ID));
    assert_string_equal(f.tape_path, "home/sessions/" ID "/session.ahr");
    session_folder_release(&f);
}

static void
an_out_file_stays_and_the_folder_goes(void **state)
{
    AUTO(buf) out = { 0 };
    AUTO(buf) tape = { 0 };
    AUTO(buf) meta = { 0 };
    struct session_folder f;
    buf_printf(&out, "%s/new/folder/x.ahr", (char *)*state);
    umask(0777);
    assert_int_equal(session_folder_make(&f, "home", ID, buf_str(&out), NULL), 0);
    assert_true(f.is_outside);
    assert_string_equal(f.tape_path, buf_str(&out));
    assert_int_equal(mode_of("new/folder"), 0700);
    assert_int_equal(mode_of(LIVE "/out-file"), 0600);
    assert_int_equal(session_folder_paths(LIVE, &tape, &meta), 0);
    assert_string_equal(buf_str(&tape), f.tape_path);
    assert_string_equal(buf_str(&meta), f.meta_path);
    kit_write_file(f.tape_path, "tape");
    kit_write_file(LIVE "/host.log", "log");
    assert_int_equal(session_folder_finish(&f, NULL), 0);
    kit_assert_file("new/folder/x.ahr", "tape");
    assert_int_equal(rmdir("home/live"), 0); /* nothing is in it */
    session_folder_release(&f);
}

static void
the_meta_lies_beside_the_recording(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "/a/x.ahr", "/a/x.meta.json" },
        { "x", "x.meta.json" },
        { "/a.ahr/x", "/a.ahr/x.meta.json" },
        { "/a/.ahr", "/a/.ahr.meta.json" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) path = { 0 };
        assert_int_equal(session_sibling_path(cases[i][0], "meta.json", &path), 0);
        assert_string_equal(buf_str(&path), cases[i][1]);
    }
}

static void
an_out_file_that_names_nothing_is_damage(void **state)
{
    (void)state;
    static const struct view texts[] = {
        { (const uint8_t *)"", 0 },
        { (const uint8_t *)"\n", 1 },
        { (const uint8_t *)"relative\n", 9 },
        { (const uint8_t *)"/a\0b\n", 5 },
    };
    file_make_dirs(LIVE);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(buf) tape = { 0 };
        AUTO(buf) meta = { 0 };
        struct session_folder f;
        assert_int_equal(file_replace(LIVE "/out-file", texts[i], false, NULL), 0);
        assert_int_equal(session_folder_paths(LIVE, &tape, &meta), ERR_DAMAGED);
        assert_int_equal(tape.n + meta.n, 0);
        assert_int_equal(session_folder_take(&f, "home", ID, NULL), ERR_DAMAGED);
    }
}

static void
a_discarded_folder_leaves_nothing(void **state)
{
    (void)state;
    struct session_folder f;
    assert_int_equal(session_folder_make(&f, "home", ID, NULL, NULL), 0);
    kit_write_file(f.tape_path, "tape");
    kit_write_file(f.meta_path, "{}");
    session_folder_discard(&f);
    session_folder_release(&f);
    assert_int_equal(rmdir("home/live"), 0);
    assert_int_equal(rmdir("home"), 0);
}

static void
a_folder_of_the_same_id_is_not_overwritten(void **state)
{
    (void)state;
    struct session_folder f;
    struct err err;
    assert_int_equal(session_folder_make(&f, "home", ID, NULL, NULL), 0);
    kit_write_file(f.tape_path, "live");
    assert_true(session_folder_make(&f, "home", ID, NULL, &err) < 0);
    assert_false(exists("home/live/.new-" ID));
    file_make_dirs(ENDED);
    kit_write_file(ENDED "/session.ahr", "ended");
    assert_true(session_folder_finish(&f, &err) < 0);
    assert_string_equal(err.text, "cannot move '" LIVE "': '" ENDED "' is already there");
    session_folder_release(&f);
    kit_assert_file(LIVE "/session.ahr", "live");
    kit_assert_file(ENDED "/session.ahr", "ended");
    assert_int_equal(session_folder_take(&f, "home", ID, NULL), 0);
    session_folder_release(&f);
}

static void
a_folder_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    struct session_folder f;
    struct err err;
    kit_write_file("home", "a file");
    assert_int_equal(session_folder_make(&f, "home", ID, NULL, &err), -ENOTDIR);
    assert_string_equal(err.text,
                        "cannot make a folder in 'home/live' (AHR_HOME says where): "
                        "Not a directory");
}

/* -- the lock -- */

/* Waits until the other end of the pipe says something, or is gone. */
static char
hear(int fd)
{
    char c = 0;
    assert_true(file_read(fd, &c, 1) >= 0);
    return c;
}

static void
a_dead_recorders_folder_can_be_taken_a_living_ones_not(void **state)
{
    (void)state;
    int says[2];
    struct session_folder f;
    struct err err;
    assert_int_equal(pipe(says), 0);
    pid_t recorder = fork();
    if (!recorder) {
        int r = session_folder_make(&f, "home", ID, NULL, NULL);
        (void)!write(says[1], r ? "n" : "y", 1);
        for (;;)
            pause();
    }
    close(says[1]);
    assert_int_equal(hear(says[0]), 'y');
    assert_int_equal(session_folder_take(&f, "home", ID, &err), ERR_BUSY);
    assert_string_equal(err.text, "session '" ID "' is being recorded or recovered");
    kill(recorder, SIGKILL);
    waitpid(recorder, NULL, 0);
    assert_int_equal(session_folder_take(&f, "home", ID, &err), 0);
    assert_string_equal(f.tape_path, LIVE "/session.ahr");
    assert_int_equal(session_folder_finish(&f, NULL), 0);
    session_folder_release(&f);
    assert_int_equal(session_folder_take(&f, "home", ID, &err), ERR_MISSING);
    assert_string_equal(err.text, "no session '" ID "' in 'home/live'");
    close(says[0]);
}

/* A child that tries to take the folder, tells how it went, and holds what it has got
 * until the pipe `holds` is closed. */
static pid_t
start_taker(int says, const int holds[2])
{
    pid_t pid = fork();
    if (pid)
        return pid;
    struct session_folder f;
    int r = session_folder_take(&f, "home", ID, NULL);
    close(holds[1]);
    (void)!write(says, !r ? "t" : r == ERR_BUSY ? "b" : "x", 1);
    (void)hear(holds[0]);
    _exit(0);
}

static void
of_many_who_take_a_folder_one_gets_it(void **state)
{
    (void)state;
    enum { TAKERS = 8 };
    file_make_dirs(LIVE); /* without a lock: the first one makes it */
    for (int round = 0; round < kit_times(20, 500); round++) {
        int says[2], holds[2], taken = 0, busy = 0;
        pid_t pids[TAKERS];
        assert_int_equal(pipe(says), 0);
        assert_int_equal(pipe(holds), 0);
        for (int i = 0; i < TAKERS; i++)
            pids[i] = start_taker(says[1], holds);
        close(says[1]);
        for (int i = 0; i < TAKERS; i++) {
            char how = hear(says[0]);
            taken += how == 't';
            busy += how == 'b';
        }
        assert_int_equal(taken, 1);
        assert_int_equal(busy, TAKERS - 1);
        close(holds[1]);
        for (int i = 0; i < TAKERS; i++)
            waitpid(pids[i], NULL, 0);
        close(holds[0]);
        close(says[0]);
        unlink(LIVE "/lock");
    }
}

/* Makes a folder and ends it, again and again, in each way; tells 'n' if a step failed.
 */
static pid_t
start_recorder(int says, const char *out_file, int rounds)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    bool is_fine = true;
    for (int i = 0; i < rounds && is_fine; i++) {
        struct session_folder f;
        is_fine = !session_folder_make(&f, "home", ID, i % 3 == 2 ? out_file : NULL,
                                       NULL);
        if (is_fine && i % 3 == 1)
            session_folder_discard(&f);
        else if (is_fine)
            is_fine = !session_folder_finish(&f, NULL);
        session_folder_release(&f);
        rmdir(ENDED);
    }
    (void)!write(says, is_fine ? "y" : "n", 1);
    _exit(0);
}

static void
nobody_takes_a_folder_while_it_comes_or_goes(void **state)
{
    AUTO(buf) out = { 0 };
    int says[2];
    struct session_folder f;
    buf_printf(&out, "%s/x.ahr", (char *)*state);
    assert_int_equal(pipe2(says, O_NONBLOCK), 0);
    pid_t recorder = start_recorder(says[1], buf_str(&out), kit_times(1500, 100000));
    close(says[1]);
    char how = 0;
    int seen = 0;
    while (read(says[0], &how, 1) < 0) {
        int r = session_folder_take(&f, "home", ID, NULL);
        assert_true(r == ERR_BUSY || r == ERR_MISSING);
        seen += r == ERR_BUSY;
    }
    waitpid(recorder, NULL, 0);
    assert_int_equal(how, 'y');
    print_message("# held %d times\n", seen);
    close(says[0]);
}

/* -- the facts -- */

static void
facts_are_written_in_full(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    static const char *const cmd[] = { "agent", "--say", "\"a\"\n\xff" };
    struct session_meta m = {
        .id = ID,
        .status = SESSION_ABORTED,
        .started_at_ns = 1710000000000000001,
        .ended_at_ns = 1710000000000000002,
        .cmd = cmd,
        .cmd_count = 3,
        .cols = 120,
        .rows = 40,
        .quality = 4,
        .name = "DEV-002",
        .role = "DEVELOPER",
        .task = "t",
        .parent = "ARCH-001",
        .cwd = "/w",
        .signal = "TERM",
        .exit_code = 143,
        .total_bytes = 5,
        .gaps = 1,
        .missing_bytes = 2,
        .is_suspect = true,
        .has_input = true,
    };
    setenv("TERM", "xterm", 1);
    setenv("LANG", "C.UTF-8", 1);
    unsetenv("COLORTERM");
    unsetenv("SHELL");
    session_meta_format(&m, &text);
    const char *got = buf_str(&text);
    assert_non_null(strstr(
        got, "{\"version\":1,\"sessionId\":\"" ID
             "\",\"startedAtNs\":1710000000000000001,\"endedAtNs\":1710000000000000002,"
             "\"cmd\":[\"agent\",\"--say\",\"\\\"a\\\"\\n\xef\xbf\xbd\"],"
             "\"cols\":120,\"rows\":40,\"brotliQ\":4,\"host\":{\"os\":\"linux\","
             "\"arch\":\""));
    assert_non_null(strstr(
        got, "\"},\"name\":\"DEV-002\",\"role\":\"DEVELOPER\",\"task\":\"t\","
             "\"parent\":\"ARCH-001\",\"cwd\":\"/w\",\"status\":\"aborted\","
             "\"exitCode\":143,\"signal\":\"TERM\",\"totalBytes\":5,\"gaps\":1,"
             "\"missingBytes\":2,\"suspect\":true,\"input\":true,\"redacted\":false,"
             "\"ahrVersion\":\"" AHR_VERSION
             "\",\"env\":{\"TERM\":\"xterm\",\"LANG\":\"C.UTF-8\"}}\n"));
}

/* The facts of a run: written, told again, and kept by whoever changes others. */
static void
a_runs_facts_come_back(void **state)
{
    (void)state;
    static const struct session_usage usage = { 10, 20, UINT64_MAX, 0, 3 };
    AUTO(session_told) told = { 0 };
    AUTO(buf) text = { 0 };
    AUTO(buf) made = { 0 };
    struct session_meta m = {
        .id = ID,
        .kind = "stream",
        .agent = "claude",
        .agent_session_id = "abc",
        .model = "m-1",
        .git_branch = "fix/it",
        .project = "/w/.ahr/sessions/RUN-001",
        .usage = &usage,
        .iterations = 2,
        .entire = SESSION_ENTIRE_WANTED,
        .exit_code = -1,
    };
    session_meta_format(&m, &text);
    assert_non_null(
        strstr(buf_str(&text),
               "\"agent\":\"claude\",\"agentSessionId\":\"abc\",\"model\":\"m-1\","
               "\"project\":\"/w/.ahr/sessions/RUN-001\",\"iterations\":2,"
               "\"entire\":false,"
               "\"usage\":{\"input_tokens\":10,\"output_tokens\":20,"
               "\"cache_read_input_tokens\":0,\"calls\":3}"));
    assert_non_null(strstr(buf_str(&text), "\"host\":{")); /* it ran here */
    assert_int_equal(meta_interrupt((struct view){ text.p, text.n }, ID, 7, 9, &made), 0);
    assert_int_equal(meta_tell((struct view){ made.p, made.n }, &told), 0);
    assert_string_equal(told.kind, "stream");
    assert_string_equal(told.agent, "claude");
    assert_string_equal(told.agent_session_id, "abc");
    assert_string_equal(told.model, "m-1");
    assert_string_equal(told.git_branch, "fix/it");
    assert_string_equal(told.project, m.project);
    assert_int_equal(told.iterations, 2);
    assert_int_equal(told.entire, SESSION_ENTIRE_WANTED);
    assert_memory_equal(&told.usage, &usage, sizeof(usage));
}

static void
usage_that_is_odd_is_not_known(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"usage\":7}",
        "{\"usage\":[1]}",
        ("{\"usage\":{\"input_tokens\":-1,\"output_tokens\":\"5\",\"calls\":1.5,"
         "\"cache_read_input_tokens\":null,\"cache_creation_input_tokens\":{}}}"),
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(session_told) told = { 0 };
        assert_int_equal(meta_tell(text_view(texts[i]), &told), 0);
        assert_memory_equal(&told.usage, &SESSION_NO_USAGE, sizeof(told.usage));
    }
    AUTO(buf) text = { 0 };
    struct session_meta m = { .id = ID, .usage = &SESSION_NO_USAGE };
    session_meta_format(&m, &text);
    assert_null(strstr(buf_str(&text), "usage"));
}

static void
a_number_that_is_too_large_costs_only_itself(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\":\"9999999999999999999 \\\"1e999\",\"totalBytes\":9223372036854775808,"
        "\"gaps\":[-9223372036854775809,-9223372036854775808,1E+999,-2e309,1e-999],"
        "\"usage\":{\"input_tokens\":18446744073709551614,\"output_tokens\":"
        "9223372036854775807},\"startedAtNs\":3}";
    struct session_facts facts;
    AUTO(session_told) told = { 0 };
    AUTO(buf) made = { 0 };
    assert_int_equal(meta_parse(text_view(text), &facts), 0);
    assert_string_equal(facts.name, "9999999999999999999 \"1e999");
    assert_int_equal(facts.started_at_ns, 3);
    assert_int_equal(meta_tell(text_view(text), &told), 0);
    assert_int_equal(told.total_bytes, UINT64_MAX);
    assert_int_equal(told.usage.input_tokens, UINT64_MAX);
    assert_int_equal(told.usage.output_tokens, INT64_MAX);
    assert_int_equal(meta_rename(text_view(text), "b", &made), 0);
    assert_string_equal(buf_str(&made),
                        "{\"name\":\"b\",\"totalBytes\":null,\"gaps\":[null,"
                        "-9223372036854775808,null,null,0.0],\"usage\":{"
                        "\"input_tokens\":null,\"output_tokens\":9223372036854775807},"
                        "\"startedAtNs\":3}\n");
}

static void
what_is_written_can_be_read_whatever_the_numbers(void **state)
{
    (void)state;
    const uint64_t big = UINT64_MAX - 1;
    const struct session_usage usage = { big, big, big, big, big };
    const struct session_branch branch = { .from = ID, .snapshot_id = big, big };
    const struct session_lineage lineage = { .resumed_from = ID, .fork_turn = big };
    const struct session_meta m = { .id = ID,
                                    .started_at_ns = big,
                                    .ended_at_ns = big,
                                    .branch = &branch,
                                    .lineage = &lineage,
                                    .total_bytes = big,
                                    .gaps = big,
                                    .missing_bytes = big,
                                    .usage = &usage,
                                    .iterations = big };
    AUTO(session_told) told = { 0 };
    AUTO(buf) text = { 0 };
    session_meta_format(&m, &text);
    assert_int_equal(meta_tell((struct view){ text.p, text.n }, &told), 0);
    assert_int_equal(told.usage.calls, INT64_MAX);
    assert_int_equal(told.total_bytes, INT64_MAX);
    assert_int_equal(told.ended_at_ns, INT64_MAX);
    assert_int_equal(told.branch_byte, INT64_MAX);
    assert_int_equal(told.fork_turn, INT64_MAX);
    assert_int_equal(told.iterations, INT64_MAX);
}

static void
facts_come_back(void **state)
{
    (void)state;
    struct session_facts facts;
    struct session_meta m = { .id = ID,
                              .name = "DEV-002",
                              .status = SESSION_ACTIVE,
                              .exit_code = -1,
                              .started_at_ns = 1710000000000000001 };
    umask(0777);
    for (int is_synced = 0; is_synced < 2; is_synced++) {
        assert_int_equal(session_meta_write("m", &m, is_synced, NULL), 0);
        assert_int_equal(session_meta_read("m", &facts, NULL), 0);
        assert_string_equal(facts.id, ID);
        assert_string_equal(facts.name, "DEV-002");
        assert_string_equal(facts.status, is_synced ? "failed" : "active");
        assert_int_equal(facts.started_at_ns, 1710000000000000001);
        assert_int_equal(facts.ended_at_ns, is_synced);
        m.status = SESSION_FAILED;
        m.ended_at_ns = 1;
    }
    assert_int_equal(mode_of("m"), 0600);
    AUTO(buf) text = { 0 };
    assert_int_equal(file_slurp("m", &text), 0);
    assert_null(strstr(buf_str(&text), "exitCode"));
    assert_null(strstr(buf_str(&text), "signal"));
    assert_null(strstr(buf_str(&text), "null"));
}

static void
what_is_no_meta_is_refused(void **state)
{
    (void)state;
    static const struct view texts[] = {
        { (const uint8_t *)"", 0 },
        { (const uint8_t *)"[]", 2 },
        { (const uint8_t *)"null", 4 },
        { (const uint8_t *)"{", 1 },
        { (const uint8_t *)"{}x", 3 },
        { (const uint8_t *)"{}\0", 3 },
        { (const uint8_t *)"{\"a\":\xff}", 7 },
        { (const uint8_t *)"{\"a\":\"\xff\"}", 9 },
        { (const uint8_t *)"{\"a\":99999999999999999999", 25 },
        { (const uint8_t *)"{\"a\":1e999,\"b", 14 },
        { (const uint8_t *)"{\"a\":1e999,\"b\":1e}", 19 },
        { (const uint8_t *)"{\"a\":1e999,\"b\":01e999}", 23 },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct session_facts facts;
        AUTO(buf) made = { 0 };
        assert_int_equal(meta_parse(texts[i], &facts), ERR_DAMAGED);
        assert_int_equal(meta_interrupt(texts[i], ID, 0, 0, &made), ERR_DAMAGED);
        assert_int_equal(meta_rename(texts[i], "x", &made), ERR_DAMAGED);
        assert_int_equal(made.n, 0);
    }
    AUTO(buf) deep = { 0 };
    buf_puts(&deep, "{\"a\":");
    for (int i = 0; i < 500000; i++)
        buf_puts(&deep, "[");
    struct session_facts facts;
    assert_int_equal(meta_parse((struct view){ deep.p, deep.n }, &facts), ERR_DAMAGED);
}

static void
another_name_leaves_the_rest_in_its_order(void **state)
{
    (void)state;
    static const char text[] = "{\"z\":1,\"name\":7,\"a\":[1,{\"b\":null}],\"y\":2.5}";
    struct view view = { (const uint8_t *)text, sizeof(text) - 1 };
    AUTO(buf) made = { 0 };
    AUTO(buf) none = { 0 };
    AUTO(buf) added = { 0 };
    assert_int_equal(meta_rename(view, "new", &made), 0);
    assert_string_equal(buf_str(&made),
                        "{\"z\":1,\"name\":\"new\",\"a\":[1,{\"b\":null}],\"y\":2.5}\n");
    assert_int_equal(meta_rename(view, NULL, &none), 0);
    assert_string_equal(buf_str(&none), "{\"z\":1,\"a\":[1,{\"b\":null}],\"y\":2.5}\n");
    view = (struct view){ none.p, none.n };
    assert_int_equal(meta_rename(view, "n", &added), 0);
    assert_non_null(strstr(buf_str(&added), ",\"name\":\"n\"}"));
}

static void
what_is_no_file_of_its_size_is_refused(void **state)
{
    (void)state;
    struct session_facts facts;
    AUTO(buf) big = { 0 };
    struct err err;
    buf_puts(&big, "{\"a\":\"");
    memset(buf_grow(&big, 1 << 20), 'x', 1 << 20);
    buf_puts(&big, "\"}");
    file_replace("big", (struct view){ big.p, big.n }, false, NULL);
    assert_int_equal(session_meta_read("big", &facts, NULL), ERR_DAMAGED);
    assert_int_equal(session_meta_read(".", &facts, &err), ERR_DAMAGED);
    assert_string_equal(err.text, "'.' is no session.meta.json");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(session_meta_read("fifo", &facts, NULL), ERR_DAMAGED);
    assert_int_equal(session_meta_read("/dev/zero", &facts, NULL), ERR_DAMAGED);
    assert_int_equal(session_meta_read("none", &facts, NULL), ERR_MISSING);
}

static void
fields_that_are_odd_are_left_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"sessionId\":1,\"name\":[],\"status\":{},\"startedAtNs\":\"1\",\"endedAtNs\":-"
        "1}",
        "{\"sessionId\":\"x\",\"name\":\"a\\u0000b\",\"status\":\"much too long a "
        "status\","
        "\"startedAtNs\":1.5,\"endedAtNs\":null}",
        "{\"name\":"
        "\"0123456789012345678901234567890123456789012345678901234567890123x\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct session_facts facts;
        assert_int_equal(meta_parse(text_view(texts[i]), &facts), 0);
        assert_string_equal(facts.id, "");
        assert_string_equal(facts.name, "");
        assert_string_equal(facts.status, "");
        assert_int_equal(facts.started_at_ns + facts.ended_at_ns, 0);
    }
    struct session_facts facts;
    assert_int_equal(meta_parse(text_view("{\"name\":\"a\",\"name\":\"b\"}"), &facts), 0);
    assert_string_equal(facts.name, "b"); /* as other readers do */
}

static void
an_interrupted_meta_keeps_all_else_in_its_order(void **state)
{
    (void)state;
    static const struct {
        const char *was, *is;
        uint64_t ended_at_ns;
    } cases[] = {
        { "{ \"z\": [1, {\"y\": 0.5}], \"status\": \"active\", \"a\": "
          "\"\\u0000\\u00e4\"}",
          "{\"z\":[1,{\"y\":0.5}],\"status\":\"interrupted\",\"a\":\"\\u0000\xc3\xa4\","
          "\"totalBytes\":7}\n",
          0 },
        { "{\"endedAtNs\":null,\"totalBytes\":\"x\",\"b\":-9223372036854775808}",
          "{\"endedAtNs\":9,\"totalBytes\":7,\"b\":-9223372036854775808,"
          "\"status\":\"interrupted\"}\n",
          9 },
        { "{}", "{\"status\":\"interrupted\",\"totalBytes\":7}\n", 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kit_write_file("m", cases[i].was);
        assert_int_equal(session_meta_interrupt("m", ID, 7, cases[i].ended_at_ns, NULL),
                         0);
        kit_assert_file("m", cases[i].is);
        assert_int_equal(session_meta_interrupt("m", ID, 7, cases[i].ended_at_ns, NULL),
                         0);
        kit_assert_file("m", cases[i].is);
    }
    assert_false(exists("m.bad"));
}

static void
a_meta_that_is_missing_or_damaged_is_made(void **state)
{
    (void)state;
    static const char made[] = "{\"version\":1,\"sessionId\":\"" ID
                               "\",\"status\":\"interrupted\",\"totalBytes\":7,"
                               "\"endedAtNs\":9}\n";
    assert_int_equal(session_meta_interrupt("m", ID, 7, 9, NULL), 0);
    kit_assert_file("m", made);
    assert_false(exists("m.bad"));
    static const char *const bad[] = { "", "{", "[1]" };
    static const char *const kept[] = { "m.bad", "m.bad.1", "m.bad.2" };
    for (size_t i = 0; i < 3; i++) {
        kit_write_file("m", bad[i]);
        assert_int_equal(session_meta_interrupt("m", ID, 7, 9, NULL), 0);
        kit_assert_file("m", made);
        kit_assert_file(kept[i], bad[i]);
    }
    unlink("m");
    assert_int_equal(mkdir("m", 0700), 0);
    assert_int_equal(session_meta_interrupt("m", ID, 7, 9, NULL), 0);
    kit_assert_file("m", made);
}

static void
a_meta_cut_at_any_byte_is_damaged(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    struct session_meta m = { .id = ID, .name = "cut", .exit_code = -1 };
    struct session_facts facts;
    session_meta_format(&m, &text);
    assert_int_equal(meta_parse((struct view){ text.p, text.n - 1 }, &facts), 0);
    for (size_t n = 0; n < text.n - 1; n++)
        assert_int_equal(meta_parse((struct view){ text.p, n }, &facts), ERR_DAMAGED);
}

static void
a_command_is_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *meta, *command;
    } cases[] = {
        { "{}", "" },
        { "{\"cmd\":\"ls\"}", "" },
        { "{\"cmd\":[]}", "" },
        { "{\"cmd\":[\"claude\",\"--resume=a/b\"]}", "claude --resume=a/b" },
        { "{\"cmd\":[\"sh\",\"-c\",\"echo it's x\"]}", "sh -c 'echo it'\\''s x'" },
        { "{\"cmd\":[\"x\",\"\",7,null]}", "x '' '' ''" },
        { "{\"cmd\":[\"\xc3\xa4\"]}", "'\xc3\xa4'" },
    };
    struct session_facts facts;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(meta_parse(text_view(cases[i].meta), &facts), 0);
        assert_string_equal(facts.command, cases[i].command);
    }
}

static void
a_long_command_is_cut_between_characters(void **state)
{
    (void)state;
    for (size_t before = 0; before < 4; before++) {
        AUTO(buf) meta = { 0 };
        struct session_facts facts;
        buf_printf(&meta, "{\"cmd\":[\"%.*s", (int)before, "abcd");
        for (int i = 0; i < 1000; i++)
            buf_puts(&meta, "\xe2\x82\xac");
        buf_puts(&meta, "\"]}");
        assert_int_equal(meta_parse((struct view){ meta.p, meta.n }, &facts), 0);
        size_t n = strlen(facts.command);
        assert_true(n > sizeof(facts.command) - 8);
        assert_true(utf8_is_text(facts.command, n));
        assert_string_equal(facts.command + n - 3, "\xe2\x80\xa6");
    }
}

static void
a_size_that_no_terminal_has_is_none(void **state)
{
    (void)state;
    struct session_facts facts;
    assert_int_equal(meta_parse(text_view("{\"cols\":120,\"rows\":40}"), &facts), 0);
    assert_int_equal(facts.cols, 120);
    assert_int_equal(facts.rows, 40);
    assert_int_equal(meta_parse(text_view("{\"cols\":65536,\"rows\":\"x\"}"), &facts), 0);
    assert_int_equal(facts.cols, 0);
    assert_int_equal(facts.rows, 0);
}

/* -- holding a stored one -- */

static void
a_stored_session_is_held_by_one_at_a_time(void **state)
{
    (void)state;
    struct err err = { 0 };
    assert_int_equal(session_hold("home", ID, 0, &err), ERR_MISSING);
    assert_int_equal(file_make_dirs(ENDED), 0);
    int fd = session_hold("home", ID, 0, &err);
    assert_true(fd >= 0);
    assert_int_equal(session_hold("home", ID, 30, &err), ERR_BUSY);
    assert_non_null(strstr(err.text, ID));
    close(fd);
    fd = session_hold("home", ID, 0, &err);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static void
what_is_no_folder_of_a_session_is_not_held(void **state)
{
    (void)state;
    assert_int_equal(file_make_dirs("home/sessions"), 0);
    assert_int_equal(file_make_dirs("elsewhere"), 0);
    assert_int_equal(symlink("../../elsewhere", ENDED), 0);
    assert_int_equal(session_hold("home", ID, 0, NULL), ERR_MISSING);
    assert_int_equal(unlink(ENDED), 0);
    kit_write_file(ENDED, "a file");
    assert_int_equal(session_hold("home", ID, 0, NULL), ERR_MISSING);
}

/* The holder puts another folder in its place and dies. */
static void
who_waited_holds_the_folder_that_stands_there_then(void **state)
{
    (void)state;
    int ready[2];
    char c;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(file_make_dirs(ENDED), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_well = session_hold("home", ID, 0, NULL) >= 0 &&
                       write(ready[1], "x", 1) == 1 && mkdir("home/new", 0700) == 0 &&
                       rename(ENDED, "home/old") == 0 && rename("home/new", ENDED) == 0;
        _exit(is_well ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    int status, fd = session_hold("home", ID, 60000, NULL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct stat held, named;
    assert_true(fd >= 0 || fd == ERR_MISSING); /* there was a moment without any */
    if (fd < 0)
        fd = session_hold("home", ID, 0, NULL);
    assert_int_equal(fstat(fd, &held), 0);
    assert_int_equal(stat(ENDED, &named), 0);
    assert_int_equal(held.st_ino, named.st_ino);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_has_the_local_day_and_its_uuid),
        cmocka_unit_test(ids_and_names_are_told_apart),
        KIT_IN_DIR(the_home_is_what_the_first_fitting_variable_says),
        KIT_IN_DIR(a_folder_is_made_and_moves_to_its_place),
        KIT_IN_DIR(a_staged_folder_is_nobodys_until_it_is_finished),
        KIT_IN_DIR(an_out_file_stays_and_the_folder_goes),
        cmocka_unit_test(the_meta_lies_beside_the_recording),
        KIT_IN_DIR(an_out_file_that_names_nothing_is_damage),
        KIT_IN_DIR(a_discarded_folder_leaves_nothing),
        KIT_IN_DIR(a_folder_of_the_same_id_is_not_overwritten),
        KIT_IN_DIR(a_folder_that_cannot_be_made_is_told),
        KIT_IN_DIR(a_dead_recorders_folder_can_be_taken_a_living_ones_not),
        KIT_IN_DIR(of_many_who_take_a_folder_one_gets_it),
        KIT_IN_DIR(nobody_takes_a_folder_while_it_comes_or_goes),
        cmocka_unit_test(facts_are_written_in_full),
        cmocka_unit_test(a_number_that_is_too_large_costs_only_itself),
        cmocka_unit_test(what_is_written_can_be_read_whatever_the_numbers),
        KIT_IN_DIR(facts_come_back),
        cmocka_unit_test(a_runs_facts_come_back),
        cmocka_unit_test(usage_that_is_odd_is_not_known),
        cmocka_unit_test(what_is_no_meta_is_refused),
        cmocka_unit_test(another_name_leaves_the_rest_in_its_order),
        KIT_IN_DIR(what_is_no_file_of_its_size_is_refused),
        cmocka_unit_test(fields_that_are_odd_are_left_empty),
        KIT_IN_DIR(an_interrupted_meta_keeps_all_else_in_its_order),
        KIT_IN_DIR(a_meta_that_is_missing_or_damaged_is_made),
        cmocka_unit_test(a_meta_cut_at_any_byte_is_damaged),
        cmocka_unit_test(a_command_is_one_line),
        cmocka_unit_test(a_long_command_is_cut_between_characters),
        cmocka_unit_test(a_size_that_no_terminal_has_is_none),
        KIT_IN_DIR(a_stored_session_is_held_by_one_at_a_time),
        KIT_IN_DIR(what_is_no_folder_of_a_session_is_not_held),
        KIT_IN_DIR(who_waited_holds_the_folder_that_stands_there_then),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
