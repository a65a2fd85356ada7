/* SPDX-License-Identifier: MIT */
#include "cli/check.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/findings.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "tape/block.h"

enum { PIECE_MAX = 64 << 10 };

struct check {
    const struct cli_command *self;
    bool is_json;
    const char *path; /* of the file that is looked at, as it is */
    struct buf clean; /* … and without control bytes */
    struct cli_findings findings;
    struct cli_progress progress;
    struct buf out;
    struct json json; /* into out */
    uint64_t secrets, files, files_with, skipped;
    bool has_recording;
    int status; /* the first failure that was told */
};

/* -- output -- */

/* A cli_finding_fn. */
static int
print_finding(void *ctx, const struct cli_finding *f)
{
    struct check *c = ctx;
    struct json *j = &c->json;
    c->secrets++;
    if (!c->is_json) {
        buf_printf(&c->out, "%s:%" PRIu64 ":%" PRIu64 ": %s: ", buf_str(&c->clean),
                   f->line, f->column, f->rule);
        buf_append(&c->out, f->excerpt.p, f->excerpt.n);
        buf_puts(&c->out, "\n");
        return c->out.failed;
    }
    json_open(j, '{');
    json_key(j, "file"), json_str(j, c->path);
    json_key(j, "line"), json_u64(j, f->line);
    json_key(j, "column"), json_u64(j, f->column);
    json_key(j, "byte"), json_u64(j, f->start);
    json_key(j, "length"), json_u64(j, f->end - f->start);
    json_key(j, "rule"), json_str(j, f->rule);
    json_key(j, "excerpt"), json_bytes(j, f->excerpt);
    json_close(j, '}');
    return c->out.failed;
}

static int
flush(struct check *c, struct err *err)
{
    if (!c->out.n && !c->out.failed)
        return 0;
    cli_progress_end(&c->progress);
    int r = c->out.failed ? c->out.failed
                          : file_write_all(STDOUT_FILENO, c->out.p, c->out.n);
    buf_clear(&c->out);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* A file that could not be looked at. */
static void
tell_trouble(struct check *c, int code, const char *what, const char *path)
{
    struct err err;
    cli_progress_end(&c->progress);
    code = err_code(&err, code, "cannot %s '%s'", what, path);
    cli_say(c->self, "%s", err.text);
    c->skipped++;
    if (!c->status)
        c->status = (int)cli_exit_status(code);
}

static void
tell_recording(struct check *c)
{
    cli_progress_end(&c->progress);
    cli_say(c->self, "'%s' is a recording: not looked at", c->path);
    c->skipped++;
    c->has_recording = true;
    if (!c->status)
        c->status = CLI_FAILED;
}

static void
tell_sum(struct check *c)
{
    AUTO(buf) text = { 0 };
    if (c->has_recording)
        cli_say(c->self, "a recording's text is packed; look with: "
                         "ahr cat FILE | ahr redact --check --terminal -");
    if (c->secrets) {
        cli_count(&text, c->secrets, "secret");
        buf_printf(&text, " in %" PRIu64 " of ", c->files_with);
    } else {
        buf_puts(&text, "no secrets in ");
    }
    cli_count(&text, c->files, "file");
    if (c->skipped)
        buf_printf(&text, ", %" PRIu64 " not looked at", c->skipped);
    cli_say(c->self, "%s", buf_str(&text));
}

/* -- input -- */

static bool
is_recording(const uint8_t *p, size_t n)
{
    return n >= sizeof(tape_block_magic) &&
           !memcmp(p, tape_block_magic, sizeof(tape_block_magic));
}

/* All of one stream. Negative: the whole command fails. */
static int
look(struct check *c, int fd, uint64_t size, struct err *err)
{
    static uint8_t piece[PIECE_MAX];
    uint64_t done = 0, before = c->secrets;
    int r = 0;
    ssize_t n;
    while ((n = file_read(fd, piece, sizeof(piece))) > 0) {
        if (!done && is_recording(piece, (size_t)n))
            return tell_recording(c), 0;
        done += (uint64_t)n;
        r = cli_findings_feed(&c->findings, piece, (size_t)n);
        if (r < 0)
            return err_code(err, r, "cannot look at '%s'", c->path);
        if ((r = flush(c, err)) < 0)
            return r;
        cli_progress_step(&c->progress, done, size);
    }
    r = cli_findings_end(&c->findings); /* also of what could be read */
    if (r < 0)
        return err_code(err, r, "cannot look at '%s'", c->path);
    c->files_with += c->secrets > before;
    if (n < 0)
        tell_trouble(c, (int)n, "read", c->path);
    else
        c->files++;
    return flush(c, err);
}

/* `is_named`: by the user, who may mean a pipe or a link; else only real files count. */
static int
look_at_file(struct check *c, const char *open_path, bool is_named, struct err *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
    struct stat st;
    int fd = open(open_path, is_named ? flags : flags | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return tell_trouble(c, -errno, "open", c->path), 0;
    int r = 0;
    if (fstat(fd, &st) < 0)
        tell_trouble(c, -errno, "open", c->path);
    else if (is_named || S_ISREG(st.st_mode))
        r = look(c, fd, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0, err);
    close(fd);
    return r;
}

static int
set_path(struct check *c, const char *path, struct err *err)
{
    c->path = path;
    buf_clear(&c->clean);
    if (buf_append(&c->clean, path, strlen(path) + 1) < 0)
        return err_code(err, c->clean.failed, "cannot look at '%s'", path);
    cli_clean((char *)c->clean.p);
    c->clean.n--;
    c->progress.what = file_name((char *)c->clean.p);
    return 0;
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* git's own store is packed: nothing is found there that is not found beside it. */
static bool
is_left_out(const FTSENT *e)
{
    return e->fts_level > FTS_ROOTLEVEL && !strcmp(e->fts_name, ".git");
}

static int
visit(struct check *c, FTS *walk, FTSENT *e, struct err *err)
{
    bool is_named = e->fts_level == FTS_ROOTLEVEL;
    int r = set_path(c, e->fts_path, err);
    if (r < 0)
        return r;
    switch (e->fts_info) {
    case FTS_D:
        if (is_left_out(e))
            fts_set(walk, e, FTS_SKIP);
        return 0;
    case FTS_F:
        return look_at_file(c, e->fts_accpath, is_named, err);
    case FTS_DEFAULT: /* a pipe, a device, a socket */
        return is_named ? look_at_file(c, e->fts_accpath, true, err) : 0;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
    case FTS_SLNONE:
        if (is_named || e->fts_errno != ENOENT) /* else it has gone meanwhile */
            tell_trouble(c, e->fts_errno ? -e->fts_errno : -ENOENT, "open", c->path);
        return 0;
    default: /* a link, a folder again, a folder's end */
        return 0;
    }
}

static int
look_at(struct check *c, char *path, struct err *err)
{
    if (!strcmp(path, "-")) {
        int r = set_path(c, path, err);
        return r < 0 ? r : look(c, STDIN_FILENO, 0, err);
    }
    char *const roots[] = { path, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW, by_name);
    if (!walk)
        return err_sys(err, "cannot look at '%s'", path);
    int r = 0;
    FTSENT *e;
    while (!r && (errno = 0, e = fts_read(walk)))
        r = visit(c, walk, e, err);
    if (!r && errno)
        r = err_sys(err, "cannot look at '%s'", path);
    fts_close(walk);
    return r;
}

static int
look_at_all(struct check *c, int count, char **paths, struct err *err)
{
    int r = 0;
    c->json.out = &c->out;
    cli_progress_begin(&c->progress, c->self, "");
    if (c->is_json)
        json_open(&c->json, '[');
    for (int i = 0; i < count && !r; i++)
        r = look_at(c, paths[i], err);
    if (c->is_json)
        json_close(&c->json, ']'), buf_puts(&c->out, "\n");
    if (!r)
        r = flush(c, err);
    cli_progress_end(&c->progress);
    return r;
}

int
cli_check(const struct cli_command *self, struct redact *redact,
          const struct cli_check_options *opt, int count, char **paths, struct err *err)
{
    struct check c = { .self = self, .is_json = opt->is_json };
    int r = cli_findings_init(&c.findings, redact, opt->is_terminal, opt->cols,
                              print_finding, &c);
    if (r < 0)
        return err_code(err, r, "cannot look for secrets");
    r = look_at_all(&c, count, paths, err);
    if (!r)
        tell_sum(&c);
    cli_findings_release(&c.findings);
    buf_release(&c.out);
    buf_release(&c.clean);
    if (r < 0)
        return r;
    /* A secret is worth telling above all; else the first failure counts. */
    return c.secrets ? CLI_FAILED : c.status;
}
