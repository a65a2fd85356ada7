/* SPDX-License-Identifier: MIT */
#include "bench/bench_redact_texts.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "support/agent_stream.h"
#include "support/rng.h"
#include "support/term_corpus.h"

/* -- from files -- */

/* Appends the files that a pattern names, over and over; false: there are none. */
static bool
put_files(struct buf *out, const char *pattern, size_t n)
{
    glob_t found;
    struct buf all = { 0 };
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            (void)file_slurp(found.gl_pathv[i], &all);
    globfree(&found);
    while (all.n && out->n < n && !out->failed)
        buf_append(out, all.p, all.n);
    bool has_some = all.n > 0;
    buf_release(&all);
    return has_some;
}

static bool
put_fixtures(struct buf *out, const char *names, size_t n)
{
    const char *folder = getenv("AHR_FIXTURES");
    if (!folder)
        folder = "../shared/fixtures"; /* seen from the project's root */
    char pattern[4096];
    snprintf(pattern, sizeof(pattern), "%s/agents/%s", folder, names);
    return put_files(out, pattern, n);
}

/* -- made up -- */

static void
put_uuid(struct buf *out, uint32_t *rng)
{
    buf_printf(out, "%08x-%04x-4%03x-9%03x-%08x%04x", rng_next(rng),
               rng_below(rng, 1 << 16), rng_below(rng, 1 << 12), rng_below(rng, 1 << 12),
               rng_next(rng), rng_below(rng, 1 << 16));
}

static void
put_string(struct buf *out, struct view v)
{
    buf_puts(out, "\"");
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] == '"' || v.p[i] == '\\')
            buf_printf(out, "\\%c", v.p[i]);
        else if (v.p[i] == '\n' || v.p[i] == '\r')
            buf_printf(out, "\\%c", v.p[i] == '\n' ? 'n' : 'r');
        else if (v.p[i] < 0x20)
            buf_printf(out, "\\u%04x", v.p[i]);
        else
            buf_append(out, v.p + i, 1);
    buf_puts(out, "\"");
}

/* Events of an agent: a few words of text, or what a tool printed. */
static void
make_ndjson(struct buf *out, size_t n)
{
    if (put_fixtures(out, "*.{ndjson,jsonl}", n))
        return;
    struct buf text = { 0 };
    uint32_t rng = rng_seed(1);
    agent_stream(&text, n, 1);
    for (size_t at = 0, more; out->n < n && at < text.n; at += more) {
        more = rng_below(&rng, 8) ? rng_between(&rng, 4, 40)
                                  : rng_between(&rng, 400, 4000);
        more = more < text.n - at ? more : text.n - at;
        buf_puts(out, "{\"type\":\"stream_event\",\"event\":{\"type\":"
                      "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                      "\"text_delta\",\"text\":");
        put_string(out, (struct view){ text.p + at, more });
        buf_puts(out, "}},\"session_id\":\"");
        put_uuid(out, &rng);
        buf_printf(out,
                   "\",\"usage\":{\"input_tokens\":%u,\"cache_read_input_tokens\":%u},"
                   "\"parent_tool_use_id\":null,\"uuid\":\"",
                   rng_below(&rng, 10000), rng_below(&rng, 100000));
        put_uuid(out, &rng);
        buf_puts(out, "\"}\n");
    }
    buf_release(&text);
}

static void
make_tui(struct buf *out, size_t n)
{
    if (!put_fixtures(out, "*.raw", n))
        term_corpus(out, TERM_CORPUS_AGENT, n, 1);
}

static void
make_build_log(struct buf *out, size_t n)
{
    term_corpus(out, TERM_CORPUS_BUILD_LOG, n, 1);
}

static void
make_json(struct buf *out, size_t n)
{
    uint32_t rng = rng_seed(2);
    buf_puts(out, "[\n");
    while (out->n < n && !out->failed) {
        buf_puts(out, "  {\n    \"id\": \"");
        put_uuid(out, &rng);
        buf_printf(
            out,
            "\",\n    \"name\": \"item %u\",\n    \"price\": %u.%02u,\n"
            "    \"is_active\": %s,\n    \"tags\": [\"red\", \"large\", null],\n"
            "    \"address\": {\"street\": \"%u High Street\", \"zip\": \"%05u\"},\n"
            "    \"sort_key\": \"k%u\",\n    \"url\": "
            "\"https://example.org/items/%u?page=%u&sort=name\"\n  },\n",
            rng_below(&rng, 100000), rng_below(&rng, 1000), rng_below(&rng, 100),
            rng_below(&rng, 2) ? "true" : "false", rng_below(&rng, 300),
            rng_below(&rng, 100000), rng_below(&rng, 1000), rng_below(&rng, 100000),
            rng_below(&rng, 100));
    }
}

static void
make_source(struct buf *out, size_t n)
{
    if (!put_files(out, BENCH_SOURCE_ROOT "/src/*/*.[ch]", n))
        abort();
}

/* A secret a line, by name or by format; made so that none stands in this file. */
static void
make_secrets(struct buf *out, size_t n)
{
    static const char *const leads[] = { "api_key = \"",
                                         "password: \"",
                                         "x = \"gh"
                                         "p_",
                                         "\"token\": \"",
                                         "x = \"AK"
                                         "IA",
                                         "url = \"sk_li"
                                         "ve_",
                                         "client_secret=\"" };
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567abcdefghijklmnopqr"
                                  "stuvwxyz0189";
    uint32_t rng = rng_seed(3);
    for (size_t i = 0; out->n < n && !out->failed; i++) {
        size_t kind = i % (sizeof(leads) / sizeof(leads[0])), len = kind == 4 ? 16 : 36;
        buf_puts(out, leads[kind]);
        for (size_t k = 0; k < len; k++)
            buf_append(out, &letters[rng_below(&rng, kind == 4 ? 32 : 62)], 1);
        buf_puts(out, "\"\n");
    }
}

static void
make_base64(struct buf *out, size_t n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789+/";
    uint32_t rng = rng_seed(4);
    while (out->n < n && !out->failed)
        buf_append(out, &letters[rng_below(&rng, 64)], 1);
}

/* -- the tables -- */

const struct bench_text bench_ordinary[] = {
    { .name = "agent ndjson", .make = make_ndjson, .is_asked = true },
    { .name = "agent tui", .make = make_tui, .is_terminal = true, .is_asked = true },
    { .name = "json", .make = make_json, .is_asked = true },
    { .name = "source", .make = make_source },
    { .name = "build log", .make = make_build_log, .is_terminal = true },
    { 0 },
};

const struct bench_text bench_hostile_texts[] = {
    { .name = "full of secrets", .make = make_secrets },
    { .name = "base64 without a blank", .make = make_base64 },
    { .name = "one letter without a blank", .body = "a" },
    { .name = "sk-sk-", .body = "sk-" },
    { .name = "sk-sk- in quotes", .head = "\"", .body = "sk- " },
    { .name = "password=password=", .body = "password=" },
    { .name = "password: password:", .body = "password: " },
    { .name = "token in quotes", .body = "\"token\":\"" },
    { .name = "token in one quote", .head = "token=\"", .body = "token= '" },
    { .name = "quoted value without end", .head = "password=\"", .body = "aB3 " },
    { .name = "url users", .body = "https://a:b" },
    { .name = "begin lines", .body = "-----BEGIN PRIVATE KEY-----\n" },
    { .name = "key without end",
      .head = "-----BEGIN PRIVATE KEY-----\n",
      .body = "MIIEabcdefgh0123456789ABCDEFGHIJMIIEabcdefgh0123456789ABCDEFGHIJ\n" },
    { .name = "backslashes", .body = "\\" },
    { .name = "spelled sequences", .body = "\\u001b[1ma" },
    { .name = "sequences in a value",
      .is_terminal = true,
      .head = "password=\"",
      .body = "\x1b[1ma" },
    { .name = "sequences alone", .is_terminal = true, .body = "\x1b[1m" },
    { .name = "wraps in a value",
      .is_terminal = true,
      .body = "token=aB3dE5gH7jK9mN2pQ4rS6tU8vW0xaB3dE5gH\r\n" },
    { .name = "one letter a line", .is_terminal = true, .body = "a\r\n" },
    { .name = "titles", .is_terminal = true, .body = "\x1b]0;token=ab\a" },
    { 0 },
};

void
bench_text_make(const struct bench_text *t, struct buf *out, size_t n)
{
    if (t->make) {
        t->make(out, n);
    } else {
        buf_puts(out, t->head ? t->head : "");
        while (out->n < n && !out->failed)
            buf_puts(out, t->body);
    }
    if (out->failed)
        abort();
}

const struct bench_text *
bench_text_find(const char *name)
{
    static const struct bench_text *const tables[] = { bench_ordinary,
                                                       bench_hostile_texts };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct bench_text *t = tables[i]; t->name; t++)
            if (!strcmp(t->name, name))
                return t;
    return NULL;
}
