/* SPDX-License-Identifier: MIT */
/*
 * term_priv.h -- the state of the model, and what its files do for each other.
 *
 * feed (term.c) takes operations from the parser; text goes to print.c, sequences go by
 * the tables of sequences.c to handlers, which move the cursor and change rows through
 * screen.c.
 */
#ifndef TERM_TERM_PRIV_H
#define TERM_TERM_PRIV_H

#include "term/history_priv.h"
#include "term/parser.h"
#include "term/row_priv.h"
#include "term/sequences.h"
#include "term/tables_priv.h"
#include "term/term.h"
#include "term/width.h"

/* Modes that are on or off: bits of term.modes. */
enum term_mode {
    TERM_MODE_INSERT,   /* IRM */
    TERM_MODE_NEWLINE,  /* LNM */
    TERM_MODE_ORIGIN,   /* DECOM */
    TERM_MODE_AUTOWRAP, /* DECAWM */
    TERM_MODE_REVERSE_WRAP,
    TERM_MODE_MARGINS, /* DECLRMM */
    TERM_MODE_REVERSE, /* DECSCNM */
    TERM_MODE_CURSOR,  /* DECTCEM */
    TERM_MODE_CURSOR_BLINK,
    TERM_MODE_APP_CURSOR,
    TERM_MODE_APP_KEYPAD,
    TERM_MODE_PASTE,
    TERM_MODE_FOCUS,
    TERM_MODE_ALTERNATE_SCROLL,
    TERM_MODE_SYNC,
    TERM_MODES,
};

/* Those that are on after a full reset. */
#define TERM_MODES_FRESH \
    (1U << TERM_MODE_AUTOWRAP | 1U << TERM_MODE_CURSOR | 1U << TERM_MODE_ALTERNATE_SCROLL)

enum term_charset { TERM_CHARSET_ASCII, TERM_CHARSET_UK, TERM_CHARSET_LINES };

struct term_charsets {
    uint8_t g[4]; /* enum term_charset */
    uint8_t gl;
    uint8_t single; /* for the next character: 2, 3, or 0 */
};

/* What DECSC keeps. */
struct term_pen_at {
    unsigned row, col;
    bool is_pending; /* the last column was written; the next character wraps */
    bool is_origin;
    struct term_style pen;
    struct term_charsets charsets;
};

enum { TERM_KITTY_STACK = 16, TERM_TITLE_STACK = 16, TERM_TITLE_MAX = 1024 };

struct term_screen {
    struct term_row **rows;
    struct term_pen_at saved;
    unsigned kitty[TERM_KITTY_STACK]; /* flags; the last one is in force */
    unsigned n_kitty;                 /* at least 1 */
    unsigned damage_top, damage_end;  /* rows that moved, besides those that say so */
};

struct term_titles {
    char title[TERM_TITLE_MAX], icon[TERM_TITLE_MAX];
    char *stack[TERM_TITLE_STACK][2]; /* owned */
    unsigned n;
};

struct term_stored_mark {
    struct term_mark mark;
    uint8_t text[TERM_MARK_TEXT_MAX];
};

/* Who does a sequence without intermediate. */
struct term_index {
    term_handler control[0x20];
    term_handler escape[0x50]; /* by final, from 0x30 on */
    term_handler csi[8][0x40]; /* by the low bits of the marker, and final from 0x40 on */
};

struct term {
    struct term_options opt;
    struct term_parser parser;
    struct term_index index;
    int error;

    unsigned cols, rows;
    uint64_t had_cols[TERM_COLS_MAX / 64 + 1]; /* a bit each */
    struct term_screen screens[2];             /* primary, alternate */
    struct term_screen *screen;                /* the one in use */
    struct term_row **spare; /* `rows` pointers, for turning regions round */
    uint64_t *tabs;          /* a bit a column */
    struct term_tables tables;
    struct term_widths *widths;
    struct term_history scrollback;
    struct term_history marked; /* lines that the alternate screen has shown */
    struct term_row line;       /* a line being wrapped anew; its cells count as in use */

    struct term_pen_at at; /* the cursor */
    unsigned top, bottom;  /* scroll region; bottom, right are exclusive */
    unsigned left, right;
    uint32_t modes;       /* bits by enum term_mode */
    uint32_t saved_modes; /* XTSAVE: bits by the table of modes.c */
    unsigned mouse, mouse_encoding;
    uint8_t cursor_style; /* DECSCUSR */
    bool is_pen_known;    /* pen_id and blank_id are at's pen's */
    uint32_t pen_id;
    uint32_t blank_id; /* what erasing leaves: the pen's background */
    struct term_join join;
    uint32_t join_col;  /* where in the cursor's row join.rune is */
    uint32_t last_rune; /* for REP */
    uint64_t byte_off;  /* behind the operation in hand */
    uint64_t bells;     /* rung so far, by this model */
    uint64_t kept_byte; /* up to here the alternate screen is among the marked lines */

    struct term_titles titles;
    uint32_t *colours; /* NULL, or one each for term_colour(); 1 << 24: set */
    struct term_stored_mark *marks; /* a ring */
    size_t n_marks, first_mark;
};

static inline bool
term_has(const struct term *t, enum term_mode mode)
{
    return t->modes >> mode & 1;
}

static inline void
term_set(struct term *t, enum term_mode mode, bool is_on)
{
    t->modes = (t->modes & ~(1U << mode)) | (uint32_t)is_on << mode;
}

static inline bool
term_is_alternate(const struct term *t)
{
    return t->screen == &t->screens[1];
}

static inline struct term_row *
term_cursor_row(const struct term *t)
{
    return t->screen->rows[t->at.row];
}

/* A cell of this row was addressed. */
static inline void
term_touch(struct term *t, struct term_row *row)
{
    row->stamp = t->byte_off;
    row->is_damaged = true;
}

/* Is the scroll region as wide as the screen? */
static inline bool
term_is_full_width(const struct term *t)
{
    return t->left == 0 && t->right == t->cols;
}

/* -- screen.c -- */

void term_know_pen_slow(struct term *t);

/* Numbers for the pen as it is now. */
static inline void
term_know_pen(struct term *t)
{
    if (!t->is_pen_known)
        term_know_pen_slow(t);
}

void term_no_memory(struct term *t);
/* Rows top..bottom of the region, by n; what leaves at the top of the screen is kept. */
void term_scroll_up(struct term *t, unsigned top, unsigned bottom, unsigned n);
/* The same without keeping anything (DL). */
void term_delete_rows(struct term *t, unsigned top, unsigned bottom, unsigned n);
void term_scroll_down(struct term *t, unsigned top, unsigned bottom, unsigned n);
void term_line_feed(struct term *t);
void term_move(struct term *t, unsigned row, unsigned col);
/* As CUP and its like mean it: from 0, in the region when DECOM is set. */
void term_move_origin(struct term *t, unsigned row, unsigned col);
bool term_is_inside(const struct term *t);
void term_erase_cells(struct term *t, unsigned row, unsigned from, unsigned to);
void term_erase_selected(struct term *t, unsigned row, unsigned from, unsigned to);
void term_save_cursor(struct term *t);
void term_restore_cursor(struct term *t);
void term_use_alternate(struct term *t, bool is_on);
void term_clear_screen(struct term *t);
void term_damage_all(struct term *t);
void term_reset_margins(struct term *t);
void term_default_tabs(struct term *t);
void term_soft_reset(struct term *t);
void term_reset(struct term *t);
/* Tables are full: takes back what no cell names. */
void term_collect(struct term *t);

/* -- size.c -- */
/* Brings a size into its limits. */
void term_limit_size(unsigned *cols, unsigned *rows);
/* What a new size needs, before anything is changed for it. */
struct term_size {
    unsigned cols, rows;
    struct term_row **spare, **screens[2];
    uint64_t *tabs;
};

/* False: no memory. */
bool term_size_prepare(const struct term *t, unsigned cols, unsigned rows,
                       struct term_size *ret);
/* Rows and columns that are cut off are gone; the cursor is not looked at. */
void term_size_commit(struct term *t, const struct term_size *size);
void term_free_rows(struct term *t);

/* -- print.c -- */
void term_print_ascii(struct term *t, const uint8_t *p, size_t n);
void term_print_runes(struct term *t, const uint32_t *runes, size_t n);
void term_repeat(struct term *t, unsigned n);

/* -- lines.c -- */
/* The text of a cell, empty for a blank; scratch has room for a character. */
struct view term_cell_text(const struct term_tables *tables, uint32_t cell,
                           uint8_t scratch[4]);
/* A row for reading. 0 or -ENOMEM. */
int term_line_from_packed(const struct term_packed *packed, struct term_line *line);
int term_line_from_row(const struct term *t, const struct term_row *row,
                       struct term_line *line);
/* The rows of the alternate screen become marked lines. */
void term_keep_alternate(struct term *t);

/* -- modes.c -- */
/* The sequences for modes that are not as after a reset; origin, autowrap and margins are
 * left to those who place the cursor. */
void term_put_modes(const struct term *t, struct buf *out);
/* Is it the number of such a mode, or 0? */
bool term_is_mouse(unsigned number);
bool term_is_mouse_encoding(unsigned number);

/* -- report.c -- */
void term_reply(struct term *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void term_dcs(struct term *t, const struct term_op *op);

/* -- osc.c -- */
void term_osc(struct term *t, const struct term_op *op);
void term_set_title(struct term *t, struct view text, bool is_title, bool is_icon);
void term_titles_release(struct term_titles *titles);
void term_push_title(struct term *t, unsigned which);
void term_pop_title(struct term *t, unsigned which);

/* -- sgr.c -- */
void term_sgr(struct term *t, const struct term_op *op);

/* -- marks.c -- */
/* The whole characters that are text, at most `max` bytes; how many there were. */
size_t term_clean_copy(void *dst, size_t max, struct view text);
/* The text is copied. */
void term_add_mark(struct term *t, const struct term_mark *mark);

/* -- sequences.c -- */
void term_index_sequences(struct term_index *index);
/* Escape sequences and CSIs with an intermediate. */
void term_run_rare(struct term *t, const struct term_op *op);

/* The i-th parameter; `missing` when it is left out or 0. */
static inline unsigned
term_param(const struct term_op *op, unsigned i, unsigned missing)
{
    return i < op->n_params && op->params[i] ? op->params[i] : missing;
}

#endif
