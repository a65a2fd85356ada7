/* SPDX-License-Identifier: MIT */
/* replay_text.c -- a session as plain text, as time passes. */
#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/losses.h"
#include "cli/replay.h"
#include "play/text.h"

enum { FLUSH_AT = 64 << 10 };

struct text {
    struct cli_replay *r;
    struct cli_losses losses;
    struct buf out;
    int write_error;
};

static int
flush(struct text *t)
{
    int e = t->out.failed ? t->out.failed
                          : file_write_all(STDOUT_FILENO, t->out.p, t->out.n);
    buf_clear(&t->out);
    t->write_error = e;
    return e;
}

/* A play_plain_fn; ctx is the struct. */
static int
print(void *ctx, struct view line)
{
    struct text *t = ctx;
    buf_append(&t->out, line.p, line.n);
    buf_puts(&t->out, "\n");
    return t->out.n > FLUSH_AT ? flush(t) : 0;
}

static void
print_gap(void *ctx, const struct play_gap *gap)
{
    struct text *t = ctx;
    cli_losses_gap(&t->losses, gap->byte_off, gap->bytes, gap->is_recorded);
    buf_printf(&t->out, "[ahr: %" PRIu64 " bytes %s]\n", gap->bytes,
               gap->is_recorded ? "were not recorded here"
                                : "are missing here: the recording is damaged");
}

static void
note(void *ctx, const struct tape_notice *n)
{
    struct text *t = ctx;
    cli_losses_notice(&t->losses, n);
}

static int
play(struct text *t, struct play_text *film)
{
    struct cli_pace *pace = &t->r->pace;
    uint64_t next = play_text_next_ns(film);
    bool is_time = t->r->has_from && !t->r->from.is_byte;
    int e = 0;
    cli_pace_begin(pace, is_time ? t->r->from.value : next);
    for (; !e && next != UINT64_MAX; next = play_text_next_ns(film)) {
        if (!cli_pace_is_due(pace, next)) {
            e = flush(t);
            if (!e)
                e = cli_pace_wait(pace, next);
        }
        if (!e)
            e = play_text_step(film);
    }
    if (!e)
        e = play_text_end(film);
    return e ? e : flush(t);
}

static struct play_text_options
options(struct text *t)
{
    const struct cli_replay *r = t->r;
    const uint64_t none = UINT64_MAX;
    return (struct play_text_options){
        .cols = r->cols,
        .rows = r->rows,
        .from_ns = r->has_from && !r->from.is_byte ? r->from.value : 0,
        .from_byte = r->has_from && r->from.is_byte ? r->from.value : 0,
        .to_ns = r->has_to && !r->to.is_byte ? r->to.value : none,
        .to_byte = r->has_to && r->to.is_byte ? r->to.value : none,
        .notice = note,
        .print = print,
        .gap = print_gap,
        .ctx = t,
    };
}

int
cli_replay_text(struct cli_replay *r, struct err *err)
{
    struct text t = { .r = r, .losses = { .command = r->self, .path = r->name } };
    struct play_text_options opt = options(&t);
    struct play_text *film;
    const char *path = buf_str(&r->found.tape_path);
    int e = play_text_open(&film, tape_io_files(), path, &opt, err);
    if (e < 0)
        return e;
    bool is_empty = play_text_is_empty(film);
    e = is_empty ? 0 : play(&t, film);
    play_text_close(film);
    buf_release(&t.out);
    if (t.write_error < 0)
        return err_code(err, t.write_error, "cannot write to standard output");
    if (e < 0)
        return err_code(err, e, "cannot show '%s'", r->name);
    if (e > 0)
        return cli_die_of(e);
    return is_empty              ? cli_replay_nothing(r)
           : t.losses.is_damaged ? CLI_DAMAGED
                                 : CLI_DONE;
}
