/* SPDX-License-Identifier: MIT */
/*
 * talk.c -- the walk over the turns of a run, each masked, cleaned, and handed to a
 * format.
 *
 * Texts are masked as the events have them, and once more when they are clean: what is
 * not seen must not keep the two halves of a secret apart.
 */
#include "play/talk.h"

#include "play/clean.h"
#include "turn/clean.h"
#include "turn/show.h"
#include "turn/totals.h"

enum {
    FLUSH_AT = 64 << 10,
    TEXT_MAX = 512 << 20, /* of a turn, as everything in turns.c */
};

static const struct play_talk_format *const formats[] = {
    &play_talk_md, &play_talk_json, &play_talk_csv, &play_talk_txt, &play_talk_html,
};

const struct play_talk_format *
play_talk_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(formats[i]->name, name))
            return formats[i];
    return NULL;
}

struct walk {
    const struct play_talk_format *format;
    const struct play_talk_options *opt;
    play_write_fn write;
    void *ctx;
    struct play_about about;
    struct play_out out;
    struct buf bytes; /* made and not yet written */
    struct play_turns_mask masked;
    struct buf raw, text, name; /* a turn's, while it is made */
    struct turn_totals totals;
    uint64_t number; /* of the last turn */
    uint64_t shown;  /* turns */
    size_t event;    /* the next one */
    bool has_begun;
    bool is_stopped; /* by whom it is written for */
};

static void
walk_release(struct walk *w)
{
    buf_release(&w->bytes);
    buf_release(&w->raw);
    buf_release(&w->text);
    buf_release(&w->name);
    buf_release(&w->out.held);
    play_turns_mask_release(&w->masked);
    turn_totals_release(&w->totals);
}

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

/* -- notices -- */

static int
put_notice(struct walk *w, const char *text)
{
    w->format->notice(&w->out, (struct view){ (const uint8_t *)text, strlen(text) });
    w->out.items++;
    return flush(w, FLUSH_AT);
}

/* The head needs to know when it all began. */
static int
begin(struct walk *w, uint64_t start_ns)
{
    if (w->has_begun)
        return 0;
    w->has_begun = true;
    if (!w->about.start_ns)
        w->about.start_ns = start_ns;
    w->format->begin(&w->out);
    return w->about.is_masked ? 0
                              : put_notice(w, "secrets are not masked in this document");
}

/* A play_turns_bad_fn: what it cannot say, the next turn's flush does. */
static void
take_bad(void *ctx, uint64_t line)
{
    struct walk *w = ctx;
    AUTO(buf) text = { 0 };
    if (w->opt->bad)
        w->opt->bad(w->opt->ctx, line);
    if (begin(w, 0) < 0 || w->opt->first)
        return;
    buf_puts(&text, "line ");
    buf_put_u64(&text, line);
    buf_puts(&text, " of the events cannot be read");
    (void)put_notice(w, buf_str(&text));
}

/* -- texts -- */

static int
mask(const struct walk *w, struct view text, struct buf *ret)
{
    buf_clear(ret);
    ret->ceiling = TEXT_MAX;
    return w->opt->redact ? redact_text(w->opt->redact, text.p, text.n, ret)
                          : buf_append(ret, text.p, text.n);
}

/* As it is shown, but for the tag: a call's first line, two blanks before each other. */
static struct view
without_tag(const struct turn_event *e, struct buf *shown)
{
    static const struct turn_show opt = { .is_verbose = true, .is_whole = true };
    bool has_name = e->type == TURN_TOOL_CALL || e->type == TURN_OTHER;
    AUTO(buf) tag = { 0 };
    turn_show_tag(e, &opt, &tag);
    size_t skip = tag.n < shown->n ? tag.n : shown->n;
    const uint8_t *line = has_name ? memchr(shown->p, '\n', shown->n) : NULL;
    skip = line ? (size_t)(line + 1 - shown->p) : skip;
    size_t to = skip;
    for (size_t at = skip; at < shown->n;) {
        const uint8_t *end = memchr(shown->p + at, '\n', shown->n - at);
        size_t n = end ? (size_t)(end + 1 - shown->p) - at : shown->n - at;
        bool is_indented = (at > skip || has_name) && n > 2 && shown->p[at] == ' ' &&
                           shown->p[at + 1] == ' ';
        size_t indent = is_indented ? 2 : 0;
        memmove(shown->p + to, shown->p + at + indent, n - indent);
        to += n - indent;
        at += n;
    }
    return (struct view){ shown->p + skip, to - skip };
}

static bool
is_said(const struct turn_event *e)
{
    return e->type == TURN_TEXT || e->type == TURN_THINKING ||
           e->type == TURN_TOOL_RESULT || e->type == TURN_ERROR ||
           e->type == TURN_WARNING || e->type == TURN_STDERR;
}

static int
make_text(struct walk *w, const struct turn_event *e)
{
    static const struct turn_show opt = { .is_verbose = true, .is_whole = true };
    int r = 0;
    buf_clear(&w->raw);
    w->raw.ceiling = TEXT_MAX;
    if (!w->format->is_shown && is_said(e))
        turn_clean(e->text, &w->raw);
    else
        r = turn_show(e, &opt, &w->raw);
    struct view text = { w->raw.p, w->raw.n };
    if (!r && !w->format->is_shown && !is_said(e) && w->raw.n)
        text = without_tag(e, &w->raw);
    if (!r)
        r = w->raw.failed;
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    return r < 0 ? r : mask(w, text, &w->text);
}

/* -- snapshots and instructions -- */

static int
put_event(struct walk *w, const struct play_event *event)
{
    bool is_label = event->kind == PLAY_SNAPSHOT;
    buf_clear(&w->text);
    w->text.ceiling = TEXT_MAX;
    int r = play_clean_masked(w->opt->redact, event->text, is_label, &w->text);
    if (r < 0)
        return r;
    struct play_item item = {
        .kind = is_label ? PLAY_ITEM_SNAPSHOT : PLAY_ITEM_INSTRUCTION,
        .ts_ns = event->ts_ns,
        .text = { w->text.p, w->text.n },
        .event = event,
    };
    while (item.text.n && item.text.p[item.text.n - 1] == '\n')
        item.text.n--;
    w->format->event(&w->out, &item);
    w->out.items++;
    return flush(w, FLUSH_AT);
}

/* Those that came before a moment; is_all: the others, too. */
static int
put_events(struct walk *w, uint64_t ts_ns, bool is_all)
{
    const struct play_events *all = w->opt->first ? NULL : w->opt->events;
    int r = 0;
    for (; !r && all && w->event < all->count; w->event++) {
        struct play_event event = play_events_at(all, w->event);
        if (!is_all && (!event.ts_ns || event.ts_ns >= ts_ns))
            break;
        r = put_event(w, &event);
    }
    return r;
}

/* -- turns -- */

static const char *const titles[TURN_TYPES] = {
    [TURN_SESSION] = "Session",    [TURN_TEXT] = "Assistant",
    [TURN_THINKING] = "Thinking",  [TURN_TOOL_CALL] = "Tool call",
    [TURN_TOOL_RESULT] = "Result", [TURN_USAGE] = "Usage",
    [TURN_ERROR] = "Error",        [TURN_DONE] = "Done",
    [TURN_WARNING] = "Warning",    [TURN_STDERR] = "Standard error",
    [TURN_ARTIFACT] = "File",      [TURN_EXIT] = "End",
    [TURN_BRANCH] = "Branch",      [TURN_OTHER] = "Event",
};

static bool
has_name(const struct turn_event *e)
{
    return e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT ||
           e->type == TURN_OTHER;
}

static int
put_turn(struct walk *w, const struct turn_event *e, const struct turn_stamp *at)
{
    buf_clear(&w->name);
    int r = make_text(w, e);
    if (!r && has_name(e))
        r = play_clean_masked(w->opt->redact, e->name, true, &w->name);
    if (r < 0)
        return r;
    const struct play_turn turn = {
        .event = e,
        .number = w->number,
        .ts_ns = at->ts_ns,
        .title = e->is_user ? "User" : titles[e->type],
        .name = { w->name.p, w->name.n },
        .text = { w->text.p, w->text.n },
    };
    w->format->turn(&w->out, &turn);
    w->out.items++;
    w->shown++;
    return flush(w, FLUSH_AT);
}

static bool
is_wanted(const struct walk *w, const struct turn_event *e)
{
    const struct play_talk_options *o = w->opt;
    if (o->first)
        return w->number >= o->first && w->number <= o->last;
    if (e->type == TURN_OTHER && w->format->is_for_people && o->is_import)
        return false;
    return e->type != TURN_USAGE /* it is summed up */ && e->type != TURN_BRANCH;
}

/* A play_turn_fn. */
static int
take_turn(void *ctx, const struct turn_event *given, const struct turn_stamp *at)
{
    struct walk *w = ctx;
    struct turn_event e = *given;
    w->number++;
    if (w->opt->turn)
        w->opt->turn(w->opt->ctx, given);
    int r = turn_totals_add(&w->totals, given);
    if (!r)
        r = begin(w, at->start_ns ? at->start_ns : at->ts_ns);
    if (!r)
        r = put_events(w, at->ts_ns, false);
    if (r < 0 || !is_wanted(w, given) || (at->is_aside && !w->opt->first))
        return r;
    if (w->opt->redact)
        r = play_turns_mask(w->opt->redact, &e, &w->masked);
    return r < 0 ? r : put_turn(w, &e, at);
}

/* -- all -- */

static int
end(struct walk *w)
{
    const char *word = w->opt->ending && !w->opt->first ? w->opt->ending(w->opt->ctx)
                                                        : NULL;
    int r = begin(w, 0);
    if (!r)
        r = put_events(w, 0, true);
    if (!r && word)
        r = put_notice(w, word);
    const struct play_talk_sums sums = {
        .turns = w->number,
        .usage = turn_totals_usage(&w->totals),
        .calls = w->totals.is_known ? w->totals.calls : TURN_UNKNOWN,
    };
    if (!r)
        w->format->end(&w->out, w->opt->first ? NULL : &sums);
    return r < 0 ? r : flush(w, 0);
}

int
play_talk(const char *path, const struct play_talk_format *format,
          const struct play_talk_options *opt, play_write_fn write, void *ctx,
          struct err *err)
{
    AUTO(walk)
    w = { .format = format,
          .opt = opt,
          .write = write,
          .ctx = ctx,
          .about = *opt->about,
          .bytes.ceiling = SIZE_MAX /* a turn's, several times */ };
    w.out = (struct play_out){ .out = &w.bytes, .about = &w.about };
    w.out.json = (struct json){ .out = &w.bytes };
    const struct play_turns_options turns = { .is_growing = opt->is_growing,
                                              .has_asides = true,
                                              .fn = take_turn,
                                              .bad = take_bad,
                                              .ctx = &w };
    int r = play_turns_read(path, &turns, err);
    bool is_cut = r == ERR_DAMAGED; /* what there was is told to its end */
    if (r < 0 && !is_cut)
        return r;
    r = end(&w);
    if (r < 0 && !w.is_stopped)
        return err_code(err, r, "cannot make the document");
    return r < 0 ? r : is_cut ? ERR_DAMAGED : 0;
}
