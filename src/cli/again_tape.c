/* SPDX-License-Identifier: MIT */
/* again_tape.c -- what the recording of a terminal tells of how it could go on. */
#include <string.h>

#include "cli/again.h"
#include "cli/again_type.h"
#include "cli/progress.h"
#include "cli/recall.h"
#include "play/report.h"
#include "redact/own.h"
#include "tape/io.h"
#include "turn/native.h"

enum { SCREEN_MAX = 64 << 10 }; /* bytes of last lines that are kept */

struct looking {
    struct cli_again *a;
    enum turn_agent agent;
    struct buf joined; /* a line, with what wraps into it */
};

/* The last bytes, from the beginning of a line on. */
static void
trim(struct buf *b)
{
    if (b->n <= (size_t)2 * SCREEN_MAX)
        return;
    const uint8_t *from = b->p + b->n - SCREEN_MAX;
    const uint8_t *end = memchr(from, '\n', SCREEN_MAX);
    size_t gone = (size_t)((end ? end + 1 : from) - b->p);
    b->n -= gone;
    memmove(b->p, b->p + gone, b->n);
}

/* A term_line_fn. The last id that is told is the one. */
static int
take_line(void *ctx, const struct term_line *line)
{
    struct looking *l = ctx;
    AUTO(buf) id = { 0 };
    buf_append(&l->joined, line->text.p, line->text.n);
    if (line->is_wrapped)
        return 0;
    struct view whole = { l->joined.p, l->joined.n };
    if (turn_native_told(whole, l->agent, &id)) {
        buf_clear(&l->a->agent_id);
        buf_append(&l->a->agent_id, id.p, id.n);
    }
    buf_append(&l->a->screen, whole.p, whole.n);
    buf_puts(&l->a->screen, "\n");
    trim(&l->a->screen);
    buf_clear(&l->joined);
    return l->a->screen.failed;
}

/* It goes to a model, as what an export holds goes to a reader. */
static int
mask_screen(struct cli_again *a, struct err *err)
{
    AUTO(buf) masked = { 0 };
    struct redact *redact;
    int r = redact_own_open(&redact, NULL, err);
    if (r < 0)
        return r;
    r = redact_text(redact, a->screen.p, a->screen.n, &masked);
    redact_close(redact);
    if (r < 0)
        return err_code(err, r, "cannot mask what the terminal showed");
    buf_release(&a->screen);
    a->screen = masked;
    masked = (struct buf){ 0 };
    return 0;
}

int
cli_again_tape(struct cli_again *a, struct err *err)
{
    struct cli_progress shown;
    struct tape_progress progress = { cli_progress_step, &shown };
    struct looking l = { .a = a };
    struct play_loaded loaded;
    const struct play_load_options opt = {
        .cols = a->told.cols,
        .rows = a->told.rows,
        .progress = &progress,
    };
    (void)turn_prompt_start(cli_recall_count(a->command), (const char *const *)a->command,
                            &l.agent);
    cli_progress_begin(&shown, a->self, buf_str(&a->called));
    int r = play_load(&loaded, tape_io_files(), buf_str(&a->found.tape_path), &opt, err);
    cli_progress_end(&shown);
    if (r < 0)
        return r;
    r = term_final_lines(loaded.term, take_line, &l);
    play_loaded_release(&loaded);
    buf_release(&l.joined);
    if (r < 0)
        return err_code(err, r, "cannot read what the terminal showed");
    r = cli_again_type_read(buf_str(&a->found.tape_path), &a->typed, &a->is_typed_masked,
                            err);
    return r < 0 ? r : mask_screen(a, err);
}
