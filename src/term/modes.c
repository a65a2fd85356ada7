/* SPDX-License-Identifier: MIT */
/* modes.c -- what SM, RM, DECSET and DECRST switch, by table, and DECRQM's answers. */
#include "term/handlers_priv.h"

typedef void (*mode_fn)(struct term *t, unsigned number, bool is_on);
typedef bool (*mode_is_fn)(const struct term *t, unsigned number);

struct mode {
    uint16_t number;
    bool is_private;
    uint8_t flag;      /* enum term_mode, TERM_MODES: none */
    mode_fn set;       /* NULL: setting the flag is all; without a flag: always set */
    mode_is_fn is_set; /* where there is no flag */
    const char *name;
};

/* -- those that are more than a flag -- */

static void
set_origin(struct term *t, unsigned number, bool is_on)
{
    (void)number;
    term_set(t, TERM_MODE_ORIGIN, is_on);
    term_move_origin(t, 0, 0);
}

static void
set_autowrap(struct term *t, unsigned number, bool is_on)
{
    (void)number;
    term_set(t, TERM_MODE_AUTOWRAP, is_on);
    if (!is_on)
        t->at.is_pending = false;
}

static void
set_margins(struct term *t, unsigned number, bool is_on)
{
    (void)number;
    term_set(t, TERM_MODE_MARGINS, is_on);
    t->left = 0;
    t->right = t->cols;
    t->at.is_pending &= t->at.col + 1 == t->cols;
}

static void
set_reverse(struct term *t, unsigned number, bool is_on)
{
    (void)number;
    term_set(t, TERM_MODE_REVERSE, is_on);
    term_damage_all(t);
}

static void
set_mouse(struct term *t, unsigned number, bool is_on)
{
    t->mouse = is_on ? number : 0;
}

static bool
is_mouse(const struct term *t, unsigned number)
{
    return t->mouse == number;
}

static void
set_mouse_encoding(struct term *t, unsigned number, bool is_on)
{
    if (is_on)
        t->mouse_encoding = number;
    else if (t->mouse_encoding == number)
        t->mouse_encoding = 0;
}

static bool
is_mouse_encoding(const struct term *t, unsigned number)
{
    return t->mouse_encoding == number;
}

static void
clear_alternate(struct term *t)
{
    for (unsigned y = 0; y < t->rows; y++)
        term_row_clear(t->screens[1].rows[y]);
}

/* 47, 1047, 1049: the last one saves and restores the cursor and comes to a clean screen;
 * 1047 cleans up when it leaves. */
static void
set_alternate(struct term *t, unsigned number, bool is_on)
{
    if (is_on && number == 1049)
        term_save_cursor(t);
    bool was_on = term_is_alternate(t);
    term_use_alternate(t, is_on);
    if (is_on && number == 1049)
        term_clear_screen(t);
    if (!is_on && was_on && number == 1047)
        clear_alternate(t);
    if (!is_on && number == 1049)
        term_restore_cursor(t);
}

static bool
is_alternate(const struct term *t, unsigned number)
{
    (void)number;
    return term_is_alternate(t);
}

static void
set_saved(struct term *t, unsigned number, bool is_on)
{
    (void)number;
    if (is_on)
        term_save_cursor(t);
    else
        term_restore_cursor(t);
}

static bool
always(const struct term *t, unsigned number)
{
    (void)t;
    (void)number;
    return true;
}

static const struct mode modes[] = {
    { 4, false, TERM_MODE_INSERT, NULL, NULL, "IRM: insert instead of overwrite" },
    { 20, false, TERM_MODE_NEWLINE, NULL, NULL, "LNM: LF also returns to the left" },
    { 1, true, TERM_MODE_APP_CURSOR, NULL, NULL, "DECCKM: application cursor keys" },
    { 5, true, TERM_MODE_REVERSE, set_reverse, NULL, "DECSCNM: reverse screen" },
    { 6, true, TERM_MODE_ORIGIN, set_origin, NULL, "DECOM: origin in the region" },
    { 7, true, TERM_MODE_AUTOWRAP, set_autowrap, NULL, "DECAWM: autowrap" },
    { 9, true, TERM_MODES, set_mouse, is_mouse, "mouse: presses (X10)" },
    { 12, true, TERM_MODE_CURSOR_BLINK, NULL, NULL, "blinking cursor" },
    { 25, true, TERM_MODE_CURSOR, NULL, NULL, "DECTCEM: the cursor is shown" },
    { 45, true, TERM_MODE_REVERSE_WRAP, NULL, NULL, "reverse wrap" },
    { 47, true, TERM_MODES, set_alternate, is_alternate, "alternate screen" },
    { 66, true, TERM_MODE_APP_KEYPAD, NULL, NULL, "DECNKM: application keypad" },
    { 69, true, TERM_MODE_MARGINS, set_margins, NULL, "DECLRMM: left and right margins" },
    { 1000, true, TERM_MODES, set_mouse, is_mouse, "mouse: presses and releases" },
    { 1002, true, TERM_MODES, set_mouse, is_mouse, "mouse: drags too" },
    { 1003, true, TERM_MODES, set_mouse, is_mouse, "mouse: all motion" },
    { 1004, true, TERM_MODE_FOCUS, NULL, NULL, "focus events" },
    { 1005, true, TERM_MODES, set_mouse_encoding, is_mouse_encoding, "mouse as UTF-8" },
    { 1006, true, TERM_MODES, set_mouse_encoding, is_mouse_encoding, "mouse as SGR" },
    { 1007, true, TERM_MODE_ALTERNATE_SCROLL, NULL, NULL,
      "wheel sends arrows on the alternate screen" },
    { 1015, true, TERM_MODES, set_mouse_encoding, is_mouse_encoding, "mouse as urxvt" },
    { 1016, true, TERM_MODES, set_mouse_encoding, is_mouse_encoding,
      "mouse as SGR, in pixels" },
    { 1047, true, TERM_MODES, set_alternate, is_alternate,
      "alternate screen, cleared when left" },
    { 1048, true, TERM_MODES, set_saved, always, "save and restore the cursor" },
    { 1049, true, TERM_MODES, set_alternate, is_alternate,
      "alternate screen, clean, with the cursor saved" },
    { 2004, true, TERM_MODE_PASTE, NULL, NULL, "bracketed paste" },
    { 2026, true, TERM_MODE_SYNC, NULL, NULL, "synchronized output" },
    { 2027, true, TERM_MODES, NULL, always, "grapheme clusters: always on" },
};

enum { N_MODES = sizeof(modes) / sizeof(modes[0]) };
_Static_assert(N_MODES <= 32, "a bit each in saved_modes");

static const struct mode *
find(uint32_t number, bool is_private)
{
    for (unsigned i = 0; i < N_MODES; i++)
        if (modes[i].number == number && modes[i].is_private == is_private)
            return &modes[i];
    return NULL;
}

static void
set_mode(struct term *t, const struct mode *m, bool is_on)
{
    if (m->set)
        m->set(t, m->number, is_on);
    else if (m->flag < TERM_MODES)
        term_set(t, (enum term_mode)m->flag, is_on);
}

static void
set_all(struct term *t, const struct term_op *op, bool is_on)
{
    for (unsigned i = 0; i < op->n_params; i++) {
        const struct mode *m = find(op->params[i], op->marker == '?');
        if (m)
            set_mode(t, m, is_on);
    }
}

void
term_h_sm(struct term *t, const struct term_op *op)
{
    set_all(t, op, true);
}

void
term_h_rm(struct term *t, const struct term_op *op)
{
    set_all(t, op, false);
}

static bool
is_mode_set(const struct term *t, const struct mode *m)
{
    return m->flag < TERM_MODES ? term_has(t, (enum term_mode)m->flag)
                                : m->is_set(t, m->number);
}

/* XTSAVE and XTRESTORE: private modes, each for itself. */
void
term_h_xtsave(struct term *t, const struct term_op *op)
{
    for (unsigned i = 0; i < op->n_params; i++) {
        const struct mode *m = find(op->params[i], true);
        if (!m)
            continue;
        uint32_t bit = 1U << (m - modes);
        t->saved_modes = (t->saved_modes & ~bit) | (is_mode_set(t, m) ? bit : 0);
    }
}

void
term_h_xtrestore(struct term *t, const struct term_op *op)
{
    for (unsigned i = 0; i < op->n_params; i++) {
        const struct mode *m = find(op->params[i], true);
        if (m)
            set_mode(t, m, t->saved_modes >> (m - modes) & 1);
    }
}

void
term_h_decrqm(struct term *t, const struct term_op *op)
{
    uint32_t number = term_param(op, 0, 0);
    const struct mode *m = find(number, op->marker == '?');
    unsigned value = 0; /* unknown */
    if (m && m->flag == TERM_MODES && !m->set)
        value = 3; /* always */
    else if (m)
        value = is_mode_set(t, m) ? 1 : 2;
    term_reply(t, "\x1b[%s%u;%u$y", op->marker == '?' ? "?" : "", number, value);
}

/* -- keyboard -- */

void
term_h_deckpam(struct term *t, const struct term_op *op)
{
    term_set(t, TERM_MODE_APP_KEYPAD, op->final == '=');
}

enum { KITTY_FLAGS = 31 };

void
term_h_kitty_push(struct term *t, const struct term_op *op)
{
    struct term_screen *s = t->screen;
    if (s->n_kitty == TERM_KITTY_STACK) {
        memmove(s->kitty, s->kitty + 1, sizeof(s->kitty) - sizeof(s->kitty[0]));
        s->n_kitty--;
    }
    s->kitty[s->n_kitty++] = term_param(op, 0, 0) & KITTY_FLAGS;
}

void
term_h_kitty_pop(struct term *t, const struct term_op *op)
{
    struct term_screen *s = t->screen;
    unsigned n = term_param(op, 0, 1);
    if (n < s->n_kitty) {
        s->n_kitty -= n;
    } else {
        s->n_kitty = 1;
        s->kitty[0] = 0;
    }
}

void
term_h_kitty_set(struct term *t, const struct term_op *op)
{
    unsigned flags = term_param(op, 0, 0) & KITTY_FLAGS, how = term_param(op, 1, 1);
    unsigned *now = &t->screen->kitty[t->screen->n_kitty - 1];
    if (how == 1)
        *now = flags;
    else if (how == 2)
        *now |= flags;
    else if (how == 3)
        *now &= ~flags;
}

void
term_h_kitty_query(struct term *t, const struct term_op *op)
{
    (void)op;
    term_reply(t, "\x1b[?%uu", t->screen->kitty[t->screen->n_kitty - 1]);
}

/* -- for others -- */

static bool
is_choice(unsigned number, mode_fn set)
{
    const struct mode *m = find(number, true);
    return !number || (m && m->set == set);
}

bool
term_is_mouse(unsigned number)
{
    return is_choice(number, set_mouse);
}

bool
term_is_mouse_encoding(unsigned number)
{
    return is_choice(number, set_mouse_encoding);
}

void
term_put_modes(const struct term *t, struct buf *out)
{
    const uint32_t placing = 1U << TERM_MODE_ORIGIN | 1U << TERM_MODE_AUTOWRAP |
                             1U << TERM_MODE_MARGINS;
    uint32_t changed = (t->modes ^ TERM_MODES_FRESH) & ~placing;
    for (unsigned i = 0; i < N_MODES; i++) {
        const struct mode *m = &modes[i];
        if (m->flag < TERM_MODES && changed >> m->flag & 1)
            buf_printf(out, "\x1b[%s%u%c", m->is_private ? "?" : "", m->number,
                       is_mode_set(t, m) ? 'h' : 'l');
    }
}

const char *
term_mode_name(unsigned i, unsigned *ret_number, bool *ret_is_private)
{
    if (i >= N_MODES)
        return NULL;
    *ret_number = modes[i].number;
    *ret_is_private = modes[i].is_private;
    return modes[i].name;
}
