/* SPDX-License-Identifier: MIT */
/* path_test.c -- names of files as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/path.h"

static void
a_name_is_quoted_only_where_it_must_be(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text;
    } all[] = {
        { "src/main.c", "src/main.c" },
        { "two words", "two words" },
        { "käse", "käse" },
        { "", "\"\"" },
        { " x", "\" x\"" },
        { "x ", "\"x \"" },
        { "a\nb\tc", "\"a\\nb\\tc\"" },
        { "\033[31m", "\"\\033[31m\"" },
        { "say \"no\"", "\"say \\\"no\\\"\"" },
        { "back\\slash", "\"back\\\\slash\"" },
        { "\377\0011", "\"\\377\\0011\"" },
        { "k\xc3\xa4se\xc3", "\"käse\\303\"" },
        { "\xc2\x9b", "\"\\302\\233\"" }, /* C1 */
        { "a\xe2\x80\xae"
          "b",
          "\"a\\342\\200\\256b\"" }, /* turns text around */
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        AUTO(buf) out = { 0 };
        cli_path_put(&out, all[i].path);
        assert_string_equal(buf_str(&out), all[i].text);
    }
}

static void
json_has_the_bytes_of_a_name_that_is_no_text(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct json j = { .out = &out };
    json_open(&j, '{');
    cli_path_json(&j, "path", "a\nb");
    cli_path_json(&j, "root", "x\xff\n");
    json_close(&j, '}');
    assert_string_equal(buf_str(&out),
                        "{\"path\":\"a\\nb\",\"root\":\"x\xef\xbf\xbd\\n\","
                        "\"root_bytes\":\"78ff0a\"}");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_quoted_only_where_it_must_be),
        cmocka_unit_test(json_has_the_bytes_of_a_name_that_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
