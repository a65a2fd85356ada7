/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
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
    buf_printf(out, " %s%s", thing, n == 1 ? "" : "s");
}

static int
print(struct buf *text, struct err *err)
{
    buf_puts(text, "\n");
    int r = text->failed ? text->failed : file_write_all(STDOUT_FILENO, text->p, text->n);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : 0;
}

const char *
cli_follow(const char *path, char room[PATH_MAX])
{
    struct stat st;
    bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    return is_link && realpath(path, room) ? room : path;
}

static int
report_one(struct cli_report *out, const struct cli_command *self, const char *path,
           cli_report_fn fn, struct err *err)
{
    char room[PATH_MAX];
    struct cli_progress progress;
    struct tape_progress step = { cli_progress_step, &progress };
    size_t before = out->text.n;
    cli_progress_begin(&progress, self, path);
    int r = fn(out, cli_follow(path, room), &step, err);
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
cli_report_files(struct cli_report *out, const struct cli_command *self, int count,
                 char **paths, cli_report_fn fn, struct err *err)
{
    if (!count)
        return err_set(err, ERR_USAGE, "which file? see 'ahr %s -h'", self->name);
    int worst = CLI_DONE;
    out->json.out = &out->text;
    if (out->is_json && count > 1)
        json_open(&out->json, '[');
    for (int i = 0; i < count; i++) {
        int status = report_one(out, self, paths[i], fn, err);
        /* Damage is worth telling above all; else the first failure counts. */
        if (status == CLI_DAMAGED || !worst)
            worst = status;
    }
    if (out->is_json && count > 1)
        json_close(&out->json, ']');
    int r = out->text.n ? print(&out->text, err) : 0;
    buf_release(&out->text);
    return r < 0 ? r : worst;
}
