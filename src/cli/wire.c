/* SPDX-License-Identifier: MIT */
/* ahr wire: what went over the wire in a session. */
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "calls/har.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/wire_print.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/lines.h"
#include "session/meta.h"

struct args {
    bool is_json, is_har;
    uint64_t call; /* 0: all */
};

enum { LOT = 1 << 20 };

struct wire {
    const struct cli_command *self;
    const char *what;
    struct calls *calls;
    bool is_cut;    /* it is archived, and cannot be read to its end */
    size_t unended; /* calls, though nobody records them any more */
    bool is_left;   /* its recorder was killed, and it is not recovered yet */
    uint64_t start_ns;
};

/* Does somebody record it? Else what has no end will have none, recovered or not. */
static bool
is_recorded(const struct library_found *found)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct err err;
    return found->is_live && session_home(&home, &err) == 0 &&
           session_folder_is_held(buf_str(&home), found->id);
}

static int
open_wire(struct wire *w, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct library_found found = { 0 };
    struct session_facts facts = { 0 };
    int r = cli_find(w->self, &found, w->what, err);
    if (!r)
        r = session_sibling_path(buf_str(&found.tape_path), SESSION_WIRE, &path);
    if (!r && session_meta_read(buf_str(&found.meta_path), &facts, NULL) == 0)
        w->start_ns = facts.started_at_ns;
    bool goes_on = is_recorded(&found), is_left = found.is_live && !goes_on;
    library_found_release(&found);
    if (r < 0)
        return r;
    if (!calls_exist(buf_str(&path)))
        return err_set(err, ERR_MISSING,
                       "nothing was recorded of the wire in '%s'; 'ahr record --wire', "
                       "'ahr run --wire' and 'ahr proxy' do",
                       w->what);
    r = calls_open(&w->calls, buf_str(&path), &w->is_cut, err);
    w->is_left = is_left;
    if (!r && !goes_on)
        w->unended = calls_settle(w->calls);
    return r;
}

int
cli_wire_write(struct buf *text, struct err *err)
{
    int r = text->failed ? text->failed : file_write_all(STDOUT_FILENO, text->p, text->n);
    buf_clear(text);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* -- HAR -- */

static int
print_har(struct wire *w, size_t from, size_t to, struct err *err)
{
    AUTO(buf) text = { .ceiling = (size_t)3 << 30 };
    struct calls_har har;
    struct calls_whole whole;
    int r = 0;
    calls_har_begin(&har, w->what, &text);
    for (size_t i = from; i < to && !r; i++) {
        r = calls_get(w->calls, i, &whole, err);
        if (!r)
            r = calls_har_entry(&har, &whole);
        if (r < 0)
            return err->text[0] ? r : err_code(err, r, "cannot tell of a call");
        if (text.n >= LOT)
            r = cli_wire_write(&text, err);
    }
    calls_har_end(&har);
    return r < 0 ? r : cli_wire_write(&text, err);
}

/* -- one call -- */

static int
print_call(struct wire *w, const struct args *a, struct err *err)
{
    struct calls_whole whole;
    size_t i = calls_find(w->calls, a->call);
    if (i == SIZE_MAX)
        return err_set(err, ERR_MISSING,
                       "there is no call %" PRIu64 " in '%s'; it has %zu", a->call,
                       w->what, calls_count(w->calls));
    if (a->is_har)
        return print_har(w, i, i + 1, err);
    int r = calls_get(w->calls, i, &whole, err);
    if (r < 0)
        return r;
    r = a->is_json ? cli_wire_json_whole(&whole, w->start_ns, err)
                   : cli_wire_call(&whole, err);
    if (r < 0 || !calls_is_damaged(&whole))
        return r;
    return err_set(err, ERR_DAMAGED, "parts of call %" PRIu64 " are missing", a->call);
}

/* What could be read was delivered. */
static int
tell_damage(const struct wire *w, struct err *err)
{
    AUTO(buf) text = { 0 };
    uint64_t bad = calls_bad_lines(w->calls);
    if (w->is_cut)
        return err_set(err, ERR_DAMAGED,
                       "its record is damaged: not all of it can be read");
    cli_count(&text, bad ? bad : w->unended, bad ? "line" : "call");
    if (bad)
        return err_set(err, ERR_DAMAGED, "%s of its record %s damaged", buf_str(&text),
                       bad == 1 ? "is" : "are");
    if (w->unended)
        return err_set(err, ERR_DAMAGED, "its record ends before %s did%s",
                       buf_str(&text), w->is_left ? "; 'ahr recover' completes it" : "");
    return 0;
}

static int
print(struct wire *w, const struct args *a, struct err *err)
{
    int r = a->call      ? print_call(w, a, err)
            : a->is_har  ? print_har(w, 0, calls_count(w->calls), err)
            : a->is_json ? cli_wire_json(w->calls, w->start_ns, err)
                         : cli_wire_table(w->calls, err);
    return r < 0 ? r : tell_damage(w, err);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    struct wire w = { .self = self, .what = count ? argv[0] : "last" };
    if (r)
        return r;
    if (count > 1)
        return err_set(err, ERR_USAGE, "unexpected '%s'", argv[1]);
    if (args.is_json && args.is_har)
        return err_set(err, ERR_USAGE, "--json and --har do not go together");
    err->text[0] = 0;
    r = open_wire(&w, err);
    if (!r)
        r = print(&w, &args, err);
    calls_close(w.calls);
    return r < 0 ? r : CLI_DONE;
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL,
      "as a JSON array; of one call all there is", 0, 0 },
    { "har", 0, CLI_FLAG, offsetof(struct args, is_har), NULL,
      "as an HTTP Archive (HAR 1.2)", 0, 0 },
    { "call", 0, CLI_NUMBER, offsetof(struct args, call), "N", "this call alone, whole",
      1, INT64_MAX },
    { 0 },
};

const struct cli_command cli_wire = {
    "wire",
    "[SESSION] [--json] [--har] [--call N]",
    "the calls of model APIs that a session has recorded",
    options,
    run,
    false,
};
