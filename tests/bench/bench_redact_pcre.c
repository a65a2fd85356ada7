/* SPDX-License-Identifier: MIT */
#include "bench/bench_redact_pcre.h"

#include <stdio.h>
#include <stdlib.h>

#include "redact/redact_priv.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct bench_pcre {
    pcre2_code **codes;
    size_t n;
    pcre2_match_data *match;
};

/* Words for any of which a value may be given: "api_key token" to (?:api[_-]?key|token).
 */
static void
put_names(struct buf *out, const char *names)
{
    buf_puts(out, "(?i:");
    for (; *names; names++)
        if (*names == '_')
            buf_puts(out, "[_. -]?");
        else
            buf_append(out, *names == ' ' ? "|" : names, 1);
    buf_puts(out, ")[A-Za-z0-9_]{0,20}[\"']?\\s{0,3}(?:=>?|:)\\s{0,3}[\"']?");
}

static pcre2_code *
compile(const struct pack_rule *rule)
{
    AUTO(buf) text = { 0 };
    int error;
    size_t at;
    if (rule->names[0])
        put_names(&text, rule->names);
    else
        buf_puts(&text, "(?<![A-Za-z0-9_])");
    buf_printf(&text, "(?:%s)", rule->pattern[0] ? rule->pattern : "[^\\s\"'<>]{6,}");
    if (text.failed)
        abort();
    pcre2_code *code = pcre2_compile(text.p, text.n, 0, &error, &at, NULL);
    if (code && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) != 0) {
        pcre2_code_free(code);
        code = NULL;
    }
    return code;
}

struct bench_pcre *
bench_pcre_new(const struct redact *r, size_t *ret_taken)
{
    struct bench_pcre *b = calloc(1, sizeof(*b));
    if (!b || !(b->codes = calloc(r->n_rules + 1, sizeof(*b->codes))))
        abort();
    for (size_t i = 0; i < r->n_rules; i++)
        if ((b->codes[b->n] = compile(r->rules[i])))
            b->n++;
    b->match = pcre2_match_data_create(64, NULL);
    if (!b->match)
        abort();
    *ret_taken = b->n;
    return b;
}

void
bench_pcre_free(struct bench_pcre *b)
{
    for (size_t i = 0; i < b->n; i++)
        pcre2_code_free(b->codes[i]);
    pcre2_match_data_free(b->match);
    free(b->codes);
    free(b);
}

static size_t
scan_one(const pcre2_code *code, pcre2_match_data *match, struct view text)
{
    size_t count = 0;
    const size_t *ends = pcre2_get_ovector_pointer(match);
    for (size_t at = 0; at < text.n; count++) {
        if (pcre2_jit_match(code, text.p, text.n, at, 0, match, NULL) < 0)
            break;
        at = ends[1] > at ? ends[1] : at + 1;
    }
    return count;
}

size_t
bench_pcre_scan(struct bench_pcre *b, struct view text)
{
    size_t count = 0;
    for (size_t i = 0; i < b->n; i++)
        count += scan_one(b->codes[i], b->match, text);
    return count;
}
