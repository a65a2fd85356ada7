/* SPDX-License-Identifier: MIT */
/* live.c -- who records, and who did; and the runs of the project around. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor_priv.h"
#include "journal/metadata.h"
#include "library/runs.h"
#include "library/session.h"
#include "session/exchange.h"
#include "session/folder.h"
#include "session/id.h"

/* A held one answers at its socket. */
static void
look_at_held(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(library_session) s = { 0 };
    struct err ignored;
    if (library_session_read(&s, d->home, id, &ignored) < 0 || !s.lost_pid)
        return;
    struct doctor_finding *f = doctor_find(
        out, DOCTOR_ATTENTION,
        "session %s is recorded by process %d, and its socket is gone: nobody can reach "
        "it, and it goes on; this ends it in good order",
        id, s.lost_pid);
    doctor_mend(f, "kill %d", s.lost_pid);
}

/* Of one whose recorder has vanished, before or after it was recovered. */
static void
look_at_command(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (!library_project_find(d->home, id, &path) ||
        buf_puts(&path, "/metadata.json") < 0 ||
        journal_metadata_read(buf_str(&path), &told, NULL) < 0 || !told.id ||
        strcmp(told.id, id) != 0 ||
        !journal_process_is(told.command_pid, told.command_start))
        return;
    doctor_find(out, DOCTOR_NOTE,
                "the recorder of session %s has vanished, and its command still runs as "
                "process %d: it is left alone, 'kill %d' would end it",
                id, told.command_pid, told.command_pid);
}

static void
look_at_live(const struct doctor *d, struct doctor_report *out, const char *id,
             unsigned *held, unsigned *vanished)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&path, "%s/live/%s", d->home, id);
    if (!session_folder_exists(d->home, "live", id)) {
        if (session_folder_exists(d->home, "sessions", id))
            return; /* it has just ended */
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION, "'%s' is a link, or no folder: it is no session",
            buf_str(&path));
        doctor_mend(f, "rm ");
        doctor_mend_path(f, buf_str(&path));
    } else if (session_folder_is_held(d->home, id)) {
        ++*held;
        look_at_held(d, out, id);
    } else if (session_folder_exists(d->home, "live", id)) {
        ++*vanished;
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION,
            "session %s was cut off, its recorder has vanished: it would be recovered",
            id);
        doctor_mend(f, "ahr recover --all");
        look_at_command(d, out, id);
    }
}

/* Runs alone have that file. */
static void
look_at_stored(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) names = { 0 };
    (void)doctor_names(d->home, "sessions", &names); /* another check tells */
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        AUTO(buf) path = { .ceiling = PATH_MAX };
        const char *id = (char *)names.p + at;
        if (session_id_is(id) &&
            buf_printf(&path, "%s/sessions/%s/project", d->home, id) == 0 &&
            access(buf_str(&path), F_OK) == 0)
            look_at_command(d, out, id);
    }
}

void
doctor_live(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) names = { 0 };
    unsigned held = 0, vanished = 0;
    int r = doctor_names(d->home, "live", &names);
    doctor_unreadable(out, d->home, "live", r);
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1)
        if (session_id_is((char *)names.p + at))
            look_at_live(d, out, (char *)names.p + at, &held, &vanished);
    look_at_stored(d, out);
    doctor_sum(out, "%u being recorded, %u to be recovered", held, vanished);
}

/* -- the project -- */

struct runs {
    struct doctor_report *out;
    unsigned left;
};

/* A library_runs_fn, of a dry run. */
static int
take_run(void *ctx, const char *dir, int r, const struct err *why)
{
    struct runs *runs = ctx;
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    (void)r, (void)why;
    buf_printf(&path, "%s/metadata.json", dir);
    (void)journal_metadata_read(buf_str(&path), &told, NULL);
    int alive = journal_told_alive(&told);
    if (alive) {
        doctor_find(runs->out, DOCTOR_NOTE,
                    "process %d is still at the run in '%s', and does not hold it: %s",
                    alive, dir,
                    alive == told.command_pid ? "it is its command, and has outlived ahr"
                                              : "it is no ahr, or has lost its folder");
        return 1;
    }
    runs->left++;
    struct doctor_finding *f = doctor_find(
        runs->out, DOCTOR_ATTENTION,
        "the run in '%s' says that it is active, and its process is dead: it would be "
        "put in order",
        dir);
    doctor_mend(f, "ahr recover --all");
    return 1;
}

/* A name that is kept for an encrypted session which may be deleted by now. */
static void
look_for_stub(const struct doctor *d, struct doctor_report *out, const char *dir)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    if (!library_run_is_encrypted(dir) ||
        buf_printf(&path, "%s/metadata.json", dir) < 0 ||
        journal_metadata_read(buf_str(&path), &told, NULL) < 0 || !told.id ||
        session_folder_exists(d->home, "sessions", told.id))
        return;
    struct doctor_finding *f = doctor_find(
        out, DOCTOR_NOTE,
        "the run in '%s' is encrypted, and there is no session %s any more: if it was "
        "deleted, the name can be free again",
        dir, told.id);
    doctor_mend(f, "rm ");
    doctor_mend_path(f, buf_str(&path));
    doctor_mend(f, " && rmdir ");
    doctor_mend_path(f, dir);
}

/* What a killed clean has put away, whose session may be gone by now; and such names. */
static void
look_for_gone(const struct doctor *d, struct doctor_report *out)
{
    AUTO(buf) runs = { .ceiling = PATH_MAX };
    AUTO(buf) names = { 0 };
    if (!library_runs_path(d->here, &runs) ||
        doctor_names(buf_str(&runs), "", &names) < 0)
        return;
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        const char *name = (char *)names.p + at;
        AUTO(buf) path = { .ceiling = PATH_MAX };
        buf_printf(&path, "%s/%s", buf_str(&runs), name);
        if (session_name_is(name))
            look_for_stub(d, out, buf_str(&path));
        if (strncmp(name, SESSION_GONE, strlen(SESSION_GONE)) != 0 ||
            !session_id_is(name + strlen(SESSION_GONE)))
            continue;
        struct doctor_finding *f = doctor_find(
            out, DOCTOR_ATTENTION, "a killed 'ahr clean' has left '%s'", buf_str(&path));
        doctor_mend(f, "rm -rf ");
        doctor_mend_path(f, buf_str(&path));
    }
}

void
doctor_project(const struct doctor *d, struct doctor_report *out)
{
    struct runs runs = { .out = out };
    look_for_gone(d, out);
    int r = library_runs_recover(d->here, true, take_run, &runs);
    if (r < 0)
        doctor_find(out, DOCTOR_NOTE, "the runs around '%s' cannot be read", d->here);
    doctor_sum(out, "%u of the runs here to be put in order", runs.left);
}
