/* SPDX-License-Identifier: MIT */
/* replay_screen.c -- a session played on the user's terminal. */
#include <unistd.h>

#include "cli/events.h"
#include "cli/losses.h"
#include "cli/replay.h"
#include "library/keyframes.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/meta.h"
#include "tape/notes.h"
#include "tui/replay.h"

/* Its name, else its command. */
static void
make_title(struct cli_replay *r, struct buf *ret)
{
    AUTO(buf) path = { 0 };
    struct session_facts facts = { 0 };
    if (session_sibling_path(buf_str(&r->found.tape_path), SESSION_META, &path) >= 0)
        session_meta_read(buf_str(&path), &facts, NULL);
    const char *known = *facts.name ? facts.name : facts.command;
    play_title(NULL, *known ? known : r->name, ret);
}

/* What was met while the terminal was in use. */
static bool
tell(const struct cli_replay *r, const struct tape_notes *notes)
{
    struct cli_losses losses = { .command = r->self, .path = r->name };
    cli_losses_notes(&losses, notes);
    return losses.is_damaged;
}

static int
play(struct cli_replay *r, struct play_player *player, const struct play_events *events,
     struct err *err)
{
    AUTO(buf) title = { 0 };
    make_title(r, &title);
    const struct tui_replay opt = {
        .player = player,
        .events = events,
        .title = buf_str(&title),
        .speed = r->pace.clock.speed,
        .idle_limit_ns = r->pace.clock.idle_limit_ns,
        .from_ns = r->has_from && !r->from.is_byte ? r->from.value : 0,
        .from_byte = r->has_from && r->from.is_byte ? r->from.value : 0,
        .to_ns = r->has_to && !r->to.is_byte ? r->to.value + !r->to.value : 0,
        .to_byte = r->has_to && r->to.is_byte ? r->to.value : 0,
        .is_paused = r->is_paused,
        .has_colours = r->has_colours,
        .end_note = *r->found.id && cli_is_live(r->found.id)
                        ? "still being recorded: 'ahr watch' goes on from here"
                        : NULL,
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
    };
    return tui_replay(&opt, err);
}

int
cli_replay_screen(struct cli_replay *r, struct err *err)
{
    AUTO(play_events) events = { 0 };
    AUTO(buf) keyframes = { 0 };
    struct tape_notes notes = { 0 };
    bool has_place = library_keyframes_path(&r->found, &keyframes) >= 0;
    const struct play_options opt = {
        .cols = r->cols,
        .rows = r->rows,
        .keyframes_path = has_place ? buf_str(&keyframes) : NULL,
        .notice = tape_notes_add,
        .ctx = &notes,
    };
    struct play_player *player;
    int lost = cli_events(r->self, &r->found, &events, err);
    int e = lost < 0 ? lost
                     : play_open(&player, tape_io_files(), buf_str(&r->found.tape_path),
                                 &opt, err);
    if (e < 0)
        return e;
    play_events_sort(&events);
    bool is_empty = play_next_ns(player) == UINT64_MAX;
    e = is_empty ? 0 : play(r, player, &events, err);
    play_close(player);
    bool is_damaged = tell(r, &notes) || lost > 0;
    tape_notes_release(&notes);
    if (e)
        return e < 0 ? e : cli_die_of(e);
    return is_empty ? cli_replay_nothing(r) : is_damaged ? CLI_DAMAGED : CLI_DONE;
}
