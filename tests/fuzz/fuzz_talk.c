/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a run's events make documents that are valid in their formats, and in
 * which nothing of the events is syntax; the same ones each time.
 *
 * The input: a byte (1: masked, 2: with times, 4: with instructions and snapshots that
 * say the same), then session.turns.jsonl.
 */
#include <string.h>
#include <unistd.h>

#include "base/json_in.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "play/talk.h"
#include "term/width.h"

static char path[] = "/tmp/ahr-fuzz-XXXXXX";

static void
remove_file(void)
{
    unlink(path);
}

static void
write_file(struct view in)
{
    static int fd = -1;
    if (fd < 0)
        CHECK((fd = mkstemp(path)) >= 0 && !atexit(remove_file));
    CHECK(!ftruncate(fd, 0) && pwrite(fd, in.p, in.n, 0) == (ssize_t)in.n);
}

/* -- the formats -- */

static void
check_text(const char *format, struct buf *out)
{
    bool is_csv = !strcmp(format, "csv");
    CHECK(!out->n || out->p[out->n - 1] == '\n');
    for (size_t i = 0; i < out->n;) {
        uint32_t cp;
        int n = utf8_next(out->p + i, out->n - i, &cp);
        CHECK(n);
        CHECK(cp == '\n' || cp == '\t' || (is_csv && cp == '\r') || !term_is_control(cp));
        i += (size_t)n;
    }
}

static void
check_json(struct buf *out)
{
    CHECK(json_in_is_one((struct view){ out->p, out->n }));
}

/* Seven fields a row, by RFC 4180. */
static void
check_csv(struct buf *out)
{
    const char *p = buf_str(out);
    while (*p) {
        for (int field = 0; field < 7; field++) {
            if (*p == '"') {
                for (p++; *p != '"' || *++p == '"'; p++)
                    CHECK(*p);
            } else {
                CHECK(!*p || !strchr("=+-@\t", *p));
                p += strcspn(p, ",\"\r\n");
            }
            CHECK(field < 6 ? *p == ',' : !strncmp(p, "\r\n", 2));
            p += field < 6 ? 1 : 2;
        }
    }
}

/* Outside of fences there are headings, notices and the table. */
static void
check_md(struct buf *out)
{
    size_t fence = 0;
    for (const char *p = buf_str(out); *p;) {
        size_t n = strcspn(p, "\n"), at = strspn(p, " "), ticks = strspn(p + at, "`");
        CHECK(p[n]);
        if (fence) {
            bool is_end = at < 4 && ticks >= fence &&
                          at + ticks + strspn(p + at + ticks, " \t") == n;
            fence = is_end ? 0 : fence;
        } else if (*p == '`') {
            fence = ticks;
            CHECK(fence >= 3 && !strncmp(p + fence, "text\n", 5));
        } else {
            CHECK(!n || !strncmp(p, "## ", 3) || !strncmp(p, "> ", 2) || *p == '|');
        }
        p += n + 1;
    }
    CHECK(!fence);
}

/* Nothing but tags and entities of ours behind its head. */
static void
check_html(struct buf *out)
{
    static const char *const known[] = {
        "<section class=\"",
        "</section>",
        "<h2>",
        "</h2>",
        "<a href=\"#turn-",
        "</a>",
        "<bdi>",
        "</bdi>",
        "<span class=when>",
        "</span>",
        "<details>",
        "<details open>",
        "</details>",
        "<summary>",
        "</summary>",
        "<pre dir=auto>",
        "</pre>",
        "<p class=note role=note>",
        "</p>",
        "<header>",
        "</header>",
        "<h1>",
        "</h1>",
        "<main translate=no>",
        "</main>",
        "<footer>",
        "</footer>",
        "<table>",
        "</table>",
        "<tr><th scope=row>",
        "<th ",
        "<td>",
        "</body>",
        "</html>",
        "&amp;",
        "&lt;",
        "&gt;",
        "&quot;",
        "&#39;",
    };
    const char *p = strstr(buf_str(out), "<body>\n");
    CHECK(p);
    for (p += 7; *(p += strcspn(p, "<&")); p++) {
        size_t i = 0;
        while (strncmp(p, known[i], strlen(known[i])) != 0)
            CHECK(++i < sizeof(known) / sizeof(known[0]));
    }
}

static void
check_txt(struct buf *out)
{
    CHECK(out->n && !strncmp((const char *)out->p + out->n - 2, "]\n", 2));
}

static const struct {
    const char *name;
    void (*check)(struct buf *out);
} checks[] = {
    { "json", check_json }, { "csv", check_csv }, { "md", check_md },
    { "html", check_html }, { "txt", check_txt },
};

/* -- all -- */

static int
append(void *ctx, struct view bytes)
{
    struct buf *out = ctx;
    return buf_append(out, bytes.p, bytes.n);
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

/* One before all turns, one somewhere among them, one without a time. */
static void
add_events(struct view text, struct play_events *ret)
{
    for (uint64_t i = 0; i < 3; i++) {
        const struct play_event e = {
            .kind = i == 1 ? PLAY_SNAPSHOT : PLAY_INSTRUCTION,
            .id = i,
            .ts_ns = i == 2 ? 0 : 1 + i * 1763240000000000000,
            .text = text,
            .snapshot_id = i ? 1 : PLAY_NONE,
            .is_delivered = !i,
        };
        CHECK(!play_events_add(ret, &e));
    }
    play_events_sort_by_time(ret);
    CHECK(!play_events_at(ret, 2).ts_ns);
}

static void
make(const char *format, uint8_t flags, struct view in, struct buf *out)
{
    struct err err = { 0 };
    struct play_events events = { 0 };
    const struct play_about about = { .is_masked = flags & 1, .has_times = flags & 2 };
    const struct play_talk_options opt = { .about = &about,
                                           .redact = flags & 1 ? rules() : NULL,
                                           .events = &events };
    if (flags & 4)
        add_events(in, &events);
    CHECK(!play_talk(path, play_talk_find(format), &opt, append, out, &err));
    play_events_release(&events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    uint8_t flags = fuzz_byte(&in);
    write_file(in);
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        AUTO(buf) out = { 0 };
        AUTO(buf) again = { 0 };
        make(checks[i].name, flags, in, &out);
        check_text(checks[i].name, &out);
        checks[i].check(&out);
        make(checks[i].name, flags, in, &again);
        CHECK(out.n == again.n && !memcmp(out.p, again.p, out.n));
    }
    return 0;
}
