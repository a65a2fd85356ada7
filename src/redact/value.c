/* SPDX-License-Identifier: MIT */
#include "redact/value_priv.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

/* -- what a text is made of -- */

struct mix {
    size_t n, digits, lowers, uppers, hex, symbols, blanks, others;
    size_t changes; /* from one of letters (by case), digits, symbols to another */
};

static int
class_of(uint8_t c)
{
    return isdigit(c) ? 1 : islower(c) ? 2 : isupper(c) ? 3 : 4;
}

static struct mix
mix_of(struct view v)
{
    struct mix m = { .n = v.n };
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

/* -- lists -- */

static bool
contains(struct view v, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= v.n; i++)
        if (byte_lower(v.p[i]) == (uint8_t)word[0] &&
            !strncasecmp((const char *)v.p + i, word, n))
            return true;
    return false;
}

static bool
contains_any(struct view v, const char *const *words)
{
    for (; *words; words++)
        if (contains(v, *words))
            return true;
    return false;
}

static bool
begins(struct view v, const char *word)
{
    if (!v.n || byte_lower(v.p[0]) != (uint8_t)word[0])
        return false;
    size_t n = strlen(word);
    return v.n >= n && !strncasecmp((const char *)v.p, word, n);
}

static bool
is_one_of(struct view v, const char *const *words)
{
    for (; *words; words++)
        if (v.n == strlen(*words) && begins(v, *words))
            return true;
    return false;
}

/* In documentation and templates; anywhere in the value. */
static const char *const placeholder_parts[] = {
    "example",     "placeholder", "changeme",     "change-me",  "change_me", "redacted",
    "goes-here",   "goes_here",   "not-real",     "notreal",    "my-secret", "my_secret",
    "yourpass",    "yourtoken",   "yoursecret",   "yourapikey", "secretref", "environ",
    "process.env", "getenv",      "\xe2\x80\xa6", NULL,
};

/* The same, but too short to mean anything in a long random value. */
static const char *const short_parts[] = {
    "your-", "your_",   "dummy",  "xxxx",   "****", "....",  "____",  "${",
    "{{",    "$(",      "{}",     "%(",     "<",    "-here", "_here", "fake",
    "todo",  "replace", "insert", "sample", "env.", NULL,
};

enum { RANDOM_LONG = 40, RANDOM_ENTROPY = 300 };

/* Values that say what is wanted, and no secret. */
static const char *const placeholder_words[] = {
    "true",
    "false",
    "none",
    "null",
    "nil",
    "undefined",
    "string",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "required",
    "optional",
    "disabled",
    "enabled",
    "hidden",
    "empty",
    "default",
    "unknown",
    "invalid",
    "missing",
    "text",
    "username",
    "email",
    "value",
    "bearer",
    "basic",
    "test",
    "testing",
    "prompt",
    "ask",
    "yes",
    "no",
    "void",
    "never",
    "always",
    "string;",
    "self",
    "this",
    "input",
    "plain",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "md5",
    "argon2",
    "argon2id",
    "pbkdf2",
    "scrypt",
    "bcrypt",
    "base64",
    "utf8",
    "utf-8",
    "oauth2",
    "ed25519",
    "rs256",
    "hs256",
    "es256",
    "x509",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float64",
    "bytes32",
    "optional[str]",
    "number",
    "boolean",
    "plaintext",
    "sensitive",
    "nopasswd",
    "id_token",
    "access_token",
    "refresh_token",
    "pass",
    "pwd",
    "guest",
    "oauth-token",
    "api-key",
    "access-token",
    "api_key",
    "authorization_code",
    "client_credentials",
    "client_secret_basic",
    "client_secret_post",
    NULL,
};

/* 80 % of the steps are to the next byte, or to the same one. */
static bool
is_sequence(struct view v)
{
    size_t steps = 0, same = 0;
    for (size_t i = 1; i < v.n; i++) {
        steps += v.p[i] == v.p[i - 1] + 1;
        same += v.p[i] == v.p[i - 1];
    }
    return v.n > 3 && ((steps + same) * 10 >= (v.n - 1) * 8);
}

/* $NAME, %NAME%, %s: filled in elsewhere. */
static bool
is_variable(struct view v)
{
    size_t lowers = 0, digits = 0, n = v.n;
    if (n > 2 && v.p[0] == '%' && v.p[n - 1] == '%')
        n--;
    if (n < 2 || !byte_in("$%", v.p[0]) || isdigit(v.p[1]))
        return false;
    for (size_t i = 1; i < n; i++) {
        if (!byte_is_word(v.p[i]))
            return false;
        lowers += islower(v.p[i]) != 0;
        digits += isdigit(v.p[i]) != 0;
    }
    return !lowers || !digits;
}

bool
value_is_placeholder(struct view v)
{
    bool is_long = v.n >= RANDOM_LONG && value_entropy(v) >= RANDOM_ENTROPY;
    return contains_any(v, placeholder_parts) ||
           (!is_long && contains_any(v, short_parts)) ||
           is_one_of(v, placeholder_words) || is_sequence(v) || is_variable(v);
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
is_passphrase(struct view v, const struct mix *m)
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

bool
value_is_expression(struct view v)
{
    struct mix m = mix_of(v);
    if (memchr(v.p, '(', v.n) || memchr(v.p, '[', v.n) || memchr(v.p, '{', v.n) ||
        contains(v, "->") || contains(v, "::") || contains(v, "=>") || contains(v, "=="))
        return true;
    if (v.n > 1 && byte_in("$%@/*~&!", v.p[0]) &&
        (byte_in("{(./", v.p[1]) || (isalpha(v.p[1]) && !m.digits)))
        return true;
    const uint8_t *at = memchr(v.p, '@', v.n);
    if (at && memchr(at, '.', (size_t)(v.p + v.n - at)))
        return true; /* an address */
    return is_path(v) && m.digits < 3 && !is_passphrase(v, &m);
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
        n += ispunct(v.p[i]) && !byte_in("._-/:,;", v.p[i]);
    return n;
}

bool
value_is_password(struct view v, const struct name *name)
{
    struct mix m = mix_of(v);
    bool is_sure = is_setting(name);
    if (v.n < (name->is_quoted || is_sure ? 4 : 6) || v.n > 128)
        return false;
    if (m.blanks || value_is_expression(v))
        return false;
    bool has_letter = m.lowers + m.uppers > 0;
    bool is_mixed = m.digits && has_letter;
    size_t odd = odd_symbols(v);
    if (is_sure)
        return has_letter || odd || m.digits >= 6;
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
        return name->is_quoted || !is_identifier(v) || m.digits > 1;
    return name->is_quoted && m.digits == v.n && v.n >= 6;
}

/* Letters and digits as a generator gives them. */
static bool
is_random(struct view v, const struct mix *m, bool is_sure)
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

bool
value_is_secret(struct view v, const struct name *name)
{
    struct mix m = mix_of(v);
    size_t letters = m.lowers + m.uppers;
    if (name->op == NAME_ARGUMENT && !name->is_quoted)
        return false;
    bool is_given = name->op != NAME_PROSE || is_upper_name(name->text);
    bool is_sure = is_given && (name->is_quoted || name->is_tight ||
                                name->op == NAME_FLAG || (odd_symbols(v) && m.digits));
    if (v.n < (is_sure ? 8 : 16) || v.n > 2048 || m.blanks || m.others)
        return false;
    if (value_is_expression(v) || begins(v, "sha256:") || begins(v, "arn:") ||
        contains(v, "://"))
        return false;
    if (is_given && is_passphrase(v, &m))
        return true;
    return !is_identifier(v) && letters >= 2 && m.symbols * 3 <= v.n &&
           is_random(v, &m, is_sure);
}
