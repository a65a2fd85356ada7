/* SPDX-License-Identifier: MIT */
/*
 * redact_session.c -- `ahr redact SESSION`: secrets out of a session of the library.
 *
 * Texts come from a file or a pipe, never from the command line, where others could read
 * them; they are told to nobody.
 */
#include "cli/redact_session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/nearest.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/unseen.h"
#include "library/change.h"
#include "library/rewrite.h"
#include "redact/only.h"
#include "redact/own.h"
#include "session/home.h"

enum { TEXTS_MAX = 4 << 20 }; /* bytes of such a file */

/* What is to be masked, in what words the audit has it, and how that is told. */
struct work {
    const struct cli_command *self;
    struct cli_progress progress;
    struct redact *secrets, *redact;
    struct buf what, home;
};

static void
work_release(struct work *w)
{
    redact_close(w->secrets);
    redact_close(w->redact);
    buf_release(&w->what);
    buf_release(&w->home);
}

/* -- what is to be masked -- */

/* The message names the rule that was probably meant. */
static int
explain_rule(const struct work *w, const char *rule, int r, struct err *err)
{
    size_t n = redact_rules(w->redact);
    const char **ids = calloc(n + 1, sizeof(*ids));
    for (size_t i = 0; ids && i < n; i++)
        ids[i] = redact_rule(w->redact, i).id;
    const char *nearest = ids ? cli_nearest(rule, ids, n) : NULL;
    if (nearest && strcmp(nearest, rule) != 0)
        r = err_set(
            err, r,
            "there is no rule '%s'; did you mean '%s'? 'ahr redact --rules' lists "
            "them",
            rule, nearest);
    free(ids);
    return r;
}

static int
open_rule(struct work *w, const struct cli_redact_session *args, struct err *err)
{
    int r = redact_only_rule(&w->secrets, args->rule, args->own, err);
    if (r == ERR_USAGE)
        return explain_rule(w, args->rule, r, err);
    if (!r && buf_printf(&w->what, "rule %s", args->rule) < 0)
        r = err_code(err, w->what.failed, "cannot mask '%s'", args->session);
    return r;
}

static size_t
count_texts(const struct buf *texts)
{
    size_t count = 0;
    bool is_in_text = false;
    for (size_t i = 0; i < texts->n; i++) {
        bool is_solid = !strchr(" \t\r\n", texts->p[i]) || !texts->p[i];
        count += is_solid && !is_in_text;
        is_in_text = texts->p[i] != '\n' && (is_in_text || is_solid);
    }
    return count;
}

static int
read_stdin(const struct cli_command *self, struct buf *ret)
{
    if (!isatty(STDIN_FILENO))
        return file_read_all(STDIN_FILENO, ret);
    return cli_read_unseen(
        self, "what is to be masked? one text a line, not shown; Ctrl-D ends", false,
        ret);
}

static int
read_texts(const struct cli_command *self, const char *path, struct buf *ret,
           struct err *err)
{
    bool is_stdin = !strcmp(path, "-");
    const char *name = is_stdin ? "standard input" : path;
    int r = is_stdin ? read_stdin(self, ret) : file_slurp(path, ret);
    if (r == ERR_LIMIT)
        return err_set(err, ERR_USAGE, "'%s' is larger than 4 MB: too much to look for",
                       name);
    return r < 0 ? err_code(err, r, "cannot read '%s'", name) : 0;
}

static int
open_texts(struct work *w, const struct cli_redact_session *args, struct err *err)
{
    AUTO(buf) texts = { .ceiling = TEXTS_MAX };
    int r = read_texts(w->self, args->text_file, &texts, err);
    if (!r)
        r = redact_only_texts(&w->secrets, (struct view){ texts.p, texts.n }, err);
    size_t n = count_texts(&texts);
    if (!r && buf_printf(&w->what, "%zu text%s", n, n == 1 ? "" : "s") < 0)
        r = err_code(err, w->what.failed, "cannot mask '%s'", args->session);
    if (texts.p)
        explicit_bzero(texts.p, texts.cap);
    return r;
}

/* -- what came of it -- */

static void
on_tell(void *ctx, const char *text)
{
    struct work *w = ctx;
    cli_progress_tell(&w->progress, text);
}

static void
json_report(struct buf *out, struct work *w, const char *id,
            const struct library_rewritten *done)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "session"), json_str(j, id);
    json_key(j, "by"), json_str(j, buf_str(&w->what));
    json_key(j, "changed"), json_bool(j, done->is_changed);
    json_key(j, "masked"), json_u64(j, done->masked);
    json_key(j, "masked_bytes"), json_u64(j, done->masked_bytes);
    json_key(j, "files"), json_u64(j, done->files);
    json_key(j, "dropped"), json_u64(j, done->dropped);
    json_key(j, "damaged"), json_bool(j, done->is_damaged);
    json_close(j, '}');
}

static void
text_report(struct buf *out, const char *id, const struct library_rewritten *done)
{
    buf_printf(out, "%s: ", id);
    if (!done->masked) {
        buf_puts(out, "nothing of it was found");
        return;
    }
    buf_puts(out, "masked in ");
    cli_count(out, done->masked, "place");
    buf_puts(out, ", ");
    cli_count(out, done->masked_bytes, "byte");
    buf_puts(out, " in ");
    cli_count(out, done->files, "file");
}

static int
print(struct work *w, const char *id, const struct library_rewritten *done, bool is_json,
      struct err *err)
{
    AUTO(buf) out = { 0 };
    if (is_json)
        json_report(&out, w, id, done);
    else
        text_report(&out, id, done);
    buf_puts(&out, "\n");
    int r = out.failed ? out.failed : file_write_all(STDOUT_FILENO, out.p, out.n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

/* -- the command -- */

static int
find_id(const char *home, const char *what, char ret[SESSION_ID_LEN + 1], struct err *err)
{
    AUTO(library_found) found = { 0 };
    int r = cli_find(NULL, &found, what, err);
    if (r < 0)
        return r;
    memcpy(ret, found.id, SESSION_ID_LEN + 1);
    if (!*found.id)
        return err_set(err, ERR_USAGE,
                       "'%s' is a file: only sessions of the library can be "
                       "masked afterwards, by their name or id",
                       what);
    return cli_check_ended(home, &found, what, err);
}

static int
rewrite(struct work *w, const char *id, struct library_rewritten *ret, struct err *err)
{
    const struct tape_progress step = { cli_progress_step, &w->progress };
    const struct library_rewrite rw = { .secrets = w->secrets,
                                        .redact = w->redact,
                                        .what = buf_str(&w->what),
                                        .progress = &step,
                                        .tell = on_tell,
                                        .ctx = w };
    cli_progress_begin(&w->progress, w->self, id);
    int r = library_rewrite(buf_str(&w->home), id, &rw, ret, err);
    cli_progress_end(&w->progress);
    return r;
}

int
cli_redact_session(const struct cli_command *self, const struct cli_redact_session *args,
                   struct err *err)
{
    AUTO(work) w = { .self = self, .home = { .ceiling = PATH_MAX } };
    struct library_rewritten done = { 0 };
    char id[SESSION_ID_LEN + 1];
    int r = redact_own_open(&w.redact, NULL, err);
    if (!r && args->rule)
        r = open_rule(&w, args, err);
    if (!r)
        r = session_home(&w.home, err);
    if (!r)
        library_sweep(
            buf_str(&w.home)); /* one whose rewriting was killed is found then */
    if (!r)
        r = find_id(buf_str(&w.home), args->session, id, err);
    if (!r && !args->rule) /* nobody types a secret for nothing */
        r = open_texts(&w, args, err);
    if (!r)
        r = rewrite(&w, id, &done, err);
    if (!r)
        r = print(&w, id, &done, args->is_json, err);
    return r < 0 ? r : done.is_damaged ? CLI_DAMAGED : CLI_DONE;
}
