/* SPDX-License-Identifier: MIT */
/* A meta.json that parses is one with status `interrupted` afterwards, and keeps whatever
 * else was in it, but for numbers that no reader can hold; what does not parse is left
 * alone by all. A command line is text; as JSON it is the same again, in printable ASCII.
 */
#include <jansson.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "session/meta_priv.h"

static bool
is_set_by_us(const char *key)
{
    return !strcmp(key, "status") || !strcmp(key, "totalBytes") ||
           !strcmp(key, "endedAtNs");
}

/* Every pair of `was` is in `is`, in the same order. */
static void
check_kept(json_t *was, json_t *is)
{
    void *at = json_object_iter(is);
    const char *key;
    json_t *value;
    json_object_foreach(was, key, value)
    {
        CHECK(at && !strcmp(json_object_iter_key(at), key));
        CHECK(is_set_by_us(key) || json_equal(json_object_iter_value(at), value));
        at = json_object_iter_next(is, at);
    }
    for (; at; at = json_object_iter_next(is, at))
        CHECK(is_set_by_us(json_object_iter_key(at)));
}

static void
check_fact(void *ctx, const char *key, const char *text)
{
    size_t *n = ctx;
    CHECK(*text && utf8_is_text(key, strlen(key)) && utf8_is_text(text, strlen(text)));
    ++*n;
}

/* What is told in full is what finders are told, and more. */
static void
check_told(struct view in, const struct session_facts *facts)
{
    AUTO(session_told) told = { 0 };
    AUTO(buf) line = { 0 };
    CHECK(meta_tell(in, &told) == 0);
    CHECK(!strcmp(told.name ? told.name : "", facts->name));
    CHECK(!strcmp(told.status ? told.status : "", facts->status));
    CHECK(told.started_at_ns == facts->started_at_ns && told.cols == facts->cols);
    CHECK(!told.task || (*told.task && utf8_is_text(told.task, strlen(told.task))));
    CHECK(!told.words.n || !told.words.p[told.words.n - 1]);
    CHECK(session_command_line(told.words, SESSION_COMMAND_MAX, &line) == 0);
    CHECK(!strcmp(buf_str(&line), facts->command));
}

static void
check_json(struct view in, json_t *was)
{
    AUTO(buf) json = { 0 };
    CHECK(meta_json(in, &json) == 0);
    for (size_t i = 0; i < json.n; i++)
        CHECK(json.p[i] >= 0x20 && json.p[i] < 0x7f);
    json_t *is = json_loadb((const char *)json.p, json.n, JSON_ALLOW_NUL, NULL);
    CHECK(json_equal(was, is));
    json_decref(is);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char id[] = "2026-01-02-01234567-89ab-4cde-8f01-23456789abcd";
    AUTO(buf) made = { 0 };
    struct session_facts facts;
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = meta_parse(in, &facts);
    CHECK(meta_interrupt(in, id, 7, 9, &made) == r);
    CHECK(r == 0 || r == ERR_DAMAGED);
    size_t n = 0;
    CHECK(meta_each(in, check_fact, &n) == r);
    if (r < 0) {
        AUTO(session_told) told = { 0 };
        CHECK(meta_tell(in, &told) == r);
        CHECK(!made.n);
        return 0;
    }
    CHECK(utf8_is_text(facts.command, strlen(facts.command)));
    check_told(in, &facts);
    struct session_facts after;
    CHECK(meta_parse((struct view){ made.p, made.n }, &after) == 0);
    CHECK(!strcmp(after.status, "interrupted"));
    CHECK(after.ended_at_ns == 9 && after.started_at_ns == facts.started_at_ns);
    CHECK(!strcmp(after.id, facts.id) && !strcmp(after.name, facts.name));
    json_t *was = json_loadb((const char *)in.p, in.n, JSON_ALLOW_NUL, NULL);
    json_t *is = json_loadb((const char *)made.p, made.n, JSON_ALLOW_NUL, NULL);
    CHECK(is);
    if (was) {
        check_kept(was, is);
        check_json(in, was);
    }
    json_decref(was);
    json_decref(is);
    return 0;
}
