/* SPDX-License-Identifier: MIT */
/*
 * Any bytes through any settings of a canonical terminal: a model of Linux's line
 * discipline gives back exactly what was fed, and the end comes once, at the end. The
 * input is the settings, then bytes with the number of their repetitions.
 */
#include <termios.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "pty/feed.h"

enum { QUEUE_BYTES = 4095, INPUT_BYTES = 8000 };

struct model {
    const struct termios *s;
    struct buf got;
    size_t line_bytes; /* at the end of `got`, not yet handed over */
    int ends;
    bool is_quoting, has_acted;
};

static uint8_t
fold(const struct termios *s, uint8_t c)
{
    if (s->c_iflag & ISTRIP)
        c &= 0x7f;
    bool is_upper = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
    if (s->c_iflag & IUCLC && s->c_lflag & IEXTEN && is_upper)
        c = (uint8_t)(c + 32);
    return c;
}

static void
queue(struct model *m, uint8_t c)
{
    for (int i = 0; i < (c == 0xff && m->s->c_iflag & PARMRK ? 2 : 1); i++) {
        CHECK(!buf_append(&m->got, &c, 1));
        m->line_bytes++;
    }
    CHECK(m->line_bytes < QUEUE_BYTES || m->has_acted);
}

static bool
is_one(const struct termios *s, uint8_t c, int index)
{
    return c == s->c_cc[index] && c != _POSIX_VDISABLE;
}

/* Signals and editing: nothing of that may happen. */
static bool
acts(const struct termios *s, uint8_t c)
{
    bool is_signal = is_one(s, c, VINTR) || is_one(s, c, VQUIT) || is_one(s, c, VSUSP);
    return s->c_lflag & ISIG && is_signal;
}

static bool
edits(const struct termios *s, uint8_t c)
{
    return is_one(s, c, VERASE) || is_one(s, c, VKILL) ||
           (s->c_lflag & IEXTEN && is_one(s, c, VWERASE));
}

static void
end_line(struct model *m)
{
    m->line_bytes = 0;
}

static void
in_line(struct model *m, uint8_t c)
{
    const struct termios *s = m->s;
    bool is_extended = s->c_lflag & IEXTEN;
    if (edits(s, c)) {
        m->has_acted = true;
    } else if (is_extended && is_one(s, c, VLNEXT)) {
        m->is_quoting = true;
    } else if (is_extended && s->c_lflag & ECHO && is_one(s, c, VREPRINT)) {
        return;
    } else if (c == '\n') {
        queue(m, c);
        end_line(m);
    } else if (is_one(s, c, VEOF)) {
        m->ends += !m->line_bytes;
        end_line(m);
    } else {
        queue(m, c);
        if (is_one(s, c, VEOL) || (is_extended && is_one(s, c, VEOL2)))
            end_line(m);
    }
}

/* One byte as Linux receives it (n_tty_receive_buf_standard()). */
static void
receive(struct model *m, uint8_t c)
{
    const struct termios *s = m->s;
    c = fold(s, c);
    CHECK(!m->ends || m->has_acted); /* the end is the last */
    if (m->is_quoting) {
        m->is_quoting = false;
        queue(m, c);
        return;
    }
    if (s->c_iflag & IXON && (is_one(s, c, VSTART) || is_one(s, c, VSTOP)))
        return;
    if (acts(s, c)) {
        m->has_acted = true;
        return;
    }
    if (c == '\r' && s->c_iflag & IGNCR)
        return;
    if (c == '\r' && s->c_iflag & ICRNL)
        c = '\n';
    else if (c == '\n' && s->c_iflag & INLCR)
        c = '\r';
    in_line(m, c);
}

/* Do the two bytes that feeding needs have their meaning here? */
static bool
can_feed(const struct termios *s)
{
    struct model quote = { .s = s }, push = { .s = s };
    receive(&quote, s->c_cc[VLNEXT]);
    receive(&push, s->c_cc[VEOF]);
    buf_release(&quote.got);
    buf_release(&push.got);
    return quote.is_quoting && push.ends;
}

static void
make_settings(struct termios *s, struct view *in)
{
    static const uint8_t usual[] = {
        [VINTR] = 3,     [VQUIT] = 28,    [VERASE] = 127, [VKILL] = 21,
        [VEOF] = 4,      [VSTART] = 17,   [VSTOP] = 19,   [VSUSP] = 26,
        [VREPRINT] = 18, [VDISCARD] = 15, [VWERASE] = 23, [VLNEXT] = 22
    };
    static const tcflag_t iflags[] = { INLCR, IGNCR, ICRNL, IXON, ISTRIP, IUCLC, PARMRK };
    static const tcflag_t lflags[] = { ISIG, IEXTEN, ECHO };
    *s = (struct termios){ .c_lflag = ICANON };
    memcpy(s->c_cc, usual, sizeof(usual));
    unsigned flags = fuzz_byte(in);
    for (size_t i = 0; i < sizeof(iflags) / sizeof(iflags[0]); i++)
        s->c_iflag |= flags >> i & 1 ? iflags[i] : 0;
    flags = fuzz_byte(in);
    for (size_t i = 0; i < sizeof(lflags) / sizeof(lflags[0]); i++)
        s->c_lflag |= flags >> i & 1 ? lflags[i] : 0;
    for (unsigned i = 0; i < flags >> 5; i++) {
        unsigned index = fuzz_byte(in) % NCCS;
        s->c_cc[index] = fuzz_byte(in);
    }
}

static void
make_bytes(struct view in, struct buf *ret)
{
    while (in.n && ret->n < INPUT_BYTES) {
        uint8_t byte = fuzz_byte(&in);
        size_t times = 1 + fuzz_byte(&in) * 5U;
        uint8_t *p = buf_grow(ret, times);
        CHECK(p);
        memset(p, byte, times);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct termios s;
    struct pty_feed feed = { 0 };
    AUTO(buf) bytes = { 0 };
    AUTO(buf) out = { 0 };
    make_settings(&s, &in);
    size_t piece = 1 + fuzz_byte(&in) * 10U;
    make_bytes(in, &bytes);
    for (size_t at = 0; at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;
        CHECK(!pty_feed_put(&feed, &s, (struct view){ bytes.p + at, n }, &out));
    }
    CHECK(!pty_feed_end(&feed, &s, &out));
    if (!can_feed(&s))
        return 0;
    struct model m = { .s = &s };
    for (size_t i = 0; i < out.n; i++)
        receive(&m, out.p[i]);
    struct model plain = { .s = &s, .is_quoting = true, .has_acted = true };
    for (size_t i = 0; i < bytes.n; i++) {
        receive(&plain, bytes.p[i]);
        plain.is_quoting = true;
    }
    CHECK(m.ends == 1 && !m.line_bytes && !m.has_acted);
    CHECK(m.got.n == plain.got.n);
    CHECK(!m.got.n || !memcmp(m.got.p, plain.got.p, m.got.n));
    buf_release(&m.got);
    buf_release(&plain.got);
    return 0;
}
