/* SPDX-License-Identifier: MIT */
/* ahr show: what is known of a session. */
#include <inttypes.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_in.h"
#include "base/num.h"
#include "calls/read.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/session_json.h"
#include "cli/show_tree.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/encrypt.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/home.h"
#include "session/lines.h"
#include "session/meta.h"
#include "snap/list.h"

enum {
    LABEL_WIDTH = 14,
    AUDIT_MAX = 1 << 20, /* bytes of the audit that are read */
};

struct args {
    bool is_json, is_tree;
    int upkeep;
};

struct shown {
    const char *home;
    const struct library_session *session;
    const char *tape_path;
    struct buf out;
};

/* -- rows of text -- */

static void
put_label(struct shown *s, const char *label)
{
    buf_printf(&s->out, "%-*s", LABEL_WIDTH, label);
}

/* A text that anybody may have written; NULL: no row. */
static void
put_row(struct shown *s, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    put_label(s, label);
    play_title(NULL, text, &s->out);
    buf_puts(&s->out, "\n");
}

static void
put_time(struct shown *s, const char *label, uint64_t ns)
{
    char text[64] = "";
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    if (ns && localtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
    put_row(s, label, text);
}

/* UINT64_MAX: not known. */
static void
put_count(struct shown *s, const char *label, uint64_t n)
{
    if (n == UINT64_MAX)
        return;
    put_label(s, label);
    cli_count(&s->out, n, NULL);
    buf_puts(&s->out, "\n");
}

static void
put_status(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    AUTO(buf) text = { 0 };
    buf_puts(&text, f->status ? f->status : "not known");
    if (s->session->is_held)
        buf_puts(&text, ", being recorded now");
    else if (f->signal)
        buf_printf(&text, " (SIG%s)", f->signal);
    else if (f->exit_code > 0)
        buf_printf(&text, " (exit %d)", f->exit_code);
    put_row(s, "status", buf_str(&text));
}

static void
put_branch(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    AUTO(buf) text = { 0 };
    if (f->branch_snapshot == UINT64_MAX)
        return;
    buf_printf(&text, "snapshot %" PRIu64, f->branch_snapshot);
    if (f->branch_byte != UINT64_MAX)
        buf_printf(&text, ", at byte %" PRIu64, f->branch_byte);
    put_row(s, "branched at", buf_str(&text));
}

static void
put_fork(struct shown *s)
{
    AUTO(buf) text = { 0 };
    if (s->session->facts.fork_turn == UINT64_MAX)
        return;
    cli_count(&text, s->session->facts.fork_turn, "turn");
    put_row(s, "forked after", buf_str(&text));
}

static void
put_duration(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    uint64_t end = s->session->is_held ? cli_when_now_ns() : f->ended_at_ns;
    if (!f->started_at_ns || end < f->started_at_ns)
        return;
    put_label(s, "duration");
    cli_duration(&s->out, end - f->started_at_ns);
    buf_puts(&s->out, "\n");
}

/* All that went in, and how much of it was cached. */
static void
put_tokens(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    put_count(s, "input tokens", f->input_tokens);
    put_count(s, "cache written", f->cache_creation_tokens);
    put_count(s, "cache read", f->cache_read_tokens);
    put_count(s, "output tokens", f->output_tokens);
    put_count(s, "model calls", f->calls);
}

static void
put_sizes(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    AUTO(buf) text = { 0 };
    if (f->cols && f->rows)
        buf_printf(&text, "%ux%u", f->cols, f->rows);
    put_row(s, "terminal", buf_str(&text));
    put_count(s, "bytes", f->bytes);
    put_label(s, "files");
    cli_size(&s->out, f->size_bytes);
    buf_puts(&s->out, "\n");
    put_count(s, "snapshots", f->snapshots);
    put_count(s, "instructions", f->instructions);
    if (s->session->is_indexed)
        put_count(s, "lines", f->lines);
    if (s->session->is_indexed)
        put_count(s, "events", f->turns);
    if (f->iterations)
        put_count(s, "iterations", f->iterations);
    put_tokens(s);
}

/* -- what was masked after the fact -- */

/* A line of session.audit.jsonl (library/rewrite.c): when, by what, how often. */
static void
put_audit_line(struct shown *s, struct view line)
{
    struct json_in in = { .p = line.p, .end = line.p + line.n };
    AUTO(buf) key = { .ceiling = AUDIT_MAX };
    AUTO(buf) time = { .ceiling = AUDIT_MAX };
    AUTO(buf) by = { .ceiling = AUDIT_MAX };
    struct view masked = { 0 };
    uint64_t places;
    bool is_first = true;
    if (!json_in_take(&in, '{'))
        return;
    while (json_in_each(&in, '}', &is_first) && json_in_key(&in, &key)) {
        const char *name = buf_str(&key);
        if (!strcmp(name, "time"))
            json_in_str(&in, &time);
        else if (!strcmp(name, "by"))
            json_in_str(&in, &by);
        else if (!strcmp(name, "masked"))
            json_in_number(&in, &masked);
        else
            json_in_skip(&in);
    }
    if (in.failed || num_parse(masked, UINT64_MAX, &places) < 0)
        return;
    buf_printf(&time, ", %s, ", buf_str(&by));
    cli_count(&time, places, "place");
    put_row(s, "redacted", buf_str(&time));
}

static void
put_audit(struct shown *s)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) text = { .ceiling = AUDIT_MAX };
    if (session_sibling_path(s->tape_path, "audit.jsonl", &path) < 0)
        return;
    (void)file_slurp(buf_str(&path), &text);
    for (size_t at = 0, n; at < text.n; at += n + 1) {
        const uint8_t *p = text.p + at, *end = memchr(p, '\n', text.n - at);
        n = end ? (size_t)(end - p) : text.n - at;
        put_audit_line(s, (struct view){ p, n });
    }
}

/* -- all -- */

static void
put_damage(struct shown *s)
{
    if (!s->session->facts.is_damaged)
        return;
    put_label(s, "damage");
    buf_printf(&s->out, "it could not be read whole; 'ahr verify %s' tells more\n",
               s->session->facts.id);
}

static bool
is_run(const struct shown *s)
{
    return s->session->facts.kind && !strcmp(s->session->facts.kind, "stream");
}

/* Of an agent's own, or of the proxy: there is no terminal to look at. */
static bool
is_talk(const struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    return f->kind &&
           ((!strcmp(f->kind, "import") && f->agent) || !strcmp(f->kind, "wire"));
}

static bool
has_wire(const struct shown *s)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return s->tape_path && session_sibling_path(s->tape_path, SESSION_WIRE, &path) == 0 &&
           calls_exist(buf_str(&path));
}

static bool
is_encrypted(const struct library_session *s)
{
    return s->facts.status &&
           !strcmp(s->facts.status, session_status_name(SESSION_ENCRYPTED));
}

/* What a killed encrypt or decrypt has left is not locked away. */
static void
put_vault(struct shown *s)
{
    AUTO(buf) vault = { .ceiling = PATH_MAX };
    AUTO(buf) left = { .ceiling = PATH_MAX };
    const char *id = s->session->facts.id;
    buf_printf(&vault, "%s/sessions/%s/" SESSION_VAULT, s->home, id);
    put_row(s, "vault", buf_str(&vault));
    if (library_encrypt_left(s->home, id, &left) <= 0)
        return;
    put_row(s, "left over", buf_str(&left));
    buf_printf(&s->out,
               "\nnot all of it is encrypted: 'ahr encrypt %s' or 'ahr decrypt %s', once "
               "more, ends what was broken off\n",
               id, id);
}

static void
put_hints(struct shown *s)
{
    const char *id = s->session->facts.id;
    bool is_held = s->session->is_held;
    buf_puts(&s->out, "\n");
    if (is_encrypted(s->session)) {
        buf_printf(&s->out, "ahr decrypt %s\n", id);
        return;
    }
    if (!is_held && !s->session->lost_pid && s->session->place == LIBRARY_LIVE)
        buf_printf(&s->out, "ahr recover %s\n", id);
    const char *status = s->session->facts.status ? s->session->facts.status : "";
    if (!is_held && !is_talk(s) &&
        !strcmp(status, session_status_name(SESSION_INTERRUPTED)))
        buf_printf(&s->out, "ahr resume %s\n", id);
    if (is_run(s))
        buf_printf(&s->out, "ahr log %s\n", id);
    if (has_wire(s))
        buf_printf(&s->out, "ahr wire %s\n", id);
    if (is_talk(s))
        buf_printf(&s->out, "ahr usage %s\nahr export %s -o session.html\n", id, id);
    else if (is_held && is_run(s))
        buf_printf(&s->out, "ahr watch %s\nahr send %s TEXT\nahr stop %s\n", id, id, id);
    else if (is_held)
        buf_printf(&s->out, "ahr watch %s\nahr attach %s\nahr stop %s\n", id, id, id);
    else
        buf_printf(&s->out, "ahr view %s\nahr replay %s\nahr export %s -o session.html\n",
                   id, id, id);
    if (snap_has(s->home, id))
        buf_printf(&s->out, "ahr fs list --session %s\n", id);
}

static void
put_text(struct shown *s)
{
    const struct store_session *f = &s->session->facts;
    put_row(s, "session", f->id);
    put_row(s, "name", f->name);
    put_status(s);
    put_row(s, "command", f->command);
    put_row(s, "folder", f->cwd);
    put_row(s, "role", f->role);
    put_row(s, "task", f->task);
    put_row(s, "kind", f->kind);
    put_row(s, "agent", f->agent);
    put_row(s, "model", f->model);
    put_row(s, "agent session", f->agent_session_id);
    put_row(s, "parent", f->parent);
    put_branch(s);
    put_fork(s);
    put_row(s, "resumed from", f->resumed_from);
    put_time(s, "started", f->started_at_ns);
    put_time(s, "ended", f->ended_at_ns);
    put_duration(s);
    put_sizes(s);
    put_damage(s);
    put_audit(s);
    if (is_encrypted(s->session))
        put_vault(s);
    else
        put_row(s, "recording", s->tape_path);
    put_row(s, "project files", s->session->facts.project);
    put_hints(s);
}

static int
print(struct shown *s, bool is_json, struct err *err)
{
    struct json json = { .out = &s->out };
    if (is_json) {
        cli_session_json(&json, s->home, s->session);
        buf_puts(&s->out, "\n");
    } else {
        put_text(s);
    }
    int r = s->out.failed ? s->out.failed
                          : file_write_all(STDOUT_FILENO, s->out.p, s->out.n);
    buf_release(&s->out);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* What looking at one session has shown to be undone. */
static struct library_listed
undone(const struct library_session *s, const struct err *why)
{
    bool is_stored = s->place == LIBRARY_SESSIONS;
    return (struct library_listed){
        .unindexed = is_stored && !s->is_indexed && !is_encrypted(s),
        .interrupted = s->place == LIBRARY_LIVE && !s->is_held && !s->lost_pid,
        .why = *why,
    };
}

static int
show(const struct cli_command *self, const struct args *a, const char *what,
     struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(library_found) found = { 0 };
    AUTO(library_session) session = { 0 };
    struct err why;
    int r = cli_find_any(self, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file, not a session of the library; 'ahr replay "
                       "--print-meta %s' tells what is in it",
                       what, what);
    r = session_home(&home, err);
    if (!r)
        r = library_look(&session, buf_str(&home), found.id, &why, err);
    if (r < 0)
        return r;
    if (!found.why.code)
        cli_say_index(self, &why);
    struct shown s = { .home = buf_str(&home),
                       .session = &session,
                       .tape_path = buf_str(&found.tape_path) };
    if (session.lost_pid)
        cli_say_lost(self, &session);
    r = a->is_tree ? cli_show_tree(buf_str(&home), found.id, a->is_json, err)
                   : print(&s, a->is_json, err);
    if (!r) {
        struct library_listed listed = undone(&session, &why);
        cli_tend(a->upkeep, buf_str(&home), &listed);
    }
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count > 1)
        return err_set(err, ERR_USAGE, "give one session at most; see 'ahr show -h'");
    return show(self, &a, count ? argv[0] : "last", err);
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { "tree", 0, CLI_FLAG, offsetof(struct args, is_tree), NULL,
      "print all sessions that it comes from, or that come from it", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "recover and index in the background what is not yet"),
    { 0 },
};

const struct cli_command cli_show = {
    "show",
    "[SESSION] [--json] [--tree]",
    "show what is known of a session",
    options,
    run,
    false,
};
