/* SPDX-License-Identifier: MIT */
/*
 * viewer_prefix.c -- what a key behind the prefix commands, and for those who only watch
 * every key.
 */
#include "tui/viewer_priv.h"

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

/* Before somebody writes what nobody will take. */
bool
tui_viewer_is_only_looking(struct tui_viewer *v)
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
    if (!tui_viewer_is_only_looking(v))
        tui_prompt_open(&v->prompt, "label: ", (struct view){ NULL, 0 });
}

static void
instruct_now(struct tui_viewer *v)
{
    bool was_back = v->is_back;
    if (tui_viewer_is_only_looking(v) || !tui_viewer_has_pages(v))
        return; /* there is nothing yet to be said anything about */
    tui_viewer_enter_review(v);
    if (v->review.has_draft)
        return;
    v->is_now = !was_back && v->opt.is_live;
    tui_viewer_draft(v, true);
}

static void
detach(struct tui_viewer *v)
{
    bool has_session = v->opt.is_live && !v->opt.is_watcher && !v->is_ended;
    tui_viewer_ask_for(v, has_session ? TUI_WISH_DETACH : TUI_WISH_LEAVE);
}

static void
quit(struct tui_viewer *v)
{
    if (!v->opt.is_live || v->opt.is_watcher || v->is_ended)
        tui_viewer_ask_for(v, TUI_WISH_LEAVE);
    else
        v->question = TUI_QUESTION_QUIT;
}

void
tui_viewer_show_help(struct tui_viewer *v)
{
    v->has_help = true;
    v->help_top = 0;
}

void
tui_viewer_repaint(struct tui_viewer *v)
{
    v->wants_redraw = v->is_trouble_hidden = true;
}

static void
suspend(struct tui_viewer *v)
{
    tui_viewer_ask_for(v, TUI_WISH_SUSPEND);
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
    { '?', false, false, tui_viewer_show_help },
    { 'h', false, true, tui_viewer_show_help },
    { 'r', false, false, tui_viewer_repaint },
    { 'l', true, true, tui_viewer_repaint },
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
void
tui_viewer_command(struct tui_viewer *v, struct tui_key key)
{
    if (key.kind != TUI_KEY_CHAR) {
        pan(v, key);
        return;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        bool is_it = commands[i].has_ctrl ? tui_key_is_ctrl(key, commands[i].rune)
                                          : tui_key_is_char(key, commands[i].rune);
        if (is_it && (v->opt.is_watcher || !commands[i].is_watchers)) {
            commands[i].does(v);
            return;
        }
    }
}
