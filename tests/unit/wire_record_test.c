/* SPDX-License-Identifier: MIT */
/* wire_record_test.c -- the memory of a record. */
#include "wire/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/redact_kit.h"
#include "support/text_view.h"

static void
say(void *ctx, const char *text)
{
    (void)ctx;
    fail_msg("%s", text);
}

/* A call whose body begins as all do, and goes on with others of these letters. */
static void
ask(struct wire_record *r, size_t size, uint8_t letter)
{
    AUTO(buf) body = { 0 };
    const struct wire_asked asked = { .upstream = "anthropic",
                                      .target = "http://h.example",
                                      .method = text_view("POST"),
                                      .url = text_view("/v1/messages"),
                                      .http_minor = 1,
                                      .has_body = true };
    for (size_t i = 0; i < 100; i++)
        buf_puts(&body, "all begin so\n");
    uint8_t *p = buf_grow(&body, size);
    assert_non_null(p);
    for (size_t i = 0; i < size; i++)
        p[i] = i % 64 == 63 ? '\n' : (uint8_t)(letter + i % 3);
    struct wire_note *n = wire_note_new(r, &asked);
    assert_non_null(n);
    wire_note_body(n, (struct view){ body.p, body.n }, true);
    wire_note_end(n, CALLS_ABORTED, "", body.n, 0);
}

static void
what_a_large_request_took_is_given_back(void **state)
{
    enum { SIZE = 6 << 20, ELSE = 1 << 20 };
    char dir[] = "/tmp/wire-record-XXXXXX", path[64], wire[64];
    struct wire_record *r;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/session.ahr", dir);
    snprintf(wire, sizeof(wire), "%s/session.wire.jsonl", dir);
    struct wire_record_options opt = {
        .tape_path = path, .session = "s", .redact = *state, .say = say
    };
    clock_start(&opt.clock);
    assert_int_equal(wire_record_open(&r, &opt, NULL), 0);
    ask(r, 1000, 'a');
    size_t before = measure_heap_bytes();
    ask(r, SIZE, 'g');
    ask(r, SIZE, 'k');
    size_t kept = measure_heap_bytes() - before; /* by which later ones are told */
    assert_true(kept >= (size_t)2 * SIZE);
    assert_true(kept < (size_t)2 * SIZE + ELSE);
    wire_record_finish(r, true);
    wire_record_free(r);
    unlink(wire);
    rmdir(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_large_request_took_is_given_back),
    };
    return cmocka_run_group_tests_name("wire_record", tests, kit_open, kit_close);
}
