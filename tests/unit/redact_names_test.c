/* SPDX-License-Identifier: MIT */
/* redact_names_test.c -- the guesses that the scanner is made of: names, values,
 * checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redact/check_priv.h"
#include "redact/value_priv.h"
#include "support/text_view.h"

static bool
is_text(struct view v, const char *text)
{
    return v.n == strlen(text) && !memcmp(v.p, text, v.n);
}

/* -- names -- */

struct reading {
    const char *before, *name;
    enum name_op op;
    bool is_quoted, is_tight;
};

static bool
is_read(const struct reading *want)
{
    struct name names[NAME_READINGS];
    size_t n = name_read(text_view(want->before), names);
    for (size_t i = 0; i < n; i++)
        if (is_text(names[i].text, want->name) && names[i].op == want->op &&
            names[i].is_quoted == want->is_quoted && names[i].is_tight == want->is_tight)
            return true;
    print_error("%s\n", want->before);
    for (size_t i = 0; i < n; i++)
        print_error("  '%.*s' op %d quoted %d tight %d\n", (int)names[i].text.n,
                    names[i].text.p, (int)names[i].op, names[i].is_quoted,
                    names[i].is_tight);
    return false;
}

static void
the_name_of_a_value_is_read_from_what_stands_before_it(void **state)
{
    static const struct reading cases[] = {
        { "API_KEY=", "API_KEY", NAME_ASSIGN, false, true },
        { "export API_KEY=", "export API_KEY", NAME_ASSIGN, false, true },
        { "API_KEY='", "API_KEY", NAME_ASSIGN, true, true },
        { "\"api_key\": \"", "api_key", NAME_ASSIGN, true, false },
        { "'api-key' => '", "api-key", NAME_ASSIGN, true, false },
        { "\\\"api_key\\\":\\\"", "api_key", NAME_ASSIGN, true, false },
        { "x.token := `", "x.token", NAME_ASSIGN, true, false },
        { "password: ", "password", NAME_ASSIGN, false, false },
        { "token: str = \"", "token", NAME_ASSIGN, true, false },
        { "config[\"password\"] = \"", "password", NAME_ASSIGN, true, false },
        { "secret = b\"", "secret", NAME_ASSIGN, true, false },
        { "tool --token ", "tool --token", NAME_FLAG, false, false },
        { "setPassword(\"", "setPassword", NAME_ARGUMENT, true, false },
        { "set(\"password\", \"", "password", NAME_ARGUMENT, true, false },
        { "the password is ", "the password", NAME_PROSE, false, false },
        { "Authorization: Bearer ", "Authorization", NAME_ASSIGN, false, false },
        { "<password>", "password", NAME_ASSIGN, false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(is_read(&cases[i]));
}

static void
without_a_name_nothing_is_read(void **state)
{
    static const char *const cases[] = { "", " ", "=", "\"", "(", ": ", "\\\"", "--- " };
    struct name names[NAME_READINGS];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t k = name_read(text_view(cases[i]), names); k--;)
            assert_false(name_tells(names[k].text, "password secret token key"));
}

static void
a_word_tells_where_it_names_the_value(void **state)
{
    static const struct {
        const char *name, *words;
        bool tells;
    } cases[] = {
        { "API_KEY", "api_key", true },
        { "apiKey", "api_key", true },
        { "api-key", "api_key", true },
        { "x.api.key", "api_key", true },
        { "apikey", "api_key", true },
        { "the api key", "api_key", true },
        { "MY_API_KEY_2", "api_key", true },
        { "DB_PASSWORD", "token password", true },
        { "capital", "api_key", false },
        { "password_url", "password", false },
        { "passwordFile", "password", false },
        { "token_type", "token", false },
        { "TokenExpiry", "token", false },
        { "tokenizer", "token", false },
        { "token_count", "token", false },
        { "password for the host", "password", false },
        { "password_url_token", "password token", true },
        { "", "password", false },
        { "password", "", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (name_tells(text_view(cases[i].name), cases[i].words) != cases[i].tells)
            fail_msg("%s", cases[i].name);
}

/* -- values -- */

typedef bool (*value_fn)(struct view v);

static void
hold_all(value_fn fn, const char *const *values, bool want)
{
    for (; *values; values++)
        if (fn(text_view(*values)) != want)
            fail_msg("%s", *values);
}

static void
placeholders_are_known(void **state)
{
    static const char *const yes[] = {
        "changeme", "YOUR_API_KEY", "your-key-here",   "<token>",  "xxxxxxxx",
        "${VAR}",   "$(cmd)",       "{{ token }}",     "********", "example",
        "null",     "true",         "password",        "REDACTED", "aaaaaaaa",
        "12345678", "abcdefgh",     "sk-\xe2\x80\xa6", "oauth2",   "process.env.X",
        NULL,
    };
    static const char *const no[] = {
        "s3cr3tP4ss", "hunter22",     "Tr0ub4dor", "correct-horse-9",
        "q7Rz",       "9f8e7d6c5b4a", NULL,
    };
    (void)state;
    hold_all(value_is_placeholder, yes, true);
    hold_all(value_is_placeholder, no, false);
}

static bool
is_code(struct view v)
{
    return value_is_expression(v, false);
}

static void
expressions_are_known(void **state)
{
    static const char *const yes[] = {
        "os.environ", "getToken()", "a[0]",  "Config::token", "p->token", "$TOKEN",
        "%s",         "/etc/key",   "~/key", "me@e.org",      "!vault",   "@token",
        "this.token", NULL,
    };
    static const char *const no[] = { "s3cr3tP4ss", "a.1b2c3", "hunter22", "P4ss!word",
                                      NULL };
    (void)state;
    hold_all(is_code, yes, true);
    hold_all(is_code, no, false);
}

static void
a_value_ends_where_the_next_pair_begins(void **state)
{
    static const struct {
        const char *run, *value;
    } cases[] = {
        { "abc", "abc" },     { "abc,", "abc" },        { "abc);", "abc" },
        { "abc&x=1", "abc" }, { "abc;User=sa", "abc" }, { "abc,host=e", "abc" },
        { "a&b", "a&b" },     { "abc.", "abc" },        { "", "" },
        { "a,b:c", "a" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!is_text(value_trim(text_view(cases[i].run)), cases[i].value))
            fail_msg("%s", cases[i].run);
}

static void
entropy_is_that_of_shannon(void **state)
{
    (void)state;
    assert_int_equal(value_entropy(text_view("")), 0);
    assert_int_equal(value_entropy(text_view("aaaa")), 0);
    assert_int_equal(value_entropy(text_view("abab")), 100);
    assert_int_equal(value_entropy(text_view("abcdefgh")), 300);
    assert_int_equal(value_entropy(text_view("0123456789abcdef")), 400);
}

struct value_case {
    const char *value;
    enum name_op op;
    bool is_quoted, is_tight;
    const char *name;
    bool want;
};

static void
hold_cases(bool (*fn)(struct view v, const struct name *name),
           const struct value_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct name name = { .text = text_view(cases[i].name),
                             .op = cases[i].op,
                             .is_quoted = cases[i].is_quoted,
                             .is_tight = cases[i].is_tight };
        if (fn(text_view(cases[i].value), &name) != cases[i].want)
            fail_msg("%s %s", cases[i].name, cases[i].value);
    }
}

static void
passwords_are_told_from_words(void **state)
{
    static const struct value_case cases[] = {
        { "hunter", NAME_ASSIGN, false, true, "DB_PASSWORD", true },
        { "hunter22", NAME_ASSIGN, true, false, "password", true },
        { "P4ss!word", NAME_ASSIGN, false, false, "password", true },
        { "correct-horse-battery-9", NAME_ASSIGN, false, false, "password", true },
        { "348201", NAME_ASSIGN, true, false, "password", true },
        { "wrong", NAME_PROSE, false, false, "the password", false },
        { "field", NAME_ASSIGN, false, false, "password", false },
        { "get_password(x)", NAME_ASSIGN, false, false, "password", false },
        { "user.password", NAME_ASSIGN, false, false, "password", false },
        { "x", NAME_ASSIGN, true, false, "password", false },
        { "value1", NAME_ARGUMENT, false, false, "password", false },
        { "two words1", NAME_ASSIGN, true, false, "password", false },
    };
    (void)state;
    hold_cases(value_is_password, cases, sizeof(cases) / sizeof(cases[0]));
}

static void
secrets_are_told_from_identifiers(void **state)
{
    static const struct value_case cases[] = {
        { "q7Rz0Kd93LmXw2Vb", NAME_ASSIGN, true, false, "token", true },
        { "9f8a7d6c1b4e0a3f5d2c", NAME_ASSIGN, false, true, "API_KEY", true },
        { "q7Rz0Kd93LmXw2Vb", NAME_ARGUMENT, false, false, "token", false },
        { "next_page_token", NAME_ASSIGN, true, false, "token", false },
        { "arn:aws:iam::12:x9", NAME_ASSIGN, true, false, "token", false },
        { "https://e.org/a1b2c3", NAME_ASSIGN, true, false, "token", false },
        { "2026-01-02", NAME_ASSIGN, true, false, "token", false },
        { "a1", NAME_ASSIGN, true, false, "token", false },
        { "tokens.get(1)", NAME_ASSIGN, false, false, "token", false },
    };
    (void)state;
    hold_cases(value_is_secret, cases, sizeof(cases) / sizeof(cases[0]));
}

/* -- checksums -- */

static void
a_github_token_has_its_sum_at_the_end(void **state)
{
    (void)state;
    /* The example of GitHub's own announcement; body and sum. */
    static const char body[] = "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ";
    char token[64];
    snprintf(token, sizeof(token), "%s_%s%s", "ghp", body, "0mLq17");
    assert_int_equal(check_secret(PACK_CHECK_CRC32_BASE62, text_view(token)),
                     CHECK_RIGHT);
    for (size_t i = 4; i < 40; i++) {
        char c = token[i];
        token[i] = c == 'a' ? 'b' : 'a';
        assert_int_equal(check_secret(PACK_CHECK_CRC32_BASE62, text_view(token)),
                         CHECK_WRONG);
        token[i] = c;
    }
    assert_int_equal(check_secret(PACK_CHECK_CRC32_BASE62, text_view("ghp_")),
                     CHECK_WRONG);
}

/* BIP 173, "Test vectors". */
static void
bech32_is_that_of_bip_173(void **state)
{
    static const char *const valid[] = {
        "A12UEL5L",
        "a12uel5l",
        "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
        "?1ezyfcl",
    };
    static const char *const invalid[] = {
        "pzry9x0s0muk",
        "1pzry9x0s0muk",
        "x1b4n0q5v",
        "li1dgmt3",
        "A1G7SGD8",
        "10a06t8",
        "1qzzfhee",
        "",
        "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3x",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
        if (check_secret(PACK_CHECK_BECH32, text_view(valid[i])) != CHECK_RIGHT)
            fail_msg("%s", valid[i]);
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        if (check_secret(PACK_CHECK_BECH32, text_view(invalid[i])) != CHECK_WRONG)
            fail_msg("%s", invalid[i]);
}

static uint32_t
bit_of(const uint8_t *bytes, size_t i)
{
    return (uint32_t)bytes[i / 8] >> (7 - i % 8) & 1;
}

/* SEP 23: base 32 of version, 32 bytes and CRC-16/XMODEM, low byte first. */
static void
put_stellar(char out[57], uint8_t fill)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint8_t bytes[35] = { 18 << 3 };
    for (uint8_t i = 1; i < 33; i++)
        bytes[i] = (uint8_t)(fill * i);
    uint32_t crc = 0;
    for (size_t i = 0; i < 264; i++) { /* bit by bit, as the polynomial is written */
        uint32_t bit = bit_of(bytes, i) ^ (crc >> 15 & 1);
        crc = (crc << 1 & 0xffff) ^ (bit ? 0x1021 : 0);
    }
    bytes[33] = (uint8_t)crc;
    bytes[34] = (uint8_t)(crc >> 8);
    for (size_t i = 0; i < 56; i++) {
        uint32_t digit = 0;
        for (size_t k = i * 5; k < i * 5 + 5; k++)
            digit = digit << 1 | bit_of(bytes, k);
        out[i] = alphabet[digit];
    }
    out[56] = 0;
}

static void
a_stellar_seed_has_its_sum_at_the_end(void **state)
{
    char seed[57];
    (void)state;
    for (uint8_t fill = 1; fill < 40; fill++) {
        put_stellar(seed, fill);
        assert_int_equal(seed[0], 'S');
        assert_int_equal(check_secret(PACK_CHECK_CRC16_BASE32, text_view(seed)),
                         CHECK_RIGHT);
        seed[fill] = seed[fill] == 'Q' ? 'R' : 'Q';
        assert_int_equal(check_secret(PACK_CHECK_CRC16_BASE32, text_view(seed)),
                         CHECK_WRONG);
    }
    assert_int_equal(check_secret(PACK_CHECK_CRC16_BASE32, text_view("SA")), CHECK_WRONG);
}

static void
the_head_of_a_web_token_names_its_algorithm(void **state)
{
    (void)state;
    static const char head[] = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"; /* {"alg":… */
    assert_int_equal(check_secret(PACK_CHECK_JWT, text_view(head)), CHECK_RIGHT);
    assert_int_equal(check_secret(PACK_CHECK_JWT, text_view("eyJhIjoxfQ.x.y")),
                     CHECK_WRONG);
    assert_int_equal(check_secret(PACK_CHECK_JWT, text_view("e.y.J")), CHECK_WRONG);
    assert_int_equal(check_secret(PACK_CHECK_JWT, text_view("")), CHECK_WRONG);
    assert_int_equal(check_secret(PACK_CHECK_NONE, text_view(head)), CHECK_UNKNOWN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_a_value_is_read_from_what_stands_before_it),
        cmocka_unit_test(without_a_name_nothing_is_read),
        cmocka_unit_test(a_word_tells_where_it_names_the_value),
        cmocka_unit_test(placeholders_are_known),
        cmocka_unit_test(expressions_are_known),
        cmocka_unit_test(a_value_ends_where_the_next_pair_begins),
        cmocka_unit_test(entropy_is_that_of_shannon),
        cmocka_unit_test(passwords_are_told_from_words),
        cmocka_unit_test(secrets_are_told_from_identifiers),
        cmocka_unit_test(a_github_token_has_its_sum_at_the_end),
        cmocka_unit_test(bech32_is_that_of_bip_173),
        cmocka_unit_test(a_stellar_seed_has_its_sum_at_the_end),
        cmocka_unit_test(the_head_of_a_web_token_names_its_algorithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
