/* SPDX-License-Identifier: MIT */
/* term.c -- makes the model, feeds it, and answers simple questions about it. */
#include "term/term.h"

#include "term/term_priv.h"

struct term_options
term_options_default(void)
{
    return (struct term_options){
        .cols = 80,
        .rows = 24,
        .scrollback_rows = TERM_SCROLLBACK_ROWS,
        .alternate_rows = TERM_ALTERNATE_ROWS,
    };
}

/* -- life -- */

struct term *
term_new(const struct term_options *opt)
{
    struct term *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->opt = *opt;
    t->scrollback.ceiling = opt->scrollback_rows;
    t->marked.ceiling = opt->alternate_rows;
    t->screen = &t->screens[0];
    t->widths = calloc(1, sizeof(*t->widths));
    term_limit_size(&t->opt.cols, &t->opt.rows);
    struct term_size size;
    if (!t->widths || term_tables_init(&t->tables) < 0 ||
        !term_size_prepare(t, t->opt.cols, t->opt.rows, &size)) {
        term_free(t);
        return NULL;
    }
    term_size_commit(t, &size);
    term_index_sequences(&t->index);
    term_reset(t);
    for (unsigned y = 0; y < t->rows; y++)
        t->screen->rows[y]->stamp = 0; /* the reset was nobody's writing */
    return t;
}

void
term_free(struct term *t)
{
    if (!t)
        return;
    term_free_rows(t);
    term_row_release(&t->line);
    term_history_release(&t->scrollback);
    term_history_release(&t->marked);
    term_tables_release(&t->tables);
    if (t->widths)
        term_widths_release(t->widths);
    free(t->widths);
    term_titles_release(&t->titles);
    term_parser_release(&t->parser);
    free(t->colours);
    free(t->marks);
    free(t);
}

int
term_error(const struct term *t)
{
    if (t->error)
        return t->error;
    return t->scrollback.error ? t->scrollback.error : t->marked.error;
}

/* -- feeding -- */

/* Clusters and links have been added, or styles (then know_pen does it). Between two
 * operations nobody holds a number. */
static void
collect_if_full(struct term *t)
{
    if (term_tables_is_full(&t->tables))
        term_collect(t);
}

static inline void
apply(struct term *t, const struct term_op *op)
{
    switch (op->kind) {
    case TERM_OP_ASCII:
        term_print_ascii(t, op->text, op->n);
        break;
    case TERM_OP_RUNES:
        t->byte_off -= (uint64_t)op->beyond;
        term_print_runes(t, op->runes, op->n);
        collect_if_full(t);
        break;
    case TERM_OP_EXECUTE:
        t->join.rune = 0;
        t->index.control[op->final & 0x1f](t, op);
        break;
    case TERM_OP_ESC:
        t->join.rune = 0;
        if (op->intermediate)
            term_run_rare(t, op);
        else
            t->index.escape[op->final - 0x30](t, op);
        break;
    case TERM_OP_CSI:
        /* A change of colour does not part a character from its marks. */
        if (op->final != 'm')
            t->join.rune = 0;
        if (op->intermediate)
            term_run_rare(t, op);
        else
            t->index.csi[op->marker & 7][op->final - 0x40](t, op);
        break;
    case TERM_OP_OSC:
        term_osc(t, op);
        collect_if_full(t);
        break;
    case TERM_OP_DCS:
        term_dcs(t, op);
        break;
    }
}

void
term_feed(struct term *t, const void *p, size_t n, uint64_t byte_off)
{
    struct view in = { p, n };
    struct term_op op;
    size_t pos = 0;
    while (term_parser_next(&t->parser, in, &pos, &op)) {
        t->byte_off = byte_off + pos;
        apply(t, &op);
    }
}

/* -- questions -- */

uint64_t
term_bells(const struct term *t)
{
    return t->bells;
}

bool
term_had_cols(const struct term *t, unsigned cols)
{
    return cols <= TERM_COLS_MAX && t->had_cols[cols / 64] >> cols % 64 & 1;
}

unsigned
term_cols(const struct term *t)
{
    return t->cols;
}

unsigned
term_rows(const struct term *t)
{
    return t->rows;
}

struct term_cursor
term_cursor(const struct term *t)
{
    /* DECSCUSR: 0 and 1 blinking block, 2 steady block, 3 and 4 underline, 5 and 6 bar.
     */
    unsigned style = t->cursor_style;
    return (struct term_cursor){
        .row = t->at.row,
        .col = t->at.col,
        .is_visible = term_has(t, TERM_MODE_CURSOR),
        .is_wrap_pending = t->at.is_pending,
        .is_blinking = term_has(t, TERM_MODE_CURSOR_BLINK) || style % 2,
        .shape = style <= 2   ? TERM_CURSOR_BLOCK
                 : style <= 4 ? TERM_CURSOR_UNDERLINE
                              : TERM_CURSOR_BAR,
    };
}

struct term_modes
term_modes(const struct term *t)
{
    return (struct term_modes){
        .is_alternate = term_is_alternate(t),
        .is_reverse = term_has(t, TERM_MODE_REVERSE),
        .is_synchronized = term_has(t, TERM_MODE_SYNC),
        .app_cursor_keys = term_has(t, TERM_MODE_APP_CURSOR),
        .app_keypad = term_has(t, TERM_MODE_APP_KEYPAD),
        .bracketed_paste = term_has(t, TERM_MODE_PASTE),
        .focus_events = term_has(t, TERM_MODE_FOCUS),
        .alternate_scroll = term_has(t, TERM_MODE_ALTERNATE_SCROLL),
        .mouse = t->mouse,
        .mouse_encoding = t->mouse_encoding,
        .kitty_keys = t->screen->kitty[t->screen->n_kitty - 1],
    };
}

const char *
term_title(const struct term *t)
{
    return t->titles.title;
}

const char *
term_icon_title(const struct term *t)
{
    return t->titles.icon;
}

bool
term_is_damaged(const struct term *t, unsigned row)
{
    const struct term_screen *s = t->screen;
    return (row >= s->damage_top && row < s->damage_end) || s->rows[row]->is_damaged;
}

void
term_damage_clear(struct term *t)
{
    for (unsigned y = 0; y < t->rows; y++)
        t->screen->rows[y]->is_damaged = false;
    t->screen->damage_top = UINT32_MAX;
    t->screen->damage_end = 0;
}
