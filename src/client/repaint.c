/* SPDX-License-Identifier: MIT */
#include "client/repaint_priv.h"

#include "pty/tty.h"

void
repaint(struct buf *out, const struct term *t)
{
    /* Whichever screen the terminal shows now, it then shows the right one. */
    buf_puts(out, PTY_TTY_CALM "\033[?1049h");
    if (!term_modes(t).is_alternate)
        buf_puts(out, "\033[?1049l");
    buf_puts(out, "\033[H\033[2J");
    term_diff(NULL, t, out);
    term_hand_over(t, out);
}
