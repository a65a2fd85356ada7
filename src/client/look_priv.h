/* SPDX-License-Identifier: MIT */
/*
 * look_priv.h -- a live session in the viewer: what that shows is kept current here, the
 * model's older rows and times, and the events.
 */
#ifndef CLIENT_LOOK_PRIV_H
#define CLIENT_LOOK_PRIV_H

#include "client/client.h"
#include "client/events_priv.h"
#include "client/past_priv.h"

struct look {
    const struct client_options *opt;
    struct model *model;       /* borrowed */
    struct tui_viewer *viewer; /* NULL: not made yet, or bytes are passed */
    struct tui_source source;  /* its */
    struct clock clock;        /* the session's */
    struct play_stamps stamps;
    struct past past;
    struct events events;
    bool has_events; /* they are to be seen */
    bool is_ended;   /* the session is */
};

void look_init(struct look *l, const struct client_options *opt, struct model *model);
void look_release(struct look *l);
/* May somebody look back here? Then all rows are kept. */
bool look_keeps_rows(const struct look *l);

/* -- the session -- */

/* The model is another one; is_whole: from the session's first byte on. Else what is
 * missing is read from the recording by and by. */
void look_anew(struct look *l, bool is_whole);
/* The model was fed or resized; r: what model_feed() or model_skip() has said. */
void look_fed(struct look *l, int r);
/* These bytes have just been written. */
void look_stamp(struct look *l);
/* True: somebody still looks at it. */
bool look_ended(struct look *l, const char *how);

/* -- the terminal -- */

/* Appends what takes it; the viewer is made for it if there is none. False: no memory. */
bool look_begin(struct look *l, unsigned cols, unsigned rows, struct buf *out);
/* … and what gives it back. */
void look_end(struct look *l, struct buf *out);
bool look_is_on(const struct look *l);
/* There is nothing to look at for now; the terminal was given back. */
void look_drop(struct look *l);

/* -- the loop -- */

/* How long until look_step() or look_read_on() has something to do; < 0: for ever.
 * may_draw: the terminal takes pictures. */
int look_wait_ms(struct look *l, bool may_draw, uint64_t now_ns);
/* Appends a picture, if one is due. */
void look_step(struct look *l, bool may_draw, uint64_t now_ns, struct buf *out);
/* Older rows, for some ms; is_busy: other work waits. */
void look_read_on(struct look *l, bool is_busy, uint64_t now_ns);

#endif
