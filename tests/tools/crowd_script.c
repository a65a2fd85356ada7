/* SPDX-License-Identifier: MIT */
#include "tools/crowd_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BOOK = 1 << 16, /* bytes of words */
    PIECE_MIN = 4,
    PIECE_VARIES = 24,
    SYSTEM = 6000,
    PACK_LEVEL = 1,
};

static const char *const words[] = {
    "the",    "agent", "reads", "a",    "file", "and",     "then",  "writes",
    "it",     "back",  "with",  "one",  "line", "more",    "than",  "there",
    "was",    "while", "tests", "run",  "in",   "another", "place", "where",
    "nobody", "looks", "until", "they", "end",  "or",      "fail",  "again",
};

static const char book_end[] = "\0";

/* Words without an end; the same in every process. */
static const char *
book(void)
{
    static char text[BOOK + 1];
    uint32_t x = 12345;
    size_t n = strlen(text);
    while (n < BOOK) {
        x = x * UINT32_C(1103515245) + 12345;
        const char *word = words[(x >> 16) % 32];
        for (; *word && n < BOOK; word++)
            text[n++] = *word;
        if (n < BOOK)
            text[n++] = ' ';
    }
    text[BOOK] = book_end[0];
    return text;
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Of a call: kind tells apart what is drawn from it. */
static uint64_t
draw(const struct crowd *c, const struct crowd_call *call, uint64_t kind)
{
    uint64_t h = mix(mix(mix(mix(c->seed, 0), call->stream), call->talk), call->turn);
    return mix(mix(mix(h, call->attempt), kind), 0);
}

void
crowd_init(struct crowd *c, char **words_of)
{
    *c = (struct crowd){ strtoull(words_of[0], NULL, 10),
                         (uint32_t)strtoul(words_of[1], NULL, 10),
                         (uint32_t)strtoul(words_of[2], NULL, 10),
                         (uint32_t)strtoul(words_of[3], NULL, 10) };
}

uint32_t
crowd_turns(const struct crowd *c, uint32_t stream, uint32_t talk)
{
    const struct crowd_call call = { stream, talk, 0, 0 };
    return 1 + (uint32_t)(draw(c, &call, 1) % c->turns);
}

/* -- plans -- */

static enum crowd_way
way_of(uint32_t attempt, uint32_t percent)
{
    if (attempt > 1)
        return CROWD_STREAM;
    return percent < 6    ? CROWD_REFUSED
           : percent < 9  ? CROWD_ERROR
           : percent < 13 ? CROWD_DROPPED
           : percent < 18 ? CROWD_ABORTED
           : percent < 23 ? CROWD_PLAIN
                          : CROWD_STREAM;
}

static uint32_t
pieces_of(const struct crowd_plan *p)
{
    return p->way == CROWD_REFUSED || p->way == CROWD_PLAIN ? 1 : p->deltas + 6;
}

struct crowd_plan
crowd_plan(const struct crowd *c, const struct crowd_call *call)
{
    uint64_t h = draw(c, call, 2), g = draw(c, call, 3);
    struct crowd_plan p = { .way = way_of(call->attempt, (uint32_t)(h % 100)) };
    p.deltas = c->events / 2 + (uint32_t)((h >> 8) % (c->events + 1));
    p.status = p.way != CROWD_REFUSED ? 200 : h >> 40 & 1 ? 429 : 529;
    p.is_packed = p.way != CROWD_REFUSED && g % 100 < 15;
    p.has_length = p.way == CROWD_PLAIN || p.way == CROWD_REFUSED ||
                   (p.way == CROWD_STREAM && !p.is_packed && (g >> 8) % 100 < 6);
    p.is_reset = g >> 16 & 1;
    p.is_early = (g >> 17) % 100 < 30; /* an abort: while the request is still sent */
    p.is_sent_in_chunks = (g >> 24) % 100 < 8;
    p.is_slow = (g >> 32) % 100 < 4;
    p.closes = (g >> 40) % 100 < 10;
    p.stop = (uint32_t)((h >> 16) % pieces_of(&p));
    return p;
}

/* The one that is answered whole. */
static uint32_t
last_attempt(const struct crowd *c, const struct crowd_call *call)
{
    struct crowd_call one = *call;
    for (one.attempt = 0;; one.attempt++) {
        enum crowd_way way = crowd_plan(c, &one).way;
        if (way == CROWD_STREAM || way == CROWD_PLAIN)
            return one.attempt;
    }
}

/* -- names -- */

void
crowd_name(const struct crowd_call *call, struct buf *out)
{
    buf_printf(out, "%u.%u.%u.%u", call->stream, call->talk, call->turn, call->attempt);
}

bool
crowd_named(const char *name, struct crowd_call *ret)
{
    return sscanf(name, "%" SCNu32 ".%" SCNu32 ".%" SCNu32 ".%" SCNu32, &ret->stream,
                  &ret->talk, &ret->turn, &ret->attempt) == 4;
}

/* -- what is said -- */

static void
say(struct buf *out, uint64_t from, uint32_t n)
{
    buf_append(out, book() + from % (BOOK - 8192), n);
}

static void
put_delta(const struct crowd *c, const struct crowd_call *call, uint64_t h, uint32_t n,
          struct buf *out)
{
    (void)c;
    buf_puts(out, "[");
    crowd_name(call, out);
    buf_printf(out, ".%u] ", n);
    say(out, (h >> 16) + n * UINT64_C(97),
        PIECE_MIN + (uint32_t)((h + n * UINT64_C(31)) % PIECE_VARIES));
    buf_puts(out, " \xc3\xbc. ");
}

/* All of a reply's text. */
static void
put_answer(const struct crowd *c, const struct crowd_call *call, struct buf *out)
{
    uint32_t deltas = crowd_plan(c, call).deltas;
    uint64_t h = draw(c, call, 4);
    for (uint32_t n = 0; n < deltas; n++)
        put_delta(c, call, h, n, out);
}

static void
put_question(const struct crowd *c, struct crowd_call call, struct buf *out)
{
    call.attempt = 0;
    uint64_t h = draw(c, &call, 5);
    buf_printf(out, "<%u.%u.%u> ", call.stream, call.talk, call.turn);
    say(out, h, 1 + (uint32_t)((h >> 32) % c->spoken));
}

/* -- the request -- */

static void
put_turn(const struct crowd *c, const struct crowd_call *call, bool is_last,
         struct buf *out)
{
    buf_puts(out, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
    put_question(c, *call, out);
    buf_puts(out, is_last ? "\",\"cache_control\":{\"type\":\"ephemeral\"}}]}" : "\"}]}");
    if (is_last)
        return;
    buf_puts(out, ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"");
    struct crowd_call said = *call;
    said.attempt = last_attempt(c, call);
    put_answer(c, &said, out);
    buf_puts(out, "\"}]},");
}

void
crowd_ask(const struct crowd *c, const struct crowd_call *call, struct buf *out)
{
    bool is_plain = crowd_plan(c, call).way == CROWD_PLAIN;
    buf_printf(out, "{\"model\":\"m-%u\",\"max_tokens\":4096,\"stream\":%s,\"system\":\"",
               call->stream % 7, is_plain ? "false" : "true");
    say(out, 0, SYSTEM);
    buf_puts(out, "\",\"messages\":[");
    struct crowd_call one = *call;
    for (one.turn = 0; one.turn <= call->turn; one.turn++)
        put_turn(c, &one, one.turn == call->turn, out);
    buf_puts(out, "]}");
}

/* -- the reply -- */

static void
put_usage(const struct crowd_call *call, uint32_t output, struct buf *out)
{
    buf_printf(out,
               "{\"input_tokens\":%u,\"cache_creation_input_tokens\":%u,"
               "\"cache_read_input_tokens\":%u,\"output_tokens\":%u}",
               10 + 3 * call->turn + call->stream, 7 + call->attempt,
               100 * call->talk + call->turn, output);
}

static void
put_id(const struct crowd_call *call, struct buf *out)
{
    buf_printf(out, "\"id\":\"msg_01%04u%06u%04u%04u\"", call->stream, call->talk,
               call->turn, call->attempt);
}

static void
put_whole(const struct crowd_reply *r, struct buf *out)
{
    buf_puts(out, "{");
    put_id(&r->call, out);
    buf_printf(out,
               ",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-%u\","
               "\"content\":[{\"type\":"
               "\"text\",\"text\":\"",
               r->call.stream % 7);
    put_answer(r->crowd, &r->call, out);
    buf_puts(out, "\"}],\"stop_reason\":\"end_turn\",\"usage\":");
    put_usage(&r->call, r->plan.deltas, out);
    buf_puts(out, "}");
}

static void
put_refusal(const struct crowd_reply *r, struct buf *out)
{
    buf_printf(out,
               "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"not now, ",
               r->plan.status == 429 ? "rate_limit_error" : "overloaded_error");
    crowd_name(&r->call, out);
    buf_puts(out, "\"}}");
}

static void
put_start(const struct crowd_reply *r, struct buf *out)
{
    buf_puts(out,
             "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{");
    put_id(&r->call, out);
    buf_printf(
        out,
        ",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-%u\",\"content\":[],"
        "\"stop_reason\":null,\"usage\":",
        r->call.stream % 7);
    put_usage(&r->call, 1, out);
    buf_puts(out, "}}\n\n");
}

static void
put_error(struct buf *out)
{
    buf_puts(out, "event: error\ndata: "
                  "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                  "\"message\":\"amid the reply\"}}\n\n");
}

static void
put_event(const struct crowd_reply *r, uint32_t n, struct buf *out)
{
    uint32_t deltas = r->plan.deltas;
    if (n == 0) {
        put_start(r, out);
    } else if (n == 1) {
        buf_puts(out, "event: content_block_start\ndata: "
                      "{\"type\":\"content_block_start\",\"index\":0,"
                      "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    } else if (n == 2) {
        buf_puts(out, "event: ping\ndata: {\"type\":\"ping\"}\n\n");
    } else if (n < 3 + deltas) {
        buf_puts(out, "event: content_block_delta\ndata: "
                      "{\"type\":\"content_block_delta\",\"index\":0,"
                      "\"delta\":{\"type\":\"text_delta\",\"text\":\"");
        put_delta(r->crowd, &r->call, draw(r->crowd, &r->call, 4), n - 3, out);
        buf_puts(out, "\"}}\n\n");
    } else if (n == 3 + deltas) {
        buf_puts(out, "event: content_block_stop\ndata: "
                      "{\"type\":\"content_block_stop\",\"index\":0}\n\n");
    } else if (n == 4 + deltas) {
        buf_printf(out,
                   "event: message_delta\ndata: "
                   "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                   "\"end_turn\"},\"usage\":{\"output_tokens\":%u}}\n\n",
                   deltas);
    } else {
        buf_puts(out, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    }
}

int
crowd_reply_init(struct crowd_reply *r, const struct crowd *c,
                 const struct crowd_call *call)
{
    *r = (struct crowd_reply){ .crowd = c, .call = *call, .plan = crowd_plan(c, call) };
    r->count = pieces_of(&r->plan);
    if (r->plan.way == CROWD_ERROR)
        r->count = r->plan.stop + 1;
    if (r->plan.way == CROWD_DROPPED)
        r->count = r->plan.stop;
    if (!r->plan.is_packed)
        return 0;
    r->has_packer = deflateInit2(&r->packer, PACK_LEVEL, Z_DEFLATED, 15 + 16, 8,
                                 Z_DEFAULT_STRATEGY) == Z_OK;
    return r->has_packer ? 0 : -1;
}

void
crowd_reply_release(struct crowd_reply *r)
{
    if (r->has_packer)
        deflateEnd(&r->packer);
    buf_release(&r->plain);
    buf_release(&r->piece);
}

static void
pack(struct crowd_reply *r, bool is_last)
{
    z_stream *z = &r->packer;
    buf_clear(&r->piece);
    uint8_t *p = buf_grow(&r->piece, r->plain.n + 1024);
    z->next_in = r->plain.p;
    z->avail_in = (uInt)r->plain.n;
    z->next_out = p;
    z->avail_out = (uInt)r->piece.n;
    deflate(z, is_last ? Z_FINISH : Z_SYNC_FLUSH);
    r->piece.n -= z->avail_out;
}

bool
crowd_reply_next(struct crowd_reply *r, struct view *ret)
{
    if (r->next == r->count)
        return false;
    uint32_t n = r->next++;
    bool is_last = r->next == r->count;
    buf_clear(&r->plain);
    if (r->plan.way == CROWD_PLAIN)
        put_whole(r, &r->plain);
    else if (r->plan.way == CROWD_REFUSED)
        put_refusal(r, &r->plain);
    else if (r->plan.way == CROWD_ERROR && is_last)
        put_error(&r->plain);
    else
        put_event(r, n, &r->plain);
    if (r->has_packer)
        pack(r, is_last && r->plan.way != CROWD_DROPPED);
    const struct buf *b = r->has_packer ? &r->piece : &r->plain;
    *ret = (struct view){ b->p, b->n };
    return true;
}
