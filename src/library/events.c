/* SPDX-License-Identifier: MIT */
#include "library/events.h"

#include <errno.h>

#include "session/folder.h"
#include "session/lines.h"

struct reading {
    struct play_events *events;
    enum play_event_kind kind;
    uint64_t over;
};

void
library_events_release(struct library_events *e)
{
    play_events_release(&e->events);
    buf_release(&e->snapshots.path);
    buf_release(&e->instructions.path);
}

/* A session_moment_fn; ctx is the struct. */
static int
add(void *ctx, const struct session_moment *m)
{
    struct reading *r = ctx;
    const struct play_event event = {
        .kind = r->kind,
        .id = m->id,
        .ts_ns = m->ts_ns,
        .anchor_byte = m->anchor_byte,
        .text = m->text,
        .snapshot_id = m->snapshot_id == SESSION_NONE ? PLAY_NONE : m->snapshot_id,
        .is_delivered = m->is_delivered,
    };
    int e = play_events_add(r->events, &event);
    if (e != ERR_LIMIT)
        return e;
    r->over++;
    return 0;
}

static int
read_file(const char *tape_path, enum play_event_kind kind, struct play_events *events,
          struct library_unread *ret)
{
    bool is_snapshots = kind == PLAY_SNAPSHOT;
    struct reading reading = { .events = events, .kind = kind };
    struct session_unread unread = { 0 };
    int r = session_sibling_path(
        tape_path, is_snapshots ? SESSION_SNAPSHOTS : SESSION_INSTRUCTIONS, &ret->path);
    if (r < 0)
        return r;
    r = session_moments_read(buf_str(&ret->path),
                             is_snapshots ? SESSION_SNAPSHOT : SESSION_INSTRUCTION, add,
                             &reading, &unread);
    ret->lines = unread.lines;
    ret->first = unread.first;
    ret->over = reading.over;
    ret->error = r == -ENOMEM ? 0 : r;
    return r == -ENOMEM ? r : 0;
}

int
library_events(const struct library_found *found, struct library_events *ret,
               struct err *err)
{
    struct library_events e = { 0 };
    AUTO(buf) tape = { 0 };
    int r = buf_append(&tape, found->tape_path.p, found->tape_path.n);
    if (r >= 0)
        r = read_file(buf_str(&tape), PLAY_SNAPSHOT, &e.events, &e.snapshots);
    if (!r)
        r = read_file(buf_str(&tape), PLAY_INSTRUCTION, &e.events, &e.instructions);
    if (r < 0) {
        library_events_release(&e);
        return err_code(err, r, "cannot read what stands beside '%s'", buf_str(&tape));
    }
    *ret = e;
    return 0;
}
