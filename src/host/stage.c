/* SPDX-License-Identifier: MIT */
/*
 * stage.c -- the session's size, and whose terminal passes its bytes.
 *
 * The smallest terminal decides, as in tmux. The client of `ahr record`, if it does not
 * view the session from the start, passes bytes to its terminal while that has the size
 * which it alone would give the session; otherwise it draws, as all others do. Queries
 * are answered by that terminal, or by the mirror, and everyone is told where in the
 * stream this changes: never both, never neither.
 */
#include "host/host_priv.h"
#include "pty/tty.h"

enum { RESIZE_TURNS = 16 };

static bool
counts(const struct conn *c)
{
    return c->is_subscribed && !c->is_watcher && c->cols && c->rows;
}

static uint16_t
smaller(uint16_t a, uint16_t b)
{
    return !a || b < a ? b : a;
}

static void
wanted_size(const struct host *h, uint16_t *cols, uint16_t *rows)
{
    uint16_t least_cols = 0, least_rows = 0;
    for (const struct conn *c = h->conns; c; c = c->next) {
        if (!counts(c))
            continue;
        least_cols = smaller(least_cols, c->cols);
        least_rows = smaller(least_rows, c->rows);
    }
    if (least_cols && !h->opt->has_fixed_cols)
        *cols = least_cols;
    if (least_rows && !h->opt->has_fixed_rows)
        *rows = least_rows;
}

static void
resize(struct host *h, uint16_t cols, uint16_t rows)
{
    /* What was written for the old size stands before the new one, where there is
     * room. */
    if (!host_is_full(h))
        host_drain(h, RESIZE_TURNS);
    recorder_resize(&h->recorder, cols, rows);
    pty_set_size(h->child.master_fd, cols, rows);
    h->cols = cols;
    h->rows = rows;
}

static bool
may_link_pass(const struct host *h)
{
    const struct conn *c = h->link;
    return c && h->opt->is_lossy && !h->opt->is_viewed && !c->is_paused &&
           !c->is_skipping &&
           (h->opt->has_fixed_cols || !c->cols || c->cols == h->cols) &&
           (h->opt->has_fixed_rows || !c->rows || c->rows == h->rows);
}

/* What is piped to the command is all that it is to read. */
bool
host_may_mirror_answer(const struct host *h, uint32_t passing)
{
    const struct host_options *o = h->opt;
    return !(passing && o->can_answer) && !(h->link && o->is_input_piped && o->has_input);
}

struct ipc_message
host_stage_message(const struct host *h)
{
    return (struct ipc_message){
        .selector = IPC_STAGE, .field = { h->cols, h->rows, h->passing, h->answer_from }
    };
}

void
host_set_stage(struct host *h, uint64_t unshown_off)
{
    uint16_t cols = h->cols, rows = h->rows;
    if (!h->has_exited)
        wanted_size(h, &cols, &rows);
    bool is_new = cols != h->cols || rows != h->rows;
    if (is_new)
        resize(h, cols, rows);
    uint32_t passing = may_link_pass(h) ? h->link->number : 0;
    uint64_t now_off = h->recorder.byte_off;
    uint64_t from = unshown_off < now_off ? unshown_off : now_off;
    if (!host_may_mirror_answer(h, passing))
        from = IPC_NONE;
    else if (h->answer_from != IPC_NONE)
        from = h->answer_from;
    if (!is_new && passing == h->passing && from == h->answer_from)
        return;
    h->passing = passing;
    h->answer_from = from;
    struct ipc_message m = host_stage_message(h);
    host_broadcast(h, &m);
    host_show(h, (struct view){ 0 }, 0);
    host_keep_mirror(h);
}
