/* SPDX-License-Identifier: MIT */
/* ahr search: a text in all sessions, the newest first. */
#include "library/search.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/filters.h"
#include "cli/hits.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/index.h"
#include "library/recover.h"
#include "session/home.h"

enum {
    QUERY_MAX = 16 << 20, /* no line is as long */
    WAIT_MS = 10000,      /* for a library that somebody else has locked */
    LIMIT = 20,
};

struct args {
    const char *session, *since;
    struct cli_filters filters;
    bool is_regex, is_json;
    uint64_t limit;
    int upkeep;
};

struct run {
    const struct cli_command *self;
    const struct args *args;
    struct buf home, query;
    struct library_found only; /* --session; zeroed: all */
    struct store *store;       /* NULL: there is no library yet */
    struct library_listed listed;
    uint64_t live; /* that are being recorded */
    struct library_search search;
    struct library_searched done;
    struct cli_hits hits;
    struct cli_progress progress;
    /* The session of the last hit. */
    char id[SESSION_ID_LEN + 1];
    struct buf name;
    uint64_t start_ns;
};

/* -- what is asked -- */

/* As it comes, but for the newline that `echo` puts behind it. */
static int
read_query(struct buf *query, struct err *err)
{
    int e = file_read_all(STDIN_FILENO, query);
    if (e == ERR_LIMIT)
        return err_set(err, ERR_USAGE, "the query is too long: at most %d bytes",
                       QUERY_MAX);
    if (e < 0)
        return err_code(err, e, "cannot read the query from standard input");
    if (query->n && query->p[query->n - 1] == '\n')
        query->n--;
    return 0;
}

static int
find_only(struct run *r, struct err *err)
{
    const char *session;
    int e = cli_session_choice(r->self, r->args->session, 0, NULL, &session, err);
    if (e || !session)
        return e;
    e = cli_find(NULL, &r->only, session, err);
    if (!e && !*r->only.id)
        e = err_set(err, ERR_USAGE,
                    "'%s' is not in the library; 'ahr import' and 'ahr export --format "
                    "txt' may help",
                    session);
    r->search.id = r->only.id;
    return e;
}

static int
understand(struct run *r, int count, char **operands, struct err *err)
{
    const struct args *args = r->args;
    int e = 0;
    if (count != 1)
        return err_set(err, ERR_USAGE, "%s; see 'ahr search -h'",
                       count ? "give one query; put it in quotes"
                             : "give what is to be looked for");
    r->query.ceiling = QUERY_MAX + 65536; /* read in lots of that */
    if (strcmp(operands[0], "-") != 0)
        e = buf_puts(&r->query, operands[0]);
    else if ((e = read_query(&r->query, err)) < 0)
        return e;
    if (e < 0)
        return err_code(err, e, "cannot search for so long a text");
    if (args->since && (e = cli_when_parse(args->since, cli_when_now_ns(),
                                           &r->search.since_ns, err)) < 0)
        return e;
    r->search.query = (struct view){ r->query.p, r->query.n };
    r->search.is_regex = args->is_regex;
    r->search.limit = args->limit;
    e = cli_filters_take(&args->filters, &r->search, err);
    return e < 0 ? e : find_only(r, err);
}

/* -- what is found -- */

/* A store_session_fn. */
static int
keep_session(void *ctx, const struct store_session *row)
{
    struct run *r = ctx;
    r->start_ns = row->started_at_ns;
    return row->name ? buf_puts(&r->name, row->name) : 0;
}

static int
look_up(struct run *r, const char *id)
{
    struct err ignored;
    if (!strcmp(r->id, id))
        return 0;
    buf_clear(&r->name);
    r->start_ns = 0;
    snprintf(r->id, sizeof(r->id), "%s", id);
    int e = store_session_get(r->store, id, keep_session, r, &ignored);
    return e == ERR_MISSING || e > 0 ? 0 : e;
}

/* A library_hit_fn. */
static int
take_hit(void *ctx, const struct library_hit *hit)
{
    struct run *r = ctx;
    cli_progress_end(&r->progress);
    int e = look_up(r, hit->id);
    if (!e)
        e = cli_hits_put(&r->hits, hit, r->name.n ? buf_str(&r->name) : NULL,
                         r->start_ns);
    return e < 0 ? e : 1;
}

static int
search(struct run *r, struct err *err)
{
    struct tape_progress progress = { cli_progress_step, &r->progress };
    r->search.home = buf_str(&r->home);
    r->search.progress = &progress;
    cli_hits_begin(&r->hits, r->args->is_json);
    cli_progress_begin(&r->progress, r->self, "looked through");
    int e = library_search(r->store, &r->search, take_hit, r, &r->done, err);
    cli_progress_end(&r->progress);
    if (e < 0 && !*err->text)
        err_code(err, e, "cannot print what was found");
    if (e < 0)
        return e;
    e = cli_hits_end(&r->hits);
    return e < 0 ? err_code(err, e, "cannot write to standard output") : 0;
}

/* -- what is said of it -- */

static void
tell_found(const struct run *r)
{
    const struct library_searched *d = &r->done;
    if (d->has_more)
        cli_say(r->self, "there is more: --limit 0 shows all, --limit N up to N");
    if (!d->hits && !d->is_given_up)
        cli_say(r->self, "nothing found");
    if (!d->hits)
        cli_filters_tell(&r->args->filters, r->self, r->store);
    if (d->is_given_up)
        cli_say(r->self,
                "given up: in %" PRIu64
                " lines this regex takes too long; a simpler one, "
                "or one with a word in it, can be found",
                d->hard_lines);
    else if (d->hard_lines)
        cli_say(r->self,
                "in %" PRIu64 " of the lines this regex takes too long; they were passed "
                "over",
                d->hard_lines);
}

static void
tell_count(const struct run *r, uint64_t n, const char *state)
{
    AUTO(buf) text = { 0 };
    if (!n)
        return;
    cli_count(&text, n, "session");
    cli_say(r->self, "%s %s %s, and %s not searched", buf_str(&text),
            n == 1 ? "is" : "are", state, n == 1 ? "was" : "were");
}

static void
tell_unsearched(const struct run *r)
{
    struct err ignored;
    const char *called = cli_called(r->args->session, r->only.id);
    bool is_indexed = *r->only.id && r->store &&
                      store_session_get(r->store, r->only.id, NULL, NULL, &ignored) >= 0;
    if (r->only.is_live)
        cli_say(r->self, "session %s is being recorded; it can be searched at its end",
                called);
    else if (*r->only.id && !is_indexed)
        cli_say(r->self, "session %s is not indexed yet, and was not searched", called);
    if (*r->only.id)
        return;
    /* One that was cut off has to be recovered before it is indexed. */
    tell_count(r, r->listed.unindexed + r->listed.interrupted, "not indexed yet");
    tell_count(r, r->live, "being recorded");
}

/* -- the library -- */

static int
open_library(struct run *r, struct err *err)
{
    AUTO(buf) path = { 0 };
    int e = session_home(&r->home, err);
    if (e < 0)
        return e;
    e = library_db_path(buf_str(&r->home), &path);
    if (e < 0)
        return err_code(err, e, "cannot open the library");
    e = store_open(&r->store, buf_str(&path), STORE_READ, WAIT_MS, err);
    if (e == ERR_MISSING) {
        r->listed.why = *err;
        *err = (struct err){ 0 };
        return 0;
    }
    return e;
}

/* What is not in it yet. */
static void
count_pending(struct run *r)
{
    AUTO(buf) missing = { 0 }, gone = { 0 }, interrupted = { 0 };
    struct err ignored;
    if (library_pending(r->store, buf_str(&r->home), &missing, &gone, &ignored) >= 0) {
        r->listed.unindexed = missing.n / (SESSION_ID_LEN + 1);
        r->listed.gone = gone.n / (SESSION_ID_LEN + 1);
    }
    if (library_interrupted(&interrupted, &r->live, &ignored) >= 0)
        r->listed.interrupted = interrupted.n / (SESSION_ID_LEN + 1);
}

static void
release(struct run *r)
{
    store_close(r->store);
    library_found_release(&r->only);
    cli_hits_release(&r->hits);
    buf_release(&r->home);
    buf_release(&r->query);
    buf_release(&r->name);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .limit = LIMIT, .filters.in = -1 };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (e)
        return e;
    struct run r = { .self = self, .args = &args };
    e = understand(&r, count, argv, err);
    if (!e)
        e = open_library(&r, err);
    if (!e)
        e = search(&r, err);
    if (!e) {
        count_pending(&r);
        tell_found(&r);
        tell_unsearched(&r);
        cli_tend(args.upkeep, buf_str(&r.home), &r.listed);
    }
    bool is_given_up = r.done.is_given_up;
    release(&r);
    return e < 0 ? e : is_given_up ? CLI_FAILED : CLI_DONE;
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "look into this session alone", 0, 0 },
    { "since", 0, CLI_TEXT, offsetof(struct args, since), "TIME",
      "only in sessions that began at 2026-11-16, or 7d, 12h, 30m ago, or later", 0, 0 },
    { "in", 0, CLI_CHOICE, offsetof(struct args, filters.in), "all|turns|terminal",
      "look into everything, the conversations of runs, or rows of terminals (all)", 0,
      0 },
    { "role", 0, CLI_TEXT, offsetof(struct args, filters.role), "ROLE",
      "what user, assistant or tool says; another word: in sessions of that role", 0, 0 },
    { "agent", 0, CLI_TEXT, offsetof(struct args, filters.agent), "AGENT",
      "only in sessions of this agent: claude, codex, …", 0, 0 },
    { "tool", 0, CLI_TEXT, offsetof(struct args, filters.tool), "TOOL",
      "only in calls of this tool and what came of them", 0, 0 },
    { "regex", 0, CLI_FLAG, offsetof(struct args, is_regex), NULL,
      "QUERY is a regular expression, as Perl has them", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { "limit", 'n', CLI_NUMBER, offsetof(struct args, limit), "N",
      "at most N lines; 0: all (20)", 0, UINT64_MAX },
    CLI_UPKEEP_OPTION(
        struct args, upkeep,
        "whether to index in the background what is not indexed yet (auto)"),
    { 0 },
};

const struct cli_command cli_search = {
    "search",
    "QUERY [--session SESSION] [--since TIME] [--in all|turns|terminal] [--role ROLE] "
    "[--agent AGENT] [--tool TOOL] [--regex] [--json] [--limit N] [--upkeep auto|off]",
    "look for a text in all sessions, the newest first",
    options,
    run,
    false,
};
