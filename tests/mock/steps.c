/* SPDX-License-Identifier: MIT */
/*
 * steps.c -- the kinds of work.
 *
 * What is drawn depends on the seed and the terminal's size alone, never on the clock.
 * Each pause is also where a new size is noticed.
 */
#include "mock/steps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "mock/notify.h"
#include "support/rng.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    BLUE = 0x61afef,
    GREEN = 0x98c379,
    FRAME_MS = 100, /* ten pictures a second */
};

static const char *const words[] = {
    "the",    "parser",       "reads",  "a",          "block", "when",   "naïve",
    "length", "is",           "zero",   "then",       "we",    "should", "check",
    "error",  "before",       "return", "cafe\u0301", "of",    "世界",   "struct",
    "static", "unsigned int", "テスト", "because",    "and",   "한국어", "🚀",
    "🔍",      "Größe",        "cursor", "écran",      "row",   "日本語", "(see above)",
};
static const char *const files[] = {
    "src/tape/writer.c", "src/term/print.c", "lib/数据.py", "README.md",
    "web/app.tsx",       "tests/écran.rs",   "Makefile",    "docs/📦.txt",
};

static const char *
one_of(struct agent *a, const char *const *list, size_t n)
{
    return list[rng_below(&a->rng, (uint32_t)n)];
}
#define ONE_OF(a, list) one_of(a, list, COUNT(list))

/* -- time and size -- */

static int
follow_size(struct agent *a)
{
    struct page *p = &a->page;
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || !ws.ws_col || !ws.ws_row ||
        ws.ws_col > PAGE_COLS_MAX || (ws.ws_col == p->cols && ws.ws_row == p->rows))
        return 0;
    int r = page_resize(p, ws.ws_col, ws.ws_row);
    if (r < 0 || !p->is_region)
        return r;
    region_draw(&a->page, &a->shown);
    return page_flush(p);
}

static uint64_t
due_ns(const struct agent *a, unsigned ms)
{
    if (a->rate)
        return a->started_ns + a->page.total_bytes * 1000000000 / a->rate;
    return a->speed > 0 ? clock_mono_ns() + (uint64_t)(ms * 1e6 / a->speed) : 0;
}

/* Writes what is there and waits. SIGWINCH is blocked elsewhere, so that it comes here.
 */
static int
pause_ms(struct agent *a, unsigned ms)
{
    int r = page_flush(&a->page);
    uint64_t until_ns = due_ns(a, ms);
    sigset_t winch;
    sigemptyset(&winch);
    sigaddset(&winch, SIGWINCH);
    while (r == 0) {
        uint64_t now_ns = until_ns ? clock_mono_ns() : 0;
        uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        struct timespec left = { .tv_sec = (time_t)(left_ns / 1000000000),
                                 .tv_nsec = (long)(left_ns % 1000000000) };
        if (sigtimedwait(&winch, NULL, &left) > 0)
            r = follow_size(a);
        else if (errno != EINTR)
            break;
    }
    return r;
}

/* -- kinds of steps -- */

/* The region at ten pictures a second; now and then only its first row. */
static int
think(struct agent *a)
{
    unsigned frames = rng_between(&a->rng, 8, 24);
    int r = 0;
    a->shown.todos = rng_below(&a->rng, 5);
    for (unsigned i = 0; r == 0 && i < frames; i++) {
        struct page *p = &a->page;
        a->shown.tick++;
        a->shown.tokens += rng_below(&a->rng, 40);
        unsigned last = p->row;
        if (i > 0 && rng_below(&a->rng, 3) == 0) {
            page_region_goto(p, 0);
            region_draw_spinner(p, &a->shown);
            page_clear_right(p);
            page_region_goto(p, last);
        } else {
            region_draw(&a->page, &a->shown);
        }
        r = pause_ms(a, FRAME_MS);
    }
    return r;
}

/* A few words at a time; the terminal wraps them. */
static int
prose(struct agent *a)
{
    struct page *p = &a->page;
    unsigned n = rng_between(&a->rng, 10, 90);
    int r = 0;
    p->wraps = true;
    page_puts(p, "● ");
    for (unsigned i = 0; r == 0 && i < n; i++) {
        uint32_t look = rng_below(&a->rng, 12);
        page_style(p, look == 0 ? "\x1b[1m" : look == 1 ? "\x1b[3;4m" : "");
        page_puts(p, ONE_OF(a, words));
        page_style(p, look < 2 ? "\x1b[m" : "");
        page_puts(p, i + 1 < n ? " " : ".");
        if (rng_below(&a->rng, 3) == 0)
            r = pause_ms(a, 15);
    }
    p->wraps = false;
    page_newline(p);
    return r;
}

static int
diff(struct agent *a)
{
    struct page *p = &a->page;
    unsigned n = rng_between(&a->rng, 5, 25), line = rng_between(&a->rng, 1, 900);
    page_printf(p, "  ⎿  Updated %s with %u changes", ONE_OF(a, files), n);
    page_newline(p);
    for (unsigned i = 0; i < n; i++) {
        uint32_t sort = rng_below(&a->rng, 3);
        page_style(p, sort == 0   ? "\x1b[48;2;34;92;43m"
                      : sort == 1 ? "\x1b[48;2;122;41;54m"
                                  : "");
        page_printf(p, "     %4u %c  ", line + i, "+- "[sort]);
        page_colour(p, BLUE);
        page_puts(p, ONE_OF(a, words));
        page_printf(p, "(%u, ", rng_below(&a->rng, 4096));
        page_printf(p, "%s);", ONE_OF(a, words));
        page_style(p, "\x1b[39m");
        page_clear_right(p); /* the colour goes on to the margin */
        page_style(p, "\x1b[49m");
        page_newline(p);
    }
    return pause_ms(a, 60);
}

/* One row that is written over and over; a warning now and then makes it stay. */
static int
build(struct agent *a)
{
    struct page *p = &a->page;
    unsigned n = rng_between(&a->rng, 10, 40);
    int r = 0;
    for (unsigned i = 1; r == 0 && i <= n; i++) {
        page_return(p);
        page_printf(p, "[%u/%u] Compiling %s", i, n, ONE_OF(a, files));
        page_clear_right(p);
        if (rng_below(&a->rng, 8) == 0) {
            page_newline(p);
            page_style(p, "\x1b[1;35m");
            page_puts(p, "warning: ");
            page_style(p, "\x1b[m");
            page_printf(p, "unused variable '%s'", ONE_OF(a, words));
            page_newline(p);
        }
        r = pause_ms(a, 20);
    }
    if (p->col)
        page_newline(p);
    return r;
}

/* A bar by \r without erasing, and a little wheel by \b. */
static int
download(struct agent *a)
{
    static const char *const wheel[] = { "|", "/", "-", "\\" };
    struct page *p = &a->page;
    const char *file = ONE_OF(a, files);
    unsigned width = p->cols / 3;
    int r = 0;
    for (unsigned done = 0; r == 0 && done <= width; done++) {
        page_return(p);
        page_colour(p, GREEN);
        for (unsigned i = 0; i < width; i++)
            page_puts(p, i < done ? "█" : "░");
        page_style(p, "\x1b[39m");
        page_printf(p, " %3u%% %s ", width ? done * 100 / width : 100, file);
        for (unsigned i = 0; i < COUNT(wheel) && p->col + 1 < p->cols; i++) {
            page_puts(p, wheel[i]);
            r = r ? r : pause_ms(a, 5);
            if (p->col < p->cols) /* the terminal may have become narrow meanwhile */
                page_back(p);
        }
    }
    page_newline(p);
    return r;
}

/* Hundreds of rows at once. */
static int
burst(struct agent *a)
{
    struct page *p = &a->page;
    unsigned n = rng_between(&a->rng, 100, 400);
    for (unsigned i = 0; i < n; i++) {
        page_printf(p, "%02u:%02u.%03u ", i / 3600, i / 60 % 60,
                    rng_below(&a->rng, 1000));
        page_style(p, i % 9 ? "\x1b[32m" : "\x1b[1;31m");
        page_puts(p, i % 9 ? "ok   " : "FAIL ");
        page_style(p, "\x1b[0m");
        page_puts(p, ONE_OF(a, files));
        page_printf(p, ": %s ", ONE_OF(a, words));
        page_printf(p, "%u", rng_next(&a->rng));
        page_newline(p);
    }
    return pause_ms(a, 200);
}

/* Columns by cursor movement, right one first. */
static int
table(struct agent *a)
{
    struct page *p = &a->page;
    unsigned n = rng_between(&a->rng, 2, 8), column = p->cols / 3;
    for (unsigned i = 0; i < n; i++) {
        page_goto_col(p, column * 2);
        page_printf(p, "│ %u KB", rng_below(&a->rng, 9999));
        page_goto_col(p, column);
        page_printf(p, "│ %s", ONE_OF(a, words));
        page_return(p);
        page_puts(p, ONE_OF(a, words));
        page_newline(p);
    }
    return pause_ms(a, 80);
}

struct step {
    const char *kind;
    int (*run)(struct agent *a);
    bool is_region; /* drawn in the region, else above it */
};

static const struct step steps[] = {
    { "think", think, true },        { "prose", prose, false }, { "diff", diff, false },
    { "build", build, false },       { "burst", burst, false }, { "table", table, false },
    { "download", download, false },
};

static const struct step *
find(const char *kind)
{
    for (size_t i = 0; i < COUNT(steps); i++)
        if (!strcmp(steps[i].kind, kind))
            return &steps[i];
    return NULL;
}

bool
steps_has(const char *kind)
{
    return find(kind) != NULL;
}

/* -- what the recorder is told -- */

static void
reply_json(struct json *j, const struct notify_reply *reply)
{
    json_key(j, "reply");
    json_open(j, '{');
    if (reply->is_done) {
        json_key(j, "id");
        json_u64(j, reply->id);
        json_key(j, "anchor_byte");
        json_u64(j, reply->anchor_byte);
        json_key(j, "ts_ns");
        json_u64(j, reply->ts_ns);
    } else {
        json_key(j, "error");
        json_str(j, reply->text);
    }
    json_close(j, '}');
}

/* By a connection of its own: a step may take longer than a recorder waits. */
static int
take_snapshot(struct agent *a, const struct step *s)
{
    struct notify_reply reply;
    char label[32];
    snprintf(label, sizeof(label), "after %s", s->kind);
    uint64_t id = a->next_snapshot_id++;
    int fd = notify_open(NULL);
    int r = fd < 0 ? fd : notify_snapshot(fd, id, label, &reply);
    if (fd >= 0)
        close(fd);
    if (r < 0)
        return r;
    struct json *j = &a->snapshots;
    json_open(j, '{');
    json_key(j, "id");
    json_u64(j, id);
    json_key(j, "label");
    json_str(j, label);
    json_key(j, "anchor_byte");
    json_u64(j, a->page.total_bytes);
    reply_json(j, &reply);
    json_close(j, '}');
    return 0;
}

/* In turn: where the agent is now, at a byte of the past, at the snapshot just taken. */
static int
be_instructed(struct agent *a, const struct step *s)
{
    struct notify_reply reply;
    char text[64];
    unsigned n = a->told++, way = n % 3;
    bool is_at_snapshot = way == 2 && a->takes_snapshots;
    uint64_t anchor = way == 1 ? a->last_end_byte : NOTIFY_NONE;
    uint64_t snapshot = is_at_snapshot ? a->next_snapshot_id - 1 : NOTIFY_NONE;
    snprintf(text, sizeof(text), "%u: after the %s, “go on” \\ 続けて", n + 1, s->kind);
    int fd = notify_open("ctl.sock");
    int r = fd < 0 ? fd : notify_instruct(fd, anchor, snapshot, text, &reply);
    if (fd >= 0)
        close(fd);
    if (r < 0)
        return r;
    struct json *j = &a->instructs;
    json_open(j, '{');
    json_key(j, "text");
    json_str(j, text);
    json_key(j, "anchor_byte");
    json_u64(j, way == 1 ? anchor : a->page.total_bytes);
    json_key(j, "snapshot_id");
    if (is_at_snapshot)
        json_u64(j, snapshot);
    else
        json_none(j);
    reply_json(j, &reply);
    json_close(j, '}');
    return 0;
}

/* All bytes of the step have been written, and output is not processed: page.total_bytes
 * is where the recorder, too, must see the agent. */
static int
step_done(struct agent *a, const struct step *s)
{
    json_open(&a->steps, '{');
    json_key(&a->steps, "kind");
    json_str(&a->steps, s->kind);
    json_key(&a->steps, "end_byte");
    json_u64(&a->steps, a->page.total_bytes);
    json_close(&a->steps, '}');
    int r = a->takes_snapshots ? take_snapshot(a, s) : 0;
    if (r == 0 && a->is_instructed)
        r = be_instructed(a, s);
    a->last_end_byte = a->page.total_bytes;
    if (r < 0)
        a->troubled = "the recorder";
    return r;
}

int
steps_run(struct agent *a, const char *kind)
{
    const struct step *s = kind ? find(kind) : &steps[rng_below(&a->rng, COUNT(steps))];
    struct page *p = &a->page;
    if (!s->is_region)
        page_region_close(p);
    int r = s->run(a);
    if (r < 0)
        return r;
    region_draw(&a->page, &a->shown);
    r = page_flush(p);
    return r < 0 ? r : step_done(a, s);
}

int
steps_hello(struct agent *a)
{
    page_style(&a->page, "\x1b]0;✳ mock agent\x07\x1b[?2004h\x1b[?25l");
    page_puts(&a->page, "✻ Welcome to the mock agent!");
    page_newline(&a->page);
    page_newline(&a->page);
    return page_flush(&a->page);
}

int
steps_goodbye(struct agent *a)
{
    page_region_close(&a->page);
    page_style(&a->page, "\x1b[?25h\x1b[?2004l");
    page_printf(&a->page, "Done: %u tokens. 世界 👋", a->shown.tokens);
    page_newline(&a->page);
    return page_flush(&a->page);
}
