/* SPDX-License-Identifier: MIT */
/* io_each.c -- all lines of an io.log, archived or not, whatever else is in it. */
#include "base/json_in.h"
#include "gz/lines.h"
#include "journal/io.h"

/* What a run takes for one message, with all of it escaped. */
enum { LINE_MAX_BYTES = 512 << 20 };

struct walk {
    journal_io_fn fn;
    void *ctx;
    struct session_unread unread;
    struct buf texts;
    struct jsonl lines;
};

static void
walk_release(struct walk *w)
{
    buf_release(&w->texts);
    jsonl_release(&w->lines);
}

/* A jsonl_fn. */
static int
take(void *ctx, struct view object)
{
    struct walk *w = ctx;
    struct journal_io_entry e;
    if (!json_in_is_one(object))
        return 0;
    int r = journal_io_read(object, &w->texts, &e);
    if (r == ERR_DAMAGED)
        return 0;
    if (!r)
        r = w->fn(w->ctx, &e);
    return r < 0 ? r : 1;
}

/* A jsonl_bad_fn. */
static void
count_bad(void *ctx, uint64_t line)
{
    struct walk *w = ctx;
    if (!w->unread.lines++)
        w->unread.first = line;
}

int
journal_io_each(const char *path, journal_io_fn fn, void *ctx, struct session_unread *ret,
                struct err *err)
{
    AUTO(walk) w = { .fn = fn, .ctx = ctx, .texts.ceiling = LINE_MAX_BYTES };
    w.lines = (struct jsonl){ .fn = take,
                              .bad = count_bad,
                              .ctx = &w,
                              .begin = "{\"timestamp\"",
                              .line.ceiling = LINE_MAX_BYTES };
    int r = gz_lines_read(path, &w.lines, false, err);
    if (ret)
        *ret = w.unread;
    return r;
}
