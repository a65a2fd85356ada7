/* SPDX-License-Identifier: MIT */
/*
 * unpack.c -- codecs in a chain: which, in what order, and how much may come out of them.
 *
 * The reply comes to the first, what it gives to the next, and so on; behind the last
 * stands the reader. What comes to each of them is counted and held to the same limit, so
 * that one codec's flood does not hide in the next one's trickle.
 *
 * The reply goes through in slices of a fixed size, however it comes, and the limit stays
 * the same for a whole slice: so it is reached at the same byte, or not at all, whatever
 * the pieces were.
 */
#include "wire/unpack_priv.h"

#include <errno.h>

#include "base/ascii.h"

enum {
    CODECS = 4,
    PIECE = 64 << 10,
    SLICE = 1 << 10,
    RATIO = 1000,
    FREE = 1 << 20, /* so much may come of the smallest reply */
};
static const uint64_t most = 4ULL << 30;

struct stage {
    const struct wire_codec *codec;
    void *state;
    uint8_t *out; /* PIECE */
};

struct wire_unpack {
    struct stage stages[CODECS]; /* as they are undone */
    size_t count;
    uint64_t came[CODECS + 1]; /* to each stage, and to the reader */
    uint64_t limit;            /* of any of them, in this slice */
    wire_unpack_fn fn;         /* of the current call */
    void *ctx;
    int failed;
};

/* -- which -- */

static const struct {
    const char *name;
    const struct wire_codec *codec; /* NULL: nothing is to be done */
} encodings[] = {
    { "gzip", &wire_gzip }, { "x-gzip", &wire_gzip }, { "deflate", &wire_deflate },
    { "br", &wire_brotli }, { "zstd", &wire_zstd },   { "identity", NULL },
};
enum { ENCODINGS = sizeof(encodings) / sizeof(encodings[0]) };

static bool
is_named(struct view v, const char *name)
{
    if (v.n != strlen(name))
        return false;
    for (size_t i = 0; i < v.n; i++)
        if (ascii_fold(v.p[i]) != (uint8_t)name[i])
            return false;
    return true;
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* The last member of a list, which goes from it; without the blanks around it. */
static struct view
take_last(struct view *list)
{
    const uint8_t *comma = memrchr(list->p, ',', list->n);
    const uint8_t *begin = comma ? comma + 1 : list->p, *end = list->p + list->n;
    list->n = comma ? (size_t)(comma - list->p) : 0;
    while (begin < end && is_blank(*begin))
        begin++;
    while (begin < end && is_blank(end[-1]))
        end--;
    return (struct view){ begin, (size_t)(end - begin) };
}

static int
add_stage(struct wire_unpack *u, const struct wire_codec *codec)
{
    if (u->count == CODECS)
        return ERR_USAGE;
    struct stage *s = &u->stages[u->count++];
    s->codec = codec;
    s->out = malloc(PIECE);
    return s->out ? codec->open(&s->state) : -ENOMEM;
}

static int
add(struct wire_unpack *u, struct view name)
{
    for (size_t i = 0; i < ENCODINGS; i++)
        if (is_named(name, encodings[i].name))
            return encodings[i].codec ? add_stage(u, encodings[i].codec) : 0;
    return ERR_USAGE;
}

int
wire_unpack_new(struct wire_unpack **ret, struct view encoding)
{
    struct wire_unpack *u = calloc(1, sizeof(*u));
    int r = u ? 0 : -ENOMEM;
    while (r == 0 && encoding.n) {
        struct view name = take_last(&encoding);
        if (name.n)
            r = add(u, name);
    }
    if (r < 0) {
        wire_unpack_free(u);
        return r;
    }
    *ret = u;
    return 0;
}

void
wire_unpack_free(struct wire_unpack *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->count; i++) {
        u->stages[i].codec->close(u->stages[i].state);
        free(u->stages[i].out);
    }
    free(u);
}

/* -- how much -- */

static uint64_t
limit_of(uint64_t slices)
{
    uint64_t limit = slices * SLICE * RATIO;
    return limit < FREE ? FREE : limit < most ? limit : most;
}

static int put(struct wire_unpack *u, size_t i, struct view bytes);

/* Stage i makes of these bytes what it can; that goes on before an error does. */
static int
undo(struct wire_unpack *u, size_t i, struct view in)
{
    struct stage *s = &u->stages[i];
    int r = 0;
    while (r > 0 || (r == 0 && in.n)) {
        struct wire_room out = { s->out, PIECE };
        do
            r = s->codec->step(s->state, &in, &out);
        while (out.n && (r > 0 || (r == 0 && in.n)));
        int failed = put(u, i + 1, (struct view){ s->out, PIECE - out.n });
        if (failed < 0)
            return failed;
    }
    return r;
}

/* To stage i, or to the reader. */
static int
put(struct wire_unpack *u, size_t i, struct view bytes)
{
    uint64_t room = u->limit - u->came[i];
    bool is_over = bytes.n > room;
    if (is_over)
        bytes.n = (size_t)room;
    if (!bytes.n)
        return is_over ? ERR_LIMIT : 0;
    u->came[i] += bytes.n;
    int r = i < u->count ? undo(u, i, bytes) : u->fn(u->ctx, bytes);
    return r < 0 ? r : is_over ? ERR_LIMIT : 0;
}

int
wire_unpack_feed(struct wire_unpack *u, struct view bytes, wire_unpack_fn fn, void *ctx)
{
    u->fn = fn;
    u->ctx = ctx;
    size_t slice = u->count ? SLICE : PIECE;
    while (!u->failed && bytes.n) {
        size_t n = slice - u->came[0] % slice;
        n = n < bytes.n ? n : bytes.n;
        u->limit = limit_of((u->came[0] + n + SLICE - 1) / SLICE);
        u->failed = put(u, 0, (struct view){ bytes.p, n });
        bytes = (struct view){ bytes.p + n, bytes.n - n };
    }
    return u->failed;
}

bool
wire_unpack_is_whole(const struct wire_unpack *u)
{
    for (size_t i = 0; i < u->count; i++)
        if (!u->stages[i].codec->is_whole(u->stages[i].state))
            return false;
    return !u->failed;
}
