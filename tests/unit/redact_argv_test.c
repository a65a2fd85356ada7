/* SPDX-License-Identifier: MIT */
/* redact_argv_test.c -- command lines and environments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/redact_kit.h"
#include "support/rng.h"

enum { ARGS_MAX = 8 };

/* The arguments of a sample, which '|' separates, as one buffer with a NUL behind each.
 */
static void
split(struct buf *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->p[i] == '|')
            b->p[i] = 0;
    buf_append(b, "", 1);
}

static void
check_argv(struct redact *r, const char *sample)
{
    struct kit_sample s;
    AUTO(buf) out = { 0 };
    const char *argv[ARGS_MAX];
    size_t n = 0;
    kit_sample_init(&s, sample);
    split(&s.in);
    split(&s.text);
    for (const char *p = (const char *)s.in.p; p < (const char *)s.in.p + s.in.n;
         p += strlen(p) + 1) {
        assert_true(n < ARGS_MAX);
        argv[n++] = p;
    }
    assert_int_equal(redact_argv(r, n, argv, &out), 0);
    kit_same((struct view){ out.p, out.n }, (struct view){ s.text.p, s.text.n }, sample);
    kit_sample_release(&s);
}

static void
check_all(struct redact *r, const char *const *samples)
{
    for (; *samples; samples++)
        check_argv(r, *samples);
}

static void
check_env(struct redact *r, const char *sample)
{
    struct kit_sample s;
    AUTO(buf) out = { 0 };
    kit_sample_init(&s, sample);
    assert_int_equal(redact_env(r, buf_str(&s.in), &out), 0);
    kit_same((struct view){ out.p, out.n }, (struct view){ s.text.p, s.text.n }, sample);
    kit_sample_release(&s);
}

static void
what_follows_a_telling_flag_is_masked_whatever_it_looks_like(void **state)
{
    static const char *const samples[] = {
        "tool|--api-key|[[argument:abc]]|run",
        "tool|--token|[[argument:x]]",
        "tool|--password|[[argument:hello]]|--verbose",
        "tool|--client-secret|[[argument:a b c]]",
        "tool|--auth-token|[[argument:<ghp>]]",
        "tool|--passphrase|[[argument:12345]]",
        "tool|--private-key|[[argument:abc]]",
        NULL,
    };
    check_all(*state, samples);
}

static void
what_stands_behind_a_telling_name_is_masked(void **state)
{
    static const char *const samples[] = {
        "tool|--token=[[argument:x]]",
        "tool|--api-key=[[argument:abc]]|run",
        "env|API_KEY=[[argument:abc]]|make",
        "env|DB_PASSWORD=[[argument:a=b]]|make",
        "docker|run|-e|GITHUB_TOKEN=[[argument:x]]|image",
        "java|-Dpassword=[[argument:x]]|Main",
        NULL,
    };
    check_all(*state, samples);
}

static void
secrets_in_arguments_are_masked_by_content(void **state)
{
    static const char *const samples[] = {
        "curl|-u|user:[[basic-auth-flag:x9<alnum*8>]]|https://e.org/",
        "curl|-H|Authorization: Bearer [[authorization-header:<alnum*30>]]|https://e.org",
        "curl|-HAuthorization: Bearer [[authorization-header:<alnum*30>]]|https://e.org",
        "git|clone|https://[[github-pat:<ghp>]]@github.com/o/r",
        "psql|postgres://app:[[url-password:<alnum*9>]]@db/app",
        "echo|[[github-pat:<ghp>]]",
        "sh|-c|curl -d [[github-pat:<ghp>]] && make",
        "[[github-pat:<ghp>]]",
        NULL,
    };
    check_all(*state, samples);
}

static void
ordinary_arguments_stay(void **state)
{
    static const char *const samples[] = {
        "setup|--keyboard|us",
        "llm|--max-tokens|4096",
        "llm|--max-tokens=4096",
        "git|commit|-m|mention the token and the key",
        "tool|--key-file|/etc/ssl/key.pem",
        "tool|--token-type|bearer",
        "tool|--token|--verbose",
        "tool|--password",
        "ls|-la|/home",
        "",
        NULL,
    };
    check_all(*state, samples);
}

static void
empty_values_stay_empty(void **state)
{
    static const char *const samples[] = {
        "tool|--token=|x", "tool|--token||x", "env|API_KEY=|make", "||", NULL,
    };
    check_all(*state, samples);
}

static void
odd_bytes_in_arguments_come_out_as_they_came(void **state)
{
    static const char *const samples[] = {
        "printf|\xff\xfe\x80|\x1b[31m",
        "printf|a\nb\tc|\\",
        "\x01\x02\x7f|--|-|=|==",
        "tool|\xff--token|x",
        NULL,
    };
    check_all(*state, samples);
}

static void
no_arguments_are_no_bytes(void **state)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(redact_argv(*state, 0, NULL, &out), 0);
    assert_int_equal(out.n, 0);
}

static void
a_secret_does_not_reach_into_the_next_argument(void **state)
{
    static const char *const samples[] = {
        "echo|ghp_<alnum*18>|<alnum*18>",
        "curl|-H|Cookie: [[cookie:sid=<alnum*20>]]|https://e.org",
        "curl|-b|[[cookie-flag:sid=<alnum*20>]]|[[github-pat:<ghp>]]",
        "echo|<begin>|[[private-key:<b64*64>]]|end",
        NULL,
    };
    check_all(*state, samples);
}

static void
variables_are_masked_by_their_name_or_their_value(void **state)
{
    static const char *const samples[] = {
        "GITHUB_TOKEN=[[variable:x]]",
        "DB_PASSWORD=[[variable:hello world]]",
        "AWS_SECRET_ACCESS_KEY=[[variable:abc]]",
        "OPENAI_API_KEY=[[variable:abc]]",
        "DATABASE_URL=postgres://app:[[url-password:<alnum*12>]]@db/app",
        "X=[[github-pat:<ghp>]]",
        NULL,
    };
    for (const char *const *s = samples; *s; s++)
        check_env(*state, *s);
}

static void
ordinary_variables_stay(void **state)
{
    static const char *const samples[] = {
        "PATH=/usr/bin:/bin",
        "HOME=/home/me",
        "XKB_DEFAULT_LAYOUT=us",
        "KEYBOARD=us",
        "MAX_TOKENS=4096",
        "TOKEN=",
        "SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
        "SSH_KEY_PATH=/home/me/.ssh/id_ed25519",
        "LS_COLORS=rs=0:di=01;34:ln=01;36",
        "A=\xff\xfe",
        "noequals",
        "",
        NULL,
    };
    for (const char *const *s = samples; *s; s++)
        check_env(*state, *s);
}

static void
what_was_masked_can_be_told(void **state)
{
    static const char *const plain[] = { "", "[REDACTED", "REDACTED:x]", "[redacted:x]" };
    static const char *const argv[] = { "x", "--password", "hunter22" };
    AUTO(buf) out = { 0 };
    assert_int_equal(redact_argv(*state, 3, argv, &out), 0);
    assert_true(redact_has_mask(out.p, out.n));
    assert_false(redact_has_mask(out.p, strlen("x") + 1 + strlen("--password")));
    buf_clear(&out);
    assert_int_equal(redact_env(*state, "MY_PASSWORD=hunter22", &out), 0);
    assert_true(redact_has_mask(out.p, out.n));
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        assert_false(redact_has_mask(plain[i], strlen(plain[i])));
    assert_false(redact_has_mask(NULL, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_a_telling_flag_is_masked_whatever_it_looks_like),
        cmocka_unit_test(what_stands_behind_a_telling_name_is_masked),
        cmocka_unit_test(secrets_in_arguments_are_masked_by_content),
        cmocka_unit_test(ordinary_arguments_stay),
        cmocka_unit_test(empty_values_stay_empty),
        cmocka_unit_test(odd_bytes_in_arguments_come_out_as_they_came),
        cmocka_unit_test(no_arguments_are_no_bytes),
        cmocka_unit_test(a_secret_does_not_reach_into_the_next_argument),
        cmocka_unit_test(variables_are_masked_by_their_name_or_their_value),
        cmocka_unit_test(ordinary_variables_stay),
        cmocka_unit_test(what_was_masked_can_be_told),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
