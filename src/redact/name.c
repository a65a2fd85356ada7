/* SPDX-License-Identifier: MIT */
#include "redact/name_priv.h"

#include <strings.h>

enum { NAME_MAX_BYTES = 64, NAME_MAX_WORDS = 3 };

/* -- stepping back: each takes the end of what is left, and gives the new one -- */

static bool
is_name_byte(uint8_t c)
{
    return byte_is_word(c) || c == '.' || c == '-';
}

static size_t
back_blanks(struct view v, size_t i)
{
    while (i && (v.p[i - 1] == ' ' || v.p[i - 1] == '\t'))
        i--;
    return i;
}

/* A quote, and the backslashes of however many levels of JSON it is in. */
static size_t
back_quote(struct view v, size_t i)
{
    size_t start = i;
    while (start && i - start < 3 && byte_is_quote(v.p[start - 1]))
        start--; /* three of them in Python */
    if (start == i)
        return i;
    while (start && v.p[start - 1] == '\\')
        start--;
    return start;
}

static size_t
back_word(struct view v, size_t i, const char *word)
{
    size_t n = strlen(word);
    if (i < n || strncasecmp((const char *)v.p + i - n, word, n) != 0 ||
        (i > n && is_name_byte(v.p[i - n - 1])))
        return i;
    return i - n;
}

static size_t
back_scheme(struct view v, size_t i)
{
    static const char *const schemes[] = { "bearer", "basic", "token", "bot", "apikey" };
    size_t end = back_blanks(v, i);
    for (size_t k = 0; end < i && k < sizeof(schemes) / sizeof(schemes[0]); k++) {
        size_t start = back_word(v, end, schemes[k]);
        if (start < end)
            return start;
    }
    return i;
}

/* "[None]": what a prompt would take if nothing is typed. */
static size_t
back_default(struct view v, size_t i)
{
    size_t open = i;
    if (!i || v.p[i - 1] != ']')
        return i;
    while (open && i - open < 26 && v.p[open - 1] != '[')
        open--;
    return open > 1 && v.p[open - 1] == '[' && v.p[open - 2] == ' '
               ? back_blanks(v, open - 1)
               : i;
}

/* Sets *ret_op; i when there is none. */
static size_t
back_operator(struct view v, size_t i, enum name_op *ret_op)
{
    size_t end = back_blanks(v, i);
    uint8_t c = end ? v.p[end - 1] : 0;
    size_t start = end;
    if (c == '(' || c == ',') {
        *ret_op = NAME_ARGUMENT;
        return back_blanks(v, end - 1);
    }
    if (c == '|' && end < i && end > 1 &&
        v.p[end - 2] == ' ') { /* the next column of a table */
        *ret_op = NAME_FLAG;
        return back_blanks(v, end - 1);
    }
    while (start && end - start < 3 && byte_in("=:>-", v.p[start - 1]))
        start--;
    while (start < end && v.p[start] == '-' && (end - start != 2 || v.p[end - 1] != '>'))
        start++; /* a dash is of the name, but for "->" */
    if (start < end) {
        *ret_op = NAME_ASSIGN;
        return back_default(v, back_blanks(v, start));
    }
    if (end == i)
        return i;
    size_t verb = back_word(v, end, "is");
    if (verb == end)
        verb = back_word(v, end, "was");
    *ret_op = NAME_PROSE;
    return back_blanks(v, verb);
}

/* `: Type` before an operator. */
static size_t
back_type(struct view v, size_t i)
{
    size_t start = i;
    while (start && i - start < 24 &&
           (isalnum(v.p[start - 1]) || byte_in("_[]&<>.|?", v.p[start - 1])))
        start--;
    if (start == i)
        return i;
    start = back_blanks(v, start);
    return start && v.p[start - 1] == ':' ? back_blanks(v, start - 1) : i;
}

static struct view
back_name(struct view v, size_t i)
{
    if (i && v.p[i - 1] == ']')
        i--;
    i = back_quote(v, i);
    size_t start = i, words = 1;
    while (start && i - start < NAME_MAX_BYTES) {
        uint8_t c = v.p[start - 1];
        bool is_gap = c == ' ' && start > 1 && isalnum(v.p[start - 2]);
        if (!is_name_byte(c) && !(is_gap && words++ < NAME_MAX_WORDS))
            break;
        start--;
    }
    if (start && start < i && v.p[start - 1] == '\\' && byte_in("nrt", v.p[start]))
        start++; /* of an escape */
    return (struct view){ v.p + start, i - start };
}

/* -- readings -- */

static size_t
read_from(struct view before, size_t i, struct name name, bool skips_type,
          struct name *ret)
{
    size_t end = back_operator(before, i, &name.op);
    if (end == i)
        return 0;
    name.is_tight = end + 1 == i && before.p[end] == '=';
    size_t name_end = end, op = end;
    while (op < i && byte_in(" \t", before.p[op]))
        op++;
    if (skips_type && op < i && before.p[op] == '=')
        name_end = back_type(before, end);
    if (skips_type && name_end == end)
        return 0;
    name.text = back_name(before, name_end);
    if (name.op == NAME_PROSE && i - end > 4 && name.text.p != before.p)
        return 0; /* columns of something else: only the first may tell */
    size_t dash = name.text.n;
    while (dash && name.text.p[dash - 1] != ' ')
        dash--;
    if (name.op == NAME_PROSE && name.text.n > dash && name.text.p[dash] == '-')
        name.op = NAME_FLAG;
    *ret = name;
    return name.text.n ? 1 : 0;
}

size_t
name_read(struct view before, struct name ret[NAME_READINGS])
{
    size_t n = 0, i = back_quote(before, before.n);
    struct name name = { .is_quoted = i < before.n };
    name.quote = name.is_quoted ? before.p[before.n - 1] : 0;
    if (name.is_quoted && i > 1 && byte_in("bfru@$", before.p[i - 1]) &&
        !is_name_byte(before.p[i - 2]))
        i--; /* b"…", f'…' */
    n += read_from(before, i, name, false, &ret[n]);
    n += read_from(before, i, name, true, &ret[n]);
    size_t scheme = back_scheme(before, i);
    if (scheme < i) {
        size_t inner = back_quote(before, scheme);
        name.is_quoted = inner < scheme;
        n += read_from(before, inner, name, false, &ret[n]);
    }
    return n;
}

/* -- words in names -- */

/* How many bytes of name one word takes at its start; 0: none. */
static size_t
match_word(struct view name, struct view word)
{
    size_t at = 0;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '_') {
            if (at < name.n && byte_in("_-. ", name.p[at]))
                at++;
            continue;
        }
        if (at == name.n || byte_lower(name.p[at]) != word.p[i])
            return 0;
        at++;
    }
    return at;
}

/* Behind a telling word these name something else. With a star: so do words that begin
 * so. */
static const char *const about_words[] = {
    "type",    "izer*",    "izing",       "ized",     "name",     "names",
    "url",     "urls",     "uri",         "path",     "paths",    "file",
    "files",   "dir",      "endpoint",    "ref",      "refs",     "count",
    "counts",  "len",      "size",        "limit",    "limits",   "expir*",
    "ttl",     "version",  "arn",         "format",   "field",    "fields",
    "label",   "hint",     "policy",      "prompt",   "error",    "errors",
    "index",   "class",    "kind",        "regex",    "pattern",  "rule",
    "rules",   "valid*",   "placeholder", "rotat*",   "age",      "selector",
    "budget",  "usage",    "rate",        "cost",     "window",   "algorithm",
    "alg",     "method",   "mode",        "strength", "mgr",      "smanager",
    "ms",      "sec",      "seconds",     "time",     "reset",    "change",
    "changed", "manager",  "provider",    "store",    "service",  "handler",
    "prefix",  "encoding", "length",      "input",    "required", "confirm*",
    "help",    "title",    "min",         "max",      "id",       "ids",
    "at",      "on",       "enabled",     "disabled", NULL,
};

/* The letters at the start of v, up to a capital that begins a new word. */
static size_t
word_len(struct view v)
{
    size_t n = 0;
    bool is_upper = v.n > 1 && isupper(v.p[0]) && isupper(v.p[1]);
    while (n < v.n && v.p[n] < 0x80 && isalpha(v.p[n]) &&
           (!n || is_upper || !isupper(v.p[n])))
        n++;
    return n;
}

static bool
is_about_word(struct view w)
{
    for (const char *const *about = about_words; *about; about++) {
        size_t n = strcspn(*about, "*");
        bool is_fit = (*about)[n] ? w.n >= n : w.n == n;
        if (is_fit && !strncasecmp((const char *)w.p, *about, n))
            return true;
    }
    return false;
}

static bool
is_about(struct view rest)
{
    while (rest.n) {
        struct view w = { rest.p, word_len(rest) };
        if (w.n && is_about_word(w))
            return true;
        size_t step = w.n ? w.n : 1;
        rest.p += step;
        rest.n -= step;
    }
    return false;
}

/* Whether name ends with a word of its own, of n bytes from i on: DB_PASS, dbPass. */
static bool
stands_alone(struct view name, size_t i, size_t n)
{
    size_t end = i + n;
    while (end < name.n && isdigit(name.p[end]))
        end++; /* PASS2 */
    bool begins = !i || !isalpha(name.p[i - 1]) ||
                  (islower(name.p[i - 1]) && isupper(name.p[i]));
    return begins && end == name.n;
}

static bool
tells(struct view name, struct view word)
{
    bool is_exact = word.p[0] == '=';
    word.p += is_exact;
    word.n -= is_exact;
    for (size_t i = name.n; word.n && i--;) {
        if (byte_lower(name.p[i]) != word.p[0])
            continue;
        size_t n = match_word((struct view){ name.p + i, name.n - i }, word);
        struct view rest = { name.p + i + n, name.n - i - n };
        if (n && !memchr(rest.p, ' ', rest.n) && !is_about(rest) &&
            (!is_exact || stands_alone(name, i, n)))
            return true;
    }
    return false;
}

bool
name_tells(struct view name, const char *words)
{
    for (const char *at = words; *at;) {
        struct view word = { (const uint8_t *)at, 0 };
        while (at[word.n] && at[word.n] != ' ')
            word.n++;
        if (word.n && tells(name, word))
            return true;
        at += word.n + (at[word.n] == ' ');
    }
    return false;
}
