/* SPDX-License-Identifier: MIT */
/* touched_test.c -- the files that a conversation's tools have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "journal/touched.h"
#include "support/measure.h"
#include "support/rng.h"
#include "support/text_view.h"
#include "turn/history.h"

#define EDIT(path) "{\"file_path\":\"" path "\"}"

struct seen {
    struct journal_touched t;
    struct buf text;
    const char *cwd;
    int fails;
};

static int
put_file(void *ctx, struct view path, const char *action)
{
    struct seen *s = ctx;
    buf_printf(&s->text, "%.*s:%s ", (int)path.n, (const char *)path.p, action);
    return s->fails;
}

static int
see(struct seen *s, const struct turn_event *e)
{
    return journal_touched_see(&s->t, e, s->cwd, put_file, s);
}

static void
call(struct seen *s, const char *id, const char *tool, const char *json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = text_view(id);
    e.name = text_view(tool);
    e.json = text_view(json);
    assert_int_equal(see(s, &e), 0);
}

static void
result(struct seen *s, const char *id, const char *text, bool is_error)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = text_view(id);
    e.text = text_view(text);
    e.is_error = is_error;
    assert_int_equal(see(s, &e), s->fails);
}

static void
assert_text(struct seen *s, const char *want)
{
    assert_string_equal(buf_str(&s->text), want);
    buf_clear(&s->text);
}

static void
seen_release(struct seen *s)
{
    journal_touched_release(&s->t);
    buf_release(&s->text);
}

/* -- what is told -- */

static void
a_file_is_touched_when_its_call_has_come_back(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    call(&s, "1", "Edit", EDIT("/p/src/a.c"));
    call(&s, "2", "Write", EDIT("/p/b"));
    call(&s, "3", "Write", EDIT("/p/c"));
    call(&s, "4", "Bash", "{\"command\":\"rm x\"}");
    assert_text(&s, "");
    result(&s, "2", "File created successfully at: /p/b", false);
    result(&s, "1", "The file has been updated", false);
    result(&s, "3", "no such folder", true);
    result(&s, "4", "", false);
    result(&s, "1", "again", false);
    result(&s, "9", "of none", false);
    assert_text(&s, "b:created src/a.c:modified ");
    assert_int_equal(s.t.open.n, 0);
    seen_release(&s);
}

static void
one_that_ends_with_a_code_has_not_written(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    call(&s, "1", "Edit", EDIT("a"));
    e.id = text_view("1");
    e.exit_code = 1;
    assert_int_equal(see(&s, &e), 0);
    assert_text(&s, "");
    seen_release(&s);
}

static void
a_patch_touches_each_of_its_files(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    call(
        &s, "1", "apply_patch",
        "\"*** Begin Patch\\n*** Add File: a\\n+x\\n*** Update File: b\\n@@\\n*** Delete "
        "File: /p/../q/c\\n*** End Patch\\n\"");
    result(&s, "1", "Success", false);
    assert_text(&s, "a:created /q/c:deleted b:modified ");
    seen_release(&s);
}

/* Without a look at the disk: "/tmp/../tmp" is what it says. */
static void
a_path_is_listed_below_its_folder_or_whole(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "/p", EDIT("a"), "a" },
        { "/p", EDIT("./x/../a"), "a" },
        { "/p/", EDIT("a"), "a" },
        { "/p", EDIT("/p/a"), "a" },
        { "/p", EDIT("/p"), "/p" },
        { "/p", EDIT("/pq/a"), "/pq/a" },
        { "/p", EDIT("../a"), "/a" },
        { "/p", EDIT("/../../etc/passwd"), "/etc/passwd" },
        { "/", EDIT("/a/b"), "a/b" },
        { "/", EDIT("/"), "/" },
        { "", EDIT("a/b"), "a/b" },
        { "", EDIT("/a/b"), "/a/b" },
        { "/p", EDIT("t\\u00fc\\n"), "t\xc3\xbc\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s = { .cwd = cases[i][0] };
        AUTO(buf) want = { 0 };
        buf_printf(&want, "%s:modified ", cases[i][2]);
        call(&s, "1", "Edit", cases[i][1]);
        result(&s, "1", "", false);
        assert_text(&s, buf_str(&want));
        seen_release(&s);
    }
}

static void
a_call_that_is_told_again_counts_by_the_last(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    call(&s, "1", "Edit", EDIT("a"));
    call(&s, "1", "Edit", EDIT("b"));
    e.is_partial = true;
    e.id = text_view("1");
    e.name = text_view("Edit");
    e.json = text_view(EDIT("c"));
    assert_int_equal(see(&s, &e), 0);
    result(&s, "1", "", false);
    assert_text(&s, "b:modified ");
    seen_release(&s);
}

static void
an_error_of_who_is_told_is_returned(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    call(&s, "1", "apply_patch",
         "\"*** Begin Patch\\n*** Add File: a\\n*** Add File: b\\n*** End Patch\\n\"");
    s.fails = -5;
    result(&s, "1", "", false);
    assert_text(&s, "a:created ");
    s.fails = 0;
    result(&s, "1", "", false);
    assert_text(&s, "");
    seen_release(&s);
}

/* -- much, and anything -- */

static void
calls_that_never_end_give_way(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    double before = measure_cpu_s();
    for (int i = 0; i < 50000; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        call(&s, id, "Edit", EDIT("a"));
        result(&s, "none", "", false);
        assert_true(s.t.open.n <= 65 << 10);
    }
    assert_true(measure_cpu_s() - before < 30);
    result(&s, "0", "", false);
    assert_text(&s, "");
    result(&s, "49999", "", false);
    assert_text(&s, "a:modified ");
    seen_release(&s);
}

static void
a_patch_of_any_number_of_files_is_bounded(void **state)
{
    (void)state;
    struct seen s = { .cwd = "/p" };
    AUTO(buf) patch = { 0 };
    buf_puts(&patch, "\"*** Begin Patch\\n");
    for (int i = 0; i < 100000; i++)
        buf_printf(&patch, "*** Add File: %d\\n", i);
    buf_puts(&patch, "*** End Patch\\n\"");
    for (int i = 0; i < 10; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        call(&s, id, "apply_patch", buf_str(&patch));
        assert_true(s.t.open.n <= 65 << 10);
    }
    result(&s, "9", "", false);
    assert_int_equal(strncmp(buf_str(&s.text), "0:created 1:created 2:created ", 30), 0);
    seen_release(&s);
}

static void
what_is_given_back_may_be_anything(void **state)
{
    (void)state;
    uint32_t rng = 11;
    struct seen good = { .cwd = "/p" };
    call(&good, "1", "Edit", EDIT("a"));
    call(&good, "2", "apply_patch",
         "{\"input\":\"*** Begin Patch\\n*** Add File: b\\n*** Delete File: c\\n\"}");
    for (int round = 0; round < 50000; round++) {
        struct seen s = { .cwd = round % 2 ? "/p" : "" };
        size_t n = rng_below(&rng, 4) ? good.t.open.n
                                      : rng_below(&rng, (uint32_t)good.t.open.n);
        assert_int_equal(buf_append(&s.t.open, good.t.open.p, n), 0);
        for (uint32_t k = rng_below(&rng, 4); n && k; k--)
            s.t.open.p[rng_below(&rng, (uint32_t)n)] = (uint8_t)rng_below(&rng, 4);
        result(&s, "1", "", false);
        call(&s, "3", "Edit", EDIT("d"));
        result(&s, "2", "", false);
        result(&s, "3", "", false);
        seen_release(&s);
    }
    seen_release(&good);
}

/* -- a real one -- */

static int
see_kept(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    (void)ts_ns;
    return see(ctx, e);
}

static void
the_transcript_of_the_fixtures_touches_one_file(void **state)
{
    (void)state;
    char path[4096], line[1 << 16];
    const char *dir = getenv("AHR_FIXTURES");
    struct seen s = { .cwd = "/home/dev/project" };
    struct turn_history *h;
    const struct turn_history_options opt = { .agent = TURN_CLAUDE,
                                              .event = see_kept,
                                              .ctx = &s };
    snprintf(path, sizeof(path), "%s/agents/claude-transcript.jsonl", dir ? dir : "");
    FILE *f = dir ? fopen(path, "r") : NULL;
    if (!f) {
        printf("# the shared fixtures are not here\n");
        skip();
    }
    assert_int_equal(turn_history_new(&h, &opt), 0);
    while (fgets(line, sizeof(line), f))
        assert_int_equal(turn_history_line(h, (struct view){ 0 }, text_view(line)), 0);
    assert_text(&s, "src/main.c:modified ");
    turn_history_free(h);
    (void)fclose(f);
    seen_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_touched_when_its_call_has_come_back),
        cmocka_unit_test(one_that_ends_with_a_code_has_not_written),
        cmocka_unit_test(a_patch_touches_each_of_its_files),
        cmocka_unit_test(a_path_is_listed_below_its_folder_or_whole),
        cmocka_unit_test(a_call_that_is_told_again_counts_by_the_last),
        cmocka_unit_test(an_error_of_who_is_told_is_returned),
        cmocka_unit_test(calls_that_never_end_give_way),
        cmocka_unit_test(a_patch_of_any_number_of_files_is_bounded),
        cmocka_unit_test(what_is_given_back_may_be_anything),
        cmocka_unit_test(the_transcript_of_the_fixtures_touches_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
