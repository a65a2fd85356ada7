/* SPDX-License-Identifier: MIT */
/* history_stream_test.c -- what an agent has printed, kept in a file, and read as a
 * history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/text_view.h"
#include "support/turn_kit.h"

/* -- the same as from a pipe -- */

/* A turn_event_fn: what came in pieces comes once more, whole. */
static int
keep_whole(void *ctx, const struct turn_event *e)
{
    struct turn_event one = *e;
    if (e->is_partial)
        return 0;
    if (e->type == TURN_OTHER)
        one.json = (struct view){ 0 }; /* as the kit shows it */
    int r = turn_kit_write(ctx, &one);
    struct buf *out = ctx;
    out->n -= e->is_final; /* the newline */
    return r < 0 || !e->is_final ? r : buf_puts(out, " final\n");
}

static void
from_pipe(enum turn_agent agent, struct view bytes, struct buf *out)
{
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, agent), 0);
    assert_int_equal(turn_decoder_feed(d, bytes, keep_whole, out), 0);
    assert_int_equal(turn_decoder_end(d, keep_whole, out), 0);
    turn_decoder_free(d);
}

static void
check(enum turn_agent agent, struct view bytes)
{
    AUTO(buf) want = { .ceiling = SIZE_MAX };
    struct history_kit k;
    assert_int_equal(turn_history_guess(bytes), agent);
    from_pipe(agent, bytes, &want);
    history_kit_begin(&k, agent);
    assert_int_equal(history_kit_lines(&k, bytes), 0);
    assert_true(turn_history_is_stream(k.h));
    assert_int_equal(turn_history_end(k.h), 0);
    assert_string_equal(buf_str(&k.shown), buf_str(&want));
    for (size_t i = 0; i < TURN_HISTORY_TROUBLES; i++)
        assert_int_equal(k.troubles[i], 0);
    history_kit_end(&k);
}

static void
the_fixtures_are_the_same_from_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum turn_agent agent;
    } files[] = { { "claude-stream.ndjson", TURN_CLAUDE },
                  { "claude-stream-partial.ndjson", TURN_CLAUDE },
                  { "codex-stream.ndjson", TURN_CODEX } };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        AUTO(buf) bytes = { 0 };
        if (!history_kit_fixture(files[i].name, &bytes)) {
            print_message("# skipped: no fixture %s\n", files[i].name);
            skip();
        }
        check(files[i].agent, (struct view){ bytes.p, bytes.n });
    }
}

static void
all_agents_streams_are_known(void **state)
{
    (void)state;
    check(TURN_GEMINI,
          text_view("{\"type\":\"init\",\"timestamp\":\"2026-01-02T03:04:05Z\","
                    "\"session_id\":\"S\",\"model\":\"M\"}\n"
                    "{\"type\":\"message\",\"timestamp\":\"2026-01-02T03:04:06Z\","
                    "\"role\":\"assistant\",\"content\":\"hel\",\"delta\":true}\n"
                    "{\"type\":\"message\",\"timestamp\":\"2026-01-02T03:04:06Z\","
                    "\"role\":\"assistant\",\"content\":\"lo\",\"delta\":true}\n"
                    "{\"type\":\"result\",\"timestamp\":\"2026-01-02T03:04:07Z\","
                    "\"status\":\"success\",\"stats\":{\"input_tokens\":5,"
                    "\"output_tokens\":7}}\n"));
    check(TURN_OPENCODE,
          text_view(
              "{\"type\":\"text\",\"timestamp\":1767323045000,\"sessionID\":\"ses_1\","
              "\"part\":{\"type\":\"text\",\"messageID\":\"msg_1\",\"text\":\"hello\"}}"
              "\n"));
}

/* -- broken off -- */

static void
what_was_said_in_pieces_alone_is_kept(void **state)
{
    (void)state;
    check(TURN_CLAUDE,
          text_view(
              "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"S\"}\n"
              "{\"type\":\"stream_event\",\"session_id\":\"S\",\"event\":{\"type\":"
              "\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":"
              "9,\"output_tokens\":1}}}}\n"
              "{\"type\":\"stream_event\",\"session_id\":\"S\",\"event\":{\"type\":"
              "\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
              "\"I was about to\"}}}\n"));
}

/* -- other files -- */

/* The two have much of the same in their lines. */
static void
a_transcript_is_no_stream(void **state)
{
    (void)state;
    AUTO(buf) bytes = { 0 };
    struct history_kit k;
    if (!history_kit_fixture("claude-transcript.jsonl", &bytes))
        skip();
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, (struct view){ bytes.p, bytes.n }), 0);
    assert_false(turn_history_is_stream(k.h));
    history_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixtures_are_the_same_from_a_file),
        cmocka_unit_test(all_agents_streams_are_known),
        cmocka_unit_test(what_was_said_in_pieces_alone_is_kept),
        cmocka_unit_test(a_transcript_is_no_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
