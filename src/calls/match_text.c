/* SPDX-License-Identifier: MIT */
/*
 * match_text.c -- what differs from run to run, found in a text and left out of it.
 *
 * The text is gone through by runs of letters and digits; whatever is looked for begins
 * with one, and ends where none goes on. So nothing that stood beside it begins or ends
 * elsewhere once it is replaced.
 */
#include "calls/match_priv.h"

#include "redact/redact.h"

enum {
    PAYLOAD_BYTES = 64 << 10, /* of a string without blanks: no text, but base 64 */
    HASH_DIGITS = 32,
    MASK_BYTES = 80,
};

enum { LOWER = 1, UPPER = 2, DIGIT = 4, BEYOND = 8 }; /* BEYOND: no hexadecimal digit */

static const uint8_t classes[256] = {
    ['0'] = DIGIT,          ['1'] = DIGIT,          ['2'] = DIGIT,
    ['3'] = DIGIT,          ['4'] = DIGIT,          ['5'] = DIGIT,
    ['6'] = DIGIT,          ['7'] = DIGIT,          ['8'] = DIGIT,
    ['9'] = DIGIT,          ['A'] = UPPER,          ['B'] = UPPER,
    ['C'] = UPPER,          ['D'] = UPPER,          ['E'] = UPPER,
    ['F'] = UPPER,          ['G'] = UPPER | BEYOND, ['H'] = UPPER | BEYOND,
    ['I'] = UPPER | BEYOND, ['J'] = UPPER | BEYOND, ['K'] = UPPER | BEYOND,
    ['L'] = UPPER | BEYOND, ['M'] = UPPER | BEYOND, ['N'] = UPPER | BEYOND,
    ['O'] = UPPER | BEYOND, ['P'] = UPPER | BEYOND, ['Q'] = UPPER | BEYOND,
    ['R'] = UPPER | BEYOND, ['S'] = UPPER | BEYOND, ['T'] = UPPER | BEYOND,
    ['U'] = UPPER | BEYOND, ['V'] = UPPER | BEYOND, ['W'] = UPPER | BEYOND,
    ['X'] = UPPER | BEYOND, ['Y'] = UPPER | BEYOND, ['Z'] = UPPER | BEYOND,
    ['a'] = LOWER,          ['b'] = LOWER,          ['c'] = LOWER,
    ['d'] = LOWER,          ['e'] = LOWER,          ['f'] = LOWER,
    ['g'] = LOWER | BEYOND, ['h'] = LOWER | BEYOND, ['i'] = LOWER | BEYOND,
    ['j'] = LOWER | BEYOND, ['k'] = LOWER | BEYOND, ['l'] = LOWER | BEYOND,
    ['m'] = LOWER | BEYOND, ['n'] = LOWER | BEYOND, ['o'] = LOWER | BEYOND,
    ['p'] = LOWER | BEYOND, ['q'] = LOWER | BEYOND, ['r'] = LOWER | BEYOND,
    ['s'] = LOWER | BEYOND, ['t'] = LOWER | BEYOND, ['u'] = LOWER | BEYOND,
    ['v'] = LOWER | BEYOND, ['w'] = LOWER | BEYOND, ['x'] = LOWER | BEYOND,
    ['y'] = LOWER | BEYOND, ['z'] = LOWER | BEYOND,
};

static const char billing[] = "x-anthropic-billing-header";

struct text {
    const struct calls_ids *ids;
    struct view in;
    bool is_name;
    size_t head_end; /* of the line of billing */
};

struct run {
    size_t start, end;
    unsigned has; /* which classes */
    uint8_t before, behind;
};

/* What is replaced; NULL: nothing. */
struct found {
    size_t start, end;
    const char *by; /* `an_id`: its number */
};
static const char an_id[] = "<id>";
static const struct found nothing = { 0 };

static bool
is_joint(uint8_t c)
{
    return c == '-' || c == '_';
}

/* Does a part of a name follow upon it? */
static bool
is_part(uint8_t c)
{
    return is_joint(c) || c == '/' || c == '.';
}

static bool
is_run(struct view in, const struct run *r, const char *what)
{
    return r->end - r->start == strlen(what) && calls_is_at(in, r->start, what);
}

static struct found
find_mask(const struct text *t, const struct run *r)
{
    static const char mask[] = REDACT_MASK;
    if (r->before != '[' || !calls_is_at(t->in, r->start - 1, mask))
        return nothing;
    size_t end = r->end + 1;
    while (end < t->in.n && end - r->end <= MASK_BYTES &&
           calls_is_name_byte(t->in.p[end]))
        end++;
    if (calls_byte_at(t->in, end) != ']')
        return nothing;
    return (struct found){ r->end, end, "" };
}

/* What the first line of a system text tells for the bill: who asks, and a hash. */
static struct found
find_billing(const struct text *t, const struct run *r)
{
    static const char *const keys[] = { "cch=", "cc_version=" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t start = r->start + strlen(keys[i]), end = start;
        if (!calls_is_at(t->in, r->start, keys[i]))
            continue;
        while (end < t->head_end && t->in.p[end] != ';' && t->in.p[end] != ' ')
            end++;
        if (start <= t->head_end)
            return (struct found){ start, end, "<cc>" };
    }
    return nothing;
}

/* A word has joints in it, and is known as a whole. */
static size_t
known_word_end(const struct text *t, const struct run *r)
{
    size_t end = r->end;
    unsigned has = r->has;
    if (!is_joint(r->behind) || is_joint(r->before) || !t->ids->count)
        return 0;
    for (; end < t->in.n && (classes[t->in.p[end]] || is_joint(t->in.p[end])); end++)
        has |= classes[t->in.p[end]];
    bool is_known = has & (UPPER | DIGIT) &&
                    calls_ids_has(t->ids, calls_part(t->in, r->start, end));
    return is_known ? end : 0;
}

/* A name of Python's goes over several runs, and may begin with an underscore. */
static struct found
find_python(const struct text *t, const struct run *r)
{
    size_t first = r->start - (r->before == '_');
    for (size_t start = r->start; start + 1 > first; start--) {
        size_t end = calls_python_name_end(t->in, start);
        if (end && calls_ids_has(t->ids, calls_part(t->in, start, end)))
            return (struct found){ start, end, an_id };
    }
    return nothing;
}

static struct found
find_known(const struct text *t, const struct run *r)
{
    size_t n = r->end - r->start, end = known_word_end(t, r);
    struct found f;
    if (end)
        return (struct found){ r->start, end, an_id };
    if (is_part(r->before) && (f = find_python(t, r)).by)
        return f;
    bool may_be = n >= 5 && (is_part(r->before) || r->has & (UPPER | DIGIT));
    bool is_known = may_be && calls_ids_has(t->ids, calls_part(t->in, r->start, r->end));
    return is_known ? (struct found){ r->start, r->end, an_id } : nothing;
}

static bool
is_vendor(struct view in, const struct run *r)
{
    static const char *const prefixes[] = {
        "asst", "batch",   "call",     "chatcmpl", "ci",     "cmpl",  "container",
        "conv", "ctc",     "cu",       "evt",      "fc",     "file",  "ftjob",
        "gen",  "ig",      "item",     "mcp",      "mcpl",   "mcpr",  "mcptoolu",
        "modr", "msg",     "msgbatch", "req",      "resp",   "rs",    "run",
        "sess", "session", "srvtoolu", "step",     "thread", "toolu", "tooluse",
        "vs",   "ws",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (in.p[r->start] == (uint8_t)prefixes[i][0] && is_run(in, r, prefixes[i]))
            return true;
    return false;
}

/* toolu_01A09q90qw90lq917835lq9, toolu_bdrk_01…, chatcmpl-tool-… */
static size_t
vendor_end(const struct text *t, const struct run *r)
{
    static const char *const marks[] = { "bdrk", "vrtx", "tool" };
    if (!is_joint(r->behind) || r->before == '_' || !is_vendor(t->in, r))
        return 0;
    size_t start = r->end + 1;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (calls_is_at(t->in, start, marks[i]) &&
            is_joint(calls_byte_at(t->in, start + 4))) {
            start += 5;
            break;
        }
    size_t end = calls_run_end(t->in, start);
    bool is_random = calls_is_random_run(calls_part(t->in, start, end),
                                         CALLS_RUN_OF_VENDOR);
    return is_random ? end : 0;
}

static size_t
random_end(const struct text *t, const struct run *r)
{
    size_t n = r->end - r->start;
    if (calls_is_segment(t->in, r->start, r->end))
        return r->end;
    if (n == 8 && !(r->has & BEYOND) && r->behind == '-')
        return calls_uuid_end(t->in, r->start);
    if (n >= HASH_DIGITS && !(r->has & BEYOND) && r->has & DIGIT && r->has != DIGIT)
        return r->end;
    size_t end = n < HASH_DIGITS && !(r->has & (UPPER | BEYOND))
                     ? calls_commit_end(t->in, r->start)
                     : 0;
    return end ? end : vendor_end(t, r);
}

/* Digits behind digits and a point are a fraction, whatever became of those. */
static bool
is_fraction(const struct text *t, const struct run *r)
{
    size_t i = r->start - 1;
    if (r->before != '.')
        return false;
    while (calls_is_digit(calls_byte_at(t->in, i - 1)))
        i--;
    uint8_t before = calls_byte_at(t->in, i - 1);
    return i < r->start - 1 ? !calls_is_alnum(before) : before == '>';
}

/* Is there what stands within a date, or a date in one word? */
static bool
may_be_date(const struct run *r)
{
    uint8_t c = r->behind;
    return c == ' ' || c == ',' || c == '-' || c == '/' || c == '_' ||
           r->end - r->start >= 15;
}

/* The number of a process, or one made at random, in the name of a temporary folder. */
static bool
is_of_tmp(const struct text *t, const struct run *r)
{
    size_t n = r->end - r->start;
    return (n >= 3 && n <= 20 && calls_is_below_tmp(t->in, r->start)) ||
           (r->before == '-' && calls_is_of_pytest(t->in, r->start));
}

static struct found
find_moment(const struct text *t, const struct run *r)
{
    bool has_clock = true;
    size_t end = 0;
    if (r->before != '.' && calls_is_digit(t->in.p[r->start]))
        end = calls_span_end(t->in, r->start);
    if (end)
        return (struct found){ r->start, end, CALLS_SPAN };
    if (may_be_date(r))
        end = calls_time_end(t->in, r->start, &has_clock);
    if (!end && r->has == DIGIT && calls_is_local_port(t->in, r->start, r->end))
        return (struct found){ r->start, r->end, "<port>" };
    if (!end && r->has == DIGIT && is_of_tmp(t, r))
        return (struct found){ r->start, r->end, "<pid>" };
    if (!end && r->has == DIGIT && !is_fraction(t, r))
        end = calls_unix_time_end(t->in, r->start);
    if (end)
        return (struct found){ r->start, end, has_clock ? CALLS_TIME : CALLS_DATE };
    return nothing;
}

static struct found
find(const struct text *t, const struct run *r)
{
    struct found f;
    if (r->start < t->head_end && (f = find_billing(t, r)).by)
        return f;
    if (r->has == LOWER || r->has == (LOWER | BEYOND)) {
        if (!is_joint(r->behind) &&
            (t->ids->count ? !is_part(r->before) : r->before != '/'))
            return nothing; /* a word, as most are */
        size_t folders = t->is_name ? 0 : calls_folders_end(t->in, r->start);
        if (folders)
            return (struct found){ r->end + 1, folders, an_id };
    }
    if ((f = find_mask(t, r)).by)
        return f;
    if (t->ids->count && (f = find_known(t, r)).by)
        return f;
    size_t end = random_end(t, r);
    if (end)
        return (struct found){ r->start, end, an_id };
    return t->is_name ? nothing : find_moment(t, r);
}

/* \n and its like, in code and in JSON inside of a string: the letter begins no word. */
static bool
is_escape(struct view in, size_t i)
{
    uint8_t letter = calls_byte_at(in, i + 1);
    return in.p[i] == '\\' && letter && strchr("nrtbf", letter);
}

static size_t
next_run(struct view in, size_t i)
{
    while (i < in.n && !classes[in.p[i]])
        i += is_escape(in, i) ? 2 : 1;
    return i < in.n ? i : in.n;
}

static struct run
run_at(struct view in, size_t start)
{
    struct run r = { .start = start, .end = start };
    for (unsigned c; r.end < in.n && (c = classes[in.p[r.end]]); r.end++)
        r.has |= c;
    r.before = calls_byte_at(in, start - 1);
    r.behind = calls_byte_at(in, r.end);
    return r;
}

static bool
is_payload(struct view v)
{
    return v.n > PAYLOAD_BYTES && !memchr(v.p, ' ', v.n) && !memchr(v.p, '\n', v.n);
}

void
calls_text_put(struct calls_ids *ids, struct view text, bool is_name, struct buf *out)
{
    struct text t = { .ids = ids, .in = text, .is_name = is_name };
    size_t done = 0;
    if (calls_is_at(text, 0, billing)) {
        const uint8_t *line = memchr(text.p, '\n', text.n);
        t.head_end = line ? (size_t)(line - text.p) : text.n;
    }
    for (size_t i = is_payload(text) ? text.n : 0; (i = next_run(text, i)) < text.n;) {
        struct run r = run_at(text, i);
        struct found f = find(&t, &r);
        i = r.end;
        if (!f.by)
            continue;
        buf_append(out, text.p + done, f.start - done);
        if (f.by == an_id)
            calls_ids_put(ids, calls_part(text, f.start, f.end), out);
        else
            buf_puts(out, f.by);
        i = done = f.end;
    }
    if (text.n > done)
        buf_append(out, text.p + done, text.n - done);
}

void
calls_text_learn(struct calls_ids *ids, struct view text)
{
    if (!is_payload(text))
        calls_tmp_learn(ids, text);
}
