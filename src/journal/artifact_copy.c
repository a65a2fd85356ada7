/* SPDX-License-Identifier: MIT */
/*
 * artifact_copy.c -- a file as it is now, copied and listed.
 *
 * Several processes may be at it (the run, `ahr artifact add`): all is done under the
 * lock of artifacts/ (flock on the folder). A copy is there before links.json tells of
 * it; who is killed between leaves a copy that nobody knows.
 *
 * Text is masked. Bytes of another kind cannot be masked without breaking them: they are
 * copied as they are, or, with something secret in them, not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "gz/read.h"
#include "journal/artifact.h"
#include "journal/artifact_priv.h"
#include "journal/file_priv.h"
#include "journal/metadata.h"

enum { NAME_BYTES = 100, TRIES = 1000 };

static const uint64_t LOCK_WAITS_NS = UINT64_C(2000000000);

struct making {
    struct journal_copy *c;
    int fd; /* of artifacts/, locked */
    struct buf folder, name, bytes, masked;
    struct journal_links links;
    struct journal_link link;
};

static void
making_release(struct making *m)
{
    if (m->fd >= 0)
        close(m->fd);
    buf_release(&m->folder);
    buf_release(&m->name);
    buf_release(&m->bytes);
    buf_release(&m->masked);
    journal_links_release(&m->links);
}

static const char *
why_not(int code)
{
    switch (code) {
    case -ENOENT:
        return "there is no such file";
    case -ELOOP:
        return "it is a link";
    case -EINVAL:
    case -ENXIO:
    case -EISDIR:
        return "it is no plain file";
    case -EACCES:
    case -EPERM:
        return "it may not be read";
    case ERR_LIMIT:
        return "it is larger than 8 MiB";
    case -ENOSPC:
    case -EDQUOT:
        return "the disk is full";
    default:
        return "it could not be copied";
    }
}

/* What the copy will hold: m->masked. NULL, or why there is none. */
static const char *
read_file(struct making *m, struct redact *redact)
{
    int r = journal_file_read(AT_FDCWD, m->c->file, JOURNAL_COPY_MAX, &m->bytes);
    if (r < 0)
        return why_not(r);
    bool is_text = utf8_is_text(m->bytes.p, m->bytes.n) &&
                   (!m->bytes.n || !memchr(m->bytes.p, 0, m->bytes.n));
    if (redact)
        r = redact_text(redact, m->bytes.p, m->bytes.n, &m->masked);
    else
        r = buf_append(&m->masked, m->bytes.p, m->bytes.n);
    if (r < 0)
        return why_not(r);
    m->link.is_redacted = m->masked.n != m->bytes.n ||
                          (m->bytes.n &&
                           memcmp(m->masked.p, m->bytes.p, m->bytes.n) != 0);
    return is_text || !m->link.is_redacted
               ? NULL
               : "it is no text, and something secret is in it";
}

static bool
is_as_before(struct making *m)
{
    AUTO(buf) before = { 0 };
    return m->links.last_copy.n &&
           gz_slurp(m->fd, buf_str(&m->links.last_copy), JOURNAL_COPIES_MAX, &before) ==
               0 &&
           before.n == m->masked.n &&
           (!before.n || !memcmp(before.p, m->masked.p, before.n));
}

/* "0012-main.c", which is free. */
static int
choose_name(struct making *m)
{
    char last[NAME_BYTES + 1];
    const uint8_t *slash = memrchr(m->c->path.p, '/', m->c->path.n);
    const uint8_t *p = slash ? slash + 1 : m->c->path.p;
    size_t n = (size_t)(m->c->path.p + m->c->path.n - p), i;
    for (i = 0; i < n && i < NAME_BYTES; i++) {
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                      "YZ0123456789._-";
        last[i] = p[i] && strchr(allowed, p[i]) ? (char)p[i] : '_';
    }
    last[i] = 0;
    for (unsigned try = 0; try < TRIES; try++) {
        struct stat st;
        buf_clear(&m->name);
        int r = buf_printf(&m->name, "%04" PRIu64 "-%s", m->links.highest + 1 + try,
                           last);
        if (r < 0)
            return r;
        r = gz_stat(m->fd, buf_str(&m->name), &st);
        if (r < 0)
            return r == -ENOENT ? 0 : r;
    }
    return -EEXIST;
}

static const char *
write_copy(struct making *m)
{
    AUTO(buf) path = { 0 };
    if (m->links.bytes + m->masked.n > JOURNAL_COPIES_MAX)
        return "all copies of this run would take more than 256 MiB";
    int r = choose_name(m);
    if (!r)
        r = buf_printf(&path, "%s/%s", buf_str(&m->folder), buf_str(&m->name));
    if (!r)
        r = file_replace(buf_str(&path), (struct view){ m->masked.p, m->masked.n }, false,
                         NULL);
    if (r < 0)
        return why_not(r == -ENOSPC || r == -EDQUOT ? r : -EIO);
    m->link.copy = buf_str(&m->name);
    return NULL;
}

static void
copy(struct making *m, struct redact *redact)
{
    m->link.why = read_file(m, redact);
    if (m->link.why) {
        m->link.is_redacted = false;
        return;
    }
    m->link.bytes = m->masked.n;
    if (is_as_before(m)) {
        m->link.copy = buf_str(&m->links.last_copy);
        m->link.why = "it is as it was";
    } else {
        m->link.why = write_copy(m);
    }
}

static int
open_folder(struct making *m, struct err *err)
{
    bool is_made;
    buf_printf(&m->folder, "%s/artifacts", m->c->dir);
    int r = journal_refuse_encrypted(m->c->dir, err);
    if (r < 0)
        return r;
    m->fd = journal_file_folder(AT_FDCWD, buf_str(&m->folder), &is_made);
    if (m->fd == -ELOOP)
        return err_set(err, m->fd,
                       "'%s' is a link, and nothing is written through links: remove it",
                       buf_str(&m->folder));
    if (m->fd < 0)
        return err_code(err, m->fd, "cannot use '%s'", buf_str(&m->folder));
    r = file_lock(m->fd, false, clock_mono_ns() + LOCK_WAITS_NS);
    if (r == ERR_BUSY)
        return err_set(err, r, "somebody keeps '%s' locked; try again",
                       buf_str(&m->folder));
    return r < 0 ? err_code(err, r, "cannot lock '%s'", buf_str(&m->folder))
                 : journal_refuse_encrypted(m->c->dir, err);
}

/* A list that is none of ours is set aside, not overwritten. */
static int
read_links(struct making *m, struct err *err)
{
    int r = journal_links_read(m->fd, m->c->path, &m->links);
    if (r == ERR_DAMAGED)
        r = renameat(m->fd, "links.json", m->fd, "links.json.damaged") < 0 ? -errno : 0;
    return r < 0 ? err_code(err, r, "cannot read '%s/links.json'", buf_str(&m->folder))
                 : 0;
}

static int
decide(struct making *m, struct err *err)
{
    struct journal_copy *c = m->c;
    struct stat st;
    bool is_there = lstat(c->file, &st) == 0;
    bool is_told = c->action && !strcmp(c->action, "deleted");
    if (c->must_exist && !is_there && !is_told && (c->action || !m->links.is_known))
        return err_set(err, ERR_MISSING, "no such file: '%s'", c->file);
    bool was_there = m->links.is_known && !m->links.is_deleted;
    if (!c->action)
        c->action = !is_there && c->must_exist ? "deleted"
                    : was_there                ? "modified"
                                               : "created";
    return 0;
}

int
journal_copy_make(struct journal_copy *c, struct redact *redact, struct err *err)
{
    AUTO(making) m = { .c = c, .fd = -1, .masked.ceiling = 2 * (size_t)JOURNAL_COPY_MAX };
    AUTO(buf) text = { 0 };
    AUTO(buf) path = { 0 };
    int r = open_folder(&m, err);
    if (!r)
        r = read_links(&m, err);
    if (!r)
        r = decide(&m, err);
    if (r < 0)
        return r;
    if (m.links.count >= JOURNAL_LINKS_MAX)
        return err_set(err, ERR_LIMIT, "'%s/links.json' has %d entries already",
                       buf_str(&m.folder), JOURNAL_LINKS_MAX);
    m.link = (struct journal_link){ .path = c->path,
                                    .action = c->action,
                                    .ts_ns = c->ts_ns };
    if (!strcmp(c->action, "deleted"))
        m.link.why = "it was deleted";
    else
        copy(&m, redact);
    journal_links_add(&m.links, &m.link, &text);
    buf_printf(&path, "%s/links.json", buf_str(&m.folder));
    if (text.failed)
        return err_code(err, text.failed, "cannot write '%s'", buf_str(&path));
    return file_replace(buf_str(&path), (struct view){ text.p, text.n }, false, err);
}
