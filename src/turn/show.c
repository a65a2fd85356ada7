/* SPDX-License-Identifier: MIT */
/*
 * show.c -- an event as people read it, one function a type, by table.
 */
#include "turn/show.h"

#include "base/json_in.h"
#include "turn/clean.h"
#include "turn/compact.h"
#include "turn/cut_priv.h"

enum {
    MEMBERS_MAX = 20, /* of a tool's arguments */
};

#define RESET "\033[0m"

struct shown {
    const struct turn_event *e;
    const struct turn_show *opt;
    struct buf *out;
};

/* -- tags -- */

static const struct {
    const char *tag, *colour;
    bool is_detail; /* for the verbose */
} kinds[TURN_TYPES] = {
    [TURN_SESSION] = { "session", "\033[2m", false },
    [TURN_TEXT] = { "", "\033[2m", false },
    [TURN_THINKING] = { "thinking", "\033[2m", false },
    [TURN_TOOL_CALL] = { "tool", "\033[1;36m", false },
    [TURN_TOOL_RESULT] = { "result", "\033[2;36m", false },
    [TURN_USAGE] = { "usage", "\033[2m", true },
    [TURN_ERROR] = { "error", "\033[1;31m", false },
    [TURN_DONE] = { "done", "\033[1;32m", false },
    [TURN_WARNING] = { "warn", "\033[33m", false },
    [TURN_STDERR] = { "stderr", "\033[35m", false },
    [TURN_ARTIFACT] = { "artifact", "\033[2m", true },
    [TURN_EXIT] = { "exit", "\033[2m", true },
    [TURN_BRANCH] = { "branch", "\033[2m", true },
    [TURN_OTHER] = { "other", "\033[2m", true },
};

static void
put_tag(const struct shown *s)
{
    const char *word = s->e->is_user ? "user" : kinds[s->e->type].tag;
    const char *sub = s->e->parent.n ? "sub" : "";
    if (!*word && !*sub)
        return;
    if (s->opt->is_coloured)
        buf_puts(s->out, s->e->is_error ? "\033[1;31m" : kinds[s->e->type].colour);
    buf_puts(s->out, "[");
    buf_puts(s->out, sub);
    buf_puts(s->out, *sub && *word ? " " : "");
    buf_puts(s->out, word);
    buf_puts(s->out, "]");
    if (s->opt->is_coloured)
        buf_puts(s->out, RESET);
}

/* -- texts -- */

/* A name: in one line. */
static void
put_name(const struct shown *s, const char *before, struct view name)
{
    AUTO(buf) clean = { 0 };
    turn_clean(name, &clean);
    if (!clean.n)
        return;
    buf_puts(s->out, before);
    for (size_t i = 0; i < clean.n; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    buf_append(s->out, clean.p, clean.n);
}

static void
put_lines(const struct shown *s, struct view text, const struct turn_cut *cut)
{
    AUTO(buf) clean = { 0 };
    static const struct turn_cut whole = { 0 };
    turn_clean(text, &clean);
    turn_cut_put((struct view){ clean.p, clean.n }, s->opt->is_whole ? &whole : cut,
                 s->out);
    if (clean.failed && !s->out->failed)
        s->out->failed = clean.failed;
}

/* What is said stands there as it is. */
static void
show_said(const struct shown *s)
{
    size_t start = s->out->n;
    turn_show_tag(s->e, s->opt, s->out);
    size_t text = s->out->n;
    turn_clean(s->e->text, s->out);
    if (s->out->n == text)
        s->out->n = start;
    else if (s->out->p[s->out->n - 1] != '\n')
        buf_puts(s->out, "\n");
}

static const struct turn_cut lines_cut = { .lines = 40, .bytes = 8000 };

/* [error] …, [stderr] … */
static void
show_lines(const struct shown *s)
{
    put_tag(s);
    buf_puts(s->out, " ");
    put_lines(s, s->e->text, &lines_cut);
}

/* -- tools -- */

static const struct turn_cut value_cut = { .lines = 10, .bytes = 1000, .in_bytes = true };
static const struct turn_cut result_cut = { .lines = 10, .bytes = 2000 };

/* A string as it reads, something else as JSON. */
static void
put_value(const struct shown *s, struct view value)
{
    AUTO(buf) text = { 0 };
    struct json_in in = { .p = value.p, .end = value.p + value.n };
    if (!(json_in_peek(&in) == '"' && json_in_str(&in, &text)) &&
        !turn_compact(value, &text)) {
        buf_clear(&text);
        buf_append(&text, value.p, value.n);
    }
    put_lines(s, (struct view){ text.p, text.n }, &value_cut);
}

/* The members of an object, each in a line. False, and nothing is put, for what is none.
 */
static bool
put_members(const struct shown *s)
{
    struct json_in in = { .p = s->e->json.p, .end = s->e->json.p + s->e->json.n };
    AUTO(buf) key = { 0 };
    size_t start = s->out->n, count = 0;
    bool is_first = true;
    if (!json_in_take(&in, '{'))
        return false;
    while (json_in_each(&in, '}', &is_first) && json_in_key(&in, &key)) {
        (void)json_in_peek(&in);
        const uint8_t *value = in.p;
        if (!json_in_skip(&in))
            break;
        if (++count > MEMBERS_MAX && !s->opt->is_whole)
            continue;
        put_name(s, "  ", (struct view){ key.p, key.n });
        buf_puts(s->out, key.n ? ": " : "  : ");
        put_value(s, (struct view){ value, (size_t)(in.p - value) });
    }
    if (in.failed) {
        s->out->n = start;
        return false;
    }
    if (count > MEMBERS_MAX && !s->opt->is_whole)
        buf_printf(s->out, "  … %zu more\n", count - MEMBERS_MAX);
    return true;
}

static void
put_json(const struct shown *s)
{
    if (!s->e->json.n || put_members(s))
        return;
    buf_puts(s->out, "  ");
    put_value(s, s->e->json);
}

/* [tool] Bash, [other] system/status */
static void
show_call(const struct shown *s)
{
    put_tag(s);
    put_name(s, " ", s->e->name);
    buf_puts(s->out, "\n");
    put_json(s);
}

static void
show_result(const struct shown *s)
{
    put_tag(s);
    buf_puts(s->out, " ");
    if (s->e->is_error && s->e->exit_code > 0)
        buf_printf(s->out, "exit %d: ", s->e->exit_code);
    else if (s->e->is_error)
        buf_puts(s->out, "failed: ");
    put_lines(s, s->e->text, &result_cut);
}

/* -- facts -- */

static void
show_session(const struct shown *s)
{
    put_tag(s);
    put_name(s, " ", s->e->id);
    put_name(s, " model=", s->e->model);
    if (s->opt->is_verbose)
        put_name(s, " cwd=", s->e->cwd);
    buf_puts(s->out, "\n");
}

struct list {
    struct buf *out;
    bool has_some;
};

static void
put_fact(struct list *l, uint64_t value, const char *unit)
{
    if (value == TURN_UNKNOWN)
        return;
    buf_puts(l->out, l->has_some ? ", " : " (");
    buf_put_u64(l->out, value);
    buf_puts(l->out, unit);
    l->has_some = true;
}

/* Sums what is known. */
static uint64_t
cached(const struct turn_usage *u)
{
    uint64_t a = u->cache_creation_tokens, b = u->cache_read_tokens;
    a = a == TURN_UNKNOWN ? 0 : a;
    b = b == TURN_UNKNOWN ? 0 : b;
    return a + b ? a + b : TURN_UNKNOWN;
}

static void
put_tokens(struct list *l, const struct turn_usage *u)
{
    put_fact(l, u->input_tokens, u->output_tokens == TURN_UNKNOWN ? " in tokens" : " in");
    put_fact(l, u->output_tokens, " out tokens");
    put_fact(l, cached(u), " cached");
}

static void
close_list(struct list *l)
{
    buf_puts(l->out, l->has_some ? ")\n" : "\n");
}

static void
show_done(const struct shown *s)
{
    struct list l = { .out = s->out };
    put_tag(s);
    put_name(s, " ", s->e->name);
    put_fact(&l, s->e->duration_ms, "ms");
    put_fact(&l, s->e->turns, s->e->turns == 1 ? " turn" : " turns");
    put_tokens(&l, &s->e->usage);
    close_list(&l);
    if (!s->e->is_error || !s->e->text.n) /* else it was said before */
        return;
    buf_puts(s->out, "  ");
    put_lines(s, s->e->text, &lines_cut);
}

static void
show_usage(const struct shown *s)
{
    struct list l = { .out = s->out };
    put_tag(s);
    put_tokens(&l, &s->e->usage);
    close_list(&l);
}

static void
show_artifact(const struct shown *s)
{
    put_tag(s);
    put_name(s, " ", s->e->name);
    put_name(s, " ", s->e->text);
    buf_puts(s->out, "\n");
}

static void
show_exit(const struct shown *s)
{
    struct list l = { .out = s->out };
    put_tag(s);
    put_name(s, " ", s->e->name);
    put_name(s, " ", s->e->signal);
    if (s->e->exit_code >= 0) {
        buf_printf(s->out, " (exit %d", s->e->exit_code);
        l.has_some = true;
    }
    put_fact(&l, s->e->duration_ms, "ms");
    close_list(&l);
}

static void
show_branch(const struct shown *s)
{
    put_tag(s);
    buf_puts(s->out, " what follows goes on ");
    if (s->e->from && s->e->from != TURN_UNKNOWN) {
        buf_puts(s->out, "behind event ");
        buf_put_u64(s->out, s->e->from);
    } else {
        buf_puts(s->out, "from the beginning");
    }
    buf_puts(s->out, "\n");
}

/* -- all -- */

int
turn_show_tag(const struct turn_event *e, const struct turn_show *opt, struct buf *out)
{
    const struct shown s = { e, opt, out };
    size_t before = out->n;
    put_tag(&s);
    if (out->n > before)
        buf_puts(out, " ");
    return out->failed;
}

int
turn_show(const struct turn_event *e, const struct turn_show *opt, struct buf *out)
{
    static void (*const shows[TURN_TYPES])(const struct shown *) = {
        [TURN_SESSION] = show_session,    [TURN_TEXT] = show_said,
        [TURN_THINKING] = show_said,      [TURN_TOOL_CALL] = show_call,
        [TURN_TOOL_RESULT] = show_result, [TURN_USAGE] = show_usage,
        [TURN_ERROR] = show_lines,        [TURN_DONE] = show_done,
        [TURN_WARNING] = show_lines,      [TURN_STDERR] = show_lines,
        [TURN_ARTIFACT] = show_artifact,  [TURN_EXIT] = show_exit,
        [TURN_BRANCH] = show_branch,      [TURN_OTHER] = show_call,
    };
    const struct shown s = { e, opt, out };
    if (e->is_partial)
        turn_clean(e->text, out);
    else if (opt->is_verbose || !kinds[e->type].is_detail)
        shows[e->type](&s);
    return out->failed;
}

struct view
turn_show_content(const struct turn_event *e, struct buf *room)
{
    if (e->type == TURN_TEXT || e->type == TURN_THINKING || e->type == TURN_STDERR)
        return e->text;
    buf_clear(room);
    turn_show(e, &(struct turn_show){ .is_verbose = true, .is_whole = true }, room);
    size_t n = room->n;
    return (struct view){ room->p, n && room->p[n - 1] == '\n' ? n - 1 : n };
}
