/* SPDX-License-Identifier: MIT */
/*
 * bench_turn.c -- how fast an agent's stream is decoded, and a model API's replies:
 * `name value unit`, one line each.
 *
 * Next to it in the same run, in turns, CPU time, medians: `jq -c .` on the same file,
 * jansson on each line of it, and memchr() for the newlines as a lower bound. The streams
 * are made here: one as agents write it with whole messages, one of the small lines that
 * tell pieces, one in Chinese, one of a few very long lines; "api", the events of
 * streamed messages (SSE), small pieces of texts and of a tool's arguments, and the same
 * as they come 16 bytes at a time; "chat", such chunks of the Chat Completions API;
 * "responses", such events of the Responses API. `--feed NAME BYTES` decodes one of them
 * once, for callgrind.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "base/num.h"
#include "support/measure.h"
#include "support/rng.h"
#include "turn/decoder.h"
#include "turn/reply.h"

enum {
    ROUNDS = 5,
    BYTES = 100 << 20,
    SMALL_BYTES = 20 << 20,
    JQ_ROUNDS = 2,
    PIECE = 64 << 10, /* what a pipe holds */
    SMALL_PIECE = 16,
};

/* -- the streams -- */

struct maker {
    uint32_t rng;
    const char *const *words;
    size_t count;
};

static const char *const code[] = {
    "int",    "return",  "struct view", "if (n)",     "\\n    ", "\\n\\t", "\\\"%s\\\"",
    "buffer", "->p",     "= 0;",        "{\\n",       "}\\n",    "const",  "error",
    "static", "// note", "the length",  "\\u001b[0m", "void",    "…",      "for (;;)",
};
static const char *const chinese[] = {
    "文件", "已经", "修改", "函数", "返回", "，", "。\\n", "错误", "main.c", "测试",
};

static void
put_text(struct buf *out, struct maker *m, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        buf_puts(out, m->words[rng_below(&m->rng, (uint32_t)m->count)]);
        buf_puts(out, " ");
    }
}

static void
put_end(struct buf *out, struct maker *m)
{
    buf_printf(out,
               ",\"parent_tool_use_id\":null,\"session_id\":\"5302b783-768e-471d-b6ed-"
               "91c06dd74f9c\",\"uuid\":\"%08x-a4bf190c-44cd-4d37\"}\n",
               (unsigned)rng_next(&m->rng));
}

#define USAGE                                                               \
    "\"usage\":{\"input_tokens\":1200,\"cache_creation_input_tokens\":300," \
    "\"cache_read_input_tokens\":%u,\"output_tokens\":1}"

static void
put_piece(struct buf *out, struct maker *m)
{
    buf_puts(out,
             "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\","
             "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"");
    put_text(out, m, 1);
    buf_puts(out, "\"}}");
    put_end(out, m);
}

static void
put_message(struct buf *out, struct maker *m, unsigned n, size_t words)
{
    buf_printf(
        out,
        "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%u\",\"type\":\"message\","
        "\"role\":\"assistant\",\"model\":\"claude-opus-4-8\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"",
        n);
    put_text(out, m, words);
    buf_printf(out, "\"}],\"stop_reason\":null," USAGE "}", n);
    put_end(out, m);
}

static void
put_call(struct buf *out, struct maker *m, unsigned n, size_t words)
{
    buf_printf(
        out,
        "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_%u\",\"type\":\"message\","
        "\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
        "\"toolu_%u\",\"name\":\"Edit\",\"input\":{\"file_path\":\"/src/a.c\","
        "\"new_string\":\"",
        n, n);
    put_text(out, m, words);
    buf_printf(out, "\"}}]," USAGE "}", n);
    put_end(out, m);
}

static void
put_result(struct buf *out, struct maker *m, unsigned n, size_t words)
{
    buf_printf(out,
               "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{"
               "\"tool_use_id\":\"toolu_%u\",\"type\":\"tool_result\",\"content\":\"",
               n);
    size_t start = out->n;
    put_text(out, m, words);
    size_t size = out->n - start;
    buf_puts(out, "\",\"is_error\":false}]},\"tool_use_result\":{\"stdout\":\"");
    buf_reserve(out, size);
    buf_append(out, out->p + start, size);
    buf_puts(out, "\",\"stderr\":\"\",\"interrupted\":false}");
    put_end(out, m);
}

static void
make(const char *name, size_t bytes, struct buf *out)
{
    struct maker m = { 1, code, sizeof(code) / sizeof(code[0]) };
    size_t words = !strcmp(name, "long lines") ? 500000 : 200;
    bool is_pieces = !strcmp(name, "pieces");
    if (!strcmp(name, "chinese"))
        m = (struct maker){ 1, chinese, sizeof(chinese) / sizeof(chinese[0]) };
    out->ceiling = 2 * bytes + ((size_t)64 << 20);
    buf_puts(out, "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"5302b783\","
                  "\"model\":\"claude-opus-4-8\",\"cwd\":\"/src\"}\n");
    for (unsigned n = 0; out->n < bytes && !out->failed; n++) {
        for (int i = 0; i < (is_pieces ? 100 : 5); i++)
            put_piece(out, &m);
        put_message(out, &m, n, is_pieces ? 20 : words / 2);
        if (is_pieces)
            continue;
        put_call(out, &m, n, words);
        put_result(out, &m, n, words * (1 + rng_below(&m.rng, 4)));
    }
}

/* -- replies -- */

typedef void (*make_fn)(size_t bytes, struct buf *out);

/* An event as the API writes it. */
static void
put_event(struct buf *out, const char *type)
{
    buf_printf(out, "event: %s\ndata: {\"type\":\"%s\"", type, type);
}

static void
put_delta(struct buf *out, struct maker *m, unsigned index, const char *kind)
{
    put_event(out, "content_block_delta");
    buf_printf(out, ",\"index\":%u,\"delta\":{\"type\":\"%s\":\"", index, kind);
    put_text(out, m, 1);
    buf_puts(out, "\"}");
    buf_puts(out, &"       }\n\n"[rng_below(&m->rng, 8)]); /* as it pads its lines */
}

static void
put_block(struct buf *out, struct maker *m, unsigned index, const char *begin,
          const char *kind)
{
    put_event(out, "content_block_start");
    buf_printf(out, ",\"index\":%u,\"content_block\":%s}\n\n", index, begin);
    for (int i = 0; i < 100; i++)
        put_delta(out, m, index, kind);
    put_event(out, "content_block_stop");
    buf_printf(out, ",\"index\":%u}\n\n", index);
}

static void
make_replies(size_t bytes, struct buf *out)
{
    struct maker m = { 1, code, sizeof(code) / sizeof(code[0]) };
    out->ceiling = 2 * bytes + ((size_t)64 << 20);
    put_event(out, "message_start");
    buf_printf(
        out,
        ",\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\","
        "\"model\":\"claude-opus-4-8\",\"content\":[],\"stop_reason\":null," USAGE
        "}}\n\n",
        7U);
    for (unsigned n = 0; out->n < bytes && !out->failed; n += 2) {
        put_block(out, &m, n, "{\"type\":\"text\",\"text\":\"\"}", "text_delta\",\"text");
        put_block(
            out, &m, n + 1,
            "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Edit\",\"input\":{}}",
            "input_json_delta\",\"partial_json");
    }
    put_event(out, "message_delta");
    buf_puts(out,
             ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":"
             "{\"output_tokens\":4711}}\n\n");
    put_event(out, "message_stop");
    buf_puts(out, "}\n\n");
}

static void
make_chunks(size_t bytes, struct buf *out)
{
    struct maker m = { 1, code, sizeof(code) / sizeof(code[0]) };
    out->ceiling = 2 * bytes + ((size_t)64 << 20);
    for (unsigned n = 0; out->n < bytes && !out->failed; n++) {
        buf_puts(out,
                 "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                 "\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{");
        buf_puts(out, n % 200 ? "\"content\":\"" : "\"reasoning_content\":\"");
        put_text(out, &m, 1);
        buf_puts(out,
                 "\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n");
    }
    buf_puts(out, "data: [DONE]\n\n");
}

static void
make_response(size_t bytes, struct buf *out)
{
    struct maker m = { 1, code, sizeof(code) / sizeof(code[0]) };
    out->ceiling = 2 * bytes + ((size_t)64 << 20);
    put_event(out, "response.created");
    buf_puts(out, ",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":"
                  "\"response\",\"status\":\"in_progress\",\"model\":\"m\"}}\n\n");
    for (unsigned n = 1; out->n < bytes && !out->failed; n++) {
        bool is_end = n % 200 == 0;
        put_event(out,
                  is_end ? "response.output_text.done" : "response.output_text.delta");
        buf_printf(
            out,
            ",\"sequence_number\":%u,\"item_id\":\"msg_68af4030592c81938ec0a5fbab4\","
            "\"output_index\":%u,\"content_index\":0,\"%s\":\"",
            n, (n - 1) / 200, is_end ? "text" : "delta");
        put_text(out, &m, 1);
        buf_puts(out, "\",\"logprobs\":[],\"obfuscation\":\"Zx9\"}\n\n");
    }
    put_event(out, "response.completed");
    buf_puts(out, ",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"usage\":{"
                  "\"input_tokens\":7,\"output_tokens\":4711}}}\n\n");
}

/* -- the contenders -- */

static int
count(void *ctx, const struct turn_event *e)
{
    *(size_t *)ctx += e->text.n + 1;
    return e->type == TURN_WARNING ? -EINVAL : 0; /* what is made here is good */
}

static double
decode_s(struct view bytes)
{
    struct turn_decoder *d;
    size_t sum = 0;
    double before = measure_cpu_s();
    if (turn_decoder_new(&d, TURN_AUTO) < 0)
        exit(1);
    for (size_t at = 0; at < bytes.n; at += PIECE) {
        size_t n = bytes.n - at < PIECE ? bytes.n - at : PIECE;
        if (turn_decoder_feed(d, (struct view){ bytes.p + at, n }, count, &sum) < 0)
            exit(1);
    }
    turn_decoder_end(d, count, &sum);
    turn_decoder_free(d);
    return sum ? measure_cpu_s() - before : 0;
}

static double
reply_s(struct view bytes, size_t piece)
{
    struct turn_reply *r;
    size_t sum = 0;
    double before = measure_cpu_s();
    if (turn_reply_new(&r, TURN_API_AUTO) < 0)
        exit(1);
    for (size_t at = 0; at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;
        if (turn_reply_feed(r, (struct view){ bytes.p + at, n }, count, &sum) < 0)
            exit(1);
    }
    turn_reply_end(r, count, &sum);
    if (!turn_reply_facts(r).is_whole)
        exit(1);
    turn_reply_free(r);
    return sum ? measure_cpu_s() - before : 0;
}

static int
count_data(void *ctx, const struct turn_sse_event *e)
{
    *(size_t *)ctx += e->data.n;
    return 0;
}

/* The events of the stream alone. */
static double
sse_s(struct view bytes, size_t piece)
{
    struct turn_sse s = { 0 };
    size_t sum = 0;
    double before = measure_cpu_s();
    for (size_t at = 0; at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;
        turn_sse_feed(&s, (struct view){ bytes.p + at, n }, count_data, &sum);
    }
    turn_sse_release(&s);
    return sum ? measure_cpu_s() - before : 0;
}

/* Each line, or each event's data, made a tree of jansson's. */
static double
jansson_s(struct view bytes, const char *head)
{
    size_t skip = strlen(head), sum = 0;
    double before = measure_cpu_s();
    for (const uint8_t *p = bytes.p, *end = p + bytes.n; p < end;) {
        const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((newline ? newline : end) - p);
        json_t *one = n > skip && !memcmp(p, head, skip)
                          ? json_loadb((const char *)p + skip, n - skip, 0, NULL)
                          : NULL;
        sum += one != NULL;
        json_decref(one);
        p += n + 1;
    }
    return sum ? measure_cpu_s() - before : 0;
}

static double
newlines_s(struct view bytes)
{
    static volatile size_t lines;
    double before = measure_cpu_s();
    const uint8_t *p = bytes.p, *end = bytes.p + bytes.n;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))))
        p++, lines++;
    return measure_cpu_s() - before;
}

/* < 0: there is no jq. */
static double
jq_s(const char *path)
{
    extern char **environ;
    char *argv[] = { (char[]){ "jq" }, (char[]){ "-c" }, (char[]){ "." }, NULL };
    posix_spawn_file_actions_t files;
    struct rusage use;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, path, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(&pid, "jq", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (r || wait4(pid, &status, 0, &use) < 0 || status)
        return -1;
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double
mb_per_s(struct view bytes, double *seconds, size_t n)
{
    return (double)bytes.n / 1e6 / measure_median(seconds, n);
}

static void
line(const char *stream, const char *what, double value)
{
    char name[96];
    snprintf(name, sizeof(name), "turn %s %s", stream, what);
    measure_line(name, value, "MB/s");
}

/* `jq` is slow: it has the whole of the stream only where that is asked for. */
static void
measure(const char *stream, size_t size, bool with_jq)
{
    AUTO(buf) out = { 0 };
    char path[] = "/tmp/bench_turn.XXXXXX";
    double ours[ROUNDS], bound[ROUNDS], trees[ROUNDS], jq[JQ_ROUNDS];
    size_t jqs = 0;
    make(stream, size, &out);
    struct view bytes = { out.p, out.n };
    int fd = with_jq ? mkstemp(path) : -1;
    if (fd >= 0 && file_write_all(fd, bytes.p, bytes.n) < 0)
        with_jq = false;
    for (size_t i = 0; i < ROUNDS; i++) {
        ours[i] = decode_s(bytes);
        bound[i] = newlines_s(bytes);
        trees[i] = jansson_s(bytes, "");
        double s = fd >= 0 && with_jq && i < JQ_ROUNDS ? jq_s(path) : -1;
        if (s > 0)
            jq[jqs++] = s;
    }
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    line(stream, "decode", mb_per_s(bytes, ours, ROUNDS));
    line(stream, "memchr", mb_per_s(bytes, bound, ROUNDS));
    line(stream, "jansson", mb_per_s(bytes, trees, ROUNDS));
    if (jqs)
        line(stream, "jq -c", mb_per_s(bytes, jq, jqs));
}

static void
measure_replies(const char *name, make_fn make_all, size_t piece)
{
    AUTO(buf) out = { 0 };
    double ours[ROUNDS], events[ROUNDS], bound[ROUNDS], trees[ROUNDS];
    make_all(SMALL_BYTES, &out);
    struct view bytes = { out.p, out.n };
    for (size_t i = 0; i < ROUNDS; i++) {
        ours[i] = reply_s(bytes, piece);
        events[i] = sse_s(bytes, piece);
        bound[i] = newlines_s(bytes);
        trees[i] = jansson_s(bytes, "data: ");
    }
    line(name, "reply", mb_per_s(bytes, ours, ROUNDS));
    line(name, "events alone", mb_per_s(bytes, events, ROUNDS));
    line(name, "memchr", mb_per_s(bytes, bound, ROUNDS));
    line(name, "jansson", mb_per_s(bytes, trees, ROUNDS));
}

static make_fn
maker_of(const char *name)
{
    return !strcmp(name, "api")         ? make_replies
           : !strcmp(name, "chat")      ? make_chunks
           : !strcmp(name, "responses") ? make_response
                                        : NULL;
}

int
main(int argc, char **argv)
{
    uint64_t n;
    if (argc == 4 && !strcmp(argv[1], "--feed")) {
        AUTO(buf) out = { 0 };
        struct view text = { (const uint8_t *)argv[3], strlen(argv[3]) };
        if (num_parse(text, SIZE_MAX / 4, &n) < 0)
            return 2;
        make_fn make_all = maker_of(argv[2]);
        make_all ? make_all(n, &out) : make(argv[2], n, &out);
        struct view bytes = { out.p, out.n };
        (void)(make_all ? reply_s(bytes, PIECE) : decode_s(bytes));
        return 0;
    }
    measure("agent", BYTES, true);
    measure("pieces", SMALL_BYTES, true);
    measure("chinese", SMALL_BYTES, true);
    measure("long lines", SMALL_BYTES, true);
    measure_replies("api", make_replies, PIECE);
    measure_replies("api 16 bytes", make_replies, SMALL_PIECE);
    measure_replies("chat", make_chunks, PIECE);
    measure_replies("responses", make_response, PIECE);
    return 0;
}
