/* SPDX-License-Identifier: MIT */
/* ahr recover: makes cut-off recordings proper ones, and ends interrupted sessions. */
#include "library/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/option.h"
#include "cli/report.h"

/* path "": nothing was recorded, and the session is removed. */
static void
json_report(struct json *j, const char *id, const char *path,
            const struct tape_repair_report *r, bool is_dry_run)
{
    json_open(j, '{');
    if (*id)
        json_key(j, "session"), json_str(j, id);
    json_key(j, "file"), *path ? json_str(j, path) : json_none(j);
    json_key(j, "changed"), json_bool(j, r->is_changed);
    json_key(j, "dry_run"), json_bool(j, is_dry_run);
    json_key(j, "blocks"), json_u64(j, r->blocks);
    json_key(j, "sealed_blocks"), json_u64(j, r->sealed_blocks);
    json_key(j, "sealed_records"), json_u64(j, r->sealed_records);
    json_key(j, "sealed_bytes"), json_u64(j, r->sealed_bytes);
    json_key(j, "joined_segments"), json_u64(j, r->joined_segments);
    json_key(j, "torn_bytes"), json_u64(j, r->torn_bytes);
    json_key(j, "bad_tails"), json_u64(j, r->bad_tails);
    json_key(j, "damaged"), json_u64(j, r->damages);
    json_close(j, '}');
}

static void
text_report(struct buf *out, const char *path, const struct tape_repair_report *r,
            bool is_dry_run)
{
    const char *what = !r->is_changed ? "nothing to do"
                       : !r->blocks   ? "nothing could be saved"
                       : is_dry_run   ? "would be recovered"
                                      : "recovered";
    buf_printf(out, "%s: %s, ", path, what);
    cli_count(out, r->blocks, "block");
    if (r->sealed_blocks) {
        buf_printf(out, "\n  %" PRIu64 " of them from tails: ", r->sealed_blocks);
        cli_count(out, r->sealed_records, "record");
        buf_puts(out, ", ");
        cli_count(out, r->sealed_bytes, "byte");
    }
    if (r->joined_segments)
        buf_printf(out, "\n  %u files %s one", r->joined_segments,
                   is_dry_run ? "would be joined into" : "joined into");
    if (r->torn_bytes) {
        buf_puts(out, "\n  ");
        cli_count(out, r->torn_bytes, "byte");
        buf_printf(out, " of no whole block %s '%s.torn'",
                   is_dry_run ? "would be kept in" : "kept in", path);
    }
    if (r->bad_tails) {
        buf_puts(out, "\n  ");
        cli_count(out, r->bad_tails, "tail");
        buf_printf(out, " with something unusable %s '%s.tail-….torn'",
                   is_dry_run ? "would be kept as" : "kept as", path);
    }
    if (r->damages) {
        buf_puts(out, "\n  ");
        cli_count(out, r->damages, "damaged place");
        buf_printf(out, "; see 'ahr verify %s'", path);
    }
}

static int
report(struct cli_report *out, struct library_found *session,
       const struct tape_progress *step, struct err *err)
{
    AUTO(buf) moved = { 0 };
    struct tape_repair_report done;
    const char *path = buf_str(&session->tape_path);
    /* --all means what is in live/, even if sessions/ has one of the same id. */
    bool is_live = session->is_live || out->is_all;
    int r = is_live
                ? library_recover(session->id, out->is_dry_run, step, &done, &moved, err)
                : tape_repair(tape_io_files(), path, out->is_dry_run, step, &done, err);
    if (r < 0)
        return r;
    if (is_live)
        path = buf_str(&moved);
    if (out->is_json)
        json_report(&out->json, session->id, path, &done, out->is_dry_run);
    else if (*path)
        text_report(&out->text, path, &done, out->is_dry_run);
    else
        buf_printf(&out->text, "%s: nothing was recorded, %s", session->id,
                   out->is_dry_run ? "would be removed" : "removed");
    return done.damages || done.bad_tails ? CLI_DAMAGED : CLI_DONE;
}

static int
recover_all(struct cli_report *out, const struct cli_command *self, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = library_interrupted(&ids, err);
    if (r < 0)
        return r;
    int count = (int)(ids.n / (SESSION_ID_LEN + 1));
    char **list = calloc((size_t)count + 1, sizeof(*list));
    if (!list)
        return err_code(err, -ENOMEM, "cannot list what is to recover");
    for (int i = 0; i < count; i++)
        list[i] = (char *)ids.p + (size_t)i * (SESSION_ID_LEN + 1);
    if (!count)
        cli_say(self, "nothing to recover");
    r = cli_report_sessions(out, self, count, list, report, err);
    free(list);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_report out = { 0 };
    int count, r = cli_parse(self, argc, argv, &out, &count, err);
    if (r)
        return r;
    if (out.is_all && count)
        return err_set(err, ERR_USAGE, "give sessions, or --all, not both");
    return out.is_all ? recover_all(&out, self, err)
                      : cli_report_sessions(&out, self, count, argv, report, err);
}

static const struct cli_option options[] = {
    { "all", 0, CLI_FLAG, offsetof(struct cli_report, is_all), NULL,
      "every session whose recorder has vanished", 0, 0 },
    { "dry-run", 0, CLI_FLAG, offsetof(struct cli_report, is_dry_run), NULL,
      "say what would be done, and change nothing", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct cli_report, is_json), NULL, "print JSON", 0,
      0 },
    { 0 },
};

const struct cli_command cli_recover = {
    "recover",
    "[SESSION…] [--all] [--dry-run] [--json]",
    "make cut-off sessions whole: seal tails, join segments, cut a torn end",
    options,
    run,
    false,
};
