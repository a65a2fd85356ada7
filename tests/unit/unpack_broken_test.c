/* SPDX-License-Identifier: MIT */
/* unpack_broken_test.c -- content codings that are broken off, flipped, no such stream,
 * or too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "support/unpack_kit.h"

static void
an_unfinished_stream_gives_a_prefix_and_is_not_whole(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    pack_events(&text);
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_all(pack_ways[i], pack_view(&text), &packed);
        for (size_t n = 0; n < packed.n; n++) {
            AUTO(undone) g = { 0 };
            undo(pack_names(pack_ways[i], &name), (struct view){ packed.p, n }, 0,
                 undo_take, &g);
            buf_clear(&name);
            assert_int_equal(g.result, 0);
            assert_false(g.is_whole);
            undo_assert_prefix(&g, pack_view(&text));
        }
    }
}

static void
bytes_behind_the_end_are_damage(void **state)
{
    (void)state;
    static const uint8_t zeros[600];
    AUTO(buf) text = { 0 };
    pack_events(&text);
    const struct view tails[] = { { zeros, 1 }, { zeros, 600 }, text_view("x\n") };
    for (size_t i = 0; i < PACK_WAYS; i++)
        for (size_t t = 0; t < 3; t++)
            for (size_t step = 0; step < 2; step++) {
                AUTO(buf) name = { 0 };
                AUTO(buf) packed = { 0 };
                AUTO(undone) g = { 0 };
                pack_all(pack_ways[i], pack_view(&text), &packed);
                buf_append(&packed, tails[t].p, tails[t].n);
                undo(pack_names(pack_ways[i], &name), pack_view(&packed), step, undo_take,
                     &g);
                assert_int_equal(g.result, ERR_DAMAGED);
                assert_false(g.is_whole);
                assert_int_equal(g.count, text.n);
                undo_assert_prefix(&g, pack_view(&text));
            }
}

static void
a_second_stream_of_what_has_but_one_is_damage(void **state)
{
    (void)state;
    static const enum pack lonely[] = { PACK_ZLIB, PACK_BARE, PACK_BR };
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) packed = { 0 };
        AUTO(undone) g = { 0 };
        pack_one(lonely[i], text_view("one"), &packed);
        pack_one(lonely[i], text_view("two"), &packed);
        undo(pack_name(lonely[i]), pack_view(&packed), 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        assert_string_equal(buf_str(&g.text), "one");
    }
}

static void
bytes_inside_the_end_of_a_chain_are_damage(void **state)
{
    (void)state;
    AUTO(buf) inner = { 0 };
    AUTO(buf) packed = { 0 };
    AUTO(undone) g = { 0 };
    pack_one(PACK_BR, text_view("one"), &inner);
    buf_puts(&inner, "two");
    pack_one(PACK_GZIP, pack_view(&inner), &packed);
    undo("br, gzip", pack_view(&packed), 0, undo_take, &g);
    assert_int_equal(g.result, ERR_DAMAGED);
    assert_string_equal(buf_str(&g.text), "one");
}

static void
what_is_no_such_stream_is_damage(void **state)
{
    (void)state;
    static const char *const encoding[] = { "gzip", "br", "zstd", "br, gzip", "deflate" };
    for (size_t i = 0; i < sizeof(encoding) / sizeof(encoding[0]); i++)
        for (size_t step = 0; step < 2; step++) {
            AUTO(undone) g = { 0 };
            undo(encoding[i], text_view("{\"error\":{\"message\":\"no\"}}"), step,
                 undo_take, &g);
            assert_int_equal(g.result, ERR_DAMAGED);
            assert_int_equal(g.count, i < 4 ? 0 : 7); /* bare, the bits mean something */
        }
}

static void
a_wrong_checksum_is_damage_behind_the_text(void **state)
{
    (void)state;
    static const enum pack summed[] = { PACK_GZIP, PACK_ZLIB, PACK_ZSTD };
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) packed = { 0 };
        AUTO(undone) g = { 0 };
        pack_one(summed[i], text_view("hello"), &packed);
        size_t sum = packed.n - (summed[i] == PACK_GZIP ? 8 : 4);
        packed.p[sum] ^= 1;
        undo(pack_name(summed[i]), pack_view(&packed), 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        assert_string_equal(buf_str(&g.text), "hello");
    }
}

/* Also one that is larger than a piece. */
static void
a_block_of_zstd_comes_out_before_a_bad_one(void **state)
{
    (void)state;
    for (unsigned log = 0; log <= 17; log++) {
        AUTO(buf) packed = { 0 };
        struct undone g = { 0 };
        uint32_t head = 1U << log << 3 | 2;               /* a byte 2^log times */
        buf_append(&packed, "\x28\xb5\x2f\xfd\0\x58", 6); /* a window of 2 MiB */
        for (size_t i = 0; i < 3; i++)
            buf_append(&packed, (uint8_t[]){ (uint8_t)(head >> 8 * i) }, 1);
        buf_append(&packed, "x\6\0\0", 4); /* its byte; a type that is none */
        undo("zstd", pack_view(&packed), 0, undo_count, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        assert_int_equal(g.count, 1 << log);
    }
}

static void
a_window_larger_than_agreed_is_damage(void **state)
{
    (void)state;
    for (int log = 22; log <= 25; log++) {
        AUTO(buf) packed = { 0 };
        AUTO(undone) g = { 0 };
        struct packer p;
        packer_init(&p, PACK_ZSTD);
        ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_windowLog, log);
        packer_put(&p, text_view("hel"), false, &packed);
        packer_put(&p, text_view("lo"), true, &packed);
        packer_release(&p);
        undo("zstd", pack_view(&packed), 0, undo_take, &g);
        assert_int_equal(g.result, log <= 23 ? 0 : ERR_DAMAGED);
        assert_string_equal(buf_str(&g.text), log <= 23 ? "hello" : "");
    }
    for (uint32_t log = 24; log <= 25; log++) {
        AUTO(buf) packed = { 0 };
        AUTO(undone) g = { 0 };
        struct packer p;
        packer_init(&p, PACK_BR);
        BrotliEncoderSetParameter(p.br, BROTLI_PARAM_LARGE_WINDOW, log > 24);
        BrotliEncoderSetParameter(p.br, BROTLI_PARAM_LGWIN, log);
        packer_put(&p, text_view("hello"), true, &packed);
        packer_release(&p);
        undo("br", pack_view(&packed), 0, undo_take, &g);
        assert_int_equal(g.result, log <= 24 ? 0 : ERR_DAMAGED);
    }
}

static void
formats_of_zstd_before_the_standard_are_damage(void **state)
{
    (void)state;
    for (uint8_t version = 0x1e; version < 0x28; version++) {
        AUTO(undone) g = { 0 };
        AUTO(buf) packed = { 0 };
        const uint8_t old[] = { version, 0xb5, 0x2f, 0xfd, 0, 1, 0, 0, 0, 0 };
        undo("zstd", (struct view){ old, 1 }, 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        undo("zstd", (struct view){ old, sizeof(old) }, 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        pack_one(PACK_ZSTD, text_view("one"), &packed);
        buf_append(&packed, old, sizeof(old));
        undo("zstd", pack_view(&packed), 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
        assert_string_equal(buf_str(&g.text), "one");
    }
    static const uint8_t wrong[][4] = { { 0x28, 0xb5, 0x2f, 0xfe },
                                        { 0x50, 0x2a, 0x4d, 0xfd },
                                        { 0x28, 0x2a, 0x4d, 0x18 },
                                        { 0x60, 0x2a, 0x4d, 0x18 } };
    for (size_t i = 0; i < 4; i++) {
        AUTO(undone) g = { 0 };
        undo("zstd", (struct view){ wrong[i], 4 }, 0, undo_take, &g);
        assert_int_equal(g.result, ERR_DAMAGED);
    }
}

static void
after_damage_nothing_more_comes(void **state)
{
    (void)state;
    AUTO(buf) packed = { 0 };
    AUTO(undone) g = { 0 };
    pack_one(PACK_GZIP, text_view("hello"), &packed);
    struct wire_unpack *u = undo_open("gzip");
    undo_feed(u, text_view("{}"), undo_take, &g);
    assert_int_equal(g.result, ERR_DAMAGED);
    undo_feed(u, pack_view(&packed), undo_take, &g);
    assert_int_equal(g.result, ERR_DAMAGED);
    undo_feed(u, (struct view){ 0 }, undo_take, &g);
    assert_int_equal(g.result, ERR_DAMAGED);
    assert_int_equal(g.count, 0);
    assert_false(g.is_whole);
    wire_unpack_free(u);
}

/* -- too much -- */

static void
a_flipped_bit_never_gives_more_than_the_limit(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    pack_events(&text);
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_all(pack_ways[i], pack_view(&text), &packed);
        pack_names(pack_ways[i], &name);
        for (size_t bit = 0; bit < packed.n * 8; bit++) {
            packed.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
            for (size_t step = 0; step < 2; step++) {
                struct undone g = { 0 };
                undo(buf_str(&name), pack_view(&packed), step, undo_count, &g);
                assert_true(g.result == 0 || g.result == ERR_DAMAGED ||
                            g.result == ERR_LIMIT);
                assert_true(g.count <= undo_limit(packed.n));
            }
            packed.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
    }
}

static void
a_bomb_is_told_at_the_same_byte_however_it_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_zeros(pack_ways[i], 24 << 20, &packed);
        pack_names(pack_ways[i], &name);
        uint64_t first = 0;
        for (size_t step = 0; step < 3; step++) {
            struct undone g = { 0 };
            undo(buf_str(&name), pack_view(&packed), step * step, undo_count, &g);
            assert_int_equal(g.result, ERR_LIMIT);
            assert_false(g.is_whole);
            assert_true(g.count <= undo_limit(packed.n));
            first = first ? first : g.count;
            assert_int_equal(g.count, first);
        }
    }
}

static void
a_tiny_reply_may_be_of_any_ratio(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++)
        for (size_t more = 0; more < 2; more++) {
            AUTO(buf) name = { 0 };
            AUTO(buf) packed = { 0 };
            struct undone g = { 0 };
            pack_zeros(pack_ways[i], UNDO_FREE + more, &packed);
            undo(pack_names(pack_ways[i], &name), pack_view(&packed), 0, undo_count, &g);
            assert_int_equal(g.result, more && packed.n <= UNDO_SLICE ? ERR_LIMIT : 0);
            assert_int_equal(g.count,
                             packed.n <= UNDO_SLICE ? UNDO_FREE : UNDO_FREE + more);
        }
}

static void
a_byte_over_the_limit_is_too_much(void **state)
{
    (void)state;
    static const enum pack how[] = { PACK_GZIP, PACK_ZLIB, PACK_BARE };
    for (size_t i = 0; i < 3; i++)
        for (size_t more = 0; more < 2; more++) {
            AUTO(buf) packed = { 0 };
            struct undone g = { 0 };
            pack_zeros((const enum pack[]){ how[i], PACK_END },
                       (size_t)2 * UNDO_SLICE * UNDO_RATIO + more, &packed);
            assert_in_range(packed.n, UNDO_SLICE + 1, 2 * UNDO_SLICE);
            undo(pack_name(how[i]), pack_view(&packed), 0, undo_count, &g);
            assert_int_equal(g.result, more ? ERR_LIMIT : 0);
            assert_int_equal(g.count, 2 * UNDO_SLICE * UNDO_RATIO);
        }
}

/* Codes that are highly packed, and give nothing. */
static void
put_empty_blocks(struct buf *out, size_t end)
{
    while (out->n < end)
        buf_append(out, "\0\0\0\xff\xff", 5);
}

static void
a_flood_inside_a_chain_is_a_limit(void **state)
{
    (void)state;
    AUTO(buf) inner = { 0 };
    AUTO(buf) packed = { 0 };
    struct undone g = { 0 };
    put_empty_blocks(&inner, 4 << 20);
    pack_one(PACK_BR, pack_view(&inner), &packed);
    assert_true(packed.n < UNDO_SLICE);
    undo("deflate, br", pack_view(&packed), 0, undo_count, &g);
    assert_int_equal(g.result, ERR_LIMIT);
    assert_int_equal(g.count, 0);
}

/* Of more than a slice: the limit is not at the end of a piece. */
static void
what_stands_before_a_flood_comes_out(void **state)
{
    (void)state;
    enum {
        NOISE = UNDO_SLICE + UNDO_SLICE / 2,
        BEFORE = 2 * UNDO_SLICE * UNDO_RATIO - 100
    };
    AUTO(buf) inner = { 0 };
    AUTO(buf) packed = { 0 };
    AUTO(undone) g = { 0 };
    uint32_t seed = 1;
    buf_append(&inner, "\0\0\6\xff\xf9", 5); /* stored */
    for (size_t i = 0; i < NOISE; i++) {
        seed = seed * 1103515245 + 12345;
        buf_append(&inner, (uint8_t[]){ (uint8_t)(seed >> 16) }, 1);
    }
    put_empty_blocks(&inner, BEFORE);
    buf_append(&inner, "\0\4\0\xfb\xfflast", 9);
    put_empty_blocks(&inner, BEFORE + UNDO_FREE);
    pack_one(PACK_BR, pack_view(&inner), &packed);
    assert_in_range(packed.n, UNDO_SLICE + 1, 2 * UNDO_SLICE);
    undo("deflate, br", pack_view(&packed), 0, undo_take, &g);
    assert_int_equal(g.result, ERR_LIMIT);
    assert_int_equal(g.count, NOISE + 4);
    assert_memory_equal(g.text.p + NOISE, "last", 4);
}

/* A frame of four blocks of one byte 128 Ki times, and one to be skipped, so that the
 * ratio is small enough. */
static void
put_large_frame(struct buf *out)
{
    static const uint8_t skipped[1024 - 10 - 16 - 8] = { 0 };
    buf_append(out, "\x28\xb5\x2f\xfd\x80\x58", 6); /* its size is told in four bytes, */
    buf_append(out, "\0\0\x08\0", 4);               /* 512 Ki; a window of 2 MiB */
    for (size_t i = 0; i < 4; i++)
        buf_append(out, i < 3 ? "\2\0\x10x" : "\3\0\x10x", 4);
    buf_append(out, "\x50\x2a\x4d\x18", 4);
    buf_append(out, "\xde\3\0\0", 4);
    buf_append(out, skipped, sizeof(skipped));
}

static void
more_than_four_gib_is_a_limit(void **state)
{
    (void)state;
    AUTO(buf) frame = { 0 };
    struct undone g = { 0 };
    put_large_frame(&frame);
    struct wire_unpack *u = undo_open("zstd");
    for (size_t i = 0; i < 8192; i++) {
        undo_feed(u, pack_view(&frame), undo_count, &g);
        assert_int_equal(g.result, 0);
        assert_int_equal(g.count, (uint64_t)(i + 1) << 19);
    }
    assert_true(g.is_whole);
    undo_feed(u, pack_view(&frame), undo_count, &g);
    assert_int_equal(g.result, ERR_LIMIT);
    assert_int_equal(g.count, 4ULL << 30);
    wire_unpack_free(u);
}

static void
more_than_four_gib_as_they_are_is_a_limit(void **state)
{
    (void)state;
    static uint8_t piece[1 << 20];
    struct undone g = { 0 };
    struct wire_unpack *u = undo_open("identity");
    struct view bytes = { piece, sizeof(piece) };
    for (size_t i = 0; i < 4096; i++)
        assert_int_equal(wire_unpack_feed(u, bytes, undo_count, &g), 0);
    assert_int_equal(wire_unpack_feed(u, bytes, undo_count, &g), ERR_LIMIT);
    assert_int_equal(g.count, 4ULL << 30);
    wire_unpack_free(u);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unfinished_stream_gives_a_prefix_and_is_not_whole),
        cmocka_unit_test(bytes_behind_the_end_are_damage),
        cmocka_unit_test(a_second_stream_of_what_has_but_one_is_damage),
        cmocka_unit_test(bytes_inside_the_end_of_a_chain_are_damage),
        cmocka_unit_test(what_is_no_such_stream_is_damage),
        cmocka_unit_test(a_wrong_checksum_is_damage_behind_the_text),
        cmocka_unit_test(a_block_of_zstd_comes_out_before_a_bad_one),
        cmocka_unit_test(a_window_larger_than_agreed_is_damage),
        cmocka_unit_test(formats_of_zstd_before_the_standard_are_damage),
        cmocka_unit_test(after_damage_nothing_more_comes),
        cmocka_unit_test(a_flipped_bit_never_gives_more_than_the_limit),
        cmocka_unit_test(a_bomb_is_told_at_the_same_byte_however_it_comes),
        cmocka_unit_test(a_tiny_reply_may_be_of_any_ratio),
        cmocka_unit_test(a_byte_over_the_limit_is_too_much),
        cmocka_unit_test(a_flood_inside_a_chain_is_a_limit),
        cmocka_unit_test(what_stands_before_a_flood_comes_out),
        cmocka_unit_test(more_than_four_gib_is_a_limit),
        cmocka_unit_test(more_than_four_gib_as_they_are_is_a_limit),
    };
    return cmocka_run_group_tests_name("unpack_broken", tests, NULL, NULL);
}
