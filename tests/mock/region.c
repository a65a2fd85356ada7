/* SPDX-License-Identifier: MIT */
#include "mock/region.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SAND = 0xd77757, GREY = 0x888888 };

static const char *const todos[] = {
    "read src/tape/writer.c",  "ask 世界 for help", "mend the naïve parser",
    "run テスト again",        "pack 📦 and ship 🚀", "write docs/日本語.md",
    "think about cafe\u0301s",
};
static const char *const typed[] = {
    "", "n", "no", "now fix 한국어", "🔍 look there", "ok"
};

/* Ends a row of the region; false when there is no room for another. */
static bool
next_row(struct page *p)
{
    page_clear_right(p);
    if (p->row + 1 >= page_region_room(p))
        return false;
    page_newline(p);
    return true;
}

void
region_draw_spinner(struct page *p, const struct region *s)
{
    static const char *const frames[] = { "✻", "✽", "✶", "✳", "✢", "·" };
    static const char *const letters[] = { "T", "h", "i", "n", "k", "i", "n", "g", "…" };
    page_colour(p, SAND);
    page_puts(p, frames[s->tick % COUNT(frames)]);
    page_puts(p, " ");
    for (unsigned i = 0; i < COUNT(letters); i++) {
        page_colour(p, i == s->tick % COUNT(letters) ? 0xffffff : SAND);
        page_puts(p, letters[i]);
    }
    page_style(p, "\x1b[39;2m");
    page_printf(p, " (%us · ↓ %u tokens · esc to interrupt)", s->tick / 10, s->tokens);
    page_style(p, "\x1b[22m");
}

static void
draw_todo(struct page *p, const struct region *s, unsigned i)
{
    bool is_done = i * 8 < s->tick % 40;
    page_style(p, is_done ? "\x1b[9m" : "\x1b[1m");
    page_printf(p, "  %s %s", is_done ? "☒" : "☐", todos[(s->todos + i) % COUNT(todos)]);
    page_style(p, "\x1b[m");
}

static void
draw_rule(struct page *p, const char *left, const char *right)
{
    page_colour(p, GREY);
    page_puts(p, left);
    while (p->col + 1 < p->cols)
        page_puts(p, "─");
    page_puts(p, right);
    page_style(p, "\x1b[39m");
}

static void
draw_box(struct page *p, const struct region *s)
{
    draw_rule(p, "╭", "╮");
    if (!next_row(p))
        return;
    page_puts(p, "│ > ");
    page_style(p, "\x1b[7m");
    page_puts(p, typed[s->tick / 5 % COUNT(typed)]);
    page_style(p, "\x1b[27m");
    page_clear_right(p);
    page_goto_col(p, p->cols - 1);
    page_puts(p, "│");
    if (!next_row(p))
        return;
    draw_rule(p, "╰", "╯");
}

void
region_draw(struct page *p, const struct region *s)
{
    page_style(p, "\x1b[?2026h");
    if (!p->is_region)
        page_region_open(p);
    page_region_goto(p, 0);
    region_draw_spinner(p, s);
    bool has_room = next_row(p);
    for (unsigned i = 0; has_room && i < s->todos; i++) {
        draw_todo(p, s, i);
        has_room = next_row(p);
    }
    if (has_room) {
        draw_box(p, s);
        has_room = next_row(p);
    }
    if (has_room) {
        page_printf(p, "  🔍 %u%% context left", 99 - s->tick % 90);
        page_clear_right(p);
    }
    page_region_cut(p);
    page_style(p, "\x1b[?2026l");
}
