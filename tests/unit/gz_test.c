/* SPDX-License-Identifier: MIT */
/*
 * gz_test.c -- files that lie compressed beside their name: read, cut, flipped, packed
 * and unpacked while each call fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gz/pack.h"
#include "gz/read.h"
#include "support/call_faults.h"
#include "support/kit.h"
#include "support/rng.h"

#define NAME   "io.log"
#define PACKED NAME GZ_SUFFIX

/* -- helpers -- */

static int
here(void)
{
    static int fd = -1;
    if (fd >= 0)
        close(fd);
    fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int
pack(void)
{
    struct gz_sizes ignored;
    return gz_pack(here(), NAME, NULL, &ignored);
}

static int
unpack(void)
{
    struct gz_sizes ignored;
    return gz_unpack(here(), NAME, NULL, &ignored);
}

static bool
is_there(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

static void
write_view(const char *name, struct view bytes)
{
    assert_int_equal(file_replace(name, bytes, false, NULL), 0);
}

static void
write_buf(const char *name, const struct buf *b)
{
    write_view(name, (struct view){ b->p, b->n });
}

/* Text with some order in it. */
static void
put_text(struct buf *b, uint32_t seed, size_t n)
{
    uint32_t s = rng_seed(seed);
    while (b->n < n)
        buf_printf(b, "{\"n\":%u,\"text\":\"word %u\"}\n", rng_below(&s, 1000),
                   rng_below(&s, 7));
    b->n = n;
}

static int
slurp(struct buf *ret)
{
    buf_clear(ret);
    return gz_slurp(AT_FDCWD, NAME, SIZE_MAX / 2, ret);
}

static void
assert_holds(const struct buf *want)
{
    AUTO(buf) got = { 0 };
    assert_int_equal(slurp(&got), 0);
    assert_int_equal(got.n, want->n);
    assert_true(!got.n || !memcmp(got.p, want->p, got.n));
}

/* -- reading -- */

static void
what_is_packed_is_read_as_it_was(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 2, 100, 65535, 65536, 65537, 262144, 1000000 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        AUTO(buf) text = { 0 };
        struct gz_sizes done = { 0 };
        put_text(&text, (uint32_t)i, sizes[i]);
        write_buf(NAME, &text);
        assert_int_equal(gz_pack(here(), NAME, NULL, &done), 0);
        assert_int_equal(done.plain, sizes[i]);
        assert_false(is_there(NAME));
        assert_holds(&text);
        /* … and by others: */
        assert_int_equal(system("gzip -t " PACKED " && gzip -dc " PACKED " >" NAME), 0);
        assert_holds(&text);
        assert_int_equal(unlink(NAME), 0);
        assert_int_equal(unpack(), 0);
        assert_false(is_there(PACKED));
        assert_holds(&text);
        assert_int_equal(unlink(NAME), 0);
    }
}

static void
zeroes_come_back_whatever_the_room(void **state)
{
    (void)state;
    AUTO(buf) zeroes = { 0 };
    assert_non_null(memset(buf_grow(&zeroes, 5 << 20), 0, 5 << 20));
    write_buf(NAME, &zeroes);
    assert_int_equal(pack(), 0);
    for (size_t room = 1; room < 5 << 20; room = room * 37 + 1) {
        struct gz *g;
        AUTO(buf) piece = { 0 };
        size_t n = 0;
        ssize_t r;
        assert_non_null(buf_grow(&piece, room));
        assert_int_equal(gz_open(&g, AT_FDCWD, NAME), 0);
        assert_true(gz_is_packed(g));
        while ((r = gz_read(g, piece.p, room)) > 0 && (room > 1 || n < 300000))
            n += (size_t)r;
        assert_true(r >= 0 && (room == 1 || n == zeroes.n));
        gz_close(g);
    }
}

static void
several_members_are_one_file(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    buf_puts(&want, "one\ntwo\nthree\n");
    assert_int_equal(system("for i in one '' two three; do printf '%s' \"$i${i:+\n}\" | "
                            "gzip -c; done >" PACKED),
                     0);
    assert_holds(&want);
    AUTO(buf) got = { 0 };
    assert_int_equal(system("printf rubbish >>" PACKED), 0);
    assert_int_equal(slurp(&got), ERR_DAMAGED);
    assert_int_equal(got.n, want.n);
}

static void
a_cut_one_gives_what_it_has(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) packed = { 0 };
    put_text(&text, 7, 3000);
    write_buf(NAME, &text);
    assert_int_equal(pack(), 0);
    assert_int_equal(file_slurp(PACKED, &packed), 0);
    size_t most = 0;
    for (size_t n = 0; n < packed.n; n++) {
        AUTO(buf) got = { 0 };
        write_view(PACKED, (struct view){ packed.p, n });
        assert_int_equal(slurp(&got), ERR_DAMAGED);
        assert_true(got.n <= text.n && (!got.n || !memcmp(got.p, text.p, got.n)));
        most = got.n > most ? got.n : most;
    }
    assert_int_equal(most, text.n); /* only its checksum is missing then */
}

static void
a_flipped_bit_is_noticed(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) packed = { 0 };
    put_text(&text, 8, 2000);
    write_buf(NAME, &text);
    assert_int_equal(pack(), 0);
    assert_int_equal(file_slurp(PACKED, &packed), 0);
    size_t damaged = 0, bits = 8 * packed.n;
    for (size_t i = 0; i < bits; i++) {
        AUTO(buf) got = { 0 };
        packed.p[i / 8] ^= (uint8_t)(1u << i % 8);
        write_buf(PACKED, &packed);
        packed.p[i / 8] ^= (uint8_t)(1u << i % 8);
        int r = slurp(&got);
        if (r == 0) /* its name or its time: nothing that it holds */
            assert_true(got.n == text.n && !memcmp(got.p, text.p, got.n));
        else
            assert_int_equal(r, ERR_DAMAGED);
        damaged += r < 0;
    }
    assert_true(damaged + 200 > bits);
}

static void
who_keeps_it_has_a_ceiling(void **state)
{
    (void)state;
    AUTO(buf) zeroes = { 0 };
    AUTO(buf) got = { 0 };
    assert_non_null(memset(buf_grow(&zeroes, 4 << 20), 0, 4 << 20));
    write_buf(NAME, &zeroes);
    assert_int_equal(pack(), 0);
    assert_int_equal(gz_slurp(AT_FDCWD, NAME, 1000, &got), ERR_LIMIT);
    assert_in_range(got.n, 1001, 200000);
}

static void
links_and_other_things_are_not_read(void **state)
{
    (void)state;
    AUTO(buf) got = { 0 };
    assert_int_equal(slurp(&got), -ENOENT);
    assert_int_equal(symlink("/etc/hostname", PACKED), 0);
    assert_int_equal(slurp(&got), -ELOOP);
    assert_int_equal(symlink("/etc/hostname", NAME), 0);
    assert_int_equal(slurp(&got), -ELOOP);
    assert_int_equal(unlink(NAME), 0);
    assert_int_equal(mkdir(NAME, 0700), 0);
    assert_int_equal(slurp(&got), -EINVAL);
}

/* -- packed -- */

static void
mode_and_time_stay(void **state)
{
    (void)state;
    const struct timespec times[] = { { 1000, 5 }, { 1600000000, 123456789 } };
    struct stat st;
    kit_write_file(NAME, "some text\n");
    assert_int_equal(chmod(NAME, 0600), 0);
    assert_int_equal(utimensat(AT_FDCWD, NAME, times, 0), 0);
    umask(0);
    assert_int_equal(pack(), 0);
    assert_int_equal(stat(PACKED, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_mtim.tv_nsec, 123456789);
    assert_int_equal(unpack(), 0);
    assert_int_equal(stat(NAME, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_mtim.tv_sec, 1600000000);
    umask(022);
}

static void
an_empty_file_stays(void **state)
{
    (void)state;
    struct gz_sizes done = { .plain = 1, .packed = 1 };
    kit_write_file(NAME, "");
    assert_int_equal(gz_pack(here(), NAME, NULL, &done), 0);
    assert_int_equal(done.plain + done.packed, 0);
    assert_true(is_there(NAME) && !is_there(PACKED));
}

static void
of_both_the_plain_one_wins_unless_something_would_be_lost(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    kit_write_file(NAME, "one\n");
    assert_int_equal(pack(), 0);
    kit_write_file(NAME, "one\n"); /* killed between */
    assert_int_equal(pack(), 0);
    assert_false(is_there(NAME));
    kit_write_file(NAME, "one\ntwo\n"); /* … and then written to */
    assert_int_equal(pack(), 0);
    assert_false(is_there(NAME));
    buf_puts(&want, "one\ntwo\n");
    assert_holds(&want);
    kit_write_file(NAME, "another\n"); /* by somebody who knows nothing of archives */
    assert_int_equal(pack(), -EEXIST);
    assert_int_equal(unpack(), -EEXIST);
    kit_assert_file(NAME, "another\n");
    assert_int_equal(unlink(NAME), 0);
    assert_holds(&want);
}

static void
what_is_written_to_is_busy(void **state)
{
    (void)state;
    kit_write_file(NAME, "one\n");
    int fd = open(NAME, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_lock(fd, false, 0), 0);
    assert_int_equal(pack(), ERR_BUSY);
    kit_assert_file(NAME, "one\n");
    close(fd);
    assert_int_equal(pack(), 0);
}

static void
links_and_other_things_are_not_packed(void **state)
{
    (void)state;
    assert_int_equal(pack(), -ENOENT);
    assert_int_equal(unpack(), -ENOENT);
    kit_write_file("x", "one\n");
    assert_int_equal(symlink("x", NAME), 0);
    assert_int_equal(pack(), -ELOOP);
    kit_assert_file("x", "one\n");
    assert_int_equal(unlink(NAME), 0);
    kit_write_file(NAME, "two\n");
    assert_int_equal(symlink("x", PACKED), 0);
    assert_int_equal(pack(), -ELOOP);
    assert_int_equal(unpack(), -ELOOP);
    kit_assert_file(NAME, "two\n");
    kit_assert_file("x", "one\n");
}

static void
a_damaged_one_is_refused_or_rescued(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) packed = { 0 };
    AUTO(buf) got = { 0 };
    struct gz_sizes done;
    put_text(&text, 9, 50000);
    for (int i = 0; i < 2; i++) {
        write_buf(NAME, &text);
        assert_int_equal(pack(), 0);
        packed.n = 0;
        assert_int_equal(file_slurp(PACKED, &packed), 0);
        assert_int_equal(truncate(PACKED, (off_t)packed.n / 2), 0);
        assert_int_equal(unpack(), ERR_DAMAGED);
        assert_true(is_there(PACKED) && !is_there(NAME) && !is_there(GZ_TEMP));
        assert_int_equal(gz_rescue(here(), NAME, NULL, &done), ERR_DAMAGED);
        assert_true(is_there(i ? PACKED GZ_BAD "1" : PACKED GZ_BAD));
        assert_false(is_there(PACKED));
        assert_int_equal(slurp(&got), 0);
        assert_in_range(got.n, text.n / 4, text.n - 1);
        assert_memory_equal(got.p, text.p, got.n);
        assert_int_equal(unlink(NAME), 0);
    }
}

static void
a_damaged_one_that_is_in_the_way_is_put_aside(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) damaged = { 0 };
    AUTO(buf) aside = { 0 };
    struct gz_sizes done;
    put_text(&text, 12, 50000);
    write_buf(NAME, &text);
    assert_int_equal(pack(), 0);
    assert_int_equal(truncate(PACKED, 3000), 0);
    assert_int_equal(file_slurp(PACKED, &damaged), 0);
    write_buf(NAME, &text);
    assert_int_equal(gz_pack(here(), NAME, NULL, &done), 0);
    assert_true(done.is_aside && !is_there(NAME));
    assert_holds(&text);
    assert_int_equal(file_slurp(PACKED GZ_BAD, &aside), 0);
    assert_int_equal(aside.n, damaged.n);
    assert_memory_equal(aside.p, damaged.p, aside.n);
}

static void
a_name_tells_what_is_packed(void **state)
{
    (void)state;
    kit_write_file("0001-a", "one\n");
    struct gz_sizes done;
    assert_int_equal(gz_pack(here(), "0001-a", NULL, &done), 0);
    assert_true(gz_is_of(here(), "0001-a"));
    assert_int_equal(rename("0001-a.gz", "0002-a.gz"), 0); /* a copy of such a file */
    assert_false(gz_is_of(here(), "0002-a"));
    assert_int_equal(system("echo x | gzip >0003-a.gz"), 0);
    assert_false(gz_is_of(here(), "0003-a"));
    assert_false(gz_is_of(here(), "0004-a"));
}

/* -- a disk that fails -- */

static void
of_both_the_one_that_stays_is_on_the_disk_before_the_other_goes(void **state)
{
    (void)state;
    for (int undo = 0; undo < 2; undo++) {
        struct gz_sizes done;
        kit_write_file(NAME, "one\n");
        assert_int_equal(pack(), 0);
        kit_write_file(NAME, "one\n");
        int fd = here();
        call_faults_begin(UINT_MAX, false); /* they are counted, and none fails */
        int r = undo ? gz_unpack(fd, NAME, NULL, &done) : gz_pack(fd, NAME, NULL, &done);
        unsigned syncs = call_faults.syncs;
        call_faults_end();
        assert_int_equal(r, 0);
        assert_int_equal(syncs, 3); /* it, the folder, and the folder without the other */
        assert_int_equal(is_there(NAME), undo);
        (void)unlink(PACKED);
    }
}

static void
nothing_is_lost_whichever_call_fails(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    put_text(&text, 10, 700000);
    for (int way = 0; way < 4; way++) {
        bool has_failed = true;
        for (unsigned n = 1; has_failed; n++) {
            (void)unlink(PACKED);
            write_buf(NAME, &text);
            if (way & 2)
                assert_int_equal(pack(), 0);
            int fd = here();
            struct gz_sizes done;
            call_faults_begin(n, way & 1);
            int r = way & 2 ? gz_unpack(fd, NAME, NULL, &done)
                            : gz_pack(fd, NAME, NULL, &done);
            has_failed = call_faults_end();
            assert_true(has_failed || !r);
            assert_holds(&text);
            assert_int_equal(way & 2 && is_there(PACKED) ? unpack() : 0, 0);
            assert_int_equal(!(way & 2) && is_there(NAME) ? pack() : 0, 0);
            assert_holds(&text);
            assert_false(is_there(GZ_TEMP));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(what_is_packed_is_read_as_it_was),
        KIT_IN_DIR(zeroes_come_back_whatever_the_room),
        KIT_IN_DIR(several_members_are_one_file),
        KIT_IN_DIR(a_cut_one_gives_what_it_has),
        KIT_IN_DIR(a_flipped_bit_is_noticed),
        KIT_IN_DIR(who_keeps_it_has_a_ceiling),
        KIT_IN_DIR(links_and_other_things_are_not_read),
        KIT_IN_DIR(mode_and_time_stay),
        KIT_IN_DIR(an_empty_file_stays),
        KIT_IN_DIR(of_both_the_plain_one_wins_unless_something_would_be_lost),
        KIT_IN_DIR(what_is_written_to_is_busy),
        KIT_IN_DIR(links_and_other_things_are_not_packed),
        KIT_IN_DIR(a_damaged_one_is_refused_or_rescued),
        KIT_IN_DIR(a_damaged_one_that_is_in_the_way_is_put_aside),
        KIT_IN_DIR(a_name_tells_what_is_packed),
        KIT_IN_DIR(of_both_the_one_that_stays_is_on_the_disk_before_the_other_goes),
        KIT_IN_DIR(nothing_is_lost_whichever_call_fails),
    };
    return cmocka_run_group_tests_name("gz", tests, NULL, NULL);
}
