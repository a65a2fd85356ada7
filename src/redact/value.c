/* SPDX-License-Identifier: MIT */
#include "redact/value_priv.h"

#include <ctype.h>
#include <math.h>

/* -- what a text is made of -- */

static int
class_of(uint8_t c)
{
    return isdigit(c) ? 1 : islower(c) ? 2 : isupper(c) ? 3 : 4;
}

struct value_mix
value_mix(struct view v)
{
    struct value_mix m = { .n = v.n };
    for (size_t i = 0; i < v.n; i++) {
        uint8_t c = v.p[i];
        m.digits += isdigit(c) != 0;
        m.lowers += islower(c) != 0;
        m.uppers += isupper(c) != 0;
        m.hex += isxdigit(c) != 0;
        m.blanks += c == ' ' || c == '\t';
        m.symbols += ispunct(c) != 0;
        m.others += c >= 0x80;
        m.changes += i && class_of(c) != class_of(v.p[i - 1]);
    }
    return m;
}

bool
value_has_hump(struct view v)
{
    bool has_lower = false, has_hump = false;
    for (size_t i = 0; i < v.n; i++) {
        has_lower |= islower(v.p[i]) != 0;
        has_hump |= i && isupper(v.p[i]);
    }
    return has_lower && has_hump;
}

uint32_t
value_entropy(struct view v)
{
    uint32_t counts[256] = { 0 };
    double bits = 0;
    for (size_t i = 0; i < v.n; i++)
        counts[v.p[i]]++;
    for (size_t i = 0; i < 256; i++)
        if (counts[i])
            bits += counts[i] * log2((double)v.n / counts[i]);
    return v.n ? (uint32_t)(bits / (double)v.n * 100) : 0;
}

static bool
has(struct view v, const char *part)
{
    return memmem(v.p, v.n, part, strlen(part));
}

static bool
begins(struct view v, const char *part)
{
    return v.n >= strlen(part) && !memcmp(v.p, part, strlen(part));
}

/* -- extent -- */

/* ",name=" or "&name=" at i. */
static bool
begins_pair(struct view v, size_t i)
{
    size_t at = i + 1;
    while (at < v.n && (isalnum(v.p[at]) || byte_in("_.-", v.p[at])))
        at++;
    return at > i + 1 && at < v.n && (v.p[at] == '=' || v.p[at] == ':');
}

struct view
value_trim(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (byte_in(",;&", v.p[i]) && begins_pair(v, i))
            v.n = i;
    while (v.n && byte_in(",;.)}]:", v.p[v.n - 1]))
        v.n--;
    return v;
}

/* -- code -- */

/* Two words or more and a number, as people and generators make them: correct-horse-9. */
static bool
is_passphrase(struct view v, const struct value_mix *m)
{
    size_t words = 0, letters = 0;
    for (size_t i = 0; i <= v.n; i++) {
        if (i < v.n && isalpha(v.p[i])) {
            letters++;
            continue;
        }
        words += letters >= 4;
        letters = 0;
    }
    return words >= 2 && m->digits && v.n >= 12 && isdigit(v.p[v.n - 1]);
}

/* a.b: names, joined by dots. */
static bool
is_path(struct view v)
{
    bool has_dot = false;
    for (size_t i = 0; i < v.n; i++) {
        if (!byte_is_word(v.p[i]) && !byte_in(".-", v.p[i]))
            return false;
        has_dot |= i && i + 1 < v.n && v.p[i] == '.' && isalpha(v.p[i - 1]) &&
                   isalpha(v.p[i + 1]);
    }
    return has_dot;
}

/* bob@example.org */
static bool
is_address(struct view v)
{
    const uint8_t *at = memchr(v.p, '@', v.n), *dot = memrchr(v.p, '.', v.n);
    if (!at || at == v.p || !dot || dot < at || v.p + v.n - dot < 3)
        return false;
    for (const uint8_t *p = v.p; p < v.p + v.n; p++)
        if (p != at && !byte_is_word(*p) && !byte_in(".-+%", *p))
            return false;
    for (const uint8_t *p = dot + 1; p < v.p + v.n; p++)
        if (!isalpha(*p))
            return false;
    return true;
}

/* name(…), name[…], {…}: from its first byte to its last. */
static bool
is_call(struct view v)
{
    size_t i = 0;
    while (i < v.n && (byte_is_word(v.p[i]) || byte_in(".:>-", v.p[i])))
        i++;
    return i + 1 < v.n && byte_in("([{", v.p[i]) && byte_in(")]};,", v.p[v.n - 1]);
}

bool
value_is_expression(struct view v, bool is_literal)
{
    struct value_mix m = value_mix(v);
    if (v.n > 1 && byte_in("$%@/*~&!", v.p[0]) &&
        (byte_in("{(./", v.p[1]) || (isalpha(v.p[1]) && !m.digits)))
        return true;
    if (is_call(v) || is_address(v) || (begins(v, "0x") && m.hex + 1 == v.n))
        return true;
    if (is_path(v) && m.digits < 3 && !is_passphrase(v, &m))
        return true;
    if (is_literal)
        return false;
    const uint8_t *equals = memmem(v.p, v.n, "==", 2);
    return memchr(v.p, '(', v.n) || memchr(v.p, '[', v.n) || memchr(v.p, '{', v.n) ||
           has(v, "->") || has(v, "::") || has(v, "=>") ||
           (equals && equals + 2 < v.p + v.n); /* not the end of base64 */
}

/* Words joined by _ - . / : and capital letters, with at most a short number each. */
static bool
is_identifier(struct view v)
{
    size_t letters = 0, digits = 0;
    for (size_t i = 0; i < v.n; i++) {
        uint8_t c = v.p[i];
        if (byte_in("_-./: #", c)) {
            letters = digits = 0;
        } else if (isalpha(c)) {
            if (digits)
                return false; /* letters behind digits: no word */
            letters++;
        } else if (isdigit(c)) {
            if (++digits > 2 && letters)
                return false;
        } else {
            return false;
        }
    }
    return true;
}

static bool
is_upper_name(struct view name)
{
    for (size_t i = name.n; i-- && name.p[i] != ' ';)
        if (islower(name.p[i]))
            return false;
    return name.n > 0;
}

/* -- the verdicts -- */

/* NAME=value of an environment, or NAME "value" of a macro. */
static bool
is_setting(const struct name *name)
{
    return is_upper_name(name->text) &&
           (name->is_tight || (name->op == NAME_PROSE && name->is_quoted));
}

/* Symbols that are in no word, number or name. */
static size_t
odd_symbols(struct view v)
{
    size_t n = 0;
    for (size_t i = 0; i < v.n; i++)
        n += ispunct(v.p[i]) && !byte_in("._-/:,;()[]{}", v.p[i]);
    return n;
}

enum { PASSWORD_LONG = 128 };

/* Letters and digits as a generator gives them. */
static bool
is_random(struct view v, const struct value_mix *m, bool is_sure)
{
    uint32_t entropy = value_entropy(v);
    if (m->digits < 2)
        return is_sure && m->uppers > 2 && m->lowers > 2 && m->changes * 5 >= 2 * v.n &&
               entropy >= 300;
    if (v.n < 16)
        return entropy >= 250 && m->changes >= 3;
    if (m->hex == v.n)
        return entropy >= 270 && m->changes * 8 >= v.n;
    return entropy >= 320 && m->changes * 6 >= v.n;
}

/* Words in quotes. A sentence tells something, a passphrase does not. */
static bool
is_phrase(struct view v, const struct value_mix *m, const struct name *name)
{
    static const char *const schemes[] = { "Bearer ", "Basic ", "Token ", "bearer ",
                                           "token " };
    if (!name->is_quoted || name->quote == '`' || v.n < 8 || v.n > PASSWORD_LONG)
        return false;
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (begins(v, schemes[i]))
            return false; /* what follows is judged by itself */
    return (name->is_tight && is_upper_name(name->text)) ||
           name_tells(name->text, "passphrase") ||
           (m->digits && value_has_hump(v) && m->blanks < 4);
}

bool
value_is_password(struct view v, const struct name *name)
{
    struct value_mix m = value_mix(v);
    bool is_sure = is_setting(name);
    if (v.n < (name->is_quoted || is_sure ? 4 : 6))
        return false;
    if (v.n > PASSWORD_LONG && !is_random(v, &m, true))
        return false;
    if (m.blanks)
        return is_phrase(v, &m, name);
    if (value_is_expression(v, name->is_quoted || is_sure))
        return false;
    bool has_letter = m.lowers + m.uppers > 0;
    bool is_mixed = m.digits && has_letter;
    size_t odd = odd_symbols(v);
    if (is_sure)
        return has_letter || odd || m.others || m.digits >= 6;
    if (name->op == NAME_ARGUMENT && !name->is_quoted)
        return false;
    if (is_passphrase(v, &m) && (name->op != NAME_PROSE || is_upper_name(name->text)))
        return true;
    if (name->op == NAME_PROSE)
        return is_mixed && (odd || (m.lowers && m.uppers) || m.changes >= 3) &&
               !is_identifier(v);
    if (name->op == NAME_ARGUMENT && is_identifier(v))
        return false;
    if (is_mixed || (odd && has_letter) || m.others)
        return name->is_quoted || !is_identifier(v) || m.digits > 1 ||
               (v.n > 6 && !m.symbols);
    return name->is_quoted &&
           ((m.digits == v.n && v.n >= 6) || (v.n >= 10 && is_random(v, &m, true)));
}

bool
value_is_secret(struct view v, const struct name *name)
{
    struct value_mix m = value_mix(v);
    size_t letters = m.lowers + m.uppers;
    if (name->op == NAME_ARGUMENT && !name->is_quoted)
        return false;
    bool is_given = name->op != NAME_PROSE || is_upper_name(name->text);
    bool is_sure = is_given && (name->is_quoted || name->is_tight ||
                                name->op == NAME_FLAG || (odd_symbols(v) && m.digits));
    if (v.n < (is_sure ? 8 : 16) || m.others)
        return false;
    if (m.blanks)
        return is_phrase(v, &m, name);
    if (value_is_expression(v, name->is_quoted || is_setting(name)) ||
        begins(v, "sha256:") || begins(v, "arn:") || has(v, "://"))
        return false;
    if (is_given && is_passphrase(v, &m))
        return true;
    if (!is_given && m.digits < 4)
        return false;
    if (is_identifier(v) || letters < 2 || m.symbols * 3 > v.n)
        return false;
    /* GH_TOKEN=…: nobody writes anything else there. */
    bool is_plain = is_setting(name) && m.digits > 1 && value_entropy(v) >= 300;
    return is_plain || is_random(v, &m, is_sure);
}
