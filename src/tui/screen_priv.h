/* SPDX-License-Identifier: MIT */
/*
 * screen_priv.h -- the user's terminal, while its screen and its keys are ours.
 *
 * It is never waited for: pictures are left out while it takes none. Whoever opens it
 * closes it, whatever happens; then it is as it was.
 */
#ifndef TUI_SCREEN_PRIV_H
#define TUI_SCREEN_PRIV_H

#include "pty/guard.h"
#include "pty/output.h"
#include "pty/tty.h"
#include "term/canvas.h"
#include "tui/viewer.h"

struct tui_screen {
    struct pty_tty tty; /* where keys come from; fd -1: nowhere */
    int own_fd;         /* /dev/tty, if it was opened for that; -1 */
    struct pty_guard guard;
    struct pty_output out;
    struct tui_viewer *viewer; /* borrowed; makes the pictures; NULL: they come by … */
    struct term_canvas canvas; /* … tui_screen_show() */
    struct buf bytes;
};

/* Takes the terminal; in the background that waits until we are fetched. Where in_fd is
 * no terminal, keys come from the controlling one, if there is one. */
int tui_screen_open(struct tui_screen *s, int in_fd, int out_fd, struct err *err);
/* The same for a viewer's pictures, which go to tui_screen_put(). */
void tui_screen_open_for(struct tui_screen *s, struct tui_viewer *viewer, int in_fd,
                         int out_fd);
/* Gives it back. */
void tui_screen_close(struct tui_screen *s);
unsigned tui_screen_cols(const struct tui_screen *s);
unsigned tui_screen_rows(const struct tui_screen *s);
/* The terminal may have another size, or show something else: what is there is drawn
 * anew. */
void tui_screen_resize(struct tui_screen *s);
void tui_screen_redraw(struct tui_screen *s);
/* Gives it back, stops this process (and all of its job, as Ctrl-Z does), and takes it
 * again when that goes on. */
void tui_screen_suspend(struct tui_screen *s, bool is_job);
/* The same with somebody else at it meanwhile, who returns. */
void tui_screen_lend(struct tui_screen *s, void (*use)(void *ctx), void *ctx);
/* After SIGCONT from somewhere: takes it again. */
void tui_screen_resume(struct tui_screen *s);
/* Is there room for a picture? */
bool tui_screen_is_ready(const struct tui_screen *s);
/* The picture is what a blank terminal of this size shows after these bytes. */
int tui_screen_show(struct tui_screen *s, struct view bytes);
void tui_screen_put(struct tui_screen *s, struct view bytes);
/* Waits for keys, signals, room for more output, or the time; timeout_ms < 0: none. True:
 * there are keys, or none will ever come: see tui_screen_read(). */
bool tui_screen_wait(struct tui_screen *s, int timeout_ms);
/* What was typed. 0: nothing yet; < 0: the terminal is gone. */
ssize_t tui_screen_read(struct tui_screen *s, void *p, size_t n);

#endif
