/* SPDX-License-Identifier: MIT */
/*
 * entire_test.c -- a conversation in a project's .entire/: what is there when, what stays
 * as it was, and what becomes of it when the disk fails or the writer dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_in.h"
#include "journal/entire.h"
#include "journal/entire_priv.h"
#include "journal/git_branch.h"
#include "support/call_faults.h"
#include "support/kit.h"

#define SESSION "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890"
#define FOLDER  ".entire/metadata/" SESSION
#define LINES   FOLDER "/full.jsonl"
#define SECOND  UINT64_C(1000000000)
#define START   (UINT64_C(1770766260) * SECOND) /* 2026-02-10T23:31:00Z */

/* -- a writer in the current folder -- */

struct scene {
    char root[4096];
    struct journal_entire *e;
    uint64_t number;
    uint64_t damaged; /* this one cannot be read any more; 0: none */
    bool is_plain;
};

static struct journal_entire_options
options(struct scene *s)
{
    assert_non_null(getcwd(s->root, sizeof(s->root)));
    return (struct journal_entire_options){ .root = s->root,
                                            .session = SESSION,
                                            .version = "1.0",
                                            .cwd = "/work",
                                            .git_branch = "main",
                                            .start_ns = START,
                                            .is_plain = s->is_plain };
}

static void
begin(struct scene *s)
{
    const struct journal_entire_options opt = options(s);
    s->number = 0;
    assert_int_equal(journal_entire_open(&s->e, &opt), 0);
}

static int
begin_again(struct scene *s)
{
    const struct journal_entire_options opt = options(s);
    struct err err;
    s->number = 0;
    return journal_entire_open_again(&s->e, &opt, &err);
}

static void
add(struct scene *s, const struct turn_event *e)
{
    if (++s->number == s->damaged)
        return;
    assert_int_equal(journal_entire_add(s->e, e, START + s->number * SECOND), 0);
    (void)journal_entire_write(s->e);
}

static void
ask(struct scene *s, const char *text)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = true;
    e.text = text_view(text);
    add(s, &e);
}

static void
say(struct scene *s, enum turn_type type, const char *id, const char *text)
{
    struct turn_event e = turn_event(type);
    e.id = text_view(id);
    e.text = text_view(text);
    add(s, &e);
}

static void
call(struct scene *s, const char *id, const char *name, const char *json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = text_view(id);
    e.name = text_view(name);
    e.json = text_view(json);
    add(s, &e);
}

/* Five lines, of which the last two come with the end. */
static void
talk(struct scene *s)
{
    struct turn_event e = turn_event(TURN_SESSION);
    e.model = text_view("opus-5");
    add(s, &e);
    ask(s, " \n");
    ask(s, "explain main.rs\n");
    say(s, TURN_TEXT, "m1", "Let me read.");
    call(s, "t1", "read_file", "{\"path\":\"src/main.rs\"}");
    say(s, TURN_TOOL_RESULT, "t1", "1: use std::io;");
    say(s, TURN_TEXT, "m2", "Now I run it.");
    call(s, "t2", "Bash", "{\"command\":\"make\"}");
}

enum { TALK_LINES = 6 };

static int
end(struct scene *s)
{
    int r = journal_entire_end(s->e, START + 99 * SECOND, true);
    journal_entire_free(s->e);
    s->e = NULL;
    return r;
}

static bool
is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static mode_t
mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void
slurp(const char *path, struct buf *ret)
{
    buf_clear(ret);
    assert_int_equal(file_slurp(path, ret), 0);
}

static void
member(struct view line, const char *key, char ret[64])
{
    const uint8_t *at = memmem(line.p, line.n, key, strlen(key));
    assert_non_null(at);
    snprintf(ret, 64, "%.*s", 38, (const char *)at + strlen(key));
}

/* Each line is JSON, and names the one before it. How many. */
static unsigned
check_lines(const char *path)
{
    AUTO(buf) text = { 0 };
    char last[64] = "null", parent[64];
    unsigned count = 0;
    slurp(path, &text);
    struct view rest = { text.p, text.n };
    for (const uint8_t *stop; rest.n; count++) {
        stop = memchr(rest.p, '\n', rest.n);
        assert_non_null(stop);
        struct view line = { rest.p, (size_t)(stop - rest.p) };
        rest = (struct view){ stop + 1, rest.n - line.n - 1 };
        assert_true(json_in_is_one(line));
        member(line, "\"parentUuid\":", parent);
        if (!strcmp(last, "null"))
            assert_memory_equal(parent, "null", 4);
        else
            assert_string_equal(parent, last);
        member(line, "\"uuid\":", last);
    }
    return count;
}

/* -- what is there when -- */

static void
nothing_is_made_before_the_first_line(void **state)
{
    (void)state;
    struct scene s = { 0 };
    assert_int_equal(mkdir("nothing", 0700), 0);
    begin(&s);
    assert_false(is_there(".entire"));
    assert_int_equal(end(&s), 0);
    assert_false(is_there(".entire"));
    assert_false(journal_entire_is_wanted(s.root));
    begin(&s);
    ask(&s, "go");
    assert_true(journal_entire_is_wanted(s.root));
    assert_int_equal(end(&s), 0);
}

static void
a_turn_is_there_when_it_is_complete(void **state)
{
    (void)state;
    struct scene s = { 0 };
    begin(&s);
    ask(&s, "  \n");
    assert_false(is_there(FOLDER "/prompt.txt"));
    ask(&s, "explain main.rs\n");
    kit_assert_file(FOLDER "/prompt.txt", "explain main.rs\n");
    assert_int_equal(check_lines(LINES), 2);
    ask(&s, "another");
    kit_assert_file(FOLDER "/prompt.txt", "explain main.rs\n");
    say(&s, TURN_TEXT, "m1", "Let me read.");
    assert_int_equal(check_lines(LINES), 3);
    call(&s, "t1", "Read", "{\"path\":\"a\"}");
    say(&s, TURN_TOOL_RESULT, "t1", "x");
    assert_int_equal(check_lines(LINES), 4);
    assert_false(is_there(FOLDER "/context.md"));
    assert_int_equal(end(&s), 0);
    assert_int_equal(check_lines(LINES), 5);
    kit_assert_file(FOLDER "/context.md",
                    "# Session Context\n\n- Session ID: " SESSION "\n- Model: unknown\n"
                    "- Started: 2026-02-10T23:31:00.000Z\n\n## Key Actions\n\n"
                    "- **Read**: a\n");
    assert_int_equal(mode_of(".entire"), 0700);
    assert_int_equal(mode_of(".entire/metadata"), 0700);
    assert_int_equal(mode_of(FOLDER), 0700);
    assert_int_equal(mode_of(LINES), 0600);
    assert_int_equal(mode_of(FOLDER "/prompt.txt"), 0600);
    assert_int_equal(mode_of(FOLDER "/context.md"), 0600);
    assert_false(is_there(FOLDER "/summary.txt"));
}

static void
a_turn_that_rests_does_not_wait_for_the_next_event(void **state)
{
    (void)state;
    struct scene s = { 0 };
    begin(&s);
    assert_true(journal_entire_due_ns(s.e) == UINT64_MAX);
    ask(&s, "go");
    assert_true(journal_entire_due_ns(s.e) == UINT64_MAX);
    say(&s, TURN_TEXT, "m1", "Wait.");
    uint64_t due = journal_entire_due_ns(s.e);
    assert_true(due <= clock_mono_ns() + SECOND);
    journal_entire_tick(s.e, due - 1);
    assert_int_equal(check_lines(LINES), 1);
    journal_entire_tick(s.e, due);
    assert_int_equal(check_lines(LINES), 2);
    assert_true(journal_entire_due_ns(s.e) == UINT64_MAX);
    call(&s, "t1", "Read", "{}");
    assert_int_equal(end(&s), 0);
    assert_int_equal(check_lines(LINES), 4); /* the call, and its interruption */
}

/* -- what is not ours -- */

static void
what_else_lies_there_stays(void **state)
{
    (void)state;
    struct scene s = { 0 };
    assert_int_equal(mkdir(".entire", 0755), 0);
    assert_int_equal(mkdir(".entire/metadata", 0755), 0);
    kit_write_file(".entire/settings.json", "{ \"enabled\" :true}");
    kit_write_file(".entire/.gitignore", "tmp/\n");
    kit_write_file(".entire/metadata/notes", "mine");
    begin(&s);
    talk(&s);
    assert_int_equal(end(&s), 0);
    kit_assert_file(".entire/settings.json", "{ \"enabled\" :true}");
    kit_assert_file(".entire/.gitignore", "tmp/\n");
    kit_assert_file(".entire/metadata/notes", "mine");
    assert_int_equal(mode_of(".entire"), 0755);
    assert_int_equal(mode_of(".entire/metadata"), 0755);
    assert_int_equal(check_lines(LINES), TALK_LINES);
}

static void
no_link_is_followed(void **state)
{
    static const char *const links[] = { ".entire", ".entire/metadata", FOLDER, LINES,
                                         FOLDER "/prompt.txt.new" };
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct scene s = { 0 };
        struct err err;
        char *dir = kit_make_dir();
        assert_int_equal(chdir(dir), 0);
        assert_int_equal(mkdir("elsewhere", 0700), 0);
        kit_write_file("elsewhere/file", "x");
        for (size_t k = 0; k < i && k < 3; k++)
            assert_int_equal(mkdir(links[k], 0700), 0);
        AUTO(buf) target = { 0 };
        buf_printf(&target, "%s/elsewhere%s", dir, i < 3 ? "" : "/file");
        assert_int_equal(symlink(buf_str(&target), links[i]), 0);
        begin(&s);
        talk(&s);
        bool is_told = journal_entire_trouble(s.e, &err);
        assert_int_equal(is_told, i < 4);
        assert_false(journal_entire_trouble(s.e, &err)); /* once */
        (void)end(&s);
        kit_assert_file("elsewhere/file", "x");
        assert_false(is_there("elsewhere/full.jsonl"));
        assert_false(is_there("elsewhere/metadata"));
        assert_false(is_there("elsewhere/" SESSION));
        kit_remove_dir(dir);
    }
}

/* -- a disk that fails -- */

static void
a_line_that_the_disk_refuses_is_written_later_or_counted(void **state)
{
    (void)state;
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            struct scene s = { 0 };
            struct err err;
            char *dir = kit_make_dir();
            assert_int_equal(chdir(dir), 0);
            begin(&s);
            call_faults_begin(n, is_for_ever);
            talk(&s);
            int r = journal_entire_end(s.e, START + 99 * SECOND, true);
            has_failed = call_faults_end();
            unsigned there = is_there(LINES) ? check_lines(LINES) : 0;
            uint64_t missing = journal_entire_missing(s.e);
            assert_int_equal(there + missing, TALK_LINES);
            assert_int_equal(journal_entire_count(s.e), there);
            if (!is_for_ever) {
                assert_int_equal(missing, 0);
                kit_assert_file(FOLDER "/prompt.txt", "explain main.rs\n");
                assert_true(is_there(FOLDER "/context.md"));
            }
            assert_true(r == 0 || journal_entire_trouble(s.e, &err));
            assert_int_equal(is_there(FOLDER "/context.md.new"), false);
            journal_entire_free(s.e);
            kit_remove_dir(dir);
        }
    }
}

static void
what_does_not_fit_is_counted_and_no_line_follows_it(void **state)
{
    (void)state;
    enum { LINES_BYTES = 1 << 20, COUNT = 20 };
    struct scene s = { 0 };
    struct err err;
    AUTO(buf) text = { 0 };
    uint8_t *p = buf_grow(&text, LINES_BYTES);
    assert_non_null(p);
    memset(p, 'x', LINES_BYTES);
    begin(&s);
    ask(&s, "go");
    call_faults_begin(1, true);
    for (int i = 0; i < COUNT; i++)
        ask(&s, buf_str(&text));
    assert_true(journal_entire_trouble(s.e, &err));
    assert_non_null(strstr(err.text, "cannot write"));
    assert_true(journal_entire_due_ns(s.e) < clock_mono_ns() + SECOND);
    call_faults_end();
    ask(&s, "there is room");
    ask(&s, "again");
    uint64_t missing = journal_entire_missing(s.e);
    assert_in_range(missing, COUNT - 9, COUNT - 6);
    assert_int_equal(end(&s), 0);
    assert_int_equal(check_lines(LINES) + missing, COUNT + 3);
}

static void
a_folder_that_is_taken_away_is_told(void **state)
{
    (void)state;
    struct scene s = { 0 };
    struct err err;
    begin(&s);
    ask(&s, "go");
    assert_int_equal(rename(".entire", "away"), 0);
    ask(&s, "on");
    assert_int_equal(journal_entire_end(s.e, START, true), ERR_MISSING);
    assert_true(journal_entire_trouble(s.e, &err));
    assert_non_null(strstr(err.text, "was moved, removed or replaced"));
    journal_entire_free(s.e);
    assert_false(is_there(".entire"));
}

static void
no_line_is_synced_while_the_agent_waits(void **state)
{
    (void)state;
    struct scene s = { 0 };
    begin(&s);
    ask(&s, "go");
    call_faults_begin(UINT32_MAX, false);
    for (int i = 0; i < 100; i++) {
        say(&s, TURN_TEXT, "m", "x");
        say(&s, TURN_TOOL_RESULT, "t", "y");
    }
    unsigned syncs = call_faults.syncs, calls = call_faults.count;
    call_faults_end();
    assert_int_equal(syncs, 0);
    assert_int_equal(calls, 199); /* one write a line; the last one waits */
    assert_int_equal(end(&s), 0);
}

/* -- what a dead writer has left -- */

static void
cut(const struct buf *whole, size_t n)
{
    AUTO(buf) part = { 0 };
    buf_append(&part, whole->p, n);
    kit_write_file(LINES, buf_str(&part));
}

/* Wherever the file was cut, and done twice. */
static void
what_is_missing_is_added(void **state)
{
    (void)state;
    struct scene s = { 0 };
    AUTO(buf) whole = { 0 };
    AUTO(buf) context = { 0 };
    AUTO(buf) now = { 0 };
    begin(&s);
    talk(&s);
    assert_int_equal(end(&s), 0);
    slurp(LINES, &whole);
    slurp(FOLDER "/context.md", &context);
    assert_non_null(strstr(buf_str(&context), "- Model: opus-5\n"));
    assert_non_null(strstr(buf_str(&whole), "[Tool execution was interrupted]"));
    size_t step = (size_t)(kit_stride() * kit_times(31, 1)); /* each syncs */
    for (size_t left = whole.n + step; left;) {
        left -= left < step ? left : step; /* from all of it to nothing */
        size_t n = left;
        cut(&whole, n);
        assert_int_equal(unlink(FOLDER "/context.md"), 0);
        assert_int_equal(unlink(FOLDER "/prompt.txt"), 0);
        for (int times = 0; times < 2; times++) {
            assert_int_equal(begin_again(&s), 0);
            talk(&s);
            assert_int_equal(journal_entire_end(s.e, START + 99 * SECOND, true), 0);
            assert_int_equal(journal_entire_count(s.e) > 0, !times && n < whole.n - 1);
            journal_entire_free(s.e);
            slurp(LINES, &now);
            assert_string_equal(buf_str(&now), buf_str(&whole));
            slurp(FOLDER "/context.md", &now);
            assert_string_equal(buf_str(&now), buf_str(&context));
            kit_assert_file(FOLDER "/prompt.txt", "explain main.rs\n");
        }
    }
}

/* At most what else was in the line that it began comes once more. */
static void
a_damaged_event_shifts_no_other(void **state)
{
    enum { EVENTS = 8 };
    static const unsigned added[EVENTS] = { 0, 0, 0, 1, 0, 0, 1, 0 };
    (void)state;
    struct scene s = { 0 };
    AUTO(buf) whole = { 0 };
    AUTO(buf) now = { 0 };
    begin(&s);
    talk(&s);
    assert_int_equal(s.number, EVENTS);
    assert_int_equal(end(&s), 0);
    slurp(LINES, &whole);
    for (unsigned i = 0; i < EVENTS; i++) {
        kit_write_file(LINES, buf_str(&whole));
        for (unsigned times = 0; times < 2; times++) {
            assert_int_equal(begin_again(&s), 0);
            s.damaged = i + 1;
            talk(&s);
            assert_int_equal(end(&s), 0);
            slurp(LINES, &now);
            assert_memory_equal(now.p, whole.p, whole.n);
            assert_int_equal(check_lines(LINES), TALK_LINES + added[i]);
        }
        s.damaged = 0;
    }
}

static bool
is_line(const struct buf *text, unsigned number, struct view *ret)
{
    struct view rest = { text->p, text->n };
    for (const uint8_t *stop; rest.n && (stop = memchr(rest.p, '\n', rest.n));) {
        *ret = (struct view){ rest.p, (size_t)(stop + 1 - rest.p) };
        rest = (struct view){ stop + 1, rest.n - ret->n };
        if (!number--)
            return true;
    }
    return false;
}

/* Lines that the writer could not write: those behind them follow those before them. */
static void
what_was_lost_in_the_middle_is_added_behind_the_last_line(void **state)
{
    (void)state;
    struct scene s = { 0 };
    begin(&s);
    for (unsigned i = 1; i <= 9; i++) {
        s.damaged = i >= 4 && i <= 6 ? i : 0;
        ask(&s, "go");
    }
    journal_entire_free(s.e);
    s.damaged = 0;
    assert_int_equal(check_lines(LINES), 6);
    for (unsigned times = 0; times < 2; times++) {
        assert_int_equal(begin_again(&s), 0);
        for (unsigned i = 1; i <= 10; i++)
            ask(&s, "go");
        assert_int_equal(end(&s), 0);
        assert_int_equal(check_lines(LINES), 10);
    }
}

/* Lines that the file has lost: others in it name them. */
static void
what_is_gone_from_the_middle_takes_its_place_in_the_chain(void **state)
{
    (void)state;
    struct scene s = { 0 };
    AUTO(buf) whole = { 0 };
    AUTO(buf) left = { 0 };
    AUTO(buf) now = { 0 };
    struct view line;
    begin(&s);
    talk(&s);
    journal_entire_free(s.e);
    slurp(LINES, &whole);
    for (unsigned i = 0; is_line(&whole, i, &line); i++)
        if (i != 1 && i != 2)
            buf_append(&left, line.p, line.n);
    kit_write_file(LINES, buf_str(&left));
    assert_int_equal(begin_again(&s), 0);
    talk(&s);
    journal_entire_free(s.e);
    slurp(LINES, &now);
    assert_memory_equal(now.p, left.p, left.n);
    for (unsigned i = 0; is_line(&whole, i, &line); i++)
        assert_non_null(memmem(now.p, now.n, line.p, line.n)); /* its parent, too */
    assert_int_equal(now.n, whole.n);
}

static void
lines_that_others_wrote_stay(void **state)
{
    (void)state;
    struct scene s = { 0 };
    AUTO(buf) now = { 0 };
    begin(&s);
    ask(&s, "go");
    journal_entire_free(s.e);
    int fd = open(LINES, O_WRONLY | O_APPEND);
    static const char theirs[] = "{\"x\":[1,{\"uuid\":1}]}\nno JSON";
    assert_int_equal(file_write_all(fd, theirs, sizeof(theirs) - 1), 0);
    close(fd);
    assert_int_equal(begin_again(&s), 0);
    ask(&s, "go");
    ask(&s, "on");
    assert_int_equal(end(&s), 0);
    slurp(LINES, &now);
    assert_non_null(
        strstr(buf_str(&now), "\n{\"x\":[1,{\"uuid\":1}]}\nno JSON\n{\"type\""));
    assert_null(strstr(strstr(buf_str(&now), "no JSON"), "\"go\""));
}

/* Whoever was killed had some of its lines in the file; all else is not ours. */
static void
a_prompt_of_which_there_is_the_beginning_is_completed(void **state)
{
    (void)state;
    static const char whole[] = "one\ntwo\n\nfour";
    static const struct {
        const char *left, *want;
        bool comes_whole;
    } cases[] = {
        { "one", whole, false },
        { "one\ntwo\n", whole, false },
        { whole, whole, false },
        { "on", "on", false },
        { "one\ntwo\n\nfour\nfive", "one\ntwo\n\nfour\nfive", false },
        { "two", "two", false },
        { "", "", false },
        { "one", "one", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene s = { .is_plain = !cases[i].comes_whole };
        begin(&s);
        ask(&s, "one");
        journal_entire_free(s.e);
        kit_write_file(FOLDER "/prompt.txt", cases[i].left);
        for (int times = 0; times < 2; times++) {
            kit_write_file(FOLDER "/prompt.txt.new", "one\ntw");
            assert_int_equal(begin_again(&s), 0);
            if (cases[i].comes_whole) {
                ask(&s, whole);
            } else {
                ask(&s, "one");
                ask(&s, "two");
                ask(&s, "");
                ask(&s, "four");
            }
            say(&s, TURN_TEXT, "m1", "Yes.");
            ask(&s, "five");
            assert_int_equal(end(&s), 0);
            kit_assert_file(FOLDER "/prompt.txt", cases[i].want);
            assert_false(is_there(FOLDER "/prompt.txt.new"));
        }
        assert_int_equal(journal_entire_remove(s.root, SESSION, NULL), 0);
    }
}

static void
a_folder_that_is_gone_is_not_made_anew(void **state)
{
    (void)state;
    struct scene s = { 0 };
    assert_int_equal(begin_again(&s), ERR_MISSING);
    assert_int_equal(mkdir(".entire", 0700), 0);
    assert_int_equal(begin_again(&s), ERR_MISSING);
    assert_int_equal(mkdir(".entire/metadata", 0700), 0);
    assert_int_equal(begin_again(&s), ERR_MISSING);
    assert_false(is_there(FOLDER));
}

/* -- key actions -- */

static void
assert_action(const char *name, const char *json, const char *wanted)
{
    struct entire_actions a = { 0 };
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.name = text_view(name);
    e.json = text_view(json);
    assert_int_equal(entire_actions_see(&a, &e), 0);
    assert_string_equal(buf_str(&a.lines), wanted);
    entire_actions_release(&a);
}

static void
an_action_is_one_line_without_markup(void **state)
{
    (void)state;
    assert_action("read_file", "{\"path\": \"src/my_main.rs\", \"n\": 1}",
                  "- **read_file**: src/my_main.rs\n");
    assert_action("Bash", "{\"command\":\"a &&\\n  b\\t*.c > `x` | y\"}",
                  "- **Bash**: a && b \\*.c > \\`x\\` \\| y\n");
    assert_action("x", "{\"a\":[1, {\"b\":2}],\"c\":3}", "- **x**: [1, {\"b\":2}]\n");
    assert_action("x", "{\"a\":false}", "- **x**: false\n");
    assert_action("Edit",
                  "{\"replace_all\":false,\"file_path\":\"a.c\",\"old_string\":\"b\"}",
                  "- **Edit**: a.c\n");
    assert_action("x", "{\"a\":{\"b\":\"c\"},\"d\":\"\"}", "- **x**: {\"b\":\"c\"}\n");
    assert_action("x", "{\"a\":1,\"b\":", "- **x**: 1\n");
    assert_action("x", "{}", "- **x**\n");
    assert_action("x", "", "- **x**\n");
    assert_action("x", "{\"a\":", "- **x**\n");
    assert_action("x", "\"word\"", "- **x**: word\n");
    assert_action("x", "{\"a\":\"<img src=x> [l](u) &amp; _b_ \\u001b[31m\\u202er\"}",
                  "- **x**: \\<img src=x> [l\\](u) \\&amp; \\_b\\_ r\n");
    assert_action("a\nb**", "{\"a\":\"\\ud800\"}", "- **a b\\*\\***: \xef\xbf\xbd\n");
}

static void
a_call_that_is_told_again_is_one_action(void **state)
{
    (void)state;
    struct entire_actions a = { 0 };
    struct turn_event call = turn_event(TURN_TOOL_CALL);
    struct turn_event result = turn_event(TURN_TOOL_RESULT);
    call.name = text_view("plan");
    static const char *const ids[] = { "1", "2", "1", "2" };
    for (size_t i = 0; i < 4; i++) {
        call.id = text_view(ids[i]);
        assert_int_equal(entire_actions_see(&a, &call), 0);
    }
    assert_int_equal(a.count, 2);
    result.id = text_view("1");
    assert_int_equal(entire_actions_see(&a, &result), 0);
    assert_int_equal(entire_actions_see(&a, &call), 0); /* "2" still waits */
    call.id = text_view("1");
    assert_int_equal(entire_actions_see(&a, &call), 0);
    assert_string_equal(buf_str(&a.lines), "- **plan**\n- **plan**\n- **plan**\n");
    entire_actions_release(&a);
}

/* Codex numbers its calls anew in each. */
static void
a_call_of_the_next_iteration_is_one_of_its_own(void **state)
{
    (void)state;
    struct entire_actions a = { 0 };
    struct turn_event call = turn_event(TURN_TOOL_CALL);
    struct turn_event over = turn_event(TURN_EXIT);
    call.name = text_view("shell");
    call.id = text_view("item_0");
    for (int i = 0; i < 2; i++) { /* no result comes */
        assert_int_equal(entire_actions_see(&a, &call), 0);
        assert_int_equal(entire_actions_see(&a, &call), 0);
        assert_int_equal(entire_actions_see(&a, &over), 0);
    }
    assert_string_equal(buf_str(&a.lines), "- **shell**\n- **shell**\n");
    entire_actions_release(&a);
}

static void
actions_have_a_ceiling(void **state)
{
    (void)state;
    struct entire_actions a = { 0 };
    AUTO(buf) long_text = { 0 };
    AUTO(buf) out = { 0 };
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.name = text_view("Write");
    buf_puts(&long_text, "{\"text\":\"");
    for (int i = 0; i < 5000; i++)
        buf_puts(&long_text, "\xc3\xa4");
    buf_puts(&long_text, "\"}");
    e.json = (struct view){ long_text.p, long_text.n };
    for (int i = 0; i < 2234; i++)
        assert_int_equal(entire_actions_see(&a, &e), 0);
    assert_int_equal(entire_context(SESSION, text_view("m"), START, &a, &out), 0);
    assert_true(out.n < 1 << 20);
    assert_non_null(strstr(buf_str(&out), "\xc3\xa4\xe2\x80\xa6\n\nand 1,234 more\n"));
    entire_actions_release(&a);
}

/* -- the branch -- */

static void
assert_branch(const char *below, const char *wanted)
{
    char cwd[4096];
    AUTO(buf) path = { 0 };
    AUTO(buf) branch = { 0 };
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    buf_printf(&path, "%s%s", cwd, below);
    journal_git_branch(buf_str(&path), &branch);
    assert_string_equal(buf_str(&branch), wanted);
}

static void
the_branch_is_that_of_the_work_tree(void **state)
{
    (void)state;
    assert_branch("", "");
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(mkdir("a/b", 0700), 0);
    assert_int_equal(mkdir(".git", 0700), 0);
    assert_branch("", "");
    kit_write_file(".git/HEAD", "ref: refs/heads/feature/x-1\n");
    assert_branch("", "feature/x-1");
    assert_branch("/a/b", "feature/x-1");
    kit_write_file("a/.git", "gitdir: ../tree\n");
    assert_branch("/a/b", "");
    assert_int_equal(mkdir("tree", 0700), 0);
    kit_write_file("tree/HEAD", "ref: refs/heads/w\n");
    assert_branch("/a", "w");
    kit_write_file("tree/HEAD", "95384550703574f9f026f65d005e34d000000000\n");
    assert_branch("/a", "");
    kit_write_file("tree/HEAD", "ref: refs/heads/.invalid\n");
    assert_branch("/a", "");
    kit_write_file("tree/HEAD", "ref: refs/heads/a\nb\n");
    assert_branch("/a", "");
}

static void
a_work_tree_may_be_all_there_is(void **state)
{
    (void)state;
    int status;
    if (geteuid())
        skip();
    assert_int_equal(mkdir(".git", 0700), 0);
    kit_write_file(".git/HEAD", "ref: refs/heads/all\n");
    pid_t pid = fork();
    if (!pid) {
        AUTO(buf) branch = { 0 };
        if (chroot(".") < 0)
            _exit(2);
        journal_git_branch("/a/b", &branch);
        _exit(strcmp(buf_str(&branch), "all") != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip();
    assert_int_equal(status, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(nothing_is_made_before_the_first_line),
        KIT_IN_DIR(a_turn_is_there_when_it_is_complete),
        KIT_IN_DIR(a_turn_that_rests_does_not_wait_for_the_next_event),
        KIT_IN_DIR(what_else_lies_there_stays),
        KIT_IN_DIR(no_link_is_followed),
        KIT_IN_DIR(a_line_that_the_disk_refuses_is_written_later_or_counted),
        KIT_IN_DIR(what_does_not_fit_is_counted_and_no_line_follows_it),
        KIT_IN_DIR(a_folder_that_is_taken_away_is_told),
        KIT_IN_DIR(no_line_is_synced_while_the_agent_waits),
        KIT_IN_DIR(what_is_missing_is_added),
        KIT_IN_DIR(a_damaged_event_shifts_no_other),
        KIT_IN_DIR(what_was_lost_in_the_middle_is_added_behind_the_last_line),
        KIT_IN_DIR(what_is_gone_from_the_middle_takes_its_place_in_the_chain),
        KIT_IN_DIR(lines_that_others_wrote_stay),
        KIT_IN_DIR(a_prompt_of_which_there_is_the_beginning_is_completed),
        KIT_IN_DIR(a_folder_that_is_gone_is_not_made_anew),
        cmocka_unit_test(an_action_is_one_line_without_markup),
        cmocka_unit_test(a_call_that_is_told_again_is_one_action),
        cmocka_unit_test(a_call_of_the_next_iteration_is_one_of_its_own),
        cmocka_unit_test(actions_have_a_ceiling),
        KIT_IN_DIR(the_branch_is_that_of_the_work_tree),
        KIT_IN_DIR(a_work_tree_may_be_all_there_is),
    };
    return cmocka_run_group_tests_name("entire", tests, NULL, NULL);
}
