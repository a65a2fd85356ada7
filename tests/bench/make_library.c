/* SPDX-License-Identifier: MIT */
/*
 * make_library HOME TEXTS FIRST LAST COUNT BYTES: sessions FIRST to LAST - 1 of COUNT,
 * for bench_library.py.
 *
 * Each has about BYTES of text: prose, code, builds, tests and logs, no two alike. A few
 * are large and most are small. Every second one is a run: its text is a conversation, of
 * which the recording has what is shown. What stands in the lines is also written to
 * TEXTS/<id>, for peers that read plain files. Some words are planted: `ticket-<number>`
 * once in each session, `quokka` in a line of three sessions, the last of them in the
 * middle.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/num.h"
#include "session/meta.h"
#include "tape/writer.h"
#include "turn/line.h"
#include "turn/show.h"

#define START_NS UINT64_C(1750000000000000000)
#define EACH_NS  (UINT64_C(20) * 60 * 1000000000)
#define LINE_NS  UINT64_C(50000000)

enum { VOCABULARY = 20000, WORD_MAX = 16, RANKS = 1 << 16 };

/* The first ones are the most frequent. */
static const char *const first_words[] = {
    "the",    "of",      "to",     "and",   "error",    "is",     "file", "return",
    "a",      "session", "in",     "test",  "for",      "this",   "not",  "function",
    "cannot", "open",    "buffer", "block", "terminal", "parser", "line", "value",
    "should", "when",    "commit", "read",  "write",    "index",  "byte", "struct",
};

static char vocabulary[VOCABULARY][WORD_MAX];
static uint16_t ranks[RANKS];

static uint32_t
next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (uint32_t)(*s >> 16);
}

static void
make_vocabulary(void)
{
    static const char *const syllables[] = {
        "ba",  "con", "der", "el",   "fi",  "gra", "hy",  "in",   "jo",  "ka",  "lo",
        "mer", "no",  "or",  "pla",  "que", "re",  "sta", "tion", "u",   "ver", "wo",
        "x",   "yl",  "ze",  "ment", "al",  "pre", "sub", "tri",  "ous", "ing",
    };
    uint64_t s = 4711;
    for (size_t i = 0; i < RANKS; i++)
        ranks[i] = (uint16_t)(pow(VOCABULARY, (double)i / RANKS) - 1);
    for (size_t i = 0; i < VOCABULARY; i++) {
        if (i < sizeof(first_words) / sizeof(first_words[0])) {
            snprintf(vocabulary[i], WORD_MAX, "%s", first_words[i]);
            continue;
        }
        size_t n = 0;
        for (unsigned left = 2 + next(&s) % 3; left > 0; left--)
            n += (size_t)snprintf(vocabulary[i] + n, WORD_MAX - n, "%s",
                                  syllables[next(&s) % 32]);
    }
}

/* The n-th most frequent about n times as rare as the first, as in a language. */
static const char *
word(uint64_t *s)
{
    return vocabulary[ranks[next(s) % RANKS]];
}

static void
words(struct buf *line, uint64_t *s, unsigned n)
{
    for (; n > 0; n--) {
        buf_puts(line, word(s));
        if (n > 1)
            buf_append(line, " ", 1);
    }
}

/* Appends a line's text, and tells the colour that it is written in. */
static const char *
some_line(struct buf *line, uint64_t *s)
{
    switch (next(s) % 8) {
    case 0:
        buf_printf(line, "    %u  %s %s(%s, %u);", next(s) % 900, word(s), word(s),
                   word(s), next(s) % 4096);
        return "\x1b[38;2;97;175;239m";
    case 1:
        buf_printf(line, "[%u/900] Compiling C object src/%s/%s_%s.c.o", next(s) % 900,
                   word(s), word(s), word(s));
        return "\x1b[2m";
    case 2:
        buf_printf(line, "2026-%02u-%02uT%02u:%02u:%02u.%03uZ INFO %s: request %08x%08x ",
                   1 + next(s) % 12, 1 + next(s) % 28, next(s) % 24, next(s) % 60,
                   next(s) % 60, next(s) % 1000, word(s), next(s), next(s));
        words(line, s, 4);
        return "\x1b[32m";
    case 3:
        buf_printf(line, "tests/%s/%s_test.py::%s PASSED [%u%%]", word(s), word(s),
                   word(s), next(s) % 100);
        return "\x1b[1m";
    default:
        words(line, s, 8 + next(s) % 10);
        return "";
    }
}

struct session {
    struct tape_writer *w;
    FILE *texts, *turns; /* turns: of a run, else NULL */
    const char *id;
    struct buf line, out;
    struct buf said;     /* lines of the turn at hand, … */
    unsigned said_lines; /* … so many, … */
    unsigned turn_lines; /* … of as many as it gets */
    uint64_t events;
    uint64_t ts_ns, text_bytes, raw_bytes;
};

static void
flush(struct session *one)
{
    tape_writer_append(one->w,
                       (struct tape_record){ .tag = TAPE_DATA,
                                             .ts_ns = one->ts_ns,
                                             .bytes = { one->out.p, one->out.n } });
    tape_writer_tick(one->w, one->ts_ns);
    one->raw_bytes += one->out.n;
    buf_clear(&one->out);
}

/* -- a run -- */

static void
put_event(struct session *one, const struct turn_event *e)
{
    static const struct turn_show opt = { .is_coloured = true };
    AUTO(buf) line = { 0 }, shown = { 0 };
    const struct turn_stamp at = {
        .ts_ns = one->ts_ns, .start_ns = one->ts_ns, .session = one->id, .iteration = 1
    };
    turn_line(e, &at, &line);
    fwrite(line.p, 1, line.n, one->turns);
    turn_show(e, &opt, &shown);
    for (size_t i = 0; i < shown.n; i++) {
        if (shown.p[i] == '\n')
            buf_puts(&one->out, "\r");
        buf_append(&one->out, &shown.p[i], 1);
    }
    one->events++;
    if (one->out.n)
        flush(one);
}

/* Each second run goes on with the messages of the one before it, and then has its own.
 */
static void
put_usage(struct session *one, uint64_t number)
{
    static const char *const models[] = { "claude-opus-4-5", "claude-haiku-4-5",
                                          "claude-sonnet-4-5" };
    for (uint64_t i = 0; i < 60; i++) {
        char id[40];
        const char *model = models[i % 8 == 7 ? 1 : number % 3 ? 0 : 2];
        struct turn_event e = turn_event(TURN_USAGE);
        uint64_t of = number % 4 == 3 && i < 20 ? number - 2 : number;
        int n = snprintf(id, sizeof(id), "msg_01Made%08u%012u", (unsigned)of,
                         (unsigned)i);
        e.id = (struct view){ (const uint8_t *)id, (size_t)n };
        e.model = (struct view){ (const uint8_t *)model, strlen(model) };
        e.is_final = true;
        e.usage = (struct turn_usage){ 10 + i, 300 + of % 100, 2000, 50000 + of };
        put_event(one, &e);
    }
}

/* By turns: the user, the assistant, and some calls of a tool, which say the most. */
static void
end_turn(struct session *one)
{
    static const char *const tools[] = { "Bash", "Read", "Grep", "Edit" };
    const char *tool = tools[one->events / 2 % 4];
    bool is_said = one->events % 12 < 2;
    struct turn_event e = turn_event(is_said ? TURN_TEXT : TURN_TOOL_RESULT);
    if (!one->said.n)
        return;
    if (!is_said) {
        struct turn_event call = turn_event(TURN_TOOL_CALL);
        call.name = (struct view){ (const uint8_t *)tool, strlen(tool) };
        call.id = (struct view){ (const uint8_t *)"call", 4 };
        call.json = (struct view){ (const uint8_t *)"{\"path\":\"src/main.c\"}", 21 };
        put_event(one, &call);
        e.name = call.name;
        e.id = call.id;
    }
    e.is_user = is_said && one->events % 12 == 0;
    e.text = (struct view){ one->said.p, one->said.n - 1 };
    put_event(one, &e);
    buf_clear(&one->said);
    one->said_lines = 0;
    one->turn_lines = is_said ? 40 : 4;
}

/* -- lines -- */

/* What stands in `line`, to both. */
static void
put_line(struct session *one, const char *colour)
{
    struct buf *to = one->turns ? &one->said : &one->out;
    buf_puts(to, one->turns ? "" : colour);
    buf_append(to, one->line.p, one->line.n);
    buf_puts(to, one->turns ? "\n" : *colour ? "\x1b[0m\r\n" : "\r\n");
    buf_append(&one->line, "\n", 1);
    fwrite(one->line.p, 1, one->line.n, one->texts);
    one->text_bytes += one->line.n;
    one->ts_ns += LINE_NS;
    buf_clear(&one->line);
    if (one->turns && ++one->said_lines >= one->turn_lines)
        end_turn(one);
    else if (one->out.n > 4096)
        flush(one);
}

static void
put_text(struct session *one, uint64_t number, uint64_t count, uint64_t bytes)
{
    uint64_t s = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    next(&s);
    uint64_t x = next(&s) % 1000;
    uint64_t want = 200 + bytes * 4 * (x * x * x) / 1000000000;
    buf_printf(&one->line, "ticket-%06u is taken", (unsigned)number);
    put_line(one, "");
    if (number == count / 8 || number == count / 4 || number == count / 2) {
        buf_puts(&one->line, "a quokka was here");
        put_line(one, "");
    }
    while (one->text_bytes < want) {
        const char *colour = some_line(&one->line, &s);
        put_line(one, colour);
    }
    if (one->turns) {
        end_turn(one);
        put_usage(one, number);
    } else {
        flush(one);
    }
}

static int
write_meta(const char *dir, const char *id, uint64_t number, const struct session *one)
{
    const char *const cmd[] = { "claude", "--model", "opus", "fix what is broken" };
    const char *const env[] = { "TERM", "xterm-256color", "LANG", "C.UTF-8", NULL };
    AUTO(buf) path = { 0 };
    char name[32];
    struct err err;
    snprintf(name, sizeof(name), "work-%u", (unsigned)number);
    buf_printf(&path, "%s/session.meta.json", dir);
    return session_meta_write(
        buf_str(&path),
        &(struct session_meta){
            .id = id,
            .status = number % 9 ? SESSION_COMPLETED : SESSION_FAILED,
            .exit_code = number % 9 ? 0 : 1,
            .started_at_ns = START_NS + number * EACH_NS,
            .ended_at_ns = one->ts_ns,
            .cmd = cmd,
            .cmd_count = 4,
            .cols = 120,
            .rows = 40,
            .quality = 4,
            .name = number % 3 ? NULL : name,
            .cwd = "/home/somebody/src/project",
            .total_bytes = one->raw_bytes,
            .env = env,
            .kind = number % 2 ? "stream" : NULL,
            .agent = number % 2 == 0     ? NULL
                     : number % 200 == 1 ? "codex"
                                         : "claude",
            .role = number % 10 == 1 ? "DEVELOPER" : NULL,
        },
        false, &err);
}

/* home and texts are there already. */
static int
make_session(const char *home, const char *texts, uint64_t number, uint64_t count,
             uint64_t bytes, struct err *err)
{
    AUTO(buf) dir = { 0 }, path = { 0 };
    char id[SESSION_ID_LEN + 1];
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer_status st;
    struct session one = { .ts_ns = START_NS + number * EACH_NS };
    int r = session_id_make(one.ts_ns, id, opt.session_id);
    if (r < 0)
        return r;
    opt.cols = 120;
    opt.rows = 40;
    opt.sync = TAPE_SYNC_NONE;
    opt.start_ts_ns = one.ts_ns;
    opt.patience_ns = UINT64_C(60000000000);
    buf_printf(&dir, "%s/sessions/%s", home, id);
    buf_printf(&path, "%s/session.ahr", buf_str(&dir));
    if (mkdir(buf_str(&dir), 0700) < 0)
        return err_sys(err, "cannot make '%s'", buf_str(&dir));
    r = tape_writer_open(&one.w, tape_io_files(), buf_str(&path), &opt, err);
    if (r < 0)
        return r;
    buf_clear(&path);
    buf_printf(&path, "%s/%s", texts, id);
    one.texts = fopen(buf_str(&path), "we");
    if (one.texts && number % 2) {
        buf_clear(&path);
        buf_printf(&path, "%s/session.turns.jsonl", buf_str(&dir));
        one.turns = fopen(buf_str(&path), "we");
        one.id = id;
    }
    if (one.texts && (one.turns || number % 2 == 0))
        put_text(&one, number, count, bytes);
    else
        r = err_sys(err, "cannot make '%s'", buf_str(&path));
    int ended = tape_writer_finish(one.w, one.ts_ns, &st, err);
    if ((one.texts && fclose(one.texts) != 0) || (one.turns && fclose(one.turns) != 0))
        r = err_sys(err, "cannot write '%s'", buf_str(&path));
    if (r >= 0 && ended >= 0)
        r = write_meta(buf_str(&dir), id, number, &one);
    buf_release(&one.line);
    buf_release(&one.out);
    buf_release(&one.said);
    return r < 0 ? r : ended;
}

int
main(int argc, char **argv)
{
    uint64_t numbers[4];
    struct err err = { .text = "usage: make_library HOME TEXTS FIRST LAST COUNT BYTES" };
    int r = argc == 7 ? 0 : -EINVAL;
    for (int i = 0; r >= 0 && i < 4; i++)
        r = num_parse((struct view){ (const uint8_t *)argv[3 + i], strlen(argv[3 + i]) },
                      UINT32_MAX, &numbers[i]);
    make_vocabulary();
    for (uint64_t at = r < 0 ? 0 : numbers[0]; r >= 0 && at < numbers[1]; at++)
        r = make_session(argv[1], argv[2], at, numbers[2], numbers[3], &err);
    if (r >= 0)
        return 0;
    fprintf(stderr, "make_library: %s\n", err.text);
    return 1;
}
