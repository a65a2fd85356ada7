/* SPDX-License-Identifier: MIT */
#include "support/vterm_peer.h"

#include <string.h>

static int
on_damage(VTermRect rect, void *user)
{
    struct vterm_peer *peer = user;
    (void)rect;
    peer->damages++;
    return 1;
}

static int
on_moverect(VTermRect dest, VTermRect src, void *user)
{
    struct vterm_peer *peer = user;
    (void)dest;
    (void)src;
    peer->damages++;
    return 1;
}

static int
on_pushline(int cols, const VTermScreenCell *cells, void *user)
{
    struct vterm_peer *peer = user;
    size_t width = (size_t)peer->cols;
    size_t n = (size_t)cols < width ? (size_t)cols : width;
    memcpy(peer->ring + peer->lines++ % VTERM_PEER_RING * width, cells,
           n * sizeof(cells[0]));
    return 1;
}

static const VTermScreenCallbacks callbacks = {
    .damage = on_damage,
    .moverect = on_moverect,
    .sb_pushline = on_pushline,
};

/* Replies are thrown away: else they fill libvterm's buffer. */
static void
on_output(const char *s, size_t n, void *user)
{
    (void)s;
    (void)n;
    (void)user;
}

void
vterm_peer_init(struct vterm_peer *peer, unsigned cols, unsigned rows)
{
    *peer = (struct vterm_peer){ .cols = (int)cols };
    peer->ring = calloc(VTERM_PEER_RING * (size_t)cols, sizeof(peer->ring[0]));
    peer->vt = vterm_new((int)rows, (int)cols);
    if (!peer->ring || !peer->vt)
        abort();
    vterm_set_utf8(peer->vt, 1);
    vterm_output_set_callback(peer->vt, on_output, NULL);
    peer->screen = vterm_obtain_screen(peer->vt);
    vterm_screen_enable_altscreen(peer->screen, 1);
    vterm_screen_set_callbacks(peer->screen, &callbacks, peer);
    vterm_screen_set_damage_merge(peer->screen, VTERM_DAMAGE_SCROLL);
    vterm_screen_reset(peer->screen, 1);
}

void
vterm_peer_release(struct vterm_peer *peer)
{
    vterm_free(peer->vt);
    free(peer->ring);
}

void
vterm_peer_feed(struct vterm_peer *peer, const void *p, size_t n)
{
    vterm_input_write(peer->vt, p, n);
    vterm_screen_flush_damage(peer->screen);
}
