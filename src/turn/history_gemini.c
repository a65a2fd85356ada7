/* SPDX-License-Identifier: MIT */
/*
 * history_gemini.c -- the chats of Gemini: ~/.gemini/tmp/<project>/chats/session-*.json.
 *
 * One document, with all messages in it; later versions write a message a line, once more
 * when it has grown, and go back by {"$rewindTo":ID}.
 */
#include <string.h>

#include "base/num.h"
#include "turn/history_priv.h"
#include "turn/tell_priv.h"

struct line {
    struct view id, type, timestamp, content, calls, thoughts, tokens, model;
    struct view session, start, messages, project, set, rewind, summary, display;
};

static void
take_line(struct view object, struct line *l)
{
    *l = (struct line){ 0 };
    const struct turn_field wanted[] = {
        { "id", &l->id },
        { "type", &l->type },
        { "timestamp", &l->timestamp },
        { "content", &l->content },
        { "toolCalls", &l->calls },
        { "thoughts", &l->thoughts },
        { "tokens", &l->tokens },
        { "model", &l->model },
        { "sessionId", &l->session },
        { "startTime", &l->start },
        { "messages", &l->messages },
        { "projectHash", &l->project },
        { "$set", &l->set },
        { "$rewindTo", &l->rewind },
        { "summary", &l->summary },
        { "displayContent", &l->display },
    };
    (void)turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static bool
is_message(const struct line *l)
{
    static const char *const types[] = { "user", "gemini", "info", "error", "warning" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (turn_is(l->type, types[i]))
            return l->id.n && (l->content.n || l->calls.n || l->thoughts.n);
    return false;
}

static bool
is_mine(struct view object)
{
    struct line l;
    take_line(object, &l);
    return (l.session.n && (l.messages.n || l.project.n)) || is_message(&l) || l.set.n ||
           l.rewind.n;
}

/* -- what was told of a message already is not told again -- */

enum seed { SAID = 1, THOUGHT, CALLED, RESULTED, USED, BEGAN };

/* *ret: it is new, and known from now on. */
static int
see(struct turn_history *h, enum seed seed, struct view id, struct view what, bool *ret)
{
    uint64_t hash = history_hash(history_hash(seed, id), what), place;
    *ret = !turn_tree_marked(&h->tree, hash, &place);
    return *ret ? turn_tree_mark(&h->tree, hash, h->facts.events) : 0;
}

/* A text, or parts of one. */
static int
join_texts(struct view content, struct buf *out)
{
    buf_clear(out);
    if (content.n && content.p[0] == '{') {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(content, wanted, 1);
        content = text;
    }
    if (content.n && content.p[0] == '"')
        return turn_str(content, out) ? 0 : out->failed;
    for (struct view part; turn_next(&content, &part);) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(part, wanted, 1);
        (void)turn_str(text.n ? text : part, out);
    }
    return out->failed;
}

static int
say(struct turn_history *h, const struct line *l)
{
    struct buf *out = &h->s.text[0];
    bool is_user = turn_is(l->type, "user"),
         is_said = is_user || turn_is(l->type, "gemini");
    bool is_new = false;
    int r = join_texts(is_user && l->display.n ? l->display : l->content, out);
    struct view text = { out->p, out->n };
    if (!r && text.n)
        r = see(h, SAID, l->id, text, &is_new);
    if (r < 0 || !is_new)
        return r;
    struct turn_event e = turn_event(is_said                     ? TURN_TEXT
                                     : turn_is(l->type, "error") ? TURN_ERROR
                                                                 : TURN_WARNING);
    e.is_user = is_user;
    if (is_said)
        e.id = turn_text(l->id, &h->s.text[1]);
    e.text = text;
    return history_tell(h, &e);
}

/* "subject: description" each. */
static int
think(struct turn_history *h, const struct line *l)
{
    struct view rest = l->thoughts;
    struct buf *out = &h->s.text[0];
    int r = 0;
    for (struct view one; !r && turn_next(&rest, &one);) {
        struct view subject = { 0 }, description = { 0 };
        const struct turn_field wanted[] = { { "subject", &subject },
                                             { "description", &description } };
        (void)turn_known_fields(one, wanted, 2);
        bool is_new;
        r = see(h, THOUGHT, l->id, one, &is_new);
        if (r < 0 || !is_new)
            continue;
        buf_clear(out);
        (void)turn_str(subject, out);
        (void)buf_puts(out, subject.n > 2 && description.n > 2 ? ": " : "");
        (void)turn_str(description, out);
        struct turn_event e = turn_event(TURN_THINKING);
        e.id = turn_text(l->id, &h->s.text[1]);
        e.text = (struct view){ out->p, out->n };
        r = e.text.n ? history_tell(h, &e) : 0;
    }
    return r;
}

/* -- tools -- */

struct call {
    struct view id, name, args, result, status, shown;
    struct view key; /* by which it is known again */
};

/* [{"functionResponse":{"response":{"output":…}}}], else what was shown of it. */
static int
result_text(const struct call *c, struct buf *out)
{
    struct view rest = c->result, first = { 0 }, response = { 0 }, inner = { 0 };
    struct view output = { 0 }, error = { 0 };
    const struct turn_field of_part[] = { { "functionResponse", &response } };
    const struct turn_field of_response[] = { { "response", &inner } };
    const struct turn_field of_inner[] = { { "output", &output }, { "error", &error } };
    buf_clear(out);
    (void)turn_next(&rest, &first);
    (void)turn_known_fields(first, of_part, 1);
    (void)turn_known_fields(response, of_response, 1);
    (void)turn_known_fields(inner, of_inner, 2);
    if (!turn_str(output, out) && !turn_str(error, out) && !turn_str(c->shown, out))
        (void)buf_append(out, c->result.p, c->result.n);
    return out->failed;
}

static int
tell_call(struct turn_history *h, const struct line *l, const struct call *c)
{
    bool is_new;
    int r = see(h, CALLED, l->id, c->key, &is_new);
    if (r < 0 || !is_new)
        return r;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = turn_text(c->id, &h->s.text[0]);
    e.name = turn_text(c->name, &h->s.text[1]);
    e.message = turn_text(l->id, &h->s.text[2]);
    e.json = c->args;
    return history_tell(h, &e);
}

static int
tell_result(struct turn_history *h, const struct line *l, const struct call *c)
{
    bool is_new = false;
    int r = 0;
    if (turn_is(c->status, "success") || turn_is(c->status, "error") ||
        turn_is(c->status, "cancelled"))
        r = see(h, RESULTED, l->id, c->key, &is_new);
    if (r < 0 || !is_new)
        return r;
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    r = result_text(c, &h->s.text[0]);
    e.id = turn_text(c->id, &h->s.text[1]);
    e.name = turn_text(c->name, &h->s.text[2]);
    e.text = (struct view){ h->s.text[0].p, h->s.text[0].n };
    e.is_error = !turn_is(c->status, "success");
    return r < 0 ? r : history_tell(h, &e);
}

static int
use_tools(struct turn_history *h, const struct line *l)
{
    struct view rest = l->calls;
    int r = 0;
    for (struct view one; !r && turn_next(&rest, &one);) {
        struct call c = { 0 };
        const struct turn_field wanted[] = {
            { "id", &c.id },         { "name", &c.name },
            { "args", &c.args },     { "result", &c.result },
            { "status", &c.status }, { "resultDisplay", &c.shown },
        };
        (void)turn_known_fields(one, wanted, 6);
        c.key = c.id.n ? c.id : c.args.n ? c.args : c.name;
        r = tell_call(h, l, &c);
        if (!r)
            r = tell_result(h, l, &c);
    }
    return r;
}

/* -- usage -- */

static uint64_t
plus(uint64_t a, uint64_t b)
{
    return num_plus_u64(a, b, NUM_EXACT_MAX);
}

/* Its input counts those of the cache, its output not those of the thoughts. */
static int
use_tokens(struct turn_history *h, const struct line *l)
{
    struct view input = { 0 }, output = { 0 }, cached = { 0 }, thoughts = { 0 },
                tool = { 0 };
    const struct turn_field wanted[] = { { "input", &input },
                                         { "output", &output },
                                         { "cached", &cached },
                                         { "thoughts", &thoughts },
                                         { "tool", &tool } };
    struct turn_event e = turn_event(TURN_USAGE);
    bool is_new = false;
    int r = 0;
    if (turn_known_fields(l->tokens, wanted, 5))
        r = see(h, USED, l->id, l->tokens, &is_new);
    if (r < 0 || !is_new)
        return r;
    uint64_t in = turn_tokens(input, 0), of_cache = turn_tokens(cached, 0);
    e.usage = (struct turn_usage){
        .input_tokens = plus(of_cache <= in ? in - of_cache : in, turn_tokens(tool, 0)),
        .output_tokens = plus(turn_tokens(output, 0), turn_tokens(thoughts, 0)),
        .cache_creation_tokens = 0,
        .cache_read_tokens = of_cache,
    };
    e.id = turn_text(l->id, &h->s.text[0]);
    e.model = (struct view){ h->facts.model.p, h->facts.model.n };
    e.is_final = true;
    return history_tell(h, &e);
}

/* -- messages -- */

static int
take_message(struct turn_history *h, struct view object)
{
    struct line l;
    take_line(object, &l);
    if (!is_message(&l))
        return history_other(h, l.type, (struct view){ 0 }, object);
    history_set_time(h, l.timestamp);
    bool is_new;
    int r = see(h, BEGAN, l.id, (struct view){ 0 }, &is_new);
    if (!r && history_learn(h, &h->facts.model, l.model))
        r = history_session(h);
    if (!r)
        r = think(h, &l);
    if (!r)
        r = say(h, &l);
    if (!r)
        r = use_tools(h, &l);
    return r < 0 ? r : use_tokens(h, &l);
}

/* Before that message. */
static int
go_back(struct turn_history *h, struct view id)
{
    uint64_t from, key = history_hash(history_hash(BEGAN, id), (struct view){ 0 });
    if (turn_tree_marked(&h->tree, key, &from))
        return history_branch(h, from);
    history_trouble(h, TURN_HISTORY_ORPHAN);
    return 0;
}

static int
take_messages(struct turn_history *h, struct view messages)
{
    int r = 0;
    for (struct view one; !r && turn_next(&messages, &one);)
        r = take_message(h, one);
    return r;
}

/* {"$set":{…}} has fields of the document, which are others now. */
static int
decode(struct turn_history *h, struct view object)
{
    struct line l;
    int r = 0;
    take_line(object, &l);
    if (l.rewind.n)
        return go_back(h, l.rewind);
    if (is_message(&l))
        return take_message(h, object);
    if (l.set.n)
        take_line(l.set, &l);
    history_set_time(h, l.start);
    (void)history_learn(h, &h->facts.title, l.summary);
    if (history_learn(h, &h->facts.id, l.session))
        r = history_session(h);
    if (!r && !l.messages.n) {
        struct view kind = { (const uint8_t *)"\"session\"", 9 };
        r = history_other(h, kind, (struct view){ 0 }, object);
    }
    return r < 0 ? r : take_messages(h, l.messages);
}

const struct turn_history_format turn_history_gemini = { TURN_GEMINI, is_mine, decode };
