/* SPDX-License-Identifier: MIT */
/* journal_test.c -- what a run keeps in its project: io.log, metadata.json, its folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "session/lines.h"
#include "support/kit.h"

#define NOW      UINT64_C(1762164930123000000)
#define NOW_TEXT "2025-11-03T10:15:30.123Z"

static mode_t
mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void
assert_view(struct view v, const char *text)
{
    assert_int_equal(v.n, strlen(text));
    assert_memory_equal(v.p, text, v.n);
}

/* -- io.log -- */

static void
lines_are_those_of_the_seed(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct journal_io_entry e = { .ts_ns = NOW, .content = text_view("Please") };
    journal_io_line(&e, &out);
    e = (struct journal_io_entry){ .ts_ns = NOW,
                                   .direction = JOURNAL_OUT,
                                   .content = text_view("a\nb"),
                                   .type = "text",
                                   .is_stderr = true,
                                   .is_partial = true,
                                   .iteration = 3,
                                   .more = text_view(",\"x\":1") };
    journal_io_line(&e, &out);
    e = (struct journal_io_entry){ .ts_ns = NOW,
                                   .direction = JOURNAL_ARTIFACT,
                                   .path = text_view("docs/a.md"),
                                   .action = text_view("created") };
    journal_io_line(&e, &out);
    e = (struct journal_io_entry){ .direction = JOURNAL_OUT, .content = { NULL, 0 } };
    e.content = text_view("\xff\xfe!");
    journal_io_line(&e, &out);
    assert_string_equal(
        buf_str(&out),
        "{\"timestamp\":\"" NOW_TEXT "\",\"direction\":\"in\",\"content\":\"Please\"}\n"
        "{\"timestamp\":\"" NOW_TEXT
        "\",\"direction\":\"out\",\"content\":\"a\\nb\",\"type\":\"text\","
        "\"stream\":\"stderr\",\"partial\":true,\"iteration\":3,\"x\":1}\n"
        "{\"timestamp\":\"" NOW_TEXT
        "\",\"direction\":\"artifact\",\"path\":\"docs/a.md\",\"action\":\"created\"}\n"
        "{\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"direction\":\"out\",\"content\":"
        "\"//4h\",\"encoding\":\"base64\"}\n");
}

static void
lines_are_read_whoever_wrote_them(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct journal_io_entry e;
    const char *line = " { \"content\" : \"//4h\", \"encoding\":\"base64\", \"new\": [1],"
                       "\"type\":\"poem\", \"direction\":\"out\",\"iteration\":7,"
                       "\"timestamp\":\"" NOW_TEXT "\",\"stream\":\"stderr\"} ";
    assert_int_equal(journal_io_read(text_view(line), &texts, &e), 0);
    assert_int_equal(e.ts_ns, NOW);
    assert_int_equal(e.direction, JOURNAL_OUT);
    assert_view(e.content, "\xff\xfe!");
    assert_null(e.type);
    assert_true(e.is_stderr);
    assert_int_equal(e.iteration, 7);
    assert_view(e.more, ",\"new\": [1],\"type\":\"poem\"");
    line = "{\"direction\":\"artifact\",\"path\":\"p\",\"action\":\"a\",\"content\":1}";
    assert_int_equal(journal_io_read(text_view(line), &texts, &e), 0);
    assert_view(e.path, "p");
    assert_view(e.action, "a");
    assert_view(e.more, ",\"content\":1");
}

static void
what_is_no_line_is_told(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "[]",
        "{}",
        "{\"direction\":\"up\"}",
        "{\"direction\":\"in\",\"content\":\"x",
        "null",
        "{\"direction\":1}",
    };
    AUTO(buf) texts = { 0 };
    struct journal_io_entry e;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(journal_io_read(text_view(cases[i]), &texts, &e), ERR_DAMAGED);
}

static void
times_that_are_none_are_zero(void **state)
{
    (void)state;
    static const char *const cases[] = { "", "2025-11-03T10:15:30.123z", "yesterday",
                                         "9999-11-03T10:15:30.123Z",
                                         "2025-11-03T10:15:30.123456Z" };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(journal_time_read(text_view(cases[i])), 0);
    assert_int_equal(journal_time_read(text_view(NOW_TEXT)), NOW);
}

static void
a_line_is_appended_behind_a_torn_one(void **state)
{
    (void)state;
    struct err err;
    kit_write_file("io.log", "{\"torn");
    assert_int_equal(journal_io_append("io.log", text_view("one\n"), &err), 0);
    kit_assert_file("io.log", "{\"torn\none\n");
    assert_int_equal(symlink("elsewhere", "link"), 0);
    assert_int_equal(journal_io_append("link", text_view("one\n"), &err), -ELOOP);
    assert_int_equal(access("elsewhere", F_OK), -1);
}

enum { WRITERS = 8, LINES = 200 };

static void
write_lines(int writer, bool is_killed)
{
    AUTO(session_lines) l = { .fd = -1 };
    AUTO(buf) line = { 0 };
    if (session_lines_init(&l, "io.log") < 0)
        _exit(1);
    for (int i = 0; i < LINES; i++) {
        buf_clear(&line);
        buf_printf(&line, "<%d %d %0*d>\n", writer, i, 1 + i * 13 % 9000, 0);
        if (session_lines_add(&l, (struct view){ line.p, line.n }) < 0)
            _exit(1);
        /* What somebody leaves who is killed in the middle of a write: holding the lock.
         */
        int fd = session_lines_fd(&l);
        if (is_killed && i % 50 == 0 &&
            (flock(fd, LOCK_EX) < 0 || write(fd, "torn", 4) != 4 ||
             flock(fd, LOCK_UN) < 0))
            _exit(1);
    }
    _exit(0);
}

static void
writers_at_once_tear_no_line(void **state)
{
    (void)state;
    AUTO(buf) file = { 0 };
    bool has[WRITERS][LINES] = { 0 };
    size_t torn = 0, count = 0;
    for (int w = 0; w < WRITERS; w++)
        if (!fork())
            write_lines(w, w == 0);
    for (int w = 0, status; w < WRITERS; w++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(file_slurp("io.log", &file), 0);
    char *at = (char *)(uintptr_t)buf_str(&file);
    for (char *end; (end = strchr(at, '\n')); at = end + 1) {
        int w, i;
        *end = 0;
        if (!strcmp(at, "torn")) {
            torn++;
            continue;
        }
        assert_int_equal(sscanf(at, "<%d %d ", &w, &i), 2);
        assert_false(has[w][i]);
        assert_int_equal(end[-1], '>');
        has[w][i] = true;
        count++;
    }
    assert_int_equal(count, WRITERS * LINES);
    assert_true(torn > 0);
}

/* -- metadata.json -- */

static struct journal_metadata
sample(void)
{
    static const char *const cmd[] = { "claude", "-p" };
    static const char *const files[] = { "docs/a.md" };
    return (struct journal_metadata){ .id = "2026-01-02-x",
                                      .name = "ARCH-001",
                                      .role = "ARCHITECT",
                                      .status = "active",
                                      .parent = "MANAGER-main",
                                      .task = "Design",
                                      .cmd = cmd,
                                      .cmd_count = 2,
                                      .context_files = files,
                                      .context_count = 1,
                                      .artifacts = { (const uint8_t *)"a\0b", 4 },
                                      .created_at_ns = NOW,
                                      .pid = 77,
                                      .pid_start = 5,
                                      .exit_code = -1,
                                      .usage = TURN_NO_USAGE };
}

static void
metadata_begins_as_in_the_seed(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct journal_metadata m = sample();
    journal_metadata_format(&m, (struct view){ 0 }, &out);
    const char *seed = "{\n"
                       "  \"session_id\": \"ARCH-001\",\n"
                       "  \"role\": \"ARCHITECT\",\n"
                       "  \"status\": \"active\",\n"
                       "  \"created_at\": \"" NOW_TEXT "\",\n"
                       "  \"completed_at\": null,\n"
                       "  \"parent_session\": \"MANAGER-main\",\n"
                       "  \"task\": \"Design\",\n"
                       "  \"context_files\": [\"docs/a.md\"],\n"
                       "  \"artifacts_produced\": [\"a\",\"b\"],\n"
                       "  \"pid\": 77,\n"
                       "  \"exit_code\": null,\n"
                       "  \"id\": \"2026-01-02-x\",\n"
                       "  \"pid_start\": 5,\n";
    assert_true(out.n > strlen(seed));
    assert_memory_equal(out.p, seed, strlen(seed));
}

static void
what_is_written_is_read(void **state)
{
    (void)state;
    AUTO(journal_told) told = { 0 };
    struct journal_metadata m = sample();
    struct err err;
    assert_int_equal(journal_metadata_write("m.json", &m, true, &err), 0);
    assert_int_equal(mode_of("m.json"), 0600);
    assert_int_equal(journal_metadata_read("m.json", &told, &err), 0);
    assert_string_equal(told.name, "ARCH-001");
    assert_string_equal(told.status, "active");
    assert_string_equal(told.id, "2026-01-02-x");
    assert_string_equal(told.parent, "MANAGER-main");
    assert_int_equal(told.pid, 77);
    assert_int_equal(told.pid_start, 5);
    assert_int_equal(told.artifacts.n, 4);
    assert_memory_equal(told.artifacts.p, "a\0b", 4);
    assert_string_equal((const char *)told.context_files.p, "docs/a.md");
}

static void
a_rewrite_keeps_what_others_have_added(void **state)
{
    (void)state;
    AUTO(journal_told) told = { 0 };
    AUTO(buf) file = { 0 };
    struct journal_metadata m = sample();
    struct err err;
    kit_write_file("m.json",
                   "{\"mine\":{\"x\":[1,2]},\"artifacts_produced\":[\"z\",\"a\"]}");
    assert_int_equal(journal_metadata_write("m.json", &m, false, &err), 0);
    assert_int_equal(journal_metadata_read("m.json", &told, &err), 0);
    assert_int_equal(told.artifacts.n, 6);
    assert_memory_equal(told.artifacts.p, "z\0a\0b", 6);
    assert_int_equal(file_slurp("m.json", &file), 0);
    assert_non_null(strstr(buf_str(&file), "\"mine\":{\"x\":[1,2]}"));
}

static void
a_change_leaves_all_else_as_it_is(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "{ \"a\" : 1 ,\"status\":\"active\", \"b\":[ ] }\n",
          "{ \"a\" : 1 ,\"status\":\"interrupted\", \"b\":[ ],\n  \"completed_at\": "
          "\"" NOW_TEXT "\",\n  \"exit_code\": null,\n  \"artifacts_produced\": [\"p\"] "
          "}\n" },
        { "{}", "{\n  \"status\": \"interrupted\",\n  \"completed_at\": \"" NOW_TEXT
                "\",\n  \"exit_code\": null,\n  \"artifacts_produced\": [\"p\"]}" },
        { "{\"exit_code\":1,\"status\":0,\"artifacts_produced\":[ \"p\" ],"
          "\"completed_at\":null}",
          "{\"exit_code\":null,\"status\":\"interrupted\",\"artifacts_produced\":[ \"p\" "
          "],\"completed_at\":\"" NOW_TEXT "\"}" },
        { "{\"exit_code\":1,\"status\":0,\"artifacts_produced\":[ \"q\" ],"
          "\"completed_at\":null}",
          "{\"exit_code\":null,\"status\":\"interrupted\",\"artifacts_produced\":[ \"q\" "
          ",\"p\"],\"completed_at\":\"" NOW_TEXT "\"}" },
    };
    struct err err;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kit_write_file("m.json", cases[i][0]);
        assert_int_equal(journal_metadata_change("m.json", "interrupted", NOW, "p", &err),
                         0);
        kit_assert_file("m.json", cases[i][1]);
    }
}

static void
what_is_no_object_is_left_alone(void **state)
{
    (void)state;
    static const char *const cases[] = { "", "[]", "{\"a\":1}x", "{\"a\":", "{\"a\"}" };
    struct err err;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kit_write_file("m.json", cases[i]);
        assert_int_equal(journal_metadata_change("m.json", "x", 0, NULL, &err),
                         ERR_DAMAGED);
        kit_assert_file("m.json", cases[i]);
    }
    assert_int_equal(journal_metadata_change("none", "x", 0, NULL, &err), ERR_MISSING);
    assert_int_equal(access("none.lock", F_OK), -1);
}

static int
change_or_write(const struct journal_metadata *m, const char *path)
{
    struct err err;
    return path ? journal_metadata_change("m.json", NULL, 0, path, &err)
                : journal_metadata_write("m.json", m, false, &err);
}

/* However long each of them has to wait. */
static void
changes_at_once_are_all_there(void **state)
{
    (void)state;
    enum { CHANGERS = 6, EACH = 10 };
    AUTO(journal_told) told = { 0 };
    struct journal_metadata m = sample();
    struct err err;
    assert_int_equal(journal_metadata_write("m.json", &m, false, &err), 0);
    for (int c = 0; c < CHANGERS; c++) {
        if (fork())
            continue;
        for (int i = 0; i < EACH; i++) {
            char path[32];
            int r = ERR_BUSY;
            snprintf(path, sizeof(path), "f-%d-%d", c, i);
            while (r == ERR_BUSY)
                r = change_or_write(&m, c ? path : NULL);
            if (r)
                _exit(1);
        }
        _exit(0);
    }
    for (int c = 0, status; c < CHANGERS; c++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    size_t count = 0;
    assert_int_equal(journal_metadata_read("m.json", &told, &err), 0);
    for (size_t i = 0; i < told.artifacts.n; i++)
        count += !told.artifacts.p[i];
    assert_int_equal(count, 2 + (CHANGERS - 1) * EACH);
}

/* What another is about to change is not replaced; a run that ends tells how at last. */
static void
a_write_gives_way_until_it_is_the_last(void **state)
{
    (void)state;
    AUTO(journal_told) told = { 0 };
    struct journal_metadata m = sample();
    struct err err;
    kit_write_file("m.json", "{}");
    int fd = open("m.json.lock", O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(journal_metadata_write("m.json", &m, false, &err), ERR_BUSY);
    kit_assert_file("m.json", "{}");
    assert_int_equal(journal_metadata_write("m.json", &m, true, &err), 0);
    assert_int_equal(journal_metadata_read("m.json", &told, &err), 0);
    assert_string_equal(told.name, "ARCH-001");
    close(fd);
    assert_int_equal(journal_metadata_write("m.json", &m, false, &err), 0);
}

static void
a_process_is_known_by_its_start(void **state)
{
    (void)state;
    assert_true(journal_process_start(getpid()) > 0);
    assert_int_equal(journal_process_start(0), 0);
    assert_int_equal(journal_process_start(-5), 0);
    siginfo_t info;
    pid_t child = fork();
    while (!child)
        pause();
    uint64_t start = journal_process_start(child);
    assert_true(start > 0);
    assert_true(journal_process_is(child, start));
    assert_false(journal_process_is(child, start + 1));
    assert_false(journal_process_is(child, 0));
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(journal_process_start(child), 0); /* dead, and not waited for yet */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(journal_process_start(child), 0);
}

/* -- the folder -- */

static void
assert_opens(const char *name, const char *role, const char *want)
{
    struct journal_project p;
    struct err err = { 0 };
    int r = journal_project_open(&p, ".", name, role, &err);
    if (r < 0)
        print_message("# %s\n", err.text);
    assert_int_equal(r, 0);
    assert_string_equal(p.name, want);
    journal_project_release(&p);
}

static int
refusal(const char *name, const char *says)
{
    struct journal_project p;
    struct err err = { 0 };
    int r = journal_project_open(&p, ".", name, NULL, &err);
    if (r == 0)
        journal_project_release(&p);
    else if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    return r;
}

static void
names_by_role_come_from_one_counter(void **state)
{
    (void)state;
    mode_t before = umask(0);
    assert_opens(NULL, "ARCHITECT", "ARCH-001");
    umask(before);
    assert_opens(NULL, "developer", "DEV-002");
    assert_opens(NULL, NULL, "RUN-003");
    assert_opens(NULL, "../-x y/\xff", "XY-004"); /* nothing of a path is left */
    assert_int_equal(rmdir(".ahr/sessions/XY-004"), 0);
    assert_opens(NULL, "MANAGER", "MANAGER-005");
    assert_opens("RUN-006", NULL, "RUN-006");
    assert_opens(NULL, "", "RUN-007");
    assert_int_equal(mode_of(".ahr"), 0700);
    assert_int_equal(mode_of(".ahr/sessions"), 0700);
    assert_int_equal(mode_of(".ahr/sessions/ARCH-001"), 0700);
    assert_int_equal(mode_of(".ahr/sessions/.counter"), 0600);
    assert_int_equal(mode_of(".ahr/.gitignore"), 0600);
    kit_assert_file(".ahr/.gitignore", "*\n");
}

static void
a_counter_that_is_lost_is_made_anew(void **state)
{
    (void)state;
    static const char *const counters[] = { NULL, "", "x\n", "-1\n", "99999999999999\n" };
    assert_opens("DEV-041", NULL, "DEV-041");
    assert_opens("X-99999999999999999999", NULL, "X-99999999999999999999");
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        char want[32];
        (void)unlink(".ahr/sessions/.counter");
        if (counters[i])
            kit_write_file(".ahr/sessions/.counter", counters[i]);
        snprintf(want, sizeof(want), "RUN-%03zu", 42 + i);
        assert_opens(NULL, NULL, want);
    }
}

static void
claim_many(unsigned claims)
{
    pid_t pids[512];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    for (unsigned i = 0; i < claims; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        struct journal_project p;
        char line[32] = "";
        if (journal_project_open(&p, ".", NULL, i % 2 ? "DEVELOPER" : NULL, NULL) < 0)
            _exit(1);
        snprintf(line, sizeof(line), "%s", strrchr(p.name, '-') + 1);
        _exit(write(ends[1], line, 4) != 4);
    }
    close(ends[1]);
    for (unsigned i = 0; i < claims; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    bool has[1000] = { 0 };
    char line[4];
    unsigned count = 0;
    for (; read(ends[0], line, 4) == 4; count++) {
        unsigned v = 0;
        assert_int_equal(sscanf(line, "%3u", &v), 1);
        assert_false(has[v]);
        has[v] = true;
    }
    close(ends[0]);
    assert_int_equal(count, claims);
}

static void
names_at_once_are_all_different(void **state)
{
    (void)state;
    claim_many(getenv("AHR_TEST_LONG") ? 500 : 64);
}

static void
the_seeds_folder_is_used_where_there_is_one(void **state)
{
    (void)state;
    assert_int_equal(mkdir(".claude-man", 0755), 0);
    assert_opens(NULL, NULL, "RUN-001");
    assert_int_equal(access(".ahr", F_OK), -1);
    kit_assert_file(".claude-man/sessions/.gitignore", "*\n");
    assert_int_equal(access(".claude-man/.gitignore", F_OK), -1);
    assert_int_equal(mode_of(".claude-man"), 0755);
}

static void
a_gitignore_that_is_there_stays(void **state)
{
    (void)state;
    assert_int_equal(mkdir(".ahr", 0755), 0);
    kit_write_file(".ahr/.gitignore", "# mine\n");
    assert_opens(NULL, NULL, "RUN-001");
    kit_assert_file(".ahr/.gitignore", "# mine\n");
}

static void
the_first_run_in_a_project_is_told(void **state)
{
    (void)state;
    struct journal_project p;
    struct err err;
    assert_int_equal(journal_project_open(&p, ".", "one", NULL, &err), 0);
    assert_true(p.is_first);
    assert_false(p.is_again);
    journal_project_release(&p);
    assert_int_equal(journal_project_open(&p, ".", "one", NULL, &err), 0);
    assert_false(p.is_first);
    assert_true(p.is_again);
    assert_int_equal(refusal("one", "is going on"), ERR_BUSY);
    journal_project_release(&p);
}

static void
nothing_is_written_through_a_link(void **state)
{
    (void)state;
    static const char *const links[] = { ".ahr", ".claude-man", ".ahr/sessions",
                                         ".ahr/sessions/one" };
    assert_int_equal(mkdir("elsewhere", 0755), 0);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (i == 2)
            assert_int_equal(mkdir(".ahr", 0755), 0);
        if (i == 3)
            assert_int_equal(mkdir(".ahr/sessions", 0755), 0);
        char cwd[4096], target[4200];
        snprintf(target, sizeof(target), "%s/elsewhere", getcwd(cwd, sizeof(cwd)));
        assert_int_equal(symlink(target, links[i]), 0);
        assert_int_equal(refusal("one", "is a link"), -ELOOP);
        assert_int_equal(unlink(links[i]), 0);
    }
    assert_int_equal(rmdir("elsewhere"), 0); /* it is empty */
}

static void
a_counter_that_is_a_link_is_replaced(void **state)
{
    (void)state;
    assert_opens(NULL, NULL, "RUN-001");
    kit_write_file("precious", "7\n");
    assert_int_equal(unlink(".ahr/sessions/.counter"), 0);
    assert_int_equal(symlink("../../precious", ".ahr/sessions/.counter"), 0);
    assert_opens(NULL, NULL, "RUN-002");
    kit_assert_file("precious", "7\n");
    kit_assert_file(".ahr/sessions/.counter", "2\n");
}

static void
names_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",   ".",   "..",       "../x",  "a/b", "last",
        "-x", "a b", ".counter", "x.ahr", "a\n", "\xff"
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(refusal(names[i], "no name"), ERR_USAGE);
    assert_int_equal(access(".ahr", F_OK), -1);
}

static void
numbers_of_logs_go_on(void **state)
{
    (void)state;
    struct journal_project p;
    struct err err;
    uint64_t n;
    assert_int_equal(journal_project_open(&p, ".", "one", NULL, &err), 0);
    assert_int_equal(journal_project_next(&p, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(mode_of(".ahr/sessions/one/iterations"), 0700);
    kit_write_file(".ahr/sessions/one/iterations/12.log", "");
    kit_write_file(".ahr/sessions/one/iterations/13.txt", "");
    kit_write_file(".ahr/sessions/one/iterations/99999999999999999999.log", "");
    assert_int_equal(journal_project_next(&p, &n, &err), 0);
    assert_int_equal(n, 13);
    journal_project_release(&p);
}

static void
a_run_that_was_cut_off_is_put_in_order(void **state)
{
    (void)state;
    AUTO(journal_told) told = { 0 };
    struct journal_metadata m = sample();
    struct journal_project p;
    struct err err;
    assert_int_equal(journal_project_open(&p, ".", "one", NULL, &err), 0);
    assert_int_equal(
        journal_metadata_write(".ahr/sessions/one/metadata.json", &m, false, &err), 0);
    kit_write_file(".ahr/sessions/one/io.log", "{\"a\":1}\n{\"timestamp\":\"20");
    assert_int_equal(journal_project_recover(p.dir, &err), ERR_BUSY);
    journal_project_release(&p);
    assert_int_equal(journal_project_recover(".ahr/sessions/one", &err), 1);
    kit_assert_file(".ahr/sessions/one/io.log", "{\"a\":1}\n");
    assert_int_equal(
        journal_metadata_read(".ahr/sessions/one/metadata.json", &told, &err), 0);
    assert_string_equal(told.status, "interrupted");
    assert_int_equal(journal_project_recover(".ahr/sessions/one", &err), 0);
}

static void
what_others_wrote_is_ended_and_not_cut_off(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "some text", "some text\n" },
        { "{\"timestamp\":\"x\",\"direction\":\"in\"}",
          "{\"timestamp\":\"x\",\"direction\":\"in\"}\n" },
        { "{\"time", "" },
    };
    assert_opens("one", NULL, "one");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kit_write_file(".ahr/sessions/one/io.log", cases[i][0]);
        assert_int_equal(journal_project_recover(".ahr/sessions/one", NULL), 1);
        kit_assert_file(".ahr/sessions/one/io.log", cases[i][1]);
    }
}

/* They are a disk's that has lost power. */
static void
nuls_at_the_end_of_io_log_are_cut_off(void **state)
{
    (void)state;
    static const char line[] = "{\"timestamp\":\"x\",\"direction\":\"in\"}\n";
    static const char *const torn[] = { "", "{\"timestamp\":\"20" };
    static const uint8_t nuls[300];
    assert_opens("one", NULL, "one");
    for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
        AUTO(buf) left = { 0 };
        buf_printf(&left, "%s%s", line, torn[i]);
        buf_append(&left, nuls, sizeof(nuls));
        assert_int_equal(file_replace(".ahr/sessions/one/io.log",
                                      (struct view){ left.p, left.n }, false, NULL),
                         0);
        for (int again = 0; again < 2; again++) {
            AUTO(buf) now = { 0 };
            assert_int_equal(journal_project_recover(".ahr/sessions/one", NULL), !again);
            assert_int_equal(file_slurp(".ahr/sessions/one/io.log", &now), 0);
            assert_int_equal(now.n, sizeof(line) - 1);
            assert_memory_equal(now.p, line, now.n);
        }
    }
}

static void
a_run_is_found_from_below(void **state)
{
    (void)state;
    AUTO(buf) dir = { 0 };
    AUTO(buf) id = { 0 };
    char cwd[4096];
    assert_opens("one", NULL, "one");
    kit_write_file(".ahr/sessions/one/metadata.json",
                   "{\"id\":\"2026-01-02-01234567-89ab-4cde-8f01-23456789abcd\"}");
    assert_int_equal(file_make_dirs("sub/sub"), 0);
    assert_int_equal(journal_project_find("sub/sub", "one", &dir, &id), 1);
    assert_string_equal(buf_str(&id), "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd");
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_true(dir.n > strlen(cwd));
    assert_non_null(strstr(buf_str(&dir), "/.ahr/sessions/one"));
    assert_int_equal(journal_project_find("sub", "two", &dir, &id), 0);
    assert_int_equal(journal_project_find("sub", "../one", &dir, &id), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_the_seed),
        cmocka_unit_test(lines_are_read_whoever_wrote_them),
        cmocka_unit_test(what_is_no_line_is_told),
        cmocka_unit_test(times_that_are_none_are_zero),
        KIT_IN_DIR(a_line_is_appended_behind_a_torn_one),
        KIT_IN_DIR(writers_at_once_tear_no_line),
        cmocka_unit_test(metadata_begins_as_in_the_seed),
        KIT_IN_DIR(what_is_written_is_read),
        KIT_IN_DIR(a_rewrite_keeps_what_others_have_added),
        KIT_IN_DIR(a_change_leaves_all_else_as_it_is),
        KIT_IN_DIR(what_is_no_object_is_left_alone),
        KIT_IN_DIR(changes_at_once_are_all_there),
        KIT_IN_DIR(a_write_gives_way_until_it_is_the_last),
        cmocka_unit_test(a_process_is_known_by_its_start),
        KIT_IN_DIR(names_by_role_come_from_one_counter),
        KIT_IN_DIR(a_counter_that_is_lost_is_made_anew),
        KIT_IN_DIR(names_at_once_are_all_different),
        KIT_IN_DIR(the_seeds_folder_is_used_where_there_is_one),
        KIT_IN_DIR(a_gitignore_that_is_there_stays),
        KIT_IN_DIR(the_first_run_in_a_project_is_told),
        KIT_IN_DIR(nothing_is_written_through_a_link),
        KIT_IN_DIR(a_counter_that_is_a_link_is_replaced),
        KIT_IN_DIR(names_that_are_none_are_refused),
        KIT_IN_DIR(numbers_of_logs_go_on),
        KIT_IN_DIR(a_run_that_was_cut_off_is_put_in_order),
        KIT_IN_DIR(what_others_wrote_is_ended_and_not_cut_off),
        KIT_IN_DIR(nuls_at_the_end_of_io_log_are_cut_off),
        KIT_IN_DIR(a_run_is_found_from_below),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
