/* SPDX-License-Identifier: MIT */
/* history_read.c -- whose history a file is, what it is called, and its lines. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/iso.h"
#include "library/history_priv.h"

enum {
    PEEK = 256 << 10,
    UUID_LEN = 36,
    WORD_MAX = 255,
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

enum turn_agent
library_history_guess(struct view head)
{
    enum turn_agent agent = turn_history_guess(head);
    if (agent != TURN_AUTO)
        return agent;
    if (holds(head, "\"sessionId\"") && holds(head, "\"messages\""))
        return TURN_GEMINI;
    if (holds(head, "\"sessionId\"") &&
        (holds(head, "\"uuid\"") || holds(head, "\"parentUuid\"")))
        return TURN_CLAUDE;
    return holds(head, "\"payload\"") && holds(head, "\"timestamp\"") ? TURN_CODEX
                                                                      : TURN_AUTO;
}

/* "… \"sessionId\":\"X\"": X, which has nothing in it that would be escaped. */
static struct view
word_behind(struct view head, const char *key)
{
    const uint8_t *end = head.p + head.n;
    const uint8_t *at = head.n ? memmem(head.p, head.n, key, strlen(key)) : NULL;
    at = at ? at + strlen(key) : end;
    while (at < end && (*at == ':' || *at == ' '))
        at++;
    if (at == end || *at != '"')
        return (struct view){ 0 };
    const uint8_t *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
    struct view word = { at + 1, quote ? (size_t)(quote - at - 1) : 0 };
    bool is_plain = word.n && word.n <= WORD_MAX && !memchr(word.p, '\\', word.n);
    return is_plain ? word : (struct view){ 0 };
}

/* A document: some of its bytes. */
static int
peek_document(struct history_source *s, struct buf *head, uint64_t *ret_start_ns)
{
    uint8_t *room = buf_grow(head, PEEK);
    ssize_t n = room ? file_read(s->fd, room, PEEK) : head->failed;
    head->n = n > 0 ? (size_t)n : 0;
    struct view seen = { head->p, head->n };
    (void)iso_time_read(word_behind(seen, "\"startTime\""), ret_start_ns);
    return n < 0 ? (int)n : 0;
}

/* No line is whole yet. */
static int
peek_rest(const struct history_source *s, struct buf *head)
{
    size_t n = s->held.n - s->at;
    return n ? buf_append(head, s->held.p + s->at, n < PEEK ? n : PEEK) : 0;
}

/* The first lines, until they have told whose they are and when the first was written. */
static int
peek_lines(struct history_sources *one, struct buf *head, uint64_t *ret_start_ns)
{
    enum turn_agent agent = TURN_AUTO;
    struct history_source *s;
    int error = 0, r = 0;
    for (unsigned i = 0; !r && i < PEEK_LINES && head->n < PEEK; i++) {
        s = history_sources_next(one, &error);
        if (!s || (*ret_start_ns && agent != TURN_AUTO))
            break;
        size_t n = s->line.n < PEEK ? s->line.n : PEEK;
        r = buf_append(head, s->line.p, n);
        if (!r)
            r = buf_puts(head, "\n");
        if (agent == TURN_AUTO)
            agent = turn_history_guess(s->line);
        if (!*ret_start_ns)
            *ret_start_ns = turn_history_stamp(s->line);
        history_source_taken(s);
    }
    s = &one->list[0];
    if (!r && !error && !head->n)
        r = s->error ? s->error : peek_rest(s, head);
    return r < 0 ? r : error;
}

static int
peek(struct history *h, struct buf *head, uint64_t *ret_start_ns)
{
    struct history_sources one = { 0 };
    struct history_source *s = history_sources_add(&one, h->from->path);
    int r = s ? history_source_open(s, h->err) : -ENOMEM;
    *ret_start_ns = 0;
    if (!r)
        r = s->is_document ? peek_document(s, head, ret_start_ns)
                           : peek_lines(&one, head, ret_start_ns);
    history_sources_release(&one);
    return r;
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

/* Of a sub-agent's file whose session is not there: never that session's name. */
static bool
is_side(const struct history *h)
{
    return h->done->agent == TURN_CLAUDE &&
           !strncmp(file_name(h->from->path), "agent-", 6);
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
    if (!is_side(h) && (h->done->agent == TURN_GEMINI || !is_uuid(name, n))) {
        struct view id = word_behind(
            head, h->done->agent == TURN_CODEX ? "\"id\"" : "\"sessionId\"");
        if (id.n)
            return buf_append(ret, id.p, id.n);
    }
    return buf_append(ret, name, n);
}

/* Of those that were asked for? Entire keeps the histories of several agents. */
static bool
is_wanted(const struct history *h, enum turn_agent agent)
{
    enum journal_keeper keeper = h->from->keeper;
    return keeper == JOURNAL_KEEPER_AUTO || keeper == JOURNAL_KEEPER_ENTIRE ||
           agent == agent_of(keeper);
}

int
history_identify(struct history *h)
{
    AUTO(buf) head = { 0 };
    int r = peek(h, &head, &h->begins_ns);
    bool is_damaged = r == ERR_DAMAGED; /* packed, and nothing comes out of it */
    if (r < 0 && !is_damaged)
        return h->err->code ? r : err_code(h->err, r, "cannot read '%s'", h->from->path);
    struct view seen = { head.p, head.n };
    enum turn_agent agent = is_damaged ? TURN_CODEX : library_history_guess(seen);
    if (agent == TURN_AUTO && head.n)
        agent = agent_of(h->from->keeper);
    if (agent == TURN_AUTO || !is_wanted(h, agent))
        return err_set(h->err, ERR_MISSING, "'%s' is no history of %s", h->from->path,
                       journal_keeper_title(h->from->keeper));
    h->done->agent = agent;
    if (!h->begins_ns)
        h->begins_ns = h->from->mtime_ns;
    r = name_of(h, seen, &h->name);
    return r < 0 ? err_code(h->err, r, "cannot read '%s'", h->from->path) : 0;
}

struct view
history_own_id(const struct history *h)
{
    const struct buf *told = h->reader ? &turn_history_facts(h->reader)->id : NULL;
    const struct buf *own = told && told->n ? told : &h->name;
    char id[SESSION_ID_LEN + 1] = { 0 };
    if (own->n == SESSION_ID_LEN)
        memcpy(id, own->p, SESSION_ID_LEN);
    return session_id_is(id) ? (struct view){ 0 } : (struct view){ own->p, own->n };
}

/* A file may be given a time of long ago; a clock may have been wrong since. */
static uint64_t
latest_ns(const struct history *h)
{
    struct clock now;
    clock_start(&now);
    uint64_t last_ns = h->from->mtime_ns > now.real_ns ? h->from->mtime_ns : now.real_ns;
    return last_ns + UINT64_C(86400000000000);
}

int
history_open_reader(struct history *h)
{
    const struct turn_history_options opt = {
        .agent = h->done->agent,
        .latest_ns = latest_ns(h),
        .is_side_alone = is_side(h),
        .event = history_take_event,
        .trouble = history_take_trouble,
        .mask = history_mask,
        .ctx = h,
    };
    int r = history_sources_add(&h->sources, h->from->path) ? history_add_sides(h)
                                                            : -ENOMEM;
    if (!r)
        r = turn_history_new(&h->reader, &opt);
    return r < 0 ? err_code(h->err, r, "cannot import '%s'", h->from->path) : 0;
}

/* -- lines -- */

static int
take_line(struct history *h, struct history_source *s)
{
    struct view side = { s->call.p, s->call.n };
    uint64_t bytes = s->line_bytes, *malformed = &h->done->wrongs[TURN_HISTORY_MALFORMED],
             before = *malformed;
    h->at = s;
    if (s->is_too_long)
        history_take_wrong(h, LIBRARY_HISTORY_TOO_LONG);
    int r = turn_history_line(h->reader, side, s->line);
    if (r < 0)
        return h->err->code ? r
                            : err_code(h->err, r, "cannot import '%s'", h->from->path);
    if (*malformed == before && s->line.n && memchr(s->line.p, 0, s->line.n))
        history_take_wrong(h, LIBRARY_HISTORY_NULS);
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
        if (!s->is_open)
            continue;
        h->at = s;
        if (s->error == ERR_DAMAGED)
            history_take_wrong(h, LIBRARY_HISTORY_CUT);
        h->done->unfinished += history_source_rest(s);
        history_source_seal(s);
        if (s->error && s->error != ERR_DAMAGED && !r)
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
    return r < 0 ? r : closed;
}
