/* SPDX-License-Identifier: MIT */
/* page_gutter.c -- when a line was last written, and at which byte. */
#include <inttypes.h>
#include <stdio.h>

#include "term/text.h"
#include "tui/page_priv.h"

enum { TIME_COLS = 7, BYTE_COLS = 7, TEXT = 64 };

static const struct term_style FAINT = { .attrs = TERM_DIM };

/* "12:34.5", "1:02:03.4"; "": not known. */
static void
tell_time(const struct tui_source *s, uint64_t stamp, char text[TEXT])
{
    uint64_t ts_ns = s->stamps ? play_stamps_time(s->stamps, stamp) : 0;
    text[0] = '\0';
    if (!ts_ns || !s->start_ts_ns || ts_ns < s->start_ts_ns)
        return;
    uint64_t tenths = (ts_ns - s->start_ts_ns) / 100000000, seconds = tenths / 10;
    uint64_t hours = seconds / 3600;
    int n = hours ? snprintf(text, TEXT, "%" PRIu64 ":%02u", hours,
                             (unsigned)(seconds / 60 % 60))
                  : snprintf(text, TEXT, "%u", (unsigned)(seconds / 60));
    snprintf(text + n, TEXT - (size_t)n, ":%02u.%u", (unsigned)(seconds % 60),
             (unsigned)(tenths % 10));
}

static unsigned
time_cols(const struct tui_review *r)
{
    char text[TEXT];
    if (!r->source->stamps)
        return 0;
    tell_time(r->source, r->source->bytes, text);
    unsigned n = (unsigned)strlen(text);
    return n > TIME_COLS ? n : TIME_COLS;
}

static unsigned
byte_cols(const struct tui_review *r)
{
    unsigned n = 1;
    for (uint64_t rest = r->source->bytes; rest >= 10; rest /= 10)
        n++;
    return n > BYTE_COLS ? n : BYTE_COLS;
}

unsigned
tui_page_gutter(const struct tui_review *r)
{
    unsigned of_time = time_cols(r);
    if (!r->has_gutter)
        return 0;
    return 1 + of_time + (of_time ? 2 : 0) + byte_cols(r) + 2;
}

void
tui_page_put_gutter(struct tui_brush *b, const struct tui_review *r, uint64_t stamp)
{
    char time[TEXT], byte[TEXT], line[3 * TEXT];
    unsigned of_time = time_cols(r);
    tell_time(r->source, stamp, time);
    snprintf(byte, sizeof(byte), "%" PRIu64, stamp);
    if (!stamp)
        time[0] = byte[0] = '\0';
    snprintf(line, sizeof(line), " %*s%s%*s │", (int)of_time, time, of_time ? "  " : "",
             (int)byte_cols(r), byte);
    tui_brush_text(b, 0, term_text(line), &FAINT);
}
