/* SPDX-License-Identifier: MIT */
/*
 * Whatever events come, a transcript is lines of JSON, each of which names the one before
 * as its parent; each call has a result at the end; and the messages have used at least
 * what the events tell.
 *
 * The input: lines of session.turns.jsonl.
 */
#include <string.h>

#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "turn/line.h"
#include "turn/transcript_priv.h"

struct seen {
    uint64_t lines, results, last;
    char parent[TURN_UUID_SIZE];
};

static void
make_uuid(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE])
{
    struct seen *seen = ctx;
    CHECK(number > seen->last || !seen->last); /* so that no two are the same */
    seen->last = number;
    turn_transcript_uuid("session", number, ret);
    CHECK(strlen(ret) == TURN_UUID_SIZE - 1);
}

static uint64_t
count(struct view line, const char *what)
{
    uint64_t n = 0;
    size_t size = strlen(what);
    for (const uint8_t *p = line.p, *end = line.p + line.n;
         (p = memmem(p, (size_t)(end - p), what, size)); p += size)
        n++;
    return n;
}

static int
take_line(void *ctx, struct view line)
{
    struct seen *seen = ctx;
    char parent[64];
    CHECK(line.n && line.p[line.n - 1] == '\n');
    CHECK(!memchr(line.p, '\n', line.n - 1));
    CHECK(json_in_is_one(line) && utf8_is_text(line.p, line.n));
    snprintf(parent, sizeof(parent),
             seen->lines ? "\"parentUuid\":\"%s\"" : "\"parentUuid\":null%s",
             seen->parent);
    CHECK(count(line, parent) == 1);
    const uint8_t *uuid = memmem(line.p, line.n, "\"uuid\":\"", 8);
    CHECK(uuid);
    snprintf(seen->parent, sizeof(seen->parent), "%.36s", (const char *)uuid + 8);
    seen->results += count(line, "{\"type\":\"tool_result\",");
    seen->lines++;
    return 0;
}

static void
check_usage(const struct turn_transcript *t)
{
    struct turn_usage truth = turn_totals_usage(&t->truth);
    struct turn_usage told = turn_totals_usage(&t->told);
    if (!t->truth.is_known)
        return;
    CHECK(!truth.input_tokens || told.input_tokens >= truth.input_tokens);
    CHECK(!truth.output_tokens || told.output_tokens >= truth.output_tokens);
    CHECK(!truth.cache_read_tokens || told.cache_read_tokens >= truth.cache_read_tokens);
    CHECK(!truth.cache_creation_tokens ||
          told.cache_creation_tokens >= truth.cache_creation_tokens);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = { 0 };
    AUTO(buf) texts = { 0 };
    struct turn_transcript *t;
    const struct turn_transcript_options opt = {
        .session = "session",
        .version = "1",
        .uuid = make_uuid,
        .line = take_line,
        .ctx = &seen,
    };
    uint64_t number = 0, results = 0;
    CHECK(!turn_transcript_new(&t, &opt));
    for (struct view in = { data, size }; in.n;) {
        const uint8_t *end = memchr(in.p, '\n', in.n);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        struct turn_event e;
        struct turn_stamp at;
        if (!turn_line_read((struct view){ in.p, n }, &texts, &e, &at)) {
            results += e.type == TURN_TOOL_RESULT;
            CHECK(!turn_transcript_add(t, &e, ++number, at.ts_ns));
        }
        in = (struct view){ in.p + n + (end != NULL), in.n - n - (end != NULL) };
    }
    CHECK(!turn_transcript_end(t, 1, true));
    CHECK(t->open == TRANSCRIPT_NONE && !t->calls.n);
    CHECK(seen.results >= results);
    check_usage(t);
    turn_transcript_free(t);
    return 0;
}
