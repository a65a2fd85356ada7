/* SPDX-License-Identifier: MIT */
/*
 * anew_entire.c -- a session's transcript in its project's .entire/ without its secrets.
 *
 * context.md has texts that were cut off, put on one line and guarded against Markdown: a
 * secret need not be found in it where there is a piece of one. It is made of the masked
 * events again, where anything else had to be masked. full.jsonl, which has all that is
 * in it, is the last to change: as long as context.md may hold something, it does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "journal/entire.h"
#include "library/anew_run_priv.h"
#include "play/turns.h"
#include "session/folder.h"
#include "session/lines.h"
#include "session/meta.h"

/* One of the files, as it is and as it is to be. */
struct masked {
    struct buf in, out;
    struct scrub_count count;
    struct stat st;
};

static void
masked_release(struct masked *m)
{
    buf_release(&m->in);
    buf_release(&m->out);
}

static void
set_name(struct anew_run *r, size_t dir_len, const char *name)
{
    r->path.n = dir_len;
    r->path.failed = 0;
    buf_printf(&r->path, "/%s", name);
}

/* -- read -- */

static int
read_plain(int dir_fd, const char *name, struct masked *m)
{
    int fd = openat(dir_fd, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int e = fd < 0 || fstat(fd, &m->st) < 0 ? -errno : 0;
    if (!e && !S_ISREG(m->st.st_mode))
        e = -EINVAL;
    m->in.ceiling = ANEW_TEXT_MAX;
    if (!e)
        e = file_read_all(fd, &m->in);
    if (fd >= 0)
        close(fd);
    return e;
}

/* False: there is none that could be read, which is told where there is anything. */
static bool
load(struct anew_run *r, int dir_fd, const char *name, struct masked *m)
{
    int e = read_plain(dir_fd, name, m);
    m->out.ceiling = SIZE_MAX;
    if (e == -ELOOP)
        anew_run_leave(r, "it is a link, and what it leads to is no part of the session");
    else if (e == -EINVAL)
        anew_run_leave(r, "it is no file");
    else if (e && e != -ENOENT)
        anew_run_leave_code(r, e);
    return !e;
}

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- put -- */

static void
put(struct anew_run *r, int dir_fd, const char *name, const struct masked *m)
{
    int e = journal_entire_replace(dir_fd, name, view_of(&m->out), m->st.st_mode & 0777);
    if (e) {
        anew_run_leave_code(r, e);
        return;
    }
    r->done->files++;
    r->done->masked += m->count.places;
    r->done->masked_bytes += m->count.bytes;
    if (m->st.st_nlink > 1)
        anew_run_leave(r, "it has another name elsewhere, where it stays as it is");
}

/* -- context.md -- */

/* As Markdown shows it: a backslash before a sign is none. */
static int
count_in_markdown(struct anew_run *r, const struct buf *text, struct scrub_count *count)
{
    AUTO(buf) plain = { .ceiling = SIZE_MAX };
    AUTO(buf) out = { .ceiling = SIZE_MAX };
    for (size_t i = 0; i < text->n; i++) {
        uint8_t next = i + 1 < text->n ? text->p[i + 1] : ' ';
        bool is_guard = text->p[i] == '\\' && next > ' ' && next < 0x7f;
        i += is_guard;
        buf_append(&plain, text->p + i, 1);
    }
    return plain.failed ? plain.failed
                        : scrub_text(r->scrub, view_of(&plain), &out, count);
}

/* A play_turn_fn. */
static int
note(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    (void)at;
    return journal_entire_note(ctx, e);
}

static int
make_context(const char *root, const char *id, const char *dir, struct buf *out)
{
    AUTO(session_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct journal_entire *entire;
    struct err ignored;
    int e = buf_printf(&path, "%s/session." SESSION_META, dir);
    if (!e)
        (void)session_meta_tell(buf_str(&path), &told, NULL);
    buf_clear(&path);
    if (!e)
        e = buf_printf(&path, "%s/session." SESSION_TURNS, dir);
    const struct journal_entire_options opt = { .root = root,
                                                .session = id,
                                                .version = AHR_VERSION,
                                                .start_ns = told.started_at_ns };
    if (!e)
        e = journal_entire_open(&entire, &opt);
    if (e)
        return e;
    const struct play_turns_options turns = { .fn = note, .ctx = entire };
    e = play_turns_read(buf_str(&path), &turns, &ignored);
    if (!e)
        e = journal_entire_context(entire, out);
    journal_entire_free(entire);
    return e;
}

struct place {
    const char *root, *id, *dir;
    int fd; /* the folder in .entire/ */
};

/* has_more: something was masked elsewhere. */
static void
mask_context(struct anew_run *r, const struct place *p, const char *name, bool has_more)
{
    AUTO(masked) m = { 0 };
    struct scrub_count left = { 0 };
    if (!load(r, p->fd, name, &m))
        return;
    int e = count_in_markdown(r, &m.in, &m.count);
    if (!e && !m.count.places && !has_more)
        return;
    if (!e && make_context(p->root, p->id, p->dir, &m.out) < 0) {
        anew_run_leave(r, "the events that it is made of cannot be read; remove it");
        return;
    }
    if (!e)
        e = count_in_markdown(r, &m.out, &left);
    if (!e && left.places)
        e = ERR_LIMIT;
    if (e) {
        anew_run_leave_code(r, e);
        return;
    }
    if (m.out.n == m.in.n && !memcmp(m.out.p, m.in.p, m.in.n))
        return;
    m.count.places += !m.count.places; /* a piece of one */
    put(r, p->fd, name, &m);
}

/* -- all of them -- */

static bool
is_ours(const char *name)
{
    size_t n = strlen(name), new = strlen(".new");
    for (size_t i = 0; i < JOURNAL_ENTIRE_FILES; i++) {
        size_t len = strlen(journal_entire_files[i]);
        if (!strncmp(name, journal_entire_files[i], len) &&
            (n == len || (n == len + new && !strcmp(name + len, ".new"))))
            return true;
    }
    return false;
}

/* What a killed one has left goes; what others keep there is theirs. */
static void
look_around(struct anew_run *r, int fd, size_t dir_len)
{
    AUTO(tree_names) names = { 0 };
    if (tree_names(fd, &names) < 0)
        return;
    for (size_t i = 0; i < names.count; i++) {
        AUTO(buf) text = { 0 };
        const char *name = names.name[i], *end = strrchr(name, '.');
        if (is_ours(name)) {
            if (end && !strcmp(end, ".new"))
                (void)unlinkat(fd, name, 0);
            continue;
        }
        set_name(r, dir_len, name);
        buf_printf(&text, "'%s' is not the session's own, and was not looked into",
                   buf_str(&r->path));
        if (r->rw->tell)
            r->rw->tell(r->rw->ctx, buf_str(&text));
    }
}

static void
mask_all(struct anew_run *r, const struct place *p)
{
    const char *lines_name = "full.jsonl", *prompt_name = "prompt.txt";
    AUTO(masked) lines = { 0 };
    AUTO(masked) prompt = { 0 };
    size_t dir_len = r->path.n;
    look_around(r, p->fd, dir_len);
    set_name(r, dir_len, prompt_name);
    int e = 0;
    if (load(r, p->fd, prompt_name, &prompt))
        e = scrub_text(r->scrub, view_of(&prompt.in), &prompt.out, &prompt.count);
    if (e)
        anew_run_leave_code(r, e);
    else if (prompt.count.places)
        put(r, p->fd, prompt_name, &prompt);
    e = 0;
    set_name(r, dir_len, lines_name);
    if (load(r, p->fd, lines_name, &lines))
        e = scrub_json_lines(r->scrub, view_of(&lines.in), &lines.out, &lines.count);
    if (e)
        anew_run_leave_code(r, e);
    set_name(r, dir_len, "context.md");
    mask_context(r, p, "context.md", r->done->masked || lines.count.places);
    set_name(r, dir_len, lines_name);
    if (!e && lines.count.places)
        put(r, p->fd, lines_name, &lines);
    r->path.n = dir_len;
}

/* A descriptor; -1: there is none. */
static int
hold(struct anew_run *r, const char *root, const char *id)
{
    static const char link[] = "it is reached through a link, and what that leads to may "
                               "be anybody's: put it in its place first";
    char real[PATH_MAX];
    struct stat st;
    int fd = journal_entire_find(root, id);
    bool is_link = fd == -ELOOP || fd == -ENOTDIR;
    if (fd == -ENOENT || (is_link && stat(buf_str(&r->path), &st) < 0))
        return -1;
    int e = fd < 0 ? fd : file_lock(fd, false, clock_mono_ns() + ANEW_HELD_WAITS_NS);
    if (is_link || (!e && (!realpath(root, real) || strcmp(real, root) != 0)))
        anew_run_leave(r, link);
    else if (e)
        anew_run_leave_code(r, e);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int
anew_entire_make(const char *root, const char *id, const char *dir,
                 const struct library_rewrite *rw, struct library_rewritten *done,
                 struct err *err)
{
    AUTO(anew_run) r = { .rw = rw, .done = done, .path.ceiling = PATH_MAX };
    int e = scrub_new(&r.scrub, rw->secrets);
    if (!e)
        e = buf_printf(&r.path, "%s/.entire/metadata/%s", root, id);
    if (e < 0)
        return err_code(err, e, "cannot mask what is in '%.300s/.entire'", root);
    const struct place p = { root, id, dir, hold(&r, root, id) };
    if (p.fd >= 0) {
        mask_all(&r, &p);
        close(p.fd);
    }
    return r.left ? err_set(err, ERR_DAMAGED,
                            "the session is clean, but not all of its transcript in "
                            "'%s' is: see above",
                            buf_str(&r.path))
                  : 0;
}
