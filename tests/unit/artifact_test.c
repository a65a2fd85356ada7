/* SPDX-License-Identifier: MIT */
/* artifact_test.c -- which files tools write, and the copies of them. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/artifact.h"
#include "journal/artifact_priv.h"
#include "support/kit.h"

static bool
is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* -- tools -- */

static void
put_path(void *ctx, struct view path, const char *action)
{
    buf_printf(ctx, "%.*s:%s ", (int)path.n, (const char *)path.p, action ? action : "?");
}

static void
tools_tell_what_they_write(void **state)
{
    (void)state;
#define PATCH                                                                         \
    "*** Begin Patch\\n*** Add File: a\\n+x\\n*** Update File: b\\n*** Move to: c\\n" \
    "*** Update File: d\\r\\n@@\\n*** Delete File: e\\n*** End Patch"
#define PATCHED "a:created b:deleted c:created e:deleted d:modified "
    static const char *const cases[][3] = {
        { "Write", "{\"file_path\":\"/x/a\\u0062\",\"content\":\"c\"}", "/x/ab:? " },
        { "Edit", "{\"old_string\":\"o\",\"file_path\":\"f\"}", "f:? " },
        { "MultiEdit", "{\"file_path\":\"f\",\"edits\":[]}", "f:? " },
        { "NotebookEdit", "{\"notebook_path\":\"n.ipynb\"}", "n.ipynb:? " },
        { "write_file", "{\"file_path\":\"g\"}", "g:? " },
        { "replace", "{\"file_path\":\"g\"}", "g:? " },
        { "write", "{\"filePath\":\"o\"}", "o:? " },
        { "mcp__files__write_file", "{\"path\":\"m\"}", "m:? " },
        { "str_replace_based_edit_tool", "{\"command\":\"create\",\"path\":\"s\"}",
          "s:? " },
        { "str_replace_based_edit_tool", "{\"command\":\"view\",\"path\":\"s\"}", "" },
        { "apply_patch",
          "{\"changes\":[{\"path\":\"a\",\"kind\":\"add\"},{\"path\":\"b\",\"kind\":{"
          "\"type\":\"delete\"}},{\"path\":\"c\",\"kind\":\"update\"}]}",
          "a:created b:deleted c:modified " },
        { "apply_patch", "{\"changes\":{\"/a\":{\"add\":{\"content\":\"\"}}}}",
          "/a:created " },
        { "apply_patch", "{\"input\":\"" PATCH "\"}", PATCHED },
        { "apply_patch", "\"" PATCH "\"", PATCHED },
        { "shell", "{\"command\":[\"apply_patch\",\"" PATCH "\"]}", PATCHED },
        { "shell", "{\"command\":[\"ls\",1,null]}", "" },
        { "Read", "{\"file_path\":\"f\"}", "" },
        { "Bash", "{\"command\":\"ls\"}", "" },
        { "Write", "{\"file_path\":7}", "" },
        { "Write", "{\"file_path\":\"f", "" },
        { "Write", "", "" },
        { "apply_patch", "{\"changes\":[1,{},{\"path\":", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) out = { 0 };
        journal_tool_paths(text_view(cases[i][0]), text_view(cases[i][1]), put_path,
                           &out);
        assert_string_equal(buf_str(&out), cases[i][2]);
    }
}

/* -- copies -- */

struct fixture {
    struct journal_artifacts *a;
    struct buf told;
};

static void
hear(void *ctx, struct view path, const char *action)
{
    struct fixture *f = ctx;
    buf_printf(&f->told, "%s %.*s\n", action, (int)path.n, (const char *)path.p);
}

static void
start(struct fixture *f)
{
    static struct redact *redact;
    char dir[4096], run[4200];
    struct err err;
    if (!redact)
        assert_int_equal(redact_open(&redact, NULL, &err), 0);
    assert_non_null(getcwd(dir, sizeof(dir)));
    snprintf(run, sizeof(run), "%s/run", dir);
    assert_int_equal(mkdir(run, 0700), 0);
    *f = (struct fixture){ 0 };
    assert_int_equal(journal_artifacts_new(&f->a, dir, run, redact, hear, f), 0);
}

static void
stop(struct fixture *f)
{
    journal_artifacts_free(f->a);
    buf_release(&f->told);
}

static void
call(struct fixture *f, const char *id, const char *tool, const char *json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = text_view(id);
    e.name = text_view(tool);
    e.json = text_view(json);
    assert_int_equal(journal_artifacts_see(f->a, &e, 1), 0);
}

static int
result(struct fixture *f, const char *id, const char *text, bool is_error)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = text_view(id);
    e.text = text_view(text);
    e.is_error = is_error;
    return journal_artifacts_see(f->a, &e, 2);
}

static void
a_file_is_an_artifact_when_its_call_has_succeeded(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    call(&f, "1", "Write", "{\"file_path\":\"a.txt\"}");
    assert_false(is_there("run/artifacts"));
    kit_write_file("a.txt", "one");
    assert_int_equal(result(&f, "1", "", false), 0);
    call(&f, "2", "Edit", "{\"file_path\":\"./sub/../a.txt\"}");
    kit_write_file("a.txt", "two");
    assert_int_equal(result(&f, "2", "", false), 0);
    assert_int_equal(result(&f, "2", "", false), 0); /* told twice, heard once */
    call(&f, "3", "Write", "{\"file_path\":\"b.txt\"}");
    assert_int_equal(result(&f, "3", "no", true), 0);
    assert_string_equal(buf_str(&f.told), "created a.txt\nmodified a.txt\n");
    kit_assert_file("run/artifacts/0001-a.txt", "one");
    kit_assert_file("run/artifacts/0002-a.txt", "two");
    assert_int_equal(journal_artifacts_list(f.a).n, sizeof("a.txt"));
    stop(&f);
}

static void
what_the_result_says_counts(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    kit_write_file("a", "x"); /* written before the call was seen */
    call(&f, "1", "Write", "{\"file_path\":\"a\"}");
    assert_int_equal(result(&f, "1", "File created successfully at: a", false), 0);
    call(&f, "2", "Write", "{\"file_path\":\"created successfully\"}");
    assert_int_equal(result(&f, "2", "ok", false), 0);
    assert_string_equal(buf_str(&f.told), "created a\ncreated created successfully\n");
    stop(&f);
}

static void
what_a_tool_writes_into_the_runs_own_folder_is_no_artifact(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    call(&f, "1", "Write", "{\"file_path\":\"run/io.log\"}");
    kit_write_file("run/io.log", "x");
    assert_int_equal(result(&f, "1", "", false), 0);
    assert_string_equal(buf_str(&f.told), "");
    assert_false(is_there("run/artifacts"));
    stop(&f);
}

static void
only_what_changed_is_copied_again(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    start(&f);
    kit_write_file("a", "x");
    for (int i = 0; i < 3; i++)
        assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), 0);
    assert_int_equal(unlink("a"), 0);
    assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), 0);
    kit_write_file("a", "y");
    assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), 0);
    assert_string_equal(buf_str(&f.told),
                        "created a\nmodified a\nmodified a\ndeleted a\ncreated a\n");
    assert_true(is_there("run/artifacts/0001-a"));
    kit_assert_file("run/artifacts/0002-a", "y");
    assert_false(is_there("run/artifacts/0003-a"));
    stop(&f);
}

static void
what_is_no_plain_file_is_listed_and_not_copied(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    AUTO(buf) links = { 0 };
    start(&f);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("/etc/passwd", "link"), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    static const char *const names[] = { "fifo", "link", "folder", "/dev/zero" };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(journal_artifacts_add(f.a, names[i], NULL, 1, &err), 0);
    assert_int_equal(file_slurp("run/artifacts/links.json", &links), 0);
    assert_null(strstr(buf_str(&links), "\"copy\":\""));
    assert_non_null(strstr(buf_str(&links), "it is a link"));
    assert_non_null(strstr(buf_str(&links), "it is no plain file"));
    stop(&f);
}

static void
a_file_too_large_is_not_copied(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    AUTO(buf) links = { 0 };
    start(&f);
    kit_write_file("big", "");
    assert_int_equal(truncate("big", JOURNAL_COPY_MAX + 1), 0);
    assert_int_equal(journal_artifacts_add(f.a, "big", NULL, 1, &err), 0);
    assert_int_equal(file_slurp("run/artifacts/links.json", &links), 0);
    assert_non_null(strstr(buf_str(&links), "\"copy\":null"));
    assert_non_null(strstr(buf_str(&links), "larger than 8 MiB"));
    stop(&f);
}

static void
a_file_as_large_as_may_be_is_copied(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    struct stat st;
    start(&f);
    kit_write_file("big", "");
    assert_int_equal(truncate("big", JOURNAL_COPY_MAX), 0);
    assert_int_equal(journal_artifacts_add(f.a, "big", NULL, 1, &err), 0);
    assert_int_equal(lstat("run/artifacts/0001-big", &st), 0);
    assert_int_equal(st.st_size, JOURNAL_COPY_MAX);
    stop(&f);
}

/* links.json of a run that has copied so much, in files of 4 GiB at most each. */
static void
write_links(uint64_t bytes)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text,
               "[{\"path\":\"x\",\"action\":\"created\",\"copy\":\"0001-x\","
               "\"bytes\":%lu}]",
               (unsigned long)bytes);
    kit_write_file("run/artifacts/links.json", buf_str(&text));
}

static void
all_copies_have_a_ceiling(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    AUTO(buf) links = { 0 };
    start(&f);
    kit_write_file("a", "four");
    assert_int_equal(mkdir("run/artifacts", 0700), 0);
    write_links(JOURNAL_COPIES_MAX - 3);
    assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), 0);
    assert_false(is_there("run/artifacts/0002-a"));
    assert_int_equal(file_slurp("run/artifacts/links.json", &links), 0);
    assert_non_null(strstr(buf_str(&links), "more than 256 MiB"));
    write_links(JOURNAL_COPIES_MAX - 4);
    assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), 0);
    kit_assert_file("run/artifacts/0002-a", "four");
    stop(&f);
}

static void
a_list_has_a_ceiling(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    AUTO(buf) text = { 0 };
    start(&f);
    kit_write_file("a", "x");
    assert_int_equal(mkdir("run/artifacts", 0700), 0);
    for (int i = 1; i < JOURNAL_LINKS_MAX; i++)
        buf_printf(&text, "%c{\"path\":\"x\"}", i == 1 ? '[' : ',');
    buf_puts(&text, "]");
    kit_write_file("run/artifacts/links.json", buf_str(&text));
    assert_int_equal(journal_artifacts_add(f.a, "a", "modified", 1, &err), 0);
    assert_int_equal(journal_artifacts_add(f.a, "a", "modified", 1, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "has 2000 entries already"));
    stop(&f);
}

static void
nothing_is_copied_through_a_link(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    start(&f);
    kit_write_file("a", "x");
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    assert_int_equal(symlink("../elsewhere", "run/artifacts"), 0);
    assert_int_equal(journal_artifacts_add(f.a, "a", NULL, 1, &err), -ELOOP);
    assert_non_null(strstr(err.text, "is a link"));
    assert_int_equal(rmdir("elsewhere"), 0);
    assert_string_equal(buf_str(&f.told), "created a\n"); /* it is told all the same */
    stop(&f);
}

static void
a_list_of_anothers_is_set_aside(void **state)
{
    (void)state;
    static const char *const lists[] = { "", "{}", "[1", "[]x",
                                         "[{\"copy\":\"../../a\",\"path\":\"a\"}]" };
    struct fixture f;
    struct err err;
    start(&f);
    kit_write_file("a", "x");
    assert_int_equal(mkdir("run/artifacts", 0700), 0);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        kit_write_file("run/artifacts/links.json", lists[i]);
        assert_int_equal(journal_artifacts_add(f.a, "a", "modified", 1, &err), 0);
        if (i < 4)
            kit_assert_file("run/artifacts/links.json.damaged", lists[i]);
    }
    stop(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_tell_what_they_write),
        KIT_IN_DIR(a_file_is_an_artifact_when_its_call_has_succeeded),
        KIT_IN_DIR(what_the_result_says_counts),
        KIT_IN_DIR(what_a_tool_writes_into_the_runs_own_folder_is_no_artifact),
        KIT_IN_DIR(only_what_changed_is_copied_again),
        KIT_IN_DIR(what_is_no_plain_file_is_listed_and_not_copied),
        KIT_IN_DIR(a_file_too_large_is_not_copied),
        KIT_IN_DIR(a_file_as_large_as_may_be_is_copied),
        KIT_IN_DIR(all_copies_have_a_ceiling),
        KIT_IN_DIR(a_list_has_a_ceiling),
        KIT_IN_DIR(nothing_is_copied_through_a_link),
        KIT_IN_DIR(a_list_of_anothers_is_set_aside),
    };
    return cmocka_run_group_tests_name("artifact", tests, NULL, NULL);
}
