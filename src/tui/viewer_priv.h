/* SPDX-License-Identifier: MIT */
/* viewer_priv.h -- what the files of the viewer share. */
#ifndef TUI_VIEWER_PRIV_H
#define TUI_VIEWER_PRIV_H

#include "term/canvas.h"
#include "tui/page_priv.h"
#include "tui/prefix.h"
#include "tui/stage_priv.h"
#include "tui/viewer.h"

enum {
    TUI_VIEWER_TEXT = 200, /* bytes of what is told */
    TUI_VIEWER_WISHES = 8,
};

#define TUI_VIEWER_NOTE_NS UINT64_C(3000000000) /* so long it is shown, … */
#define TUI_VIEWER_FRESH   UINT64_MAX           /* … from the next picture on */

/* What is asked in the status line, and answered by one key. */
enum tui_question {
    TUI_QUESTION_NONE,
    TUI_QUESTION_QUIT,
    TUI_QUESTION_DELIVER,
};

/* Whose text $EDITOR has. */
enum tui_edited { TUI_EDITED_NONE, TUI_EDITED_LINES, TUI_EDITED_DRAFT };

/* A wish that waits to be asked for; its text is its own. */
struct tui_viewer_wish {
    struct tui_wish wish;
    struct buf text;
};

struct tui_viewer {
    struct tui_viewer_options opt;
    const struct tui_source *source; /* borrowed */
    struct term_canvas canvas;
    struct tui_stage stage;
    struct term_widths widths;

    /* pictures */
    bool is_stale;      /* what is shown is not what is to be shown */
    bool is_new;        /* no picture has been made yet */
    bool wants_redraw;  /* the terminal may show anything */
    uint64_t bells;     /* of the session's that were passed on */
    uint64_t frame_ns;  /* when the last one was made; monotonic */
    uint64_t held_ns;   /* the session is in the middle of an update since; 0: is not */
    uint64_t second_ns; /* when the time that is told is old; 0: none is */
    struct buf title;   /* the terminal's, as it was set last … */
    bool has_title;     /* … if it was */
    struct buf aside;   /* for the terminal, and no picture: the clipboard */

    /* what is open */
    bool is_back; /* review mode */
    bool is_now;  /* … for an instruction about now: after it, the live picture again */
    bool has_review;
    bool is_touched; /* the session has changed since the review knew it */
    struct tui_review review;
    struct tui_page page; /* where it was shown last … */
    unsigned gutter;      /* … and columns of its gutter */
    bool has_help;
    unsigned help_top; /* the first of its lines that is shown */
    enum tui_question question;
    struct tui_prompt prompt; /* for a label */

    /* what is typed */
    struct tui_prefix prefix;
    struct tui_keys keys;
    uint64_t key_ns; /* when the last bytes were */
    struct tui_viewer_wish wishes[TUI_VIEWER_WISHES];
    unsigned first_wish, n_wishes;
    struct buf wish_text; /* of the one that was given last */
    struct buf submitted; /* the text of the last draft … */
    bool is_refused;      /* … which could not be noted */
    enum tui_edited edited;
    char *edited_path; /* NULL: there is none */

    /* what is told */
    bool is_ended;
    char how[TUI_VIEWER_TEXT]; /* it has */
    uint64_t took_ns;          /* … after so long; 0: not known */
    char trouble[TUI_VIEWER_TEXT];
    bool is_trouble_hidden; /* until it is another one */
    char note[TUI_VIEWER_TEXT];
    uint64_t note_until_ns; /* 0: there is none */
};

/* -- viewer.c -- */

/* Is something of ours open, so that keys are for it? */
bool tui_viewer_is_open(const struct tui_viewer *v);
/* Is there something to look back at? Makes the review ready. */
bool tui_viewer_has_pages(struct tui_viewer *v);
/* The review knows all that the session has written by now. */
void tui_viewer_refresh(struct tui_viewer *v);
void tui_viewer_say(struct tui_viewer *v, const char *text, uint64_t now_ns);
/* Queues it; the text is copied. */
void tui_viewer_ask(struct tui_viewer *v, const struct tui_wish *wish);
/* … a wish that says it all by its kind. */
void tui_viewer_ask_for(struct tui_viewer *v, enum tui_wish_kind kind);

/* -- viewer_picture.c -- */

/* What the time alone brings. */
void tui_viewer_tick(struct tui_viewer *v, uint64_t now_ns);

/* -- viewer_live.c -- */

/* Is it the session's own picture, with nothing of ours? Then the model is the picture.
 */
bool tui_viewer_is_plain(const struct tui_viewer *v);
/* Appends the live picture, without cursor and modes. */
void tui_viewer_put_live(struct tui_viewer *v, struct buf *out);
void tui_viewer_put_cursor(struct tui_viewer *v, bool has_bar, struct buf *out);
/* The modes that decide what the terminal sends. */
void tui_viewer_put_modes(const struct tui_viewer *v, struct buf *out);
/* Appends what changes the terminal's title. */
void tui_viewer_put_title(struct tui_viewer *v, struct buf *out);
void tui_viewer_pan(struct tui_viewer *v, int down, int right);

/* -- viewer_keys.c -- */

void tui_viewer_key(struct tui_viewer *v, struct tui_key key, uint64_t now_ns);
/* Opens the draft's box; what was refused is there again. */
void tui_viewer_draft(struct tui_viewer *v, bool is_now);

/* -- viewer_prefix.c -- */

/* The key behind the prefix. What is no command is dropped. */
void tui_viewer_command(struct tui_viewer *v, struct tui_key key);
void tui_viewer_enter_review(struct tui_viewer *v);
void tui_viewer_show_help(struct tui_viewer *v);
void tui_viewer_repaint(struct tui_viewer *v);
/* Before somebody writes what nobody will take: says so, if it is. */
bool tui_viewer_is_only_looking(struct tui_viewer *v);

/* -- viewer_bar.c -- */

bool tui_viewer_has_bar(const struct tui_viewer *v);
/* Appends it; *ret_col: where a prompt's cursor stands; UINT32_MAX: there is none. */
void tui_viewer_put_bar(struct tui_viewer *v, struct buf *out, unsigned *ret_col);
/* How long the session has run, if that is known and goes on. */
bool tui_viewer_elapsed(const struct tui_viewer *v, uint64_t *ret_ns);

/* -- viewer_help.c -- */

void tui_viewer_put_help(struct tui_viewer *v, struct buf *out);
/* A key while it is open: scrolls it, or closes it. */
void tui_viewer_help_key(struct tui_viewer *v, struct tui_key key);

/* -- viewer_files.c -- */

/* The lines into a file for $EDITOR; the draft likewise, whose text comes back. */
void tui_viewer_edit(struct tui_viewer *v, enum tui_edited what, uint64_t now_ns);
/* The current line into the clipboard. */
void tui_viewer_copy(struct tui_viewer *v, uint64_t now_ns);

#endif
