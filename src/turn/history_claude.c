/* SPDX-License-Identifier: MIT */
/*
 * history_claude.c -- the transcripts of Claude Code, and those that Entire keeps.
 *
 * ~/.claude/projects/<folder>/<session>.jsonl, as version 2.1.197 writes it (the
 * fixtures), and older ones. Its messages are those of its stream (claude_blocks.c).
 */
#include <string.h>

#include "base/parts.h"
#include "turn/claude_priv.h"
#include "turn/history_priv.h"
#include "turn/tell_priv.h"

/* A line's fields, raw. */
struct fields {
    struct view type, subtype, message, uuid, parent, logical, sidechain, meta, compact;
    struct view timestamp, session, cwd, version, branch, agent, summary, title, ai_title;
    struct view error, attachment, leaf, data;
};

static void
take_fields(struct view object, struct fields *f)
{
    *f = (struct fields){ 0 };
    const struct turn_field wanted[] = {
        { "type", &f->type },
        { "subtype", &f->subtype },
        { "message", &f->message },
        { "uuid", &f->uuid },
        { "parentUuid", &f->parent },
        { "logicalParentUuid", &f->logical },
        { "isSidechain", &f->sidechain },
        { "isMeta", &f->meta },
        { "isCompactSummary", &f->compact },
        { "timestamp", &f->timestamp },
        { "sessionId", &f->session },
        { "cwd", &f->cwd },
        { "version", &f->version },
        { "gitBranch", &f->branch },
        { "agentId", &f->agent },
        { "summary", &f->summary },
        { "customTitle", &f->title },
        { "aiTitle", &f->ai_title },
        { "error", &f->error },
        { "attachment", &f->attachment },
        { "leafUuid", &f->leaf },
        { "data", &f->data },
    };
    turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* Many kinds of lines: what all have is a name of theirs or of their session. */
static bool
is_mine(struct view object)
{
    struct fields f;
    take_fields(object, &f);
    return f.type.n > 2 && f.type.p[0] == '"' && (f.uuid.n || f.session.n || f.leaf.n);
}

/* -- where it stands -- */

static struct view
type_of_first(struct view content)
{
    struct view type = { 0 };
    const struct turn_field wanted[] = { { "type", &type } };
    (void)turn_known_next(&content, wanted, 1);
    return type;
}

static bool
is_note(const struct fields *f)
{
    return turn_is_true(f->meta) || turn_is_true(f->compact);
}

static enum turn_tree_kind
kind_of(const struct fields *f, struct view content)
{
    if (turn_is(f->type, "assistant"))
        return TURN_TREE_SAYS;
    if (!turn_is(f->type, "user") || is_note(f))
        return TURN_TREE_NOTE;
    return turn_is(type_of_first(content), "tool_result") ? TURN_TREE_RESULT
                                                          : TURN_TREE_PROMPT;
}

static uint64_t
key_of(struct view raw)
{
    return raw.n > 2 && raw.p[0] == '"' ? history_hash(1, raw) : 0;
}

/* 1: the line is to be left out. */
static int
find_place(struct turn_history *h, const struct fields *f, struct view object)
{
    struct view id = { 0 }, content = { 0 };
    const struct turn_field wanted[] = { { "id", &id }, { "content", &content } };
    (void)turn_known_fields(f->message, wanted, 2);
    const struct turn_tree_line line = {
        .key = key_of(f->uuid),
        .parent = key_of(key_of(f->parent) ? f->parent : f->logical),
        .line = history_hash(2, object),
        .said = id.n ? history_hash(3, id) : 0,
        .kind = kind_of(f, content),
    };
    struct turn_tree_place place;
    int r = turn_tree_add(&h->tree, &line, &place);
    if (place.is_orphan)
        history_trouble(h, TURN_HISTORY_ORPHAN);
    if (place.is_root)
        history_trouble(h, TURN_HISTORY_ROOT);
    if (place.is_cycle)
        history_trouble(h, TURN_HISTORY_CYCLE);
    if (place.is_twice)
        history_trouble(h, TURN_HISTORY_TWICE);
    if (!r && place.is_branch)
        r = history_branch(h, place.from);
    return r < 0 ? r : place.is_same;
}

/* -- what is awaited: pairs of a number and a text, the latest of them -- */

static bool
take_pair(struct view *rest, uint64_t *ret_number, struct view *ret_text)
{
    return parts_take_u64(rest, ret_number) && parts_take(rest, ret_text);
}

/* So many have gone for it. Every line looks through all of them. */
static unsigned
put_pair(struct buf *pairs, unsigned max, uint64_t number, struct view text)
{
    struct view rest = { pairs->p, pairs->n }, behind_first = { 0 }, its_text;
    uint64_t its_number;
    unsigned count = 0, gone = 0;
    for (; take_pair(&rest, &its_number, &its_text); count++)
        behind_first = count ? behind_first : rest;
    if (count >= max) {
        memmove(pairs->p, behind_first.p, behind_first.n);
        pairs->n = behind_first.n;
        gone = 1;
    }
    (void)parts_put_u64(pairs, number);
    (void)parts_put(pairs, text);
    return gone;
}

/* -- what it tells of the session -- */

/* Is of the session that has its leaf, here or further down: at the top of a file stand
 * those of others. */
static int
take_summary(struct turn_history *h, const struct fields *f)
{
    enum { SUMMARY_MAX = 4 << 10 };
    uint64_t leaf = key_of(f->leaf);
    struct view text = turn_text(f->summary, &h->scratch);
    if (!leaf || turn_tree_has(&h->tree, leaf)) {
        (void)history_learn_text(h, &h->facts.title, text);
        return 0;
    }
    if (!text.n || text.n > SUMMARY_MAX)
        return 0;
    AUTO(buf) masked = { 0 };
    int r = history_masked(h, &text, &masked);
    if (!r)
        (void)put_pair(&h->summaries, HISTORY_SUMMARIES_MAX, leaf, text);
    return r < 0 ? r : h->summaries.failed;
}

/* The line may be the leaf of one that stood before it. */
static void
find_summary(struct turn_history *h, const struct fields *f)
{
    struct view rest = { h->summaries.p, h->summaries.n }, text;
    uint64_t leaf, key = rest.n ? key_of(f->uuid) : 0;
    if (!key || turn_tree_has(&h->tree, key))
        return;
    while (take_pair(&rest, &leaf, &text))
        if (leaf == key)
            (void)history_learn_text(h, &h->facts.title, text);
}

static int
learn(struct turn_history *h, const struct fields *f, bool is_side)
{
    struct turn_history_facts *k = &h->facts;
    struct view model = { 0 };
    const struct turn_field wanted[] = { { "model", &model } };
    history_set_time(h, f->timestamp);
    if (is_side)
        return 0;
    /* A sub-agent's line has the id of its session. */
    bool is_news = !h->opt.is_side_alone && history_learn(h, &k->id, f->session);
    is_news |= history_learn(h, &k->cwd, f->cwd);
    if (turn_is(f->type, "assistant"))
        (void)turn_known_fields(f->message, wanted, 1);
    if (!turn_is(model, "<synthetic>"))
        is_news |= history_learn(h, &k->model, model);
    (void)history_learn(h, &k->version, f->version);
    (void)history_learn(h, &k->git_branch, f->branch);
    find_summary(h, f);
    int r = take_summary(h, f);
    (void)history_learn(h, &k->title, f->ai_title);
    (void)history_learn(h, &k->title, f->title);
    return r < 0 ? r : is_news ? history_session(h) : 0;
}

/* -- sub-agents among the others, as older versions have them -- */

/* A turn_event_fn: a sub-agent will be known by the prompt of its call. */
static int
take_event(void *ctx, const struct turn_event *e)
{
    enum { ID_MAX = 256 };
    struct turn_history *h = ctx;
    bool is_task = turn_says(e->name, "Task") || turn_says(e->name, "Agent");
    if (e->type == TURN_TOOL_CALL && is_task && e->id.n <= ID_MAX) {
        struct view prompt = { 0 };
        const struct turn_field wanted[] = { { "prompt", &prompt } };
        (void)turn_known_fields(e->json, wanted, 1);
        uint64_t hash = history_hash(4, turn_text(prompt, &h->scratch));
        h->tasks_gone += put_pair(&h->tasks, HISTORY_TASKS_MAX, hash, e->id);
    }
    return h->tasks.failed ? h->tasks.failed : history_tell(h, e);
}

/* The first call with that prompt whose sub-agent has not spoken: its number of all that
 * there were, from 1; 0: none. */
static uint64_t
begin_task(struct turn_history *h, struct view prompt)
{
    uint64_t wanted = history_hash(4, prompt), hash, number = h->tasks_gone;
    struct view rest = { h->tasks.p, h->tasks.n }, id;
    for (struct view at = rest; take_pair(&rest, &hash, &id); at = rest) {
        number++;
        if (hash != wanted || !prompt.n)
            continue;
        memset(h->tasks.p + (at.p - h->tasks.p), 0, sizeof(hash));
        return number;
    }
    return 0;
}

static struct view
task_id(const struct turn_history *h, uint64_t number)
{
    struct view rest = { h->tasks.p, h->tasks.n }, id;
    uint64_t hash, at = h->tasks_gone;
    while (number > at && take_pair(&rest, &hash, &id))
        if (++at == number)
            return id;
    return (struct view){ 0 };
}

static struct view
text_of_prompt(const struct fields *f, struct buf *out)
{
    struct view content = { 0 }, text = { 0 };
    const struct turn_field wanted[] = { { "content", &content } };
    const struct turn_field of_part[] = { { "text", &text } };
    (void)turn_known_fields(f->message, wanted, 1);
    if (content.n && content.p[0] == '[')
        (void)turn_known_next(&content, of_part, 1);
    return turn_text(text.n ? text : content, out);
}

/* Its first line is the prompt, the others go on behind one of its own. Nothing: it is
 * not told. */
static int
find_task(struct turn_history *h, const struct fields *f, struct view *ret)
{
    uint64_t key = key_of(f->uuid), parent = key_of(f->parent), number = 0;
    *ret = (struct view){ 0 };
    if (!h->tasks.n || !key)
        return 0;
    if (!parent || turn_tree_has(&h->tree, parent))
        number = begin_task(h, text_of_prompt(f, &h->scratch));
    else
        (void)turn_tree_marked(&h->tree, parent, &number);
    *ret = task_id(h, number);
    return ret->n ? turn_tree_mark(&h->tree, key, number) : 0;
}

/* Whose line it is: of a sub-agent's own file, or of one among the others. */
static int
find_side(struct turn_history *h, const struct fields *f)
{
    if (h->side.n || h->opt.is_side_alone || !turn_is_true(f->sidechain))
        return 0;
    struct view agent = turn_text(f->agent, &h->scratch), call = { 0 };
    int r = agent.n ? 0 : find_task(h, f, &call);
    if (!r && !call.n)
        r = buf_puts(&h->side, agent.n ? "agent-" : "sidechain");
    struct view name = call.n ? call : agent;
    return r < 0 ? r : buf_append(&h->side, name.p, name.n);
}

/* -- kinds of lines -- */

/* {"status":529,"error":{"type":…,"message":…}}, or a text. */
static int
tell_error(struct turn_history *h, const struct fields *f, struct view object)
{
    struct view message = { 0 }, inner = { 0 };
    const struct turn_field wanted[] = { { "message", &message }, { "error", &inner } };
    for (struct view at = f->error; !message.n && at.n; at = inner) {
        inner = (struct view){ 0 };
        if (!turn_known_fields(at, wanted, 2))
            break;
    }
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = turn_text(message.n ? message : f->error, &h->s.text[0]);
    if (!e.text.n)
        return history_other(h, f->type, f->subtype, object);
    return history_tell(h, &e);
}

static int
tell_message(struct turn_history *h, const struct fields *f, struct view object)
{
    struct view other = { 0 };
    const struct turn_sink to = { take_event, h };
    struct claude_line l = { .s = &h->s, .to = &to, .other = &other };
    l.parent = (struct view){ h->side.p, h->side.n };
    int r = claude_lane_find(&l);
    if (!r)
        r = turn_is(f->type, "user") ? claude_user(&l, f->message)
                                     : claude_assistant(&l, f->message);
    if (r < 0 || !other.n)
        return r;
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = other;
    e.parent = l.parent;
    e.json = object;
    return history_tell(h, &e);
}

static int
tell_line(struct turn_history *h, const struct fields *f, struct view object)
{
    struct view kind = f->subtype;
    const struct turn_field wanted[] = { { "type", &kind } };
    bool is_said = turn_is(f->type, "assistant") || turn_is(f->type, "user");
    if (is_said && f->message.n && !is_note(f))
        return tell_message(h, f, object);
    if (turn_is(f->type, "system") && turn_is(f->subtype, "api_error"))
        return tell_error(h, f, object);
    if (is_said)
        kind = (struct view){ (const uint8_t *)"\"meta\"", 6 };
    else if (!kind.n)
        (void)turn_known_fields(f->attachment.n ? f->attachment : f->data, wanted, 1);
    return history_other(h, f->type, kind, object);
}

static int
decode(struct turn_history *h, struct view object)
{
    struct fields f;
    take_fields(object, &f);
    int r = find_side(h, &f);
    bool is_side = h->side.n > 0;
    if (!r)
        r = learn(h, &f, is_side);
    if (!r && !is_side)
        r = find_place(h, &f, object);
    if (r)
        return r < 0 ? r : 0;
    r = tell_line(h, &f, object);
    if (!is_side)
        turn_tree_done(&h->tree, h->facts.events);
    return r;
}

const struct turn_history_format turn_history_claude = { TURN_CLAUDE, is_mine, decode };
