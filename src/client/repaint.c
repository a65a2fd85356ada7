/* SPDX-License-Identifier: MIT */
#include "client/repaint_priv.h"

#include "tape/reader.h"
#include "term/term.h"

/* Ends a sequence that was cut off; then colours, margins, keys, mouse, paste, focus and
 * the cursor as a terminal has them at first. The cursor stays where it is. */
#define CALM                                                                        \
    "\030\033\\\033[0m\0337\033[r\0338\033[?1l\033>\033[?7h\033[?9l\033[?1000l"     \
    "\033[?1002l\033[?1003l\033[?1004l\033[?1005l\033[?1006l\033[?1015l\033[?2004l" \
    "\033[?2026l\033[<u\033[?25h"

enum { SCROLLBACK = 1000 }; /* only what a resize may bring back */

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
model(const char *tape_path, uint64_t off)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct err ignored;
    if (tape_reader_open(&r, tape_io_files(), tape_path, &opt, &ignored) < 0)
        return NULL;
    struct term_options how = term_options_default();
    how.scrollback_rows = SCROLLBACK;
    how.alternate_rows = 0;
    struct term *t = term_new(&how);
    if (t)
        feed(t, r, off);
    tape_reader_close(r);
    return t;
}

void
repaint(struct buf *out, const char *tape_path, uint64_t off)
{
    struct term *t = model(tape_path, off);
    if (!t)
        return;
    /* Whichever screen the terminal shows now, it then shows the right one. */
    buf_puts(out, CALM "\033[?1049h");
    if (!term_modes(t).is_alternate)
        buf_puts(out, "\033[?1049l");
    buf_puts(out, "\033[H\033[2J");
    term_diff(NULL, t, out);
    term_free(t);
}

void
calm(struct buf *out, const char *tape_path, uint64_t off)
{
    struct term *t = model(tape_path, off);
    buf_puts(out, CALM);
    if (t && term_modes(t).is_alternate)
        buf_puts(out, "\033[?1049l");
    term_free(t);
}
