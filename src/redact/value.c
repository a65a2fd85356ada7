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
        if (!strncasecmp((const char *)v.p + i, word, n))
            return true;
    return false;
}

static bool
begins(struct view v, const char *word)
{
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
    "example",      "placeholder", "changeme",  "change-me",   "change_me",  "your-",
    "your_",        "redacted",    "dummy",     "xxxx",        "****",       "....",
    "${",           "{{",          "$(",        "replace",     "insert",     "goes-here",
    "goes_here",    "-here",       "_here",     "<",           "%(",         "not-real",
    "notreal",      "fake",        "....",      "____",        "todo",       "my-secret",
    "my_secret",    "yourpass",    "yourtoken", "yoursecret",  "yourapikey", "sample",
    "secretref",    "env.",        "environ",   "process.env", "getenv",     "{}",
    "\xe2\x80\xa6", NULL,
};

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

bool
value_is_placeholder(struct view v)
{
    for (const char *const *part = placeholder_parts; *part; part++)
        if (contains(v, *part))
            return true;
    return is_one_of(v, placeholder_words) || is_sequence(v);
}

/* -- names that are about a secret, and hold none -- */

static const char *const about_parts[] = {
    "type",      "izer",     "izing",    "ized",     "name",   "url",         "uri",
    "path",      "file",     "endpoint", "ref",      "count",  "len",         "size",
    "limit",     "expir",    "ttl",      "version",  "arn",    "format",      "field",
    "label",     "hint",     "policy",   "prompt",   "error",  "index",       "class",
    "kind",      "regex",    "pattern",  "rule",     "valid",  "placeholder", "rotat",
    "age",       "selector", "budget",   "usage",    "rate",   "cost",        "window",
    "algorithm", "method",   "mode",     "strength", "reset",  "change",      "manager",
    "provider",  "store",    "service",  "handler",  "prefix", "encoding",    "length",
    "input",     "required", "confirm",  "help",     "title",  "min",         "max",
    "_id",       "-id",      "Id",       NULL,
};

bool
value_is_about(struct view rest)
{
    while (rest.n && byte_in("_-.", rest.p[0]))
        rest.p++, rest.n--;
    if (rest.n == 1 && (rest.p[0] == 's' || rest.p[0] == 'S'))
        return false; /* tokens: a list of them, perhaps */
    if (rest.n && (rest.p[0] == 's' || rest.p[0] == 'S'))
        rest.p++, rest.n--;
    while (rest.n && byte_in("_-.", rest.p[0]))
        rest.p++, rest.n--;
    if (rest.n == 2 && begins(rest, "id"))
        return true;
    for (const char *const *part = about_parts; *part; part++)
        if (begins(rest, *part))
            return true;
    return false;
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

/* An expression rather than a literal: a.b, f(x), a[i], A::B, $VAR, %s, /path,
 * @decorator. */
static bool
is_expression(struct view v)
{
    if (memchr(v.p, '(', v.n) || memchr(v.p, '[', v.n) || memchr(v.p, '{', v.n) ||
        contains(v, "->") || contains(v, "::") || contains(v, "=>") || contains(v, "=="))
        return true;
    if (v.n > 1 && byte_in("$%@/*~&", v.p[0]) &&
        (isalpha(v.p[1]) || byte_in("{(./", v.p[1])))
        return true;
    for (size_t i = 1; i + 1 < v.n; i++)
        if (v.p[i] == '.' && isalpha(v.p[i - 1]) && isalpha(v.p[i + 1]))
            return true;
    return false;
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
    return true;
}

/* -- the verdicts -- */

bool
value_is_password(struct view v, const struct name *name)
{
    struct mix m = mix_of(v);
    bool is_env = name->is_tight && is_upper_name(name->text);
    if (v.n < (name->is_quoted || is_env ? 4 : 6) || v.n > 128)
        return false;
    if (m.blanks || is_expression(v))
        return false;
    bool has_letter = m.lowers + m.uppers > 0;
    bool is_mixed = m.digits && has_letter;
    size_t marks = m.symbols;
    for (size_t i = 0; i < v.n; i++)
        marks -= byte_in("._-/:,;", v.p[i]);
    if (name->op == NAME_PROSE)
        return is_mixed && (marks || (m.lowers && m.uppers) || m.changes >= 3) &&
               !is_identifier(v);
    if (name->op == NAME_ARGUMENT && !name->is_quoted)
        return false;
    if (is_env)
        return has_letter || marks || m.digits >= 6;
    if (is_mixed || (marks && has_letter) || m.others)
        return name->is_quoted || !is_identifier(v) || m.digits > 1;
    return name->is_quoted && m.digits == v.n && v.n >= 6;
}

bool
value_is_secret(struct view v, const struct name *name)
{
    struct mix m = mix_of(v);
    size_t letters = m.lowers + m.uppers;
    bool is_sure = name->op == NAME_ASSIGN && (name->is_quoted || name->is_tight);
    if (v.n < (is_sure ? 8 : 16) || v.n > 2048 || m.blanks || m.others)
        return false;
    if (is_expression(v) || is_identifier(v) || begins(v, "sha256:") ||
        contains(v, "://"))
        return false;
    if (m.digits < 2 || letters < 2 || m.symbols * 4 > v.n)
        return false;
    uint32_t entropy = value_entropy(v);
    if (v.n < 16)
        return entropy >= 250 && m.changes >= 3;
    if (m.hex == v.n)
        return entropy >= 270 && m.changes * 8 >= v.n;
    return entropy >= 320 && m.changes * 6 >= v.n;
}
