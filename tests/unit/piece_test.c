/* SPDX-License-Identifier: MIT */
/* piece_test.c -- the words of a text, and lines packed and unpacked. */
#include <stdio.h>
#include <stdlib.h>

#include "library/grams_priv.h"
#include "library/piece_priv.h"
#include "library/said_priv.h"
#include "support/kit.h"
#include "support/rng.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- grams -- */

static void
assert_words(struct grams *g, const char *text, const char *words)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(grams_words(g, text_view(text), &out), 0);
    assert_string_equal(buf_str(&out), words);
}

static void
each_run_of_three_bytes_is_a_word_once(void **state)
{
    (void)state;
    struct grams *g;
    assert_int_equal(grams_new(&g), 0);
    for (int i = 0; i < 2; i++) { /* the second time nothing is left of the first */
        assert_words(g, "", "");
        assert_words(g, "ab", "");
        assert_words(g, "abc", "616263 ");
        assert_words(g, "AbcABC", "616263 626361 636162 ");
        assert_words(g, "aaaaaaa", "616161 ");
        assert_words(g, "ab\ncd", "");
        assert_words(g, "\xff\xfe\x01", "fffe01 ");
        assert_words(g, "[@`{", "5b4060 40607b "); /* the neighbours of letters */
    }
    grams_free(g);
}

/* Each word of what is asked is among those of the text. */
static void
what_stands_in_a_text_is_asked_for_by_words_of_it(void **state)
{
    (void)state;
    struct grams *g;
    uint32_t rng = rng_seed(7);
    uint8_t text[4000];
    assert_int_equal(grams_new(&g), 0);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(rng_next(&rng) % 3 ? 'A' + rng_next(&rng) % 60
                                               : rng_next(&rng) % 256);
    AUTO(buf) words = { 0 };
    assert_int_equal(grams_words(g, (struct view){ text, sizeof(text) }, &words), 0);
    for (int i = 0; i < 2000; i++) {
        AUTO(buf) asked = { 0 };
        size_t n = rng_next(&rng) % (i % 10 ? 20 : 1000),
               at = rng_next(&rng) % (sizeof(text) - n);
        assert_int_equal(grams_asked((struct view){ text + at, n }, &asked), 0);
        assert_int_equal(asked.n % 7, 0);
        assert_true(asked.n <= (size_t)7 * GRAMS_ASKED_MAX);
        assert_true(n >= GRAM_BYTES || !asked.n);
        for (size_t k = 0; k < asked.n; k += 7)
            assert_non_null(memmem(words.p, words.n, asked.p + k, 7));
    }
    grams_free(g);
}

static void
a_long_question_is_asked_by_words_from_all_of_it(void **state)
{
    (void)state;
    AUTO(buf) asked = { 0 };
    AUTO(buf) text = { 0 };
    uint32_t rng = rng_seed(9);
    buf_puts(&text, "000");
    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "%c", 'a' + (int)rng_below(&rng, 26));
    buf_puts(&text, "end");
    assert_int_equal(grams_asked(view_of(&text), &asked), 0);
    assert_int_equal(asked.n, 7 * GRAMS_ASKED_MAX);
    assert_memory_equal(asked.p, "303030 ", 7);
    assert_memory_equal(asked.p + asked.n - 7, "656e64 ", 7);
    buf_clear(&asked);
    assert_int_equal(grams_asked(text_view("zzzzzzzz"), &asked), 0);
    assert_string_equal(buf_str(&asked), "7a7a7a ");
}

/* -- pieces -- */

static void
add(struct piece *p, uint64_t index, const char *text, bool is_wrapped)
{
    struct piece_row row = { .index = index,
                             .write_byte = index * 1000 % 777,
                             .ts_ns = index ? UINT64_C(1700000000000000000) - index : 0 };
    assert_int_equal(piece_add(p, &row, text_view(text), is_wrapped), 0);
}

static void
assert_same(const struct piece *a, const struct piece *b)
{
    assert_int_equal(a->text.n, b->text.n);
    if (a->text.n)
        assert_memory_equal(a->text.p, b->text.p, a->text.n);
    assert_int_equal(a->rows.n, b->rows.n);
    for (size_t at = 0; at <= a->text.n; at++) {
        struct piece_row x = piece_row_at(a, at), y = piece_row_at(b, at);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.write_byte, y.write_byte);
        assert_int_equal(x.ts_ns, y.ts_ns);
        assert_int_equal(x.start, y.start);
        assert_int_equal(x.label, y.label);
    }
}

static void
rows_that_wrap_are_one_line_and_keep_their_places(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    add(&p, 5, "one", false);
    add(&p, 6, "two ", true);
    add(&p, 7, "goes on", false);
    add(&p, 8, "", false);
    add(&p, 9, "open", true);
    assert_int_equal(piece_break(&p), 0);
    assert_int_equal(piece_break(&p), 0);
    assert_string_equal(buf_str(&p.text), "one\ntwo goes on\n\nopen\n");
    assert_int_equal(piece_row_at(&p, 0).index, 5);
    assert_int_equal(piece_row_at(&p, 3).index, 5);
    assert_int_equal(piece_row_at(&p, 4).index, 6);
    assert_int_equal(piece_row_at(&p, 8).index, 7);
    assert_int_equal(piece_row_at(&p, 16).index, 8);
    assert_int_equal(piece_row_at(&p, 17).index, 9);
    assert_int_equal(piece_row_at(&p, 1000).index, 9);
}

static void
what_is_packed_is_unpacked(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    AUTO(piece) back = { 0 };
    AUTO(buf) packed = { 0 };
    assert_int_equal(piece_pack(&p, &packed), 0);
    assert_int_equal(piece_unpack(view_of(&packed), &back), 0);
    assert_same(&p, &back);
    add(&p, UINT64_MAX, "first", false);
    add(&p, 0, "", true);
    add(&p, 1, "", true);
    for (uint64_t i = 10; i < 200; i++)
        add(&p, i, "some text of a line", i % 7 == 0);
    add(&p, 200, "open", true);
    buf_clear(&packed);
    assert_int_equal(piece_pack(&p, &packed), 0);
    assert_int_equal(piece_unpack(view_of(&packed), &back), 0);
    assert_same(&p, &back);
    assert_int_equal(p.text.p[p.text.n - 1], '\n');
    assert_true(packed.n < p.text.n);
}

static uint32_t
add_turn(struct piece *p, enum turn_type type, enum turn_role role, const char *tool)
{
    const struct label label = { LABEL_TURN, type, role, text_view(tool) };
    int number = piece_label(p, &label);
    assert_true(number >= LABEL_TURN);
    const struct piece_row row = { .index = 3, .label = (uint32_t)number };
    assert_int_equal(piece_add(p, &row, text_view("text"), false), 0);
    return row.label;
}

static bool
has_words(const struct piece *p, enum library_in in, enum turn_role role,
          const char *tool)
{
    AUTO(buf) asked = { 0 };
    AUTO(buf) words = { 0 };
    struct grams *g;
    bool has_all = true;
    assert_int_equal(grams_new(&g), 0);
    assert_int_equal(labels_asked(in, role, text_view(tool), &asked), 0);
    assert_int_equal(piece_words(p, g, &words), 0);
    for (size_t at = 0; at < asked.n; at += 7)
        has_all = has_all && memmem(words.p, words.n, asked.p + at, 7);
    grams_free(g);
    return has_all;
}

static void
rows_have_labels_and_are_found_by_them(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    AUTO(piece) back = { 0 };
    AUTO(buf) packed = { 0 };
    uint32_t call = add_turn(&p, TURN_TOOL_CALL, TURN_ASSISTANT, "Bash");
    uint32_t result = add_turn(&p, TURN_TOOL_RESULT, TURN_TOOL, "Bash");
    assert_int_equal(add_turn(&p, TURN_TOOL_CALL, TURN_ASSISTANT, "Bash"), call);
    assert_int_not_equal(call, result);
    assert_int_not_equal(add_turn(&p, TURN_TOOL_CALL, TURN_ASSISTANT, "bash"), call);
    assert_false(has_words(&p, LIBRARY_IN_TERMINAL, TURN_NOBODY, ""));
    add(&p, 1, "a row", false);
    assert_int_equal(piece_pack(&p, &packed), 0);
    assert_int_equal(piece_unpack(view_of(&packed), &back), 0);
    assert_same(&p, &back);
    struct piece_row row = piece_row_at(&back, 5);
    struct label label = piece_label_of(&back, &row);
    assert_int_equal(label.type, TURN_TOOL_RESULT);
    assert_int_equal(label.role, TURN_TOOL);
    assert_memory_equal(label.tool.p, "Bash", label.tool.n);
    assert_int_equal(label.tool.n, 4);
    assert_true(has_words(&back, LIBRARY_IN_TERMINAL, TURN_NOBODY, ""));
    assert_true(has_words(&back, LIBRARY_IN_TURNS, TURN_TOOL, "BASH"));
    assert_false(has_words(&back, LIBRARY_IN_TURNS, TURN_USER, ""));
    assert_false(has_words(&back, LIBRARY_IN_TURNS, TURN_NOBODY, "Read"));
}

static void
a_piece_has_so_many_labels_and_names_of_tools_so_many_bytes(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    char name[LABEL_TOOL_MAX + 100];
    memset(name, 'x', sizeof(name));
    struct label label = { LABEL_TURN,
                           TURN_TOOL_CALL,
                           TURN_ASSISTANT,
                           { (const uint8_t *)name, sizeof(name) } };
    for (int i = 0; i < LABELS_MAX; i++) {
        name[0] = (char)('!' + i);
        assert_int_equal(piece_label(&p, &label), LABEL_TURN + i);
    }
    assert_int_equal(piece_label(&p, &label), LABEL_TURN + LABELS_MAX - 1);
    name[0] = ' ';
    assert_int_equal(piece_label(&p, &label), ERR_LIMIT);
    const struct piece_row row = { .label = LABEL_TURN };
    assert_int_equal(piece_label_of(&p, &row).tool.n, LABEL_TOOL_MAX);
    assert_int_equal(label_tool(text_view("short")).n, 5);
    name[LABEL_TOOL_MAX - 1] = '\xc3', name[LABEL_TOOL_MAX] = '\xa4'; /* not half of it */
    assert_int_equal(label_tool(label.tool).n, LABEL_TOOL_MAX - 1);
}

/* -- what was said -- */

static bool
is_said(const struct said *s, const char *text)
{
    struct said_line line = said_begin();
    said_more(&line, text_view(text));
    return said_has(s, &line);
}

static void
a_line_is_known_again_but_for_its_blanks(void **state)
{
    (void)state;
    struct said *s;
    char text[32];
    assert_int_equal(said_new(&s), 0);
    assert_false(is_said(s, "x"));
    assert_int_equal(said_add(s, text_view("  one\ttwo\n\n \nlast")), 0);
    assert_true(is_said(s, "one two"));
    assert_true(is_said(s, "  one      two  "));
    assert_true(is_said(s, "last"));
    assert_false(is_said(s, "onetwo"));
    assert_false(is_said(s, "one two last"));
    assert_false(is_said(s, ""));
    assert_false(is_said(s, " "));
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "line %d", i);
        assert_false(is_said(s, text));
        assert_int_equal(said_add(s, text_view(text)), 0);
        assert_true(is_said(s, text));
    }
    struct said_line line = said_begin(); /* however it is cut */
    said_more(&line, text_view("one "));
    said_more(&line, text_view(" "));
    said_more(&line, text_view("t"));
    said_more(&line, text_view("wo "));
    assert_true(said_has(s, &line));
    said_free(s);
}

static void
a_piece_is_full_where_a_line_ends(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    char row[81] = { 0 };
    memset(row, 'x', 80);
    for (uint64_t i = 0; !piece_is_full(&p); i++) {
        assert_true(p.text.n < PIECE_BYTES);
        add(&p, i, row, false);
    }
    piece_clear(&p);
    assert_false(piece_is_full(&p));
    uint64_t rows = 0;
    for (; !piece_is_full(&p); rows++) /* a line that never ends is cut */
        add(&p, rows, row, true);
    assert_int_equal(rows, (PIECE_LINE_MAX + 79) / 80);
    assert_int_equal(p.text.p[p.text.n - 1], '\n');
    piece_clear(&p);
    for (rows = 0; !piece_is_full(&p); rows++) /* also one of nothing */
        add(&p, rows, "", true);
    AUTO(buf) packed = { 0 };
    AUTO(piece) back = { 0 };
    assert_int_equal(piece_pack(&p, &packed), 0);
    assert_int_equal(piece_unpack(view_of(&packed), &back), 0);
    assert_int_equal(back.rows.n, p.rows.n);
}

/* What comes of it can be used. */
static void
assert_usable(const struct piece *p)
{
    assert_true(!p->text.n || p->text.p[p->text.n - 1] == '\n');
    for (size_t at = 0; at <= p->text.n; at++)
        assert_true(piece_row_at(p, at).start <= at);
}

static void
a_cut_or_flipped_piece_is_damaged_or_one(void **state)
{
    (void)state;
    AUTO(piece) p = { 0 };
    AUTO(piece) back = { 0 };
    AUTO(buf) packed = { 0 };
    for (uint64_t i = 0; i < 12; i++)
        add(&p, i, i % 2 ? "abcdefgh" : "0123", i % 5 == 0);
    add_turn(&p, TURN_TOOL_CALL, TURN_ASSISTANT, "Bash");
    add_turn(&p, TURN_TEXT, TURN_USER, "");
    assert_int_equal(piece_pack(&p, &packed), 0);
    for (size_t n = 0; n < packed.n; n++)
        assert_int_equal(piece_unpack((struct view){ packed.p, n }, &back), ERR_DAMAGED);
    assert_int_equal(back.text.n, 0);
    for (size_t bit = 0; bit < packed.n * 8; bit++) {
        packed.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int r = piece_unpack(view_of(&packed), &back);
        assert_true(r == 0 || r == ERR_DAMAGED);
        assert_usable(&back);
        packed.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(buf_append(&packed, "x", 1), 0);
    assert_int_equal(piece_unpack(view_of(&packed), &back), ERR_DAMAGED);
}

static void
a_piece_that_claims_to_be_huge_is_damaged(void **state)
{
    (void)state;
    AUTO(piece) back = { 0 };
    static const char *const claims[] = { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                          "\x81\x80\x80\x08", "", "\x05", "\xff" };
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++)
        assert_int_equal(piece_unpack(text_view(claims[i]), &back), ERR_DAMAGED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_of_three_bytes_is_a_word_once),
        cmocka_unit_test(what_stands_in_a_text_is_asked_for_by_words_of_it),
        cmocka_unit_test(a_long_question_is_asked_by_words_from_all_of_it),
        cmocka_unit_test(rows_that_wrap_are_one_line_and_keep_their_places),
        cmocka_unit_test(what_is_packed_is_unpacked),
        cmocka_unit_test(rows_have_labels_and_are_found_by_them),
        cmocka_unit_test(a_piece_has_so_many_labels_and_names_of_tools_so_many_bytes),
        cmocka_unit_test(a_line_is_known_again_but_for_its_blanks),
        cmocka_unit_test(a_piece_is_full_where_a_line_ends),
        cmocka_unit_test(a_cut_or_flipped_piece_is_damaged_or_one),
        cmocka_unit_test(a_piece_that_claims_to_be_huge_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
