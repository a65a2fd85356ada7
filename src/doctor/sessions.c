/* SPDX-License-Identifier: MIT */
/*
 * sessions.c -- stored sessions: are they what they should be, as far as a look at their
 * names and the heads of their blocks tells, or with --deep all of their bytes; and what
 * killed commands have left among them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "doctor/doctor_priv.h"
#include "library/damaged.h"
#include "session/exchange.h"
#include "session/folder.h"
#include "session/id.h"
#include "session/meta.h"
#include "tape/block.h"
#include "tape/repair.h"
#include "tape/verify.h"
#include "vault/head.h"

enum { STALE_S = 60 }; /* what is younger may just be in the making */

struct looking {
    const struct doctor *d;
    struct doctor_report *out;
    const char *id;
    struct buf dir, tape, meta;
};

static void
looking_release(struct looking *l)
{
    buf_release(&l->dir);
    buf_release(&l->tape);
    buf_release(&l->meta);
}

/* -- the recording -- */

/* Nothing of the recording can be read. Is what was said there? Then there is nothing
 * that would make it better. */
static bool
is_talk_alone(struct looking *l, const char *trouble)
{
    if (!library_has_talk(buf_str(&l->dir)))
        return false;
    doctor_find(l->out, DOCTOR_ATTENTION,
                "session %s %s; its conversation is kept: see 'ahr export' and 'ahr log'",
                l->id, trouble);
    return true;
}

/* Of all bytes. */
static void
read_all(struct looking *l)
{
    struct tape_verify_report v = { 0 };
    struct tape_repair_report would = { 0 };
    struct err err = { 0 };
    const char *path = buf_str(&l->tape);
    int r = tape_repair(tape_io_files(), path, true, NULL, &would, &err);
    if (r == ERR_DAMAGED && library_is_ruin(path, &err) == 1 &&
        is_talk_alone(l, "has a recording of which nothing can be read"))
        return;
    if (r == ERR_DAMAGED || would.is_changed) {
        struct doctor_finding *f = doctor_find(
            l->out, DOCTOR_ATTENTION, "session %s is torn, or nothing of it can be read",
            l->id);
        doctor_mend(f, "ahr recover %s", l->id);
        return;
    }
    if (!r)
        r = tape_verify(tape_io_files(), path, NULL, &v, &err);
    if (r < 0) {
        doctor_find(l->out, DOCTOR_ATTENTION, "session %s: %s", l->id, err.text);
        return;
    }
    if (v.notes.damages)
        doctor_find(l->out, DOCTOR_ATTENTION,
                    "session %s is damaged, and what is whole of it is still read; 'ahr "
                    "verify %s' names the places",
                    l->id, l->id);
    tape_verify_report_release(&v);
}

static bool
has_beside(struct looking *l)
{
    AUTO(buf) names = { 0 };
    if (doctor_names(buf_str(&l->dir), "", &names) < 0)
        return false;
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        const char *name = (char *)names.p + at;
        bool is_tail = !strncmp(name, "session.ahr.tail-", 17) && !strstr(name, ".torn");
        if (is_tail || !strcmp(name, "session.ahr.1"))
            return true;
    }
    return false;
}

/* Do the blocks, as long as their heads say that they are, end with the file? One of a
 * newer ahr may have it otherwise. */
static bool
ends_with_block(const char *path)
{
    uint8_t head[TAPE_BLOCK_HEAD];
    struct tape_block b;
    struct stat st = { 0 };
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_good = fd >= 0 && fstat(fd, &st) == 0;
    off_t at = 0;
    while (is_good && at < st.st_size) {
        is_good = pread(fd, head, sizeof(head), at) == sizeof(head) &&
                  !(why = tape_block_parse(head, &b));
        at += TAPE_BLOCK_HEAD + (is_good ? (off_t)b.packed_len : 0);
    }
    if (fd >= 0)
        close(fd);
    return why == tape_block_bad_version || (is_good && at == st.st_size);
}

/* Why it needs recovery; NULL: it does not, by its first bytes. */
static const char *
recording_trouble(struct looking *l)
{
    uint8_t magic[sizeof(tape_block_magic)];
    int fd = open(buf_str(&l->tape), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? "has no recording" : NULL;
    ssize_t n = file_read(fd, magic, sizeof(magic));
    close(fd);
    if (n == 0)
        return "has an empty recording";
    if (n != sizeof(magic) || memcmp(magic, tape_block_magic, sizeof(magic)) != 0)
        return "has a recording that does not begin as one";
    return has_beside(l) ? "was not sealed" : NULL;
}

static void
look_at_recording(struct looking *l)
{
    const char *trouble = recording_trouble(l);
    struct stat st;
    if (!trouble) {
        if (l->d->is_deep || !ends_with_block(buf_str(&l->tape)))
            read_all(l);
        return;
    }
    if (!has_beside(l) && is_talk_alone(l, trouble))
        return;
    struct doctor_finding *f = doctor_find(l->out, DOCTOR_ATTENTION, "session %s %s",
                                           l->id, trouble);
    /* What never had a byte is nothing that could be saved. */
    bool is_empty = stat(buf_str(&l->tape), &st) < 0 || !st.st_size;
    doctor_mend(f, is_empty && !has_beside(l) ? "ahr delete %s" : "ahr recover %s",
                l->id);
}

/* -- the vault -- */

/* Of one that is locked away. More than its head nobody can tell without the key. */
static void
look_at_vault(struct looking *l)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    uint8_t head[VAULT_HEAD_BYTES];
    struct vault_head facts;
    struct err why = { 0 };
    buf_printf(&path, "%s/" SESSION_VAULT, buf_str(&l->dir));
    int fd = path.failed ? -1
                         : open(buf_str(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                                    O_NOCTTY | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -errno : file_read(fd, head, sizeof(head));
    if (fd >= 0)
        close(fd);
    int r = n < 0 ? err_code(&why, (int)n, "it cannot be read")
                  : vault_head_parse(head, (size_t)n, &facts, &why);
    if (r < 0)
        doctor_find(l->out, DOCTOR_ATTENTION,
                    "session %s is encrypted, and its vault cannot be opened: %s", l->id,
                    why.text);
}

/* -- one -- */

static void
look_at_meta(struct looking *l)
{
    AUTO(session_told) told = { 0 };
    struct err why = { 0 };
    int r = session_meta_tell(buf_str(&l->meta), &told, &why);
    if (!r && told.status)
        return;
    struct doctor_finding *f = doctor_find(
        l->out, DOCTOR_ATTENTION, "what session %s is cannot be read: %s", l->id,
        r < 0 ? why.text : "its session.meta.json has no status");
    doctor_mend(f, "ahr recover %s", l->id);
}

static void
look_at(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(looking) l = { .d = d, .out = out, .id = id };
    buf_printf(&l.dir, "%s/sessions/%s", d->home, id);
    buf_printf(&l.tape, "%s/session.ahr", buf_str(&l.dir));
    buf_printf(&l.meta, "%s/session." SESSION_META, buf_str(&l.dir));
    if (l.dir.failed || l.tape.failed || l.meta.failed)
        return;
    if (!session_folder_exists(d->home, "sessions", id)) {
        struct stat st;
        if (lstat(buf_str(&l.dir), &st) < 0)
            return; /* it has just been deleted */
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION, "'%s' is a link, or no folder: it is no session",
            buf_str(&l.dir));
        doctor_mend(f, "rm ");
        doctor_mend_path(f, buf_str(&l.dir));
        return;
    }
    look_at_meta(&l);
    if (session_folder_is_encrypted(d->home, id)) {
        look_at_vault(&l);
        return;
    }
    look_at_recording(&l);
    doctor_journals(d, out, id);
}

static unsigned
look_at_damaged(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) names = { 0 };
    unsigned count = 0;
    doctor_unreadable(out, d->home, "damaged", doctor_names(d->home, "damaged", &names));
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        AUTO(buf) path = { 0 };
        buf_printf(&path, "%s/damaged/%s", d->home, (char *)names.p + at);
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION,
            "nothing of '%s' can be read; when it is of no use to anybody",
            buf_str(&path));
        doctor_mend(f, "rm -r ");
        doctor_mend_path(f, buf_str(&path));
        count++;
    }
    return count;
}

void
doctor_sessions(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) names = { 0 };
    unsigned count = 0;
    doctor_unreadable(out, d->home, "sessions",
                      doctor_names(d->home, "sessions", &names));
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1)
        if (session_id_is((char *)names.p + at)) {
            look_at(d, out, (char *)names.p + at);
            count++;
        }
    unsigned damaged = look_at_damaged(d, out);
    doctor_sum(out, "%u stored%s, %u set aside as damaged", count,
               d->is_deep ? " and read to the end" : "", damaged);
}

/* -- what killed commands have left -- */

/* Is nobody at it? Of a folder in live/ the file in it is locked. */
static bool
is_left(const char *path, bool is_live)
{
    AUTO(buf) lock = { 0 };
    struct stat st;
    if (lstat(path, &st) < 0 || (is_live && time(NULL) - st.st_mtime <= STALE_S))
        return false;
    buf_printf(&lock, is_live ? "%s/lock" : "%s", path);
    int fd = open(buf_str(&lock), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_free = fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return is_free;
}

static bool
begins(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return !strncmp(name, prefix, n) && session_id_is(name + n);
}

static unsigned
look_for_left(const struct doctor *d, struct doctor_report *out, const char *kind,
              const char *mend)
{
    AUTO(buf) names = { 0 };
    unsigned count = 0;
    bool is_live = !strcmp(kind, "live");
    (void)doctor_names(d->home, kind, &names);
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        const char *name = (char *)names.p + at;
        AUTO(buf) path = { 0 };
        buf_printf(&path, "%s/%s/%s", d->home, kind, name);
        bool is_ours = begins(name, SESSION_NEW) ||
                       (!is_live &&
                        (begins(name, SESSION_GONE) || begins(name, SESSION_OLD)));
        if (!is_ours || !is_left(buf_str(&path), is_live))
            continue;
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION, "a killed command has left '%s'", buf_str(&path));
        doctor_mend(f, "%s", mend);
        count++;
    }
    return count;
}

void
doctor_leftovers(const struct doctor *d, struct doctor_report *out)
{
    unsigned count = look_for_left(d, out, "sessions", "ahr list");
    count += look_for_left(d, out, "live", "ahr recover --all");
    doctor_sum(out, "%u", count);
}
