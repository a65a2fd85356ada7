/* SPDX-License-Identifier: MIT */
/*
 * viewer_files.c -- what leaves the viewer as text: into $EDITOR and back, into the
 * clipboard.
 *
 * Files for $EDITOR are the user's alone (0600), and are removed when it is done.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "tui/save.h"
#include "tui/viewer_priv.h"

enum {
    COPY_MAX = 100000,        /* bytes for the clipboard; terminals have ceilings, too */
    DRAFT_FILE_MAX = 1 << 20, /* bytes that are read of what $EDITOR leaves */
};

/* -- $EDITOR -- */

static int
write_temp(struct view text, struct buf *ret_path, struct err *err)
{
    int fd = tui_save_open_temp(ret_path, err);
    if (fd < 0)
        return fd;
    int e = text.n ? file_write_all(fd, text.p, text.n) : 0;
    if (!e && text.n)
        e = file_write_all(fd, "\n", 1);
    if (close(fd) < 0 && !e)
        e = -errno;
    if (e) {
        unlink(buf_str(ret_path));
        return err_code(err, e, "cannot write '%s'", buf_str(ret_path));
    }
    return 0;
}

static void
forget_file(struct tui_viewer *v)
{
    if (v->edited_path)
        unlink(v->edited_path);
    free(v->edited_path);
    v->edited_path = NULL;
    v->edited = TUI_EDITED_NONE;
}

void
tui_viewer_edit(struct tui_viewer *v, enum tui_edited what, uint64_t now_ns)
{
    AUTO(buf) path = { 0 };
    const struct buf *draft = &v->review.draft.text;
    unsigned line = 0;
    struct err err;
    forget_file(v);
    int e = what == TUI_EDITED_LINES
                ? tui_save_temp(&v->review, &path, &line, &err)
                : write_temp((struct view){ draft->p, draft->n }, &path, &err);
    if (e < 0) {
        tui_viewer_say(v, err.text, now_ns);
        return;
    }
    v->edited = what;
    v->edited_path = strdup(buf_str(&path));
    if (!v->edited_path) {
        unlink(buf_str(&path));
        return;
    }
    tui_viewer_ask(v, &(struct tui_wish){ .kind = TUI_WISH_EDITOR,
                                          .text = { path.p, path.n },
                                          .anchor_byte = PLAY_NONE,
                                          .snapshot_id = PLAY_NONE,
                                          .row = line });
}

void
tui_viewer_edited(struct tui_viewer *v, const struct err *err)
{
    AUTO(buf) text = { .ceiling = DRAFT_FILE_MAX };
    struct err why = { 0 };
    v->is_stale = true;
    if (err && err->code)
        why = *err;
    else if (v->edited == TUI_EDITED_DRAFT && v->review.has_draft) {
        int e = file_slurp(v->edited_path, &text);
        if (e < 0)
            err_code(&why, e, "cannot read '%s'", v->edited_path);
        else
            tui_draft_set(&v->review.draft, (struct view){ text.p, text.n });
    }
    forget_file(v);
    if (why.code) { /* … however long it took */
        tui_viewer_say(v, why.text, 0);
        v->note_until_ns = TUI_VIEWER_FRESH;
    }
}

/* -- the clipboard -- */

void
tui_viewer_copy(struct tui_viewer *v, uint64_t now_ns)
{
    AUTO(buf) text = { 0 };
    if (tui_page_text(&v->review, v->review.at, &text) < 0)
        return;
    if (text.n > COPY_MAX) {
        tui_viewer_say(v, "the line is too long to be copied", now_ns);
        return;
    }
    buf_clear(&v->aside);
    buf_puts(&v->aside, "\033]52;c;");
    base64_put((struct view){ text.p, text.n }, &v->aside);
    buf_puts(&v->aside, "\033\\");
    if (v->aside.failed)
        buf_clear(&v->aside);
    else
        tui_viewer_say(v, "copied", now_ns);
}
