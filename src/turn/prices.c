/* SPDX-License-Identifier: MIT */
/* prices.c -- what tokens cost, by a list of prices. */
#include "turn/prices.h"

#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"

enum {
    PLACES = 6, /* of a price behind the point: a picodollar a token */
    WORDS = 1 + TURN_USAGE_FIELDS,
    SHOWN = 40, /* bytes of a bad word */
};

static const uint64_t PRICE_MAX = TURN_DOLLAR; /* a token */

struct price {
    size_t n;
    uint8_t name[TURN_PRICE_NAME_MAX + 1];
    uint64_t each[TURN_USAGE_FIELDS]; /* picodollars; TURN_UNKNOWN: none */
};

void
turn_prices_release(struct turn_prices *p)
{
    buf_release(&p->list);
}

/* -- a model's name -- */

static bool
is_letters(struct view v)
{
    for (size_t i = 0; i < v.n; i++) {
        uint8_t c = ascii_fold(v.p[i]);
        if ((c < 'a' || c > 'z') && c != '-')
            return false;
    }
    return v.n > 0;
}

/* Without who provides it: what stands before the last '/', and words without a digit
 * before a '.'. */
static struct view
model_itself(struct view name)
{
    for (size_t i = name.n; i-- > 0;)
        if (name.p[i] == '/') {
            name = (struct view){ name.p + i + 1, name.n - i - 1 };
            break;
        }
    for (;;) {
        const uint8_t *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
        size_t n = dot ? (size_t)(dot - name.p) : 0;
        if (!dot || !is_letters((struct view){ name.p, n }))
            return name;
        name = (struct view){ dot + 1, name.n - n - 1 };
    }
}

/* '.' is as good as '-': both are written between the numbers of a version. */
static uint8_t
fold(uint8_t c)
{
    return c == '.' ? '-' : ascii_fold(c);
}

/* -- a line -- */

struct place {
    const char *name;
    unsigned line;
    struct err *err;
};

static int
bad(const struct place *at, const char *what, struct view word)
{
    char shown[SHOWN + 1];
    size_t n = word.n < SHOWN ? word.n : SHOWN;
    for (size_t i = 0; i < n; i++)
        shown[i] = (char)(word.p[i] < 0x20 || word.p[i] > 0x7e ? '?' : word.p[i]);
    shown[n] = 0;
    return err_set(at->err, ERR_USAGE, "%s:%u: %s: '%s'", at->name, at->line, what,
                   shown);
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line, which is taken off; empty: there is none. */
static struct view
take_word(struct view *line)
{
    while (line->n && is_blank(*line->p))
        line->p++, line->n--;
    struct view word = { line->p, 0 };
    while (word.n < line->n && !is_blank(line->p[word.n]))
        word.n++;
    line->p += word.n;
    line->n -= word.n;
    return word;
}

/* Nothing of it would be cut off; an exponent is nothing that a price has. */
static bool
is_exact(struct view word)
{
    const uint8_t *point = memchr(word.p, '.', word.n);
    return !memchr(word.p, 'e', word.n) && !memchr(word.p, 'E', word.n) &&
           (!point || (size_t)(word.p + word.n - point) <= PLACES + 1);
}

static int
take_price(struct view word, uint64_t *ret, const struct place *at)
{
    if (word.n == 1 && *word.p == '-') {
        *ret = TURN_UNKNOWN;
        return 0;
    }
    if (!word.n || !is_exact(word) || num_parse_decimal(word, PLACES, PRICE_MAX, ret) < 0)
        return bad(at, "no price in dollars for a million tokens", word);
    return 0;
}

/* 1: a price; 0: nothing. */
static int
take_line(struct view line, struct price *ret, const struct place *at)
{
    const uint8_t *remark = line.n ? memchr(line.p, '#', line.n) : NULL;
    if (remark)
        line.n = (size_t)(remark - line.p);
    struct view whole = take_word(&line), name = model_itself(whole);
    if (!whole.n)
        return 0;
    if (!name.n)
        return bad(at, "no name of a model", whole);
    if (name.n > TURN_PRICE_NAME_MAX)
        return bad(at, "too long a name", name);
    *ret = (struct price){ .n = name.n };
    for (size_t i = 0; i < name.n; i++)
        ret->name[i] = fold(name.p[i]);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        int r = take_price(take_word(&line), &ret->each[i], at);
        if (r < 0)
            return r;
    }
    struct view more = take_word(&line);
    return more.n ? bad(at, "more than four prices of", whole) : 1;
}

static int
add_line(struct buf *list, struct view line, const struct place *at)
{
    struct price price;
    int r = take_line(line, &price, at);
    if (r <= 0)
        return r;
    if (list->n / sizeof(price) == TURN_PRICES_MAX)
        return bad(at, "more prices than there may be", (struct view){ price.name, 0 });
    r = buf_append(list, &price, sizeof(price));
    return r < 0 ? err_code(at->err, r, "cannot keep the prices of '%s'", at->name) : 0;
}

int
turn_prices_add(struct turn_prices *p, struct view text, const char *name,
                struct err *err)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf }; /* of UTF-8 */
    struct place at = { .name = name, .err = err };
    size_t had = p->list.n;
    int r = 0;
    if (text.n >= sizeof(mark) && !memcmp(text.p, mark, sizeof(mark)))
        text = (struct view){ text.p + sizeof(mark), text.n - sizeof(mark) };
    while (!r && text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n, step = n + (end != NULL);
        at.line++;
        r = add_line(&p->list, (struct view){ text.p, n }, &at);
        text = (struct view){ text.p + step, text.n - step };
    }
    if (r < 0)
        p->list.n = had;
    return r;
}

/* -- which fits -- */

static bool
is_end(struct view name, size_t at)
{
    static const char ends[] = { '-', '@', '[', ':' };
    return at == name.n || memchr(ends, name.p[at], sizeof(ends));
}

static bool
is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* "claude-opus-4" of "claude-opus-4-5": another version. Dates have more digits. */
static bool
is_within_version(struct view name, size_t at)
{
    size_t n = 0;
    if (at == name.n || name.p[at] != '-' || !is_digit(name.p[at - 1]))
        return false;
    while (at + 1 + n < name.n && is_digit(name.p[at + 1 + n]))
        n++;
    return n > 0 && n < 3 && is_end(name, at + 1 + n);
}

static bool
fits(const struct price *price, struct view name)
{
    if (price->n > name.n || !is_end(name, price->n) || is_within_version(name, price->n))
        return false;
    for (size_t i = 0; i < price->n; i++)
        if (price->name[i] != fold(name.p[i]))
            return false;
    return true;
}

static const struct price *
find(const struct turn_prices *p, struct view name)
{
    const struct price *list = (const struct price *)(const void *)p->list.p;
    const struct price *best = NULL;
    for (size_t i = 0; i < p->list.n / sizeof(*list); i++)
        if ((!best || list[i].n >= best->n) && fits(&list[i], name))
            best = &list[i];
    return best;
}

static uint64_t
times(uint64_t a, uint64_t b)
{
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) || r == TURN_UNKNOWN ? TURN_UNKNOWN - 1 : r;
}

uint64_t
turn_prices_cost(const struct turn_prices *p, struct view model, struct turn_usage usage)
{
    const struct price *price = find(p, model_itself(model));
    uint64_t cost = 0;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t tokens = *turn_usage_field(&usage, i);
        if (!tokens || tokens == TURN_UNKNOWN)
            continue;
        if (!price || price->each[i] == TURN_UNKNOWN)
            return TURN_UNKNOWN;
        cost = num_plus_u64(cost, times(tokens, price->each[i]), TURN_UNKNOWN - 1);
    }
    return cost;
}
