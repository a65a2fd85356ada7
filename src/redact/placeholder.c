/* SPDX-License-Identifier: MIT */
/* placeholder.c -- what stands where a secret would be, in documentation and templates.
 */
#include <strings.h>

#include "redact/value_priv.h"

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
    "example",    "placeholder", "changeme",  "change-me",    "change_me",
    "redacted",   "goes-here",   "goes_here", "not-real",     "notreal",
    "my-secret",  "my_secret",   "yourpass",  "yourtoken",    "yoursecret",
    "yourapikey", "secretref",   "environ",   "process.env",  "${",
    "$(",         "{{",          "getenv",    "\xe2\x80\xa6", NULL,
};

/* The same, but too short to mean anything in a long random value. */
static const char *const short_parts[] = {
    "your-", "your_", "dummy", "xxxx", "****",    "....",   "____",   "{}",   "%(",
    "-here", "_here", "fake",  "todo", "replace", "insert", "sample", "env.", NULL,
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

/* <name>, $NAME, %NAME%, %s: filled in elsewhere. */
static bool
is_variable(struct view v)
{
    if (v.n > 2 && v.p[0] == '<' && v.p[v.n - 1] == '>')
        return true;
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
    struct value_mix m = value_mix(v);
    bool is_mixed = v.n >= 16 && m.digits > 1 && m.uppers > 1 && m.lowers > 1 &&
                    m.changes * 3 >= v.n;
    bool is_long = is_mixed || (v.n >= RANDOM_LONG && value_entropy(v) >= RANDOM_ENTROPY);
    return contains_any(v, placeholder_parts) ||
           (!is_long && contains_any(v, short_parts)) ||
           is_one_of(v, placeholder_words) || is_sequence(v) || is_variable(v);
}
