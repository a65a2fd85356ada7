/* SPDX-License-Identifier: MIT */
#include "library/left.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/project.h"
#include "library/ids_priv.h"
#include "library/runs_priv.h"
#include "session/folder.h"
#include "session/meta.h"

enum {
    RUNS_MAX = 64,        /* that are looked at: those that have changed last */
    FILE_MAX = 64 << 10,  /* bytes of <home>/interrupted, of which the older half goes */
    RUNS_SEEN = 16 << 10, /* names in a project */
};

struct found {
    char id[SESSION_ID_LEN + 1];
    uint64_t started_at_ns;
    size_t name, task; /* in texts; SIZE_MAX: none */
    int command_pid;
};

struct search {
    const char *home, *folder;
    struct buf list;  /* struct found */
    struct buf texts; /* each with its NUL */
    struct buf notes; /* <home>/interrupted */
    bool with_declined;
};

/* -- <home>/interrupted -- */

static void
notes_path(const char *home, struct buf *ret)
{
    buf_printf(ret, "%s/interrupted", home);
}

/* Is there such a line, or one that begins so? */
static const char *
find_note(struct buf *notes, const char *begin)
{
    size_t n = strlen(begin);
    for (const char *at = buf_str(notes); *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (!strncmp(at, begin, n) && (at[n] == '\n' || at[n] == ' '))
            return at + n;
    return NULL;
}

/* The older half goes; whoever writes meanwhile may lose a line, which is no more than a
 * session that is not offered. */
static void
trim(const char *path)
{
    AUTO(buf) all = { .ceiling = (size_t)FILE_MAX * 16 };
    struct err ignored;
    if (file_slurp(path, &all) < 0 || all.n <= FILE_MAX)
        return;
    const uint8_t *half = memchr(all.p + all.n / 2, '\n', all.n - all.n / 2);
    size_t from = half ? (size_t)(half + 1 - all.p) : all.n;
    (void)file_replace(path, (struct view){ all.p + from, all.n - from }, false,
                       &ignored);
}

static void
note(const char *home, const char *word, const char *id, const char *folder)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) line = { .ceiling = (size_t)2 * PATH_MAX };
    notes_path(home, &path);
    buf_printf(&line, "%s %s%s%s\n", word, id, folder ? " " : "", folder ? folder : "");
    if (path.failed || line.failed || (folder && strchr(folder, '\n')))
        return;
    int fd = open(buf_str(&path),
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
                  0600);
    if (fd < 0)
        return;
    (void)file_write_all(fd, line.p, line.n);
    close(fd);
    trim(buf_str(&path));
}

void
library_left_note(const char *home, const char *id, const char *folder)
{
    note(home, "cut", id, folder);
}

void
library_left_settle(const char *home, const char *id)
{
    if (session_id_is(id))
        note(home, "settled", id, NULL);
}

void
library_left_decline(const char *home, const char *id)
{
    if (session_id_is(id))
        note(home, "declined", id, NULL);
}

/* Is it a word and that id, with a folder or without? */
static bool
is_about(const char *line, size_t n, const char *id)
{
    const char *space = memchr(line, ' ', n);
    size_t at = space ? (size_t)(space + 1 - line) : n;
    return n - at >= SESSION_ID_LEN && !memcmp(line + at, id, SESSION_ID_LEN) &&
           (n - at == SESSION_ID_LEN || line[at + SESSION_ID_LEN] == ' ');
}

/* Whoever writes meanwhile may lose a line, as above. */
int
library_left_forget(const char *home, const char *id, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) all = { .ceiling = (size_t)FILE_MAX * 16 };
    AUTO(buf) kept = { .ceiling = (size_t)FILE_MAX * 16 };
    notes_path(home, &path);
    int r = path.failed ? path.failed : file_slurp(buf_str(&path), &all);
    if (r == -ENOENT || r == -ENOTDIR)
        return 0;
    for (size_t at = 0, n; !r && at < all.n; at += n) {
        const uint8_t *line = all.p + at, *end = memchr(line, '\n', all.n - at);
        n = end ? (size_t)(end + 1 - line) : all.n - at;
        if (!is_about((const char *)line, end ? n - 1 : n, id))
            r = buf_append(&kept, line, n);
    }
    if (r < 0)
        return err_code(err, r, "cannot read '%s/interrupted'", home);
    if (kept.n == all.n)
        return 0;
    return file_replace(buf_str(&path), (struct view){ kept.p, kept.n }, true, err);
}

static bool
is_noted(struct search *s, const char *word, const char *id)
{
    char begin[sizeof("declined ") + SESSION_ID_LEN];
    snprintf(begin, sizeof(begin), "%s %s", word, id);
    return find_note(&s->notes, begin);
}

static bool
is_settled(struct search *s, const char *id)
{
    return is_noted(s, "settled", id) ||
           (!s->with_declined && is_noted(s, "declined", id));
}

/* -- what is found -- */

static size_t
keep_text(struct search *s, const char *text)
{
    size_t at = s->texts.n;
    if (!text || !*text)
        return SIZE_MAX;
    buf_append(&s->texts, text, strlen(text) + 1);
    return at;
}

static bool
is_known(const struct search *s, const char *id)
{
    const struct found *f = (const void *)s->list.p;
    for (size_t i = 0; i < s->list.n / sizeof(*f); i++)
        if (!strcmp(f[i].id, id))
            return true;
    return false;
}

static void
add(struct search *s, const char *id, const char *name, const char *task,
    uint64_t started_at_ns, int command_pid)
{
    struct found f = { .started_at_ns = started_at_ns, .command_pid = command_pid };
    if (is_settled(s, id) || is_known(s, id))
        return;
    snprintf(f.id, sizeof(f.id), "%s", id);
    f.name = keep_text(s, name);
    f.task = keep_text(s, task);
    buf_append(&s->list, &f, sizeof(f));
}

/* -- runs of the project -- */

struct run {
    struct timespec at;
    char name[65];
};

static int
compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec > y->at.tv_sec ? -1 : 1;
    return x->at.tv_nsec == y->at.tv_nsec  ? strcmp(x->name, y->name)
           : x->at.tv_nsec > y->at.tv_nsec ? -1
                                           : 1;
}

/* Those that the folder has first, the one that has changed last at the head. */
static void
list_runs(DIR *d, struct buf *ret)
{
    size_t seen = 0;
    for (struct dirent *e; seen < RUNS_SEEN && (e = readdir(d)); seen++) {
        AUTO(buf) path = { .ceiling = PATH_MAX };
        struct run run = { 0 };
        struct stat st;
        if (!session_name_is(e->d_name) ||
            buf_printf(&path, "%s/metadata.json", e->d_name) < 0 ||
            fstatat(dirfd(d), buf_str(&path), &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        run.at = st.st_mtim;
        memcpy(run.name, e->d_name, strnlen(e->d_name, sizeof(run.name) - 1));
        buf_append(ret, &run, sizeof(run));
    }
    if (ret->n)
        qsort(ret->p, ret->n / sizeof(struct run), sizeof(struct run), compare_runs);
}

/* Says that it goes on, and nobody holds it: then it was cut off. */
static bool
is_cut_off(int runs_fd, const char *name, const char *dir, const struct journal_told *t)
{
    struct err ignored;
    if (!t->status || !strcmp(t->status, "interrupted"))
        return t->status;
    return !strcmp(t->status, "active") && runs_is_free(runs_fd, name) &&
           journal_project_recover(dir, &ignored) > 0;
}

static void
look_at_run(struct search *s, int runs_fd, const char *runs, const char *name)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&dir, "%s/%s", runs, name);
    buf_printf(&path, "%s/metadata.json", buf_str(&dir));
    if (path.failed || journal_metadata_read(buf_str(&path), &told, NULL) < 0 ||
        !is_cut_off(runs_fd, name, buf_str(&dir), &told))
        return;
    if (told.id && session_id_is(told.id) && /* else it could not be settled */
        (session_folder_exists(s->home, "sessions", told.id) ||
         session_folder_exists(s->home, "live", told.id)))
        add(s, told.id, name, told.task, told.created_at_ns,
            journal_process_is(told.command_pid, told.command_start) ? told.command_pid
                                                                     : 0);
}

static void
look_at_project(struct search *s)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) names = { 0 };
    int fd = runs_find(s->folder, &path);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    list_runs(d, &names);
    const struct run *run = (const void *)names.p;
    for (size_t i = 0; i < names.n / sizeof(*run) && i < RUNS_MAX; i++)
        look_at_run(s, dirfd(d), buf_str(&path), run[i].name);
    closedir(d);
}

/* -- terminals -- */

static void
look_at_meta(struct search *s, const char *place, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(session_told) told = { 0 };
    if (buf_printf(&path, "%s/%s/%s/session." SESSION_META, s->home, place, id) < 0 ||
        session_meta_tell(buf_str(&path), &told, NULL) < 0 || !told.cwd ||
        strcmp(told.cwd, s->folder) != 0 ||
        (told.kind && (!strcmp(told.kind, "stream") || !strcmp(told.kind, "wire"))))
        return;
    bool is_cut = !strcmp(place, "live")
                      ? !session_folder_is_held(s->home, id)
                      : told.status && !strcmp(told.status, "interrupted");
    if (is_cut)
        add(s, id, told.name, told.task, told.started_at_ns, 0);
}

static void
look_at_terminals(struct search *s)
{
    AUTO(buf) live = { 0 };
    static const char cut[] = "cut ";
    if (ids_collect(&live, s->home, "live", "") == 0)
        for (size_t i = 0; i < ids_count(&live); i++)
            look_at_meta(s, "live", ids_at(&live, i));
    size_t n = sizeof(cut) - 1, folder = strlen(s->folder);
    for (const char *at = buf_str(&s->notes); *at;) {
        size_t len = strcspn(at, "\n");
        char id[SESSION_ID_LEN + 1] = "";
        if (len == n + SESSION_ID_LEN + 1 + folder && !memcmp(at, cut, n) &&
            !memcmp(at + len - folder, s->folder, folder)) {
            memcpy(id, at + n, SESSION_ID_LEN);
            if (session_id_is(id))
                look_at_meta(s, "sessions", id);
        }
        at += len + (at[len] == '\n');
    }
}

/* -- all -- */

static int
compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->started_at_ns != y->started_at_ns)
        return x->started_at_ns > y->started_at_ns ? -1 : 1;
    return -strcmp(x->id, y->id);
}

static void
hand_over(struct search *s, library_left_fn fn, void *ctx)
{
    const struct found *f = (const void *)s->list.p;
    size_t count = s->list.n / sizeof(*f);
    if (count)
        qsort(s->list.p, count, sizeof(*f), compare);
    for (size_t i = 0; i < count; i++) {
        const char *texts = (const char *)s->texts.p;
        struct library_left left = {
            .name = f[i].name == SIZE_MAX ? NULL : texts + f[i].name,
            .task = f[i].task == SIZE_MAX ? NULL : texts + f[i].task,
            .started_at_ns = f[i].started_at_ns,
            .command_pid = f[i].command_pid,
        };
        memcpy(left.id, f[i].id, sizeof(left.id));
        if (!is_settled(s, left.id) && !fn(ctx, &left))
            return;
    }
}

void
library_left_each(const char *home, const char *folder, bool with_declined,
                  library_left_fn fn, void *ctx)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct search s = { .home = home, .folder = folder, .with_declined = with_declined };
    s.notes.ceiling = (size_t)FILE_MAX * 16;
    notes_path(home, &path);
    (void)file_slurp(buf_str(&path), &s.notes);
    look_at_project(&s);
    look_at_terminals(&s);
    if (!s.list.failed && !s.texts.failed)
        hand_over(&s, fn, ctx);
    buf_release(&s.list);
    buf_release(&s.texts);
    buf_release(&s.notes);
}

void
library_left_mark(const char *folder)
{
    struct search s = { .home = "", .folder = folder };
    look_at_project(&s);
    buf_release(&s.list);
    buf_release(&s.texts);
}
