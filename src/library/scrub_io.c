/* SPDX-License-Identifier: MIT */
/*
 * scrub_io.c -- secrets out of an io.log.
 *
 * A message that came in pieces has a line for each ("partial") and then one for all of
 * it. A secret may begin in one piece and end in the next, or where no piece was told any
 * more: so the message is looked at as a whole. Where it holds a secret its pieces go,
 * since they stand in the whole once more; where there is no whole, the first of them
 * gets all that there is, masked.
 */
#include <errno.h>
#include <stdlib.h>

#include "journal/io.h"
#include "library/scrub_priv.h"

struct line {
    struct view
        text; /* with its newline, where it has one; p NULL: the next `replaced` */
    bool is_gone;
};

struct io {
    struct scrub *scrub;
    struct line *lines;
    size_t count, room;
    /* The message that is told in pieces: */
    struct journal_io_entry first; /* its first piece; texts of it are not there */
    size_t *pieces;                /* their lines */
    size_t piece_count, piece_room;
    struct buf joined;   /* what they say */
    struct buf replaced; /* lines that are made here, for the first of such pieces */
    struct buf texts;
    struct scrub_count masked; /* in these */
};

static void
io_release(struct io *io)
{
    free(io->lines);
    free(io->pieces);
    buf_release(&io->joined);
    buf_release(&io->replaced);
    buf_release(&io->texts);
}

/* Room for one more of `size` bytes. */
static int
grow(void *array, size_t count, size_t *room, size_t size)
{
    void **p = array;
    if (count < *room)
        return 0;
    size_t more = *room ? 2 * *room : 64;
    void *grown = reallocarray(*p, more, size);
    if (!grown)
        return -ENOMEM;
    *p = grown;
    *room = more;
    return 0;
}

/* -- messages in pieces -- */

static bool
is_of_it(const struct io *io, const struct journal_io_entry *e)
{
    return io->piece_count && e->direction == JOURNAL_OUT && e->type == io->first.type &&
           e->is_stderr == io->first.is_stderr && e->iteration == io->first.iteration;
}

static bool
begins_with(struct view text, const struct buf *start)
{
    return text.n >= start->n && (!start->n || !memcmp(text.p, start->p, start->n));
}

/* All that was said of it, masked, in the place of its first piece. Such lines are made
 * in the order in which they stand. */
static int
replace_first(struct io *io, const struct buf *masked)
{
    struct line *l = &io->lines[io->pieces[0]];
    size_t before = io->replaced.n;
    io->first.content = (struct view){ masked->p, masked->n };
    journal_io_line(&io->first, &io->replaced);
    l->is_gone = false;
    l->text = (struct view){ NULL, io->replaced.n - before };
    return io->replaced.failed;
}

/* There are no more pieces. whole: the line that tells it all, or NULL. */
static int
end_message(struct io *io, const struct journal_io_entry *whole)
{
    AUTO(buf) masked = { .ceiling = SIZE_MAX };
    struct view text = { io->joined.p, io->joined.n };
    struct scrub_count found = { 0 };
    bool is_told = whole && begins_with(whole->content, &io->joined);
    int e = scrub_text(io->scrub, is_told ? whole->content : text, &masked, &found);
    for (size_t i = 0; !e && found.places && i < io->piece_count; i++)
        io->lines[io->pieces[i]].is_gone = true;
    if (!e && found.places && !is_told) {
        io->masked.places += found.places;
        io->masked.bytes += found.bytes;
        e = replace_first(io, &masked);
    }
    io->piece_count = 0;
    buf_clear(&io->joined);
    return e;
}

static int
add_piece(struct io *io, const struct journal_io_entry *e)
{
    int r = io->piece_count && !is_of_it(io, e) ? end_message(io, NULL) : 0;
    if (!r)
        r = grow(&io->pieces, io->piece_count, &io->piece_room, sizeof(*io->pieces));
    if (r)
        return r;
    if (!io->piece_count) {
        io->first = *e;
        io->first.more = (struct view){ 0 };
    }
    io->pieces[io->piece_count++] = io->count - 1;
    return buf_append(&io->joined, e->content.p, e->content.n);
}

static int
add_line(struct io *io, struct view text)
{
    struct journal_io_entry e;
    int r = grow(&io->lines, io->count, &io->room, sizeof(*io->lines));
    if (r)
        return r;
    io->lines[io->count++] = (struct line){ .text = text };
    r = journal_io_read(text, &io->texts, &e);
    if (r < 0)
        return r == ERR_DAMAGED ? 0 : r;
    if (e.is_partial)
        return add_piece(io, &e);
    return is_of_it(io, &e) ? end_message(io, &e) : 0;
}

/* -- the file -- */

static int
put_lines(const struct io *io, struct buf *out, struct scrub_count *count)
{
    size_t replaced = 0;
    int e = 0;
    for (size_t i = 0; !e && i < io->count; i++) {
        const struct line *l = &io->lines[i];
        if (l->is_gone)
            continue;
        if (l->text.p) {
            e = scrub_json_lines(io->scrub, l->text, out, count);
        } else {
            e = buf_append(out, io->replaced.p + replaced, l->text.n);
            replaced += l->text.n;
        }
    }
    count->places += io->masked.places;
    count->bytes += io->masked.bytes;
    return e;
}

int
scrub_io(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    AUTO(io)
    io = { .scrub = s,
           .joined.ceiling = SIZE_MAX,
           .replaced.ceiling = SIZE_MAX,
           .texts.ceiling = SIZE_MAX };
    int e = 0;
    while (!e && in.n) {
        const uint8_t *end = memchr(in.p, '\n', in.n);
        size_t n = end ? (size_t)(end - in.p) + 1 : in.n;
        e = add_line(&io, (struct view){ in.p, n });
        in = (struct view){ in.p + n, in.n - n };
    }
    if (!e && io.piece_count)
        e = end_message(&io, NULL);
    return e ? e : put_lines(&io, out, count);
}
