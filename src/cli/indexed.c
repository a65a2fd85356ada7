/* SPDX-License-Identifier: MIT */
#include "cli/indexed.h"

#include <unistd.h>

#include "base/file.h"
#include "cli/report.h"

void
cli_indexed_begin(struct cli_indexed *x, bool is_several)
{
    x->is_array = is_several;
    x->json.out = &x->text;
    if (x->is_json && x->is_array)
        json_open(&x->json, '[');
}

static void
json_one(struct json *j, const char *id, const struct library_indexed *done)
{
    json_open(j, '{');
    json_key(j, "session"), json_str(j, id);
    json_key(j, "lines"), json_u64(j, done->lines);
    json_key(j, "text_bytes"), json_u64(j, done->text_bytes);
    json_key(j, "damaged"), json_bool(j, done->is_damaged);
    json_key(j, "moved"), json_bool(j, done->is_moved);
    json_close(j, '}');
}

/* Printed at once, so that long work is seen. */
static void
text_one(struct cli_indexed *x, const char *id, const struct library_indexed *done)
{
    buf_clear(&x->text);
    buf_printf(&x->text, "%s: ", id);
    cli_count(&x->text, done->lines, "line");
    buf_puts(&x->text, ", ");
    cli_count(&x->text, done->text_bytes, "byte");
    if (done->is_moved)
        buf_puts(&x->text, "; nothing of it can be read: it is in damaged/ now");
    else if (done->is_damaged)
        buf_puts(&x->text, "; damaged, see 'ahr verify'");
    puts(buf_str(&x->text));
    buf_clear(&x->text);
}

void
cli_indexed_add(struct cli_indexed *x, const char *id, int r,
                const struct library_indexed *done, const struct err *err)
{
    int status = r < 0                                ? (int)cli_exit_status(r)
                 : done->is_damaged || done->is_moved ? CLI_DAMAGED
                                                      : CLI_DONE;
    if (status == CLI_DAMAGED || !x->worst)
        x->worst = status;
    if (r < 0) {
        cli_say(x->self, "%s", err->text);
        return;
    }
    x->sessions++;
    if (!done->is_moved)
        (void)buf_append(&x->done, id, strlen(id) + 1);
    x->lines += done->lines;
    x->text_bytes += done->text_bytes;
    if (x->is_json)
        json_one(&x->json, id, done);
    else if (!x->is_quiet)
        text_one(x, id, done);
}

void
cli_indexed_each(void *ctx, const char *id, int r, const struct library_indexed *done,
                 const struct err *err, size_t at, size_t count)
{
    struct cli_indexed *x = ctx;
    if (x->progress)
        cli_progress_end(x->progress);
    cli_indexed_add(x, id, r, done, err);
    if (x->progress)
        cli_progress_step(x->progress, at, count);
}

int
cli_indexed_end(struct cli_indexed *x, struct err *err)
{
    int r = 0;
    if (x->is_json) {
        if (x->is_array)
            json_close(&x->json, ']');
        if (x->text.n)
            buf_puts(&x->text, "\n");
        r = x->text.failed ? x->text.failed
                           : file_write_all(STDOUT_FILENO, x->text.p, x->text.n);
    }
    buf_release(&x->text);
    return r < 0 ? err_code(err, r, "cannot write to standard output") : x->worst;
}
