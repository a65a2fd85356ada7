/* SPDX-License-Identifier: MIT */
/* text.c -- whole texts: in one go; and command lines. */
#include "redact/redact_priv.h"
#include "redact/value_priv.h"

/* The stream is kept: making one costs more than most texts. */
int
redact_text(struct redact *r, const void *p, size_t n, struct buf *out)
{
    struct redact_options opt = { .is_whole = true };
    int e = r->whole ? 0 : redact_stream_new(&r->whole, r, &opt);
    if (e)
        return e;
    e = redact_stream_last(r->whole, (struct view){ p, n }, out);
    if (e)
        redact_stream_reset(r->whole);
    return e;
}

/* -- names that tell -- */

static struct view
view_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static bool
is_number(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!byte_in("0123456789.", v.p[i]))
            return false;
    return true;
}

/* A name of which a word is "key". */
static bool
is_key(struct view name)
{
    for (size_t i = 0; i + 3 <= name.n; i++) {
        struct view tail = { name.p + i, 3 };
        bool ends = i + 3 == name.n || !isalpha(name.p[i + 3]) ||
                    (islower(name.p[i + 2]) && isupper(name.p[i + 3]));
        if (ends && name_tells(tail, "key"))
            return name_tells((struct view){ name.p + i, name.n - i }, "key");
    }
    return false;
}

/* --keyboard and --max-tokens 4096 hold no secret. */
static bool
names_secret(struct view name, struct view value)
{
    if (!value.n)
        return false;
    if (name_tells(name, "password passwd passphrase secret credential"))
        return true;
    if (is_number(value))
        return false;
    return name_tells(name, "token") || is_key(name);
}

/* -- by content, with what stands before it -- */

enum { HEAD_MAX = 256 };

static void
note(void *ctx, const struct redact_find *find)
{
    buf_append(ctx, find, sizeof(*find));
}

static const struct redact_find *
finds_of(const struct buf *finds)
{
    return (const struct redact_find *)(const void *)finds->p;
}

/* Whether a find reaches over the border from the arguments before. */
static bool
reaches_over(const struct buf *finds, size_t from)
{
    const struct redact_find *v = finds_of(finds);
    for (size_t i = 0; i < finds->n / sizeof(*v); i++)
        if (v[i].start < from && v[i].end > from)
            return true;
    return false;
}

/* Appends the tail of text from `from` on with masks in place of the finds. */
static int
put_masked(const struct buf *text, size_t from, const struct buf *finds, struct buf *out)
{
    const struct redact_find *v = finds_of(finds);
    for (size_t i = 0; i < finds->n / sizeof(*v); i++) {
        if (v[i].start < from)
            continue; /* of an argument before */
        buf_append(out, text->p + from, (size_t)v[i].start - from);
        buf_printf(out, "[REDACTED:%s]", v[i].rule);
        from = (size_t)v[i].end;
    }
    buf_append(out, text->p + from, text->n - from);
    return out->failed;
}

/* The tail of text from `from` on, masked; what lies before is context. */
static int
mask_tail(struct redact *r, const struct buf *text, size_t from, struct buf *out)
{
    AUTO(buf) finds = { 0 };
    AUTO(buf) stars = { 0 };
    struct redact_options opt = {
        .is_whole = true, .keeps_length = true, .on_find = note, .ctx = &finds
    };
    struct redact_stream *s;
    int e = redact_stream_new(&s, r, &opt);
    if (e)
        return e;
    e = redact_stream_feed(s, text->p, text->n, &stars);
    if (!e)
        e = redact_stream_flush(s, &stars);
    redact_stream_free(s);
    e = e ? e : finds.failed;
    if (!e && reaches_over(&finds, from))
        return redact_text(r, text->p + from, text->n - from, out);
    return e ? e : put_masked(text, from, &finds, out);
}

/* -- command lines and environments -- */

/* The part of --name=value or NAME=value behind the '=', or NULL. */
static const char *
value_of(const char *arg, struct view *ret_name)
{
    const char *equals = strchr(arg, '=');
    *ret_name = view_of(arg);
    if (!equals)
        return NULL;
    ret_name->n = (size_t)(equals - arg);
    return equals + 1;
}

static int
put_arg(struct redact *r, const char *before, const char *arg, const struct buf *head,
        struct buf *out)
{
    struct view name;
    const char *value = value_of(arg, &name);
    if (value && !memchr(name.p, ' ', name.n) && names_secret(name, view_of(value))) {
        buf_append(out, name.p, name.n + 1);
        buf_puts(out, "[REDACTED:argument]");
        return out->failed;
    }
    if (before && !strncmp(before, "--", 2) && isalpha(before[2]) &&
        !strchr(before, '=') && arg[0] != '-' &&
        names_secret(view_of(before), view_of(arg)))
        return buf_puts(out, "[REDACTED:argument]");
    AUTO(buf) text = { 0 };
    size_t skip = head->n > HEAD_MAX ? head->n - HEAD_MAX : 0;
    buf_append(&text, head->p + skip, head->n - skip);
    size_t from = text.n;
    buf_puts(&text, arg);
    return text.failed ? text.failed : mask_tail(r, &text, from, out);
}

int
redact_argv(struct redact *r, size_t n, const char *const *argv, struct buf *out)
{
    AUTO(buf) head = { 0 };
    int e = buf_puts(&head, " ");
    for (size_t i = 0; !e && i < n; i++) {
        e = put_arg(r, i ? argv[i - 1] : NULL, argv[i], &head, out);
        if (!e)
            e = buf_append(out, "", 1);
        buf_puts(&head, argv[i]);
        buf_puts(&head, " ");
        e = e ? e : head.failed;
    }
    return e;
}

int
redact_env(struct redact *r, const char *assignment, struct buf *out)
{
    struct view name;
    const char *value = value_of(assignment, &name);
    if (!value || !names_secret(name, view_of(value)))
        return redact_text(r, assignment, strlen(assignment), out);
    buf_append(out, name.p, name.n + 1);
    buf_puts(out, "[REDACTED:variable]");
    return out->failed;
}

bool
redact_has_mask(const void *p, size_t n)
{
    return n && memmem(p, n, REDACT_MASK, sizeof(REDACT_MASK) - 1);
}
