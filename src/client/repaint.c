/* SPDX-License-Identifier: MIT */
#include "client/repaint_priv.h"

#include "pty/tty.h"
#include "term/term.h"

enum { SCROLLBACK = 1000 }; /* only what a resize may bring back */

static struct term *
make_model(const struct model_tape *tape, uint64_t off, unsigned cols, unsigned rows)
{
    struct term_options how = term_options_default();
    how.cols = cols;
    how.rows = rows;
    how.scrollback_rows = SCROLLBACK;
    how.alternate_rows = 0;
    struct term *t = term_new(&how);
    if (t && model_catch_up(t, tape, 0, off) < 0) {
        term_free(t);
        return NULL;
    }
    if (t)
        term_resize(t, cols, rows);
    return t;
}

void
repaint(struct buf *out, const struct model_tape *tape, uint64_t off, unsigned cols,
        unsigned rows)
{
    struct term *t = make_model(tape, off, cols, rows);
    if (!t)
        return;
    /* Whichever screen the terminal shows now, it then shows the right one. */
    buf_puts(out, PTY_TTY_CALM "\033[?1049h");
    if (!term_modes(t).is_alternate)
        buf_puts(out, "\033[?1049l");
    buf_puts(out, "\033[H\033[2J");
    term_diff(NULL, t, out);
    term_free(t);
}
