/* SPDX-License-Identifier: MIT */
/* Whatever a model's API replies, and however it is cut: the events are the same, nothing
 * is kept over the ceilings, what breaks off has told a prefix of its events and no more
 * usage, and it does not matter how deltas are written. */
#include "fuzz/fuzz.h"
#include "support/turn_kit.h"
#include "turn/reply_priv.h"

static int
show(void *ctx, const struct turn_event *e)
{
    buf_puts(ctx, e->is_final ? "final " : "");
    return turn_kit_write(ctx, e);
}

static struct turn_reply *
begin(enum turn_api api, size_t max)
{
    struct turn_reply *r;
    CHECK(turn_reply_new(&r, api) == 0);
    r->max = max;
    return r;
}

static void
check_ceilings(const struct turn_reply *r)
{
    size_t held = 0;
    CHECK(r->open <= TURN_REPLY_BLOCKS && r->item_count <= TURN_REPLY_ITEMS);
    for (size_t i = 0; i < r->open; i++)
        held += r->blocks[i].said.n + r->blocks[i].proof.n;
    CHECK(held == r->held && held <= r->max);
}

static void
feed(struct turn_reply *r, const uint8_t *p, size_t n, struct buf *out)
{
    uint8_t *own = malloc(n ? n : 1);
    CHECK(own);
    if (n)
        memcpy(own, p, n);
    CHECK(turn_reply_feed(r, (struct view){ own, n }, show, out) == 0);
    free(own);
    check_ceilings(r);
}

static void
feed_all(struct turn_reply *r, struct view in, struct view cuts, struct buf *out)
{
    for (size_t at = 0, i = 0; at < in.n; i++) {
        size_t n = cuts.n ? (size_t)cuts.p[i % cuts.n] + 1 : in.n;
        n = n < in.n - at ? n : in.n - at;
        feed(r, in.p + at, n, out);
        at += n;
    }
}

static void
end(struct turn_reply *r, struct buf *out)
{
    CHECK(turn_reply_end(r, show, out) == 0);
    CHECK(!r->has_said || r->has_counted);
    struct view used = turn_reply_facts(r).raw_usage;
    CHECK(!used.n || (used.n <= TURN_REPLY_USAGE && turn_fields(used, NULL, 0)));
    CHECK(!r->open && !r->held);
    for (size_t i = 0; i < TURN_REPLY_BLOCKS; i++)
        CHECK(!r->blocks[i].said.n && !r->blocks[i].id.n && !r->blocks[i].proof.n);
    turn_reply_free(r);
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

static void
check_cuts(enum turn_api api, struct view in, struct view cuts, size_t max)
{
    static const uint8_t one[] = { 0 };
    AUTO(buf) whole = { 0 };
    const struct view ways[] = { { one, 1 }, cuts };
    struct turn_reply *r = begin(api, max);
    feed_all(r, in, (struct view){ 0 }, &whole);
    end(r, &whole);
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) pieces = { 0 };
        r = begin(api, max);
        feed_all(r, in, ways[i], &pieces);
        end(r, &pieces);
        CHECK(is_same(&whole, &pieces));
    }
}

static void
check_broken(enum turn_api api, struct view in, size_t at)
{
    AUTO(buf) all = { 0 };
    AUTO(buf) part = { 0 };
    struct turn_reply *whole = begin(api, TURN_REPLY_MAX);
    struct turn_reply *broken = begin(api, TURN_REPLY_MAX);
    feed(whole, in.p, in.n, &all);
    feed(broken, in.p, at, &part);
    CHECK(part.n <= all.n && (!part.n || !memcmp(part.p, all.p, part.n)));
    struct turn_usage a = turn_reply_facts(broken).usage;
    struct turn_usage b = turn_reply_facts(whole).usage;
    bool is_same_message = broken->before == whole->before;
    for (size_t i = 0; is_same_message && i < TURN_USAGE_FIELDS; i++) {
        uint64_t least = *turn_usage_field(&a, i), most = *turn_usage_field(&b, i);
        CHECK(least == TURN_UNKNOWN || (most != TURN_UNKNOWN && least <= most));
    }
    end(broken, &part);
    end(whole, &all);
}

/* With a blank in it a delta is read in another way. */
static void
check_ways(struct view in)
{
    static const char head[] = "{\"type\":\"content_block_delta\"";
    AUTO(buf) other = { 0 };
    AUTO(buf) one = { 0 };
    AUTO(buf) two = { 0 };
    for (size_t i = 0; i < in.n; i++) {
        bool is_head = in.n - i >= sizeof(head) - 1 &&
                       !memcmp(in.p + i, head, sizeof(head) - 1);
        buf_append(&other, in.p + i, 1);
        buf_puts(&other, is_head ? " " : "");
    }
    struct turn_reply *r = begin(TURN_API_ANTHROPIC, TURN_REPLY_MAX);
    feed_all(r, in, (struct view){ 0 }, &one);
    end(r, &one);
    r = begin(TURN_API_ANTHROPIC, TURN_REPLY_MAX);
    feed_all(r, (struct view){ other.p, other.n }, (struct view){ 0 }, &two);
    end(r, &two);
    /* A warning, or a result, shows the blank itself. */
    if (!one.n || (!memmem(one.p, one.n, head, sizeof(head) - 1) &&
                   !memmem(one.p, one.n, "malformed JSON", 14)))
        CHECK(is_same(&one, &two));
}

static int
show_whole(void *ctx, const struct turn_event *e)
{
    CHECK(!e->is_partial);
    return show(ctx, e);
}

static void
check_body(enum turn_api api, struct view in)
{
    AUTO(buf) out = { 0 };
    struct turn_reply *r = begin(api, TURN_REPLY_MAX);
    CHECK(turn_reply_body(r, in, show_whole, &out) == 0);
    check_ceilings(r);
    end(r, &out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_api api = fuzz_byte(&in) % (TURN_API_OPENAI_RESPONSES + 1);
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    check_cuts(api, in, cuts, TURN_REPLY_MAX);
    check_cuts(api, in, cuts, 256);
    check_broken(api, in, cuts.n ? in.n * cuts.p[0] / 256 : in.n / 2);
    check_ways(in);
    check_body(api, in);
    return 0;
}
