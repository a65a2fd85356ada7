/* SPDX-License-Identifier: MIT */
#include "term/parser.h"

#include "term/term.h"

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, DEL = 0x7f };
enum { SAFE_DIGITS = 8 }; /* so many added to a parameter do not overflow 64 bits */

#define SIXTEEN 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
const uint8_t term_parser_is_special[256] = {
    [ESC] = 1, [DEL] = 1, SIXTEEN, SIXTEEN, SIXTEEN,
    SIXTEEN,   SIXTEEN,   SIXTEEN, SIXTEEN, SIXTEEN,
};

void
term_parser_release(struct term_parser *p)
{
    buf_release(&p->string);
}

static void
begin_sequence(struct term_parser *p, enum term_state state)
{
    p->state = (uint8_t)state;
    p->marker = p->intermediate = p->final = 0;
    p->n_params = 0;
    p->sub_params = 0;
}

static bool
execute(struct term_op *op, uint8_t byte)
{
    op->kind = TERM_OP_EXECUTE;
    op->final = byte;
    op->n = 1;
    return true;
}

/* -- text -- */

/* What the lead byte of a character asks for; 0 when there is no such lead. */
static uint8_t
begin_rune(struct term_parser *p, uint8_t b)
{
    p->rune_lo = 0x80;
    p->rune_hi = 0xbf;
    if (b >= 0xc2 && b <= 0xdf) {
        p->rune = b & 0x1fU;
        return 1;
    }
    if ((b & 0xf0) == 0xe0) {
        p->rune = b & 0x0fU;
        if (b == 0xe0)
            p->rune_lo = 0xa0; /* else too long a form */
        if (b == 0xed)
            p->rune_hi = 0x9f; /* else a surrogate */
        return 2;
    }
    if (b >= 0xf0 && b <= 0xf4) {
        p->rune = b & 0x07U;
        if (b == 0xf0)
            p->rune_lo = 0x90;
        if (b == 0xf4)
            p->rune_hi = 0x8f;
        return 3;
    }
    return 0;
}

static bool
runes(const struct term_parser *p, struct term_op *op, size_t n)
{
    op->kind = TERM_OP_RUNES;
    op->runes = p->runes;
    op->n = n;
    return true;
}

/* One U+FFFD for each maximal part of a character that does not go on. It stands alone,
 * so that its offset is the operation's. */
static bool
bad_rune(struct term_parser *p, struct term_op *op, int64_t beyond)
{
    op->beyond = beyond;
    p->rune_need = 0;
    p->state = TERM_STATE_GROUND;
    p->runes[0] = TERM_REPLACEMENT;
    return runes(p, op, 1);
}

static inline bool
is_rest(const uint8_t *s, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/* The character that is whole at s, of which n bytes may be read; returns its size, or 0
 * when it is not as simple as that. */
static inline unsigned
whole_rune(const uint8_t *s, size_t n, uint32_t *ret)
{
    uint8_t lead = s[0];
    if (lead >= 0xe0 && lead < 0xf0 && n >= 3 && is_rest(s, 3)) {
        *ret = (lead & 0x0fU) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
        return *ret >= 0x800 && (*ret & 0xf800) != 0xd800 ? 3 : 0;
    }
    if (lead >= 0xc2 && lead < 0xe0 && n >= 2 && is_rest(s, 2)) {
        *ret = (lead & 0x1fU) << 6 | (s[1] & 0x3fU);
        return 2;
    }
    if (lead >= 0xf0 && lead < 0xf5 && n >= 4 && is_rest(s, 4)) {
        *ret = (lead & 0x07U) << 18 | (s[1] & 0x3fU) << 12 | (s[2] & 0x3fU) << 6 |
               (s[3] & 0x3fU);
        return *ret >= 0x10000 && *ret <= 0x10ffff ? 4 : 0;
    }
    return 0;
}

/*
 * Characters from 0x80 on. The byte that shows a character to be cut is looked at twice:
 * here, and as what it is itself.
 */
static bool
next_runes(struct term_parser *p, struct view in, size_t *pos, struct term_op *op)
{
    size_t n = 0, i = *pos, end = i; /* behind the last whole one */
    while (i < in.n && n < TERM_RUNES_MAX) {
        uint8_t b = in.p[i];
        if (!p->rune_need) {
            if (b < 0x80)
                break;
            unsigned size = whole_rune(in.p + i, in.n - i, &p->runes[n]);
            if (size) {
                n++;
                end = i += size;
                continue;
            }
            p->rune_need = begin_rune(p, b);
            if (!p->rune_need) {
                if (n)
                    break;
                *pos = i + 1;
                return bad_rune(p, op, 0);
            }
            i++;
            continue;
        }
        if (b < p->rune_lo || b > p->rune_hi) {
            if (n)
                break; /* deliver the good ones first */
            *pos = i;
            return bad_rune(p, op, -1); /* the byte that decides is not taken */
        }
        p->rune = p->rune << 6 | (b & 0x3fU);
        p->rune_lo = 0x80;
        p->rune_hi = 0xbf;
        i++;
        if (!--p->rune_need) {
            p->runes[n++] = p->rune;
            end = i;
        }
    }
    *pos = i;
    op->beyond = (int64_t)(i - end);
    p->state = p->rune_need ? TERM_STATE_RUNE : TERM_STATE_GROUND;
    return n ? runes(p, op, n) : false;
}

/* -- escape sequences -- */

static void
begin_string(struct term_parser *p, bool is_osc)
{
    buf_clear(&p->string);
    p->string.ceiling = TERM_STRING_MAX;
    p->is_too_long = false;
    p->is_osc = is_osc;
    p->state = TERM_STATE_STRING;
}

static void
collect(struct term_parser *p, uint8_t b)
{
    p->intermediate = p->intermediate ? TERM_MANY_INTERMEDIATES : b;
}

/* Is ESC and this byte the beginning of something longer? */
static inline bool
begins_more(uint8_t b)
{
    return b == '[' || b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_' ||
           b == 'k';
}

static inline bool
escape_final(struct term_op *op, uint8_t intermediate, uint8_t final)
{
    op->kind = TERM_OP_ESC;
    op->marker = 0;
    op->intermediate = intermediate;
    op->final = final;
    op->n_params = 0;
    return true;
}

static void
begin_more(struct term_parser *p, uint8_t b)
{
    begin_sequence(p, b == '['   ? TERM_STATE_CSI_ENTRY
                      : b == 'P' ? TERM_STATE_DCS_ENTRY
                                 : TERM_STATE_SKIP); /* SOS, PM, APC, screen's title */
    if (b == ']')
        begin_string(p, true);
}

static bool
escape_byte(struct term_parser *p, uint8_t b, struct term_op *op)
{
    if (b < 0x30) {
        collect(p, b);
        p->state = TERM_STATE_ESCAPE_INTERMEDIATE;
        return false;
    }
    if (p->state == TERM_STATE_ESCAPE && begins_more(b)) {
        begin_more(p, b);
        return false;
    }
    p->state = TERM_STATE_GROUND;
    return escape_final(op, p->intermediate, b);
}

static void
deliver_params(const struct term_parser *p, struct term_op *op)
{
    op->marker = p->marker;
    op->intermediate = p->intermediate;
    op->params = p->params;
    op->n_params = p->n_params;
    op->sub_params = p->sub_params;
}

/* A digit, ';' or ':' (0x30..0x3b). Once there are too many, all that follows is put into
 * one more that nobody looks at. */
static inline void
param_byte(struct term_parser *p, uint8_t b)
{
    if (!p->n_params) {
        p->n_params = 1;
        p->params[0] = 0;
    }
    if (b >= ':') {
        if (p->n_params <= TERM_PARAMS_MAX)
            p->n_params++;
        if (p->n_params > TERM_PARAMS_MAX)
            return;
        p->params[p->n_params - 1] = 0;
        if (b == ':')
            p->sub_params |= 1U << (p->n_params - 1);
        return;
    }
    if (p->n_params > TERM_PARAMS_MAX)
        return;
    uint32_t *v = &p->params[p->n_params - 1];
    *v = *v * 10 + (uint32_t)(b - '0');
    if (*v > TERM_PARAM_MAX)
        *v = TERM_PARAM_MAX;
}

static bool
csi_final(struct term_parser *p, uint8_t b, struct term_op *op)
{
    p->state = TERM_STATE_GROUND;
    if (p->n_params > TERM_PARAMS_MAX)
        p->n_params = TERM_PARAMS_MAX;
    op->kind = TERM_OP_CSI;
    op->final = b;
    deliver_params(p, op);
    return true;
}

/* 0x20..0x3f before the final byte of a CSI or DCS, whose states begin with `entry`. */
static void
head_byte(struct term_parser *p, uint8_t b, enum term_state entry)
{
    enum term_state param = entry + 1, intermediate = entry + 2;
    if (b < 0x30) {
        collect(p, b);
        p->state = (uint8_t)intermediate;
        return;
    }
    bool is_param = b < 0x3c, is_first = p->state == entry;
    if (p->state == intermediate || (!is_param && !is_first)) {
        p->state = entry == TERM_STATE_CSI_ENTRY ? TERM_STATE_CSI_IGNORE
                                                 : TERM_STATE_SKIP;
        return;
    }
    if (is_param)
        param_byte(p, b);
    else
        p->marker = b;
    p->state = (uint8_t)param;
}

/* 0x20..0x7e inside of CSI. */
static bool
csi_byte(struct term_parser *p, uint8_t b, struct term_op *op)
{
    bool is_ignored = p->state == TERM_STATE_CSI_IGNORE;
    if (b >= 0x40 && !is_ignored)
        return csi_final(p, b, op);
    if (b >= 0x40)
        p->state = TERM_STATE_GROUND;
    else if (!is_ignored)
        head_byte(p, b, TERM_STATE_CSI_ENTRY);
    return false;
}

/* 0x20..0x7e before the data of a DCS. */
static void
dcs_byte(struct term_parser *p, uint8_t b)
{
    if (b < 0x40) {
        head_byte(p, b, TERM_STATE_DCS_ENTRY);
        return;
    }
    if (p->n_params > TERM_PARAMS_MAX)
        p->n_params = TERM_PARAMS_MAX;
    p->final = b;
    begin_string(p, false);
}

/* -- strings -- */

/* The string is whole; one that was too long is dropped. */
static bool
end_string(struct term_parser *p, uint8_t by, struct term_op *op)
{
    p->state = TERM_STATE_GROUND;
    if (p->is_too_long)
        return false;
    op->kind = p->is_osc ? TERM_OP_OSC : TERM_OP_DCS;
    op->final = p->is_osc ? by : p->final;
    op->string = (struct view){ p->string.p, p->string.n };
    deliver_params(p, op);
    return true;
}

/* Takes what lies before the next control; returns the number of bytes. */
static size_t
string_run(struct term_parser *p, const uint8_t *s, size_t n)
{
    size_t len = 0;
    while (len < n && s[len] >= 0x20)
        len++;
    if (p->state == TERM_STATE_STRING && buf_append(&p->string, s, len) < 0)
        p->is_too_long = true;
    return len;
}

/* A control byte in OSC, DCS, SOS, PM, APC. */
static bool
string_control(struct term_parser *p, uint8_t b, struct term_op *op)
{
    if (b == CAN || b == SUB) {
        p->state = TERM_STATE_GROUND;
        return execute(op, b);
    }
    if (b == BEL && p->state == TERM_STATE_STRING && p->is_osc)
        return end_string(p, b, op);
    if (b == ESC) {
        if (p->state == TERM_STATE_STRING)
            p->state = TERM_STATE_STRING_ESCAPE;
        else
            begin_sequence(p, TERM_STATE_ESCAPE);
    }
    return false;
}

/* The byte behind an ESC in a string. ST or not, the string ends; any other byte then
 * goes on with the escape sequence that has begun: it is not taken. */
static bool
string_escape(struct term_parser *p, uint8_t b, size_t *pos, struct term_op *op)
{
    bool has_op = end_string(p, '\\', op);
    if (b == '\\')
        ++*pos;
    else
        begin_sequence(p, TERM_STATE_ESCAPE);
    return has_op;
}

/* -- all of it -- */

static bool
sequence_byte(struct term_parser *p, uint8_t b, struct term_op *op)
{
    if (b < 0x20) {
        if (b == ESC) {
            begin_sequence(p, TERM_STATE_ESCAPE);
            return false;
        }
        if (b == CAN || b == SUB)
            p->state = TERM_STATE_GROUND;
        else if (p->state >= TERM_STATE_DCS_ENTRY)
            return false;
        return execute(op, b);
    }
    if (b >= DEL) {
        /* DEL is nothing; bytes with the top bit do not belong here and end it. */
        if (b > DEL)
            p->state = TERM_STATE_GROUND;
        return false;
    }
    if (p->state <= TERM_STATE_ESCAPE_INTERMEDIATE)
        return escape_byte(p, b, op);
    if (p->state <= TERM_STATE_CSI_IGNORE)
        return csi_byte(p, b, op);
    dcs_byte(p, b);
    return false;
}

/* param_byte() for all digits, colons and semicolons that are here, faster; returns the
 * number of bytes. */
static size_t
csi_params(struct term_parser *p, const uint8_t *s, size_t n)
{
    size_t i = 0;
    unsigned count = p->n_params;
    if (!n || s[0] - 0x30U > 11 || count > TERM_PARAMS_MAX)
        return 0;
    uint64_t v = count ? p->params[count - 1] : 0;
    count += !count;
    for (;;) {
        size_t stop = n - i > SAFE_DIGITS ? i + SAFE_DIGITS : n;
        unsigned digit = 0;
        while (i < stop && (digit = s[i] - 0x30U) <= 9) {
            v = v * 10 + digit;
            i++;
        }
        if (v > TERM_PARAM_MAX)
            v = TERM_PARAM_MAX;
        if (digit > 11 || i == n)
            break;
        if (digit <= 9)
            continue; /* more digits than any number needs */
        if (count == TERM_PARAMS_MAX)
            break;
        p->params[count - 1] = (uint32_t)v;
        p->sub_params |= (uint32_t)(digit == 10) << count;
        count++;
        v = 0;
        i++;
    }
    p->params[count - 1] = (uint32_t)v;
    p->n_params = (uint8_t)count;
    p->state = TERM_STATE_CSI_PARAM;
    return i;
}

/* Whatever the state is. */
__attribute__((noinline)) static bool
next_in_state(struct term_parser *p, struct view in, size_t *pos, struct term_op *op)
{
    while (*pos < in.n) {
        uint8_t b = in.p[*pos];
        switch ((enum term_state)p->state) {
        case TERM_STATE_GROUND:
            if (b >= 0x80) {
                if (next_runes(p, in, pos, op))
                    return true;
                continue;
            }
            if (b == ESC || b == DEL) {
                ++*pos;
                if (b == ESC)
                    begin_sequence(p, TERM_STATE_ESCAPE);
                continue;
            }
            return term_parser_next(p, in, pos, op);
        case TERM_STATE_RUNE:
            if (next_runes(p, in, pos, op))
                return true;
            continue;
        case TERM_STATE_STRING:
        case TERM_STATE_SKIP:
            *pos += string_run(p, in.p + *pos, in.n - *pos);
            if (*pos < in.n && string_control(p, in.p[(*pos)++], op))
                return true;
            continue;
        case TERM_STATE_STRING_ESCAPE:
            if (string_escape(p, b, pos, op))
                return true;
            continue;
        case TERM_STATE_CSI_ENTRY:
        case TERM_STATE_CSI_PARAM:
            *pos += csi_params(p, in.p + *pos, in.n - *pos);
            if (*pos == in.n)
                return false;
            b = in.p[*pos];
            break;
        case TERM_STATE_ESCAPE:
        case TERM_STATE_ESCAPE_INTERMEDIATE:
        case TERM_STATE_CSI_INTERMEDIATE:
        case TERM_STATE_CSI_IGNORE:
        case TERM_STATE_DCS_ENTRY:
        case TERM_STATE_DCS_PARAM:
        case TERM_STATE_DCS_INTERMEDIATE:
        case TERM_STATES:
            break;
        }
        /* A byte with the top bit ends a sequence, and is text. */
        if (b < 0x80)
            ++*pos;
        if (sequence_byte(p, b, op))
            return true;
    }
    return false;
}

/* A number of at most three digits; there are four bytes to read. */
static inline const uint8_t *
short_number(const uint8_t *s, uint32_t *ret)
{
    unsigned v = s[0] - 0x30U, digit = s[1] - 0x30U;
    if (v > 9) {
        *ret = 0;
        return s;
    }
    if (digit > 9) {
        *ret = v;
        return s + 1;
    }
    v = v * 10 + digit;
    digit = s[2] - 0x30U;
    if (digit > 9) {
        *ret = v;
        return s + 2;
    }
    *ret = v * 10 + digit;
    return s + 3;
}

/* The parameters when they are short, without colons, and all here, as they mostly are;
 * returns what follows them, or NULL. */
static inline const uint8_t *
take_short_params(uint32_t *params, unsigned *ret_count, const uint8_t *s,
                  const uint8_t *end)
{
    uint32_t *param = params, *last = params + TERM_PARAMS_MAX;
    do {
        if (end - s < 4 || param == last)
            return NULL;
        s = short_number(s, param++);
    } while (*s++ == ';');
    *ret_count = (unsigned)(param - params);
    return s[-1] < 0x40 ? NULL : s - 1;
}

/* A CSI that begins at *pos, most often whole and without surprises. */
__attribute__((noinline)) static bool
next_csi(struct term_parser *p, struct view in, size_t *pos, struct term_op *op)
{
    const uint8_t *s = in.p + *pos + 2, *end = in.p + in.n;
    uint8_t marker = *s >= 0x3c && *s < 0x40 ? *s++ : 0;
    op->n_params = 0;
    op->sub_params = 0;
    if (s < end && *s - 0x30U <= 11)
        s = take_short_params(p->params, &op->n_params, s, end);
    if (!s || s == end || *s < 0x40 || *s >= DEL) {
        begin_sequence(p, TERM_STATE_CSI_ENTRY);
        *pos += 2;
        return next_in_state(p, in, pos, op);
    }
    op->kind = TERM_OP_CSI;
    op->marker = marker;
    op->intermediate = 0;
    op->final = *s;
    op->params = p->params;
    *pos = (size_t)(s + 1 - in.p);
    return true;
}

bool
term_parser_next_slow(struct term_parser *p, struct view in, size_t *pos,
                      struct term_op *op)
{
    size_t i = *pos;
    if (p->state == TERM_STATE_GROUND && in.p[i] == ESC && i + 2 < in.n) {
        uint8_t b = in.p[i + 1];
        if (b == '[')
            return next_csi(p, in, pos, op);
        if (b >= 0x30 && b < DEL && !begins_more(b)) {
            *pos = i + 2;
            return escape_final(op, 0, b);
        }
    }
    return next_in_state(p, in, pos, op);
}
