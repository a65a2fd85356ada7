/* SPDX-License-Identifier: MIT */
/*
 * note_reply.c -- what was replied to a call, in the record.
 *
 * A compressed body is decoded. A stream is cut into its events, each written when it is
 * whole. Any other body is written as it comes, but for what may be a secret.
 */
#include <strings.h>

#include "wire/record_priv.h"

/* -- the head -- */

static bool
is_called(struct view name, const char *what)
{
    return name.n == strlen(what) && !strncasecmp((const char *)name.p, what, name.n);
}

static struct view
find_header(const struct calls_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (is_called(headers[i].name, name))
            return headers[i].value;
    return (struct view){ 0 };
}

static void
put_head(struct wire_note *n, const struct calls_header *headers, size_t count)
{
    struct calls_line l = calls_line(CALLS_REPLY, n->number, n->reply_ns);
    struct calls_header masked[CALLS_HEADERS_MAX];
    size_t ends[CALLS_HEADERS_MAX];
    AUTO(buf) texts = { 0 };
    count = count < CALLS_HEADERS_MAX ? count : CALLS_HEADERS_MAX;
    for (size_t i = 0; i < count; i++)
        calls_mask_learn(&n->mask, &headers[i]);
    for (size_t i = 0; i < count; i++) {
        calls_mask_header(&n->mask, &headers[i], &texts);
        ends[i] = texts.n;
    }
    for (size_t i = 0; i < count; i++) {
        size_t start = i ? ends[i - 1] : 0;
        masked[i].name = headers[i].name;
        masked[i].value = (struct view){ texts.p + start, ends[i] - start };
    }
    l.anchor_byte = record_late_anchor(n->record);
    l.status = n->status;
    l.headers = masked;
    l.header_count = texts.failed ? 0 : count;
    record_put(n->record, &l);
}

void
wire_note_reply(struct wire_note *n, unsigned status, const struct calls_header *headers,
                size_t count)
{
    static const char stream[] = "text/event-stream";
    if (!n || n->has_reply)
        return;
    struct view type = find_header(headers, count, "content-type");
    struct view encoding = find_header(headers, count, "content-encoding");
    n->has_reply = true;
    n->status = status;
    n->reply_ns = record_now_ns(n->record);
    n->is_stream = type.n >= sizeof(stream) - 1 &&
                   !strncasecmp((const char *)type.p, stream, sizeof(stream) - 1);
    n->piece.ceiling = 16 << 20;
    if (wire_unpack_new(&n->unpack, encoding) < 0)
        n->damage = "its encoding is not known: the body is recorded as it came";
    if (calls_answer_new(&n->answer, n->api, status, n->is_stream) < 0)
        n->answer = NULL;
    if (n->is_stream && calls_veil_new(&n->veil, &n->mask) < 0)
        n->is_stream = false;
    if (status >= 400) /* who is told so may ask again before it has ended */
        note_failed(n);
    put_head(n, headers, count);
    record_write(n->record);
}

void
note_release_reply(struct wire_note *n)
{
    wire_unpack_free(n->unpack);
    calls_split_release(&n->split);
    calls_veil_free(n->veil);
    calls_answer_free(n->answer);
    calls_mask_stream_release(&n->got);
    buf_release(&n->piece);
}

/* -- what it says -- */

/* A turn_event_fn. */
static int
tell_answer(void *ctx, const struct turn_event *e)
{
    struct wire_note *n = ctx;
    (void)calls_talk_heard(n->record->talk, e);
    record_tell(n, e, n->event_ns, n->event_anchor);
    return 0;
}

static void
hear(struct wire_note *n, struct view bytes, uint64_t ts_ns)
{
    if (!n->answer)
        return;
    n->event_ns = ts_ns;
    n->event_anchor = record_late_anchor(n->record);
    if (calls_answer_feed(n->answer, bytes, tell_answer, n) < 0) {
        calls_answer_free(n->answer);
        n->answer = NULL;
    } else if (!n->token_ns && calls_answer_has_begun(n->answer)) {
        n->token_ns = ts_ns;
    }
}

void
note_conclude(struct wire_note *n, struct view error)
{
    struct calls_answer *a = n->answer;
    if (!a && calls_answer_new(&a, n->api, n->status, n->is_stream) < 0)
        return;
    n->answer = a;
    n->event_ns = n->ends_ns;
    n->event_anchor = record_late_anchor(n->record);
    (void)calls_answer_end(a, error, tell_answer, n);
    if (!n->token_ns && calls_answer_has_begun(a))
        n->token_ns = n->is_stream ? n->ends_ns : n->reply_ns;
}

/* -- events -- */

static int
write_event(void *ctx, const struct calls_veiled *v)
{
    struct wire_note *n = ctx;
    struct calls_line l = calls_line(CALLS_EVENT, n->number, v->ts_ns);
    l.anchor_byte = record_late_anchor(n->record);
    l.event = v->event;
    n->events = v->event >= n->events ? v->event + 1 : n->events;
    l.is_held = v->is_held;
    l.bytes = v->bytes;
    record_put(n->record, &l);
    return 0;
}

static int
settle_event(void *ctx, const struct calls_veiled *v)
{
    hear(ctx, v->bytes, v->ts_ns);
    return 0;
}

static const struct calls_veil_to *
to_record(struct wire_note *n, struct calls_veil_to *room)
{
    *room = (struct calls_veil_to){ write_event, settle_event, n };
    return room;
}

/* A calls_split_fn. */
static int
take_event(void *ctx, struct view event, enum calls_split_end end)
{
    struct wire_note *n = ctx;
    struct calls_veil_to to;
    return calls_veil_event(n->veil, event, end, record_now_ns(n->record),
                            to_record(n, &to));
}

/* -- other bodies -- */

/* What there is of it. */
static void
put_pieces(struct wire_note *n, bool is_last)
{
    struct calls_line l = calls_line(CALLS_BODY, n->number, 0);
    l.size_bytes = n->body_bytes;
    do {
        l.piece = n->pieces;
        size_t size = note_put_piece(n, &l, &n->piece, is_last);
        n->pieces += size || is_last;
        hear(n, (struct view){ n->piece.p, size }, record_now_ns(n->record));
        buf_drop(&n->piece, size);
    } while (n->piece.n >= RECORD_PIECE);
}

static int
take_body(struct wire_note *n, struct view bytes)
{
    n->body_bytes += bytes.n;
    int r = calls_mask_feed(&n->mask, &n->got, bytes, &n->piece);
    if (n->piece.n >= RECORD_PIECE) /* much may come of a few packed bytes */
        put_pieces(n, false);
    return r;
}

static void
end_body(struct wire_note *n, bool is_whole)
{
    if (!n->body_bytes)
        return;
    if (!is_whole)
        calls_mask_cut(&n->got);
    (void)calls_mask_flush(&n->mask, &n->got, &n->piece);
    put_pieces(n, true);
}

/* -- as it comes -- */

/* A wire_unpack_fn. */
static int
take_plain(void *ctx, struct view bytes)
{
    struct wire_note *n = ctx;
    return n->is_stream ? calls_split_feed(&n->split, bytes, take_event, n)
                        : take_body(n, bytes);
}

void
wire_note_data(struct wire_note *n, struct view bytes, bool is_last)
{
    if (!n || !n->has_reply || n->has_ended)
        return;
    int r = n->unpack ? wire_unpack_feed(n->unpack, bytes, take_plain, n)
                      : take_plain(n, bytes);
    if (r < 0 && !n->damage)
        n->damage = r == ERR_DAMAGED ? "its compressed body is damaged"
                    : r == ERR_LIMIT ? "its body is too large to be recorded"
                                     : "not all of its body could be recorded";
    if (is_last) {
        wire_note_data_end(n, true);
        return;
    }
    if (!n->is_stream)
        put_pieces(n, false);
    record_write(n->record);
}

void
wire_note_data_end(struct wire_note *n, bool is_whole)
{
    struct calls_veil_to to;
    if (!n || !n->has_reply || n->has_ended)
        return;
    n->has_ended = true;
    if (n->is_stream) {
        (void)calls_split_end(&n->split, take_event, n);
        (void)calls_veil_end(n->veil, to_record(n, &to));
    } else {
        end_body(n, is_whole);
    }
    if (n->unpack && !wire_unpack_is_whole(n->unpack) && !n->damage && n->body_bytes)
        n->damage = "its compressed body breaks off";
    record_write(n->record);
}
