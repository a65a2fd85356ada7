/* SPDX-License-Identifier: MIT */
#include "cli/events.h"

#include <inttypes.h>

static bool
tell(const struct cli_command *self, struct library_unread *u)
{
    const char *path = buf_str(&u->path);
    if (u->lines)
        cli_say(self, "'%s': %" PRIu64 " %s not read, from line %" PRIu64 " on", path,
                u->lines, u->lines == 1 ? "line was" : "lines were", u->first);
    if (u->over)
        cli_say(self, "'%s': %" PRIu64 " are over the limit and left out", path, u->over);
    if (u->error)
        cli_say(self, "cannot read '%s': %s", path, strerror(-u->error));
    return u->lines || u->over || u->error;
}

int
cli_events(const struct cli_command *self, const struct library_found *found,
           struct play_events *ret, struct err *err)
{
    AUTO(library_events) beside = { 0 };
    int r = library_events(found, &beside, err);
    if (r < 0)
        return r;
    r = play_events_join(ret, &beside.events, &beside.instructions.over);
    if (r < 0)
        return err_code(err, r, "cannot keep the events of '%s'",
                        buf_str(&beside.snapshots.path));
    bool is_lost = tell(self, &beside.snapshots);
    is_lost |= tell(self, &beside.instructions);
    return is_lost;
}
