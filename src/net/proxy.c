/* SPDX-License-Identifier: MIT */
/* ahr proxy: a session of its own, or a cassette; serves until a signal. */
#include "wire/proxy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/signame.h"
#include "calls/read.h"
#include "cli/entire.h"
#include "cli/proxy.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "cli/wired.h"
#include "ipc/socket.h"
#include "net/net.h"
#include "redact/own.h"
#include "session/home.h"
#include "session/lines.h"
#include "wire/cassette.h"
#include "wire/session.h"

struct proxy {
    const struct cli_command *self;
    const struct cli_proxy_args *args;
    struct calls_upstreams upstreams;
    int listen_fd;
    char where[64]; /* "127.0.0.1:4711" */
    struct buf home;
    char cwd[PATH_MAX];
    struct wire_session session;
    bool has_session;
    struct cassette *cassette;
    struct redact *redact; /* of the cassette */
};

static int
check_args(const struct cli_proxy_args *a, int count, struct err *err)
{
    if (count)
        return err_set(err, ERR_USAGE, "it takes no operands; see 'ahr proxy -h'");
    if (a->replay && (a->upstream || a->ca_file))
        return err_set(err, ERR_USAGE,
                       "--replay asks no upstream: it does not go with "
                       "--upstream or --upstream-ca");
    const struct cli_wired wired = { !a->replay, a->upstream, a->ca_file };
    int r = cli_wired_check(&wired, err);
    return r < 0 ? r : cli_check_name(a->session, err);
}

/* -- where it serves -- */

static int
open_door(struct proxy *p, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct ipc_address at;
    struct err why;
    const char *told = p->args->listen ? p->args->listen : "127.0.0.1:0";
    buf_printf(&text, "tcp:%s", told);
    if (ipc_address_parse(&at, buf_str(&text), &why) < 0)
        return err_set(err, ERR_USAGE,
                       "--listen: '%s' is no HOST:PORT on loopback (127.0.0.1:0)", told);
    uint16_t port;
    p->listen_fd = ipc_listen_tcp(&at, &port, err);
    if (p->listen_fd < 0)
        return p->listen_fd;
    snprintf(p->where, sizeof(p->where), strchr(at.host, ':') ? "[%s]:%u" : "%s:%u",
             at.host, port);
    return 0;
}

/* A calls_variable_fn. */
static int
print_variable(void *ctx, const char *name, const char *value)
{
    (void)ctx;
    return printf("%s=%s\n", name, value) < 0 ? -EIO : 0;
}

/* A calls_variable_fn. */
static int
say_variable(void *ctx, const char *name, const char *value)
{
    const struct proxy *p = ctx;
    cli_say(p->self, "%s=%s", name, value);
    return 0;
}

/* Who has read it may ask, and may end us. */
static int
tell_env(void *ctx, struct err *err)
{
    struct proxy *p = ctx;
    if (!p->args->prints_env)
        return p->args->is_quiet ? 0
                                 : calls_upstreams_each_variable(
                                       &p->upstreams, environ, p->where, say_variable, p);
    int r = calls_upstreams_each_variable(&p->upstreams, environ, p->where,
                                          print_variable, p);
    if (r < 0 || fflush(stdout) != 0)
        return err_set(err, -EIO, "cannot write to standard output");
    return 0;
}

/* -- what it serves from -- */

static void
say(void *ctx, const char *text)
{
    const struct proxy *p = ctx;
    cli_say(p->self, "%s", text);
}

static int
open_session(struct proxy *p, struct wire_session_options *opt, struct err *err)
{
    const struct cli_proxy_args *a = p->args;
    if (!getcwd(p->cwd, sizeof(p->cwd)))
        return err_sys(err, "cannot tell the current folder");
    *opt = (struct wire_session_options){
        .home = buf_str(&p->home),
        .name = a->session,
        .cwd = p->cwd,
        .is_entire = cli_entire(p->self, a->entire, p->cwd),
        .is_indexed = a->upkeep != CLI_UPKEEP_OFF,
        .say = say,
        .ctx = p,
    };
    int r = wire_session_open(&p->session, opt, err);
    p->has_session = !r;
    if (!r && !a->is_quiet)
        cli_say(p->self, "session %s%s%s%s, at %s until a signal ends it",
                a->session ? a->session : p->session.id, a->session ? " (" : "",
                a->session ? p->session.id : "", a->session ? ")" : "", p->where);
    return r;
}

static int
open_cassette(struct proxy *p, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) told = { 0 };
    struct library_found found = { 0 };
    int r = cli_find(p->self, &found, p->args->replay, err);
    if (!r)
        r = session_sibling_path(buf_str(&found.tape_path), SESSION_WIRE, &path);
    library_found_release(&found);
    if (!r)
        r = redact_own_open(&p->redact, NULL, err);
    if (r < 0)
        return r;
    if (!calls_exist(buf_str(&path)))
        return err_set(err, ERR_MISSING, "nothing was recorded of the wire in '%s'",
                       p->args->replay);
    r = cassette_open(&p->cassette, buf_str(&path), p->redact, &told, err);
    if (r < 0)
        return r;
    cassette_on_miss(p->cassette, say, p);
    for (char *line = told.n ? (char *)told.p : NULL; line && *line;) {
        char *end = line + strcspn(line, "\n");
        cli_say(p->self, "%.*s", (int)(end - line), line);
        line = *end ? end + 1 : NULL;
    }
    if (!cassette_count(p->cassette))
        return told.n ? err_set(err, ERR_DAMAGED, "no call in '%s' can be answered",
                                p->args->replay)
                      : err_set(err, ERR_MISSING, "no call in '%s' was answered",
                                p->args->replay);
    return 0;
}

/* Those that are told, or that the cassette has. */
static int
list_upstreams(struct proxy *p, struct err *err)
{
    AUTO(buf) told = { 0 };
    char key[CALLS_KEY_CHARS + 1];
    int r = calls_key_make(key);
    if (r < 0)
        return err_code(err, r, "cannot make a key");
    r = p->cassette ? cassette_upstreams(p->cassette, &told) : 0;
    if (r < 0)
        return err_code(err, r, "cannot keep the upstreams");
    return calls_upstreams_init(&p->upstreams, environ,
                                p->cassette ? buf_str(&told) : p->args->upstream, key,
                                err);
}

/* -- the end -- */

static int
conclude(struct proxy *p, const struct wire_result *done, struct err *err)
{
    AUTO(buf) line = { 0 };
    const char *what = p->args->session ? p->args->session : p->session.id;
    if (!p->has_session)
        return 0;
    uint64_t calls = wire_record_facts(p->session.record).calls;
    int r = wire_session_finish(&p->session, err);
    if (r < 0 || p->args->is_quiet)
        return r;
    buf_printf(&line, "session %s: ended by SIG%s, ", what, signame(done->signo));
    cli_count(&line, calls, "call");
    buf_printf(&line, "; 'ahr wire %s'", what);
    cli_say(p->self, "%s", buf_str(&line));
    return 0;
}

static struct wire_record *
give_record(void *ctx)
{
    const struct proxy *p = ctx;
    return p->session.record;
}

static void
tick(void *ctx)
{
    struct proxy *p = ctx;
    if (p->has_session)
        wire_session_tick(&p->session);
}

static int
serve(struct proxy *p, struct err *err)
{
    struct wire_session_options opt;
    struct wire_result done = { 0 };
    int r = p->args->replay ? open_cassette(p, err) : 0;
    if (!r)
        r = list_upstreams(p, err);
    if (!r)
        r = open_door(p, err);
    if (!r && !p->cassette)
        r = open_session(p, &opt, err);
    else if (!r && !p->args->is_quiet)
        cli_say(p->self, "answers from %zu recorded calls, at %s until a signal ends it",
                cassette_count(p->cassette), p->where);
    const struct wire_place place = { p->session.folder.dir, p->session.id,
                                      p->session.clock };
    const struct wire_options wire = {
        .place = p->has_session ? &place : NULL,
        .listen_fd = p->listen_fd,
        .upstreams = &p->upstreams,
        .ca_file = p->args->ca_file,
        .open_record = give_record,
        .cassette = p->cassette,
        .is_original_pace = p->args->timing == CLI_TIMING_ORIGINAL,
        .ready = tell_env,
        .tick = tick,
        .ctx = p,
    };
    if (!r)
        r = wire_run(&wire, &done, err);
    return r < 0 ? r : conclude(p, &done, err);
}

static void
release(struct proxy *p)
{
    if (p->has_session)
        wire_session_release(&p->session);
    if (p->listen_fd >= 0)
        close(p->listen_fd);
    cassette_free(p->cassette);
    redact_close(p->redact);
    calls_upstreams_release(&p->upstreams);
    buf_release(&p->home);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_proxy_args args = { .entire = CLI_ENTIRE_AUTO };
    struct proxy p = { .self = self, .args = &args, .listen_fd = -1 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (args.session && args.session == getenv("AHR_SESSION"))
        args.session = NULL; /* in which one we are, not what this one is called */
    r = check_args(&args, count, err);
    if (!r)
        r = session_home(&p.home, err);
    if (!r)
        r = serve(&p, err);
    release(&p);
    return r < 0 ? r : CLI_DONE;
}

const struct cli_command net_proxy = {
    "proxy", CLI_PROXY_SYNOPSIS, CLI_PROXY_SUMMARY, cli_proxy_options, run, false
};
