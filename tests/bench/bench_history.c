/* SPDX-License-Identifier: MIT */
/*
 * bench_history.c -- how fast an agent's history is read: `name value unit`, one line
 * each.
 *
 * Next to it in the same run, in turns, CPU time, medians: the same lines passed over as
 * JSON, which is the least that anybody must do who believes none of them. The histories
 * are made here. `--feed NAME BYTES` reads one of them once, for callgrind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/num.h"
#include "support/measure.h"
#include "support/rng.h"
#include "turn/history.h"

enum { ROUNDS = 5, BYTES = 50 << 20 };

/* -- the histories -- */

static const char *const words[] = {
    "int",    "return",  "struct view", "if (n)",     "\\n    ", "\\n\\t", "\\\"%s\\\"",
    "buffer", "->p",     "= 0;",        "{\\n",       "}\\n",    "const",  "error",
    "static", "// note", "the length",  "\\u001b[0m", "void",    "…",      "for (;;)",
};

static void
put_text(struct buf *out, uint32_t *rng, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, words[rng_below(rng, sizeof(words) / sizeof(words[0]))]);
        buf_puts(out, " ");
    }
}

static void
put_start(struct buf *out, unsigned n)
{
    buf_puts(out, "{\"parentUuid\":");
    if (n)
        buf_printf(out, "\"%08x-5540-49bc-9607-c37f911fff29\"", n - 1);
    else
        buf_puts(out, "null");
    buf_puts(out, ",\"isSidechain\":false,");
}

static void
put_end(struct buf *out, unsigned n, const char *type)
{
    buf_printf(
        out,
        ",\"type\":\"%s\",\"uuid\":\"%08x-5540-49bc-9607-c37f911fff29\",\"timestamp"
        "\":\"2026-11-15T%02u:%02u:%02u.%03uZ\",\"userType\":\"external\","
        "\"entrypoint\":\"cli\",\"cwd\":\"/home/dev/project\",\"sessionId\":"
        "\"5302b783-768e-471d-b6ed-91c06dd74f9c\",\"version\":\"2.1.197\","
        "\"gitBranch\":\"master\"}\n",
        type, n, n / 360000 % 24, n / 6000 % 60, n / 100 % 60, n % 100 * 10);
}

static void
put_message(struct buf *out, uint32_t *rng, unsigned n, size_t count, bool is_call)
{
    put_start(out, n);
    buf_printf(
        out,
        "\"message\":{\"id\":\"msg_%u\",\"type\":\"message\",\"role\":\"assistant\","
        "\"model\":\"claude-opus-4-8\",\"content\":[{",
        n / 2);
    if (is_call)
        buf_printf(
            out,
            "\"type\":\"tool_use\",\"id\":\"toolu_%u\",\"name\":\"Edit\",\"input\":{"
            "\"file_path\":\"/src/a.c\",\"new_string\":\"",
            n);
    else
        buf_puts(out, "\"type\":\"text\",\"text\":\"");
    put_text(out, rng, count);
    buf_printf(out,
               "\"}%s],\"stop_reason\":\"tool_use\",\"stop_sequence\":null,\"usage\":{"
               "\"input_tokens\":1200,\"cache_creation_input_tokens\":300,"
               "\"cache_read_input_tokens\":%u,\"output_tokens\":40,\"service_tier\":"
               "\"standard\"}},\"requestId\":\"req_%u\"",
               is_call ? "}" : "", n, n);
    put_end(out, n, "assistant");
}

/* A result is told twice: for the model, and as the program had it. */
static void
put_result(struct buf *out, uint32_t *rng, unsigned n, size_t count)
{
    put_start(out, n);
    buf_printf(
        out,
        "\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"toolu_%u\","
        "\"type\":\"tool_result\",\"content\":\"",
        n - 1);
    size_t start = out->n;
    put_text(out, rng, count);
    size_t size = out->n - start;
    buf_puts(out, "\",\"is_error\":false}]},\"toolUseResult\":{\"stdout\":\"");
    buf_reserve(out, size);
    buf_append(out, out->p + start, size);
    buf_puts(out, "\",\"stderr\":\"\",\"interrupted\":false}");
    put_end(out, n, "user");
}

static void
make_claude(size_t bytes, size_t count, struct buf *out)
{
    uint32_t rng = 1;
    for (unsigned n = 0; out->n < bytes && !out->failed; n += 3) {
        put_message(out, &rng, n, count / 4, false);
        put_message(out, &rng, n + 1, count / 2, true);
        put_result(out, &rng, n + 2, count * (1 + rng_below(&rng, 3)));
    }
}

#define LINE(type) "{\"timestamp\":\"2026-11-15T07:40:03.696Z\",\"type\":\"" type "\","

static void
make_codex(size_t bytes, size_t count, struct buf *out)
{
    uint32_t rng = 1;
    for (unsigned n = 0; out->n < bytes && !out->failed; n++) {
        buf_puts(out, LINE("response_item") "\"payload\":{\"type\":\"message\",\"role\":"
                                            "\"assistant\",\"content\":[{\"type\":"
                                            "\"output_text\",\"text\":\"");
        put_text(out, &rng, count / 4);
        buf_puts(out, "\"}]}}\n");
        buf_printf(
            out,
            LINE("response_item") "\"payload\":{\"type\":\"function_call\",\"name\":"
                                  "\"exec_command\",\"call_id\":\"call_%u\","
                                  "\"arguments\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}}\n",
            n);
        buf_printf(
            out,
            LINE("response_item") "\"payload\":{\"type\":\"function_call_output\","
                                  "\"call_id\":\"call_%u\",\"output\":\"Exit code: "
                                  "0\\nOutput:\\n",
            n);
        put_text(out, &rng, count);
        buf_puts(out, "\"}}\n");
    }
}

static void
make(const char *name, size_t bytes, struct buf *out)
{
    out->ceiling = 2 * bytes + ((size_t)64 << 20);
    if (!strcmp(name, "codex"))
        make_codex(bytes, 200, out);
    else
        make_claude(bytes, !strcmp(name, "claude_short") ? 20 : 200, out);
}

/* -- the contenders -- */

static int
count_event(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    *(size_t *)ctx += e->text.n + (ts_ns != 0);
    return 0;
}

static bool
next_line(struct view *rest, struct view *ret)
{
    if (!rest->n)
        return false;
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *ret = (struct view){ rest->p, n };
    n += end != NULL;
    *rest = (struct view){ rest->p + n, rest->n - n };
    return true;
}

static double
read_s(const char *name, struct view bytes)
{
    struct turn_history *h;
    struct view line;
    size_t sum = 0;
    const struct turn_history_options opt = {
        .agent = !strcmp(name, "codex") ? TURN_CODEX : TURN_CLAUDE,
        .event = count_event,
        .ctx = &sum,
    };
    double before = measure_cpu_s();
    if (turn_history_new(&h, &opt) < 0)
        exit(1);
    while (next_line(&bytes, &line))
        if (turn_history_line(h, (struct view){ 0 }, line) < 0)
            exit(1);
    turn_history_free(h);
    return sum ? measure_cpu_s() - before : 0;
}

static double
skip_s(struct view bytes)
{
    struct view line;
    double before = measure_cpu_s();
    while (next_line(&bytes, &line)) {
        struct json_in in = { .p = line.p, .end = line.p + line.n };
        if (!json_in_skip(&in))
            exit(1);
    }
    return measure_cpu_s() - before;
}

static void
measure(const char *name)
{
    AUTO(buf) out = { 0 };
    double ours[ROUNDS], bound[ROUNDS];
    char text[96];
    make(name, BYTES, &out);
    struct view bytes = { out.p, out.n };
    for (size_t i = 0; i < ROUNDS; i++) {
        ours[i] = read_s(name, bytes);
        bound[i] = skip_s(bytes);
    }
    snprintf(text, sizeof(text), "history %s read", name);
    measure_line(text, (double)bytes.n / 1e6 / measure_median(ours, ROUNDS), "MB/s");
    snprintf(text, sizeof(text), "history %s json_in_skip", name);
    measure_line(text, (double)bytes.n / 1e6 / measure_median(bound, ROUNDS), "MB/s");
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
        make(argv[2], n, &out);
        read_s(argv[2], (struct view){ out.p, out.n });
        return 0;
    }
    measure("claude");
    measure("claude_short");
    measure("codex");
    return 0;
}
