/* SPDX-License-Identifier: MIT */
/*
 * home.c -- the home's folders are for their owner alone (0700), and so are the files
 * (0600).
 *
 * What lies inside of a session's folder is looked at, but not what is in folders there,
 * nor in those of snapshots, which may be many.
 */
#include <errno.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor_priv.h"

enum {
    DEPTH = 3,    /* home/sessions/<id>/file */
    NAMED_MAX = 3 /* paths that are told */
};

struct found {
    uint64_t wrong;
    struct buf names; /* of the first few, for people */
};

struct looked {
    uint64_t count;
    struct found open, closed, foreign;
};

static bool
is_open_to_others(const struct stat *st)
{
    return st->st_mode & 077;
}

static bool
is_closed_to_owner(const struct stat *st)
{
    unsigned needed = S_ISDIR(st->st_mode) ? 0700 : S_ISREG(st->st_mode) ? 0400 : 0;
    return (st->st_mode & needed) != needed;
}

static bool
is_anothers(const struct stat *st)
{
    return st->st_uid != geteuid();
}

static void
note(struct found *f, bool (*is_wrong)(const struct stat *), const FTSENT *e)
{
    if (!is_wrong(e->fts_statp))
        return;
    if (f->wrong++ < NAMED_MAX)
        buf_printf(&f->names, "%s'%s'", f->names.n ? ", " : "", e->fts_path);
}

static void
walk(char *home, struct looked *l)
{
    char *const roots[] = { home, NULL };
    FTS *all = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV,
                        NULL);
    for (FTSENT *e; all && (e = fts_read(all));) {
        bool is_link = e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE;
        if (e->fts_info == FTS_DP || e->fts_info == FTS_NS || is_link)
            continue;
        note(&l->open, is_open_to_others, e);
        note(&l->closed, is_closed_to_owner, e);
        note(&l->foreign, is_anothers, e);
        l->count++;
        if (e->fts_info == FTS_D && e->fts_level >= DEPTH - 1 &&
            (e->fts_level >= DEPTH || !strncmp(e->fts_parent->fts_name, "snap", 4)))
            fts_set(all, e, FTS_SKIP);
    }
    if (all)
        fts_close(all);
}

static const char *
and_more(const struct found *f)
{
    return f->wrong > NAMED_MAX ? " and more" : "";
}

static void
mend_modes(const struct doctor *d, struct doctor_finding *f)
{
    doctor_mend(f, "chmod -R u=rwX,go= ");
    doctor_mend_path(f, d->home);
}

static void
tell(const struct doctor *d, struct doctor_report *out, struct looked *l)
{
    if (l->open.wrong)
        mend_modes(d, doctor_find(out, DOCTOR_ATTENTION, "others could read %s%s",
                                  buf_str(&l->open.names), and_more(&l->open)));
    if (l->closed.wrong)
        mend_modes(d,
                   doctor_find(out, DOCTOR_ATTENTION, "you may not read or change %s%s",
                               buf_str(&l->closed.names), and_more(&l->closed)));
    if (l->foreign.wrong) {
        struct doctor_finding *f = doctor_find(out, DOCTOR_ATTENTION, "%s%s: not yours",
                                               buf_str(&l->foreign.names),
                                               and_more(&l->foreign));
        doctor_mend(f, "%schown -hRH %u ", geteuid() ? "sudo " : "", (unsigned)geteuid());
        doctor_mend_path(f, d->home);
    }
}

static void
look_into(const struct doctor *d, struct doctor_report *out)
{
    struct looked l = { 0 };
    AUTO(buf) home = { 0 };
    if (access(d->home, W_OK) < 0 && errno == EROFS)
        doctor_find(out, DOCTOR_ATTENTION,
                    "'%s' is on a disk that cannot be written to: nothing can be "
                    "recorded there; set AHR_HOME to another folder",
                    d->home);
    if (buf_puts(&home, d->home) == 0 && buf_str(&home)[0])
        walk((char *)home.p, &l);
    tell(d, out, &l);
    doctor_sum(out, "%s, %lu files and folders looked at", d->home,
               (unsigned long)l.count);
    buf_release(&l.open.names);
    buf_release(&l.closed.names);
    buf_release(&l.foreign.names);
}

void
doctor_home(const struct doctor *d, struct doctor_report *out)
{
    struct stat st;
    if (stat(d->home, &st) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        doctor_sum(out, "%s is not there yet; the first recording makes it", d->home);
        if (errno == ENOTDIR)
            doctor_find(out, DOCTOR_ATTENTION,
                        "a part of '%s' is a file: set AHR_HOME to another folder",
                        d->home);
        return;
    }
    if (stat(d->home, &st) < 0) {
        doctor_sum(out, "%s", d->home);
        doctor_find(out, DOCTOR_ATTENTION, "'%s' cannot be reached: %s", d->home,
                    strerror(errno));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        doctor_sum(out, "%s", d->home);
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION, "'%s' is a file, and should be a folder", d->home);
        doctor_mend(f, "mv ");
        doctor_mend_path(f, d->home);
        doctor_mend(f, " ");
        AUTO(buf) aside = { 0 };
        buf_printf(&aside, "%s.file", d->home);
        doctor_mend_path(f, buf_str(&aside));
        return;
    }
    look_into(d, out);
}
