/* SPDX-License-Identifier: MIT */
/*
 * format_md.c -- Markdown: a table of events and of lines, and fenced text for stretches
 * of lines that a table would mangle.
 *
 * Lines are held until a stretch ends (or is long), so that one table or one fence takes
 * it. Cells are escaped so that no renderer finds anything in them but text; a fence is
 * longer than any run of backticks inside.
 */
#include <strings.h>

#include "play/format_priv.h"

enum { HELD_LINES = 4000, HELD_BYTES = 256 << 10, FENCE = 3 };

/* What stands open, in state[OPEN]. */
enum open { OPEN_NOTHING_YET, OPEN_NONE, OPEN_TABLE, OPEN_FENCE };

/* The words of state. */
enum {
    OPEN,
    FENCE_LEN,    /* of the open fence */
    IS_ALTERNATE, /* the held lines, or those in the open fence */
    HELD,         /* how many lines */
};

/* A line in o->held; its text follows. */
struct held {
    uint64_t index, position, ts_ns;
    size_t n;
};

/* -- what cells and fences are made of -- */

static void
put_escaped(struct buf *out, uint8_t c)
{
    static const char *const entities[128] = {
        ['<'] = "&lt;",  ['>'] = "&gt;", ['&'] = "&amp;", ['|'] = "&#124;",
        ['\n'] = "<br>", ['\t'] = " ",   ['@'] = "&#64;",
    };
    if (entities[c & 0x7f])
        buf_puts(out, entities[c & 0x7f]);
    else
        buf_append(out, (const uint8_t[]){ '\\', c }, 2);
}

/* Is there something that a renderer does more with than show it? Colons, dots and at
 * signs make links of addresses. */
static bool
is_special(struct view text, size_t i)
{
    static const char special[] = "\\`*_[]<>&|~$\n\t";
    uint8_t c = text.p[i];
    if (c == ':')
        return text.n - i > 2 && text.p[i + 1] == '/' && text.p[i + 2] == '/';
    if (c == '@')
        return i && i + 1 < text.n && text.p[i - 1] != ' ' && text.p[i + 1] != ' ';
    if (c == '.')
        return i >= 3 && !strncasecmp((const char *)text.p + i - 3, "www", 3);
    return memchr(special, c, sizeof(special) - 1);
}

void
play_put_md(struct buf *out, struct view text)
{
    size_t run = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (!is_special(text, i))
            continue;
        buf_append(out, text.p + run, i - run);
        put_escaped(out, text.p[i]);
        run = i + 1;
    }
    if (text.n > run)
        buf_append(out, text.p + run, text.n - run);
}

size_t
play_md_ticks(struct view text)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void
put_fence(struct play_out *o, const char *after)
{
    for (uint64_t i = 0; i < o->state[FENCE_LEN]; i++)
        buf_puts(o->out, "`");
    buf_puts(o->out, after);
}

static void
close_open(struct play_out *o)
{
    if (o->state[OPEN] == OPEN_FENCE)
        put_fence(o, "\n");
    o->state[OPEN] = o->state[OPEN] ? OPEN_NONE : OPEN_NOTHING_YET;
}

/* Something else begins, a blank line behind what there is. */
static void
begin_part(struct play_out *o)
{
    close_open(o);
    if (o->state[OPEN])
        buf_puts(o->out, "\n");
}

/* -- tables -- */

static void
open_table(struct play_out *o)
{
    if (o->state[OPEN] == OPEN_TABLE)
        return;
    begin_part(o);
    buf_puts(o->out, "| | position | time | text |\n|---|---:|---:|---|\n");
    o->state[OPEN] = OPEN_TABLE;
}

/* The cells behind the first one. */
static void
put_cells(struct play_out *o, uint64_t position, uint64_t ts_ns, struct view text)
{
    buf_puts(o->out, " | ");
    buf_put_u64(o->out, position);
    buf_puts(o->out, " | ");
    if (ts_ns)
        play_put_clock(o->out, play_since_start(o, ts_ns));
    buf_puts(o->out, " | ");
    play_put_md(o->out, text);
    buf_puts(o->out, " |\n");
}

static void
put_event(struct play_out *o, const struct play_item *item)
{
    static const char *const badges[] = {
        [PLAY_ITEM_LINE] = "",
        [PLAY_ITEM_SNAPSHOT] = "\xf0\x9f\x93\xb8",            /* 📸 */
        [PLAY_ITEM_INSTRUCTION] = "\xe2\x9c\x8f\xef\xb8\x8f", /* ✏️ */
        [PLAY_ITEM_NOTICE] = "\xe2\x9a\xa0\xef\xb8\x8f",      /* ⚠️ */
    };
    open_table(o);
    buf_puts(o->out, "| ");
    buf_puts(o->out, badges[item->kind]);
    buf_puts(o->out, " **");
    buf_puts(o->out, play_item_name(item->kind));
    if (item->event) {
        buf_puts(o->out, " ");
        buf_put_u64(o->out, item->event->id);
    }
    buf_puts(o->out, "**");
    put_cells(o, item->position, item->ts_ns, item->text);
}

/* -- stretches of lines -- */

/* Steps over the held lines: false at the end. */
static bool
next_held(const struct play_out *o, size_t *at, struct held *ret, struct view *ret_text)
{
    if (*at == o->held.n)
        return false;
    memcpy(ret, o->held.p + *at, sizeof(*ret));
    *ret_text = (struct view){ o->held.p + *at + sizeof(*ret), ret->n };
    *at += sizeof(*ret) + ret->n;
    return true;
}

/* A table drops blanks at a cell's edges and runs of them inside. */
static bool
fits_a_cell(struct view text)
{
    if (!text.n || text.p[0] == ' ')
        return false;
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] == ' ' && text.p[i - 1] == ' ')
            return false;
    return true;
}

static void
put_table_lines(struct play_out *o)
{
    struct held line;
    struct view text;
    open_table(o);
    for (size_t at = 0; next_held(o, &at, &line, &text);) {
        buf_puts(o->out, "| ");
        buf_put_u64(o->out, line.index);
        if (o->state[IS_ALTERNATE])
            buf_puts(o->out, " (alternate screen)");
        put_cells(o, line.position, line.ts_ns, text);
    }
}

static void
open_fence(struct play_out *o, size_t longest)
{
    if (o->state[OPEN] == OPEN_FENCE && o->state[FENCE_LEN] > longest)
        return;
    begin_part(o);
    if (o->state[IS_ALTERNATE])
        buf_puts(o->out, "Alternate screen:\n\n");
    o->state[FENCE_LEN] = longest < FENCE ? FENCE : longest + 1;
    put_fence(o, "text\n");
    o->state[OPEN] = OPEN_FENCE;
}

static void
put_fenced_lines(struct play_out *o, size_t longest)
{
    struct held line;
    struct view text;
    open_fence(o, longest);
    for (size_t at = 0; next_held(o, &at, &line, &text);) {
        struct play_item item = { .ts_ns = line.ts_ns, .text = text };
        play_put_time_column(o, &item);
        play_put_view(o->out, text);
        buf_puts(o->out, "\n");
    }
}

static void
put_held(struct play_out *o)
{
    struct held line;
    struct view text;
    bool fits = o->state[OPEN] != OPEN_FENCE;
    size_t longest = 0;
    if (!o->held.n)
        return;
    for (size_t at = 0; next_held(o, &at, &line, &text);) {
        size_t run = play_md_ticks(text);
        longest = run > longest ? run : longest;
        fits = fits && fits_a_cell(text);
    }
    if (fits)
        put_table_lines(o);
    else
        put_fenced_lines(o, longest);
    buf_clear(&o->held);
    o->state[HELD] = 0;
}

static void
hold_line(struct play_out *o, const struct play_item *item)
{
    if (o->state[IS_ALTERNATE] != item->line->is_alternate) {
        put_held(o);
        if (o->state[OPEN] == OPEN_FENCE)
            close_open(o);
        o->state[IS_ALTERNATE] = item->line->is_alternate;
    }
    struct held line = { item->index, item->position, item->ts_ns, item->text.n };
    buf_append(&o->held, &line, sizeof(line));
    play_put_view(&o->held, item->text);
    if (++o->state[HELD] >= HELD_LINES || o->held.n >= HELD_BYTES)
        put_held(o);
}

/* -- the document -- */

static void
begin(struct play_out *o)
{
    const char *title = o->about->title;
    if (!title || !*title)
        return;
    buf_puts(o->out, "# ");
    play_put_md(o->out, (struct view){ (const uint8_t *)title, strlen(title) });
    buf_puts(o->out, "\n");
    o->state[OPEN] = OPEN_NONE;
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_LINE) {
        hold_line(o, item);
        return;
    }
    put_held(o);
    put_event(o, item);
}

static void
end(struct play_out *o)
{
    put_held(o);
    close_open(o);
}

const struct play_format play_format_md = {
    .name = "md",
    .begin = begin,
    .item = put_item,
    .end = end,
};
