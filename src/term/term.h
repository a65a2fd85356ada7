/* SPDX-License-Identifier: MIT */
/*
 * term.h -- the terminal model: PTY bytes to a screen, a scrollback, and for every row
 * the byte that last wrote to it.
 *
 * Pure: no descriptor, clock, log or global. The same bytes give the same state however
 * they are cut. No input makes it fail; when memory runs out it goes on without what it
 * could not keep, and term_error() says so.
 *
 * Rows are counted from 0 at the top of the screen, columns from 0 at its left. A line
 * index counts the scrollback first, oldest line 0, then the screen's rows.
 */
#ifndef TERM_TERM_H
#define TERM_TERM_H

#include "base/buf.h"
#include "term/style.h"

enum {
    TERM_COLS_MAX = 10000,
    TERM_ROWS_MAX = 10000,
    TERM_CELLS_MAX = 10000000,      /* of a screen; there are fewer rows then */
    TERM_SCROLLBACK_ROWS = 1000000, /* default ceilings */
    TERM_ALTERNATE_ROWS = 100000,
    TERM_CLUSTER_MAX = 128,   /* bytes of one cell's text */
    TERM_STRING_MAX = 65536,  /* bytes of one OSC or DCS string */
    TERM_MARKS_MAX = 4096,    /* the oldest are dropped */
    TERM_MARK_TEXT_MAX = 256, /* bytes kept of one mark's text */
};

/* Bytes that a real terminal would send back to the program. */
typedef void (*term_reply_fn)(void *ctx, const void *p, size_t n);

struct term_options {
    unsigned cols, rows; /* brought into 1..TERM_…_MAX, rows cut to TERM_CELLS_MAX */
    uint32_t scrollback_rows; /* at most; past it the oldest go */
    uint32_t alternate_rows;  /* marked lines of the alternate screen, at most; 0: off */
    bool clears_scrollback;   /* does ED 3 clear it? A recorder keeps it */
    term_reply_fn reply;      /* NULL: nobody answers */
    void *ctx;
};

struct term;

/* 80x24, the ceilings above, ED 3 without effect, no replies. */
struct term_options term_options_default(void);
/* NULL when out of memory. */
struct term *term_new(const struct term_options *opt);
void term_free(struct term *t);
/* byte_off is the offset of the first byte. The next call's need not follow on, where
 * bytes are missing, but never goes back. */
void term_feed(struct term *t, const void *p, size_t n, uint64_t byte_off);
/* The primary screen and the scrollback are wrapped anew, the cursor stays on its
 * character; what of the screen is below it and has no room is cut, as in tmux and xterm.
 * The alternate screen is cut or filled. */
void term_resize(struct term *t, unsigned cols, unsigned rows);
/* 0, or -ENOMEM once something could not be kept. */
int term_error(const struct term *t);

/* -- what is on it -- */

enum term_cursor_shape { TERM_CURSOR_BLOCK, TERM_CURSOR_UNDERLINE, TERM_CURSOR_BAR };

struct term_cursor {
    unsigned row, col; /* col < cols, also while a wrap is pending */
    bool is_visible;
    bool is_wrap_pending; /* the last column was written; the next character wraps */
    bool is_blinking;
    enum term_cursor_shape shape;
};

/* What a viewer must mirror to the terminal it stands in. */
struct term_modes {
    bool is_alternate;
    bool is_reverse;      /* DECSCNM */
    bool is_synchronized; /* 2026: an update is under way */
    bool app_cursor_keys, app_keypad;
    bool bracketed_paste;
    bool focus_events;
    bool alternate_scroll;   /* 1007 */
    unsigned mouse;          /* 0, 9, 1000, 1002, 1003 */
    unsigned mouse_encoding; /* 0, 1005, 1006, 1015, 1016 */
    unsigned kitty_keys;     /* flags of the keyboard protocol */
};

unsigned term_cols(const struct term *t);
/* Whether it has, or once had, that many columns; of a restored model's past nothing is
 * known. */
bool term_had_cols(const struct term *t, unsigned cols);
unsigned term_rows(const struct term *t);
struct term_cursor term_cursor(const struct term *t);
struct term_modes term_modes(const struct term *t);
/* NUL-terminated UTF-8 without control characters, "" when never set; borrowed until
 * the next feed. */
const char *term_title(const struct term *t);
const char *term_icon_title(const struct term *t);
/* How often the bell has rung since the model was made; not in snapshots. */
uint64_t term_bells(const struct term *t);
/* A palette entry (0..255) as OSC 4 left it, default foreground, background, cursor:
 * 0xrrggbb. False when it is the terminal's own. */
enum { TERM_COLOUR_FG = 256, TERM_COLOUR_BG = 257, TERM_COLOUR_CURSOR = 258 };
bool term_colour(const struct term *t, unsigned which, uint32_t *ret_rgb);
/* What these are when nobody has changed them. */
uint32_t term_default_colour(unsigned which);

struct term_cell {
    struct view
        text;       /* UTF-8, one grapheme cluster; empty: blank; borrowed from this cell
                       or, until the next feed, from the model: do not copy the struct */
    unsigned width; /* 1, 2, or 0: the right half of the one before */
    struct term_style style;
    uint8_t room[4]; /* private */
};

/* A cell of the screen in use. */
void term_cell_at(const struct term *t, unsigned row, unsigned col,
                  struct term_cell *ret);
/* The URI of a style's link; "" when it has none. */
const char *term_link_uri(const struct term *t, uint16_t link);

/* -- lines -- */

/* A stretch of a line that does not look default; ends are exclusive. */
struct term_span {
    unsigned start, end;         /* columns */
    size_t text_start, text_end; /* the same in the line's text */
    struct term_style style;
    const char *uri; /* NULL: no link; borrowed until the next feed */
};

/* One row for reading. Zeroed it is ready for use; it keeps its memory from call to call.
 */
struct term_line {
    struct buf text;   /* UTF-8; blanks inside are spaces, those at the end are cut */
    unsigned cols;     /* how many columns the text covers */
    unsigned row_cols; /* … and its row, with blanks that were written at its end */
    uint64_t last_write_byte; /* 0: never written */
    bool is_wrapped;          /* goes on in the next line */
    bool has_pad; /* the last of row_cols is blank since a wide character did not fit */
    bool is_alternate; /* a marked line of the alternate screen */
    const struct term_span *spans;
    size_t n_spans;
    struct buf memory; /* private: the spans */
};

void term_line_release(struct term_line *line);
/* How many rows are in the scrollback, and how many were dropped because of its
 * ceiling. */
size_t term_scrollback_count(const struct term *t);
uint64_t term_scrollback_dropped(const struct term *t);
/* The line at an index below term_scrollback_count() + term_rows(). 0 or -ENOMEM. */
int term_line_at(const struct term *t, size_t index, struct term_line *line);

typedef int (*term_line_fn)(void *ctx, const struct term_line *line);

/*
 * The final lines: scrollback and primary screen with the blank tail dropped, and among
 * them, by last_write_byte, the marked lines of the alternate screen: what scrolled off
 * it, what was on it when it was left, and what is on it now. fn returns 0 to go on; what
 * else it returns ends the walk and is returned.
 */
int term_final_lines(const struct term *t, term_line_fn fn, void *ctx);
uint64_t term_alternate_dropped(const struct term *t);

/* Lines are numbered in the order in which they leave the screen, from the very first on;
 * marked ones apart. A new width numbers them anew. */
struct term_line_numbers {
    uint64_t line;   /* of the screen's top row: those below are in the scrollback */
    uint64_t marked; /* of the next line to be marked */
};

struct term_line_numbers term_line_numbers(const struct term *t);
/* The final lines from these numbers on, as far as they are kept, for those who have seen
 * the ones before. Blank lines of the scrollback are given, also at its end; what is on
 * the alternate screen now only if asked. */
int term_lines_from(const struct term *t, struct term_line_numbers from,
                    bool with_alternate, term_line_fn fn, void *ctx);

/* -- what has changed -- */

/* Has this row of the screen changed since the last term_damage_clear()? */
bool term_is_damaged(const struct term *t, unsigned row);
void term_damage_clear(struct term *t);

/* -- what was told and never acted on -- */

enum term_mark_kind {
    TERM_MARK_CLIPBOARD, /* OSC 52 */
    TERM_MARK_PROMPT,    /* OSC 133 */
    TERM_MARK_VSCODE,    /* OSC 633 */
};

struct term_mark {
    enum term_mark_kind kind;
    uint64_t byte_off; /* after the sequence */
    uint64_t line;     /* rows that had scrolled off then, plus the cursor's row */
    struct view text;  /* what follows the number and its semicolon */
};

size_t term_mark_count(const struct term *t);
struct term_mark term_mark_at(const struct term *t, size_t i);

/* -- to bytes -- */

/* The parameters of the SGR that makes this style from any other: "0;1;31". */
void term_style_to_sgr(const struct term_style *style, struct buf *out);

/*
 * What makes a real terminal that shows `old` show `now`: cells, cursor, and the modes of
 * struct term_modes, but for the alternate screen and synchronized output, which are the
 * caller's. old NULL: a terminal in its initial state. Nothing else than the sequences of
 * the allow-list in diff.c is emitted, and no control characters from inside. Sizes that
 * differ mean a full repaint, cut at old's size.
 */
int term_diff(const struct term *old, const struct term *now, struct buf *out);
/* Behind that, for a terminal that is then given the program's own bytes: the wrap that
 * is pending and the pen, which the next of them count on. */
int term_hand_over(const struct term *now, struct buf *out);

/* A part of a screen, and where it stands on another one. */
struct term_window {
    unsigned top, left;      /* in its own screen, at whose edges it is cut */
    unsigned rows, cols;     /* at most */
    unsigned at_row, at_col; /* on the other one, which must have room for it */
    bool is_inverted;        /* as DECSCNM has it */
    bool flows; /* as a program prints it, from the cursor's row on: at_row, at_col are 0
                 */
    bool is_colourless; /* attributes and links alone */
};

/* Appends what draws the window of src's screen on a terminal that is blank there and
 * wraps by itself: some of term_diff()'s sequences. Its pen is the default one before and
 * after; where the cursor is then is not said. */
void term_blit(const struct term *src, const struct term_window *window, struct buf *out);

/* Bytes that, fed to a fresh model of the same size, give the same screens, modes and
 * cursor (and scrollback, if asked). Stamps and marks are not in them. */
int term_serialise(const struct term *t, bool with_scrollback, struct buf *out);

/* A compact picture of the whole model, the parser's state included; without the
 * scrollback's rows (their count stays) and marks unless asked. */
int term_snapshot(struct term *t, bool with_scrollback, struct buf *out);
/* The model again. opt gives the ceilings and the callback, its size is not used. 0,
 * -ENOMEM, or ERR_DAMAGED with the reason. */
int term_restore(struct view snapshot, const struct term_options *opt, struct term **ret,
                 struct err *err);

#endif
