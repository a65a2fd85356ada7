/* SPDX-License-Identifier: MIT */
/* Whatever comes, and however it is cut, the events are the same; what an event tells can
 * be read; good lines survive between bad ones, and one behind the rest of a bad one on
 * the same line. */
#include "fuzz/fuzz.h"
#include "support/turn_kit.h"

enum { GLUED_MAX = 100 }; /* within what may always be looked at again */

static void
check_cuts(enum turn_agent agent, struct view in, struct view cuts)
{
    AUTO(buf) whole = { 0 };
    AUTO(buf) bytes = { 0 };
    AUTO(buf) pieces = { 0 };
    turn_kit_decode(agent, in, in.n + 1, &whole);
    turn_kit_decode(agent, in, 1, &bytes);
    turn_kit_decode_cut(agent, in, cuts, &pieces);
    CHECK(whole.n == bytes.n && (!whole.n || !memcmp(whole.p, bytes.p, whole.n)));
    CHECK(whole.n == pieces.n && (!whole.n || !memcmp(whole.p, pieces.p, whole.n)));
}

static void
put_good(struct buf *out, size_t i)
{
    buf_printf(out,
               "{\"type\":\"assistant\",\"message\":{\"id\":\"good%zu\",\"content\":[{"
               "\"type\":\"text\",\"text\":\"survivor\"}]}}\n",
               i);
}

static void
check_good(struct buf *shown, size_t i)
{
    char want[64];
    snprintf(want, sizeof(want), "text id=good%zu \"survivor\"\n", i);
    CHECK(memmem(shown->p, shown->n, want, strlen(want)));
}

/* A good line behind each line of it. */
static void
check_lines(struct view in)
{
    AUTO(buf) mixed = { 0 };
    AUTO(buf) shown = { 0 };
    size_t count = 0;
    for (struct view rest = in; rest.n; count++) {
        const uint8_t *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        buf_append(&mixed, rest.p, n);
        buf_puts(&mixed, "\n");
        put_good(&mixed, count);
        n += end != NULL;
        rest = (struct view){ rest.p + n, rest.n - n };
    }
    turn_kit_decode(TURN_CLAUDE, (struct view){ mixed.p, mixed.n }, mixed.n + 1, &shown);
    for (size_t i = 0; i < count; i++)
        check_good(&shown, i);
}

static void
check_glued(struct view in)
{
    AUTO(buf) mixed = { 0 };
    AUTO(buf) shown = { 0 };
    const uint8_t *end = in.n ? memchr(in.p, '\n', in.n) : NULL;
    size_t n = end ? (size_t)(end - in.p) : in.n;
    if (n > GLUED_MAX)
        return;
    buf_append(&mixed, in.p, n);
    put_good(&mixed, 0);
    turn_kit_decode(TURN_CLAUDE, (struct view){ mixed.p, mixed.n }, mixed.n, &shown);
    check_good(&shown, 0);
}

/* What rests is handed out, and told again with its line: never more, never less. */
struct rest {
    struct buf pieces;
};

static int
compare_rest(void *ctx, const struct turn_event *e)
{
    struct rest *r = ctx;
    if (e->is_partial) {
        buf_append(&r->pieces, e->text.p, e->text.n);
        return 0;
    }
    CHECK(r->pieces.n <= e->text.n + 1); /* a last CR is no part of the line */
    CHECK(!r->pieces.n || !memcmp(r->pieces.p, e->text.p,
                                  r->pieces.n < e->text.n ? r->pieces.n : e->text.n));
    buf_clear(&r->pieces);
    return 0;
}

static void
check_rest(struct view in)
{
    struct turn_decoder *d;
    struct rest r = { 0 };
    CHECK(turn_decoder_new(&d, TURN_PLAIN) == 0);
    for (size_t i = 0; i < in.n; i++) {
        CHECK(turn_decoder_feed(d, (struct view){ in.p + i, 1 }, compare_rest, &r) >= 0);
        CHECK(turn_decoder_rest(d, compare_rest, &r) >= 0);
    }
    CHECK(turn_decoder_end(d, compare_rest, &r) >= 0);
    CHECK(!r.pieces.n);
    turn_decoder_free(d);
    buf_release(&r.pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_agent agent = fuzz_byte(&in) % (TURN_PLAIN + 1);
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    check_cuts(agent, in, cuts);
    check_lines(in);
    check_glued(in);
    check_rest(in);
    return 0;
}
