/* SPDX-License-Identifier: MIT */
#include "support/sim_disk.h"

#include <errno.h>

static struct sim_disk *
disk(struct tape_io *io)
{
    return (struct sim_disk *)io;
}

static void
drop(struct sim_node *n)
{
    if (!n || --n->refs)
        return;
    buf_release(&n->data);
    buf_release(&n->durable);
    free(n);
}

static void
set_bytes(struct buf *b, const void *p, size_t n)
{
    buf_clear(b);
    buf_append(b, p, n);
}

static struct sim_name *
find(struct sim_name *names, const char *name)
{
    for (int i = 0; i < SIM_FILES; i++)
        if (names[i].name && !strcmp(names[i].name, name))
            return &names[i];
    return NULL;
}

static void
clear_name(struct sim_name *n)
{
    free(n->name);
    drop(n->node);
    *n = (struct sim_name){ 0 };
}

static void
put_name(struct sim_name *names, const char *name, struct sim_node *node)
{
    struct sim_name *n = find(names, name);
    node->refs++;
    if (n)
        clear_name(n);
    for (int i = 0; !n; i++)
        if (!names[i].name)
            n = &names[i];
    *n = (struct sim_name){ strdup(name), node };
}

/* 1: go on; 0: do half of it; negative: fail so. */
static int
gate(struct sim_disk *d, bool is_sync)
{
    if (d->is_dead)
        return -EIO;
    if (d->is_sync_only && !is_sync)
        return 1;
    d->calls++;
    bool hits = d->calls >= d->at_call &&
                (d->is_forever || d->calls <= d->at_call + d->repeat);
    if (!d->at_call || !hits)
        return 1;
    switch (d->fault) {
    case SIM_NONE:
        return 1;
    case SIM_ERROR:
        return d->error;
    case SIM_SHORT:
        return 0;
    case SIM_POWER:
        d->is_dead = true;
        return -EIO;
    }
    return 1;
}

static int
enter(struct sim_disk *d, bool is_sync)
{
    pthread_mutex_lock(&d->lock);
    return gate(d, is_sync);
}

static int
leave(struct sim_disk *d, int r)
{
    pthread_mutex_unlock(&d->lock);
    return r;
}

static int
sim_open(struct tape_io *io, const char *path, enum tape_open how)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    if (r < 0)
        return leave(d, r);
    struct sim_name *n = find(d->now, path);
    if (how == TAPE_OPEN_CREATE && n)
        return leave(d, -EEXIST);
    if (how != TAPE_OPEN_CREATE && !n)
        return leave(d, -ENOENT);
    if (!n) {
        put_name(d->now, path, calloc(1, sizeof(struct sim_node)));
        n = find(d->now, path);
    }
    for (int fd = 0; fd < SIM_HANDLES; fd++)
        if (!d->handles[fd]) {
            d->handles[fd] = n->node;
            n->node->refs++;
            return leave(d, fd);
        }
    return leave(d, -EMFILE);
}

static void
sim_close(struct tape_io *io, int fd)
{
    struct sim_disk *d = disk(io);
    pthread_mutex_lock(&d->lock);
    drop(d->handles[fd]);
    d->handles[fd] = NULL;
    pthread_mutex_unlock(&d->lock);
}

static ssize_t
sim_read(struct tape_io *io, int fd, void *p, size_t n, uint64_t off)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    struct buf *b = &d->handles[fd]->data;
    if (r < 0)
        return leave(d, r);
    if (off >= b->n)
        return leave(d, 0);
    n = n < b->n - off ? n : b->n - (size_t)off;
    n = r ? n : (n + 1) / 2;
    memcpy(p, b->p + off, n);
    return leave(d, (int)n);
}

static uint64_t
used(const struct sim_disk *d)
{
    uint64_t n = 0;
    for (int i = 0; i < SIM_FILES; i++)
        n += d->now[i].name ? d->now[i].node->data.n : 0;
    return n;
}

static ssize_t
sim_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    if (r < 0)
        return leave(d, r);
    n = r ? n : (n + 1) / 2;
    struct buf *b = &d->handles[fd]->data;
    size_t grow = off + n > b->n ? (size_t)(off + n) - b->n : 0;
    if (d->capacity && used(d) + grow > d->capacity)
        return leave(d, -ENOSPC);
    if (grow) {
        uint8_t *fresh = buf_grow(b, grow);
        memset(fresh, 0, grow);
    }
    memcpy(b->p + off, p, n);
    return leave(d, (int)n);
}

static int
sim_sync(struct tape_io *io, int fd)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, true);
    struct sim_node *node = d->handles[fd];
    if (r < 0) {
        if (r != -EINTR) {
            node->lost_from = node->lost_to ? node->lost_from : node->durable.n;
            node->lost_to = node->data.n;
        }
        return leave(d, r);
    }
    set_bytes(&node->durable, node->data.p, node->data.n);
    for (uint64_t i = node->lost_from; i < node->lost_to && i < node->durable.n; i++)
        node->durable.p[i] = 0;
    return leave(d, 0);
}

static int
sim_sync_dir(struct tape_io *io, const char *path)
{
    (void)path;
    struct sim_disk *d = disk(io);
    int r = enter(d, true);
    if (r < 0)
        return leave(d, r);
    for (int i = 0; i < SIM_FILES; i++)
        if (d->durable[i].name && !find(d->now, d->durable[i].name))
            clear_name(&d->durable[i]);
    for (int i = 0; i < SIM_FILES; i++)
        if (d->now[i].name)
            put_name(d->durable, d->now[i].name, d->now[i].node);
    return leave(d, 0);
}

static int
sim_truncate(struct tape_io *io, int fd, uint64_t size)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    if (r < 0)
        return leave(d, r);
    struct buf *b = &d->handles[fd]->data;
    if (size < b->n)
        b->n = (size_t)size;
    return leave(d, 0);
}

static int
sim_size(struct tape_io *io, int fd, uint64_t *ret)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    if (r < 0)
        return leave(d, r);
    *ret = d->handles[fd]->data.n;
    return leave(d, 0);
}

static int
sim_rename(struct tape_io *io, const char *from, const char *to)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    struct sim_name *n = find(d->now, from);
    if (r < 0 || !n)
        return leave(d, r < 0 ? r : -ENOENT);
    put_name(d->now, to, n->node);
    clear_name(find(d->now, from));
    return leave(d, 0);
}

static int
sim_unlink(struct tape_io *io, const char *path)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    struct sim_name *n = find(d->now, path);
    if (r < 0 || !n)
        return leave(d, r < 0 ? r : -ENOENT);
    clear_name(n);
    return leave(d, 0);
}

static int
sim_named(struct tape_io *io, int fd, const char *path)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    struct sim_name *n = find(d->now, path);
    if (r < 0 || !n)
        return leave(d, r < 0 ? r : -ENOENT);
    return leave(d, n->node == d->handles[fd] ? 0 : -EEXIST);
}

static int
sim_make_dirs(struct tape_io *io, const char *path)
{
    (void)path;
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    return leave(d, r < 0 ? r : 0);
}

static int
sim_lock(struct tape_io *io, int fd, const char *path)
{
    int r = sim_named(io, fd, path);
    return r == -ENOENT || r == -EEXIST ? -EBUSY : r;
}

static int
sim_list(struct tape_io *io, const char *path, struct buf *ret)
{
    struct sim_disk *d = disk(io);
    int r = enter(d, false);
    size_t len = strlen(path);
    for (int i = 0; r >= 0 && i < SIM_FILES; i++) {
        const char *name = d->now[i].name;
        if (name && !strncmp(name, path, len) && name[len])
            buf_append(ret, name + len, strlen(name + len) + 1);
    }
    return leave(d, r < 0 ? r : 0);
}

void
sim_init(struct sim_disk *d)
{
    static const struct tape_io_ops ops = {
        .open = sim_open,
        .close = sim_close,
        .read = sim_read,
        .write = sim_write,
        .sync = sim_sync,
        .sync_dir = sim_sync_dir,
        .truncate = sim_truncate,
        .size = sim_size,
        .rename = sim_rename,
        .unlink = sim_unlink,
        .named = sim_named,
        .make_dirs = sim_make_dirs,
        .lock = sim_lock,
        .list = sim_list,
    };
    *d = (struct sim_disk){ .io = { &ops } };
    pthread_mutex_init(&d->lock, NULL);
}

void
sim_heal(struct sim_disk *d)
{
    for (int i = 0; i < SIM_HANDLES; i++) {
        drop(d->handles[i]);
        d->handles[i] = NULL;
    }
    d->fault = SIM_NONE;
    d->is_dead = d->is_forever = d->is_sync_only = false;
    d->at_call = d->calls = d->repeat = 0;
    d->capacity = 0;
}

void
sim_release(struct sim_disk *d)
{
    sim_heal(d);
    for (int i = 0; i < SIM_FILES; i++) {
        clear_name(&d->now[i]);
        clear_name(&d->durable[i]);
    }
    pthread_mutex_destroy(&d->lock);
}

static unsigned
dice(unsigned *seed, unsigned sides)
{
    return *seed ? (unsigned)rand_r(seed) % sides : 0;
}

/* What of the unsynced bytes reached the disk: none, all, or a part (the rest zeros or
 * gone). */
static void
cut_node(struct sim_node *n, unsigned *seed)
{
    size_t synced = n->durable.n;
    size_t keep = synced;
    if (n->data.n > synced)
        keep += dice(seed, (unsigned)(n->data.n - synced) + 1);
    if (keep > synced)
        buf_append(&n->durable, n->data.p + synced, keep - synced);
    if (n->data.n > keep && dice(seed, 2)) { /* the size got there, the bytes did not */
        size_t pad = n->data.n - keep;
        memset(buf_grow(&n->durable, pad), 0, pad);
    }
    for (uint64_t i = n->lost_from; i < n->lost_to && i < n->durable.n; i++)
        n->durable.p[i] = 0;
    set_bytes(&n->data, n->durable.p, n->durable.n);
}

void
sim_power_cut(struct sim_disk *d, unsigned seed)
{
    sim_heal(d);
    for (int i = 0; i < SIM_FILES; i++) {
        struct sim_name *n = &d->durable[i];
        if (n->name && !find(d->now, n->name) && dice(&seed, 2))
            clear_name(n); /* an unlink that got there */
    }
    for (int i = 0; i < SIM_FILES; i++)
        if (d->now[i].name && dice(&seed, 2)) /* a create or rename that got there */
            put_name(d->durable, d->now[i].name, d->now[i].node);
    for (int i = 0; i < SIM_FILES; i++)
        clear_name(&d->now[i]);
    for (int i = 0; i < SIM_FILES; i++) {
        if (!d->durable[i].name)
            continue;
        cut_node(d->durable[i].node, &seed);
        put_name(d->now, d->durable[i].name, d->durable[i].node);
    }
}

struct view
sim_file(struct sim_disk *d, const char *name)
{
    struct sim_name *n = find(d->now, name);
    return n ? (struct view){ n->node->data.p, n->node->data.n } : (struct view){ 0 };
}

void
sim_put(struct sim_disk *d, const char *name, struct view bytes)
{
    struct sim_node *node = calloc(1, sizeof(*node));
    set_bytes(&node->data, bytes.p, bytes.n);
    set_bytes(&node->durable, bytes.p, bytes.n);
    pthread_mutex_lock(&d->lock); /* a writer may be at work */
    put_name(d->now, name, node);
    put_name(d->durable, name, node);
    pthread_mutex_unlock(&d->lock);
}

int
sim_count_files(struct sim_disk *d)
{
    int n = 0;
    for (int i = 0; i < SIM_FILES; i++)
        n += d->now[i].name != NULL;
    return n;
}

void
sim_copy(struct sim_disk *to, const struct sim_disk *from)
{
    sim_init(to);
    for (int i = 0; i < SIM_FILES; i++)
        if (from->now[i].name) {
            const struct buf *b = &from->now[i].node->data;
            sim_put(to, from->now[i].name, (struct view){ b->p, b->n });
        }
}
