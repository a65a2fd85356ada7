/* SPDX-License-Identifier: MIT */
#include "term/case.h"

#include <errno.h>

#include "base/file.h"
#include "base/num.h"

struct parser {
    uint8_t *at, *end; /* what is left of the file */
    unsigned line;
    bool is_string[CASE_ARGS_MAX + 1]; /* of the words of the line, the name first */
};

bool
case_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

bool
case_is(struct view a, const char *s)
{
    return case_same(a, (struct view){ (const uint8_t *)s, strlen(s) });
}

uint64_t
case_number(struct view word)
{
    uint64_t v = 0;
    num_parse(word, UINT64_MAX, &v);
    return v;
}

unsigned
case_number_at(const struct case_step *s, size_t i)
{
    uint64_t v = i < s->n_args ? case_number(s->args[i]) : 0;
    return v > UINT32_MAX ? UINT32_MAX : (unsigned)v;
}

static int
hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* The escape at s, behind its backslash: its byte, and how long it is; 0: unknown. */
static size_t
escape(const uint8_t *s, size_t n, uint8_t *ret)
{
    static const char names[] = "ernbta0\\\"";
    static const char bytes[] = "\x1b\r\n\b\t\a\0\\\"";
    if (n >= 3 && s[0] == 'x' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
        *ret = (uint8_t)(hex(s[1]) << 4 | hex(s[2]));
        return 3;
    }
    const char *name = n && s[0] ? strchr(names, s[0]) : NULL;
    if (!name)
        return 0;
    *ret = (uint8_t)bytes[name - names];
    return 1;
}

/* The string that opens at p->at, its escapes undone in place: they only shrink. */
static bool
read_string(struct parser *p, struct view *ret)
{
    uint8_t *start = ++p->at, *out = start;
    while (p->at < p->end && *p->at != '"' && *p->at != '\n') {
        if (*p->at != '\\') {
            *out++ = *p->at++;
            continue;
        }
        size_t n = escape(p->at + 1, (size_t)(p->end - p->at - 1), out);
        if (!n)
            return false;
        p->at += 1 + n;
        out++;
    }
    if (p->at == p->end || *p->at++ != '"')
        return false;
    *ret = (struct view){ start, (size_t)(out - start) };
    return true;
}

static bool
read_arg(struct parser *p, struct view *ret)
{
    if (*p->at == '"')
        return read_string(p, ret);
    uint8_t *start = p->at;
    while (p->at < p->end && *p->at != ' ' && *p->at != '\n')
        p->at++;
    *ret = (struct view){ start, (size_t)(p->at - start) };
    return true;
}

/* The words of one line into s; none on a blank line or a comment. */
static int
read_line(struct parser *p, struct case_step *s, struct err *err)
{
    *s = (struct case_step){ .line = ++p->line };
    size_t n = 0;
    while (p->at < p->end && *p->at != '\n') {
        if (*p->at == ' ') {
            p->at++;
            continue;
        }
        if (*p->at == '#' && !n) {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
            break;
        }
        if (n > CASE_ARGS_MAX)
            return err_set(err, ERR_DAMAGED, "line %u: too many words", p->line);
        p->is_string[n] = *p->at == '"';
        if (!read_arg(p, n ? &s->args[n - 1] : &s->name))
            return err_set(err, ERR_DAMAGED, "line %u: bad string", p->line);
        n++;
    }
    if (p->at < p->end)
        p->at++;
    s->n_args = n ? n - 1 : 0;
    return 0;
}

static bool
fits(char kind, struct view arg, bool is_string)
{
    uint64_t ignored;
    switch (kind) {
    case 'n':
        return !is_string && !num_parse(arg, UINT64_MAX, &ignored);
    case 'b':
        return !is_string && (case_is(arg, "yes") || case_is(arg, "no"));
    case 'w':
        return !is_string;
    case 's':
        return is_string;
    default:
        return kind == 'a';
    }
}

static bool
has_shape(const struct parser *p, const struct case_step *s, const char *shape)
{
    bool may_lack = false, may_repeat = false;
    size_t i = 0;
    for (; *shape; shape++) {
        if (*shape == '?' || *shape == '*') {
            may_lack = true;
            may_repeat = *shape == '*';
            continue;
        }
        if (i == s->n_args)
            return may_lack;
        do {
            if (!fits(*shape, s->args[i], p->is_string[i + 1]))
                return false;
            i++;
        } while (may_repeat && i < s->n_args);
    }
    return i == s->n_args;
}

static int
add_case(struct case_file *f, const struct case_step *s)
{
    struct case_one *more = realloc(f->cases, (f->n_cases + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    f->cases = more;
    f->cases[f->n_cases++] = (struct case_one){ .name = s->args[0] };
    return 0;
}

static int
add_step(struct case_file *f, const struct case_step *s)
{
    struct case_one *c = &f->cases[f->n_cases - 1];
    struct case_step *more = realloc(c->steps, (c->n_steps + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    c->steps = more;
    c->steps[c->n_steps++] = *s;
    return 0;
}

static int
add(struct case_file *f, const struct parser *p, const struct case_step *s,
    const char *(*shape_of)(struct view name), struct err *err)
{
    bool is_case = case_is(s->name, "case");
    const char *shape = is_case ? "s" : shape_of(s->name);
    if (!shape || !has_shape(p, s, shape))
        return err_set(err, ERR_DAMAGED, "line %u: cannot understand '%.*s'", s->line,
                       (int)s->name.n, (const char *)s->name.p);
    if (!is_case && !f->n_cases)
        return err_set(err, ERR_DAMAGED, "line %u: no case yet", s->line);
    int r = is_case ? add_case(f, s) : add_step(f, s);
    return r < 0 ? err_code(err, r, "line %u", s->line) : 0;
}

int
case_file_read(struct case_file *f, const char *path,
               const char *(*shape_of)(struct view name), struct err *err)
{
    int r = file_slurp(path, &f->text);
    if (r < 0)
        return err_code(err, r, "cannot read");
    struct parser p = { .at = f->text.p, .end = f->text.p + f->text.n };
    while (p.at < p.end) {
        struct case_step s;
        r = read_line(&p, &s, err);
        if (!r && s.name.n)
            r = add(f, &p, &s, shape_of, err);
        if (r < 0)
            return r;
    }
    return 0;
}

void
case_file_release(struct case_file *f)
{
    for (size_t i = 0; i < f->n_cases; i++)
        free(f->cases[i].steps);
    free(f->cases);
    buf_release(&f->text);
    *f = (struct case_file){ 0 };
}
