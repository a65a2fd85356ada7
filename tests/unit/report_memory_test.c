/* SPDX-License-Identifier: MIT */
/*
 * report_memory_test.c -- reports without memory: whichever allocation fails, once or
 * from then on, the call says so or the report is whole.
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <errno.h>
#include <string.h>

#include "support/alloc_faults.h"
#include "support/tape_maker.h"

static void
make_session(struct tape_maker *t)
{
    tape_maker_init(t, 20, 4);
    tape_maker_data(t, "one \x1b[31mred\x1b[m\r\npassword = \"hunt\xc3\xbcr2x\"\r\n");
    tape_maker_snapshot(t, 1, "a label");
    tape_maker_data(t, "\x1b]8;;http://me:hunter2x@x/\alink\x1b]8;;\a\r\n");
    tape_maker_data(t, "\x1b[?1049halternate\x1b[?1049l\r\n  four\r\n\x1b[1;1Hfive");
    t->byte_off += 9;
    tape_maker_data(t, "six");
    tape_maker_load(t, NULL);
}

static int
append(void *ctx, struct view bytes)
{
    (void)ctx;
    (void)bytes;
    return buf_append(ctx, bytes.p, bytes.n);
}

struct job {
    struct tape_maker *t;
    struct redact *redact;
    const struct play_format *format;
    enum play_order order;
};

/* Loads and reports, with the n-th allocation failing; 0: none. */
static int
work(const struct job *j, unsigned n, bool is_for_ever, struct buf *out)
{
    struct play_loaded l = { 0 };
    struct play_load_options load = { .has_times = n % 2 };
    struct play_about about = { .title = "title", .is_masked = true, .has_times = true };
    struct play_report_options opt = { .order = j->order,
                                       .has_snapshots = true,
                                       .has_notices = true,
                                       .has_times = true,
                                       .redact = j->redact,
                                       .about = &about,
                                       .io = &j->t->io.io,
                                       .path = KIT_PATH };
    struct err err = { 0 };
    buf_reserve(out, 1 << 16); /* the test's own */
    faults = (struct alloc_faults){ .is_on = true,
                                    .is_for_ever = is_for_ever,
                                    .fail_at = n };
    int e = play_load(&l, &j->t->io.io, KIT_PATH, &load, &err);
    if (!e)
        e = play_report(&l, &l.events, j->format, &opt, append, out, &err);
    faults.is_on = false;
    if (e < 0)
        assert_string_not_equal(err.text, "");
    play_loaded_release(&l);
    return e;
}

static void
try_all(const struct job *j)
{
    AUTO(buf) good = { 0 };
    assert_int_equal(work(j, 0, false, &good), 0);
    unsigned allocations = faults.count;
    assert_in_range(allocations, 20, 5000);
    for (unsigned n = 1; n <= allocations; n++)
        for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
            AUTO(buf) out = { 0 };
            int e = work(j, n, is_for_ever, &out);
            if (e >= 0)
                assert_string_equal(buf_str(&out), buf_str(&good));
        }
}

static void
a_report_is_whole_or_it_is_told(void **state)
{
    (void)state;
    static const char *const formats[] = { "md", "json", "ansi" };
    struct tape_maker t;
    struct err err;
    struct job j = { .t = &t };
    make_session(&t);
    assert_int_equal(redact_open(&j.redact, NULL, &err), 0);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        j.format = play_format_find(formats[i]);
        j.order = i == 1 ? PLAY_POSITION : PLAY_VISUAL;
        try_all(&j);
    }
    redact_close(j.redact);
    tape_maker_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_whole_or_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
