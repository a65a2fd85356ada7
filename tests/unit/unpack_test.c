/* SPDX-License-Identifier: MIT */
/*
 * unpack_test.c -- content codings undone: cut, flushed, one in the other, without
 * memory.
 *
 * The linker sends our allocations through support/alloc_faults.c (--wrap).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/alloc_faults.h"
#include "support/text_view.h"
#include "support/unpack_kit.h"

static void
each_encoding_gives_the_same_however_it_is_cut(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    pack_events(&text);
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_all(pack_ways[i], pack_view(&text), &packed);
        undo_assert_cut(pack_names(pack_ways[i], &name), pack_view(&packed),
                        pack_view(&text));
    }
}

static void
check_flushed(const enum pack *way, size_t step)
{
    AUTO(buf) name = { 0 };
    AUTO(buf) told = { 0 };
    AUTO(undone) g = { 0 };
    AUTO(pack_chain) c;
    pack_chain_init(&c, way);
    struct wire_unpack *u = undo_open(pack_names(way, &name));
    for (size_t i = 0; i < PACK_EVENTS; i++) {
        AUTO(buf) packed = { 0 };
        pack_chain_put(&c, text_view(pack_event[i]), false, &packed);
        buf_puts(&told, pack_event[i]);
        for (size_t at = 0; at < packed.n; at += step) {
            size_t more = step < packed.n - at ? step : packed.n - at;
            undo_feed(u, (struct view){ packed.p + at, more }, undo_take, &g);
            assert_int_equal(g.result, 0);
        }
        assert_string_equal(buf_str(&g.text), buf_str(&told));
        assert_false(g.is_whole);
    }
    wire_unpack_free(u);
}

static void
an_event_that_the_server_flushed_comes_out_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++) {
        check_flushed(pack_ways[i], UNDO_PIECE);
        check_flushed(pack_ways[i], 1);
    }
}

/* Pieces that are just full, too. */
static void
an_event_of_any_size_comes_out_at_once(void **state)
{
    (void)state;
    static const uint8_t large[3 * UNDO_PIECE];
    for (size_t i = 0; i < PACK_WAYS; i++)
        for (size_t n = UNDO_PIECE; n <= sizeof(large);
             n += n % UNDO_PIECE ? UNDO_PIECE - 1 : 1) {
            AUTO(buf) name = { 0 };
            AUTO(buf) packed = { 0 };
            AUTO(pack_chain) c;
            struct undone g = { 0 };
            pack_chain_init(&c, pack_ways[i]);
            pack_chain_put(&c, (struct view){ large, n }, false, &packed);
            undo(pack_names(pack_ways[i], &name), pack_view(&packed), 0, undo_count, &g);
            assert_int_equal(g.result, 0);
            assert_int_equal(g.count, n);
        }
}

static void
all_that_can_be_decoded_comes_out_wherever_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_zeros(pack_ways[i], 2 * UNDO_PIECE + 77, &packed);
        pack_names(pack_ways[i], &name);
        for (size_t n = 0; n <= packed.n; n++) {
            struct undone whole = { 0 }, bytes = { 0 };
            undo(buf_str(&name), (struct view){ packed.p, n }, 0, undo_count, &whole);
            undo(buf_str(&name), (struct view){ packed.p, n }, 1, undo_count, &bytes);
            assert_int_equal(whole.count, bytes.count);
        }
    }
}

static void
members_of_gzip_are_one_reply(void **state)
{
    (void)state;
    AUTO(buf) packed = { 0 };
    pack_one(PACK_GZIP, text_view("one "), &packed);
    pack_one(PACK_GZIP, text_view(""), &packed);
    pack_one(PACK_GZIP, text_view("two "), &packed);
    pack_one(PACK_GZIP, text_view("three"), &packed);
    undo_assert_cut("gzip", pack_view(&packed), text_view("one two three"));
}

static void
frames_of_zstd_are_one_reply(void **state)
{
    (void)state;
    AUTO(buf) packed = { 0 };
    buf_append(&packed, "\x5f\x2a\x4d\x18\3\0\0\0abc", 11); /* one to be skipped */
    pack_one(PACK_ZSTD, text_view("one "), &packed);
    pack_one(PACK_ZSTD, text_view(""), &packed);
    pack_one(PACK_ZSTD, text_view("two "), &packed);
    buf_append(&packed, "\x50\x2a\x4d\x18\0\0\0\0", 8);
    pack_one(PACK_ZSTD, text_view("three"), &packed);
    undo_assert_cut("zstd", pack_view(&packed), text_view("one two three"));
}

static void
a_reply_is_whole_between_members_and_not_inside(void **state)
{
    (void)state;
    static const enum pack several[] = { PACK_GZIP, PACK_ZSTD };
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) packed = { 0 };
        pack_one(several[i], text_view("one"), &packed);
        size_t first = packed.n;
        pack_one(several[i], text_view("two"), &packed);
        for (size_t n = 0; n <= packed.n; n++) {
            AUTO(undone) g = { 0 };
            undo(pack_name(several[i]), (struct view){ packed.p, n }, 0, undo_take, &g);
            assert_int_equal(g.result, 0);
            assert_int_equal(g.is_whole, n == first || n == packed.n);
        }
    }
}

static void
deflate_is_zlibs_or_bare_of_any_window_and_level(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    pack_events(&text);
    for (int window = 9; window <= 15; window++)
        for (int level = 0; level <= 9; level++)
            for (int sign = -1; sign <= 1; sign += 2) {
                AUTO(buf) packed = { 0 };
                AUTO(undone) g = { 0 };
                struct packer p = { .how = PACK_ZLIB };
                assert_int_equal(
                    deflateInit2(&p.z, level, Z_DEFLATED, sign * window, 8, 0), Z_OK);
                packer_put(&p, pack_view(&text), true, &packed);
                packer_release(&p);
                undo("deflate", pack_view(&packed), 1, undo_take, &g);
                undo_assert_text(&g, pack_view(&text));
            }
}

static void
what_packs_nothing_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        pack_all(pack_ways[i], text_view(""), &packed);
        undo_assert_cut(pack_names(pack_ways[i], &name), pack_view(&packed),
                        text_view(""));
    }
}

/* -- the header's value -- */

static void
encodings_are_words_of_a_list_in_any_case(void **state)
{
    (void)state;
    static const char *const good[] = {
        "br, gzip",       "BR,GZIP",           "\tBr ,\t x-GZip ",
        ",br,, ,x-gzip,", "br, identity,gzip", "identity, br, gzip, Identity",
    };
    AUTO(buf) packed = { 0 };
    pack_all((const enum pack[]){ PACK_BR, PACK_GZIP, PACK_END }, text_view("hello"),
             &packed);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        AUTO(undone) g = { 0 };
        undo(good[i], pack_view(&packed), 0, undo_take, &g);
        undo_assert_text(&g, text_view("hello"));
    }
}

static void
an_encoding_that_is_not_known_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "compress", "gz",         "gzip2",     "g",          "gzip br", "gzip;q=1",
        "gzip, x",  "x, gzip",    "*",         "identity;",  "dcb",     "\"gzip\"",
        "br\n",     "x-identity", "x-deflate", "gzip,\vzstd"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wire_unpack *u;
        assert_int_equal(wire_unpack_new(&u, text_view(bad[i])), ERR_USAGE);
    }
    static const uint8_t nul[] = "gzip";
    struct wire_unpack *u;
    assert_int_equal(wire_unpack_new(&u, (struct view){ nul, 5 }), ERR_USAGE);
}

static void
five_encodings_are_too_many(void **state)
{
    (void)state;
    struct wire_unpack *u;
    assert_int_equal(wire_unpack_new(&u, text_view("br,gzip,br,gzip,br")), ERR_USAGE);
    wire_unpack_free(undo_open("br,gzip,br,gzip,identity,identity"));
}

static void
without_an_encoding_the_bytes_are_as_they_are(void **state)
{
    (void)state;
    static const char *const none[] = { "", "identity", " , ", "Identity,identity" };
    static uint8_t bytes[200000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        AUTO(undone) whole = { 0 };
        AUTO(undone) cut = { 0 };
        AUTO(undone) empty = { 0 };
        struct view all = { bytes, sizeof(bytes) };
        undo(none[i], all, 0, undo_take, &whole);
        undo_assert_text(&whole, all);
        undo(none[i], all, 777, undo_take, &cut);
        undo_assert_text(&cut, all);
        undo(none[i], (struct view){ 0 }, 0, undo_take, &empty);
        undo_assert_text(&empty, (struct view){ 0 });
    }
}

/* -- errors that are not the stream's -- */

static int
refuse(void *ctx, struct view bytes)
{
    (void)bytes;
    ++*(int *)ctx;
    return -EIO;
}

static void
an_error_of_the_reader_ends_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) name = { 0 };
        AUTO(buf) packed = { 0 };
        int calls = 0;
        pack_zeros(pack_ways[i], 4 * UNDO_PIECE, &packed);
        struct wire_unpack *u = undo_open(pack_names(pack_ways[i], &name));
        for (int again = 0; again < 2; again++)
            assert_int_equal(wire_unpack_feed(u, pack_view(&packed), refuse, &calls),
                             -EIO);
        assert_int_equal(calls, 1);
        assert_false(wire_unpack_is_whole(u));
        wire_unpack_free(u);
    }
}

/* Its n-th allocation fails; a result below zero is returned. */
static int
undo_without_memory(const enum pack *way, struct view packed, unsigned n,
                    bool is_for_ever)
{
    AUTO(buf) name = { 0 };
    struct undone g = { 0 };
    struct wire_unpack *u;
    struct view encoding = text_view(pack_names(way, &name));
    faults = (struct alloc_faults){ true, is_for_ever, 0, n };
    int r = wire_unpack_new(&u, encoding);
    if (r == 0) {
        r = wire_unpack_feed(u, packed, undo_count, &g);
        wire_unpack_free(u);
    }
    faults.is_on = false;
    return r;
}

static void
a_lack_of_memory_is_no_damage(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    for (size_t i = 0; i < 3000; i++) /* more than a window of zlib's */
        buf_printf(&text, "data: %zu\n\n", i * i);
    for (size_t i = 0; i < PACK_WAYS; i++) {
        AUTO(buf) packed = { 0 };
        pack_all(pack_ways[i], pack_view(&text), &packed);
        for (int is_for_ever = 0; is_for_ever < 2; is_for_ever++) {
            unsigned n = 0;
            int r = -ENOMEM;
            while (r) {
                r = undo_without_memory(pack_ways[i], pack_view(&packed), ++n,
                                        is_for_ever);
                assert_int_equal(r, faults.count >= n ? -ENOMEM : 0);
            }
            assert_true(n > 4);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_encoding_gives_the_same_however_it_is_cut),
        cmocka_unit_test(an_event_that_the_server_flushed_comes_out_at_once),
        cmocka_unit_test(an_event_of_any_size_comes_out_at_once),
        cmocka_unit_test(all_that_can_be_decoded_comes_out_wherever_it_is_cut),
        cmocka_unit_test(members_of_gzip_are_one_reply),
        cmocka_unit_test(frames_of_zstd_are_one_reply),
        cmocka_unit_test(a_reply_is_whole_between_members_and_not_inside),
        cmocka_unit_test(deflate_is_zlibs_or_bare_of_any_window_and_level),
        cmocka_unit_test(what_packs_nothing_is_whole),
        cmocka_unit_test(encodings_are_words_of_a_list_in_any_case),
        cmocka_unit_test(an_encoding_that_is_not_known_is_refused),
        cmocka_unit_test(five_encodings_are_too_many),
        cmocka_unit_test(without_an_encoding_the_bytes_are_as_they_are),
        cmocka_unit_test(an_error_of_the_reader_ends_it),
        cmocka_unit_test(a_lack_of_memory_is_no_damage),
    };
    return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
