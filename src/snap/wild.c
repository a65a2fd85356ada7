/* SPDX-License-Identifier: MIT */
/*
 * What git does with a pattern is held here in all its corners, among them: whatever
 * stands in front of the first wildcard is compared by itself, so that a ** behind it
 * stands at a beginning; \/ behind ** wants one folder at least; a class that is not
 * closed or has no such name never fits.
 */
#include "snap/wild_priv.h"

#include <string.h>

enum op {
    OP_BYTE,      /* that byte behind it */
    OP_ANY,       /* one but a slash */
    OP_SET,       /* one of the set behind it */
    OP_STAR,      /* any but slashes */
    OP_DIRS,      /* nothing, or anything with a slash at its end */
    OP_SOME_DIRS, /* anything with a slash at its end */
    OP_REST,      /* anything, up to the end */
};

enum { SET_BYTES = 32 };

static const size_t op_bytes[] = {
    [OP_BYTE] = 2, [OP_ANY] = 1,  [OP_SET] = 1 + SET_BYTES,
    [OP_STAR] = 1, [OP_DIRS] = 1, [OP_SOME_DIRS] = 1,
    [OP_REST] = 1,
};

static void
set_add(uint8_t *set, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        set[c / 8] |= (uint8_t)(1u << c % 8);
}

static bool
set_has(const uint8_t *set, uint8_t c)
{
    return set[c / 8] >> c % 8 & 1;
}

/* git's own idea of them: ASCII alone, and four kinds of space. */
static const struct {
    const char *name;
    uint8_t ranges[9]; /* pairs, ended by 0 */
} classes[] = {
    { "alnum", "09AZaz" },   { "alpha", "AZaz" },
    { "blank", "\t\t  " },   { "cntrl", "\1\37\177\177" },
    { "digit", "09" },       { "graph", "!~" },
    { "lower", "az" },       { "print", " ~" },
    { "punct", "!/:@[`{~" }, { "space", "\t\n\r\r  " },
    { "upper", "AZ" },       { "xdigit", "09AFaf" },
};

static bool
add_class(uint8_t *set, struct view name)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const char *known = classes[i].name;
        if (strlen(known) != name.n || memcmp(known, name.p, name.n) != 0)
            continue;
        for (const uint8_t *r = classes[i].ranges; *r; r += 2)
            set_add(set, r[0], r[1]);
        return true;
    }
    return false;
}

/* The pattern while it is read. Behind its end are zeros, of which it holds none. */
struct source {
    struct view in;
    size_t at;
};

static uint8_t
peek(const struct source *s, size_t ahead)
{
    return s->in.n - s->at > ahead ? s->in.p[s->at + ahead] : 0;
}

static uint8_t
take(struct source *s)
{
    uint8_t c = peek(s, 0);
    s->at += c != 0;
    return c;
}

/* [:name:], of which the bracket is taken. 0: it is none, and nothing more is taken;
 * -1: no such class. */
static int
read_class(struct source *s, uint8_t *set)
{
    if (peek(s, 0) != ':')
        return 0;
    const uint8_t *name = s->in.p + s->at + 1;
    const uint8_t *end = memchr(name, ']', s->in.n - s->at - 1);
    if (!end)
        return -1;
    if (end == name || end[-1] != ':')
        return 0;
    s->at = (size_t)(end + 1 - s->in.p);
    return add_class(set, (struct view){ name, (size_t)(end - 1 - name) }) ? 1 : -1;
}

/* Behind the bracket that opens it. False: it never fits. */
static bool
read_set(struct source *s, uint8_t *set)
{
    bool is_negated = peek(s, 0) == '!' || peek(s, 0) == '^';
    s->at += is_negated;
    uint8_t before = 0; /* what a range would begin with */
    uint8_t c = take(s);
    do {
        int named = c == '[' ? read_class(s, set) : 0;
        if (!c || named < 0)
            return false;
        if (named) {
            before = 0;
            continue;
        }
        bool is_range = c == '-' && before && peek(s, 0) && peek(s, 0) != ']';
        if (is_range)
            c = take(s);
        if (c == '\\' && !(c = take(s)))
            return false;
        set_add(set, is_range ? before : c, c);
        before = is_range ? 0 : c;
    } while ((c = take(s)) != ']');
    for (size_t i = 0; is_negated && i < SET_BYTES; i++)
        set[i] = (uint8_t)~set[i];
    set['/' / 8] &= (uint8_t) ~(1u << '/' % 8);
    return true;
}

/* The first star is taken. is_first: nothing but literal bytes stands before it. */
static enum op
read_stars(struct source *s, bool is_first)
{
    bool is_after_slash = s->at >= 2 && s->in.p[s->at - 2] == '/';
    if (peek(s, 0) != '*')
        return OP_STAR;
    while (peek(s, 0) == '*')
        s->at++;
    if (!is_first && !is_after_slash)
        return OP_STAR;
    if (!peek(s, 0))
        return OP_REST;
    bool is_escaped = peek(s, 0) == '\\';
    if (peek(s, is_escaped) != '/')
        return OP_STAR;
    s->at += is_escaped ? 2 : 1;
    return is_escaped ? OP_SOME_DIRS : OP_DIRS;
}

static void
put_op(struct buf *code, enum op op)
{
    uint8_t c = (uint8_t)op;
    buf_append(code, &c, 1);
}

/* False: nothing fits. */
static bool
put_next(struct buf *code, struct source *s, bool is_first)
{
    uint8_t c = take(s);
    if (c == '?') {
        put_op(code, OP_ANY);
        return true;
    }
    if (c == '*') {
        put_op(code, read_stars(s, is_first));
        return true;
    }
    if (c == '[') {
        uint8_t set[SET_BYTES] = { 0 };
        put_op(code, OP_SET);
        bool fits = read_set(s, set);
        buf_append(code, set, sizeof(set));
        return fits;
    }
    if (c == '\\')
        c = take(s);
    if (!c)
        return false;
    put_op(code, OP_BYTE);
    buf_append(code, &c, 1);
    return true;
}

/* Code that is but bytes behind at most one star becomes these bytes. */
static void
simplify(struct buf *code, struct snap_wild *w)
{
    uint8_t *start = code->p + w->at;
    const uint8_t *p = start, *end = code->p + code->n;
    bool is_suffix = p < end && *p == OP_STAR;
    for (p += is_suffix; p < end && *p == OP_BYTE;)
        p += op_bytes[OP_BYTE];
    if (p < end)
        return;
    w->kind = is_suffix ? SNAP_WILD_SUFFIX : SNAP_WILD_LITERAL;
    uint8_t *to = start;
    for (p = start + is_suffix; p < end; p += op_bytes[OP_BYTE])
        *to++ = p[1];
    code->n = (size_t)(to - code->p);
}

int
snap_wild_put(struct buf *code, struct view pattern, struct snap_wild *ret)
{
    struct source s = { pattern, 0 };
    struct snap_wild w = { .kind = SNAP_WILD_CODE, .at = (uint32_t)code->n };
    bool fits = pattern.n > 0;
    size_t last = code->n, literal = 0;
    while (literal < pattern.n && !strchr("*?[\\", pattern.p[literal]))
        literal++;
    while (fits && s.at < pattern.n) {
        last = code->n;
        fits = put_next(code, &s, s.at == literal);
    }
    if (code->failed || !fits) {
        code->n = w.at;
        return code->failed;
    }
    w.first = code->p[w.at] == OP_BYTE ? code->p[w.at + 1] : 0;
    w.last = code->p[last] == OP_BYTE ? code->p[last + 1] : 0;
    simplify(code, &w);
    w.n = (uint32_t)(code->n - w.at);
    *ret = w;
    return 1;
}

static bool
op_takes(const uint8_t *op, uint8_t c)
{
    if (*op == OP_BYTE)
        return op[1] == c;
    return *op == OP_ANY ? c != '/' : set_has(op + 1, c);
}

/*
 * Where nothing fits any more, the last star takes one byte more, else the last ** one
 * folder more; those before them need not be tried again. A star ends at a slash, and the
 * place of that slash was the same for all; ** takes whatever those before it could have.
 */
static bool
code_fits(const uint8_t *op, const uint8_t *op_end, struct view text)
{
    const uint8_t *t = text.p, *t_end = text.p + text.n;
    const uint8_t *star = NULL, *star_t = NULL, *dirs = NULL, *dirs_t = NULL;
    for (;;) {
        bool goes_on = true;
        if (op == op_end) {
            if (t == t_end)
                return true;
            goes_on = false;
        } else if (*op == OP_REST) {
            return true;
        } else if (*op == OP_STAR) {
            star = ++op;
            star_t = t;
        } else if (*op == OP_DIRS || *op == OP_SOME_DIRS) {
            goes_on = *op == OP_DIRS;
            dirs = ++op;
            dirs_t = t;
            star = NULL;
        } else if (t < t_end && op_takes(op, *t)) {
            op += op_bytes[*op];
            t++;
        } else {
            goes_on = false;
        }
        if (goes_on)
            continue;
        if (star && star_t < t_end && *star_t != '/') {
            t = ++star_t;
            op = star;
            continue;
        }
        star = NULL;
        const uint8_t *slash = dirs ? memchr(dirs_t, '/', (size_t)(t_end - dirs_t))
                                    : NULL;
        if (!slash)
            return false;
        t = dirs_t = slash + 1;
        op = dirs;
    }
}

bool
snap_wild_fits(const struct snap_wild *w, const uint8_t *code, struct view text)
{
    code += w->at;
    if (w->kind == SNAP_WILD_CODE)
        return code_fits(code, code + w->n, text);
    if (w->kind == SNAP_WILD_LITERAL)
        return w->n == text.n && !memcmp(code, text.p, w->n);
    return w->n <= text.n && !memcmp(code, text.p + text.n - w->n, w->n) &&
           !memchr(text.p, '/', text.n - w->n);
}
