/* SPDX-License-Identifier: MIT */
/* remove_test.c -- a recording goes as a whole, and nothing else with it. */
#include "support/kit.h"
#include "support/sim_disk.h"
#include "tape/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct kit_result res;

static void
put_tail(struct sim_disk *d, const struct kit_sample *s, int i)
{
    AUTO(buf) tail = { 0 };
    char name[64];
    kit_make_tail(s, i, &tail);
    snprintf(name, sizeof(name), KIT_PATH ".tail-%d", i);
    sim_put(d, name, (struct view){ tail.p, tail.n });
}

/* Three segments and four tails of one recording: eight files with the rest of a join. */
static void
scatter(struct sim_disk *d)
{
    struct kit_sample s;
    kit_sample_init(&s, 100, 800);
    assert_true(s.blocks >= 10);
    const size_t *at = s.start;
    sim_init(d);
    sim_put(d, KIT_PATH, (struct view){ s.file.p, at[4] });
    sim_put(d, KIT_PATH ".1", (struct view){ s.file.p + at[3], at[6] - at[3] });
    sim_put(d, KIT_PATH ".2", kit_block(&s, 6));
    for (int i = 6; i < 10; i++)
        put_tail(d, &s, i);
    sim_put(d, KIT_PATH ".join", (struct view){ s.file.p, 100 });
    kit_sample_release(&s);
}

static int
remove_it(struct sim_disk *d)
{
    struct err err;
    int r = tape_remove(&d->io, KIT_PATH, &err);
    if (r < 0)
        assert_non_null(strstr(err.text, KIT_PATH));
    return r;
}

static void
a_recording_goes_with_its_segments_and_tails(void **state)
{
    (void)state;
    static const char *const others[] = { KIT_PATH ".torn", KIT_PATH ".tail-3.torn",
                                          KIT_PATH ".bak",  KIT_PATH ".16",
                                          KIT_PATH "2",     "y.ahr.tail-1" };
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    struct sim_disk d;
    scatter(&d);
    assert_int_equal(sim_count_files(&d), 8);
    for (int i = 0; i < OTHERS; i++)
        sim_put(&d, others[i], (struct view){ (const uint8_t *)"mine", 4 });
    assert_int_equal(remove_it(&d), 0);
    assert_int_equal(sim_count_files(&d), OTHERS);
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(sim_file(&d, others[i]).n, 4);
    sim_release(&d);
}

static void
what_is_removed_stays_so_when_the_power_goes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10; seed++) {
        struct sim_disk d;
        scatter(&d);
        assert_int_equal(remove_it(&d), 0);
        sim_power_cut(&d, seed);
        assert_int_equal(sim_count_files(&d), 0);
        sim_release(&d);
    }
}

static void
tails_without_a_recording_go_too(void **state)
{
    (void)state;
    struct kit_sample s;
    struct sim_disk d;
    kit_sample_init(&s, 30, 1500);
    sim_init(&d);
    assert_int_equal(remove_it(&d), 0);
    assert_int_equal(d.calls, 2); /* nothing there: nothing is made */
    put_tail(&d, &s, 0);
    put_tail(&d, &s, 1);
    assert_int_equal(remove_it(&d), 0);
    assert_int_equal(sim_count_files(&d), 0);
    kit_sample_release(&s);
    sim_release(&d);
}

static void
somebody_elses_file_beside_it_is_refused(void **state)
{
    (void)state;
    struct sim_disk d;
    scatter(&d);
    sim_put(&d, KIT_PATH ".3", (struct view){ (const uint8_t *)"a diary", 7 });
    assert_int_equal(remove_it(&d), -EEXIST);
    assert_int_equal(sim_count_files(&d), 9);
    sim_release(&d);
}

/* What is left is the beginning of the recording, and no tail stands alone. */
static void
check_half_done(struct sim_disk *d)
{
    bool has_files = sim_count_files(d) > 0;
    assert_true(!has_files || sim_file(d, KIT_PATH).n > 0);
    kit_read(&d->io, KIT_PATH, &res);
    assert_true(kit_is_prefix(&res));
    assert_int_equal(res.notes.damages, 0);
    kit_release(&res);
    assert_int_equal(remove_it(d), 0);
    assert_int_equal(sim_count_files(d), 0);
}

static void
a_removal_that_fails_at_any_call_can_be_repeated(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        bool hit = true;
        int n = 1;
        for (; hit; n++) {
            struct sim_disk d;
            scatter(&d);
            d.fault = SIM_ERROR;
            d.error = -EIO;
            d.is_forever = !once;
            d.at_call = n;
            int r = remove_it(&d);
            hit = d.calls >= n;
            assert_int_equal(r, hit ? -EIO : 0);
            sim_heal(&d);
            check_half_done(&d);
            sim_release(&d);
        }
        assert_true(n > 20);
    }
}

static void
a_removal_can_be_repeated_after_the_power_went(void **state)
{
    (void)state;
    bool hit = true;
    for (int n = 1; hit; n++)
        for (unsigned seed = 0; seed < 5; seed++) {
            struct sim_disk d;
            scatter(&d);
            d.fault = SIM_POWER;
            d.at_call = n;
            int r = remove_it(&d);
            hit = d.is_dead;
            sim_power_cut(&d, seed);
            if (!r)
                assert_int_equal(sim_count_files(&d), 0);
            assert_int_equal(remove_it(&d), 0);
            assert_int_equal(sim_count_files(&d), 0);
            sim_release(&d);
        }
}

/* -- real files -- */

static char *dir, path[4096];

static int
set_up(void **state)
{
    (void)state;
    dir = kit_make_dir();
    snprintf(path, sizeof(path), "%s/" KIT_PATH, dir);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    kit_remove_dir(dir);
    return 0;
}

static int
remove_path(const char *what, struct err *err)
{
    return tape_remove(tape_io_files(), what, err);
}

static void
a_live_recording_is_left_alone(void **state)
{
    (void)state;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    assert_int_equal(tape_writer_open(&w, tape_io_files(), path, &opt, &err), 0);
    kit_append(w, 1, 50, NULL);
    assert_int_equal(remove_path(path, &err), ERR_BUSY);
    assert_non_null(strstr(err.text, "is being recorded right now"));
    kit_append(w, 50, 100, NULL);
    assert_int_equal(tape_writer_finish(w, KIT_START, &st, &err), 0);
    kit_read(tape_io_files(), path, &res);
    assert_int_equal(res.count, 100);
    kit_release(&res);
    assert_int_equal(remove_path(path, &err), 0);
    assert_int_equal(access(path, F_OK), -1);
}

static void
a_folder_that_is_not_there_holds_nothing(void **state)
{
    (void)state;
    char name[4200];
    struct err err;
    snprintf(name, sizeof(name), "%s/none/x.ahr", dir);
    assert_int_equal(remove_path(name, &err), 0);
    assert_int_equal(remove_path(path, &err), 0);
}

/* Puts something that is no regular file at `name`, and says what. */
static const char *
put_oddity(int which, const char *name)
{
    switch (which) {
    case 0:
        assert_int_equal(mkdir(name, 0700), 0);
        return "directory";
    case 1:
        assert_int_equal(mkfifo(name, 0600), 0);
        return "regular";
    case 2:
        assert_int_equal(symlink("target", name), 0);
        return "symbolic";
    default:
        assert_int_equal(symlink("nowhere", name), 0);
        return "symbolic";
    }
}

static void
what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    static const char *const suffixes[] = { "", ".1", ".tail-7", ".join" };
    char target[4200], odd[4200];
    struct stat st;
    struct err err;
    snprintf(target, sizeof(target), "%s/target", dir);
    close(open(target, O_CREAT | O_WRONLY, 0600));
    for (int s = 0; s < 4; s++)
        for (int which = 0; which < 4; which++) {
            if (s)
                close(open(path, O_CREAT | O_WRONLY, 0600));
            snprintf(odd, sizeof(odd), "%s%s", path, suffixes[s]);
            const char *word = put_oddity(which, odd);
            assert_true(remove_path(path, &err) < 0);
            assert_non_null(strstr(err.text, odd));
            assert_non_null(strstr(err.text, word));
            assert_int_equal(lstat(odd, &st), 0);
            assert_int_equal(access(path, F_OK), s || which < 3 ? 0 : -1);
            assert_int_equal(access(target, F_OK), 0);
            assert_int_equal(remove(odd), 0);
            remove(path);
        }
}

int
main(void)
{
#define REAL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_goes_with_its_segments_and_tails),
        cmocka_unit_test(what_is_removed_stays_so_when_the_power_goes),
        cmocka_unit_test(tails_without_a_recording_go_too),
        cmocka_unit_test(somebody_elses_file_beside_it_is_refused),
        cmocka_unit_test(a_removal_that_fails_at_any_call_can_be_repeated),
        cmocka_unit_test(a_removal_can_be_repeated_after_the_power_went),
        REAL(a_live_recording_is_left_alone),
        REAL(a_folder_that_is_not_there_holds_nothing),
        REAL(what_is_no_regular_file_is_refused),
    };
    return cmocka_run_group_tests_name("remove", tests, NULL, NULL);
}
