/* SPDX-License-Identifier: MIT */
/*
 * journals.c -- what a session has besides its recording: its events, its calls of model
 * APIs, and a run's folder in its project. What an archive holds, and whether each event
 * and call is one, only a deep look tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>

#include "calls/read.h"
#include "doctor/doctor_priv.h"
#include "gz/read.h"
#include "journal/metadata.h"
#include "library/runs.h"
#include "library/turns.h"
#include "session/folder.h"

static void
find_damaged_archive(struct doctor_report *out, const char *path, const char *id)
{
    struct doctor_finding *f = doctor_find(
        out, DOCTOR_ATTENTION,
        "'%s" GZ_SUFFIX "' cannot be read to its end; this unpacks what can be read",
        path);
    doctor_mend(f, "ahr archive --undo %s", id);
}

/* A library_turn_fn. */
static int
on_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
        uint64_t number)
{
    (void)ctx, (void)e, (void)at, (void)number;
    return 0;
}

static void
read_turns(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct session_unread unread = { 0 };
    if (buf_printf(&path, "%s/sessions/%s/session." SESSION_TURNS, d->home, id) < 0)
        return;
    int r = library_turns_read(buf_str(&path), on_turn, NULL, &unread);
    if (r == ERR_DAMAGED)
        find_damaged_archive(out, buf_str(&path), id);
    else if (r < 0)
        doctor_find(out, DOCTOR_ATTENTION, "'%s' cannot be read: %s", buf_str(&path),
                    strerror(-r));
    else if (unread.lines)
        doctor_find(out, DOCTOR_ATTENTION,
                    "session %s has lines that are no events, and all others are still "
                    "read; 'ahr verify %s' names them",
                    id, id);
}

/* Each call and both its bodies. */
static bool
has_damaged_call(struct calls *c)
{
    bool is_damaged = calls_settle(c) || calls_bad_lines(c);
    for (size_t i = 0; i < calls_count(c) && !is_damaged; i++) {
        struct calls_whole w;
        is_damaged = calls_get(c, i, &w, NULL) < 0 || calls_is_damaged(&w);
    }
    return is_damaged;
}

static void
read_calls(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct calls *calls = NULL;
    bool is_cut = false;
    struct err why;
    if (buf_printf(&path, "%s/sessions/%s/session." SESSION_WIRE, d->home, id) < 0 ||
        !calls_exist(buf_str(&path)))
        return;
    if (calls_open(&calls, buf_str(&path), &is_cut, &why) < 0)
        doctor_find(out, DOCTOR_ATTENTION, "of session %s the calls cannot be read: %s",
                    id, why.text);
    else if (is_cut)
        find_damaged_archive(out, buf_str(&path), id);
    else if (has_damaged_call(calls))
        doctor_find(out, DOCTOR_ATTENTION,
                    "session %s has damage among its calls, and all others are still "
                    "read; 'ahr wire %s' lists them",
                    id, id);
    calls_close(calls);
}

static void
read_log(struct doctor_report *out, const char *path, const char *id)
{
    uint8_t room[16 << 10];
    struct gz *gz;
    if (gz_open(&gz, AT_FDCWD, path) < 0)
        return; /* there is none, or it is not looked into */
    ssize_t n = gz_is_packed(gz) ? 1 : 0;
    while (n > 0)
        n = gz_read(gz, room, sizeof(room));
    gz_close(gz);
    if (n == ERR_DAMAGED)
        find_damaged_archive(out, path, id);
}

static void
look_at_project(const struct doctor *d, struct doctor_report *out, const char *id)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(journal_told) told = { 0 };
    struct err why = { 0 };
    if (!library_project_find(d->home, id, &path))
        return;
    size_t n = path.n;
    buf_puts(&path, "/metadata.json");
    int r = path.failed ? 0 : journal_metadata_read(buf_str(&path), &told, &why);
    if (!r && told.id && strcmp(told.id, id) != 0)
        return; /* another run's by now, whose session tells of it */
    if (r < 0)
        doctor_find(out, DOCTOR_ATTENTION,
                    "of session %s the run's own facts cannot be read: %s", id, why.text);
    path.n = n;
    buf_puts(&path, "/io.log");
    if (d->is_deep && !path.failed)
        read_log(out, buf_str(&path), id);
}

void
doctor_journals(const struct doctor *d, struct doctor_report *out, const char *id)
{
    if (d->is_deep) {
        read_turns(d, out, id);
        read_calls(d, out, id);
    }
    look_at_project(d, out, id);
}
