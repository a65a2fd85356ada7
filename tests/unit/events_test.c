/* SPDX-License-Identifier: MIT */
/* events_test.c -- what stands beside a recording, found and read whatever is there. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "library/events.h"
#include "support/kit.h"

#define SNAPSHOT(id) \
    "{\"id\":" id ",\"ts_ns\":2,\"label\":\"s" id "\",\"anchor_byte\":3}\n"
#define INSTRUCTION(id) \
    "{\"id\":" id ",\"ts_ns\":2,\"text\":\"i" id "\",\"anchor_byte\":3}\n"

static void
read_beside(const char *tape_path, struct library_events *ret)
{
    AUTO(library_found) found = { 0 };
    buf_puts(&found.tape_path, tape_path);
    assert_int_equal(library_events(&found, ret, NULL), 0);
}

static void
assert_texts(const struct play_events *events, const char *want)
{
    AUTO(buf) texts = { 0 };
    for (size_t i = 0; i < events->count; i++) {
        struct play_event event = play_events_at(events, i);
        buf_puts(&texts, i ? " " : "");
        buf_append(&texts, event.text.p, event.text.n);
        assert_int_equal(event.kind,
                         *event.text.p == 's' ? PLAY_SNAPSHOT : PLAY_INSTRUCTION);
    }
    assert_string_equal(buf_str(&texts), want);
}

static void
both_files_stand_beside_the_recording(void **state)
{
    (void)state;
    static const char *const tapes[] = { "session.ahr", "x.y.ahr", "plain" };
    static const char *const stems[] = { "session", "x.y", "plain" };
    for (size_t i = 0; i < sizeof(tapes) / sizeof(tapes[0]); i++) {
        AUTO(library_events) e = { 0 };
        AUTO(buf) path = { 0 };
        buf_printf(&path, "%s.instructions.jsonl", stems[i]);
        kit_write_file(buf_str(&path), INSTRUCTION("1") INSTRUCTION("2"));
        buf_clear(&path);
        buf_printf(&path, "%s.snapshots.jsonl", stems[i]);
        kit_write_file(buf_str(&path), SNAPSHOT("3") SNAPSHOT("4"));
        read_beside(tapes[i], &e);
        assert_texts(&e.events, "s3 s4 i1 i2");
        assert_int_equal(play_events_at(&e.events, 2).snapshot_id, PLAY_NONE);
        assert_string_equal(buf_str(&e.snapshots.path), buf_str(&path));
    }
}

static void
where_there_is_none_there_are_none(void **state)
{
    (void)state;
    AUTO(library_events) e = { 0 };
    read_beside("nowhere/x.ahr", &e);
    assert_int_equal(e.events.count, 0);
    assert_int_equal(e.snapshots.error | e.instructions.error, 0);
    assert_int_equal(e.snapshots.lines | e.instructions.lines, 0);
}

static void
one_that_cannot_be_read_costs_not_the_other(void **state)
{
    (void)state;
    AUTO(library_events) e = { 0 };
    assert_int_equal(mkfifo("x.snapshots.jsonl", 0600), 0);
    kit_write_file("x.instructions.jsonl", "bad\n" INSTRUCTION("1") "worse\n");
    read_beside("x.ahr", &e);
    assert_texts(&e.events, "i1");
    assert_int_equal(e.snapshots.error, -EINVAL);
    assert_int_equal(e.instructions.error, 0);
    assert_int_equal(e.instructions.lines, 2);
    assert_int_equal(e.instructions.first, 1);
}

static void
what_is_over_the_limits_is_counted(void **state)
{
    (void)state;
    AUTO(library_events) e = { 0 };
    AUTO(buf) file = { .ceiling = 100 << 20 };
    enum { LABEL = 8 << 20, LINES = PLAY_EVENTS_TEXT_MAX / LABEL + 1 };
    for (int i = 0; i < LINES; i++) {
        buf_puts(&file, "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"label\":\"");
        memset(buf_grow(&file, LABEL), 's', LABEL);
        buf_puts(&file, "\"}\n");
    }
    assert_int_equal(file.failed, 0);
    assert_int_equal(
        file_replace("x.snapshots.jsonl", (struct view){ file.p, file.n }, false, NULL),
        0);
    kit_write_file("x.instructions.jsonl", INSTRUCTION("1"));
    read_beside("x.ahr", &e);
    assert_int_equal(e.events.count, LINES - 1);
    assert_int_equal(e.snapshots.over, 1);
    assert_int_equal(e.instructions.over, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(both_files_stand_beside_the_recording),
        KIT_IN_DIR(where_there_is_none_there_are_none),
        KIT_IN_DIR(one_that_cannot_be_read_costs_not_the_other),
        KIT_IN_DIR(what_is_over_the_limits_is_counted),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
