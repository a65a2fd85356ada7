/* SPDX-License-Identifier: MIT */
/*
 * histories.c -- `ahr import` of what agents keep of their sessions.
 *
 * One that fails does not stop the others. What was wrong in a history is told when it is
 * read, each place with its line; what was read stays.
 */
#include "cli/histories.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/progress.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "gz/zstd.h"
#include "library/history.h"
#include "play/clean.h"
#include "play/import.h"
#include "redact/own.h"
#include "session/home.h"

enum { PEEK = 256 << 10, PLACES_TOLD = 5 };

struct all {
    const struct cli_histories *opt;
    struct journal_histories found;
    struct library_history_options import;
    struct library_history_ids ids;
    struct cli_progress progress;
    uint64_t done_bytes, all_bytes;
    uint64_t results[LIBRARY_HISTORY_RESULTS], others, failed;
    uint64_t events;
    bool is_damaged, is_given, is_named; /* is_named: each was given by its name */
    struct buf text;
    struct json json;
};

bool
cli_histories_is(const char *path)
{
    AUTO(buf) head = { .ceiling = PEEK };
    struct stat st;
    if (stat(path, &st) < 0)
        return false;
    if (!S_ISREG(st.st_mode)) /* a pipe's bytes come once */
        return S_ISDIR(st.st_mode);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    uint8_t *room = buf_grow(&head, PEEK);
    ssize_t n = room ? file_read(fd, room, PEEK) : 0;
    close(fd);
    struct view seen = { head.p, n > 0 ? (size_t)n : 0 }, first = {
        head.p, seen.n < PLAY_IMPORT_BEGINNING ? seen.n : PLAY_IMPORT_BEGINNING
    };
    if (play_import_guess(first)) /* a terminal may have shown a history */
        return false;
    return gz_zstd_fits(seen) || file_ends_in(path, ".jsonl.zst") ||
           library_history_guess(seen) != TURN_AUTO;
}

/* -- which -- */

static int
find(struct all *a, int count, char **paths, struct err *err)
{
    enum journal_keeper keeper = (enum journal_keeper)a->opt->agent;
    int r = count ? 0 : journal_histories_usual(&a->found, keeper, err);
    a->is_given = a->is_named = count > 0;
    for (int i = 0; !r && i < count; i++) {
        struct stat st;
        r = journal_histories_add(&a->found, paths[i], keeper, err);
        a->is_named = a->is_named && (stat(paths[i], &st) < 0 || !S_ISDIR(st.st_mode));
    }
    if (r < 0)
        return r;
    r = journal_histories_sort(&a->found);
    return r < 0 ? err_code(err, r, "cannot list histories") : 0;
}

/* By their last change. */
static int
leave_out_older(struct all *a, struct err *err)
{
    uint64_t since_ns = 0;
    int r = a->opt->since
                ? cli_when_parse(a->opt->since, cli_when_now_ns(), &since_ns, err)
                : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < a->found.count; i++)
        if (a->found.list[i].mtime_ns >= since_ns)
            a->all_bytes += a->found.list[i].bytes;
        else
            a->found.list[i].bytes = UINT64_MAX; /* not this one */
    return 0;
}

/* -- what came of one -- */

static const char *
file_of(const struct journal_history *h, uint32_t file)
{
    const char *path = h->path, *side = (const char *)h->sides.p;
    for (uint32_t i = 1; i <= file && side < (const char *)h->sides.p + h->sides.n; i++) {
        path = side;
        side += strlen(side) + 1;
    }
    return path;
}

/* Not all of it could be read. */
static bool
is_damage(unsigned wrong)
{
    return wrong == TURN_HISTORY_MALFORMED || wrong >= TURN_HISTORY_TROUBLES;
}

static uint64_t
damages_of(const struct library_history_done *d)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < LIBRARY_HISTORY_WRONGS; i++)
        n += is_damage(i) ? d->wrongs[i] : 0;
    return n;
}

static void
say_damages(struct all *a, const struct journal_history *h,
            const struct library_history_done *d)
{
    AUTO(buf) text = { 0 };
    uint64_t all = damages_of(d), told = 0;
    for (size_t i = 0; i < d->place_count && told < PLACES_TOLD; i++) {
        const struct library_history_place *p = &d->places[i];
        if (!is_damage(p->wrong))
            continue;
        told++;
        buf_clear(&text);
        buf_printf(&text, "'%s': line %" PRIu64 " (byte %" PRIu64 ") %s%s",
                   file_of(h, p->file), p->line, p->offset,
                   p->wrong == TURN_HISTORY_MALFORMED ? "has " : "",
                   library_history_wrong_name(p->wrong));
        cli_progress_tell(&a->progress, buf_str(&text));
    }
    buf_clear(&text);
    if (all <= told)
        return;
    buf_printf(&text, "'%s': %" PRIu64 " places in all; --json has more of them", h->path,
               all);
    cli_progress_tell(&a->progress, buf_str(&text));
}

/* What is odd about its lines, and costs nothing: where it was asked for by its name. */
static void
say_oddities(struct all *a, const struct journal_history *h,
             const struct library_history_done *d)
{
    AUTO(buf) text = { 0 };
    for (unsigned i = 0; a->is_named && i < LIBRARY_HISTORY_WRONGS; i++) {
        if (is_damage(i) || !d->wrongs[i])
            continue;
        buf_clear(&text);
        buf_printf(&text, "'%s': %" PRIu64 " %s: %s", h->path, d->wrongs[i],
                   d->wrongs[i] == 1 ? "line" : "lines", library_history_wrong_name(i));
        cli_progress_tell(&a->progress, buf_str(&text));
    }
}

static void
say_places(struct all *a, const struct journal_history *h,
           const struct library_history_done *d)
{
    AUTO(buf) text = { 0 };
    say_damages(a, h, d);
    say_oddities(a, h, d);
    if (!d->unfinished)
        return;
    buf_printf(&text,
               "'%s': its last line is not finished: %" PRIu64
               " bytes are left for the next import",
               h->path, d->unfinished);
    cli_progress_tell(&a->progress, buf_str(&text));
}

static void
put_places(struct json *j, const struct journal_history *h,
           const struct library_history_done *d)
{
    json_key(j, "places");
    json_open(j, '[');
    for (size_t i = 0; i < d->place_count; i++) {
        const struct library_history_place *p = &d->places[i];
        json_open(j, '{');
        json_key(j, "path"), json_str(j, file_of(h, p->file));
        json_key(j, "line"), json_u64(j, p->line);
        json_key(j, "offset"), json_u64(j, p->offset);
        json_key(j, "what"), json_str(j, library_history_wrong_key(p->wrong));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
put_json(struct all *a, const struct journal_history *h, struct library_history_done *d)
{
    struct json *j = &a->json;
    json_open(j, '{');
    json_key(j, "id"), json_str(j, d->id);
    json_key(j, "result"), json_str(j, library_history_result_name(d->result));
    if (d->why.n)
        json_key(j, "why"), json_str(j, buf_str(&d->why));
    json_key(j, "agent"), json_str(j, turn_agent_name(d->agent));
    json_key(j, "agent_session_id"),
        json_str_or_none(j, d->agent_session_id.n ? buf_str(&d->agent_session_id) : NULL);
    json_key(j, "path"), json_str(j, h->path);
    json_key(j, "bytes"), json_u64(j, d->bytes);
    json_key(j, "events"), json_u64(j, d->events);
    json_key(j, "all_events"), json_u64(j, d->all_events);
    for (unsigned i = 0; i < LIBRARY_HISTORY_WRONGS; i++)
        json_key(j, library_history_wrong_key(i)), json_u64(j, d->wrongs[i]);
    json_key(j, "unfinished_bytes"), json_u64(j, d->unfinished);
    put_places(j, h, d);
    json_close(j, '}');
}

/* What was not skipped or unchanged, on stdout. */
static int
print(struct all *a, const struct journal_history *h, struct library_history_done *d,
      struct err *err)
{
    AUTO(buf) path = { 0 };
    bool is_news = d->result != LIBRARY_HISTORY_SKIPPED &&
                   d->result != LIBRARY_HISTORY_UNCHANGED;
    play_clean((struct view){ (const uint8_t *)h->path, strlen(h->path) }, true, &path);
    if (a->opt->is_json)
        put_json(a, h, d);
    else if (is_news && a->opt->is_dry_run)
        buf_printf(&a->text, "%-9s %-7s %s %s\n", library_history_result_name(d->result),
                   turn_agent_name(d->agent), d->id, buf_str(&path));
    else if (is_news)
        buf_printf(&a->text, "%s\n", d->id);
    int r = a->text.failed;
    if (!r) {
        cli_progress_end(&a->progress);
        r = file_write_all(STDOUT_FILENO, a->text.p, a->text.n);
    }
    buf_clear(&a->text);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* -- all -- */

static void
step(void *ctx, uint64_t bytes)
{
    struct all *a = ctx;
    a->done_bytes += bytes;
    cli_progress_step(&a->progress, a->done_bytes, a->all_bytes);
}

static bool
is_stopped(void *ctx)
{
    const struct all *a = ctx;
    return a->opt->is_stopped && a->opt->is_stopped(NULL);
}

static int
take_failure(struct all *a, int r, struct err *own, struct err *err)
{
    if (r == ERR_MISSING && !a->is_named) {
        a->others++;
        return 0;
    }
    if (r == -EINTR || r == -ENOSPC || r == -ENOMEM || r == -EDQUOT)
        return err_set(err, r, "%s", own->text);
    a->failed++;
    cli_progress_tell(&a->progress, own->text);
    return 0;
}

static int
import_one(struct all *a, const struct journal_history *h, struct err *err)
{
    AUTO(library_history_done) done = { 0 };
    struct err own = { 0 };
    uint64_t before = a->done_bytes;
    int r = library_history_import(h, &a->import, &done, &own);
    a->done_bytes = before + h->bytes;
    if (r < 0)
        return take_failure(a, r, &own, err);
    a->results[done.result]++;
    a->events += done.events;
    a->is_damaged |= damages_of(&done) > 0;
    if (done.result == LIBRARY_HISTORY_SKIPPED && (a->is_named || !done.is_usual)) {
        AUTO(buf) text = { 0 };
        buf_printf(&text, "'%s' was skipped: %s", h->path, buf_str(&done.why));
        cli_progress_tell(&a->progress, buf_str(&text));
    }
    if (!a->opt->is_json)
        say_places(a, h, &done);
    return print(a, h, &done, err);
}

static int
import_all(struct all *a, struct err *err)
{
    int r = 0;
    if (a->opt->is_json)
        json_open(&a->json, '[');
    for (size_t i = 0; !r && i < a->found.count; i++) {
        if (is_stopped(a))
            r = err_set(err, -EINTR, "stopped; what is imported stays");
        else if (a->found.list[i].bytes != UINT64_MAX)
            r = import_one(a, &a->found.list[i], err);
    }
    cli_progress_end(&a->progress);
    if (!a->opt->is_json)
        return r;
    json_close(&a->json, ']');
    buf_puts(&a->text, "\n");
    int told = file_write_all(STDOUT_FILENO, a->text.p, a->text.n);
    if (!r && told < 0)
        r = err_code(err, told, "cannot write to standard output");
    return r;
}

static void
say_sum(const struct all *a)
{
    AUTO(buf) text = { 0 };
    for (size_t i = 0; i < LIBRARY_HISTORY_RESULTS; i++)
        if (a->results[i])
            buf_printf(&text, "%s%" PRIu64 " %s", text.n ? ", " : "", a->results[i],
                       library_history_result_name((enum library_history_result)i));
    if (a->failed)
        buf_printf(&text, "%s%" PRIu64 " failed", text.n ? ", " : "", a->failed);
    if (a->found.left_out)
        buf_printf(&text, "%s%" PRIu64 " too many and left out", text.n ? ", " : "",
                   a->found.left_out);
    if (!text.n)
        cli_say(a->opt->self, "no histories were found%s",
                a->opt->since   ? " that have changed since then"
                : a->is_given   ? " there"
                : a->opt->agent ? ""
                                : ": give a file or a folder");
    else
        cli_say(a->opt->self, "%shistories: %s",
                a->opt->is_dry_run ? "would import: " : "", buf_str(&text));
}

/* Readers of the library see all of it at once; searching needs the index. */
static void
index_later(const struct all *a)
{
    bool has_news = a->results[LIBRARY_HISTORY_NEW] ||
                    a->results[LIBRARY_HISTORY_GROWN] ||
                    a->results[LIBRARY_HISTORY_REPLACED];
    if (has_news && !a->opt->is_dry_run)
        cli_index_later(a->opt->upkeep, a->import.home, "--all");
}

static void
all_release(struct all *a)
{
    journal_histories_release(&a->found);
    buf_release(&a->text);
    library_history_ids_release(&a->ids);
    if (a->import.redact)
        redact_close(a->import.redact);
}

int
cli_histories(const struct cli_histories *opt, int count, char **paths, struct err *err)
{
    AUTO(all) a = { .opt = opt };
    AUTO(buf) home = { .ceiling = PATH_MAX };
    a.json = (struct json){ .out = &a.text };
    int r = session_home(&home, err);
    if (!r)
        r = find(&a, count, paths, err);
    if (!r)
        r = leave_out_older(&a, err);
    if (!r)
        r = redact_own_open(&a.import.redact, NULL, err);
    if (r < 0)
        return r;
    a.import.home = buf_str(&home);
    a.import.ids = &a.ids;
    a.import.is_dry_run = opt->is_dry_run;
    a.import.step = step;
    a.import.is_stopped = is_stopped;
    a.import.ctx = &a;
    int lock = opt->is_dry_run ? -1 : library_history_lock(a.import.home, err);
    if (lock < 0 && !opt->is_dry_run)
        return lock;
    cli_progress_begin(&a.progress, opt->self, "histories");
    r = import_all(&a, err);
    if (a.results[LIBRARY_HISTORY_NEW] && !opt->is_dry_run) {
        int synced = library_history_sync(a.import.home, r < 0 ? NULL : err);
        r = r < 0 ? r : synced;
    }
    index_later(&a);
    if (lock >= 0)
        close(lock);
    if (r < 0)
        return r;
    if (!opt->is_json)
        say_sum(&a);
    return a.failed ? CLI_FAILED : a.is_damaged ? CLI_DAMAGED : CLI_DONE;
}
