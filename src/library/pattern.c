/* SPDX-License-Identifier: MIT */
/*
 * pattern.c -- a text or a regex in lines; the only includer of pcre2.h.
 *
 * What every match must hold is looked for in the whole text first, which is fast; a
 * regex then sees only the lines that hold it, and one line at a time. PCRE2 is told that
 * lines may be no UTF-8: nothing that lies in a library is believed.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "library/pattern_priv.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "library/literal_priv.h"
#include "library/search.h"

enum {
    MATCH_LIMIT = 1000000, /* steps in one line */
    HEAP_LIMIT_KIB = 32 << 10,
    JIT_STACK_MIN = 32 << 10,
    JIT_STACK_MAX = 4 << 20,
    TEXT_MAX = 64 << 20,
};

struct pattern {
    struct buf needle; /* folded where is_folded; may be empty with a regex */
    bool is_folded;    /* case does not count */
    bool is_hopeless;

    pcre2_code *code; /* NULL: the needle is all */
    pcre2_match_data *match;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    bool is_ascii; /* letters are ASCII alone: see hide_strangers() */
    uint64_t hard_lines;

    struct view text;         /* borrowed */
    struct view hay;          /* the same for the needle, … */
    struct view lines;        /* … and for the regex */
    struct buf folded, shown; /* theirs */
    size_t at;
};

/* -- making one -- */

/* \S is no capital, in \\S the S is one. */
static bool
has_capital(struct view query, bool is_regex)
{
    for (size_t i = 0; i < query.n; i++) {
        if (is_regex && query.p[i] == '\\')
            i++;
        else if (ascii_fold(query.p[i]) != query.p[i])
            return true;
    }
    return false;
}

static bool
is_ascii(struct view query)
{
    for (size_t i = 0; i < query.n; i++)
        if (query.p[i] >= 0x80)
            return false;
    return true;
}

/* Characters are what people count. */
static int
blame(struct view query, int code, size_t at, struct err *err)
{
    PCRE2_UCHAR why[200] = "";
    size_t position = 1;
    pcre2_get_error_message(code, why, sizeof(why));
    for (size_t i = 0; i < at && i < query.n; i++)
        position += (query.p[i] & 0xc0) != 0x80;
    if (at >= query.n)
        return err_set(err, ERR_USAGE, "the regex is not valid, at its end: %s",
                       (const char *)why);
    return err_set(err, ERR_USAGE, "the regex is not valid, at character %zu: %s",
                   position, (const char *)why);
}

static int
compile(struct pattern *p, struct view query, struct err *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                       PCRE2_NEVER_BACKSLASH_C | (p->is_folded ? PCRE2_CASELESS : 0);
    int code;
    size_t at;
    p->code = pcre2_compile(query.p, query.n, options, &code, &at, NULL);
    if (!p->code)
        return blame(query, code, at, err);
    /* Where there is no JIT, or no leave for it, it goes without. */
    pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
    p->match = pcre2_match_data_create(1, NULL);
    p->limits = pcre2_match_context_create(NULL);
    p->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
    if (!p->match || !p->limits)
        return err_code(err, -ENOMEM, "cannot search");
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(p->limits, HEAP_LIMIT_KIB);
    if (p->stack)
        pcre2_jit_stack_assign(p->limits, NULL, p->stack);
    return 0;
}

static int
make_regex(struct pattern *p, struct view query, struct err *err)
{
    if (query.n > PATTERN_REGEX_MAX)
        return err_set(err, ERR_USAGE, "the regex is too long: at most %d bytes",
                       PATTERN_REGEX_MAX);
    int r = compile(p, query, err);
    if (r < 0)
        return r;
    r = literal_find(query, p->is_folded, !is_ascii(query), &p->needle);
    p->is_ascii = r > 0 && p->is_folded && is_ascii(query);
    return r < 0 ? err_code(err, r, "cannot search") : 0;
}

static int
make_text(struct pattern *p, struct view query, struct err *err)
{
    int r = buf_append(&p->needle, query.p, query.n);
    p->is_hopeless = memchr(query.p, '\n', query.n) != NULL;
    return r < 0 ? err_code(err, r, "cannot search for so long a text") : 0;
}

int
pattern_new(struct pattern **ret, struct view query, bool is_regex, struct err *err)
{
    if (!query.n)
        return err_set(err, ERR_USAGE, "what is to be looked for? the query is empty");
    struct pattern *p = calloc(1, sizeof(*p));
    if (!p)
        return err_code(err, -ENOMEM, "cannot search");
    p->is_folded = !has_capital(query, is_regex);
    p->folded.ceiling = p->shown.ceiling = TEXT_MAX;
    int r = is_regex ? make_regex(p, query, err) : make_text(p, query, err);
    if (r < 0) {
        pattern_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

void
pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->match);
    pcre2_match_context_free(p->limits);
    pcre2_jit_stack_free(p->stack);
    buf_release(&p->needle);
    buf_release(&p->folded);
    buf_release(&p->shown);
    free(p);
}

struct view
pattern_literal(const struct pattern *p)
{
    return (struct view){ p->needle.p, p->needle.n };
}

bool
pattern_is_hopeless(const struct pattern *p)
{
    return p->is_hopeless;
}

uint64_t
pattern_hard_lines(const struct pattern *p)
{
    return p->hard_lines;
}

/* -- a text -- */

static int
fold_text(struct pattern *p)
{
    buf_clear(&p->folded);
    uint8_t *to = buf_grow(&p->folded, p->text.n);
    if (!to)
        return p->folded.failed;
    for (size_t i = 0; i < p->text.n; i++)
        to[i] = ascii_fold(p->text.p[i]);
    p->hay = (struct view){ to, p->text.n };
    return 0;
}

/*
 * To PCRE2 an s is also U+017F, and a k U+212A, when case does not count: ASCII letters
 * that no literal could find. Others of their kind and length stand in for them.
 */
static const struct {
    char from[4], to[4];
} strangers[] = {
    { "\xc5\xbf", "\xc6\x80" },
    { "\xe2\x84\xaa", "\xe1\xb8\x80" },
};

static int
hide_strangers(struct pattern *p)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        const char *from = strangers[i].from;
        size_t n = strlen(from), at = 0;
        const uint8_t *hit;
        while ((hit = memmem(p->lines.p + at, p->lines.n - at, from, n)) != NULL) {
            at = (size_t)(hit - p->lines.p);
            if (p->lines.p == p->text.p) {
                buf_clear(&p->shown);
                int r = buf_append(&p->shown, p->text.p, p->text.n);
                if (r < 0)
                    return r;
                p->lines.p = p->shown.p;
            }
            memcpy(p->shown.p + at, strangers[i].to, n);
            at += n;
        }
    }
    return 0;
}

int
pattern_begin(struct pattern *p, struct view text)
{
    p->text = p->hay = p->lines = text;
    p->at = 0;
    int r = p->is_folded && p->needle.n && text.n ? fold_text(p) : 0;
    if (!r && p->is_ascii && text.n)
        r = hide_strangers(p);
    return r;
}

/* -- the lines in it -- */

/* 1: the line matches, 0: it does not, ERR_LIMIT: nobody knows. */
static int
match_line(struct pattern *p, struct pattern_hit *hit)
{
    const uint8_t *line = p->lines.p + hit->line;
    size_t n = hit->line_end - hit->line;
    int r = pcre2_match(p->code, line, n, 0, 0, p->match, p->limits);
    if (r == PCRE2_ERROR_JIT_STACKLIMIT)
        r = pcre2_match(p->code, line, n, 0, PCRE2_NO_JIT, p->match, p->limits);
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    if (r < 0)
        return ERR_LIMIT;
    const size_t *found = pcre2_get_ovector_pointer(p->match);
    hit->end = hit->line + found[1];
    hit->start = found[0] < found[1] ? hit->line + found[0] : hit->end; /* \K */
    return 1;
}

/* The line in which the needle stands next, and where in it; false: none. */
static bool
next_line(struct pattern *p, struct pattern_hit *ret)
{
    const uint8_t *base = p->hay.p, *from = base + p->at, *hit = from;
    size_t left = p->hay.n - p->at;
    if (!left)
        return false;
    if (p->needle.n)
        hit = memmem(from, left, p->needle.p, p->needle.n);
    if (!hit)
        return false;
    const uint8_t *before = memrchr(from, '\n', (size_t)(hit - from));
    const uint8_t *end = memchr(hit, '\n', left - (size_t)(hit - from));
    ret->line = before ? (size_t)(before + 1 - base) : p->at;
    ret->line_end = end ? (size_t)(end - base) : p->hay.n;
    ret->start = (size_t)(hit - base);
    ret->end = ret->start + p->needle.n;
    p->at = end ? ret->line_end + 1 : p->hay.n;
    return true;
}

int
pattern_next(struct pattern *p, struct pattern_hit *ret)
{
    while (!p->is_hopeless && next_line(p, ret)) {
        int r = p->code ? match_line(p, ret) : 1;
        if (r > 0)
            return 1;
        if (r < 0 && ++p->hard_lines >= PATTERN_HARD_MAX)
            return ERR_LIMIT;
    }
    return 0;
}

void
library_pcre2_version(struct buf *out)
{
    char text[64] = "";
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < (int)sizeof(text))
        pcre2_config(PCRE2_CONFIG_VERSION, text);
    buf_puts(out, text);
}
