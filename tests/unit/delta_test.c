/* SPDX-License-Identifier: MIT */
/* delta_test.c -- texts told by others: what comes back is what there was, in a few ops;
 * ops that anybody may have written; which base is taken for which body. */
#include "calls/delta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json_in.h"
#include "base/utf8.h"
#include "calls/bases.h"
#include "calls/read.h"
#include "support/measure.h"
#include "support/rng.h"
#include "support/text_view.h"

enum { CALLS_MANY = 400, CHAIN_MOST = 64 };

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static void
same_bytes(struct view got, struct view want)
{
    assert_int_equal(got.n, want.n);
    assert_true(!got.n || !memcmp(got.p, want.p, got.n));
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static struct view
own(struct view v)
{
    uint8_t *p = malloc(v.n ? v.n : 1);
    assert_non_null(p);
    if (v.n)
        memcpy(p, v.p, v.n);
    return (struct view){ p, v.n };
}

static void
disown(struct view v)
{
    union {
        const uint8_t *p;
        void *freed;
    } both = { .p = v.p };
    free(both.freed);
}

/* What is made of it makes it again; returns how many bytes the ops have. */
static size_t
goes_round(struct view base, struct view target)
{
    AUTO(buf) ops = { 0 };
    AUTO(buf) got = { 0 };
    struct view b = own(base), t = own(target);
    assert_int_equal(calls_delta_make(b, t, &ops), 0);
    struct json_in in = { .p = ops.p, .end = ops.p + ops.n };
    assert_true(json_in_skip(&in));
    assert_ptr_equal(in.p, in.end);
    assert_false(in.is_odd);
    assert_true(utf8_is_text(ops.p, ops.n));
    assert_null(memchr(ops.p, '\n', ops.n));
    assert_int_equal(calls_delta_apply(b, view_of(&ops), target.n, &got), 0);
    same_bytes(view_of(&got), target);
    disown(b);
    disown(t);
    return ops.n;
}

/* -- texts made by seed -- */

static const char *const characters[] = {
    "a", "b", " ", "\"", "\\", "\n",     "e",          "{",          "t",
    "é", "è", "ĩ", "€",  "₭",  "\u2028", "\U0001F600", "\U0001F601", "\U0001F640",
};
enum { CHARACTERS = sizeof(characters) / sizeof(characters[0]) };

static void
put_text(struct buf *out, uint32_t *rng, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_puts(out, characters[rng_below(rng, CHARACTERS)]);
}

/* Of all characters of the text, where one begins; n is its end. */
static size_t
some_cut(const struct buf *b, uint32_t *rng)
{
    size_t at = rng_below(rng, (uint32_t)b->n + 1);
    while (at < b->n && (b->p[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static void
put_piece(struct buf *out, const struct buf *of, size_t from, size_t to)
{
    if (to > from)
        buf_append(out, of->p + from, to - from);
}

/* Something is put in, taken out, moved, or another in place of it. */
static void
edit(struct buf *b, uint32_t *rng)
{
    struct buf out = { 0 };
    size_t cut[3] = { some_cut(b, rng), some_cut(b, rng), some_cut(b, rng) };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (cut[k] > cut[k + 1]) {
                size_t other = cut[k];
                cut[k] = cut[k + 1];
                cut[k + 1] = other;
            }
    put_piece(&out, b, 0, cut[0]);
    switch (rng_below(rng, 4)) {
    case 0: /* in */
        put_text(&out, rng, rng_below(rng, 100));
        put_piece(&out, b, cut[0], b->n);
        break;
    case 1: /* out */
        put_piece(&out, b, cut[1], b->n);
        break;
    case 2: /* moved */
        put_piece(&out, b, cut[1], cut[2]);
        put_piece(&out, b, cut[0], cut[1]);
        put_piece(&out, b, cut[2], b->n);
        break;
    default: /* a marker changed */
        put_text(&out, rng, 1);
        put_piece(&out, b, cut[0] < b->n ? some_cut(b, rng) : b->n, b->n);
    }
    buf_release(b);
    *b = out;
}

static void
any_text_is_made_of_any_other(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 3000; seed++) {
        uint32_t rng = rng_seed(seed);
        AUTO(buf) base = { 0 };
        AUTO(buf) target = { 0 };
        put_text(&base, &rng, rng_below(&rng, 1 + seed % 900));
        buf_append(&target, base.p, base.n);
        for (uint32_t i = rng_below(&rng, 8); i > 0; i--)
            edit(&target, &rng);
        goes_round(view_of(&base), view_of(&target));
    }
}

static void
texts_with_nothing_in_common_are_made_too(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        uint32_t rng = rng_seed(seed);
        AUTO(buf) base = { 0 };
        AUTO(buf) target = { 0 };
        put_text(&base, &rng, rng_below(&rng, 300));
        put_text(&target, &rng, rng_below(&rng, 300));
        goes_round(view_of(&base), view_of(&target));
        goes_round((struct view){ 0 }, view_of(&target));
        goes_round(view_of(&base), (struct view){ 0 });
    }
    goes_round((struct view){ 0 }, (struct view){ 0 });
}

/* Characters whose bytes begin or end alike, so that what is common ends within one. */
static void
no_character_is_cut(void **state)
{
    (void)state;
    static const char *const alike[] = { "é",          "è",          "ĩ",
                                         "€",          "₭",          "\u2028",
                                         "\U0001F600", "\U0001F601", "\U0001F640",
                                         "",           "x" };
    enum { ALIKE = sizeof(alike) / sizeof(alike[0]), AROUND = 70 };
    uint32_t rng = rng_seed(7);
    AUTO(buf) around = { 0 };
    put_text(&around, &rng, AROUND);
    for (size_t at = 0; at <= around.n; at++)
        for (size_t i = 0; i < ALIKE * ALIKE; i++) {
            AUTO(buf) base = { 0 };
            AUTO(buf) target = { 0 };
            if (at < around.n && (around.p[at] & 0xc0) == 0x80)
                break;
            buf_append(&base, around.p, at);
            buf_append(&target, around.p, at);
            buf_puts(&base, alike[i / ALIKE]);
            buf_puts(&target, alike[i % ALIKE]);
            buf_append(&base, around.p + at, around.n - at);
            buf_append(&target, around.p + at, around.n - at);
            goes_round(view_of(&base), view_of(&target));
        }
}

static void
equal_texts_are_one_op(void **state)
{
    (void)state;
    AUTO(buf) ops = { 0 };
    struct view text = text_view("the same text, and not a short one at all");
    assert_int_equal(calls_delta_make(text, text, &ops), 0);
    assert_string_equal(buf_str(&ops), "[[0,41]]");
    buf_clear(&ops);
    assert_int_equal(calls_delta_make(text_view("short"), text_view("short"), &ops), 0);
    assert_string_equal(buf_str(&ops), "[\"short\"]");
    buf_clear(&ops);
    assert_int_equal(calls_delta_make(text, (struct view){ 0 }, &ops), 0);
    assert_string_equal(buf_str(&ops), "[]");
}

/* -- few ops -- */

static void
put_turn(struct buf *out, uint32_t *rng, unsigned turn, size_t bytes, bool is_marked)
{
    static const char *const words[] = { "the ", "file ",     "src/a.c ", "line\\n",
                                         "int ", "\\\"x\\\"", "42 ",      "würde " };
    size_t end = out->n + bytes;
    buf_printf(out, "{\"role\":\"%s\",\"content\":[{\"type\":\"text\",\"text\":\"%u ",
               turn % 2 ? "assistant" : "user", turn);
    while (out->n < end)
        buf_puts(out, words[rng_below(rng, 8)]);
    buf_printf(out, "\"%s}]}",
               is_marked ? ",\"cache_control\":{\"type\":\"ephemeral\"}" : "");
}

/* What is sent in a conversation's turn `turns`, of which the last two are marked. */
static void
put_body(struct buf *out, uint32_t seed, unsigned turns, size_t bytes)
{
    buf_printf(out,
               "{\"model\":\"a-model\",\"max_tokens\":8192,\"system\":\"Be kind. %u\","
               "\"tools\":[{\"name\":\"Bash\"}],\"messages\":[",
               seed);
    for (unsigned i = 0; i < turns; i++) {
        uint32_t rng = rng_seed(seed * 1000 + i);
        buf_puts(out, i ? "," : "");
        put_turn(out, &rng, i, bytes, i + 2 >= turns);
    }
    buf_puts(out, "],\"stream\":true,\"metadata\":{\"user_id\":\"nobody\"}}");
    assert_int_equal(out->failed, 0);
}

static void
a_conversation_that_grows_is_told_by_what_is_new(void **state)
{
    (void)state;
    AUTO(buf) before = { 0 };
    for (unsigned turns = 1; turns <= 40; turns++) {
        AUTO(buf) now = { 0 };
        put_body(&now, 1, turns, 3000);
        size_t ops = goes_round(view_of(&before), view_of(&now));
        assert_true(ops < 2 * (now.n - before.n) + 200);
        buf_clear(&before);
        buf_append(&before, now.p, now.n);
    }
}

static void
a_change_in_the_middle_is_told_by_itself(void **state)
{
    (void)state;
    AUTO(buf) base = { 0 };
    put_body(&base, 1, 20, 3000);
    struct {
        size_t at, out;
        const char *in;
    } changes[] = { { 9000, 0, "something is put in" },
                    { 9000, 40, "" },
                    { 30000, 12, "another" },
                    { 0, 1, " {" },
                    { base.n - 1, 1, " }" } };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        AUTO(buf) target = { 0 };
        size_t at = changes[i].at, out = changes[i].out;
        while (at && (base.p[at] & 0xc0) == 0x80)
            at--;
        while (at + out < base.n && (base.p[at + out] & 0xc0) == 0x80)
            out++;
        put_piece(&target, &base, 0, at);
        buf_puts(&target, changes[i].in);
        put_piece(&target, &base, at + out, base.n);
        size_t ops = goes_round(view_of(&base), view_of(&target));
        assert_true(ops < 2 * strlen(changes[i].in) + 200);
    }
}

static void
messages_that_were_dropped_or_moved_cost_little(void **state)
{
    (void)state;
    AUTO(buf) base = { 0 };
    AUTO(buf) target = { 0 };
    put_body(&base, 1, 30, 2000);
    put_piece(&target, &base, 0, 4096);
    put_piece(&target, &base, 40960, 51200);
    put_piece(&target, &base, 20480, 24576);
    put_piece(&target, &base, 8192, 8192 + 100);
    if (utf8_is_text(target.p, target.n))
        assert_true(goes_round(view_of(&base), view_of(&target)) < 400);
    buf_clear(&target);
    for (size_t i = 0; i < base.n; i++)
        if (base.p[i] < 0x80)
            buf_append(&target, base.p + i, 1);
    goes_round(view_of(&base), view_of(&target));
}

static void
put_many(struct buf *out, const char *text, size_t bytes)
{
    while (out->n + strlen(text) <= bytes)
        buf_puts(out, text);
}

/* Where each piece looks like each other one: it is over in no time, or never. */
static void
texts_that_repeat_themselves_take_linear_time(void **state)
{
    (void)state;
    static const char *const units[] = { " ",
                                         "ab",
                                         "0123456789012345678901234567890",
                                         "01234567890123456789012345678901",
                                         "\U0001F600",
                                         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                                         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" };
    enum { UNITS = sizeof(units) / sizeof(units[0]), BYTES = 400000 };
    for (size_t i = 0; i < UNITS * UNITS; i++) {
        AUTO(buf) base = { 0 };
        AUTO(buf) target = { 0 };
        put_many(&base, units[i / UNITS], BYTES);
        buf_puts(&target, "other");
        put_many(&target, units[i % UNITS], BYTES + 1000);
        buf_puts(&target, "wise");
        goes_round(view_of(&base), view_of(&target));
    }
    AUTO(buf) base = { 0 };
    AUTO(buf) target = { 0 };
    put_many(&base, " ", 16 << 20);
    put_many(&target, " ", (16 << 20) + 1);
    assert_true(goes_round(view_of(&base), view_of(&target)) < 100);
}

static void
what_does_not_fit_is_told(void **state)
{
    (void)state;
    AUTO(buf) ops = { .ceiling = 20 };
    assert_int_equal(
        calls_delta_make(text_view("a"), text_view("a text that is too long"), &ops),
        ERR_LIMIT);
}

/* -- ops of others -- */

static int
apply(const char *base, const char *ops, size_t max, struct buf *out)
{
    struct view b = own(text_view(base)), o = own(text_view(ops));
    int r = calls_delta_apply(b, o, max, out);
    disown(b);
    disown(o);
    return r;
}

static void
ops_are_appended(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    buf_puts(&out, "x");
    assert_int_equal(apply("0123456789",
                           " [ [ 2 , 3 ] , \"\\u0041\\n\" ,[10,0],[0,10],\"\"] ", 15,
                           &out),
                     0);
    assert_string_equal(buf_str(&out), "x234A\n0123456789");
    buf_clear(&out);
    assert_int_equal(apply("", "[]", 0, &out), 0);
    assert_int_equal(apply("", "[[0,0],\"\"]", 0, &out), 0);
    assert_int_equal(calls_delta_apply((struct view){ 0 }, text_view("[[0,0]]"), 0, &out),
                     0);
    assert_int_equal(out.n, 0);
}

static void
ops_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "[",
        "{}",
        "null",
        "\"a\"",
        "[[0,1]",
        "[[0,1],]",
        "[,[0,1]]",
        "[[0,1][1,1]]",
        "[[0,1]]x",
        "[[0,1]][]",
        "[[]]",
        "[[0]]",
        "[[0,1,2]]",
        "[[0,1,]]",
        "[[0 1]]",
        "[[,1]]",
        "[[-1,2]]",
        "[[0,-1]]",
        "[[1.0,1]]",
        "[[1e0,1]]",
        "[[0,1e0]]",
        "[[\"0\",1]]",
        "[[null,1]]",
        "[[[0],1]]",
        "[[[0,1]]]",
        "[{\"a\":1}]",
        "[null]",
        "[true]",
        "[5]",
        "[\"a]",
        "[\"\\x\"]",
        "[\"\\u12\"]",
        "[[0,1],null]",
        "[[0,{}]]",
        /* over the base */
        "[[0,11]]",
        "[[11,0]]",
        "[[10,1]]",
        "[[5,6]]",
        "[[1,10]]",
        "[[18446744073709551615,1]]",
        "[[1,18446744073709551615]]",
        "[[18446744073709551615,18446744073709551615]]",
        "[[18446744073709551616,1]]",
        "[[0,18446744073709551617]]",
        "[[000000000000000000000000000000,1]]",
        "[[9223372036854775807,9223372036854775807]]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        AUTO(buf) out = { 0 };
        if (apply("0123456789", bad[i], 1000, &out) != ERR_DAMAGED)
            fail_msg("taken: %s", bad[i]);
        assert_true(out.n <= 1000);
    }
}

static void
ops_that_lie_in_each_other_are_refused(void **state)
{
    (void)state;
    AUTO(buf) ops = { 0 };
    AUTO(buf) out = { 0 };
    put_many(&ops, "[", 1 << 20);
    assert_int_equal(calls_delta_apply(text_view("abc"), view_of(&ops), 100, &out),
                     ERR_DAMAGED);
    put_many(&ops, "]", 2 << 20);
    assert_int_equal(calls_delta_apply(text_view("abc"), view_of(&ops), 100, &out),
                     ERR_DAMAGED);
}

static void
more_than_was_allowed_is_not_made(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    assert_int_equal(apply("0123456789", "[[0,10],[0,10]]", 20, &out), 0);
    buf_clear(&out);
    assert_int_equal(apply("0123456789", "[[0,10],[0,10]]", 19, &out), ERR_DAMAGED);
    assert_true(out.n <= 19);
    buf_clear(&out);
    assert_int_equal(apply("", "[\"abc\"]", 3, &out), 0);
    buf_clear(&out);
    assert_int_equal(apply("", "[\"abc\"]", 2, &out), ERR_DAMAGED);
    AUTO(buf) ops = { 0 };
    buf_puts(&ops, "[[0,10]");
    put_many(&ops, ",[0,10]", 1 << 20);
    buf_puts(&ops, "]");
    buf_clear(&out);
    assert_int_equal(
        calls_delta_apply(text_view("0123456789"), view_of(&ops), 1000, &out),
        ERR_DAMAGED);
    assert_true(out.n <= 1000);
}

static void
a_result_that_does_not_fit_is_told(void **state)
{
    (void)state;
    AUTO(buf) out = { .ceiling = 5 };
    assert_int_equal(apply("0123456789", "[[0,10]]", 100, &out), ERR_LIMIT);
    buf_clear(&out);
    assert_int_equal(apply("", "[\"0123456789\"]", 100, &out), ERR_LIMIT);
}

/* -- bases -- */

/* All that was told so far, and read again. */
struct story {
    struct calls_bases *bases;
    uint64_t calls;
    struct buf bodies[CALLS_MANY + 1]; /* by number */
    uint64_t base[CALLS_MANY + 1];
    unsigned chain[CALLS_MANY + 1];
    size_t told, all; /* bytes of lines, and of bodies */
};

static void
story_begin(struct story *s, size_t max_bytes)
{
    *s = (struct story){ .calls = 0 };
    assert_int_equal(calls_bases_new(&s->bases, max_bytes), 0);
}

static void
story_release(struct story *s)
{
    calls_bases_free(s->bases);
    for (size_t i = 0; i <= CALLS_MANY; i++)
        buf_release(&s->bodies[i]);
}

/* Returns by which call it was told; 0: by none. */
static uint64_t
tell_call(struct story *s, uint64_t call, const char *kind, struct view body)
{
    AUTO(buf) ops = { 0 };
    AUTO(buf) line = { 0 };
    struct calls_line l = calls_line(CALLS_REQUEST_BODY, call, 0);
    assert_true(call <= CALLS_MANY);
    assert_int_equal(calls_bases_tell(s->bases, &l, text_view(kind), body, &ops), 0);
    if (l.base) {
        assert_true(l.base < call);
        assert_int_equal(calls_delta_apply(view_of(&s->bodies[l.base]), l.ops, body.n,
                                           &s->bodies[call]),
                         0);
        assert_true(l.ops.n < body.n);
    } else {
        buf_append(&s->bodies[call], l.bytes.p, l.bytes.n);
    }
    same_bytes(view_of(&s->bodies[call]), body);
    calls_line_put(&l, 0, &line);
    s->told += line.n;
    s->all += body.n;
    s->base[call] = l.base;
    s->chain[call] = l.base ? s->chain[l.base] + 1 : 0;
    assert_true(s->chain[call] <= CHAIN_MOST);
    return l.base;
}

static uint64_t
tell(struct story *s, const char *kind, struct view body)
{
    return tell_call(s, ++s->calls, kind, body);
}

static uint64_t
tell_turn(struct story *s, const char *kind, uint32_t seed, unsigned turns, size_t bytes)
{
    AUTO(buf) body = { 0 };
    put_body(&body, seed, turns, bytes);
    return tell(s, kind, view_of(&body));
}

static void
a_body_is_told_by_the_call_before_it(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    assert_int_equal(tell_turn(&s, "k", 1, 20, 1000), 0);
    for (unsigned turns = 21; turns <= 60; turns++)
        assert_int_equal(tell_turn(&s, "k", 1, turns, 1000), turns - 20);
    story_release(&s);
}

static void
of_several_conversations_each_is_told_by_its_own(void **state)
{
    (void)state;
    enum { SEVERAL = 7 };
    struct story s;
    story_begin(&s, 8 << 20);
    for (unsigned turns = 3; turns <= 20; turns++)
        for (uint32_t i = 0; i < SEVERAL; i++) {
            uint64_t base = tell_turn(&s, "k", i, turns, 500);
            assert_int_equal(base, turns == 3 ? 0 : s.calls - SEVERAL);
        }
    story_release(&s);
}

static void
bodies_of_another_kind_are_not_looked_at(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    tell_turn(&s, "anthropic /v1/messages", 1, 5, 500);
    assert_int_equal(tell_turn(&s, "anthropic /v1/messages/count_tokens", 1, 5, 500), 0);
    assert_int_equal(tell_turn(&s, "", 1, 5, 500), 0);
    assert_int_equal(tell_turn(&s, "", 1, 6, 500), 3);
    assert_int_equal(tell_turn(&s, "anthropic /v1/messages", 1, 6, 500), 1);
    story_release(&s);
}

static void
a_body_that_came_late_is_told_by_no_later_call(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    s.calls = 8;
    assert_int_equal(tell_turn(&s, "k", 1, 5, 500), 0);
    s.calls = 6;
    assert_int_equal(tell_turn(&s, "k", 1, 6, 500), 0); /* 7, and not by 9 */
    s.calls = 10;
    assert_int_equal(tell_turn(&s, "k", 1, 7, 500), 7);
    story_release(&s);
}

static void
the_same_once_more_is_told_in_one_op(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    tell_turn(&s, "k", 1, 5, 500);
    size_t before = s.told;
    assert_int_equal(tell_turn(&s, "k", 1, 5, 500), 1);
    assert_true(s.told - before < 130);
    story_release(&s);
}

static void
short_bodies_and_other_bytes_are_told_whole(void **state)
{
    (void)state;
    static uint8_t bytes[5000];
    struct story s;
    story_begin(&s, 8 << 20);
    memset(bytes, 'a', sizeof(bytes));
    for (size_t n = 0; n <= 64; n += 32)
        for (int i = 0; i < 2; i++)
            assert_int_equal(tell(&s, "k", (struct view){ bytes, n }), 0);
    bytes[4999] = 0xff;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tell(&s, "k", (struct view){ bytes, sizeof(bytes) }), 0);
    /* … and are no base, either. */
    assert_int_equal(tell(&s, "k", (struct view){ bytes, sizeof(bytes) - 1 }), 0);
    story_release(&s);
}

static void
a_long_conversation_takes_a_fraction_of_its_bodies(void **state)
{
    (void)state;
    struct story s;
    unsigned whole = 0;
    story_begin(&s, 32 << 20);
    for (unsigned turns = 1; turns <= 100; turns++)
        whole += !tell_turn(&s, "k", 1, turns, 10000);
    assert_true(s.all > 50000000);
    assert_true(s.told < s.all / 100 * 8);
    assert_true(whole >= 2);
    story_release(&s);
}

static void
a_chain_ends_before_it_is_too_long(void **state)
{
    (void)state;
    struct story s;
    unsigned longest = 0;
    story_begin(&s, 8 << 20);
    for (unsigned i = 0; i < CALLS_MANY; i++) { /* tell() looks at each */
        tell_turn(&s, "k", 1, 1 + i, 40);
        longest = s.chain[s.calls] > longest ? s.chain[s.calls] : longest;
    }
    assert_int_equal(longest, CHAIN_MOST);
    story_release(&s);
}

static void
bodies_that_become_others_are_told_whole_now_and_then(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    for (unsigned i = 0; i < 60; i++) { /* half of it is new each time */
        AUTO(buf) body = { 0 };
        uint32_t rng = rng_seed(i);
        put_body(&body, 1, 3, 500);
        size_t n = body.n;
        put_text(&body, &rng, n / 2);
        tell(&s, "k", view_of(&body));
        assert_true(s.chain[s.calls] <= 3);
    }
    story_release(&s);
}

static void
what_was_forgotten_is_no_base(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 8 << 20);
    tell_turn(&s, "k", 1, 5, 500);
    assert_int_equal(tell_turn(&s, "k", 1, 6, 500), 1);
    calls_bases_forget(s.bases);
    assert_int_equal(tell_turn(&s, "k", 1, 7, 500), 0);
    assert_int_equal(tell_turn(&s, "k", 1, 8, 500), 3);
    story_release(&s);
}

static void
the_base_that_was_used_stays(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 32 << 10);
    tell_turn(&s, "k", 1, 8, 500);
    for (uint32_t i = 0; i < 20; i++)
        tell_turn(&s, "k", 100 + i, 2, 500);
    AUTO(buf) branch = { 0 };
    put_body(&branch, 1, 8, 500);
    branch.n /= 2;
    while (!utf8_is_text(branch.p, branch.n))
        branch.n--;
    assert_int_equal(tell(&s, "k", view_of(&branch)), 1);
    for (uint32_t i = 0; i < 20; i++)
        tell_turn(&s, "k", 200 + i, 2, 500);
    assert_int_equal(tell_turn(&s, "k", 1, 9, 500), 1);
    /* One that was not used is gone by now. */
    assert_int_equal(tell_turn(&s, "k", 100, 3, 500), 0);
    story_release(&s);
}

/* Programs tell their models the same first. */
static uint64_t
tell_alike(struct story *s, uint32_t seed, unsigned turns)
{
    AUTO(buf) body = { 0 };
    uint32_t rng = rng_seed(7);
    buf_puts(&body, "{\"system\":\"");
    put_text(&body, &rng, 20000);
    buf_puts(&body, "\",\"rest\":");
    put_body(&body, seed, turns, 700);
    return tell(s, "k", view_of(&body));
}

static void
hundreds_that_begin_alike_are_each_told_by_their_own(void **state)
{
    (void)state;
    enum { TALKS = 130, TURNS = 3 };
    struct story s;
    story_begin(&s, 32 << 20);
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (uint32_t i = 0; i < TALKS; i++) {
            uint64_t base = tell_alike(&s, i, 2 + turn);
            assert_true(!turn || base == s.calls - TALKS);
        }
    story_release(&s);
}

static void
a_conversation_that_grows_is_kept_once(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 100000);
    tell_turn(&s, "k", 1, 10, 1000); /* ten thousand bytes, which stay */
    for (unsigned turns = 2; turns <= 40; turns++)
        tell_turn(&s, "k", 2, turns, 1000); /* 800,000 bytes all in all */
    assert_int_equal(tell_turn(&s, "k", 1, 11, 1000), 1);
    story_release(&s);
}

static void
memory_is_bounded_whatever_comes(void **state)
{
    (void)state;
    enum { MAX = 1 << 20, REST = 64 << 10 };
    size_t before = measure_heap_bytes();
    struct calls_bases *b;
    assert_int_equal(calls_bases_new(&b, MAX), 0);
    for (uint32_t i = 0; i < 400; i++) {
        AUTO(buf) body = { 0 };
        AUTO(buf) ops = { 0 };
        struct calls_line l = calls_line(CALLS_REQUEST_BODY, i + 1, 0);
        put_body(&body, i % 40, 1 + i % 17, 1000 + i * 100 % 50000);
        assert_int_equal(calls_bases_tell(b, &l, text_view("k"), view_of(&body), &ops),
                         0);
        buf_release(&body);
        buf_release(&ops);
        assert_true(measure_heap_bytes() - before < MAX + REST);
    }
    calls_bases_forget(b);
    assert_true(measure_heap_bytes() - before < REST);
    calls_bases_free(b);
}

static void
a_body_too_large_to_be_kept_is_no_base(void **state)
{
    (void)state;
    struct story s;
    story_begin(&s, 20000);
    assert_int_equal(tell_turn(&s, "k", 1, 2, 4000), 0); /* 8 KB */
    assert_int_equal(tell_turn(&s, "k", 1, 3, 4000), 1); /* 12 KB */
    assert_int_equal(tell_turn(&s, "k", 1, 4, 4000), 1);
    assert_int_equal(tell_turn(&s, "k", 1, 2, 4000), 1);
    story_release(&s);
    story_begin(&s, 0);
    assert_int_equal(tell_turn(&s, "k", 1, 2, 4000), 0);
    assert_int_equal(tell_turn(&s, "k", 1, 2, 4000), 0);
    story_release(&s);
}

static void
a_body_that_no_reader_would_make_is_told_whole(void **state)
{
    (void)state;
    struct story s;
    AUTO(buf) body = { 0 };
    story_begin(&s, 256 << 20);
    put_many(&body, "0123456789abcdef", CALLS_BODY_MAX);
    assert_int_equal(body.n, CALLS_BODY_MAX);
    assert_int_equal(tell(&s, "k", view_of(&body)), 0);
    assert_int_equal(tell(&s, "k", view_of(&body)), 1);
    buf_puts(&body, "!");
    assert_int_equal(tell(&s, "k", view_of(&body)), 0);
    story_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_is_made_of_any_other),
        cmocka_unit_test(texts_with_nothing_in_common_are_made_too),
        cmocka_unit_test(no_character_is_cut),
        cmocka_unit_test(equal_texts_are_one_op),
        cmocka_unit_test(a_conversation_that_grows_is_told_by_what_is_new),
        cmocka_unit_test(a_change_in_the_middle_is_told_by_itself),
        cmocka_unit_test(messages_that_were_dropped_or_moved_cost_little),
        cmocka_unit_test(texts_that_repeat_themselves_take_linear_time),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(ops_are_appended),
        cmocka_unit_test(ops_that_are_none_are_refused),
        cmocka_unit_test(ops_that_lie_in_each_other_are_refused),
        cmocka_unit_test(more_than_was_allowed_is_not_made),
        cmocka_unit_test(a_result_that_does_not_fit_is_told),
        cmocka_unit_test(a_body_is_told_by_the_call_before_it),
        cmocka_unit_test(of_several_conversations_each_is_told_by_its_own),
        cmocka_unit_test(bodies_of_another_kind_are_not_looked_at),
        cmocka_unit_test(a_body_that_came_late_is_told_by_no_later_call),
        cmocka_unit_test(the_same_once_more_is_told_in_one_op),
        cmocka_unit_test(short_bodies_and_other_bytes_are_told_whole),
        cmocka_unit_test(a_long_conversation_takes_a_fraction_of_its_bodies),
        cmocka_unit_test(a_chain_ends_before_it_is_too_long),
        cmocka_unit_test(bodies_that_become_others_are_told_whole_now_and_then),
        cmocka_unit_test(what_was_forgotten_is_no_base),
        cmocka_unit_test(the_base_that_was_used_stays),
        cmocka_unit_test(hundreds_that_begin_alike_are_each_told_by_their_own),
        cmocka_unit_test(a_conversation_that_grows_is_kept_once),
        cmocka_unit_test(memory_is_bounded_whatever_comes),
        cmocka_unit_test(a_body_too_large_to_be_kept_is_no_base),
        cmocka_unit_test(a_body_that_no_reader_would_make_is_told_whole),
    };
    return cmocka_run_group_tests_name("delta", tests, NULL, NULL);
}
