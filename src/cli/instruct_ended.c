/* SPDX-License-Identifier: MIT */
/* instruct_ended.c -- an instruction noted in a session that has ended. */
#include <errno.h>
#include <inttypes.h>

#include "cli/instruct.h"
#include "library/events.h"
#include "library/instruct.h"
#include "tape/reader.h"

/* -- where -- */

static int
open_tape(struct tape_reader **ret, const char *path, struct err *err)
{
    struct tape_reader_options quiet = { 0 };
    return tape_reader_open(ret, tape_io_files(), path, &quiet, err);
}

static int
find_end(const char *path, uint64_t *ret, struct err *err)
{
    struct tape_reader *tape;
    uint64_t ts_ns;
    int r = open_tape(&tape, path, err);
    if (r < 0)
        return r;
    r = tape_reader_reach(tape, ret, &ts_ns);
    tape_reader_close(tape);
    return r < 0 ? err_code(err, r, "cannot read '%s'", path) : 0;
}

/* The last one of that id, as with a recorder. 1: there is one. */
static int
find_in_lines(const struct library_found *found, uint64_t id, uint64_t *ret,
              struct err *err)
{
    struct library_events beside;
    int r = library_events(found, &beside, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < beside.events.count; i++) {
        struct play_event event = play_events_at(&beside.events, i);
        if (event.kind != PLAY_SNAPSHOT || event.id != id)
            continue;
        *ret = event.anchor_byte;
        r = 1;
    }
    library_events_release(&beside);
    return r;
}

/* … of a file that came without its lines. */
static int
find_in_tape(const char *path, uint64_t id, uint64_t *ret, struct err *err)
{
    struct tape_reader *tape;
    struct tape_record rec;
    int r = open_tape(&tape, path, err);
    if (r < 0)
        return r;
    while (tape_reader_next(tape, &rec))
        if (rec.tag == TAPE_SNAPSHOT && rec.snapshot_id == id) {
            *ret = rec.byte_off;
            r = 1;
        }
    tape_reader_close(tape);
    return r;
}

/* Sets byte, and snapshot where that is what was meant. */
static int
find_place(const struct library_found *found, const char *path, struct cli_place *place,
           struct err *err)
{
    uint64_t end, anchor = 0;
    bool is_either = place->snapshot != IPC_NONE;
    int r = 0;
    if (is_either)
        r = find_in_lines(found, place->snapshot, &anchor, err);
    if (!r && is_either)
        r = find_in_tape(path, place->snapshot, &anchor, err);
    if (r > 0)
        place->byte = anchor;
    if (r)
        return r < 0 ? r : 0;
    place->snapshot = IPC_NONE;
    r = find_end(path, &end, err);
    if (r < 0)
        return r;
    if (place->byte == IPC_NONE)
        place->byte = end;
    if (place->byte <= end)
        return 0;
    return is_either ? err_set(err, -EINVAL,
                               "%" PRIu64 " is neither a snapshot of it nor a byte that "
                               "it has written",
                               place->byte)
                     : err_set(err, -EINVAL,
                               "the session ends at byte %" PRIu64 ", before %" PRIu64,
                               end, place->byte);
}

/* -- what -- */

int
cli_instruct_ended(const struct library_found *found, struct cli_place place,
                   const char *text, struct ipc_message *ret, struct err *err)
{
    AUTO(buf) path = { 0 };
    if (buf_append(&path, found->tape_path.p, found->tape_path.n) < 0)
        return err_code(err, -ENOMEM, "cannot note it");
    int r = find_place(found, buf_str(&path), &place, err);
    if (r < 0)
        return r;
    struct session_instruction i = {
        .anchor_byte = place.byte,
        .snapshot_id = place.snapshot == IPC_NONE ? SESSION_NONE : place.snapshot,
        .row = SESSION_NO_ROW,
        .text = { (const uint8_t *)text, strlen(text) },
    };
    r = library_instruct(found, &i, err);
    if (r < 0)
        return r;
    *ret = (struct ipc_message){ .selector = IPC_DONE,
                                 .field = { i.id, i.anchor_byte, i.ts_ns } };
    return 0;
}
