/* SPDX-License-Identifier: MIT */
/* snap_cache_test.c -- the files `extra` and ahr.cache of file snapshots: written, read,
 * damaged. */
#include <sys/stat.h>

#include "snap/cache_priv.h"
#include "snap/extra_priv.h"
#include "support/kit.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- extra -- */

static const struct snap_extra_item items[] = {
    { false, 0700, "" },
    { true, 0755, "a \"b\"\n" },
    { false, 0, "\xff" },
};

static void
make_extra(struct buf *out)
{
    struct snap_extra x = { 0644, 0755, 0750 };
    snap_extra_begin(out, &x);
    for (size_t i = 0; i < 3; i++)
        snap_extra_put(out, &items[i]);
    assert_int_equal(out->failed, 0);
}

static void
what_git_does_not_hold_is_written_and_read(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    struct snap_extra x;
    struct snap_extra_item item;
    make_extra(&b);
    struct view rest = view_of(&b);
    assert_int_equal(snap_extra_head(&x, &rest), 0);
    assert_int_equal(x.file_mode, 0644);
    assert_int_equal(x.exec_mode, 0755);
    assert_int_equal(x.dir_mode, 0750);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(snap_extra_next(&rest, &item), 1);
        assert_int_equal(item.is_empty_dir, items[i].is_empty_dir);
        assert_int_equal(item.mode, items[i].mode);
        assert_string_equal(item.path, items[i].path);
    }
    assert_int_equal(snap_extra_next(&rest, &item), 0);
}

static void
a_cut_extra_ends_between_items_or_is_damaged(void **state)
{
    (void)state;
    AUTO(buf) b = { 0 };
    make_extra(&b);
    int whole = 0;
    for (size_t n = 0; n < b.n; n++) {
        struct view rest = { b.p, n };
        struct snap_extra x;
        struct snap_extra_item item;
        int r = snap_extra_head(&x, &rest);
        while (r >= 0 && (r = snap_extra_next(&rest, &item)) > 0)
            ;
        assert_true(r == 0 || r == ERR_DAMAGED);
        whole += r == 0;
    }
    assert_int_equal(whole, 3); /* behind the head, and behind two items */
}

static void
an_extra_that_is_none_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int r;
    } cases[] = {
        { "", ERR_DAMAGED },
        { "ahr-snapshot 0\nmodes 644 755 755\n", ERR_DAMAGED },
        { "ahr-snapshot 2\nwhatever", ERR_NEWER },
        { "ahr-snapshot 99999999999\nmodes 644 755 755\n", ERR_DAMAGED },
        { "ahr-snapshot 1\nmodes 644 755\n", ERR_DAMAGED },
        { "ahr-snapshot 1\nmodes 4755 755 755\n", ERR_DAMAGED },
        { "ahr-snapshot 1\nmodes 648 755 755\n", ERR_DAMAGED },
        { "ahr-snapshot 1\nmodes 644  755 755\n", ERR_DAMAGED },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct view rest = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        struct snap_extra x;
        assert_int_equal(snap_extra_head(&x, &rest), cases[i].r);
    }
}

/* -- the cache -- */

static const char *const paths[] = { "a", "a-b", "a/b", "a/b/c", "b\n", "\xff" };

enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

static struct snap_look
look_of(uint64_t i)
{
    return (struct snap_look){ i, i << 40, -(int64_t)i, INT64_MAX, 0100644 };
}

static int
put_cache(struct snap_cache_out *out, const char *const *names, size_t count)
{
    struct snap_cache_head h = { .ref = "refs/ahr/none/7", .beside = 42 };
    memcpy(h.ids.commit, COMMIT, sizeof(COMMIT));
    snap_cache_begin(out, &h);
    for (size_t i = 0; i < count; i++) {
        struct snap_look look = look_of(i);
        snap_cache_put(out, names[i], &look);
    }
    return snap_cache_end(out);
}

static void
make_cache(struct snap_cache_out *out, const char *const *names, size_t count)
{
    assert_int_equal(put_cache(out, names, count), 0);
}

static void
looks_are_the_same_when_all_of_them_is(void **state)
{
    (void)state;
    const struct snap_look look = { 1, 2, 3, 4, 5 };
    struct snap_look other[] = { look, look, look, look, look };
    other[0].ino++, other[1].size_bytes++, other[2].mtime_ns++, other[3].ctime_ns++,
        other[4].mode++;
    assert_true(snap_look_is_same(&look, &(struct snap_look){ 1, 2, 3, 4, 5 }));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_false(snap_look_is_same(&look, &other[i]));
}

static void
looks_are_written_and_read(void **state)
{
    (void)state;
    struct snap_cache_out out = { 0 };
    struct snap_cache c;
    struct snap_look look;
    make_cache(&out, paths, PATHS);
    assert_int_equal(snap_cache_parse(&c, view_of(&out.b)), 0);
    assert_string_equal(c.head.ref, "refs/ahr/none/7");
    assert_string_equal(c.head.ids.commit, COMMIT);
    assert_string_equal(c.head.ids.files, "");
    assert_int_equal(c.head.beside, 42);
    for (size_t i = 0; i < PATHS; i++) {
        struct snap_look want = look_of(i);
        assert_true(snap_cache_next(&c, &look));
        assert_string_equal(c.path, paths[i]);
        assert_true(snap_look_is_same(&look, &want));
    }
    assert_false(snap_cache_next(&c, &look));
    buf_release(&out.b);
}

static void
a_cache_with_any_bit_flipped_or_cut_anywhere_is_none(void **state)
{
    (void)state;
    struct snap_cache_out out = { 0 };
    struct snap_cache c;
    make_cache(&out, paths, PATHS);
    for (size_t bit = 0; bit < out.b.n * 8; bit++) {
        out.b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(snap_cache_parse(&c, view_of(&out.b)), ERR_DAMAGED);
        out.b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t n = 0; n < out.b.n; n++)
        assert_int_equal(snap_cache_parse(&c, (struct view){ out.b.p, n }), ERR_DAMAGED);
    assert_int_equal(snap_cache_parse(&c, view_of(&out.b)), 0);
    buf_release(&out.b);
}

/* Read only in part it would hide what has gone since. */
static void
paths_out_of_order_make_no_cache(void **state)
{
    (void)state;
    static const char *const bad[][2] = { { "b", "a" }, { "a", "a" }, { "aa", "a" } };
    for (size_t i = 0; i < 3; i++) {
        struct snap_cache_out out = { 0 };
        assert_int_equal(put_cache(&out, bad[i], 2), ERR_DAMAGED);
        buf_release(&out.b);
    }
}

static void
put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void
a_cache_holds_while_its_ref_names_its_commit(void **state)
{
    (void)state;
    struct snap_cache_out out = { 0 };
    struct snap_cache c;
    make_cache(&out, paths, PATHS);
    assert_int_equal(snap_cache_load(&c, "."), ERR_MISSING);
    assert_int_equal(snap_cache_write(&out, "."), 0);
    assert_int_equal(snap_cache_place(".", true), 0);
    assert_int_equal(snap_cache_load(&c, "."), ERR_MISSING);
    assert_int_equal(
        mkdir("refs", 0700) | mkdir("refs/ahr", 0700) | mkdir("refs/ahr/none", 0700), 0);
    put_file("refs/ahr/none/7", "1123456789abcdef0123456789abcdef01234567\n");
    assert_int_equal(snap_cache_load(&c, "."), ERR_MISSING);
    put_file("refs/ahr/none/7", COMMIT "\n");
    assert_int_equal(snap_cache_load(&c, "."), 0);
    snap_cache_release(&c);
    assert_int_equal(remove("refs/ahr/none/7"), 0);
    put_file("packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" COMMIT
                            " refs/ahr/none/70\n" COMMIT " refs/ahr/none/7\n");
    assert_int_equal(snap_cache_load(&c, "."), 0);
    snap_cache_release(&c);
    buf_release(&out.b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_git_does_not_hold_is_written_and_read),
        cmocka_unit_test(a_cut_extra_ends_between_items_or_is_damaged),
        cmocka_unit_test(an_extra_that_is_none_is_refused),
        cmocka_unit_test(looks_are_the_same_when_all_of_them_is),
        cmocka_unit_test(looks_are_written_and_read),
        cmocka_unit_test(a_cache_with_any_bit_flipped_or_cut_anywhere_is_none),
        cmocka_unit_test(paths_out_of_order_make_no_cache),
        KIT_IN_DIR(a_cache_holds_while_its_ref_names_its_commit),
    };
    return cmocka_run_group_tests_name("snap_cache", tests, NULL, NULL);
}
