/* SPDX-License-Identifier: MIT */
/*
 * watch.c -- folders watched by inotify, or else a tree that is looked at again.
 *
 * Which folders there are is told by the same walk that a snapshot makes; so nobody looks
 * into what is ignored. It is made anew when folders have come or gone. However much
 * happens, events are read a few times a second only, and looks at the tree take no more
 * than a small part of the time.
 */
#include "snap/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "snap/walk_priv.h"

enum {
    FOLDERS_MAX = 100000, /* each costs the kernel about a kilobyte */
    TICK_MS = 250,        /* while changes come, they are read no more often */
    TICK_MIN_MS = 10,
    LOOK_MIN_MS = 100,     /* between two looks … */
    LOOK_SHARE = 50,       /* … of which each takes so much of the time: one in fifty */
    GRANULE_NS = 20000000, /* by which a file's time may be behind the clock */
    EVENTS_SIZE = 64 << 10,
};

#define NS_A_MS UINT64_C(1000000)
#define EVENTS                                                                     \
    (IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)

struct snap_watch {
    struct snap_watch_options opt;
    int root_len;               /* without a slash at its end */
    int fd;                     /* of inotify; -1: the tree is looked at */
    int but_wd;                 /* the folder of `but`; -1: not watched */
    struct buf wds;             /* int each, in order: the folders of the last look */
    bool is_stale;              /* folders have come or gone since */
    uint64_t digest;            /* of the tree then */
    int64_t latest_ns;          /* the last change in it */
    uint64_t look_ns;           /* when that ended; monotonic */
    uint64_t cost_ns;           /* how long it took */
    uint64_t first_ns, last_ns; /* changes that were not told yet; monotonic; 0: none */
};

static void
note_change(struct snap_watch *w)
{
    w->last_ns = clock_mono_ns();
    if (!w->first_ns)
        w->first_ns = w->last_ns;
}

/* -- what does not count -- */

/* A path of `but` as it is from the root; NULL: it is elsewhere. */
static const char *
from_root(const struct snap_watch *w, const char *path)
{
    size_t n = (size_t)w->root_len;
    return strncmp(path, w->opt.root, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static bool
is_but_folder(const struct snap_watch *w, const char *dir)
{
    const char *path = w->opt.but && *w->opt.but ? from_root(w, *w->opt.but) : NULL;
    if (!path)
        return false;
    size_t n = (size_t)(file_name(path) - path);
    n -= n > 0; /* the slash */
    return strlen(dir) == n && !memcmp(dir, path, n);
}

static bool
is_but_path(const struct snap_watch *w, const char *path)
{
    for (const char *const *b = w->opt.but; b && *b; b++) {
        const char *but = from_root(w, *b);
        if (but && !strncmp(path, but, strlen(but)))
            return true;
    }
    return false;
}

static bool
is_but_name(const struct snap_watch *w, const char *name)
{
    for (const char *const *b = w->opt.but; b && *b; b++)
        if (!strncmp(name, file_name(*b), strlen(file_name(*b))))
            return true;
    return false;
}

/* -- the tree -- */

/* FNV-1a, of numbers and texts. */
static uint64_t
mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t
mix_text(uint64_t digest, const char *text)
{
    for (; *text; text++)
        digest = mix(digest, (uint8_t)*text);
    return mix(digest, 0);
}

/* A folder's own times tell of files that are no part of a snapshot. */
static void
digest_entry(struct snap_watch *w, const struct snap_entry *e)
{
    const struct snap_look *l = &e->look;
    bool is_dir = e->kind == SNAP_DIR;
    if (is_dir ? is_but_folder(w, e->path) : is_but_path(w, e->path))
        return;
    w->digest = mix(mix_text(w->digest, e->path), l->mode);
    if (!is_dir) {
        w->digest = mix(mix(w->digest, l->ino), l->size_bytes);
        w->digest = mix(mix(w->digest, (uint64_t)l->mtime_ns), (uint64_t)l->ctime_ns);
    }
    if (l->ctime_ns > w->latest_ns)
        w->latest_ns = l->ctime_ns;
}

static int
compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool
has_wd(const struct buf *wds, int wd)
{
    return wds->n && bsearch(&wd, wds->p, wds->n / sizeof(wd), sizeof(wd), compare_ints);
}

/* One that cannot be watched, since it is gone again say, is passed over. -ENOSPC: there
 * are more than may be. */
static int
watch_folder(struct snap_watch *w, const char *path, struct buf *wds)
{
    AUTO(buf) full = { 0 };
    if (wds->n / sizeof(int) >= w->opt.folders_max)
        return -ENOSPC;
    buf_printf(&full, "%.*s/%s", w->root_len, w->opt.root, path);
    if (full.failed)
        return full.failed;
    int wd = inotify_add_watch(w->fd, buf_str(&full), EVENTS);
    if (wd < 0)
        return errno == ENOSPC || errno == ENOMEM ? -ENOSPC : 0;
    if (is_but_folder(w, path))
        w->but_wd = wd;
    return buf_append(wds, &wd, sizeof(wd));
}

/* The folders of that walk, and no others. One that is new may have had changes that
 * nobody has seen. */
static int
watch_folders(struct snap_watch *w, const struct snap_walk *walk)
{
    struct buf wds = { 0 };
    int r = 0;
    w->but_wd = -1;
    for (size_t i = 0; i < walk->count && !r; i++)
        if (walk->entry[i].kind == SNAP_DIR)
            r = watch_folder(w, walk->entry[i].path, &wds);
    if (r < 0) {
        buf_release(&wds);
        return r;
    }
    const int *now = (const void *)wds.p, *old = (const void *)w->wds.p;
    size_t n = wds.n / sizeof(int), n_old = w->wds.n / sizeof(int);
    if (n)
        qsort(wds.p, n, sizeof(int), compare_ints);
    for (size_t i = 0; i < n; i++)
        if (!has_wd(&w->wds, now[i])) {
            note_change(w);
            w->is_stale = true; /* nor folders that were made in it */
            break;
        }
    for (size_t i = 0; i < n_old; i++)
        if (!has_wd(&wds, old[i]))
            (void)inotify_rm_watch(w->fd, old[i]);
    buf_release(&w->wds);
    w->wds = wds;
    return 0;
}

static void
give_up_inotify(struct snap_watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    buf_release(&w->wds);
}

/* A root that cannot be walked is as an empty one: it may come back. */
static void
look(struct snap_watch *w)
{
    const struct snap_walk_options opt = { .home = w->opt.home,
                                           .root = w->opt.root,
                                           .threads = 1,
                                           .limits = &snap_limits_defaults };
    struct snap_walk walk;
    struct err ignored;
    uint64_t from_ns = clock_mono_ns(), before = w->digest;
    w->is_stale = false;
    w->digest = w->look_ns = 0;
    w->latest_ns = INT64_MIN;
    int r = snap_walk(&walk, &opt, &ignored);
    for (size_t i = 0; r >= 0 && i < walk.count; i++)
        digest_entry(w, &walk.entry[i]);
    if (w->fd >= 0 && (r < 0 || watch_folders(w, &walk) < 0))
        give_up_inotify(w);
    if (r >= 0)
        snap_walk_release(&walk);
    w->look_ns = clock_mono_ns();
    w->cost_ns = w->look_ns - from_ns;
    if (w->fd < 0 && w->digest != before)
        note_change(w);
}

/* -- events -- */

static void
take_event(struct snap_watch *w, const struct inotify_event *e, const char *name)
{
    bool is_self = e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW);
    if ((e->mask & IN_IGNORED) || !strcmp(name, ".git"))
        return;
    if (*name && e->wd == w->but_wd && is_but_name(w, name))
        return;
    w->is_stale |= is_self || (e->mask & IN_ISDIR) || !strcmp(name, ".gitignore");
    note_change(w);
}

static void
read_events(struct snap_watch *w)
{
    _Alignas(struct inotify_event) char bytes[EVENTS_SIZE];
    ssize_t n;
    while ((n = read(w->fd, bytes, sizeof(bytes))) > 0)
        for (ssize_t at = 0; at < n;) {
            struct inotify_event e;
            memcpy(&e, bytes + at, sizeof(e));
            take_event(w, &e, e.len ? bytes + at + sizeof(e) : "");
            at += (ssize_t)(sizeof(e) + e.len);
        }
}

/* -- as others use it -- */

int
snap_watch_new(struct snap_watch **ret, const struct snap_watch_options *opt,
               struct err *err)
{
    struct snap_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return err_code(err, -ENOMEM, "cannot watch '%s'", opt->root);
    w->opt = *opt;
    w->opt.folders_max = opt->folders_max ? opt->folders_max : FOLDERS_MAX;
    w->root_len = (int)strlen(opt->root);
    w->root_len -= w->root_len && opt->root[w->root_len - 1] == '/';
    w->but_wd = -1;
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    look(w);
    look(w); /* what has changed before it was watched */
    w->first_ns = 0;
    if (w->latest_ns >= (int64_t)opt->since_ns - GRANULE_NS)
        note_change(w);
    *ret = w;
    return 0;
}

void
snap_watch_free(struct snap_watch *w)
{
    if (!w)
        return;
    give_up_inotify(w);
    free(w);
}

/* 1: stop_fd has something to say; 0: the time is over, or something has changed. */
static int
sleep_until(const struct snap_watch *w, int stop_fd, int ms)
{
    /* While changes come they are left in the queue for a moment. */
    int changes_fd = w->first_ns ? -1 : w->fd;
    struct pollfd at[] = { { .fd = stop_fd, .events = POLLIN },
                           { .fd = changes_fd, .events = POLLIN } };
    int n = poll(at, 2, ms);
    if (n < 0 && errno != EINTR)
        return -errno;
    return n > 0 && at[0].revents;
}

static uint64_t
look_pause_ms(const struct snap_watch *w, unsigned quiet_ms)
{
    uint64_t ms = w->cost_ns * LOOK_SHARE / NS_A_MS;
    ms = ms > quiet_ms ? ms : quiet_ms;
    return ms > LOOK_MIN_MS ? ms : LOOK_MIN_MS;
}

static int
pause_ms(const struct snap_watch *w, unsigned quiet_ms)
{
    if (w->fd < 0)
        return (int)look_pause_ms(w, quiet_ms);
    unsigned tick = quiet_ms / 4 > TICK_MS ? TICK_MS : quiet_ms / 4;
    return !w->first_ns && !w->is_stale
               ? -1
               : (int)(tick > TICK_MIN_MS ? tick : (unsigned)TICK_MIN_MS);
}

static void
look_around(struct snap_watch *w)
{
    if (w->fd < 0) {
        look(w);
        return;
    }
    read_events(w);
    uint64_t since_ms = (clock_mono_ns() - w->look_ns) / NS_A_MS;
    if (w->is_stale && since_ms >= look_pause_ms(w, 0))
        look(w);
}

int
snap_watch_wait(struct snap_watch *w, unsigned quiet_ms, unsigned patience_ms,
                int stop_fd, struct err *err)
{
    for (;;) {
        uint64_t now_ns = clock_mono_ns();
        bool is_late = w->first_ns && now_ns - w->first_ns >= patience_ms * NS_A_MS;
        bool is_quiet = w->first_ns && now_ns - w->last_ns >= quiet_ms * NS_A_MS;
        if (is_quiet && !is_late && w->is_stale) {
            look(w); /* in a folder that was not watched there may be no rest */
            continue;
        }
        if (is_quiet || is_late) {
            w->first_ns = 0;
            return 1;
        }
        int r = sleep_until(w, stop_fd, pause_ms(w, quiet_ms));
        if (r < 0)
            return err_code(err, r, "cannot wait for changes of '%s'", w->opt.root);
        if (r > 0)
            return 0;
        look_around(w);
    }
}
