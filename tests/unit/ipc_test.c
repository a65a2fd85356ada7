/* SPDX-License-Identifier: MIT */
/* ipc_test.c -- frames and messages, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/le.h"
#include "ipc/message.h"

static void
an_input_has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t want[] = { 7, 0, 0, 0, IPC_INPUT, 4, 0, 0, 0, 'h', 'i' };
    AUTO(buf) out = { 0 };
    struct ipc_message m = { .selector = IPC_INPUT,
                             .bytes = { (const uint8_t *)"hi", 2 } };
    assert_int_equal(ipc_message_put(&out, &m, IPC_TO_HOST), 0);
    assert_int_equal(out.n, sizeof(want));
    assert_memory_equal(out.p, want, sizeof(want));
}

static void
numbers_come_back_whole(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct ipc_message back, m = { .selector = IPC_ENDED,
                                   .field = { 1, 255, 9, UINT64_MAX, 1ULL << 40, 77, 3 },
                                   .bytes = { (const uint8_t *)"why", 3 } };
    struct ipc_frame frame;
    ipc_message_put(&out, &m, IPC_TO_CLIENT);
    assert_int_equal(ipc_frame_get((struct view){ out.p, out.n }, &frame), out.n);
    assert_int_equal(ipc_message_get(&back, &frame, IPC_TO_CLIENT), 0);
    assert_memory_equal(back.field, m.field, sizeof(m.field));
    assert_int_equal(back.bytes.n, 3);
    assert_memory_equal(back.bytes.p, "why", 3);
}

static void
a_frame_that_is_not_all_there_waits(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct ipc_frame frame;
    ipc_message_put(&out,
                    &(struct ipc_message){ .selector = IPC_RESIZE, .field = { 80, 24 } },
                    IPC_TO_HOST);
    for (size_t n = 0; n < out.n; n++)
        assert_int_equal(ipc_frame_get((struct view){ out.p, n }, &frame), 0);
}

static void
absurd_lengths_are_refused(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 0, IPC_FRAME_MAX + 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint8_t bytes[8] = { 0 };
        struct ipc_frame frame;
        put_le32(bytes, lengths[i]);
        assert_int_equal(ipc_frame_get((struct view){ bytes, 8 }, &frame), -EPROTO);
    }
}

static void
bodies_of_another_shape_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t selector;
        uint8_t body[8];
        size_t n;
    } bad[] = {
        { 1, { 0 }, 0 },          { 255, { 0 }, 8 },        { IPC_RESIZE, { 0 }, 3 },
        { IPC_RESIZE, { 0 }, 5 }, { IPC_HANGUP, { 0 }, 1 }, { IPC_INPUT, { 4, 0, 0 }, 3 },
        { IPC_INPUT, { 5 }, 5 },  { IPC_STOP, { 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ipc_frame frame = { bad[i].selector, { bad[i].body, bad[i].n } };
        struct ipc_message m;
        assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_HOST), -EPROTO);
    }
}

/* The bytes of the public client: they never change. */
static void
a_snapshot_and_its_replies_have_these_bytes(void **state)
{
    (void)state;
    static const uint8_t request[] = { 16, 0, 0, 0,  0, 8, 7, 6,   5,    4,
                                       3,  2, 1, 12, 0, 0, 0, 'a', 0xc3, 0xa9 };
    static const uint8_t done[] = { 25, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0,  0,
                                    1,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128 };
    static const uint8_t refused[] = { 4, 0, 0, 0, 1, 'n', 'o', '!' };
    const struct {
        const uint8_t *bytes;
        size_t n;
        struct ipc_message m;
        enum ipc_way way;
    } cases[] = {
        { request,
          sizeof(request),
          { IPC_SNAPSHOT, { 0x0102030405060708 }, { (const uint8_t *)"a\xc3\xa9", 3 } },
          IPC_TO_HOST },
        { done,
          sizeof(done),
          { IPC_DONE, { 0x0102030405060708, 65536, 1ULL << 63 }, { NULL, 0 } },
          IPC_TO_CLIENT },
        { refused,
          sizeof(refused),
          { IPC_REFUSED, { 0 }, { (const uint8_t *)"no!", 3 } },
          IPC_TO_CLIENT },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) out = { 0 };
        assert_int_equal(ipc_message_put(&out, &cases[i].m, cases[i].way), 0);
        assert_int_equal(out.n, cases[i].n);
        assert_memory_equal(out.p, cases[i].bytes, out.n);
    }
}

/* Each message as doc/ipc.md has it: the widths of its numbers, and whether bytes follow
 * behind their offset ('+') or bare ('*'). */
static const struct {
    enum ipc_way way;
    uint8_t selector;
    const char *layout;
} layouts[] = {
    { IPC_TO_HOST, 0, "8+" },
    { IPC_TO_HOST, 16, "8841+" },
    { IPC_TO_HOST, 17, "+" },
    { IPC_TO_HOST, 18, "22" },
    { IPC_TO_HOST, 19, "221" },
    { IPC_TO_HOST, 20, "" },
    { IPC_TO_HOST, 21, "1" },
    { IPC_TO_HOST, 22, "" },
    { IPC_TO_HOST, 23, "+" },
    { IPC_TO_HOST, 24, "" },
    { IPC_TO_HOST, 25, "" },
    { IPC_TO_HOST, 26, "" },
    { IPC_TO_HOST, 27, "8+" },
    { IPC_TO_HOST, 28, "18" },
    { IPC_TO_HOST, 96, "41+" },
    { IPC_TO_HOST, 97, "8+" },
    { IPC_TO_HOST, 98, "+" },
    { IPC_TO_HOST, 99, "+" },
    { IPC_TO_HOST, 100, "+" },
    { IPC_TO_HOST, 101, "88888+" },
    { IPC_TO_CLIENT, 77, "1" },
    { IPC_TO_CLIENT, 0, "888" },
    { IPC_TO_CLIENT, 1, "*" },
    { IPC_TO_CLIENT, 64, "8+" },
    { IPC_TO_CLIENT, 65, "" },
    { IPC_TO_CLIENT, 66, "1+" },
    { IPC_TO_CLIENT, 67, "1118881+" },
    { IPC_TO_CLIENT, 68, "4" },
    { IPC_TO_CLIENT, 69, "+" },
    { IPC_TO_CLIENT, 70, "822" },
    { IPC_TO_CLIENT, 71, "482288" },
    { IPC_TO_CLIENT, 72, "2248" },
    { IPC_TO_CLIENT, 73, "4" },
    { IPC_TO_CLIENT, 74, "81+" },
    { IPC_TO_CLIENT, 75, "88224488+" },
    { IPC_TO_CLIENT, 76, "2288+" },
};

enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

/* A frame of that layout by hand: the n-th byte of its numbers is n, and "why" follows
 * where bytes may. */
static void
make_frame(struct buf *out, size_t i, struct ipc_message *ret)
{
    uint8_t next = 1;
    size_t field = 0;
    *ret = (struct ipc_message){ .selector = layouts[i].selector };
    buf_append(out, (uint8_t[4]){ 0 }, IPC_FRAME_HEAD);
    buf_append(out, &layouts[i].selector, 1);
    for (const char *c = layouts[i].layout; *c; c++) {
        if (*c == '+') {
            uint8_t offset[4];
            put_le32(offset, (uint32_t)(out->n - IPC_FRAME_HEAD - 1 + sizeof(offset)));
            buf_append(out, offset, sizeof(offset));
        }
        if (*c == '+' || *c == '*') {
            buf_puts(out, "why");
            ret->bytes = (struct view){ (const uint8_t *)"why", 3 };
            continue;
        }
        for (int at = 0; at < *c - '0'; at++, next++) {
            buf_append(out, &next, 1);
            ret->field[field] |= (uint64_t)next << (8 * at);
        }
        field++;
    }
    put_le32(out->p, (uint32_t)(out->n - IPC_FRAME_HEAD));
}

static void
every_message_has_its_layout_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        AUTO(buf) want = { 0 };
        AUTO(buf) out = { 0 };
        struct ipc_message m, back;
        struct ipc_frame frame;
        make_frame(&want, i, &m);
        assert_int_equal(ipc_message_put(&out, &m, layouts[i].way), 0);
        assert_int_equal(out.n, want.n);
        assert_memory_equal(out.p, want.p, out.n);
        assert_int_equal(ipc_frame_get((struct view){ out.p, out.n }, &frame), out.n);
        assert_int_equal(ipc_message_get(&back, &frame, layouts[i].way), 0);
        assert_int_equal(back.selector, m.selector);
        assert_memory_equal(back.field, m.field, sizeof(m.field));
        assert_int_equal(back.bytes.n, m.bytes.n);
        if (m.bytes.n)
            assert_memory_equal(back.bytes.p, m.bytes.p, m.bytes.n);
    }
}

/* One byte less is never a message; one more is only where the bytes end with the frame.
 */
static void
no_message_is_cut_or_has_a_byte_too_many(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        AUTO(buf) bytes = { 0 };
        struct ipc_message m, back;
        const char *layout = layouts[i].layout;
        bool is_open = strpbrk(layout, "+*");
        make_frame(&bytes, i, &m);
        struct view body = { bytes.p + IPC_FRAME_HEAD + 1, bytes.n - IPC_FRAME_HEAD - 1 };
        size_t fixed = body.n - m.bytes.n;
        for (size_t n = 0; n < fixed; n++)
            assert_int_equal(
                ipc_message_get(&back, &(struct ipc_frame){ m.selector, { body.p, n } },
                                layouts[i].way),
                -EPROTO);
        buf_append(&bytes, "x", 1);
        struct ipc_frame longer = { m.selector,
                                    { bytes.p + IPC_FRAME_HEAD + 1, body.n + 1 } };
        assert_int_equal(ipc_message_get(&back, &longer, layouts[i].way),
                         is_open ? 0 : -EPROTO);
    }
}

static bool
is_in_layouts(uint8_t selector, enum ipc_way way)
{
    for (size_t i = 0; i < LAYOUTS; i++)
        if (layouts[i].selector == selector && layouts[i].way == way)
            return true;
    return false;
}

static void
there_are_no_other_messages(void **state)
{
    (void)state;
    static const uint8_t zeros[64];
    for (unsigned selector = 0; selector < 256; selector++)
        for (enum ipc_way way = IPC_TO_HOST; way <= IPC_TO_CLIENT; way++) {
            struct ipc_message m;
            if (is_in_layouts((uint8_t)selector, way))
                continue;
            for (size_t n = 0; n <= sizeof(zeros); n++)
                assert_int_equal(
                    ipc_message_get(
                        &m, &(struct ipc_frame){ (uint8_t)selector, { zeros, n } }, way),
                    -EPROTO);
        }
}

static void
the_longest_label_fits_and_no_longer(void **state)
{
    (void)state;
    static uint8_t label[IPC_LABEL_MAX];
    AUTO(buf) out = { 0 };
    struct ipc_message back, m = { .selector = IPC_SNAPSHOT,
                                   .field = { 7 },
                                   .bytes = { label, sizeof(label) } };
    struct ipc_frame frame;
    memset(label, 'l', sizeof(label));
    assert_int_equal(ipc_message_put(&out, &m, IPC_TO_HOST), 0);
    assert_int_equal(out.n, IPC_FRAME_HEAD + 65548);
    assert_int_equal(ipc_frame_get((struct view){ out.p, out.n }, &frame), out.n);
    assert_int_equal(ipc_message_get(&back, &frame, IPC_TO_HOST), 0);
    assert_int_equal(back.bytes.n, 65535);
    buf_append(&out, "l", 1);
    put_le32(out.p, 65549);
    assert_int_equal(ipc_frame_get((struct view){ out.p, out.n }, &frame), -EPROTO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_has_these_bytes),
        cmocka_unit_test(numbers_come_back_whole),
        cmocka_unit_test(a_frame_that_is_not_all_there_waits),
        cmocka_unit_test(absurd_lengths_are_refused),
        cmocka_unit_test(bodies_of_another_shape_are_refused),
        cmocka_unit_test(a_snapshot_and_its_replies_have_these_bytes),
        cmocka_unit_test(every_message_has_its_layout_both_ways),
        cmocka_unit_test(no_message_is_cut_or_has_a_byte_too_many),
        cmocka_unit_test(there_are_no_other_messages),
        cmocka_unit_test(the_longest_label_fits_and_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
