/* SPDX-License-Identifier: MIT */
#include "redact/only.h"

#include <errno.h>
#include <stdlib.h>

#include "redact/bytes_priv.h"
#include "redact/own.h"
#include "redact/redact_priv.h"
#include "redact/texts_priv.h"

/* -- one rule -- */

int
redact_only_rule(struct redact **ret, const char *rule, const char *own_rules_path,
                 struct err *err)
{
    struct redact *r;
    bool is_there = false;
    int e = redact_own_open(&r, own_rules_path, err);
    if (e < 0)
        return e;
    for (uint32_t i = 0; i < r->n_rules; i++) {
        r->is_off[i] = strcmp(r->rules[i]->id, rule) != 0;
        is_there |= !r->is_off[i];
    }
    for (size_t i = 0; i < r->n_packs; i++)
        r->packs[i].pack.n_allow = 0;
    if (!is_there) {
        redact_close(r);
        return err_set(err, ERR_USAGE,
                       "there is no rule '%s'; 'ahr redact --rules' lists them", rule);
    }
    *ret = r;
    return 0;
}

/* -- texts -- */

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct view
trim(struct view v)
{
    return view_trim(v, " \t\r");
}

/* What is wrong with a text, or NULL. */
static const char *
fault_of(struct view v)
{
    size_t solid = 0, stars = 0;
    if (v.n > REDACT_TEXT_MAX)
        return "is longer than 2048 bytes";
    for (size_t i = 0; i < v.n; i++) {
        if ((v.p[i] < ' ' && v.p[i] != '\t') || v.p[i] == 0x7f)
            return "holds a control character";
        solid += !is_blank(v.p[i]);
        stars += v.p[i] == '*';
    }
    if (solid < REDACT_TEXT_MIN)
        return "is shorter than 4 bytes: it would mask too much";
    return stars == solid ? "is nothing but stars" : NULL;
}

static struct view
take_line(struct view *rest)
{
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    struct view line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t n = line.n + (end != NULL);
    rest->p += n;
    rest->n -= n;
    return line;
}

/* Returns how many there are. */
static int
read_lines(struct view rest, struct view *v, struct err *err)
{
    int n = 0;
    for (unsigned line = 1; rest.n; line++) {
        struct view text = trim(take_line(&rest));
        if (!text.n)
            continue;
        const char *fault = fault_of(text);
        if (fault)
            return err_set(err, ERR_USAGE, "the text in line %u %s", line, fault);
        if (n == REDACT_TEXTS_MAX)
            return err_set(err, ERR_USAGE, "there are more than %d texts",
                           REDACT_TEXTS_MAX);
        v[n++] = text;
    }
    return n ? n : err_set(err, ERR_USAGE, "there is no text to look for");
}

static int
open_texts(struct redact **ret, const struct view *v, size_t n)
{
    struct redact *r = calloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->texts_rule = (struct pack_rule){ .id = "text",
                                        .about = "A text that the user named",
                                        .pattern = "",
                                        .names = "",
                                        .then = "" };
    r->rules = calloc(1, sizeof(*r->rules));
    int e = r->rules ? texts_new(&r->texts, v, n) : -ENOMEM;
    if (e) {
        redact_close(r);
        return e;
    }
    r->rules[0] = &r->texts_rule;
    r->n_rules = 1;
    *ret = r;
    return 0;
}

int
redact_only_texts(struct redact **ret, struct view texts, struct err *err)
{
    struct view *v = calloc(REDACT_TEXTS_MAX, sizeof(*v));
    int n = v ? read_lines(texts, v, err) : -ENOMEM, e = n;
    if (n > 0)
        e = open_texts(ret, v, (size_t)n);
    free(v);
    return e == -ENOMEM ? err_code(err, e, "cannot look for the texts") : e;
}
