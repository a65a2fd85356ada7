/* SPDX-License-Identifier: MIT */
#include "journal/histories.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum {
    DEPTH_MAX = 12,
    FILES_MAX = 1 << 20,
    PEEK = 8 << 10,
    SIDES_BYTES_MAX = 4 << 20, /* of the paths of a session's sub-agents */
};

struct walk {
    struct journal_histories *h;
    enum journal_keeper keeper;
};

const char *
journal_keeper_title(enum journal_keeper keeper)
{
    static const char *const titles[] = {
        [JOURNAL_KEEPER_AUTO] = "Claude Code, Codex, Gemini or Entire",
        [JOURNAL_KEEPER_CLAUDE] = "Claude Code",
        [JOURNAL_KEEPER_CODEX] = "Codex",
        [JOURNAL_KEEPER_GEMINI] = "Gemini",
        [JOURNAL_KEEPER_ENTIRE] = "Entire",
    };
    return titles[keeper];
}

void
journal_histories_release(struct journal_histories *h)
{
    for (size_t i = 0; i < h->count; i++) {
        free(h->list[i].path);
        buf_release(&h->list[i].sides);
    }
    free(h->list);
    *h = (struct journal_histories){ 0 };
}

/* -- one file -- */

/* Only by its name: what is in it shows when it is read. */
static bool
is_history(const char *path)
{
    const char *name = file_name(path);
    bool is_chat = strstr(path, "/chats/") && file_ends_in(name, ".json");
    return file_ends_in(name, ".jsonl") || file_ends_in(name, ".jsonl.zst") ||
           (!strncmp(name, "session-", 8) && file_ends_in(name, ".json")) || is_chat;
}

static int
add_file(struct walk *w, const char *path, const struct stat *st)
{
    struct journal_histories *h = w->h;
    if (h->count == FILES_MAX) {
        h->left_out++;
        return 0;
    }
    if (h->count == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 64;
        struct journal_history *more = reallocarray(h->list, cap, sizeof(*more));
        if (!more)
            return -ENOMEM;
        h->list = more;
        h->cap = cap;
    }
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    h->list[h->count++] = (struct journal_history){ .path = copy,
                                                    .keeper = w->keeper,
                                                    .bytes = (uint64_t)st->st_size,
                                                    .mtime_ns = file_mtime_ns(st) };
    return 0;
}

/* -- folders -- */

static int walk_folder(struct walk *w, const char *path, int fd, unsigned depth);

static int
walk_entry(struct walk *w, int dir_fd, const char *path, const char *name, unsigned depth)
{
    AUTO(buf) full = { .ceiling = PATH_MAX };
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        buf_printf(&full, "%s/%s", path, name) < 0)
        return 0; /* gone, or too deep */
    if (S_ISREG(st.st_mode))
        return is_history(buf_str(&full)) ? add_file(w, buf_str(&full), &st) : 0;
    if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
        return 0;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? 0 : walk_folder(w, buf_str(&full), fd, depth + 1);
}

/* fd is closed. What cannot be read is passed over. */
static int
walk_folder(struct walk *w, const char *path, int fd, unsigned depth)
{
    DIR *d = fdopendir(fd);
    int r = 0;
    if (!d) {
        close(fd);
        return 0;
    }
    for (struct dirent *e; !r && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = walk_entry(w, dirfd(d), path, e->d_name, depth);
    closedir(d);
    return r;
}

static int
walk(struct walk *w, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : walk_folder(w, path, fd, 0);
}

int
journal_histories_add(struct journal_histories *h, const char *path,
                      enum journal_keeper keeper, struct err *err)
{
    struct walk w = { h, keeper };
    struct stat st;
    char *plain = realpath(path, NULL);
    if (!plain)
        return errno == ENOENT ? err_set(err, ERR_MISSING, "no file or folder '%s'", path)
                               : err_sys(err, "cannot open '%s'", path);
    int r = stat(plain, &st) < 0  ? -errno
            : S_ISDIR(st.st_mode) ? walk(&w, plain)
            : S_ISREG(st.st_mode) ? add_file(&w, plain, &st)
                                  : -EINVAL;
    free(plain);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

/* -- the usual places -- */

/* Below $variable, or where that is not set below a folder of the user's. */
struct place {
    enum journal_keeper keeper;
    const char *variable, *home, *below;
};

static const struct place places[] = {
    { JOURNAL_KEEPER_CLAUDE, "CLAUDE_CONFIG_DIR", ".claude", "projects" },
    { JOURNAL_KEEPER_CLAUDE, "XDG_CONFIG_HOME", ".config", "claude/projects" },
    { JOURNAL_KEEPER_CODEX, "CODEX_HOME", ".codex", "sessions" },
    { JOURNAL_KEEPER_CODEX, "CODEX_HOME", ".codex", "archived_sessions" },
    { JOURNAL_KEEPER_GEMINI, "GEMINI_CLI_HOME", "", ".gemini/tmp" },
};

/* The same whatever links lead there: by its path a history is known again. */
static int
walk_usual(struct walk *w, const char *path)
{
    char *plain = realpath(path, NULL);
    int r = plain ? walk(w, plain) : -errno;
    free(plain);
    return r;
}

/* An empty one is as one that is not there. */
static const char *
told(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

static int
add_place(struct walk *w, const struct place *p)
{
    const char *base = told(p->variable), *home = told("HOME");
    AUTO(buf) path = { .ceiling = PATH_MAX };
    bool is_hidden = p->keeper == JOURNAL_KEEPER_CLAUDE && !strcmp(p->home, ".config") &&
                     told("CLAUDE_CONFIG_DIR"); /* then that is the only one */
    if (is_hidden || (!base && !home))
        return 0;
    int r = base ? buf_printf(&path, "%s/%s", base, p->below)
                 : buf_printf(&path, "%s/%s%s%s", home, p->home, *p->home ? "/" : "",
                              p->below);
    w->keeper = p->keeper;
    return r < 0 ? r : walk_usual(w, buf_str(&path));
}

/* The nearest above the current folder. */
static int
add_entire(struct walk *w)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    char *cwd = getcwd(NULL, 0);
    int r = -ENOENT;
    w->keeper = JOURNAL_KEEPER_ENTIRE;
    for (size_t n = cwd ? strlen(cwd) : 0; n && r == -ENOENT;) {
        buf_clear(&path);
        buf_append(&path, cwd, n);
        buf_puts(&path, "/.entire/metadata");
        r = path.failed ? path.failed : walk_usual(w, buf_str(&path));
        while (n && cwd[n - 1] != '/')
            n--;
        n -= n > 0;
    }
    free(cwd);
    return r;
}

int
journal_histories_usual(struct journal_histories *h, enum journal_keeper keeper,
                        struct err *err)
{
    struct walk w = { h, keeper };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int r = !keeper || keeper == places[i].keeper ? add_place(&w, &places[i]) : 0;
        if (r == -ENOMEM)
            return err_code(err, r, "cannot list histories");
    }
    int r = !keeper || keeper == JOURNAL_KEEPER_ENTIRE ? add_entire(&w) : 0;
    return r == -ENOMEM ? err_code(err, r, "cannot list histories") : 0;
}

/* -- sub-agents to their sessions -- */

/* Older versions have it beside the session's: its first line names that. */
static bool
owner_by_line(const char *path, struct buf *ret)
{
    static const char key[] = "\"sessionId\":\"";
    char head[PEEK + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? -1 : file_read(fd, head, PEEK);
    if (fd >= 0)
        close(fd);
    head[n > 0 ? n : 0] = 0;
    char *id = strstr(head, key), *end = id ? strchr(id + sizeof(key) - 1, '"') : NULL;
    if (!end)
        return false;
    *end = 0;
    id += sizeof(key) - 1;
    return *id && !strchr(id, '/') && buf_append(ret, path, file_dir_len(path)) == 0 &&
           buf_printf(ret, "/%s.jsonl", id) == 0;
}

/* The path of the session's own file: DIR/ID.jsonl for DIR/ID/subagents/…/agent-X.jsonl.
 */
static bool
owner_of(const char *path, struct buf *ret)
{
    static const char folder[] = "/subagents/";
    const char *at = NULL;
    for (const char *p = path; (p = strstr(p, folder)); p++)
        at = p;
    buf_clear(ret);
    if (strncmp(file_name(path), "agent-", 6) != 0)
        return false;
    if (!at)
        return owner_by_line(path, ret);
    return buf_append(ret, path, (size_t)(at - path)) == 0 &&
           buf_puts(ret, ".jsonl") == 0;
}

static int
by_path(const void *a, const void *b)
{
    const struct journal_history *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static int
by_time(const void *a, const void *b)
{
    const struct journal_history *x = a, *y = b;
    if (x->mtime_ns != y->mtime_ns)
        return x->mtime_ns < y->mtime_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void
remove_at(struct journal_history *one)
{
    free(one->path);
    buf_release(&one->sides);
    one->path = NULL;
}

static int
give_to(struct journal_history *owner, struct journal_history *side)
{
    owner->sides.ceiling = SIDES_BYTES_MAX;
    int r = buf_append(&owner->sides, side->path, strlen(side->path) + 1);
    if (r == -ENOMEM)
        return r;
    if (r < 0) { /* so many: it is one for itself */
        owner->sides.failed = 0;
        return 0;
    }
    owner->bytes += side->bytes;
    if (side->mtime_ns > owner->mtime_ns)
        owner->mtime_ns = side->mtime_ns;
    remove_at(side);
    return 0;
}

/* What was named more than once is there once. */
static void
squeeze(struct journal_histories *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].path)
            h->list[kept++] = h->list[i];
    h->count = kept;
}

int
journal_histories_sort(struct journal_histories *h)
{
    AUTO(buf) owner = { .ceiling = PATH_MAX };
    if (!h->count)
        return 0;
    qsort(h->list, h->count, sizeof(*h->list), by_path);
    for (size_t i = 0; i + 1 < h->count; i++)
        if (!strcmp(h->list[i].path, h->list[i + 1].path))
            remove_at(&h->list[i]);
    squeeze(h);
    size_t count = h->count;
    struct journal_history *sides = calloc(count + 1, sizeof(*sides));
    if (!sides)
        return -ENOMEM;
    size_t side_count = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (owner_of(h->list[i].path, &owner))
            sides[side_count++] = h->list[i];
        else
            h->list[kept++] = h->list[i];
    int r = 0;
    for (size_t i = 0; i < side_count; i++) {
        bool is_side = !r && owner_of(sides[i].path, &owner) && *buf_str(&owner);
        struct journal_history key = { .path = (char *)owner.p }, *found = NULL;
        if (is_side)
            found = bsearch(&key, h->list, kept, sizeof(key), by_path);
        if (found)
            r = give_to(found, &sides[i]);
    }
    h->count = kept;
    for (size_t i = 0; i < side_count; i++)
        if (sides[i].path) /* its session is not there: one for itself */
            h->list[h->count++] = sides[i];
    free(sides);
    qsort(h->list, h->count, sizeof(*h->list), by_time);
    return r;
}
