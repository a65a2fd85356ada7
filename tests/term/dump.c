/* SPDX-License-Identifier: MIT */
#include "term/dump.h"

void
dump_quoted(struct buf *out, struct view s)
{
    static const char bytes[] = "\x1b\r\n\b\t\a\\\"";
    static const char names[] = "ernbta\\\"";
    buf_puts(out, "\"");
    for (size_t i = 0; i < s.n; i++) {
        const char *known = s.p[i] ? strchr(bytes, s.p[i]) : NULL;
        if (known)
            buf_printf(out, "\\%c", names[known - bytes]);
        else if (s.p[i] < ' ' || s.p[i] == 0x7f)
            buf_printf(out, "\\x%02x", s.p[i]);
        else
            buf_append(out, s.p + i, 1);
    }
    buf_puts(out, "\"");
}

static void
put_word(struct buf *out, const char *word)
{
    buf_printf(out, "%s%s", out->n && out->p[out->n - 1] != ' ' ? " " : "", word);
}

static void
put_colour(struct buf *out, const char *name, uint32_t colour)
{
    if (!colour)
        return;
    put_word(out, name);
    if (term_colour_kind(colour) == TERM_COLOUR_INDEX)
        buf_printf(out, "=%u", term_colour_value(colour));
    else
        buf_printf(out, "=#%06x", term_colour_value(colour));
}

void
dump_style(struct buf *out, const struct term_style *s)
{
    static const char *const attrs[] = { "bold",     "dim",      "italic", "blink",
                                         "rapid",    "inverse",  "hidden", "strike",
                                         "overline", "protected" };
    static const char *const lines[] = { "",         "ul=single", "ul=double",
                                         "ul=curly", "ul=dotted", "ul=dashed",
                                         "ul=6",     "ul=7" };
    size_t start = out->n;
    for (unsigned i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
        if (s->attrs & 1U << i)
            put_word(out, attrs[i]);
    if (term_style_underline(s))
        put_word(out, lines[term_style_underline(s)]);
    put_colour(out, "fg", s->fg);
    put_colour(out, "bg", s->bg);
    put_colour(out, "uc", s->underline_colour);
    if (out->n == start)
        put_word(out, "default");
}

void
dump_row(struct buf *out, const struct term *t, unsigned row)
{
    size_t end = out->n;
    for (unsigned col = 0; col < term_cols(t); col++) {
        struct term_cell c;
        term_cell_at(t, row, col, &c);
        if (!c.width)
            continue;
        if (!c.text.n)
            buf_puts(out, " ");
        buf_append(out, c.text.p, c.text.n);
        if (out->n && out->p[out->n - 1] != ' ')
            end = out->n;
    }
    out->n = end;
}

static void
put_cells(struct buf *out, const struct term *t, unsigned row)
{
    for (unsigned col = 0; col < term_cols(t); col++) {
        struct term_cell c;
        term_cell_at(t, row, col, &c);
        buf_printf(out, "cell %u %u width %u ", row, col, c.width);
        dump_quoted(out, c.text);
        buf_puts(out, " ");
        dump_style(out, &c.style);
        buf_printf(out, " link '%s'\n", term_link_uri(t, c.style.link));
    }
    buf_printf(out, "damage %u %d\n", row, term_is_damaged(t, row));
}

static int
put_line(void *ctx, const struct term_line *line)
{
    struct buf *out = ctx;
    dump_quoted(out, (struct view){ line->text.p, line->text.n });
    buf_printf(out, " cols %u stamp %llu%s%s\n", line->cols,
               (unsigned long long)line->last_write_byte,
               line->is_wrapped ? " wrapped" : "",
               line->is_alternate ? " alternate" : "");
    for (size_t i = 0; i < line->n_spans; i++) {
        const struct term_span *s = &line->spans[i];
        buf_printf(out, "span %u %u ", s->start, s->end);
        dump_style(out, &s->style);
        buf_printf(out, " link '%s'\n", s->uri ? s->uri : "");
    }
    return 0;
}

static void
put_lines(struct buf *out, const struct term *t)
{
    struct term_line line = { 0 };
    size_t count = term_scrollback_count(t) + term_rows(t);
    buf_printf(out, "size %u %u scrollback %zu dropped %llu %llu\n", term_cols(t),
               term_rows(t), term_scrollback_count(t),
               (unsigned long long)term_scrollback_dropped(t),
               (unsigned long long)term_alternate_dropped(t));
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "line %zu ", i);
        if (!term_line_at(t, i, &line))
            put_line(out, &line);
    }
    term_line_release(&line);
    buf_puts(out, "final\n");
    term_final_lines(t, put_line, out);
}

static void
put_state(struct buf *out, const struct term *t)
{
    struct term_cursor c = term_cursor(t);
    struct term_modes m = term_modes(t);
    buf_printf(out, "cursor %u %u visible %d pending %d blink %d shape %d\n", c.row,
               c.col, c.is_visible, c.is_wrap_pending, c.is_blinking, (int)c.shape);
    buf_printf(out, "modes %d %d %d %d %d %d %d %d %u %u %u\n", m.is_alternate,
               m.is_reverse, m.is_synchronized, m.app_cursor_keys, m.app_keypad,
               m.bracketed_paste, m.focus_events, m.alternate_scroll, m.mouse,
               m.mouse_encoding, m.kitty_keys);
    buf_printf(out, "title '%s' icon '%s' error %d\n", term_title(t), term_icon_title(t),
               term_error(t));
    for (unsigned i = 0; i <= TERM_COLOUR_CURSOR; i++) {
        uint32_t rgb;
        if (term_colour(t, i, &rgb))
            buf_printf(out, "colour %u %06x\n", i, rgb);
    }
    for (size_t i = 0; i < term_mark_count(t); i++) {
        struct term_mark m1 = term_mark_at(t, i);
        buf_printf(out, "mark %d at %llu line %llu ", (int)m1.kind,
                   (unsigned long long)m1.byte_off, (unsigned long long)m1.line);
        dump_quoted(out, m1.text);
        buf_puts(out, "\n");
    }
}

void
dump_all(struct buf *out, const struct term *t)
{
    put_state(out, t);
    put_lines(out, t);
    for (unsigned row = 0; row < term_rows(t); row++)
        put_cells(out, t, row);
}

bool
dump_same(struct buf *a, struct buf *b, struct buf *why)
{
    const char *x = buf_str(a), *y = buf_str(b);
    size_t i = 0, line = 0;
    for (; i < a->n && i < b->n && x[i] == y[i]; i++)
        if (x[i] == '\n')
            line = i + 1;
    if (i == a->n && i == b->n)
        return true;
    buf_printf(why, "one   %.*s\n", (int)strcspn(x + line, "\n"), x + line);
    buf_printf(why, "other %.*s\n", (int)strcspn(y + line, "\n"), y + line);
    return false;
}
