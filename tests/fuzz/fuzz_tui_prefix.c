/* SPDX-License-Identifier: MIT */
/*
 * What goes to the session and what is taken out of it make up what was typed, byte for
 * byte, however it is cut; and only the prefix is taken out. Input: the prefix, how reads
 * are cut, then what is typed.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tui/keys_priv.h"
#include "tui/prefix.h"

/* What may be the prefix at the front: its byte, or a sequence that has its character's
 * number. The size; 0: it is something else. */
static size_t
form_size(uint8_t key, struct view in)
{
    char number[8];
    size_t n = 2;
    if (in.p[0] == key)
        return 1;
    if (in.n < 3 || memcmp(in.p, "\033[", 2) != 0)
        return 0;
    while (n < in.n && in.p[n] >= 0x20 && in.p[n] < 0x40)
        n++;
    if (n == in.n || (in.p[n] != 'u' && in.p[n] != '~'))
        return 0;
    snprintf(number, sizeof(number), "%u", key <= 26 ? key + 96U : key + 64U);
    return memmem(in.p, n, number, strlen(number)) ? n + 1 : 0;
}

/* Of `in` the session got `out`; is_held: the prefix is the last that was taken out. */
static void
explain(uint8_t key, struct view in, struct view out, bool is_held)
{
    size_t dropped = 0;
    while (in.n) {
        size_t n = form_size(key, in);
        bool is_kept = !n || (out.n >= n && !memcmp(in.p, out.p, n));
        if (is_kept) {
            n = 1;
            CHECK(out.n && in.p[0] == out.p[0]);
            out = (struct view){ out.p + 1, out.n - 1 };
        }
        dropped = is_kept ? 0 : n;
        in = (struct view){ in.p + n, in.n - n };
    }
    CHECK(!out.n);
    CHECK(!is_held || dropped);
}

/* The key behind the prefix, which is ours; the prefix again is the session's. */
static void
take_ours(struct tui_prefix *p, struct tui_keys *keys, struct view *in)
{
    AUTO(buf) out = { 0 };
    struct view before = *in;
    struct tui_key key;
    bool is_again = tui_keys_wait_ms(keys) < 0 && tui_prefix_again(p, in, &out);
    CHECK(is_again != p->is_held);
    CHECK(out.n <= before.n - in->n);
    CHECK(!out.n || !memcmp(out.p, in->p - out.n, out.n));
    if (p->is_held && tui_keys_next(keys, in, &key))
        p->is_held = false;
}

static void
take_read(struct tui_prefix *p, struct tui_keys *keys, struct view in)
{
    while (in.n) {
        struct view before = in;
        bool was_held = p->is_held;
        AUTO(buf) out = { 0 };
        tui_prefix_take(p, &in, &out);
        CHECK(!was_held || (in.n == before.n && !out.n));
        CHECK(p->is_held || !in.n);
        CHECK(!p->is_pasting || !p->is_held);
        if (!was_held)
            explain(p->key, (struct view){ before.p, before.n - in.n },
                    (struct view){ out.p, out.n }, p->is_held);
        if (p->is_held)
            take_ours(p, keys, &in);
    }
}

/* In a paste nothing is taken out; nor where there is no prefix. */
static void
check_all_is_sent(struct tui_prefix p, struct view in)
{
    AUTO(buf) out = { 0 };
    struct view rest = in;
    tui_prefix_take(&p, &rest, &out);
    CHECK(!rest.n && out.n == in.n && (!in.n || !memcmp(out.p, in.p, in.n)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct tui_prefix p = { .key = data[0] % 32 == 0x1b ? TUI_PREFIX_DEFAULT
                                                        : data[0] % 32 };
    struct tui_keys keys = { 0 };
    size_t step = data[1] ? data[1] : size;
    struct view in = { data + 2, size - 2 };
    check_all_is_sent((struct tui_prefix){ 0 }, in);
    if (!memmem(in.p, in.n, "\033[201~", 6))
        check_all_is_sent((struct tui_prefix){ .key = p.key, .is_pasting = true }, in);
    for (; in.n; step = step % 7 + 1) {
        size_t n = in.n < step ? in.n : step;
        take_read(&p, &keys, (struct view){ in.p, n });
        in = (struct view){ in.p + n, in.n - n };
    }
    return 0;
}
