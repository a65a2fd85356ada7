/* SPDX-License-Identifier: MIT */
/* zstd_test.c -- what another program has compressed, whole and damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "gz/zstd.h"

/* "line 1 of a small file\n" … "line 60 of a small file\n", with a checksum. */
static const uint8_t frame[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x64, 0x97, 0x04, 0x25, 0x03, 0x00, 0x82, 0x05, 0x10,
    0x10, 0xb0, 0x79, 0x78, 0x4b, 0x80, 0xe8, 0x61, 0xfa, 0x4a, 0xb2, 0x9b, 0x3c,
    0x9e, 0x1e, 0x00, 0x04, 0xc6, 0xef, 0xcd, 0xab, 0x89, 0x67, 0xfb, 0xde, 0xbc,
    0x9a, 0x78, 0xa6, 0xef, 0xcd, 0xab, 0x89, 0x67, 0xf9, 0xde, 0xbc, 0x9a, 0x78,
    0x86, 0xef, 0xcd, 0xab, 0x89, 0x67, 0xf7, 0xde, 0xbc, 0x9a, 0x08, 0x44, 0x21,
    0xa3, 0x4a, 0x09, 0x26, 0x55, 0xa8, 0x81, 0xea, 0x4a, 0x1c, 0x52, 0x02, 0x3c,
    0xa8, 0x11, 0xb0, 0xbb, 0xff, 0x19, 0xe0, 0xe7, 0x11, 0x24, 0x04, 0x7f, 0x42,
    0x30, 0xce, 0x0f, 0x0b, 0x4f, 0xf3, 0xb4, 0xa7, 0x79, 0x5a, 0xf9, 0x46, 0x14,
    0x23, 0x5b, 0x56, 0x05, 0x52, 0x15, 0x07, 0x56, 0xa1, 0x30,
};
/* One that readers skip, with three bytes in it. */
static const uint8_t skipped[] = { 0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };

static void
put_text(struct buf *out)
{
    for (int i = 1; i <= 60; i++)
        buf_printf(out, "line %d of a small file\n", i);
}

/* All that comes out of it, so many bytes at a time; what the last read said. */
static ssize_t
unpack(const void *bytes, size_t n, size_t step, struct buf *out)
{
    struct gz_zstd *z;
    FILE *f = tmpfile();
    ssize_t r;
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fflush(f), 0);
    assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
    assert_int_equal(gz_zstd_new(&z, fileno(f)), 0);
    do {
        uint8_t room[4096];
        assert_int_equal(gz_zstd_read(z, room, 0) <= 0, true);
        r = gz_zstd_read(z, room, step);
        assert_true(r <= (ssize_t)step);
        if (r > 0)
            assert_int_equal(buf_append(out, room, (size_t)r), 0);
    } while (r > 0);
    uint8_t byte;
    assert_int_equal(gz_zstd_read(z, &byte, 1), r); /* and it stays so */
    gz_zstd_free(z);
    (void)fclose(f);
    return r;
}

static void
it_is_read_in_pieces_of_any_size(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    put_text(&want);
    for (size_t step = 1; step < 2000; step = step * 3 / 2 + 1) {
        AUTO(buf) out = { 0 };
        assert_int_equal(unpack(frame, sizeof(frame), step, &out), 0);
        assert_int_equal(out.n, want.n);
        assert_memory_equal(out.p, want.p, want.n);
    }
}

static void
several_one_behind_the_other_are_read_as_one(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    AUTO(buf) want = { 0 };
    put_text(&want);
    put_text(&want);
    buf_append(&in, skipped, sizeof(skipped));
    buf_append(&in, frame, sizeof(frame));
    buf_append(&in, skipped, sizeof(skipped));
    buf_append(&in, frame, sizeof(frame));
    assert_int_equal(unpack(in.p, in.n, 4096, &out), 0);
    assert_string_equal(buf_str(&out), buf_str(&want));
}

static void
nothing_is_nothing(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    assert_int_equal(unpack("", 0, 100, &out), 0);
    assert_int_equal(out.n, 0);
    assert_true(gz_zstd_fits((struct view){ frame, sizeof(frame) }));
    assert_false(gz_zstd_fits((struct view){ frame, 3 }));
    assert_false(gz_zstd_fits((struct view){ frame + 1, 4 }));
    gz_zstd_free(NULL);
}

static void
one_that_is_cut_is_damaged_and_what_came_before_holds(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    put_text(&want);
    for (size_t n = 1; n < sizeof(frame); n++) {
        AUTO(buf) in = { 0 };
        AUTO(buf) out = { 0 };
        buf_append(&in, frame, sizeof(frame)); /* a whole one before it */
        buf_append(&in, frame, n);
        assert_int_equal(unpack(in.p, in.n, 100, &out), ERR_DAMAGED);
        assert_true(out.n >= want.n && out.n <= 2 * want.n);
        assert_memory_equal(out.p, want.p, want.n);
        assert_memory_equal(out.p + want.n, want.p, out.n - want.n);
    }
}

/* The checksum tells, but where it is the header that says that there is one. */
static void
one_with_a_bit_flipped_is_damaged(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    put_text(&want);
    for (size_t bit = 0; bit < sizeof(frame) * 8; bit++) {
        uint8_t bytes[sizeof(frame)];
        AUTO(buf) out = { 0 };
        memcpy(bytes, frame, sizeof(frame));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ssize_t r = unpack(bytes, sizeof(bytes), 333, &out);
        bool is_same = out.n == want.n && !memcmp(out.p, want.p, want.n);
        assert_true(r == ERR_DAMAGED || (r == 0 && is_same));
    }
}

static void
garbage_behind_it_is_damage(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    AUTO(buf) want = { 0 };
    put_text(&want);
    buf_append(&in, frame, sizeof(frame));
    buf_puts(&in, "garbage");
    assert_int_equal(unpack(in.p, in.n, 4096, &out), ERR_DAMAGED);
    assert_string_equal(buf_str(&out), buf_str(&want));
}

/* It asks for a window of 2^41 bytes. */
static void
one_that_needs_too_much_memory_is_refused(void **state)
{
    (void)state;
    static const uint8_t huge[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0, 0 };
    AUTO(buf) out = { 0 };
    assert_int_equal(unpack(huge, sizeof(huge), 100, &out), ERR_DAMAGED);
}

static void
a_file_that_cannot_be_read_says_why(void **state)
{
    (void)state;
    struct gz_zstd *z;
    uint8_t byte;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(gz_zstd_new(&z, fds[1]), 0);
    assert_int_equal(gz_zstd_read(z, &byte, 1), -EBADF);
    gz_zstd_free(z);
    close(fds[0]);
    close(fds[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read_in_pieces_of_any_size),
        cmocka_unit_test(several_one_behind_the_other_are_read_as_one),
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(one_that_is_cut_is_damaged_and_what_came_before_holds),
        cmocka_unit_test(one_with_a_bit_flipped_is_damaged),
        cmocka_unit_test(garbage_behind_it_is_damage),
        cmocka_unit_test(one_that_needs_too_much_memory_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_read_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
