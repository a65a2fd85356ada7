/* SPDX-License-Identifier: MIT */
#include "tui/deck_priv.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

#define MS UINT64_C(1000000) /* ns */

enum {
    SLICE = 128 << 10, /* bytes of the recording at once */
    WORK_MS = 8,       /* between two looks at the keyboard */
    STEPS_MAX = 4096,  /* records in one picture, at most … */
    STEP_MS = 200,     /* … and how long they may take */
    NOTE_MS = 3000,
    JUMP_MS = 2000, /* after a jump to a snapshot, the one before it is meant */
};

int
tui_deck_init(struct tui_deck *d, const struct tui_replay *opt, uint64_t wall_ns)
{
    *d = (struct tui_deck){ .player = opt->player,
                            .events = opt->events,
                            .to_ns = opt->to_ns,
                            .to_byte = opt->to_byte,
                            .end_note = opt->end_note,
                            .clock = { .speed = opt->speed ? opt->speed : PLAY_SPEED_ONE,
                                       .idle_limit_ns = opt->idle_limit_ns },
                            .is_changed = true };
    play_clock_set(&d->clock, 0, wall_ns);
    if (opt->from_ns)
        return tui_deck_seek(d, opt->from_ns, wall_ns);
    if (!opt->from_byte)
        return 0;
    d->work = TUI_WORK_SEEK;
    d->work_ns = wall_ns;
    return play_seek_byte(d->player, opt->from_byte);
}

void
tui_deck_release(struct tui_deck *d)
{
    play_stop(d->player);
    buf_release(&d->needle);
}

bool
tui_deck_is_paused(const struct tui_deck *d)
{
    return d->clock.is_paused;
}

const char *
tui_deck_work(const struct tui_deck *d)
{
    switch (d->work) {
    case TUI_WORK_NONE:
        return NULL;
    case TUI_WORK_SEEK:
        return "seeking";
    case TUI_WORK_SEARCH:
        return "searching";
    case TUI_WORK_INDEX:
        return "looking for snapshots";
    }
    return NULL;
}

void
tui_deck_note(struct tui_deck *d, const char *text, uint64_t wall_ns)
{
    snprintf(d->note, sizeof(d->note), "%s", text);
    d->note_until_ns = wall_ns + NOTE_MS * MS;
}

/* The session is where the player is. */
static void
settle(struct tui_deck *d, uint64_t wall_ns)
{
    d->time_ns = play_place(d->player).time_ns;
    play_clock_set(&d->clock, d->time_ns, wall_ns);
    d->is_changed = true;
}

void
tui_deck_stop(struct tui_deck *d, uint64_t wall_ns)
{
    if (d->work == TUI_WORK_NONE)
        return;
    play_stop(d->player);
    d->work = TUI_WORK_NONE;
    settle(d, wall_ns);
}

/* -- snapshots -- */

/* The first of those with an anchor not below that byte. */
static size_t
lower_bound(const struct play_events *e, uint64_t byte)
{
    size_t low = 0, high = e->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (play_events_at(e, middle).anchor_byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The anchor of the next snapshot that way; UINT64_MAX: there is none. */
static uint64_t
next_anchor(const struct play_events *e, uint64_t byte, bool is_back)
{
    if (!e)
        return UINT64_MAX;
    for (size_t i = lower_bound(e, is_back ? byte : byte + 1);
         is_back ? i > 0 : i < e->count; is_back ? i-- : i++) {
        struct play_event event = play_events_at(e, is_back ? i - 1 : i);
        if (event.kind == PLAY_SNAPSHOT)
            return event.anchor_byte;
    }
    return UINT64_MAX;
}

static bool
label_at(const struct play_events *e, uint64_t byte, struct view *ret)
{
    for (size_t i = e ? lower_bound(e, byte) : 0; e && i < e->count; i++) {
        struct play_event event = play_events_at(e, i);
        if (event.anchor_byte != byte)
            break;
        if (event.kind != PLAY_SNAPSHOT)
            continue;
        *ret = event.text;
        return true;
    }
    return false;
}

/* The last snapshot between those bytes is told for a while. */
static void
note_snapshot(struct tui_deck *d, uint64_t from, uint64_t to, uint64_t wall_ns)
{
    uint64_t a = next_anchor(play_snapshots(d->player), to + 1, true);
    uint64_t b = next_anchor(d->events, to + 1, true);
    uint64_t last = a == UINT64_MAX || (b != UINT64_MAX && b > a) ? b : a;
    if (last == UINT64_MAX || last <= from)
        return;
    d->label_byte = last;
    d->label_until_ns = wall_ns + NOTE_MS * MS;
}

bool
tui_deck_label(const struct tui_deck *d, uint64_t wall_ns, struct view *ret)
{
    const struct play_events *own = play_snapshots(d->player);
    uint64_t at = play_place(d->player).byte_off;
    if (label_at(own, at, ret) || label_at(d->events, at, ret))
        return true;
    return wall_ns < d->label_until_ns &&
           (label_at(own, d->label_byte, ret) || label_at(d->events, d->label_byte, ret));
}

/* -- on and on -- */

static void
note_gaps(struct tui_deck *d, uint64_t wall_ns)
{
    char text[TUI_NOTE_MAX];
    struct play_gap gap;
    while (play_take_gap(d->player, &gap)) {
        snprintf(text, sizeof(text),
                 gap.is_recorded ? "%" PRIu64 " bytes were not recorded here"
                                 : "%" PRIu64
                                   " bytes are missing here: the recording is damaged",
                 gap.bytes);
        tui_deck_note(d, text, wall_ns);
    }
}

static void
pause_at(struct tui_deck *d, uint64_t time_ns, uint64_t wall_ns)
{
    d->clock.is_paused = true;
    d->time_ns = time_ns;
    play_clock_set(&d->clock, time_ns, wall_ns);
    d->is_changed = true;
}

/* Has it come to where it is to pause? */
static int
look_for_end(struct tui_deck *d, uint64_t now_ns, struct play_place before,
             uint64_t wall_ns)
{
    struct play_place place = play_place(d->player);
    if (d->to_byte && before.byte_off < d->to_byte && place.byte_off >= d->to_byte) {
        pause_at(d, place.time_ns, wall_ns);
        if (place.byte_off == d->to_byte)
            return 0;
        d->work = TUI_WORK_SEEK;
        d->is_ahead = false;
        return play_seek_byte(d->player, d->to_byte);
    }
    if (d->to_ns && d->time_ns < d->to_ns && now_ns >= d->to_ns)
        pause_at(d, d->to_ns, wall_ns);
    if (d->clock.is_paused || play_next_ns(d->player) != UINT64_MAX)
        return 0;
    pause_at(d, play_extent(d->player).duration_ns, wall_ns);
    if (d->end_note)
        tui_deck_note(d, d->end_note, wall_ns);
    return 0;
}

static int
play(struct tui_deck *d, uint64_t wall_ns)
{
    struct play_place before = play_place(d->player);
    uint64_t next_ns = play_next_ns(d->player);
    uint64_t now_ns = play_clock_now(&d->clock, before.time_ns, next_ns, wall_ns);
    if (d->to_ns && d->time_ns < d->to_ns && now_ns > d->to_ns)
        now_ns = d->to_ns;
    int more = 0;
    if (next_ns <= now_ns) {
        more = play_advance(d->player, now_ns, SLICE);
        note_gaps(d, wall_ns);
        note_snapshot(d, before.byte_off, play_place(d->player).byte_off, wall_ns);
        d->is_changed = true;
    }
    if (more > 0)
        now_ns = play_place(d->player).time_ns;
    int e = more < 0 ? more : look_for_end(d, now_ns, before, wall_ns);
    if (!d->clock.is_paused)
        d->time_ns = now_ns;
    return e < 0 ? e : more;
}

/* -- long ways -- */

static int
begin(struct tui_deck *d, enum tui_work what, int e, uint64_t wall_ns)
{
    d->work = what;
    d->work_ns = wall_ns;
    d->is_ahead = false; /* the player does one thing at a time */
    d->note_until_ns = d->label_until_ns = 0;
    return e;
}

static int
jump_to_snapshot(struct tui_deck *d, uint64_t wall_ns)
{
    uint64_t at = play_place(d->player).byte_off;
    if (d->jump_ns && wall_ns < d->jump_ns + JUMP_MS * MS && at > d->jump_byte)
        at = d->jump_byte; /* it has played on meanwhile */
    uint64_t a = next_anchor(play_snapshots(d->player), at, d->is_back);
    uint64_t b = next_anchor(d->events, at, d->is_back);
    bool is_nearer = b == UINT64_MAX || (a != UINT64_MAX && (d->is_back ? a > b : a < b));
    if (a == UINT64_MAX && b == UINT64_MAX) {
        tui_deck_note(d,
                      d->is_back ? "no snapshot before this" : "no snapshot after this",
                      wall_ns);
        return 0;
    }
    d->jump_byte = is_nearer ? a : b;
    d->jump_ns = wall_ns;
    return begin(d, TUI_WORK_SEEK, play_seek_byte(d->player, d->jump_byte), wall_ns);
}

static int
end_work(struct tui_deck *d, int e, uint64_t wall_ns)
{
    enum tui_work work = d->work;
    struct play_gap gap;
    d->work = TUI_WORK_NONE;
    if (e < 0 && e != ERR_MISSING)
        return e;
    while (play_take_gap(d->player, &gap)) /* they were not played over */
        continue;
    if (work != TUI_WORK_INDEX)
        settle(d, wall_ns);
    if (work == TUI_WORK_INDEX) {
        d->is_indexed = true;
        return jump_to_snapshot(d, wall_ns);
    }
    if (work == TUI_WORK_SEARCH)
        tui_deck_pause(d, true, wall_ns);
    if (e == ERR_MISSING)
        tui_deck_note(d, d->is_back ? "not found before this" : "not found after this",
                      wall_ns);
    return 0;
}

static int
work(struct tui_deck *d, uint64_t wall_ns)
{
    uint64_t end_ns = wall_ns + WORK_MS * MS;
    int e = 0;
    do
        e = play_work(d->player, SLICE);
    while (e > 0 && clock_mono_ns() < end_ns);
    return e > 0 ? e : end_work(d, e, clock_mono_ns());
}

/* Nobody has asked for it yet: once the whole is known, any place is near. */
static int
look_ahead(struct tui_deck *d)
{
    if (d->is_indexed)
        return 0;
    int e = d->is_ahead ? 0 : play_index(d->player);
    d->is_ahead = true;
    if (e >= 0)
        e = play_work(d->player, SLICE);
    d->is_indexed = e <= 0; /* what failed is not tried for ever */
    return e > 0;
}

int
tui_deck_run(struct tui_deck *d, uint64_t wall_ns)
{
    if (d->work != TUI_WORK_NONE)
        return work(d, wall_ns);
    int more = d->clock.is_paused ? 0 : play(d, wall_ns);
    return more || d->work != TUI_WORK_NONE ? more : look_ahead(d);
}

uint64_t
tui_deck_wait_ns(struct tui_deck *d, uint64_t wall_ns)
{
    if (d->work != TUI_WORK_NONE)
        return 0;
    uint64_t last_ns = play_place(d->player).time_ns, next_ns = play_next_ns(d->player);
    if (d->to_ns && d->time_ns < d->to_ns && d->to_ns < next_ns)
        next_ns = d->to_ns;
    return play_clock_wait(&d->clock, last_ns, next_ns, wall_ns);
}

/* -- what a user asks for -- */

int
tui_deck_seek(struct tui_deck *d, uint64_t time_ns, uint64_t wall_ns)
{
    uint64_t end_ns = play_extent(d->player).duration_ns;
    tui_deck_stop(d, wall_ns);
    d->jump_ns = 0;
    time_ns = time_ns < end_ns ? time_ns : end_ns;
    int e = play_seek_ns(d->player, time_ns);
    d->time_ns = time_ns; /* from where another one may go on before this one is there */
    return begin(d, TUI_WORK_SEEK, e, wall_ns);
}

int
tui_deck_seek_by(struct tui_deck *d, int64_t ns, uint64_t wall_ns)
{
    uint64_t from_ns = d->time_ns, way_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        return tui_deck_seek(d, from_ns > way_ns ? from_ns - way_ns : 0, wall_ns);
    uint64_t room_ns = UINT64_MAX - from_ns;
    return tui_deck_seek(d, from_ns + (way_ns < room_ns ? way_ns : room_ns), wall_ns);
}

void
tui_deck_pause(struct tui_deck *d, bool is_paused, uint64_t wall_ns)
{
    play_clock_pause(&d->clock, is_paused, wall_ns);
    if (!is_paused && d->note_until_ns) /* it was to be read meanwhile */
        d->note_until_ns = wall_ns + NOTE_MS * MS;
}

int
tui_deck_toggle(struct tui_deck *d, uint64_t wall_ns)
{
    bool is_end = d->work == TUI_WORK_NONE && play_next_ns(d->player) == UINT64_MAX;
    bool is_paused = d->clock.is_paused && !is_end;
    tui_deck_pause(d, !is_paused && !is_end, wall_ns);
    return is_end ? tui_deck_seek(d, 0, wall_ns) : 0;
}

int
tui_deck_step(struct tui_deck *d, uint64_t wall_ns)
{
    int e = 1;
    tui_deck_stop(d, wall_ns);
    tui_deck_pause(d, true, wall_ns);
    d->note_until_ns = d->label_until_ns = 0;
    uint64_t end_ns = clock_mono_ns() + STEP_MS * MS;
    for (int i = 0; e > 0 && i < STEPS_MAX && clock_mono_ns() < end_ns; i++) {
        e = play_step(d->player);
        if (!term_modes(play_term(d->player)).is_synchronized)
            break;
    }
    note_gaps(d, wall_ns);
    settle(d, wall_ns);
    return e < 0 ? e : 0;
}

int
tui_deck_search(struct tui_deck *d, struct view text, bool is_back, uint64_t wall_ns)
{
    tui_deck_stop(d, wall_ns);
    if (text.n) {
        buf_clear(&d->needle);
        buf_append(&d->needle, text.p, text.n);
    }
    if (!d->needle.n || d->needle.failed)
        return 0;
    d->is_back = is_back;
    struct view needle = { d->needle.p, d->needle.n };
    int e = begin(d, TUI_WORK_SEARCH, play_search(d->player, needle, is_back), wall_ns);
    return e == ERR_MISSING ? end_work(d, e, wall_ns) : e;
}

void
tui_deck_speed(struct tui_deck *d, bool is_faster, uint64_t wall_ns)
{
    static const uint32_t speeds[] = { 250,  500,   1000,  1500,  2000,   4000,
                                       8000, 16000, 32000, 64000, 128000, 256000 };
    enum { COUNT = sizeof(speeds) / sizeof(speeds[0]) };
    size_t i = 0;
    if (is_faster) {
        while (i < COUNT && speeds[i] <= d->clock.speed)
            i++;
    } else {
        for (i = COUNT; i && speeds[i - 1] >= d->clock.speed;)
            i--;
        i--; /* past the first one: too large */
    }
    if (i < COUNT)
        play_clock_speed(&d->clock, speeds[i], wall_ns);
}

int
tui_deck_snapshot(struct tui_deck *d, bool is_back, uint64_t wall_ns)
{
    tui_deck_stop(d, wall_ns);
    d->is_back = is_back;
    d->note_until_ns = 0;
    if (d->is_indexed)
        return jump_to_snapshot(d, wall_ns);
    return begin(d, TUI_WORK_INDEX, play_index(d->player), wall_ns);
}
