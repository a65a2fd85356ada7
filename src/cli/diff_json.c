/* SPDX-License-Identifier: MIT */
/* diff_json.c -- two sessions that were compared, as one object; ahr-diff(1) has it. */
#include <errno.h>

#include "base/json.h"
#include "cli/diff.h"
#include "cli/path.h"
#include "cli/session_json.h"

/* UINT64_MAX: not known. */
static void
put_number(struct json *j, const char *key, uint64_t n)
{
    json_key(j, key);
    if (n == UINT64_MAX)
        json_none(j);
    else
        json_u64(j, n);
}

/* Of both sides: a pair of numbers. */
static void
put_pair(struct json *j, const char *key_a, const char *key_b, uint64_t a, uint64_t b)
{
    put_number(j, key_a, a);
    put_number(j, key_b, b);
}

/* -- the sessions -- */

static void
put_side(struct json *j, const struct cli_diff *d, struct cli_diff_side *s)
{
    const struct play_side *t = &s->turns;
    struct session_usage usage = cli_diff_usage(s);
    uint64_t duration = cli_diff_duration_ns(s);
    bool is_terminal = d->what == CLI_DIFF_TERMINAL;
    json_open(j, '{');
    json_key(j, "id");
    json_str_or_none(j, s->id.n ? buf_str(&s->id) : NULL);
    json_key(j, "name");
    json_str_or_none(j, s->name.n ? buf_str(&s->name) : NULL);
    put_number(j, "turns", s->has_turns ? play_side_count(t) : UINT64_MAX);
    put_number(j, "lines", is_terminal ? play_side_count(&s->lines) : UINT64_MAX);
    put_number(j, "tool_calls", s->has_turns ? t->tool_calls : UINT64_MAX);
    put_number(j, "failed_tool_calls", s->has_turns ? t->failed_calls : UINT64_MAX);
    cli_usage_json(j, &usage);
    put_number(j, "cost_microusd", t->has_cost ? t->cost_microusd : UINT64_MAX);
    put_number(j, "duration_ms", duration == UINT64_MAX ? duration : duration / 1000000);
    put_number(j, "damaged_lines", t->bad_lines);
    json_close(j, '}');
}

/* -- turns and lines -- */

/* The number of an item from 1; of the one behind the last, that there is none. */
static uint64_t
number_of(const struct play_side *s, size_t i)
{
    return i < play_side_count(s) ? i + 1 : UINT64_MAX;
}

static void
put_parting(struct json *j, const struct cli_diff *d)
{
    put_number(j, "same_prefix", d->edits.same);
    json_key(j, "parts_at");
    if (play_edits_are_none(&d->edits)) {
        json_none(j);
        return;
    }
    json_open(j, '{');
    put_pair(j, "a_turn", "b_turn", number_of(cli_diff_compared(d, 0), d->edits.same),
             number_of(cli_diff_compared(d, 1), d->edits.same));
    json_close(j, '}');
}

/* Arguments of a call as JSON where they are, all else as a text. */
static void
put_text(struct json *j, const char *key, const struct play_side *s, uint32_t turn)
{
    json_key(j, key);
    if (turn == PLAY_NO_ITEM) {
        json_none(j);
        return;
    }
    const struct play_side_turn *t = play_side_at(s, turn);
    if (t->has_json)
        json_raw(j, play_side_text(s, t));
    else
        json_bytes(j, play_side_text(s, t));
}

static uint64_t
event_of(const struct play_side *s, uint32_t turn)
{
    return turn == PLAY_NO_ITEM ? UINT64_MAX : play_side_at(s, turn)->event;
}

/* "text" of what role, "tool_call" of which tool. */
static void
put_type(struct json *j, const struct play_side *s, const struct play_side_turn *t)
{
    struct view name = play_side_name(s, t);
    json_key(j, "type");
    json_str(j, t->is_line ? "line" : turn_type_name(t->type));
    if (t->is_line)
        return;
    if (t->type == TURN_TEXT) {
        json_key(j, "role");
        json_str(j, t->is_user ? "user" : "assistant");
    }
    if (name.n) {
        json_key(j, "tool");
        json_bytes(j, name);
    }
    json_key(j, "is_sub");
    json_bool(j, t->is_sub);
}

static void
put_failed(struct json *j, const char *key, const struct play_side *s, uint32_t turn)
{
    json_key(j, key);
    if (turn == PLAY_NO_ITEM)
        json_none(j);
    else
        json_bool(j, play_side_at(s, turn)->has_failed);
}

static void
put_change(struct json *j, const struct cli_diff *d, const struct play_edit *e,
           const char *kind)
{
    const struct play_side *a = cli_diff_compared(d, 0), *b = cli_diff_compared(d, 1);
    bool is_of_a = e->a != PLAY_NO_ITEM;
    const struct play_side_turn *t = is_of_a ? play_side_at(a, e->a)
                                             : play_side_at(b, e->b);
    bool is_call = t->type == TURN_TOOL_CALL;
    json_open(j, '{');
    json_key(j, "kind");
    json_str(j, kind);
    put_pair(j, "a", "b", is_of_a ? e->a + (uint64_t)1 : UINT64_MAX,
             e->b != PLAY_NO_ITEM ? e->b + (uint64_t)1 : UINT64_MAX);
    if (!t->is_line)
        put_pair(j, "a_event", "b_event", event_of(a, e->a), event_of(b, e->b));
    put_type(j, is_of_a ? a : b, t);
    put_text(j, is_call ? "a_input" : "a_text", a, e->a);
    put_text(j, is_call ? "b_input" : "b_text", b, e->b);
    if (is_call || t->type == TURN_TOOL_RESULT) {
        put_failed(j, "a_failed", a, e->a);
        put_failed(j, "b_failed", b, e->b);
    }
    json_close(j, '}');
}

/* By kind; what moved is told once, where it is in b. */
static const char *const words[PLAY_EDIT_KINDS] = {
    [PLAY_INSERTED] = "insert",
    [PLAY_DELETED] = "delete",
    [PLAY_CHANGED] = "change",
    [PLAY_MOVED_HERE] = "move",
};

static int
put_changes(struct json *j, struct cli_diff *d)
{
    int r = 0;
    json_key(j, "exact");
    json_bool(j, !d->edits.is_bounded);
    json_key(j, "counts");
    json_open(j, '{');
    for (size_t i = 0; i < PLAY_EDIT_KINDS; i++)
        if (words[i])
            put_number(j, words[i], d->edits.counts[i]);
    json_close(j, '}');
    json_key(j, "changes");
    json_open(j, '[');
    for (size_t i = 0; i < play_edits_count(&d->edits) && !r; i++) {
        const struct play_edit *e = play_edit_at(&d->edits, i);
        if (words[e->kind])
            put_change(j, d, e, words[e->kind]);
        r = cli_diff_flush(d, false);
    }
    json_close(j, ']');
    return r;
}

/* -- calls and files -- */

static int
put_calls(struct json *j, struct cli_diff *d, bool *ret_is_same)
{
    AUTO(buf) tally = { 0 };
    int r = play_compare_calls(&d->sides[0].turns, &d->sides[1].turns, &tally);
    const struct play_call_tally *c = (const struct play_call_tally *)(const void *)
                                          tally.p;
    *ret_is_same = true;
    json_key(j, "tools");
    json_open(j, '[');
    for (size_t i = 0; i < tally.n / sizeof(*c) && !r; i++, c++) {
        size_t which = c->count[0] ? 0 : 1;
        const struct play_side *s = &d->sides[which].turns;
        const struct play_side_turn *t = play_side_at(s, c->first[which]);
        json_open(j, '{');
        json_key(j, "tool");
        json_bytes(j, play_side_name(s, t));
        put_text(j, "input", s, c->first[which]);
        json_key(j, "is_sub");
        json_bool(j, t->is_sub);
        put_pair(j, "a", "b", c->count[0], c->count[1]);
        put_pair(j, "a_failed", "b_failed", c->failed[0], c->failed[1]);
        json_close(j, '}');
        *ret_is_same &= c->count[0] == c->count[1];
        r = cli_diff_flush(d, false);
    }
    json_close(j, ']');
    return r;
}

static int
put_files(struct json *j, struct cli_diff *d, bool *ret_is_same)
{
    AUTO(buf) tally = { 0 };
    AUTO(buf) path = { 0 };
    int r = play_compare_files(&d->sides[0].turns, &d->sides[1].turns, &tally);
    const struct play_file_tally *f = (const struct play_file_tally *)(const void *)
                                          tally.p;
    *ret_is_same = true;
    json_key(j, "files");
    json_open(j, '[');
    for (size_t i = 0; i < tally.n / sizeof(*f) && !r; i++, f++) {
        static const char *const keys[] = { "a", "b" };
        buf_clear(&path);
        buf_append(&path, f->path.p, f->path.n);
        json_open(j, '{');
        cli_path_json(j, "path", buf_str(&path));
        for (size_t k = 0; k < 2; k++) {
            const char *word = cli_diff_change_word(f->change[k]);
            json_key(j, keys[k]);
            json_str_or_none(j, *word ? word : NULL);
        }
        json_close(j, '}');
        *ret_is_same &= f->change[0] == f->change[1];
        r = cli_diff_flush(d, false);
    }
    json_close(j, ']');
    return r;
}

int
cli_diff_json(struct cli_diff *d, bool *ret_is_same)
{
    static const char *const names[] = { "turns", "tools", "files", "terminal" };
    struct json j = { .out = &d->text };
    bool is_same = play_edits_are_none(&d->edits);
    json_open(&j, '{');
    json_key(&j, "a");
    put_side(&j, d, &d->sides[0]);
    json_key(&j, "b");
    put_side(&j, d, &d->sides[1]);
    json_key(&j, "what");
    json_str(&j, names[d->what]);
    put_parting(&j, d);
    int r = d->what == CLI_DIFF_TOOLS   ? put_calls(&j, d, &is_same)
            : d->what == CLI_DIFF_FILES ? put_files(&j, d, &is_same)
                                        : put_changes(&j, d);
    json_key(&j, "same");
    json_bool(&j, is_same);
    json_close(&j, '}');
    buf_puts(&d->text, "\n");
    *ret_is_same = is_same;
    return r;
}
