/* SPDX-License-Identifier: MIT */
/*
 * journal_faults_test.c -- what a run keeps in its project when the disk fails.
 *
 * The N-th call fails, for every N, once and for ever: what was there before is whole, a
 * name is never given twice, and afterwards all goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/artifact.h"
#include "journal/io.h"
#include "journal/iteration.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "support/call_faults.h"
#include "support/kit.h"

static void
metadata_is_the_old_or_the_new(void **state)
{
    (void)state;
    struct journal_metadata m = { .name = "one", .usage = TURN_NO_USAGE };
    struct err err;
    for (int way = 0; way < 4; way++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            AUTO(journal_told) told = { 0 };
            m.status = "active";
            assert_int_equal(journal_metadata_write("m.json", &m, false, &err), 0);
            m.status = "completed";
            call_faults_begin(n, way & 1);
            int r = way & 2 ? journal_metadata_change("m.json", m.status, 1, "a", &err)
                            : journal_metadata_write("m.json", &m, true, &err);
            has_failed = call_faults_end();
            assert_int_equal(journal_metadata_read("m.json", &told, &err), 0);
            assert_string_equal(told.name, "one");
            if (r == 0)
                assert_string_equal(told.status, "completed");
            else /* the new one where only its folder could not be synced */
                assert_true(!strcmp(told.status, "active") ||
                            !strcmp(told.status, "completed"));
        }
    }
}

/* What is said to be so is so after a power cut, too: the file and its folder. */
static void
a_change_of_metadata_is_synced(void **state)
{
    (void)state;
    struct journal_metadata m = { .name = "one", .usage = TURN_NO_USAGE };
    struct err err;
    m.status = "active";
    call_faults_end();
    assert_int_equal(journal_metadata_write("m.json", &m, false, &err), 0);
    assert_int_equal(call_faults.syncs, 0); /* there will be others */
    assert_int_equal(journal_metadata_change("m.json", "interrupted", 1, NULL, &err), 0);
    assert_int_equal(call_faults.syncs, 2);
    assert_int_equal(journal_metadata_change("m.json", NULL, 0, "a", &err), 0);
    assert_int_equal(call_faults.syncs, 4);
    m.status = "completed";
    assert_int_equal(journal_metadata_write("m.json", &m, true, &err), 0);
    assert_int_equal(call_faults.syncs, 6);
}

static void
a_log_that_is_recovered_is_synced(void **state)
{
    (void)state;
    struct journal_iteration *it;
    struct err err;
    for (int has_failed = 0; has_failed < 2; has_failed++) {
        (void)unlink("1.log");
        assert_int_equal(journal_iteration_open(&it, "1.log", 1, 0, &err), 0);
        journal_iteration_close(it);
        call_faults_begin(has_failed ? 2 : 100, false); /* the first is open() */
        int r = journal_iteration_recover("1.log", &err);
        assert_int_equal(call_faults.syncs, 1);
        assert_int_equal(r, has_failed ? -EIO : 1);
        call_faults_end();
    }
}

static void
a_name_is_given_once_whatever_fails(void **state)
{
    (void)state;
    bool has[1000] = { 0 };
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            struct journal_project p;
            struct err err;
            unsigned number;
            for (int again = 0; again < 2; again++) {
                if (!again)
                    call_faults_begin(n, is_for_ever);
                int r = journal_project_open(&p, ".", NULL, NULL, &err);
                has_failed = again ? has_failed : call_faults_end();
                assert_true(r == 0 || !again);
                if (r < 0)
                    continue;
                assert_int_equal(sscanf(p.name, "RUN-%u", &number), 1);
                assert_false(has[number]);
                has[number] = true;
                assert_int_equal(rmdir(p.dir), 0); /* nothing but the counter knows */
                journal_project_release(&p);
            }
        }
    }
}

static int
count_entry(void *ctx, const struct journal_artifact_told *t)
{
    AUTO(buf) path = { 0 };
    size_t *count = ctx;
    ++*count;
    if (!*t->copy)
        return 0;
    buf_printf(&path, "artifacts/%s", t->copy);
    return access(buf_str(&path), F_OK);
}

static void
links_tell_of_copies_that_are_there(void **state)
{
    (void)state;
    struct journal_artifacts *a;
    struct err err;
    size_t before = 0;
    assert_int_equal(journal_artifacts_new(&a, ".", ".", NULL, NULL, NULL), 0);
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            char text[32];
            size_t count = 0;
            snprintf(text, sizeof(text), "%d %u", is_for_ever, n);
            assert_int_equal(file_replace("f", text_view(text), false, NULL), 0);
            call_faults_begin(n, is_for_ever);
            int r = journal_artifacts_add(a, "f", "modified", 1, &err);
            has_failed = call_faults_end();
            assert_int_equal(journal_artifacts_read(".", count_entry, &count, &err), 0);
            assert_int_equal(count, before + (r == 0));
            before = count;
        }
    }
    journal_artifacts_free(a);
    assert_false(access("artifacts/links.json.damaged", F_OK) == 0);
}

static void
a_line_is_whole_or_not_there(void **state)
{
    (void)state;
    for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            AUTO(buf) file = { 0 };
            struct err err;
            (void)unlink("io.log");
            assert_int_equal(journal_io_append("io.log", text_view("one\n"), &err), 0);
            call_faults_begin(n, is_for_ever);
            int r = journal_io_append("io.log", text_view("two\n"), &err);
            has_failed = call_faults_end();
            assert_int_equal(file_slurp("io.log", &file), 0);
            assert_string_equal(buf_str(&file), r == 0 ? "one\ntwo\n" : "one\n");
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(metadata_is_the_old_or_the_new),
        KIT_IN_DIR(a_change_of_metadata_is_synced),
        KIT_IN_DIR(a_log_that_is_recovered_is_synced),
        KIT_IN_DIR(a_name_is_given_once_whatever_fails),
        KIT_IN_DIR(links_tell_of_copies_that_are_there),
        KIT_IN_DIR(a_line_is_whole_or_not_there),
    };
    return cmocka_run_group_tests_name("journal_faults", tests, NULL, NULL);
}
