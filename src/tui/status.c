/* SPDX-License-Identifier: MIT */
#include "tui/status_priv.h"

#include <inttypes.h>

#include "term/text.h"
#include "tui/parts_priv.h"

enum {
    METER_MIN = 8, /* columns of the bar that shows how far it is */
    METER_MAX = 40,
    LABEL_COLS = 40,
    GAP = 2, /* between parts */
};

/* Where there is no room, the last ones go first. */
enum rank {
    TIME,
    WORK,
    NOTE,
    SIZE,
    SPEED,
    DURATION,
    LABEL,
    BYTE,
    PLAIN_SPEED,
    HINT,
    PERCENT,
};

static void
end_part(struct tui_parts *l, enum rank rank)
{
    bool is_long = rank == NOTE || rank == LABEL;
    tui_parts_end(l, rank, rank == DURATION ? 0 : GAP, is_long);
}

void
tui_status_time(uint64_t time_ns, bool has_millis, struct buf *out)
{
    uint64_t ms = time_ns / 1000000, s = ms / 1000, min = s / 60, h = min / 60;
    if (h)
        buf_printf(out, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, h, min % 60, s % 60);
    else
        buf_printf(out, "%" PRIu64 ":%02" PRIu64, min, s % 60);
    if (has_millis)
        buf_printf(out, ".%03" PRIu64, ms % 1000);
}

/* "2×", "1.5×", "0.25×". */
static void
put_speed(uint32_t speed, struct buf *out)
{
    buf_printf(out, "%" PRIu32, speed / 1000);
    for (uint32_t rest = speed % 1000, digit = 100; rest; digit /= 10) {
        buf_printf(out, "%s%" PRIu32, digit == 100 ? "." : "", rest / digit);
        rest %= digit;
    }
    buf_puts(out, "×");
}

static unsigned
percent(const struct tui_status *s)
{
    if (!s->duration_ns)
        return 100;
    uint64_t one = s->duration_ns / 100 ? s->duration_ns / 100 : 1, n = s->time_ns / one;
    return n < 100 ? (unsigned)n : 100;
}

static void
make_parts(const struct tui_status *s, struct tui_parts *l)
{
    struct buf *b = &l->text;
    buf_puts(b, s->is_paused ? "⏸ " : "▶ ");
    tui_status_time(s->time_ns, s->has_millis, b);
    end_part(l, TIME);
    buf_puts(b, " / ");
    tui_status_time(s->duration_ns, false, b);
    end_part(l, DURATION);
    if (s->work) {
        buf_printf(b, "%s %u%%", s->work, s->work_permille / 10);
        end_part(l, WORK);
    }
    if (s->note) {
        term_text_put(l->widths, term_text(s->note), UINT16_MAX, b);
        end_part(l, NOTE);
    }
    put_speed(s->speed, b);
    end_part(l, s->speed == 1000 ? PLAIN_SPEED : SPEED);
    if (s->size) {
        buf_puts(b, s->size);
        end_part(l, SIZE);
    }
    if (s->has_label) {
        buf_puts(b, "◆ ");
        term_text_put(l->widths, s->label, LABEL_COLS, b);
        end_part(l, LABEL);
    }
    buf_printf(b, "@%" PRIu64, s->byte_off);
    end_part(l, BYTE);
    buf_printf(b, "%u%%", percent(s));
    end_part(l, PERCENT);
    if (s->hint) {
        buf_puts(b, s->hint);
        end_part(l, HINT);
    }
}

static void
put_blanks(unsigned n, struct buf *out)
{
    while (n--)
        buf_puts(out, " ");
}

/* A bar in the columns that are left, if they are enough. How many it took. */
static unsigned
put_meter(const struct tui_status *s, unsigned left, struct buf *out)
{
    if (left < METER_MIN + GAP)
        return 0;
    unsigned cols = left - GAP < METER_MAX ? left - GAP : METER_MAX;
    unsigned full = cols * percent(s) / 100;
    for (unsigned i = 0; i < cols; i++)
        buf_puts(out, i < full ? "━" : "─");
    put_blanks(GAP, out);
    return cols + GAP;
}

void
tui_status_line(const struct tui_status *s, unsigned cols, struct term_widths *widths,
                struct buf *out)
{
    AUTO(tui_parts) l = { .widths = widths };
    make_parts(s, &l);
    tui_parts_fit(&l, cols);
    unsigned used = tui_parts_cols(&l), left = cols > used ? cols - used : 0;
    for (size_t i = 0; i < l.count; i++) {
        put_blanks(tui_parts_gap(&l, i), out);
        if (l.part[i].rank == PERCENT)
            left -= put_meter(s, left, out);
        else if (l.part[i].rank == HINT)
            put_blanks(left, out);
        tui_parts_put(&l, i, cols, out);
    }
}
