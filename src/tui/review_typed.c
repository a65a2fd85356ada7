/* SPDX-License-Identifier: MIT */
/* Whose a key is: the prompt's, the draft's, the mouse's, or a command. */
#include <stdio.h>

#include "tui/review_rows_priv.h"

enum { WHEEL_LINES = 3 };

static enum tui_review_wish
click(struct tui_review *r, unsigned row)
{
    uint64_t top = tui_rows_top(r);
    uint64_t index = tui_rows_index(r, top + row);
    if (row >= r->rows || index >= tui_rows_count(r) ||
        tui_rows_row(r, index) != top + row)
        return TUI_REVIEW_NONE;
    tui_rows_put(r, index, top);
    return TUI_REVIEW_DRAFT;
}

static enum tui_review_wish
mouse(struct tui_review *r, const struct tui_key *key)
{
    switch (key->mouse) {
    case TUI_MOUSE_PRESS:
        r->wants_first = false;
        return click(r, key->row);
    case TUI_MOUSE_WHEEL_UP:
    case TUI_MOUSE_WHEEL_DOWN:
        r->wants_first = false;
        tui_review_by_lines(r, key->mouse == TUI_MOUSE_WHEEL_UP, WHEEL_LINES);
        return TUI_REVIEW_NONE;
    case TUI_MOUSE_OTHER:
        break;
    }
    return TUI_REVIEW_NONE;
}

void
tui_review_ask_overwrite(struct tui_review *r)
{
    AUTO(buf) name = { 0 };
    buf_append(&name, r->prompt.text.p, r->prompt.text.n);
    tui_prompt_open(&r->prompt, "exists: overwrite? (y/n) ",
                    (struct view){ name.p, name.n });
    r->asking = TUI_ASK_OVERWRITE;
}

static enum tui_review_wish
answer_overwrite(struct tui_review *r, const struct tui_key *key)
{
    if (key->is_pasted || key->kind == TUI_KEY_MOUSE)
        return TUI_REVIEW_NONE;
    r->prompt.is_open = false;
    r->asking = TUI_ASK_NONE;
    r->may_overwrite = key->kind == TUI_KEY_CHAR && !key->has_ctrl && !key->has_alt &&
                       (key->rune == 'y' || key->rune == 'Y');
    if (r->may_overwrite)
        return TUI_REVIEW_SAVE;
    snprintf(r->note, sizeof(r->note), "not saved");
    return TUI_REVIEW_NONE;
}

/* What was asked for is typed. */
static enum tui_review_wish
answered(struct tui_review *r, enum tui_ask asking)
{
    if (asking == TUI_ASK_GO && r->prompt.text.n)
        tui_review_go_to_moment(r, buf_str(&r->prompt.text));
    if (asking == TUI_ASK_FILTER) {
        buf_clear(&r->filter);
        buf_append(&r->filter, r->prompt.text.p, r->prompt.text.n);
        tui_review_filter(r);
    }
    r->may_overwrite = false;
    return asking == TUI_ASK_SAVE && r->prompt.text.n ? TUI_REVIEW_SAVE : TUI_REVIEW_NONE;
}

static enum tui_review_wish
prompt_key(struct tui_review *r, const struct tui_key *key)
{
    enum tui_ask asking = r->asking;
    if (asking == TUI_ASK_OVERWRITE)
        return answer_overwrite(r, key);
    enum tui_prompt_end end = tui_prompt_key(&r->prompt, *key);
    bool is_done = end == TUI_PROMPT_DONE || end == TUI_PROMPT_GIVEN_UP;
    if (is_done) {
        r->prompt.is_open = false;
        r->asking = TUI_ASK_NONE;
    }
    if (asking == TUI_ASK_FIND)
        tui_review_find_typed(r, end);
    else if (end == TUI_PROMPT_DONE)
        return answered(r, asking);
    return TUI_REVIEW_NONE;
}

static enum tui_review_wish
draft_key(struct tui_review *r, const struct tui_key *key)
{
    switch (tui_draft_key(&r->draft, *key, &r->widths)) {
    case TUI_DRAFT_GOES_ON:
        break;
    case TUI_DRAFT_SUBMITTED:
        return TUI_REVIEW_SUBMIT;
    case TUI_DRAFT_GIVEN_UP:
        tui_review_end_draft(r);
        return TUI_REVIEW_NONE;
    case TUI_DRAFT_EDITOR:
        return TUI_REVIEW_DRAFT_EDITOR;
    }
    return TUI_REVIEW_NONE; /* the box is measured for a page, not for each key */
}

/* It follows as long as it is at the end. */
static void
keep_following(struct tui_review *r)
{
    uint64_t count = tui_rows_count(r);
    if (!r->follows || r->has_draft || !count)
        return;
    r->follows = tui_rows_near(r, r->at) == count - 1 &&
                 tui_rows_top(r) == tui_rows_bottom(r);
}

enum tui_review_wish
tui_review_key(struct tui_review *r, struct tui_key key)
{
    enum tui_review_wish wish = TUI_REVIEW_NONE;
    if (key.kind == TUI_KEY_MOUSE && key.mouse == TUI_MOUSE_OTHER)
        return TUI_REVIEW_NONE;
    r->note[0] = '\0';
    if (r->prompt.is_open)
        wish = prompt_key(r, &key);
    else if (r->has_draft)
        return draft_key(r, &key);
    else if (key.kind == TUI_KEY_MOUSE)
        wish = mouse(r, &key);
    else if (!key.is_pasted)
        wish = tui_review_command(r, &key);
    keep_following(r);
    return wish;
}
