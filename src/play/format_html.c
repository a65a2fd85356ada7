/* SPDX-License-Identifier: MIT */
/*
 * format_html.c -- one HTML document that needs nothing else and does nothing.
 *
 * There is no script. Its policy lets in the one style sheet by its hash, colours as
 * style attributes, and nothing from anywhere; but for that, a reader's safety is the
 * escaping in html_text.c. Lines are text with a newline behind them, in elements of some
 * hundred that a browser need not draw before they are in sight. A row that goes on in
 * the next one ends in a break that is only drawn: what is searched or copied is one
 * line.
 */
#include <inttypes.h>
#include <time.h>

#include "play/format_priv.h"
#include "play/html_priv.h"

enum {
    CHUNK_LINES_MAX = 1000, /* where one line has so many rows */
    CHUNK_LINES = 250,      /* html.css knows how high that is */
    NEAR_LINES = 20000,
    LIST_MAX = 2000, /* events in the list at the top */
    LABEL_MAX = 160, /* bytes of one's text there */
};

/* state[] of the format: lines in the open element, the index that follows the last
 * line's, flags, and from NAMES on what put_name() knows. */
enum { CHUNK, NEXT_INDEX, FLAGS, NAMES };
enum { IS_OPEN = 1, IS_ALTERNATE = 2, IS_WRAPPED = 4, IS_LONG = 8 };

/* -- what events are called -- */

static const struct {
    const char *name, *title;
} kinds[] = {
    [PLAY_SNAPSHOT] = { "snapshot", "Snapshot" },
    [PLAY_INSTRUCTION] = { "instruction", "Instruction" },
};

/* An element's id: "snapshot-45". A number that came before, or out of order, gets the
 * event's own behind it. `state` is zero before the first: how many there were, then by
 * kind the least number that is not taken. */
static void
put_name(struct buf *out, uint64_t state[3], const struct play_event *event)
{
    uint64_t *least = &state[1 + event->kind];
    bool is_free = event->id >= *least && event->id < UINT64_MAX;
    state[0]++;
    buf_printf(out, "%s-%" PRIu64, kinds[event->kind].name, event->id);
    if (is_free)
        *least = event->id + 1;
    else
        buf_printf(out, "-%" PRIu64, state[0]);
}

static void
put_when(struct play_out *o, uint64_t ts_ns)
{
    if (!ts_ns)
        return;
    buf_puts(o->out, " <span class=when>");
    play_put_clock(o->out, play_since_start(o, ts_ns));
    buf_puts(o->out, "</span>");
}

/* -- the head -- */

static void
put_facts(struct play_out *o)
{
    const struct play_about *about = o->about;
    buf_puts(o->out, "<p>");
    time_t start = (time_t)(about->start_ns / 1000000000);
    struct tm tm;
    char text[64];
    if (about->start_ns && gmtime_r(&start, &tm) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
        buf_printf(o->out, "%s, ", text);
    buf_printf(o->out, "%u × %u characters, %" PRIu64 " bytes</p>\n", about->cols,
               about->rows, about->total_bytes);
}

/* A text's beginning, as far as it fits into a line. */
static void
put_label(struct buf *out, struct view text)
{
    size_t n = 0;
    while (n < text.n && text.p[n] != '\n' && n < LABEL_MAX)
        n++;
    bool is_cut = n < text.n;
    while (is_cut && n && (text.p[n] & 0xc0) == 0x80)
        n--;
    play_html_text(out, (struct view){ text.p, n });
    if (is_cut)
        buf_puts(out, "…");
}

static void
put_list(struct play_out *o)
{
    const struct play_events *events = o->about->events;
    if (!events || !events->count)
        return;
    buf_puts(o->out, "<nav aria-labelledby=contents>\n"
                     "<h2 id=contents>Snapshots and instructions</h2>\n<ul>\n");
    uint64_t names[3] = { 0 };
    for (size_t i = 0; i < events->count && i < LIST_MAX; i++) {
        struct play_event event = play_events_at(events, i);
        buf_puts(o->out, "<li><a href=\"#");
        put_name(o->out, names, &event);
        buf_printf(o->out, "\">%s %" PRIu64 "</a>", kinds[event.kind].title, event.id);
        put_when(o, event.ts_ns);
        buf_puts(o->out, " <bdi>");
        put_label(o->out, event.text);
        buf_puts(o->out, "</bdi>\n");
    }
    if (events->count > LIST_MAX)
        buf_printf(o->out, "<li>and %zu more\n", events->count - LIST_MAX);
    buf_puts(o->out, "</ul>\n</nav>\n");
}

static void
begin(struct play_out *o)
{
    const struct play_about *about = o->about;
    play_html_head(o->out, about->title, play_html_style, play_html_style_hash);
    put_facts(o);
    buf_puts(o->out, "</header>\n");
    put_list(o);
    buf_printf(o->out,
               "<main translate=no tabindex=0 aria-label=\"Terminal\"%s "
               "style=\"--cols:%u\">\n",
               about->has_times ? " class=times" : "", about->cols);
}

/* -- lines -- */

static void
close_chunk(struct play_out *o)
{
    if (o->state[FLAGS] & IS_OPEN)
        buf_puts(o->out, "\n</pre>\n");
    o->state[FLAGS] = 0;
}

/* `flags`: those that an element has for all its lines. */
static void
open_chunk(struct play_out *o, uint64_t flags)
{
    bool is_far = flags & IS_LONG || o->lines > NEAR_LINES;
    bool is_alternate = flags & IS_ALTERNATE;
    static const char *const begin_by[] = { "<pre>\n", "<pre class=far>\n",
                                            "<pre class=alt>\n",
                                            "<pre class=\"alt far\">\n" };
    buf_puts(o->out, begin_by[2 * is_alternate + is_far]);
    o->state[CHUNK] = 0;
    o->state[FLAGS] = IS_OPEN | (flags & IS_ALTERNATE);
}

/* What stands between the line before and this one. */
static void
begin_line(struct play_out *o, const struct play_item *item)
{
    uint64_t flags = o->state[FLAGS];
    uint64_t alternate = item->line->is_alternate ? IS_ALTERNATE : 0;
    bool goes_on = flags & IS_WRAPPED && item->index == o->state[NEXT_INDEX];
    if (!(flags & IS_OPEN) || (flags & IS_ALTERNATE) != alternate) {
        close_chunk(o);
        open_chunk(o, alternate);
    } else if (o->state[CHUNK] >= CHUNK_LINES &&
               (!goes_on || o->state[CHUNK] >= CHUNK_LINES_MAX)) {
        close_chunk(o);
        open_chunk(o, alternate | IS_LONG);
    } else {
        buf_puts(o->out, goes_on ? "<i class=r></i>" : "\n");
    }
}

static void
put_line(struct play_out *o, const struct play_item *item)
{
    begin_line(o, item);
    if (o->about->has_times) {
        buf_puts(o->out, "<i data-t=\"");
        if (item->ts_ns)
            play_put_clock(o->out, play_since_start(o, item->ts_ns));
        else
            buf_puts(o->out, "           ");
        buf_puts(o->out, "\"></i>");
    }
    play_html_line(o->out, item->text, item->line);
    o->state[CHUNK]++;
    o->state[NEXT_INDEX] = item->index + 1;
    o->state[FLAGS] &= ~(uint64_t)IS_WRAPPED;
    o->state[FLAGS] |= item->line->is_wrapped ? IS_WRAPPED : 0;
}

/* -- what stands between lines -- */

static void
put_event(struct play_out *o, const struct play_item *item)
{
    AUTO(buf) name = { 0 };
    const struct play_event *event = item->event;
    put_name(&name, &o->state[NAMES], event);
    const char *id = buf_str(&name);
    buf_printf(o->out, "<section class=event id=\"%s\" aria-label=\"%s %" PRIu64 "\">",
               id, kinds[event->kind].title, event->id);
    buf_printf(o->out, "<h3><a href=\"#%s\">%s %" PRIu64 "</a>", id,
               kinds[event->kind].title, event->id);
    put_when(o, item->ts_ns);
    if (event->kind == PLAY_INSTRUCTION && !event->is_delivered)
        buf_puts(o->out, " <span class=when>not typed into the session</span>");
    buf_puts(o->out, "</h3>");
    if (item->text.n) {
        buf_puts(o->out, "<p dir=auto>");
        play_html_text(o->out, item->text);
        buf_puts(o->out, "</p>");
    }
    buf_puts(o->out, "</section>\n");
}

static void
put_item(struct play_out *o, const struct play_item *item)
{
    if (item->kind == PLAY_ITEM_LINE) {
        put_line(o, item);
        return;
    }
    close_chunk(o);
    if (item->kind != PLAY_ITEM_NOTICE) {
        put_event(o, item);
        return;
    }
    buf_puts(o->out, "<p class=note role=note>");
    play_html_text(o->out, item->text);
    buf_puts(o->out, "</p>\n");
}

static void
put_end(struct play_out *o)
{
    close_chunk(o);
    buf_puts(o->out, "</main>\n</body>\n</html>\n");
}

const struct play_format play_format_html = {
    .name = "html",
    .begin = begin,
    .item = put_item,
    .end = put_end,
    .wants_spans = true,
};
