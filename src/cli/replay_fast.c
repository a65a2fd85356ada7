/* SPDX-License-Identifier: MIT */
/* replay_fast.c -- the final state of all lines, at once. */
#include <errno.h>
#include <inttypes.h>

#include "cli/lines.h"
#include "cli/losses.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "play/report.h"

struct fast {
    struct cli_replay *r;
    struct cli_losses losses;
    struct cli_progress progress;
    uint64_t first_ts_ns, records;
    uint64_t from_byte; /* lines last written before it are left out */
    struct cli_printer printer;
};

static void
note(void *ctx, const struct tape_notice *n)
{
    struct fast *f = ctx;
    cli_progress_end(&f->progress);
    cli_losses_notice(&f->losses, n);
}

static void
take(void *ctx, const struct tape_record *rec)
{
    struct fast *f = ctx;
    const struct cli_replay *r = f->r;
    if (!f->records++)
        f->first_ts_ns = rec->ts_ns;
    if (rec->tag == TAPE_DATA && r->has_from && !r->from.is_byte &&
        rec->ts_ns - f->first_ts_ns < r->from.value)
        f->from_byte = rec->byte_off + rec->bytes.n;
    cli_losses_record(&f->losses, rec);
}

/* A term_line_fn. */
static int
print(void *ctx, const struct term_line *line)
{
    struct fast *f = ctx;
    if (f->from_byte && line->last_write_byte <= f->from_byte)
        return 0;
    return cli_printer_line(&f->printer, line);
}

static int
print_all(struct fast *f, const struct term *t, struct err *err)
{
    int e = term_final_lines(t, print, f);
    if (!e)
        e = cli_printer_flush(&f->printer, true);
    if (e == -ENOMEM)
        return err_code(err, e, "cannot print '%s'", f->r->name);
    return e < 0 ? err_code(err, e, "cannot write to standard output") : 0;
}

static void
tell_dropped(const struct fast *f, const struct term *t)
{
    uint64_t rows = term_scrollback_dropped(t), alternate = term_alternate_dropped(t);
    if (rows)
        cli_say(f->r->self, "'%s': the oldest %" PRIu64 " rows were dropped", f->r->name,
                rows);
    if (alternate)
        cli_say(f->r->self,
                "'%s': the oldest %" PRIu64 " rows of the alternate screen were dropped",
                f->r->name, alternate);
}

int
cli_replay_fast(struct cli_replay *r, struct err *err)
{
    struct fast f = { .r = r,
                      .losses = { .command = r->self, .path = r->name },
                      .printer = { .is_ansi = r->has_colours } };
    struct tape_progress progress = { cli_progress_step, &f.progress };
    struct play_load_options opt = {
        .cols = r->cols,
        .rows = r->rows,
        .notice = note,
        .record = take,
        .ctx = &f,
        .progress = &progress,
    };
    int e = cli_replay_limit(r, &opt.to_byte, &opt.to_ns, err);
    if (e < 0)
        return e;
    if (r->has_from && r->from.is_byte)
        f.from_byte = r->from.value;
    struct play_loaded loaded;
    cli_progress_begin(&f.progress, r->self, r->name);
    e = play_load(&loaded, tape_io_files(), buf_str(&r->found.tape_path), &opt, err);
    cli_progress_end(&f.progress);
    if (e < 0)
        return e;
    e = print_all(&f, loaded.term, err);
    tell_dropped(&f, loaded.term);
    play_loaded_release(&loaded);
    cli_printer_release(&f.printer);
    if (e < 0)
        return e;
    if (!f.records)
        return cli_replay_nothing(r);
    return f.losses.is_damaged ? CLI_DAMAGED : CLI_DONE;
}
