/* SPDX-License-Identifier: MIT */
/* viewer_scene.h -- a session, a viewer of it, and the terminal that shows it. */
#ifndef VIEWER_SCENE_H
#define VIEWER_SCENE_H

#include "term/term.h"
#include "tui/viewer.h"

#define SCENE_MS    UINT64_C(1000000)
#define SCENE_START (UINT64_C(1000) * SCENE_MS)

struct scene {
    struct term *session, *outer;
    struct tui_source source;
    struct play_events events;
    struct tui_viewer *viewer;
    uint64_t now_ns;
    uint64_t fed;     /* bytes of the session */
    struct buf typed; /* for the session */
    struct buf last;  /* bytes of the last picture */
};

/* A live one of somebody who types, with the default prefix; name "task". */
struct tui_viewer_options scene_options(unsigned cols, unsigned rows);
/* The session has the first size, the terminal that of the options. */
void scene_init(struct scene *s, unsigned cols, unsigned rows,
                const struct tui_viewer_options *opt);
/* Both have this size, and the options are those of scene_options(). */
void scene_simple(struct scene *s, unsigned cols, unsigned rows);
void scene_release(struct scene *s);
void scene_feed(struct scene *s, const char *text);
void scene_feed_bytes(struct scene *s, struct view bytes);
/* Some of the viewer's bytes reach the terminal. */
void scene_flush(struct scene *s, struct buf *out);
/* A second later there is a picture. */
void scene_draw(struct scene *s);
/* … now. */
void scene_draw_now(struct scene *s);
/* Keys, and the picture they bring. */
void scene_type(struct scene *s, const char *keys);
/* What the session was typed since the last time is this. */
void scene_was_typed(struct scene *s, const char *want);
/* The next wish is of this kind; nothing else is wished for. */
struct tui_wish scene_wishes(struct scene *s, enum tui_wish_kind kind);
void scene_wishes_nothing(struct scene *s);
void scene_is_row(const struct term *t, unsigned row, const char *text);
/* A row of the terminal as text; until the next call. */
const char *scene_row(const struct term *t, unsigned row);
bool scene_has(const struct scene *s, const char *text);
/* Do two cells show the same? A blank is one, however it came. */
bool scene_is_same_text(const struct term_cell *a, const struct term_cell *b);
bool scene_is_same_look(const struct term_cell *a, const struct term_cell *b);
/* Every cell of the terminal is the session's, which has its size; and so are cursor and
 * modes. */
void scene_is_equal(const struct scene *s);

#endif
