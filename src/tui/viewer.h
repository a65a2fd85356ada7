/* SPDX-License-Identifier: MIT */
/*
 * viewer.h -- a session on the user's terminal: live, and looking back.
 *
 * It makes pictures and takes what is typed; who runs it has the terminal, the session
 * and the clock: the client of a live session (client/), and tui_view() for one that has
 * ended. Pictures are drawn from the model's cells into a canvas; nothing of the
 * session's bytes ever reaches the terminal.
 *
 * Live, the picture is the session's own, cell for cell, with its cursor, title and the
 * modes that decide what the terminal sends; what is typed is the session's, byte for
 * byte, but for the prefix and the key behind it.
 */
#ifndef TUI_VIEWER_H
#define TUI_VIEWER_H

#include "base/clock.h"
#include "tui/source.h"

enum tui_deliver { TUI_DELIVER_ASK, TUI_DELIVER_YES, TUI_DELIVER_NO };

struct tui_viewer_options {
    unsigned cols, rows; /* of the terminal */
    bool is_live;        /* there is somebody to type to, or at least to watch */
    bool is_watcher;     /* what is typed is never the session's: keys need no prefix */
    bool begins_back;    /* in review mode */
    uint8_t prefix;      /* a control byte; 0: all that is typed is the session's */
    const char *name;    /* of the session, as people know it; "" */
    struct clock clock;  /* the session's, for the time it has run; zero: unknown */
    enum tui_deliver deliver; /* type an instruction about now into the agent? */
    bool has_colours;
};

enum tui_wish_kind {
    TUI_WISH_SNAPSHOT, /* text: its label */
    TUI_WISH_INSTRUCT, /* all of the fields below */
    TUI_WISH_REMEMBER, /* is_typed: to be asked no more */
    TUI_WISH_DETACH,   /* the session goes on */
    TUI_WISH_STOP,     /* the session is to end; SIGTERM, as `ahr stop` does */
    TUI_WISH_LEAVE,    /* nothing is asked of the session (it has ended, or we watch) */
    TUI_WISH_SUSPEND,  /* Ctrl-Z, where it is for us */
    TUI_WISH_EDITOR,   /* text: a file for $EDITOR, at line `row`; tui_viewer_edited() */
};

struct tui_wish {
    enum tui_wish_kind kind;
    struct view text;     /* borrowed until the next call of the viewer */
    uint64_t anchor_byte; /* PLAY_NONE: now */
    uint64_t snapshot_id; /* PLAY_NONE: none */
    uint32_t row;         /* of the session's lines, from 0; UINT32_MAX: none */
    bool is_typed;        /* it is to be typed into the agent, too */
};

struct tui_viewer;

/* NULL: no memory. The source is borrowed, and so is the name. */
struct tui_viewer *tui_viewer_new(const struct tui_viewer_options *opt,
                                  const struct tui_source *source);
void tui_viewer_free(struct tui_viewer *v);

/* -- the terminal -- */

/* Appends what takes it, and what gives it back. */
void tui_viewer_begin(struct tui_viewer *v, struct buf *out);
void tui_viewer_end(struct tui_viewer *v, struct buf *out);
/* … with the last picture on the screen that is there then: below what is on it, or
 * (clears) in its place. True: the cursor stands in the middle of a line. */
bool tui_viewer_end_with(struct tui_viewer *v, bool clears, struct buf *out);
bool tui_viewer_is_on(const struct tui_viewer *v);
void tui_viewer_resize(struct tui_viewer *v, unsigned cols, unsigned rows,
                       struct buf *out);
/* What it shows is not known any more: the next picture is a whole one. */
void tui_viewer_redraw(struct tui_viewer *v, struct buf *out);

/* -- the session -- */

/* Its screen, its size or its facts have changed. */
void tui_viewer_touch(struct tui_viewer *v);
/* It is another model: rows are looked at anew. */
void tui_viewer_renew(struct tui_viewer *v);
/* What the user must know, loudly, until it is over: NULL. Copied. */
void tui_viewer_trouble(struct tui_viewer *v, const char *text);
/* What became of the last wish: a short line that goes by itself. Copied. */
void tui_viewer_tell(struct tui_viewer *v, const char *text, uint64_t now_ns);
/* The last instruction could not be noted; told likewise. The next draft begins with its
 * text. */
void tui_viewer_refused(struct tui_viewer *v, const char *why, uint64_t now_ns);
/* It has ended, as `how` says. True: somebody still looks at it (review mode, a box that
 * is open): go on until TUI_WISH_LEAVE. */
bool tui_viewer_ended(struct tui_viewer *v, const char *how);

/* In review mode: to a moment, as @ takes it: "@BYTE", "1:23", "83.5". */
void tui_viewer_go(struct tui_viewer *v, const char *moment);
/* Are its events to be seen: review mode, the status line? Then they are to be kept
 * current. */
bool tui_viewer_shows_events(const struct tui_viewer *v);

/* -- what is typed -- */

/* Appends what is for the session. now_ns: monotonic, as everywhere here. It stops behind
 * a key that asks for something: what is left of *in is for when that has been done. */
void tui_viewer_type(struct tui_viewer *v, struct view *in, uint64_t now_ns,
                     struct buf *for_session);
/* The next thing that was asked for; false: nothing more. */
bool tui_viewer_wish(struct tui_viewer *v, struct tui_wish *ret);
/* The editor is done; 0, or why it could not be used. */
void tui_viewer_edited(struct tui_viewer *v, const struct err *err);

/* -- pictures -- */

/* How many ms until tui_viewer_picture() has something to do; < 0: not by itself. */
int tui_viewer_wait_ms(struct tui_viewer *v, uint64_t now_ns);
/* Appends what brings the terminal from the last picture to this one; nothing where there
 * is nothing new. 0 or -ENOMEM: then the next one tries again. */
int tui_viewer_picture(struct tui_viewer *v, uint64_t now_ns, struct buf *out);

#endif
