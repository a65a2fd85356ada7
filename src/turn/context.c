/* SPDX-License-Identifier: MIT */
#include "turn/context.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "turn/clean.h"

enum {
    HEADINGS = 512,     /* bytes of all that is ours */
    DECISION_MAX = 240, /* … of a decision: its first line */
    CALL_MAX = 240,     /* … of a call's arguments, and of a result */
    TEXT_MAX = 4 << 10, /* … of one message among the last */
    FILE_MAX = 512,
};

/* Entries, each with its NUL, of which the oldest go. */
struct tray {
    struct buf text;
    size_t from, max; /* the first that is left; bytes, NULs for the newlines that come */
    bool has_lost;
};

struct turn_context {
    struct buf task;
    size_t task_max;
    bool has_task;
    struct tray decided, files, last;
    struct buf clean;
};

int
turn_context_new(struct turn_context **ret, size_t max)
{
    assert(max >= TURN_CONTEXT_MIN && max <= TURN_CONTEXT_MAX);
    struct turn_context *c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    size_t room = max - HEADINGS;
    c->task_max = room / 4;
    c->decided.max = room / 5;
    c->files.max = room / 10;
    c->last.max = room - c->task_max - c->decided.max - c->files.max;
    *ret = c;
    return 0;
}

void
turn_context_free(struct turn_context *c)
{
    if (!c)
        return;
    buf_release(&c->task);
    buf_release(&c->decided.text);
    buf_release(&c->files.text);
    buf_release(&c->last.text);
    buf_release(&c->clean);
    free(c);
}

/* -- trays -- */

static const char *
tray_at(const struct tray *t, size_t at)
{
    return (const char *)t->text.p + at;
}

/* What is gone is given back when it is more than what is left. */
static void
tray_trim(struct tray *t)
{
    while (t->text.n - t->from > t->max) {
        t->from += strlen(tray_at(t, t->from)) + 1;
        t->has_lost = true;
    }
    if (t->from <= t->max)
        return;
    t->text.n -= t->from;
    memmove(t->text.p, t->text.p + t->from, t->text.n);
    t->from = 0;
}

/* Takes out an entry that ends so. */
static void
tray_forget(struct tray *t, const char *end)
{
    size_t len = strlen(end), n;
    for (size_t at = t->from; at < t->text.n; at += n + 1) {
        n = strlen(tray_at(t, at));
        if (n < len || strcmp(tray_at(t, at) + n - len, end) != 0)
            continue;
        t->text.n -= n + 1;
        memmove(t->text.p + at, t->text.p + at + n + 1, t->text.n - at);
        return;
    }
}

static int
tray_add(struct tray *t, const char *tag, struct view text)
{
    buf_puts(&t->text, tag);
    buf_append(&t->text, text.p, text.n);
    buf_append(&t->text, "", 1);
    if (!t->text.failed)
        tray_trim(t);
    return t->text.failed;
}

static void
tray_put(const struct tray *t, const char *heading, struct buf *out)
{
    if (t->from == t->text.n)
        return;
    buf_puts(out, heading);
    buf_puts(out, t->has_lost ? "\n…\n" : "\n");
    for (size_t at = t->from, n; at < t->text.n; at += n + 1) {
        n = strlen(tray_at(t, at));
        buf_append(out, tray_at(t, at), n);
        buf_puts(out, "\n");
    }
}

/* -- texts -- */

/* The beginning, up to a whole character. */
static struct view
cut(struct view v, size_t max)
{
    size_t n = v.n < max ? v.n : max;
    while (n < v.n && n > 0 && (v.p[n] & 0xc0) == 0x80)
        n--;
    return (struct view){ v.p, n };
}

/* Clean, without blanks around it, at most so many bytes, "…" included. */
static struct view
shorten(struct turn_context *c, struct view text, size_t max, bool is_line)
{
    static const char more[] = " …";
    buf_clear(&c->clean);
    turn_clean(cut(text, 4 * max), &c->clean);
    struct view v = { c->clean.p, c->clean.n };
    while (v.n && (v.p[0] == '\n' || v.p[0] == ' ' || v.p[0] == '\t'))
        v = (struct view){ v.p + 1, v.n - 1 };
    const uint8_t *end = is_line && v.n ? memchr(v.p, '\n', v.n) : NULL;
    v.n = end ? (size_t)(end - v.p) : v.n;
    while (v.n && (v.p[v.n - 1] == '\n' || v.p[v.n - 1] == ' '))
        v.n--;
    if (v.n <= max - sizeof(more))
        return v;
    v = cut(v, max - sizeof(more));
    c->clean.n = (size_t)(v.p - c->clean.p) + v.n;
    size_t start = (size_t)(v.p - c->clean.p);
    buf_puts(&c->clean, more);
    return (struct view){ c->clean.p + start, c->clean.n - start };
}

static int
add_task(struct turn_context *c, const struct turn_event *e)
{
    struct view text = shorten(c, e->text, c->task_max, false);
    c->has_task = text.n;
    return buf_append(&c->task, text.p, text.n);
}

static int
add_text(struct turn_context *c, const struct turn_event *e)
{
    const char *tag = e->is_user ? "[user] " : "[assistant] ";
    if (e->is_user && !c->has_task)
        return add_task(c, e);
    if (!e->is_user) {
        struct view first = shorten(c, e->text, DECISION_MAX, true);
        if (first.n && tray_add(&c->decided, "- ", first) < 0)
            return -ENOMEM;
    }
    size_t max = c->last.max / 2 < TEXT_MAX ? c->last.max / 2 : TEXT_MAX;
    struct view text = shorten(c, e->text, max, false);
    return text.n ? tray_add(&c->last, tag, text) : 0;
}

static int
add_call(struct turn_context *c, const struct turn_event *e)
{
    AUTO(buf) tag = { 0 };
    struct view name = shorten(c, e->name, 64, true);
    buf_puts(&tag, "[tool] ");
    buf_append(&tag, name.p, name.n);
    buf_puts(&tag, " ");
    return tray_add(&c->last, buf_str(&tag), shorten(c, e->json, CALL_MAX, true));
}

static int
add_file(struct turn_context *c, const struct turn_event *e)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) entry = { 0 };
    struct view text = shorten(c, e->text, FILE_MAX, true);
    buf_puts(&path, " ");
    buf_append(&path, text.p, text.n);
    struct view how = shorten(c, e->name, 64, true);
    buf_append(&entry, how.p, how.n);
    buf_append(&entry, path.p, path.n);
    if (entry.failed || path.failed)
        return -ENOMEM;
    tray_forget(&c->files, buf_str(&path));
    return tray_add(&c->files, "- ", (struct view){ entry.p, entry.n });
}

int
turn_context_add(struct turn_context *c, const struct turn_event *e)
{
    if (e->is_partial || e->parent.n) /* a sub-agent's */
        return 0;
    if (e->type == TURN_TEXT)
        return add_text(c, e);
    if (e->type == TURN_TOOL_CALL)
        return add_call(c, e);
    if (e->type == TURN_TOOL_RESULT)
        return tray_add(&c->last, e->is_error ? "[failed] " : "[result] ",
                        shorten(c, e->text, CALL_MAX, false));
    if (e->type == TURN_ERROR)
        return tray_add(&c->last, "[error] ", shorten(c, e->text, CALL_MAX, false));
    return e->type == TURN_ARTIFACT ? add_file(c, e) : 0;
}

int
turn_context_make(struct turn_context *c, const char *instruction, struct buf *out)
{
    if (!c->has_task && !c->last.text.n)
        return ERR_MISSING;
    buf_puts(out, "This goes on with an earlier session. What follows was put together "
                  "from its recording.\n");
    if (c->has_task) {
        buf_puts(out, "\n## The task\n");
        buf_append(out, c->task.p, c->task.n);
        buf_puts(out, "\n");
    }
    tray_put(&c->decided, "\n## What was said and decided, in short", out);
    tray_put(&c->files, "\n## Files that were touched", out);
    tray_put(&c->last, "\n## The last messages", out);
    buf_puts(out, "\n");
    buf_puts(out, instruction ? instruction
                              : "Look at the state of the files first, then go on where "
                                "it left off.");
    return out->failed;
}
