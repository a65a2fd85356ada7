/* SPDX-License-Identifier: MIT */
/*
 * viewer_keys.c -- what a key does that is for the viewer: in review mode and its draft,
 * in a question, a prompt, the help. Behind the prefix it is viewer_prefix.c's.
 */
#include "tui/save.h"
#include "tui/viewer_priv.h"

/* -- out of review mode, and instructions -- */

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
        tui_viewer_ask_for(v, TUI_WISH_LEAVE);
}

static void
end_draft(struct tui_viewer *v)
{
    tui_review_end_draft(&v->review);
    if (v->is_now)
        leave_review(v);
}

/* What was refused is there again. */
void
tui_viewer_draft(struct tui_viewer *v, bool is_now)
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

/* -- questions and prompts -- */

static void
answer_quit(struct tui_viewer *v, struct tui_key key)
{
    if (tui_key_is_char(key, 's'))
        tui_viewer_ask_for(v, TUI_WISH_STOP);
    else if (tui_key_is_char(key, 'd'))
        tui_viewer_ask_for(v, TUI_WISH_DETACH);
    else if (!tui_key_is_char(key, 'c') && !tui_key_is_char(key, 'q'))
        return;
    v->question = TUI_QUESTION_NONE;
}

static void
answer_deliver(struct tui_viewer *v, struct tui_key key)
{
    bool is_yes = tui_key_is_char(key, 'y') || tui_key_is_char(key, 'Y');
    bool is_for_all = tui_key_is_char(key, 'Y') || tui_key_is_char(key, 'N');
    if (!is_yes && !tui_key_is_char(key, 'n') && !tui_key_is_char(key, 'N'))
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
    if (key.kind == TUI_KEY_ESCAPE || tui_key_is_ctrl(key, 'c')) {
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
        if (!tui_viewer_is_only_looking(v))
            tui_viewer_draft(v, false);
        return;
    case TUI_REVIEW_SUBMIT:
        submit_or_ask(v);
        return;
    case TUI_REVIEW_DRAFT_EDITOR:
        tui_viewer_edit(v, TUI_EDITED_DRAFT, now_ns);
        return;
    case TUI_REVIEW_HELP:
        tui_viewer_show_help(v);
        return;
    case TUI_REVIEW_REPAINT:
        tui_viewer_repaint(v);
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
        tui_viewer_ask_for(v, TUI_WISH_SUSPEND);
        return;
    }
}

static void
review_key(struct tui_viewer *v, struct tui_key key, uint64_t now_ns)
{
    bool had_draft = v->review.has_draft;
    if (!tui_viewer_has_pages(v)) {
        if (tui_key_is_char(key, 'q') || tui_key_is_ctrl(key, 'c'))
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
            tui_viewer_command(v, key);
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
        tui_viewer_command(v, key);
}

void
tui_viewer_key(struct tui_viewer *v, struct tui_key key, uint64_t now_ns)
{
    bool was_open = tui_viewer_is_open(v);
    v->is_stale = true;
    take(v, key, now_ns);
    if (v->is_ended && was_open && !tui_viewer_is_open(v))
        tui_viewer_ask_for(v, TUI_WISH_LEAVE);
}
