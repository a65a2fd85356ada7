/* SPDX-License-Identifier: MIT */
/* ahr verify: what is in a recording, and what is wrong with it. */
#include "tape/verify.h"

#include <stdio.h>

#include "cli/notes.h"
#include "cli/option.h"
#include "cli/report.h"

static void
json_report(struct json *j, const char *path, const struct tape_verify_report *v)
{
    json_open(j, '{');
    json_key(j, "file"), json_str(j, path);
    json_key(j, "blocks"), json_u64(j, v->blocks);
    json_key(j, "records"), json_u64(j, v->records);
    json_key(j, "bytes"), json_u64(j, v->bytes);
    json_key(j, "resizes"), json_u64(j, v->resizes);
    json_key(j, "snapshots"), json_u64(j, v->snapshots);
    json_key(j, "first_ts_ns"), json_u64_str(j, v->first_ts_ns);
    json_key(j, "last_ts_ns"), json_u64_str(j, v->last_ts_ns);
    cli_notes_json(j, path, &v->notes);
    json_close(j, '}');
}

static void
text_report(struct buf *out, const char *path, const struct tape_verify_report *v)
{
    const struct {
        uint64_t n;
        const char *thing;
    } counts[] = {
        { v->blocks, "block" },   { v->records, "record" },     { v->bytes, "byte" },
        { v->resizes, "resize" }, { v->snapshots, "snapshot" },
    };
    buf_printf(out, "%s: %s\n  ", path, v->notes.damages ? "damaged" : "ok");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        cli_count(out, counts[i].n, counts[i].thing);
        buf_puts(out, ", ");
    }
    buf_printf(out, "%.3f s", (double)(v->last_ts_ns - v->first_ts_ns) / 1e9);
    cli_notes_text(out, path, &v->notes);
}

static int
report(struct cli_report *out, struct library_found *session,
       const struct tape_progress *step, struct err *err)
{
    struct tape_verify_report v;
    const char *path = buf_str(&session->tape_path);
    int r = tape_verify(tape_io_files(), path, step, &v, err);
    if (r < 0)
        return r;
    if (out->is_json)
        json_report(&out->json, path, &v);
    else
        text_report(&out->text, path, &v);
    bool is_damaged = v.notes.damages > 0;
    tape_verify_report_release(&v);
    return is_damaged ? CLI_DAMAGED : CLI_DONE;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_report out = { 0 };
    int count, r = cli_parse(self, argc, argv, &out, &count, err);
    return r ? r : cli_report_sessions(&out, self, count, argv, report, err);
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct cli_report, is_json), NULL, "print JSON", 0,
      0 },
    { 0 },
};

const struct cli_command cli_verify = {
    "verify",
    "SESSION… [--json]",
    "check sessions: what is in them, and what is damaged",
    options,
    run,
    false,
};
