/* SPDX-License-Identifier: MIT */
/* speech.c -- the lines in which an agent says something. */
#include "mock/speech.h"

#include <string.h>

#include "base/json.h"

enum { INPUT = 100, OUTPUT = 10, PIECE = 7 };

static void
put(struct speech *s, const char *text)
{
    (void)buf_puts(&s->out, text);
}

static void
put_str(struct speech *s, const char *text, size_t n)
{
    struct json j = { .out = &s->out };
    json_bytes(&j, (struct view){ (const uint8_t *)text, n });
}

static void
put_text(struct speech *s, const char *text)
{
    put_str(s, text, strlen(text));
}

static void
put_number(struct speech *s, const char *before, uint64_t n, const char *behind)
{
    put(s, before);
    (void)buf_put_u64(&s->out, n);
    put(s, behind);
}

/* -- claude -- */

static void
claude_session(struct speech *s)
{
    put_number(s, "\"session_id\":\"mock-session-", s->seed, "\"}\n");
}

static void
claude_open(struct speech *s)
{
    put_number(s, "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_", s->messages,
               "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"mock-1\","
               "\"content\":[");
}

static void
claude_close(struct speech *s)
{
    put_number(s, "],\"stop_reason\":null,\"usage\":{\"input_tokens\":", INPUT,
               ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,");
    put_number(s, "\"output_tokens\":", OUTPUT, "}},\"parent_tool_use_id\":null,");
    claude_session(s);
}

static void
claude_event(struct speech *s, const char *event)
{
    put(s, "{\"type\":\"stream_event\",\"event\":");
    put(s, event);
    put(s, ",\"parent_tool_use_id\":null,");
    claude_session(s);
}

static void
claude_pieces(struct speech *s, const char *text)
{
    put_number(
        s,
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":"
        "{\"id\":\"msg_",
        s->messages,
        "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"mock-1\","
        "\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":100,"
        "\"output_tokens\":1}}},\"parent_tool_use_id\":null,");
    claude_session(s);
    claude_event(s, "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
                    "{\"type\":\"text\",\"text\":\"\"}}");
    for (size_t at = 0, n = strlen(text); at < n; at += PIECE) {
        put(s, "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\","
               "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":");
        put_str(s, text + at, n - at < PIECE ? n - at : PIECE);
        put(s, "}},\"parent_tool_use_id\":null,");
        claude_session(s);
    }
}

static void
claude_say(struct speech *s, const char *text)
{
    if (s->is_partial)
        claude_pieces(s, text);
    claude_open(s);
    put(s, "{\"type\":\"text\",\"text\":");
    put_text(s, text);
    put(s, "}");
    claude_close(s);
    if (!s->is_partial)
        return;
    claude_event(s, "{\"type\":\"content_block_stop\",\"index\":0}");
    claude_event(s,
                 "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                 "\"usage\":{\"output_tokens\":10}}");
    claude_event(s, "{\"type\":\"message_stop\"}");
}

static void
claude_tool(struct speech *s, const char *text, const char *path)
{
    claude_open(s);
    put_number(s, "{\"type\":\"tool_use\",\"id\":\"toolu_", s->calls, "\",\"name\":");
    put(s, path ? "\"Write\",\"input\":{\"file_path\":"
                : "\"Bash\",\"input\":{\"command\":");
    put_text(s, path ? path : text);
    if (path) {
        put(s, ",\"content\":");
        put_text(s, text);
    }
    put(s, "}}");
    claude_close(s);
    put_number(s,
               "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{"
               "\"tool_use_id\":\"toolu_",
               s->calls, "\",\"type\":\"tool_result\",\"content\":");
    put_text(s, text);
    put(s, ",\"is_error\":false}]},\"parent_tool_use_id\":null,");
    claude_session(s);
}

static void
claude_end(struct speech *s, const char *last)
{
    put(s, "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
           "\"duration_ms\":1,");
    put_number(s, "\"num_turns\":", s->messages, ",\"result\":");
    put_text(s, last);
    put_number(s, ",\"usage\":{\"input_tokens\":", s->messages * INPUT, ",");
    put_number(s, "\"output_tokens\":", s->messages * OUTPUT,
               ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0},");
    claude_session(s);
}

/* -- codex -- */

static void
codex_item(struct speech *s, const char *phase, const char *type)
{
    put(s, "{\"type\":\"item.");
    put(s, phase);
    put_number(s, "\",\"item\":{\"id\":\"item_", s->messages, "\",\"type\":\"");
    put(s, type);
    put(s, "\",");
}

static void
codex_command(struct speech *s, const char *phase, const char *text, const char *behind)
{
    codex_item(s, phase, "command_execution");
    put(s, "\"command\":");
    put_text(s, text);
    put(s, behind);
}

static void
codex_tool(struct speech *s, const char *text, const char *path)
{
    if (path) {
        codex_item(s, "completed", "file_change");
        put(s, "\"changes\":[{\"path\":");
        put_text(s, path);
        put(s, ",\"kind\":\"update\"}],\"status\":\"completed\"}}\n");
        return;
    }
    codex_command(s, "started", text,
                  ",\"aggregated_output\":\"\",\"exit_code\":null,\"status\":"
                  "\"in_progress\"}}\n");
    codex_command(s, "completed", text, ",\"aggregated_output\":");
    put_text(s, text);
    put(s, ",\"exit_code\":0,\"status\":\"completed\"}}\n");
}

/* -- whichever -- */

void
speech_begin(struct speech *s)
{
    if (s->format == SPEECH_CLAUDE) {
        put(s, "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/\",\"model\":"
               "\"mock-1\",\"tools\":[],");
        claude_session(s);
    } else if (s->format == SPEECH_CODEX) {
        put_number(s, "{\"type\":\"thread.started\",\"thread_id\":\"mock-session-",
                   s->seed, "\"}\n{\"type\":\"turn.started\"}\n");
    }
}

void
speech_say(struct speech *s, const char *text)
{
    s->messages++;
    if (s->format == SPEECH_CLAUDE) {
        claude_say(s, text);
    } else if (s->format == SPEECH_CODEX) {
        codex_item(s, "completed", "agent_message");
        put(s, "\"text\":");
        put_text(s, text);
        put(s, "}}\n");
    } else {
        put(s, text);
        put(s, "\n");
    }
}

void
speech_tool(struct speech *s, const char *text, const char *path)
{
    s->messages++;
    s->calls++;
    if (s->format == SPEECH_CLAUDE) {
        claude_tool(s, text, path);
    } else if (s->format == SPEECH_CODEX) {
        codex_tool(s, text, path);
    } else {
        put(s, text);
        put(s, "\n");
    }
}

void
speech_end(struct speech *s, const char *last)
{
    if (s->format == SPEECH_CLAUDE) {
        claude_end(s, last);
    } else if (s->format == SPEECH_CODEX) {
        put_number(s, "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":",
                   s->messages * INPUT, ",\"cached_input_tokens\":0,\"output_tokens\":");
        put_number(s, "", s->messages * OUTPUT, "}}\n");
    }
}
