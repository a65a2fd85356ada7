/* SPDX-License-Identifier: MIT */
/* complete_test.c -- what a dead proxy has left, put in order: turns that are missing,
 * from any place on, and what that takes. */
#include "calls/complete.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "calls/bases.h"
#include "support/calls_kit.h"
#include "support/kit.h"

#define TURNS \
    "x."      \
    "turns.jsonl"

/* Conversations that take turns, each asked from its beginning. */
struct talks {
    struct calls_file f;
    struct calls_bases *bases;
    struct buf body[2]; /* as they were asked last, without their ends */
    size_t words;       /* in what the user says */
    uint64_t calls;
};

static void
begin(struct talks *t, size_t words)
{
    *t = (struct talks){ .words = words };
    assert_int_equal(calls_bases_new(&t->bases, 64 << 20), 0);
    for (size_t i = 0; i < 2; i++)
        buf_printf(&t->body[i], "{\"model\":\"m\",\"tools\":[{}],\"messages\":[");
}

static void
release(struct talks *t)
{
    calls_bases_free(t->bases);
    calls_file_release(&t->f);
    for (size_t i = 0; i < 2; i++)
        buf_release(&t->body[i]);
}

static void
put_body(struct talks *t, struct view body)
{
    AUTO(buf) ops = { 0 };
    struct calls_line l = calls_file_line(&t->f, CALLS_REQUEST_BODY, t->calls);
    assert_int_equal(calls_bases_tell(t->bases, &l, text_view("k"), body, &ops), 0);
    l.is_last = true;
    calls_file_put(&t->f, &l);
}

/* One more call of one of them. */
static void
talk(struct talks *t, size_t which)
{
    AUTO(buf) whole = { 0 };
    AUTO(buf) reply = { 0 };
    struct buf *b = &t->body[which];
    uint64_t n = ++t->calls;
    struct calls_line head = calls_file_line(&t->f, CALLS_REQUEST, n);
    head.method = text_view("POST");
    head.url = text_view("/v1/messages");
    head.has_turns = true;
    calls_file_put(&t->f, &head);
    buf_printf(b, "%s{\"role\":\"user\",\"content\":\"<%llu>",
               b->p[b->n - 1] == '[' ? "" : ",", (unsigned long long)n);
    for (size_t i = 0; i < t->words; i++)
        buf_printf(b, " \\\"%zu\\\"\\n", i * (size_t)n);
    buf_puts(b, "\"}");
    buf_append(&whole, b->p, b->n);
    buf_puts(&whole, "]}");
    put_body(t, (struct view){ whole.p, whole.n });
    calls_file_reply(&t->f, n, 200);
    buf_printf(&reply,
               "{\"id\":\"msg_%020llu\",\"type\":\"message\",\"role\":\"assistant\","
               "\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"Re %llu\"}],"
               "\"stop_reason\":\"end_turn\",\"usage\":{\"output_tokens\":2}}",
               (unsigned long long)n, (unsigned long long)n);
    calls_file_piece(&t->f, CALLS_BODY, n, CALLS_NONE, (struct view){ reply.p, reply.n },
                     true);
    calls_file_end(&t->f, n, CALLS_NONE);
    buf_printf(b, ",{\"role\":\"assistant\",\"content\":\"Re %llu\"}",
               (unsigned long long)n);
}

static void
read_turns(struct buf *ret)
{
    int fd = open(TURNS, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_read_all(fd, ret), 0);
    close(fd);
}

static void
count(void *ctx)
{
    (*(size_t *)ctx)++;
}

/* *ret_paces (may be NULL): how often it has said that it works. */
static struct calls_completed
complete_pacing(size_t *ret_paces)
{
    size_t ignored = 0;
    struct calls_completed done;
    const struct calls_complete_options opt = {
        .wire_path = CALLS_KIT_NAME,
        .turns_path = TURNS,
        .session = "s",
        .start_ns = CALLS_KIT_START,
        .pace = count,
        .ctx = ret_paces ? ret_paces : &ignored,
    };
    assert_int_equal(calls_complete(&opt, &done, NULL), 0);
    return done;
}

static struct calls_completed
complete(void)
{
    return complete_pacing(NULL);
}

/* While it reads the file, while it reads the turns, and with each request and reply. */
static void
who_waits_hears_that_it_works(void **state)
{
    enum { CALLS = 10, TURNS_SAID = 1 + CALLS * 4 };
    struct talks t;
    size_t first = 0, second = 0;
    (void)state;
    begin(&t, 8);
    for (size_t i = 0; i < CALLS; i++)
        talk(&t, 0);
    calls_kit_write((struct view){ t.f.text.p, t.f.text.n });
    assert_int_equal(complete_pacing(&first).turns, TURNS_SAID);
    assert_true(first > (size_t)2 * CALLS);
    assert_int_equal(complete_pacing(&second).turns, 0);
    assert_int_equal(second, first + TURNS_SAID);
    release(&t);
}

static void
turns_come_back_from_any_place_on(void **state)
{
    struct talks t;
    AUTO(buf) all = { 0 };
    (void)state;
    begin(&t, 8);
    for (size_t i = 0; i < 40; i++)
        talk(&t, i % 2);
    calls_kit_write((struct view){ t.f.text.p, t.f.text.n });
    assert_int_equal(complete().turns,
                     1 + 40 * 4); /* the model; asked, model, said, used */
    read_turns(&all);
    for (size_t end = 0; end < all.n; end++) {
        AUTO(buf) got = { 0 };
        if (end && all.p[end - 1] != '\n')
            continue;
        assert_int_equal(truncate(TURNS, (off_t)end), 0);
        (void)complete();
        read_turns(&got);
        assert_int_equal(got.n, all.n);
        assert_memory_equal(got.p, all.p, all.n);
    }
    assert_false(complete().is_changed);
    release(&t);
}

static uint64_t
used_ns(void)
{
    struct timespec ts;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int
nothing(void *ctx, const struct turn_event *e)
{
    (void)ctx, (void)e;
    return 0;
}

/* A conversation that grows is gone through once, not once for each call of it. */
static void
what_was_read_is_not_read_again(void **state)
{
    enum { CALLS = 300, WORDS = 300, AS_MANY = CALLS / 4 };
    struct talks t;
    struct calls_talk *one;
    (void)state;
    begin(&t, WORDS);
    for (size_t i = 0; i < CALLS; i++)
        talk(&t, 0);
    calls_kit_write((struct view){ t.f.text.p, t.f.text.n });
    buf_puts(&t.body[0], "]}");
    uint64_t start_ns = used_ns();
    assert_int_equal(calls_talk_new(&one), 0);
    assert_int_equal(calls_talk_request(one, TURN_API_ANTHROPIC,
                                        (struct view){ t.body[0].p, t.body[0].n },
                                        nothing, NULL),
                     0);
    calls_talk_free(one);
    uint64_t once_ns = used_ns() - start_ns;
    assert_int_equal(complete().turns, 1 + CALLS * 4);
    assert_true(used_ns() - start_ns < AS_MANY * once_ns);
    release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(turns_come_back_from_any_place_on),
        KIT_IN_DIR(who_waits_hears_that_it_works),
        KIT_IN_DIR(what_was_read_is_not_read_again),
    };
    return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
