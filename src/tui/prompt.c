/* SPDX-License-Identifier: MIT */
#include "tui/prompt_priv.h"

#include <stdio.h>

#include "base/utf8.h"
#include "tui/field_priv.h"

static struct view
text_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

void
tui_prompt_release(struct tui_prompt *p)
{
    buf_release(&p->text);
    buf_release(&p->typed);
    for (unsigned i = 0; i < TUI_PROMPT_OLD; i++)
        buf_release(&p->old[i]);
    *p = (struct tui_prompt){ 0 };
}

/* -- its text -- */

static enum tui_prompt_end
replace(struct tui_prompt *p, size_t at, size_t n, struct view by)
{
    if ((!n && !by.n) || !tui_field_replace(&p->text, TUI_PROMPT_BYTES, at, n, by))
        return TUI_PROMPT_GOES_ON;
    p->cursor = at + by.n;
    p->at_old = 0;
    return TUI_PROMPT_CHANGED;
}

static enum tui_prompt_end
cut(struct tui_prompt *p, size_t from, size_t to)
{
    return replace(p, from, to - from, (struct view){ NULL, 0 });
}

static void
copy(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_append(to, from->p, from->n);
}

void
tui_prompt_open(struct tui_prompt *p, const char *head, struct view text)
{
    p->is_open = true;
    p->at_old = 0;
    p->cursor = 0;
    buf_clear(&p->text);
    snprintf(p->head, sizeof(p->head), "%s", head);
    for (uint32_t rune; text.n;) {
        int n = utf8_next(text.p, text.n, &rune);
        size_t size = n > 0 ? (size_t)n : 1;
        if (n > 0 && tui_field_is_text(rune))
            replace(p, p->cursor, 0, (struct view){ text.p, size });
        text = (struct view){ text.p + size, text.n - size };
    }
}

/* -- what was typed here before -- */

static void
remember(struct tui_prompt *p)
{
    if (!p->text.n || (p->n_old && is_same(&p->old[0], &p->text)))
        return;
    struct buf last = p->old[TUI_PROMPT_OLD - 1];
    memmove(&p->old[1], &p->old[0], sizeof(p->old[0]) * (TUI_PROMPT_OLD - 1));
    p->old[0] = last;
    copy(&p->old[0], &p->text);
    if (p->n_old < TUI_PROMPT_OLD)
        p->n_old++;
}

static enum tui_prompt_end
go_to_old(struct tui_prompt *p, unsigned to)
{
    if (to > p->n_old)
        return TUI_PROMPT_GOES_ON;
    if (!p->at_old)
        copy(&p->typed, &p->text);
    p->at_old = to;
    copy(&p->text, to ? &p->old[to - 1] : &p->typed);
    p->cursor = p->text.n;
    return TUI_PROMPT_CHANGED;
}

/* -- keys -- */

static enum tui_prompt_end
end_with(struct tui_prompt *p, enum tui_prompt_end how)
{
    p->is_open = false;
    if (how == TUI_PROMPT_DONE)
        remember(p);
    return how;
}

static enum tui_prompt_end
move(struct tui_prompt *p, size_t to)
{
    p->cursor = to;
    return TUI_PROMPT_GOES_ON;
}

static enum tui_prompt_end
type(struct tui_prompt *p, struct tui_key key)
{
    uint8_t room[4] = { ' ' };
    /* A prompt has one line. */
    bool is_blank = key.is_pasted &&
                    (key.kind == TUI_KEY_ENTER || key.kind == TUI_KEY_TAB);
    size_t n = is_blank ? 1 : tui_field_typed(key, room);
    return replace(p, p->cursor, 0, (struct view){ room, n });
}

static enum tui_prompt_end
take_ctrl(struct tui_prompt *p, struct tui_key key)
{
    struct view text = text_of(&p->text);
    switch (key.rune) {
    case 'a':
        return move(p, 0);
    case 'e':
        return move(p, text.n);
    case 'b':
        return move(p, tui_field_before(NULL, text, p->cursor));
    case 'f':
        return move(p, tui_field_behind(NULL, text, p->cursor));
    case 'u':
        return cut(p, 0, p->cursor);
    case 'k':
        return cut(p, p->cursor, text.n);
    case 'w':
        return cut(p, tui_field_word_before(text, p->cursor), p->cursor);
    case 'c':
        return end_with(p, TUI_PROMPT_GIVEN_UP);
    case 'j':
    case 'm':
        return end_with(p, TUI_PROMPT_DONE);
    default:
        return TUI_PROMPT_GOES_ON;
    }
}

static enum tui_prompt_end
take_backspace(struct tui_prompt *p)
{
    if (!p->text.n)
        return end_with(p, TUI_PROMPT_GIVEN_UP);
    return cut(p, tui_field_before(NULL, text_of(&p->text), p->cursor), p->cursor);
}

static enum tui_prompt_end
take_key(struct tui_prompt *p, struct tui_key key)
{
    struct view text = text_of(&p->text);
    switch (key.kind) {
    case TUI_KEY_CHAR:
        if (key.has_ctrl && key.rune == 'h')
            return take_backspace(p);
        return key.has_ctrl ? take_ctrl(p, key) : type(p, key);
    case TUI_KEY_ENTER:
        return end_with(p, TUI_PROMPT_DONE);
    case TUI_KEY_ESCAPE:
        return end_with(p, TUI_PROMPT_GIVEN_UP);
    case TUI_KEY_BACKSPACE:
        return take_backspace(p);
    case TUI_KEY_DELETE:
        return cut(p, p->cursor, tui_field_behind(NULL, text, p->cursor));
    case TUI_KEY_LEFT:
        return move(p, key.has_ctrl || key.has_alt
                           ? tui_field_word_before(text, p->cursor)
                           : tui_field_before(NULL, text, p->cursor));
    case TUI_KEY_RIGHT:
        return move(p, key.has_ctrl || key.has_alt
                           ? tui_field_word_behind(text, p->cursor)
                           : tui_field_behind(NULL, text, p->cursor));
    case TUI_KEY_HOME:
        return move(p, 0);
    case TUI_KEY_END:
        return move(p, text.n);
    case TUI_KEY_UP:
        return go_to_old(p, p->at_old + 1);
    case TUI_KEY_DOWN:
        return p->at_old ? go_to_old(p, p->at_old - 1) : TUI_PROMPT_GOES_ON;
    case TUI_KEY_TAB:
    case TUI_KEY_PAGE_UP:
    case TUI_KEY_PAGE_DOWN:
    case TUI_KEY_MOUSE:
        break;
    }
    return TUI_PROMPT_GOES_ON;
}

enum tui_prompt_end
tui_prompt_key(struct tui_prompt *p, struct tui_key key)
{
    return key.is_pasted ? type(p, key) : take_key(p, key);
}

/* -- what is seen of it -- */

/* Appends characters from the front as far as they have room; their columns. */
static unsigned
put_some(struct term_widths *widths, struct view text, unsigned cols, struct buf *out)
{
    unsigned used = 0, width;
    while (text.n) {
        size_t n = tui_field_next(widths, text, &width);
        if (used + width > cols)
            break;
        buf_append(out, text.p, n);
        used += width;
        text = (struct view){ text.p + n, text.n - n };
    }
    return used;
}

static unsigned
columns_of(struct term_widths *widths, struct view text)
{
    unsigned cols = 0, width;
    while (text.n) {
        size_t n = tui_field_next(widths, text, &width);
        cols += width;
        text = (struct view){ text.p + n, text.n - n };
    }
    return cols;
}

void
tui_prompt_put(const struct tui_prompt *p, unsigned cols, struct term_widths *widths,
               struct buf *out, unsigned *ret_col)
{
    struct view head = { (const uint8_t *)p->head, strlen(p->head) };
    struct view text = text_of(&p->text);
    /* One column is the cursor's; what is long goes out at the left. */
    unsigned room = cols ? cols - 1 : 0, width;
    unsigned used = put_some(widths, head, room / 2, out);
    unsigned before = columns_of(widths, (struct view){ text.p, p->cursor });
    while (before > room - used && text.n) {
        size_t n = tui_field_next(widths, text, &width);
        before -= width < before ? width : before;
        text = (struct view){ text.p + n, text.n - n };
    }
    put_some(widths, text, cols - used, out);
    *ret_col = used + before;
}
