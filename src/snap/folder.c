/* SPDX-License-Identifier: MIT */
#include "snap/folder_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"

enum {
    STATX_WANTED = STATX_BASIC_STATS | STATX_MNT_ID,
    STATX_FLAGS = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
    NAMES_MAX = 1 << 30, /* bytes of names in one folder */
    READ_AT_ONCE = 65536,
};

static int64_t
time_ns(const struct statx_timestamp *t)
{
    return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static uint64_t
device_of(const struct statx *st)
{
    return makedev(st->stx_dev_major, st->stx_dev_minor);
}

static struct snap_look
look_of(const struct statx *st)
{
    return (struct snap_look){ .ino = st->stx_ino,
                               .size_bytes = st->stx_size,
                               .mtime_ns = time_ns(&st->stx_mtime),
                               .ctime_ns = time_ns(&st->stx_ctime),
                               .mode = st->stx_mode };
}

int
snap_look_for_init(struct snap_look_for *ret, const struct snap_walk_options *opt,
                   int root_fd)
{
    struct statx st, home;
    char ours[PATH_MAX];
    if (statx(root_fd, "", AT_EMPTY_PATH, STATX_WANTED, &st) < 0)
        return -errno;
    *ret = (struct snap_look_for){ .root_fd = root_fd,
                                   .takes_all = opt->takes_all,
                                   .file_bytes_max = opt->limits->file_bytes,
                                   .has_mount = st.stx_mask & STATX_MNT_ID };
    ret->mount = ret->has_mount ? st.stx_mnt_id : device_of(&st);
    for (int i = 0; i < 2 && opt->home; i++) {
        /* The root may be our home itself. */
        int n = snprintf(ours, sizeof(ours), "%s%s", opt->home, i ? "/snapshots" : "");
        if (n < 0 || n >= (int)sizeof(ours) ||
            statx(AT_FDCWD, ours, 0, STATX_BASIC_STATS, &home) < 0)
            continue;
        ret->has_home[i] = true;
        ret->home[i][0] = device_of(&home);
        ret->home[i][1] = home.stx_ino;
    }
    return 0;
}

void
snap_looker_release(struct snap_looker *l)
{
    for (; l->trees; l->trees = l->trees->next)
        snap_tracked_release(&l->trees->tracked);
    for (; l->sets; l->sets = l->sets->next)
        snap_ignore_free(l->sets->set);
    buf_release(&l->names);
    buf_release(&l->list);
    buf_release(&l->text);
}

/* -- names -- */

/* Where one is in `names`. There a folder's ends with a slash, so that all are in the
 * order of their bytes. */
struct name {
    uint32_t at, len; /* without the slash */
    uint8_t type;
};

static int
add_name(struct snap_looker *l, const struct dirent64 *d)
{
    const char *s = d->d_name;
    if (s[0] == '.') {
        if (!s[1] || (s[1] == '.' && !s[2]))
            return 0;
        l->has_git |= strcmp(s, ".git") == 0;
        l->has_gitignore |= strcmp(s, ".gitignore") == 0;
    }
    size_t len = strlen(s);
    struct name name = { (uint32_t)l->names.n, (uint32_t)len, d->d_type };
    uint8_t *p = buf_grow(&l->names, len + 2);
    if (!p)
        return l->names.failed;
    memcpy(p, s, len);
    p[len] = d->d_type == DT_DIR ? '/' : 0;
    p[len + 1] = 0;
    return buf_append(&l->list, &name, sizeof(name));
}

static int
compare_names(const void *a, const void *b, void *names)
{
    const struct name *n = a, *m = b;
    return strcmp((const char *)names + n->at, (const char *)names + m->at);
}

/* By name alone, whatever it is of. */
static int
compare_plain(const void *a, const void *b, void *names)
{
    const struct name *n = a, *m = b;
    const char *p = names;
    int order = memcmp(p + n->at, p + m->at, n->len < m->len ? n->len : m->len);
    return order ? order : (n->len > m->len) - (n->len < m->len);
}

/* A folder that changes while it is read may have a name twice: once is enough. */
static void
drop_twins(struct snap_looker *l)
{
    struct name *name = (void *)l->list.p;
    size_t count = l->list.n / sizeof(*name), kept = 0;
    qsort_r(name, count, sizeof(*name), compare_plain, l->names.p);
    for (size_t i = 0; i < count; i++)
        if (!kept || compare_plain(&name[kept - 1], &name[i], l->names.p) != 0)
            name[kept++] = name[i];
    l->list.n = kept * sizeof(*name);
}

/* All of them, in the order of struct snap_walk. */
static int
read_names(struct snap_looker *l, int fd)
{
    _Alignas(struct dirent64) char bytes[READ_AT_ONCE];
    l->names.ceiling = l->list.ceiling = NAMES_MAX;
    buf_clear(&l->names);
    buf_clear(&l->list);
    l->has_git = l->has_gitignore = false;
    int r = 0;
    unsigned pieces = 0;
    for (ssize_t n; !r && (n = getdents64(fd, bytes, sizeof(bytes))) != 0;) {
        if (n < 0)
            r = errno == ENOENT ? 1 : -errno;
        pieces++;
        for (ssize_t at = 0; at < n && !r;) {
            const struct dirent64 *d = (const void *)(bytes + at);
            at += d->d_reclen;
            r = add_name(l, d);
        }
    }
    if (l->list.n && pieces > 1)
        drop_twins(l);
    if (l->list.n)
        qsort_r(l->list.p, l->list.n / sizeof(struct name), sizeof(struct name),
                compare_names, l->names.p);
    return r < 0 ? r : 0;
}

/* -- repositories and patterns -- */

static bool
is_repository(int fd)
{
    struct stat st;
    if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return S_ISREG(st.st_mode) || faccessat(fd, ".git/HEAD", F_OK, 0) == 0;
}

/* Patterns of this folder, above those that hold already. */
static int
add_patterns(struct snap_looker *l, struct snap_folder *f)
{
    if (!l->text.n)
        return 0;
    struct snap_ignore_node *node = snap_arena_get(&l->memory, sizeof(*node));
    if (!node)
        return -ENOMEM;
    *node = (struct snap_ignore_node){ .next = l->sets };
    node->set = snap_ignore_new((struct view){ l->text.p, l->text.n }, f->path,
                                f->ignore);
    if (!node->set)
        return -ENOMEM;
    l->sets = node;
    f->ignore = node->set;
    return 0;
}

/* What holds above a repository does not hold in it. */
static int
enter_repository(struct snap_looker *l, struct snap_folder *f, int fd)
{
    struct snap_work_tree *t = snap_arena_get(&l->memory, sizeof(*t));
    if (!t)
        return -ENOMEM;
    *t = (struct snap_work_tree){ .next = l->trees,
                                  .inside = f->path_len ? f->path_len + 1 : 0 };
    buf_clear(&l->text);
    int r = snap_tracked_read(&t->tracked, fd, &l->text);
    l->trees = t;
    if (r < 0 || l->text.failed == -ENOMEM)
        return -ENOMEM;
    f->tree = t;
    f->ignore = NULL;
    f->is_only_tracked = false;
    return add_patterns(l, f);
}

static int
read_gitignore(struct snap_looker *l, struct snap_folder *f, int dir_fd)
{
    struct stat st;
    int fd = below_open(dir_fd, ".gitignore", O_RDONLY);
    if (fd < 0)
        return 0;
    l->text.ceiling = SNAP_IGNORE_FILE_MAX + READ_AT_ONCE;
    buf_clear(&l->text);
    int r = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        r = file_read_all(fd, &l->text) == -ENOMEM ? -ENOMEM : 0;
    close(fd);
    return r < 0 ? r : add_patterns(l, f);
}

/* -- items -- */

/* A folder that is in the index itself is a repository; else a file was there once. */
static bool
is_tracked(const struct snap_folder *f, int fd, const char *path, bool is_dir)
{
    char git[NAME_MAX + sizeof("/.git")];
    if (!snap_tracked_has(&f->tree->tracked, path + f->tree->inside))
        return false;
    snprintf(git, sizeof(git), "%s/.git", file_name(path));
    return !is_dir || faccessat(fd, git, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* is_only_tracked: of a folder, whose files are kept if they are in the index. */
static bool
is_ignored(const struct snap_looker *l, const struct snap_folder *f, int fd,
           const char *path, bool is_dir, bool *ret_is_only_tracked)
{
    *ret_is_only_tracked = false;
    if (l->want->takes_all)
        return false;
    if (!f->is_only_tracked && (!f->ignore || !snap_ignore_has(f->ignore, path, is_dir)))
        return false;
    if (!f->tree)
        return true;
    if (is_tracked(f, fd, path, is_dir))
        return false;
    const char *inside = path + f->tree->inside;
    *ret_is_only_tracked = is_dir && snap_tracked_below(&f->tree->tracked, inside);
    return !*ret_is_only_tracked;
}

static bool
is_ours(const struct snap_look_for *want, const struct statx *st)
{
    for (int i = 0; i < 2; i++)
        if (want->has_home[i] && want->home[i][0] == device_of(st) &&
            want->home[i][1] == st->stx_ino)
            return true;
    return false;
}

static int
reason_against(const struct snap_look_for *want, const struct statx *st)
{
    bool has_mount = want->has_mount && st->stx_mask & STATX_MNT_ID;
    if ((has_mount ? st->stx_mnt_id : device_of(st)) != want->mount)
        return SNAP_SKIP_MOUNT;
    switch (st->stx_mode & S_IFMT) {
    case S_IFREG:
        return st->stx_size > want->file_bytes_max ? (int)SNAP_SKIP_LARGE : SNAP_KEPT;
    case S_IFDIR:
        return is_ours(want, st) ? (int)SNAP_SKIP_OURS : SNAP_KEPT;
    case S_IFLNK:
        return SNAP_KEPT;
    case S_IFIFO:
        return SNAP_SKIP_FIFO;
    case S_IFSOCK:
        return SNAP_SKIP_SOCKET;
    default:
        return SNAP_SKIP_DEVICE;
    }
}

static int
add_child(struct snap_looker *l, const struct snap_folder *f, struct snap_item *i,
          size_t path_len, bool is_only_tracked)
{
    i->child = snap_arena_get(&l->memory, sizeof(*i->child));
    if (!i->child)
        return -ENOMEM;
    *i->child = (struct snap_folder){ .path = i->entry.path,
                                      .path_len = path_len,
                                      .ignore = f->ignore,
                                      .tree = f->tree,
                                      .is_only_tracked = is_only_tracked,
                                      .skip = SNAP_KEPT };
    return 0;
}

static const enum snap_kind kinds[] = { [S_IFREG >> 12] = SNAP_FILE,
                                        [S_IFLNK >> 12] = SNAP_LINK,
                                        [S_IFDIR >> 12] = SNAP_DIR,
                                        [15] = SNAP_FILE };

/* The path of something in it, which is name_len bytes long. */
static char *
make_path(struct snap_looker *l, const struct snap_folder *f, const char *name,
          size_t name_len, size_t *ret_len)
{
    size_t before = f->path_len ? f->path_len + 1 : 0;
    char *path = snap_arena_text(&l->memory, before + name_len + 1);
    if (!path)
        return NULL;
    memcpy(path, f->path, f->path_len);
    if (before)
        path[before - 1] = '/';
    memcpy(path + before, name, name_len + 1);
    *ret_len = before + name_len;
    return path;
}

static int
look_into(int fd, const char *name, struct statx *ret)
{
    return statx(fd, name, STATX_FLAGS, STATX_WANTED, ret) < 0 ? -errno : 0;
}

/* 1: *ret is an item; 0: nothing of ours. What is ignored is not even looked at, where
 * the folder tells what it is. */
static int
look_at(struct snap_looker *l, const struct snap_folder *f, int fd,
        const struct name *found, struct snap_item *ret)
{
    const char *name = (const char *)l->names.p + found->at;
    unsigned char type = found->type;
    struct statx st = { .stx_mode = (uint16_t)DTTOIF(type) };
    bool is_only_tracked;
    size_t path_len;
    if (strcmp(name, ".git") == 0)
        return 0;
    const char *path = make_path(l, f, name, found->len, &path_len);
    if (!path)
        return -ENOMEM;
    int e = type == DT_UNKNOWN ? look_into(fd, name, &st) : 0;
    if (is_ignored(l, f, fd, path, S_ISDIR(st.stx_mode), &is_only_tracked))
        return 0;
    *ret = (struct snap_item){ .entry.path = path, .skip = SNAP_SKIP_NAME };
    if (strcasecmp(name, ".git") == 0 || path_len >= PATH_MAX)
        return 1;
    if (type != DT_UNKNOWN)
        e = look_into(fd, name, &st);
    ret->skip = SNAP_SKIP_UNREADABLE;
    if (e < 0)
        return e != -ENOENT;
    ret->skip = reason_against(l->want, &st);
    ret->entry.look = look_of(&st);
    ret->entry.kind = kinds[(st.stx_mode & S_IFMT) >> 12];
    if (ret->skip == SNAP_KEPT && S_ISDIR(st.stx_mode))
        return add_child(l, f, ret, path_len, is_only_tracked) < 0 ? -ENOMEM : 1;
    return 1;
}

/* Behind the folder's own path. A folder is sorted as if a '/' stood at its end. */
static int
compare(const void *a, const void *b, void *ctx)
{
    const struct snap_item *i = a, *j = b;
    const char *p = i->entry.path + *(const size_t *)ctx;
    const char *q = j->entry.path + *(const size_t *)ctx;
    while (*p && *p == *q)
        p++, q++;
    unsigned char c = (unsigned char)*p, d = (unsigned char)*q;
    if (!c && i->entry.kind == SNAP_DIR)
        c = '/';
    if (!d && j->entry.kind == SNAP_DIR)
        d = '/';
    return (c > d) - (c < d);
}

static int
read_items(struct snap_looker *l, struct snap_folder *f, int fd)
{
    const struct name *name = (const void *)l->list.p;
    size_t count = l->list.n / sizeof(*name), skip = f->path_len;
    bool is_sorted = true;
    if (!count)
        return 0;
    f->item = snap_arena_get(&l->memory, count * sizeof(*f->item));
    if (!f->item)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct snap_item *item = &f->item[f->count];
        l->names.p[name[i].at + name[i].len] = 0;
        int r = look_at(l, f, fd, &name[i], item);
        if (r < 0)
            return r;
        /* What the folder says it is, if it says so, may be over. */
        if (r > 0 && (item->entry.kind == SNAP_DIR) != (name[i].type == DT_DIR))
            is_sorted = false;
        f->count += (size_t)r;
    }
    if (!is_sorted)
        qsort_r(f->item, f->count, sizeof(*f->item), compare, &skip);
    return 0;
}

static int
read_open(struct snap_looker *l, struct snap_folder *f, int fd)
{
    int r = read_names(l, fd);
    if (r == -ENOMEM)
        return r;
    if (r < 0) {
        f->skip = SNAP_SKIP_UNREADABLE;
        return 0;
    }
    if (!l->want->takes_all) {
        if (l->has_git && is_repository(fd))
            r = enter_repository(l, f, fd);
        if (r >= 0 && l->has_gitignore)
            r = read_gitignore(l, f, fd);
    }
    return r < 0 ? r : read_items(l, f, fd);
}

int
snap_folder_read(struct snap_looker *l, struct snap_folder *f)
{
    int fd = below_open(l->want->root_fd, f->path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        bool is_gone = fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP;
        f->skip = is_gone ? SNAP_GONE : (int)SNAP_SKIP_UNREADABLE;
        return 0;
    }
    int r = read_open(l, f, fd);
    close(fd);
    return r;
}
