/* SPDX-License-Identifier: MIT */
/* turn_line_test.c -- events as lines of JSON: nothing is lost on the way there and back,
 * and doc/events.md (named by AHR_EVENTS_DOC) says what stands in them. */
#include "turn/line.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json_in.h"
#include "base/num.h"
#include "base/utf8.h"

#define V(s) ((struct view){ (const uint8_t *)(s), sizeof(s) - 1 })

static const struct turn_stamp stamp = {
    .ts_ns = UINT64_C(1700000000123456789),
    .start_ns = UINT64_C(1700000000000000000),
    .session = "2026-01-02-x",
    .iteration = 3,
};

static void
same_text(struct view a, struct view b)
{
    assert_int_equal(a.n, b.n);
    if (a.n)
        assert_memory_equal(a.p, b.p, a.n);
}

static void
same(const struct turn_event *a, const struct turn_event *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->is_user, b->is_user);
    assert_int_equal(a->is_error, b->is_error);
    assert_int_equal(a->was_cut_off, b->was_cut_off);
    same_text(a->id, b->id);
    same_text(a->message, b->message);
    same_text(a->parent, b->parent);
    same_text(a->name, b->name);
    same_text(a->text, b->text);
    same_text(a->json, b->json);
    same_text(a->model, b->model);
    same_text(a->cwd, b->cwd);
    same_text(a->signal, b->signal);
    assert_memory_equal(&a->usage, &b->usage, sizeof(a->usage));
    assert_int_equal(a->duration_ms, b->duration_ms);
    assert_int_equal(a->turns, b->turns);
    assert_int_equal(a->cost_microusd, b->cost_microusd);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->is_final, b->is_final);
    assert_int_equal(a->exit_code, b->exit_code);
}

/* One line of valid JSON, which is read as what was written. */
static void
goes_round(const struct turn_event *e)
{
    AUTO(buf) line = { 0 };
    AUTO(buf) texts = { 0 };
    struct turn_event got;
    struct turn_stamp at;
    turn_line(e, &stamp, &line);
    assert_int_equal(line.failed, 0);
    assert_ptr_equal(memchr(line.p, '\n', line.n), line.p + line.n - 1);
    assert_true(utf8_is_text(line.p, line.n));
    struct json_in in = { .p = line.p, .end = line.p + line.n };
    assert_true(json_in_skip(&in));
    assert_false(in.is_odd);
    assert_int_equal(turn_line_read((struct view){ line.p, line.n }, &texts, &got, &at),
                     0);
    same(&got, e);
    assert_int_equal(at.ts_ns, stamp.ts_ns);
    assert_int_equal((at.ts_ns - at.start_ns) / 1000000, 123);
    assert_int_equal(at.iteration, 3);
    assert_string_equal(at.session, "");
}

static void
writes(const struct turn_event *e, const char *want)
{
    AUTO(buf) line = { 0 };
    turn_line(e, &stamp, &line);
    static const char head[] = "{\"ts_ns\":\"1700000000123456789\",\"t_ms\":123,"
                               "\"session\":\"2026-01-02-x\",\"iteration\":3,\"type\":";
    assert_memory_equal(line.p, head, sizeof(head) - 1);
    assert_string_equal(buf_str(&line) + sizeof(head) - 1, want);
    goes_round(e);
}

static int
reads(const char *line, struct buf *texts, struct turn_event *ret)
{
    struct turn_stamp at;
    return turn_line_read((struct view){ (const uint8_t *)line, strlen(line) }, texts,
                          ret, &at);
}

static struct turn_event
full(enum turn_type type, struct view text)
{
    struct turn_event e = turn_event(type);
    e.is_user = e.is_error = e.was_cut_off = e.is_final = true;
    e.id = e.message = e.parent = e.name = e.text = e.model = e.cwd = e.signal = text;
    e.json = V("{\"a\":[1,2.5e-07,\"x y\",null]}");
    e.usage = (struct turn_usage){ 1, 0, NUM_EXACT_MAX, 4 };
    e.total = (struct turn_usage){ 9, UINT64_MAX, 0, 3 };
    e.duration_ms = 5;
    e.turns = 6;
    e.from = 8;
    e.cost_microusd = 7;
    e.exit_code = 0;
    return e;
}

static void
every_field_of_every_type_comes_back(void **state)
{
    (void)state;
    static const struct view texts[] = {
        { (const uint8_t *)"plain", 5 },
        { (const uint8_t *)"\"\\\n\r\t\0\033[1m\303\274\342\200\250", 16 },
        { (const uint8_t *)"\377 no UTF-8 \200", 12 },
        { (const uint8_t *)"\377", 1 },
    };
    for (int type = 0; type < TURN_TYPES; type++) {
        struct turn_event none = turn_event((enum turn_type)type);
        goes_round(&none);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            struct turn_event e = full((enum turn_type)type, texts[i]);
            goes_round(&e);
        }
    }
}

static void
a_call_and_its_place_on_the_terminal_come_back(void **state)
{
    AUTO(buf) line = { 0 };
    AUTO(buf) texts = { 0 };
    struct turn_event e = turn_event(TURN_TEXT), got;
    struct turn_stamp at = stamp, then;
    (void)state;
    at.call = 7;
    at.has_anchor = true; /* at the very beginning */
    turn_line(&e, &at, &line);
    assert_non_null(strstr(buf_str(&line), "\"call\":7,\"anchor_byte\":0,"));
    assert_int_equal(turn_line_read((struct view){ line.p, line.n }, &texts, &got, &then),
                     0);
    assert_int_equal(then.call, 7);
    assert_true(then.has_anchor);
    assert_int_equal(then.anchor_byte, 0);
    buf_clear(&line);
    turn_line(&e, &stamp, &line);
    assert_null(strstr(buf_str(&line), "anchor_byte"));
    assert_int_equal(turn_line_read((struct view){ line.p, line.n }, &texts, &got, &then),
                     0);
    assert_false(then.has_anchor);
    assert_int_equal(then.call, 0);
}

static void
a_text_has_its_role(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TEXT);
    e.id = V("m1");
    e.text = V("a\nb");
    writes(&e, "\"text\",\"role\":\"assistant\",\"id\":\"m1\",\"text\":\"a\\nb\"}\n");
    e.is_user = true;
    e.id = V("");
    e.text = V("");
    writes(&e, "\"text\",\"role\":\"user\",\"text\":\"\"}\n");
}

static void
arguments_are_json_where_they_can_be(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.name = V("T");
    e.message = V("m");
    e.json = V("{\"a\":1}");
    writes(&e, "\"tool_call\",\"message\":\"m\",\"name\":\"T\",\"input\":{\"a\":1}}\n");
    e.message = V("");
    e.json = V("{\"a\":1");
    writes(&e, "\"tool_call\",\"name\":\"T\",\"input_text\":\"{\\\"a\\\":1\"}\n");
    e.json = V("[007]");
    writes(&e, "\"tool_call\",\"name\":\"T\",\"input_text\":\"[007]\"}\n");
    e.json = V("\"a\377\"");
    writes(&e, "\"tool_call\",\"name\":\"T\",\"input_base64\":\"ImH/Ig==\"}\n");
}

static void
json_of_many_lines_becomes_one(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    AUTO(buf) line = { 0 };
    e.json = V("{\r\n  \"a\": \"x  y\",\n\t\"b\": [ 1, -0.5 ]\n}\n");
    turn_line(&e, &stamp, &line);
    const char *end = "\"input\":{\"a\":\"x  y\",\"b\":[1,-0.5]}}\n";
    assert_string_equal(buf_str(&line) + line.n - strlen(end), end);
}

static void
what_is_no_utf8_is_kept_as_base64(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_STDERR);
    e.text = V("\377\376");
    writes(&e, "\"stderr\",\"text\":\"//4=\",\"encoding\":\"base64\"}\n");
    e = turn_event(TURN_SESSION);
    e.cwd = V("/w/\377");
    writes(&e, "\"session\",\"cwd_base64\":\"L3cv/w==\"}\n");
}

static void
a_line_that_is_none_is_told(void **state)
{
    (void)state;
    static const char *const lines[] = { "",
                                         "{",
                                         "[]",
                                         "{\"type\":1}",
                                         "{\"a\":1}",
                                         "{\"type\":\"text\"",
                                         "nonsense",
                                         "{\"type\":\"text\"} x",
                                         "{\"type\":\"\"}" };
    AUTO(buf) texts = { 0 };
    struct turn_event e;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(reads(lines[i], &texts, &e), ERR_DAMAGED);
}

static void
a_field_of_the_wrong_type_is_missing(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct turn_event e, none = turn_event(TURN_DONE);
    assert_int_equal(reads("{\"type\":\"done\",\"subtype\":7,\"text\":{},\"turns\":\"2\","
                           "\"usage\":[],\"is_error\":1,\"duration_ms\":-1,"
                           "\"exit_code\":99999999999,\"id_base64\":\"?\"}",
                           &texts, &e),
                     0);
    same(&e, &none);
}

/* It would not outlive a reader that has 53 bits. */
static void
a_count_that_no_model_can_reach_is_missing(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct turn_event e;
    assert_int_equal(reads("{\"type\":\"done\",\"usage\":{\"input_tokens\":"
                           "9223372036854775808,\"output_tokens\":7},\"total\":{"
                           "\"cache_read_input_tokens\":9223372036854775808}}",
                           &texts, &e),
                     0);
    assert_int_equal(e.usage.input_tokens, TURN_UNKNOWN);
    assert_int_equal(e.usage.output_tokens, 7);
    assert_int_equal(e.total.cache_read_tokens, TURN_UNKNOWN);
}

static void
a_type_of_a_later_ahr_is_kept_whole(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct turn_event e;
    assert_int_equal(reads("{\"type\": \"plan\", \"steps\": [1, 2]}", &texts, &e), 0);
    assert_int_equal(e.type, TURN_OTHER);
    same_text(e.name, V("plan"));
    same_text(e.json, V("{\"type\":\"plan\",\"steps\":[1,2]}"));
}

static void
a_text_that_is_json_is_json(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct turn_event e;
    assert_int_equal(
        reads("{\"type\":\"tool_call\",\"input_text\":\" [ 9 ]\"}", &texts, &e), 0);
    same_text(e.json, V("[9]"));
    assert_int_equal(
        reads("{\"type\":\"tool_call\",\"input_text\":\" [ 9\"}", &texts, &e), 0);
    same_text(e.json, V(" [ 9"));
}

static void
base64_is_taken_strictly(void **state)
{
    (void)state;
    static const char *const bad[] = { "A",        "AB",   "ABC",    "A===", "AB=C",
                                       "AB==CDEF", "AB!=", "AB==\n", "//5=", "/x==" };
    AUTO(buf) out = { 0 };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct view text = { (const uint8_t *)bad[i], strlen(bad[i]) };
        assert_false(base64_take(text, &out));
        assert_int_equal(out.n, 0);
    }
    assert_true(base64_take(V("Zm9vYmE="), &out));
    same_text((struct view){ out.p, out.n }, V("fooba"));
}

/* -- the document -- */

static void
read_doc(struct buf *doc)
{
    const char *path = getenv("AHR_EVENTS_DOC");
    assert_non_null(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(file_read_all(fd, doc) >= 0);
    close(fd);
}

static struct view
next_line(struct view *rest)
{
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    struct view line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t gone = line.n + (end != NULL);
    *rest = (struct view){ rest->p + gone, rest->n - gone };
    return line;
}

/* Read and written again. */
static enum turn_type
check_example(struct view line)
{
    AUTO(buf) texts = { 0 };
    AUTO(buf) again = { 0 };
    struct turn_event e;
    struct turn_stamp at;
    assert_int_equal(turn_line_read(line, &texts, &e, &at), 0);
    at.session = "2026-11-16-0f8fad5b-d9cb-469f-a165-70867728950e";
    turn_line(&e, &at, &again);
    assert_int_equal(again.n, line.n + 1);
    assert_memory_equal(again.p, line.p, line.n);
    return e.type;
}

static void
every_type_has_an_example_in_the_document(void **state)
{
    (void)state;
    AUTO(buf) doc = { 0 };
    bool is_seen[TURN_TYPES] = { false };
    read_doc(&doc);
    struct view rest = { doc.p, doc.n };
    while (rest.n) {
        struct view line = next_line(&rest);
        if (line.n > 9 && !memcmp(line.p, "{\"ts_ns\":", 9))
            is_seen[check_example(line)] = true;
    }
    for (int i = 0; i < TURN_TYPES; i++)
        assert_true(is_seen[i]);
}

/* … as `key`; where it is called KEY_base64 that is the document's rule for all. */
static void
check_keys(struct view object, const char *doc)
{
    struct json_in in = { .p = object.p, .end = object.p + object.n };
    AUTO(buf) key = { 0 };
    AUTO(buf) quoted = { 0 };
    bool is_first = true;
    assert_true(json_in_take(&in, '{'));
    while (json_in_each(&in, '}', &is_first)) {
        assert_true(json_in_key(&in, &key));
        buf_clear(&quoted);
        buf_printf(&quoted, "`%s`", buf_str(&key));
        if (!strstr(buf_str(&key), "_base64") && !strstr(doc, buf_str(&quoted)))
            fail_msg("doc/events.md does not have %s", buf_str(&quoted));
        (void)json_in_peek(&in);
        const uint8_t *value = in.p;
        assert_true(json_in_skip(&in));
        if (!strcmp(buf_str(&key), "usage"))
            check_keys((struct view){ value, (size_t)(in.p - value) }, doc);
    }
}

static void
every_field_is_in_the_document(void **state)
{
    (void)state;
    static const struct view texts[] = { { (const uint8_t *)"plain", 5 },
                                         { (const uint8_t *)"\377", 1 } };
    static const struct view values[] = { { (const uint8_t *)"{}", 2 },
                                          { (const uint8_t *)"{", 1 } };
    AUTO(buf) doc = { 0 };
    read_doc(&doc);
    for (int i = 0; i < TURN_TYPES * 4; i++) {
        AUTO(buf) line = { 0 };
        struct turn_event e = full((enum turn_type)(i / 4), texts[i / 2 % 2]);
        e.json = values[i % 2];
        e.usage.cache_read_tokens = 1;
        turn_line(&e, &stamp, &line);
        check_keys((struct view){ line.p, line.n }, buf_str(&doc));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_every_type_comes_back),
        cmocka_unit_test(a_call_and_its_place_on_the_terminal_come_back),
        cmocka_unit_test(a_text_has_its_role),
        cmocka_unit_test(arguments_are_json_where_they_can_be),
        cmocka_unit_test(json_of_many_lines_becomes_one),
        cmocka_unit_test(what_is_no_utf8_is_kept_as_base64),
        cmocka_unit_test(a_line_that_is_none_is_told),
        cmocka_unit_test(a_field_of_the_wrong_type_is_missing),
        cmocka_unit_test(a_count_that_no_model_can_reach_is_missing),
        cmocka_unit_test(a_type_of_a_later_ahr_is_kept_whole),
        cmocka_unit_test(a_text_that_is_json_is_json),
        cmocka_unit_test(base64_is_taken_strictly),
        cmocka_unit_test(every_type_has_an_example_in_the_document),
        cmocka_unit_test(every_field_is_in_the_document),
    };
    return cmocka_run_group_tests_name("turn_line", tests, NULL, NULL);
}
