/* SPDX-License-Identifier: MIT */
/* turn_kit.c -- an agent's output, decoded and written down: a line for each event. */
#include "support/turn_kit.h"

#include <stdlib.h>

static void
put_view(struct buf *out, const char *name, struct view v)
{
    if (!v.n)
        return;
    buf_printf(out, " %s=", name);
    buf_append(out, v.p, v.n);
}

static void
put_number(struct buf *out, const char *name, uint64_t v)
{
    if (v != TURN_UNKNOWN)
        buf_printf(out, " %s=%llu", name, (unsigned long long)v);
}

int
turn_kit_write(void *ctx, const struct turn_event *e)
{
    struct buf *out = ctx;
    buf_puts(out, turn_type_name(e->type));
    buf_puts(out, e->is_partial ? " partial" : "");
    buf_puts(out, e->is_user ? " user" : "");
    buf_puts(out, e->is_error ? " failed" : "");
    buf_puts(out, e->was_cut_off ? " cut off" : "");
    put_view(out, "id", e->id);
    put_view(out, "message", e->message);
    put_view(out, "parent", e->parent);
    put_view(out, "name", e->name);
    put_view(out, "model", e->model);
    put_view(out, "cwd", e->cwd);
    put_number(out, "in", e->usage.input_tokens);
    put_number(out, "out", e->usage.output_tokens);
    put_number(out, "made", e->usage.cache_creation_tokens);
    put_number(out, "read", e->usage.cache_read_tokens);
    put_number(out, "ms", e->duration_ms);
    put_number(out, "turns", e->turns);
    put_number(out, "microusd", e->cost_microusd);
    if (e->exit_code >= 0)
        buf_printf(out, " exit=%d", e->exit_code);
    if (e->type != TURN_DONE) /* its models are looked at by themselves */
        put_view(out, "json", e->json);
    if (e->text.p) {
        buf_puts(out, " \"");
        buf_append(out, e->text.p, e->text.n);
        buf_puts(out, "\"");
    }
    buf_puts(out, "\n");
    return out->failed;
}

static struct turn_decoder *
begin(enum turn_agent agent)
{
    struct turn_decoder *d;
    if (turn_decoder_new(&d, agent) < 0)
        abort();
    return d;
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct turn_decoder *d, const uint8_t *p, size_t n, struct buf *out)
{
    uint8_t *own = malloc(n ? n : 1);
    if (!own)
        abort();
    if (n)
        memcpy(own, p, n);
    if (turn_decoder_feed(d, (struct view){ own, n }, turn_kit_write, out) < 0)
        abort();
    free(own);
}

static void
end(struct turn_decoder *d, struct buf *out)
{
    if (turn_decoder_end(d, turn_kit_write, out) < 0)
        abort();
    turn_decoder_free(d);
}

void
turn_kit_decode(enum turn_agent agent, struct view bytes, size_t step, struct buf *out)
{
    struct turn_decoder *d = begin(agent);
    for (size_t at = 0; at < bytes.n; at += step)
        feed(d, bytes.p + at, step < bytes.n - at ? step : bytes.n - at, out);
    end(d, out);
}

void
turn_kit_decode_cut(enum turn_agent agent, struct view bytes, struct view cuts,
                    struct buf *out)
{
    struct turn_decoder *d = begin(agent);
    for (size_t at = 0, i = 0; at < bytes.n; i++) {
        size_t n = cuts.n ? cuts.p[i % cuts.n] : bytes.n;
        n = n < bytes.n - at ? n + !n : bytes.n - at;
        feed(d, bytes.p + at, n, out);
        at += n;
    }
    end(d, out);
}
