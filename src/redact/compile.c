/* SPDX-License-Identifier: MIT */
#include "redact/compile_priv.h"

#include <ctype.h>
#include <errno.h>
#include <hs_compile.h>
#include <stdlib.h>

/*
 * What may stand between a telling name and its value: the rest of the name, closing
 * quotes, an operator, opening quotes, the scheme of an Authorization. The last byte is
 * the first one of the value, and the scanner decides what kind of surroundings these
 * were.
 */
#define QUOTE "(?:\\\\{0,16}[\"'`])"
#define BLANK "[ \\t]"
#define FIRST "[^\\x00-\\x20\"'`\\\\=:,;>()\\[\\]{}<|&\\x7f]"
#define TYPE  "(?::" BLANK "{0,4}[\\w\\[\\]&<>.|?]{1,24}" BLANK "{0,4})?"
#define OPERATOR                                               \
    "(?:" BLANK "{0,8}(?:\\[[\\w *]{0,24}\\]" BLANK "?)?" TYPE \
    "(?:=>|:=|={1,3}|:|->|>|,)" BLANK "{0,8}"                  \
    "|" BLANK "{1,24}\\|" BLANK "{1,24}"                       \
    "|" BLANK "{0,2}\\(" BLANK "{0,2}"                         \
    "|" BLANK "{1,24}(?:(?:is|was)[ :]{1,2})?)"
#define SCHEME "(?:(?:bearer|basic|token|bot|apikey)" BLANK "{1,4})?"
#define NAME_TAIL \
    "[\\w.\\-]{0,32}" QUOTE "?\\]?" OPERATOR "(?:[bfru@$]?" QUOTE "{1,3})?" SCHEME FIRST

enum { NAMES_TOGETHER = 32 };

/* Expressions on their way to a database. */
struct plan {
    char **expressions;
    unsigned *ids, *flags;
    unsigned *lines; /* of the rule */
    unsigned n, cap;
};

static void
plan_release(struct plan *p)
{
    for (unsigned i = 0; i < p->n; i++)
        free(p->expressions[i]);
    free(p->expressions);
    free(p->ids);
    free(p->flags);
    free(p->lines);
}

static void *
grown(void *v, unsigned n, size_t size)
{
    void *more = realloc(v, n * size);
    if (!more)
        abort(); /* a tool that runs for a moment */
    return more;
}

static void
plan_add(struct plan *p, struct buf *expression, unsigned id, unsigned line)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 64;
        p->expressions = grown(p->expressions, p->cap, sizeof(*p->expressions));
        p->ids = grown(p->ids, p->cap, sizeof(*p->ids));
        p->flags = grown(p->flags, p->cap, sizeof(*p->flags));
        p->lines = grown(p->lines, p->cap, sizeof(*p->lines));
    }
    p->expressions[p->n] = strdup(buf_str(expression));
    p->ids[p->n] = id;
    p->flags[p->n] = 0;
    p->lines[p->n++] = line;
    if (!p->expressions[p->n - 1] || expression->failed)
        abort();
}

static int
plan_compile(const struct plan *p, unsigned mode, const char *path, struct buf *out,
             struct err *err)
{
    if (!p->n)
        return 0;
    hs_platform_info_t plainest = { 0 };
    hs_database_t *db = NULL;
    hs_compile_error_t *why = NULL;
    if (hs_compile_multi((const char *const *)p->expressions, p->flags, p->ids, p->n,
                         mode, &plainest, &db, &why) != HS_SUCCESS) {
        int e = why->expression < 0
                    ? err_set(err, ERR_USAGE, "%s: %s", path, why->message)
                    : err_set(err, ERR_USAGE, "%s:%u: %s: %s", path,
                              p->lines[why->expression], why->message,
                              p->expressions[why->expression]);
        hs_free_compile_error(why);
        return e;
    }
    char *bytes;
    size_t n;
    int e = hs_serialize_database(db, &bytes, &n) == HS_SUCCESS ? 0 : -ENOMEM;
    hs_free_database(db);
    if (e)
        return err_code(err, e, "cannot compile '%s'", path);
    e = buf_append(out, bytes, n);
    free(bytes);
    return e;
}

/* -- leads -- */

static void
put_literal(struct buf *out, struct view w)
{
    for (size_t i = 0; i < w.n; i++)
        buf_printf(out, isalnum(w.p[i]) ? "%c" : "\\x%02x", w.p[i]);
}

static struct pack_lead *
add_lead(struct pack *pack, struct pack_lead lead)
{
    if (pack->n_leads % 64 == 0)
        pack->leads = grown(pack->leads, (unsigned)pack->n_leads + 64, sizeof(lead));
    pack->leads[pack->n_leads] = lead;
    return &pack->leads[pack->n_leads++];
}

/* words: where the copies of the literals are kept; they must not move. */
static void
plan_keywords(struct plan *plan, struct pack *pack, const struct rules_rule *r,
              uint32_t rule, struct buf *words)
{
    const char *rest = r->keywords;
    for (struct view w = rules_word(&rest); w.n; w = rules_word(&rest)) {
        AUTO(buf) expression = { 0 };
        if (r->after)
            buf_printf(&expression, "(?:%s)", r->after);
        put_literal(&expression, w);
        plan_add(plan, &expression, (unsigned)pack->n_leads, r->line);
        const char *literal = (const char *)words->p + words->n;
        buf_append(words, w.p, w.n);
        buf_append(words, "", 1);
        add_lead(pack, (struct pack_lead){ .kind = PACK_LEAD_TOKEN,
                                           .rule = rule,
                                           .literal = literal,
                                           .has_context = r->after != NULL });
    }
}

static void
plan_after(struct plan *plan, struct pack *pack, const struct rules_rule *r,
           uint32_t rule)
{
    AUTO(buf) expression = { 0 };
    bool is_block = r->made.run == PACK_BLOCK;
    buf_printf(&expression, "(?:%s)%s", r->after, is_block ? "" : FIRST);
    plan_add(plan, &expression, (unsigned)pack->n_leads, r->line);
    add_lead(pack,
             (struct pack_lead){ .kind = is_block ? PACK_LEAD_BLOCK : PACK_LEAD_AFTER,
                                 .rule = rule,
                                 .literal = "" });
}

static void
put_name(struct buf *out, struct view w)
{
    for (size_t i = w.p[0] == '='; i < w.n; i++)
        if (w.p[i] == '_')
            buf_puts(out, "[_\\-. ]?");
        else
            buf_append(out, w.p + i, 1);
}

/* Names on their way to one expression. */
struct names {
    struct buf expression;
    uint32_t first, last; /* rules */
    unsigned count, line;
};

static void
end_names(struct plan *plan, struct pack *pack, struct names *n)
{
    if (!n->expression.n)
        return;
    buf_puts(&n->expression, ")" NAME_TAIL);
    plan_add(plan, &n->expression, (unsigned)pack->n_leads, n->line);
    add_lead(pack, (struct pack_lead){ .kind = PACK_LEAD_NAME,
                                       .rule = n->first,
                                       .last_rule = n->last,
                                       .literal = "" });
    buf_clear(&n->expression);
    n->count = 0;
}

static void
add_name(struct names *n, struct view w, const struct rules_rule *r, uint32_t rule)
{
    if (!n->expression.n)
        n->first = rule;
    n->last = rule;
    n->line = r->line;
    n->count++;
    buf_puts(&n->expression, n->expression.n ? "|" : "(?i)(?:");
    put_name(&n->expression, w);
}

/* The names of several rules in one expression, as many as vectorscan takes: who of them
 * is meant is asked where it fires. Generic rules, which fire often, are by themselves.
 */
static void
plan_names(struct plan *plan, struct pack *pack, const struct rules *rules)
{
    struct names names = { 0 };
    for (size_t i = 0; i < rules->n; i++) {
        const struct rules_rule *r = &rules->v[i];
        const char *rest = r->made.names;
        if (r->made.check == PACK_CHECK_PASSWORD || r->made.check == PACK_CHECK_SECRET)
            end_names(plan, pack, &names);
        for (struct view w = rules_word(&rest); w.n; w = rules_word(&rest)) {
            if (names.count == NAMES_TOGETHER)
                end_names(plan, pack, &names);
            add_name(&names, w, r, (uint32_t)i);
        }
    }
    end_names(plan, pack, &names);
    buf_release(&names.expression);
}

static size_t
words_size(const struct rules *rules)
{
    size_t n = 1;
    for (size_t i = 0; i < rules->n; i++)
        n += rules->v[i].keywords ? strlen(rules->v[i].keywords) + 1 : 0;
    return n;
}

static int
compile_leads(const struct rules *rules, struct pack *pack, struct buf *words,
              const char *path, struct buf *db, struct err *err)
{
    struct plan plan = { 0 };
    for (size_t i = 0; i < rules->n; i++) {
        const struct rules_rule *r = &rules->v[i];
        if (r->keywords)
            plan_keywords(&plan, pack, r, (uint32_t)i, words);
        else if (r->after)
            plan_after(&plan, pack, r, (uint32_t)i);
    }
    plan_names(&plan, pack, rules);
    int e = plan_compile(&plan, HS_MODE_STREAM, path, db, err);
    plan_release(&plan);
    return e;
}

/* -- shapes -- */

/* A class of these bytes. */
static void
put_any_of(struct buf *out, const char *bytes)
{
    buf_puts(out, "[");
    for (; *bytes; bytes++)
        buf_printf(out, "\\x%02x", (uint8_t)*bytes);
    buf_puts(out, "]");
}

static int
compile_shapes(const struct rules *rules, enum pack_shapes which, const char *path,
               struct buf *db, struct err *err)
{
    struct plan plan = { 0 };
    for (size_t i = 0; i < rules->n; i++) {
        enum pack_shapes kind = rules->v[i].keywords ? PACK_TOKENS : PACK_VALUES;
        if (!rules->v[i].made.pattern[0] || kind != which)
            continue;
        AUTO(buf) expression = { 0 };
        buf_printf(&expression, "^(?:%s)", rules->v[i].made.pattern);
        if (rules->v[i].made.then[0])
            put_any_of(&expression, rules->v[i].made.then);
        plan_add(&plan, &expression, (unsigned)i, rules->v[i].line);
    }
    int e = plan_compile(&plan, HS_MODE_BLOCK, path, db, err);
    plan_release(&plan);
    return e;
}

int
compile_rules(const struct rules *rules, const char *path, struct buf *out,
              struct err *err)
{
    AUTO(buf) lead_db = { 0 };
    AUTO(buf) tokens = { 0 };
    AUTO(buf) values = { 0 };
    AUTO(buf) words = { 0 };
    struct pack pack = { .allow = rules->allow,
                         .n_allow = rules->n_allow,
                         .off = rules->off,
                         .n_off = rules->n_off,
                         .n_rules = rules->n };
    pack.rules = calloc(rules->n + 1, sizeof(*pack.rules));
    int e = pack.rules ? buf_reserve(&words, words_size(rules)) : -ENOMEM;
    for (size_t i = 0; !e && i < rules->n; i++)
        pack.rules[i] = rules->v[i].made;
    if (!e)
        e = compile_leads(rules, &pack, &words, path, &lead_db, err);
    if (!e)
        e = compile_shapes(rules, PACK_TOKENS, path, &tokens, err);
    if (!e)
        e = compile_shapes(rules, PACK_VALUES, path, &values, err);
    pack.lead_db = (struct view){ lead_db.p, lead_db.n };
    pack.shape_dbs[PACK_TOKENS] = (struct view){ tokens.p, tokens.n };
    pack.shape_dbs[PACK_VALUES] = (struct view){ values.p, values.n };
    if (!e)
        e = pack_write(&pack, out);
    free(pack.rules);
    free(pack.leads);
    return e;
}
