/* SPDX-License-Identifier: MIT */
/*
 * report.c -- the walk over a session's final lines, with what stands between them.
 *
 * Lines go straight from the model to the format, one at a time; only an order that is
 * not theirs keeps them all.
 */
#include "play/report.h"

#include <errno.h>
#include <inttypes.h>

#include "play/clean.h"
#include "play/kept_priv.h"
#include "play/mask_priv.h"
#include "play/merge_priv.h"
#include "play/times_priv.h"

enum { FLUSH_AT = 64 << 10 };

struct walk {
    const struct play_loaded *loaded;
    const struct play_format *format;
    const struct play_report_options *opt;
    play_write_fn write;
    void *ctx;
    struct play_mask *mask;    /* NULL: nothing is masked */
    struct play_times times;   /* for has_times */
    struct play_kept kept;     /* for the order by position */
    struct play_events events; /* as they are shown */
    struct play_merge merge;
    struct play_about about;
    struct play_out out;
    struct buf bytes;          /* made and not yet written */
    struct buf scratch, clean; /* a text while it is made */
    struct buf title;
    uint64_t lines;    /* that have come, shown or not */
    uint64_t left_out; /* events over the ceilings of a list */
    bool is_stopped;   /* by whom it is written for */
};

/* -- items -- */

static int
flush(struct walk *w, size_t at)
{
    int e = w->bytes.failed ? w->bytes.failed : w->out.held.failed;
    if (e >= 0 && w->bytes.n > at) {
        e = w->write(w->ctx, (struct view){ w->bytes.p, w->bytes.n });
        w->is_stopped = e < 0;
        buf_clear(&w->bytes);
    }
    return e;
}

static int
put_item(struct walk *w, const struct play_item *item)
{
    w->out.items++;
    w->out.lines += item->kind == PLAY_ITEM_LINE;
    w->format->item(&w->out, item);
    return flush(w, FLUSH_AT);
}

static int
put_event(struct walk *w, size_t i)
{
    struct play_event event = play_events_at(&w->events, i);
    struct play_item item = {
        .kind = event.kind == PLAY_SNAPSHOT ? PLAY_ITEM_SNAPSHOT : PLAY_ITEM_INSTRUCTION,
        .position = event.anchor_byte,
        .ts_ns = event.ts_ns,
        .text = event.text,
        .event = &event,
    };
    return put_item(w, &item);
}

/* "<before><n><after>"; after NULL: without the number. */
static int
put_notice(struct walk *w, uint64_t position, const char *before, uint64_t n,
           const char *after)
{
    if (!w->opt->has_notices)
        return 0;
    buf_clear(&w->scratch);
    buf_puts(&w->scratch, before);
    if (after) {
        buf_put_u64(&w->scratch, n);
        buf_puts(&w->scratch, after);
    }
    struct play_item item = {
        .kind = PLAY_ITEM_NOTICE,
        .position = position,
        .text = { w->scratch.p, w->scratch.n },
    };
    return w->scratch.failed ? w->scratch.failed : put_item(w, &item);
}

static int
put_gap(struct walk *w, const struct play_gap *gap)
{
    if (gap->byte_off < w->opt->from_byte)
        return 0;
    return put_notice(w, gap->byte_off, "", gap->bytes,
                      gap->is_recorded
                          ? " bytes were not recorded here"
                          : " bytes are missing here: the recording is damaged");
}

/* What is true of the whole. */
static int
put_head_notices(struct walk *w)
{
    const struct play_loaded *l = w->loaded;
    const struct {
        uint64_t n; /* 0: not so */
        const char *before, *after;
    } notices[] = {
        { !w->about.is_masked, "secrets are not masked in this document", NULL },
        { term_scrollback_dropped(l->term), "the oldest ", " rows were dropped" },
        { term_alternate_dropped(l->term), "the oldest ",
          " rows of the alternate screen were dropped" },
        { l->gaps_left_out, "", " more gaps are not shown" },
        { l->events_left_out + w->left_out, "",
          " more snapshots or instructions are not shown" },
    };
    int e = 0;
    for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]) && !e; i++)
        if (notices[i].n)
            e = put_notice(w, 0, notices[i].before, notices[i].n, notices[i].after);
    return e;
}

/* -- lines -- */

static int
put_moments(struct walk *w, const uint64_t *last_write_byte)
{
    size_t i;
    int e = 0;
    enum play_merge_kind kind;
    while (!e && (kind = play_merge_next(&w->merge, last_write_byte, &i)))
        e = kind == PLAY_MERGE_EVENT ? put_event(w, i) : put_gap(w, &w->merge.gaps[i]);
    return e;
}

static int
put_line(struct walk *w, const struct term_line *line, uint64_t index)
{
    if (w->opt->from_byte && line->last_write_byte <= w->opt->from_byte)
        return 0;
    int e = put_moments(w, &line->last_write_byte);
    struct play_item item = {
        .kind = PLAY_ITEM_LINE,
        .position = line->last_write_byte,
        .index = index,
        .ts_ns = play_times_at(&w->times, line->last_write_byte),
        .text = { line->text.p, line->text.n },
        .line = line,
    };
    return e < 0 ? e : put_item(w, &item);
}

/* A term_line_fn. */
static int
take_line(void *ctx, const struct term_line *line)
{
    struct walk *w = ctx;
    if (w->opt->order == PLAY_POSITION)
        return play_kept_add(&w->kept, line, w->lines++, w->format->wants_spans);
    return put_line(w, line, w->lines++);
}

static int
put_kept(struct walk *w)
{
    int e = 0;
    play_kept_sort(&w->kept);
    for (size_t i = 0; i < play_kept_count(&w->kept) && !e; i++) {
        const struct play_kept_head *head = play_kept_head(&w->kept, i);
        uint8_t *text = head->text_len ? w->kept.texts.p + head->text_at : NULL;
        struct term_line line = play_kept_line(&w->kept, i, text);
        e = put_line(w, &line, head->index);
    }
    return e;
}

static int
put_lines(struct walk *w)
{
    const struct term *t = w->loaded->term;
    bool is_kept = w->opt->order == PLAY_POSITION;
    int e = w->mask ? play_mask_lines(w->mask, t, w->format->wants_spans, is_kept,
                                      take_line, w)
                    : term_final_lines(t, take_line, w);
    return e < 0 ? e : put_kept(w);
}

/* -- texts that people gave -- */

/* Appends to out what the document shows of it. */
static int
take_text(struct walk *w, struct view text, bool is_one_line, struct buf *out)
{
    buf_clear(&w->clean);
    int e = play_clean(text, is_one_line, w->mask ? &w->clean : out);
    if (e < 0 || !w->mask)
        return e;
    return play_mask_text(w->mask, (struct view){ w->clean.p, w->clean.n }, out);
}

static bool
is_wanted(const struct walk *w, const struct play_event *event)
{
    bool is_kind = event->kind == PLAY_SNAPSHOT ? w->opt->has_snapshots
                                                : w->opt->has_instructions;
    return is_kind && !w->format->is_lines && event->anchor_byte >= w->opt->from_byte;
}

/* Those that are shown, with their texts as they are shown. */
static int
take_events(struct walk *w, const struct play_events *events)
{
    for (size_t i = 0; events && i < events->count; i++) {
        struct play_event event = play_events_at(events, i);
        if (!is_wanted(w, &event))
            continue;
        buf_clear(&w->scratch);
        int e = take_text(w, event.text, event.kind == PLAY_SNAPSHOT, &w->scratch);
        event.text = (struct view){ w->scratch.p, w->scratch.n };
        if (!e)
            e = play_events_add(&w->events, &event);
        w->left_out += e == ERR_LIMIT;
        if (e < 0 && e != ERR_LIMIT)
            return e;
    }
    return 0;
}

static int
take_title(struct walk *w)
{
    const char *title = w->about.title;
    if (!title)
        return 0;
    int e = take_text(w, (struct view){ (const uint8_t *)title, strlen(title) }, true,
                      &w->title);
    w->about.title = buf_str(&w->title);
    return e < 0 ? e : w->title.failed;
}

/* -- all -- */

static int
prepare(struct walk *w, const struct play_events *events, struct err *err)
{
    const struct play_report_options *opt = w->opt;
    int e = opt->redact ? play_mask_new(&w->mask, opt->redact) : 0;
    if (e >= 0)
        e = take_title(w);
    if (e >= 0)
        e = take_events(w, events);
    if (e < 0)
        return err_code(err, e, "cannot make the report");
    if (!opt->has_times)
        return 0;
    return play_times_read(&w->times, w->loaded, opt->io, opt->path, err);
}

static int
walk(struct walk *w)
{
    w->format->begin(&w->out);
    int e = put_head_notices(w);
    if (e >= 0)
        e = put_lines(w);
    if (e >= 0)
        e = put_moments(w, NULL);
    if (e < 0)
        return e;
    w->format->end(&w->out);
    return flush(w, 0);
}

static void
release(struct walk *w)
{
    play_mask_free(w->mask);
    play_times_release(&w->times);
    play_kept_release(&w->kept);
    play_events_release(&w->events);
    buf_release(&w->bytes);
    buf_release(&w->scratch);
    buf_release(&w->clean);
    buf_release(&w->title);
    buf_release(&w->out.held);
}

int
play_report(const struct play_loaded *l, const struct play_events *events,
            const struct play_format *format, const struct play_report_options *opt,
            play_write_fn write, void *ctx, struct err *err)
{
    struct walk w = {
        .loaded = l,
        .format = format,
        .opt = opt,
        .write = write,
        .ctx = ctx,
        .about = *opt->about,
    };
    w.about.events = &w.events;
    w.out = (struct play_out){ .out = &w.bytes, .about = &w.about };
    w.merge = (struct play_merge){
        .events = &w.events,
        .gaps = (const void *)l->gaps.p,
        .n_gaps = l->gaps.n / sizeof(struct play_gap),
    };
    int e = prepare(&w, events, err);
    if (e >= 0) {
        e = walk(&w);
        if (e < 0 && !w.is_stopped)
            err_code(err, e, "cannot make the report");
    }
    release(&w);
    return e;
}
