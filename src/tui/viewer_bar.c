/* SPDX-License-Identifier: MIT */
/*
 * viewer_bar.c -- the viewer's status line, over the last row: what the session is and
 * what is wrong with it, the keys there are, what is asked.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "term/text.h"
#include "tui/parts_priv.h"
#include "tui/status_priv.h"
#include "tui/viewer_priv.h"

enum { GAP = 2, NAME_COLS = 40 };

/* Where there is no room, the last ones go first. */
enum rank { TROUBLE, NOTE, STATE, PLACE, SIZE, HELP, TIME, NAME, BYTES, SNAPSHOTS, HINT };

bool
tui_viewer_has_bar(const struct tui_viewer *v)
{
    bool has_trouble = *v->trouble && !v->is_trouble_hidden;
    return tui_viewer_is_open(v) || v->prefix.is_held || has_trouble || v->note_until_ns;
}

/* -- what is known of the session -- */

bool
tui_viewer_elapsed(const struct tui_viewer *v, uint64_t *ret_ns)
{
    if (!v->opt.is_live || v->is_ended || !v->opt.clock.real_ns)
        return false;
    *ret_ns = clock_now_ns(&v->opt.clock) - v->opt.clock.real_ns;
    return true;
}

/* … and how long it took, once that is over. */
static bool
time_of(const struct tui_viewer *v, uint64_t *ret_ns)
{
    const struct tui_source *s = v->source;
    *ret_ns = v->took_ns;
    if (tui_viewer_elapsed(v, ret_ns) || *ret_ns)
        return true;
    uint64_t end_ns = s->stamps ? play_stamps_time(s->stamps, s->bytes) : 0;
    if (!s->start_ts_ns || end_ns < s->start_ts_ns)
        return false;
    *ret_ns = end_ns - s->start_ts_ns;
    return true;
}

/* "512 B", "1.2 kB", "31 MB". */
static void
put_bytes(uint64_t n, struct buf *out)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    unsigned unit = 0, tenths = 0;
    while (n >= 1000) {
        tenths = (unsigned)(n % 1000 / 100);
        n /= 1000;
        unit++;
    }
    buf_put_u64(out, n);
    if (unit && n < 10)
        buf_printf(out, ".%u", tenths);
    buf_printf(out, " %s", units[unit]);
}

static size_t
count_snapshots(const struct tui_source *s)
{
    size_t count = 0;
    for (size_t i = 0; s->events && i < s->events->count; i++)
        count += play_events_at(s->events, i).kind == PLAY_SNAPSHOT;
    return count;
}

/* -- its parts -- */

static void
end(struct tui_parts *p, enum rank rank)
{
    bool is_long = rank == TROUBLE || rank == NOTE || rank == NAME;
    tui_parts_end(p, rank, GAP, is_long);
}

static void
add_text(struct tui_parts *p, const char *text, unsigned cols, enum rank rank)
{
    term_text_put(p->widths, term_text(text), cols, &p->text);
    end(p, rank);
}

static void
add_state(const struct tui_viewer *v, struct tui_parts *p)
{
    if (v->is_ended) {
        buf_puts(&p->text, "■ ended");
        if (*v->how)
            buf_puts(&p->text, ": ");
        term_text_put(p->widths, term_text(v->how), NAME_COLS, &p->text);
        buf_puts(&p->text, "; q leaves");
    } else {
        buf_puts(&p->text, v->opt.is_live ? "● REC" : "■");
    }
    end(p, STATE);
}

static void
add_place(const struct tui_viewer *v, struct tui_parts *p)
{
    const struct tui_review *r = &v->review;
    uint64_t all = term_book_end(&r->book);
    if (!v->is_back || !all)
        return;
    buf_printf(&p->text, "line %" PRIu64 " of %" PRIu64, r->at + 1, all);
    end(p, PLACE);
    if (r->filter.n) {
        buf_puts(&p->text, "&");
        term_text_put(p->widths, (struct view){ r->filter.p, r->filter.n }, NAME_COLS / 2,
                      &p->text);
        end(p, PLACE);
    }
}

static void
add_facts(const struct tui_viewer *v, struct tui_parts *p)
{
    const struct tui_stage *s = &v->stage;
    uint64_t ns;
    size_t snapshots = count_snapshots(v->source);
    add_text(p, v->opt.name, NAME_COLS, NAME);
    add_place(v, p);
    if (time_of(v, &ns)) {
        tui_status_time(ns, false, &p->text);
        end(p, TIME);
    }
    if (!v->is_back && v->source->term && s->is_cropped) {
        buf_printf(&p->text, "%ux%u of %ux%u", s->window.cols, s->window.rows,
                   s->session_cols, s->session_rows);
        end(p, SIZE);
    }
    put_bytes(v->source->bytes, &p->text);
    end(p, BYTES);
    if (snapshots)
        buf_printf(&p->text, "%zu snapshot%s", snapshots, snapshots == 1 ? "" : "s");
    end(p, SNAPSHOTS);
}

static void
add_hints(const struct tui_viewer *v, struct tui_parts *p)
{
    /* The ways out before the rest: on 80 columns there is no room for all. */
    static const char *const live[] = { "v review", "d detach", "q quit", "s snapshot",
                                        "i instruct" };
    bool is_held = v->prefix.is_held;
    if (is_held || (v->opt.is_watcher && !v->is_back)) {
        for (unsigned i = 0; i < sizeof(live) / sizeof(live[0]); i++)
            add_text(p, live[i], UINT16_MAX, (enum rank)(HINT + i));
        add_text(p, "? help", UINT16_MAX, HELP);
    } else if (v->is_back && v->review.has_draft) {
        add_text(p, "^S submit", UINT16_MAX, HELP);
        add_text(p, "Esc cancel", UINT16_MAX, HINT);
        add_text(p, "^E $EDITOR", UINT16_MAX, (enum rank)(HINT + 1));
    } else if (v->is_back) {
        add_text(p, "h help", UINT16_MAX, HELP);
        if (!v->is_ended)
            add_text(p, v->opt.is_live ? "q back" : "q quit", UINT16_MAX, HINT);
    }
}

static const char *
note_of(const struct tui_viewer *v)
{
    if (v->note_until_ns)
        return v->note;
    return v->is_back ? v->review.note : "";
}

/* What is typed of a command that needs more. */
static void
add_typed(const struct tui_viewer *v, struct tui_parts *p)
{
    const struct tui_review *r = &v->review;
    if (!v->is_back)
        return;
    if (r->pending == 'm' || r->pending == '\'')
        buf_puts(&p->text, r->pending == 'm' ? "mark: " : "go to mark: ");
    else if (r->has_count)
        buf_printf(&p->text, ":%u", r->count);
    end(p, NOTE);
}

/* -- the line -- */

/* "cannot write '/a/long/path': No space left on device": where it has no room, the
 * reason is what matters. */
static const char *
trouble_of(struct tui_viewer *v, unsigned cols)
{
    const char *reason = strstr(v->trouble, "': ");
    bool has_room = term_text_cols(&v->widths, term_text(v->trouble)) <= cols;
    return has_room || !reason ? v->trouble : reason + 3;
}

static void
put_status(struct tui_viewer *v, unsigned cols, struct buf *out)
{
    AUTO(tui_parts) p = { .widths = &v->widths };
    /* What was asked for is told beside it. */
    unsigned room = v->note_until_ns || v->prefix.is_held ? cols / 2 : TUI_VIEWER_TEXT;
    if (!v->is_trouble_hidden)
        add_text(&p, trouble_of(v, room < cols ? room : cols), room, TROUBLE);
    add_typed(v, &p);
    add_text(&p, note_of(v), TUI_VIEWER_TEXT, NOTE);
    add_state(v, &p);
    add_facts(v, &p);
    add_hints(v, &p);
    tui_parts_fit(&p, cols);
    for (size_t i = 0; i < p.count; i++) {
        bool is_loud = p.part[i].rank == TROUBLE;
        for (unsigned n = tui_parts_gap(&p, i); n; n--)
            buf_puts(out, " ");
        if (is_loud)
            buf_puts(out, v->opt.has_colours ? "\033[0;1;97;41m" : "\033[0;1;7m");
        tui_parts_put(&p, i, cols, out);
        if (is_loud)
            buf_puts(out, "\033[0;7m");
    }
}

static const char *
question_of(const struct tui_viewer *v)
{
    switch (v->question) {
    case TUI_QUESTION_QUIT:
        return "the command still runs: s stop it  d detach  c cancel";
    case TUI_QUESTION_DELIVER:
        return "type it to the agent now? y yes  n no  Y always  N never";
    case TUI_QUESTION_NONE:
        break;
    }
    return "";
}

/* The same where the terminal is narrow. */
static const char *
short_question(const struct tui_viewer *v)
{
    switch (v->question) {
    case TUI_QUESTION_QUIT:
        return "s stop  d detach  c cancel";
    case TUI_QUESTION_DELIVER:
        return "type it now? y n Y N";
    case TUI_QUESTION_NONE:
        break;
    }
    return "";
}

static void
put_question(struct tui_viewer *v, unsigned cols, struct buf *out)
{
    struct view text = term_text(question_of(v));
    if (term_text_cols(&v->widths, text) > cols)
        text = term_text(short_question(v));
    buf_puts(out, "\033[1m");
    term_text_put(&v->widths, text, cols, out);
}

void
tui_viewer_put_bar(struct tui_viewer *v, struct buf *out, unsigned *ret_col)
{
    unsigned cols = term_cols(v->canvas.want), rows = term_rows(v->canvas.want);
    struct tui_prompt *prompt = v->prompt.is_open ? &v->prompt : NULL;
    if (!prompt && v->is_back && v->review.prompt.is_open)
        prompt = &v->review.prompt;
    buf_printf(out, "\033[%uH\033[0;7m\033[%uX", rows, cols);
    if (v->question) {
        put_question(v, cols, out);
    } else if (prompt) {
        tui_prompt_put(prompt, cols, &v->widths, out, ret_col);
        *ret_col = *ret_col < cols ? *ret_col : cols - 1;
    } else {
        put_status(v, cols, out);
    }
    buf_puts(out, "\033[m");
}
