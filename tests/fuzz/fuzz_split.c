/* SPDX-License-Identifier: MIT */
/* However a stream is cut, its events one behind the other are the stream, each but the
 * last ends with its blank line, and what they say is what the stream says. */
#include "calls/split.h"
#include "fuzz/fuzz.h"
#include "turn/sse.h"

struct seen {
    struct view in; /* what has to come */
    size_t at;
    bool has_open; /* one has come that has no end: the last, then */
    struct turn_sse sse;
    struct buf said;
    size_t count; /* of what was said */
};

/* Does a blank line stand at its end, and none before it? Behind a CR a newline is the
 * rest of that. */
static bool
is_one_event(struct view event, bool is_behind_cr)
{
    bool has_line = false, has_ended = false;
    for (size_t at = is_behind_cr && event.p[0] == '\n'; at < event.n;) {
        uint8_t c = event.p[at++];
        CHECK(!has_ended);
        if (c == '\r' && at < event.n && event.p[at] == '\n')
            at++;
        has_ended = (c == '\r' || c == '\n') && !has_line;
        has_line = c != '\r' && c != '\n';
    }
    return has_ended;
}

static int
show(void *ctx, const struct turn_sse_event *e)
{
    struct seen *s = ctx;
    s->count++;
    buf_printf(&s->said, "%zu:", e->name.n);
    buf_append(&s->said, e->name.p, e->name.n);
    buf_append(&s->said, e->data.p, e->data.n);
    return buf_puts(&s->said, "\n");
}

static int
note(void *ctx, struct view event, enum calls_split_end end)
{
    struct seen *s = ctx;
    CHECK(calls_split_how(event, end == CALLS_SPLIT_CUT) == end ||
          (event.n == 1 && event.p[0] == '\n'));
    size_t before = s->count;
    CHECK(event.n && event.n <= s->in.n - s->at && !s->has_open);
    CHECK(!memcmp(event.p, s->in.p + s->at, event.n));
    s->has_open = !is_one_event(event, s->at && s->in.p[s->at - 1] == '\r');
    CHECK(s->has_open == (end == CALLS_SPLIT_CUT));
    s->at += event.n;
    CHECK(turn_sse_feed(&s->sse, event, show, s) == 0);
    CHECK(s->count <= before + 1);
    return 0;
}

static void
feed(struct calls_split *split, struct view bytes, struct seen *s)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    CHECK(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    CHECK(calls_split_feed(split, (struct view){ own, bytes.n }, note, s) == 0);
    free(own);
}

static void
check(struct view in, struct view cuts)
{
    struct calls_split split = { 0 };
    struct seen s = { .in = in }, whole = { 0 };
    for (size_t at = 0, i = 0; at < in.n; i++) {
        size_t n = cuts.n ? (size_t)cuts.p[i % cuts.n] + 1 : in.n;
        n = n < in.n - at ? n : in.n - at;
        feed(&split, (struct view){ in.p + at, n }, &s);
        at += n;
        CHECK(s.at + split.held.n == at);
    }
    CHECK(calls_split_end(&split, note, &s) == 0);
    CHECK(s.at == in.n);
    CHECK(turn_sse_feed(&whole.sse, in, show, &whole) == 0);
    CHECK(s.said.n == whole.said.n &&
          (!s.said.n || !memcmp(s.said.p, whole.said.p, s.said.n)));
    turn_sse_release(&s.sse);
    turn_sse_release(&whole.sse);
    buf_release(&s.said);
    buf_release(&whole.said);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t one[] = { 0 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    check(in, (struct view){ 0 });
    check(in, (struct view){ one, 1 });
    check(in, cuts);
    return 0;
}
