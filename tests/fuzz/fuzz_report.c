/* SPDX-License-Identifier: MIT */
/*
 * A report on any session: lines keep their order, events stand where the rule says, and
 * each format is well formed, whatever the texts are.
 *
 * The input: a byte with the number of events, then each: its kind and the length of its
 * text, two bytes of its anchor, the text. The rest is a session as in term_input.h.
 */
#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "play/report.h"
#include "term/width.h"
#include "turn/line.h"

static void
take_events(struct view *in, struct play_events *ret)
{
    for (size_t left = fuzz_byte(in) % 9; left; left--) {
        uint8_t head = fuzz_byte(in), text[64];
        struct play_event event = { .kind = head & 1 ? PLAY_INSTRUCTION : PLAY_SNAPSHOT,
                                    .id = left,
                                    .snapshot_id = PLAY_NONE };
        event.anchor_byte = fuzz_byte(in);
        event.anchor_byte |= (uint64_t)(fuzz_byte(in) << 8);
        event.text = (struct view){ text, head >> 2 };
        for (size_t i = 0; i < event.text.n; i++)
            text[i] = fuzz_byte(in);
        CHECK(!play_events_add(ret, &event));
    }
    play_events_sort(ret);
}

/* -- where things stand -- */

/* What a format is given, held against the rule. */
struct order {
    bool by_position;
    uint64_t lines, last_stamp;
    size_t events;
};

static struct order order; /* a format has no room for a pointer */

static void
check_line(const struct play_out *o, const struct play_item *item)
{
    const struct play_events *all = o->about->events;
    if (order.events < all->count) /* all that is before it has come */
        CHECK(play_events_at(all, order.events).anchor_byte >= item->position);
    if (order.by_position)
        CHECK(item->position >= order.last_stamp);
    else
        CHECK(item->index == order.lines);
    order.lines++;
    order.last_stamp = item->position;
}

static void
check_item(struct play_out *o, const struct play_item *item)
{
    switch (item->kind) {
    case PLAY_ITEM_LINE:
        check_line(o, item);
        break;
    case PLAY_ITEM_SNAPSHOT:
    case PLAY_ITEM_INSTRUCTION:
        CHECK(item->position ==
              play_events_at(o->about->events, order.events++).anchor_byte);
        if (order.by_position)
            CHECK(item->position >= order.last_stamp);
        break;
    case PLAY_ITEM_NOTICE:
        break;
    }
}

static void
nothing(struct play_out *o)
{
    (void)o;
}

static const struct play_format order_format = {
    .name = "order",
    .begin = nothing,
    .item = check_item,
    .end = nothing,
};

/* -- which bytes there are -- */

/* The length of an SGR or OSC 8 at p, as ansi has them; aborts when it is neither. */
static size_t
sequence(const char *p)
{
    if (p[1] == '[') {
        size_t n = 2 + strspn(p + 2, "0123456789;:");
        CHECK(p[n] == 'm');
        return n + 1;
    }
    CHECK(!strncmp(p, "\x1b]8;;", 5));
    size_t n = 5;
    while (p[n] > 0x20 && p[n] < 0x7f)
        n++;
    CHECK(!strncmp(p + n, "\x1b\\", 2));
    return n + 2;
}

static void
check_bytes(const char *format, struct buf *out)
{
    const char *p = buf_str(out);
    bool is_csv = !strcmp(format, "csv"), has_tabs = is_csv || !strcmp(format, "html");
    for (size_t i = 0; i < out->n;) {
        uint32_t cp;
        if (p[i] == 0x1b && !strcmp(format, "ansi")) {
            i += sequence(p + i);
            continue;
        }
        int len = utf8_next(out->p + i, out->n - i, &cp);
        CHECK(len);
        if (cp == '\r' && is_csv)
            CHECK(p[i + 1] == '\n');
        else
            CHECK(cp == '\n' || (cp == '\t' && has_tabs) || !term_is_control(cp));
        i += (size_t)len;
    }
}

/* -- JSON, read by a reader of its own -- */

static const char *json_value(const char *p);

static const char *
json_space(const char *p)
{
    return p + strspn(p, " \n");
}

static const char *
json_string(const char *p)
{
    CHECK(*p == '"');
    for (p++; *p != '"'; p++) {
        CHECK((uint8_t)*p >= 0x20);
        if (*p != '\\')
            continue;
        CHECK(*++p && strchr("\"\\unrt", *p));
        if (*p == 'u')
            CHECK(strspn(p + 1, "0123456789abcdef") >= 4);
    }
    return p + 1;
}

static const char *
json_list(const char *p, char end)
{
    p = json_space(p + 1);
    while (*p != end) {
        if (end == '}') {
            p = json_space(json_string(p));
            CHECK(*p == ':');
            p = json_space(p + 1);
        }
        p = json_space(json_value(p));
        if (*p == end)
            break;
        CHECK(*p == ',');
        p = json_space(p + 1);
        CHECK(*p != end);
    }
    return p + 1;
}

static const char *
json_value(const char *p)
{
    if (*p == '{' || *p == '[')
        return json_list(p, *p == '{' ? '}' : ']');
    if (*p == '"')
        return json_string(p);
    size_t n = strspn(p, "0123456789");
    n = n ? n : strspn(p, "truefalsn");
    CHECK(n);
    return p + n;
}

static void
check_json(struct buf *out)
{
    CHECK(!*json_space(json_value(buf_str(out))));
}

/* -- CSV and Markdown -- */

/* Five fields a row, by RFC 4180. */
static void
check_csv(struct buf *out)
{
    const char *p = buf_str(out);
    while (*p) {
        for (int field = 0; field < 5; field++) {
            if (*p == '"') {
                for (p++; *p != '"' || *++p == '"'; p++)
                    CHECK(*p);
            } else {
                CHECK(!strchr("=+-@", *p) || !*p);
                p += strcspn(p, ",\"\r\n");
            }
            CHECK(field < 4 ? *p == ',' : !strncmp(p, "\r\n", 2));
            p += field < 4 ? 1 : 2;
        }
    }
}

/* How many backticks a line is that would end a fence; 0: it would not. */
static size_t
fence_end(const char *line, size_t n)
{
    size_t at = strspn(line, " "), ticks = strspn(line + at, "`");
    size_t rest = strspn(line + at + ticks, " ");
    return at < 4 && ticks >= 3 && at + ticks + rest == n ? ticks : 0;
}

/* As a renderer sees it: outside of fences are tables, and little else. */
static void
check_md(struct buf *out)
{
    size_t fence = 0;
    for (const char *p = buf_str(out); *p;) {
        size_t n = strcspn(p, "\n");
        CHECK(p[n]);
        if (fence) {
            size_t end = fence_end(p, n);
            fence = end >= fence ? 0 : fence;
        } else if (*p == '`') {
            fence = strspn(p, "`");
            CHECK(fence >= 3 && !strncmp(p + fence, "text\n", 5));
        } else if (*p == '|') {
            size_t cells = 0;
            for (size_t i = 0; i < n; i++)
                cells += p[i] == '|';
            CHECK(cells == 5);
        } else {
            CHECK(!n || !strncmp(p, "Alternate screen:\n", 18));
        }
        p += n + 1;
    }
    CHECK(!fence);
}

static void
check_txt(struct buf *out)
{
    CHECK(!out->n || out->p[out->n - 1] == '\n');
}

/* As a browser sees it: nothing but tags and entities of ours behind its head. */
static void
check_html(struct buf *out)
{
    static const char *const known[] = {
        "<i",
        "</i>",
        "<a href=\"http",
        "<a href=\"#",
        "</a>",
        "<pre",
        "</pre>",
        "<section class=event id=\"",
        "</section>",
        "<h3>",
        "</h3>",
        "<span class=when>",
        "</span>",
        "<p dir=auto>",
        "<p class=note role=note>",
        "</p>",
        "<header>",
        "</header>",
        "<h1>",
        "</h1>",
        "<p>",
        "<nav ",
        "</nav>",
        "<h2 ",
        "</h2>",
        "<ul>",
        "</ul>",
        "<li>",
        "<bdi>",
        "</bdi>",
        "<main ",
        "</main>",
        "</body>",
        "</html>",
        "&amp;",
        "&lt;",
        "&gt;",
        "&quot;",
        "&#39;",
    };
    const char *p = strstr(buf_str(out), "<body>\n");
    CHECK(p && utf8_is_text(out->p, out->n));
    for (p += 7; *(p += strcspn(p, "<&")); p++) {
        size_t i = 0;
        while (strncmp(p, known[i], strlen(known[i])) != 0)
            CHECK(++i < sizeof(known) / sizeof(known[0]));
    }
    check_txt(out);
}

/* A stream of JSON, one object a line, each of which is an event. */
static void
check_events(struct buf *out)
{
    AUTO(buf) texts = { 0 };
    for (size_t i = 0, n; i < out->n; i += n + 1) {
        const uint8_t *end = memchr(out->p + i, '\n', out->n - i);
        CHECK(end);
        n = (size_t)(end - (out->p + i));
        struct turn_event e;
        struct turn_stamp at;
        CHECK(!turn_line_read((struct view){ out->p + i, n }, &texts, &e, &at));
        CHECK((e.type == TURN_SESSION) == !i);
    }
}

/* -- all -- */

static const struct {
    const char *name;
    void (*check)(struct buf *out);
} formats[] = {
    { "md", check_md },     { "json", check_json },          { "csv", check_csv },
    { "txt", check_txt },   { "ansi", check_txt },           { "html", check_html },
    { "ruled", check_txt }, { "branch-points", check_json }, { "events", check_events },
};

static int
append(void *ctx, struct view bytes)
{
    return buf_append(ctx, bytes.p, bytes.n);
}

static void
report(const struct play_loaded *l, const struct play_events *events,
       const struct play_format *format, enum play_order by, struct redact *redact,
       struct buf *out)
{
    struct play_about about = { .total_bytes = l->total_bytes, .is_masked = true };
    struct play_report_options opt = { .order = by,
                                       .has_snapshots = true,
                                       .has_instructions = true,
                                       .has_notices = true,
                                       .redact = redact,
                                       .about = &about };
    struct err err;
    order = (struct order){ .by_position = by == PLAY_POSITION };
    CHECK(!play_report(l, events, format, &opt, append, out, &err));
}

static struct redact *
rules(void)
{
    static struct redact *redact;
    struct err err;
    if (!redact)
        CHECK(!redact_open(&redact, NULL, &err));
    return redact;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct play_events events = { 0 };
    take_events(&in, &events);
    struct play_gap gap = { .byte_off = in.n / 2, .bytes = in.n };
    struct play_loaded l = { .term = term_input_new(&in), .total_bytes = in.n };
    term_input_feed(l.term, in, 0);
    CHECK(!buf_append(&l.gaps, &gap, sizeof(gap)));
    for (int by = PLAY_VISUAL; by <= PLAY_POSITION; by++) {
        AUTO(buf) out = { 0 };
        report(&l, &events, &order_format, (enum play_order)by, NULL, &out);
        CHECK(order.events == events.count);
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct play_format *format = play_format_find(formats[i].name);
        AUTO(buf) out = { 0 };
        if (!format)
            continue;
        enum play_order by = size % 3 ? PLAY_VISUAL : PLAY_POSITION;
        report(&l, &events, format, by, size % 8 ? NULL : rules(), &out);
        check_bytes(formats[i].name, &out);
        formats[i].check(&out);
    }
    play_events_release(&events);
    play_loaded_release(&l);
    return 0;
}
