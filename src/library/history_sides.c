/* SPDX-License-Identifier: MIT */
/*
 * history_sides.c -- the files of a session's sub-agents, and in which call each works.
 *
 * A file beside it tells (agent-X.meta.json), else the call's result in the session's own
 * file ("toolUseResult":{"agentId":"X"}), else it is called by its own name. Whatever was
 * told first holds: a session that grows calls it always the same.
 */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/json_in.h"
#include "library/history_priv.h"

enum {
    META_MAX = 128 << 10, /* with the room of one read */
    ID_MAX = 256,         /* of an agent, or a call */
};

#define PREFIX "agent-"

/* -- values in an object -- */

/* The value of that key in the object; false: it has none, or is none. */
static bool
member(struct view object, const char *key, struct view *ret)
{
    struct json_in in = { .p = object.p, .end = object.p + object.n };
    AUTO(buf) name = { 0 };
    bool is_first = true;
    if (!object.n || !json_in_take(&in, '{'))
        return false;
    while (json_in_each(&in, '}', &is_first) && json_in_key(&in, &name)) {
        (void)json_in_peek(&in);
        const uint8_t *begin = in.p;
        if (!json_in_skip(&in))
            return false;
        *ret = (struct view){ begin, (size_t)(in.p - begin) };
        if (!strcmp(buf_str(&name), key))
            return true;
    }
    return false;
}

/* A string that may be an id; else ret stays empty. */
static void
take_id(struct view value, struct buf *ret)
{
    struct json_in in = { .p = value.p, .end = value.p + value.n };
    buf_clear(ret);
    if (!value.n || !json_in_str(&in, ret) || in.is_odd || ret->n > ID_MAX)
        buf_clear(ret);
}

/* -- beside it -- */

static size_t
stem_len(const char *name)
{
    return strcspn(name, ".");
}

static int
look_beside(struct history_source *s)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) meta = { .ceiling = META_MAX };
    const char *own = buf_str(&s->file.path), *name = file_name(own);
    struct view id;
    buf_append(&path, own, (size_t)(name - own) + stem_len(name));
    int r = buf_puts(&path, ".meta.json");
    if (!r && !file_slurp(buf_str(&path), &meta) &&
        member((struct view){ meta.p, meta.n }, "toolUseId", &id))
        take_id(id, &s->call);
    s->is_linked = s->call.n > 0;
    if (r < 0 || s->is_linked)
        return r;
    return buf_append(&s->call, name, stem_len(name));
}

int
history_add_sides(struct history *h)
{
    const struct buf *sides = &h->from->sides;
    int r = 0;
    for (size_t at = 0; !r && at < sides->n;) {
        const char *path = (const char *)sides->p + at;
        struct history_source *s = history_sources_add(&h->sources, path);
        r = s ? look_beside(s) : -ENOMEM;
        at += strlen(path) + 1;
    }
    return r;
}

/* -- in the session's own file -- */

/* The source of that agent which is not linked yet. */
static struct history_source *
side_of(struct history *h, struct buf *agent)
{
    for (size_t i = 1; i < h->sources.count; i++) {
        struct history_source *s = &h->sources.list[i];
        const char *name = file_name(buf_str(&s->file.path));
        size_t n = stem_len(name), before = strlen(PREFIX);
        if (!s->is_linked && agent->n && n == before + agent->n &&
            !memcmp(name + before, agent->p, agent->n))
            return s;
    }
    return NULL;
}

/* The call to which a message's first part is the result. */
static void
call_of(struct view line, struct buf *ret)
{
    struct view message, content, id;
    bool is_first = true;
    buf_clear(ret);
    if (!member(line, "message", &message) || !member(message, "content", &content))
        return;
    struct json_in in = { .p = content.p, .end = content.p + content.n };
    if (!json_in_take(&in, '[') || !json_in_each(&in, ']', &is_first))
        return;
    (void)json_in_peek(&in);
    struct view part = { in.p, (size_t)(in.end - in.p) };
    if (member(part, "tool_use_id", &id))
        take_id(id, ret);
}

/* 1: that one is linked now. */
static int
link_by(struct history *h, struct view line)
{
    static const char word[] = "\"toolUseResult\"";
    AUTO(buf) agent = { 0 };
    AUTO(buf) call = { 0 };
    struct view result, id;
    if (!line.n || !memmem(line.p, line.n, word, sizeof(word) - 1) ||
        !member(line, "toolUseResult", &result) || !member(result, "agentId", &id))
        return 0;
    take_id(id, &agent);
    struct history_source *s = side_of(h, &agent);
    if (s)
        call_of(line, &call);
    if (!s || !call.n)
        return 0;
    s->is_linked = true;
    buf_clear(&s->call);
    int r = buf_append(&s->call, call.p, call.n);
    return r < 0 ? r : 1;
}

static size_t
count_missing(const struct history *h)
{
    size_t count = 0;
    for (size_t i = 1; i < h->sources.count; i++)
        count += !h->sources.list[i].is_linked;
    return count;
}

int
history_link_sides(struct history *h)
{
    struct history_sources own = { 0 };
    struct history_source *s;
    size_t missing = count_missing(h);
    int r = 0, error = 0;
    if (!missing)
        return 0;
    s = history_sources_add(&own, h->from->path);
    r = s ? history_source_open(s, h->err) : -ENOMEM;
    while (!r && missing && (s = history_sources_next(&own, &error))) {
        r = link_by(h, s->line);
        missing -= r > 0;
        r = r < 0 ? r : 0;
        history_source_taken(s);
    }
    history_sources_release(&own);
    r = r < 0 ? r : error;
    return r < 0 && !h->err->code ? err_code(h->err, r, "cannot read '%s'", h->from->path)
                                  : r;
}
