/* SPDX-License-Identifier: MIT */
/* ahr fs restore: the files of a snapshot, put into a folder. */
#include "snap/restore.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/fs_found.h"
#include "cli/fs_skipped.h"
#include "cli/option.h"
#include "cli/path.h"
#include "cli/progress.h"
#include "cli/report.h"

enum { TOLD_MAX = 5 };

struct args {
    const char *into;
    bool is_forced, is_json;
};

static void
print_json(const struct snap_found *from, const char *into,
           const struct snap_restored *done)
{
    AUTO(buf) line = { 0 };
    struct json j = { .out = &line };
    json_open(&j, '{');
    json_key(&j, "id"), json_u64(&j, from->facts.id);
    cli_path_json(&j, "into", into);
    json_key(&j, "files"), json_u64(&j, done->files);
    json_key(&j, "folders"), json_u64(&j, done->folders);
    json_key(&j, "bytes"), json_u64(&j, done->bytes);
    json_key(&j, "failed_count"), json_u64(&j, done->failed);
    json_key(&j, "failed"), json_open(&j, '[');
    for (size_t at = 0; at < done->refused.n;) {
        const char *path = (const char *)done->refused.p + at;
        json_open(&j, '{');
        cli_path_json(&j, "path", path);
        json_close(&j, '}');
        at += strlen(path) + 1;
    }
    json_close(&j, ']');
    cli_fs_skipped_json(&j, &done->skips);
    json_close(&j, '}');
    puts(buf_str(&line));
}

static void
say_done(const struct cli_command *self, const struct snap_found *from, const char *into,
         const struct snap_restored *done)
{
    AUTO(buf) text = { 0 };
    buf_printf(&text, "snapshot %" PRIu64 ": ", from->facts.id);
    cli_count(&text, done->files, "file");
    buf_puts(&text, " (");
    cli_size(&text, done->bytes);
    buf_puts(&text, ") restored into ");
    cli_path_put(&text, into);
    cli_say(self, "%s", buf_str(&text));
}

/* The first one's path is in the reason. */
static void
say_failed(const struct cli_command *self, const struct snap_restored *done)
{
    uint64_t told = 0;
    cli_say(self, "%s", done->why.text);
    for (size_t at = 0; at < done->refused.n && told < TOLD_MAX; told++) {
        AUTO(buf) name = { 0 };
        const char *path = (const char *)done->refused.p + at;
        cli_path_put(&name, path);
        if (told)
            cli_say(self, "not restored either: %.700s", buf_str(&name));
        at += strlen(path) + 1;
    }
    if (done->failed > told)
        cli_say(self, "not restored either: %" PRIu64 " more", done->failed - told);
}

/* It looks whole otherwise. */
static void
say_skipped(const struct cli_command *self, const struct snap_restored *done)
{
    if (!done->skips.count)
        return;
    AUTO(buf) count = { 0 };
    cli_count(&count, done->skips.count, NULL);
    cli_say(self, "%s left out when the snapshot was taken:", buf_str(&count));
    cli_fs_skipped_say(self, &done->skips);
}

static int
restore(const struct cli_command *self, const struct snap_found *from,
        const struct args *a, int count, char **paths, struct err *err)
{
    struct cli_progress progress;
    struct snap_restored done;
    cli_progress_begin(&progress, self, a->into);
    struct snap_restore q = { .from = from,
                              .into = a->into,
                              .replaces = a->is_forced,
                              .paths = (const char *const *)paths,
                              .path_count = (size_t)count,
                              .progress = cli_progress_step,
                              .ctx = &progress };
    int r = snap_restore(&q, &done, err);
    cli_progress_end(&progress);
    if (r < 0)
        return r;
    if (a->is_json)
        print_json(from, a->into, &done);
    else if (done.files || !done.failed)
        say_done(self, from, a->into, &done);
    if (done.failed)
        say_failed(self, &done);
    if (!a->is_json)
        say_skipped(self, &done);
    r = done.failed ? CLI_FAILED : CLI_DONE;
    snap_restored_release(&done);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args a = { 0 };
    struct snap_found from;
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which snapshot? 'ahr fs list' lists them");
    if (!a.into || !*a.into)
        return err_set(err, ERR_USAGE, "into which folder? say --into DIR");
    r = cli_fs_find(&from, argv[0], err);
    if (r < 0)
        return r;
    r = restore(self, &from, &a, count - 1, argv + 1, err);
    snap_found_release(&from);
    return r;
}

static const struct cli_option options[] = {
    { "into", 0, CLI_TEXT, offsetof(struct args, into), "DIR",
      "the folder; it is made if it is missing", 0, 0 },
    { "force", 'f', CLI_FLAG, offsetof(struct args, is_forced), NULL,
      "replace files that are in the way", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL,
      "print what was done as JSON", 0, 0 },
    { 0 },
};

const struct cli_command cli_fs_restore = {
    "fs restore",
    "SNAPSHOT --into DIR [--force] [--json] [PATH…]",
    "put the files of a snapshot into a folder",
    options,
    run,
    false,
};
