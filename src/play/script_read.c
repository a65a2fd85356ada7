/* SPDX-License-Identifier: MIT */
/*
 * script_read.c -- typescripts: the bytes in one file, their times in another.
 *
 * A line of the timing file is `delay bytes`, or in the advanced format `O delay bytes`,
 * `I delay bytes`, `S delay SIGNAL words` and `H delay NAME value`. Bytes follow each
 * other in the typescript behind its first line; what was typed has a file of its own, or
 * stands between them (script -B). A timing line that is no good shifts the bytes behind
 * it in time, and loses none: what is left at the end is handed over, too.
 */
#include "base/num.h"
#include "play/import.h"

enum {
    LINE_MAX_BYTES = 64 << 10,
    PIECE = 64 << 10,
    FOOTER_MAX = 1024,
    SECOND = 9,
};

struct script {
    struct play_import *im;
    struct play_import_head head;
    struct buf command, term, shell; /* what head points at */
    struct buf out_name, in_name;    /* of the files, as script was given them */
    bool is_short;                   /* the typescript has ended before its times */
};

static void
script_release(struct script *s)
{
    struct buf *all[] = { &s->command, &s->term, &s->shell, &s->out_name, &s->in_name };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_release(all[i]);
}

/* -- words -- */

static bool
starts(struct view v, const char *with)
{
    return v.n >= strlen(with) && !memcmp(v.p, with, strlen(with));
}

static struct view
behind(struct view v, size_t n)
{
    return (struct view){ v.p + n, v.n - n };
}

/* The next word of a line, taken off it; empty at its end. */
static struct view
take_word(struct view *line)
{
    size_t start = 0, end;
    while (start < line->n && line->p[start] == ' ')
        start++;
    for (end = start; end < line->n && line->p[end] != ' ';)
        end++;
    struct view word = { line->p + start, end - start };
    *line = behind(*line, end);
    return word;
}

static void
set(struct buf *b, struct view v)
{
    buf_clear(b);
    buf_append(b, v.p, v.n);
}

static void
set_size(unsigned *size, struct view text)
{
    uint64_t v;
    if (num_parse(text, PLAY_IMPORT_SIZE_MAX, &v) == 0)
        *size = (unsigned)v;
}

/* -- when it began -- */

/* Digits at *v, exactly `digits` of them, and a byte behind them if there is one asked
 * for. */
static bool
take_part(struct view *v, size_t digits, const char *then, int *ret)
{
    uint64_t n;
    if (v->n < digits + (*then != 0) ||
        num_parse((struct view){ v->p, digits }, 9999, &n) < 0 ||
        (*then && !strchr(then, v->p[digits])))
        return false;
    *ret = (int)n;
    *v = behind(*v, digits + (*then != 0));
    return true;
}

/* "+01:00", "+0100", "Z": seconds east; nothing is taken for UTC. */
static int
parse_zone(struct view v)
{
    int hours = 0, minutes = 0;
    if (!v.n || (*v.p != '+' && *v.p != '-'))
        return 0;
    int sign = *v.p == '-' ? -1 : 1;
    v = behind(v, 1);
    if (!take_part(&v, 2, "", &hours))
        return 0;
    if (v.n && *v.p == ':')
        v = behind(v, 1);
    (void)take_part(&v, 2, "", &minutes);
    return sign * (hours * 3600 + minutes * 60);
}

/* "2026-11-15 23:19:49+00:00" as ns since the epoch; 0: it is something else. */
static uint64_t
parse_time(struct view v)
{
    struct tm tm = { 0 };
    if (!take_part(&v, 4, "-", &tm.tm_year) || !take_part(&v, 2, "-", &tm.tm_mon) ||
        !take_part(&v, 2, " T", &tm.tm_mday) || !take_part(&v, 2, ":", &tm.tm_hour) ||
        !take_part(&v, 2, ":", &tm.tm_min) || !take_part(&v, 2, "", &tm.tm_sec))
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    time_t s = timegm(&tm) - parse_zone(v);
    return s > 0 && (uint64_t)s < PLAY_IMPORT_TIME_MAX / 1000000000
               ? (uint64_t)s * 1000000000
               : 0;
}

/* -- the first line of the typescript -- */

/* What stands behind the last NAME=" of the line, up to its quote; empty: nothing does.
 */
static struct view
value_of(struct view line, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = line.n; at-- > 0;) {
        if (!starts(behind(line, at), name))
            continue;
        struct view v = behind(line, at + n);
        const uint8_t *quote = v.n ? memchr(v.p, '"', v.n) : NULL;
        return quote ? (struct view){ v.p, (size_t)(quote - v.p) } : (struct view){ 0 };
    }
    return (struct view){ 0 };
}

/* A command may hold quotes: it goes as far as what script writes behind it. */
static struct view
command_of(struct view line)
{
    static const char *const ends[] = { "\" TERM=\"", "\" <not", "\"]" };
    static const char name[] = "[COMMAND=\"";
    size_t start = 0;
    while (start < line.n && !starts(behind(line, start), name))
        start++;
    if (start == line.n)
        return (struct view){ 0 };
    struct view v = behind(line, start + strlen(name));
    for (size_t at = 0; at < v.n; at++)
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
            if (starts(behind(v, at), ends[i]))
                return (struct view){ v.p, at };
    return (struct view){ 0 };
}

/* As scriptreplay does, whatever it says (it is written in the user's language). */
static void
take_first_line(struct script *s)
{
    struct view line;
    if (play_source_line(s->im->source[PLAY_IMPORT_FILE], LINE_MAX_BYTES, &line) <= 0)
        return;
    for (size_t at = 0; at < line.n && !s->head.start_ns; at++)
        s->head.start_ns = parse_time(behind(line, at));
    set_size(&s->head.cols, value_of(line, " COLUMNS=\""));
    set_size(&s->head.rows, value_of(line, " LINES=\""));
    set(&s->term, value_of(line, "TERM=\""));
    set(&s->command, command_of(line));
}

/* -- the timing file's head -- */

static struct view
contents(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static int
begin(struct script *s)
{
    s->head.command = contents(&s->command);
    s->head.term = contents(&s->term);
    s->head.shell = contents(&s->shell);
    return play_import_begin(s->im, &s->head);
}

static void
take_fact(struct script *s, struct view name, struct view value)
{
    const struct {
        const char *name;
        struct buf *text;
        unsigned *size;
    } known[] = {
        { "COMMAND", &s->command, NULL },   { "TERM", &s->term, NULL },
        { "SHELL", &s->shell, NULL },       { "OUTPUT_LOG", &s->out_name, NULL },
        { "INPUT_LOG", &s->in_name, NULL }, { "COLUMNS", NULL, &s->head.cols },
        { "LINES", NULL, &s->head.rows },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (name.n != strlen(known[i].name) || !starts(name, known[i].name))
            continue;
        if (known[i].text)
            set(known[i].text, value);
        else
            set_size(known[i].size, value);
        return;
    }
    if (name.n == 10 && starts(name, "START_TIME") && parse_time(value))
        s->head.start_ns = parse_time(value);
}

/* Facts behind the first record: how it ended. */
static int
take_late_fact(struct script *s, struct view name, struct view value)
{
    uint64_t v;
    struct play_import_record rec = { .kind = PLAY_IMPORT_EXIT };
    if (name.n == 8 && starts(name, "DURATION") &&
        num_parse_decimal(value, SECOND, PLAY_IMPORT_TIME_MAX, &v) == 0 &&
        v > s->im->end_ns)
        play_import_wait(s->im, v - s->im->end_ns);
    if (name.n != 9 || !starts(name, "EXIT_CODE") || num_parse(value, 255, &v) < 0)
        return 0;
    rec.status = (unsigned)v;
    return play_import_put(s->im, rec);
}

/* -- records -- */

/* So many bytes of a source, however many there are. */
static int
put_bytes(struct script *s, int source, enum play_import_kind kind, uint64_t left)
{
    struct play_source *in = s->im->source[source];
    int r = 0;
    while (!r && left) {
        struct view v = play_source_peek(in, left < PIECE ? (size_t)left : PIECE);
        size_t n = v.n < PIECE ? v.n : PIECE;
        if (n > left)
            n = (size_t)left;
        if (!n) {
            if (!s->is_short && source == PLAY_IMPORT_FILE)
                play_import_damaged(s->im, source, in->offset,
                                    "it ends before its times do");
            s->is_short |= source == PLAY_IMPORT_FILE;
            return 0;
        }
        r = play_import_put(
            s->im, (struct play_import_record){ .kind = kind, .bytes = { v.p, n } });
        play_source_take(in, n);
        left -= n;
    }
    return r;
}

static bool
is_combined(const struct script *s)
{
    return s->in_name.n && s->in_name.n == s->out_name.n &&
           !memcmp(s->in_name.p, s->out_name.p, s->in_name.n);
}

static int
put_typed(struct script *s, uint64_t n)
{
    if (is_combined(s))
        return put_bytes(s, PLAY_IMPORT_FILE, PLAY_IMPORT_INPUT, n);
    if (s->im->source[PLAY_IMPORT_TYPED])
        return put_bytes(s, PLAY_IMPORT_TYPED, PLAY_IMPORT_INPUT, n);
    s->im->left_out++;
    return 0;
}

/* "SIGWINCH ROWS=24 COLS=80" is a size, other signals are not ours. */
static int
put_signal(struct script *s, struct view words)
{
    struct play_import_record rec = { .kind = PLAY_IMPORT_SIZE };
    for (struct view word; (word = take_word(&words)).n;) {
        if (starts(word, "ROWS="))
            set_size(&rec.rows, behind(word, 5));
        if (starts(word, "COLS="))
            set_size(&rec.cols, behind(word, 5));
    }
    if (rec.rows && rec.cols)
        return play_import_put(s->im, rec);
    s->im->left_out++;
    return 0;
}

/* What a line says; false: it is no good. */
struct entry {
    char kind; /* 'O', 'I', 'S', 'H' */
    uint64_t delay_ns, bytes;
    struct view rest; /* behind the delay, of S and H */
};

static bool
parse_entry(struct view line, struct entry *ret)
{
    static const char kinds[] = { 'O', 'I', 'S', 'H' };
    struct view word = take_word(&line);
    *ret = (struct entry){ .kind = 'O' };
    if (word.n == 1 && memchr(kinds, *word.p, sizeof(kinds))) {
        ret->kind = (char)*word.p;
        word = take_word(&line);
    }
    if (num_parse_decimal(word, SECOND, PLAY_IMPORT_TIME_MAX, &ret->delay_ns) < 0)
        return false;
    ret->rest = line;
    if (ret->kind == 'S' || ret->kind == 'H')
        return true;
    return num_parse(take_word(&line), UINT64_MAX, &ret->bytes) == 0 && !line.n;
}

static int
take_entry(struct script *s, const struct entry *e)
{
    struct view rest = e->rest, name;
    bool is_late = s->im->has_head;
    int r = 0;
    if (e->kind == 'H') {
        name = take_word(&rest);
        struct view value = rest.n ? behind(rest, 1) : rest;
        if (is_late)
            return take_late_fact(s, name, value);
        take_fact(s, name, value);
        return 0;
    }
    if (!is_late)
        r = begin(s);
    play_import_wait(s->im, e->delay_ns);
    if (r < 0)
        return r;
    if (e->kind == 'S')
        return put_signal(s, rest);
    return e->kind == 'I' ? put_typed(s, e->bytes)
                          : put_bytes(s, PLAY_IMPORT_FILE, PLAY_IMPORT_OUTPUT, e->bytes);
}

static int
take_timing(struct script *s)
{
    struct play_source *in = s->im->source[PLAY_IMPORT_TIMING];
    struct view line;
    uint64_t offset = in->offset;
    int n, r = 0;
    while (!r && (n = play_source_line(in, LINE_MAX_BYTES, &line)) != 0) {
        struct entry e;
        if (n < 0 || (line.n && !parse_entry(line, &e)))
            play_import_damaged(s->im, PLAY_IMPORT_TIMING, offset,
                                "a line that is no time");
        else if (line.n)
            r = take_entry(s, &e);
        offset = in->offset;
    }
    return r;
}

/* -- the end -- */

/* Where "\nScript done on …" begins in the last bytes; their end, when it does not. The
 * user's language may have other words: then it is the last line. */
static size_t
footer_start(struct view v)
{
    for (size_t at = 0; at < v.n; at++)
        if (starts(behind(v, at), "\nScript done on "))
            return at;
    bool is_line = v.n > 1 && *v.p == '\n' &&
                   memchr(v.p + 1, '\n', v.n - 1) == v.p + v.n - 1;
    return is_line ? 0 : v.n;
}

/* What has no time comes with the last that has one. */
static int
take_rest(struct script *s)
{
    struct play_source *in = s->im->source[PLAY_IMPORT_FILE];
    struct view v;
    bool is_told = false;
    int r = 0;
    while (!r && (v = play_source_peek(in, PIECE + FOOTER_MAX)).n) {
        bool is_last = v.n < PIECE + FOOTER_MAX;
        size_t n = PIECE;
        if (is_last && v.n > FOOTER_MAX)
            n = v.n - FOOTER_MAX;
        else if (is_last)
            n = footer_start(v);
        if (n && !is_told)
            play_import_damaged(s->im, PLAY_IMPORT_FILE, in->offset,
                                "the rest has no times");
        is_told = true;
        r = play_import_put(s->im, (struct play_import_record){
                                       .kind = PLAY_IMPORT_OUTPUT, .bytes = { v.p, n } });
        play_source_take(in, is_last && v.n <= FOOTER_MAX ? v.n : n);
    }
    return r;
}

static bool
fits(struct view beginning)
{
    return starts(beginning, "Script started on ");
}

static int
read_script(struct play_import *im)
{
    struct script s = { .im = im };
    if (!im->source[PLAY_IMPORT_TIMING])
        return ERR_USAGE;
    bool is_empty = !play_source_peek(im->source[PLAY_IMPORT_FILE], 1).n;
    struct view ignored;
    take_first_line(&s);
    if (im->source[PLAY_IMPORT_TYPED])
        (void)play_source_line(im->source[PLAY_IMPORT_TYPED], LINE_MAX_BYTES, &ignored);
    int r = is_empty ? ERR_DAMAGED : take_timing(&s);
    if (!r && !im->has_head)
        r = begin(&s);
    if (!r)
        r = take_rest(&s);
    script_release(&s);
    return !r && im->damages && !im->records ? ERR_DAMAGED : r;
}

const struct play_import_format play_import_script = {
    .name = "script",
    .what = "a typescript",
    .has_timing = true,
    .fits = fits,
    .read = read_script,
};
