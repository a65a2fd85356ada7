/* SPDX-License-Identifier: MIT */
#include "play/turns.h"

#include <errno.h>
#include <fcntl.h>

#include "gz/lines.h"
#include "gz/read.h"
#include "play/turns_priv.h"
#include "redact/json.h"

/* An event of TURN_LINE_MAX with all of it escaped. */
enum { LINE_MAX_BYTES = 512 << 20 };

/* A jsonl_fn. */
static int
take_object(void *ctx, struct view object)
{
    struct turns_reading *r = ctx;
    struct turn_event event;
    struct turn_stamp at;
    int e = turn_line_read(object, &r->texts, &event, &at);
    if (e == ERR_DAMAGED)
        return 0;
    r->events += !e;
    at.is_aside = !e && r->has_asides && play_asides_is(&r->asides, r->events);
    if (!e)
        e = r->opt->fn(r->opt->ctx, &event, &at);
    return e < 0 ? e : 1;
}

/* A jsonl_bad_fn. */
static void
tell_bad(void *ctx, uint64_t line)
{
    struct turns_reading *r = ctx;
    if (r->opt->bad)
        r->opt->bad(r->opt->ctx, line);
}

void
turns_reading_init(struct turns_reading *r, const struct play_turns_options *opt)
{
    *r = (struct turns_reading){ .opt = opt, .texts.ceiling = LINE_MAX_BYTES };
    r->lines = (struct jsonl){ .fn = take_object,
                               .bad = tell_bad,
                               .ctx = r,
                               .begin = "{\"ts_ns\":",
                               .line.ceiling = LINE_MAX_BYTES };
}

void
turns_reading_release(struct turns_reading *r)
{
    jsonl_release(&r->lines);
    buf_release(&r->texts);
    play_asides_release(&r->asides);
}

bool
play_turns_exist(const char *path)
{
    struct stat st;
    return gz_stat(AT_FDCWD, path, &st) >= 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* A play_turn_fn. */
static int
note_branch(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    (void)at;
    return e->type == TURN_BRANCH ? play_asides_branch(ctx, e->from)
                                  : play_asides_event(ctx);
}

/* What cannot be read is told when it is read for the second time. */
static int
find_asides(struct turns_reading *r, const char *path, struct err *err)
{
    const struct play_turns_options opt = { .is_growing = r->opt->is_growing,
                                            .fn = note_branch,
                                            .ctx = &r->asides };
    r->has_asides = r->opt->has_asides && play_asides_may_be(path);
    if (!r->has_asides)
        return 0;
    int e = play_turns_read(path, &opt, NULL);
    if (e != -ENOMEM)
        e = play_asides_end(&r->asides);
    return e < 0 ? err_code(err, e, "cannot read '%s'", path) : 0;
}

int
play_turns_read(const char *path, const struct play_turns_options *opt, struct err *err)
{
    AUTO(turns_reading) r = { 0 };
    turns_reading_init(&r, opt);
    int e = find_asides(&r, path, err);
    if (e < 0)
        return e;
    return gz_lines_read(path, &r.lines, opt->is_growing, err);
}

/* -- masked -- */

static int
mask(struct redact *r, struct view *text, struct buf *room, bool is_json)
{
    buf_clear(room);
    room->ceiling = LINE_MAX_BYTES;
    if (!text->n)
        return 0;
    int e = is_json ? redact_json(r, *text, room)
                    : redact_text(r, text->p, text->n, room);
    *text = (struct view){ room->p, room->n };
    return e < 0 ? e : 0;
}

int
play_turns_mask(struct redact *r, struct turn_event *e, struct play_turns_mask *room)
{
    int got = mask(r, &e->text, &room->text, false);
    if (!got)
        got = mask(r, &e->id, &room->id, false);
    if (!got)
        got = mask(r, &e->message, &room->message, false);
    if (!got)
        got = mask(r, &e->parent, &room->parent, false);
    if (!got)
        got = mask(r, &e->json, &room->json, true);
    if (!got)
        got = mask(r, &e->name, &room->name, false);
    if (!got)
        got = mask(r, &e->model, &room->model, false);
    return got ? got : mask(r, &e->cwd, &room->cwd, false);
}

void
play_turns_mask_release(struct play_turns_mask *room)
{
    buf_release(&room->text);
    buf_release(&room->id);
    buf_release(&room->message);
    buf_release(&room->parent);
    buf_release(&room->json);
    buf_release(&room->name);
    buf_release(&room->model);
    buf_release(&room->cwd);
}
