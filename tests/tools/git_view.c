/* SPDX-License-Identifier: MIT */
/*
 * git_view.c -- what we make of a git work tree, to be held against git's own word.
 *
 * usage: git_view ignored DIR < PATHS   a byte for each path: 1 if it is ignored, else 0
 *        git_view tracked DIR           the paths in its index
 *        git_view tracked DIR < PATHS   with any: h for what is in it, b for what has
 *                                       something below it, both, or -; a space behind
 *
 * Paths are from DIR, with a NUL behind each.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "snap/ignore_priv.h"
#include "snap/tracked_priv.h"

enum { LEVELS_MAX = 256, INPUT_MAX = 256 << 20 };

/* A folder on the way to the path in hand; each one's patterns stand above the next's. */
struct level {
    size_t n; /* of the path, up to its end */
    struct snap_ignore *set;
    bool is_ignored;
};

struct way {
    int root_fd;
    char path[PATH_MAX]; /* of the last level */
    struct level level[LEVELS_MAX];
    size_t count; /* the first is info/exclude, the second the root */
};

static void
die(const char *what)
{
    fprintf(stderr, "git_view: %s\n", what);
    exit(1);
}

static void
push(struct way *w, const char *dir, struct view text, bool is_ignored)
{
    if (w->count == LEVELS_MAX)
        die("too deep");
    const struct snap_ignore *above = w->count ? w->level[w->count - 1].set : NULL;
    struct snap_ignore *set = snap_ignore_new(text, dir, above);
    if (!set)
        die("no memory");
    w->level[w->count++] = (struct level){ strlen(dir), set, is_ignored };
    snprintf(w->path, sizeof(w->path), "%s", dir);
}

static bool
is_dir(int root_fd, const char *path)
{
    struct stat st;
    return fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_ignored(const struct way *w, const char *path)
{
    const struct level *l = &w->level[w->count - 1];
    return l->is_ignored || snap_ignore_has(l->set, path, is_dir(w->root_fd, path));
}

static void
enter(struct way *w, const char *dir)
{
    AUTO(buf) text = { 0 };
    char path[PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s%s.gitignore", dir, *dir ? "/" : "");
    int fd = openat(w->root_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        if (file_read_all(fd, &text) < 0)
            die("cannot read a .gitignore");
        close(fd);
    }
    push(w, dir, (struct view){ text.p, text.n }, *dir && is_ignored(w, dir));
}

/* Leaves what is not around path, enters what is. */
static void
go_to(struct way *w, const char *path)
{
    while (w->count > 2) {
        size_t n = w->level[w->count - 1].n;
        if (!strncmp(w->path, path, n) && path[n] == '/')
            break;
        snap_ignore_free(w->level[--w->count].set);
        w->path[w->level[w->count - 1].n] = 0;
    }
    char dir[PATH_MAX];
    size_t from = w->level[w->count - 1].n;
    for (const char *s = strchr(path + from + (from > 0), '/'); s;
         s = strchr(s + 1, '/')) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(s - path), path);
        enter(w, dir);
    }
}

static void
tell_ignored(int root_fd, struct view in, struct view exclude)
{
    struct way w = { .root_fd = root_fd };
    push(&w, "", exclude, false);
    enter(&w, "");
    for (const char *p = (const char *)in.p, *end = p + in.n; p < end;
         p += strlen(p) + 1) {
        go_to(&w, p);
        putchar(is_ignored(&w, p) ? '1' : '0');
    }
    while (w.count)
        snap_ignore_free(w.level[--w.count].set);
}

static void
tell_tracked(const struct snap_tracked *t, struct view in)
{
    const char *path;
    for (size_t i = 0; !in.n && (path = snap_tracked_at(t, i)); i++)
        fwrite(path, 1, strlen(path) + 1, stdout);
    for (const char *p = (const char *)in.p, *end = p + in.n; p < end;
         p += strlen(p) + 1) {
        bool has = snap_tracked_has(t, p), below = snap_tracked_below(t, p);
        printf("%s%s%s ", has ? "h" : "", below ? "b" : "", has || below ? "" : "-");
    }
}

int
main(int argc, char **argv)
{
    AUTO(buf) in = { .ceiling = INPUT_MAX };
    AUTO(buf) exclude = { 0 };
    AUTO(snap_tracked) tracked = { 0 };
    int root_fd = argc == 3 ? open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (root_fd < 0)
        die("usage: git_view ignored|tracked DIR");
    if (file_read_all(STDIN_FILENO, &in) < 0)
        die("cannot read the paths");
    if (in.n && in.p[in.n - 1])
        die("the last path has no NUL behind it");
    if (snap_tracked_read(&tracked, root_fd, &exclude) < 0)
        die("cannot read the index");
    if (!strcmp(argv[1], "ignored"))
        tell_ignored(root_fd, (struct view){ in.p, in.n },
                     (struct view){ exclude.p, exclude.n });
    else
        tell_tracked(&tracked, (struct view){ in.p, in.n });
    close(root_fd);
    return 0;
}
