/* SPDX-License-Identifier: MIT */
/*
 * What a byte means is looked up in a table that is made for the terminal's state. The
 * order of precedence is that of Linux (n_tty_receive_char_special()), for states in
 * which one byte has two meanings.
 *
 * A push comes before the byte that would make the line too long, not behind the one that
 * fills it: so something always follows, and no VEOF ever meets an empty line but the
 * last. That a reader whose buffer ends just before a push does not take it for the end
 * is the kernel's part (since 3.12); the tests look.
 */
#include "pty/feed.h"

#include <stdint.h>
#include <unistd.h>

enum role {
    ROLE_TEXT,
    ROLE_LINE_END, /* is in the line, and ends it */
    ROLE_PUSH,
    ROLE_QUOTE,
    ROLE_EDIT, /* takes away of the line, or all of it */
    ROLE_CR_TO_NL,
    ROLE_NL_TO_CR,
    ROLE_IGNORED,
    ROLE_STOP,
    ROLE_START,
};

struct roles {
    uint8_t of[256]; /* enum role */
    uint8_t push, quote, start;
    bool can_push, can_quote, can_start;
};

static void
give_role(struct roles *r, uint8_t byte, enum role role)
{
    if (byte != _POSIX_VDISABLE)
        r->of[byte] = (uint8_t)role;
}

/* Later ones go before earlier ones. */
static void
give_roles(struct roles *r, const struct termios *s)
{
    bool is_extended = s->c_lflag & IEXTEN;
    if (is_extended)
        give_role(r, s->c_cc[VEOL2], ROLE_LINE_END);
    give_role(r, s->c_cc[VEOL], ROLE_LINE_END);
    give_role(r, s->c_cc[VEOF], ROLE_PUSH);
    give_role(r, '\n', ROLE_LINE_END);
    if (is_extended) {
        give_role(r, s->c_cc[VREPRINT], ROLE_EDIT);
        give_role(r, s->c_cc[VLNEXT], ROLE_QUOTE);
        give_role(r, s->c_cc[VWERASE], ROLE_EDIT);
    }
    give_role(r, s->c_cc[VKILL], ROLE_EDIT);
    give_role(r, s->c_cc[VERASE], ROLE_EDIT);
    if (s->c_iflag & INLCR)
        give_role(r, '\n', ROLE_NL_TO_CR);
    if (s->c_iflag & ICRNL)
        give_role(r, '\r', ROLE_CR_TO_NL);
    if (s->c_iflag & IGNCR)
        give_role(r, '\r', ROLE_IGNORED);
    if (s->c_lflag & ISIG) {
        give_role(r, s->c_cc[VSUSP], ROLE_EDIT);
        give_role(r, s->c_cc[VQUIT], ROLE_EDIT);
        give_role(r, s->c_cc[VINTR], ROLE_EDIT);
    }
    if (s->c_iflag & IXON) {
        give_role(r, s->c_cc[VSTOP], ROLE_STOP);
        give_role(r, s->c_cc[VSTART], ROLE_START);
    }
}

/* What the terminal makes of a byte before it looks at its meaning. */
static uint8_t
folded(const struct termios *s, uint8_t byte)
{
    if (s->c_iflag & ISTRIP)
        byte &= 0x7f;
    bool is_upper = (byte >= 'A' && byte <= 'Z') ||
                    (byte >= 0xc0 && byte <= 0xde && byte != 0xd7); /* Latin 1 */
    if (s->c_iflag & IUCLC && s->c_lflag & IEXTEN && is_upper)
        byte |= 0x20;
    return byte;
}

static void
fold_roles(struct roles *r, const struct termios *s)
{
    if (!(s->c_iflag & (ISTRIP | IUCLC)))
        return;
    struct roles plain = *r;
    for (int i = 0; i < 256; i++)
        r->of[i] = plain.of[folded(s, (uint8_t)i)];
}

static void
roles_init(struct roles *r, const struct termios *s)
{
    *r = (struct roles){ 0 };
    give_roles(r, s);
    fold_roles(r, s);
    r->push = s->c_cc[VEOF];
    r->quote = s->c_cc[VLNEXT];
    r->start = s->c_cc[VSTART];
    r->can_push = r->of[r->push] == ROLE_PUSH;
    r->can_quote = r->of[r->quote] == ROLE_QUOTE;
    r->can_start = r->of[r->start] == ROLE_START;
}

static bool
is_canonical(const struct termios *state)
{
    return state->c_lflag & ICANON && !(state->c_lflag & EXTPROC);
}

static void
end_line(struct pty_feed *f)
{
    *f = (struct pty_feed){ 0 };
}

static void
push(struct pty_feed *f, const struct roles *r, struct buf *out)
{
    if (!r->can_push)
        return;
    buf_append(out, &r->push, 1);
    end_line(f);
}

/* How much of `in` is text that still fits into the line; 0 when the line is full. */
static size_t
text_len(const struct pty_feed *f, const struct roles *r, struct view in)
{
    size_t room = r->can_push ? PTY_FEED_PUSH - f->line_bytes : in.n;
    size_t n = 0;
    while (n < in.n && n < room && r->of[in.p[n]] == ROLE_TEXT)
        n++;
    return n;
}

static void
put_text(struct pty_feed *f, struct view text, struct buf *out)
{
    buf_append(out, text.p, text.n);
    f->line_bytes += text.n;
    f->is_mid_line = true;
}

static void
put_quoted(struct pty_feed *f, const struct roles *r, uint8_t byte, struct buf *out)
{
    uint8_t quoted[2] = { r->quote, byte };
    buf_append(out, quoted, sizeof(quoted));
    f->line_bytes++;
    f->is_mid_line = true;
    /* Linux heeds a quoted VSTOP when it looks ahead. */
    if (r->of[byte] == ROLE_STOP && r->can_start)
        buf_append(out, &r->start, 1);
    /* A quoted newline ends no line. */
    if (byte == '\n')
        push(f, r, out);
}

/* As if it were typed, where nothing can be quoted. */
static void
put_typed(struct pty_feed *f, const struct roles *r, uint8_t byte, struct buf *out)
{
    buf_append(out, &byte, 1);
    switch ((enum role)r->of[byte]) {
    case ROLE_LINE_END:
    case ROLE_CR_TO_NL:
    case ROLE_PUSH:
        end_line(f);
        break;
    case ROLE_EDIT:
        f->line_bytes = 0; /* who knows */
        break;
    case ROLE_TEXT:
    case ROLE_NL_TO_CR:
        f->line_bytes++;
        f->is_mid_line = true;
        break;
    case ROLE_QUOTE:
    case ROLE_IGNORED:
    case ROLE_STOP:
    case ROLE_START:
        break;
    }
}

static void
put_special(struct pty_feed *f, const struct roles *r, uint8_t byte, struct buf *out)
{
    if (r->can_quote && r->of[byte] != ROLE_LINE_END)
        put_quoted(f, r, byte, out);
    else
        put_typed(f, r, byte, out);
}

int
pty_feed_put(struct pty_feed *f, const struct termios *state, struct view in,
             struct buf *out)
{
    if (!is_canonical(state)) {
        end_line(f); /* to change the mode hands over what waits */
        return buf_append(out, in.p, in.n);
    }
    struct roles r;
    roles_init(&r, state);
    while (in.n && !out->failed) {
        if (f->line_bytes >= PTY_FEED_PUSH && r.of[*in.p] != ROLE_LINE_END)
            push(f, &r, out);
        size_t n = text_len(f, &r, in);
        if (n) {
            put_text(f, (struct view){ in.p, n }, out);
        } else {
            put_special(f, &r, *in.p, out);
            n = 1;
        }
        in.p += n;
        in.n -= n;
    }
    return out->failed;
}

int
pty_feed_end(struct pty_feed *f, const struct termios *state, struct buf *out)
{
    if (!is_canonical(state))
        return 0;
    struct roles r;
    roles_init(&r, state);
    if (f->is_mid_line)
        push(f, &r, out);
    push(f, &r, out);
    return out->failed;
}
