/* SPDX-License-Identifier: MIT */
/*
 * walk.c -- threads that look at folders, and what they found put into one list.
 *
 * Folders that nobody has looked at yet lie on a stack that the threads share. A thread
 * that finds it empty waits: another may still find folders. Each has its own memory,
 * which is the walk's at the end.
 */
#include "snap/walk_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snap/folder_priv.h"

enum { THREADS_MAX = 8, ITEMS_BEYOND = 1 << 16 };

struct crew {
    struct snap_look_for want;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct snap_folder *todo;
    unsigned busy;  /* threads that look at a folder */
    uint64_t items; /* that were found */
    uint64_t items_max;
    int failed;
};

struct member {
    struct crew *crew;
    struct snap_looker looker;
    pthread_t thread;
    bool is_running;
};

/* The next folder, or NULL at the end. */
static struct snap_folder *
next_folder(struct crew *c)
{
    while (!c->todo && c->busy && !c->failed)
        pthread_cond_wait(&c->more, &c->lock);
    struct snap_folder *f = c->failed ? NULL : c->todo;
    if (f) {
        c->todo = f->next;
        c->busy++;
    }
    return f;
}

static void
put_children(struct crew *c, const struct snap_folder *f)
{
    bool has_some = false;
    c->items += f->count;
    bool is_full = c->items > c->items_max;
    for (size_t i = f->count; i-- > 0;) {
        struct snap_folder *child = f->item[i].child;
        if (!child)
            continue;
        if (is_full) {
            child->skip = SNAP_SKIP_MANY;
            continue;
        }
        child->next = c->todo;
        c->todo = child;
        has_some = true;
    }
    if (has_some)
        pthread_cond_broadcast(&c->more);
}

static void *
work(void *ctx)
{
    struct member *m = ctx;
    struct crew *c = m->crew;
    struct snap_folder *f;
    pthread_mutex_lock(&c->lock);
    while ((f = next_folder(c))) {
        pthread_mutex_unlock(&c->lock);
        int r = snap_folder_read(&m->looker, f);
        pthread_mutex_lock(&c->lock);
        c->busy--;
        if (r < 0)
            c->failed = r;
        else
            put_children(c, f);
        if (!c->busy && !c->todo)
            pthread_cond_broadcast(&c->more);
    }
    pthread_cond_broadcast(&c->more);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* -- the list -- */

struct list {
    struct snap_walk *walk;
    const struct snap_limits *limits;
    uint64_t files, bytes;
    int full; /* why nothing more is taken, or SNAP_KEPT */
};

static int
ceiling(struct list *l, const struct snap_entry *e)
{
    if (l->full != SNAP_KEPT || e->kind == SNAP_DIR)
        return e->kind == SNAP_DIR ? SNAP_KEPT : l->full;
    if (l->files >= l->limits->files)
        l->full = SNAP_SKIP_MANY;
    else if (e->look.size_bytes > l->limits->total_bytes - l->bytes)
        l->full = SNAP_SKIP_TOTAL;
    if (l->full == SNAP_KEPT) {
        l->files++;
        l->bytes += e->look.size_bytes;
    }
    return l->full;
}

static void put_items(struct list *l, const struct snap_folder *f, size_t index);

static void
put_item(struct list *l, const struct snap_item *i, size_t parent)
{
    struct snap_walk *w = l->walk;
    int skip = i->skip;
    if (skip == SNAP_KEPT && i->child)
        skip = i->child->skip;
    if (skip == SNAP_GONE)
        return;
    if (skip == SNAP_KEPT)
        skip = ceiling(l, &i->entry);
    if (skip != SNAP_KEPT) {
        (void)snap_skips_add(&w->skips, (enum snap_reason)skip, i->entry.path);
        return;
    }
    size_t index = w->count++;
    w->entry[index] = i->entry;
    w->entry[index].parent = (uint32_t)parent;
    w->entry[parent].is_empty = false;
    if (i->child)
        put_items(l, i->child, index);
}

/* As deep as folders are, which is bounded by the length of a path. */
static void
put_items(struct list *l, const struct snap_folder *f, size_t index)
{
    l->walk->entry[index].is_empty = true;
    for (size_t i = 0; i < f->count; i++)
        put_item(l, &f->item[i], index);
}

static int
make_list(struct snap_walk *w, const struct snap_folder *root, uint64_t items,
          const struct snap_walk_options *opt, int root_fd)
{
    struct list l = { .walk = w, .limits = opt->limits, .full = SNAP_KEPT };
    struct stat st;
    if (fstat(root_fd, &st) < 0)
        return -errno;
    if (items >= UINT32_MAX)
        return ERR_LIMIT;
    w->entry = calloc(items + 1, sizeof(*w->entry));
    if (!w->entry)
        return -ENOMEM;
    w->entry[0] = (struct snap_entry){ .path = "",
                                       .kind = SNAP_DIR,
                                       .look = { .ino = st.st_ino, .mode = st.st_mode } };
    w->count = 1;
    put_items(&l, root, 0);
    return 0;
}

/* -- all of it -- */

static int
look_at_all(struct crew *c, struct member *member, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        member[i] = (struct member){ .crew = c, .looker.want = &c->want };
    /* With fewer than wanted it only takes longer. */
    for (unsigned i = 1; i < threads; i++)
        member[i].is_running = pthread_create(&member[i].thread, NULL, work,
                                              &member[i]) == 0;
    work(&member[0]);
    for (unsigned i = 1; i < threads; i++)
        if (member[i].is_running)
            pthread_join(member[i].thread, NULL);
    return c->failed;
}

static int
walk_from(struct snap_walk *w, const struct snap_walk_options *opt, int root_fd)
{
    struct snap_folder root = { .path = "", .skip = SNAP_KEPT };
    struct crew c = { .todo = &root };
    struct member member[THREADS_MAX];
    unsigned threads = opt->threads > THREADS_MAX ? THREADS_MAX : opt->threads;
    threads = threads ? threads : 1;
    int r = snap_look_for_init(&c.want, opt, root_fd);
    if (r < 0)
        return r;
    c.items_max = opt->limits->files > UINT32_MAX / 4
                      ? UINT32_MAX / 2
                      : 2 * opt->limits->files + ITEMS_BEYOND;
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.more, NULL);
    r = look_at_all(&c, member, threads);
    pthread_cond_destroy(&c.more);
    pthread_mutex_destroy(&c.lock);
    if (r >= 0 && root.skip != SNAP_KEPT)
        r = -EACCES;
    if (r >= 0)
        r = make_list(w, &root, c.items, opt, root_fd);
    for (unsigned i = 0; i < threads; i++) {
        snap_looker_release(&member[i].looker);
        snap_arena_join(&w->memory, &member[i].looker.memory);
    }
    return r;
}

int
snap_walk(struct snap_walk *ret, const struct snap_walk_options *opt, struct err *err)
{
    struct snap_walk w = { 0 };
    int root_fd = open(opt->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = root_fd < 0 ? -errno : walk_from(&w, opt, root_fd);
    if (root_fd >= 0)
        close(root_fd);
    if (r < 0) {
        snap_walk_release(&w);
        return err_code(err, r, "cannot look at the files in '%s'", opt->root);
    }
    *ret = w;
    return 0;
}

void
snap_walk_release(struct snap_walk *w)
{
    free(w->entry);
    snap_skips_release(&w->skips);
    snap_arena_release(&w->memory);
    *w = (struct snap_walk){ 0 };
}
