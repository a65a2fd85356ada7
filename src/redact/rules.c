/* SPDX-License-Identifier: MIT */
#include "redact/rules_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_DEFAULT = 512, MAX_MOST = PACK_MAX };

static const char *const run_names[] = { "word", "line", "block" };

struct line {
    char *key, *value;
    const char *path;
    unsigned number;
};

static int
complain(const struct line *at, struct err *err, const char *what)
{
    return err_set(err, ERR_USAGE, "%s:%u: %s", at->path, at->number, what);
}

/* -- one function a key -- */

typedef int (*set_fn)(struct rules_rule *r, const struct line *at, struct err *err);

static int
set_about(struct rules_rule *r, const struct line *at, struct err *err)
{
    (void)err;
    r->made.about = at->value;
    return 0;
}

static int
set_pattern(struct rules_rule *r, const struct line *at, struct err *err)
{
    (void)err;
    r->made.pattern = at->value;
    return 0;
}

static int
set_keywords(struct rules_rule *r, const struct line *at, struct err *err)
{
    const char *rest = at->value;
    for (struct view w = rules_word(&rest); w.n; w = rules_word(&rest))
        if (w.n < 2 || w.n > 32)
            return complain(at, err, "a keyword has from 2 to 32 bytes");
    r->keywords = at->value;
    return 0;
}

static int
set_after(struct rules_rule *r, const struct line *at, struct err *err)
{
    (void)err;
    r->after = at->value;
    return 0;
}

static int
set_names(struct rules_rule *r, const struct line *at, struct err *err)
{
    if (at->value[strspn(at->value, "abcdefghijklmnopqrstuvwxyz0123456789_= ")])
        return complain(at, err,
                        "names are of a-z, 0-9 and '_', with '=' before a whole word");
    r->made.names = at->value;
    return 0;
}

static int
set_then(struct rules_rule *r, const struct line *at, struct err *err)
{
    (void)err;
    r->made.then = at->value;
    return 0;
}

static int
set_entropy(struct rules_rule *r, const struct line *at, struct err *err)
{
    char *end;
    double v = strtod(at->value, &end);
    if (*end || !(v >= 0 && v <= 8))
        return complain(at, err, "entropy is a number from 0 to 8");
    r->made.entropy = (uint32_t)(v * 100 + 0.5);
    return 0;
}

static int
set_max(struct rules_rule *r, const struct line *at, struct err *err)
{
    char *end;
    unsigned long v = strtoul(at->value, &end, 10);
    if (*end || !v || v > MAX_MOST)
        return complain(at, err, "max is a number from 1 to 4096");
    r->made.max = (uint32_t)v;
    return 0;
}

static int
find_name(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    return -1;
}

static int
set_run(struct rules_rule *r, const struct line *at, struct err *err)
{
    int i = find_name(run_names, sizeof(run_names) / sizeof(run_names[0]), at->value);
    if (i < 0)
        return complain(at, err, "run is one of word, line, block");
    r->made.run = (enum pack_run)i;
    return 0;
}

static int
set_check(struct rules_rule *r, const struct line *at, struct err *err)
{
    int i = find_name(pack_check_names, PACK_CHECKS, at->value);
    if (i < 0)
        return complain(at, err, "there is no such check");
    r->made.check = (enum pack_check)i;
    return 0;
}

/* hit and miss are for tests. */
static int
set_nothing(struct rules_rule *r, const struct line *at, struct err *err)
{
    (void)r, (void)at, (void)err;
    return 0;
}

static const struct {
    const char *key;
    set_fn set;
} keys[] = {
    { "about", set_about },     { "pattern", set_pattern }, { "keywords", set_keywords },
    { "after", set_after },     { "names", set_names },     { "then", set_then },
    { "entropy", set_entropy }, { "max", set_max },         { "run", set_run },
    { "check", set_check },     { "hit", set_nothing },     { "miss", set_nothing },
};

/* -- paragraphs -- */

struct view
rules_word(const char **at)
{
    const char *p = *at + strspn(*at, " \t");
    size_t n = strcspn(p, " \t");
    *at = p + n;
    return (struct view){ (const uint8_t *)p, n };
}

static int
begin_rule(struct rules *r, const struct line *at, struct err *err)
{
    const char *id = at->value;
    if (!*id || id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-")] ||
        strlen(id) > 64)
        return complain(at, err, "a rule's id is of a-z, 0-9 and '-', at most 64");
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->v[i].made.id, id))
            return complain(at, err, "there is a rule of this id already");
    if (r->n == RULES_MAX)
        return complain(at, err, "too many rules");
    r->v[r->n++] = (struct rules_rule){
        .made = { .id = id,
                  .about = "",
                  .pattern = "",
                  .names = "",
                  .then = "",
                  .max = MAX_DEFAULT },
        .line = at->number,
    };
    return 0;
}

static int
add_extra(const char **v, size_t *n, const struct line *at, struct err *err)
{
    if (*n == RULES_EXTRAS_MAX)
        return complain(at, err, "too many exceptions");
    if (!*at->value)
        return complain(at, err, "what?");
    v[(*n)++] = at->value;
    return 0;
}

static int
take_line(struct rules *r, const struct line *at, struct err *err)
{
    if (!strcmp(at->key, "rule"))
        return begin_rule(r, at, err);
    if (!strcmp(at->key, "allow"))
        return add_extra(r->allow, &r->n_allow, at, err);
    if (!strcmp(at->key, "off"))
        return add_extra(r->off, &r->n_off, at, err);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].key, at->key) != 0)
            continue;
        if (!r->n)
            return complain(at, err, "this stands before any 'rule'");
        if (!*at->value)
            return complain(at, err, "a value is missing");
        return keys[i].set(&r->v[r->n - 1], at, err);
    }
    return complain(at, err, "unknown key");
}

/* What a rule must have to be found. */
static int
check_rule(const struct rules_rule *r, const char *path, struct err *err)
{
    struct line at = { .path = path, .number = r->line };
    bool is_named = r->made.names[0] != 0;
    if (!r->keywords && !r->after && !is_named)
        return complain(&at, err, "a rule needs keywords, names or after");
    if (is_named && (r->keywords || r->after))
        return complain(&at, err, "names stand alone, without keywords or after");
    if (r->made.run == PACK_BLOCK && (r->keywords || is_named))
        return complain(&at, err, "a block has 'after' alone");
    if (r->keywords && !r->made.pattern[0])
        return complain(&at, err, "a rule with keywords needs a pattern");
    return 0;
}

/* Cuts the next line from *at; its value begins at the first word behind the key. */
static bool
next_line(char **at, struct line *line)
{
    if (!*at)
        return false;
    char *p = *at, *end = strchr(p, '\n');
    *at = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    line->number++;
    p += strspn(p, " \t");
    for (size_t n = strlen(p); n && strchr(" \t\r", p[n - 1]); n--)
        p[n - 1] = 0;
    line->key = p;
    line->value = p + strcspn(p, " \t");
    if (*line->value)
        *line->value++ = 0;
    line->value += strspn(line->value, " \t");
    return true;
}

int
rules_parse(struct rules *r, char *text, const char *path, struct err *err)
{
    *r = (struct rules){
        .v = calloc(RULES_MAX, sizeof(*r->v)),
        .allow = calloc(RULES_EXTRAS_MAX, sizeof(*r->allow)),
        .off = calloc(RULES_EXTRAS_MAX, sizeof(*r->off)),
    };
    int e = r->v && r->allow && r->off ? 0 : err_code(err, -ENOMEM, "cannot read rules");
    struct line line = { .path = path };
    while (!e && next_line(&text, &line))
        if (*line.key && *line.key != '#')
            e = take_line(r, &line, err);
    for (size_t i = 0; !e && i < r->n; i++)
        e = check_rule(&r->v[i], path, err);
    if (e)
        rules_release(r);
    return e;
}

void
rules_release(struct rules *r)
{
    free(r->v);
    free(r->allow);
    free(r->off);
    *r = (struct rules){ 0 };
}
