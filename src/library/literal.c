/* SPDX-License-Identifier: MIT */
/*
 * literal.c -- what must stand in a line for a regex to match.
 *
 * Characters outside of groups that stand for themselves make runs. Whatever else there
 * is ends a run, so that a quantifier behind it finds nothing to take back. What is in
 * groups is walked over; alternatives outside of them leave nothing that must be there.
 */
#include "library/literal_priv.h"

#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"

struct walk {
    struct view in; /* what is left of the regex */
    bool is_caseless, has_strangers;
    unsigned depth;      /* of groups */
    bool has_or;         /* outside of groups */
    struct buf run;      /* of characters that stand one behind the other */
    size_t last;         /* where its last one begins */
    struct buf *longest; /* borrowed */
};

/* -- runs -- */

static int
end_run(struct walk *w)
{
    int r = 0;
    if (w->run.n > w->longest->n) {
        buf_clear(w->longest);
        r = buf_append(w->longest, w->run.p, w->run.n);
    }
    buf_clear(&w->run);
    w->last = 0;
    return r;
}

/* The last character need not be there. */
static int
take_back(struct walk *w)
{
    w->run.n = w->last;
    return end_run(w);
}

static int
add(struct walk *w, const uint8_t *p, size_t n)
{
    uint8_t c = w->is_caseless ? ascii_fold(*p) : *p;
    bool is_stranger = n > 1 || (w->has_strangers && (c == 's' || c == 'k'));
    if (w->depth)
        return 0;
    if (w->is_caseless && is_stranger)
        return end_run(w);
    w->last = w->run.n;
    return buf_append(&w->run, n > 1 ? p : &c, n);
}

/* -- what a regex is made of; each returns 1, 0 for what is not known, or an error -- */

static int
known(int r)
{
    return r < 0 ? r : 1;
}

static void
skip(struct walk *w, size_t n)
{
    w->in.p += n;
    w->in.n -= n;
}

static uint8_t
peek(const struct walk *w, size_t at)
{
    return at < w->in.n ? w->in.p[at] : 0;
}

/* Behind a backslash: these stand for one character or place, and take no argument. */
static bool
is_plain_escape(uint8_t c)
{
    return c && strchr("dDwWsShHvVbBAzZRXnrtefa", c);
}

/* Punctuation behind a backslash stands for itself. */
static bool
is_escaped_self(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && !(c >= '0' && c <= '9') &&
           !(ascii_fold(c) >= 'a' && ascii_fold(c) <= 'z');
}

static int
walk_escape(struct walk *w)
{
    uint8_t c = peek(w, 1);
    int r = 0;
    if (is_escaped_self(c))
        r = add(w, w->in.p + 1, 1);
    else if (is_plain_escape(c))
        r = end_run(w);
    else
        return 0;
    skip(w, 2);
    return known(r);
}

/* The length of [:name:] at this place; 0: it is none. */
static size_t
posix_class(const struct walk *w, size_t at)
{
    size_t i = at + 2;
    i += peek(w, i) == '^';
    while (peek(w, i) >= 'a' && peek(w, i) <= 'z')
        i++;
    return peek(w, i) == ':' && peek(w, i + 1) == ']' ? i + 2 - at : 0;
}

/* The length of what is next in a class; 0: it is not known. */
static size_t
class_member(const struct walk *w, size_t at)
{
    uint8_t c = w->in.p[at], next = peek(w, at + 1);
    if (c == '\\')
        return is_escaped_self(next) || is_plain_escape(next) ? 2 : 0;
    if (c == '[' && next && strchr(":.=", next))
        return posix_class(w, at);
    return 1;
}

static int
walk_class(struct walk *w)
{
    size_t i = 1;
    i += peek(w, i) == '^';
    i += peek(w, i) == ']'; /* as the first it is one of them */
    while (i < w->in.n && w->in.p[i] != ']') {
        size_t n = class_member(w, i);
        if (!n)
            return 0;
        i += n;
    }
    if (i >= w->in.n)
        return 0;
    skip(w, i + 1);
    return known(end_run(w));
}

static int
walk_group(struct walk *w)
{
    bool is_special = peek(w, 1) == '?' || peek(w, 1) == '*';
    if (is_special && !(peek(w, 1) == '?' && peek(w, 2) == ':'))
        return 0;
    int r = end_run(w);
    w->depth++;
    skip(w, is_special ? 3 : 1);
    return known(r);
}

static int
walk_group_end(struct walk *w)
{
    if (!w->depth)
        return 0;
    w->depth--;
    skip(w, 1);
    return known(end_run(w));
}

/* A brace that begins no number stands for itself, in every version of PCRE2. */
static int
walk_brace(struct walk *w)
{
    size_t i = 1;
    while (peek(w, i) && strchr("0123456789, \t", peek(w, i)))
        i++;
    bool is_count = i > 1 && peek(w, i) == '}';
    int r = is_count ? take_back(w) : add(w, w->in.p, 1);
    skip(w, is_count ? i + 1 : 1);
    return known(r);
}

static int
walk_character(struct walk *w)
{
    uint32_t rune;
    int n = utf8_next(w->in.p, w->in.n, &rune);
    if (n <= 0)
        return 0;
    int r = add(w, w->in.p, (size_t)n);
    skip(w, (size_t)n);
    return known(r);
}

/* One character that has a meaning and no more to it. */
static int
walk_sign(struct walk *w, uint8_t c)
{
    w->has_or |= c == '|' && !w->depth;
    skip(w, 1);
    return known(c == '*' || c == '?' ? take_back(w) : end_run(w));
}

static int
step(struct walk *w)
{
    switch (*w->in.p) {
    case '\\':
        return walk_escape(w);
    case '[':
        return walk_class(w);
    case '(':
        return walk_group(w);
    case ')':
        return walk_group_end(w);
    case '{':
        return walk_brace(w);
    case '*':
    case '?':
    case '+':
    case '|':
    case '.':
    case '^':
    case '$':
        return walk_sign(w, *w->in.p);
    default:
        return walk_character(w);
    }
}

int
literal_find(struct view regex, bool is_caseless, bool has_strangers, struct buf *ret)
{
    AUTO(buf) longest = { 0 };
    struct walk w = { .in = regex,
                      .is_caseless = is_caseless,
                      .has_strangers = has_strangers,
                      .longest = &longest };
    int r = 1;
    while (r > 0 && w.in.n)
        r = step(&w);
    if (r > 0)
        r = w.depth ? 0 : known(end_run(&w));
    if (r > 0 && !w.has_or)
        r = known(buf_append(ret, longest.p, longest.n));
    buf_release(&w.run);
    return r;
}
