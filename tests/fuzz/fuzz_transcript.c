/* SPDX-License-Identifier: MIT */
/*
 * Whatever events come, a transcript is lines of JSON, each of which names the one before
 * as its parent; each call has a result at the end; and the messages have used what the
 * events tell (at least, where a total has said that it was less than their sum), the
 * same whether a reader takes of a message the largest of each value, or as Entire does
 * the line with the most output.
 *
 * The input: lines of session.turns.jsonl.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "turn/line.h"
#include "turn/transcript_priv.h"

enum { MESSAGES_MAX = 4 * TRANSCRIPT_MESSAGES };

struct message {
    char id[200];
    struct turn_usage most, entire;
};

struct seen {
    uint64_t lines, results, last;
    char parent[TURN_UUID_SIZE];
    struct message messages[MESSAGES_MAX];
    size_t count;
    bool has_more;   /* messages, or ids, than are looked at */
    bool has_fallen; /* the truth, of which lines had told already */
};

static void
make_uuid(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE])
{
    struct seen *seen = ctx;
    uint64_t place = number << 1 | number >> 63;
    CHECK(place > seen->last || !seen->last); /* so that no two are the same */
    seen->last = place;
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

static uint64_t
number_behind(struct view line, const char *key)
{
    size_t size = strlen(key);
    const uint8_t *at = memmem(line.p, line.n, key, size);
    return at ? strtoull((const char *)at + size, NULL, 10) : 0;
}

/* What stands behind the message's content. */
static struct turn_usage
usage_in(struct view line)
{
    const char *key = ",\"stop_reason\":";
    for (const uint8_t *at; (at = memmem(line.p, line.n, key, strlen(key)));)
        line = (struct view){ at + 1, line.n - (size_t)(at + 1 - line.p) };
    return (struct turn_usage){ number_behind(line, "\"input_tokens\":"),
                                number_behind(line, "\"output_tokens\":"),
                                number_behind(line, "\"cache_creation_input_tokens\":"),
                                number_behind(line, "\"cache_read_input_tokens\":") };
}

static void
take_usage(struct seen *seen, struct view line)
{
    static const char key[] = ",\"message\":{\"id\":\"",
                      next[] = "\",\"type\":\"message\"";
    const uint8_t *id = memmem(line.p, line.n, key, sizeof(key) - 1);
    if (!id)
        return;
    id += sizeof(key) - 1;
    const uint8_t *end = memmem(id, (size_t)(line.p + line.n - id), next,
                                sizeof(next) - 1);
    CHECK(end);
    struct message *m = seen->messages, one = { .most = usage_in(line) };
    one.entire = one.most;
    snprintf(one.id, sizeof(one.id), "%.*s", (int)(end - id), (const char *)id);
    while (m < seen->messages + seen->count && strcmp(m->id, one.id) != 0)
        m++;
    seen->has_more |= m == seen->messages + MESSAGES_MAX ||
                      (size_t)(end - id) >= sizeof(one.id);
    if (seen->has_more)
        return;
    if (m == seen->messages + seen->count)
        seen->messages[seen->count++] = one;
    if (one.entire.output_tokens > m->entire.output_tokens)
        m->entire = one.entire;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&one.most, i) > *turn_usage_field(&m->most, i))
            *turn_usage_field(&m->most, i) = *turn_usage_field(&one.most, i);
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
    take_usage(seen, line);
    seen->results += count(line, "{\"type\":\"tool_result\",");
    seen->lines++;
    return 0;
}

static struct turn_usage
truth_of(const struct turn_transcript *t)
{
    return t->truth.is_known ? turn_totals_usage(&t->truth) : (struct turn_usage){ 0 };
}

static void
add(struct turn_transcript *t, const struct turn_event *e, uint64_t number,
    uint64_t ts_ns, struct seen *seen)
{
    struct turn_usage before = truth_of(t);
    CHECK(!turn_transcript_add(t, e, number, ts_ns));
    struct turn_usage after = truth_of(t);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        seen->has_fallen |= *turn_usage_field(&after, i) < *turn_usage_field(&before, i);
}

static void
check_usage(const struct turn_transcript *t, struct seen *seen)
{
    struct turn_usage truth = truth_of(t), told = t->told, sum = { 0 };
    for (size_t i = 0; i < seen->count; i++) {
        CHECK(!memcmp(&seen->messages[i].most, &seen->messages[i].entire, sizeof(told)));
        for (size_t k = 0; k < TURN_USAGE_FIELDS; k++)
            transcript_plus(turn_usage_field(&sum, k),
                            *turn_usage_field(&seen->messages[i].most, k));
    }
    CHECK(seen->has_more || !memcmp(&sum, &told, sizeof(sum)));
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        CHECK(*turn_usage_field(&told, i) >= *turn_usage_field(&truth, i));
        CHECK(seen->has_fallen ||
              *turn_usage_field(&told, i) == *turn_usage_field(&truth, i));
    }
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
            add(t, &e, ++number, at.ts_ns, &seen);
        }
        in = (struct view){ in.p + n + (end != NULL), in.n - n - (end != NULL) };
    }
    CHECK(!turn_transcript_end(t, 1, true));
    CHECK(t->open == TRANSCRIPT_NONE && !t->calls.n);
    CHECK(seen.results >= results);
    check_usage(t, &seen);
    turn_transcript_free(t);
    return 0;
}
