/* SPDX-License-Identifier: MIT */
#include "cli/clean_tell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"
#include "session/folder.h"

enum { SAID_MAX = 10 }; /* sessions that stay, and are told by name */

void
cli_clean_tell_release(struct cli_clean_tell *t)
{
    buf_release(&t->text);
}

/* -- what would go -- */

const struct cli_column cli_clean_columns[CLI_CLEAN_COLUMNS] = {
    { "WHEN", false, 0, 2 }, { "NAME OR ID", false, 12, 0 }, { "STATUS", false, 0, 0 },
    { "SIZE", true, 0, 1 },  { "WHY", false, 8, 3 },
};

static void
put_why(const struct cli_clean_tell *t, const struct library_member *m, struct buf *out)
{
    if (t->is_retention)
        buf_printf(out, "retention.%s, ", library_member_status(m));
    if (t->now_ns > m->last_ns && m->last_ns) {
        cli_duration(out, t->now_ns - m->last_ns);
        buf_puts(out, " old");
    } else {
        buf_puts(out, m->last_ns ? "of the future" : "of no known time");
    }
}

static const char *
short_id(const char *id, char ret[CLI_SHORT_ID + 1])
{
    memcpy(ret, id, CLI_SHORT_ID);
    ret[CLI_SHORT_ID] = 0;
    return ret;
}

/* Returns how much room it takes. */
static uint64_t
put_row(const struct cli_clean_tell *t, const struct library_member *m,
        struct cli_table *table)
{
    size_t at = (size_t)(m - t->plan->census.list);
    uint64_t bytes = library_clean_bytes(t->plan, t->home, at);
    AUTO(buf) size = { 0 };
    AUTO(buf) why = { 0 };
    char when[CLI_WHEN_LOCAL_SIZE] = "", id[CLI_SHORT_ID + 1];
    if (m->told.started_at_ns)
        cli_when_local(m->told.started_at_ns, when);
    cli_size(&size, bytes);
    put_why(t, m, &why);
    cli_table_put(table, when, 0);
    cli_table_put(table, m->told.name ? m->told.name : short_id(m->id, id), 0);
    cli_table_put(table, library_member_status(m), 0);
    cli_table_put(table, buf_str(&size), 0);
    cli_table_put(table, buf_str(&why), 0);
    return bytes;
}

static int
by_start(const void *a, const void *b)
{
    const struct library_member *const *x = a, *const *y = b;
    uint64_t s = (*x)->told.started_at_ns, t = (*y)->told.started_at_ns;
    return s < t ? -1 : s > t ? 1 : strcmp((*x)->id, (*y)->id);
}

int
cli_clean_rows(const struct cli_clean_tell *t, struct cli_table *table)
{
    AUTO(buf) text = { 0 };
    size_t n = t->plan->going_count;
    const struct library_member **rows = calloc(n + 1, sizeof(*rows));
    uint64_t bytes = 0;
    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        rows[i] = &t->plan->census.list[t->plan->going[i]];
    qsort(rows, n, sizeof(*rows), by_start);
    for (size_t i = 0; i < n; i++)
        bytes += put_row(t, rows[i], table);
    free(rows);
    cli_count(&text, n, "session");
    buf_puts(&text, ", ");
    cli_size(&text, bytes);
    cli_say(t->self, "%s, %s%s", buf_str(&text), t->is_dry_run ? "would go" : "to go",
            n ? ":" : "");
    return 0;
}

/* -- what stays though it is meant -- */

/* How it ended is locked away: it is as little known as of a damaged one. */
static bool
is_encrypted(const struct cli_clean_tell *t, const struct library_member *m)
{
    return !m->is_live && session_folder_is_encrypted(t->home, m->id);
}

static void
say_those(const struct cli_clean_tell *t, enum library_fate fate)
{
    const struct library_census *all = &t->plan->census;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        AUTO(buf) why = { 0 };
        if (t->plan->fates[i] != fate || ++count > SAID_MAX)
            continue;
        const struct library_member *m = &all->list[i];
        if (fate == LIBRARY_PROTECTED)
            library_census_reason(all, &t->plan->verdicts[i], &why);
        else if (is_encrypted(t, m))
            buf_puts(&why, "it is encrypted");
        else
            buf_printf(&why, "what it is cannot be read; 'ahr delete %s' deletes it",
                       m->id);
        cli_say(t->self, "'%s' stays: %s", m->told.name ? m->told.name : m->id,
                buf_str(&why));
    }
    if (count > SAID_MAX)
        cli_say(t->self, "and so do %zu more", count - SAID_MAX);
}

static void
say_links(const struct cli_clean_tell *t)
{
    const struct buf *links = &t->plan->census.links;
    for (size_t at = 0; at < links->n; at += SESSION_ID_LEN + 1)
        cli_say(t->self,
                "'%s' stays: it is a link, or no folder, and nothing is deleted through "
                "links",
                (const char *)links->p + at);
}

void
cli_clean_say_staying(const struct cli_clean_tell *t)
{
    AUTO(buf) count = { 0 };
    uint64_t kept = 0;
    say_those(t, LIBRARY_PROTECTED);
    say_those(t, LIBRARY_UNKNOWN);
    say_links(t);
    for (size_t i = 0; i < t->plan->census.count; i++)
        kept += t->plan->fates[i] == LIBRARY_KEPT;
    cli_count(&count, kept, "session");
    if (kept)
        cli_say(t->self, "the newest stay, as --keep says: %s", buf_str(&count));
}

/* -- JSON -- */

static void
json_time(struct json *j, const char *key, uint64_t ns)
{
    char when[CLI_WHEN_ISO_SIZE];
    json_key(j, key), ns ? json_str(j, cli_when_iso(ns, when)) : json_none(j);
}

static void
json_session(struct cli_clean_tell *t, const struct library_member *m, const char *id,
             uint64_t bytes)
{
    struct json *j = &t->json;
    AUTO(buf) why = { 0 };
    struct buf project = m->project;
    put_why(t, m, &why);
    json_key(j, "id"), json_str(j, id);
    json_key(j, "name"), json_str_or_none(j, m->told.name);
    json_key(j, "role"), json_str_or_none(j, m->told.role);
    json_key(j, "status"), json_str_or_none(j, library_member_status(m));
    json_time(j, "started_at", m->told.started_at_ns);
    json_time(j, "ended_at", m->told.ended_at_ns);
    json_key(j, "size_bytes"), json_u64(j, bytes);
    json_key(j, "project"), json_str_or_none(j, project.n ? buf_str(&project) : NULL);
    json_key(j, "why"), json_str(j, buf_str(&why));
}

static void
json_staying(struct cli_clean_tell *t)
{
    static const char *const fates[] = {
        [LIBRARY_PROTECTED] = "protected",
        [LIBRARY_KEPT] = "kept",
        [LIBRARY_UNKNOWN] = "unknown",
    };
    const struct library_census *all = &t->plan->census;
    struct json *j = &t->json;
    json_key(j, "staying"), json_open(j, '[');
    for (size_t i = 0; i < all->count; i++) {
        enum library_fate fate = t->plan->fates[i];
        AUTO(buf) why = { 0 };
        if (fate == LIBRARY_STAYS || fate == LIBRARY_GOES)
            continue;
        if (fate == LIBRARY_PROTECTED)
            library_census_reason(all, &t->plan->verdicts[i], &why);
        json_open(j, '{');
        json_key(j, "id"), json_str(j, all->list[i].id);
        json_key(j, "name"), json_str_or_none(j, all->list[i].told.name);
        bool is_locked = fate == LIBRARY_UNKNOWN && is_encrypted(t, &all->list[i]);
        json_key(j, "fate"), json_str(j, is_locked ? "encrypted" : fates[fate]);
        json_key(j, "why"), json_str_or_none(j, why.n ? buf_str(&why) : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void
cli_clean_json_begin(struct cli_clean_tell *t)
{
    struct json *j = &t->json;
    if (!t->is_json)
        return;
    j->out = &t->text;
    json_open(j, '{');
    json_key(j, "dry_run"), json_bool(j, t->is_dry_run);
    json_staying(t);
    json_key(j, "sessions"), json_open(j, '[');
}

void
cli_clean_json_would(struct cli_clean_tell *t, size_t at)
{
    const struct library_member *m = &t->plan->census.list[at];
    if (!t->is_json)
        return;
    json_open(&t->json, '{');
    json_session(t, m, m->id, library_clean_bytes(t->plan, t->home, at));
    json_key(&t->json, "fate"), json_str(&t->json, "would_go");
    json_close(&t->json, '}');
}

void
cli_clean_json_done(struct cli_clean_tell *t, const struct library_member *m,
                    const char *id, uint64_t bytes, int r, enum library_folder folder,
                    const struct err *err)
{
    static const char *const folders[] = {
        [LIBRARY_NO_FOLDER] = "none",
        [LIBRARY_FOLDER_GONE] = "removed",
        [LIBRARY_FOLDER_SHARED] = "shared",
        [LIBRARY_FOLDER_LEFT] = "left",
    };
    struct json *j = &t->json;
    if (!t->is_json)
        return;
    json_open(j, '{');
    json_session(t, m, id, bytes);
    json_key(j, "fate"), json_str(j, r < 0 ? "failed" : "deleted");
    json_key(j, "folder"), json_str(j, folders[folder]);
    json_key(j, "error"), json_str_or_none(j, *err->text ? err->text : NULL);
    json_close(j, '}');
}

int
cli_clean_json_end(struct cli_clean_tell *t, struct err *err)
{
    struct json *j = &t->json;
    if (!t->is_json)
        return 0;
    json_close(j, ']');
    json_key(j, "deleted"), json_u64(j, t->deleted);
    json_key(j, "freed_bytes"), json_u64(j, t->freed_bytes);
    json_close(j, '}');
    buf_puts(&t->text, "\n");
    int r = t->text.failed ? t->text.failed
                           : file_write_all(STDOUT_FILENO, t->text.p, t->text.n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}
