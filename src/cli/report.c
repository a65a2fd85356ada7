/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/progress.h"

void
cli_count(struct buf *out, uint64_t n, const char *thing)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
    for (int i = 0; i < len; i++)
        buf_printf(out, i && (len - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
    if (thing)
        buf_printf(out, " %s%s", thing, n == 1 ? "" : "s");
}

/* "3m05s": the second of two digits. */
static void
put_pair(struct buf *out, uint64_t whole, const char *unit, uint64_t part,
         const char *part_unit)
{
    buf_put_u64(out, whole);
    buf_puts(out, unit);
    buf_puts(out, part < 10 ? "0" : "");
    buf_put_u64(out, part);
    buf_puts(out, part_unit);
}

void
cli_duration(struct buf *out, uint64_t ns)
{
    uint64_t s = ns / 1000000000;
    if (s >= 86400) {
        put_pair(out, s / 86400, "d", s / 3600 % 24, "h");
    } else if (s >= 3600) {
        put_pair(out, s / 3600, "h", s / 60 % 60, "m");
    } else if (s >= 60) {
        put_pair(out, s / 60, "m", s % 60, "s");
    } else if (s >= 10) {
        buf_put_u64(out, s);
        buf_puts(out, "s");
    } else if (s) {
        buf_put_u64(out, s);
        buf_puts(out, ".");
        buf_put_u64(out, ns / 100000000 % 10);
        buf_puts(out, "s");
    } else {
        buf_put_u64(out, ns / 1000000);
        buf_puts(out, "ms");
    }
}

void
cli_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = { " kB", " MB", " GB", " TB", " PB", " EB" };
    uint64_t tenths = bytes / 100;
    size_t unit = 0;
    for (; tenths >= 10000; tenths /= 1000)
        unit++;
    buf_put_u64(out, bytes < 1000 ? bytes : tenths / 10);
    if (bytes >= 1000 && tenths < 100) {
        buf_puts(out, ".");
        buf_put_u64(out, tenths % 10);
    }
    buf_puts(out, bytes < 1000 ? " B" : units[unit]);
}

static int
print(struct buf *text, struct err *err)
{
    buf_puts(text, "\n");
    int r = text->failed ? text->failed : file_write_all(STDOUT_FILENO, text->p, text->n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

static int
find_and_add(struct cli_report *out, const struct cli_command *self, const char *what,
             const struct tape_progress *step, cli_report_fn fn, struct err *err)
{
    AUTO(library_found) found = { 0 };
    const struct cli_command *teller = out->is_told ? NULL : self;
    int r = out->is_any ? cli_find_any(teller, &found, what, err)
                        : cli_find(teller, &found, what, err);
    if (r < 0)
        return r;
    out->is_told = out->is_told || found.why.code;
    return fn(out, &found, step, err);
}

static int
report_one(struct cli_report *out, const struct cli_command *self, const char *what,
           cli_report_fn fn, struct err *err)
{
    struct cli_progress progress;
    struct tape_progress step = { cli_progress_step, &progress };
    size_t before = out->text.n;
    cli_progress_begin(&progress, self, what);
    int r = find_and_add(out, self, what, &step, fn, err);
    cli_progress_end(&progress);
    if (r < 0) {
        out->text.n = before;
    } else if (!out->is_json) {
        for (size_t i = 0; i < out->text.n; i++) /* names may hold anything */
            if (out->text.p[i] != '\n' &&
                (out->text.p[i] < 0x20 || out->text.p[i] == 0x7f))
                out->text.p[i] = '?';
        int e = print(&out->text, err);
        buf_clear(&out->text);
        r = e < 0 ? e : r;
    }
    if (r < 0)
        cli_say(self, "%s", err->text);
    return (int)cli_exit_status(r);
}

int
cli_report_sessions(struct cli_report *out, const struct cli_command *self, int count,
                    char **sessions, cli_report_fn fn, struct err *err)
{
    bool is_array = out->is_json && (count > 1 || out->is_all);
    int worst = CLI_DONE;
    if (!count && !out->is_all)
        return err_set(err, ERR_USAGE, "which session? see 'ahr %s -h'", self->name);
    out->json.out = &out->text;
    if (is_array)
        json_open(&out->json, '[');
    for (int i = 0; i < count; i++) {
        int status = report_one(out, self, sessions[i], fn, err);
        /* Damage is worth telling above all; else the first failure counts. */
        if (status == CLI_DAMAGED || !worst)
            worst = status;
    }
    if (is_array)
        json_close(&out->json, ']');
    int r = out->text.n ? print(&out->text, err) : 0;
    buf_release(&out->text);
    return r < 0 ? r : worst;
}
