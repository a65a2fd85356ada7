/* SPDX-License-Identifier: MIT */
/* feeder_test.c -- input that waits for a PTY, however much goes by. A pipe stands for
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "host/feeder_priv.h"

static uint8_t
byte_at(uint64_t off)
{
    return (uint8_t)(off * 2654435761U >> 13);
}

static void
add(struct feeder *f, uint64_t off, size_t n)
{
    static uint8_t bytes[64 << 10];
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_at(off + i);
    assert_int_equal(feeder_add(f, (struct view){ bytes, n }), 0);
}

static size_t
check_read(int fd, uint64_t off)
{
    static uint8_t bytes[64 << 10];
    ssize_t n = read(fd, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] != byte_at(off + (uint64_t)i))
            fail_msg("wrong byte at %zu", (size_t)off + (size_t)i);
    return n > 0 ? (size_t)n : 0;
}

/* Many times what a buffer may hold, and something waits all the time. */
static void
input_that_never_pauses_is_not_kept(void **state)
{
    (void)state;
    int ends[2];
    uint64_t added = 0, seen = 0, done = 0;
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    struct feeder f = { .master_fd = ends[1] };
    while (added < 3 * (uint64_t)BUF_CEILING) {
        while (added - done < 256 << 10) {
            add(&f, added, 30000);
            added += 30000;
        }
        done += feeder_pump(&f);
        assert_true(feeder_waiting(&f) > 0);
        seen += check_read(ends[0], seen);
    }
    assert_true(f.waiting.cap < 2 << 20);
    while (feeder_has_waiting(&f)) {
        done += feeder_pump(&f);
        seen += check_read(ends[0], seen);
    }
    for (size_t n; (n = check_read(ends[0], seen));)
        seen += n;
    assert_int_equal(done, added);
    assert_int_equal(seen, added);
    buf_release(&f.waiting);
    buf_release(&f.ready);
    close(ends[0]);
    close(ends[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_that_never_pauses_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
