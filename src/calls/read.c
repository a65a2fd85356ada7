/* SPDX-License-Identifier: MIT */
/* read.c -- the file gone through: which call each line is of, and where it stands. */
#include "calls/read.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonl.h"
#include "calls/read_priv.h"
#include "gz/read.h"

enum {
    CHUNK = 256 << 10,
    CALLS_MAX = 1 << 20,
    AGAIN_MAX = 16384, /* an event that comes again is among the latest */
};

struct indexing {
    struct calls *c;
    struct jsonl lines;
    struct buf texts;
};

/* -- calls by their number -- */

/* Where it is in the order, or would be. */
static size_t
place_of(const struct calls *c, uint64_t number)
{
    size_t low = 0, high = c->count;
    if (high && c->order[high - 1].number < number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->order[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct call *
calls_by_number(const struct calls *c, uint64_t number)
{
    size_t i = place_of(c, number);
    return i < c->count && c->order[i].number == number ? &c->all[c->order[i].index]
                                                        : NULL;
}

size_t
calls_find(const struct calls *c, uint64_t number)
{
    const struct call *found = calls_by_number(c, number);
    return found ? (size_t)(found - c->all) : SIZE_MAX;
}

static int
make_room(struct calls *c)
{
    size_t room = c->room ? 2 * c->room : 64;
    if (c->count < c->room)
        return 0;
    if (c->count >= CALLS_MAX)
        return ERR_LIMIT;
    struct call *all = realloc(c->all, room * sizeof(*all));
    if (!all)
        return -ENOMEM;
    c->all = all;
    struct by_number *order = realloc(c->order, room * sizeof(*order));
    if (!order)
        return -ENOMEM;
    c->order = order;
    c->room = room;
    return 0;
}

static int
add(struct calls *c, uint64_t number, struct call **ret)
{
    int r = make_room(c);
    if (r < 0)
        return r;
    size_t at = place_of(c, number);
    memmove(c->order + at + 1, c->order + at, (c->count - at) * sizeof(*c->order));
    c->order[at] = (struct by_number){ number, c->count };
    *ret = &c->all[c->count++];
    **ret = (struct call){
        .facts = { .number = number,
                   .anchor_byte = CALLS_NONE,
                   .reply_anchor_byte = CALLS_NONE,
                   .end_anchor_byte = CALLS_NONE,
                   .http_minor = 1,
                   .end = CALLS_CUT,
                   .sent = CALLS_NONE,
                   .received = CALLS_NONE,
                   .first_byte_ns = CALLS_NONE,
                   .first_token_ns = CALLS_NONE,
                   .duration_ns = CALLS_NONE,
                   .request_size = CALLS_NONE,
                   .usage = TURN_NO_USAGE },
        .request_body.ceiling = 16 << 20,
        .body.ceiling = 256 << 20,
        .events.ceiling = 512 << 20,
    };
    return 0;
}

/* -- a line -- */

/* Views of a text that is kept elsewhere now. */
static struct view
moved(const struct buf *from, const struct buf *to, struct view v)
{
    return v.n ? (struct view){ to->p + (v.p - from->p), v.n } : v;
}

static int
keep_texts(const struct buf *from, struct buf *to)
{
    buf_clear(to);
    return buf_append(to, from->p, from->n);
}

static int
take_request(struct call *call, const struct calls_line *l, const struct buf *texts,
             struct place at)
{
    struct calls_facts *f = &call->facts;
    int r = keep_texts(texts, &call->texts);
    if (r < 0)
        return r;
    call->request = at;
    f->ts_ns = l->ts_ns;
    f->anchor_byte = l->anchor_byte;
    f->upstream = moved(texts, &call->texts, l->upstream);
    f->target = moved(texts, &call->texts, l->target);
    f->method = moved(texts, &call->texts, l->method);
    f->url = moved(texts, &call->texts, l->url);
    f->http_minor = l->http_minor;
    f->retry_of = l->retry_of;
    f->has_turns = l->has_turns;
    return 0;
}

static int
take_event(struct call *call, const struct calls_line *l, struct place at)
{
    struct event_place *all = (void *)call->events.p;
    size_t n = call->events.n / sizeof(*all);
    call->facts.is_stream = true;
    if (!n || all[n - 1].number < l->event) {
        const struct event_place one = { at, l->event };
        call->facts.events = n + 1;
        return buf_append(&call->events, &one, sizeof(one));
    }
    for (size_t i = 0; i < n && i < AGAIN_MAX; i++)
        if (all[n - 1 - i].number == l->event) {
            all[n - 1 - i].place = at;
            break;
        }
    return 0;
}

static int
take_end(struct call *call, const struct calls_line *l, const struct buf *texts)
{
    struct calls_facts *f = &call->facts;
    int r = keep_texts(texts, &call->end_texts);
    if (r < 0)
        return r;
    f->has_end = true;
    f->end = l->end;
    f->end_anchor_byte = l->anchor_byte;
    f->error = moved(texts, &call->end_texts, l->error);
    f->model = moved(texts, &call->end_texts, l->model);
    f->stop = moved(texts, &call->end_texts, l->stop);
    f->sent = l->sent;
    f->received = l->received;
    f->first_byte_ns = l->first_byte_ns;
    f->first_token_ns = l->first_token_ns;
    f->duration_ns = l->duration_ns;
    f->usage = l->usage;
    return 0;
}

static int
take_line(struct call *call, const struct calls_line *l, const struct buf *texts,
          struct place at)
{
    call->facts.ts_ns = call->facts.ts_ns ? call->facts.ts_ns : l->ts_ns;
    call->facts.last_ns = l->ts_ns;
    switch (l->type) {
    case CALLS_REQUEST:
        return take_request(call, l, texts, at);
    case CALLS_REQUEST_BODY:
        if (l->is_last)
            call->facts.request_size = l->size_bytes;
        return buf_append(&call->request_body, &at, sizeof(at));
    case CALLS_REPLY:
        call->reply = at;
        call->facts.status = l->status;
        call->facts.reply_anchor_byte = l->anchor_byte;
        return 0;
    case CALLS_EVENT:
        return take_event(call, l, at);
    case CALLS_BODY:
        return buf_append(&call->body, &at, sizeof(at));
    case CALLS_END:
        call->end = at;
        return take_end(call, l, texts);
    }
    return 0;
}

/* A jsonl_fn. */
static int
take(void *ctx, struct view object)
{
    struct indexing *x = ctx;
    struct calls_line l;
    int r = calls_line_get(object, &x->texts, x->c->headers, &l);
    if (r == ERR_DAMAGED)
        return 0;
    struct call *call = r < 0 ? NULL : calls_by_number(x->c, l.call);
    if (!r && !call)
        r = add(x->c, l.call, &call);
    if (r < 0)
        return r;
    uint64_t at = x->lines.at + (uint64_t)(object.p - x->lines.line.p);
    r = take_line(call, &l, &x->texts, (struct place){ at, (uint32_t)object.n });
    return r < 0 ? r : 1;
}

/* A jsonl_bad_fn. */
static void
note_bad(void *ctx, uint64_t line)
{
    struct indexing *x = ctx;
    (void)line;
    x->c->bad_lines++;
}

/* -- the file -- */

/* A place for what an archived file holds, which has no name. */
static int
open_unnamed(void)
{
    const char *dir = getenv("TMPDIR");
    int fd = open(dir && *dir == '/' ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC,
                  0600);
    return fd >= 0 ? fd : -errno;
}

static int
read_file(struct indexing *x, struct gz *g)
{
    AUTO(buf) chunk = { 0 };
    ssize_t n = 0;
    int r = buf_reserve(&chunk, CHUNK);
    while (!r && (n = gz_read(g, chunk.p, CHUNK)) > 0) {
        if (gz_is_packed(g))
            r = file_write_all(x->c->fd, chunk.p, (size_t)n);
        if (!r)
            r = jsonl_feed(&x->lines, (struct view){ chunk.p, (size_t)n });
    }
    return r < 0 ? r : (int)n;
}

static int
open_file(struct calls *c, const char *path, struct gz **ret)
{
    int r = gz_open(ret, AT_FDCWD, path);
    if (r < 0)
        return r;
    c->fd = gz_is_packed(*ret) ? open_unnamed() : fcntl(gz_fd(*ret), F_DUPFD_CLOEXEC, 3);
    if (c->fd < 0) {
        r = c->fd == -1 ? -errno : c->fd;
        gz_close(*ret);
    }
    return r;
}

static int
index_file(struct calls *c, const char *path, bool *ret_is_cut)
{
    struct indexing x = { .c = c,
                          .texts.ceiling = CALLS_LINE_MAX,
                          .lines = { .fn = take,
                                     .bad = note_bad,
                                     .ctx = &x,
                                     .begin = "{\"ts_ns\":",
                                     .line.ceiling = CALLS_LINE_MAX } };
    struct gz *g = NULL;
    int r = open_file(c, path, &g);
    if (r < 0)
        return r;
    r = read_file(&x, g);
    bool is_cut = r == ERR_DAMAGED;
    if (ret_is_cut)
        *ret_is_cut = is_cut;
    gz_close(g);
    jsonl_release(&x.lines);
    buf_release(&x.texts);
    return is_cut ? 0 : r;
}

bool
calls_exist(const char *path)
{
    struct stat st;
    return gz_stat(AT_FDCWD, path, &st) >= 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

int
calls_open(struct calls **ret, const char *path, bool *ret_is_cut, struct err *err)
{
    struct calls *c = calloc(1, sizeof(*c));
    if (!c)
        return err_code(err, -ENOMEM, "cannot read '%s'", path);
    c->fd = -1;
    c->line.ceiling = c->texts.ceiling = CALLS_LINE_MAX;
    c->reply.ceiling = c->events.ceiling = CALLS_ALL_MAX;
    int r = index_file(c, path, ret_is_cut);
    if (r < 0) {
        calls_close(c);
        return err_code(err, r == -ENOENT ? ERR_MISSING : r, "cannot read '%s'", path);
    }
    *ret = c;
    return 0;
}

void
calls_close(struct calls *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        struct buf *bufs[] = { &c->all[i].request_body, &c->all[i].body,
                               &c->all[i].events, &c->all[i].texts,
                               &c->all[i].end_texts };
        for (size_t k = 0; k < sizeof(bufs) / sizeof(bufs[0]); k++)
            buf_release(bufs[k]);
    }
    for (size_t i = 0; i < READ_KNOWN; i++)
        buf_release(&c->known[i].body);
    struct buf *bufs[] = { &c->line,        &c->texts, &c->request_texts,
                           &c->reply_texts, &c->reply, &c->events };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    if (c->fd >= 0)
        close(c->fd);
    free(c->all);
    free(c->order);
    free(c);
}

uint64_t
calls_bad_lines(const struct calls *c)
{
    return c->bad_lines;
}

size_t
calls_count(const struct calls *c)
{
    return c->count;
}

const struct calls_facts *
calls_facts(const struct calls *c, size_t i)
{
    return &c->all[i].facts;
}
