/* SPDX-License-Identifier: MIT */
#include "client/bytes_priv.h"

enum { FILL_STEP = 4 << 20 }; /* read from the recording at once */

static int
put_bytes(void *ctx, struct view v)
{
    struct show *s = ctx;
    pty_output_put(&s->out, v);
    return s->out.is_gone ? -1 : 0;
}

bool
bytes_is_filling(const struct show *s)
{
    return s->fill_to > s->next_off && !s->out.is_gone;
}

void
bytes_fill(struct show *s)
{
    if (!bytes_is_filling(s) || pty_output_waiting(&s->out) >= BYTES_PENDING_MAX)
        return;
    uint64_t to = s->fill_to - s->next_off > FILL_STEP ? s->next_off + FILL_STEP
                                                       : s->fill_to;
    uint64_t done = model_copy(&s->model.tape, s->next_off, to, put_bytes, s);
    if (done == s->next_off) { /* waiting would not help */
        s->lost += to - done;
        done = to;
    }
    s->next_off = done;
}

void
bytes_take(struct show *s, uint64_t off, struct view v)
{
    uint64_t end = off + v.n;
    /* Who holds nobody up reads on; the recording has it for later. */
    bool is_full = (s->opt->kind == CLIENT_WATCH || s->is_stopping) &&
                   pty_output_waiting(&s->out) >= BYTES_PENDING_MAX;
    if (end <= s->next_off)
        return;
    if (bytes_is_filling(s) || is_full || off > s->next_off) {
        s->fill_to = end;
        return;
    }
    uint64_t done = s->next_off - off;
    pty_output_put(&s->out, (struct view){ v.p + done, v.n - (size_t)done });
    s->next_off = end;
}
