/* SPDX-License-Identifier: MIT */
/*
 * viewer_keys.c -- what a key does that is for the viewer: behind the prefix, in review
 * mode and its draft, in a question, a prompt, the help.
 */
#include "tui/save.h"
#include "tui/viewer_priv.h"

static void
wish_for(struct tui_viewer *v, enum tui_wish_kind kind)
{
    tui_viewer_ask(v, &(struct tui_wish){ .kind = kind,
                                          .anchor_byte = PLAY_NONE,
                                          .snapshot_id = PLAY_NONE,
                                          .row = UINT32_MAX });
}

static bool
is_char(struct tui_key key, uint32_t rune)
{
    return key.kind == TUI_KEY_CHAR && key.rune == rune && !key.has_ctrl &&
           !key.has_alt && !key.is_pasted;
}

static bool
is_ctrl(struct tui_key key, uint32_t rune)
{
    return key.kind == TUI_KEY_CHAR && key.rune == rune && key.has_ctrl && !key.has_alt &&
           !key.is_pasted;
}

/* -- in and out of review mode -- */

void
tui_viewer_enter_review(struct tui_viewer *v)
{
    if (v->is_back)
        return;
    v->is_back = v->is_stale = true;
    v->is_now = false;
    if (v->has_review) { /* at the end again, as the live picture shows it */
        v->review.follows = v->is_touched = true;
        tui_viewer_refresh(v);
    }
}

static void
leave_review(struct tui_viewer *v)
{
    if (v->review.has_draft)
        tui_review_end_draft(&v->review);
    v->is_now = false;
    v->is_stale = true;
    if (v->opt.is_live)
        v->is_back = false;
    else
        wish_for(v, TUI_WISH_LEAVE);
}

/* -- instructions -- */

static void
end_draft(struct tui_viewer *v)
{
    tui_review_end_draft(&v->review);
    if (v->is_now)
        leave_review(v);
}

/* What was refused is there again. */
static void
open_draft(struct tui_viewer *v, bool is_now)
{
    tui_review_draft(&v->review, is_now);
    if (!v->is_refused || !v->review.has_draft)
        return;
    tui_draft_set(&v->review.draft, (struct view){ v->submitted.p, v->submitted.n });
    v->is_refused = false;
}

/* Is it about what the session does now? */
static bool
is_about_now(const struct tui_viewer *v)
{
    return v->opt.is_live && !v->is_ended && v->review.draft_is_now;
}

static void
submit(struct tui_viewer *v, bool is_typed)
{
    const struct tui_review *r = &v->review;
    bool is_now = is_about_now(v);
    uint64_t line = r->draft_line;
    buf_clear(&v->submitted);
    buf_append(&v->submitted, r->draft.text.p, r->draft.text.n);
    tui_viewer_ask(v, &(struct tui_wish){
                          .kind = TUI_WISH_INSTRUCT,
                          .text = { r->draft.text.p, r->draft.text.n },
                          .anchor_byte = is_now ? PLAY_NONE : r->draft_anchor,
                          .snapshot_id = r->draft_snapshot_id,
                          .row = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX,
                          .is_typed = is_typed && is_now,
                      });
    end_draft(v);
}

static void
submit_or_ask(struct tui_viewer *v)
{
    if (tui_draft_is_empty(&v->review.draft))
        end_draft(v);
    else if (!is_about_now(v))
        submit(v, false);
    else if (v->opt.deliver == TUI_DELIVER_ASK)
        v->question = TUI_QUESTION_DELIVER;
    else
        submit(v, v->opt.deliver == TUI_DELIVER_YES);
}

/* -- what the prefix commands -- */

/* Before somebody writes what nobody will take. */
static bool
is_only_looking(struct tui_viewer *v)
{
    if (!v->opt.is_watcher)
        return false;
    tui_viewer_say(v, "a watcher only looks", 0);
    v->note_until_ns = TUI_VIEWER_FRESH;
    return true;
}

static void
ask_label(struct tui_viewer *v)
{
    if (!is_only_looking(v))
        tui_prompt_open(&v->prompt, "label: ", (struct view){ NULL, 0 });
}

static void
instruct_now(struct tui_viewer *v)
{
    bool was_back = v->is_back;
    if (is_only_looking(v) || !tui_viewer_has_pages(v))
        return; /* there is nothing yet to be said anything about */
    tui_viewer_enter_review(v);
    if (v->review.has_draft)
        return;
    v->is_now = !was_back && v->opt.is_live;
    open_draft(v, true);
}

static void
detach(struct tui_viewer *v)
{
    bool has_session = v->opt.is_live && !v->opt.is_watcher && !v->is_ended;
    wish_for(v, has_session ? TUI_WISH_DETACH : TUI_WISH_LEAVE);
}

static void
quit(struct tui_viewer *v)
{
    if (!v->opt.is_live || v->opt.is_watcher || v->is_ended)
        wish_for(v, TUI_WISH_LEAVE);
    else
        v->question = TUI_QUESTION_QUIT;
}

static void
show_help(struct tui_viewer *v)
{
    v->has_help = true;
    v->help_top = 0;
}

static void
redraw(struct tui_viewer *v)
{
    v->wants_redraw = v->is_trouble_hidden = true;
}

static void
suspend(struct tui_viewer *v)
{
    wish_for(v, TUI_WISH_SUSPEND);
}

/* A letter more, and it is one more line. */
static const struct {
    uint32_t rune;
    bool has_ctrl;
    bool is_watchers; /* only where nothing is the session's */
    void (*does)(struct tui_viewer *v);
} commands[] = {
    { 'v', false, false, tui_viewer_enter_review },
    { '[', false, false, tui_viewer_enter_review },
    { 's', false, false, ask_label },
    { 'i', false, false, instruct_now },
    { 'd', false, false, detach },
    { 'q', false, false, quit },
    { '?', false, false, show_help },
    { 'h', false, true, show_help },
    { 'r', false, false, redraw },
    { 'l', true, true, redraw },
    { 'c', true, true, detach },
    { 'z', true, true, suspend },
};

static void
pan(struct tui_viewer *v, struct tui_key key)
{
    if (key.kind == TUI_KEY_UP || key.kind == TUI_KEY_DOWN)
        tui_viewer_pan(v, key.kind == TUI_KEY_UP ? -1 : 1, 0);
    else if (key.kind == TUI_KEY_LEFT || key.kind == TUI_KEY_RIGHT)
        tui_viewer_pan(v, 0, key.kind == TUI_KEY_LEFT ? -1 : 1);
}

/* What is no command is dropped. */
static void
command(struct tui_viewer *v, struct tui_key key)
{
    if (key.kind != TUI_KEY_CHAR) {
        pan(v, key);
        return;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        bool is_it = commands[i].has_ctrl ? is_ctrl(key, commands[i].rune)
                                          : is_char(key, commands[i].rune);
        if (is_it && (v->opt.is_watcher || !commands[i].is_watchers)) {
            commands[i].does(v);
            return;
        }
    }
}

/* -- questions and prompts -- */

static void
answer_quit(struct tui_viewer *v, struct tui_key key)
{
    if (is_char(key, 's'))
        wish_for(v, TUI_WISH_STOP);
    else if (is_char(key, 'd'))
        wish_for(v, TUI_WISH_DETACH);
    else if (!is_char(key, 'c') && !is_char(key, 'q'))
        return;
    v->question = TUI_QUESTION_NONE;
}

static void
answer_deliver(struct tui_viewer *v, struct tui_key key)
{
    bool is_yes = is_char(key, 'y') || is_char(key, 'Y');
    bool is_for_all = is_char(key, 'Y') || is_char(key, 'N');
    if (!is_yes && !is_char(key, 'n') && !is_char(key, 'N'))
        return;
    v->question = TUI_QUESTION_NONE;
    if (is_for_all) {
        v->opt.deliver = is_yes ? TUI_DELIVER_YES : TUI_DELIVER_NO;
        tui_viewer_ask(v, &(struct tui_wish){ .kind = TUI_WISH_REMEMBER,
                                              .anchor_byte = PLAY_NONE,
                                              .snapshot_id = PLAY_NONE,
                                              .row = UINT32_MAX,
                                              .is_typed = is_yes });
    }
    submit(v, is_yes);
}

/* Escape takes it back; what is no answer is none. */
static void
answer(struct tui_viewer *v, struct tui_key key)
{
    if (key.kind == TUI_KEY_ESCAPE || is_ctrl(key, 'c')) {
        v->question = TUI_QUESTION_NONE;
        return;
    }
    switch (v->question) {
    case TUI_QUESTION_QUIT:
        answer_quit(v, key);
        break;
    case TUI_QUESTION_DELIVER:
        answer_deliver(v, key);
        break;
    case TUI_QUESTION_NONE:
        break;
    }
}

static void
prompt_key(struct tui_viewer *v, struct tui_key key)
{
    switch (tui_prompt_key(&v->prompt, key)) {
    case TUI_PROMPT_GOES_ON:
    case TUI_PROMPT_CHANGED:
        return;
    case TUI_PROMPT_GIVEN_UP:
        v->prompt.is_open = false;
        return;
    case TUI_PROMPT_DONE:
        v->prompt.is_open = false;
        break;
    }
    tui_viewer_ask(v, &(struct tui_wish){ .kind = TUI_WISH_SNAPSHOT,
                                          .text = { v->prompt.text.p, v->prompt.text.n },
                                          .anchor_byte = PLAY_NONE,
                                          .snapshot_id = PLAY_NONE,
                                          .row = UINT32_MAX });
}

/* -- review mode -- */

/* The mouse's place is told from the page's top left. False: it is beside the page. */
static bool
place_mouse(const struct tui_viewer *v, struct tui_key *key)
{
    unsigned row = v->page.at_row, col = v->page.at_col + v->gutter;
    bool is_beside = key->row < row || key->col < v->page.at_col ||
                     key->row - row >= v->review.rows || key->col >= col + v->page.cols;
    if (is_beside)
        key->row = key->col = 0;
    else
        key->row -= row, key->col -= key->col > col ? col : key->col;
    return !is_beside || key->mouse != TUI_MOUSE_PRESS;
}

static void
grant(struct tui_viewer *v, enum tui_review_wish wish, uint64_t now_ns)
{
    switch (wish) {
    case TUI_REVIEW_NONE:
        return;
    case TUI_REVIEW_LEAVE:
        leave_review(v);
        return;
    case TUI_REVIEW_DRAFT:
        if (!is_only_looking(v))
            open_draft(v, false);
        return;
    case TUI_REVIEW_SUBMIT:
        submit_or_ask(v);
        return;
    case TUI_REVIEW_DRAFT_EDITOR:
        tui_viewer_edit(v, TUI_EDITED_DRAFT, now_ns);
        return;
    case TUI_REVIEW_HELP:
        show_help(v);
        return;
    case TUI_REVIEW_REPAINT:
        redraw(v);
        return;
    case TUI_REVIEW_SAVE:
        tui_save(&v->review);
        return;
    case TUI_REVIEW_EDITOR:
        tui_viewer_edit(v, TUI_EDITED_LINES, now_ns);
        return;
    case TUI_REVIEW_COPY:
        tui_viewer_copy(v, now_ns);
        return;
    case TUI_REVIEW_SUSPEND:
        suspend(v);
        return;
    }
}

static void
review_key(struct tui_viewer *v, struct tui_key key, uint64_t now_ns)
{
    bool had_draft = v->review.has_draft;
    if (!tui_viewer_has_pages(v)) {
        if (is_char(key, 'q') || is_ctrl(key, 'c'))
            leave_review(v);
        return;
    }
    tui_viewer_refresh(v);
    if (key.kind == TUI_KEY_MOUSE && !place_mouse(v, &key))
        return;
    if (key.kind != TUI_KEY_MOUSE || key.mouse != TUI_MOUSE_OTHER)
        v->note_until_ns = 0; /* what this key has to say is newer */
    enum tui_review_wish wish = tui_review_key(&v->review, key);
    if (had_draft && !v->review.has_draft && v->is_now)
        leave_review(v); /* it was given up */
    else
        grant(v, wish, now_ns);
}

/* -- all of them -- */

/* In review mode the prefix is one, too; twice, it is review mode's. */
static bool
takes_prefix(struct tui_viewer *v, struct tui_key key)
{
    bool may_be = !v->has_help && !v->question && !v->prompt.is_open && v->opt.is_live;
    if (v->is_back)
        may_be = may_be && !v->review.has_draft && !v->review.prompt.is_open;
    if (!may_be || v->prefix.is_held || !tui_prefix_is(&v->prefix, &key))
        return false;
    v->prefix.is_held = true;
    return true;
}

static void
take(struct tui_viewer *v, struct tui_key key, uint64_t now_ns)
{
    if (takes_prefix(v, key))
        return;
    if (v->prefix.is_held) {
        if (key.kind == TUI_KEY_MOUSE)
            return; /* where it moves by itself, it is no answer */
        v->prefix.is_held = false;
        if (!tui_prefix_is(&v->prefix, &key) || !v->is_back) {
            command(v, key);
            return;
        }
    }
    if (v->has_help)
        tui_viewer_help_key(v, key);
    else if (v->question)
        answer(v, key);
    else if (v->prompt.is_open)
        prompt_key(v, key);
    else if (v->is_back)
        review_key(v, key, now_ns);
    else
        command(v, key);
}

void
tui_viewer_key(struct tui_viewer *v, struct tui_key key, uint64_t now_ns)
{
    bool was_open = tui_viewer_is_open(v);
    v->is_stale = true;
    take(v, key, now_ns);
    if (v->is_ended && was_open && !tui_viewer_is_open(v))
        wish_for(v, TUI_WISH_LEAVE);
}
