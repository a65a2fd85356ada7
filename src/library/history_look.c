/* SPDX-License-Identifier: MIT */
/*
 * history_look.c -- what has changed in the files of a history since they were read.
 *
 * By their sizes and times alone; one that has changed is opened, and known again by the
 * ends of what was read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "library/history_priv.h"

/* The same file: by its path; in a folder that was moved with all that is in it, a
 * sub-agent's by its name. */
static struct history_source *
known_as(struct history_sources *files, struct history_source *s, size_t at)
{
    const char *path = buf_str(&s->file.path);
    /* In the same place as before, unless one has come or gone. */
    if (at < files->count && !strcmp(buf_str(&files->list[at].file.path), path))
        return &files->list[at];
    for (size_t i = 0; i < files->count; i++)
        if (!strcmp(buf_str(&files->list[i].file.path), path))
            return &files->list[i];
    if (!at)
        return files->count ? &files->list[0] : NULL;
    for (size_t i = 1; i < files->count; i++) {
        const char *known = buf_str(&files->list[i].file.path);
        if (!strcmp(file_name(known), file_name(path)) && access(known, F_OK) < 0)
            return &files->list[i];
    }
    return NULL;
}

static int
take_known(struct history_source *s, const struct history_source *known)
{
    s->file.offset = known->file.offset;
    s->file.line = known->file.line;
    s->file.head = known->file.head;
    s->file.tail = known->file.tail;
    s->file.size_bytes = known->file.size_bytes;
    s->file.mtime_ns = known->file.mtime_ns;
    s->is_linked = true; /* as it was called then */
    buf_clear(&s->call);
    return buf_append(&s->call, known->call.p, known->call.n);
}

/* Has a file changed? By its size and time alone. */
static bool
has_changed(struct history_source *s)
{
    struct stat st;
    if (stat(buf_str(&s->file.path), &st) < 0)
        return false;
    return (uint64_t)st.st_size != s->file.size_bytes ||
           file_mtime_ns(&st) != s->file.mtime_ns;
}

/* One file: opened where it has grown, moved, or come. */
static int
look_at(struct history *h, struct history_source *s, struct history_source *known,
        enum history_change *change)
{
    int r = known ? take_known(s, known) : 0;
    if (r < 0)
        return err_code(h->err, r, "cannot import '%s'", h->from->path);
    bool is_moved = known &&
                    strcmp(buf_str(&known->file.path), buf_str(&s->file.path)) != 0;
    if (known && !is_moved && !has_changed(s))
        return 0;
    if (is_moved && h->is_redacted)
        r = buf_append(&s->known_as, known->file.path.p, known->file.path.n);
    if (r < 0)
        return err_code(h->err, r, "cannot import '%s'", h->from->path);
    uint64_t offset = s->file.offset;
    r = history_source_open(s, h->err);
    if (r < 0 && r != -ESTALE)
        return r;
    if (r < 0) /* it has shrunk, which is no failure */
        *h->err = (struct err){ 0 };
    bool is_grown = !r && s->file.offset == offset && !s->is_document &&
                    !turn_history_is_stream(h->reader) &&
                    (!known || !offset || history_source_is_same(s));
    if (history_sources_are_many(&h->sources))
        history_source_park(s);
    *change = is_grown ? HISTORY_GROWN : HISTORY_REWRITTEN;
    return 0;
}

/* Files that are not there just now may come back: what was read of them stays known. */
static int
keep_known(struct history *h, struct history_sources *files, const bool *is_used)
{
    int r = 0;
    for (size_t i = 0; !r && i < files->count; i++) {
        struct history_source *old = &files->list[i], *s;
        if (is_used[i])
            continue;
        s = history_sources_add(&h->sources, buf_str(&old->file.path));
        r = s ? take_known(s, old) : -ENOMEM;
    }
    return r;
}

static int
look_at_all(struct history *h, struct history_sources *files, bool *is_used,
            enum history_change *ret)
{
    size_t count = h->sources.count;
    enum history_change change = HISTORY_SAME;
    int r = 0;
    for (size_t i = 0; !r && change != HISTORY_REWRITTEN && i < count; i++) {
        struct history_source *s = &h->sources.list[i];
        struct history_source *known = known_as(files, s, i);
        if (known)
            is_used[known - files->list] = true;
        r = look_at(h, s, known, &change);
    }
    *ret = change;
    if (r < 0 || change != HISTORY_GROWN)
        return r;
    r = history_link_sides(h);
    if (r < 0)
        return r;
    r = keep_known(h, files, is_used);
    return r < 0 ? err_code(h->err, r, "cannot import '%s'", h->from->path) : 0;
}

int
history_look(struct history *h, struct history_sources *files, enum history_change *ret)
{
    bool *is_used = calloc(files->count + 1, sizeof(*is_used));
    int r = is_used ? look_at_all(h, files, is_used, ret)
                    : err_code(h->err, -ENOMEM, "cannot import '%s'", h->from->path);
    free(is_used);
    return r;
}
