/* SPDX-License-Identifier: MIT */
#include "run/mask_priv.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_in.h"
#include "redact/json.h"

enum {
    KEPT_MAX = 4 << 20, /* memory that stays in each buffer */
    WORD_MAX = 4 << 10, /* bytes of a word that is remembered */
};

static const char unmasked[] = "[left out: it could not be searched for secrets]";

void
run_mask_release(struct run_mask *m)
{
    struct run_word *words[] = { &m->id,   &m->message, &m->parent,
                                 &m->name, &m->model,   &m->cwd };
    buf_release(&m->text);
    buf_release(&m->json);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        buf_release(&words[i]->given);
        buf_release(&words[i]->masked);
    }
}

void
run_mask_text(struct redact *redact, struct view text, struct buf *out)
{
    size_t before = out->n;
    if (!text.n || !redact_text(redact, text.p, text.n, out))
        return;
    out->n = before;
    out->failed = 0;
    buf_puts(out, unmasked);
}

static void
empty(struct buf *room)
{
    buf_clear(room);
    if (room->cap > KEPT_MAX)
        buf_release(room);
}

static struct view
mask(struct run_mask *m, struct view text, struct buf *room)
{
    empty(room);
    room->ceiling = RUN_TEXT_MAX;
    run_mask_text(m->redact, text, room);
    return (struct view){ room->p, room->n };
}

static struct view
mask_word(struct run_mask *m, struct view text, struct run_word *w)
{
    bool is_known = w->given.n == text.n && text.n && !memcmp(w->given.p, text.p, text.n);
    if (!text.n || is_known)
        return text.n ? (struct view){ w->masked.p, w->masked.n } : text;
    buf_clear(&w->given);
    if (text.n <= WORD_MAX)
        buf_append(&w->given, text.p, text.n);
    return mask(m, text, &w->masked);
}

static int
put_stump(struct redact *redact, struct view text, struct buf *out)
{
    struct redact_stream *s = NULL;
    int r = redact_stream_new(&s, redact, &(struct redact_options){ 0 });
    if (!r)
        r = redact_stream_feed(s, text.p, text.n, out);
    if (!r)
        r = redact_stream_flush(s, out);
    redact_stream_free(s);
    return r;
}

/* A text that was cut off may end in the middle of a secret; and so may one in which an
 * ellipsis stands for what was left out. */
static struct view
mask_stump(struct run_mask *m, struct view text, struct buf *room)
{
    static const char ellipsis[] = "…";
    size_t n = text.n, size = sizeof(ellipsis) - 1;
    while (n > size && memcmp(text.p + n - size, ellipsis, size) != 0)
        n--;
    size_t cut = n > size ? n - size : text.n;
    empty(room);
    room->ceiling = RUN_TEXT_MAX;
    int r = put_stump(m->redact, (struct view){ text.p, cut }, room);
    if (!r && cut < text.n)
        r = put_stump(m->redact, (struct view){ text.p + cut, text.n - cut }, room);
    if (r < 0) {
        buf_clear(room);
        buf_puts(room, unmasked);
    }
    return (struct view){ room->p, room->n };
}

/* A mask over more than one string would leave what is no JSON: then it is a text. */
static struct view
mask_json(struct run_mask *m, struct view json)
{
    empty(&m->json);
    m->json.ceiling = RUN_TEXT_MAX;
    if (!json.n)
        return json;
    int r = redact_json(m->redact, json, &m->json);
    if (!r && json_in_is_one((struct view){ m->json.p, m->json.n }))
        return (struct view){ m->json.p, m->json.n };
    AUTO(buf) quoted = { .ceiling = RUN_TEXT_MAX };
    struct json j = { .out = &quoted };
    if (r < 0)
        json_str(&j, unmasked);
    else
        json_bytes(&j, (struct view){ m->json.p, m->json.n });
    buf_clear(&m->json);
    buf_append(&m->json, quoted.p, quoted.n);
    return (struct view){ m->json.p, m->json.n };
}

struct turn_event
run_mask_event(struct run_mask *m, const struct turn_event *e)
{
    struct turn_event masked = *e;
    bool is_cut = e->was_cut_off || e->type == TURN_WARNING;
    masked.text = is_cut ? mask_stump(m, e->text, &m->text) : mask(m, e->text, &m->text);
    masked.json = mask_json(m, e->json);
    masked.id = mask_word(m, e->id, &m->id);
    masked.message = mask_word(m, e->message, &m->message);
    masked.parent = mask_word(m, e->parent, &m->parent);
    masked.name = mask_word(m, e->name, &m->name);
    masked.model = mask_word(m, e->model, &m->model);
    masked.cwd = mask_word(m, e->cwd, &m->cwd);
    return masked;
}

/* -- lines of one text -- */

int
run_lines_init(struct run_lines *l, struct redact *redact)
{
    *l = (struct run_lines){ .line.ceiling = (size_t)4 * RUN_LINE_MAX };
    return redact_stream_new(&l->stream, redact, &(struct redact_options){ 0 });
}

void
run_lines_release(struct run_lines *l)
{
    redact_stream_free(l->stream);
    buf_release(&l->line);
}

static void
drop(struct run_lines *l, size_t n)
{
    l->line.n -= n;
    if (l->line.n)
        memmove(l->line.p, l->line.p + n, l->line.n);
    l->told = 0;
}

static void
hand_out(struct run_lines *l, run_line_fn fn, void *ctx)
{
    size_t at = 0;
    const uint8_t *end;
    while (at < l->line.n && (end = memchr(l->line.p + at, '\n', l->line.n - at))) {
        size_t n = (size_t)(end - (l->line.p + at));
        fn(ctx, (struct view){ l->line.p + at, n }, l->told);
        l->told = 0;
        at += n + 1;
    }
    if (at)
        drop(l, at);
    if (l->line.n > RUN_LINE_MAX)
        run_lines_cut(l, fn, ctx);
    if (!l->line.n)
        l->held_ns = 0;
    else if (!l->held_ns || at)
        l->held_ns = clock_mono_ns();
}

void
run_lines_feed(struct run_lines *l, struct view bytes, run_line_fn fn, void *ctx)
{
    while (bytes.n) {
        size_t n = bytes.n < RUN_LINE_MAX ? bytes.n : RUN_LINE_MAX;
        /* Without memory it hands out nothing, and so do we. */
        if (redact_stream_feed(l->stream, bytes.p, n, &l->line) < 0)
            l->line.failed = 0;
        hand_out(l, fn, ctx);
        bytes = (struct view){ bytes.p + n, bytes.n - n };
    }
}

struct view
run_lines_piece(struct run_lines *l)
{
    struct view v = { l->line.p + l->told, l->line.n - l->told };
    l->told = l->line.n;
    return v;
}

void
run_lines_cut(struct run_lines *l, run_line_fn fn, void *ctx)
{
    if (!l->line.n)
        return;
    fn(ctx, (struct view){ l->line.p, l->line.n }, l->told);
    drop(l, l->line.n);
    l->held_ns = 0;
}

void
run_lines_end(struct run_lines *l, run_line_fn fn, void *ctx)
{
    if (redact_stream_flush(l->stream, &l->line) < 0)
        l->line.failed = 0;
    hand_out(l, fn, ctx);
    run_lines_cut(l, fn, ctx);
}
