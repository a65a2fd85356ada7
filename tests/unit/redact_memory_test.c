/* SPDX-License-Identifier: MIT */
/*
 * redact_memory_test.c -- the secret scanner without memory: whichever allocation fails,
 * once or from then on, the call says so, and nothing of a secret comes out.
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "redact/redact.h"
#include "support/alloc_faults.h"

/* -- a session with secrets of each kind: of a name, wrapped, of several lines -- */

#define SECRET "hunter2x"
#define LINE   "MIIEabcdefgh0123456789ABCDEFGHIJ"

static const char *const session[] = {
    "plain text\r\n\x1b[1mpassword\x1b[m = \"hun\x1b[31mter2x\x1b[m\"\r\n",
    "\x1b]0;password=" SECRET "\a and a title\r\n",
    "-----BEGIN RSA PRIVATE KEY-----\r\n" LINE "\r\n" LINE "\r\n",
    ("-----END RSA PRIVATE KEY-----\r\nthe rest: --password " SECRET),
};

/* Pieces that would tell who sees them. */
static const char *const clear[] = {
    "hun", "ter2x", "unter", "MIIE", "6789ABC", "FGHIJ"
};

static const char *const args[] = {
    "login", "--password", SECRET, "--url", "https://me:" SECRET "@example.org/", "-v"
};
enum { ARGS = sizeof(args) / sizeof(args[0]) };

static void
assert_masked(const struct buf *out)
{
    for (size_t i = 0; i < sizeof(clear) / sizeof(clear[0]); i++)
        assert_null(out->n ? memmem(out->p, out->n, clear[i], strlen(clear[i])) : NULL);
}

static void
assert_same(const struct buf *a, const struct buf *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->p, b->p, a->n);
}

/* -- the calls -- */

typedef int (*work_fn)(struct redact *r, struct buf *out);

static int
scan(struct redact *r, const struct redact_options *opt, struct buf *out)
{
    struct redact_stream *s;
    int e = redact_stream_new(&s, r, opt);
    if (e)
        return e;
    for (size_t i = 0; i < sizeof(session) / sizeof(session[0]); i++) {
        int fed = redact_stream_feed(s, session[i], strlen(session[i]), out);
        if (e)
            assert_int_not_equal(fed, 0); /* it stays failed */
        e = e ? e : fed;
    }
    int ended = redact_stream_flush(s, out);
    redact_stream_free(s);
    return e ? e : ended;
}

static int
scan_terminal(struct redact *r, struct buf *out)
{
    return scan(r, &(struct redact_options){ .is_terminal = true, .cols = 80 }, out);
}

static int
scan_stars(struct redact *r, struct buf *out)
{
    return scan(r, &(struct redact_options){ .keeps_length = true }, out);
}

static int
mask_text(struct redact *r, struct buf *out)
{
    return redact_text(r, session[0], strlen(session[0]), out);
}

static int
mask_args(struct redact *r, struct buf *out)
{
    return redact_argv(r, ARGS, args, out);
}

static int
mask_env(struct redact *r, struct buf *out)
{
    int e = redact_env(r, "DB_PASSWORD=" SECRET, out);
    return e ? e : redact_env(r, "URL=https://me:" SECRET "@example.org/", out);
}

/* -- the tests -- */

static void
set_fault(unsigned n, bool is_for_ever)
{
    faults.count = 0;
    faults.fail_at = n;
    faults.is_for_ever = is_for_ever;
    faults.is_on = true;
}

/* Runs with the n-th allocation failing; 0: none does. */
static int
try(work_fn work, struct redact *r, unsigned n, bool is_for_ever, struct buf *out)
{
    set_fault(n, is_for_ever);
    int e = work(r, out);
    faults.is_on = false;
    assert_masked(out);
    return e;
}

static void
fail_each(work_fn work)
{
    struct redact *r;
    AUTO(buf) good = { 0 };
    assert_int_equal(redact_open(&r, NULL, NULL), 0);
    assert_int_equal(try(work, r, 0, false, &good), 0);
    assert_non_null(memmem(good.p, good.n, work == scan_stars ? "***" : "[REDACTED:",
                           work == scan_stars ? 3 : 10));
    unsigned allocations = faults.count;
    assert_in_range(allocations, 3, 5000);
    for (unsigned n = 1; n <= allocations; n++)
        for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
            AUTO(buf) out = { 0 };
            int e = try(work, r, n, is_for_ever, &out);
            if (e)
                assert_int_equal(e, -ENOMEM);
            else
                assert_same(&good, &out); /* it could do without */
        }
    redact_close(r);
}

static void
a_stream_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each(scan_terminal);
    fail_each(scan_stars);
}

static void
a_text_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each(mask_text);
}

static void
a_command_line_without_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    fail_each(mask_args);
    fail_each(mask_env);
}

static void
rules_that_cannot_be_loaded_are_told(void **state)
{
    (void)state;
    for (unsigned n = 1;; n++) {
        struct redact *r = NULL;
        struct err err = { 0 };
        set_fault(n, n % 2);
        int e = redact_open(&r, NULL, &err);
        faults.is_on = false;
        if (!e) {
            redact_close(r);
            assert_in_range(n, 5, 100);
            break;
        }
        assert_int_equal(e, -ENOMEM);
        assert_int_equal(err.code, -ENOMEM);
        assert_null(r);
    }
}

/* The stream may be used again when there is memory again. */
static void
a_reset_gets_over_it(void **state)
{
    (void)state;
    struct redact *r;
    struct redact_stream *s;
    assert_int_equal(redact_open(&r, NULL, NULL), 0);
    assert_int_equal(redact_stream_new(&s, r, &(struct redact_options){ 0 }), 0);
    for (unsigned n = 1; n < 30; n++) {
        AUTO(buf) lost = { 0 };
        AUTO(buf) out = { 0 };
        set_fault(n, true);
        redact_stream_feed(s, session[0], strlen(session[0]), &lost);
        faults.is_on = false;
        assert_masked(&lost);
        redact_stream_reset(s);
        assert_int_equal(redact_stream_feed(s, session[2], strlen(session[2]), &out), 0);
        assert_int_equal(redact_stream_flush(s, &out), 0);
        assert_masked(&out);
        assert_non_null(memmem(out.p, out.n, "[REDACTED:", 10));
    }
    redact_stream_free(s);
    redact_close(r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_without_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(a_text_without_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(a_command_line_without_memory_says_so_and_leaks_nothing),
        cmocka_unit_test(rules_that_cannot_be_loaded_are_told),
        cmocka_unit_test(a_reset_gets_over_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
