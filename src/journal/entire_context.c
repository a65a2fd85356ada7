/* SPDX-License-Identifier: MIT */
/*
 * entire_context.c -- context.md: which session it was, and what its agent has done.
 *
 * What stands in it was said by an agent, which may have it from anybody: each text is
 * one line, without markup, and short. Pure.
 */
#include "base/iso.h"
#include "base/json_in.h"
#include "base/parts.h"
#include "base/utf8.h"
#include "journal/entire_priv.h"
#include "turn/clean.h"

enum {
    ACTIONS_MAX = 1000, /* that are listed */
    NAME_MAX_RUNES = 80,
    VALUE_MAX_RUNES = 160,
    ID_MAX = 256,        /* bytes; a longer one is not known again */
    OPEN_MAX = 64 << 10, /* bytes of ids; nor is one beyond them */
};

static bool
is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
}

/* Would Markdown take it for markup? Within a word '_' is none, '&' is only before a
 * name, and brackets are where a link follows. */
static bool
is_markup(struct view text, size_t i)
{
    uint8_t c = text.p[i], before = i ? text.p[i - 1] : ' ';
    uint8_t after = i + 1 < text.n ? text.p[i + 1] : ' ';
    if (c == '_')
        return !is_word(before) || !is_word(after);
    if (c == '&')
        return after == '#' || is_word(after);
    if (c == ']')
        return after == '(';
    return c < 0x80 && strchr("\\`*<~|", c);
}

/* On one line, blanks as one, cut to so many characters. */
static void
put_line(struct view given, size_t runes_max, struct buf *out)
{
    AUTO(buf) clean = { 0 };
    size_t most = runes_max * 16; /* the rest is blanks or escapes, or not shown */
    bool is_cut = given.n > most, has_blank = false;
    given.n = is_cut ? most : given.n;
    turn_clean(given, &clean);
    struct view text = { clean.p, clean.n };
    size_t runes = 0, start = out->n;
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t rune;
        n = (size_t)utf8_next(text.p + i, text.n - i, &rune);
        if (rune <= ' ') {
            has_blank = out->n > start;
            continue;
        }
        if (runes++ >= runes_max) {
            is_cut = true;
            break;
        }
        if (has_blank)
            buf_puts(out, " ");
        has_blank = false;
        if (is_markup(text, i))
            buf_puts(out, "\\");
        buf_append(out, text.p + i, n);
    }
    if (is_cut)
        buf_puts(out, "…");
}

/* A text is decoded, into `text`; all else is as it stands there. */
static bool
take_value(struct json_in *in, struct buf *text, struct view *ret)
{
    bool is_text = json_in_peek(in) == '"';
    const uint8_t *start = in->p;
    buf_clear(text);
    if (is_text ? !json_in_str(in, text) : !json_in_skip(in))
        return false;
    *ret = is_text ? (struct view){ text->p, text->n }
                   : (struct view){ start, (size_t)(in->p - start) };
    return true;
}

/* Of an object the first text in it, or what stands first where it has none: a flag that
 * comes before the name of the file says nothing. Anything else is one itself. */
static struct view
telling_value(struct view json, struct buf *text)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    AUTO(buf) key = { 0 };
    struct view first = { 0 }, value = { 0 };
    bool is_first = true;
    if (!json_in_take(&in, '{'))
        return take_value(&in, text, &value) ? value : first;
    while (json_in_each(&in, '}', &is_first) && json_in_key(&in, &key)) {
        bool is_text = json_in_peek(&in) == '"';
        if (!take_value(&in, text, &value))
            break;
        if (is_text && value.n)
            return value;
        if (!is_text && !first.n)
            first = value;
    }
    return first;
}

static int
add(struct entire_actions *a, const struct turn_event *call)
{
    AUTO(buf) text = { .ceiling = SIZE_MAX }; /* of one event */
    if (a->count == ACTIONS_MAX) {
        a->more++;
        return 0;
    }
    buf_puts(&a->lines, "- **");
    put_line(call->name, NAME_MAX_RUNES, &a->lines);
    buf_puts(&a->lines, "**");
    struct view value = telling_value(call->json, &text);
    if (value.n)
        buf_puts(&a->lines, ": ");
    put_line(value, VALUE_MAX_RUNES, &a->lines);
    buf_puts(&a->lines, "\n");
    a->count++;
    return a->lines.failed;
}

/* Where it stands among those that are open: from there so many bytes; 0: it does not. */
static size_t
find_open(const struct entire_actions *a, struct view id, size_t *ret_at)
{
    struct view rest = { a->open.p, a->open.n }, one;
    for (size_t before; (before = rest.n) && parts_take(&rest, &one);)
        if (one.n == id.n && !memcmp(one.p, id.p, id.n)) {
            *ret_at = a->open.n - before;
            return before - rest.n;
        }
    return 0;
}

int
entire_actions_see(struct entire_actions *a, const struct turn_event *e)
{
    if (e->type == TURN_EXIT) /* what comes next numbers its calls anew */
        buf_clear(&a->open);
    size_t at, n = e->id.n ? find_open(a, e->id, &at) : 0;
    if (e->type == TURN_TOOL_RESULT && n) {
        memmove(a->open.p + at, a->open.p + at + n, a->open.n - at - n);
        a->open.n -= n;
    }
    if (e->type != TURN_TOOL_CALL || n)
        return 0;
    if (e->id.n && e->id.n <= ID_MAX && a->open.n < OPEN_MAX)
        (void)parts_put(&a->open, e->id);
    return add(a, e);
}

void
entire_actions_release(struct entire_actions *a)
{
    buf_release(&a->lines);
    buf_release(&a->open);
}

int
entire_context(const char *session, struct view model, uint64_t start_ns,
               const struct entire_actions *a, struct buf *out)
{
    static const char unknown[] = "unknown";
    buf_printf(out, "# Session Context\n\n- Session ID: %s\n- Model: ", session);
    put_line(model.n ? model
                     : (struct view){ (const uint8_t *)unknown, sizeof(unknown) - 1 },
             NAME_MAX_RUNES, out);
    buf_puts(out, "\n- Started: ");
    iso_time(start_ns, out);
    buf_puts(out, "\n\n## Key Actions\n\n");
    buf_append(out, a->lines.p, a->lines.n);
    if (a->more) {
        buf_puts(out, "\nand ");
        buf_put_grouped(out, a->more);
        buf_puts(out, " more\n");
    } else if (!a->count) {
        buf_puts(out, "None.\n");
    }
    return out->failed;
}
