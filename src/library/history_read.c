/* SPDX-License-Identifier: MIT */
/* history_read.c -- whose history a file is, what it is called, and its lines. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "library/history_priv.h"

enum {
    PEEK = 256 << 10,
    UUID_LEN = 36,
    PEEK_LINES = 1000,
    STOP_LINES = 256, /* so often it is asked whether to go on */
};

/* -- whose -- */

static enum turn_agent
agent_of(enum journal_keeper keeper)
{
    switch (keeper) {
    case JOURNAL_KEEPER_CLAUDE:
    case JOURNAL_KEEPER_ENTIRE:
        return TURN_CLAUDE;
    case JOURNAL_KEEPER_CODEX:
        return TURN_CODEX;
    case JOURNAL_KEEPER_GEMINI:
        return TURN_GEMINI;
    case JOURNAL_KEEPER_AUTO:
        break;
    }
    return TURN_AUTO;
}

static bool
holds(struct view text, const char *word)
{
    return text.n && memmem(text.p, text.n, word, strlen(word));
}

/* By lines that are whole, else by words in one that is longer than what is looked at. */
static enum turn_agent
guess(struct view head)
{
    enum turn_agent agent = turn_history_guess(head);
    if (agent != TURN_AUTO)
        return agent;
    if (holds(head, "\"sessionId\"") && holds(head, "\"messages\""))
        return TURN_GEMINI;
    if (holds(head, "\"sessionId\"") && holds(head, "\"uuid\""))
        return TURN_CLAUDE;
    return holds(head, "\"payload\"") && holds(head, "\"timestamp\"") ? TURN_CODEX
                                                                      : TURN_AUTO;
}

/* The first bytes, and the first time that is told. */
static int
peek(struct history *h, struct buf *head, uint64_t *ret_start_ns)
{
    struct history_sources one = { 0 };
    struct history_source *s = history_sources_add(&one, h->from->path), *next;
    int error = 0, r = s ? history_source_open(s, h->err) : -ENOMEM;
    *ret_start_ns = 0;
    for (unsigned i = 0; !r && i < PEEK_LINES && head->n < PEEK; i++) {
        next = history_sources_next(&one, &error);
        if (!next)
            break;
        size_t n = next->line.n < PEEK ? next->line.n : PEEK;
        r = buf_append(head, next->line.p, n);
        if (!r)
            r = buf_puts(head, "\n");
        if (!*ret_start_ns)
            *ret_start_ns = turn_history_stamp(next->line);
        history_source_taken(next);
    }
    history_sources_release(&one);
    return r < 0 ? r : error;
}

/* -- what it is called -- */

static bool
is_uuid(const char *p, size_t n)
{
    for (size_t i = 0; n == UUID_LEN && i < n; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool is_hex = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f');
        if (is_dash ? p[i] != '-' : !is_hex)
            return false;
    }
    return n == UUID_LEN;
}

/* "… \"sessionId\":\"X\"" */
static int
id_in(struct view head, const char *key, struct buf *ret)
{
    const uint8_t *end = head.p + head.n;
    const uint8_t *at = head.n ? memmem(head.p, head.n, key, strlen(key)) : NULL;
    at = at ? at + strlen(key) : end;
    while (at < end && (*at == ':' || *at == ' '))
        at++;
    if (at == end || *at != '"')
        return 0;
    const uint8_t *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
    return quote && quote - at < 256 ? buf_append(ret, at + 1, (size_t)(quote - at - 1))
                                     : 0;
}

/* The file's name without its ends; Entire's is its folder's; a rollout's ends in it. */
static int
name_of(const struct history *h, struct view head, struct buf *ret)
{
    const char *path = h->from->path, *name = file_name(path);
    size_t n = strcspn(name, ".");
    if (!strcmp(name, "full.jsonl") && name > path + 1) {
        const char *end = name - 1, *begin = end;
        while (begin > path && begin[-1] != '/')
            begin--;
        return buf_append(ret, begin, (size_t)(end - begin));
    }
    if (h->done->agent == TURN_CODEX && n > UUID_LEN &&
        is_uuid(name + n - UUID_LEN, UUID_LEN))
        return buf_append(ret, name + n - UUID_LEN, UUID_LEN);
    if (h->done->agent == TURN_GEMINI || !is_uuid(name, n)) {
        const char *key = h->done->agent == TURN_CODEX ? "\"id\"" : "\"sessionId\"";
        int r = id_in(head, key, ret);
        if (r < 0 || ret->n)
            return r;
    }
    return buf_append(ret, name, n);
}

int
history_identify(struct history *h, uint64_t *ret_start_ns)
{
    AUTO(buf) head = { 0 };
    int r = peek(h, &head, ret_start_ns);
    if (r < 0)
        return h->err->code ? r : err_code(h->err, r, "cannot read '%s'", h->from->path);
    struct view seen = { head.p, head.n };
    enum turn_agent agent = guess(seen);
    if (agent == TURN_AUTO && head.n)
        agent = agent_of(h->from->keeper);
    if (agent == TURN_AUTO)
        return err_set(h->err, ERR_MISSING,
                       "'%s' is no history of Claude Code, Codex, Gemini or Entire",
                       h->from->path);
    h->done->agent = agent;
    h->is_dated = *ret_start_ns != 0;
    if (!h->is_dated)
        *ret_start_ns = h->from->mtime_ns;
    r = name_of(h, seen, &h->done->agent_session_id);
    return r < 0 ? err_code(h->err, r, "cannot read '%s'", h->from->path) : 0;
}

/* -- sub-agents -- */

/* Beside a sub-agent's file another tells in which call it works. */
static int
find_call(struct history_source *s)
{
    static const char key[] = "\"toolUseId\"";
    AUTO(buf) path = { 0 };
    AUTO(buf) meta = { .ceiling = 64 << 10 };
    const char *own = buf_str(&s->file.path), *dot = strrchr(file_name(own), '.');
    buf_append(&path, own, dot ? (size_t)(dot - own) : strlen(own));
    buf_puts(&path, ".meta.json");
    const char *at = NULL;
    if (!path.failed && !file_slurp(buf_str(&path), &meta))
        at = strstr(buf_str(&meta), key);
    at = at ? at + sizeof(key) - 1 : "";
    at += strspn(at, ": ");
    const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
    if (end && end > at + 1)
        return buf_append(&s->call, at + 1, (size_t)(end - at - 1));
    const char *name = file_name(own);
    return buf_append(&s->call, name, strcspn(name, "."));
}

static int
add_sides(struct history *h)
{
    const struct buf *sides = &h->from->sides;
    int r = 0;
    for (size_t at = 0; !r && at < sides->n;) {
        const char *path = (const char *)sides->p + at;
        struct history_source *s = history_sources_add(&h->sources, path);
        r = s ? find_call(s) : -ENOMEM;
        at += strlen(path) + 1;
    }
    return r;
}

int
history_open_reader(struct history *h)
{
    const struct turn_history_options opt = {
        .agent = h->done->agent,
        .latest_ns = h->from->mtime_ns + UINT64_C(86400000000000),
        .event = history_take_event,
        .trouble = history_take_trouble,
        .ctx = h,
    };
    int r = history_sources_add(&h->sources, h->from->path) ? add_sides(h) : -ENOMEM;
    if (!r)
        r = turn_history_new(&h->reader, &opt);
    return r < 0 ? err_code(h->err, r, "cannot import '%s'", h->from->path) : 0;
}

/* -- lines -- */

static int
take_line(struct history *h, struct history_source *s)
{
    struct view side = { s->call.p, s->call.n };
    uint64_t bytes = s->line_bytes;
    h->at = s;
    int r = turn_history_line(h->reader, side, s->line);
    if (r < 0)
        return h->err->code ? r
                            : err_code(h->err, r, "cannot import '%s'", h->from->path);
    history_source_taken(s);
    h->done->bytes += bytes;
    if (h->opt->step)
        h->opt->step(h->opt->ctx, bytes);
    return 0;
}

/* What was read, and what was not. */
static int
close_sources(struct history *h)
{
    int r = 0;
    for (size_t i = 0; i < h->sources.count; i++) {
        struct history_source *s = &h->sources.list[i];
        if (s->fd < 0)
            continue;
        h->done->too_long += s->lost;
        h->done->unfinished += history_source_rest(s);
        history_source_seal(s);
        if (s->error && !r)
            r = err_code(h->err, s->error, "cannot read '%s'", buf_str(&s->file.path));
        history_source_close(s);
    }
    return r;
}

int
history_read_lines(struct history *h)
{
    struct history_source *s;
    int error = 0, r = 0;
    for (uint64_t lines = 0; !r && (s = history_sources_next(&h->sources, &error));
         lines++) {
        r = take_line(h, s);
        if (!r && lines % STOP_LINES == 0 && h->opt->is_stopped &&
            h->opt->is_stopped(h->opt->ctx))
            r = err_code(h->err, -EINTR, "cannot import all of '%s'", h->from->path);
    }
    if (!r && error)
        r = err_code(h->err, error, "cannot import '%s'", h->from->path);
    if (!r)
        r = turn_history_end(h->reader);
    int closed = close_sources(h);
    return r < 0 ? r : closed == ERR_DAMAGED ? 0 : closed;
}
