/* SPDX-License-Identifier: MIT */
#include "tui/draft_priv.h"

#include "base/utf8.h"
#include "tui/field_priv.h"

enum { PAGE_LINES = 10 };

static struct view
text_of(const struct tui_draft *d)
{
    return (struct view){ d->text.p, d->text.n };
}

void
tui_draft_release(struct tui_draft *d)
{
    buf_release(&d->text);
    buf_release(&d->undo);
    buf_release(&d->begins);
    *d = (struct tui_draft){ 0 };
}

void
tui_draft_clear(struct tui_draft *d)
{
    buf_clear(&d->text);
    buf_clear(&d->undo);
    buf_clear(&d->begins);
    *d = (struct tui_draft){
        .text = d->text, .undo = d->undo, .begins = d->begins, .cols = d->cols
    };
}

bool
tui_draft_is_empty(const struct tui_draft *d)
{
    for (size_t i = 0; i < d->text.n; i++)
        if (d->text.p[i] != ' ' && d->text.p[i] != '\t' && d->text.p[i] != '\n')
            return false;
    return true;
}

/* -- a text from elsewhere -- */

/* The character at the front as a draft may have it, in room; its size there. */
static size_t
clean_next(struct view *text, uint8_t room[4])
{
    uint32_t rune;
    int n = utf8_next(text->p, text->n, &rune);
    bool is_pair = text->n > 1 && text->p[0] == '\r' && text->p[1] == '\n';
    size_t taken = n > 0 ? (size_t)n + is_pair : 1;
    *text = (struct view){ text->p + taken, text->n - taken };
    if (n > 0 && rune == '\r')
        rune = '\n';
    if (n <= 0 || (rune != '\n' && rune != '\t' && !tui_field_is_text(rune)))
        return 0;
    return utf8_put(room, rune);
}

void
tui_draft_set(struct tui_draft *d, struct view text)
{
    AUTO(buf) clean = { 0 };
    uint8_t room[4];
    bool is_cut = false;
    while (text.n && !is_cut) {
        size_t n = clean_next(&text, room);
        is_cut = clean.n + n > TUI_DRAFT_BYTES;
        if (!is_cut)
            buf_append(&clean, room, n);
    }
    while (clean.n && clean.p[clean.n - 1] == '\n')
        clean.n--;
    d->want_col = 0;
    d->was_escape = d->is_full = false;
    tui_draft_change(d, 0, d->text.n, (struct view){ clean.p, clean.n }, TUI_DRAFT_ALONE);
    d->is_full |= is_cut;
}

/* -- what keys do -- */

static enum tui_draft_end
move(struct tui_draft *d, size_t to)
{
    d->cursor = to;
    d->want_col = 0;
    d->run = TUI_DRAFT_ALONE;
    return TUI_DRAFT_GOES_ON;
}

static enum tui_draft_end
cut(struct tui_draft *d, size_t from, size_t to)
{
    d->want_col = 0;
    tui_draft_change(d, from, to - from, (struct view){ NULL, 0 }, TUI_DRAFT_ERASING);
    return TUI_DRAFT_GOES_ON;
}

static enum tui_draft_end
insert(struct tui_draft *d, struct view text, enum tui_draft_run run)
{
    d->want_col = 0;
    tui_draft_change(d, d->cursor, 0, text, run);
    return TUI_DRAFT_GOES_ON;
}

static enum tui_draft_end
undo(struct tui_draft *d)
{
    d->want_col = 0;
    tui_draft_undo(d);
    return TUI_DRAFT_GOES_ON;
}

/* Up and down by lines of the screen. */
static enum tui_draft_end
move_lines(struct tui_draft *d, struct term_widths *widths, bool is_up, size_t count)
{
    size_t line, lines = tui_draft_lines(d, widths);
    unsigned col;
    tui_draft_cursor(d, widths, &line, &col);
    if (is_up ? !line : line + 1 == lines)
        return move(d, is_up ? 0 : d->text.n);
    unsigned want = d->want_col ? d->want_col - 1 : col;
    if (is_up)
        line -= count < line ? count : line;
    else
        line = count < lines - line ? line + count : lines - 1;
    move(d, tui_draft_place(d, widths, line, want));
    d->want_col = want + 1;
    return TUI_DRAFT_GOES_ON;
}

/* To the line's end, or the line's end itself. */
static enum tui_draft_end
cut_line(struct tui_draft *d)
{
    size_t end = tui_field_end(text_of(d), d->cursor);
    return cut(d, d->cursor, end == d->cursor && end < d->text.n ? end + 1 : end);
}

static enum tui_draft_end
give_up(struct tui_draft *d, bool was_escape)
{
    d->was_escape = !was_escape && !tui_draft_is_empty(d);
    return d->was_escape ? TUI_DRAFT_GOES_ON : TUI_DRAFT_GIVEN_UP;
}

static enum tui_draft_end
take_ctrl(struct tui_draft *d, struct tui_key key, struct term_widths *widths)
{
    struct view text = text_of(d);
    size_t at = d->cursor;
    switch (key.rune) {
    case 'a':
        return move(d, tui_field_begin(text, at));
    case 'e':
        return TUI_DRAFT_EDITOR;
    case 's':
        return TUI_DRAFT_SUBMITTED;
    case 'b':
        return move(d, tui_field_before(widths, text, at));
    case 'f':
        return move(d, tui_field_behind(widths, text, at));
    case 'p':
        return move_lines(d, widths, true, 1);
    case 'n':
        return move_lines(d, widths, false, 1);
    case 'k':
        return cut_line(d);
    case 'u':
        return cut(d, tui_field_begin(text, at), at);
    case 'w':
        return cut(d, tui_field_word_before(text, at), at);
    case 'h':
        return cut(d, tui_field_before(widths, text, at), at);
    case 'd':
        return cut(d, at, tui_field_behind(widths, text, at));
    case 'z':
    case '_':
        return undo(d);
    default:
        return TUI_DRAFT_GOES_ON;
    }
}

static enum tui_draft_end
type(struct tui_draft *d, struct tui_key key)
{
    uint8_t room[4];
    size_t n = tui_field_typed(key, room);
    /* What is pasted is undone at once, what is typed line by line. */
    bool is_line = key.kind == TUI_KEY_ENTER;
    if (is_line || key.kind == TUI_KEY_TAB)
        room[0] = is_line ? '\n' : '\t', n = 1;
    return insert(d, (struct view){ room, n },
                  is_line && !key.is_pasted ? TUI_DRAFT_ALONE : TUI_DRAFT_TYPING);
}

static enum tui_draft_end
take_key(struct tui_draft *d, struct tui_key key, struct term_widths *widths)
{
    struct view text = text_of(d);
    size_t at = d->cursor;
    bool is_word = key.has_ctrl || key.has_alt;
    switch (key.kind) {
    case TUI_KEY_CHAR:
        return key.has_ctrl ? take_ctrl(d, key, widths) : type(d, key);
    case TUI_KEY_ENTER:
        return key.has_ctrl ? TUI_DRAFT_SUBMITTED : type(d, key);
    case TUI_KEY_TAB:
        return key.has_shift ? TUI_DRAFT_GOES_ON : type(d, key);
    case TUI_KEY_BACKSPACE:
        return cut(d,
                   is_word ? tui_field_word_before(text, at)
                           : tui_field_before(widths, text, at),
                   at);
    case TUI_KEY_DELETE:
        return cut(d, at,
                   is_word ? tui_field_word_behind(text, at)
                           : tui_field_behind(widths, text, at));
    case TUI_KEY_LEFT:
        return move(d, is_word ? tui_field_word_before(text, at)
                               : tui_field_before(widths, text, at));
    case TUI_KEY_RIGHT:
        return move(d, is_word ? tui_field_word_behind(text, at)
                               : tui_field_behind(widths, text, at));
    case TUI_KEY_HOME:
        return move(d, key.has_ctrl ? 0 : tui_field_begin(text, at));
    case TUI_KEY_END:
        return move(d, key.has_ctrl ? text.n : tui_field_end(text, at));
    case TUI_KEY_UP:
    case TUI_KEY_DOWN:
        return move_lines(d, widths, key.kind == TUI_KEY_UP, 1);
    case TUI_KEY_PAGE_UP:
    case TUI_KEY_PAGE_DOWN:
        return move_lines(d, widths, key.kind == TUI_KEY_PAGE_UP, PAGE_LINES);
    case TUI_KEY_ESCAPE:
    case TUI_KEY_MOUSE:
        break;
    }
    return TUI_DRAFT_GOES_ON;
}

enum tui_draft_end
tui_draft_key(struct tui_draft *d, struct tui_key key, struct term_widths *widths)
{
    bool was_escape = d->was_escape;
    if (key.kind == TUI_KEY_MOUSE)
        return TUI_DRAFT_GOES_ON;
    d->was_escape = d->is_full = false;
    if (key.is_pasted)
        return type(d, key);
    bool is_break = key.kind == TUI_KEY_CHAR && key.has_ctrl && key.rune == 'c';
    if (key.kind == TUI_KEY_ESCAPE || is_break)
        return give_up(d, was_escape);
    return take_key(d, key, widths);
}
