/* SPDX-License-Identifier: MIT */
/* Whatever lies in the file, it is read to its end, and each call is read the same in
 * whatever order; and a call whose lines are good is read whatever stands before it. */
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "calls/read.h"
#include "fuzz/fuzz.h"
#include "turn/totals.h"

enum { AGAIN_MOST = 16 }; /* calls that are read once more */

static const uint64_t good_call = UINT64_MAX - 1;
static char path[] = "/tmp/ahr-fuzz-XXXXXX";

static void
remove_file(void)
{
    unlink(path);
}

static struct calls *
open_bytes(const struct buf *bytes)
{
    static int fd = -1;
    struct calls *c = NULL;
    bool is_cut = true;
    if (fd < 0)
        CHECK((fd = mkstemp(path)) >= 0 && !atexit(remove_file));
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(file_write_all(fd, bytes->p, bytes->n) == 0);
    CHECK(ftruncate(fd, (off_t)bytes->n) == 0);
    CHECK(calls_open(&c, path, &is_cut, NULL) == 0 && !is_cut);
    return c;
}

static void
check_facts(const struct calls_facts *f)
{
    const struct view texts[] = { f->upstream, f->target, f->method, f->url,
                                  f->error,    f->model,  f->stop };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK(utf8_is_text(texts[i].p, texts[i].n));
    CHECK(f->number && f->last_ns >= f->ts_ns);
    CHECK(f->is_stream == (f->events > 0) && f->status < 1000);
}

static void
check_events(const struct calls_whole *w)
{
    size_t at = 0;
    CHECK(!w->facts->is_stream || w->event_count <= w->facts->events);
    for (size_t i = 0; i < w->event_count; at += w->events[i++].bytes.n) {
        CHECK(w->events[i].bytes.n <= w->reply.n - at);
        CHECK(!w->events[i].bytes.n || w->events[i].bytes.p == w->reply.p + at);
    }
    CHECK(!w->event_count || at == w->reply.n);
}

/* What it has, as a number. */
static uint64_t
take(struct calls *c, size_t i)
{
    struct calls_whole w;
    CHECK(calls_find(c, calls_facts(c, i)->number) == i);
    CHECK(calls_get(c, i, &w, NULL) == 0);
    CHECK(w.facts == calls_facts(c, i));
    CHECK(w.request_header_count <= CALLS_HEADERS_MAX);
    CHECK(w.reply_header_count <= CALLS_HEADERS_MAX);
    check_facts(w.facts);
    check_events(&w);
    return turn_hash(w.request) ^ turn_hash(w.reply) * 3 ^ (uint64_t)w.is_request_whole ^
           (uint64_t)w.is_reply_whole << 1;
}

static void
check_all(struct calls *c)
{
    AUTO(buf) seen = { 0 };
    size_t count = calls_count(c);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = take(c, i);
        CHECK(buf_append(&seen, &hash, sizeof(hash)) == 0);
    }
    const uint64_t *hashes = (const void *)seen.p;
    for (size_t i = count; i > 0 && i + AGAIN_MOST > count; i--)
        CHECK(take(c, i - 1) == hashes[i - 1]);
}

static void
put_good(struct buf *out)
{
    static const uint8_t word[] = "good";
    struct calls_line l = calls_line(CALLS_REQUEST, good_call, 1);
    buf_puts(out, "\n");
    calls_line_put(&l, 0, out);
    l = calls_line(CALLS_REQUEST_BODY, good_call, 2);
    l.bytes = (struct view){ word, 4 };
    l.is_last = true;
    calls_line_put(&l, 0, out);
    l = calls_line(CALLS_REPLY, good_call, 3);
    calls_line_put(&l, 0, out);
    l = calls_line(CALLS_EVENT, good_call, 4);
    l.bytes = (struct view){ word, 4 };
    calls_line_put(&l, 0, out);
    l = calls_line(CALLS_END, good_call, 5);
    calls_line_put(&l, 0, out);
}

static void
check_good(struct calls *c)
{
    struct calls_whole w;
    size_t i = calls_find(c, good_call);
    CHECK(i < calls_count(c) && calls_get(c, i, &w, NULL) == 0);
    CHECK(w.request.n == 4 && !memcmp(w.request.p, "good", 4) && w.is_request_whole);
    CHECK(w.reply.n == 4 && !memcmp(w.reply.p, "good", 4) && w.is_reply_whole);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) bytes = { 0 };
    CHECK(buf_append(&bytes, data, size) == 0);
    struct calls *c = open_bytes(&bytes);
    size_t count = calls_count(c);
    bool is_free = calls_find(c, good_call) == SIZE_MAX;
    check_all(c);
    calls_close(c);
    if (!is_free)
        return 0;
    put_good(&bytes);
    c = open_bytes(&bytes);
    CHECK(calls_count(c) == count + 1);
    check_good(c);
    calls_close(c);
    return 0;
}
