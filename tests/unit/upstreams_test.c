/* SPDX-License-Identifier: MIT */
/* upstreams_test.c -- where the APIs are, what a program is told instead, and by which
 * path it is known where it wanted to go. */
#include "calls/upstreams.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"

static const char key[] = "abcdefghijklmnopqrstuvwxyz234567";

static void
init(struct calls_upstreams *u, const char *const *envp, const char *told)
{
    char *copy[16] = { NULL };
    struct err err = { 0 };
    for (size_t i = 0; envp && envp[i]; i++)
        assert_non_null(copy[i] = strdup(envp[i]));
    int r = calls_upstreams_init(u, copy, told, key, &err);
    if (r)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    for (size_t i = 0; copy[i]; i++)
        free(copy[i]);
}

static const struct calls_upstream *
named(const struct calls_upstreams *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (!strcmp(u->each[i].name, name))
            return &u->each[i];
    return NULL;
}

static void
is_at(const struct calls_upstreams *u, const char *name, const char *url)
{
    const struct calls_upstream *one = named(u, name);
    assert_non_null(one);
    assert_int_equal(one->url.n, strlen(url));
    assert_memory_equal(one->url.p, url, strlen(url));
}

/* NAME=value, a line each. */
static int
note(void *ctx, const char *name, const char *value)
{
    return buf_printf(ctx, "%s=%s\n", name, value);
}

static void
tells(const char *const *envp, const char *told, struct buf *out)
{
    struct calls_upstreams u;
    char *copy[16] = { NULL };
    init(&u, envp, told);
    for (size_t i = 0; envp && envp[i]; i++)
        assert_non_null(copy[i] = strdup(envp[i]));
    assert_int_equal(calls_upstreams_each_variable(&u, copy, "127.0.0.1:4711", note, out),
                     0);
    for (size_t i = 0; copy[i]; i++)
        free(copy[i]);
    calls_upstreams_release(&u);
}

/* The variable is told exactly once, with that value; NULL: not at all. */
static void
is_told(struct buf *out, const char *name, const char *value)
{
    AUTO(buf) begin = { 0 };
    buf_printf(&begin, "\n%s=", name);
    AUTO(buf) text = { 0 };
    buf_printf(&text, "\n%s", buf_str(out));
    const char *at = strstr(buf_str(&text), buf_str(&begin));
    if (!value) {
        assert_null(at);
        return;
    }
    assert_non_null(at);
    at += begin.n;
    assert_int_equal(strcspn(at, "\n"), strlen(value));
    assert_memory_equal(at, value, strlen(value));
    assert_null(strstr(at, buf_str(&begin)));
}

/* -- where they are -- */

static void
vendors_are_at_their_public_urls(void **state)
{
    (void)state;
    struct calls_upstreams u;
    init(&u, NULL, NULL);
    assert_int_equal(u.n, 5);
    is_at(&u, "anthropic", "https://api.anthropic.com");
    is_at(&u, "openai", "https://api.openai.com/v1");
    is_at(&u, "gemini", "https://generativelanguage.googleapis.com");
    is_at(&u, "openrouter", "https://openrouter.ai/api/v1");
    is_at(&u, "groq", "https://api.groq.com");
    calls_upstreams_release(&u);
    assert_int_equal(calls_upstreams_init(&u, NULL, "", key, NULL), 0);
    assert_int_equal(u.n, 5);
    calls_upstreams_release(&u);
    calls_upstreams_release(&u);
}

static void
the_environment_goes_before_the_default(void **state)
{
    (void)state;
    static const char *const envp[] = { "ANTHROPIC_BASE_URL=http://localhost:8080/a//",
                                        "OPENAI_API_BASE=https://second.example/v1",
                                        "GROQ_BASE_URL=", /* empty: says nothing */
                                        "XGOOGLE_GEMINI_BASE_URL=https://no.example",
                                        "GOOGLE_GEMINI_BASE_URL_X=https://no.example",
                                        NULL };
    static const char *const both[] = { "OPENAI_API_BASE=https://second.example",
                                        "OPENAI_BASE_URL=HTTPS://first.example", NULL };
    struct calls_upstreams u;
    init(&u, envp, NULL);
    is_at(&u, "anthropic", "http://localhost:8080/a");
    is_at(&u, "openai", "https://second.example/v1");
    is_at(&u, "groq", "https://api.groq.com");
    is_at(&u, "gemini", "https://generativelanguage.googleapis.com");
    calls_upstreams_release(&u);
    init(&u, both, NULL);
    is_at(&u, "openai", "HTTPS://first.example");
    calls_upstreams_release(&u);
}

static void
what_is_told_goes_before_the_environment(void **state)
{
    (void)state;
    static const char *const envp[] = { "ANTHROPIC_BASE_URL=http://env.example", NULL };
    struct calls_upstreams u;
    init(&u, envp, "anthropic=https://told.example/x/,my-own=http://own.example:81,");
    assert_int_equal(u.n, 6);
    is_at(&u, "anthropic", "https://told.example/x");
    is_at(&u, "my-own", "http://own.example:81");
    calls_upstreams_release(&u);
    init(&u, NULL, "own=http://a.example,own=http://b.example");
    assert_int_equal(u.n, 6);
    is_at(&u, "own", "http://b.example");
    calls_upstreams_release(&u);
}

static void
azure_and_vertex_are_there_when_somebody_says_where(void **state)
{
    (void)state;
    static const char *const envp[] = { "AZURE_OPENAI_ENDPOINT=https://me.example/",
                                        NULL };
    struct calls_upstreams u;
    AUTO(buf) out = { 0 };
    init(&u, NULL, NULL);
    assert_null(named(&u, "azure"));
    assert_null(named(&u, "vertex"));
    calls_upstreams_release(&u);
    init(&u, envp, "vertex=https://eu.example/v1");
    is_at(&u, "azure", "https://me.example");
    is_at(&u, "vertex", "https://eu.example/v1");
    calls_upstreams_release(&u);
    tells(NULL, NULL, &out);
    is_told(&out, "AZURE_OPENAI_ENDPOINT", NULL);
    is_told(&out, "ANTHROPIC_VERTEX_BASE_URL", NULL);
    buf_clear(&out);
    tells(envp, "vertex=https://eu.example/v1", &out);
    assert_non_null(
        strstr(buf_str(&out), "AZURE_OPENAI_ENDPOINT=http://127.0.0.1:4711/"));
    assert_non_null(
        strstr(buf_str(&out), "ANTHROPIC_VERTEX_BASE_URL=http://127.0.0.1:4711/"));
}

static void
good_urls_are_taken(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://h",
        "https://h",
        "http://h:1",
        "http://h:65535/",
        "https://[::1]",
        "https://[::1]:80/x",
        "https://u@h",
        "https://u:p@h:80",
        "https://u:p@x@[::1]:80",
        "http://127.0.0.1:4711/a/b%20c;d=e/",
        "https://h.example/~x/(y)/@:z",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct calls_upstreams u;
        AUTO(buf) told = { 0 };
        buf_printf(&told, "own=%s", urls[i]);
        init(&u, NULL, buf_str(&told));
        calls_upstreams_release(&u);
    }
}

static void
refuses(const char *const *envp, const char *told, const char *why)
{
    struct calls_upstreams u;
    struct err err = { 0 };
    char *copy[2] = { envp ? strdup(envp[0]) : NULL, NULL };
    if (calls_upstreams_init(&u, copy, told, key, &err) != ERR_USAGE)
        fail_msg("taken: %s", told ? told : envp[0]);
    if (!strstr(err.text, why))
        fail_msg("'%s' has no '%s'", err.text, why);
    assert_int_equal(u.n, 0);
    free(copy[0]);
}

static void
bad_urls_are_refused(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "h",
        "h:80",
        "ftp://h",
        "https:/h",
        "https://",
        "http:///",
        "https:///x",
        "http://:80",
        "http://h:",
        "http://h:0",
        "http://h:65536",
        "http://h:8x",
        "http://h:+8",
        "http://h:-1",
        "http://h:1:2",
        "http://h:000000000080",
        "http://[::1",
        "http://[]",
        "http://[]:80",
        "http://[::1]x",
        "http://[::1]80",
        "http://::1",
        "http://u@",
        "http://@",
        "http://u@:80",
        "http://h/a b",
        "http://h?x",
        "http://h/#x",
        "http://h\\x",
        "http://h/\"",
        "http://h/\x7f",
        "http://h/\xc3\xa9",
        "http://h/\n",
        "http://h/<",
        "http://h/{x}",
        "http://h/^",
        "http://h/`",
        "http://h/|",
        "javascript:alert(1)",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        AUTO(buf) told = { 0 };
        AUTO(buf) set = { 0 };
        buf_printf(&told, "own=%s", urls[i]);
        refuses(NULL, buf_str(&told), "--upstream: '");
        refuses(NULL, buf_str(&told), "' is no http or https URL without a query");
        if (!*urls[i])
            continue;
        buf_printf(&set, "GROQ_BASE_URL=%s", urls[i]);
        refuses((const char *const[]){ buf_str(&set) }, NULL, "GROQ_BASE_URL: '");
    }
    AUTO(buf) told = { 0 };
    buf_puts(&told, "own=http://h/");
    while (told.n < 2053)
        buf_puts(&told, "x");
    refuses(NULL, buf_str(&told), "is no http");
}

static void
bad_names_are_refused(void **state)
{
    (void)state;
    static const char *const told[] = {
        "own",
        "=http://h",
        "http://h",
        "Own=http://h",
        "1own=http://h",
        "-own=http://h",
        "o.wn=http://h",
        "o wn=http://h",
        " own=http://h",
        "own =http://h",
        "\xc3\xa9=http://h",
        "own=http://h,,b=http://h",
        ",",
        ",own=http://h",
        "a2345678901234567890123456789012=http://h",
        "a/b=http://h",
    };
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
        refuses(NULL, told[i], "is not of the form name=URL");
    struct calls_upstreams u;
    init(&u, NULL, "a234567890123456789012345678901=http://h,b-_2=http://h");
    calls_upstreams_release(&u);
}

static void
no_more_than_fit_are_taken(void **state)
{
    (void)state;
    struct calls_upstreams u;
    AUTO(buf) told = { 0 };
    for (char c = 'a'; c < 'a' + 11; c++)
        buf_printf(&told, "%s%c=http://h", c > 'a' ? "," : "", c);
    init(&u, NULL, buf_str(&told));
    assert_int_equal(u.n, CALLS_UPSTREAMS_MAX);
    calls_upstreams_release(&u);
    buf_puts(&told, ",a=http://again");
    init(&u, NULL, buf_str(&told));
    calls_upstreams_release(&u);
    buf_puts(&told, ",z=http://h");
    refuses(NULL, buf_str(&told), "more than 16 of them");
}

static void
two_that_would_be_told_by_one_variable_are_refused(void **state)
{
    (void)state;
    refuses(NULL, "my-own=http://h,my_own=http://h",
            "'my_own' would be told by MY_OWN_BASE_URL, and so is 'my-own'");
    refuses(NULL, "google-gemini=http://h", "so is 'gemini'");
    struct calls_upstreams u;
    init(&u, NULL, "my-own=http://h,my-owns=http://h,gemini=http://h");
    calls_upstreams_release(&u);
}

/* -- what a program is told -- */

static void
each_variable_leads_to_its_upstream(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "ANTHROPIC_BASE_URL", "anthropic" },   { "OPENAI_BASE_URL", "openai" },
        { "OPENAI_API_BASE", "openai" },         { "GOOGLE_GEMINI_BASE_URL", "gemini" },
        { "OPENROUTER_BASE_URL", "openrouter" }, { "GROQ_BASE_URL", "groq" },
        { "MY_OWN2_X_BASE_URL", "my-own2_x" },
    };
    enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };
    struct calls_upstreams u;
    AUTO(buf) out = { 0 };
    size_t lines = 0;
    tells(NULL, "my-own2_x=http://own.example", &out);
    init(&u, NULL, "my-own2_x=http://own.example");
    for (size_t i = 0; i < PAIRS; i++) {
        AUTO(buf) url = { 0 };
        buf_printf(&url, "http://127.0.0.1:4711/%s", named(&u, pairs[i][1])->segment);
        is_told(&out, pairs[i][0], buf_str(&url));
    }
    for (size_t i = 0; i < out.n; i++)
        lines += out.p[i] == '\n';
    assert_int_equal(lines, PAIRS);
    calls_upstreams_release(&u);
}

static void
another_proxy_is_kept_away_from_ours(void **state)
{
    (void)state;
    static const char *const proxies[] = { "http_proxy",  "HTTP_PROXY", "https_proxy",
                                           "HTTPS_PROXY", "all_proxy",  "ALL_PROXY" };
    static const struct {
        const char *lower, *upper, *want_lower, *want_upper;
    } cases[] = {
        { NULL, NULL, "127.0.0.1,localhost,::1", "127.0.0.1,localhost,::1" },
        { "a.example", NULL, "a.example,127.0.0.1,localhost,::1",
          "a.example,127.0.0.1,localhost,::1" },
        { NULL, "b.example", "b.example,127.0.0.1,localhost,::1",
          "b.example,127.0.0.1,localhost,::1" },
        { "a.example", "b.example", "a.example,127.0.0.1,localhost,::1",
          "b.example,127.0.0.1,localhost,::1" },
        { "", "b.example", "b.example,127.0.0.1,localhost,::1",
          "b.example,127.0.0.1,localhost,::1" },
        { "*", NULL, "*", "*" },
    };
    for (size_t i = 0; i < 6 * 6; i++) {
        AUTO(buf) proxy = { 0 };
        AUTO(buf) lower = { 0 };
        AUTO(buf) upper = { 0 };
        AUTO(buf) out = { 0 };
        const char *envp[4] = { NULL };
        size_t n = 0, k = i % 6;
        buf_printf(&proxy, "%s=http://corp.example:3128", proxies[i / 6]);
        envp[n++] = buf_str(&proxy);
        buf_printf(&lower, "no_proxy=%s", cases[k].lower ? cases[k].lower : "");
        buf_printf(&upper, "NO_PROXY=%s", cases[k].upper ? cases[k].upper : "");
        if (cases[k].lower)
            envp[n++] = buf_str(&lower);
        if (cases[k].upper)
            envp[n++] = buf_str(&upper);
        tells(envp, NULL, &out);
        is_told(&out, "no_proxy", cases[k].want_lower);
        is_told(&out, "NO_PROXY", cases[k].want_upper);
    }
}

static void
without_another_proxy_nothing_is_said_of_it(void **state)
{
    (void)state;
    static const char *const envp[] = { "NO_PROXY=a.example", "http_proxy=", NULL };
    AUTO(buf) out = { 0 };
    tells(envp, NULL, &out);
    is_told(&out, "no_proxy", NULL);
    is_told(&out, "NO_PROXY", NULL);
}

struct refusal {
    int left, seen;
};

static int
refuse(void *ctx, const char *name, const char *value)
{
    struct refusal *r = ctx;
    (void)name, (void)value;
    r->seen++;
    return r->left-- ? 1 : -EIO;
}

static void
an_error_of_the_hearer_ends_the_telling(void **state)
{
    (void)state;
    static const char *const envp[] = { "http_proxy=http://h", NULL };
    char *copy[2] = { strdup(envp[0]), NULL };
    struct calls_upstreams u;
    init(&u, envp, NULL);
    for (int i = 0; i < 8; i++) { /* six of upstreams, two of proxies */
        struct refusal r = { i, 0 };
        assert_int_equal(calls_upstreams_each_variable(&u, copy, "h:1", refuse, &r),
                         -EIO);
        assert_int_equal(r.seen, i + 1);
    }
    struct refusal none = { 8, 0 };
    assert_true(calls_upstreams_each_variable(&u, copy, "h:1", refuse, &none) >= 0);
    assert_int_equal(none.seen, 8);
    calls_upstreams_release(&u);
    free(copy[0]);
}

/* -- segments -- */

static void
segments_differ_and_have_all_of_the_key(void **state)
{
    (void)state;
    struct calls_upstreams u;
    AUTO(buf) told = { 0 };
    for (char c = 'a'; c < 'a' + 11; c++)
        buf_printf(&told, "%s%c=http://h", c > 'a' ? "," : "", c);
    init(&u, NULL, buf_str(&told));
    for (size_t i = 0; i < u.n; i++) {
        const char *own = u.each[i].segment;
        assert_int_equal(strlen(own), CALLS_KEY_CHARS + 1);
        assert_memory_equal(own, key, CALLS_KEY_CHARS);
        assert_int_equal(strspn(own, "abcdefghijklmnopqrstuvwxyz0123456789"),
                         strlen(own));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(own, u.each[k].segment);
    }
    calls_upstreams_release(&u);
}

static void
each_is_found_by_its_segment_and_by_no_other(void **state)
{
    (void)state;
    struct calls_upstreams u;
    init(&u, NULL, NULL);
    for (size_t i = 0; i < u.n; i++) {
        char own[CALLS_KEY_CHARS + 3];
        struct view whole = text_view(u.each[i].segment);
        assert_ptr_equal(calls_upstreams_find(&u, whole), &u.each[i]);
        for (size_t n = 0; n < whole.n; n++)
            assert_null(calls_upstreams_find(&u, (struct view){ whole.p, n }));
        snprintf(own, sizeof(own), "%sa", u.each[i].segment);
        assert_null(calls_upstreams_find(&u, text_view(own)));
        for (size_t at = 0; at < CALLS_KEY_CHARS; at++) { /* but the last: another's */
            snprintf(own, sizeof(own), "%s", u.each[i].segment);
            own[at] = own[at] == 'x' ? 'y' : 'x';
            assert_null(calls_upstreams_find(&u, text_view(own)));
        }
        snprintf(own, sizeof(own), "%s", u.each[i].segment);
        own[CALLS_KEY_CHARS] = 'z';
        assert_null(calls_upstreams_find(&u, text_view(own)));
    }
    assert_null(calls_upstreams_find(&u, (struct view){ 0 }));
    assert_null(calls_upstreams_find(&u, text_view(key)));
    calls_upstreams_release(&u);
}

static void
keys_are_made_of_letters_and_digits(void **state)
{
    (void)state;
    char keys[20][CALLS_KEY_CHARS + 1];
    for (int i = 0; i < 20; i++) {
        assert_int_equal(calls_key_make(keys[i]), 0);
        assert_true(calls_key_is(keys[i]));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
    static const char *const bad[] = { "",
                                       "abc",
                                       "abcdefghijklmnopqrstuvwxyz23456",
                                       "abcdefghijklmnopqrstuvwxyz2345678",
                                       "Abcdefghijklmnopqrstuvwxyz234567",
                                       "abcdefghijklmnop/rstuvwxyz234567",
                                       "abcdefghijklmnop rstuvwxyz234567",
                                       "abcdefghijklmnop\xc3\xa9tuvwxyz234567" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(calls_key_is(bad[i]));
    assert_true(calls_key_is(key));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendors_are_at_their_public_urls),
        cmocka_unit_test(the_environment_goes_before_the_default),
        cmocka_unit_test(what_is_told_goes_before_the_environment),
        cmocka_unit_test(azure_and_vertex_are_there_when_somebody_says_where),
        cmocka_unit_test(good_urls_are_taken),
        cmocka_unit_test(bad_urls_are_refused),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(no_more_than_fit_are_taken),
        cmocka_unit_test(two_that_would_be_told_by_one_variable_are_refused),
        cmocka_unit_test(each_variable_leads_to_its_upstream),
        cmocka_unit_test(another_proxy_is_kept_away_from_ours),
        cmocka_unit_test(without_another_proxy_nothing_is_said_of_it),
        cmocka_unit_test(an_error_of_the_hearer_ends_the_telling),
        cmocka_unit_test(segments_differ_and_have_all_of_the_key),
        cmocka_unit_test(each_is_found_by_its_segment_and_by_no_other),
        cmocka_unit_test(keys_are_made_of_letters_and_digits),
    };
    return cmocka_run_group_tests_name("upstreams", tests, NULL, NULL);
}
