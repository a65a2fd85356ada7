/* SPDX-License-Identifier: MIT */
#include "cli/vault.h"

#include <inttypes.h>
#include <limits.h>

#include "cli/option.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "library/change.h"
#include "library/encrypt.h"
#include "redact/own.h"
#include "session/home.h"

struct vaults {
    struct cli_report out; /* the first: it is what a report on one is given */
    const struct cli_command *self;
    const struct cli_vault_args *args;
    struct vault_keys keys;
    struct redact *redact;
    struct buf home;
    bool is_decrypt;
    bool has_entries;                 /* of the session at hand, that were shown */
    const struct tape_progress *step; /* of that one */
};

static void
vaults_release(struct vaults *v)
{
    vault_keys_release(&v->keys);
    redact_close(v->redact);
    buf_release(&v->home);
}

/* -- what is told -- */

static void
on_tell(void *ctx, const char *text)
{
    struct vaults *v = ctx;
    AUTO(buf) clean = { 0 };
    if (v->step)
        cli_progress_end(v->step->ctx);
    if (buf_puts(&clean, text) >= 0 && buf_append(&clean, "", 1) >= 0)
        cli_say(v->self, "%s", cli_clean((char *)clean.p));
}

/* Of a dry run. */
static void
on_entry(void *ctx, const struct vault_entry *e)
{
    static const char *const roots[] = { "session", "project" };
    struct vaults *v = ctx;
    struct json *j = &v->out.json;
    if (!v->out.is_dry_run || e->is_folder)
        return;
    if (v->out.is_json) {
        json_open(j, '{');
        json_key(j, "of"), json_str(j, roots[e->root]);
        json_key(j, "path"), json_str(j, e->path);
        json_key(j, "bytes"), json_u64(j, e->bytes);
        json_close(j, '}');
        return;
    }
    buf_printf(&v->out.text, "%s%s/%s  ", v->has_entries ? "\n" : "", roots[e->root],
               e->path);
    cli_size(&v->out.text, e->bytes);
    v->has_entries = true;
}

static void
json_report(struct vaults *v, struct library_vaulted *done)
{
    struct json *j = &v->out.json;
    json_key(j, "already"), json_bool(j, done->is_already);
    json_key(j, "files"), json_u64(j, done->files);
    json_key(j, "bytes"), json_u64(j, done->bytes);
    json_key(j, "project");
    if (done->project.n)
        json_str(j, buf_str(&done->project));
    else
        json_none(j);
    if (!v->is_decrypt)
        json_key(j, "snapshots"), json_u64(j, done->snapshots);
    json_key(j, "dry_run"), json_bool(j, v->out.is_dry_run);
}

static void
text_report(struct vaults *v, const char *id, const struct library_vaulted *done)
{
    struct buf *out = &v->out.text;
    const char *what = v->is_decrypt ? "decrypted" : "encrypted";
    buf_printf(out, "%s%s: ", v->has_entries ? "\n" : "", id);
    if (done->is_already) {
        buf_printf(out, "%s",
                   v->is_decrypt ? "is not encrypted" : "was encrypted already");
        return;
    }
    buf_printf(out, "%s%s, ", v->out.is_dry_run ? "would be " : "", what);
    cli_count(out, done->files, "file");
    buf_puts(out, ", ");
    cli_size(out, done->bytes);
}

static void
say_snapshots(const struct vaults *v, const char *id, uint64_t snapshots)
{
    AUTO(buf) count = { 0 };
    if (!snapshots)
        return;
    cli_count(&count, snapshots, "snapshot");
    cli_say(
        v->self,
        "%s of its files %s not encrypted: 'ahr fs list --session %s' lists what there "
        "is, 'ahr fs delete' removes it",
        buf_str(&count), snapshots == 1 ? "is" : "are", id);
}

/* -- one -- */

static int
work(struct vaults *v, const char *id, struct library_vaulted *ret, struct err *err)
{
    const struct library_vault opt = { .keys = &v->keys,
                                       .redact = v->redact,
                                       .progress = v->step,
                                       .is_dry_run = v->out.is_dry_run,
                                       .is_without_project = v->args->is_without_project,
                                       .tell = on_tell,
                                       .entry = on_entry,
                                       .ctx = v };
    return v->is_decrypt ? library_decrypt(buf_str(&v->home), id, &opt, ret, err)
                         : library_encrypt(buf_str(&v->home), id, &opt, ret, err);
}

/* A cli_report_fn. */
static int
report(struct cli_report *out, struct library_found *session,
       const struct tape_progress *step, struct err *err)
{
    struct vaults *v = (struct vaults *)out;
    AUTO(library_vaulted) done = { 0 };
    struct json *j = &out->json, before = *j;
    v->step = step;
    v->has_entries = false;
    if (out->is_json) {
        json_open(j, '{');
        json_key(j, "id"), json_str(j, session->id);
        if (out->is_dry_run)
            json_key(j, "entries"), json_open(j, '[');
    }
    int r = work(v, session->id, &done, err);
    if (r < 0) {
        *j = before;
        return r;
    }
    if (out->is_json) {
        if (out->is_dry_run)
            json_close(j, ']');
        json_report(v, &done);
        json_close(j, '}');
    } else {
        text_report(v, session->id, &done);
    }
    say_snapshots(v, session->id, done.snapshots);
    return CLI_DONE;
}

/* -- all -- */

static int
check(struct vaults *v, const char *what, struct err *err)
{
    AUTO(library_found) found = { 0 };
    int r = cli_find_any(NULL, &found, what, err);
    if (r == ERR_MISSING && v->is_decrypt)
        cli_say(v->self, "an encrypted session goes by its id alone: 'ahr list --status "
                         "encrypted' lists them");
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file: only sessions of the library are encrypted, by "
                       "their name or id",
                       what);
    return cli_check_ended(buf_str(&v->home), &found, what, err);
}

/* All of them are looked for first, and then the passphrase is asked for: nobody types a
 * secret for nothing. */
static int
begin(struct vaults *v, int count, char **sessions, struct err *err)
{
    int r = session_home(&v->home, err);
    if (!r)
        library_sweep(buf_str(&v->home)); /* one whose change was killed is found then */
    for (int i = 0; !r && i < count; i++)
        r = check(v, sessions[i], err);
    if (!r && v->is_decrypt)
        r = redact_own_open(&v->redact, NULL, err);
    if (!r && (v->is_decrypt || !v->out.is_dry_run))
        r = cli_vault_keys(v->self, &v->args->keys, !v->is_decrypt, &v->keys, err);
    return r;
}

int
cli_vault(const struct cli_command *self, bool is_decrypt, int argc, char **argv,
          struct err *err)
{
    struct cli_vault_args a = { .keys.cost = -1 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (!r)
        r = cli_vault_keys_check(&a.keys, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? see 'ahr %s -h'", self->name);
    AUTO(vaults)
    v = { .self = self,
          .args = &a,
          .is_decrypt = is_decrypt,
          .home.ceiling = PATH_MAX,
          .out = { .is_json = a.is_json, .is_dry_run = a.is_dry_run, .is_any = true } };
    r = begin(&v, count, argv, err);
    if (r < 0)
        return r;
    r = cli_report_sessions(&v.out, self, count, argv, report, err);
    bool is_changed = !is_decrypt && !a.is_dry_run;
    int e = is_changed ? library_encrypt_end(buf_str(&v.home), err) : 0;
    return e < 0 ? e : r;
}
