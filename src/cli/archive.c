/* SPDX-License-Identifier: MIT */
/* ahr archive: the journals of runs that have ended, compressed where they lie. */
#include "library/archive.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"
#include "library/change.h"
#include "library/list.h"
#include "redact/own.h"
#include "session/home.h"

#define OLDER_THAN "30d"

struct args {
    struct cli_list older_than; /* the last one counts; is it typed? */
    bool is_undo, is_dry_run, is_json;
};

enum { NAME_BYTES = 128 }; /* of a name that are shown */

struct chosen {
    char id[SESSION_ID_LEN + 1];
    char name[NAME_BYTES + 1];
};

struct work {
    const struct cli_command *self;
    const struct args *args;
    struct cli_progress progress;
    struct redact *redact;
    struct buf home, chosen, counted, text;
    struct json json;
    bool is_named; /* the sessions were, one by one */
    uint64_t before_ns;
    struct library_archived all;
    uint64_t sessions; /* that had something */
    uint64_t busy;     /* that were passed over */
    int worst;         /* exit status so far */
};

static void
work_release(struct work *w)
{
    redact_close(w->redact);
    buf_release(&w->home);
    buf_release(&w->chosen);
    buf_release(&w->counted);
    buf_release(&w->text);
}

/* -- which -- */

static int
choose(struct work *w, const char *id, const char *name)
{
    struct chosen c = { 0 };
    memccpy(c.id, id, 0, sizeof(c.id) - 1);
    memccpy(c.name, name ? name : "", 0, sizeof(c.name) - 1);
    w->chosen.ceiling = SIZE_MAX;
    return buf_append(&w->chosen, &c, sizeof(c));
}

static bool
is_chosen(const struct work *w, const char *id)
{
    const struct chosen *c = (const void *)w->chosen.p;
    for (size_t i = 0; i < w->chosen.n / sizeof(*c); i++)
        if (!strcmp(c[i].id, id))
            return true;
    return false;
}

static int
choose_named(struct work *w, const char *what, struct err *err)
{
    AUTO(library_found) found = { 0 };
    AUTO(library_session) s = { 0 };
    struct err why, ignored;
    int r = cli_find(NULL, &found, what, err);
    if (!r && !*found.id)
        r = err_set(err, ERR_MISSING, "'%s' is a file, not a session of the library",
                    what);
    if (!r)
        r = cli_check_ended(buf_str(&w->home), &found, what, err);
    if (r < 0)
        return r;
    (void)library_look(&s, buf_str(&w->home), found.id, &why, &ignored);
    r = is_chosen(w, found.id) ? 0 : choose(w, found.id, s.facts.name);
    return r < 0 ? err_code(err, r, "cannot archive '%s'", what) : 0;
}

/* A library_list_fn. */
static int
choose_old(void *ctx, const struct library_session *s)
{
    struct work *w = ctx;
    const struct store_session *f = &s->facts;
    /* Clocks can be set back; where no end is known, the start may be a guess. */
    uint64_t last_ns = f->ended_at_ns > f->started_at_ns ? f->ended_at_ns
                                                         : f->started_at_ns;
    bool is_old = f->ended_at_ns && last_ns < w->before_ns;
    bool is_run = f->kind && (!strcmp(f->kind, "stream") || !strcmp(f->kind, "wire"));
    if (s->place != LIBRARY_SESSIONS || !is_run || !is_old)
        return 1;
    int r = choose(w, f->id, f->name);
    return r < 0 ? r : 1;
}

static int
choose_all(struct work *w, struct err *err)
{
    const struct library_list all = { .is_short = true };
    struct library_listed listed;
    const struct cli_list *ages = &w->args->older_than;
    const char *age = ages->n ? ages->item[ages->n - 1] : OLDER_THAN;
    int r = cli_when_parse(age, cli_when_now_ns(), &w->before_ns, err);
    if (r < 0)
        return r;
    r = library_list(buf_str(&w->home), &all, choose_old, w, &listed, err);
    if (!r)
        cli_say_index(w->self, &listed.why);
    return r;
}

static void
fail(struct work *w, int r, const char *text)
{
    cli_say(w->self, "%s", text);
    if (!w->worst)
        w->worst = (int)cli_exit_status(r);
}

/* One that cannot be found does not keep the others from it. */
static int
choose_sessions(struct work *w, int count, char **sessions, struct err *err)
{
    w->is_named = count > 0;
    if (!count)
        return choose_all(w, err);
    for (int i = 0; i < count; i++) {
        int r = choose_named(w, sessions[i], err);
        if (r < 0)
            fail(w, r, err->text);
    }
    return 0;
}

/* -- what came of it -- */

static void
on_tell(void *ctx, const char *text)
{
    struct work *w = ctx;
    cli_progress_tell(&w->progress, text);
}

static void
on_step(void *ctx, uint64_t done, uint64_t total)
{
    struct work *w = ctx;
    cli_progress_step(&w->progress, done, total);
}

static const char *
state_of(const struct work *w, int r, const struct library_archived *a)
{
    return r == ERR_BUSY      ? "busy"
           : r < 0            ? "failed"
           : !a->has_any      ? "nothing"
           : !a->files        ? (w->args->is_undo ? "plain" : "archived")
           : w->args->is_undo ? (w->args->is_dry_run ? "would_unpack" : "unpacked")
                              : (w->args->is_dry_run ? "would_archive" : "archived");
}

static void
put_numbers(struct work *w, const struct library_archived *a)
{
    struct json *j = &w->json;
    json_key(j, "files"), json_u64(j, a->files);
    json_key(j, "before"), json_u64(j, a->before);
    json_key(j, "after");
    if (w->args->is_dry_run)
        json_none(j);
    else
        json_u64(j, a->after);
}

static void
json_one(struct work *w, const struct chosen *c, int r, const struct library_archived *a,
         const char *error)
{
    struct json *j = &w->json;
    json_open(j, '{');
    json_key(j, "id"), json_str(j, c->id);
    json_key(j, "name"), json_str_or_none(j, *c->name ? c->name : NULL);
    json_key(j, "state"), json_str(j, state_of(w, r, a));
    put_numbers(w, a);
    json_key(j, "failed"), json_u64(j, a->failed);
    json_key(j, "error"), json_str_or_none(j, error);
    json_close(j, '}');
}

static void
put_sizes(struct work *w, const struct library_archived *a)
{
    struct buf *out = &w->text;
    cli_count(out, a->files, "file");
    buf_puts(out, ", ");
    buf_put_grouped(out, a->before);
    if (!w->args->is_dry_run) {
        buf_puts(out, " -> ");
        buf_put_grouped(out, a->after);
    }
    buf_puts(out, " bytes");
}

static void
text_one(struct work *w, const struct chosen *c, const struct library_archived *a)
{
    struct buf *out = &w->text;
    char name[NAME_BYTES + 1];
    if (!a->files && !w->is_named)
        return; /* nothing to do, and nobody has asked */
    memcpy(name, c->name, sizeof(name));
    buf_puts(out, c->id);
    if (*name)
        buf_printf(out, " (%s)", cli_clean(name));
    buf_puts(out, ": ");
    if (a->files)
        put_sizes(w, a);
    else if (a->has_any)
        buf_puts(out, w->args->is_undo ? "nothing of it is archived"
                                       : "it is archived already");
    else
        buf_puts(out, "there is nothing to archive: only runs have journals, and "
                      "recordings are compressed already");
    buf_puts(out, "\n");
}

/* How many times smaller, in hundredths. */
static uint64_t
ratio_of(const struct work *w)
{
    uint64_t plain = w->args->is_undo ? w->all.after : w->all.before;
    uint64_t packed = w->args->is_undo ? w->all.before : w->all.after;
    return packed && plain < UINT64_MAX / 100 ? plain * 100 / packed : 0;
}

static void
text_total(struct work *w)
{
    struct buf *out = &w->text;
    uint64_t ratio = ratio_of(w);
    if (!w->all.files) {
        if (!w->is_named)
            buf_puts(out, "nothing to do\n");
        return;
    }
    buf_puts(out, "in all: ");
    cli_count(out, w->sessions, "session");
    buf_puts(out, ", ");
    put_sizes(w, &w->all);
    if (ratio && !w->args->is_dry_run)
        buf_printf(out, ", ratio %.2f", (double)ratio / 100);
    buf_puts(out, "\n");
}

static void
json_total(struct work *w)
{
    struct json *j = &w->json;
    char ratio[32];
    json_close(j, ']');
    json_key(j, "dry_run"), json_bool(j, w->args->is_dry_run);
    put_numbers(w, &w->all);
    json_key(j, "ratio");
    int n = snprintf(ratio, sizeof(ratio), "%.2f", (double)ratio_of(w) / 100);
    if (ratio_of(w))
        json_raw(j, (struct view){ (const uint8_t *)ratio, (size_t)n });
    else
        json_none(j);
    json_close(j, '}');
    buf_puts(&w->text, "\n");
}

static int
print(struct work *w, struct err *err)
{
    int r = w->text.failed ? w->text.failed
                           : file_write_all(STDOUT_FILENO, w->text.p, w->text.n);
    buf_clear(&w->text);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* -- the command -- */

/* Of those that nobody has named, one that is in use is left for the next time. */
static int
take(struct work *w, const struct chosen *c, struct err *err)
{
    const struct library_archive opt = { .is_undo = w->args->is_undo,
                                         .is_dry_run = w->args->is_dry_run,
                                         .redact = w->redact,
                                         .tell = on_tell,
                                         .step = on_step,
                                         .ctx = w,
                                         .counted = &w->counted };
    struct library_archived a;
    struct err why = { 0 };
    cli_progress_begin(&w->progress, w->self, c->id);
    int r = library_archive(buf_str(&w->home), c->id, &opt, &a, &why);
    cli_progress_end(&w->progress);
    bool is_passed = !w->is_named && (r == ERR_BUSY || r == ERR_MISSING);
    w->busy += is_passed && r == ERR_BUSY;
    if (r < 0 && !is_passed)
        fail(w, r, why.text);
    w->sessions += a.files > 0;
    w->all.files += a.files;
    w->all.before += a.before;
    w->all.after += a.after;
    bool is_told = a.files || r < 0 || w->is_named;
    if (w->args->is_json && is_told)
        json_one(w, c, r, &a, r < 0 ? why.text : NULL);
    else if (!w->args->is_json && (r >= 0 || a.files))
        text_one(w, c, &a);
    return w->args->is_json ? 0 : print(w, err);
}

static int
take_all(struct work *w, struct err *err)
{
    const struct chosen *chosen = (const void *)w->chosen.p;
    size_t count = w->chosen.n / sizeof(*chosen);
    int r = 0;
    w->json.out = &w->text;
    w->text.ceiling = SIZE_MAX;
    if (w->args->is_json) {
        json_open(&w->json, '{');
        json_key(&w->json, "sessions"), json_open(&w->json, '[');
    }
    for (size_t i = 0; !r && i < count; i++)
        r = take(w, &chosen[i], err);
    if (w->busy)
        cli_say(w->self, "%" PRIu64 " session%s in use %s left alone", w->busy,
                w->busy == 1 ? "" : "s", w->busy == 1 ? "was" : "were");
    if (!r && w->args->is_json)
        json_total(w);
    else if (!r)
        text_total(w);
    return r < 0 ? r : print(w, err);
}

/* What is configured is for those that nobody has named, and unpacks nothing. */
static int
check(const struct args *a, int count, struct err *err)
{
    if (count && a->older_than.is_typed)
        return err_set(err, ERR_USAGE,
                       "--older-than is for all sessions: give it, or those you mean");
    if (!count && a->is_undo && !a->older_than.is_typed)
        return err_set(err, ERR_USAGE, "which sessions? name them, or give --older-than");
    return 0;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    AUTO(work) w = { .self = self, .args = &args, .home.ceiling = PATH_MAX };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    r = check(&args, count, err);
    if (!r)
        r = session_home(&w.home, err);
    if (!r)
        r = redact_own_open(&w.redact, NULL, err);
    if (!r)
        library_sweep(buf_str(&w.home));
    if (!r)
        r = choose_sessions(&w, count, argv, err);
    if (!r)
        r = take_all(&w, err);
    return r < 0 ? r : w.worst;
}

static const struct cli_option options[] = {
    { "older-than", 0, CLI_LIST, offsetof(struct args, older_than), "T",
      "all that ended before this time: 30d (the default), or a date", 0, 0 },
    { "undo", 0, CLI_FLAG, offsetof(struct args, is_undo), NULL,
      "unpack what is archived", 0, 0 },
    { "dry-run", 0, CLI_FLAG, offsetof(struct args, is_dry_run), NULL,
      "say what would be done", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { 0 },
};

const struct cli_command cli_archive = {
    "archive",
    "[SESSION…] [--older-than T] [--undo] [--dry-run] [--json]",
    "compress the journals of runs that have ended",
    options,
    run,
    false,
};
