/* SPDX-License-Identifier: MIT */
/*
 * review_priv.h -- looking back: a place among a session's lines, and the keys of less
 * and more that move it.
 *
 * There is a current line, on which the terminal's cursor stands: what is asked of "this
 * line" is asked of it. Keys that scroll move page and current line together; where the
 * page cannot move, the current line does. So every line can be reached, and each key
 * does what less does.
 *
 * No terminal here: it says which lines are on the page (struct tui_line), page_priv.h
 * paints them. Long work (searching 10^6 lines takes some 50 ms) is done at once.
 */
#ifndef TUI_REVIEW_PRIV_H
#define TUI_REVIEW_PRIV_H

#include "term/book.h"
#include "tui/draft_priv.h"
#include "tui/prompt_priv.h"
#include "tui/source.h"

enum tui_line_kind {
    TUI_LINE_ROW,   /* number: a line of the book */
    TUI_LINE_EVENT, /* number: which of the source's events; a badge */
    TUI_LINE_DRAFT, /* number: which line of the draft's box, its frame's included */
    TUI_LINE_OLDER, /* older rows are still being read */
    TUI_LINE_BLANK, /* past the end */
};

struct tui_line {
    enum tui_line_kind kind;
    uint64_t number;
    bool is_dim; /* behind the line that the draft is about */
};

/* What a key asks of others. */
enum tui_review_wish {
    TUI_REVIEW_NONE,
    TUI_REVIEW_LEAVE, /* q, and the like */
    TUI_REVIEW_DRAFT, /* i, Enter, a click: tui_review_draft(), if there is a place for it
                       */
    TUI_REVIEW_SUBMIT, /* the draft is written: it stays open until tui_review_end_draft()
                        */
    TUI_REVIEW_DRAFT_EDITOR, /* … is to be written in $EDITOR */
    TUI_REVIEW_HELP,
    TUI_REVIEW_REPAINT, /* R, ^L */
    TUI_REVIEW_SAVE,    /* the prompt's text is the file's name: save.h does it */
    TUI_REVIEW_EDITOR,  /* v */
    TUI_REVIEW_COPY,    /* Y: the current line's text */
    TUI_REVIEW_SUSPEND, /* ^Z */
};

/* What the prompt is open for. */
enum tui_ask {
    TUI_ASK_NONE,
    TUI_ASK_FIND,
    TUI_ASK_FILTER,
    TUI_ASK_GO,
    TUI_ASK_SAVE,
    TUI_ASK_OVERWRITE,
};

enum { TUI_REVIEW_MARKS = 52, TUI_REVIEW_NOTE = 120 };

/* A line that is found again when lines are numbered anew. */
struct tui_place {
    uint64_t line;
    uint64_t stamp; /* last_write_byte of the line, or of one above it that has one … */
    uint64_t below; /* … by so many lines */
};

struct tui_review {
    const struct tui_source *source; /* borrowed */
    struct term_book book;
    struct term_widths widths;
    unsigned cols, rows; /* of the page: text alone, without gutter and frame */
    uint64_t top;        /* the first line of the page … */
    unsigned top_skip;   /* … of whose badges before it so many are above the page */
    uint64_t at;         /* the current line */
    unsigned left;       /* the first column */
    bool follows;        /* F, or the end was gone to: it stays at the end */
    bool has_gutter;
    char note[TUI_REVIEW_NOTE]; /* what the last key has to say; "": nothing */

    struct tui_prompt prompt; /* searching, filter, @, file's name */
    struct buf needle;        /* what is highlighted */
    bool is_back;             /* … and was searched for backwards */
    bool has_highlights;      /* ESC-u hides them */
    struct buf filter;        /* &: lines that have this text; empty: all */
    struct buf filtered;      /* uint64_t: their numbers */

    bool has_draft;    /* the box is open, behind draft_line */
    bool draft_is_now; /* … which is the last one, whatever comes; or was, while following
                        */
    uint64_t draft_line;
    struct tui_draft draft;
    uint64_t draft_anchor;      /* the line's last_write_byte … */
    uint64_t draft_snapshot_id; /* … and the nearest snapshot; PLAY_NONE: there is none */
    struct play_event draft_snapshot; /* that snapshot, for the box's title … */
    struct buf draft_label;           /* … and its text */

    struct {
        struct tui_place place;
        unsigned row; /* on the page */
        bool is_set;
    } marks[TUI_REVIEW_MARKS];   /* a-z A-Z */
    struct tui_place last_place; /* where a jump came from: '' … */
    unsigned last_row;           /* … its row on the page */
    bool may_overwrite;          /* the file of TUI_REVIEW_SAVE may exist */
    /* private: a number being typed, half screens, what a prompt is for … */
    unsigned count;
    bool has_count;
    unsigned half, window, step; /* rows, rows, columns; 0: as the page has it */
    uint32_t pending;            /* a key that needs another: m ' ESC …; 0: none */
    enum tui_ask asking;
    struct tui_place from_place; /* where an incremental search began … */
    unsigned from_row;           /* … its row on the page … */
    unsigned from_count;
    bool from_back, from_follows;
    struct buf old_needle; /* … and what was highlighted then */
    uint64_t typed_hit;    /* where the needle was found, as far as it is typed */
    bool has_typed_hit;
    struct tui_place at_place;     /* of the current line */
    unsigned at_row;               /* its row on the page */
    unsigned draft_rows;           /* of the draft's box */
    uint64_t seen_first, seen_end; /* of the book */
    struct buf event_places; /* before which line each of the source's events stands */
    bool wants_first;        /* g, but the first line is still to come */
};

/* At the end of what there is, as the live picture shows it. */
int tui_review_init(struct tui_review *r, const struct tui_source *source);
void tui_review_release(struct tui_review *r);
/* The page's size: at least 1x1. */
void tui_review_resize(struct tui_review *r, unsigned cols, unsigned rows);
/* The session has changed: the page stays on its lines, or at the end if it follows. When
 * older rows have come, or a new width, it stays on what it showed. */
void tui_review_update(struct tui_review *r);
/* A key, a paste or a mouse event; row and column of the latter count from the page's top
 * left. While the prompt or the draft is open it is for them. */
enum tui_review_wish tui_review_key(struct tui_review *r, struct tui_key key);
/* The lines of the page: r->rows of them, and on which of them the current one is. */
void tui_review_page(struct tui_review *r, struct tui_line *ret, unsigned *ret_at);

/* Opens the draft's box behind the current line (is_now: behind the last one, for what is
 * to be said to the agent now). */
void tui_review_draft(struct tui_review *r, bool is_now);
void tui_review_end_draft(struct tui_review *r);

/* How what is searched for is compared: a capital in it makes it exact. */
struct term_needle tui_review_needle(struct view text);
/* Asks whether the file may be overwritten; if so, TUI_REVIEW_SAVE comes again. */
void tui_review_ask_overwrite(struct tui_review *r);

/* -- review_find.c, review_go.c: what keys do, or why not, in r->note -- */

/* Goes to a line, so that it is on the page; with has_jump '' comes back. */
void tui_review_go(struct tui_review *r, uint64_t line, bool has_jump);
void tui_review_find(struct tui_review *r, bool is_back, unsigned count);
void tui_review_filter(struct tui_review *r);
void tui_review_event(struct tui_review *r, bool is_back);
void tui_review_minute(struct tui_review *r, bool is_back);
/* "@BYTE", "1:23", "83.5". */
void tui_review_go_to_moment(struct tui_review *r, const char *text);

#endif
