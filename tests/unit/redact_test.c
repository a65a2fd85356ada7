/* SPDX-License-Identifier: MIT */
/* redact_test.c -- what is a secret in a text, and how far it reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/redact_kit.h"

static const struct redact_options whole = { .is_whole = true };

/* -- tokens -- */

static void
a_token_is_masked_wherever_it_stands(void **state)
{
    static const char *const samples[] = {
        "[[github-pat:<ghp>]]",
        "before [[github-pat:<ghp>]] behind\n",
        "one [[github-pat:<ghp>]], two [[github-pat:<ghp>]].\n",
        "a line\n[[github-pat:<ghp>]]\nanother\n",
        "GITHUB_TOKEN=[[github-pat:<ghp>]]\n",
        "{\"token\":\"[[github-pat:<ghp>]]\"}",
        "git clone https://[[github-pat:<ghp>]]@github.com/o/r.git\n",
        "https://e.org/?token=[[github-pat:<ghp>]]&x=1\n",
        "f('[[github-pat:<ghp>]]');\n",
        "`[[github-pat:<ghp>]]`",
        "<a>[[github-pat:<ghp>]]</a>",
        "\xe2\x80\x9c[[github-pat:<ghp>]]\xe2\x80\x9d\n",
        "key [[aws-access-key-id:AKIA<upper*16>]] of ours\n",
        "got [[jwt:<jwt*200>]] from the server\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
escapes_before_a_token_are_no_part_of_its_word(void **state)
{
    static const char *const samples[] = {
        "{\"out\":\"first\\n[[github-pat:<ghp>]]\\nlast\"}",
        "{\"out\":\"a\\t[[github-pat:<ghp>]]\\tb\"}",
        "{\"a\":\"{\\\"b\\\":\\\"[[github-pat:<ghp>]]\\\"}\"}",
        "{\"a\":\"{\\\\\\\"b\\\\\\\":\\\\\\\"[[github-pat:<ghp>]]\\\\\\\"}\"}",
        "{\"a\":\"x\\\\n[[github-pat:<ghp>]]\\\\ny\"}",
        "\\u0022[[github-pat:<ghp>]]\\u0022",
        "q=a%3D[[github-pat:<ghp>]]%26b\n",
        "\\x22[[github-pat:<ghp>]]\\x22",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
what_only_resembles_a_token_stays(void **state)
{
    static const char *const samples[] = {
        "ghp_<alnum*20> is too short\n",
        "ghp_<alnum*37> is too long\n",
        "x<ghp> begins within a word\n",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
        "<token> YOUR_API_KEY ghp_your_token_here\n",
        "commit <hex*40>\n",
        "sha256:<hex*64>\n",
        "integrity sha512-<b64*86>==\n",
        "see ya29.<b64url*3000> which is longer than any of its kind\n",
        "ghp_ ghp gh g\n",
        "",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

/* -- values by their surroundings -- */

static void
values_of_telling_names_are_masked(void **state)
{
    static const char *const samples[] = {
        "DB_PASSWORD=[[password-assignment:s3cr<alnum*8>]]\n",
        "export DB_PASSWORD='[[password-assignment:s3cr<alnum*8>]]'\n",
        "\"password\": \"[[password-assignment:<alnum*12>!]]\",\n",
        "password: [[password-assignment:<alnum*10>9z!]]\n",
        "api_key = \"[[secret-assignment:<alnum*32>]]\"\n",
        "client.setPassword('[[password-assignment:x9<alnum*10>!]]');\n",
        "{\"a\":\"{\\\"password\\\":\\\"[[password-assignment:x9<alnum*10>]]\\\"}\"}\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_quoted_value_reaches_to_its_quote(void **state)
{
    static const char *const samples[] = {
        "{\"password\":\"[[password-assignment:ab1\\\"<alnum*6>]]\",\"n\":1}\n",
        "password = '[[password-assignment:a\"x7<alnum*6>]]';\n",
        "{\"password\":\"[[password-assignment:a7\\\\<alnum*6>\\\\]]\",\"n\":1}\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
what_stands_for_a_value_stays(void **state)
{
    static const char *const samples[] = {
        "password: <password>\n",
        "PASSWORD=${DB_PASSWORD}\n",
        "password = os.environ['DB_PASSWORD']\n",
        "password=changeme\n",
        "token: your-token-here\n",
        "\"max_tokens\": 4096,\n",
        "password_hash_algorithm = argon2id\n",
        "token_type: Bearer\n",
        "Password: \n",
        "the password is wrong\n",
        "api_key = get_secret(name)\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_password_in_a_url_is_masked_and_nothing_else_of_it(void **state)
{
    static const char *const samples[] = {
        "postgres://app:[[url-password:<alnum*12>]]@db.example:5432/app\n",
        "redis://:[[url-password:<alnum*12>]]@cache:6379\n",
        "https://user:[[url-password:p%40<alnum*8>]]@host/path?q=1\n",
        "https://host:8080/path@v2\n",
        "http://localhost:3000/\n",
        "ssh://git@github.com:22/o/r.git\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
headers_are_masked(void **state)
{
    static const char *const samples[] = {
        "Authorization: Bearer [[authorization-header:<alnum*40>]]\r\n",
        "authorization: Basic [[authorization-header:<alnum*20>==]]\r\n",
        "\"Authorization\": \"Bearer [[authorization-header:<alnum*40>]]\"\n",
        "-H 'Authorization: token [[authorization-header:<alnum*40>]]' x\n",
        "Cookie: [[cookie:session=<alnum*32>; theme=dark]]\r\nHost: e.org\r\n",
        "Set-Cookie: [[cookie:sid=<alnum*32>; Path=/; HttpOnly]]\r\n",
        "Content-Type: text/plain\r\n",
        "Authorization: \r\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

/* -- private keys -- */

static void
the_lines_of_a_private_key_are_masked(void **state)
{
    static const char *const samples[] = {
        "<begin>\n[[private-key:<b64*64>\n<b64*64>\n<b64*22>==]]\n<end>\nafter\n",
        "<begin>\r\n[[private-key:<b64*64>\r\n<b64*64>\r\n<b64*22>==]]\r\n<end>\r\n",
        "{\"k\":\"<begin>\\n[[private-key:<b64*64>\\n<b64*64>\\n<b64*22>==]]\\n<end>"
        "\\n\"}",
        "{\"k\":\"<begin>\\\\n[[private-key:<b64*64>\\\\n<b64*22>==]]\\\\n<end>\\\\n\"}",
        "    <begin>\n    [[private-key:<b64*64>\n    <b64*22>==]]\n    <end>\n",
        "<begin>\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,<hex*32>\n\n"
        "[[private-key:<b64*64>\n<b64*40>]]\n<end>\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
line_numbers_before_a_key_are_seen_through(void **state)
{
    static const char *const samples[] = {
        ("     1\xe2\x86\x92<begin>\n     2\xe2\x86\x92[[private-key:<b64*64>\n"
         "     3\xe2\x86\x92<b64*64>\n     4\xe2\x86\x92<b64*22>==]]\n"
         "     5\xe2\x86\x92<end>\n     6\xe2\x86\x92 after\n"),
        "1\t<begin>\n2\t[[private-key:<b64*64>\n3\t<b64*22>==]]\n4\t<end>\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_key_is_masked_whatever_stands_around_its_lines(void **state)
{
    static const char *const samples[] = {
        "-<begin>\n-[[private-key:<b64*64>\n-<b64*64>]]\n-<end>\n",
        "id_rsa:<begin>\nid_rsa:[[private-key:<b64*64>\nid_rsa:<b64*64>]]\n",
        "1:<begin>\n2:[[private-key:<b64*64>\n3:<b64*64>]]\n4:<end>\n",
        "2026-03-01T10:00:00Z <begin>\n2026-03-01T10:00:00Z [[private-key:<b64*64>\n"
        "2026-03-01T10:00:00Z <b64*64>]]\n2026-03-01T10:00:00Z <end>\n",
        "\xe2\x94\x82 <begin> \xe2\x94\x82\n\xe2\x94\x82 [[private-key:<b64*64> "
        "\xe2\x94\x82\n\xe2\x94\x82 <b64*64>]] \xe2\x94\x82\n",
        "\"<begin>\\n\" +\n\"[[private-key:<b64*64>\\n\" +\n\"<b64*64>]]\\n\" "
        "+\n\"<end>\"\n",
        "KEY=\"<begin> [[private-key:<b64*64> <b64*64> <b64*8>]] <end>\"\n",
        "KEY=\"<begin>[[private-key:<b64*64><b64*8>]]<end>\"\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
two_keys_in_one_piece_are_both_masked(void **state)
{
    static const char *const samples[] = {
        "<begin>\n[[private-key:<b64*64>\n<b64*64>]]\n<end>\n"
        "<begin>\n[[private-key:<b64*64>]]\n<end>\n",
        "<begin>\n[[private-key:<b64*64>\n<b64*64>]]\n<end>\ngrep '<begin>' x\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
values_in_other_writings_are_masked(void **state)
{
    static const char *const samples[] = {
        "JWT_SECRET=[[secret-assignment:<alnum*22>==]]\n",
        "\"password\": \"[[password-assignment:<alnum*14>==]]\",\n",
        "DB_PASSWORD=\"[[password-assignment:my dog ate it 77]]\"\n",
        "DB_PASSWORD=\"[[password-assignment:P@ssw0rd.2024]]\"\n",
        "DB_PASSWORD=\"[[password-assignment:Xk9(mP2vQ7zR]]\"\n",
        "DB_PASSWORD='[[password-assignment:swordfish]]'\n",
        "{\"c\":\"A=1\\nDB_PASSWORD=[[password-assignment:Welcome]]\\nB=2\"}\n",
        "{\"c\":\"password=\\\"[[password-assignment:kX9v\\\\Lq2mZ7]]\\\"\\n\"}\n",
        "pass = [[password-assignment:<alnum*12>]]\n",
        "password: [[password-assignment:hunter2]]\n",
        "password = \"\"\"[[password-assignment:<alnum*12>]]\"\"\"\n",
        "| password | [[password-assignment:<alnum*12>x1]] |\n",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"[[pair-value:<alnum*14>]]\"}\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_prompt_behind_a_token_does_not_hide_it(void **state)
{
    static const struct redact_options screen = { .is_terminal = true, .cols = 80 };
    static const char *const samples[] = {
        "$ cat t\r\n[[github-pat:<ghp>]]\x1b[?2004hroot@8f3a:/# ls\r\n\r\n",
        "[32m[[github-pat:<ghp>]][0m\r\n",
        "token\t[[github-pat:<ghp>]]_old\r\n",
        NULL,
    };
    kit_check_all(*state, samples, screen);
}

static void
a_key_without_its_end_leaves_the_prose_that_follows(void **state)
{
    static const char *const samples[] = {
        "<begin>\n[[private-key:<b64*64>\n<b64*64>]]\n\nThat was it.\n",
        "<begin>\n[[private-key:<b64*64>\n<b64*64>]]\n$ ls -l /home\n",
        "<begin>\n[[private-key:<b64*64>\n<b64*30>]]",
        "<begin>\nis how such a file begins.\n",
        "grep -r '<begin>' .\nno such file\n",
        "<begin>\n...\n<end>\n",
        "<begin>\n<end>\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_key_of_any_length_is_masked(void **state)
{
    AUTO(buf) sample = { 0 };
    buf_puts(&sample, "<begin>\n[[private-key:");
    for (int i = 0; i < 1500; i++)
        buf_puts(&sample, i ? "\n<b64*64>" : "<b64*64>");
    buf_puts(&sample, "]]\n<end>\nprose\n");
    kit_check(*state, buf_str(&sample), whole);
    buf_clear(&sample);
    buf_puts(&sample, "<begin>\n[[private-key:<b64*90000>]]\n<end>\nprose\n");
    kit_check(*state, buf_str(&sample), whole);
}

/* -- longer than what may be held -- */

static void
a_secret_longer_than_the_hold_is_masked_to_its_end(void **state)
{
    static const char *const samples[] = {
        "Authorization: Bearer [[jwt:<jwt*10000>]] behind\n",
        "token [[jwt:<jwt*10000>]] behind\n",
        "{\"access_token\":\"[[jwt:<jwt*10000>]]\",\"n\":1}\n",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

static void
a_quoted_password_longer_than_the_hold_is_masked_to_its_end(void **state)
{
    kit_check(*state,
              "{\"password\":\"[[password-assignment:<alnum*10000>]]\",\"n\":1}\n",
              whole);
}

/* -- escapes spelled out -- */

static void
colours_in_json_are_seen_through(void **state)
{
    static const char *const samples[] = {
        "{\"o\":\"\\u001b[31m[[github-pat:<ghp>]]\\u001b[0m\"}",
        "{\"o\":\"\\u001B[1;31m[[github-pat:<ghp>]]\\u001B[0m\"}",
        "{\"o\":\"\\x1b[31m[[github-pat:<ghp>]]\\x1b[m\"}",
        "{\"o\":\"\\033[31m[[github-pat:<ghp>]]\\033[m\"}",
        "{\"o\":\"\\e[31m[[github-pat:<ghp>]]\\e[m\"}",
        "{\"o\":\"PASSWORD=\\u001b[31m[[password-assignment:x9<alnum*10>]]\\u001b[0m\"}",
        NULL,
    };
    kit_check_all(*state, samples, whole);
}

/* -- the list of rules -- */

static void
every_rule_has_an_id_of_its_own_and_says_what_it_is(void **state)
{
    struct redact *r = *state;
    assert_true(redact_rules(r) >= 200);
    for (size_t i = 0; i < redact_rules(r); i++) {
        struct redact_rule rule = redact_rule(r, i);
        assert_true(rule.id[0] && rule.about[0] && !rule.is_own);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rule.id, redact_rule(r, k).id);
    }
    assert_true(redact_size_bytes(r) > 0);
}

static void
rules_that_cannot_be_read_are_told(void **state)
{
    struct redact *r = NULL;
    struct err err = { 0 };
    (void)state;
    assert_int_equal(redact_open(&r, "/nonexistent/pack", &err), ERR_MISSING);
    assert_non_null(strstr(err.text, "/nonexistent/pack"));
    assert_int_equal(redact_open(&r, "/proc/self/stat", &err), ERR_DAMAGED);
    assert_null(r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_masked_wherever_it_stands),
        cmocka_unit_test(escapes_before_a_token_are_no_part_of_its_word),
        cmocka_unit_test(what_only_resembles_a_token_stays),
        cmocka_unit_test(values_of_telling_names_are_masked),
        cmocka_unit_test(a_quoted_value_reaches_to_its_quote),
        cmocka_unit_test(what_stands_for_a_value_stays),
        cmocka_unit_test(a_password_in_a_url_is_masked_and_nothing_else_of_it),
        cmocka_unit_test(headers_are_masked),
        cmocka_unit_test(the_lines_of_a_private_key_are_masked),
        cmocka_unit_test(line_numbers_before_a_key_are_seen_through),
        cmocka_unit_test(a_key_is_masked_whatever_stands_around_its_lines),
        cmocka_unit_test(two_keys_in_one_piece_are_both_masked),
        cmocka_unit_test(values_in_other_writings_are_masked),
        cmocka_unit_test(a_prompt_behind_a_token_does_not_hide_it),
        cmocka_unit_test(a_key_without_its_end_leaves_the_prose_that_follows),
        cmocka_unit_test(a_key_of_any_length_is_masked),
        cmocka_unit_test(a_secret_longer_than_the_hold_is_masked_to_its_end),
        cmocka_unit_test(a_quoted_password_longer_than_the_hold_is_masked_to_its_end),
        cmocka_unit_test(colours_in_json_are_seen_through),
        cmocka_unit_test(every_rule_has_an_id_of_its_own_and_says_what_it_is),
        cmocka_unit_test(rules_that_cannot_be_read_are_told),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
