/* SPDX-License-Identifier: MIT */
/* codex_lines.h -- lines of Codex's rollouts, as texts; each with its newline. */
#ifndef CODEX_LINES_H
#define CODEX_LINES_H

#define LINE(type, payload)                                        \
    "{\"timestamp\":\"2026-11-15T07:40:03.696Z\",\"type\":\"" type \
    "\",\"payload\":" payload "}\n"
#define RESPONSE(payload) LINE("response_item", payload)
#define EVENT(payload)    LINE("event_msg", payload)
#define MESSAGE(role, text)                                                     \
    "{\"type\":\"message\",\"role\":\"" role "\",\"content\":[{\"type\":\"x\"," \
    "\"text\":\"" text "\"}]}"
#define ASKED(text)       RESPONSE(MESSAGE("user", text))
#define SAID(text)        RESPONSE(MESSAGE("assistant", text))
#define ASKED_EVENT(text) EVENT("{\"type\":\"user_message\",\"message\":\"" text "\"}")
#define SAID_EVENT(text)  EVENT("{\"type\":\"agent_message\",\"message\":\"" text "\"}")

#endif
