/* SPDX-License-Identifier: MIT */
#include "client/events_priv.h"

#include <string.h>
#include <sys/stat.h>

#include "session/folder.h"
#include "session/lines.h"

enum { LOOK_MS = 1000 };

#define NS_A_MS 1000000ULL

static const struct {
    const char *name;
    enum session_moment_kind kind;
    enum play_event_kind event;
} files[2] = {
    { SESSION_SNAPSHOTS, SESSION_SNAPSHOT, PLAY_SNAPSHOT },
    { SESSION_INSTRUCTIONS, SESSION_INSTRUCTION, PLAY_INSTRUCTION },
};

/* While one of them is read. */
struct reading {
    struct play_events *list;
    enum play_event_kind kind;
};

static int
add(void *ctx, const struct session_moment *m)
{
    struct reading *r = ctx;
    struct play_event event = { .kind = r->kind,
                                .id = m->id,
                                .ts_ns = m->ts_ns,
                                .anchor_byte = m->anchor_byte,
                                .text = m->text,
                                .snapshot_id = m->snapshot_id,
                                .is_delivered = m->is_delivered };
    return play_events_add(r->list, &event);
}

void
events_release(struct events *e)
{
    play_events_release(&e->list);
    *e = (struct events){ 0 };
}

int
events_wait_ms(const struct events *e, uint64_t now_ns)
{
    uint64_t ms = e->looked_ns ? (now_ns - e->looked_ns) / NS_A_MS : LOOK_MS;
    return ms < LOOK_MS ? (int)(LOOK_MS - ms) : 0;
}

void
events_expire(struct events *e)
{
    e->looked_ns = 0;
}

static uint64_t
size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Those beyond the list's ceilings are left out. */
static int
read_one(struct play_events *list, const char *path, size_t i)
{
    struct reading r = { list, files[i].event };
    struct session_unread ignored;
    int e = session_moments_read(path, files[i].kind, add, &r, &ignored);
    return e == ERR_LIMIT ? 0 : e;
}

/* Whatever of one file cannot be read, there are those of the other; but never fewer than
 * there were. The first error. */
static int
read_all(struct events *e, struct buf paths[2], bool *ret_is_new)
{
    struct play_events list = { 0 };
    int first = 0;
    for (size_t i = 0; i < 2; i++) {
        int r = read_one(&list, buf_str(&paths[i]), i);
        first = first ? first : r;
    }
    *ret_is_new = !first || list.count > e->list.count;
    if (!*ret_is_new) {
        play_events_release(&list);
        return first;
    }
    play_events_sort(&list);
    play_events_release(&e->list);
    e->list = list;
    return first;
}

static bool
look(struct events *e, struct buf paths[2], const struct model_tape *tape)
{
    uint64_t sizes[2];
    bool is_new = false;
    for (size_t i = 0; i < 2; i++) {
        if (session_sibling_path(model_tape_path(tape), files[i].name, &paths[i]) < 0)
            return false;
        sizes[i] = size_of(buf_str(&paths[i]));
        is_new |= sizes[i] != e->sizes[i];
    }
    if (is_new && !read_all(e, paths, &is_new))
        memcpy(e->sizes, sizes, sizeof(sizes));
    return is_new;
}

bool
events_look(struct events *e, const struct model_tape *tape, uint64_t now_ns)
{
    struct buf paths[2] = { 0 };
    if (events_wait_ms(e, now_ns))
        return false;
    e->looked_ns = now_ns;
    bool is_new = look(e, paths, tape);
    buf_release(&paths[0]);
    buf_release(&paths[1]);
    return is_new;
}
