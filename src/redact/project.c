/* SPDX-License-Identifier: MIT */
#include "redact/project_priv.h"

#include <strings.h>

#include "redact/bytes_priv.h"

enum {
    ESC = 0x1b,
    INDENT_MAX = 16,
    PARAM_MAX = 1 << 16,
    LITERAL_MAX = 64, /* columns, or repetitions */
};

/* -- blanks and line ends of a terminal -- */

/* The blank that was kept back is one after all. It cannot be of a secret any more when
 * too much has come since, and it has been handed out. */
static void
put_space(struct project *p, struct lane *text, uint64_t raw)
{
    if (p->has_space && raw - p->space_raw < LANE_LAG)
        lane_put(text, (const uint8_t *)" ", 1, p->space_raw);
    else if (p->has_space)
        lane_break(text, raw);
    p->has_space = p->has_space_cr = false;
}

/* Anything but a line feed behind " \r": a shell wrapped its input line. */
static void
end_space_cr(struct project *p, struct lane *text, uint64_t raw, bool is_line_feed)
{
    if (!p->has_space_cr)
        return;
    p->has_space_cr = false;
    if (is_line_feed)
        put_space(p, text, raw);
    else if (p->space_raw >= p->kinds_first)
        p->kinds[(ptrdiff_t)(p->space_raw - p->kinds_raw)] = PROJECT_OTHER;
    p->has_space = false;
    lane_wrap(text, raw);
    p->indent = INDENT_MAX;
}

static void
new_line(struct project *p, struct lane *text, uint64_t raw)
{
    put_space(p, text, raw);
    lane_wrap(text, raw);
    p->indent = INDENT_MAX;
}

static void
break_text(struct project *p, struct lane *text, uint64_t raw)
{
    put_space(p, text, raw);
    lane_break(text, raw);
    p->indent = 0;
}

/* "\r\n", "\n\r" and "\r\r\n" are one line end, "\n\n" are two. */
static void
line_end(struct project *p, struct lane *text, uint8_t c, uint64_t raw)
{
    bool is_cr = c == '\r';
    if (p->line_end == (is_cr ? PROJECT_LF : PROJECT_CR)) {
        p->line_end = PROJECT_BOTH;
        return;
    }
    if (is_cr && p->line_end == PROJECT_CR)
        return;
    p->line_end = is_cr ? PROJECT_CR : PROJECT_LF;
    if (is_cr && p->has_space)
        p->has_space_cr = true;
    else
        new_line(p, text, raw);
}

/* A blank in the text, but no byte that a mask may touch. */
static void
put_tab(struct project *p, struct lane *text, uint64_t raw)
{
    put_space(p, text, raw);
    lane_put(text, (const uint8_t *)(p->is_literal ? "\t" : " "), 1, raw);
    p->indent = 0;
    p->line_end = PROJECT_NO_END;
}

static void
control(struct project *p, struct lane *text, uint8_t c, uint64_t raw)
{
    end_space_cr(p, text, raw, c == '\n');
    if (c == '\r' || c == '\n')
        line_end(p, text, c, raw);
    else if (c == '\t')
        put_tab(p, text, raw);
    else if (byte_in("\b\v\f", c))
        break_text(p, text, raw);
}

/* -- printable text -- */

/* On a terminal: how many bytes are text as they stand. */
static size_t
printable_run(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && bytes[i] >= 0x20 && bytes[i] != 0x7f)
        i++;
    return i;
}

static void
print(struct project *p, struct lane *text, const uint8_t *bytes, size_t n, uint64_t raw,
      uint8_t *kinds)
{
    size_t i = 0;
    memset(kinds, PROJECT_TEXT, n);
    if (p->is_terminal) {
        end_space_cr(p, text, raw, false);
        p->line_end = PROJECT_NO_END;
        for (; i < n && p->indent && bytes[i] == ' '; i++, p->indent--) {
            kinds[i] = PROJECT_OTHER;
            text->indent++;
        }
        if (i == n)
            return;
        p->indent = 0;
        put_space(p, text, raw);
        if (bytes[n - 1] == ' ' && !p->is_literal) {
            p->has_space = true; /* is there a "\r" behind it? */
            p->space_raw = raw + --n;
        }
    }
    if (n > i)
        lane_put(text, bytes + i, n - i, raw + i);
}

/* -- sequences -- */

/* For literal texts, which must be found as they are shown: true when this sequence
 * leaves the cursor alone, or is a writing of blanks or of the last character. */
static bool
literal_csi(struct project *p, struct lane *text, uint8_t final, uint64_t raw)
{
    uint32_t n = p->params[0] ? p->params[0] : 1;
    if (byte_in("@P", final))
        return true;
    if (!p->is_terminal || !byte_in("CaIb", final) || n > LITERAL_MAX)
        return false;
    uint64_t at = lane_end(text) - 1;
    uint8_t last = text->text.n ? lane_at(text, at) : '\n';
    if (final != 'b' || byte_in(" \t", last)) {
        put_tab(p, text, raw); /* counts as any number of blanks */
        return true;
    }
    /* Who masks the character masks what repeats it. */
    for (uint64_t from = lane_raw(text, at); n && last > ' ' && last < 0x7f; n--)
        lane_put(text, &last, 1, from);
    return true;
}

/* ESC [ … final: does it leave the cursor alone, begin a line, or jump? */
static void
end_csi(struct project *p, struct lane *text, uint8_t final, uint64_t raw)
{
    if (p->is_private && p->params[0] == 2004 && !p->is_literal) {
        break_text(p, text, raw); /* a shell begins or ends to read a line */
        return;
    }
    if (p->is_private || p->is_odd)
        return; /* modes, cursor shapes, queries */
    uint32_t col = p->n_params > 1 ? p->params[1] : 1;
    if (final == 'G')
        col = p->n_params ? p->params[0] : 1;
    if (p->is_literal && literal_csi(p, text, final, raw))
        return;
    if (byte_in("mKJXnctbhlqgis", final))
        return;
    if (byte_in("Be", final) && p->line_end == PROJECT_CR)
        return; /* a line feed, spelled otherwise */
    if (p->is_terminal && byte_in("HfGE", final) && col <= 1)
        new_line(p, text, raw);
    else
        break_text(p, text, raw);
}

static void
csi_byte(struct project *p, struct lane *text, uint8_t c, uint64_t raw)
{
    if (c >= 0x40 && c < 0x7f) {
        p->state = PROJECT_GROUND;
        end_csi(p, text, c, raw);
    } else if (c >= '0' && c <= '9') {
        if (!p->n_params)
            p->n_params = 1;
        uint32_t *param = &p->params[p->n_params - 1];
        if (p->n_params <= 2 && *param < PARAM_MAX)
            *param = *param * 10 + (c - '0');
    } else if (c == ';') {
        p->n_params = p->n_params ? p->n_params + 1 : 2;
        if (p->n_params > 3)
            p->n_params = 3;
    } else if (c >= '<' && c <= '?') {
        p->is_private = true;
    } else if (c >= 0x20 && c < 0x30) {
        p->is_odd = true;
    }
}

static void
begin_csi(struct project *p)
{
    p->state = PROJECT_CSI;
    p->is_private = p->is_odd = false;
    p->n_params = 0;
    p->params[0] = p->params[1] = 0;
}

static void
escape_byte(struct project *p, struct lane *text, uint8_t c, uint64_t raw)
{
    p->state = PROJECT_GROUND;
    if (c == '[') {
        begin_csi(p);
    } else if (byte_in("]P^_X", c)) {
        p->state = PROJECT_PAYLOAD;
    } else if (c >= 0x20 && c < 0x30) {
        p->state = PROJECT_ESC_MORE;
    } else if (c == 'E' && p->is_terminal) {
        new_line(p, text, raw);
    } else if (byte_in("8DEMc", c)) {
        break_text(p, text, raw); /* the cursor moves */
    }
}

/* In a payload: BEL, ESC \, CAN and SUB end it. Returns how many bytes it took. */
static size_t
payload(struct project *p, struct lane *string, const uint8_t *bytes, size_t n,
        uint64_t raw, uint8_t *kinds)
{
    size_t run = 0;
    while (run < n && !byte_in("\a\x18\x1a\x1b", bytes[run]))
        run++;
    memset(kinds, PROJECT_STRING, run);
    if (run)
        lane_put(string, bytes, run, raw);
    if (run == n)
        return n;
    kinds[run] = PROJECT_OTHER;
    p->state = bytes[run] == ESC ? PROJECT_PAYLOAD_ESC : PROJECT_GROUND;
    if (p->state == PROJECT_GROUND)
        lane_break(string, raw + run);
    return run + 1;
}

/* One byte of a sequence. */
static enum project_kind
sequence_byte(struct project *p, struct lane lanes[], uint8_t c, uint64_t raw)
{
    struct lane *text = &lanes[PROJECT_TEXT];
    if (p->state == PROJECT_PAYLOAD_ESC) {
        lane_break(&lanes[PROJECT_STRING], raw);
        p->state = c == '\\' ? PROJECT_GROUND : PROJECT_ESC; /* of another sequence */
        if (c == '\\')
            return PROJECT_OTHER;
    }
    if (!p->is_terminal && (c <= ' ' || byte_is_quote(c) || c == '\\') && c != ESC) {
        p->state = PROJECT_GROUND; /* it was none */
        lane_put(text, &c, 1, raw);
        return PROJECT_TEXT;
    }
    bool is_last = c == 0x18 || c == 0x1a || (p->state == PROJECT_ESC_MORE && c >= 0x30);
    if (c == ESC)
        p->state = PROJECT_ESC;
    else if (is_last)
        p->state = PROJECT_GROUND; /* given up, or a charset, say */
    else if (c < 0x20)
        control(p, text, c, raw);
    else if (p->state == PROJECT_CSI)
        csi_byte(p, text, c, raw);
    else if (p->state == PROJECT_ESC)
        escape_byte(p, text, c, raw);
    return PROJECT_OTHER;
}

/* The length of a whole colour sequence, by far the most frequent; 0: of none. */
static size_t
sgr_len(const uint8_t *bytes, size_t n)
{
    size_t i = 2;
    if (n < 3 || bytes[1] != '[')
        return 0;
    while (i < n && bytes[i] >= '0' && bytes[i] <= ';')
        i++;
    return i < n && bytes[i] == 'm' ? i + 1 : 0;
}

/* A CSI that is spelled out. Its length, 0: it is none, or -1: the next bytes tell. */
static int
spelled_csi(const uint8_t *bytes, size_t n)
{
    static const char *const spellings[] = { "\\u001b[", "\\x1b[", "\\033[", "\\e[" };
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        size_t len = strlen(spellings[i]);
        if (!strncasecmp((const char *)bytes, spellings[i], n < len ? n : len))
            return n < len ? -1 : (int)len;
    }
    return 0;
}

/* What follows the backslash of a spelled out ESC. */
static const bool may_spell[256] = {
    ['u'] = true, ['U'] = true, ['x'] = true, ['X'] = true,
    ['0'] = true, ['e'] = true, ['E'] = true,
};

/* The next backslash of a text that spells out a CSI, or may; *ret_len as above. */
static size_t
find_spelled(const uint8_t *bytes, size_t n, int *ret_len)
{
    *ret_len = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *slash = memchr(bytes + i, '\\', n - i);
        if (!slash)
            break;
        i = (size_t)(slash - bytes);
        if (i + 1 < n && !may_spell[slash[1]])
            continue;
        *ret_len = spelled_csi(slash, n - i);
        if (*ret_len)
            return i;
    }
    return n;
}

/* Where the next ESC stands; n: there is none. */
static size_t
find_esc(const uint8_t *bytes, size_t from, size_t n)
{
    const uint8_t *at = memchr(bytes + from, ESC, n - from);
    return at ? (size_t)(at - bytes) : n;
}

size_t
project_feed(struct project *p, struct lane lanes[PROJECT_LANES], const uint8_t *bytes,
             size_t n, uint64_t raw, uint8_t *kinds, size_t n_before, bool is_end)
{
    struct lane *text = &lanes[PROJECT_TEXT];
    size_t i = 0, esc = 0;
    p->kinds = kinds;
    p->kinds_raw = raw;
    p->kinds_first = raw - n_before;
    while (i < n) {
        if (p->state == PROJECT_PAYLOAD) {
            i += payload(p, &lanes[PROJECT_STRING], bytes + i, n - i, raw + i, kinds + i);
            continue;
        }
        if (p->state != PROJECT_GROUND) {
            kinds[i] = (uint8_t)sequence_byte(p, lanes, bytes[i], raw + i);
            i++;
            continue;
        }
        int spelled = 0;
        size_t run;
        if (p->is_terminal) {
            run = printable_run(bytes + i, n - i);
        } else {
            esc = esc < i || !i ? find_esc(bytes, i, n) : esc;
            run = find_spelled(bytes + i, esc - i, &spelled);
        }
        if (run)
            print(p, text, bytes + i, run, raw + i, kinds + i);
        i += run;
        if (spelled < 0 && !is_end && esc == n)
            return i;
        if (spelled > 0) {
            memset(kinds + i, PROJECT_OTHER, (size_t)spelled);
            i += (size_t)spelled;
            begin_csi(p);
        } else if (spelled < 0) {
            print(p, text, bytes + i, 1, raw + i, kinds + i);
            i++;
        } else if (i < n && bytes[i] == ESC) {
            size_t sgr = sgr_len(bytes + i, n - i);
            p->state = sgr ? PROJECT_GROUND : PROJECT_ESC;
            memset(kinds + i, PROJECT_OTHER, sgr ? sgr : 1);
            i += sgr ? sgr : 1;
        } else if (i < n) {
            kinds[i] = PROJECT_OTHER;
            control(p, text, bytes[i], raw + i);
            i++;
        }
    }
    return n;
}

void
project_end(struct project *p, struct lane lanes[PROJECT_LANES])
{
    end_space_cr(p, &lanes[PROJECT_TEXT], p->space_raw, false);
    p->has_space = false; /* what stands before it may have been cut off here */
}
