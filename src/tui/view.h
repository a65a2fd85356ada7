/* SPDX-License-Identifier: MIT */
/*
 * view.h -- the viewer on a session that has ended (`ahr view`).
 *
 * Its last screen is there at once, by the keyframes; all rows and times are read behind
 * it, in slices, while it can be used already.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "play/player.h"
#include "tui/viewer.h"

struct tui_view {
    struct tape_io *io;
    const char *path;           /* of the recording */
    struct play_options play;   /* for the first picture */
    struct play_events *events; /* beside the recording; those that it holds are added */
    const char *name;
    uint64_t from_ns, from_byte; /* begins there; both 0: at the end */
    bool has_colours;
    int in_fd, out_fd;
    /* Notes the instruction; 0, or why it could not be. NULL: there is no place for it.
     */
    int (*instruct)(void *ctx, const struct tui_wish *wish, struct play_event *ret,
                    struct err *err);
    void *ctx;
};

/* Until the user leaves. 0; the number of the signal that ended it; or an error, told
 * after the terminal was put back. */
int tui_view(const struct tui_view *opt, struct err *err);

#endif
