/* SPDX-License-Identifier: MIT */
#include "calls/upstreams.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>

enum { URL_MAX = 2048 };

struct vendor {
    const char *name;
    const char *url; /* NULL: only where the environment says where it is */
    const char *variables[2];
};

static const struct vendor vendors[] = {
    { "anthropic", "https://api.anthropic.com", { "ANTHROPIC_BASE_URL" } },
    { "openai", "https://api.openai.com/v1", { "OPENAI_BASE_URL", "OPENAI_API_BASE" } },
    { "gemini",
      "https://generativelanguage.googleapis.com",
      { "GOOGLE_GEMINI_BASE_URL" } },
    { "openrouter", "https://openrouter.ai/api/v1", { "OPENROUTER_BASE_URL" } },
    { "groq", "https://api.groq.com", { "GROQ_BASE_URL" } },
    { "azure", NULL, { "AZURE_OPENAI_ENDPOINT" } },
    { "vertex", NULL, { "ANTHROPIC_VERTEX_BASE_URL" } },
};
enum { VENDORS = sizeof(vendors) / sizeof(vendors[0]) };

/* -- the key -- */

int
calls_key_make(char ret_key[CALLS_KEY_CHARS + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t bytes[CALLS_KEY_CHARS];
    ssize_t n = getrandom(bytes, sizeof(bytes), 0);
    if (n != (ssize_t)sizeof(bytes))
        return n < 0 ? -errno : -EIO;
    for (size_t i = 0; i < sizeof(bytes); i++)
        ret_key[i] = letters[bytes[i] & 31];
    ret_key[CALLS_KEY_CHARS] = 0;
    return 0;
}

bool
calls_key_is(const char *key)
{
    size_t n = 0;
    while (islower((unsigned char)key[n]) || isdigit((unsigned char)key[n]))
        n++;
    return n == CALLS_KEY_CHARS && !key[n];
}

/* -- environments -- */

static const char *
variable(char *const *envp, const char *name)
{
    size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (!strncmp(*envp, name, n) && (*envp)[n] == '=' && (*envp)[n + 1])
            return *envp + n + 1;
    return NULL;
}

/* -- URLs -- */

static bool
is_port(struct view v)
{
    unsigned long port = 0;
    for (size_t i = 0; i < v.n && i < 6; i++) {
        if (!isdigit(v.p[i]))
            return false;
        port = port * 10 + (v.p[i] - '0');
    }
    return v.n && v.n < 6 && port && port < 65536;
}

/* "host", "host:port", "[::1]:port", with a user before them or not. */
static bool
is_authority(struct view v)
{
    const uint8_t *at = v.n ? memrchr(v.p, '@', v.n) : NULL;
    if (at)
        v = (struct view){ at + 1, v.n - (size_t)(at + 1 - v.p) };
    bool is_number = v.n && v.p[0] == '[';
    const uint8_t *end = memchr(v.p, is_number ? ']' : ':', v.n);
    if (is_number && (!end || end - v.p < 3))
        return false;
    size_t host = end ? (size_t)(end - v.p) + is_number : v.n;
    bool has_port = host < v.n;
    if (!host || (has_port && v.p[host] != ':'))
        return false;
    return !has_port || is_port((struct view){ v.p + host + 1, v.n - host - 1 });
}

static bool
is_url(struct view url)
{
    const char *text = (const char *)url.p;
    size_t scheme = url.n > 8 && !strncasecmp(text, "https://", 8)  ? 8
                    : url.n > 7 && !strncasecmp(text, "http://", 7) ? 7
                                                                    : 0;
    if (!scheme || url.n > URL_MAX)
        return false;
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] <= ' ' || url.p[i] >= 0x7f || strchr("#?\\\"<>^`{|}", url.p[i]))
            return false;
    const uint8_t *rest = url.p + scheme, *slash = memchr(rest, '/', url.n - scheme);
    return is_authority(
        (struct view){ rest, slash ? (size_t)(slash - rest) : url.n - scheme });
}

static int
set_url(struct calls_upstream *one, struct view url, const char *whence, struct err *err)
{
    if (!is_url(url))
        return err_set(err, ERR_USAGE,
                       "%s: '%.*s' is no http or https URL without a query", whence,
                       (int)(url.n < 200 ? url.n : 200), (const char *)url.p);
    while (url.p[url.n - 1] == '/')
        url.n--;
    buf_clear(&one->url);
    int r = buf_append(&one->url, url.p, url.n);
    return r < 0 ? err_code(err, r, "cannot keep the upstreams") : 0;
}

/* -- the list -- */

static struct calls_upstream *
add(struct calls_upstreams *u, struct view name)
{
    for (size_t i = 0; i < u->n; i++)
        if (strlen(u->each[i].name) == name.n && !memcmp(u->each[i].name, name.p, name.n))
            return &u->each[i];
    if (u->n == CALLS_UPSTREAMS_MAX)
        return NULL;
    struct calls_upstream *one = &u->each[u->n++];
    *one = (struct calls_upstream){ 0 };
    snprintf(one->name, sizeof(one->name), "%.*s", (int)name.n, (const char *)name.p);
    return one;
}

static struct view
view_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static int
add_vendor(struct calls_upstreams *u, const struct vendor *v, char *const *envp,
           struct err *err)
{
    const char *url = v->url, *whence = v->name;
    for (size_t i = 0; i < 2 && v->variables[i]; i++) {
        const char *told = variable(envp, v->variables[i]);
        if (!told)
            continue;
        url = told;
        whence = v->variables[i];
        break;
    }
    if (!url)
        return 0;
    struct calls_upstream *one = add(u, view_of(v->name));
    memcpy(one->variables, v->variables, sizeof(one->variables));
    return set_url(one, view_of(url), whence, err);
}

bool
calls_upstream_is_name(struct view name)
{
    if (!name.n || name.n >= sizeof(((struct calls_upstream *)0)->name))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!islower(name.p[i]) &&
            !(i && (isdigit(name.p[i]) || name.p[i] == '-' || name.p[i] == '_')))
            return false;
    return true;
}

static const struct vendor *
find_vendor(struct view name)
{
    for (size_t i = 0; i < VENDORS; i++)
        if (strlen(vendors[i].name) == name.n && !memcmp(vendors[i].name, name.p, name.n))
            return &vendors[i];
    return NULL;
}

enum { VARIABLE_MAX = sizeof(((struct calls_upstream *)0)->name) + sizeof("_BASE_URL") };

/* "my-own": MY_OWN_BASE_URL */
static void
own_variable(const struct calls_upstream *one, char ret[VARIABLE_MAX])
{
    size_t n = strlen(one->name);
    for (size_t i = 0; i < n; i++)
        ret[i] = one->name[i] == '-' ? '_' : (char)toupper((unsigned char)one->name[i]);
    snprintf(ret + n, VARIABLE_MAX - n, "_BASE_URL");
}

static bool
has_variable(const struct calls_upstream *one, const char *variable)
{
    char own[VARIABLE_MAX];
    own_variable(one, own);
    if (!one->variables[0])
        return !strcmp(own, variable);
    for (size_t i = 0; i < 2 && one->variables[i]; i++)
        if (!strcmp(one->variables[i], variable))
            return true;
    return false;
}

/* A program is told one place by a variable: "my-own" and "my_own" are not two. */
static int
check_variable(const struct calls_upstreams *u, const struct calls_upstream *one,
               struct err *err)
{
    char own[VARIABLE_MAX];
    own_variable(one, own);
    for (size_t i = 0; i < u->n; i++)
        if (&u->each[i] != one && has_variable(&u->each[i], own))
            return err_set(err, ERR_USAGE,
                           "--upstream: '%s' would be told by %s, and so is '%s'",
                           one->name, own, u->each[i].name);
    return 0;
}

static int
add_told(struct calls_upstreams *u, struct view word, struct err *err)
{
    const uint8_t *equals = word.n ? memchr(word.p, '=', word.n) : NULL;
    struct view name = { word.p, equals ? (size_t)(equals - word.p) : 0 };
    if (!calls_upstream_is_name(name))
        return err_set(err, ERR_USAGE, "--upstream: '%.*s' is not of the form name=URL",
                       (int)(word.n < 200 ? word.n : 200), (const char *)word.p);
    const struct vendor *v = find_vendor(name);
    struct calls_upstream *one = add(u, name);
    if (!one)
        return err_set(err, ERR_USAGE, "--upstream: more than %d of them",
                       CALLS_UPSTREAMS_MAX);
    if (v)
        memcpy(one->variables, v->variables, sizeof(one->variables));
    int r = v ? 0 : check_variable(u, one, err);
    struct view url = { equals + 1, word.n - name.n - 1 };
    return r < 0 ? r : set_url(one, url, "--upstream", err);
}

static int
add_all_told(struct calls_upstreams *u, const char *told, struct err *err)
{
    int r = 0;
    while (told && *told && !r) {
        size_t n = strcspn(told, ",");
        r = add_told(u, (struct view){ (const uint8_t *)told, n }, err);
        told += n + (told[n] == ',');
    }
    return r;
}

int
calls_upstreams_init(struct calls_upstreams *u, char *const *envp, const char *told,
                     const char *key, struct err *err)
{
    int r = 0;
    assert(!key || calls_key_is(key));
    *u = (struct calls_upstreams){ 0 };
    for (size_t i = 0; i < VENDORS && !r; i++)
        r = add_vendor(u, &vendors[i], envp, err);
    if (!r)
        r = add_all_told(u, told, err);
    for (size_t i = 0; key && i < u->n; i++)
        snprintf(u->each[i].segment, sizeof(u->each[i].segment), "%s%c", key,
                 (char)('a' + i));
    if (r < 0)
        calls_upstreams_release(u);
    return r;
}

void
calls_upstreams_release(struct calls_upstreams *u)
{
    for (size_t i = 0; i < u->n; i++)
        buf_release(&u->each[i].url);
    u->n = 0;
}

const struct calls_upstream *
calls_upstreams_find(const struct calls_upstreams *u, struct view segment)
{
    const struct calls_upstream *found = NULL;
    for (size_t i = 0; i < u->n; i++) {
        const char *own = u->each[i].segment;
        size_t n = strlen(own);
        unsigned differs = n != segment.n;
        for (size_t k = 0; k < n && segment.n; k++)
            differs |= (unsigned)(uint8_t)own[k] ^ segment.p[k < segment.n ? k : 0];
        found = differs ? found : &u->each[i];
    }
    return found;
}

/* -- what a program is told -- */

/* Some send all requests to what is there for one scheme. */
static bool
has_proxy(char *const *envp)
{
    static const char *const names[] = { "http_proxy",  "HTTP_PROXY", "https_proxy",
                                         "HTTPS_PROXY", "all_proxy",  "ALL_PROXY" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (variable(envp, names[i]))
            return true;
    return false;
}

/* Where requests go to another proxy ours would be asked for there. Either name says what
 * the other one did, if it said nothing: of two some look at one only. */
static int
tell_no_proxy(char *const *envp, calls_variable_fn fn, void *ctx)
{
    static const char *const names[] = { "no_proxy", "NO_PROXY" };
    int r = 0;
    for (size_t i = 0; i < 2 && r >= 0 && has_proxy(envp); i++) {
        AUTO(buf) value = { 0 };
        const char *old = variable(envp, names[i]);
        old = old ? old : variable(envp, names[1 - i]);
        if (old && !strcmp(old, "*")) /* all; with more behind it, it is a host */
            buf_puts(&value, old);
        else
            buf_printf(&value, "%s%s127.0.0.1,localhost,::1", old ? old : "",
                       old ? "," : "");
        r = value.failed ? value.failed : fn(ctx, names[i], buf_str(&value));
    }
    return r;
}

static int
tell_variables(const struct calls_upstream *one, const char *where, calls_variable_fn fn,
               void *ctx)
{
    AUTO(buf) value = { 0 };
    char own[VARIABLE_MAX];
    buf_printf(&value, "http://%s/%s", where, one->segment);
    if (value.failed)
        return value.failed;
    own_variable(one, own);
    if (!one->variables[0])
        return fn(ctx, own, buf_str(&value));
    int r = 0;
    for (size_t i = 0; i < 2 && one->variables[i] && r >= 0; i++)
        r = fn(ctx, one->variables[i], buf_str(&value));
    return r;
}

int
calls_upstreams_each_variable(const struct calls_upstreams *u, char *const *envp,
                              const char *where, calls_variable_fn fn, void *ctx)
{
    int r = 0;
    for (size_t i = 0; i < u->n && r >= 0; i++)
        r = tell_variables(&u->each[i], where, fn, ctx);
    return r < 0 ? r : tell_no_proxy(envp, fn, ctx);
}
