/* SPDX-License-Identifier: MIT */
/*
 * cast_read.c -- asciicasts: version 1 (one JSON document), 2 and 3 (a line an event).
 *
 * A line that is broken costs what is broken in it: events before and behind the break
 * are found again by their bracket. That cannot mistake a text for an event, since quotes
 * inside a text have a backslash before them.
 */
#include "base/json_in.h"
#include "base/num.h"
#include "play/import.h"

enum {
    LINE_MAX_BYTES = 16 << 20,
    DOCUMENT_MAX = 63 << 20, /* version 1 is read as a whole */
    SECOND = 9,              /* digits of it */
    TRIES_MAX = 1000,
};

struct cast {
    struct play_import *im;
    struct play_import_head head;
    uint64_t version;
    struct buf title, command, term, shell;
    struct buf key, code, text; /* of the value at hand */
};

static void
cast_release(struct cast *c)
{
    struct buf *all[] = { &c->title, &c->command, &c->term, &c->shell,
                          &c->key,   &c->code,    &c->text };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_release(all[i]);
}

/* -- the header -- */

static bool
is_key(struct cast *c, const char *name)
{
    return c->key.n == strlen(name) && !memcmp(c->key.p, name, c->key.n);
}

/* A whole number; another value is passed over. */
static void
get_number(struct json_in *in, unsigned places, uint64_t max, uint64_t *ret)
{
    struct view number;
    uint8_t first = json_in_peek(in);
    if (first != '-' && (first < '0' || first > '9'))
        json_in_skip(in);
    else if (json_in_number(in, &number))
        (void)num_parse_decimal(number, places, max, ret);
}

static void
get_size(struct json_in *in, unsigned *ret)
{
    uint64_t v = *ret;
    get_number(in, 0, PLAY_IMPORT_SIZE_MAX, &v);
    *ret = (unsigned)v;
}

static void
get_text(struct json_in *in, struct buf *ret)
{
    buf_clear(ret);
    if (json_in_peek(in) == '"')
        json_in_str(in, ret);
    else
        json_in_skip(in);
}

static void take_member(struct cast *c, struct json_in *in, bool is_inner);

static void
take_members(struct cast *c, struct json_in *in, bool is_inner)
{
    bool is_first = true;
    if (!json_in_take(in, '{')) {
        json_in_skip(in);
        return;
    }
    while (json_in_each(in, '}', &is_first) && json_in_key(in, &c->key))
        take_member(c, in, is_inner);
}

/* Names differ enough for the inner objects (term, env) to be looked at with the same
 * eyes. */
static void
take_member(struct cast *c, struct json_in *in, bool is_inner)
{
    const struct {
        const char *name;
        unsigned *size;
        struct buf *text;
    } known[] = {
        { "width", &c->head.cols, NULL }, { "height", &c->head.rows, NULL },
        { "cols", &c->head.cols, NULL },  { "rows", &c->head.rows, NULL },
        { "title", NULL, &c->title },     { "command", NULL, &c->command },
        { "type", NULL, &c->term },       { "TERM", NULL, &c->term },
        { "SHELL", NULL, &c->shell },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!is_key(c, known[i].name))
            continue;
        if (known[i].size)
            get_size(in, known[i].size);
        else
            get_text(in, known[i].text);
        return;
    }
    if (is_key(c, "version") && !is_inner)
        get_number(in, 0, 1000, &c->version);
    else if (is_key(c, "timestamp") && !is_inner)
        get_number(in, SECOND, PLAY_IMPORT_TIME_MAX, &c->head.start_ns);
    else if ((is_key(c, "term") || is_key(c, "env")) && !is_inner)
        take_members(c, in, true);
    else
        json_in_skip(in);
}

static struct view
contents(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static int
begin(struct cast *c)
{
    c->head.title = contents(&c->title);
    c->head.command = contents(&c->command);
    c->head.term = contents(&c->term);
    c->head.shell = contents(&c->shell);
    return play_import_begin(c->im, &c->head);
}

/* -- events -- */

/* "COLSxROWS" */
static bool
parse_size(struct view text, unsigned *ret_cols, unsigned *ret_rows)
{
    const uint8_t *x = text.n ? memchr(text.p, 'x', text.n) : NULL;
    uint64_t cols, rows;
    if (!x)
        return false;
    struct view a = { text.p, (size_t)(x - text.p) };
    struct view b = { x + 1, text.n - a.n - 1 };
    if (num_parse(a, PLAY_IMPORT_SIZE_MAX, &cols) < 0 ||
        num_parse(b, PLAY_IMPORT_SIZE_MAX, &rows) < 0 || !cols || !rows)
        return false;
    *ret_cols = (unsigned)cols;
    *ret_rows = (unsigned)rows;
    return true;
}

/* The record of an event whose text is in c->text; false: its text has no meaning. */
static bool
make_record(struct cast *c, char code, struct play_import_record *ret)
{
    uint64_t status;
    *ret = (struct play_import_record){ .bytes = contents(&c->text) };
    switch (code) {
    case 'o':
        ret->kind = PLAY_IMPORT_OUTPUT;
        return true;
    case 'i':
        ret->kind = PLAY_IMPORT_INPUT;
        return true;
    case 'm':
        ret->kind = PLAY_IMPORT_MARKER;
        return true;
    case 'r':
        ret->kind = PLAY_IMPORT_SIZE;
        return parse_size(ret->bytes, &ret->cols, &ret->rows);
    default: /* 'x' */
        ret->kind = PLAY_IMPORT_EXIT;
        if (num_parse(ret->bytes, 255, &status) < 0)
            return false;
        ret->status = (unsigned)status;
        return true;
    }
}

/* What an event says, and how much of the input it is. */
struct event {
    uint64_t time_ns;
    bool has_text; /* its data is a text */
};

/* [time, "code", data] at the cursor: c->code and c->text have the texts. */
static bool
parse_event(struct cast *c, struct json_in *in, struct event *ret)
{
    struct view number;
    buf_clear(&c->code);
    buf_clear(&c->text);
    *ret = (struct event){ 0 };
    if (!json_in_take(in, '[') || !json_in_number(in, &number) ||
        num_parse_decimal(number, SECOND, PLAY_IMPORT_TIME_MAX, &ret->time_ns) < 0 ||
        !json_in_take(in, ',') || !json_in_str(in, &c->code) || !json_in_take(in, ','))
        return false;
    ret->has_text = json_in_peek(in) == '"';
    const uint8_t *start = in->p;
    if (!(ret->has_text ? json_in_str(in, &c->text) : json_in_skip(in)))
        return false;
    if (!ret->has_text) /* as it stands there: an exit status may be a number */
        buf_append(&c->text, start, (size_t)(in->p - start));
    return json_in_take(in, ']');
}

static int
put_event(struct cast *c, const struct event *e, bool *ret_is_bad)
{
    struct play_import_record rec;
    if (c->text.failed)
        return c->text.failed;
    if (c->version == 3)
        play_import_wait(c->im, e->time_ns);
    else
        play_import_clock(c->im, e->time_ns);
    if (c->code.n != 1 || !strchr("oimrx", *c->code.p)) {
        c->im->left_out++;
        return 0;
    }
    if (!make_record(c, (char)*c->code.p, &rec) ||
        (!e->has_text && rec.kind != PLAY_IMPORT_EXIT)) {
        *ret_is_bad = true;
        return 0;
    }
    return play_import_put(c->im, rec);
}

static bool
is_at_end(struct json_in *in)
{
    (void)json_in_peek(in);
    return in->p == in->end;
}

/* Where the next event may begin, when the one that was tried at `start` is broken. */
static void
find_next(struct json_in *in, const uint8_t *start, unsigned tries)
{
    /* A line that is made of beginnings is not looked at again and again. */
    const uint8_t *from = tries < TRIES_MAX || in->p <= start ? start + 1 : in->p;
    const uint8_t *next = from < in->end ? memchr(from, '[', (size_t)(in->end - from))
                                         : NULL;
    in->p = next ? next : in->end;
    in->failed = false;
}

/* All events of a line, most often one. */
static int
take_line(struct cast *c, struct view line, uint64_t offset)
{
    struct json_in in = { line.p, line.p + line.n, false, false };
    bool is_bad = false;
    unsigned tries = 0;
    int r = 0;
    while (!r && !is_at_end(&in)) {
        const uint8_t *start = in.p;
        struct event e;
        if (parse_event(c, &in, &e)) {
            r = put_event(c, &e, &is_bad);
            is_bad |= !is_at_end(&in);
        } else {
            is_bad = true;
            find_next(&in, start, tries++);
        }
    }
    if (is_bad || in.is_odd)
        play_import_damaged(c->im, PLAY_IMPORT_FILE, offset,
                            is_bad ? "a line that is no event"
                                   : "a text that is no text");
    return r;
}

static int
read_lines(struct cast *c)
{
    struct play_source *s = c->im->source[PLAY_IMPORT_FILE];
    struct view line;
    uint64_t offset = s->offset;
    int n, r = 0;
    while (!r && (n = play_source_line(s, LINE_MAX_BYTES, &line)) != 0) {
        if (n < 0)
            play_import_damaged(c->im, PLAY_IMPORT_FILE, offset, "a line without an end");
        else if (line.n && *line.p != '#')
            r = take_line(c, line, offset);
        offset = s->offset;
    }
    return r;
}

static const char *
fault_of_head(struct cast *c, struct json_in *in)
{
    if (in->failed || in->is_odd || !is_at_end(in) || !c->version)
        return "a header that cannot be read";
    if (c->version != 2 && c->version != 3)
        return "a header of another version";
    return c->head.cols && c->head.rows ? NULL : "a header without a size";
}

/* Versions 2 and 3. A header that is no good is told, and does not cost the events. */
static int
read_stream(struct cast *c)
{
    struct play_source *s = c->im->source[PLAY_IMPORT_FILE];
    struct view line = { (const uint8_t *)"", 0 };
    (void)play_source_line(s, LINE_MAX_BYTES, &line);
    struct json_in in = { line.p, line.p + line.n, false, false };
    take_members(c, &in, false);
    const char *fault = fault_of_head(c, &in);
    if (fault)
        play_import_damaged(c->im, PLAY_IMPORT_FILE, 0, fault);
    play_import_clock(c->im, 0);
    int r = begin(c);
    if (!r && line.n && !c->version)
        r = take_line(c, line, 0); /* it may be an event */
    return r < 0 ? r : read_lines(c);
}

/* -- version 1 -- */

/* [delay, "text"] */
static bool
parse_frame(struct cast *c, struct json_in *in, uint64_t *ret_ns)
{
    struct view number;
    buf_clear(&c->text);
    return json_in_take(in, '[') && json_in_number(in, &number) &&
           num_parse_decimal(number, SECOND, PLAY_IMPORT_TIME_MAX, ret_ns) == 0 &&
           json_in_take(in, ',') && json_in_str(in, &c->text) && json_in_take(in, ']');
}

static int
take_frames(struct cast *c, struct json_in *in, const uint8_t *document)
{
    uint64_t ns;
    int r = 0;
    while (!r && !json_in_take(in, ']')) {
        const uint8_t *start = in->p;
        if (parse_frame(c, in, &ns)) {
            play_import_wait(c->im, ns);
            r = play_import_put(
                c->im, (struct play_import_record){ .kind = PLAY_IMPORT_OUTPUT,
                                                    .bytes = contents(&c->text) });
            uint8_t next = json_in_peek(in);
            if (json_in_take(in, ',') || next == ']')
                continue;
            start = in->p - 1;
        }
        play_import_damaged(c->im, PLAY_IMPORT_FILE, (uint64_t)(in->p - document),
                            in->p < in->end ? "a frame that is none"
                                            : "the end is missing");
        start = start + 1 < in->end
                    ? memchr(start + 1, '[', (size_t)(in->end - start - 1))
                    : NULL;
        in->p = start ? start : in->end;
        in->failed = false;
        if (!start)
            break;
    }
    return r;
}

/* The frames, wherever they stand in the document. */
static int
read_frames(struct cast *c, struct view document)
{
    struct json_in in = { document.p, document.p + document.n, false, false };
    bool is_first = true;
    int r = 0;
    (void)json_in_take(&in, '{');
    while (!r && json_in_each(&in, '}', &is_first) && json_in_key(&in, &c->key)) {
        if (!is_key(c, "stdout") || !json_in_take(&in, '[')) {
            json_in_skip(&in);
            continue;
        }
        r = take_frames(c, &in, document.p);
        if (json_in_peek(&in) == 0) /* what is missing was told */
            return r;
    }
    if (!r && in.failed)
        play_import_damaged(c->im, PLAY_IMPORT_FILE, (uint64_t)(in.p - document.p),
                            "no JSON from here on");
    return r;
}

static int
read_document(struct cast *c)
{
    struct play_source *s = c->im->source[PLAY_IMPORT_FILE];
    struct view v = play_source_peek(s, DOCUMENT_MAX);
    if (v.n > DOCUMENT_MAX)
        v.n = DOCUMENT_MAX;
    struct json_in in = { v.p, v.p + v.n, false, false };
    take_members(c, &in, false); /* up to where it can be read */
    if (v.n == DOCUMENT_MAX)
        play_import_damaged(c->im, PLAY_IMPORT_FILE, v.n, "it is too large");
    int r = begin(c);
    return r < 0 ? r : read_frames(c, v);
}

/* -- the format -- */

/* A byte order mark, which some editors leave. */
static size_t
mark_len(struct view v)
{
    return v.n >= 3 && !memcmp(v.p, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* The version, by as much of a header as there is: 0, when it cannot be told. */
static uint64_t
version_of(struct cast *c, struct view beginning)
{
    size_t mark = mark_len(beginning);
    beginning = (struct view){ beginning.p + mark, beginning.n - mark };
    struct json_in in = { beginning.p, beginning.p + beginning.n, false, false };
    bool is_first = true;
    uint64_t version = 0;
    if (!json_in_take(&in, '{'))
        return 0;
    while (!version && json_in_each(&in, '}', &is_first) && json_in_key(&in, &c->key)) {
        if (is_key(c, "version"))
            get_number(&in, 0, 1000, &version);
        else
            json_in_skip(&in);
    }
    return version;
}

static bool
fits(struct view beginning)
{
    struct cast c = { 0 };
    uint64_t version = version_of(&c, beginning);
    cast_release(&c);
    return version >= 1 && version <= 3;
}

static int
read_cast(struct play_import *im)
{
    struct cast c = { .im = im };
    struct view v = play_source_peek(im->source[PLAY_IMPORT_FILE], PLAY_IMPORT_BEGINNING);
    bool is_document = version_of(&c, v) == 1;
    play_source_take(im->source[PLAY_IMPORT_FILE], mark_len(v));
    int r = is_document ? read_document(&c) : read_stream(&c);
    cast_release(&c);
    return !r && im->damages && !im->records ? ERR_DAMAGED : r;
}

const struct play_import_format play_import_cast = {
    .name = "cast",
    .what = "an asciicast",
    .fits = fits,
    .read = read_cast,
};
