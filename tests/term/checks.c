/* SPDX-License-Identifier: MIT */
/*
 * checks.c -- what a case may ask of the model.
 *
 * A check writes what it found as the case's own words and compares bytes: what is told
 * on failure is what would have passed.
 */
#include "term/checks.h"

#include "term/dump.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static struct view
cstr(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct view
trimmed(struct view s)
{
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

static bool
same(struct steps_run *r, struct view want, struct view have)
{
    if (case_same(want, have))
        return true;
    buf_puts(&r->why, "expected ");
    dump_quoted(&r->why, want);
    buf_puts(&r->why, "\nfound    ");
    dump_quoted(&r->why, have);
    return false;
}

/* The arguments from number `first` on, in words, are `have`. */
static bool
same_words(struct steps_run *r, const struct case_step *s, size_t first,
           const struct buf *have)
{
    AUTO(buf) want = { 0 };
    for (size_t i = first; i < s->n_args; i++) {
        if (i > first)
            buf_puts(&want, " ");
        buf_append(&want, s->args[i].p, s->args[i].n);
    }
    return same(r, view_of(&want), view_of(have));
}

static bool
same_text(struct steps_run *r, struct view want, const char *have)
{
    return same(r, want, cstr(have));
}

static bool
same_number(struct steps_run *r, struct view want, uint64_t have)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)have);
    return same_text(r, want, text);
}

static bool
same_answer(struct steps_run *r, struct view want, bool have)
{
    return same_text(r, want, have ? "yes" : "no");
}

static bool
is_on_screen(struct steps_run *r, unsigned row, unsigned col)
{
    if (row < term_rows(r->t) && col < term_cols(r->t))
        return true;
    buf_printf(&r->why, "row %u column %u is not on the screen", row, col);
    return false;
}

/* -- what is checked: lines -- */

/* The line at an index; its text, taken from its cells too when it is on the screen. */
static bool
same_line(struct steps_run *r, size_t index, struct view want)
{
    struct term_line line = { 0 };
    size_t above = term_scrollback_count(r->t);
    bool ok = index < above + term_rows(r->t) && !term_line_at(r->t, index, &line);
    if (!ok)
        buf_puts(&r->why, "there is no such line");
    ok = ok && same(r, trimmed(want), trimmed(view_of(&line.text)));
    if (ok && index >= above) {
        AUTO(buf) cells = { 0 };
        dump_row(&cells, r->t, (unsigned)(index - above));
        ok = same(r, trimmed(want), view_of(&cells));
        if (!ok)
            buf_puts(&r->why, "\n(in its cells)");
    }
    term_line_release(&line);
    return ok;
}

bool
check_row(struct steps_run *r, const struct case_step *s)
{
    return is_on_screen(r, case_number_at(s, 0), 0) &&
           same_line(r, term_scrollback_count(r->t) + case_number_at(s, 0), s->args[1]);
}

bool
check_rows(struct steps_run *r, const struct case_step *s)
{
    size_t above = term_scrollback_count(r->t);
    for (unsigned row = 0; row < term_rows(r->t); row++) {
        struct view want = row < s->n_args ? s->args[row] : (struct view){ 0 };
        if (!same_line(r, above + row, want)) {
            buf_printf(&r->why, "\nin row %u", row);
            return false;
        }
    }
    return true;
}

bool
check_line(struct steps_run *r, const struct case_step *s)
{
    return same_line(r, case_number_at(s, 0), s->args[1]);
}

/* A property of the line at an index. */
static bool
same_property(struct steps_run *r, size_t index, const struct case_step *s)
{
    struct term_line line = { 0 };
    bool ok = index < term_scrollback_count(r->t) + term_rows(r->t) &&
              !term_line_at(r->t, index, &line);
    if (!ok)
        buf_puts(&r->why, "there is no such line");
    else if (case_is(s->name, "wrapped") || case_is(s->name, "line_wrapped"))
        ok = same_answer(r, s->args[1], line.is_wrapped);
    else
        ok = same_number(r, s->args[1], line.last_write_byte);
    term_line_release(&line);
    return ok;
}

bool
check_row_property(struct steps_run *r, const struct case_step *s)
{
    return same_property(r, term_scrollback_count(r->t) + case_number_at(s, 0), s);
}

bool
check_line_property(struct steps_run *r, const struct case_step *s)
{
    return same_property(r, case_number_at(s, 0), s);
}

bool
check_scrollback(struct steps_run *r, const struct case_step *s)
{
    return same_number(r, s->args[0], term_scrollback_count(r->t)) &&
           (s->n_args < 2 || same_number(r, s->args[1], term_scrollback_dropped(r->t)));
}

static void
put_final_text(struct buf *out, struct view text, bool is_alternate)
{
    buf_puts(out, is_alternate ? "alt " : "");
    dump_quoted(out, trimmed(text));
    buf_puts(out, " ");
}

static int
put_final(void *ctx, const struct term_line *line)
{
    put_final_text(ctx, view_of(&line->text), line->is_alternate);
    return 0;
}

bool
check_final(struct steps_run *r, const struct case_step *s)
{
    AUTO(buf) have = { 0 };
    AUTO(buf) want = { 0 };
    term_final_lines(r->t, put_final, &have);
    for (size_t i = 0; i < s->n_args; i++) {
        bool is_alternate = case_is(s->args[i], "alt") && i + 1 < s->n_args;
        i += is_alternate;
        put_final_text(&want, s->args[i], is_alternate);
    }
    return same(r, view_of(&want), view_of(&have));
}

/* -- what is checked: cells -- */

bool
check_cell(struct steps_run *r, const struct case_step *s)
{
    if (!is_on_screen(r, case_number_at(s, 0), case_number_at(s, 1)))
        return false;
    struct term_cell c;
    term_cell_at(r->t, case_number_at(s, 0), case_number_at(s, 1), &c);
    return same(r, trimmed(s->args[2]), trimmed(c.text)) &&
           (s->n_args < 4 || same_number(r, s->args[3], c.width));
}

bool
check_style(struct steps_run *r, const struct case_step *s)
{
    if (!is_on_screen(r, case_number_at(s, 0), case_number_at(s, 1)))
        return false;
    struct term_cell c;
    term_cell_at(r->t, case_number_at(s, 0), case_number_at(s, 1), &c);
    AUTO(buf) have = { 0 };
    dump_style(&have, &c.style);
    return same_words(r, s, 2, &have);
}

bool
check_link(struct steps_run *r, const struct case_step *s)
{
    if (!is_on_screen(r, case_number_at(s, 0), case_number_at(s, 1)))
        return false;
    struct term_cell c;
    term_cell_at(r->t, case_number_at(s, 0), case_number_at(s, 1), &c);
    return same_text(r, s->args[2], term_link_uri(r->t, c.style.link));
}

bool
check_damage(struct steps_run *r, const struct case_step *s)
{
    return is_on_screen(r, case_number_at(s, 0), 0) &&
           same_answer(r, s->args[1], term_is_damaged(r->t, case_number_at(s, 0)));
}

/* -- what is checked: the rest -- */

bool
check_cursor(struct steps_run *r, const struct case_step *s)
{
    struct term_cursor c = term_cursor(r->t);
    AUTO(buf) have = { 0 };
    buf_printf(&have, "%u %u", c.row, c.col);
    return same_words(r, s, 0, &have);
}

bool
check_cursor_look(struct steps_run *r, const struct case_step *s)
{
    static const char *const shapes[] = { "block", "underline", "bar" };
    struct term_cursor c = term_cursor(r->t);
    if (case_is(s->name, "pending"))
        return same_answer(r, s->args[0], c.is_wrap_pending);
    if (case_is(s->name, "visible"))
        return same_answer(r, s->args[0], c.is_visible);
    if (case_is(s->name, "blink"))
        return same_answer(r, s->args[0], c.is_blinking);
    return same_text(r, s->args[0], shapes[c.shape]);
}

bool
check_mode(struct steps_run *r, const struct case_step *s)
{
    struct term_modes m = term_modes(r->t);
    const struct {
        const char *name;
        unsigned value;
    } modes[] = {
        { "alternate", m.is_alternate },
        { "reverse", m.is_reverse },
        { "synchronized", m.is_synchronized },
        { "app_cursor_keys", m.app_cursor_keys },
        { "app_keypad", m.app_keypad },
        { "bracketed_paste", m.bracketed_paste },
        { "focus_events", m.focus_events },
        { "alternate_scroll", m.alternate_scroll },
        { "mouse", m.mouse },
        { "mouse_encoding", m.mouse_encoding },
        { "kitty_keys", m.kitty_keys },
    };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (case_is(s->args[0], modes[i].name))
            return same_number(r, s->args[1], modes[i].value);
    return same_text(r, s->args[0], "a known mode");
}

bool
check_title(struct steps_run *r, const struct case_step *s)
{
    bool is_icon = case_is(s->name, "icon");
    return same_text(r, s->args[0], is_icon ? term_icon_title(r->t) : term_title(r->t));
}

bool
check_colour(struct steps_run *r, const struct case_step *s)
{
    unsigned which = case_number_at(s, 0);
    if (case_is(s->args[0], "fg"))
        which = TERM_COLOUR_FG;
    else if (case_is(s->args[0], "bg"))
        which = TERM_COLOUR_BG;
    else if (case_is(s->args[0], "cursor"))
        which = TERM_COLOUR_CURSOR;
    char have[16] = "default";
    uint32_t rgb;
    if (term_colour(r->t, which, &rgb))
        snprintf(have, sizeof(have), "#%06x", rgb);
    return same_text(r, s->args[1], have);
}

/* A star in what is expected stands for any bytes; at most one. */
bool
check_reply(struct steps_run *r, const struct case_step *s)
{
    struct view want = s->args[0], have = view_of(&r->replies);
    const uint8_t *star = want.n ? memchr(want.p, '*', want.n) : NULL;
    size_t before = star ? (size_t)(star - want.p) : 0;
    size_t behind = star ? want.n - before - 1 : 0;
    bool ok = star && have.n >= before + behind && !memcmp(want.p, have.p, before) &&
              !memcmp(star + 1, have.p + have.n - behind, behind);
    ok = ok || same(r, want, have);
    buf_clear(&r->replies);
    return ok;
}

bool
check_marks(struct steps_run *r, const struct case_step *s)
{
    return same_number(r, s->args[0], term_mark_count(r->t));
}

bool
check_mark(struct steps_run *r, const struct case_step *s)
{
    static const char *const kinds[] = { "clipboard", "prompt", "vscode" };
    size_t i = case_number_at(s, 0);
    if (i >= term_mark_count(r->t)) {
        buf_puts(&r->why, "there is no such mark");
        return false;
    }
    struct term_mark m = term_mark_at(r->t, i);
    if (case_is(s->name, "mark"))
        return same_text(r, s->args[1], kinds[m.kind]) && same(r, s->args[2], m.text);
    return same_number(r, s->args[1], m.byte_off) && same_number(r, s->args[2], m.line);
}
