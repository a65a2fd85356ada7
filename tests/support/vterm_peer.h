/* SPDX-License-Identifier: MIT */
/*
 * vterm_peer.h -- libvterm as a program that embeds it uses it: UTF-8, the screen layer,
 * the alternate screen, damage merged (VTERM_DAMAGE_SCROLL, as vim and neovim ask for it)
 * and flushed once a read, lines that scroll off copied to a ring.
 *
 * The ring is small and its memory stays: of all that embedders do, the cheapest.
 */
#ifndef VTERM_PEER_H
#define VTERM_PEER_H

#include <stddef.h>
#include <vterm.h>

enum { VTERM_PEER_RING = 1000 };

struct vterm_peer {
    VTerm *vt;
    VTermScreen *screen;
    VTermScreenCell *ring; /* VTERM_PEER_RING lines of `cols` cells */
    size_t lines;          /* pushed so far */
    int cols;
    unsigned damages;
};

/* Ends the program when out of memory. */
void vterm_peer_init(struct vterm_peer *peer, unsigned cols, unsigned rows);
void vterm_peer_release(struct vterm_peer *peer);
void vterm_peer_feed(struct vterm_peer *peer, const void *p, size_t n);

#endif
