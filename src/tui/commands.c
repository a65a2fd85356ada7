/* SPDX-License-Identifier: MIT */
/* commands.c -- what the keys of the player do. */
#include "base/clock.h"
#include "base/utf8.h"
#include "tui/replay_priv.h"

#define S 1000000000LL /* ns */

enum { TENTHS = 10 };

/* -- the prompt -- */

static void
ask(struct tui_film *f, uint64_t wall_ns)
{
    f->is_asking = true;
    f->was_paused = tui_deck_is_paused(&f->deck);
    tui_deck_stop(&f->deck, wall_ns);
    tui_deck_pause(&f->deck, true, wall_ns);
    buf_clear(&f->prompt);
    f->prompt.ceiling = TUI_PROMPT_MAX;
}

static int
end_asking(struct tui_film *f, bool is_wanted, uint64_t wall_ns)
{
    f->is_asking = false;
    if (is_wanted)
        return tui_deck_search(&f->deck, (struct view){ f->prompt.p, f->prompt.n }, false,
                               wall_ns);
    tui_deck_pause(&f->deck, f->was_paused, wall_ns);
    return 0;
}

static void
rub_out(struct buf *b)
{
    while (b->n && (b->p[b->n - 1] & 0xc0) == 0x80)
        b->n--;
    if (b->n)
        b->n--;
}

static void
put_rune(struct buf *b, uint32_t rune)
{
    uint8_t bytes[4];
    buf_append(b, bytes, utf8_put(bytes, rune)); /* a full one stays as it is */
    b->failed = 0;
}

static int
edit(struct tui_film *f, struct tui_key key, uint64_t wall_ns)
{
    if (key.kind == TUI_KEY_ESCAPE || (key.has_ctrl && key.rune == 'c'))
        return end_asking(f, false, wall_ns);
    if (key.kind == TUI_KEY_ENTER)
        return key.is_pasted ? 0 : end_asking(f, true, wall_ns);
    if (key.kind == TUI_KEY_BACKSPACE && !f->prompt.n)
        return end_asking(f, false, wall_ns);
    if (key.kind == TUI_KEY_BACKSPACE)
        rub_out(&f->prompt);
    else if (key.kind == TUI_KEY_CHAR && key.has_ctrl && key.rune == 'u')
        buf_clear(&f->prompt);
    else if (key.kind == TUI_KEY_CHAR && !key.has_ctrl && !key.has_alt)
        put_rune(&f->prompt, key.rune);
    return 0;
}

/* -- commands -- */

static int
leave(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg, (void)wall_ns;
    f->is_done = true;
    return 0;
}

static int
suspend(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg;
    bool is_paused = tui_deck_is_paused(&f->deck);
    tui_deck_pause(&f->deck, true, wall_ns);
    tui_screen_suspend(&f->screen, true);
    tui_deck_pause(&f->deck, is_paused, clock_mono_ns());
    return 0;
}

static int
redraw(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg, (void)wall_ns;
    tui_screen_redraw(&f->screen);
    return 0;
}

static int
toggle(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg;
    return tui_deck_toggle(&f->deck, wall_ns);
}

static int
step(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg;
    return tui_deck_step(&f->deck, wall_ns);
}

static int
seek_by(struct tui_film *f, int64_t ns, uint64_t wall_ns)
{
    return tui_deck_seek_by(&f->deck, ns, wall_ns);
}

static int
seek_tenth(struct tui_film *f, int64_t tenth, uint64_t wall_ns)
{
    uint64_t whole = play_extent(f->deck.player).duration_ns;
    uint64_t n = whole / TENTHS * (uint64_t)tenth +
                 whole % TENTHS * (uint64_t)tenth / TENTHS;
    return tui_deck_seek(&f->deck, n, wall_ns);
}

static int
snapshot(struct tui_film *f, int64_t is_back, uint64_t wall_ns)
{
    return tui_deck_snapshot(&f->deck, is_back, wall_ns);
}

static int
change_speed(struct tui_film *f, int64_t is_faster, uint64_t wall_ns)
{
    tui_deck_speed(&f->deck, is_faster, wall_ns);
    return 0;
}

static int
search(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg;
    ask(f, wall_ns);
    return 0;
}

static int
search_again(struct tui_film *f, int64_t is_back, uint64_t wall_ns)
{
    return tui_deck_search(&f->deck, (struct view){ 0 }, is_back, wall_ns);
}

static int
show_help(struct tui_film *f, int64_t arg, uint64_t wall_ns)
{
    (void)arg, (void)wall_ns;
    f->has_help = true;
    return 0;
}

static const struct command {
    struct tui_key key;
    int (*run)(struct tui_film *f, int64_t arg, uint64_t wall_ns);
    int64_t arg;
} commands[] = {
    { { .rune = ' ' }, toggle, 0 },
    { { .rune = '.' }, step, 0 },
    { { .kind = TUI_KEY_LEFT }, seek_by, -5 * S },
    { { .kind = TUI_KEY_RIGHT }, seek_by, 5 * S },
    { { .kind = TUI_KEY_LEFT, .has_shift = true }, seek_by, -60 * S },
    { { .kind = TUI_KEY_RIGHT, .has_shift = true }, seek_by, 60 * S },
    { { .rune = '{' }, seek_by, -60 * S },
    { { .rune = '}' }, seek_by, 60 * S },
    { { .rune = '[' }, snapshot, true },
    { { .rune = ']' }, snapshot, false },
    { { .rune = '+' }, change_speed, true },
    { { .rune = '=' }, change_speed, true }, /* the same key without Shift */
    { { .rune = '-' }, change_speed, false },
    { { .rune = 'g' }, seek_tenth, 0 },
    { { .kind = TUI_KEY_HOME }, seek_tenth, 0 },
    { { .rune = 'G' }, seek_tenth, TENTHS },
    { { .kind = TUI_KEY_END }, seek_tenth, TENTHS },
    { { .rune = '/' }, search, 0 },
    { { .rune = 'n' }, search_again, false },
    { { .rune = 'N' }, search_again, true },
    { { .rune = '?' }, show_help, 0 },
    { { .rune = 'h' }, show_help, 0 },
    { { .rune = 'q' }, leave, 0 },
    { { .rune = 'c', .has_ctrl = true }, leave, 0 },
    { { .rune = 'z', .has_ctrl = true }, suspend, 0 },
    { { .rune = 'l', .has_ctrl = true }, redraw, 0 },
};

static const char *const help[] = {
    "space     pause, go on",
    ".         next picture",
    "← →       5 seconds",
    "{ }       60 seconds (Shift-← Shift-→)",
    "[ ]       snapshot before, after",
    "+ -       faster, slower",
    "0 … 9     tenths of the whole",
    "g G       start, end",
    "/ n N     search, again, backwards",
    "^L        draw anew",
    "q         quit",
    NULL,
};

const char *const *
tui_film_help(void)
{
    return help;
}

/* Shift is told of arrows alone: of characters the rune tells it. */
static bool
is_key(const struct tui_key *a, const struct tui_key *b)
{
    bool is_char = a->kind == TUI_KEY_CHAR;
    return a->kind == b->kind && a->rune == b->rune && a->has_ctrl == b->has_ctrl &&
           !a->has_alt && (is_char || a->has_shift == b->has_shift);
}

static int
obey(struct tui_film *f, const struct tui_key *key, uint64_t wall_ns)
{
    if (key->kind == TUI_KEY_CHAR && key->rune >= '0' && key->rune <= '9')
        return seek_tenth(f, (int64_t)key->rune - '0', wall_ns);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (is_key(key, &commands[i].key))
            return commands[i].run(f, commands[i].arg, wall_ns);
    tui_deck_stop(&f->deck, wall_ns);
    return 0;
}

int
tui_film_key(struct tui_film *f, struct tui_key key, uint64_t wall_ns)
{
    bool is_interrupt = key.has_ctrl && key.rune == 'c';
    f->is_stale = true;
    f->bar_until_ns = wall_ns + TUI_BAR_MS * UINT64_C(1000000);
    if (f->is_asking)
        return edit(f, key, wall_ns);
    if (key.is_pasted)
        return 0;
    if (f->has_help && !is_interrupt) {
        f->has_help = false;
        return 0;
    }
    return obey(f, &key, wall_ns);
}
