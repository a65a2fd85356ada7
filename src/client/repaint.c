/* SPDX-License-Identifier: MIT */
#include "client/repaint_priv.h"

#include "pty/tty.h"
#include "tape/reader.h"
#include "term/term.h"

enum {
    SCROLLBACK = 1000,     /* only what a resize may bring back */
    REPLAY_MAX = 16 << 20, /* what came before so many bytes is not on the screen */
};

static void
feed(struct term *t, struct tape_reader *r, uint64_t off)
{
    struct tape_record rec;
    while (tape_reader_next(r, &rec)) {
        if (rec.tag == TAPE_RESIZE)
            term_resize(t, rec.cols, rec.rows);
        if (rec.tag != TAPE_DATA)
            continue;
        if (rec.byte_off >= off)
            break;
        uint64_t n = off - rec.byte_off;
        term_feed(t, rec.bytes.p, rec.bytes.n < n ? rec.bytes.n : (size_t)n,
                  rec.byte_off);
    }
}

/* NULL when there is nothing to read. */
static struct term *
model(const char *tape_path, uint64_t off, unsigned cols, unsigned rows)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct err ignored;
    if (tape_reader_open(&r, tape_io_files(), tape_path, &opt, &ignored) < 0)
        return NULL;
    struct term_options how = term_options_default();
    how.cols = cols;
    how.rows = rows;
    how.scrollback_rows = SCROLLBACK;
    how.alternate_rows = 0;
    struct term *t = term_new(&how);
    if (t && (off <= REPLAY_MAX || !tape_reader_seek_byte(r, off - REPLAY_MAX)))
        feed(t, r, off);
    tape_reader_close(r);
    return t;
}

void
repaint(struct buf *out, const char *tape_path, uint64_t off, unsigned cols,
        unsigned rows)
{
    struct term *t = model(tape_path, off, cols, rows);
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
