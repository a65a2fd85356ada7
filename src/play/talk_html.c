/* SPDX-License-Identifier: MIT */
/*
 * talk_html.c -- a conversation as one HTML page that needs nothing else and does
 * nothing.
 *
 * As format_html.c: no script, a policy that lets in one style sheet by its hash, and all
 * else is escaped text. What is said stands open; arguments, results and thoughts are
 * folded, but those that failed.
 */
#include <inttypes.h>
#include <string.h>

#include "play/html_priv.h"
#include "play/talk_priv.h"

enum { SUMMARY_MAX = 160 }; /* bytes of what stands for a folded text */

static void
begin(struct play_out *o)
{
    play_html_head(o->out, o->about->title, play_talk_style, play_talk_style_hash);
    const char *facts = o->about->facts;
    if (facts) {
        buf_puts(o->out, "<p class=facts>");
        play_html_text(o->out, (struct view){ (const uint8_t *)facts, strlen(facts) });
        buf_puts(o->out, "</p>\n");
    }
    buf_puts(o->out, "</header>\n<main translate=no>\n");
}

static bool
is_folded(const struct turn_event *e)
{
    return e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT ||
           e->type == TURN_THINKING || e->type == TURN_OTHER;
}

/* Of a call's arguments the one that tells what it is about. */
static struct view
telling_line(const struct turn_event *e, struct view text)
{
    static const char *const keys[] = { "file_path: ", "path: ", "command: ", "pattern: ",
                                        "query: ",     "url: ",  "prompt: " };
    for (size_t i = 0; e->type == TURN_TOOL_CALL && i < sizeof(keys) / sizeof(keys[0]);
         i++) {
        size_t n = strlen(keys[i]);
        for (const uint8_t *at = text.p, *end = text.p + text.n; at < end;) {
            if ((size_t)(end - at) >= n && !memcmp(at, keys[i], n))
                return (struct view){ at, (size_t)(end - at) };
            const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
            at = stop ? stop + 1 : end;
        }
    }
    return text;
}

/* A line, or as much as there is room for. */
static void
put_summary(struct buf *out, struct view text)
{
    size_t n = 0;
    while (n < text.n && text.p[n] != '\n' && n < SUMMARY_MAX)
        n++;
    bool is_cut = n < text.n;
    while (is_cut && n && (text.p[n] & 0xc0) == 0x80)
        n--;
    buf_puts(out, "<summary><bdi>");
    play_html_text(out, (struct view){ text.p, n });
    buf_puts(out, is_cut ? " …</bdi></summary>" : "</bdi></summary>");
}

static void
put_text(struct buf *out, const struct play_turn *turn)
{
    bool is_in_folds = is_folded(turn->event);
    if (!turn->text.n)
        return;
    if (is_in_folds) {
        buf_puts(out, turn->event->is_error ? "<details open>" : "<details>");
        put_summary(out, telling_line(turn->event, turn->text));
    }
    buf_puts(out, "<pre dir=auto>\n"); /* a newline there is none of the text's */
    play_html_text(out, turn->text);
    buf_puts(out, "</pre>");
    if (is_in_folds)
        buf_puts(out, "</details>");
}

static void
put_turn(struct play_out *o, const struct play_turn *turn)
{
    const struct turn_event *e = turn->event;
    buf_printf(o->out, "<section class=\"%s%s%s%s\" id=\"turn-%" PRIu64 "\">",
               turn_type_name(e->type), e->is_user ? " user" : "",
               e->parent.n ? " sub" : "", e->is_error ? " bad" : "", turn->number);
    buf_printf(o->out, "<h2><a href=\"#turn-%" PRIu64 "\">%" PRIu64 "</a> %s%s",
               turn->number, turn->number, e->parent.n ? "Sub-agent: " : "", turn->title);
    if (turn->name.n) {
        buf_puts(o->out, " <bdi>");
        play_html_text(o->out, turn->name);
        buf_puts(o->out, "</bdi>");
    }
    talk_put_fate(o->out, e);
    if (o->about->has_times) {
        buf_puts(o->out, " <span class=when>");
        play_put_clock(o->out, play_since_start(o, turn->ts_ns));
        buf_puts(o->out, "</span>");
    }
    buf_puts(o->out, "</h2>");
    put_text(o->out, turn);
    buf_puts(o->out, "</section>\n");
}

/* Without an id: the numbers of one that was forged may come twice. */
static void
put_event(struct play_out *o, const struct play_item *item)
{
    bool is_snapshot = item->kind == PLAY_ITEM_SNAPSHOT;
    buf_printf(o->out, "<section class=\"%s\"><h2>", play_item_name(item->kind));
    talk_put_event(o->out, item, false);
    if (is_snapshot && item->text.n) {
        buf_puts(o->out, " <bdi>");
        play_html_text(o->out, item->text);
        buf_puts(o->out, "</bdi>");
    }
    if (o->about->has_times && item->ts_ns) {
        buf_puts(o->out, " <span class=when>");
        play_put_clock(o->out, play_since_start(o, item->ts_ns));
        buf_puts(o->out, "</span>");
    }
    buf_puts(o->out, "</h2>");
    if (!is_snapshot && item->text.n) {
        buf_puts(o->out, "<pre dir=auto>\n");
        play_html_text(o->out, item->text);
        buf_puts(o->out, "</pre>");
    }
    buf_puts(o->out, "</section>\n");
}

static void
put_notice(struct play_out *o, struct view text)
{
    buf_puts(o->out, "<p class=note role=note>");
    play_html_text(o->out, text);
    buf_puts(o->out, "</p>\n");
}

static void
end(struct play_out *o, const struct play_talk_sums *sums)
{
    struct talk_sum all[TALK_SUMS];
    size_t n = talk_sums(sums, all);
    buf_puts(o->out, "</main>\n");
    if (n) {
        buf_puts(o->out, "<footer>\n<h2>Totals</h2>\n<table>\n");
        for (size_t i = 0; i < n; i++)
            buf_printf(o->out, "<tr><th scope=row>%s<td>%" PRIu64 "\n", all[i].title,
                       all[i].value);
        buf_puts(o->out, "</table>\n</footer>\n");
    }
    buf_puts(o->out, "</body>\n</html>\n");
}

const struct play_talk_format play_talk_html = {
    .name = "html",
    .is_for_people = true,
    .begin = begin,
    .turn = put_turn,
    .event = put_event,
    .notice = put_notice,
    .end = end,
};
