/* SPDX-License-Identifier: MIT */
/* calls_read_test.c -- files of calls read back: facts, bodies, events, what is told by
 * others; lines that are late, twice or missing. */
#include "calls/read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "calls/bases.h"
#include "gz/pack.h"
#include "gz/read.h"
#include "support/calls_kit.h"
#include "support/kit.h"
#include "support/rng.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- whole files -- */

static void
facts_are_what_the_lines_say(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_check_sample(c);
    assert_int_equal(calls_bad_lines(c), 0);
    static const uint64_t order[] = { 1, 4, 2, 7 };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(calls_facts(c, i)->number, order[i]);
    assert_int_equal(calls_find(c, 3), SIZE_MAX);
    assert_int_equal(calls_find(c, 0), SIZE_MAX);
    assert_int_equal(calls_find(c, UINT64_MAX), SIZE_MAX);
    const struct calls_facts *one = calls_facts(c, 0), *last = calls_facts(c, 3);
    assert_int_equal(one->ts_ns, CALLS_KIT_START + 1000000);
    assert_int_equal(one->anchor_byte, 7);
    assert_int_equal(one->reply_anchor_byte, CALLS_NONE);
    calls_kit_text(one->upstream, "anthropic");
    calls_kit_text(one->target, "https://h.example");
    calls_kit_text(one->method, "POST");
    calls_kit_text(one->url, "/v1/messages?a=b");
    assert_int_equal(one->status, 200);
    assert_true(one->is_stream && one->has_end);
    assert_int_equal(one->events, 3);
    assert_int_equal(one->last_ns, CALLS_KIT_START + 17 * 1000000);
    assert_int_equal(one->end, CALLS_OK);
    calls_kit_text(one->model, "a-model");
    assert_int_equal(one->received, 30);
    assert_int_equal(one->duration_ns, 5);
    assert_int_equal(one->request_size, 20);
    assert_int_equal(one->usage.output_tokens, 3);
    assert_int_equal(one->usage.input_tokens, TURN_UNKNOWN);
    assert_false(last->has_end || last->is_stream);
    assert_int_equal(last->end, CALLS_CUT);
    assert_int_equal(last->status, 0);
    assert_int_equal(last->request_size, CALLS_NONE);
    assert_int_equal(last->sent, CALLS_NONE);
    calls_close(c);
}

static void
a_call_has_its_headers_and_events(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    struct calls_whole w = calls_kit_get(c, 1);
    assert_int_equal(w.request_header_count, 2);
    calls_kit_text(w.request_headers[1].name, "Content-Length");
    calls_kit_text(w.request_headers[1].value, "20");
    assert_int_equal(w.reply_header_count, 1);
    calls_kit_text(w.reply_headers[0].name, "x-a");
    assert_int_equal(w.event_count, 3);
    calls_kit_text(w.events[1].bytes, "data: b\n\n");
    assert_ptr_equal(w.events[1].bytes.p, w.reply.p + 9);
    assert_int_equal(w.events[1].ts_ns, CALLS_KIT_START + 9 * 1000000);
    w = calls_kit_get(c, 7);
    assert_int_equal(w.reply_header_count, 0);
    assert_int_equal(w.event_count, 0);
    calls_close(c);
}

static void
an_archived_file_is_read_the_same(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) plain = { 0 };
    AUTO(buf) packed = { 0 };
    struct gz_sizes sizes;
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_show_all(c, &plain);
    calls_close(c);
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(gz_pack(dir, CALLS_KIT_NAME, NULL, &sizes), 0);
    close(dir);
    assert_int_equal(access(CALLS_KIT_NAME, F_OK), -1);
    assert_true(calls_exist(CALLS_KIT_NAME));
    for (int i = 0; i < 2; i++) { /* wherever the rest may go */
        assert_int_equal(setenv("TMPDIR", i ? "/nowhere/at/all" : ".", 1), 0);
        c = calls_kit_open();
        buf_clear(&packed);
        calls_kit_show_all(c, &packed);
        calls_kit_same(&packed, &plain);
        calls_close(c);
    }
    unsetenv("TMPDIR");
}

static void
of_a_damaged_archive_the_beginning_is_read(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) packed = { 0 };
    struct gz_sizes sizes;
    for (uint64_t i = 1; i < 3000; i++)
        calls_file_request(&f, i, "/v1/messages");
    calls_kit_write(view_of(&f.text));
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(gz_pack(dir, CALLS_KIT_NAME, NULL, &sizes), 0);
    close(dir);
    assert_int_equal(file_slurp(CALLS_KIT_NAME GZ_SUFFIX, &packed), 0);
    struct view half = { packed.p, packed.n / 2 };
    assert_int_equal(file_replace(CALLS_KIT_NAME GZ_SUFFIX, half, false, NULL), 0);
    struct calls *c = NULL;
    bool is_cut = false;
    assert_int_equal(calls_open(&c, CALLS_KIT_NAME, &is_cut, NULL), 0);
    assert_true(is_cut);
    assert_true(calls_count(c) > 100 && calls_count(c) < 2900);
    assert_int_equal(calls_bad_lines(c), 0);
    for (size_t i = 0; i < calls_count(c); i++)
        calls_kit_text(calls_kit_get(c, i + 1).facts->url, "/v1/messages");
    calls_close(c);
    assert_int_equal(unlink(CALLS_KIT_NAME GZ_SUFFIX), 0);
}

static void
what_is_no_file_of_calls_is_told(void **state)
{
    (void)state;
    struct calls *c = NULL;
    struct err err = { 0 };
    assert_int_equal(calls_open(&c, "none", NULL, &err), ERR_MISSING);
    assert_non_null(strstr(err.text, "cannot read 'none'"));
    assert_false(calls_exist("none"));
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_true(calls_open(&c, "folder", NULL, NULL) < 0);
    assert_false(calls_exist("folder"));
    assert_int_equal(rmdir("folder"), 0);
    calls_kit_write((struct view){ 0 });
    assert_false(calls_exist(CALLS_KIT_NAME));
    c = calls_kit_open();
    assert_int_equal(calls_count(c), 0);
    calls_close(c);
    calls_close(NULL);
    calls_kit_write(text_view("x"));
    assert_true(calls_exist(CALLS_KIT_NAME));
}

/* -- events -- */

static void
of_an_event_told_again_the_last_line_counts(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_request(&f, 1, "");
    calls_file_reply(&f, 1, 200);
    calls_file_event(&f, 1, 0, "data: a\n\n");
    struct calls_line held = calls_file_line(&f, CALLS_EVENT, 1);
    held.event = 1;
    held.is_held = true;
    held.anchor_byte = 50;
    held.bytes = text_view("data: \n\n");
    uint64_t when = held.ts_ns;
    calls_file_put(&f, &held);
    calls_file_event(&f, 1, 2, "data: c\n\n");
    calls_file_event(&f, 1, 1, "data: b\n\n");
    calls_file_event(&f, 1, 3, "data: d\n\n");
    calls_file_end(&f, 1, 4);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_says(c, 1, "data: a\n\ndata: b\n\ndata: c\n\ndata: d\n\n", true);
    struct calls_whole w = calls_kit_get(c, 1);
    assert_int_equal(w.event_count, 4);
    assert_int_equal(w.events[1].ts_ns, when);
    assert_int_equal(w.events[1].anchor_byte, 50);
    calls_close(c);
}

static void
an_event_that_is_told_long_after_is_found(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_request(&f, 1, "");
    calls_file_reply(&f, 1, 200);
    for (uint64_t i = 0; i < MANY; i++)
        calls_file_event(&f, 1, i, "a");
    for (uint64_t i = 0; i < MANY; i += 1000)
        calls_file_event(&f, 1, i, "b");
    calls_file_end(&f, 1, MANY);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    struct calls_whole w = calls_kit_get(c, 1);
    assert_true(w.is_reply_whole);
    assert_int_equal(w.reply.n, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(w.reply.p[i], i % 1000 ? 'a' : 'b');
    calls_close(c);
}

static void
events_and_pieces_that_come_late_are_put_in_order(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_end(&f, 1, 4);
    calls_file_event(&f, 1, 3, "d");
    calls_file_event(&f, 1, 1, "b");
    calls_file_piece(&f, CALLS_REQUEST_BODY, 1, 2, text_view("z"), true);
    calls_file_event(&f, 1, 0, "a");
    calls_file_reply(&f, 1, 200);
    calls_file_piece(&f, CALLS_REQUEST_BODY, 1, 0, text_view("x"), false);
    calls_file_event(&f, 1, 2, "c");
    calls_file_piece(&f, CALLS_REQUEST_BODY, 1, 1, text_view("y"), false);
    calls_file_request(&f, 1, "/late");
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_says(c, 1, "abcd", true);
    calls_kit_asks(c, 1, "xyz", true);
    calls_kit_text(calls_facts(c, 0)->url, "/late");
    assert_int_equal(calls_facts(c, 0)->ts_ns, CALLS_KIT_START + f.ts_ns);
    calls_close(c);
}

/* -- lines that are twice, or missing -- */

static void
a_line_that_is_there_twice_counts_once(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) twice = { 0 };
    calls_file_sample(&f);
    for (size_t i = 0, at = 0; i < f.count; at = f.ends[i++])
        for (int k = 0; k < 2; k++)
            buf_append(&twice, f.text.p + at, f.ends[i] - at);
    struct calls *c = calls_kit_open_bytes(view_of(&twice));
    calls_kit_check_sample(c);
    assert_int_equal(calls_bad_lines(c), 0);
    calls_close(c);
    buf_clear(&twice);
    for (int i = 0; i < 2; i++)
        buf_append(&twice, f.text.p, f.text.n);
    c = calls_kit_open_bytes(view_of(&twice));
    calls_kit_check_sample(c);
    calls_close(c);
}

/* The sample without line i. */
static void
put_without(const struct calls_file *f, size_t i, struct buf *out)
{
    size_t from = i ? f->ends[i - 1] : 0;
    buf_clear(out);
    buf_append(out, f->text.p, from);
    buf_append(out, f->text.p + f->ends[i], f->text.n - f->ends[i]);
}

static bool
is_whole(struct calls *c, uint64_t number)
{
    struct calls_whole w = calls_kit_get(c, number);
    return w.is_request_whole && w.is_reply_whole;
}

static void
what_is_missing_is_known_and_costs_only_its_call(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) rest = { 0 };
    calls_file_sample(&f);
    calls_file_reply(&f, 7, 200);
    calls_file_piece(&f, CALLS_BODY, 7, CALLS_NONE, text_view("x"), true);
    struct calls_line end = calls_file_line(&f, CALLS_END, 7);
    end.received = 1;
    calls_file_put(&f, &end);
    for (size_t i = 0; i < f.count; i++) {
        bool is_end = memmem(f.text.p + (i ? f.ends[i - 1] : 0),
                             f.ends[i] - (i ? f.ends[i - 1] : 0), "\"type\":\"end\"", 12);
        put_without(&f, i, &rest);
        struct calls *c = calls_kit_open_bytes(view_of(&rest));
        static const uint64_t numbers[] = { 1, 2, 4, 7 };
        for (size_t k = 0; k < 4; k++) {
            bool is_lost = f.calls[i] == numbers[k];
            if (is_lost && is_end && numbers[k] != 1)
                is_lost = false;                  /* its bodies are there */
            is_lost |= i == 1 && numbers[k] == 2; /* what it is told by */
            if (is_whole(c, numbers[k]) == is_lost)
                fail_msg("line %zu, call %d", i, (int)numbers[k]);
        }
        calls_close(c);
    }
}

static void
a_body_may_be_missing_where_none_was_sent(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        uint64_t sent;
        bool is_whole;
    } heads[] = {
        { "x-a", "b", CALLS_NONE, true },
        { "content-length", "0", CALLS_NONE, true },
        { "content-length", "000", 0, true },
        { "content-length", "10", CALLS_NONE, false },
        { "CONTENT-LENGTH", " 3", 0, false },
        { "Transfer-Encoding", "chunked", CALLS_NONE, false },
        { "x-a", "b", 5, false },
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        AUTO(calls_file) f = { .ts_ns = 0 };
        struct calls_header h = { text_view(heads[i].name), text_view(heads[i].value) };
        struct calls_line l = calls_file_line(&f, CALLS_REQUEST, 1);
        l.headers = &h;
        l.header_count = 1;
        l.method = text_view("POST");
        calls_file_put(&f, &l);
        l = calls_file_line(&f, CALLS_END, 1);
        l.sent = heads[i].sent;
        calls_file_put(&f, &l);
        struct calls *c = calls_kit_open_bytes(view_of(&f.text));
        calls_kit_asks(c, 1, "", heads[i].is_whole);
        calls_close(c);
    }
}

static void
a_reply_may_have_no_body(void **state)
{
    (void)state;
    static const struct {
        const char *method, *length;
        unsigned status;
        uint64_t received;
        bool is_whole;
    } heads[] = {
        { "POST", "0", 200, CALLS_NONE, true },
        { "POST", "5", 200, CALLS_NONE, false },
        { "POST", "5", 200, 0, true },
        { "POST", "0", 200, 5, false },
        { "HEAD", "5", 200, CALLS_NONE, true },
        { "GET", "5", 304, CALLS_NONE, true },
        { "DELETE", "5", 204, CALLS_NONE, true },
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        AUTO(calls_file) f = { .ts_ns = 0 };
        struct calls_header h = { text_view("content-length"),
                                  text_view(heads[i].length) };
        struct calls_line l = calls_file_line(&f, CALLS_REQUEST, 1);
        l.method = text_view(heads[i].method);
        calls_file_put(&f, &l);
        l = calls_file_line(&f, CALLS_REPLY, 1);
        l.status = heads[i].status;
        l.headers = &h;
        l.header_count = 1;
        calls_file_put(&f, &l);
        l = calls_file_line(&f, CALLS_END, 1);
        l.received = heads[i].received;
        calls_file_put(&f, &l);
        struct calls *c = calls_kit_open_bytes(view_of(&f.text));
        calls_kit_says(c, 1, "", heads[i].is_whole);
        calls_close(c);
    }
}

static void
a_stream_is_whole_when_its_end_is_known(void **state)
{
    (void)state;
    static const struct {
        uint64_t events[4];
        size_t count;
        uint64_t told;
        bool has_end, is_whole;
    } streams[] = {
        { { 0, 1, 2 }, 3, 3, true, true },
        { { 0, 1, 2 }, 3, CALLS_NONE, true, true },
        { { 0, 1, 2 }, 3, 4, true, false },
        { { 0, 1, 2 }, 3, 3, false, false },
        { { 1, 2 }, 2, CALLS_NONE, true, false },
        { { 0, 2 }, 2, CALLS_NONE, true, false },
        { { 0, 2 }, 2, 2, true, false },
        { { 0 }, 0, 3, true, false },
    };
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        AUTO(calls_file) f = { .ts_ns = 0 };
        calls_file_request(&f, 1, "");
        calls_file_reply(&f, 1, 200);
        for (size_t k = 0; k < streams[i].count; k++)
            calls_file_event(&f, 1, streams[i].events[k], "a");
        if (streams[i].has_end)
            calls_file_end(&f, 1, streams[i].told);
        struct calls *c = calls_kit_open_bytes(view_of(&f.text));
        assert_int_equal(calls_kit_get(c, 1).is_reply_whole, streams[i].is_whole);
        assert_int_equal(calls_kit_get(c, 1).reply.n, streams[i].count);
        calls_close(c);
    }
}

static void
pieces_without_numbers_come_one_after_the_other(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_request(&f, 1, "/x");
    for (int i = 0; i < 3; i++)
        calls_file_piece(&f, CALLS_REQUEST_BODY, 1, CALLS_NONE, text_view("ab"), i == 2);
    calls_file_piece(&f, CALLS_REQUEST_BODY, 1, CALLS_NONE, text_view("ab"), true);
    calls_file_piece(&f, CALLS_REQUEST_BODY, 1, CALLS_NONE, text_view("ab"), false);
    calls_file_reply(&f, 1, 200);
    calls_file_piece(&f, CALLS_BODY, 1, CALLS_NONE, text_view("cd"), false);
    calls_file_piece(&f, CALLS_BODY, 1, CALLS_NONE, text_view("ef"), false);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_asks(c, 1, "ababab", true);
    calls_kit_says(c, 1, "cdef", false);
    calls_close(c);
}

/* -- bodies told by others -- */

static void
a_body_is_told_by_any_earlier_one(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    for (uint64_t i = 1; i <= 6; i++)
        calls_file_request(&f, i, "/x");
    calls_file_told(&f, 4, 3, "[[0,1],[1,1],\"z\"]");
    calls_file_told(&f, 3, 2, "[[0,2]]");
    calls_file_piece(&f, CALLS_REQUEST_BODY, 2, 0, text_view("ab"), false);
    calls_file_piece(&f, CALLS_REQUEST_BODY, 2, 1, text_view("cd"), true);
    calls_file_told(&f, 5, 2, "[[2,2]]");
    calls_file_told(&f, 6, 4, "[[1,2]]");
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_asks(c, 6, "bz", true);
    calls_kit_asks(c, 4, "abz", true);
    calls_kit_asks(c, 5, "cd", true);
    calls_kit_asks(c, 3, "ab", true);
    calls_kit_asks(c, 1, "", false);
    calls_close(c);
}

static void
bases_that_are_none_leave_no_body(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    for (uint64_t i = 1; i <= 20; i++)
        calls_file_request(&f, i, "/x");
    calls_file_told(&f, 1, 1, "[[0,1]]"); /* itself */
    calls_file_told(&f, 2, 3, "[[0,1]]"); /* forward, and back */
    calls_file_told(&f, 3, 2, "[[0,1]]");
    calls_file_told(&f, 4, 99, "[[0,1]]"); /* not there */
    calls_file_told(&f, 5, UINT64_MAX - 1, "[[0,1]]");
    calls_file_body(&f, 7, "seven");
    calls_file_told(&f, 6, 7, "[[0,1]]");
    calls_file_told(&f, 8, 7, "[[0,6]]"); /* over it */
    calls_file_told(&f, 9, 8, "[[0,1]]"); /* by one that cannot be made */
    calls_file_told(&f, 10, 9, "[\"new\"]");
    calls_file_told(&f, 11, 7, "[[0,5],\"!\"]");
    calls_file_told(&f, 12, 13, "[[0,1]]");
    calls_file_told(&f, 13, 14, "[[0,1]]");
    calls_file_told(&f, 14, 12, "[[0,1]]");
    calls_file_told(&f, 16, 15, "[\"nothing of it\"]"); /* whose body is lost */
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    for (int i = 0; i < 2; i++) {
        for (uint64_t call = 1; call <= 14; call++)
            if (call != 7 && call != 10 && call != 11)
                calls_kit_asks(c, call, "", false);
        calls_kit_asks(c, 7, "seven", true);
        calls_kit_asks(c, 10, "new", false);
        calls_kit_asks(c, 11, "seven!", true);
    }
    calls_close(c);
}

static void
put_conversation(struct buf *out, unsigned turns)
{
    buf_puts(out, "{\"model\":\"a-model\",\"system\":\"Be kind to all that you meet.\","
                  "\"messages\":[");
    for (unsigned i = 0; i < turns; i++)
        buf_printf(out,
                   "%s{\"role\":\"user\",\"content\":\"%u: what is said in this turn, "
                   "and w\xc3\xbcrde be said again %u\"%s}",
                   i ? "," : "", i, i * i,
                   i + 1 == turns ? ",\"cache_control\":{\"type\":\"ephemeral\"}" : "");
    buf_puts(out, "]}");
}

static void
thousands_of_calls_in_chains_come_back(void **state)
{
    (void)state;
    enum { MANY = 2000, CONVERSATION = 150 };
    AUTO(calls_file) f = { .ts_ns = 0 };
    struct calls_bases *bases;
    uint32_t rng = rng_seed(1);
    size_t told = 0;
    assert_int_equal(calls_bases_new(&bases, 8 << 20), 0);
    for (uint64_t i = 1; i <= MANY; i++) {
        AUTO(buf) body = { 0 };
        AUTO(buf) ops = { 0 };
        struct calls_line l = calls_file_line(&f, CALLS_REQUEST_BODY, i);
        calls_file_request(&f, i, "/v1/messages");
        put_conversation(&body, (unsigned)(i % CONVERSATION + 20));
        assert_int_equal(
            calls_bases_tell(bases, &l, text_view("k"), view_of(&body), &ops), 0);
        l.is_last = true;
        told += l.base != 0;
        calls_file_put(&f, &l);
    }
    calls_bases_free(bases);
    assert_true(told > MANY / 100 * 95 && told < MANY);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    assert_int_equal(calls_count(c), MANY);
    for (uint64_t i = 1; i <= MANY + 300; i++) { /* in order, and then in none */
        AUTO(buf) want = { 0 };
        uint64_t number = i <= MANY ? i : 1 + rng_below(&rng, MANY);
        put_conversation(&want, (unsigned)(number % CONVERSATION + 20));
        struct calls_whole w = calls_kit_get(c, number);
        assert_true(w.is_request_whole);
        assert_int_equal(w.request.n, want.n);
        assert_memory_equal(w.request.p, want.p, want.n);
    }
    calls_close(c);
}

/* The recorder was killed when it had the head alone, or a piece of the body. */
static void
what_a_kill_has_cut_off_of_a_request_is_no_damage(void **state)
{
    (void)state;
    static const char head[] =
        "{\"ts_ns\":\"1\",\"t_ms\":0,\"call\":1,\"type\":\"request\",\"method\":\"POST\","
        "\"url\":\"/\",\"headers\":[[\"content-length\",\"9\"]]}\n";
    static const char piece[] = "{\"ts_ns\":\"2\",\"t_ms\":0,\"call\":1,\"type\":"
                                "\"request_body\",\"piece\":0,\"text\":\"words\"}\n";
    static const char reply[] =
        "{\"ts_ns\":\"3\",\"t_ms\":0,\"call\":1,\"type\":\"reply\","
        "\"status\":200,\"headers\":[]}\n";
    static const char end[] = "{\"ts_ns\":\"4\",\"t_ms\":0,\"call\":1,\"type\":\"end\","
                              "\"status\":\"%s\"}\n";
    for (unsigned i = 0; i < 8; i++) {
        AUTO(buf) text = { 0 };
        bool was_cut = i & 1, has_piece = i & 2, has_reply = i & 4;
        buf_printf(&text, "%s%s%s", head, has_piece ? piece : "", has_reply ? reply : "");
        buf_printf(&text, end, was_cut ? "cut" : "ok");
        struct calls *c = calls_kit_open_bytes(view_of(&text));
        struct calls_whole w = calls_kit_get(c, 1);
        assert_false(w.is_request_whole);
        assert_int_equal(calls_is_damaged(&w), !was_cut || has_reply);
        calls_close(c);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(what_a_kill_has_cut_off_of_a_request_is_no_damage),
        KIT_IN_DIR(facts_are_what_the_lines_say),
        KIT_IN_DIR(a_call_has_its_headers_and_events),
        KIT_IN_DIR(an_archived_file_is_read_the_same),
        KIT_IN_DIR(of_a_damaged_archive_the_beginning_is_read),
        KIT_IN_DIR(what_is_no_file_of_calls_is_told),
        KIT_IN_DIR(of_an_event_told_again_the_last_line_counts),
        KIT_IN_DIR(an_event_that_is_told_long_after_is_found),
        KIT_IN_DIR(events_and_pieces_that_come_late_are_put_in_order),
        KIT_IN_DIR(a_line_that_is_there_twice_counts_once),
        KIT_IN_DIR(what_is_missing_is_known_and_costs_only_its_call),
        KIT_IN_DIR(a_body_may_be_missing_where_none_was_sent),
        KIT_IN_DIR(a_reply_may_have_no_body),
        KIT_IN_DIR(a_stream_is_whole_when_its_end_is_known),
        KIT_IN_DIR(pieces_without_numbers_come_one_after_the_other),
        KIT_IN_DIR(a_body_is_told_by_any_earlier_one),
        KIT_IN_DIR(bases_that_are_none_leave_no_body),
        KIT_IN_DIR(thousands_of_calls_in_chains_come_back),
    };
    return cmocka_run_group_tests_name("calls_read", tests, NULL, NULL);
}
