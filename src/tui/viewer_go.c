/* SPDX-License-Identifier: MIT */
/* viewer_go.c -- a viewer that is told where to look. */
#include "tui/viewer_priv.h"

void
tui_viewer_go(struct tui_viewer *v, const char *moment)
{
    if (!v->is_back)
        return;
    tui_viewer_refresh(v);
    v->review.follows = false;
    tui_review_go_to_moment(&v->review, moment);
    v->is_stale = true;
}
