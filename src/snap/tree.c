/* SPDX-License-Identifier: MIT */
#include "snap/tree_priv.h"

#include <errno.h>
#include <limits.h>
#include <strings.h>

#include "snap/extra_priv.h"
#include "snap/git_priv.h"

#define FILES "files"

void
snap_tree_release(struct snap_tree *t)
{
    free(t->entry);
    buf_release(&t->listed);
    buf_release(&t->extra);
    buf_release(&t->above);
    buf_release(&t->skipped);
    *t = (struct snap_tree){ 0 };
}

/* -- names -- */

static const char *
name_fault(const char *name, size_t n)
{
    if (!n || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
        return "its name leads elsewhere";
    if (n == 4 && strncasecmp(name, ".git", 4) == 0)
        return "what is called .git is never restored";
    return n > NAME_MAX ? "its name is too long" : NULL;
}

const char *
snap_path_fault(const char *path)
{
    const char *why = strlen(path) >= PATH_MAX ? "its path is too long" : NULL;
    while (!why) {
        size_t n = strcspn(path, "/");
        why = name_fault(path, n);
        if (!path[n])
            break;
        path += n + 1;
    }
    return why;
}

/* -- entries -- */

static int
add(struct snap_tree *t, const struct snap_tree_entry *e)
{
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 256;
        void *p = reallocarray(t->entry, room, sizeof(*t->entry));
        if (!p)
            return -ENOMEM;
        t->entry = p;
        t->room = room;
    }
    t->entry[t->count] = *e;
    t->entry[t->count].why = e->why ? e->why : snap_path_fault(e->path);
    t->count++;
    return 0;
}

static int
add_folder(struct snap_tree *t, const char *path, unsigned mode)
{
    return add(t, &(struct snap_tree_entry){
                      .path = path, .id = "", .kind = SNAP_DIR, .mode = mode });
}

/* By path; of those with one path the folder is the first. */
static int
compare(const void *pa, const void *pb)
{
    const struct snap_tree_entry *a = pa, *b = pb;
    int order = strcmp(a->path, b->path);
    return order ? order : (b->kind == SNAP_DIR) - (a->kind == SNAP_DIR);
}

size_t
snap_tree_place(const struct snap_tree *t, const char *path)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(t->entry[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* -- what git says -- */

/* git's modes; what is none of these has no place in a snapshot. */
enum { MODE_FILE = 0100644, MODE_EXEC = 0100755, MODE_LINK = 0120000, MODE_DIR = 040000 };

/* "MODE TYPE ID\tPATH" and NUL, which becomes several texts. */
static int
parse_line(char *line, struct snap_tree_entry *ret)
{
    char *end, *tab = strchr(line, '\t');
    unsigned long mode = strtoul(line, &end, 8);
    char *id = *end == ' ' ? strchr(end + 1, ' ') : NULL;
    if (!tab || !id || id > tab)
        return ERR_DAMAGED;
    *tab = 0;
    *ret = (struct snap_tree_entry){ .path = tab + 1, .id = id + 1 };
    ret->mode = (unsigned)mode;
    if (mode == MODE_LINK) {
        ret->kind = SNAP_LINK;
    } else if (mode == MODE_DIR) {
        ret->kind = SNAP_DIR;
        ret->id = "";
    } else {
        ret->kind = SNAP_FILE;
        if ((mode & ~0777UL) != (MODE_FILE & ~0777))
            ret->why = "it is neither a file nor a link nor a folder";
    }
    return 0;
}

static int
take_line(struct snap_tree *t, char *line, const char **ret_extra_id,
          const char **ret_skipped_id)
{
    struct snap_tree_entry e;
    int r = parse_line(line, &e);
    if (r < 0)
        return r;
    if (e.kind == SNAP_FILE && !strcmp(e.path, "extra"))
        *ret_extra_id = e.id;
    if (e.kind == SNAP_FILE && !strcmp(e.path, "skipped"))
        *ret_skipped_id = e.id;
    if (strncmp(e.path, FILES "/", sizeof(FILES)) != 0)
        return 0;
    e.path += sizeof(FILES);
    return add(t, &e);
}

int
snap_tree_parse(struct snap_tree *t, const char **ret_extra_id,
                const char **ret_skipped_id)
{
    for (size_t at = 0; at < t->listed.n;) {
        char *line = (char *)t->listed.p + at;
        size_t left = t->listed.n - at, n = strnlen(line, left);
        int r = n == left ? ERR_DAMAGED
                          : take_line(t, line, ret_extra_id, ret_skipped_id);
        if (r < 0)
            return r;
        at += n + 1;
    }
    return 0;
}

/* -- what git does not hold -- */

/* The folders above an empty one are in no tree of git's, unless they have a file. They
 * may come again and again: only those that the one before does not share are kept. */
static void
keep_above(struct snap_tree *t, const char *path, const char *before)
{
    size_t n = strlen(path), shared = 0;
    for (size_t i = 0; path[i] && path[i] == before[i]; i++)
        if (path[i] == '/')
            shared = i;
    for (size_t i = shared + 1; i < n; i++)
        if (path[i] == '/') {
            buf_append(&t->above, path, i);
            buf_append(&t->above, "", 1);
        }
}

static int
add_empty(struct snap_tree *t, struct view rest)
{
    struct snap_extra_item i;
    const char *before = "";
    int r;
    while ((r = snap_extra_next(&rest, &i)) > 0) {
        if (!i.is_empty_dir || !*i.path)
            continue;
        r = add_folder(t, i.path, i.mode);
        if (r < 0)
            return r;
        if (t->entry[t->count - 1].why)
            continue;
        keep_above(t, i.path, before);
        before = i.path;
    }
    return r < 0 ? r : t->above.failed;
}

static int
add_above(struct snap_tree *t, unsigned mode)
{
    int r = 0;
    for (size_t at = 0; !r && at < t->above.n;) {
        const char *path = (const char *)t->above.p + at;
        r = add_folder(t, path, mode);
        at += strlen(path) + 1;
    }
    return r;
}

static void
set_modes(struct snap_tree *t, const struct snap_extra *head, struct view rest)
{
    for (size_t i = 0; i < t->count; i++) {
        struct snap_tree_entry *e = &t->entry[i];
        e->mode = e->kind == SNAP_LINK  ? 0
                  : e->kind == SNAP_DIR ? head->dir_mode
                  : e->mode & 0100      ? head->exec_mode
                                        : head->file_mode;
    }
    struct snap_extra_item i;
    while (snap_extra_next(&rest, &i) > 0) {
        if (!*i.path)
            t->root_mode = i.mode;
        size_t at = snap_tree_place(t, i.path);
        if (at < t->count && !strcmp(t->entry[at].path, i.path) &&
            t->entry[at].kind != SNAP_LINK)
            t->entry[at].mode = i.mode;
    }
}

/* -- in order -- */

/* A folder may come from both sources. Anything else that is there twice is an attempt
 * at something. */
static void
join_twins(struct snap_tree *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct snap_tree_entry *e = &t->entry[i];
        bool is_twin = kept && !strcmp(t->entry[kept - 1].path, e->path);
        if (is_twin && e->kind == SNAP_DIR)
            continue;
        if (is_twin && !e->why)
            e->why = "its name is there twice";
        t->entry[kept++] = *e;
    }
    t->count = kept;
}

static bool
is_below(const char *path, const char *dir, size_t dir_len)
{
    return strncmp(path, dir, dir_len) == 0 && path[dir_len] == '/';
}

/* What is in a folder need not follow it at once: "a" < "a-b" < "a/c". */
static bool
has_nothing_in_it(const struct snap_tree *t, size_t at)
{
    char path[PATH_MAX + 1];
    const char *dir = t->entry[at].path;
    size_t n = strlen(dir);
    if (n >= PATH_MAX)
        return false;
    if (at + 1 < t->count && is_below(t->entry[at + 1].path, dir, n))
        return false;
    memcpy(path, dir, n);
    path[n] = '/';
    path[n + 1] = 0;
    size_t first = snap_tree_place(t, path);
    return first == t->count || !is_below(t->entry[first].path, dir, n);
}

int
snap_tree_finish(struct snap_tree *t)
{
    struct view rest = { t->extra.p, t->extra.n };
    struct snap_extra head;
    int r = snap_extra_head(&head, &rest);
    if (!r)
        r = add_empty(t, rest);
    if (!r)
        r = add_above(t, head.dir_mode);
    if (r < 0)
        return r;
    if (t->count)
        qsort(t->entry, t->count, sizeof(*t->entry), compare);
    t->root_mode = head.dir_mode;
    join_twins(t);
    set_modes(t, &head, rest);
    for (size_t i = 0; i < t->count; i++)
        t->entry[i].is_empty = t->entry[i].kind == SNAP_DIR && has_nothing_in_it(t, i);
    return 0;
}

/* -- all -- */

/* What git cannot give is damaged: the repository is ours. */
static int
ask(const char *repo_path, const char *const *args, struct buf *ret, struct err *err)
{
    int r = snap_git_run(repo_path, args, (struct view){ 0 }, ret,
                         "cannot read the snapshot", err);
    if (r == -EIO && err)
        err->code = ERR_DAMAGED;
    return r == -EIO ? ERR_DAMAGED : r;
}

static int
read_blob(const char *repo_path, const char *id, struct buf *ret, struct err *err)
{
    const char *args[] = { "cat-file", "blob", id, NULL };
    return ask(repo_path, args, ret, err);
}

static int
read_all(struct snap_tree *t, const char *repo_path, const char *commit, struct err *err)
{
    const char *args[] = { "ls-tree", "-r", "-t", "-z", "--full-tree", commit, NULL };
    const char *extra_id = NULL, *skipped_id = NULL;
    int r = ask(repo_path, args, &t->listed, err);
    if (r < 0)
        return r;
    r = snap_tree_parse(t, &extra_id, &skipped_id);
    if (!r && !extra_id)
        r = ERR_DAMAGED;
    if (r < 0)
        return err_code(err, r, "cannot read snapshot %.12s", commit);
    r = read_blob(repo_path, extra_id, &t->extra, err);
    if (!r && skipped_id)
        r = read_blob(repo_path, skipped_id, &t->skipped, err);
    if (r < 0)
        return r;
    r = snap_tree_finish(t);
    if (r == ERR_NEWER)
        return err_set(err, r, "snapshot %.12s was taken by a newer ahr", commit);
    return r < 0 ? err_code(err, r, "cannot read snapshot %.12s", commit) : 0;
}

int
snap_tree_read(struct snap_tree *ret, const char *repo_path, const char *commit,
               struct err *err)
{
    struct snap_tree t = { .listed.ceiling = SNAP_TREE_BYTES_MAX };
    t.extra.ceiling = t.skipped.ceiling = SNAP_TREE_BYTES_MAX / 4;
    int r = read_all(&t, repo_path, commit, err);
    if (r < 0)
        snap_tree_release(&t);
    else
        *ret = t;
    return r;
}
