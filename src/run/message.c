/* SPDX-License-Identifier: MIT */
/*
 * message.c -- a message that is said in pieces, and then once more as a whole.
 *
 * Pieces go through a scanner for secrets as one text. The whole is told to those who
 * want each message once; on the screen and in the log it goes on where the pieces ended.
 */
#include <string.h>

#include "run/flow_priv.h"

enum {
    PIECES_MAX = 64 << 10, /* more do not wait for flush_ms */
    SAID_MAX = 64 << 20,
};

void
run_message_release(struct run_message *m)
{
    redact_stream_free(m->stream);
    buf_release(&m->id);
    buf_release(&m->said);
    buf_release(&m->shown);
}

static bool
is_same(const struct buf *b, struct view v)
{
    return b->n == v.n && (!v.n || !memcmp(b->p, v.p, v.n));
}

static bool
is_of_it(const struct run_message *m, const struct turn_event *e)
{
    return m->is_open && m->type == e->type && is_same(&m->id, e->id);
}

static void
begin(struct run_flow *f, const struct turn_event *e)
{
    struct run_message *m = &f->message;
    run_message_commit(f);
    m->is_open = true;
    m->type = e->type;
    m->told = 0;
    m->said.ceiling = SAID_MAX;
    m->shown.ceiling = RUN_TEXT_MAX;
    buf_clear(&m->id);
    buf_clear(&m->said);
    buf_clear(&m->shown);
    buf_append(&m->id, e->id.p, e->id.n);
    redact_stream_reset(m->stream);
}

void
run_message_piece(struct run_flow *f, const struct turn_event *e)
{
    struct run_message *m = &f->message;
    if (!is_of_it(m, e))
        begin(f, e);
    if (m->shown.n == m->told)
        m->since_ns = clock_mono_ns();
    if (buf_append(&m->said, e->text.p, e->text.n) < 0 ||
        redact_stream_feed(m->stream, e->text.p, e->text.n, &m->shown) < 0)
        m->said.failed = 1; /* the whole will be shown as one that is new */
    if (m->shown.n - m->told > PIECES_MAX)
        run_message_commit(f);
}

void
run_message_commit(struct run_flow *f)
{
    struct run_message *m = &f->message;
    size_t told = m->told;
    if (!m->is_open || m->shown.n == told)
        return;
    m->told = m->shown.n;
    run_tell_piece(f, m->type, (struct view){ m->shown.p + told, m->shown.n - told },
                   !told);
}

/* What is left to be shown of a message that was cut off: as the one who masks it knows
 * now that it was. */
static bool
rest_of_stump(struct run_message *m, struct view masked)
{
    if (masked.n < m->shown.n ||
        (m->shown.n && memcmp(masked.p, m->shown.p, m->shown.n) != 0))
        return true; /* what is held is not shown at all */
    return buf_append(&m->shown, masked.p + m->shown.n, masked.n - m->shown.n) == 0;
}

bool
run_message_whole(struct run_flow *f, const struct turn_event *e)
{
    struct run_message *m = &f->message;
    if (!is_of_it(m, e))
        return false;
    m->is_open = false;
    size_t said = m->said.n, told = m->told;
    if (m->said.failed || e->text.n < said ||
        (said && memcmp(e->text.p, m->said.p, said) != 0)) {
        run_tell_line_end(f);
        return false;
    }
    struct turn_event masked = run_mask_event(&f->mask, e);
    bool is_fine = true;
    if (e->was_cut_off)
        is_fine = rest_of_stump(m, masked.text);
    else if (redact_stream_feed(m->stream, e->text.p + said, e->text.n - said,
                                &m->shown) < 0 ||
             redact_stream_flush(m->stream, &m->shown) < 0)
        is_fine = false;
    if (!told && is_fine) /* nothing was shown: it is one like others */
        run_tell(f, &masked);
    else
        run_tell_rest(f, &masked, (struct view){ m->shown.p + told, m->shown.n - told });
    return true;
}
