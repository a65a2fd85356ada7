/* SPDX-License-Identifier: MIT */
#include "cli/hits.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/session.h"
#include "cli/when.h"
#include "pty/tty.h"
#include "session/id.h"
#include "term/text.h"

enum {
    COLS = 80, /* of a terminal that does not say */
    INDENT = 2,
    TOOL_COLS = 60, /* of a tool's name */
};

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL
#define FOUND     "\033[1;31m"
#define NAME      "\033[1m"
#define PLAIN     "\033[0m"

void
cli_hits_begin(struct cli_hits *h, bool is_json)
{
    uint16_t cols = COLS, rows;
    *h = (struct cli_hits){ .is_json = is_json };
    h->is_terminal = !is_json && isatty(STDOUT_FILENO);
    h->has_colours = h->is_terminal && cli_output_has_colours();
    h->cols = pty_size(STDOUT_FILENO, &cols, &rows) ? cols : COLS;
    h->json = (struct json){ .out = &h->out };
}

void
cli_hits_release(struct cli_hits *h)
{
    term_widths_release(&h->widths);
    buf_release(&h->out);
}

static int
flush(struct cli_hits *h)
{
    int r = h->out.failed;
    if (!r && h->out.n && fwrite(h->out.p, 1, h->out.n, stdout) != h->out.n)
        r = -errno;
    if (!r && h->is_terminal && fflush(stdout) < 0)
        r = -errno;
    buf_clear(&h->out);
    return r;
}

/* -- parts -- */

static void
put_colour(struct cli_hits *h, const char *sequence)
{
    if (h->has_colours)
        buf_puts(&h->out, sequence);
}

static void
put_text(struct cli_hits *h, const char *text)
{
    term_text_put(&h->widths, term_text(text), UINT16_MAX, &h->out);
}

static void
put_local_time(struct buf *out, uint64_t ns)
{
    time_t seconds = (time_t)(ns / NS_PER_S);
    char text[64] = "-";
    struct tm tm;
    if (ns && localtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    buf_puts(out, text);
}

/* What shows it. A turn may have been cut off on the screen, or not been there: it is
 * shown whole. */
static void
put_command(struct buf *out, const struct library_hit *hit)
{
    if (hit->kind == LIBRARY_HIT_TURN)
        buf_printf(out, "ahr export %s --format txt --turn %" PRIu64, hit->id,
                   hit->index);
    else
        buf_printf(out, "ahr replay %s --from @%" PRIu64 " --paused", hit->id,
                   hit->write_byte);
}

/* "turn 4 assistant Bash": who says it, or what it is, and the tool. */
static void
put_turn(struct cli_hits *h, const struct library_hit *hit)
{
    buf_printf(&h->out, "turn %" PRIu64 " %s", hit->index,
               hit->role ? hit->role : hit->type);
    if (!hit->tool.n)
        return;
    buf_puts(&h->out, " ");
    term_text_put(&h->widths, hit->tool, TOOL_COLS, &h->out);
}

static void
put_place(struct cli_hits *h, const struct library_hit *hit)
{
    switch (hit->kind) {
    case LIBRARY_HIT_TURN:
        put_turn(h, hit);
        break;
    case LIBRARY_HIT_INSTRUCTION:
        buf_printf(&h->out, "instruction %" PRIu64 "  byte %" PRIu64, hit->index,
                   hit->write_byte);
        break;
    case LIBRARY_HIT_LINE:
        buf_printf(&h->out, "line %" PRIu64 "  byte %" PRIu64, hit->index,
                   hit->write_byte);
        break;
    }
}

/* Its name, or as much of its id as will do. */
static void
put_session(struct cli_hits *h, const struct library_hit *hit, const char *name)
{
    if (name && *name)
        put_text(h, name);
    else
        buf_printf(&h->out, "%.*s", CLI_SHORT_ID, hit->id);
}

/* -- for people -- */

/* What was found, as whole characters: a query may be a part of one. */
static void
widen(const struct library_hit *hit, size_t *ret_start, size_t *ret_end)
{
    size_t start = hit->start, end = hit->end;
    while (start > 0 && start < hit->line.n && (hit->line.p[start] & 0xc0) == 0x80)
        start--;
    while (end < hit->line.n && end > start && (hit->line.p[end] & 0xc0) == 0x80)
        end++;
    *ret_start = start;
    *ret_end = end;
}

/* The line around what was found, in so many columns. */
static void
put_snippet(struct cli_hits *h, const struct library_hit *hit, unsigned cols)
{
    size_t start, end;
    widen(hit, &start, &end);
    struct view before = { hit->line.p, start };
    struct view found = { hit->line.p + start, end - start };
    struct view after = { hit->line.p + end, hit->line.n - end };
    unsigned found_cols = term_text_cols(&h->widths, found);
    unsigned after_cols = term_text_cols(&h->widths, after);
    unsigned room = found_cols < cols ? cols - found_cols : 0;
    unsigned half = room - room / 2;
    unsigned left = after_cols < half ? room - after_cols : room / 2;
    cols -= term_text_put_end(&h->widths, before, left, &h->out);
    put_colour(h, FOUND);
    cols -= term_text_put(&h->widths, found, cols, &h->out);
    put_colour(h, PLAIN);
    term_text_put(&h->widths, after, cols, &h->out);
}

static void
put_for_people(struct cli_hits *h, const struct library_hit *hit, const char *name)
{
    if (h->count)
        buf_puts(&h->out, "\n");
    put_colour(h, NAME);
    put_session(h, hit, name);
    put_colour(h, PLAIN);
    buf_puts(&h->out, "  ");
    put_local_time(&h->out, hit->ts_ns);
    buf_puts(&h->out, "  ");
    put_place(h, hit);
    buf_printf(&h->out, "\n%*s", INDENT, "");
    put_snippet(h, hit, h->cols > 2 * INDENT ? h->cols - INDENT : COLS);
    buf_printf(&h->out, "\n%*s", INDENT, "");
    put_command(&h->out, hit);
    buf_puts(&h->out, "\n");
}

/* -- for programs -- */

/* Fields with tabs between them, which no line of a terminal has. */
static void
put_fields(struct cli_hits *h, const struct library_hit *hit, const char *name)
{
    put_local_time(&h->out, hit->ts_ns);
    buf_puts(&h->out, "\t");
    put_session(h, hit, name);
    buf_puts(&h->out, "\t");
    if (hit->kind == LIBRARY_HIT_TURN)
        put_turn(h, hit);
    else
        buf_printf(&h->out, "%s%" PRIu64,
                   hit->kind == LIBRARY_HIT_LINE ? "" : "instruction ", hit->index);
    buf_puts(&h->out, "\t");
    put_command(&h->out, hit);
    buf_puts(&h->out, "\t");
    term_text_put(&h->widths, hit->line, UINT_MAX, &h->out);
    buf_puts(&h->out, "\n");
}

static void
json_times(struct json *j, uint64_t ts_ns, uint64_t start_ns)
{
    char text[CLI_WHEN_ISO_SIZE];
    json_key(j, "ts_ns"), ts_ns ? json_u64_str(j, ts_ns) : json_none(j);
    json_key(j, "t_ms");
    if (ts_ns && start_ns)
        json_u64(j, ts_ns > start_ns ? (ts_ns - start_ns) / NS_PER_MS : 0);
    else
        json_none(j);
    json_key(j, "time"), ts_ns ? json_str(j, cli_when_iso(ts_ns, text)) : json_none(j);
}

static void
put_number(struct json *j, const char *key, uint64_t v, bool is_there)
{
    json_key(j, key), is_there ? json_u64(j, v) : json_none(j);
}

static void
put_json(struct cli_hits *h, const struct library_hit *hit, const char *name,
         uint64_t start_ns)
{
    static const char *const kinds[] = {
        [LIBRARY_HIT_LINE] = "line",
        [LIBRARY_HIT_TURN] = "turn",
        [LIBRARY_HIT_INSTRUCTION] = "instruction",
    };
    AUTO(buf) command = { 0 };
    struct json *j = &h->json;
    buf_puts(&h->out, h->count ? ",\n" : "[\n");
    j->comma = false;
    put_command(&command, hit);
    json_open(j, '{');
    json_key(j, "session"), json_str(j, hit->id);
    json_key(j, "name"), json_str_or_none(j, name && *name ? name : NULL);
    json_key(j, "kind"), json_str(j, kinds[hit->kind]);
    put_number(j, "line", hit->index, hit->kind == LIBRARY_HIT_LINE);
    put_number(j, "last_write_byte", hit->write_byte, hit->kind == LIBRARY_HIT_LINE);
    put_number(j, "turn", hit->index, hit->kind == LIBRARY_HIT_TURN);
    put_number(j, "instruction", hit->index, hit->kind == LIBRARY_HIT_INSTRUCTION);
    json_key(j, "role"), json_str_or_none(j, hit->role);
    json_key(j, "type"), json_str_or_none(j, hit->type);
    json_key(j, "tool"), hit->tool.n ? json_bytes(j, hit->tool) : json_none(j);
    json_times(j, hit->ts_ns, start_ns);
    json_key(j, "text"), json_bytes(j, hit->line);
    json_key(j, "start"), json_u64(j, hit->start);
    json_key(j, "end"), json_u64(j, hit->end);
    json_key(j, "command"), json_str(j, buf_str(&command));
    json_close(j, '}');
}

int
cli_hits_put(struct cli_hits *h, const struct library_hit *hit, const char *name,
             uint64_t start_ns)
{
    if (h->is_json)
        put_json(h, hit, name, start_ns);
    else if (h->is_terminal)
        put_for_people(h, hit, name);
    else
        put_fields(h, hit, name);
    h->count++;
    return flush(h);
}

int
cli_hits_end(struct cli_hits *h)
{
    if (h->is_json)
        buf_puts(&h->out, h->count ? "\n]\n" : "[]\n");
    return flush(h);
}
