/* SPDX-License-Identifier: MIT */
#include "support/calls_kit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "support/kit.h"

/* -- files -- */

void
calls_file_release(struct calls_file *f)
{
    buf_release(&f->text);
}

struct calls_line
calls_file_line(struct calls_file *f, enum calls_type type, uint64_t call)
{
    f->ts_ns += 1000000;
    return calls_line(type, call, CALLS_KIT_START + f->ts_ns);
}

void
calls_file_put(struct calls_file *f, const struct calls_line *l)
{
    f->text.ceiling = 512 << 20;
    calls_line_put(l, CALLS_KIT_START, &f->text);
    assert_int_equal(f->text.failed, 0);
    if (f->count < CALLS_KIT_LINES) {
        f->ends[f->count] = f->text.n;
        f->calls[f->count] = l->call;
    }
    f->count++;
}

void
calls_file_request(struct calls_file *f, uint64_t call, const char *url)
{
    static const struct calls_header headers[] = {
        { { (const uint8_t *)"Host", 4 }, { (const uint8_t *)"h", 1 } },
        { { (const uint8_t *)"Content-Length", 14 }, { (const uint8_t *)"20", 2 } },
    };
    struct calls_line l = calls_file_line(f, CALLS_REQUEST, call);
    l.upstream = text_view("anthropic");
    l.target = text_view("https://h.example");
    l.method = text_view(*url ? "POST" : "GET");
    l.url = text_view(url);
    l.headers = headers;
    l.header_count = *url ? 2 : 1;
    l.anchor_byte = 7 * call;
    calls_file_put(f, &l);
}

void
calls_file_piece(struct calls_file *f, enum calls_type type, uint64_t call,
                 uint64_t number, struct view bytes, bool is_last)
{
    struct calls_line l = calls_file_line(f, type, call);
    l.piece = number;
    l.bytes = bytes;
    l.is_last = is_last;
    l.size_bytes = is_last ? 20 : 0;
    calls_file_put(f, &l);
}

void
calls_file_body(struct calls_file *f, uint64_t call, const char *text)
{
    calls_file_piece(f, CALLS_REQUEST_BODY, call, CALLS_NONE, text_view(text), true);
}

void
calls_file_told(struct calls_file *f, uint64_t call, uint64_t base, const char *ops)
{
    struct calls_line l = calls_file_line(f, CALLS_REQUEST_BODY, call);
    l.base = base;
    l.ops = text_view(ops);
    l.is_last = true;
    l.size_bytes = 20;
    calls_file_put(f, &l);
}

void
calls_file_reply(struct calls_file *f, uint64_t call, unsigned status)
{
    static const struct calls_header header = { { (const uint8_t *)"x-a", 3 },
                                                { (const uint8_t *)"b", 1 } };
    struct calls_line l = calls_file_line(f, CALLS_REPLY, call);
    l.status = status;
    l.headers = &header;
    l.header_count = 1;
    calls_file_put(f, &l);
}

void
calls_file_event(struct calls_file *f, uint64_t call, uint64_t number, const char *text)
{
    struct calls_line l = calls_file_line(f, CALLS_EVENT, call);
    l.event = number;
    l.bytes = text_view(text);
    calls_file_put(f, &l);
}

void
calls_file_end(struct calls_file *f, uint64_t call, uint64_t events)
{
    struct calls_line l = calls_file_line(f, CALLS_END, call);
    l.model = text_view("a-model");
    l.sent = 20;
    l.received = 30;
    l.events = events;
    l.duration_ns = 5;
    l.usage.output_tokens = 3;
    calls_file_put(f, &l);
}

/* In place: a disk takes its time with files that replace others. */
void
calls_kit_write(struct view bytes)
{
    int fd = open(CALLS_KIT_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, bytes.p, bytes.n), 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes.n), 0);
    close(fd);
}

struct calls *
calls_kit_open(void)
{
    struct calls *c = NULL;
    bool is_cut = true;
    assert_int_equal(calls_open(&c, CALLS_KIT_NAME, &is_cut, NULL), 0);
    assert_false(is_cut);
    return c;
}

struct calls *
calls_kit_open_bytes(struct view bytes)
{
    calls_kit_write(bytes);
    return calls_kit_open();
}

/* -- what is read -- */

struct calls_whole
calls_kit_get(struct calls *c, uint64_t number)
{
    struct calls_whole w;
    size_t i = calls_find(c, number);
    assert_true(i < calls_count(c));
    assert_int_equal(calls_get(c, i, &w, NULL), 0);
    assert_int_equal(w.facts->number, number);
    return w;
}

void
calls_kit_text(struct view got, const char *want)
{
    assert_int_equal(got.n, strlen(want));
    assert_true(!got.n || !memcmp(got.p, want, got.n));
}

void
calls_kit_asks(struct calls *c, uint64_t number, const char *body, bool is_whole)
{
    struct calls_whole w = calls_kit_get(c, number);
    calls_kit_text(w.request, body);
    assert_int_equal(w.is_request_whole, is_whole);
}

void
calls_kit_says(struct calls *c, uint64_t number, const char *reply, bool is_whole)
{
    struct calls_whole w = calls_kit_get(c, number);
    calls_kit_text(w.reply, reply);
    assert_int_equal(w.is_reply_whole, is_whole);
}

static void
show_headers(const struct calls_header *h, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%.*s: %.*s\n", (int)h[i].name.n, (const char *)h[i].name.p,
                   (int)h[i].value.n, (const char *)h[i].value.p);
}

void
calls_kit_show(struct calls *c, uint64_t number, struct buf *out)
{
    struct calls_whole w = calls_kit_get(c, number);
    const struct calls_facts *f = w.facts;
    const uint64_t numbers[] = { f->number,
                                 f->ts_ns,
                                 f->anchor_byte,
                                 f->reply_anchor_byte,
                                 f->end_anchor_byte,
                                 f->retry_of,
                                 f->http_minor,
                                 f->status,
                                 f->is_stream,
                                 f->events,
                                 f->last_ns,
                                 f->has_end,
                                 f->end,
                                 f->sent,
                                 f->received,
                                 f->first_byte_ns,
                                 f->first_token_ns,
                                 f->duration_ns,
                                 f->request_size,
                                 f->usage.output_tokens,
                                 w.is_request_whole,
                                 w.is_reply_whole };
    const struct view texts[] = { f->upstream, f->target, f->method, f->url, f->error,
                                  f->model,    f->stop,   w.request, w.reply };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        buf_printf(out, "%llu ", (unsigned long long)numbers[i]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_puts(out, "<");
        buf_append(out, texts[i].p, texts[i].n);
        buf_puts(out, ">\n");
    }
    show_headers(w.request_headers, w.request_header_count, out);
    show_headers(w.reply_headers, w.reply_header_count, out);
    for (size_t i = 0; i < w.event_count; i++) {
        buf_printf(out, "%llu %llu ", (unsigned long long)w.events[i].ts_ns,
                   (unsigned long long)w.events[i].anchor_byte);
        buf_append(out, w.events[i].bytes.p, w.events[i].bytes.n);
    }
}

void
calls_kit_show_all(struct calls *c, struct buf *out)
{
    for (size_t i = 0; i < calls_count(c); i++) {
        assert_int_equal(calls_find(c, calls_facts(c, i)->number), i);
        calls_kit_show(c, calls_facts(c, i)->number, out);
    }
}

void
calls_kit_same(const struct buf *got, const struct buf *want)
{
    assert_int_equal(got->n, want->n);
    assert_true(!got->n || !memcmp(got->p, want->p, got->n));
}

void
calls_file_sample(struct calls_file *f)
{
    calls_file_request(f, 1, "/v1/messages?a=b");
    calls_file_body(f, 1, "the first body, which is long enough \xc3\xa9\n");
    calls_file_request(f, 4, "/v1/files");
    calls_file_piece(f, CALLS_REQUEST_BODY, 4, 0, text_view("one "), false);
    calls_file_reply(f, 1, 200);
    calls_file_event(f, 1, 0, "data: a\n\n");
    calls_file_request(f, 2, "/v1/messages");
    calls_file_piece(f, CALLS_REQUEST_BODY, 4, 1,
                     (struct view){ (const uint8_t *)"\xff\0", 2 }, false);
    calls_file_event(f, 1, 1, "data: b\n\n");
    calls_file_told(f, 2, 1, "[[0,15],\" and more\"]");
    calls_file_reply(f, 2, 404);
    calls_file_piece(f, CALLS_BODY, 2, 0, text_view("not "), false);
    calls_file_request(f, 7, "");
    calls_file_piece(f, CALLS_REQUEST_BODY, 4, 2, text_view(" three"), true);
    calls_file_event(f, 1, 2, "data: c\n\n");
    calls_file_piece(f, CALLS_BODY, 2, 1, text_view("found"), true);
    calls_file_end(f, 1, 3);
    calls_file_end(f, 2, CALLS_NONE);
    calls_file_reply(f, 4, 200);
    calls_file_piece(f, CALLS_BODY, 4, CALLS_NONE, text_view("stored"), true);
    calls_file_end(f, 4, CALLS_NONE);
}

void
calls_kit_check_sample(struct calls *c)
{
    assert_int_equal(calls_count(c), 4);
    calls_kit_asks(c, 1, "the first body, which is long enough \xc3\xa9\n", true);
    calls_kit_says(c, 1, "data: a\n\ndata: b\n\ndata: c\n\n", true);
    calls_kit_asks(c, 2, "the first body, and more", true);
    calls_kit_says(c, 2, "not found", true);
    struct calls_whole w = calls_kit_get(c, 4);
    assert_int_equal(w.request.n, 12);
    assert_memory_equal(w.request.p, "one \xff\0 three", 12);
    assert_true(w.is_request_whole);
    calls_kit_says(c, 4, "stored", true);
    calls_kit_asks(c, 7, "", true);
    calls_kit_says(c, 7, "", false);
}
