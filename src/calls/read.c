/* SPDX-License-Identifier: MIT */
/* read.c -- the file gone through: which call each line is of, and where it stands. */
#include "calls/read.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonl.h"
#include "calls/read_priv.h"
#include "gz/pack.h"
#include "gz/read.h"

enum {
    CHUNK = 256 << 10,
    CALLS_MAX = 1 << 20,
    LATE_MAX = 1024,      /* places that a line may have come too late */
    TEXT_MAX = 64 << 10,  /* bytes of a text of the facts that are kept … */
    KEPT_MAX = 512 << 20, /* … and of all that is, of all calls */
};

struct indexing {
    struct calls *c;
    struct jsonl lines;
    struct buf texts;
    bool is_end; /* of the file: what stands there may not be whole yet */
    void (*pace)(void *ctx);
    void *ctx;
};

/* Room for what is kept of a line. */
static int
charge(struct calls *c, size_t bytes)
{
    if (bytes > KEPT_MAX - c->kept_bytes)
        return ERR_LIMIT;
    c->kept_bytes += bytes;
    return 0;
}

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
calls_settle(struct calls *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct calls_facts *f = &c->all[i].facts;
        if (f->has_end)
            continue;
        f->has_end = true;
        f->end = CALLS_CUT;
        count++;
    }
    return count;
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
    size_t at = place_of(c, number);
    if (c->count - at > LATE_MAX)
        return ERR_DAMAGED;
    int r = charge(c, sizeof(**ret));
    if (!r)
        r = make_room(c);
    if (r < 0)
        return r;
    assert(c->all && c->order);
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
        .request_body.ceiling = KEPT_MAX,
        .body.ceiling = KEPT_MAX,
        .events.ceiling = KEPT_MAX,
        .events_told = CALLS_NONE,
    };
    return 0;
}

/* -- a line -- */

/* At a character's end. */
static size_t
kept_of(struct view v)
{
    size_t n = v.n < TEXT_MAX ? v.n : TEXT_MAX;
    while (n && n < v.n && (v.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* Copies of them, where their ends are cut off if they are too long for anything that is
 * sent. */
static int
keep_texts(struct calls *c, struct buf *to, struct view *const *texts, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        texts[i]->n = kept_of(*texts[i]);
        all += texts[i]->n;
    }
    buf_clear(to);
    int r = charge(c, all);
    if (!r) /* views of it are handed out while more is appended */
        r = buf_reserve(to, all);
    for (size_t i = 0; i < count && !r; i++) {
        struct view copy = { to->p + to->n, texts[i]->n };
        r = buf_append(to, texts[i]->p, copy.n);
        *texts[i] = copy;
    }
    return r;
}

static int
take_request(struct calls *c, struct call *call, const struct calls_line *l,
             struct place at)
{
    struct calls_facts *f = &call->facts;
    struct view upstream = l->upstream, target = l->target, method = l->method;
    struct view url = l->url, *const texts[] = { &upstream, &target, &method, &url };
    int r = keep_texts(c, &call->texts, texts, 4);
    if (r < 0)
        return r;
    call->request = at;
    f->ts_ns = l->ts_ns;
    f->anchor_byte = l->anchor_byte;
    f->upstream = upstream;
    f->target = target;
    f->method = method;
    f->url = url;
    f->http_minor = l->http_minor;
    f->retry_of = l->retry_of;
    f->has_turns = l->has_turns;
    return 0;
}

/* Where it is among them, or would be. */
static size_t
piece_of(const struct buf *pieces, uint64_t number)
{
    const struct piece_place *all = (const void *)pieces->p;
    size_t low = 0, high = pieces->n / sizeof(*all);
    if (high && all[high - 1].number < number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int
take_piece(struct calls *c, struct buf *pieces, uint64_t number,
           const struct calls_line *l, struct place place)
{
    const struct piece_place one = { place, number, l->ts_ns, l->anchor_byte };
    size_t at = piece_of(pieces, number), n = pieces->n / sizeof(one);
    struct piece_place *all = (void *)pieces->p;
    if (at < n && all[at].number == number) {
        all[at].place = place;
        return 0;
    }
    if (n - at > LATE_MAX)
        return ERR_DAMAGED;
    int r = charge(c, sizeof(one));
    if (!r)
        r = buf_append(pieces, &one, sizeof(one));
    if (r < 0)
        return r;
    all = (void *)pieces->p;
    memmove(all + at + 1, all + at, (n - at) * sizeof(one));
    all[at] = one;
    return 0;
}

/* One without a number is the next; behind the last there is none. */
static int
take_body(struct calls *c, struct buf *pieces, bool *has_last, const struct calls_line *l,
          struct place at)
{
    size_t n = pieces->n / sizeof(struct piece_place);
    const struct piece_place *all = (const void *)pieces->p;
    uint64_t next = n ? all[n - 1].number + 1 : 0;
    if (l->piece == CALLS_NONE && *has_last)
        return 0;
    int r = take_piece(c, pieces, l->piece == CALLS_NONE ? next : l->piece, l, at);
    *has_last |= !r && l->is_last;
    return r;
}

static int
take_event(struct calls *c, struct call *call, const struct calls_line *l,
           struct place at)
{
    int r = take_piece(c, &call->events, l->event, l, at);
    call->facts.events = call->events.n / sizeof(struct piece_place);
    call->facts.is_stream = call->facts.events > 0;
    return r;
}

static int
take_end(struct calls *c, struct call *call, const struct calls_line *l)
{
    struct calls_facts *f = &call->facts;
    struct view error = l->error, model = l->model, stop = l->stop;
    struct view *const texts[] = { &error, &model, &stop };
    int r = keep_texts(c, &call->end_texts, texts, 3);
    if (r < 0)
        return r;
    f->has_end = true;
    f->end = l->end;
    f->end_anchor_byte = l->anchor_byte;
    f->error = error;
    f->model = model;
    f->stop = stop;
    f->sent = l->sent;
    f->received = l->received;
    f->first_byte_ns = l->first_byte_ns;
    f->first_token_ns = l->first_token_ns;
    f->duration_ns = l->duration_ns;
    f->usage = l->usage;
    call->events_told = l->events;
    return 0;
}

static int
take_line(struct calls *c, struct call *call, const struct calls_line *l, struct place at)
{
    struct calls_facts *f = &call->facts;
    f->ts_ns = f->ts_ns ? f->ts_ns : l->ts_ns;
    f->last_ns = f->last_ns > l->ts_ns ? f->last_ns : l->ts_ns;
    switch (l->type) {
    case CALLS_REQUEST:
        return take_request(c, call, l, at);
    case CALLS_REQUEST_BODY:
        if (l->is_last)
            f->request_size = l->size_bytes;
        return take_body(c, &call->request_body, &call->has_last_of_request, l, at);
    case CALLS_REPLY:
        call->reply = at;
        f->status = l->status;
        f->reply_anchor_byte = l->anchor_byte;
        return 0;
    case CALLS_EVENT:
        return take_event(c, call, l, at);
    case CALLS_BODY:
        return take_body(c, &call->body, &call->has_last_of_body, l, at);
    case CALLS_END:
        call->end = at;
        return take_end(c, call, l);
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
    struct call *call = r < 0 ? NULL : calls_by_number(x->c, l.call);
    if (!r && !call)
        r = add(x->c, l.call, &call);
    uint64_t at = x->lines.at + (uint64_t)(object.p - x->lines.line.p);
    if (!r)
        r = take_line(x->c, call, &l, (struct place){ at, (uint32_t)object.n });
    if (r == ERR_DAMAGED || r == ERR_LIMIT)
        return 0;
    return r < 0 ? r : 1;
}

/* A jsonl_bad_fn. */
static void
note_bad(void *ctx, uint64_t line)
{
    struct indexing *x = ctx;
    (void)line;
    x->c->bad_lines += !x->is_end;
}

/* -- the file -- */

/* A place for what an archived file holds, which has no name. */
static int
open_unnamed(void)
{
    const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        int fd = -1;
        if (dirs[i] && dirs[i][0] == '/')
            fd = open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd;
    }
    int fd = memfd_create("calls", MFD_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

static int
read_file(struct indexing *x, struct gz *g)
{
    AUTO(buf) chunk = { 0 };
    ssize_t n = 0;
    int r = buf_reserve(&chunk, CHUNK);
    while (!r && (n = gz_read(g, chunk.p, CHUNK)) > 0) {
        if (gz_is_packed(g) && x->lines.fed + (uint64_t)n > GZ_FILE_MAX)
            return ERR_DAMAGED; /* nothing so large was ever packed */
        if (gz_is_packed(g))
            r = file_write_all(x->c->fd, chunk.p, (size_t)n);
        if (!r)
            r = jsonl_feed(&x->lines, (struct view){ chunk.p, (size_t)n });
        if (x->pace)
            x->pace(x->ctx);
    }
    x->is_end = true;
    if (!r)
        r = jsonl_end(&x->lines);
    return r < 0 ? r : (int)n;
}

static int
open_file(struct calls *c, const char *path, struct gz **ret)
{
    int r = gz_open(ret, AT_FDCWD, path);
    if (r < 0)
        return r;
    int fd = gz_is_packed(*ret) ? open_unnamed() : fcntl(gz_fd(*ret), F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        r = gz_is_packed(*ret) ? fd : -errno;
        gz_close(*ret);
    }
    c->fd = fd;
    return r;
}

static int
index_file(struct calls *c, const char *path, bool *ret_is_cut, void (*pace)(void *ctx),
           void *ctx)
{
    struct indexing x = { .c = c,
                          .pace = pace,
                          .ctx = ctx,
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
    return calls_open_paced(ret, path, ret_is_cut, NULL, NULL, err);
}

int
calls_open_paced(struct calls **ret, const char *path, bool *ret_is_cut,
                 void (*pace)(void *ctx), void *ctx, struct err *err)
{
    struct calls *c = calloc(1, sizeof(*c));
    if (!c)
        return err_code(err, -ENOMEM, "cannot read '%s'", path);
    c->fd = -1;
    c->line.ceiling = c->texts.ceiling = CALLS_LINE_MAX;
    c->reply.ceiling = c->events.ceiling = CALLS_ALL_MAX;
    int r = index_file(c, path, ret_is_cut, pace, ctx);
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
    buf_release(&c->made);
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
