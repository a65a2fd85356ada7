/* SPDX-License-Identifier: MIT */
/*
 * show_priv.h -- what a client does with the session's output, one of three ways:
 *
 *   bytes    stdout is no terminal: every byte, from the recording where the host has
 *            left some out
 *   passing  the terminal gets the bytes as they are; when it is too slow for them it is
 *            skipped forward and repainted
 *   drawing  the viewer shows the terminal pictures of the session's screen
 */
#ifndef CLIENT_SHOW_PRIV_H
#define CLIENT_SHOW_PRIV_H

#include "client/client.h"
#include "client/glance_priv.h"
#include "client/link_priv.h"
#include "client/look_priv.h"
#include "client/model_priv.h"
#include "pty/output.h"

enum show_way { SHOW_BYTES, SHOW_PASSING, SHOW_DRAWING };

struct show {
    const struct client_options *opt;
    struct link *link;
    struct pty_output out;
    enum show_way way;
    uint64_t next_off;       /* of the output that comes next */
    uint16_t cols, rows;     /* of the terminal */
    uint16_t s_cols, s_rows; /* of the session, as far as was told */
    bool has_stage;          /* the host knows of stages, and of PAUSE */
    bool may_pass;           /* … and has us pass bytes */
    bool is_stopping;        /* what nobody takes is not kept */
    bool is_paused;          /* we have asked for nothing … */
    bool awaits_skip;        /* … and for more again: SKIPPED is to come */
    uint64_t fill_to;        /* bytes: what is to come from the recording first */
    uint64_t lost;           /* bytes: the recording did not have them */
    struct glance glance;    /* passing: of what went by */
    struct model model;      /* drawing; passing: for the next repaint */
    struct look look;        /* drawing */
    struct buf picture;      /* what of one has come */
    uint64_t picture_off;    /* passing: the last repaint showed this */
    size_t picture_bytes;    /* … and of it so much may wait still */
    uint64_t full_ns;        /* passing: too much waits, since; 0: does not */
    uint64_t full_taken;     /* … when so much had been taken */
    uint64_t lag_ns;         /* the last time it was too slow; 0: never */
};

/* The terminal is cols x rows; the session so far is taken to be, too. */
void show_init(struct show *s, const struct client_options *opt, struct link *link,
               uint16_t cols, uint16_t rows);
void show_release(struct show *s);

/* What the host says. */
void show_joined(struct show *s, uint64_t off, uint64_t cols, uint64_t rows,
                 struct clock clock);
void show_stage(struct show *s, uint64_t cols, uint64_t rows, bool may_pass);
void show_picture(struct show *s, uint64_t off, bool is_last, struct view bytes);
void show_output(struct show *s, uint64_t off, struct view bytes);
void show_skipped(struct show *s, uint64_t off, uint64_t cols, uint64_t rows);
/* The session has ended after so many bytes, or its host is gone; how: in few words.
 * True: somebody looks back, and goes on until show_finish(). */
bool show_ended(struct show *s, uint64_t off, const char *how);
void show_finish(struct show *s);

/* The terminal has another size. */
void show_resize(struct show *s, uint16_t cols, uint16_t rows);
/* The terminal is somebody else's for a while, and ours again. */
void show_suspend(struct show *s);
void show_resume(struct show *s);
/* For the last time; is_clean: the program has left the terminal as it should be. */
void show_leave(struct show *s, bool is_clean);

/* Does what is due. Call it before each poll(). */
void show_step(struct show *s, uint64_t now_ns);
/* What may take its time; after each poll(). is_busy: something else has happened. */
void show_read_on(struct show *s, bool is_busy, uint64_t now_ns);
/* How long until one of them must be called again; < 0: for ever. */
int show_wait_ms(struct show *s, uint64_t now_ns);
/* Is it worth while to ask whether the terminal takes something? */
bool show_wants_room(const struct show *s, uint64_t now_ns);
/* It does. */
void show_has_room(struct show *s, uint64_t now_ns);
/* Is it to be noticed when nobody reads the output any more, though there is none? */
bool show_minds_reader(const struct show *s);
/* Nobody does. */
void show_lost_reader(struct show *s);
/* May more come from the host? */
bool show_takes_more(const struct show *s);
/* All that there is to show is shown. */
bool show_is_done(const struct show *s);

#endif
