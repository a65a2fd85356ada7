/* SPDX-License-Identifier: MIT */
/*
 * remake_priv.h -- a stored session's folder made anew beside the old one, which it then
 * replaces in one step: what redact, encrypt and decrypt have in common.
 *
 * The session is held, and so is a run's folder in its project; what can fail is done in
 * sessions/.new-<id>, and behind the exchange things are only removed. Both folders are
 * held until the old one is gone, and nobody makes the library anew meanwhile: a new one
 * could hold what was read before.
 */
#ifndef LIBRARY_REMAKE_PRIV_H
#define LIBRARY_REMAKE_PRIV_H

#include "library/index.h"

struct remake {
    const char *home, *id; /* borrowed */
    struct buf dir, new_dir, db_path;
    struct buf project;               /* of a run: its folder there; empty: none */
    int hold_fd, new_fd, sessions_fd; /* -1: none */
    int project_fd;                   /* … and so is this: that folder's */
    struct store *store;
    struct store *beside; /* keeps others from making the library anew */
    bool is_exchanged;    /* the new folder stands in the place of the old one */
};

#define REMAKE(the_home, the_id)                                         \
    {                                                                    \
        .home = (the_home), .id = (the_id), .hold_fd = -1, .new_fd = -1, \
        .sessions_fd = -1, .project_fd = -1                              \
    }

void remake_release(struct remake *r);
int remake_init(struct remake *r, struct err *err);
/* What a killed one has left is ended first; then the session is ours, one whose recorder
 * has vanished is sealed. ERR_BUSY, ERR_MISSING. */
int remake_hold(struct remake *r, struct err *err);
/* A run's folder in its project, where there is one: nobody is at work there. */
int remake_hold_project(struct remake *r, struct err *err);
int remake_open_library(struct remake *r, struct err *err);
/* The new folder, empty and held. */
int remake_folder(struct remake *r, struct err *err);
/* … and away again. */
int remake_drop(struct remake *r, struct err *err);
/* What is in the new folder is synced by the caller. Once it is known to be on the disk
 * that it stands there, the old one is removed. An error behind the exchange
 * (is_exchanged) takes nothing back. */
int remake_exchange(struct remake *r, struct err *err);
/* Pictures of the old recording that somebody may have kept. */
int remake_forget_keyframes(struct remake *r, struct err *err);
void remake_let_go(int *fd);
/* Appends the ids of other sessions of the same run's folder: runs of one name. */
int remake_others(struct remake *r, struct buf *ret_ids);
/* What fails behind the exchange stops nothing: the first of it is told. */
int remake_first_error(int r, int next, const struct err *why, struct err *err);

#endif
