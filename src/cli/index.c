/* SPDX-License-Identifier: MIT */
/* ahr index: sessions into the library, so that they are listed at once and searched. */
#include "library/index.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cli/indexed.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "library/keyframes.h"
#include "redact/own.h"
#include "session/home.h"

struct index {
    struct cli_indexed out;
    bool is_all;
    struct buf home;
    struct store *store;
    struct redact *redact;
};

/* A file has no place in the library, and what is recorded gets its one at its end. */
static int
find_id(const char *what, char ret_id[SESSION_ID_LEN + 1], struct err *err)
{
    AUTO(library_found) found = { 0 };
    int r = cli_find(NULL, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_USAGE,
                       "'%s' is a file; only sessions of the library are indexed "
                       "('ahr import' brings other recordings there)",
                       what);
    if (found.is_live)
        return err_set(err, ERR_BUSY, "session '%s' has not ended yet", what);
    memcpy(ret_id, found.id, sizeof(found.id));
    return 0;
}

static int
index_one(struct index *x, const char *what, struct err *err)
{
    struct cli_progress progress;
    struct tape_progress step = { cli_progress_step, &progress };
    struct library_indexed done = { 0 };
    char id[SESSION_ID_LEN + 1];
    cli_progress_begin(&progress, x->out.self, what);
    int r = 0;
    if (session_id_is(what) && !cli_is_live(what)) /* gone, it is to be taken out */
        memcpy(id, what, sizeof(id));
    else
        r = find_id(what, id, err);
    if (!r)
        r = library_index(x->store, buf_str(&x->home), id, LIBRARY_WAIT_MS, x->redact,
                          &step, &done, err);
    cli_progress_end(&progress);
    cli_indexed_add(&x->out, r < 0 ? what : id, r, &done, err);
    return r;
}

static int
open_all(struct index *x, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    int r = session_home(&x->home, err);
    if (!r)
        r = redact_own_open(&x->redact, NULL, err);
    if (r < 0)
        return r;
    if (access(buf_str(&x->home), F_OK) < 0 && errno == ENOENT)
        return x->is_all ? 0 /* there was no session ever */
                         : err_set(err, ERR_MISSING, "there is no session in '%s'",
                                   buf_str(&x->home));
    r = library_db_path(buf_str(&x->home), &path);
    if (r < 0)
        return err_code(err, r, "cannot open the library");
    return store_open(&x->store, buf_str(&path), STORE_WRITE, LIBRARY_WAIT_INDEX_MS, err);
}

static int
index_all(struct index *x, struct err *err)
{
    struct cli_progress progress;
    cli_progress_begin(&progress, x->out.self, "sessions");
    x->out.progress = &progress;
    int r = library_index_pending(x->store, buf_str(&x->home), LIBRARY_WAIT_MS, x->redact,
                                  cli_indexed_each, &x->out, err);
    cli_progress_end(&progress);
    x->out.progress = NULL;
    return r;
}

/* Who replays a long session first does not wait for them, then. */
static void
make_keyframes(struct index *x)
{
    for (size_t at = 0; at < x->out.done.n; at += SESSION_ID_LEN + 1)
        (void)library_keyframes_make(buf_str(&x->home), (const char *)x->out.done.p + at,
                                     NULL);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct index x = { .out.self = self, .home.ceiling = PATH_MAX };
    int count, r = cli_parse(self, argc, argv, &x, &count, err);
    if (r)
        return r;
    if (x.is_all == (count > 0))
        return err_set(err, ERR_USAGE, "give sessions, or --all; see 'ahr index -h'");
    r = open_all(&x, err);
    if (!r) {
        cli_indexed_begin(&x.out, x.is_all || count > 1);
        if (x.is_all && x.store)
            r = index_all(&x, err);
        if (!r && x.is_all && !x.out.sessions && !x.out.worst && !x.out.is_quiet)
            cli_say(self, "nothing to index");
        for (int i = 0; i < count; i++)
            index_one(&x, argv[i], err);
        int e = cli_indexed_end(&x.out, err);
        r = r < 0 ? r : e;
        store_close(x.store);
        make_keyframes(&x);
    }
    redact_close(x.redact);
    buf_release(&x.out.done);
    buf_release(&x.home);
    return r;
}

static const struct cli_option options[] = {
    { "all", 0, CLI_FLAG, offsetof(struct index, is_all), NULL,
      "every session that is not indexed yet", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct index, out.is_json), NULL, "print JSON", 0,
      0 },
    { "quiet", 'q', CLI_FLAG, offsetof(struct index, out.is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_index = {
    "index",
    "[SESSION…] [--all] [--json] [-q]",
    "put sessions into the library's index",
    options,
    run,
    false,
};
