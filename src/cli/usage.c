/* SPDX-License-Identifier: MIT */
/* ahr usage: the tokens that agents have used, and what they cost. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/config.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "cli/usage_print.h"
#include "cli/when.h"
#include "library/catch_up.h"
#include "library/recover.h"
#include "library/tend.h"
#include "session/home.h"

enum {
    WAIT_MS = 10000,      /* for a library that somebody else has locked */
    PRICES_MAX = 1 << 20, /* bytes of a list of prices */
};

struct args {
    bool is_json;
    int by; /* enum store_usage_by; -1: not given */
    const char *since, *prices;
    int upkeep;
};

struct run {
    const struct cli_command *self;
    const struct args *args;
    const char *what; /* SESSION; NULL: all */
    struct buf home;
    struct library_found only;
    struct store *store; /* NULL: there is no library yet */
    struct library_listed listed;
    uint64_t live;    /* that are being recorded */
    uint64_t repeats; /* messages of `only` that count elsewhere */
    enum store_usage_by by;
    struct store_usage_filter filter;
    struct turn_prices prices;
    struct cli_usage usage;
};

static void
release(struct run *r)
{
    store_close(r->store);
    library_found_release(&r->only);
    turn_prices_release(&r->prices);
    cli_usage_release(&r->usage);
    buf_release(&r->home);
}

/* -- prices -- */

static int
add_file(struct turn_prices *p, const char *path, bool is_needed, struct err *err)
{
    AUTO(buf) text = { .ceiling = PRICES_MAX };
    int r = file_slurp(path, &text);
    if (!is_needed && (r == -ENOENT || r == -ENOTDIR || r == -EACCES))
        return 0;
    if (r < 0)
        return err_code(err, r == ERR_LIMIT ? -EFBIG : r, "cannot read '%s'", path);
    return turn_prices_add(p, (struct view){ text.p, text.n }, path, err);
}

/* Those that come with ahr, below the user's, below those of --prices. A list that nobody
 * has asked for now does not keep the tokens from being told. */
static int
load_prices(struct run *r, struct err *err)
{
    const struct view builtin = { (const uint8_t *)turn_prices_builtin,
                                  turn_prices_builtin_size };
    char path[PATH_MAX];
    struct err bad;
    int e = turn_prices_add(&r->prices, builtin, "prices", err);
    if (!e && cli_config_path("prices", path) &&
        add_file(&r->prices, path, false, &bad) < 0)
        cli_say(r->self, "%s; the prices of this file are left out", bad.text);
    if (!e && r->args->prices)
        e = add_file(&r->prices, r->args->prices, true, err);
    return e;
}

/* -- what is asked -- */

static int
find_only(struct run *r, struct err *err)
{
    if (!r->what)
        return 0;
    int e = cli_find(NULL, &r->only, r->what, err);
    if (!e && !*r->only.id)
        e = err_set(err, ERR_USAGE,
                    "'%s' is not in the library, where usage is counted; 'ahr export' "
                    "tells it of a file",
                    r->what);
    r->filter.id = r->only.id;
    return e;
}

static int
understand(struct run *r, int count, char **operands, struct err *err)
{
    if (count > 1)
        return err_set(err, ERR_USAGE, "give one session at most; see 'ahr usage -h'");
    r->what = count ? operands[0] : NULL;
    r->by = r->args->by >= 0 ? (enum store_usage_by)r->args->by
            : r->what        ? STORE_BY_MODEL
                             : STORE_BY_DAY;
    int e = session_home(&r->home, err);
    if (!e && r->args->since)
        e = cli_when_parse_day(r->args->since, cli_when_now_ns(), &r->filter.since_day,
                               err);
    if (!e)
        e = load_prices(r, err);
    return e < 0 ? e : find_only(r, err);
}

/* -- the library -- */

static int
open_library(struct run *r, struct err *err)
{
    AUTO(buf) path = { 0 };
    int e = library_db_path(buf_str(&r->home), &path);
    if (e < 0)
        return err_code(err, e, "cannot open the library");
    e = store_open(&r->store, buf_str(&path), STORE_READ, WAIT_MS, err);
    if (e != ERR_MISSING)
        return e;
    *err = (struct err){ 0 };
    return 0;
}

static bool
has_only(struct run *r)
{
    struct err ignored;
    return r->store && store_session_get(r->store, r->only.id, NULL, NULL, &ignored) >= 0;
}

static int
index_only(struct run *r, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int e = buf_append(&ids, r->only.id, SESSION_ID_LEN + 1);
    store_close(r->store);
    r->store = NULL;
    if (!e)
        e = library_catch_up(buf_str(&r->home), &ids, WAIT_MS, err);
    return e < 0 ? e : open_library(r, err);
}

/* The one that is asked for is indexed now, if it is not yet. */
static int
need_only(struct run *r, struct err *err)
{
    int e = 0;
    const char *called = cli_called(r->what, r->only.id);
    if (!r->what || has_only(r))
        return 0;
    if (r->only.is_live)
        return err_set(err, ERR_BUSY,
                       "session '%s' has not ended; what it has used is counted then",
                       called);
    if (r->args->upkeep != CLI_UPKEEP_OFF)
        e = index_only(r, err);
    if (!e && !has_only(r))
        e = err_set(err, ERR_MISSING,
                    "session '%s' is not indexed yet; 'ahr index %s' does that", called,
                    r->only.id);
    return e;
}

static int
count_all(struct run *r, struct err *err)
{
    r->usage.prices = &r->prices;
    r->usage.total.sum.tokens = TURN_NO_USAGE;
    r->usage.total.sum.calls = TURN_UNKNOWN;
    int e = open_library(r, err);
    if (!e)
        e = need_only(r, err);
    if (e < 0 || !r->store)
        return e;
    e = store_usage(r->store, r->by, &r->filter, cli_usage_add, &r->usage, err);
    if (e < 0 && !*err->text)
        err_code(err, e, "cannot sum up what was used");
    if (e >= 0 && r->what)
        e = store_repeats(r->store, r->only.id, &r->repeats, err);
    if (r->by != STORE_BY_DAY && r->by != STORE_BY_SESSION)
        cli_usage_sort(&r->usage);
    return e < 0 ? e : 0;
}

/* -- what is said of it -- */

static int
print_json(struct run *r, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct json json = { .out = &text };
    uint64_t left_out = r->listed.unindexed + r->listed.interrupted + r->live;
    cli_usage_rows_json(&r->usage, r->by, left_out, &json);
    buf_puts(&text, "\n");
    int e = text.failed ? text.failed : file_write_all(STDOUT_FILENO, text.p, text.n);
    return e < 0 ? err_code(err, e, "cannot write to standard output") : 0;
}

static int
print(struct run *r, struct err *err)
{
    if (r->args->is_json)
        return print_json(r, err);
    if (!cli_usage_count(&r->usage)) {
        if ((isatty(STDERR_FILENO) || r->what) && !r->repeats)
            cli_say(r->self, "no tokens were told%s",
                    r->filter.since_day ? " in that time" : "");
        return 0;
    }
    return cli_usage_table(&r->usage, r->by, err);
}

static void
tell_count(const struct run *r, uint64_t n, const char *state, const char *more)
{
    AUTO(buf) text = { 0 };
    if (!n)
        return;
    cli_count(&text, n, "session");
    cli_say(r->self, "%s %s %s, and %s not counted%s", buf_str(&text),
            n == 1 ? "is" : "are", state, n == 1 ? "was" : "were", more);
}

static void
tell_repeats(const struct run *r)
{
    AUTO(buf) text = { 0 };
    if (!r->repeats)
        return;
    cli_count(&text, r->repeats, "message");
    cli_say(r->self, "%s of it %s in another session, too, and count%s there",
            buf_str(&text), r->repeats == 1 ? "is" : "are", r->repeats == 1 ? "s" : "");
}

/* What is not in it yet is seen to; how it comes to be there is told. */
static const char *
index_later(struct run *r)
{
    bool is_in_hand = r->args->upkeep != CLI_UPKEEP_OFF &&
                      library_tend(buf_str(&r->home), &r->listed) > 0;
    return is_in_hand                  ? "; that is being done now: ask again"
           : r->listed.interrupted > 0 ? "; 'ahr recover --all' does that"
                                       : "; 'ahr index --all' does that";
}

/* Which sessions are not counted. */
static void
look_for_others(struct run *r)
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
tell_others(struct run *r)
{
    tell_count(r, r->listed.unindexed + r->listed.interrupted, "not indexed yet",
               index_later(r));
    tell_count(r, r->live, "being recorded", "");
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .by = -1 };
    int count, e = cli_parse(self, argc, argv, &args, &count, err);
    if (e)
        return e;
    struct run r = { .self = self, .args = &args };
    e = understand(&r, count, argv, err);
    if (!e)
        e = count_all(&r, err);
    if (!e && !r.what)
        look_for_others(&r);
    if (!e)
        e = print(&r, err);
    if (!e) {
        tell_repeats(&r);
        if (!r.what)
            tell_others(&r);
    }
    release(&r);
    return e;
}

static const struct cli_option options[] = {
    { "by", 0, CLI_CHOICE, offsetof(struct args, by), "day|model|session|agent|project",
      "a row for each of these (day; of one session: model)", 0, 0 },
    { "since", 0, CLI_TEXT, offsetof(struct args, since), "T",
      "on this day (UTC) or later: a date, or 7d for so long ago", 0, 0 },
    { "prices", 0, CLI_TEXT, offsetof(struct args, prices), "FILE",
      "a list of prices that stands over those that are known", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "whether to index what is not indexed yet (auto)"),
    { 0 },
};

const struct cli_command cli_usage = {
    "usage",
    "[SESSION] [--by day|model|session|agent|project] [--since T] [--prices FILE] "
    "[--json]",
    "tell the tokens that agents have used, and what they cost",
    options,
    run,
    false,
};
